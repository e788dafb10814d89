#include "analysis/function.h"

#include "analysis/chains.h"
#include "analysis/recursion.h"
#include "analysis/tally.h"

#include <stdlib.h>

/* Sums by a dense key, each row once. */
struct sums {
    uint32_t *slot; /* per key: 1 + position in parts; 0: not seen */
    SP_VEC(struct sp_part) parts;
    SP_VEC(uint32_t) keys;
    SP_VEC(size_t) stamp; /* 1 + the last row that counted */
};

struct builder {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_function_lookup *lookup;
    struct sp_function_view v;
    struct sums callers, callees, matches, lines, threads;
    SP_VEC(uint32_t) hits; /* frames of the function in the row at hand */
};

static bool sums_init(struct sums *x, size_t keys)
{
    x->slot = calloc(keys + 1, sizeof *x->slot);
    return x->slot != NULL;
}

static void sums_free(struct sums *x)
{
    free(x->slot);
    sp_vec_free(&x->parts);
    sp_vec_free(&x->keys);
    sp_vec_free(&x->stamp);
}

static struct sp_part *function_part(struct sums *x, uint32_t key)
{
    if (!x->slot[key]) {
        struct sp_part fresh = {0, SP_NONE, SP_NONE, 0, 0, SP_ABSENT, SP_ABSENT, 0};
        if (!sp_vec_push(&x->parts, fresh) || !sp_vec_push(&x->keys, key) ||
            !sp_vec_push(&x->stamp, (size_t)0))
            return NULL;
        x->slot[key] = (uint32_t)x->parts.n;
    }
    return &x->parts.v[x->slot[key] - 1];
}

static void function_add_samples(int64_t *to, int64_t v)
{
    if (v > SP_DECIMAL)
        sp_tally_add(to, v);
}

static bool function_add_total(struct sums *x, uint32_t key, const struct sp_selected *row, size_t stamp)
{
    struct sp_part *y = function_part(x, key);
    if (!y)
        return false;
    size_t *last = &x->stamp.v[x->slot[key] - 1];
    if (*last == stamp)
        return true;
    *last = stamp;
    y->total += row->weight;
    function_add_samples(&y->total_samples, row->samples);
    return true;
}

static bool function_add_self(struct sums *x, uint32_t key, const struct sp_selected *row)
{
    struct sp_part *y = function_part(x, key);
    if (!y)
        return false;
    y->self += row->weight;
    function_add_samples(&y->samples, row->samples);
    return true;
}

/* The caller or callee at a place of the row; the key for "none" is one past the functions. */
static bool function_beside(struct builder *b, struct sums *x, const uint32_t *f, size_t n, size_t at,
                            const struct sp_selected *row, size_t stamp)
{
    const struct sp_frame *frame = at < n ? &b->p->frames.v[f[at]] : NULL;
    struct sp_part *y = function_part(x, frame ? frame->function : (uint32_t)b->p->functions.n);
    if (!y)
        return false;
    int64_t before = y->total;
    bool ok = function_add_total(x, frame ? frame->function : (uint32_t)b->p->functions.n, row, stamp);
    if (ok && frame && frame->flags & SP_FRAME_INFERRED)
        y->inferred += y->total - before;
    return ok;
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
    uint32_t context = b->p->stacks.v[row->stack].context, times = 0, again = 0;
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
        ok = sp_vec_push(&b->hits, (uint32_t)k) &&
             function_add_total(&b->matches, frame->function, row, i + 1) &&
             function_add_total(&b->lines, frame->srcline, row, i + 1) &&
             function_add_total(&b->threads, context, row, i + 1) &&
             function_beside(b, &b->callers, f, n, k + 1, row, i + 1) &&
             (k == 0 || function_beside(b, &b->callees, f, n, k - 1, row, i + 1));
    }
    if (!ok || !times)
        return ok;
    b->v.total += row->weight;
    function_add_samples(&b->v.total_samples, row->samples);
    b->v.recursive += again ? row->weight : 0;
    b->v.deepest = again + 1 > b->v.deepest ? again + 1 : b->v.deepest;
    const struct sp_frame *frame = &b->p->frames.v[f[0]];
    if (!b->lookup->hits[frame->function])
        return true;
    b->v.self += row->weight;
    function_add_samples(&b->v.samples, row->samples);
    return function_add_self(&b->matches, frame->function, row) &&
           function_add_self(&b->lines, frame->srcline, row) && function_add_self(&b->threads, context, row);
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

#define TAKE_NEIGHBOURS(b, sums, list)                                                                       \
    take_neighbours((b), (sums), (void **)&(list)->v, &(list)->n, &(list)->cap)

static bool take_neighbours(struct builder *b, const struct sums *x, void **v, size_t *n, size_t *cap)
{
    struct sp_neighbour *out;
    if (!sp_vec_grow(v, cap, x->parts.n + 1, sizeof *out))
        return false;
    out = *v;
    for (size_t i = 0; i < x->parts.n; i++) {
        uint32_t f = x->keys.v[i] == b->p->functions.n ? SP_NONE : x->keys.v[i];
        out[i] = (struct sp_neighbour){f, x->parts.v[i].total, x->parts.v[i].total_samples,
                                       x->parts.v[i].inferred};
    }
    *n = x->parts.n;
    if (*n)
        qsort_r(out, *n, sizeof *out, cmp_neighbour, (void *)(uintptr_t)b->p);
    return true;
}

/* Names of matches and lines; a key is a function or a string. */
static bool name_parts(struct builder *b, struct sums *x, bool functions)
{
    for (size_t i = 0; i < x->parts.n; i++) {
        struct sp_part *y = &x->parts.v[i];
        uint32_t key = x->keys.v[i];
        struct sp_str t = sp_pstr(b->p, functions ? b->p->functions.v[key].name : key);
        y->function = functions ? key : SP_NONE;
        y->name = t.n ? sp_intern(&b->v.names, t.p, t.n) : SP_STR_NONE;
        if (y->name == SP_STR_FAIL)
            return false;
    }
    if (x->parts.n)
        qsort_r(x->parts.v, x->parts.n, sizeof *x->parts.v, cmp_part, b);
    return true;
}

/* Contexts that are one thread, or one pool, become one part. */
static bool join_threads(struct builder *b)
{
    struct sums *x = &b->threads;
    size_t n = 0;
    uint32_t *place = calloc(b->v.names.strs.n + x->parts.n + 1, sizeof *place); /* per name: 1 + its part */
    if (!place)
        return false;
    for (size_t i = 0; i < x->parts.n; i++) {
        struct sp_part y = x->parts.v[i];
        struct sp_buf name;
        sp_buf_init(&name, 0);
        sp_thread_row(&name, b->s, x->keys.v[i]);
        y.pool = b->s->pools.by_thread[x->keys.v[i]];
        y.name = name.failed ? SP_STR_FAIL : sp_intern(&b->v.names, name.data, name.len);
        sp_buf_free(&name);
        if (y.name == SP_STR_FAIL) {
            free(place);
            return false;
        }
        if (!place[y.name]) {
            x->parts.v[n++] = y;
            place[y.name] = (uint32_t)n;
            continue;
        }
        size_t k = place[y.name] - 1;
        x->parts.v[k].self += y.self;
        x->parts.v[k].total += y.total;
        function_add_samples(&x->parts.v[k].samples, y.samples);
        function_add_samples(&x->parts.v[k].total_samples, y.total_samples);
    }
    free(place);
    x->parts.n = n;
    if (n)
        qsort_r(x->parts.v, n, sizeof *x->parts.v, cmp_part, b);
    return true;
}

#define HAND_OVER(to, from)                                                                                  \
    do {                                                                                                     \
        (to)->v = (from)->v;                                                                                 \
        (to)->n = (from)->n;                                                                                 \
        (to)->cap = (from)->cap;                                                                             \
        (from)->v = NULL;                                                                                    \
    } while (0)

static bool function_finish(struct builder *b)
{
    if (!TAKE_NEIGHBOURS(b, &b->callers, &b->v.callers) || !TAKE_NEIGHBOURS(b, &b->callees, &b->v.callees) ||
        !name_parts(b, &b->matches, true) || !name_parts(b, &b->lines, false) || !join_threads(b))
        return false;
    HAND_OVER(&b->v.matches, &b->matches.parts);
    HAND_OVER(&b->v.lines, &b->lines.parts);
    HAND_OVER(&b->v.threads, &b->threads.parts);
    return true;
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
    b.v.samples = b.v.total_samples = SP_ABSENT;
    bool ok = sp_strtab_init(&b.v.names) && sums_init(&b.callers, p->functions.n + 1) &&
              sums_init(&b.callees, p->functions.n + 1) && sums_init(&b.matches, p->functions.n) &&
              sums_init(&b.lines, p->strs.strs.n) && sums_init(&b.threads, p->contexts.n);
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = function_add_row(&b, i);
    ok = ok && function_finish(&b) && !find_bound(&b, d);
    sp_vec_free(&b.hits);
    sums_free(&b.callers);
    sums_free(&b.callees);
    sums_free(&b.matches);
    sums_free(&b.lines);
    sums_free(&b.threads);
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
