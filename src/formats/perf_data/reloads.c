/*
 * Just-in-time code that was written over other code: samples before and after are in different functions at
 * the same address. The times when that happened, from the process's jitdump, join those when its maps
 * changed: a sample's epoch then tells which code stood where, and code is looked up once for each address
 * and each code that stood there.
 *
 * Only dumps that a process mapped are opened here, as writers of jitdumps do to be found. Times compare when
 * the recording's clock is the dump's: CLOCK_MONOTONIC (`perf record -k mono`), or cycles that a TIME_CONV
 * record explains.
 */
#include "formats/perf_data/resolve.h"

/* Both ascend; equal times stand once. */
static bool pd_reloads_merge_times(struct sp_pd_process *p, const uint64_t *times, size_t n)
{
    struct sp_pd_process all = {0};
    size_t i = 0, k = 0;
    if (n >= SP_NONE - 1 - p->changes.n || !sp_vec_reserve(&all.changes, p->changes.n + n))
        return false;
    while (i < p->changes.n || k < n) {
        bool mine = k == n || (i < p->changes.n && p->changes.v[i] <= times[k]);
        uint64_t t = mine ? p->changes.v[i++] : times[k++];
        if (!all.changes.n || all.changes.v[all.changes.n - 1] != t)
            all.changes.v[all.changes.n++] = t;
    }
    sp_vec_free(&p->changes);
    memcpy(&p->changes, &all.changes, sizeof p->changes);
    return true;
}

static spaa_status pd_reloads_add_times(struct sp_pd *pd, struct sp_pd_frames *f, struct sp_pd_process *p)
{
    struct sp_module *m;
    uint64_t *times = NULL;
    size_t n = 0;
    spaa_status st = sp_pd_frames_jit(f, p->pid, &m);
    if (!st && m && (!sp_module_code_times(m, &times, &n) || (n && !pd_reloads_merge_times(p, times, n))))
        st = sp_nomem(pd->d);
    free(times);
    return st;
}

static bool pd_reloads_is_jitdump(struct sp_pd_text path)
{
    static const char end[] = ".dump";
    size_t n = sizeof end - 1;
    return path.n > n && memcmp(path.p + path.n - n, end, n) == 0 && memmem(path.p, path.n, "jit-", 4);
}

/* Which processes mapped a jitdump; the symbolizer is told of each. */
static spaa_status pd_reloads_find_dumps(struct sp_pd *pd, struct sp_pd_frames *f, bool *has_dump)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < pd->sides.n && !st; i++) {
        const unsigned char *rec = sp_pd_at(pd, pd->sides.v[i].pos);
        uint32_t type = sp_pd_u32(rec, pd->swap), process;
        struct sp_pd_mmap m;
        if ((type != PD_MMAP && type != PD_MMAP2) || !sp_pd_mmap_read(pd, rec, &m) ||
            !pd_reloads_is_jitdump(m.path))
            continue;
        process = sp_pd_process_find(pd, m.pid);
        if (process != SP_NONE)
            has_dump[process] = true;
        st = sp_pd_frames_mapped(f, &m);
    }
    return st;
}

spaa_status sp_pd_reloads(struct sp_pd *pd, struct sp_pd_frames *f)
{
    struct sp_recording_clock clock = pd->cycles;
    if (pd->by_position || pd->opts->symbols.no_symbols)
        return SPAA_OK;
    bool *has_dump = calloc(pd->processes.n + 1, sizeof *has_dump);
    if (!has_dump)
        return sp_nomem(pd->d);
    clock.monotonic = pd->attrs.v[0].use_clockid && pd->attrs.v[0].clockid == 1;
    sp_pd_frames_clock(f, &clock);
    spaa_status st = pd_reloads_find_dumps(pd, f, has_dump);
    for (uint32_t i = 0; i < pd->processes.n && !st; i++)
        if (has_dump[i])
            st = pd_reloads_add_times(pd, f, &pd->processes.v[i]);
    free(has_dump);
    return st;
}
