/* The accounts of time off the CPU of a recording of switches: from intervals. */
#include "analysis/off_cpu_accounts_parts.h"

#include "analysis/interval_name.h"
#include "analysis/wait_bounds.h"
#include "model/interval_until.h"

#include <stdlib.h>

/* An interval within what is looked at: [start, until) of it for certain, [until, end) perhaps. */
struct looked_at {
    const struct sp_interval *of;
    int64_t start, until, end;
    bool at_least;
};

static bool look_at(const struct accounts *x, const struct sp_interval *i, bool cut_off,
                    struct looked_at *out)
{
    int64_t start = i->start > x->out.begin ? i->start : x->out.begin,
            end = i->end < x->out.end ? i->end : x->out.end, until = i->until < end ? i->until : end;
    *out = (struct looked_at){i, start, until > start ? until : start, end, false};
    out->at_least = cut_off || (i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN)) || start != i->start ||
                    end != i->end || out->until < end;
    return end > start && (i->state != SP_RUN_BLOCKED || i->task != SP_TASK_DEAD);
}

/* Whether it ran is not recorded: of all that time. */
static void add_unknown(struct accounts *x, uint32_t who, int64_t ns)
{
    struct sp_off_cpu_who *w = &x->out.who.v[who];
    if (ns <= 0 || x->out.only_stacks)
        return;
    w->unknown += ns;
    w->running_at_least = x->out.all.running_at_least = true;
    x->out.all.unknown += ns;
}

static bool add_off(struct accounts *x, uint32_t who, const struct looked_at *l)
{
    static const struct sp_wait_why unknown = {
        .function = SP_NONE, .call = SP_NONE, .frame = SP_NONE, .unseen = true};
    const struct sp_interval *i = l->of;
    int64_t ns = l->until - l->start;
    struct sp_wait_why why = i->stack == SP_NONE ? unknown : x->why->of[i->stack];
    add_unknown(x, who, l->end - l->until);
    /* Nothing says that a thread was there before it was first seen. */
    bool before = i->flags & SP_INTERVAL_BEFORE && i->task == SP_TASK_UNKNOWN;
    if (i->state == SP_RUN_BLOCKED && (before || accounts_is_unseen(x, &why))) {
        x->out.who.v[who].unseen += ns;
        x->out.all.unseen += ns;
        x->out.unseen_later += i->flags & SP_INTERVAL_BEFORE ? 0 : ns;
        return true;
    }
    if (i->state == SP_RUN_RUNNABLE)
        why.reason = SP_WAIT_CPU;
    if (i->state == SP_RUN_BLOCKED && i->flags & SP_INTERVAL_NO_WAKE && x->out.has_wakes &&
        !(i->flags & SP_INTERVAL_OPEN)) {
        x->out.wakes_missing++;
        x->out.wakes_missing_ns += ns;
        x->out.who.v[who].at_least[SP_WAIT_CPU] = x->out.all.at_least[SP_WAIT_CPU] = true;
    }
    if (!accounts_add_wait(x, who, &why, ns, l->at_least))
        return false;
    uint32_t place = accounts_place_of(x, who, &why);
    struct sp_off_cpu_place *at = &x->out.places.v[place];
    at->count = (at->count == SP_ABSENT ? 0 : at->count) + 1;
    at->unknown += l->end - l->until;
    if (ns > at->longest) {
        at->longest = ns;
        at->longest_at_least = l->at_least;
        at->last = l->until;
    }
    at->longest_most = l->end - l->start > at->longest_most ? l->end - l->start : at->longest_most;
    struct wait w = {place, ns, l->at_least};
    return sp_vec_push(&x->waits, w);
}

static bool add_interval(struct accounts *x, uint32_t who, const struct sp_interval *i, bool cut_off)
{
    struct looked_at l;
    if (!look_at(x, i, cut_off, &l))
        return true;
    if (i->state == SP_RUN_RUNNING) {
        struct sp_off_cpu_who *w = &x->out.who.v[who];
        if (w->running != SP_ABSENT)
            w->running += l.until - l.start;
        add_unknown(x, who, l.end - l.until);
        return true;
    }
    if (i->stack == SP_NONE ? x->out.only_stacks : !x->asked[i->stack])
        return true;
    return add_off(x, who, &l);
}

/* Who a thread was during an interval: before it executes another program it may have another name. */
static uint32_t who_during(struct accounts *x, const struct sp_intervals *v, uint32_t interval)
{
    const struct sp_interval_thread *t = &v->threads.v[v->v.v[interval].thread];
    uint32_t context = sp_interval_context(x->p, v, interval);
    if (context != SP_NONE && x->wide->pools.by_thread[context] != SP_NONE)
        return accounts_who_of_context(x, context);
    return accounts_who_of_thread(x, t->pid, t->tid, sp_interval_name(x->p, v, interval));
}

/* Counts the thread once; false: out of memory. */
static bool count_thread(struct accounts *x, uint32_t who, uint32_t thread)
{
    while (x->counted.n <= who)
        if (!sp_vec_push(&x->counted, 0))
            return false;
    if (x->counted.v[who] != thread + 1)
        x->out.who.v[who].threads += !x->out.who.v[who].pool;
    x->counted.v[who] = thread + 1;
    return true;
}

/* Something of it is in what is looked at, not only that it had left before it was first seen. */
static bool is_seen(const struct accounts *x, const struct sp_interval *i)
{
    struct looked_at l;
    return !x->s->timed || (look_at(x, i, false, &l) && !sp_interval_not_seen(i));
}

/* `over`: when its process was seen last. */
static bool add_thread(struct accounts *x, const struct sp_intervals *v, uint32_t k, bool some, int64_t over)
{
    const struct sp_interval_thread *t = &v->threads.v[k];
    bool any = false;
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        uint32_t context = some ? sp_interval_context(x->p, v, i) : SP_NONE;
        if (context != SP_NONE && !x->in[context])
            continue;
        uint32_t who = who_during(x, v, i);
        bool seen = is_seen(x, &v->v.v[i]);
        if (who == SP_NONE || (seen && !count_thread(x, who, k)) ||
            !add_interval(x, who, &v->v.v[i], sp_wait_ended_with(x->p, v, i, over)))
            return false;
        x->out.who.v[who].seen |= seen;
        any |= seen;
        if (i > t->first)
            continue;
        int64_t left = v->v.v[i].start, from = left - t->maybe_ns;
        from = from > x->out.begin ? from : x->out.begin;
        add_unknown(x, who, (left < x->out.end ? left : x->out.end) - from);
        bool before = !v->all_threads && !v->some_cpus && !x->out.only_stacks && t->start == SP_ABSENT;
        from = from < x->out.end ? from : x->out.end;
        x->out.before += before && from > x->out.begin ? from - x->out.begin : 0;
    }
    x->out.all.threads += any;
    return true;
}

static bool add_intervals(struct accounts *x, const struct sp_intervals *v, bool some_threads)
{
    int64_t over = INT64_MAX;
    bool some = some_threads || x->out.only_stacks;
    for (uint32_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        if (!k || v->threads.v[k - 1].pid != t->pid)
            over = sp_wait_last_seen(v, k);
        if (t->tid && t->n && (!some || accounts_known_of(x, t)) && !add_thread(x, v, k, some, over))
            return false;
    }
    return true;
}

/* A CPU that was never idle has no idle task that was seen. */
static void add_cpus(struct accounts *x, const struct sp_intervals *v)
{
    int64_t busy = 0;
    for (size_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        for (uint32_t i = t->first; t->tid && i < t->first + t->n; i++) {
            struct looked_at l;
            if (!look_at(x, &v->v.v[i], false, &l))
                continue;
            busy += v->v.v[i].state == SP_RUN_RUNNING ? l.until - l.start : 0;
            x->out.busy_at_least |= l.until < l.end;
        }
    }
    x->out.all_threads = v->all_threads;
    x->out.some_cpus = v->some_cpus;
    x->out.cpus = v->all_threads ? v->cpus : 0;
    x->out.busy = busy;
}

static int by_place(const void *va, const void *vb)
{
    const struct wait *a = va, *b = vb;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

static void rank_waits(struct accounts *x)
{
    struct wait *v = x->waits.v;
    if (!x->waits.n)
        return;
    qsort(v, x->waits.n, sizeof *v, by_place);
    for (size_t from = 0, to; from < x->waits.n; from = to) {
        for (to = from; to < x->waits.n && v[to].place == v[from].place; to++) {
        }
        size_t n = to - from, half = (n + 1) / 2, most = (n * 99 + 99) / 100;
        struct sp_off_cpu_place *at = &x->out.places.v[v[from].place];
        at->longest_at_least |= at->longest_most > at->longest;
        at->median = v[from + half - 1].ns;
        at->p99 = v[from + most - 1].ns;
        for (size_t k = 0; k < most; k++) { /* which may belong behind it */
            at->median_at_least |= k < half && v[from + k].at_least;
            at->p99_at_least |= v[from + k].at_least;
        }
    }
}

static void sum_running(struct accounts *x)
{
    x->out.all.running = x->out.has_intervals && !x->out.only_stacks ? 0 : SP_ABSENT;
    for (size_t i = 0; i < x->out.who.n && x->out.all.running != SP_ABSENT; i++)
        x->out.all.running += x->out.who.v[i].running;
}

/* Where events were lost, waits may be in what is not known of a thread: its sums are at least what they are.
 */
static void doubt_sums(struct accounts *x)
{
    for (size_t i = 0; i < x->out.places.n; i++) {
        struct sp_off_cpu_place *at = &x->out.places.v[i];
        struct sp_off_cpu_who *w = &x->out.who.v[at->who];
        if (w->unknown <= 0)
            continue;
        at->more = true;
        w->at_least[at->why.reason] |= !at->why.idle;
        x->out.all.at_least[at->why.reason] |= !at->why.idle;
    }
}

bool accounts_from_intervals(struct accounts *x, const struct sp_select_opts *o, const struct sp_intervals *v)
{
    x->out.begin = x->s->timed && x->s->time_lo > v->begin ? x->s->time_lo : v->begin;
    x->out.end = x->s->timed && x->s->time_hi < v->end ? x->s->time_hi : v->end;
    x->out.contradictions = v->contradictions;
    x->out.lost = v->losses > 0;
    x->out.has_wakes = v->has_wakes;
    add_cpus(x, v);
    if (!add_intervals(x, v, o->thread || o->pid || o->comm))
        return false;
    x->out.knows_threads = true;
    x->out.has_runnable |= !o->state;
    for (size_t i = 0; i < x->out.who.n && !v->has_wakes; i++) /* part of it is in waits */
        x->out.who.v[i].at_least[SP_WAIT_CPU] |= x->out.who.v[i].runnable > 0;
    x->out.all.at_least[SP_WAIT_CPU] |= !v->has_wakes;
    rank_waits(x);
    sum_running(x);
    if (v->losses || v->some_cpus)
        doubt_sums(x);
    return true;
}
