/*
 * Who held what the threads of an episode waited for.
 *
 * With events of waking: who woke a waiter let go of it; the longest hold names the holder
 * (stall_holds.c). Without them: only who ran between the first one's coming and the first one's going on
 * can have let go; who is left of the process is the holder where it is exactly one, in each episode.
 */
#include "analysis/stall_parts.h"

/* A woken thread is on an idle CPU within so many ns; who let go was still running then, or had just left. */
#define RESUME_NS 200000

/* ---- with events of waking ---- */

/* Per thread, whether it is one of the waiters; zero again when it is over. */
static void mark_waiters(struct stall_work *w, const struct sp_stall *s, bool set)
{
    for (uint32_t k = 0; k < s->waits.n; k++)
        w->sum[stall_wait_of(w, s, k)->thread] = set;
}

static void name_holder(struct sp_stall *s, const struct sp_stall_hold *h)
{
    s->by = SP_STALL_BY_WOKEN;
    s->holder = h->thread;
    s->waker_stack = h->stack;
    s->split.from = h->from;
    s->split.to = h->to;
}

/* Of several that may have had it at once only who let go last is known: nothing of how long he had it. */
static bool by_last(struct stall_work *w, struct sp_stall *s, const struct sp_interval *first, uint32_t waker)
{
    struct sp_stall_candidate c = {waker, stall_ran(w->v, waker, s->start, s->released)};
    s->by = SP_STALL_BY_LAST;
    s->waker_stack = first->waker_stack;
    s->candidates = (struct sp_stall_slice){(uint32_t)w->out->candidates.n, 1};
    return sp_vec_push(&w->out->candidates, c);
}

/* The longest hold names the holder, unless one whose holder is not recorded may be longer. */
static bool by_waking(struct stall_work *w, struct sp_stall *s, const struct sp_interval *first,
                      uint32_t waker)
{
    struct sp_stall_hold all = {waker, first->waker_stack, s->start, first->end};
    int64_t unknown;
    s->by = SP_STALL_BY_UNKNOWN;
    if (!sp_wait_is_lock(s->reason)) { /* nothing is held: who ended it */
        if (stall_ran(w->v, waker, s->start, first->end))
            name_holder(s, &all);
        return true;
    }
    if (stall_why(w, first)->shared)
        return by_last(w, s, first, waker);
    if (!stall_holds_of(w, s, &unknown))
        return false;
    const struct sp_stall_hold *h = w->out->holds.v + s->holds.first, *longest = h;
    for (uint32_t k = 1; k < s->holds.n; k++)
        if (h[k].to - h[k].from > longest->to - longest->from)
            longest = &h[k];
    if (!s->holds.n)
        return true;
    s->convoy = (longest->to - longest->from) * 2 < s->end - s->start;
    /* Who never ran cannot have let go: events contradict each other. */
    if (longest->to - longest->from >= unknown &&
        stall_ran(w->v, longest->thread, longest->from, longest->to))
        name_holder(s, longest);
    return true;
}

/* ---- by elimination ---- */

static int by_running(const void *va, const void *vb)
{
    const struct sp_stall_candidate *a = va, *b = vb;
    if (a->running != b->running)
        return a->running > b->running ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* The waiter that ran first came onto a CPU that had been idle: it was woken just before. */
static bool resumed_at_once(const struct stall_work *w, const struct sp_interval *first)
{
    const struct sp_interval_thread *t = &w->v->threads.v[first->thread];
    uint32_t i = sp_interval_after(w->v, first->thread, first->end);
    if (i >= t->first + t->n || w->v->v.v[i].state != SP_RUN_RUNNING || w->v->v.v[i].start != first->end)
        return false;
    int32_t cpu = w->v->v.v[i].cpu;
    for (uint32_t k = w->cpu_first[cpu]; k < w->cpu_first[cpu + 1]; k++) {
        const struct sp_interval *x = &w->v->v.v[w->on_cpu[k]];
        if (x->end == first->end)
            return !w->v->threads.v[x->thread].tid;
        if (x->start >= first->end)
            break;
    }
    return false;
}

/*
 * It left a CPU in (from, to), so it ran there, though its coming is not recorded: switches from idle CPUs
 * are missing in some kernels.
 */
static bool left_cpu(const struct stall_work *w, uint32_t thread, int64_t from, int64_t to)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    for (uint32_t i = sp_interval_after(w->v, thread, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        if (x->start >= to)
            break;
        if (x->state != SP_RUN_RUNNING && x->start > from && !(x->flags & SP_INTERVAL_BEFORE))
            return true;
    }
    return false;
}

/* Since when nobody else is seen to have come onto a CPU, before t. */
static int64_t last_came(const struct stall_work *w, int32_t cpu, int64_t t)
{
    int64_t last = INT64_MIN;
    if (cpu < 0 ||
        (uint32_t)cpu >= w->v->cpus) { /* not known which: that of them all where it is longest ago */
        for (uint32_t c = 0; c < w->v->cpus; c++) {
            int64_t came = last_came(w, (int32_t)c, t);
            last = !c || came < last ? came : last;
        }
        return last;
    }
    for (uint32_t k = w->cpu_first[cpu]; k < w->cpu_first[cpu + 1]; k++) {
        const struct sp_interval *on = &w->v->v.v[w->on_cpu[k]];
        if (on->start >= t)
            break;
        last = on->start;
    }
    return last;
}

/* It left a CPU later onto which it may have come before `to`: just when it came is not recorded. */
static bool may_have_run(const struct stall_work *w, uint32_t thread, int64_t from, int64_t to)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    for (uint32_t i = sp_interval_after(w->v, thread, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        if (x->start >= to)
            break;
        if (x->state != SP_RUN_RUNNING && x->flags & SP_INTERVAL_AT_MOST &&
            last_came(w, i + 1 < t->first + t->n ? x[1].cpu : -1, x->end) < to)
            return true;
    }
    return false;
}

/* It waited there, too; just when it went on is not recorded, so that its wait is none of the episode. */
static bool waited_too(const struct stall_work *w, const struct sp_stall *s, uint32_t thread)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    for (uint32_t i = sp_interval_after(w->v, thread, s->released - RESUME_NS); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        const struct sp_wait_why *why = stall_why(w, x);
        if (x->start >= s->released)
            break;
        if (x->state == SP_RUN_BLOCKED && x->flags & (SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE) &&
            why->reason == s->reason && why->function == s->function && stall_length(x) >= s->threshold)
            return true;
    }
    return false;
}

/*
 * Who of the process ran, and did not wait itself, from when the first waiter came to when the first went on.
 * Elimination takes that waiters wait for a thread of their process: locks of a kernel's own are any's.
 */
static bool find_candidates(struct stall_work *w, struct sp_stall *s)
{
    bool ok = true;
    s->candidates.first = (uint32_t)w->out->candidates.n;
    mark_waiters(w, s, true);
    for (uint32_t t = s->group; ok && t < w->v->threads.n && w->group[t] == s->group; t++) {
        struct sp_stall_candidate c = {t, stall_ran(w->v, t, s->start, s->released)};
        if (w->sum[t] || (!c.running && !left_cpu(w, t, s->start, s->released) &&
                          !may_have_run(w, t, s->start, s->released)))
            continue;
        if (waited_too(w, s, t))
            s->unsure++;
        else
            ok = sp_vec_push(&w->out->candidates, c);
    }
    mark_waiters(w, s, false);
    s->candidates.n = (uint32_t)w->out->candidates.n - s->candidates.first;
    return ok;
}

static bool by_elimination(struct stall_work *w, struct sp_stall *s)
{
    uint32_t at_resume = SP_NONE, several = 0, ran = 0;
    int64_t from = s->released - RESUME_NS;
    if (!find_candidates(w, s))
        return false;
    struct sp_stall_candidate *c = w->out->candidates.v + s->candidates.first;
    if (!s->candidates.n) {
        bool all = w->v->all_threads && !w->v->unseen && !w->v->losses;
        s->by = all ? SP_STALL_BY_NONE : SP_STALL_BY_UNSEEN;
        return true;
    }
    qsort(c, s->candidates.n, sizeof *c, by_running);
    for (uint32_t k = 0; k < s->candidates.n; k++) {
        bool late =
            stall_ran(w->v, c[k].thread, from, s->released) || left_cpu(w, c[k].thread, from, s->released);
        if (late)
            at_resume = c[k].thread;
        several += late || may_have_run(w, c[k].thread, from, s->released);
        ran += c[k].running || left_cpu(w, c[k].thread, s->start, s->released);
    }
    s->by = SP_STALL_BY_SEVERAL;
    if (s->candidates.n == 1 && ran) {
        s->by = SP_STALL_BY_INFERRED;
        s->holder = c->thread;
    } else if (several == 1 && at_resume != SP_NONE && resumed_at_once(w, stall_wait_of(w, s, 0))) {
        s->by = SP_STALL_BY_INFERRED;
        s->holder = at_resume;
        s->at_resume = true;
    }
    return true;
}

/* Until when it held it, at the latest: the last moment it ran, or may have, before a waiter went on. */
static int64_t last_ran(const struct stall_work *w, uint32_t thread, int64_t before)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    int64_t last = before;
    bool found = false;
    for (uint32_t i = sp_interval_after(w->v, thread, before - 1); i + 1 > t->first; i--) {
        if (i >= t->first + t->n)
            continue;
        const struct sp_interval *x = &w->v->v.v[i];
        bool may_have = x->until < x->end && x->until < before; /* when it came back is not recorded */
        if ((x->state == SP_RUN_RUNNING && x->start < before) || may_have) {
            last = x->end < before ? x->end : before;
            found = true;
            break;
        }
    }
    return found ? last : before;
}

static bool same_place(const struct sp_stall *a, const struct sp_stall *b)
{
    return a->kind == b->kind && a->group == b->group && a->reason == b->reason && a->function == b->function;
}

static bool is_candidate(const struct stall_work *w, const struct sp_stall *s, uint32_t thread)
{
    for (uint32_t k = 0; k < s->candidates.n; k++)
        if (w->out->candidates.v[s->candidates.first + k].thread == thread)
            return true;
    return false;
}

/*
 * Where several ran during an episode and one of them is the only one that ran during another of the place,
 * and the only one that ran during all of them, it is inferred there, too.
 */
static uint32_t alone_in_all(const struct stall_work *w, const struct sp_stall *of)
{
    const struct sp_stalls *o = w->out;
    uint32_t holder = SP_NONE, common = 0;
    for (size_t i = 0; i < o->v.n; i++) {
        const struct sp_stall *s = &o->v.v[i];
        if (!same_place(s, of) || s->by != SP_STALL_BY_INFERRED)
            continue;
        if (holder != SP_NONE && holder != s->holder)
            return SP_NONE;
        holder = s->holder;
    }
    for (uint32_t k = 0; holder != SP_NONE && k < of->candidates.n; k++) {
        uint32_t thread = o->candidates.v[of->candidates.first + k].thread;
        bool all = true;
        for (size_t i = 0; all && i < o->v.n; i++)
            all = !same_place(&o->v.v[i], of) || is_candidate(w, &o->v.v[i], thread);
        common += all;
        if (all && thread != holder)
            return SP_NONE;
    }
    return common == 1 ? holder : SP_NONE;
}

/* While it waited at that very place it did not have it: its hold began when the last such wait was over. */
static void leave_own_waits(const struct stall_work *w, struct sp_stall *s)
{
    const struct sp_interval_thread *t = &w->v->threads.v[s->holder];
    int64_t from = s->split.from, to = s->split.to;
    for (uint32_t i = sp_interval_after(w->v, s->holder, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        const struct sp_wait_why *why = stall_why(w, x);
        if (x->end >= to)
            break;
        if (x->state != SP_RUN_BLOCKED || why->reason != s->reason || why->function != s->function)
            continue;
        s->holder_waited += stall_overlap(x, from, to);
        s->split.from = x->end;
    }
}

static bool agree(struct stall_work *w)
{
    struct sp_stalls *o = w->out;
    uint32_t *alone = malloc((o->v.n + 1) * sizeof *alone);
    if (!alone)
        return false;
    for (size_t i = 0; i < o->v.n; i++)
        alone[i] = o->v.v[i].by == SP_STALL_BY_SEVERAL ? alone_in_all(w, &o->v.v[i]) : SP_NONE;
    for (size_t i = 0; i < o->v.n; i++) {
        struct sp_stall *s = &o->v.v[i];
        if (alone[i] != SP_NONE) {
            s->by = SP_STALL_BY_INFERRED;
            s->holder = alone[i];
        } else if (s->by == SP_STALL_BY_SEVERAL && s->candidates.n == 1) {
            s->by = SP_STALL_BY_UNSEEN; /* that it ran is not seen */
        }
        if (s->by != SP_STALL_BY_INFERRED)
            continue;
        s->split.from = s->start;
        s->split.to = last_ran(w, s->holder, s->released);
        if (s->split.to <= s->start) /* when it came is not recorded */
            s->split.to = s->released;
        leave_own_waits(w, s);
    }
    free(alone);
    return true;
}

/*
 * The wait whose end says who let go: of a lock the first that no signal ended, as nobody lets go then; where
 * signals ended all, the first.
 */
static const struct sp_interval *first_let_go(const struct stall_work *w, const struct sp_stall *s)
{
    enum sp_stall_wakes how;
    for (uint32_t k = 0; sp_wait_is_lock(s->reason) && k < s->waits.n; k++) {
        const struct sp_interval *i = stall_wait_of(w, s, k);
        stall_waker(w, i, &how);
        if (how != SP_STALL_WAKES_SIGNAL)
            return i;
    }
    return stall_wait_of(w, s, 0);
}

static bool find_holder(struct stall_work *w, struct sp_stall *s)
{
    enum sp_stall_wakes how;
    const struct sp_interval *first = first_let_go(w, s);
    if (s->by == SP_STALL_BY_NOT_ENDED)
        return true;
    if (s->kind != SP_STALL_PLACE) {
        s->by = SP_STALL_BY_NO_HOLDER;
        return true;
    }
    if (s->reason == SP_WAIT_DISK || s->reason == SP_WAIT_FAULT || s->reason == SP_WAIT_OTHER) {
        s->by = SP_STALL_BY_DEVICE;
        return true;
    }
    if (first->until <
        first->end) { /* what ended it may have ended a later wait: events were lost within it */
        s->by = SP_STALL_BY_UNKNOWN;
        return true;
    }
    uint32_t waker = stall_waker(w, first, &how);
    if (how != SP_STALL_WAKES_THREAD) {
        s->by = how == SP_STALL_WAKES_SIGNAL ? SP_STALL_BY_SIGNAL : SP_STALL_BY_INTERRUPT;
        return true;
    }
    if (waker != SP_NONE && !by_waking(w, s, first, waker))
        return false;
    if (s->holder != SP_NONE || s->by == SP_STALL_BY_LAST)
        return true;
    if (waker == SP_NONE && stall_why(w, first)->timed) {
        s->by = SP_STALL_BY_TIMED;
        return true;
    }
    /* Had a thread that is recorded let go, its waking would be, too. */
    bool refuted = w->v->has_waking && !w->v->losses && first->waker == SP_NONE;
    if (!sp_wait_is_lock(s->reason) || refuted || s->processes ||
        w->v->threads.v[s->group].pid == SP_ABSENT) {
        s->by = w->v->has_wakes ? SP_STALL_BY_UNKNOWN : SP_STALL_BY_OTHER;
        return true;
    }
    return by_elimination(w, s);
}

/* Some of its waits are asked about, or the thread that held what they were for. */
static bool is_asked(const struct stall_work *w, const struct sp_stall *s)
{
    if (!w->in->selected)
        return true;
    for (uint32_t k = 0; k < s->waits.n; k++)
        if (stall_is_selected(w, stall_wait_of(w, s, k)))
            return true;
    const struct sp_interval_thread *t = s->holder == SP_NONE ? NULL : &w->v->threads.v[s->holder];
    for (uint32_t i = t ? t->first : 0; t && i < t->first + t->n; i++)
        if (stall_is_selected(w, &w->v->v.v[i]))
            return true;
    return false;
}

static void leave_unasked(struct stall_work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->out->v.n; i++)
        if (is_asked(w, &w->out->v.v[i]))
            w->out->v.v[kept++] = w->out->v.v[i];
    w->out->v.n = kept;
}

bool stall_holders(struct stall_work *w)
{
    bool ok = true;
    for (size_t i = 0; ok && i < w->out->v.n; i++)
        ok = find_holder(w, &w->out->v.v[i]);
    ok = ok && agree(w);
    if (ok)
        leave_unasked(w);
    for (size_t i = 0; ok && i < w->out->v.n; i++) {
        struct sp_stall *s = &w->out->v.v[i];
        bool named = s->holder != SP_NONE;
        if (named)
            stall_split_of(w, s->holder, s->split.from, s->split.to, &s->split);
        ok = stall_takers_of(w, s) && (!named || stall_links_of(w, s)) && stall_path_of(w, s);
    }
    return ok;
}
