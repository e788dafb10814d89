#include "analysis/branch_runs.h"

#include <stdlib.h>

struct gatherer {
    const struct sp_profile *p;
    struct sp_places *places;
    struct sp_branch_runs *out;
    struct sp_diags *d;
    uint32_t missed, timed, cycles; /* metrics; SP_NONE */
};

/* Where an end of a branch is; *module is NULL where that is not known. */
static spaa_status gather_place(struct gatherer *g, const struct sp_frame *f, struct sp_module **module,
                                uint64_t *at)
{
    spaa_status st = sp_places_module(g->places, g->p->functions.v[f->function].dso, module);
    if (!st && !sp_places_address(g->places, *module, (uint32_t)(f - g->p->frames.v), at))
        *module = NULL;
    return st;
}

/* A weight of a stack; 0 where the metric or the weight is not there. */
static int64_t gather_weight(const struct gatherer *g, uint32_t stack, uint32_t metric)
{
    int64_t v = metric == SP_NONE ? 0 : sp_weight(g->p, stack, metric);
    return v > 0 ? v : 0;
}

static int64_t gather_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static spaa_status gather_branch(struct gatherer *g, uint32_t stack, const struct sp_frame *const *ends,
                                 int64_t count)
{
    struct sp_branch_taken b = {.count = count, .missed = gather_weight(g, stack, g->missed)};
    if (g->missed != SP_NONE && sp_weight(g->p, stack, g->missed) != SP_ABSENT)
        b.judged = count;
    spaa_status st = gather_place(g, ends[1], &b.module, &b.at);
    if (!st && b.module && !sp_vec_push(&g->out->taken, b))
        st = sp_nomem(g->d);
    return st;
}

static spaa_status gather_run(struct gatherer *g, uint32_t stack, const struct sp_frame *const *ends,
                              int64_t count)
{
    struct sp_branch_run r = {.count = count,
                              .timed = gather_weight(g, stack, g->timed),
                              .cycles = gather_weight(g, stack, g->cycles)};
    struct sp_module *other;
    spaa_status st = gather_place(g, ends[0], &r.module, &r.last);
    if (!st)
        st = gather_place(g, ends[1], &other, &r.first);
    if (!st && r.module && r.module == other && r.first <= r.last && !sp_vec_push(&g->out->runs, r))
        st = sp_nomem(g->d);
    return st;
}

/* The rows of one of the events. `frames` 2: branches, 3: runs. */
static spaa_status gather_event(struct gatherer *g, const struct sp_select_opts *how, uint32_t event,
                                size_t frames)
{
    struct sp_select_opts o = *how;
    struct sp_selection s;
    o.event_number = &event;
    o.event = o.metric = NULL;
    o.may_be_empty = true;
    spaa_status st = sp_select(g->p, &o, g->d, &s);
    if (st)
        return st;
    for (size_t i = 0; !st && i < s.rows.n; i++) {
        uint32_t stack = s.rows.v[i].stack;
        const struct sp_frame *ends[SP_BRANCH_ENDS];
        int64_t count = gather_weight(g, stack, s.metric);
        if (sp_leaving(g->d, i))
            st = SPAA_ERR_CANCELLED;
        else if (count && sp_branch_ends(g->p, stack, ends) == frames)
            st = frames == 2 ? gather_branch(g, stack, ends, count) : gather_run(g, stack, ends, count);
    }
    sp_selection_free(&s);
    return st;
}

static int run_by_place(const void *va, const void *vb)
{
    const struct sp_branch_run *x = va, *y = vb;
    int order = strcmp(sp_module_file(x->module), sp_module_file(y->module));
    if (x->module != y->module && order)
        return order;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static void gather_add_up(struct sp_branch_runs *out)
{
    size_t n = 0;
    if (out->runs.n)
        qsort(out->runs.v, out->runs.n, sizeof *out->runs.v, run_by_place);
    for (size_t i = 0; i < out->runs.n; i++) {
        const struct sp_branch_run *r = &out->runs.v[i];
        struct sp_branch_run *last = n ? &out->runs.v[n - 1] : NULL;
        if (!last || last->module != r->module || last->first != r->first || last->last != r->last) {
            out->runs.v[n++] = *r;
            continue;
        }
        last->count = gather_sum(last->count, r->count);
        last->timed = gather_sum(last->timed, r->timed);
        last->cycles = gather_sum(last->cycles, r->cycles);
    }
    out->runs.n = n;
}

spaa_status sp_branch_runs(const struct sp_profile *p, const struct sp_select_opts *how,
                           struct sp_places *places, struct sp_diags *d, struct sp_branch_runs *out)
{
    struct gatherer g = {.p = p, .places = places, .out = out, .d = d};
    *out = (struct sp_branch_runs){0};
    g.missed = sp_metric_find(p, SP_BRANCH_MISSES, strlen(SP_BRANCH_MISSES));
    g.timed = sp_metric_find(p, SP_TIMED_TRACES, strlen(SP_TIMED_TRACES));
    g.cycles = sp_metric_find(p, SP_BRANCH_CYCLES, strlen(SP_BRANCH_CYCLES));
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < p->events.n; i++) {
        struct sp_str name = sp_pstr(p, p->events.v[i].name);
        bool branches = sp_str_is(name, SP_LBR), runs = sp_str_is(name, SP_LBR_TRACE);
        out->has_branches |= branches;
        out->has_runs |= runs;
        if (branches || runs)
            st = gather_event(&g, how, i, branches ? 2 : 3);
    }
    if (st)
        sp_branch_runs_free(out);
    else
        gather_add_up(out);
    return st;
}

void sp_branch_runs_free(struct sp_branch_runs *r)
{
    sp_vec_free(&r->runs);
    sp_vec_free(&r->taken);
}
