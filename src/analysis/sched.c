#include "analysis/sched.h"

#include "analysis/interval_name.h"
#include "model/interval_until.h"

#include <stdlib.h>

void sp_sched_free(struct sp_sched *x)
{
    sp_vec_free(&x->rows);
    sp_vec_free(&x->cpus);
}

/* ---- sums ---- */

static const struct sp_sched_sum no_sum = {.longest = -1, .longest_thread = SP_NONE};

static struct sp_sched_row empty_row(uint32_t thread, uint32_t pool)
{
    return (struct sp_sched_row){.thread = thread,
                                 .pool = pool,
                                 .run = no_sum,
                                 .blocked = no_sum,
                                 .delay = no_sum,
                                 .preempted = no_sum};
}

/* Of [start, end) what is in the window. */
static int64_t within(const struct sp_sched *x, int64_t start, int64_t end)
{
    int64_t lo = start > x->lo ? start : x->lo, hi = end < x->hi ? end : x->hi;
    return hi > lo ? hi - lo : 0;
}

static void find_longest_cut(struct sp_sched_sum *s, int64_t most)
{
    s->longest_most = most > s->longest_most ? most : s->longest_most;
    s->longest_cut |= s->longest >= 0 && s->longest_most > s->longest;
}

/* What is certain of an interval, within the window; cut: it is part of something longer. */
static void add(struct sp_sched_sum *s, const struct sp_sched *x, const struct sp_interval *i, bool cut)
{
    int64_t lo = i->start > x->lo ? i->start : x->lo, hi = i->until < x->hi ? i->until : x->hi;
    cut = cut || lo != i->start || hi != i->end;
    s->maybe += within(x, i->until, i->end);
    if (hi <= lo)
        return;
    s->ns += hi - lo;
    s->cut_ns += cut ? hi - lo : 0;
    s->n += !cut;
    if (hi - lo > s->longest) {
        s->longest = hi - lo;
        s->longest_at = lo;
        s->longest_thread = i->thread;
        s->longest_cut = cut;
    }
    find_longest_cut(s, (i->end < x->hi ? i->end : x->hi) - lo);
}

static void join(struct sp_sched_sum *to, const struct sp_sched_sum *s)
{
    to->ns += s->ns;
    to->cut_ns += s->cut_ns;
    to->maybe += s->maybe;
    to->n += s->n;
    if (s->longest > to->longest) {
        to->longest = s->longest;
        to->longest_at = s->longest_at;
        to->longest_thread = s->longest_thread;
        to->longest_cut = s->longest_cut;
    }
    find_longest_cut(to, s->longest_most);
}

static void join_row(struct sp_sched_row *to, const struct sp_sched_row *r)
{
    join(&to->run, &r->run);
    join(&to->blocked, &r->blocked);
    join(&to->delay, &r->delay);
    join(&to->preempted, &r->preempted);
    to->threads += r->threads;
    to->unknown_ns += r->unknown_ns;
    to->unknown_runs += r->unknown_runs;
    to->runs += r->runs;
    to->migrations += r->migrations;
    to->wakes_missing += r->wakes_missing;
}

/* ---- a thread ---- */

/* It came onto a CPU, which was seen or not. */
static void count_run(struct sp_sched_row *r, const struct sp_sched *x, int32_t cpu, int64_t at,
                      int32_t *last_cpu)
{
    bool in = at >= x->lo && at < x->hi;
    r->runs += in;
    r->migrations += in && *last_cpu >= 0 && cpu >= 0 && *last_cpu != cpu;
    *last_cpu = cpu >= 0 ? cpu : *last_cpu;
}

static void take_off(struct sp_sched_row *r, const struct sp_sched *x, const struct sp_interval *i)
{
    bool unseen = sp_interval_came_unseen(i),
         cut = unseen || i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN);
    int64_t unknown = within(x, i->until, i->end);
    if (sp_interval_not_seen(i)) {
        r->unknown_ns += unknown;
        return;
    }
    r->unknown_ns += unknown;
    r->unknown_runs += unknown > 0 && unseen && !(i->flags & SP_INTERVAL_OPEN);
    if (i->state == SP_RUN_BLOCKED) {
        bool in = i->end > x->lo && i->end <= x->hi;
        r->wakes_missing += in && (i->flags & SP_INTERVAL_NO_WAKE || unseen);
        add(&r->blocked, x, i, cut);
    } else {
        add(&r->delay, x, i, cut);
        if (i->task == SP_TASK_RUNNABLE) /* a new thread waits, too */
            add(&r->preempted, x, i, cut);
    }
}

static void take_run(struct sp_sched_row *r, const struct sp_sched *x, const struct sp_interval *i)
{
    int64_t unknown = within(x, i->until, i->end);
    r->unknown_ns += unknown;
    r->unknown_runs += unknown > 0;
    add(&r->run, x, i, i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN));
}

static bool is_kept(const struct sp_sched_opts *how, const struct sp_intervals *v, uint32_t interval)
{
    uint32_t context = how->who ? sp_interval_context(how->profile, v, interval) : SP_NONE;
    return context == SP_NONE || how->who[context];
}

static void take_thread(struct sp_sched_row *r, const struct sp_sched *x, const struct sp_intervals *v,
                        const struct sp_sched_opts *how)
{
    const struct sp_interval_thread *t = &v->threads.v[r->thread];
    int32_t last_cpu = -1;
    r->threads = 1;
    if (sp_thread_began_unseen(v, r->thread) && is_kept(how, v, t->first)) {
        int64_t left = v->v.v[t->first].start, unknown = within(x, left - t->maybe_ns, left);
        count_run(r, x, -1, left - 1, &last_cpu);
        r->unknown_ns += unknown;
        r->unknown_runs += unknown > 0;
    }
    for (uint32_t k = t->first; k < t->first + t->n; k++) {
        const struct sp_interval *i = &v->v.v[k];
        if (!is_kept(how, v, k))
            continue;
        r->comm = sp_interval_name(how->profile, v, k);
        if (i->state == SP_RUN_RUNNING)
            count_run(r, x, i->cpu, i->start > x->lo || i->end <= x->lo ? i->start : x->lo, &last_cpu);
        else if (sp_interval_came_unseen(i) && !(i->flags & SP_INTERVAL_OPEN) &&
                 (k + 1 == t->first + t->n || v->v.v[k + 1].state != SP_RUN_RUNNING ||
                  v->v.v[k + 1].start != i->end))
            count_run(r, x, sp_interval_cpu_then(v, i), i->end - 1, &last_cpu);
        if (i->state == SP_RUN_RUNNING)
            take_run(r, x, i);
        else
            take_off(r, x, i);
    }
}

/* ---- CPUs ---- */

static bool take_cpus(struct sp_sched *x, const struct sp_cpu_segments *c)
{
    for (size_t cpu = 0; cpu + 1 < c->first.n; cpu++) {
        struct sp_sched_cpu y = {.cpu = (uint32_t)cpu};
        if (c->first.v[cpu] == c->first.v[cpu + 1])
            continue;
        for (size_t k = c->first.v[cpu]; k < c->first.v[cpu + 1]; k++) {
            const struct sp_cpu_segment *s = &c->v.v[k];
            int64_t lo = s->start > x->lo ? s->start : x->lo, hi = s->end < x->hi ? s->end : x->hi;
            if (hi <= lo)
                continue;
            y.busy_ns += s->state == SP_CPU_RUNS ? hi - lo : 0;
            y.idle_ns += s->state == SP_CPU_IDLE ? hi - lo : 0;
            y.switches += s->state != SP_CPU_IDLE;
        }
        if (!sp_vec_push(&x->cpus, y))
            return false;
    }
    x->ncpus = (uint32_t)x->cpus.n;
    return true;
}

/* ---- the queue ---- */

struct change {
    int64_t at;
    int by;
};

static int by_change(const void *va, const void *vb)
{
    const struct change *a = va, *b = vb;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->by - b->by;
}

static bool take_queue(struct sp_sched *x, const struct sp_intervals *v)
{
    SP_VEC(struct change) all = {0};
    bool ok = true;
    uint32_t now = 0;
    for (size_t k = 0; ok && k < v->v.n; k++) {
        const struct sp_interval *i = &v->v.v[k];
        int64_t lo = i->start > x->lo ? i->start : x->lo, hi = i->until < x->hi ? i->until : x->hi;
        if (i->state != SP_RUN_RUNNABLE || hi <= lo || sp_interval_not_seen(i))
            continue;
        x->queue.ns += hi - lo;
        ok = sp_vec_push(&all, ((struct change){lo, 1})) && sp_vec_push(&all, ((struct change){hi, -1}));
    }
    if (ok && all.n)
        qsort(all.v, all.n, sizeof *all.v, by_change);
    for (size_t k = 0; ok && k < all.n; k++) {
        now += (uint32_t)all.v[k].by;
        if (all.v[k].by > 0 && now > x->queue.most) {
            x->queue.most = now;
            x->queue.most_at = all.v[k].at;
        }
    }
    sp_vec_free(&all);
    return ok;
}

/* ---- rows ---- */

static int by_run(const void *va, const void *vb)
{
    const struct sp_sched_row *a = va, *b = vb;
    if (a->run.ns != b->run.ns)
        return a->run.ns > b->run.ns ? -1 : 1;
    if (a->unknown_ns != b->unknown_ns)
        return a->unknown_ns > b->unknown_ns ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Threads one by one, or in the row of their pool. */
static bool take_rows(struct sp_sched *x, const struct sp_intervals *v, const struct sp_sched_opts *how)
{
    SP_VEC(uint32_t) row_of = {0}; /* per pool: 1 + its row */
    bool ok = true;
    for (uint32_t k = 0; ok && k < v->threads.n; k++) {
        uint32_t pool = how->pools ? how->pools[k] : SP_NONE;
        struct sp_sched_row r = empty_row(k, pool);
        if (!v->threads.v[k].tid || (how->keep && !how->keep[k]))
            continue;
        take_thread(&r, x, v, how);
        if (!r.runs && !r.run.ns && !r.delay.ns && !r.blocked.ns && !r.unknown_ns)
            continue;
        join_row(&x->all, &r);
        while (ok && pool != SP_NONE && row_of.n <= pool)
            ok = sp_vec_push(&row_of, 0);
        if (ok && pool != SP_NONE && row_of.v[pool]) {
            join_row(&x->rows.v[row_of.v[pool] - 1], &r);
            continue;
        }
        ok = ok && sp_vec_push(&x->rows, r);
        if (ok && pool != SP_NONE)
            row_of.v[pool] = (uint32_t)x->rows.n;
    }
    sp_vec_free(&row_of);
    if (ok && x->rows.n)
        qsort(x->rows.v, x->rows.n, sizeof *x->rows.v, by_run);
    return ok;
}

bool sp_sched_of(const struct sp_intervals *v, const struct sp_cpu_segments *c,
                 const struct sp_sched_opts *how, struct sp_sched *out)
{
    *out = (struct sp_sched){.lo = how->lo > v->begin ? how->lo : v->begin,
                             .hi = how->hi < v->end ? how->hi : v->end,
                             .all = empty_row(SP_NONE, SP_NONE)};
    return take_rows(out, v, how) && take_cpus(out, c) && take_queue(out, v);
}

/* ---- pools ---- */

struct placed {
    int64_t tid, pid;
    uint32_t pool;
};

static int by_tid(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->pool > b->pool) - (a->pool < b->pool);
}

static uint32_t pool_of(const struct placed *v, size_t n, const struct sp_interval_thread *t)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].tid < t->tid)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < n && v[lo].tid == t->tid; lo++)
        if (t->pid == SP_ABSENT || v[lo].pid == SP_ABSENT || v[lo].pid == t->pid)
            return v[lo].pool;
    return SP_NONE;
}

uint32_t *sp_sched_pools(const struct sp_profile *p, const struct sp_intervals *v,
                         const struct sp_pools *pools)
{
    SP_VEC(struct placed) all = {0};
    uint32_t *out = malloc((v->threads.n + 1) * sizeof *out);
    bool ok = out != NULL;
    for (size_t i = 0; ok && i < p->contexts.n; i++)
        if (pools->by_thread[i] != SP_NONE && p->contexts.v[i].tid != SP_ABSENT)
            ok = sp_vec_push(
                &all, ((struct placed){p->contexts.v[i].tid, p->contexts.v[i].pid, pools->by_thread[i]}));
    for (size_t i = 0; ok && i < p->threads.n; i++)
        if (pools->of_record[i] != SP_NONE)
            ok = sp_vec_push(
                &all, ((struct placed){p->threads.v[i].tid, p->threads.v[i].pid, pools->of_record[i]}));
    if (ok && all.n)
        qsort(all.v, all.n, sizeof *all.v, by_tid);
    for (size_t k = 0; ok && k < v->threads.n; k++)
        out[k] = all.n ? pool_of(all.v, all.n, &v->threads.v[k]) : SP_NONE;
    sp_vec_free(&all);
    if (ok)
        return out;
    free(out);
    return NULL;
}
