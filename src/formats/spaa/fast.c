/*
 * The usual stack record, read without looking at its keys one by one.
 *
 * Records of canonical files differ in their id, frames and numbers; everything between is the same text.
 * This path expects that text and gives up at the first difference, before anything was entered: the
 * general path (stack.c) then reads the line from its start. Both give the same profile.
 */
#include "formats/spaa/read.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool expect(const char **p, const char *end, const char *literal, size_t n)
{
    if ((size_t)(end - *p) < n || memcmp(*p, literal, n) != 0)
        return false;
    *p += n;
    return true;
}
#define EXPECT(p, end, literal) expect(p, end, literal, sizeof literal - 1)

static inline uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/*
 * The number whose n digits (1 to 7, and nothing but digits) stand in the upper bytes of w: all are combined
 * at once, pairs to hundreds to ten thousands.
 */
static inline uint32_t word_number(uint64_t w, unsigned n)
{
    uint64_t t = (w ^ 0x3030303030303030u) & (UINT64_MAX << (64 - 8 * n));
    t = (t * 10) + (t >> 8);
    return (uint32_t)((((t & 0x000000FF000000FFu) * 0x000F424000000064u) +
                       (((t >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
                      32);
}
#endif

/* The digits at p (8 bytes or more may be read); 0: none, or more than 7. */
static inline unsigned small_number(const char *p, uint32_t *out)
{
    uint32_t v = 0;
    unsigned n = 0;
    for (; n < 8 && (unsigned char)(p[n] - '0') < 10; n++)
        v = v * 10 + (unsigned char)(p[n] - '0');
    *out = v;
    return n < 8 ? n : 0;
}

static inline uint32_t frame_of(const struct reader *r, const char *digits, unsigned n, uint32_t id)
{
    return *digits == '0' && n > 1 ? SP_NONE : sp_idmap_small(&r->frames, id);
}

#if defined __SSE2__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/*
 * Blocks of 64 bytes: a bit for each byte that is no digit, so that where numbers end is known before any
 * is converted and conversions do not wait for each other. Stops before a block that passes the line's
 * end. The bytes before the list (its key) may be read.
 */
static bool frame_blocks(struct reader *r, const char **at, const char *end, uint32_t **out, bool *done)
{
    const char *start = *at, *block = start;
    uint32_t *to = *out;
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    for (*done = false; end - block >= 64; block += 64) {
        uint64_t ends = 0;
#pragma GCC unroll 4
        for (unsigned k = 0; k < 4; k++) {
            __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * k)), zero);
            unsigned digits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, nine), x));
            ends |= (uint64_t)(~digits & 0xFFFF) << 16 * k;
        }
        for (; ends; ends &= ends - 1) {
            const char *stop = block + __builtin_ctzll(ends);
            size_t n = (size_t)(stop - start);
            /* Between two bytes that are no digits there are only digits. */
            if (n - 1 > 6)
                return false;
            *to = frame_of(r, start, (unsigned)n, word_number(load8(stop - 8), (unsigned)n));
            if (*to == SP_NONE)
                return false;
            to++;
            start = stop + 1;
            if (*stop == ',')
                continue;
            *done = true;
            *at = start;
            *out = to;
            return *stop == ']';
        }
    }
    *at = start;
    *out = to;
    return true;
}
#else
static bool frame_blocks(struct reader *r, const char **at, const char *end, uint32_t **out, bool *done)
{
    (void)r, (void)at, (void)end, (void)out;
    *done = false;
    return true;
}
#endif

static bool fast_frames(struct reader *r, const char **at, const char *end, uint32_t *n)
{
    struct sp_profile *p = r->p;
    /* An item takes two bytes or more, and the rest of the line holds no more items than that. */
    size_t room = (size_t)(end - *at) / 2 + 1;
    bool done;
    if (!sp_vec_reserve(&p->stack_frames, p->stack_frames.n + room))
        return false;
    uint32_t *from = p->stack_frames.v + p->stack_frames.n, *to = from;
    if (!frame_blocks(r, at, end, &to, &done))
        return false;
    for (const char *s = *at; !done; *at = ++s) {
        uint32_t id;
        if (s > end - 9)
            return false;
        unsigned digits = small_number(s, &id);
        if (!digits || (*to = frame_of(r, s, digits, id)) == SP_NONE)
            return false;
        to++;
        s += digits;
        done = *s == ']';
        if (!done && *s != ',')
            return false;
    }
    *n = (uint32_t)(to - from);
    return true;
}

static bool fast_stack_type(const char **p, const char *end, uint8_t *type)
{
    if (EXPECT(p, end, "\"unified\""))
        *type = SP_UNIFIED;
    else if (EXPECT(p, end, "\"user\""))
        *type = SP_USER_STACK;
    else if (EXPECT(p, end, "\"kernel\""))
        *type = SP_KERNEL_STACK;
    else
        return false;
    return true;
}

/* The weights, and the same ones at the leaf. */
static bool fast_weights(struct reader *r, const char **at, const char *end, uint32_t leaf,
                         const struct template **t, int64_t *values)
{
    int64_t again[TEMPLATE_VALUES];
    const char *s = *at;
    *t = NULL;
    for (unsigned i = 0; i < r->ntemplates && !*t; i++) {
        const struct template *x = &r->templates[(r->last_template + i) % r->ntemplates];
        if (sp_match_template(x, &s, end, values))
            *t = x;
    }
    uint32_t id;
    if (!*t || !EXPECT(&s, end, ",\"exclusive\":{\"frame\":") || s > end - 8)
        return false;
    unsigned digits = small_number(s, &id);
    if (!digits || sp_idmap_small(&r->frames, id) != leaf || (*s == '0' && digits > 1))
        return false;
    s += digits;
    if (!EXPECT(&s, end, ",\"weights\":") || !sp_match_template(*t, &s, end, again) || !EXPECT(&s, end, "}}"))
        return false;
    for (unsigned i = 0; i < (*t)->n; i++)
        if (values[i] != again[i])
            return false;
    *at = s;
    return true;
}

static bool fast_context(struct reader *r, const char **p, const char *end, uint32_t *context)
{
    for (unsigned i = 0; i < CONTEXTS_RECENT; i++) {
        const struct context_text *t = &r->recent[i];
        if (t->raw.n && expect(p, end, t->raw.p, t->raw.n)) {
            *context = t->context;
            return true;
        }
    }
    return sp_known_context(r, p, end, context);
}

static bool primary_there(const struct sp_profile *p, const struct template *t, uint32_t context)
{
    uint32_t event = p->contexts.v[context].event;
    uint32_t primary = event == SP_NONE ? SP_NONE : p->events.v[event].primary;
    for (unsigned i = 0; i < t->n; i++)
        if (t->metrics[i] == primary)
            return true;
    return false;
}

static bool enter(struct reader *r, struct sp_stack *s, const struct sp_stack_id *id,
                  const struct template *t, const int64_t *values)
{
    struct sp_profile *p = r->p;
    uint32_t stack = (uint32_t)p->stacks.n;
    if (p->stacks.n >= SP_NONE - 1 || !sp_vec_push(&p->stacks, *s))
        return false;
    if (!sp_vec_push(&p->ids, *id)) {
        p->stacks.n--;
        return false;
    }
    for (unsigned i = 0; i < t->n; i++) {
        struct sp_column *c = &p->columns[t->metrics[i]];
        if (c->n == stack && c->n < c->cap) {
            c->v[c->n++] = values[i];
        } else if (!sp_weight_set(p, stack, t->metrics[i], values[i])) {
            p->stacks.n--;
            p->ids.n--;
            return false;
        }
    }
    return true;
}

bool sp_fast_stack(struct reader *r, struct sp_span line)
{
    struct sp_profile *p = r->p;
    const char *s = line.p, *end = line.p + line.n;
    struct sp_stack x = {.first = p->stack_frames.n, .exclusive = SP_EXCLUSIVE_SAME};
    struct sp_stack_id id;
    const struct template *t;
    int64_t values[TEMPLATE_VALUES];
    if (!EXPECT(&s, end, "{\"type\":\"stack\",\"id\":\""))
        return false;
    const char *quote = (size_t)(end - s) > 28 ? (s[18] == '"'   ? s + 18
                                                  : s[27] == '"' ? s + 27
                                                                 : NULL)
                                               : NULL;
    if (!quote || !sp_our_id((struct sp_span){s, (size_t)(quote - s)}, &id))
        return false;
    s = quote;
    if (!EXPECT(&s, end, "\",\"frames\":[") || !fast_frames(r, &s, end, &x.n) ||
        !EXPECT(&s, end, ",\"stack_type\":") || !fast_stack_type(&s, end, &x.type) ||
        !EXPECT(&s, end, ",\"context\":") || !fast_context(r, &s, end, &x.context) ||
        !EXPECT(&s, end, ",\"weights\":"))
        return false;
    uint32_t *frames = p->stack_frames.v + x.first;
    if (!fast_weights(r, &s, end, frames[p->header.root_first ? x.n - 1 : 0], &t, values) || s != end ||
        !primary_there(p, t, x.context))
        return false;
    if (p->header.root_first)
        sp_reverse(frames, x.n);
    x.layout = t->layout;
    if (!enter(r, &x, &id, t, values))
        return false;
    p->stack_frames.n += x.n;
    return true;
}
