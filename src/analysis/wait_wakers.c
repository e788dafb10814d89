#include "analysis/wait_wakers.h"

#include "analysis/wake_kind.h"
#include "base/hash.h"
#include "base/map.h"

enum { BLOCK = 64, LOOK_BACK = 64, LOOK_AT = 256 };

enum kind { BUSY, MAYBE, KINDS }; /* MAYBE: it slept in a way that is only likely idle */
/* A thread whose process ends runs for less, and no other one of it is seen for longer. */
enum { EXIT_RAN_NS = 1000000, EXIT_NS = 10000000 };

enum by { BY_THREAD, BY_TIMER, BY_UNKNOWN };

struct sp_wait_wakers {
    const struct sp_profile *p;
    const struct sp_intervals *v;
    const struct sp_wait_why *why;
    size_t n;
    int64_t *sums[KINDS];    /* of each kind, per BLOCK intervals: sum of those before them */
    unsigned char *function; /* per function of the profile: enum by, as that of a waker */
    int64_t *served;         /* per thread: from when on it served who asked it; INT64_MAX */
    SP_VEC(uint32_t) chain;  /* blocked intervals that are one wait */
};

/* ---- what a thread did ---- */

static const struct sp_wait_why *why_of(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    return i->stack != SP_NONE && i->stack < x->n ? &x->why[i->stack] : NULL;
}

static bool is_busy(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    if (i->state != SP_RUN_BLOCKED)
        return true;
    const struct sp_wait_why *w = why_of(x, i);
    return w && !w->idle && !w->unseen && i->task != SP_TASK_IDLE && i->task != SP_TASK_DEAD;
}

static bool is_maybe(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    const struct sp_wait_why *w = why_of(x, i);
    return i->state == SP_RUN_BLOCKED && w && w->idle && w->reason == SP_WAIT_SLEEP &&
           (w->idle_unsure || x->served[i->thread] < i->end);
}

static bool is_of(const struct sp_wait_wakers *x, const struct sp_interval *i, enum kind kind)
{
    return kind == BUSY ? is_busy(x, i) : is_maybe(x, i);
}

static bool sum_up(struct sp_wait_wakers *x, enum kind kind)
{
    int64_t sum = 0;
    if (!x->sums[kind])
        x->sums[kind] = malloc((x->v->v.n / BLOCK + 1) * sizeof *x->sums[kind]);
    int64_t *sums = x->sums[kind];
    for (size_t i = 0; sums && i < x->v->v.n; i++) {
        if (i % BLOCK == 0)
            sums[i / BLOCK] = sum;
        const struct sp_interval *o = &x->v->v.v[i];
        sum += is_of(x, o, kind) ? o->end - o->start : 0;
    }
    return sums != NULL;
}

/* Of all intervals before number `to`. */
static int64_t sum_before(const struct sp_wait_wakers *x, size_t to, enum kind kind)
{
    if (!to)
        return 0;
    size_t from = (to - 1) / BLOCK * BLOCK;
    int64_t sum = x->sums[kind][from / BLOCK];
    for (size_t i = from; i < to; i++)
        sum += is_of(x, &x->v->v.v[i], kind) ? x->v->v.v[i].end - x->v->v.v[i].start : 0;
    return sum;
}

static size_t first_after(const struct sp_wait_wakers *x, const struct sp_interval_thread *t, int64_t at)
{
    return sp_interval_after(x->v, (uint32_t)(t - x->v->threads.v), at);
}

/* How much of the kind was until `at`, but for what all had been before the thread's first interval. */
static int64_t sum_until(const struct sp_wait_wakers *x, const struct sp_interval_thread *t, int64_t at,
                         enum kind kind)
{
    size_t k = first_after(x, t, at);
    int64_t sum = sum_before(x, k, kind);
    if (k < (size_t)t->first + t->n) {
        const struct sp_interval *i = &x->v->v.v[k];
        if (i->start < at && is_of(x, i, kind))
            sum += at - i->start;
    }
    return sum;
}

static int64_t sum_between(const struct sp_wait_wakers *x, const struct sp_interval_thread *t, int64_t from,
                           int64_t to, enum kind kind)
{
    return sum_until(x, t, to, kind) - sum_until(x, t, from, kind);
}

/* ---- who ended a wait ---- */

static unsigned char function_by(struct sp_str name)
{
    unsigned kind = sp_wake_kind(name);
    return kind & SP_WAKE_BY_TIMER ? BY_TIMER : kind ? BY_UNKNOWN : BY_THREAD;
}

static enum by ended_by(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    bool open = i->flags & (SP_INTERVAL_OPEN | SP_INTERVAL_NO_WAKE | SP_INTERVAL_AT_MOST);
    if (open || i->waker == SP_NONE)
        return BY_UNKNOWN;
    bool thread = x->v->threads.v[i->waker].tid != 0;
    if (i->waker_stack == SP_NONE || i->waker_stack >= x->p->stacks.n)
        return thread ? BY_THREAD : BY_UNKNOWN;
    const uint32_t *frames = sp_stack_frames(x->p, i->waker_stack);
    enum by by = thread ? BY_THREAD : BY_UNKNOWN;
    for (uint32_t k = 0; k < x->p->stacks.v[i->waker_stack].n; k++) {
        unsigned char is = x->function[x->p->frames.v[frames[k]].function];
        if (is == BY_TIMER)
            return BY_TIMER;
        if (is == BY_UNKNOWN)
            by = BY_UNKNOWN;
    }
    return by;
}

/* ---- who serves whom ---- */

struct ask {
    uint32_t by, of; /* threads */
    int64_t at;      /* first */
};

struct asks {
    SP_VEC(struct ask) v;
    struct sp_map map;
};

static struct ask *find_ask(const struct asks *x, uint32_t by, uint32_t of)
{
    struct sp_probe at = sp_map_probe(&x->map, sp_hash_mix(by, of));
    for (uint32_t i; (i = sp_map_next(&x->map, &at)) != SP_MAP_NONE;)
        if (x->v.v[i].by == by && x->v.v[i].of == of)
            return &x->v.v[i];
    return NULL;
}

/* The end of a wait for what another thread says or sends. */
static bool is_told(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    const struct sp_wait_why *w = why_of(x, i);
    return i->state == SP_RUN_BLOCKED && w &&
           (w->reason == SP_WAIT_CONDITION || w->reason == SP_WAIT_POLL || w->reason == SP_WAIT_NETWORK ||
            w->reason == SP_WAIT_PIPE || w->reason == SP_WAIT_FUTEX) &&
           ended_by(x, i) == BY_THREAD;
}

/*
 * Who was told something by a thread, and told that thread something later. A queue that does not get empty
 * hides all but the first time: who sleeps since then may do so in the middle of a request.
 */
static bool find_served(struct sp_wait_wakers *x)
{
    struct asks asks = {.map = {0}};
    bool ok = true;
    x->served = malloc((x->v->threads.n + 1) * sizeof *x->served);
    for (size_t i = 0; x->served && i < x->v->threads.n; i++)
        x->served[i] = INT64_MAX;
    for (size_t k = 0; ok && k < x->v->v.n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        if (!is_told(x, i) || find_ask(&asks, i->waker, i->thread))
            continue;
        struct ask a = {i->waker, i->thread, i->end};
        ok = asks.v.n < SP_MAP_NONE - 1 && sp_vec_push(&asks.v, a) &&
             sp_map_add(&asks.map, sp_hash_mix(a.by, a.of), (uint32_t)asks.v.n - 1);
    }
    for (size_t k = 0; ok && x->served && k < x->v->v.n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        const struct ask *a = is_told(x, i) ? find_ask(&asks, i->thread, i->waker) : NULL;
        if (a && a->at < i->end && a->at < x->served[i->waker])
            x->served[i->waker] = a->at;
    }
    sp_vec_free(&asks.v);
    sp_map_free(&asks.map);
    return ok && x->served;
}

/* ---- one wait ---- */

/* The waiter woke `by` after its last long wait, and before this one was over. */
static bool was_asked(const struct sp_wait_wakers *x, size_t first, const struct sp_interval *last,
                      const struct sp_interval_thread *by)
{
    const struct sp_interval *v = x->v->v.v;
    int64_t from = v[first].start, length = last->end - from;
    for (size_t k = first, n = 0; k > x->v->threads.v[last->thread].first && n < LOOK_BACK; k--, n++) {
        const struct sp_interval *i = &v[k - 1];
        if (i->state == SP_RUN_BLOCKED && (i->end - i->start) > length / 10)
            break;
        from = i->start;
    }
    size_t to = (size_t)by->first + by->n;
    for (size_t k = first_after(x, by, from), n = 0; k < to && n < LOOK_AT; k++, n++) {
        if (v[k].end >= last->end)
            return false;
        if (v[k].state == SP_RUN_BLOCKED && v[k].waker == last->thread && v[k].end >= from &&
            ended_by(x, &v[k]) == BY_THREAD)
            return true;
    }
    return false;
}

static void add(struct sp_wait_ended *of, const struct sp_wait_ended *share)
{
    of->asked += share->asked;
    of->busy += share->busy;
    of->rest += share->rest;
}

static bool same_place(const struct sp_wait_why *a, const struct sp_wait_why *b)
{
    return a && b && a->function == b->function && a->call == b->call && a->reason == b->reason;
}

/* It waited there itself when it was its turn to be busy: it only handed on what ended its own wait. */
static bool handed_on(const struct sp_wait_wakers *x, const struct sp_interval_thread *by,
                      const struct sp_wait_why *why, int64_t middle)
{
    size_t k = first_after(x, by, middle);
    return k < (size_t)by->first + by->n && x->v->v.v[k].state == SP_RUN_BLOCKED &&
           same_place(why_of(x, &x->v->v.v[k]), why);
}

/* The intervals of the chain are one wait, that `by` ended. */
static void judge(struct sp_wait_wakers *x, enum by how, struct sp_wait_ended *of)
{
    const struct sp_interval *v = x->v->v.v;
    if (!x->chain.n)
        return;
    size_t first = x->chain.v[0];
    const struct sp_interval *last = &v[x->chain.v[x->chain.n - 1]];
    const struct sp_wait_why *why = why_of(x, last);
    bool asked = false, busy = false, rest = how == BY_TIMER;
    if (how == BY_THREAD) {
        const struct sp_interval_thread *by = &x->v->threads.v[last->waker],
                                        *me = &x->v->threads.v[last->thread];
        int64_t length = last->end - v[first].start;
        int64_t did = sum_between(x, by, v[first].start, last->end, BUSY);
        busy = did * 2 > length;
        asked = busy && was_asked(x, first, last, by);
        did += sum_between(x, by, v[first].start, last->end, MAYBE);
        rest = did * 2 <= length && by->pid == me->pid && by->pid != SP_ABSENT &&
               !handed_on(x, by, why, v[first].start + length / 2);
    }
    for (size_t i = 0; i < x->chain.n; i++) {
        const struct sp_interval *o = &v[x->chain.v[i]];
        int64_t ns = o->end - o->start;
        add(&of[o->stack], &(struct sp_wait_ended){.asked = asked ? ns : 0,
                                                   .busy = busy && !asked ? ns : 0,
                                                   .rest = rest ? ns : 0});
    }
    x->chain.n = 0;
}

/* This wait begins where the last one timed out, or ended nobody knows why. */
static bool goes_on(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    const struct sp_interval *last = &x->v->v.v[x->chain.v[x->chain.n - 1]];
    return same_place(why_of(x, last), why_of(x, i)) && i->start - last->end < (last->end - last->start) / 4;
}

static bool is_asked_about(const struct sp_wait_wakers *x, const struct sp_interval *i)
{
    const struct sp_wait_why *w = why_of(x, i);
    return i->state == SP_RUN_BLOCKED && w && w->idle_unsure &&
           (w->reason == SP_WAIT_CONDITION || w->reason == SP_WAIT_POLL);
}

/* ---- who slept meanwhile ---- */

static void add_sleeps(const struct sp_wait_wakers *x, const struct sp_interval *wait,
                       struct sp_wait_ended *of)
{
    const struct sp_interval_thread *by = &x->v->threads.v[wait->waker];
    size_t to = (size_t)by->first + by->n;
    for (size_t k = first_after(x, by, wait->start); k < to; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        const struct sp_wait_why *w = why_of(x, i);
        if (i->start >= wait->end)
            break;
        if (i->state != SP_RUN_BLOCKED || !w || w->reason != SP_WAIT_SLEEP || !w->idle)
            continue;
        of[i->stack].held +=
            (i->end < wait->end ? i->end : wait->end) - (i->start > wait->start ? i->start : wait->start);
    }
}

/* A thread that waits for work is in nobody's way: its waits are not for those who sleep, nor shown to be. */
static void judge_sleeps(const struct sp_wait_wakers *x, size_t number, struct sp_wait_ended *of)
{
    const struct sp_interval *i = &x->v->v.v[number];
    const struct sp_wait_why *w = why_of(x, i);
    if (i->state != SP_RUN_BLOCKED || !w || w->idle || w->reason == SP_WAIT_SLEEP ||
        ended_by(x, i) != BY_THREAD)
        return;
    const struct sp_interval_thread *by = &x->v->threads.v[i->waker];
    if (sp_wait_is_lock(w->reason) || was_asked(x, number, i, by))
        add_sleeps(x, i, of);
}

static bool judge_thread(struct sp_wait_wakers *x, const struct sp_interval_thread *t,
                         struct sp_wait_ended *of)
{
    enum by how = BY_UNKNOWN;
    for (uint32_t k = t->first; k < t->first + t->n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        judge_sleeps(x, k, of);
        if (is_maybe(x, i))
            of[i->stack].maybe += i->end - i->start;
        if (!is_asked_about(x, i))
            continue;
        if (x->chain.n && !goes_on(x, i))
            judge(x, how, of);
        if (!sp_vec_push(&x->chain, k))
            return false;
        how = ended_by(x, i);
        if (how == BY_THREAD)
            judge(x, how, of);
    }
    judge(x, how, of);
    return true;
}

void sp_wait_wakers_free(struct sp_wait_wakers *x)
{
    if (!x)
        return;
    sp_vec_free(&x->chain);
    free(x->sums[BUSY]);
    free(x->sums[MAYBE]);
    free(x->served);
    free(x->function);
    free(x);
}

struct sp_wait_wakers *sp_wait_wakers_new(const struct sp_profile *p, const struct sp_intervals *v,
                                          const struct sp_wait_why *why, size_t n)
{
    struct sp_wait_wakers *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    *x = (struct sp_wait_wakers){.p = p, .v = v, .why = why, .n = n};
    x->function = malloc(p->functions.n + 1);
    for (size_t i = 0; x->function && i < p->functions.n; i++)
        x->function[i] = function_by(sp_pstr(p, p->functions.v[i].name));
    if (x->function && find_served(x))
        return x;
    sp_wait_wakers_free(x);
    return NULL;
}

bool sp_wait_wakers_judge(struct sp_wait_wakers *x, struct sp_wait_ended *of)
{
    bool ok = sum_up(x, BUSY) && sum_up(x, MAYBE);
    for (size_t k = 0; ok && k < x->v->threads.n; k++)
        if (x->v->threads.v[k].tid)
            ok = judge_thread(x, &x->v->threads.v[k], of);
    return ok;
}

static bool ends_by_signal(const struct sp_profile *p, uint32_t stack)
{
    const uint32_t *frames = sp_stack_frames(p, stack);
    for (uint32_t k = 0; k < p->stacks.v[stack].n; k++)
        if (sp_wake_kind(sp_pstr(p, sp_frame_function(p, frames[k])->name)) & SP_WAKE_BY_SIGNAL)
            return true;
    return false;
}

enum sp_wait_end sp_wait_end_of(const struct sp_profile *p, const struct sp_interval *i)
{
    if (i->waker_stack == SP_NONE || i->waker_stack >= p->stacks.n || p->stacks.v[i->waker_stack].n < 2)
        return SP_WAIT_END_UNKNOWN;
    return ends_by_signal(p, i->waker_stack) ? SP_WAIT_END_SIGNAL : SP_WAIT_END_OTHER;
}

bool sp_wait_cut_off(const struct sp_intervals *v, size_t i, enum sp_wait_end how, int64_t over)
{
    const struct sp_interval *o = &v->v.v[i];
    const struct sp_interval_thread *t = &v->threads.v[o->thread];
    int64_t ran = 0;
    if (o->state != SP_RUN_BLOCKED || !t->exited)
        return false;
    for (size_t k = i + 1; k < (size_t)t->first + t->n; k++) {
        const struct sp_interval *after = &v->v.v[k];
        if (after->state == SP_RUN_BLOCKED && after->task != SP_TASK_DEAD)
            return false;
        ran += after->state == SP_RUN_RUNNING ? after->end - after->start : 0;
    }
    if (how != SP_WAIT_END_UNKNOWN)
        return how == SP_WAIT_END_SIGNAL;
    return ran < EXIT_RAN_NS && over <= o->end + EXIT_NS;
}
