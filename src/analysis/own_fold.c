#include "analysis/own_fold.h"

#include "analysis/chains.h"
#include "analysis/fold.h"
#include "analysis/own_name.h"
#include "analysis/path.h"
#include "analysis/top.h"
#include "base/hash.h"
#include "model/callees.h"
#include "model/edges.h"

#include <stdlib.h>

struct callee {
    uint32_t owner; /* a function, functions.n for none, or behind that a step of the path */
    struct sp_own_callee c;
};

struct folder {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_own *o;
    struct sp_own_fold out;
    uint32_t *plain; /* per function: its plain name in out.names, once it was asked for */
    uint32_t *row;   /* per function, and for none: 1 + its row */
    SP_VEC(struct callee) callees;
    struct sp_map by_callee;
    struct sp_buf name;
    uint32_t path[SP_OWN_STEPS], step[SP_OWN_STEPS]; /* functions from the root, and their steps */
    size_t npath;
};

bool sp_own_is_marker(const struct sp_profile *p, uint32_t function)
{
    static const char *const markers[] = {
        SP_BROKEN_CHAIN, "[unknown]", "[unresolved]", "[truncated]", "<Truncated>", "??", NULL};
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    return sp_name_index(markers, name.n ? name.p : "", name.n) >= 0;
}

/* The sign that something is missing, or wrong, from there on. */
static bool own_fold_is_break(const struct sp_profile *p, uint32_t frame)
{
    return p->frames.v[frame].flags & SP_FRAME_INFERRED && p->frames.v[frame].kind == SP_UNKNOWN;
}

uint32_t sp_own_nearest(const struct sp_profile *p, const struct sp_own *o, const uint32_t *frames, size_t n,
                        size_t from, size_t *at)
{
    for (size_t i = from; i < n && !own_fold_is_break(p, frames[i]); i++) {
        uint32_t function = p->frames.v[frames[i]].function;
        if (sp_is_own(o, function)) {
            *at = i;
            return function;
        }
    }
    return SP_NONE;
}

static uint32_t own_fold_plain_of(struct folder *x, uint32_t function)
{
    if (!x->plain[function]) {
        sp_buf_clear(&x->name);
        sp_own_plain_name(&x->name, sp_pstr(x->p, x->p->functions.v[function].name));
        x->plain[function] =
            x->name.failed ? SP_STR_FAIL : sp_intern(&x->out.names, x->name.data, x->name.len);
    }
    return x->plain[function];
}

/* Adds to what `owner` calls. */
static bool add_callee(struct folder *x, uint32_t owner, uint32_t function, int64_t weight)
{
    uint32_t name = own_fold_plain_of(x, function);
    uint64_t hash = sp_hash_mix(owner, name);
    struct sp_probe at = sp_map_probe(&x->by_callee, hash);
    if (name == SP_STR_FAIL)
        return false;
    for (uint32_t i; (i = sp_map_next(&x->by_callee, &at)) != SP_MAP_NONE;)
        if (x->callees.v[i].owner == owner && x->callees.v[i].c.name == name) {
            x->callees.v[i].c.weight += weight;
            return true;
        }
    struct callee c = {owner, {name, weight}};
    return sp_vec_push(&x->callees, c) && sp_map_add(&x->by_callee, hash, (uint32_t)x->callees.n - 1);
}

static struct sp_own_row *own_fold_row_of(struct folder *x, uint32_t function)
{
    uint32_t slot = function == SP_NONE ? (uint32_t)x->p->functions.n : function;
    struct sp_own_row r = {.function = function};
    if (!x->row[slot]) {
        if (!sp_vec_push(&x->out.rows, r))
            return NULL;
        x->row[slot] = (uint32_t)x->out.rows.n;
    }
    return &x->out.rows.v[x->row[slot] - 1];
}

/* What a frame calls. */
static uint32_t called_by(const struct folder *x, const uint32_t *frames, size_t at)
{
    return x->p->frames.v[frames[at - 1]].function;
}

/* ---- rows ---- */

static uint32_t own_group(void *arg, uint32_t frame)
{
    struct folder *x = arg;
    uint32_t function = frame == SP_NONE ? SP_NONE : x->p->frames.v[frame].function;
    if (function == SP_NONE || !sp_is_own(x->o, function))
        return SP_NONE;
    return own_fold_row_of(x, function) ? x->row[function] - 1 : SP_FOLD_FAIL;
}

/* A row for each own function. */
static bool own_fold_sums(struct folder *x)
{
    size_t n = x->p->frames.n;
    struct sp_fold sums = {0};
    struct sp_fold_key key = {malloc((n + 1) * sizeof *key.of), SP_NONE, own_group, x};
    for (size_t i = 0; key.of && i < n; i++)
        key.of[i] = SP_FOLD_NEW;
    bool ok = key.of && sp_fold(x->s, &(struct sp_fold_by){.frames = &key}, &sums);
    for (size_t i = 0; ok && i < sums.self.n; i++) {
        x->out.rows.v[i].self = sums.self.v[i].weight;
        x->out.rows.v[i].total = sums.total.v[i].weight;
    }
    free(key.of);
    sp_fold_free(&sums);
    return ok;
}

static bool own_fold_add_row(struct folder *x, size_t i)
{
    size_t n, at = 0;
    const struct sp_selected *s = &x->s->rows.v[i];
    const uint32_t *frames = sp_selected_frames(x->s, i, &n);
    if (!frames)
        return false;
    if (!n) /* said as data without stacks */
        return true;
    uint32_t own = sp_own_nearest(x->p, x->o, frames, n, 0, &at);
    uint32_t leaf = x->p->frames.v[frames[0]].function;
    struct sp_own_row *r = own_fold_row_of(x, own);
    if (!r)
        return false;
    r->sum.weight += s->weight;
    if (own == SP_NONE)
        r->total += s->weight;
    for (size_t k = 0; own == SP_NONE && k < n; k++)
        x->out.breaks = x->out.breaks || own_fold_is_break(x->p, frames[k]);
    if (leaf == own)
        return true;
    r->sum.beneath += s->weight;
    uint32_t slot = own == SP_NONE ? (uint32_t)x->p->functions.n : own;
    uint32_t callee = own == SP_NONE || !at ? leaf : called_by(x, frames, at);
    return add_callee(x, slot, callee, s->weight);
}

/* What the rows' totals are at most, where that is known. */
static spaa_status own_fold_find_bounds(struct folder *x, struct sp_diags *d)
{
    const struct sp_profile *p = x->p;
    uint32_t *keys = malloc((p->frames.n + 1) * sizeof *keys);
    int64_t *more = malloc((p->functions.n + 1) * sizeof *more);
    bool known = false;
    spaa_status st = keys && more ? SPAA_OK : sp_nomem(d);
    for (size_t i = 0; !st && i < p->frames.n; i++)
        keys[i] = sp_is_own(x->o, p->frames.v[i].function) ? p->frames.v[i].function : SP_NONE;
    if (!st)
        st = sp_chains_at_most(x->s, keys, p->functions.n, d, more, &known);
    for (size_t i = 0; !st && i < x->out.rows.n; i++) {
        struct sp_own_row *r = &x->out.rows.v[i];
        r->at_most = known && r->function != SP_NONE ? r->total + more[r->function] : SP_ABSENT;
    }
    free(keys);
    free(more);
    return st;
}

/* ---- the path ---- */

/* The tree of what is left of the stacks where all but own functions are left out. */
static spaa_status own_tree(struct folder *x, struct sp_diags *d, struct sp_tree *t)
{
    struct sp_selection *s = x->s;
    const struct sp_profile *p = x->p;
    struct sp_tree_opts how = {.sort = SP_TREE_BY_WEIGHT, .min_total = s->kept > 0 ? s->kept / 10 : 0};
    unsigned char *hidden = s->hidden, *mask = malloc(p->frames.n + 1);
    bool plain = s->plain;
    if (!mask)
        return sp_nomem(d);
    for (size_t i = 0; i < p->frames.n; i++)
        mask[i] = (hidden && hidden[i]) || !sp_is_own(x->o, p->frames.v[i].function);
    if (!x->out.whole_path) {
        s->hidden = mask;
        s->plain = false;
    }
    spaa_status st = sp_tree_build(s, &how, d, t);
    s->hidden = hidden;
    s->plain = plain;
    free(mask);
    return st;
}

static spaa_status find_path(struct folder *x, struct sp_diags *d)
{
    struct sp_tree t;
    uint32_t nodes[SP_OWN_STEPS];
    spaa_status st = own_tree(x, d, &t);
    if (st)
        return st;
    x->npath = sp_heaviest_path(&t, 0.1, nodes, SP_OWN_STEPS);
    for (size_t i = 0; i < x->npath; i++) {
        const struct sp_tree_node *n = &t.nodes.v[nodes[i]];
        struct sp_own_step *last = x->out.nsteps ? &x->out.steps[x->out.nsteps - 1] : NULL;
        struct sp_own_step step = {.function = n->function, .times = 1, .total = n->total};
        x->path[i] = n->function;
        if (last && last->function == n->function)
            last->times++;
        else
            x->out.steps[x->out.nsteps++] = step;
        x->step[i] = (uint32_t)x->out.nsteps - 1;
    }
    sp_tree_free(&t);
    return SPAA_OK;
}

/* The weight of a stack whose own functions are those of the path down to a step, and no more. */
static bool add_to_path(struct folder *x, size_t i)
{
    size_t n, nearest, depth = 0, last = 0;
    const struct sp_selected *s = &x->s->rows.v[i];
    const uint32_t *frames = sp_selected_frames(x->s, i, &n);
    if (!frames)
        return false;
    for (size_t k = n; k-- > 0;) {
        uint32_t f = x->p->frames.v[frames[k]].function;
        if (!sp_is_own(x->o, f))
            continue;
        if (depth == x->npath || x->path[depth] != f)
            return true;
        depth++;
        last = k;
    }
    if (!depth || sp_own_nearest(x->p, x->o, frames, n, 0, &nearest) == SP_NONE)
        return true;
    uint32_t leaf = x->p->frames.v[frames[0]].function;
    uint32_t owner = x->step[depth - 1];
    struct sp_own_sum *sum = &x->out.steps[owner].sum;
    sum->weight += s->weight;
    if (leaf == x->path[depth - 1])
        return true;
    sum->beneath += s->weight;
    return add_callee(x, (uint32_t)x->p->functions.n + 1 + owner, last ? called_by(x, frames, last) : leaf,
                      s->weight);
}

/* ---- order ---- */

static int cmp_callee(const void *va, const void *vb, void *arg)
{
    const struct callee *a = va, *b = vb;
    const struct folder *x = arg;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->c.weight != b->c.weight)
        return a->c.weight < b->c.weight ? 1 : -1;
    return sp_str_cmp(sp_str_at(&x->out.names, a->c.name), sp_str_at(&x->out.names, b->c.name));
}

static int own_fold_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct sp_own_row *a = va, *b = vb;
    const struct sp_profile *p = arg;
    if (a->sum.weight != b->sum.weight)
        return a->sum.weight < b->sum.weight ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->function == SP_NONE || b->function == SP_NONE)
        return a->function == SP_NONE;
    const struct sp_function *f = &p->functions.v[a->function], *g = &p->functions.v[b->function];
    int c = sp_str_cmp(sp_pstr(p, f->name), sp_pstr(p, g->name));
    return c ? c : sp_str_cmp(sp_pstr(p, p->dsos.v[f->dso].name), sp_pstr(p, p->dsos.v[g->dso].name));
}

static bool own_fold_put_in_order(struct folder *x)
{
    uint32_t functions = (uint32_t)x->p->functions.n;
    if (x->callees.n)
        qsort_r(x->callees.v, x->callees.n, sizeof *x->callees.v, cmp_callee, x);
    for (size_t i = 0; i < x->callees.n; i++) {
        const struct callee *c = &x->callees.v[i];
        struct sp_own_sum *sum = c->owner > functions ? &x->out.steps[c->owner - functions - 1].sum
                                                      : &x->out.rows.v[x->row[c->owner] - 1].sum;
        if (!sum->n++)
            sum->first = i;
        if (!sp_vec_push(&x->out.callees, c->c))
            return false;
    }
    if (x->out.rows.n)
        qsort_r(x->out.rows.v, x->out.rows.n, sizeof *x->out.rows.v, own_fold_cmp_row,
                (void *)(uintptr_t)x->p);
    return true;
}

static spaa_status own_fold_make(struct folder *x, struct sp_diags *d)
{
    bool ok = own_fold_sums(x);
    for (size_t i = 0; ok && i < x->s->rows.n; i++)
        ok = own_fold_add_row(x, i);
    if (!ok)
        return sp_nomem(d);
    spaa_status st = own_fold_find_bounds(x, d);
    if (!st)
        st = find_path(x, d);
    if (!st && !x->npath && !x->o->all) {
        x->out.whole_path = true;
        st = find_path(x, d);
    }
    for (size_t i = 0; !st && !x->out.whole_path && i < x->s->rows.n; i++)
        st = add_to_path(x, i) ? SPAA_OK : sp_nomem(d);
    return st ? st : own_fold_put_in_order(x) ? SPAA_OK : sp_nomem(d);
}

spaa_status sp_own_fold(struct sp_selection *s, const struct sp_own *o, struct sp_diags *d,
                        struct sp_own_fold *out)
{
    size_t n = s->profile->functions.n + 2;
    struct folder x = {.s = s, .p = s->profile, .o = o};
    x.plain = calloc(n, sizeof *x.plain);
    x.row = calloc(n, sizeof *x.row);
    sp_buf_init(&x.name, UINT32_MAX);
    spaa_status st = sp_strtab_init(&x.out.names) && x.plain && x.row ? own_fold_make(&x, d) : sp_nomem(d);
    free(x.plain);
    free(x.row);
    sp_vec_free(&x.callees);
    sp_map_free(&x.by_callee);
    sp_buf_free(&x.name);
    if (st)
        sp_own_fold_free(&x.out);
    else
        *out = x.out;
    return st;
}

/* Whether a function says more when it is asked about: one that only allows interrupts again does not. */
static bool says_more(const struct sp_selection *s, uint32_t function)
{
    const struct sp_profile *p = s->profile;
    return function != SP_NONE && !sp_own_is_marker(p, function) &&
           !(sp_function_tags(s, function) & SP_TAG_IRQ) &&
           !sp_str_is(sp_pstr(p, p->functions.v[function].name), SP_CALLEES_NAME);
}

spaa_status sp_own_hottest(struct sp_selection *s, const struct sp_own_fold *f, struct sp_diags *d,
                           uint32_t *out)
{
    enum { FIRST = 10 };
    struct sp_top t;
    *out = SP_NONE;
    for (size_t i = 0; !f->whole_path && i < f->rows.n && *out == SP_NONE; i++)
        *out = says_more(s, f->rows.v[i].function) ? f->rows.v[i].function : SP_NONE;
    if (*out != SP_NONE)
        return SPAA_OK;
    spaa_status st = sp_top_build(s, SP_TOP_FUNCTION, false, d, &t);
    if (st)
        return st;
    for (size_t i = 0; i < t.rows.n && i < FIRST && *out == SP_NONE; i++)
        *out = says_more(s, t.rows.v[i].function) ? t.rows.v[i].function : SP_NONE;
    sp_top_free(&t);
    return SPAA_OK;
}

void sp_own_fold_free(struct sp_own_fold *f)
{
    sp_vec_free(&f->rows);
    sp_vec_free(&f->callees);
    sp_strtab_free(&f->names);
}
