/* What `spaa info` is told from: sums and quality of each event and metric, pools, labels. */
#include "ask/info.h"

#include "analysis/names.h"
#include "analysis/process.h"
#include "base/hash.h"

#include <stdlib.h>

int64_t sp_info_told(const struct sp_profile *p, bool ended)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->processes.n; i++)
        n += (ended ? p->processes.v[i].exit_ns : p->processes.v[i].start_ns) != SP_ABSENT;
    return n;
}

static spaa_status gather_processes(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    struct sp_map seen = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->threads.n; i++) {
        uint64_t hash = sp_hash_mix((uint64_t)p->threads.v[i].pid, 0);
        struct sp_probe at = sp_map_probe(&seen, hash);
        uint32_t k;
        while ((k = sp_map_next(&seen, &at)) != SP_MAP_NONE && p->threads.v[k].pid != p->threads.v[i].pid)
            ;
        if (k != SP_MAP_NONE)
            continue;
        ok = sp_map_add(&seen, hash, i);
        x->processes++;
    }
    sp_map_free(&seen);
    struct sp_processes all;
    spaa_status st = ok ? sp_processes_of(p, x->q->diags, &all) : sp_nomem(x->q->diags);
    if (st)
        return st;
    for (size_t i = 0; i < all.list.n; i++)
        x->reused += all.list.v[i].lives > 1;
    sp_processes_free(&all);
    return SPAA_OK;
}

static spaa_status gather_metrics(struct sp_info *x, uint32_t event)
{
    const struct sp_profile *p = x->profile;
    spaa_status st = SPAA_OK;
    for (uint32_t m = 0; !st && m < p->metrics.n; m++) {
        const char *name = sp_str_cstr(&p->strs, p->metrics.v[m].name);
        struct sp_select_opts o = {.event_number = &event,
                                   .metric = name,
                                   .view = "all",
                                   .by_event = &x->by_event,
                                   .no_thread_names = true};
        struct sp_selection s;
        if (sp_event_metric_among(p, &x->by_event, event, name) != m)
            continue;
        st = sp_select(p, &o, x->q->diags, &s);
        if (st)
            break;
        struct sp_info_metric metric = {m, s.kept, s.scale, s.cannot_add, s.unit};
        st = sp_vec_push(&x->events[event].metrics, metric) ? SPAA_OK : sp_nomem(x->q->diags);
        sp_selection_free(&s);
    }
    return st;
}

static spaa_status gather_event(struct sp_info *x, uint32_t event)
{
    struct sp_selection s;
    struct sp_select_opts o = {
        .event_number = &event, .view = "all", .by_event = &x->by_event, .no_thread_names = true};
    struct sp_info_event *e = &x->events[event];
    spaa_status st = sp_select(x->profile, &o, x->q->diags, &s);
    if (st)
        return st;
    *e = (struct sp_info_event){.samples = s.samples,
                                .total = s.kept,
                                .scale = s.scale,
                                .cannot_add = s.cannot_add,
                                .unit = s.unit,
                                .stacks = s.rows.n};
    st = sp_quality_among(&s, &x->lacks, x->q->diags, &e->quality);
    x->nevents += !st;
    e->chains = st ? NULL : s.chains; /* which the answer tells when the selection is gone */
    if (!st)
        s.chains = NULL;
    sp_selection_free(&s);
    return st ? st : gather_metrics(x, event);
}

static int gather_cmp_pool(const void *va, const void *vb)
{
    const struct sp_pool *const *a = va, *const *b = vb;
    if ((*a)->threads != (*b)->threads)
        return (*a)->threads > (*b)->threads ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static spaa_status gather_pools(struct sp_info *x)
{
    spaa_status st = sp_pools_of(x->profile, NULL, x->q->diags, &x->pools);
    if (st)
        return st;
    x->has_pools = true;
    size_t n = x->pools.pools.n;
    x->pool_list = calloc(n + 1, sizeof *x->pool_list);
    if (!x->pool_list)
        return sp_nomem(x->q->diags);
    for (size_t i = 0; i < n; i++)
        x->pool_list[i] = &x->pools.pools.v[i];
    if (n)
        qsort(x->pool_list, n, sizeof *x->pool_list, gather_cmp_pool);
    return SPAA_OK;
}

static spaa_status gather_labels(struct sp_info *x)
{
    struct sp_selection s;
    uint32_t event = sp_default_event(x->profile);
    struct sp_select_opts o = {.event_number = &event, .view = "all"};
    if (event == SP_NONE || (!x->profile->label_sets.n && !x->profile->samples))
        return SPAA_OK;
    spaa_status st = sp_select(x->profile, &o, x->q->diags, &s);
    if (st)
        return st;
    x->labels_of = s.cannot_add ? 0 : s.kept;
    st = sp_label_report_of(x->profile, &s, x->q->diags, &x->labels);
    x->has_labels = !st;
    sp_selection_free(&s);
    return st;
}

spaa_status sp_info_gather(struct sp_ask *q, struct sp_answer *out, struct sp_info *x)
{
    *x = (struct sp_info){.q = q, .out = out, .profile = q->profiles[0]};
    sp_buf_init(&x->b, 0);
    x->events = calloc(x->profile->events.n + 1, sizeof *x->events);
    bool ok =
        x->events && sp_by_event_of(x->profile, &x->by_event) && sp_frame_lacks_of(x->profile, &x->lacks);
    spaa_status st = ok ? gather_pools(x) : sp_nomem(q->diags);
    for (uint32_t i = 0; !st && i < x->profile->events.n; i++)
        st = gather_event(x, i);
    if (!st)
        st = gather_processes(x);
    return st ? st : gather_labels(x);
}

void sp_info_free(struct sp_info *x)
{
    for (size_t i = 0; i < x->nevents; i++) {
        sp_quality_free(&x->events[i].quality);
        sp_chains_free(x->events[i].chains);
        sp_vec_free(&x->events[i].metrics);
    }
    if (x->has_pools)
        sp_pools_free(&x->pools);
    if (x->has_labels)
        sp_label_report_free(&x->labels);
    sp_by_event_free(&x->by_event);
    sp_frame_lacks_free(&x->lacks);
    free(x->pool_list);
    free(x->events);
    sp_buf_free(&x->b);
}
