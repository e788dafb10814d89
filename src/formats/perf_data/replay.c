/*
 * The maps of all processes, replayed in order of time: before a process's maps change, what belongs to its
 * version until then is visited. So each process has one set of maps at any time; a fork shares its parent's
 * until either changes.
 *
 * While an exec runs, the kernel's callchains still end in the program that called it. Its maps are
 * therefore kept until the new image is complete, which is when the kernel maps its [vdso].
 */
#include "formats/perf_data/resolve.h"

#include "base/watch.h"

/* A process during the replay. */
struct live {
    struct sp_pd_maps *maps; /* NULL: none */
    uint32_t version, image; /* execs so far */
    bool stale;              /* maps of the image before are still there */
    size_t next, end;        /* its slots not yet visited */
    uint32_t pending;        /* changes still to come that need its maps */
};

/* What a sideband record does to maps. */
struct change {
    enum { NOTHING, MAP, FORK, EXEC } what;
    uint32_t process, parent; /* parent: of a fork, or SP_NONE */
};

struct sp_pd_replay {
    struct sp_pd *pd;
    struct sp_pd_frames *frames;
    const struct sp_pd_visitor *visitor;
    struct live *live;
    struct sp_pd_slot *slots; /* by process and version */
    size_t copied;            /* maps in sets that were copied and are still there: what forks can multiply */
    bool full;
    size_t nslots, visited;
};

enum { ASK_SLOTS = 256 }; /* between two looks at whether the call is to be left */
#define COPIES_MAX ((size_t)8 << 20)

void sp_pd_replay_release(struct sp_pd_replay *rp, struct sp_pd_maps *maps)
{
    if (!maps || --maps->refs)
        return;
    rp->copied -= maps->copied;
    sp_vec_free(&maps->list);
    free(maps);
}

void sp_pd_replay_hold(struct sp_pd_maps *maps)
{
    if (maps)
        maps->refs++;
}

size_t sp_pd_replay_copied(const struct sp_pd_replay *rp)
{
    return rp->copied;
}

/* A set of the process's own that may be changed; NULL: out of memory. Beyond the cap it starts empty. */
static struct sp_pd_maps *pd_replay_own_maps(struct sp_pd_replay *rp, struct live *l)
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
    sp_pd_replay_release(rp, l->maps);
    return l->maps = copy;
}

/* Visits the slots of a process up to and with a version. */
static spaa_status pd_replay_visit_process(struct sp_pd_replay *rp, struct live *l, uint32_t process,
                                           uint32_t upto)
{
    const struct sp_pd_visitor *v = rp->visitor;
    for (; l->next < l->end && rp->slots[l->next].version <= upto; l->next++) {
        spaa_status st = SPAA_OK;
        if (rp->visited++ % ASK_SLOTS == 0)
            st =
                sp_progress(rp->pd->d, v->what, sp_input_name(rp->pd->in), "stacks", rp->visited, rp->nslots);
        if (!st)
            st = v->visit(v->arg, rp, rp->slots[l->next].item, l->maps, rp->pd->processes.v[process].pid);
        if (st)
            return st;
    }
    return SPAA_OK;
}

/*
 * Steps to the version that begins at this time, having visited those before. There may be several: other
 * things than records of maps make versions, too.
 */
static spaa_status pd_replay_advance(struct sp_pd_replay *rp, uint32_t process, uint64_t time)
{
    struct live *l = &rp->live[process];
    const struct sp_pd_process *p = &rp->pd->processes.v[process];
    if (l->version && p->changes.v[l->version - 1] == time)
        return SPAA_OK;
    while (l->version < p->changes.n && p->changes.v[l->version] < time)
        l->version++;
    spaa_status st = pd_replay_visit_process(rp, l, process, l->version);
    l->version++;
    return st;
}

static spaa_status pd_replay_mmap(struct sp_pd_replay *rp, struct live *l, const unsigned char *rec)
{
    struct sp_pd *pd = rp->pd;
    struct sp_pd_mmap m;
    if (!sp_pd_mmap_read(pd, rec, &m))
        return SPAA_OK;
    if (sp_pd_frames_mapped(rp->frames, &m))
        return SPAA_ERR_NOMEM;
    uint64_t end = m.start + m.len < m.start ? UINT64_MAX : m.start + m.len;
    struct sp_pd_map map = {m.start, end, m.pgoff, sp_pd_frames_dso(rp->frames, &m), l->image};
    struct sp_pd_maps *maps = pd_replay_own_maps(rp, l);
    if (maps && l->stale && strcmp(m.path.p, "[vdso]") == 0) {
        sp_pd_maps_forget(maps, l->image);
        l->stale = false;
    }
    enum sp_pd_put put = map.dso == SP_NONE || !maps ? SP_PD_PUT_NOMEM : sp_pd_maps_put(maps, map);
    rp->full |= put == SP_PD_PUT_FULL;
    return put == SP_PD_PUT_NOMEM ? sp_nomem(pd->d) : SPAA_OK;
}

/* A fork whose parent has no maps on record leaves the child's as they are. */
static void pd_replay_fork(struct sp_pd_replay *rp, struct live *child, const struct live *parent)
{
    if (!parent->maps || parent->maps == child->maps)
        return;
    sp_pd_replay_release(rp, child->maps);
    child->maps = parent->maps;
    child->maps->refs++;
    child->image = parent->image;
    child->stale = parent->stale;
}

static struct change pd_replay_read_change(const struct sp_pd *pd, const struct sp_pd_side *side)
{
    const unsigned char *rec = sp_pd_at(pd, side->pos);
    uint32_t type = sp_pd_u32(rec, pd->swap);
    int32_t pid = sp_pd_i32(rec + 8, pd->swap), ppid = 0;
    struct change c = {.what = MAP, .parent = SP_NONE};
    if (type == PD_EXIT)
        c.what = NOTHING;
    else if (type == PD_COMM)
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
static spaa_status pd_replay_retire(struct sp_pd_replay *rp, uint32_t process)
{
    struct live *l = &rp->live[process];
    if (--l->pending)
        return SPAA_OK;
    spaa_status st = pd_replay_visit_process(rp, l, process, UINT32_MAX);
    sp_pd_replay_release(rp, l->maps);
    l->maps = NULL;
    return st;
}

static spaa_status pd_replay_side(struct sp_pd_replay *rp, const struct sp_pd_side *side)
{
    struct change c = pd_replay_read_change(rp->pd, side);
    if (c.what == NOTHING)
        return SPAA_OK;
    struct live *l = &rp->live[c.process];
    spaa_status st = pd_replay_advance(rp, c.process, side->time);
    if (st)
        return st;
    if (c.what == EXEC) {
        l->image++;
        l->stale = l->maps != NULL;
    } else if (c.what == MAP) {
        st = pd_replay_mmap(rp, l, sp_pd_at(rp->pd, side->pos));
    } else if (c.parent != SP_NONE) {
        pd_replay_fork(rp, l, &rp->live[c.parent]);
        st = pd_replay_retire(rp, c.parent);
    }
    return st ? st : pd_replay_retire(rp, c.process);
}

static void pd_replay_count_pending(struct sp_pd_replay *rp)
{
    for (size_t i = 0; i < rp->pd->sides.n; i++) {
        struct change c = pd_replay_read_change(rp->pd, &rp->pd->sides.v[i]);
        if (c.what == NOTHING)
            continue;
        rp->live[c.process].pending++;
        if (c.parent != SP_NONE)
            rp->live[c.parent].pending++;
    }
}

static int pd_replay_compare_slots(const void *a, const void *b)
{
    const struct sp_pd_slot *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Where each process's slots begin and end. */
static spaa_status pd_replay_order_slots(struct sp_pd_replay *rp, size_t n)
{
    rp->live = calloc(rp->pd->processes.n + 1, sizeof *rp->live);
    if (!rp->live)
        return sp_nomem(rp->pd->d);
    if (n)
        qsort(rp->slots, n, sizeof *rp->slots, pd_replay_compare_slots);
    for (size_t i = 0; i < n; i++) {
        struct live *l = &rp->live[rp->slots[i].process];
        if (!l->end)
            l->next = i;
        l->end = i + 1;
    }
    return SPAA_OK;
}

spaa_status sp_pd_replay(struct sp_pd *pd, struct sp_pd_frames *frames, struct sp_pd_slot *slots, size_t n,
                         const struct sp_pd_visitor *v)
{
    struct sp_pd_replay rp = {.pd = pd, .frames = frames, .visitor = v, .slots = slots, .nslots = n};
    spaa_status st = pd_replay_order_slots(&rp, n);
    if (!st)
        pd_replay_count_pending(&rp);
    for (size_t i = 0; i < pd->sides.n && !st; i++)
        st = pd_replay_side(&rp, &pd->sides.v[i]);
    for (size_t i = 0; i < pd->processes.n && !st; i++)
        st = pd_replay_visit_process(&rp, &rp.live[i], (uint32_t)i, UINT32_MAX);
    if (v->finish)
        st = v->finish(v->arg, &rp, st);
    if (!st && rp.full)
        sp_emit(pd->d, SP_E007, SP_AT_NOTHING, "too many maps: some addresses have no DSO");
    for (size_t i = 0; rp.live && i < pd->processes.n; i++)
        sp_pd_replay_release(&rp, rp.live[i].maps);
    free(rp.live);
    return st;
}
