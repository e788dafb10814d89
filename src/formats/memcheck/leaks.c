/* Processes of a log, and the records of their leak checks: see memcheck.h. */
#include "base/hash.h"
#include "formats/memcheck/memcheck.h"

struct sp_mc_process *sp_mc_process(struct sp_mc *m, int64_t pid)
{
    uint64_t hash = sp_hash_mix((uint64_t)pid, 0);
    if (m->last < m->processes.n && m->processes.v[m->last].pid == pid)
        return &m->processes.v[m->last];
    struct sp_probe at = sp_map_probe(&m->pids, hash);
    for (uint32_t i; (i = sp_map_next(&m->pids, &at)) != SP_MAP_NONE;)
        if (m->processes.v[i].pid == pid) {
            m->last = i;
            return &m->processes.v[i];
        }
    struct sp_mc_process x = {.pid = pid, .parent = SP_ABSENT, .search = 1};
    if (m->processes.n >= SP_MC_PROCESSES_MAX || !sp_vec_push(&m->processes, x))
        return NULL;
    m->last = m->processes.n - 1;
    if (!sp_map_add(&m->pids, hash, (uint32_t)m->last)) {
        m->processes.n--;
        return NULL;
    }
    return &m->processes.v[m->last];
}

/*
 * Records of a check are numbered upwards, though not all are shown: a number that is not above the one
 * before is of another check, where no summary said so.
 */
static void mc_next_check(struct sp_mc_process *x, const struct sp_mc_leak *leak)
{
    bool same = x->leak.of == leak->of && leak->number > x->leak.number;
    if (x->leak.number && !same) {
        x->checks++;
        x->search++;
    }
}

spaa_status sp_mc_begin(struct sp_mc *m, struct sp_mc_process *x, const struct sp_mc_leak *leak)
{
    spaa_status st = sp_mc_end(m, x);
    mc_next_check(x, leak);
    x->leak = *leak;
    x->open = true;
    x->path.n = 0;
    return st;
}

spaa_status sp_mc_frame(struct sp_mc *m, struct sp_mc_process *x, const struct sp_vg_frame *f)
{
    struct sp_vg_place place;
    if (x->path.n >= SP_VG_DEPTH) {
        m->p->header.truncated += x->path.n == SP_VG_DEPTH;
        return SPAA_OK;
    }
    return sp_vg_place(&m->vg, f, &place) && sp_vec_push(&x->path, place) ? SPAA_OK : sp_nomem(m->d);
}

spaa_status sp_mc_end(struct sp_mc *m, struct sp_mc_process *x)
{
    struct sp_mc_record r = {.leak = x->leak,
                             .process = (uint32_t)(x - m->processes.v),
                             .search = x->search,
                             .first = m->places.n,
                             .n = x->path.n};
    if (!x->open)
        return SPAA_OK;
    x->open = false;
    m->lost_stacks += !r.n;
    if (!sp_vec_reserve(&m->places, m->places.n + r.n + 1) || !sp_vec_push(&m->records, r))
        return sp_nomem(m->d);
    for (size_t i = 0; i < r.n; i++)
        m->places.v[m->places.n++] = x->path.v[i];
    return SPAA_OK;
}

void sp_mc_exit(struct sp_mc_process *x)
{
    x->exited = true;
    x->checks += x->leak.number != 0 && !x->has_summary;
    x->search++;
    x->done = 0;
    x->has_summary = x->in_summary = false;
    x->leak = (struct sp_mc_leak){0};
}

void sp_mc_summary(struct sp_mc_process *x)
{
    x->done = x->search++;
    x->checks++;
    x->has_summary = x->in_summary = true;
    x->suppressed = (struct sp_mc_amount){0, 0};
    for (int i = 0; i < SP_MC_KINDS; i++)
        x->summary[i] = (struct sp_mc_amount){0, 0};
    x->leak = (struct sp_mc_leak){0};
}
