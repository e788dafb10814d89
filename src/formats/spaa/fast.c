/*
 * The usual stack records, read without looking at their keys one by one.
 *
 * Records of canonical files differ in their id, frames and numbers; everything between is the same text.
 * This path expects that text and gives up at the first difference, before anything was entered: the
 * general path (stack.c) then reads the line from its start. Both give the same profile.
 */
#include "base/num.h"
#include "formats/spaa/read.h"
#include "formats/spaa/usual.h"

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

static bool fast_stack_type(const char **p, const char *end, struct sp_stack *out)
{
    if (SP_EXPECT(p, end, "\"unified\""))
        out->type = SP_UNIFIED;
    else if (SP_EXPECT(p, end, "\"user\""))
        out->type = SP_USER_STACK;
    else if (SP_EXPECT(p, end, "\"kernel\""))
        out->type = SP_KERNEL_STACK;
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
    if (!*t || !SP_EXPECT(&s, end, ",\"exclusive\":{\"frame\":") || !sp_plain_number(&s, end, &id) ||
        sp_idmap_small(&r->frames, id) != leaf || !SP_EXPECT(&s, end, ",\"weights\":") ||
        !sp_expect(&s, end, *at, n) || !SP_EXPECT(&s, end, "}}"))
        return false;
    *at = s;
    return true;
}

static bool fast_context(struct reader *r, const char **p, const char *end, uint32_t *context)
{
    if (!r->recent.raw.n || !sp_expect(p, end, r->recent.raw.p, r->recent.raw.n))
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
    if (!SP_EXPECT(&s, limit, "{\"type\":\"stack\",\"id\":\"") || limit - s < 28)
        return NULL;
    size_t n = s[18] == '"' ? 18 : 27;
    if (s[n] != '"' || !sp_our_id((struct sp_span){s, n}, &id))
        return NULL;
    s += n;
    if (!SP_EXPECT(&s, limit, "\",\"frames\":[") || !fast_frames(r, &s, limit, &x.n) ||
        !SP_EXPECT(&s, limit, ",\"stack_type\":") || !fast_stack_type(&s, limit, &x) ||
        !SP_EXPECT(&s, limit, ",\"context\":") || !fast_context(r, &s, limit, &x.context) ||
        !SP_EXPECT(&s, limit, ",\"weights\":"))
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
