#include "analysis/function.h"

#include "analysis/chains.h"
#include "analysis/fold.h"
#include "analysis/recursion.h"
#include "analysis/tally.h"

#include <stdlib.h>

/* Sums by what a frame of the function is or stands next to: of few of many numbers. */
struct parts {
    uint32_t *slot;           /* per key: 1 + its group; 0: not seen */
    SP_VEC(uint32_t) keys;    /* per group */
    SP_VEC(int64_t) inferred; /* per group, of its total: where the frame was not recorded */
    struct sp_fold sums;
};

struct builder {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_function_lookup *lookup;
    struct sp_function_view v;
    struct parts callers, callees, matches, lines, threads;
    struct sp_fold whole;  /* all of it: one group */
    SP_VEC(uint32_t) hits; /* frames of the function in the row at hand */
};

static bool parts_init(struct parts *x, size_t keys)
{
    x->slot = calloc(keys + 1, sizeof *x->slot);
    return x->slot != NULL;
}

static void parts_free(struct parts *x)
{
    free(x->slot);
    sp_vec_free(&x->keys);
    sp_vec_free(&x->inferred);
    sp_fold_free(&x->sums);
}

/* The group of a key; SP_NONE: out of memory. */
static uint32_t part_of(struct parts *x, uint32_t key)
{
    if (!x->slot[key]) {
        if (!sp_vec_push(&x->keys, key) || !sp_vec_push(&x->inferred, 0) ||
            !sp_fold_reserve(&x->sums, x->keys.n))
            return SP_NONE;
        x->slot[key] = (uint32_t)x->keys.n;
    }
    return x->slot[key] - 1;
}

static bool part_total(struct parts *x, uint32_t key, const struct sp_selected *row, uint32_t turn)
{
    uint32_t group = part_of(x, key);
    if (group != SP_NONE)
        sp_fold_total(&x->sums, group, row, turn);
    return group != SP_NONE;
}

/* Of a leaf, whose total was counted. */
static void part_self(struct parts *x, uint32_t key, const struct sp_selected *row)
{
    sp_fold_self(&x->sums, x->slot[key] - 1, row);
}

/* The caller or callee at a place of the row; the key for "none" is one past the functions. */
static bool part_beside(struct builder *b, struct parts *x, const uint32_t *f, size_t n, size_t at,
                        const struct sp_selected *row, uint32_t turn)
{
    const struct sp_frame *frame = at < n ? &b->p->frames.v[f[at]] : NULL;
    uint32_t group = part_of(x, frame ? frame->function : (uint32_t)b->p->functions.n);
    if (group == SP_NONE)
        return false;
    if (sp_fold_total(&x->sums, group, row, turn) && frame && frame->flags & SP_FRAME_INFERRED)
        x->inferred.v[group] += row->weight;
    return true;
}

/* Whether a frame is a function that the row had before, rather than one of the same name. */
static enum sp_sameness function_recurs(const struct builder *b, const uint32_t *stack, size_t k)
{
    enum { LOOK_BACK = 64 };
    enum sp_sameness best = SP_OTHERS;
    size_t n = b->hits.n, first = n > LOOK_BACK ? n - LOOK_BACK : 0;
    for (size_t i = n; i-- > first && best < SP_SAME;) {
        enum sp_sameness is = sp_same_function(b->p, stack, b->hits.v[i], k);
        best = is > best ? is : best;
    }
    return best;
}

static bool function_add_row(struct builder *b, size_t i)
{
    const struct sp_selected *row = &b->s->rows.v[i];
    uint32_t context = b->p->stacks.v[row->stack].context, times = 0, again = 0, turn = (uint32_t)i + 1;
    size_t n;
    const uint32_t *f = sp_selected_frames(b->s, i, &n);
    bool ok = f != NULL;
    b->hits.n = 0;
    for (size_t k = 0; ok && k < n; k++) {
        const struct sp_frame *frame = &b->p->frames.v[f[k]];
        if (!b->lookup->hits[frame->function])
            continue;
        enum sp_sameness same = times ? function_recurs(b, f, k) : SP_OTHERS;
        again += same != SP_OTHERS;
        b->v.proven = b->v.proven || same == SP_SAME;
        times++;
        ok = sp_vec_push(&b->hits, (uint32_t)k) && part_total(&b->matches, frame->function, row, turn) &&
             part_total(&b->lines, frame->srcline, row, turn) &&
             part_total(&b->threads, context, row, turn) &&
             part_beside(b, &b->callers, f, n, k + 1, row, turn) &&
             (k == 0 || part_beside(b, &b->callees, f, n, k - 1, row, turn));
    }
    if (!ok || !times)
        return ok;
    sp_fold_total(&b->whole, 0, row, turn);
    b->v.recursive += again ? row->weight : 0;
    b->v.deepest = again + 1 > b->v.deepest ? again + 1 : b->v.deepest;
    const struct sp_frame *frame = &b->p->frames.v[f[0]];
    if (b->lookup->hits[frame->function]) {
        sp_fold_self(&b->whole, 0, row);
        part_self(&b->matches, frame->function, row);
        part_self(&b->lines, frame->srcline, row);
        part_self(&b->threads, context, row);
    }
    return true;
}

static int cmp_neighbour(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_neighbour *a = va, *b = vb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->function == SP_NONE || b->function == SP_NONE)
        return (a->function == SP_NONE) - (b->function == SP_NONE);
    const struct sp_function *x = &p->functions.v[a->function], *y = &p->functions.v[b->function];
    int c = sp_str_cmp(sp_pstr(p, x->name), sp_pstr(p, y->name));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[x->dso].name), sp_pstr(p, p->dsos.v[y->dso].name));
    return c ? c : (a->function > b->function) - (a->function < b->function);
}

static int cmp_part(const void *va, const void *vb, void *arg)
{
    const struct builder *b = arg;
    const struct sp_part *x = va, *y = vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    int c = sp_str_cmp(sp_str_at(&b->v.names, x->name), sp_str_at(&b->v.names, y->name));
    if (!c && x->function != SP_NONE && y->function != SP_NONE) {
        const struct sp_profile *p = b->p;
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[p->functions.v[x->function].dso].name),
                       sp_pstr(p, p->dsos.v[p->functions.v[y->function].dso].name));
    }
    return c ? c : (x->function > y->function) - (x->function < y->function);
}

#define TAKE_NEIGHBOURS(b, parts, list)                                                                      \
    take_neighbours((b), (parts), (void **)&(list)->v, &(list)->n, &(list)->cap)

static bool take_neighbours(struct builder *b, const struct parts *x, void **v, size_t *n, size_t *cap)
{
    struct sp_neighbour *out;
    if (!sp_vec_grow(v, cap, x->keys.n + 1, sizeof *out))
        return false;
    out = *v;
    for (size_t i = 0; i < x->keys.n; i++) {
        uint32_t f = x->keys.v[i] == b->p->functions.n ? SP_NONE : x->keys.v[i];
        const struct sp_fold_sum *total = &x->sums.total.v[i];
        out[i] = (struct sp_neighbour){f, total->weight, total->samples, x->inferred.v[i]};
    }
    *n = x->keys.n;
    if (*n)
        qsort_r(out, *n, sizeof *out, cmp_neighbour, (void *)(uintptr_t)b->p);
    return true;
}

static struct sp_part part_at(const struct parts *x, size_t group)
{
    const struct sp_fold_sum *self = &x->sums.self.v[group], *total = &x->sums.total.v[group];
    return (struct sp_part){.function = SP_NONE,
                            .pool = SP_NONE,
                            .self = self->weight,
                            .total = total->weight,
                            .samples = self->samples,
                            .total_samples = total->samples,
                            .inferred = x->inferred.v[group]};
}

struct part_list {
    struct sp_part *v;
    size_t n, cap;
};

/* Matches and lines with their names; a key is a function or a string. */
static bool name_parts(struct builder *b, const struct parts *x, bool functions, struct part_list *out)
{
    for (size_t i = 0; i < x->keys.n; i++) {
        struct sp_part y = part_at(x, i);
        uint32_t key = x->keys.v[i];
        struct sp_str t = sp_pstr(b->p, functions ? b->p->functions.v[key].name : key);
        y.function = functions ? key : SP_NONE;
        y.name = t.n ? sp_intern(&b->v.names, t.p, t.n) : SP_STR_NONE;
        if (y.name == SP_STR_FAIL || !sp_vec_push(out, y))
            return false;
    }
    if (out->n)
        qsort_r(out->v, out->n, sizeof *out->v, cmp_part, b);
    return true;
}

static uint32_t thread_name(struct builder *b, uint32_t context)
{
    struct sp_buf name;
    sp_buf_init(&name, 0);
    sp_thread_row(&name, b->s, context);
    uint32_t number = name.failed ? SP_STR_FAIL : sp_intern(&b->v.names, name.data, name.len);
    sp_buf_free(&name);
    return number;
}

/* Contexts that are one thread, or one pool, become one part: a row is of one context, so all of them add up.
 */
static bool join_threads(struct builder *b, struct part_list *out)
{
    const struct parts *x = &b->threads;
    uint32_t *place = calloc(b->v.names.strs.n + x->keys.n + 1, sizeof *place); /* per name: 1 + its part */
    bool ok = place != NULL;
    for (size_t i = 0; ok && i < x->keys.n; i++) {
        struct sp_part y = part_at(x, i);
        y.pool = b->s->pools.by_thread[x->keys.v[i]];
        y.name = thread_name(b, x->keys.v[i]);
        ok = y.name != SP_STR_FAIL;
        if (ok && !place[y.name]) {
            ok = sp_vec_push(out, y);
            place[y.name] = (uint32_t)out->n;
        } else if (ok) {
            struct sp_part *have = &out->v[place[y.name] - 1];
            have->self += y.self;
            have->total += y.total;
            sp_tally_add(&have->samples, y.samples);
            sp_tally_add(&have->total_samples, y.total_samples);
        }
    }
    free(place);
    if (ok && out->n)
        qsort_r(out->v, out->n, sizeof *out->v, cmp_part, b);
    return ok;
}

#define HAND_OVER(to, from)                                                                                  \
    do {                                                                                                     \
        (to)->v = (from)->v;                                                                                 \
        (to)->n = (from)->n;                                                                                 \
        (to)->cap = (from)->cap;                                                                             \
    } while (0)

static bool function_finish(struct builder *b)
{
    struct part_list matches = {0}, lines = {0}, threads = {0};
    bool ok = TAKE_NEIGHBOURS(b, &b->callers, &b->v.callers) &&
              TAKE_NEIGHBOURS(b, &b->callees, &b->v.callees) && name_parts(b, &b->matches, true, &matches) &&
              name_parts(b, &b->lines, false, &lines) && join_threads(b, &threads);
    HAND_OVER(&b->v.matches, &matches);
    HAND_OVER(&b->v.lines, &lines);
    HAND_OVER(&b->v.threads, &threads);
    b->v.self = b->whole.self.v[0].weight;
    b->v.samples = b->whole.self.v[0].samples;
    b->v.total = b->whole.total.v[0].weight;
    b->v.total_samples = b->whole.total.v[0].samples;
    return ok;
}

static spaa_status find_bound(struct builder *b, struct sp_diags *d)
{
    const struct sp_profile *p = b->p;
    int64_t more;
    bool known;
    b->v.at_most = SP_ABSENT;
    if (!sp_chains_tell(b->s))
        return SPAA_OK;
    uint32_t *keys = malloc((p->frames.n + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < p->frames.n; i++)
        keys[i] = b->lookup->hits[p->frames.v[i].function] ? 0 : SP_NONE;
    spaa_status st = keys ? sp_chains_at_most(b->s, keys, 1, d, &more, &known) : sp_nomem(d);
    if (!st && known)
        b->v.at_most = b->v.total + more;
    free(keys);
    return st;
}

spaa_status sp_function_build(struct sp_selection *s, const struct sp_function_lookup *lookup,
                              struct sp_diags *d, struct sp_function_view *out)
{
    const struct sp_profile *p = s->profile;
    struct builder b = {.s = s, .p = p, .lookup = lookup};
    bool ok = sp_strtab_init(&b.v.names) && sp_fold_reserve(&b.whole, 1) &&
              parts_init(&b.callers, p->functions.n + 1) && parts_init(&b.callees, p->functions.n + 1) &&
              parts_init(&b.matches, p->functions.n) && parts_init(&b.lines, p->strs.strs.n) &&
              parts_init(&b.threads, p->contexts.n);
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = function_add_row(&b, i);
    ok = ok && function_finish(&b) && !find_bound(&b, d);
    sp_fold_free(&b.whole);
    sp_vec_free(&b.hits);
    parts_free(&b.callers);
    parts_free(&b.callees);
    parts_free(&b.matches);
    parts_free(&b.lines);
    parts_free(&b.threads);
    if (!ok) {
        sp_function_free(&b.v);
        return sp_nomem(d);
    }
    *out = b.v;
    return SPAA_OK;
}

void sp_function_free(struct sp_function_view *v)
{
    sp_vec_free(&v->callers);
    sp_vec_free(&v->callees);
    sp_vec_free(&v->matches);
    sp_vec_free(&v->lines);
    sp_vec_free(&v->threads);
    sp_strtab_free(&v->names);
}
