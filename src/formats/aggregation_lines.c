#include "formats/aggregation_lines.h"

#include "base/hash.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * A line of SHORT_MIN to SHORT_MAX bytes stands at the place that a hash of a few of them gives, or at one of
 * the next TRIES, if there was room: lines that share these bytes may be many, by chance or by malice. What
 * is not found that way is looked up in the map, by a hash of all its bytes. AHEAD lines are looked up
 * together.
 */
enum { SHORT_MIN = 8, SHORT_MAX = 63, TRIES = 4, AHEAD = 16, FRAMES_MAX = 16 };

void sp_agg_lines_free(struct sp_agg_lines *k)
{
    sp_vec_free(&k->parts);
    sp_map_free(&k->map);
    free(k->places);
    *k = (struct sp_agg_lines){0};
}

static inline uint64_t load(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Of a line of at least eight bytes: its end, where the offset is, and its middle. */
static inline size_t place_of(const struct sp_agg_lines *k, const char *p, size_t n)
{
    size_t last = n - 8;
    uint64_t middle = load(p + last / 2);
    return (size_t)(((load(p + last) + n) ^ (middle << 29 | middle >> 35)) * 0x9E3779B97F4A7C15u >> k->shift);
}

static void note_place(struct sp_agg_lines *k, uint32_t number)
{
    const struct sp_agg_line *l = sp_agg_lines_at(k, number);
    if (l->n < SHORT_MIN || l->n > SHORT_MAX)
        return;
    size_t at = place_of(k, l->text, l->n);
    for (int i = 0; i < TRIES; i++)
        if (!k->places[at + (size_t)i]) {
            k->places[at + (size_t)i] = number;
            return;
        }
}

/* Room for one line more, with places for four times as many. */
static bool grow_places(struct sp_agg_lines *k)
{
    if (k->count < k->room)
        return true;
    size_t room = k->room ? 2 * k->room : 512, n = 4 * room;
    uint32_t *places = calloc(n + TRIES, sizeof *places);
    if (!places)
        return false;
    free(k->places);
    k->places = places;
    k->room = room;
    k->shift = 64 - (unsigned)__builtin_ctzll(n);
    for (size_t i = 1; i < k->parts.n;) {
        const struct sp_agg_line *l = sp_agg_lines_at(k, (uint32_t)i);
        note_place(k, (uint32_t)i);
        i += sp_agg_line_parts(l->n);
    }
    return true;
}

uint32_t sp_agg_lines_find(const struct sp_agg_lines *k, const char *p, size_t n)
{
    struct sp_probe at = sp_map_probe(&k->map, sp_hash64(p, n));
    for (uint32_t i; (i = sp_map_next(&k->map, &at)) != SP_MAP_NONE;) {
        const struct sp_agg_line *l = sp_agg_lines_at(k, i);
        if (l->n == n && memcmp(l->text, p, n) == 0)
            return i;
    }
    return SP_NONE;
}

uint32_t sp_agg_lines_add(struct sp_agg_lines *k, const struct sp_agg *a, const char *p, size_t n,
                          const struct sp_agg_line *about)
{
    size_t number = k->parts.n ? k->parts.n : 1, parts = sp_agg_line_parts(n);
    bool ok = n < SP_NONE && about->count <= FRAMES_MAX && number + parts < SP_NONE &&
              sp_vec_reserve(&k->parts, number + parts + 1) && grow_places(k) &&
              sp_map_add(&k->map, sp_hash64(p, n), (uint32_t)number);
    if (!ok)
        return SP_NONE;
    if (number == 1)
        memset(k->parts.v, 0, sizeof *k->parts.v);
    struct sp_agg_line *l = (struct sp_agg_line *)(void *)&k->parts.v[number];
    *l = (struct sp_agg_line){.n = (uint32_t)n,
                              .first = about->first,
                              .count = about->count,
                              .indent = about->indent,
                              .within = about->within};
    for (uint32_t i = 0; i < l->count; i++)
        l->told |= a->frames.v[l->first + i].side;
    memcpy(l->text, p, n);
    k->parts.n = number + parts;
    k->count++;
    note_place(k, (uint32_t)number);
    return (uint32_t)number;
}

bool sp_agg_lines_push(struct sp_agg *a, const struct sp_agg_line *l)
{
    struct sp_agg_block *b = &a->blocks.v[a->blocks.n - 1];
    if (!sp_vec_reserve(&a->block_frames, a->block_frames.n + l->count))
        return false;
    for (uint32_t i = 0; i < l->count; i++)
        a->block_frames.v[a->block_frames.n++] = l->first + i;
    b->n += l->count;
    b->told |= l->told;
    return true;
}

#ifdef __SSE2__
static inline __m128i load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline __m128i equal16(const char *x, const char *y)
{
    return _mm_cmpeq_epi8(load16(x), load16(y));
}
#endif

/* The length of the line at p, where 64 bytes can be read; 64: it is longer. */
static inline size_t length(const char *p)
{
#ifdef __SSE2__
    const __m128i nl = _mm_set1_epi8('\n');
    uint64_t a = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p), nl));
    uint64_t b = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p + 16), nl));
    uint64_t c = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p + 32), nl));
    uint64_t d = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p + 48), nl));
    uint64_t found = a | b << 16 | c << 32 | d << 48;
    return found ? (size_t)__builtin_ctzll(found) : 64;
#else
    const char *nl = memchr(p, '\n', 64);
    return nl ? (size_t)(nl - p) : 64;
#endif
}

/* Whether n bytes are equal, of a length that short lines have. */
static inline bool same(const char *x, const char *y, size_t n)
{
    if (n < 16)
        return !((load(x) ^ load(y)) | (load(x + n - 8) ^ load(y + n - 8)));
#ifdef __SSE2__
    /* Sixteen bytes four times, which overlap, from both ends. */
    size_t last = n - 16, second = last < 16 ? last : 16, third = last - second;
    __m128i equal = _mm_and_si128(_mm_and_si128(equal16(x, y), equal16(x + second, y + second)),
                                  _mm_and_si128(equal16(x + third, y + third), equal16(x + last, y + last)));
    return _mm_movemask_epi8(equal) == 0xffff;
#else
    return memcmp(x, y, n) == 0;
#endif
}

/* Lines that are looked up together, so that the processor need not wait for memory at each. */
struct ahead {
    uint32_t n[AHEAD], place[AHEAD];
    size_t count;
};

/* Short lines at p, as long as they begin as the first one does. */
static inline void look_ahead(const struct sp_agg_lines *k, const char *p, const char *end, struct ahead *x)
{
    char first = p < end ? *p : '\0';
    size_t count = 0;
    while (count < AHEAD && end - p >= 64 && *p == first) {
        size_t n = length(p);
        if (n - SHORT_MIN > SHORT_MAX - SHORT_MIN)
            break;
        size_t place = place_of(k, p, n);
        __builtin_prefetch(&k->places[place]);
        x->n[count] = (uint32_t)n;
        x->place[count++] = (uint32_t)place;
        p += n + 1;
    }
    x->count = count;
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&k->parts.v[k->places[x->place[i]]]);
}

/* The short line at p by its places; NULL: it is not there. */
static inline const struct sp_agg_line *find_short(const struct sp_agg_lines *k, const char *p, size_t n,
                                                   size_t at)
{
    const uint32_t *place = k->places + at;
    const struct sp_agg_line *l = sp_agg_lines_at(k, *place); /* of no line: n is 0 */
    for (int i = 1; l->n != n || !same(l->text, p, n); i++) {
        if (!*place || i == TRIES)
            return NULL;
        l = sp_agg_lines_at(k, *++place);
    }
    return l;
}

/* The line at p if it is known, whatever its length. */
static const struct sp_agg_line *find_any(const struct sp_agg_lines *k, const char *p, const char *end)
{
    const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    uint32_t i = nl ? sp_agg_lines_find(k, p, (size_t)(nl - p)) : SP_NONE;
    return i == SP_NONE ? NULL : sp_agg_lines_at(k, i);
}

/* The lines that were looked up, as long as they are known, to `to`, which has room; how many. */
static inline size_t take_ahead(const struct sp_agg_lines *k, const struct ahead *x, size_t indent,
                                const char **p, uint32_t **to, uint8_t *told)
{
    const char *at = *p;
    uint32_t *out = *to, bits = *told;
    size_t i = 0;
    for (; i < x->count; i++) {
        const struct sp_agg_line *l = find_short(k, at, x->n[i], x->place[i]);
        if (!l || l->within < indent)
            break;
        for (uint32_t f = l->first, end = f + l->count; f < end; f++)
            *out++ = f;
        bits |= l->told;
        at += x->n[i] + 1; /* l->n would have to be waited for */
    }
    *p = at;
    *to = out;
    *told = (uint8_t)bits;
    return i;
}

bool sp_agg_lines_take(const struct sp_agg_lines *k, struct sp_agg *a, size_t indent, const char *p,
                       const char *end, size_t *used, uint64_t *line)
{
    struct sp_agg_block *b = &a->blocks.v[a->blocks.n - 1];
    const char *at = p;
    struct ahead x;
    *used = 0;
    for (bool more = k->places; more;) {
        if (!sp_vec_reserve(&a->block_frames, a->block_frames.n + AHEAD * FRAMES_MAX))
            return false;
        uint32_t *from = a->block_frames.v + a->block_frames.n, *to = from;
        look_ahead(k, at, end, &x);
        size_t taken = take_ahead(k, &x, indent, &at, &to, &b->told);
        a->block_frames.n += (size_t)(to - from);
        b->n += (uint32_t)(to - from);
        *line += taken;
        more = taken == AHEAD;
        if (taken < x.count || more || at == end || *at != *p)
            continue;
        const struct sp_agg_line *l = find_any(k, at, end);
        more = l && l->within >= indent;
        if (more && !sp_agg_lines_push(a, l))
            return false;
        at += more ? l->n + 1 : 0;
        *line += more;
    }
    *used = (size_t)(at - p);
    return true;
}
