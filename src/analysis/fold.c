#include "analysis/fold.h"

#include "base/watch.h"

#include <stdlib.h>

struct fold_pair {
    uint32_t context, pair; /* groups; SP_NONE: none yet */
};

struct fold {
    struct sp_selection *s;
    const struct sp_fold_by *by;
    struct sp_fold *out;
    size_t known; /* numbers of frames' groups below this are groups of `out`, and have their room */
    /* With pairs: the rows by their contexts' groups, the group at hand, and its pair with each group of
     * frames. */
    uint32_t *contexts, *order, context;
    SP_VEC(struct fold_pair) pairs;
};

bool sp_fold_reserve(struct sp_fold *f, size_t groups)
{
    static const struct sp_fold_sum none = {.samples = SP_ABSENT};
    if (!sp_vec_reserve(&f->self, groups) || !sp_vec_reserve(&f->total, groups))
        return false;
    for (; f->self.n < groups; f->self.n++, f->total.n++)
        f->self.v[f->self.n] = f->total.v[f->total.n] = none;
    return true;
}

void sp_fold_free(struct sp_fold *f)
{
    sp_vec_free(&f->self);
    sp_vec_free(&f->total);
}

/* The group of a thing; it is made when it is met first. SP_NONE: the rows without frames. */
static uint32_t fold_ask(struct sp_fold_key *key, uint32_t thing)
{
    uint32_t *group = thing == SP_NONE ? &key->bare : &key->of[thing];
    if (*group == SP_FOLD_NEW)
        *group = key->make ? key->make(key->arg, thing) : SP_NONE;
    return *group;
}

static bool fold_room(struct fold *x, uint32_t group)
{
    return group < SP_FOLD_FAIL && sp_fold_reserve(x->out, (size_t)group + 1);
}

/* The group of this group of frames and the context at hand. */
static uint32_t fold_pair_of(struct fold *x, uint32_t frame)
{
    while (x->pairs.n <= frame)
        if (!sp_vec_push(&x->pairs, ((struct fold_pair){SP_NONE, SP_NONE})))
            return SP_FOLD_FAIL;
    if (x->pairs.v[frame].context == x->context)
        return x->pairs.v[frame].pair;
    uint32_t pair = x->by->pair(x->by->arg, x->context, frame);
    x->pairs.v[frame].context = x->context;
    x->pairs.v[frame].pair = pair;
    return pair;
}

/* What is not known yet, or known to be no group. */
static uint32_t fold_find(struct fold *x, uint32_t frame)
{
    uint32_t group = fold_ask(x->by->frames, frame);
    if (group < SP_FOLD_FAIL && x->by->contexts)
        group = fold_pair_of(x, group);
    if (group == SP_NONE || (group < x->out->self.n && x->by->contexts))
        return group;
    if (!fold_room(x, group))
        return SP_FOLD_FAIL;
    x->known = x->by->contexts ? 0 : x->out->self.n;
    return group;
}

static bool fold_totals(struct fold *x, const uint32_t *f, size_t n, const struct sp_selected *row,
                        uint32_t turn)
{
    const uint32_t *of = x->by->frames->of;
    for (size_t k = 0; k < n; k++) {
        uint32_t group = of[f[k]];
        if (group >= x->known) {
            if (group == SP_NONE || (group = fold_find(x, f[k])) == SP_NONE)
                continue;
            if (group == SP_FOLD_FAIL)
                return false;
        }
        sp_fold_total(x->out, group, row, turn);
    }
    return true;
}

static struct sp_selected fold_row(const struct fold *x, size_t i)
{
    struct sp_selected row = x->s->rows.v[i];
    if (x->by->weights) {
        row.weight = x->by->weights[i];
        row.samples = SP_ABSENT;
    }
    return row;
}

static bool fold_frames(struct fold *x, size_t i)
{
    size_t n;
    const struct sp_selected row = fold_row(x, i);
    const uint32_t *f = sp_selected_frames(x->s, i, &n);
    uint32_t leaf = f ? fold_find(x, n ? f[0] : SP_NONE) : SP_FOLD_FAIL;
    if (leaf == SP_FOLD_FAIL)
        return false;
    if (leaf != SP_NONE)
        sp_fold_self(x->out, leaf, &row);
    if (x->by->self_only)
        return true;
    if (!n && leaf != SP_NONE)
        sp_fold_total(x->out, leaf, &row, (uint32_t)i + 1);
    return fold_totals(x, f, n, &row, (uint32_t)i + 1);
}

static uint32_t fold_context(const struct fold *x, size_t i)
{
    return fold_ask(x->by->contexts, x->s->profile->stacks.v[x->s->rows.v[i].stack].context);
}

static bool fold_stacks(struct fold *x)
{
    for (size_t i = 0; i < x->s->rows.n; i++) {
        const struct sp_selected row = fold_row(x, i);
        uint32_t group = fold_context(x, i);
        if (group == SP_NONE)
            continue;
        if (sp_leaving(x->s->profile->diags, i) || !fold_room(x, group))
            return false;
        sp_fold_self(x->out, group, &row);
        sp_fold_total(x->out, group, &row, (uint32_t)i + 1);
    }
    return true;
}

static int fold_by_context(const void *va, const void *vb, void *arg)
{
    const uint32_t *context = arg, *a = va, *b = vb;
    if (context[*a] != context[*b])
        return context[*a] < context[*b] ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* One context's rows after the other: a group of frames then has one pair at a time. */
static bool fold_pairs(struct fold *x)
{
    size_t n = x->s->rows.n;
    x->contexts = malloc((n + 1) * sizeof *x->contexts);
    x->order = malloc((n + 1) * sizeof *x->order);
    bool ok = x->contexts && x->order;
    for (size_t i = 0; ok && i < n; i++) {
        x->order[i] = (uint32_t)i;
        x->contexts[i] = fold_context(x, i);
        ok = x->contexts[i] != SP_FOLD_FAIL;
    }
    if (ok && n)
        qsort_r(x->order, n, sizeof *x->order, fold_by_context, x->contexts);
    for (size_t i = 0; ok && i < n; i++) {
        x->context = x->contexts[x->order[i]];
        ok = x->context == SP_NONE || fold_frames(x, x->order[i]);
    }
    free(x->contexts);
    free(x->order);
    sp_vec_free(&x->pairs);
    return ok;
}

bool sp_fold(struct sp_selection *s, const struct sp_fold_by *by, struct sp_fold *out)
{
    struct fold x = {.s = s, .by = by, .out = out};
    bool ok = true;
    if (!by->frames)
        return fold_stacks(&x);
    if (by->contexts)
        return fold_pairs(&x);
    x.known = out->self.n;
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = fold_frames(&x, i);
    return ok;
}
