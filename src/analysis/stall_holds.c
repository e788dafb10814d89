/*
 * Who had a lock while the waiters of an episode waited, from hand to hand, by the events of waking.
 *
 * A wait at the place that ends is a lock that was let go: so ends each hold, also that of a thread which
 * takes the lock again before the one it woke has run. From when on a hold lasted:
 *  - nobody went on before in the episode: it had it when the one that goes on came;
 *  - else at the latest since the next waiter came, as who lets go while one waits wakes one. Before that it
 *    may have let go and taken it again without a trace;
 *  - who was woken itself, and did not wait again, took it when it ran.
 * Where none of these is recorded, how long it was held is not known: no hold.
 */
#include "analysis/stall_parts.h"

#include <string.h>

struct wait_end {
    int64_t start, end;
    uint32_t interval;
};

struct ends {
    SP_VEC(struct wait_end) v; /* waits at the place that are partly in the episode, by end */
    SP_VEC(int64_t) starts;    /* of them, ascending */
};

static int by_end(const void *va, const void *vb)
{
    const struct wait_end *a = va, *b = vb;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->interval > b->interval) - (a->interval < b->interval);
}

static int ascending(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a > b) - (a < b);
}

static int by_to(const void *va, const void *vb)
{
    const struct sp_stall_hold *a = va, *b = vb;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* All waits of a thread at the place, however short: each that ended was let go, unless a signal ended it. */
static bool collect_of(const struct stall_work *w, const struct sp_stall *s, uint32_t thread,
                       struct ends *out)
{
    const struct sp_interval_thread *x = &w->v->threads.v[thread];
    for (uint32_t i = sp_interval_after(w->v, thread, s->start); i < x->first + x->n; i++) {
        const struct sp_interval *v = &w->v->v.v[i];
        const struct sp_wait_why *why = stall_why(w, v);
        struct wait_end e = {v->start, v->end, i};
        enum sp_stall_wakes how;
        if (v->start >= s->end)
            break;
        stall_waker(w, v, &how);
        if (v->state == SP_RUN_BLOCKED && why->reason == s->reason && why->function == s->function &&
            how != SP_STALL_WAKES_SIGNAL &&
            (!sp_vec_push(&out->v, e) || !sp_vec_push(&out->starts, v->start)))
            return false;
    }
    return true;
}

/*
 * The waits of the program; and those of threads of other ones that handed it to one of these: who waited
 * there itself did not have it then.
 */
static bool collect(struct stall_work *w, const struct sp_stall *s, struct ends *out)
{
    bool ok = true;
    for (uint32_t t = 0; ok && t < w->v->threads.n; t++) {
        w->sum[t] = w->group[t] == s->group; /* collected */
        ok = !w->sum[t] || collect_of(w, s, t, out);
    }
    for (size_t k = 0; ok && k < out->v.n; k++) {
        enum sp_stall_wakes how;
        const struct sp_interval *i = &w->v->v.v[out->v.v[k].interval];
        uint32_t waker = i->end > s->end ? SP_NONE : stall_waker(w, i, &how);
        if (waker == SP_NONE || w->sum[waker])
            continue;
        w->sum[waker] = 1;
        ok = collect_of(w, s, waker, out);
    }
    memset(w->sum, 0, w->v->threads.n * sizeof *w->sum);
    if (out->v.n) {
        qsort(out->v.v, out->v.n, sizeof *out->v.v, by_end);
        qsort(out->starts.v, out->starts.n, sizeof *out->starts.v, ascending);
    }
    return ok;
}

/* When the thread first ran from t on; INT64_MAX: not recorded. */
static int64_t ran_from(const struct stall_work *w, uint32_t thread, int64_t t)
{
    const struct sp_interval_thread *x = &w->v->threads.v[thread];
    for (uint32_t i = sp_interval_after(w->v, thread, t); i < x->first + x->n; i++)
        if (w->v->v.v[i].state == SP_RUN_RUNNING)
            return w->v->v.v[i].start > t ? w->v->v.v[i].start : t;
    return INT64_MAX;
}

/* Of the waits that end at v[k].end: whose before is v[before]; SIZE_MAX: none in the episode. */
static int64_t held_from(const struct stall_work *w, const struct sp_stall *s, const struct ends *e, size_t k,
                         size_t before, uint32_t holder, bool *handed)
{
    int64_t to = e->v.v[k].end, from = to;
    *handed = false;
    if (before == SIZE_MAX) /* others may have come before it for another lock */
        return e->v.v[k].start > s->start ? e->v.v[k].start : s->start;
    int64_t last = e->v.v[before].end;
    size_t lo = 0, hi = e->starts.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (e->starts.v[mid] >= last)
            hi = mid;
        else
            lo = mid + 1;
    }
    if (lo < e->starts.n && e->starts.v[lo] < to)
        from = e->starts.v[lo];
    for (size_t i = before + 1; i-- > 0 && e->v.v[i].end == last;)
        if (holder != SP_NONE && w->v->v.v[e->v.v[i].interval].thread == holder) {
            int64_t ran = ran_from(w, holder, last);
            *handed = true;
            from = ran < to ? ran : to;
        }
    return from;
}

/* It waited there itself when it woke another one: just until when is not recorded. */
static bool waits_itself(const struct stall_work *w, const struct sp_stall *s, uint32_t thread, int64_t t)
{
    const struct sp_interval_thread *x = &w->v->threads.v[thread];
    uint32_t i = sp_interval_after(w->v, thread, t - 1);
    if (i >= x->first + x->n)
        return false;
    const struct sp_interval *v = &w->v->v.v[i];
    const struct sp_wait_why *why = stall_why(w, v);
    return v->start < t && v->state == SP_RUN_BLOCKED && why->reason == s->reason &&
           why->function == s->function;
}

static uint32_t count_hands(struct stall_work *w, const struct sp_stall *s)
{
    const struct sp_stall_hold *h = w->out->holds.v + s->holds.first;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->holds.n; k++) {
        n += !w->sum[h[k].thread];
        w->sum[h[k].thread] = 1;
    }
    for (uint32_t k = 0; k < s->holds.n; k++)
        w->sum[h[k].thread] = 0;
    return n;
}

/* Events were lost, and those of the process contradict each other there: a waking may be missing. */
static bool is_torn(const struct stall_work *w, uint32_t group, int64_t from, int64_t to)
{
    for (uint32_t t = 0; w->v->losses && t < w->v->threads.n; t++) {
        const struct sp_interval_thread *x = &w->v->threads.v[t];
        if (w->group[t] != group)
            continue;
        for (uint32_t i = sp_interval_after(w->v, t, from); i < x->first + x->n && w->v->v.v[i].start < to;
             i++)
            if (w->v->v.v[i].flags & SP_INTERVAL_UNSURE)
                return true;
    }
    return false;
}

static bool add_holds(struct stall_work *w, struct sp_stall *s, const struct ends *e, int64_t *unknown)
{
    size_t before = SIZE_MAX;
    for (size_t k = 0; k < e->v.n && e->v.v[k].end <= s->end; k++) {
        const struct sp_interval *i = &w->v->v.v[e->v.v[k].interval];
        enum sp_stall_wakes how;
        bool handed, again = k && e->v.v[k - 1].end == i->end;
        uint32_t waker = stall_waker(w, i, &how);
        if (waker != SP_NONE && waits_itself(w, s, waker, i->end))
            waker = SP_NONE;
        if (k && !again)
            before = k - 1;
        int64_t from = held_from(w, s, e, k, before, waker, &handed);
        if (waker != SP_NONE && is_torn(w, s->group, from, i->end))
            waker = SP_NONE;
        if (waker == SP_NONE) {
            from = before == SIZE_MAX ? s->start : e->v.v[before].end;
            *unknown = i->end - from > *unknown ? i->end - from : *unknown;
            continue;
        }
        struct sp_stall_hold h = {.thread = waker, .stack = i->waker_stack, .from = from, .to = i->end};
        s->handovers += handed;
        if (from < i->end && !sp_vec_push(&w->out->holds, h))
            return false;
    }
    return true;
}

bool stall_holds_of(struct stall_work *w, struct sp_stall *s, int64_t *unknown)
{
    struct ends e = {0};
    *unknown = 0;
    s->holds.first = (uint32_t)w->out->holds.n;
    bool ok = collect(w, s, &e) && add_holds(w, s, &e, unknown);
    sp_vec_free(&e.v);
    sp_vec_free(&e.starts);
    s->holds.n = (uint32_t)w->out->holds.n - s->holds.first;
    if (ok && s->holds.n)
        qsort(w->out->holds.v + s->holds.first, s->holds.n, sizeof(struct sp_stall_hold), by_to);
    s->hands = count_hands(w, s);
    return ok;
}
