/*
 * What threads were called and which maps their process had, by time.
 *
 * Sideband records are put in order of time; those without one (perf makes them up when it starts, for
 * what ran before) come first, in file order. Here only the times of change are kept; the maps
 * themselves are replayed by resolve.c. A fork copies the parent's, unless perf made the record up: then
 * the child's own maps follow.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"
#include "model/thread_names.h"

uint32_t sp_pd_process_find(const struct sp_pd *pd, int32_t pid)
{
    struct sp_probe at = sp_map_probe(&pd->process_map, sp_hash_mix((uint32_t)pid, 0));
    for (uint32_t i; (i = sp_map_next(&pd->process_map, &at)) != SP_MAP_NONE;)
        if (pd->processes.v[i].pid == pid)
            return i;
    return SP_NONE;
}

uint32_t sp_pd_process(struct sp_pd *pd, int32_t pid)
{
    uint32_t i = sp_pd_process_find(pd, pid);
    if (i != SP_NONE)
        return i;
    struct sp_pd_process p = {.pid = pid};
    i = (uint32_t)pd->processes.n;
    if (pd->processes.n >= SP_NONE - 1 || !sp_vec_reserve(&pd->processes, pd->processes.n + 1) ||
        !sp_map_add(&pd->process_map, sp_hash_mix((uint32_t)pid, 0), i))
        return SP_NONE;
    pd->processes.v[pd->processes.n++] = p;
    return i;
}

static uint64_t pd_timeline_thread_hash(int32_t pid, int32_t tid)
{
    return sp_hash_mix((uint32_t)pid, (uint32_t)tid);
}

uint32_t sp_pd_thread_find(const struct sp_pd *pd, int32_t pid, int32_t tid)
{
    struct sp_probe at = sp_map_probe(&pd->thread_map, pd_timeline_thread_hash(pid, tid));
    for (uint32_t i; (i = sp_map_next(&pd->thread_map, &at)) != SP_MAP_NONE;)
        if (pd->threads.v[i].pid == pid && pd->threads.v[i].tid == tid)
            return i;
    return SP_NONE;
}

static bool pd_timeline_add_comm(struct sp_pd *pd, struct sp_pd_thread *t, uint64_t time, const char *name,
                                 size_t n, bool begins)
{
    struct sp_pd_comm c = {time, sp_profile_str(pd->p, name, n), begins};
    return c.name != SP_STR_FAIL && sp_vec_push(&t->comms, c);
}

uint32_t sp_pd_thread(struct sp_pd *pd, int32_t pid, int32_t tid)
{
    uint32_t i = sp_pd_thread_find(pd, pid, tid);
    if (i != SP_NONE)
        return i;
    struct sp_pd_thread t = {.pid = pid, .tid = tid, .process = sp_pd_process(pd, pid)};
    i = (uint32_t)pd->threads.n;
    if (t.process == SP_NONE || pd->threads.n >= SP_NONE - 1 ||
        !sp_vec_reserve(&pd->threads, pd->threads.n + 1))
        return SP_NONE;
    /* The idle tasks have no COMM record. */
    if (!tid && !pid && !pd_timeline_add_comm(pd, &t, 0, "swapper", 7, true))
        return SP_NONE;
    if (!sp_map_add(&pd->thread_map, pd_timeline_thread_hash(pid, tid), i)) {
        sp_vec_free(&t.comms);
        return SP_NONE;
    }
    pd->threads.v[pd->threads.n++] = t;
    return i;
}

/* What it was called last, and before that since it began its last program. */
bool sp_pd_thread_record(struct sp_pd *pd, const struct sp_pd_thread *t)
{
    size_t begin = t->comms.n;
    uint32_t comm = begin ? t->comms.v[begin - 1].name : SP_STR_NONE;
    while (begin && !t->comms.v[begin - 1].begins)
        begin--;
    uint32_t number = sp_thread_intern(pd->p, t->pid, t->tid, comm);
    struct sp_thread *record = number == SP_NONE ? NULL : &pd->p->threads.v[number];
    for (size_t i = begin ? begin - 1 : 0; record && record->pid == t->pid && i < t->comms.n; i++)
        if (t->comms.v[i].name != comm)
            sp_thread_rename(record, t->comms.v[i].name, comm);
    return record;
}

/* Notes that the maps of a process change at this time. */
static bool pd_timeline_add_change(struct sp_pd *pd, int32_t pid, uint64_t time)
{
    uint32_t i = sp_pd_process(pd, pid);
    if (i == SP_NONE)
        return false;
    struct sp_pd_process *p = &pd->processes.v[i];
    if (p->changes.n && p->changes.v[p->changes.n - 1] == time)
        return true;
    return p->changes.n < SP_NONE - 1 && sp_vec_push(&p->changes, time);
}

static bool pd_timeline_take_comm(struct sp_pd *pd, const unsigned char *rec, uint64_t time)
{
    int32_t pid = sp_pd_i32(rec + 8, pd->swap), tid = sp_pd_i32(rec + 12, pd->swap);
    const char *name = (const char *)rec + 16;
    uint32_t t = sp_pd_thread(pd, pid, tid);
    bool exec = sp_pd_u16(rec + 4, pd->swap) & PD_MISC_EXEC;
    if (t == SP_NONE || !pd_timeline_add_comm(pd, &pd->threads.v[t], time, name, strlen(name), exec))
        return false;
    return !exec || pd_timeline_add_change(pd, pid, time);
}

static bool pd_timeline_take_fork(struct sp_pd *pd, const unsigned char *rec, uint64_t time)
{
    int32_t pid, ppid;
    bool copies = sp_pd_is_fork(pd, rec, time, &pid, &ppid);
    int32_t tid = sp_pd_i32(rec + 16, pd->swap), ptid = sp_pd_i32(rec + 20, pd->swap);
    uint32_t parent = sp_pd_thread_find(pd, ppid, ptid);
    if (parent != SP_NONE && pd->threads.v[parent].comms.n) {
        uint32_t child = sp_pd_thread(pd, pid, tid);
        if (child == SP_NONE)
            return false;
        struct sp_pd_comm c = pd->threads.v[parent].comms.v[pd->threads.v[parent].comms.n - 1];
        c.since = time;
        c.begins = true;
        if (!sp_vec_push(&pd->threads.v[child].comms, c))
            return false;
    }
    return !copies || pd_timeline_add_change(pd, pid, time);
}

static int pd_timeline_compare_sides(const void *a, const void *b)
{
    const struct sp_pd_side *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

spaa_status sp_pd_timeline(struct sp_pd *pd)
{
    bool sorted = true;
    for (size_t i = 0; i < pd->sides.n; i++) {
        if (pd->by_position)
            pd->sides.v[i].time = pd->sides.v[i].pos;
        sorted = sorted && (!i || pd_timeline_compare_sides(&pd->sides.v[i - 1], &pd->sides.v[i]) < 0);
    }
    if (!sorted)
        qsort(pd->sides.v, pd->sides.n, sizeof *pd->sides.v, pd_timeline_compare_sides);
    for (size_t i = 0; i < pd->sides.n; i++) {
        const unsigned char *rec = sp_pd_at(pd, pd->sides.v[i].pos);
        uint64_t time = pd->sides.v[i].time;
        uint32_t type = sp_pd_u32(rec, pd->swap);
        bool ok;
        if (type == PD_COMM)
            ok = pd_timeline_take_comm(pd, rec, time);
        else if (type == PD_FORK)
            ok = pd_timeline_take_fork(pd, rec, time);
        else if (type == PD_EXIT)
            ok = true;
        else
            ok = pd_timeline_add_change(pd, sp_pd_i32(rec + 8, pd->swap), time);
        if (!ok)
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

uint32_t sp_pd_epoch(struct sp_pd *pd, int32_t pid, int32_t tid, uint64_t time, uint64_t *since,
                     uint64_t *until)
{
    struct sp_pd_epoch m = {.thread = sp_pd_thread(pd, pid, tid), .comm = SP_STR_NONE};
    if (m.thread == SP_NONE)
        return SP_NONE;
    const struct sp_pd_thread *t = &pd->threads.v[m.thread];
    const struct sp_pd_process *p = &pd->processes.v[t->process];
    m.process = t->process;
    *since = 0;
    *until = UINT64_MAX;
    size_t lo = 0, hi = t->comms.n; /* comms before lo have begun */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->comms.v[mid].since <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo) {
        m.comm = t->comms.v[lo - 1].name;
        *since = t->comms.v[lo - 1].since;
    }
    if (lo < t->comms.n)
        *until = t->comms.v[lo].since;
    for (lo = 0, hi = p->changes.n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->changes.v[mid] <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    m.version = (uint32_t)lo;
    if (lo && p->changes.v[lo - 1] > *since)
        *since = p->changes.v[lo - 1];
    if (lo < p->changes.n && p->changes.v[lo] < *until)
        *until = p->changes.v[lo];

    uint64_t hash = sp_hash_mix((uint64_t)m.thread << 32 | m.version, m.comm);
    struct sp_probe at = sp_map_probe(&pd->epoch_map, hash);
    for (uint32_t i; (i = sp_map_next(&pd->epoch_map, &at)) != SP_MAP_NONE;)
        if (memcmp(&pd->epochs.v[i], &m, sizeof m) == 0)
            return i;
    if (pd->epochs.n >= SP_NONE - 1 || !sp_vec_push(&pd->epochs, m) ||
        !sp_map_add(&pd->epoch_map, hash, (uint32_t)pd->epochs.n - 1))
        return SP_NONE;
    return (uint32_t)pd->epochs.n - 1;
}
