/*
 * The usual stack and frame records, read without looking at their keys one by one.
 *
 * Records of canonical files differ in their id, frames and numbers; everything between is the same text.
 * This path expects that text and gives up at the first difference, before anything was entered: the
 * general path (stack.c) then reads the line from its start. Both give the same profile.
 */
#include "base/num.h"
#include "formats/spaa/read.h"
#include "formats/spaa/usual.h"

static inline bool expect(const char **p, const char *end, const char *literal, size_t n)
{
    if ((size_t)(end - *p) < n || !sp_same_text(*p, literal, n))
        return false;
    *p += n;
    return true;
}
#define EXPECT(p, end, literal) expect(p, end, literal, sizeof literal - 1)

/* The list behind *at, into the frames of the profile, which do not count yet. */
static bool fast_frames(struct reader *r, const char **at, const char *end, uint32_t *n)
{
    struct sp_profile *p = r->p;
    const struct idmap *m = &r->frames;
    if (!sp_vec_reserve(&p->stack_frames, p->stack_frames.n + SP_LIST_MAX))
        return false;
    uint32_t *to = p->stack_frames.v + p->stack_frames.n;
    size_t known = m->gaps ? m->ndirect : m->count;
    *n = (uint32_t)sp_number_list(*at, end, !m->gaps, known < INT32_MAX ? (uint32_t)known : 0, to, at);
    if (!*n)
        return false;
    for (uint32_t i = 0; m->gaps && i < *n; i++) {
        to[i] = m->direct[to[i]] - 1; /* 0 - 1 is SP_NONE */
        if (to[i] == SP_NONE)
            return false;
    }
    ++*at;
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
static bool fast_weights(const struct reader *r, const char **at, const char *end, uint32_t leaf,
                         const struct template **t, int64_t *values)
{
    const char *s = *at;
    *t = NULL;
    for (unsigned i = 0; i < r->ntemplates && !*t; i++) {
        const struct template *x = &r->templates[(r->last_template + i) % r->ntemplates];
        if (sp_match_template(x, &s, end, values))
            *t = x;
    }
    size_t n = (size_t)(s - *at);
    uint64_t id;
    if (!*t || !EXPECT(&s, end, ",\"exclusive\":{\"frame\":") || !sp_plain_number(&s, end, &id) ||
        sp_idmap_small(&r->frames, id) != leaf || !EXPECT(&s, end, ",\"weights\":") ||
        !expect(&s, end, *at, n) || !EXPECT(&s, end, "}}"))
        return false;
    *at = s;
    return true;
}

static bool fast_context(struct reader *r, const char **p, const char *end, uint32_t *context)
{
    if (!r->recent.raw.n || !expect(p, end, r->recent.raw.p, r->recent.raw.n))
        return sp_known_context(r, p, end, context);
    *context = r->recent.context;
    return true;
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

const char *sp_fast_stack(struct reader *r, const char *line, const char *limit)
{
    struct sp_profile *p = r->p;
    const char *s = line;
    struct sp_stack x = {.first = p->stack_frames.n, .exclusive = SP_EXCLUSIVE_SAME};
    struct sp_stack_id id;
    const struct template *t;
    int64_t values[TEMPLATE_VALUES];
    if (!EXPECT(&s, limit, "{\"type\":\"stack\",\"id\":\"") || limit - s < 28)
        return NULL;
    size_t n = s[18] == '"' ? 18 : 27;
    if (s[n] != '"' || !sp_our_id((struct sp_span){s, n}, &id))
        return NULL;
    s += n;
    if (!EXPECT(&s, limit, "\",\"frames\":[") || !fast_frames(r, &s, limit, &x.n) ||
        !EXPECT(&s, limit, ",\"stack_type\":") || !fast_stack_type(&s, limit, &x.type) ||
        !EXPECT(&s, limit, ",\"context\":") || !fast_context(r, &s, limit, &x.context) ||
        !EXPECT(&s, limit, ",\"weights\":"))
        return NULL;
    uint32_t *frames = p->stack_frames.v + x.first;
    if (!fast_weights(r, &s, limit, frames[p->header.root_first ? x.n - 1 : 0], &t, values) || s == limit ||
        *s != '\n' || !primary_there(p, t, x.context))
        return NULL;
    if (p->header.root_first)
        sp_reverse(frames, x.n);
    x.layout = t->layout;
    if (!enter(r, &x, &id, t, values))
        return NULL;
    p->stack_frames.n += x.n;
    return s + 1;
}

/* A string in plain ASCII, its opening quote taken. */
static bool fast_text(const char **p, const char *end, struct sp_span *out)
{
    const char *quote = sp_plain_text(*p, end);
    if (!quote)
        return false;
    *out = (struct sp_span){*p, (size_t)(quote - *p)};
    *p = quote + 1;
    return true;
}

static bool fast_hex(const char **p, const char *end, uint64_t *out, uint8_t *flags, uint8_t flag)
{
    struct sp_span s;
    if (!fast_text(p, end, &s) || !sp_parse_0x(s.p, s.n, out))
        return false;
    *flags |= flag;
    return true;
}

static bool fast_kind(const char **p, const char *end, uint8_t *kind)
{
    struct sp_span s;
    int k = fast_text(p, end, &s) ? sp_name_index(sp_frame_kind_names, s.p, s.n) : -1;
    *kind = (uint8_t)k;
    return k >= 0;
}

struct frame_text {
    struct sp_frame f;
    struct sp_span id, func, srcline;
    uint32_t dso;
};

/* The members in the order of canonical files. */
static const char *frame_members(const struct reader *r, const char *s, const char *end, struct frame_text *x)
{
    uint64_t v;
    x->id.p = s;
    if (!sp_plain_number(&s, end, &v))
        return NULL;
    x->id.n = (size_t)(s - x->id.p);
    if (!EXPECT(&s, end, ",\"func\":\"") || !fast_text(&s, end, &x->func))
        return NULL;
    if (EXPECT(&s, end, ",\"func_resolved\":false"))
        x->f.flags |= SP_FRAME_UNRESOLVED;
    if (!EXPECT(&s, end, ",\"dso\":") || !sp_plain_number(&s, end, &v))
        return NULL;
    x->dso = sp_idmap_small(&r->dsos, v);
    if (x->dso == SP_NONE ||
        (EXPECT(&s, end, ",\"ip\":\"") && !fast_hex(&s, end, &x->f.ip, &x->f.flags, SP_FRAME_IP)) ||
        (EXPECT(&s, end, ",\"symoff\":\"") &&
         !fast_hex(&s, end, &x->f.symoff, &x->f.flags, SP_FRAME_SYMOFF)) ||
        (EXPECT(&s, end, ",\"srcline\":\"") && !fast_text(&s, end, &x->srcline)))
        return NULL;
    if (EXPECT(&s, end, ",\"inlined\":true"))
        x->f.flags |= SP_FRAME_INLINED;
    if (EXPECT(&s, end, ",\"inline_depth\":")) {
        if (!sp_plain_number(&s, end, &v) || v > UINT32_MAX)
            return NULL;
        x->f.inline_depth = (uint32_t)v;
    }
    if (!EXPECT(&s, end, ",\"kind\":\"") || !fast_kind(&s, end, &x->f.kind) || !EXPECT(&s, end, "}\n"))
        return NULL;
    return s;
}

const char *sp_fast_frame(struct reader *r, const char *line, const char *limit)
{
    struct sp_profile *p = r->p;
    struct frame_text x = {.f.function = r->last_function};
    const char *s = line;
    bool duplicate;
    if (!EXPECT(&s, limit, "{\"type\":\"frame\",\"id\":") || !(s = frame_members(r, s, limit, &x)) ||
        sp_idmap_find(r, &r->frames, x.id) != SP_NONE)
        return NULL;
    const struct sp_function *last =
        r->last_function < p->functions.n ? &p->functions.v[r->last_function] : NULL;
    struct sp_str name = sp_pstr(p, last ? last->name : SP_STR_NONE);
    if (!last || last->dso != x.dso || name.n != x.func.n || !sp_same_text(name.p, x.func.p, name.n)) {
        uint32_t func = sp_profile_str(p, x.func.p, x.func.n);
        x.f.function = func == SP_STR_FAIL ? SP_NONE : sp_function_intern(p, func, x.dso);
    }
    x.f.srcline = x.srcline.p ? sp_profile_str(p, x.srcline.p, x.srcline.n) : SP_STR_NONE;
    uint32_t n = x.f.function == SP_NONE || x.f.srcline == SP_STR_FAIL ? SP_NONE : sp_frame_intern(p, &x.f);
    /* Without memory the general path says so, or finds some. */
    if (n == SP_NONE || !sp_idmap_add(r, &r->frames, x.id, n, &duplicate))
        return NULL;
    r->last_function = x.f.function;
    return s;
}
