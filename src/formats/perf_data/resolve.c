/*
 * From keys to stacks: the maps of all processes are replayed in order of time, and before a process's
 * maps change, its keys of that version are resolved. So each process has one set of maps at any time;
 * a fork shares its parent's until either changes.
 *
 * While an exec runs, the kernel's callchains still end in the program that called it. Its maps are
 * therefore kept until the new image is complete, which is when the kernel maps its [vdso].
 */
#include "formats/perf_data/perf_data.h"

#include "model/samples.h"

/* A process during the replay. */
struct live {
    struct sp_pd_maps *maps; /* NULL: none */
    uint32_t version, image; /* execs so far */
    bool stale;              /* maps of the image before are still there */
    size_t next, end;        /* its keys not yet resolved, in `order` */
    uint32_t pending;        /* changes still to come that need its maps */
};

/* What a sideband record does to maps. */
struct change {
    enum { NOTHING, MAP, FORK, EXEC } what;
    uint32_t process, parent; /* parent: of a fork, or SP_NONE */
};

struct slot {
    uint32_t process, version, key;
};

struct replay {
    struct sp_pd *pd;
    struct sp_pd_frames *frames;
    struct live *live;
    struct slot *order; /* keys by process and version */
    uint32_t samples_metric;
    struct sp_pd_frame_list list;
    size_t copied; /* maps in sets that were copied and are still there: what forks can multiply */
    bool full;
};

#define COPIES_MAX ((size_t)8 << 20)

static void unref(struct replay *rp, struct sp_pd_maps *maps)
{
    if (!maps || --maps->refs)
        return;
    rp->copied -= maps->copied;
    sp_vec_free(&maps->list);
    free(maps);
}

/* A set of the process's own that may be changed; NULL: out of memory. Beyond the cap it starts empty. */
static struct sp_pd_maps *own_maps(struct replay *rp, struct live *l)
{
    if (l->maps && l->maps->refs == 1)
        return l->maps;
    struct sp_pd_maps *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->refs = 1;
    size_t n = l->maps ? l->maps->list.n : 0;
    if (n > COPIES_MAX - rp->copied) {
        rp->full = true;
        n = 0;
    }
    if (!sp_vec_reserve(&copy->list, n)) {
        free(copy);
        return NULL;
    }
    if (n)
        memcpy(copy->list.v, l->maps->list.v, n * sizeof *copy->list.v);
    copy->list.n = copy->copied = n;
    rp->copied += n;
    unref(rp, l->maps);
    return l->maps = copy;
}

/* Splits a key's callchain by its context markers and collects the frames, leaf first. */
static spaa_status collect_frames(struct replay *rp, const struct sp_pd_key *k, const struct sp_pd_maps *maps,
                                  int32_t pid)
{
    struct sp_pd *pd = rp->pd;
    unsigned mode = k->mode;
    bool exact = true; /* the first address in each context is where it was interrupted, not a return */
    uint64_t addresses = 0;
    spaa_status st = SPAA_OK;
    rp->list.n = 0;
    for (uint32_t i = 0; i < k->n && !st; i++) {
        uint64_t v = sp_pd_u64(k->chain + (size_t)i * 8, pd->swap);
        if (v < PD_CONTEXT_MAX) {
            st = sp_pd_frames_at(rp->frames, maps, pid, mode, v, !exact, &rp->list);
            exact = false;
            addresses++;
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
    if (addresses >= pd->attrs.v[k->attr].max_stack)
        pd->truncated += k->count;
    if (!st && !rp->list.n)
        st = sp_pd_frames_at(rp->frames, maps, pid, k->mode, k->ip, false, &rp->list);
    return st;
}

static uint32_t context_of(struct sp_pd *pd, const struct sp_pd_key *k, const struct sp_pd_moment *m)
{
    const struct sp_pd_thread *t = &pd->threads.v[m->thread];
    struct sp_context c;
    memset(&c, 0, sizeof c);
    c.pid = pd->group_by & SP_BY_PID ? t->pid : SP_ABSENT;
    c.tid = pd->group_by & SP_BY_TID ? t->tid : SP_ABSENT;
    c.cpu = pd->group_by & SP_BY_CPU && k->cpu >= 0 ? k->cpu : SP_ABSENT;
    c.comm = pd->group_by & SP_BY_COMM ? m->comm : SP_STR_NONE;
    c.event = pd->attrs.v[k->attr].event;
    return sp_context_intern(pd->p, &c);
}

static int64_t capped(uint64_t v)
{
    return v <= INT64_MAX ? (int64_t)v : INT64_MAX;
}

static spaa_status resolve_key(struct replay *rp, struct sp_pd_key *k, const struct sp_pd_maps *maps)
{
    struct sp_pd *pd = rp->pd;
    const struct sp_pd_moment *m = &pd->moments.v[k->moment];
    const struct sp_pd_attr *a = &pd->attrs.v[k->attr];
    spaa_status st = collect_frames(rp, k, maps, pd->processes.v[m->process].pid);
    if (st)
        return st;
    bool fresh = false;
    uint32_t context = context_of(pd, k, m);
    k->stack = context == SP_NONE
                   ? SP_NONE
                   : sp_stack_intern(pd->p, rp->list.v, rp->list.n, context, SP_UNIFIED, &fresh);
    if (k->stack == SP_NONE)
        return sp_nomem(pd->d);
    if (fresh)
        sp_stack_set_layout(pd->p, k->stack, a->layout);
    if (!sp_weight_add(pd->p, k->stack, rp->samples_metric, capped(k->count)) ||
        !sp_weight_add(pd->p, k->stack, a->metric, capped(k->period)))
        return sp_nomem(pd->d);
    return SPAA_OK;
}

/* Resolves the keys of a process up to and with its present version. */
static spaa_status resolve_process(struct replay *rp, struct live *l, uint32_t upto)
{
    for (; l->next < l->end && rp->order[l->next].version <= upto; l->next++) {
        spaa_status st = resolve_key(rp, &rp->pd->keys.v[rp->order[l->next].key], l->maps);
        if (st)
            return st;
    }
    return SPAA_OK;
}

/* Steps to the version that begins at this time, having resolved those before. */
static spaa_status advance(struct replay *rp, uint32_t process, uint64_t time)
{
    struct live *l = &rp->live[process];
    const struct sp_pd_process *p = &rp->pd->processes.v[process];
    if (l->version && p->changes.v[l->version - 1] == time)
        return SPAA_OK;
    spaa_status st = resolve_process(rp, l, l->version);
    l->version++;
    return st;
}

static spaa_status replay_mmap(struct replay *rp, struct live *l, const unsigned char *rec)
{
    struct sp_pd *pd = rp->pd;
    struct sp_pd_mmap m;
    if (!sp_pd_mmap_read(pd, rec, &m))
        return SPAA_OK;
    if (sp_pd_frames_mapped(rp->frames, &m))
        return SPAA_ERR_NOMEM;
    uint64_t end = m.start + m.len < m.start ? UINT64_MAX : m.start + m.len;
    struct sp_pd_map map = {m.start, end, m.pgoff, sp_pd_frames_dso(rp->frames, &m), l->image};
    struct sp_pd_maps *maps = own_maps(rp, l);
    if (maps && l->stale && strcmp(m.path.p, "[vdso]") == 0) {
        sp_pd_maps_forget(maps, l->image);
        l->stale = false;
    }
    enum sp_pd_put put = map.dso == SP_NONE || !maps ? SP_PD_PUT_NOMEM : sp_pd_maps_put(maps, map);
    rp->full |= put == SP_PD_PUT_FULL;
    return put == SP_PD_PUT_NOMEM ? sp_nomem(pd->d) : SPAA_OK;
}

/* A fork whose parent has no maps on record leaves the child's as they are. */
static void replay_fork(struct replay *rp, struct live *child, const struct live *parent)
{
    if (!parent->maps || parent->maps == child->maps)
        return;
    unref(rp, child->maps);
    child->maps = parent->maps;
    child->maps->refs++;
    child->image = parent->image;
    child->stale = parent->stale;
}

static struct change read_change(const struct sp_pd *pd, const struct sp_pd_side *side)
{
    const unsigned char *rec = sp_pd_at(pd, side->pos);
    uint32_t type = sp_pd_u32(rec, pd->swap);
    int32_t pid = sp_pd_i32(rec + 8, pd->swap), ppid = 0;
    struct change c = {.what = MAP, .parent = SP_NONE};
    if (type == PD_COMM)
        c.what = sp_pd_u16(rec + 4, pd->swap) & PD_MISC_EXEC ? EXEC : NOTHING;
    else if (type == PD_FORK)
        c.what = sp_pd_is_fork(pd, rec, side->time, &pid, &ppid) ? FORK : NOTHING;
    if (c.what == NOTHING)
        return c;
    c.process = sp_pd_process_find(pd, pid);
    if (c.what == FORK)
        c.parent = sp_pd_process_find(pd, ppid);
    return c;
}

/* A change is done: a process that nothing more happens to gives its maps back. */
static spaa_status retire(struct replay *rp, uint32_t process)
{
    struct live *l = &rp->live[process];
    if (--l->pending)
        return SPAA_OK;
    spaa_status st = resolve_process(rp, l, UINT32_MAX);
    unref(rp, l->maps);
    l->maps = NULL;
    return st;
}

static spaa_status replay_side(struct replay *rp, const struct sp_pd_side *side)
{
    struct change c = read_change(rp->pd, side);
    if (c.what == NOTHING)
        return SPAA_OK;
    struct live *l = &rp->live[c.process];
    spaa_status st = advance(rp, c.process, side->time);
    if (st)
        return st;
    if (c.what == EXEC) {
        l->image++;
        l->stale = l->maps != NULL;
    } else if (c.what == MAP) {
        st = replay_mmap(rp, l, sp_pd_at(rp->pd, side->pos));
    } else if (c.parent != SP_NONE) {
        replay_fork(rp, l, &rp->live[c.parent]);
        st = retire(rp, c.parent);
    }
    return st ? st : retire(rp, c.process);
}

static void count_pending(struct replay *rp)
{
    for (size_t i = 0; i < rp->pd->sides.n; i++) {
        struct change c = read_change(rp->pd, &rp->pd->sides.v[i]);
        if (c.what == NOTHING)
            continue;
        rp->live[c.process].pending++;
        if (c.parent != SP_NONE)
            rp->live[c.parent].pending++;
    }
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Keys in order of process, version and first appearance, and where each process's begin and end. */
static spaa_status order_keys(struct replay *rp)
{
    struct sp_pd *pd = rp->pd;
    rp->live = calloc(pd->processes.n + 1, sizeof *rp->live);
    rp->order = calloc(pd->keys.n + 1, sizeof *rp->order);
    if (!rp->live || !rp->order)
        return sp_nomem(pd->d);
    for (size_t i = 0; i < pd->keys.n; i++) {
        const struct sp_pd_moment *m = &pd->moments.v[pd->keys.v[i].moment];
        rp->order[i] = (struct slot){m->process, m->version, (uint32_t)i};
    }
    qsort(rp->order, pd->keys.n, sizeof *rp->order, compare_slots);
    for (size_t i = 0; i < pd->keys.n; i++) {
        struct live *l = &rp->live[rp->order[i].process];
        if (!l->end)
            l->next = i;
        l->end = i + 1;
    }
    return SPAA_OK;
}

/* Samples were kept with the numbers of keys and attributes: now those of stacks and events are known. */
static spaa_status patch_samples(struct sp_pd *pd)
{
    struct sp_sample *rows;
    size_t n;
    if (!pd->p->samples)
        return SPAA_OK;
    spaa_status st = sp_samples_rows(pd->p->samples, &rows, &n);
    for (size_t i = 0; !st && i < n; i++) {
        rows[i].stack = pd->keys.v[rows[i].stack].stack;
        rows[i].event = pd->attrs.v[rows[i].event].event;
    }
    return st ? st : sp_samples_sort(pd->p->samples);
}

static spaa_status add_threads(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->keys.n; i++) {
        const struct sp_pd_thread *t = &pd->threads.v[pd->moments.v[pd->keys.v[i].moment].thread];
        uint32_t comm = t->comms.n ? t->comms.v[t->comms.n - 1].name : SP_STR_NONE;
        if (sp_thread_intern(pd->p, t->pid, t->tid, comm) == SP_NONE)
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static spaa_status run(struct replay *rp)
{
    struct sp_pd *pd = rp->pd;
    rp->samples_metric = sp_metric_intern(pd->p, "samples", 7);
    spaa_status st = rp->samples_metric == SP_NONE ? sp_nomem(pd->d) : sp_pd_frames_kernel(rp->frames);
    if (!st)
        st = order_keys(rp);
    if (!st)
        count_pending(rp);
    for (size_t i = 0; i < pd->sides.n && !st; i++)
        st = replay_side(rp, &pd->sides.v[i]);
    for (size_t i = 0; i < pd->processes.n && !st; i++)
        st = resolve_process(rp, &rp->live[i], UINT32_MAX);
    if (!st)
        st = add_threads(pd);
    if (!st)
        st = patch_samples(pd);
    if (!st)
        sp_pd_frames_report(rp->frames);
    if (!st && rp->full)
        sp_emit(pd->d, SP_E007, SP_AT_NOTHING, "too many maps: some addresses have no DSO");
    return st;
}

spaa_status sp_pd_resolve(struct sp_pd *pd)
{
    struct replay rp = {.pd = pd};
    spaa_status st = sp_pd_frames_new(pd, &rp.frames);
    if (!st)
        st = run(&rp);
    for (size_t i = 0; rp.live && i < pd->processes.n; i++)
        unref(&rp, rp.live[i].maps);
    free(rp.live);
    free(rp.order);
    free(rp.list.v);
    sp_pd_frames_free(rp.frames);
    return st;
}
