/* Episodes: waits of one place that overlap, far longer than others. */
#include "analysis/stall_parts.h"

/* It has the look of a wait for work, and what those did who ended it does not show that it was one. */
static bool is_maybe(const struct stall_work *w, const struct sp_wait_why *why)
{
    return why->idle && why->idle_unsure && why->reason == SP_WAIT_CONDITION && w->v->has_wakes;
}

/* A wait that can be of a stall: which kind of thing is waited for. SP_WAIT_REASONS: none. */
static uint8_t place_reason(const struct stall_work *w, const struct sp_interval *i)
{
    const struct sp_wait_why *why = stall_why(w, i);
    if (i->state == SP_RUN_RUNNABLE)
        return SP_WAIT_CPU;
    if (i->state != SP_RUN_BLOCKED)
        return SP_WAIT_REASONS;
    if (i->task == SP_TASK_STOPPED)
        return SP_WAIT_STOPPED;
    if ((why->idle && !is_maybe(w, why)) || i->task == SP_TASK_IDLE)
        return SP_WAIT_REASONS;
    switch (why->reason) {
    case SP_WAIT_LOCK:
    case SP_WAIT_ALLOCATOR:
    case SP_WAIT_CONDITION:
    case SP_WAIT_FUTEX:
    case SP_WAIT_DISK:
    case SP_WAIT_NETWORK:
    case SP_WAIT_FAULT:
    case SP_WAIT_PIPE:
        return why->reason;
    default: /* sleeps, polls and children last as long as they are meant to */
        return why->reason == SP_WAIT_OTHER && i->task == SP_TASK_UNINTERRUPTIBLE ? SP_WAIT_OTHER
                                                                                  : SP_WAIT_REASONS;
    }
}

static int by_place(const void *va, const void *vb, void *arg)
{
    const struct sp_interval *v = arg;
    const struct stall_wait *a = va, *b = vb;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->reason != b->reason)
        return a->reason < b->reason ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->maybe != b->maybe)
        return a->maybe ? 1 : -1;
    if (v[a->interval].start != v[b->interval].start)
        return v[a->interval].start < v[b->interval].start ? -1 : 1;
    return (a->interval > b->interval) - (a->interval < b->interval);
}

/* Processes that only have their name in common share files and disks, not CPUs and what they signal. */
static bool is_of_program(const struct stall_work *w, const struct sp_interval *i, uint8_t reason)
{
    if (reason == SP_WAIT_CPU)
        return !w->joined[i->thread] && !(i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN));
    if (i->stack == SP_NONE)
        return reason == SP_WAIT_STOPPED;
    return !w->joined[i->thread] || sp_wait_is_lock(reason) || reason == SP_WAIT_DISK ||
           reason == SP_WAIT_STOPPED;
}

/* A signal ended it, and the thread goes on to wait there: in truth the two are one wait. */
static bool is_cut(const struct stall_work *w, size_t k)
{
    const struct sp_interval *i = &w->v->v.v[k];
    const struct sp_interval_thread *t = &w->v->threads.v[i->thread];
    const struct sp_wait_why *why = stall_why(w, i);
    enum sp_stall_wakes how;
    stall_waker(w, i, &how);
    if (how != SP_STALL_WAKES_SIGNAL)
        return false;
    for (size_t next = k + 1; next < (size_t)t->first + t->n; next++) {
        const struct sp_interval *x = &w->v->v.v[next];
        const struct sp_wait_why *then = stall_why(w, x);
        if (x->state == SP_RUN_BLOCKED)
            return then->reason == why->reason && then->function == why->function;
    }
    return false;
}

static bool collect(struct stall_work *w)
{
    for (size_t k = 0; k < w->v->v.n; k++) {
        const struct sp_interval *i = &w->v->v.v[k];
        uint8_t reason = w->v->threads.v[i->thread].tid ? place_reason(w, i) : SP_WAIT_REASONS;
        if (reason == SP_WAIT_REASONS)
            continue;
        if (!is_of_program(w, i, reason))
            continue;
        bool sure = !(i->flags & SP_INTERVAL_UNSURE) || i->flags & SP_INTERVAL_AT_MOST;
        bool last = sp_wait_is_lock(reason) && sure && stall_not_ended(w, i);
        if (!last && i->flags & (SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE)) {
            w->out->unsure +=
                (sp_wait_is_lock(reason) || reason == SP_WAIT_DISK) && stall_length(i) >= SP_STALL_FLOOR;
            continue;
        }
        w->out->cut += sp_wait_is_lock(reason) && is_cut(w, k) && stall_is_asked(w, i);
        bool place = reason != SP_WAIT_CPU && reason != SP_WAIT_STOPPED;
        struct stall_wait x = {.interval = (uint32_t)k,
                               .group = w->group[i->thread],
                               .function = place ? stall_why(w, i)->function : SP_NONE,
                               .reason = reason,
                               .maybe = place && is_maybe(w, stall_why(w, i))};
        if (!sp_vec_push(&w->waits, x))
            return false;
    }
    if (w->waits.n)
        qsort_r(w->waits.v, w->waits.n, sizeof *w->waits.v, by_place, w->v->v.v);
    return true;
}

/* ---- how long is long ---- */

static int descending(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a < b) - (a > b);
}

/* The largest of 1, 2, 5, 10, … that is at most v. */
static int64_t round_down(int64_t v)
{
    int64_t ten = 1;
    while (v / 10 >= ten)
        ten *= 10;
    return v >= 5 * ten ? 5 * ten : v >= 2 * ten ? 2 * ten : ten;
}

struct limit {
    int64_t threshold, next;
};

/*
 * From lengths, the longest first: where they have the widest gap of those above the floor, by which one is
 * three times the next; else the floor. False: there are not two of them.
 */
static bool find_limit(const int64_t *length, size_t n, size_t least, struct limit *out)
{
    size_t over = 0, cut;
    double widest = 3;
    while (over < n && length[over] >= SP_STALL_FLOOR)
        over++;
    if (over < least)
        return false;
    cut = over;
    for (size_t i = least; i <= over && i < n; i++) {
        double ratio = (double)length[i - 1] / (double)(length[i] > 1000 ? length[i] : 1000);
        if (ratio >= widest) {
            widest = ratio;
            cut = i;
        }
    }
    int64_t round = round_down(length[cut - 1]);
    out->next = cut < n ? length[cut] : 0;
    out->threshold = cut < over && round > out->next ? round : cut < over ? length[cut - 1] : SP_STALL_FLOOR;
    if (cut == over && round > out->next && round > SP_STALL_FLOOR)
        out->threshold = round;
    return true;
}

/* Such waits end when somebody else has done his work: only what is far from usual counts. */
static bool is_strict(uint8_t reason)
{
    return reason == SP_WAIT_CONDITION || reason == SP_WAIT_NETWORK || reason == SP_WAIT_PIPE ||
           reason == SP_WAIT_FUTEX;
}

static bool is_usual(uint8_t reason, const int64_t *length, size_t n, const struct limit *l)
{
    return is_strict(reason) && (n < 20 || length[n / 2] > l->threshold / 10);
}

/* ---- waits that overlap ---- */

struct place {
    size_t from, to; /* slice of waits */
    struct limit limit;
    uint32_t threads;
    bool alone;  /* waits of one thread are an episode, too */
    bool strict; /* nearly all threads of the place have to stand still */
};

static int by_end(const void *va, const void *vb, void *arg)
{
    const struct sp_interval *v = arg, *a = &v[*(const uint32_t *)va], *b = &v[*(const uint32_t *)vb];
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (*(const uint32_t *)va > *(const uint32_t *)vb) - (*(const uint32_t *)va < *(const uint32_t *)vb);
}

/* While all of a cluster waited for a CPU, did the program run after all? */
static bool ran_meanwhile(const struct stall_work *w, const struct sp_stall *s, int64_t from)
{
    for (uint32_t t = 0; t < w->v->threads.n; t++)
        if (w->group[t] == s->group && stall_ran(w->v, t, from, s->released))
            return true;
    return false;
}

/* The waits from `first` on in out->waits overlap at one point: an episode, if they are enough. */
static bool add_episode(struct stall_work *w, const struct place *p, uint32_t first)
{
    struct sp_stalls *o = w->out;
    uint32_t n = (uint32_t)o->waits.n - first;
    const struct stall_wait *key = &w->waits.v[p->from];
    const struct sp_interval *v = w->v->v.v;
    uint32_t least = key->reason == SP_WAIT_STOPPED || p->alone ? 1 : 2;
    struct sp_stall s = {.kind = key->reason == SP_WAIT_STOPPED ? SP_STALL_STOPPED
                                 : key->reason == SP_WAIT_CPU   ? SP_STALL_CPU
                                                                : SP_STALL_PLACE,
                         .reason = key->reason,
                         .function = key->function,
                         .call = SP_NONE,
                         .group = key->group,
                         .processes = w->joined[key->group],
                         .start = INT64_MAX,
                         .end = INT64_MIN,
                         .threshold = p->limit.threshold,
                         .next = p->limit.next,
                         .waits = {first, n},
                         .holder = SP_NONE,
                         .waker_stack = SP_NONE};
    int64_t last_start = INT64_MIN;
    bool enough = n >= least && (!p->strict || n * 5u >= p->threads * 4u);
    if (n)
        qsort_r(o->waits.v + first, n, sizeof *o->waits.v, by_end, w->v->v.v);
    for (uint32_t k = 0; k < n; k++) {
        const struct sp_interval *i = &v[o->waits.v[first + k]];
        s.start = i->start < s.start ? i->start : s.start;
        last_start = i->start > last_start ? i->start : last_start;
        s.at_most |= i->until < i->end;
        s.end = i->end > s.end ? i->end : s.end;
        s.lost += stall_length(i);
        s.longest = stall_length(i) > s.longest ? stall_length(i) : s.longest;
        if (s.call == SP_NONE && s.kind == SP_STALL_PLACE)
            s.call = stall_why(w, i)->call;
    }
    s.released = n ? v[o->waits.v[first]].end : 0;
    bool open = n && v[o->waits.v[first]].flags & SP_INTERVAL_OPEN;
    if (open && s.kind == SP_STALL_PLACE)
        s.by = SP_STALL_BY_NOT_ENDED;
    enough = enough && stall_in_time(w, &s);
    if (enough && s.kind == SP_STALL_CPU)
        enough = s.released - last_start >= SP_STALL_FLOOR / 2 && !ran_meanwhile(w, &s, last_start);
    if (!enough) {
        o->waits.n = first;
        return true;
    }
    return sp_vec_push(&o->v, s);
}

/* Of a thread that waits there a tenth of the recording, in waits of this length: one that a thread ended. */
static bool is_victim(const struct stall_work *w, const struct sp_interval *wait)
{
    enum sp_stall_wakes how;
    return w->sum[wait->thread] >= (w->v->end - w->v->begin) / 10 && stall_waker(w, wait, &how) != SP_NONE;
}

/* To sum, per thread: its long waits at the place; or zero again. */
static void sum_waits(struct stall_work *w, const struct place *p, bool set)
{
    for (size_t k = p->from; k < p->to; k++) {
        const struct sp_interval *i = &w->v->v.v[w->waits.v[k].interval];
        int64_t length = stall_length(i) >= p->limit.threshold ? stall_length(i) : 0;
        w->sum[i->thread] = set ? w->sum[i->thread] + length : 0;
    }
}

/* A new episode begins with the first wait that comes after one of those before it was over. */
static bool cluster(struct stall_work *w, const struct place *p)
{
    struct sp_stalls *o = w->out;
    uint32_t first = (uint32_t)o->waits.n;
    int64_t over = INT64_MAX;
    uint8_t reason = w->waits.v[p->from].reason;
    for (size_t k = p->from; k < p->to; k++) {
        const struct sp_interval *i = &w->v->v.v[w->waits.v[k].interval];
        if (stall_length(i) < p->limit.threshold || (sp_wait_is_lock(reason) && stall_not_ended(w, i)) ||
            (p->alone && !is_victim(w, i)))
            continue;
        if (i->start >= over) {
            if (!add_episode(w, p, first))
                return false;
            first = (uint32_t)o->waits.n;
            over = INT64_MAX;
        }
        over = i->end < over ? i->end : over;
        if (!sp_vec_push(&o->waits, w->waits.v[k].interval))
            return false;
    }
    return add_episode(w, p, first);
}

static uint32_t count_threads(struct stall_work *w, const struct place *p)
{
    uint32_t n = 0;
    for (size_t k = p->from; k < p->to; k++) {
        int64_t *seen = &w->sum[w->v->v.v[w->waits.v[k].interval].thread];
        n += !*seen;
        *seen = 1;
    }
    for (size_t k = p->from; k < p->to; k++)
        w->sum[w->v->v.v[w->waits.v[k].interval].thread] = 0;
    return n;
}

/* The place has long waits, that may be for a lock, and no episode. */
static bool leave_unjudged(struct stall_work *w, const struct place *p)
{
    struct sp_stall_unjudged u = {.threads = 0};
    uint8_t reason = w->waits.v[p->from].reason;
    int64_t most = 0;
    if (reason != SP_WAIT_CONDITION && reason != SP_WAIT_FUTEX)
        return true;
    for (size_t k = p->from; k < p->to; k++) {
        const struct sp_interval *i = &w->v->v.v[w->waits.v[k].interval];
        int64_t length = stall_length(i);
        if (length < SP_STALL_FLOOR || !stall_is_asked(w, i))
            continue;
        u.threads += !w->sum[i->thread];
        u.waits++;
        u.waited += length;
        w->sum[i->thread] += length;
        if (w->sum[i->thread] > most) {
            most = w->sum[i->thread];
            u.interval = w->waits.v[k].interval;
            u.thread = i->thread;
        }
    }
    for (size_t k = p->from; k < p->to; k++)
        w->sum[w->v->v.v[w->waits.v[k].interval].thread] = 0;
    if (u.threads < 2)
        return true;
    bool much = u.waited * 2 >= w->v->end - w->v->begin && !w->joined[w->waits.v[p->from].group];
    w->out->not_judged += u.waits;
    return !much || sp_vec_push(&w->out->unjudged, u);
}

/*
 * Waits of one thread for a lock make no episode where nothing shows that another thread ended them; none is
 * not said of them where they are a tenth of the recording.
 */
static void leave_alone(struct stall_work *w, const struct place *p)
{
    uint64_t n = 0;
    int64_t sum = 0, enough = (w->v->end - w->v->begin) / 10;
    for (size_t k = p->from; k < p->to; k++) {
        const struct sp_interval *i = &w->v->v.v[w->waits.v[k].interval];
        if (stall_length(i) < SP_STALL_FLOOR || !stall_is_asked(w, i))
            continue;
        sum += stall_length(i);
        n++;
    }
    if (sp_wait_is_lock(w->waits.v[p->from].reason) && sum >= enough)
        w->out->not_judged += n;
}

static int by_waited(const void *va, const void *vb)
{
    const struct sp_stall_unjudged *a = va, *b = vb;
    if (a->waited != b->waited)
        return a->waited > b->waited ? -1 : 1;
    return (a->interval > b->interval) - (a->interval < b->interval);
}

static bool look_at(struct stall_work *w, struct place *p, int64_t *length)
{
    size_t n = p->to - p->from;
    uint8_t reason = w->waits.v[p->from].reason;
    if (w->waits.v[p->from].maybe)
        return leave_unjudged(w, p);
    for (size_t k = 0; k < n; k++)
        length[k] = stall_length(&w->v->v.v[w->waits.v[p->from + k].interval]);
    qsort(length, n, sizeof *length, descending);
    bool alone = sp_wait_is_lock(reason) && w->v->has_wakes;
    if (!find_limit(length, n, reason == SP_WAIT_STOPPED ? 1 : 2, &p->limit) &&
        !(alone && find_limit(length, n, 1, &p->limit))) {
        leave_alone(w, p);
        return true;
    }
    if (is_usual(reason, length, n, &p->limit))
        return leave_unjudged(w, p);
    size_t before = w->out->v.n;
    p->strict = is_strict(reason);
    p->threads = count_threads(w, p);
    if (!cluster(w, p))
        return false;
    if (w->out->v.n > before)
        return true;
    p->alone = alone; /* a single thread may be what is stalled */
    if (!p->strict && !alone)
        leave_alone(w, p);
    if (p->strict || !alone)
        return !p->strict || leave_unjudged(w, p);
    sum_waits(w, p, true);
    for (size_t k = p->from; k < p->to; k++) { /* nobody is seen to have ended it, as one that gave up */
        const struct sp_interval *i = &w->v->v.v[w->waits.v[k].interval];
        if (stall_length(i) > p->limit.next && !stall_not_ended(w, i) && !is_victim(w, i))
            p->limit.next = stall_length(i);
    }
    bool ok = cluster(w, p);
    sum_waits(w, p, false);
    return ok;
}

static bool same_place(const struct stall_wait *a, const struct stall_wait *b)
{
    return a->group == b->group && a->reason == b->reason && a->function == b->function &&
           a->maybe == b->maybe;
}

bool stall_find(struct stall_work *w)
{
    if (!collect(w))
        return false;
    int64_t *length = malloc((w->waits.n + 1) * sizeof *length);
    bool ok = length != NULL;
    for (size_t i = 0, k; ok && i < w->waits.n; i = k) {
        for (k = i + 1; k < w->waits.n && same_place(&w->waits.v[i], &w->waits.v[k]);)
            k++;
        struct place p = {.from = i, .to = k};
        ok = look_at(w, &p, length);
    }
    free(length);
    if (w->out->unjudged.n)
        qsort(w->out->unjudged.v, w->out->unjudged.n, sizeof *w->out->unjudged.v, by_waited);
    return ok;
}
