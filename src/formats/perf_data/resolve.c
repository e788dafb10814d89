/*
 * From sample groups to stacks, while the maps of all processes are replayed: each group's callchain is split
 * by its context markers, and its addresses become frames at the maps of its epoch.
 */
#include "formats/perf_data/resolve.h"

#include "base/watch.h"
#include "model/edges.h"
#include "model/samples.h"

struct resolution {
    struct sp_pd *pd;
    struct sp_pd_frames *frames;
    uint32_t samples_metric;
    struct sp_pd_frame_list list;
    struct sp_pd_edge_list edges; /* of the same stack */
};

/* The maps of a epoch, and when it begins. */
static struct sp_pd_scene pd_resolve_scene_of(const struct sp_pd *pd, uint32_t epoch,
                                              const struct sp_pd_maps *maps, int32_t pid)
{
    const struct sp_pd_epoch *m = &pd->epochs.v[epoch];
    uint64_t time = m->version ? pd->processes.v[m->process].changes.v[m->version - 1] : 0;
    return (struct sp_pd_scene){maps, pid, time};
}

/* Callchains of branch stacks are calls that were seen. */
static bool pd_resolve_told_by_hardware(const struct sp_pd *pd, const struct sp_pd_group *g)
{
    return pd->lbr_callstack || sp_pd_lbr_is_chain(&pd->attrs.v[g->attr]);
}

/* Splits a group's callchain by its context markers and collects the frames, leaf first. */
static spaa_status pd_resolve_collect_frames(struct resolution *rs, const struct sp_pd_group *g,
                                             const struct sp_pd_scene *scene)
{
    struct sp_pd *pd = rs->pd;
    unsigned mode = g->mode;
    /* Else unwound from copies of stacks, by tables. */
    bool by_pointers = !(pd->attrs.v[g->attr].sample_type & PD_STACK_USER);
    bool exact = true;  /* the first address in each context is where it was interrupted, not a return */
    bool begun = false; /* the entry of its thread was passed: what is above that is nobody's caller */
    uint64_t addresses = 0;
    uint32_t callee = SP_NONE; /* the place before, which an address behind a call may have called */
    spaa_status st = SPAA_OK;
    rs->list.n = rs->edges.n = 0;
    for (uint32_t i = 0; i < g->n && !st; i++) {
        uint64_t v = sp_pd_u64(g->chain + (size_t)i * 8, pd->swap);
        if (v < PD_CONTEXT_MAX) {
            size_t at = rs->list.n;
            st = sp_pd_frames_at(rs->frames, scene, mode, v, !exact, &rs->list);
            uint32_t caller = sp_pd_frames_last(rs->frames);
            if (!st && !exact && callee != SP_NONE && caller != SP_NONE)
                st = sp_pd_frames_call(rs->frames, scene, by_pointers, callee, caller, at - 1, &rs->edges);
            begun = begun || sp_pd_frames_begins(rs->frames, caller);
            callee = pd_resolve_told_by_hardware(pd, g) || begun ? SP_NONE : caller;
            exact = false;
            addresses++;
            continue;
        }
        if (v == PD_CONTEXT_TRUNCATED) {
            st = sp_pd_frames_truncated(rs->frames, &rs->list);
            callee = SP_NONE;
            continue;
        }
        exact = true;
        mode = v == PD_CONTEXT_KERNEL         ? PD_MODE_KERNEL
               : v == PD_CONTEXT_USER         ? PD_MODE_USER
               : v == PD_CONTEXT_HV           ? PD_MODE_HYPERVISOR
               : v == PD_CONTEXT_GUEST_KERNEL ? PD_MODE_GUEST_KERNEL
               : v == PD_CONTEXT_GUEST_USER   ? PD_MODE_GUEST_USER
               : v == PD_CONTEXT_GUEST        ? PD_MODE_GUEST_USER
                                              : PD_MODE_UNKNOWN;
        if (v == PD_CONTEXT_USER_DEFERRED)
            i++; /* a cookie whose callchain was not recorded */
    }
    /* Unwound stacks say themselves where they were cut off. */
    if (addresses >= pd->attrs.v[g->attr].max_stack && !(pd->attrs.v[g->attr].sample_type & PD_STACK_USER))
        pd->truncated += g->count;
    if (!st && !rs->list.n)
        st = sp_pd_frames_at(rs->frames, scene, g->mode, g->ip, false, &rs->list);
    return st;
}

static uint32_t pd_resolve_context_of(struct sp_pd *pd, const struct sp_pd_epoch *m, int32_t cpu,
                                      uint32_t event, enum sp_pd_state state)
{
    const struct sp_pd_thread *t = &pd->threads.v[m->thread];
    struct sp_context c;
    memset(&c, 0, sizeof c);
    c.pid = pd->group_by & SP_BY_PID ? t->pid : SP_ABSENT;
    c.tid = pd->group_by & SP_BY_TID ? t->tid : SP_ABSENT;
    c.cpu = pd->group_by & SP_BY_CPU && cpu >= 0 ? cpu : SP_ABSENT;
    c.comm = pd->group_by & SP_BY_COMM ? m->comm : SP_STR_NONE;
    c.event = event;
    const char *name = pd->group_by & SP_BY_STATE ? sp_pd_state_name(state) : NULL;
    c.state = name ? sp_profile_cstr(pd->p, name) : SP_STR_NONE;
    if (c.state == SP_STR_FAIL)
        return SP_NONE;
    return sp_context_intern(pd->p, &c);
}

static int64_t pd_resolve_capped(uint64_t v)
{
    return v <= INT64_MAX ? (int64_t)v : INT64_MAX;
}

static spaa_status pd_resolve_group(struct resolution *rs, struct sp_pd_group *g,
                                    const struct sp_pd_maps *maps, int32_t pid)
{
    struct sp_pd *pd = rs->pd;
    const struct sp_pd_epoch *m = &pd->epochs.v[g->epoch];
    const struct sp_pd_attr *a = &pd->attrs.v[g->attr];
    struct sp_pd_scene scene = pd_resolve_scene_of(pd, g->epoch, maps, pid);
    spaa_status st = pd_resolve_collect_frames(rs, g, &scene);
    if (st)
        return st;
    bool fresh = false;
    uint32_t context = pd_resolve_context_of(pd, m, g->cpu, a->event, (enum sp_pd_state)g->state);
    uint32_t edges = sp_edges_intern(pd->p, rs->edges.v, rs->edges.n);
    g->stack = context == SP_NONE || edges == SP_NONE
                   ? SP_NONE
                   : sp_stack_intern_edges(pd->p, rs->list.v, rs->list.n, context, SP_UNIFIED, edges, &fresh);
    if (g->stack == SP_NONE)
        return sp_nomem(pd->d);
    if (fresh)
        sp_stack_set_layout(pd->p, g->stack, a->layout);
    if (!sp_weight_add(pd->p, g->stack, rs->samples_metric, pd_resolve_capped(g->count)) ||
        !sp_weight_add(pd->p, g->stack, a->metric, pd_resolve_capped(g->period)) ||
        (sp_pd_is_offcpu(a) && !sp_weight_add(pd->p, g->stack, a->off_metric, pd_resolve_capped(g->period))))
        return sp_nomem(pd->d);
    return SPAA_OK;
}

/* One end of a branch; the kernel's addresses are in the upper half of all that is 64 bits wide. */
static spaa_status pd_resolve_branch_end(struct resolution *rs, const struct sp_pd_scene *scene,
                                         uint64_t addr)
{
    unsigned mode = addr >> 63 ? PD_MODE_KERNEL : PD_MODE_UNKNOWN;
    return sp_pd_frames_at(rs->frames, scene, mode, addr, false, &rs->list);
}

static spaa_status pd_resolve_branch(struct resolution *rs, const struct sp_pd_branch *a,
                                     const struct sp_pd_maps *maps, int32_t pid)
{
    struct sp_pd *pd = rs->pd;
    struct sp_pd_scene scene = pd_resolve_scene_of(pd, a->epoch, maps, pid);
    rs->list.n = 0;
    spaa_status st = a->next ? pd_resolve_branch_end(rs, &scene, a->next) : SPAA_OK;
    if (!st)
        st = pd_resolve_branch_end(rs, &scene, a->to);
    if (!st)
        st = pd_resolve_branch_end(rs, &scene, a->from);
    if (st)
        return st;
    bool fresh = false;
    const struct sp_pd_epoch *m = &pd->epochs.v[a->epoch];
    enum sp_pd_state state = pd->attrs.v[a->attr].state;
    if (state == SP_PD_ON_CPU && !pd->threads.v[m->thread].pid)
        state = SP_PD_IDLE;
    uint32_t context =
        pd_resolve_context_of(pd, m, a->cpu, a->next ? pd->trace_event : pd->branch_event, state);
    uint32_t stack = context == SP_NONE
                         ? SP_NONE
                         : sp_stack_intern(pd->p, rs->list.v, rs->list.n, context, SP_UNIFIED, &fresh);
    if (stack == SP_NONE)
        return sp_nomem(pd->d);
    if (fresh)
        sp_stack_set_layout(pd->p, stack, a->next ? pd->trace_layout : pd->branch_layout);
    const uint32_t *metrics = a->next ? pd->trace_metrics : pd->branch_metrics;
    const uint64_t values[] = {a->count, a->next ? a->timed : a->missed, a->cycles};
    for (size_t i = 0; i < 3; i++)
        if (metrics[i] != SP_NONE && !sp_weight_add(pd->p, stack, metrics[i], pd_resolve_capped(values[i])))
            return sp_nomem(pd->d);
    return SPAA_OK;
}

/* Items are the groups, then the branches. */
static spaa_status pd_resolve_item(void *arg, struct sp_pd_replay *rp, uint32_t item, struct sp_pd_maps *maps,
                                   int32_t pid)
{
    struct resolution *rs = arg;
    struct sp_pd *pd = rs->pd;
    (void)rp;
    if (item < pd->groups.n)
        return pd_resolve_group(rs, &pd->groups.v[item], maps, pid);
    return pd_resolve_branch(rs, &pd->branches.v[item - pd->groups.n], maps, pid);
}

/* Samples were kept with the numbers of groups and attributes: now those of stacks and events are known. */
static spaa_status pd_resolve_patch_samples(struct sp_pd *pd)
{
    struct sp_sample *rows;
    size_t n;
    if (!pd->p->samples)
        return SPAA_OK;
    spaa_status st = sp_samples_rows(pd->p->samples, &rows, &n);
    for (size_t i = 0; !st && i < n; i++) {
        if (sp_leaving(pd->d, i))
            return SPAA_ERR_CANCELLED;
        rows[i].stack = pd->groups.v[rows[i].stack].stack;
        rows[i].event = pd->attrs.v[rows[i].event].event;
    }
    return st ? st : sp_samples_sort(pd->p->samples);
}

static spaa_status pd_resolve_add_threads(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->groups.n; i++) {
        const struct sp_pd_thread *t = &pd->threads.v[pd->epochs.v[pd->groups.v[i].epoch].thread];
        if (!sp_pd_thread_record(pd, t))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static spaa_status pd_resolve_run(struct resolution *rs)
{
    struct sp_pd *pd = rs->pd;
    size_t n = pd->groups.n + pd->branches.n;
    struct sp_pd_slot *slots = n < SP_NONE ? calloc(n + 1, sizeof *slots) : NULL;
    rs->samples_metric = sp_metric_intern(pd->p, "samples", 7);
    if (!slots || rs->samples_metric == SP_NONE) {
        free(slots);
        return sp_nomem(pd->d);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t epoch = i < pd->groups.n ? pd->groups.v[i].epoch : pd->branches.v[i - pd->groups.n].epoch;
        const struct sp_pd_epoch *m = &pd->epochs.v[epoch];
        slots[i] = (struct sp_pd_slot){m->process, m->version, (uint32_t)i};
    }
    const struct sp_pd_visitor visitor = {.visit = pd_resolve_item, .arg = rs, .what = "symbols"};
    spaa_status st = sp_pd_replay(pd, rs->frames, slots, n, &visitor);
    free(slots);
    return st;
}

spaa_status sp_pd_resolve(struct sp_pd *pd, struct sp_pd_frames *frames)
{
    struct resolution rs = {.pd = pd, .frames = frames};
    spaa_status st = pd_resolve_run(&rs);
    if (!st)
        st = pd_resolve_add_threads(pd);
    if (!st)
        st = pd_resolve_patch_samples(pd);
    if (!st)
        st = sp_pd_frames_report(frames);
    free(rs.list.v);
    free(rs.edges.v);
    return st;
}
