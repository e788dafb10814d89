/*
 * Whether threads that wait for each other stand still for good.
 *
 * Two threads that take two locks over and over are seen to wait for each other, too, in some of their
 * samples: a ring of waits alone proves nothing. It is a deadlock where its waits are there at once and do
 * not end:
 *
 *   each is in all samples of its thread, and the threads were seen at the same time; or
 *   steps are known (step_ranges.h), and from some step on all of them are there until the end, for long
 *   enough that it is no chance; or
 *   the profiler itself says so, and nothing that came later contradicts it.
 *
 * One wait has one stack: where those of a thread that waits for the same holder differ, it went on in
 * between (waits_ended.c), and only the last of its waits can last.
 *
 * All of them must be for something that one named thread holds: a lock, a turnstile, a queue that is worked
 * off. What follows from a process alone (its main thread was meant, maybe) is a cycle, and no more.
 */
#include "analysis/waits.h"

#include <stdlib.h>

enum { DEADLOCK_STEPS = 10, DEADLOCK_PART = 10 /* at least a tenth of all steps */ };

static bool deadlock_can_be(const struct sp_wait *x)
{
    return x->lock && !x->by_process && x->holder != SP_NONE;
}

/* What a thread was seen to wait for one holder, in whatever words. */
static int64_t deadlock_weight(const struct sp_waits *w, const struct sp_wait_thread *t, uint32_t holder)
{
    int64_t sum = 0;
    for (uint32_t i = t->first; i < t->first + t->n; i++)
        if (deadlock_can_be(&w->waits.v[i]) && w->waits.v[i].holder == holder &&
            __builtin_add_overflow(sum, w->waits.v[i].all, &sum))
            return INT64_MAX;
    return sum;
}

static bool deadlock_is_long(const struct sp_waits *w, int64_t from, int64_t to)
{
    return to - from + 1 >= DEADLOCK_STEPS && to - from + 1 >= w->ranges.last / DEADLOCK_PART;
}

/* A wait of the thread that lasts until its end, long enough that it is no chance, or as the profiler says.
 */
static void deadlock_look_at(struct sp_waits *w, uint32_t thread, uint32_t wait)
{
    struct sp_wait_thread *t = &w->threads.v[thread];
    uint32_t holder = w->waits.v[wait].holder;
    if (deadlock_weight(w, t, holder) == t->all && sp_waits_may_be_one(w, wait)) {
        t->stuck = wait;
        t->stuck_all = true;
        t->since = t->begin;
        return;
    }
    struct sp_step_range end = sp_waits_last_of(w, thread, holder);
    if (end.count && end.to == t->last &&
        (w->waits.v[wait].reported || deadlock_is_long(w, end.from, end.to))) {
        t->stuck = wait;
        t->since = end.from;
    }
}

static uint32_t deadlock_next(const struct sp_waits *w, uint32_t thread)
{
    uint32_t stuck = thread == SP_NONE ? SP_NONE : w->threads.v[thread].stuck;
    return stuck == SP_NONE ? SP_NONE : w->waits.v[stuck].holder;
}

/*
 * Which threads lead into a ring of waits that last until the end. From each at most one way leads on, and it
 * is walked once: what it meets that was walked before tells the rest.
 */
static void deadlock_mark_rings(const struct sp_waits *w, unsigned char *mark)
{
    enum { NEW, ON_THE_WAY, NO_RING, RING };
    for (uint32_t i = 0; i < w->threads.n; i++) {
        uint32_t t = i;
        for (; t != SP_NONE && mark[t] == NEW; t = deadlock_next(w, t))
            mark[t] = ON_THE_WAY;
        unsigned char found = t != SP_NONE && mark[t] != NO_RING ? RING : NO_RING;
        for (t = i; t != SP_NONE && mark[t] == ON_THE_WAY; t = deadlock_next(w, t))
            mark[t] = found;
    }
    for (uint32_t i = 0; i < w->threads.n; i++)
        mark[i] = mark[i] == RING;
}

bool sp_waits_find_stuck(struct sp_waits *w)
{
    for (uint32_t i = 0; i < w->threads.n; i++) {
        struct sp_wait_thread *t = &w->threads.v[i];
        for (uint32_t k = t->first; t->stuck == SP_NONE && k < t->first + t->n; k++)
            if (deadlock_can_be(&w->waits.v[k]))
                deadlock_look_at(w, i, k);
    }
    /* Where it does not lead into a ring of such waits, what a thread did last is no better than the rest. */
    unsigned char *mark = calloc(w->threads.n + 1, 1);
    if (mark)
        deadlock_mark_rings(w, mark);
    for (uint32_t i = 0; mark && i < w->threads.n; i++)
        if (!mark[i] && !w->threads.v[i].stuck_all)
            w->threads.v[i].stuck = SP_NONE;
    free(mark);
    return mark;
}

bool sp_waits_stays(const struct sp_waits *w, uint32_t thread)
{
    const struct sp_wait_thread *t = &w->threads.v[thread];
    return t->stuck != SP_NONE &&
           (t->stuck_all || (t->since != SP_ABSENT && deadlock_is_long(w, t->since, t->last)));
}

static const struct sp_wait *deadlock_step(const struct sp_waits *w, const struct sp_wait_chain *c,
                                           uint32_t i)
{
    return &w->waits.v[w->steps.v[c->first + i]];
}

/*
 * What counts tell of a ring where single steps are not known: of the steps in which all of its threads were
 * there, each thread can have done something else in at most as many as it did not wait so.
 */
static void deadlock_by_counts(const struct sp_waits *w, struct sp_wait_chain *c)
{
    int64_t begin = SP_ABSENT, end = INT64_MAX, most = INT64_MAX, apart = 0;
    for (uint32_t i = c->cycle; i < c->n; i++) {
        uint32_t step = w->steps.v[c->first + i];
        const struct sp_wait_thread *t = &w->threads.v[w->waits.v[step].waiter];
        int64_t so = sp_waits_weight(w, step), others;
        if (!t->counted || t->begin == SP_ABSENT ||
            __builtin_sub_overflow(t->last - t->begin + 1, so, &others) ||
            __builtin_add_overflow(apart, others > 0 ? others : 0, &apart))
            return;
        begin = t->begin > begin ? t->begin : begin;
        end = t->last < end ? t->last : end;
        most = so < most ? so : most;
    }
    int64_t steps = end - begin + 1, least = steps - apart;
    most = steps < most ? steps : most;
    c->at_least = least > 0 ? least : 0;
    if (steps <= 0 || c->at_least == most)
        c->at_once = steps <= 0 ? 0 : most;
    if (c->at_once > 0 && c->at_once == steps) {
        c->from = begin;
        c->to = end;
    }
}

/* All that the threads waited so is in steps that are known. */
static bool deadlock_is_placed(const struct sp_waits *w, uint32_t step, const struct sp_wait_steps *steps)
{
    int64_t sum = 0;
    for (size_t i = 0; i < steps->v.n; i++)
        sum += steps->v.v[i].count;
    return sum >= sp_waits_weight(w, step);
}

static bool deadlock_at_once(const struct sp_waits *w, struct sp_wait_chain *c)
{
    struct sp_wait_steps all = {0}, one;
    bool ok = true, known = true, placed = true;
    for (uint32_t i = c->cycle; ok && known && i < c->n; i++) {
        const struct sp_wait *x = deadlock_step(w, c, i);
        struct sp_wait_steps *to = i == c->cycle ? &all : &one;
        known = w->threads.v[x->waiter].nsteps;
        if (!known || !(ok = sp_wait_steps_of(w, x->waiter, x->holder, to)))
            break;
        placed = placed && deadlock_is_placed(w, w->steps.v[c->first + i], to);
        if (i > c->cycle) {
            ok = sp_wait_steps_cut(&all, &one);
            sp_vec_free(&one.v);
        }
    }
    if (w->counts_samples)
        deadlock_by_counts(w, c);
    if (ok && known) {
        int64_t sum = 0, most = 0;
        for (size_t i = 0; i < all.v.n; i++) {
            sum += all.v.v[i].count;
            most += all.v.v[i].to - all.v.v[i].from + 1;
        }
        c->at_least = sum > c->at_least ? sum : c->at_least;
        c->at_once = placed && sum == most ? sum : c->at_once;
    }
    if (ok && known && (placed || c->at_once != SP_ABSENT)) {
        size_t run = all.v.n; /* the last that has no step between in which one of them did something else */
        while (run > 1 && all.v.v[run - 2].to + 1 == all.v.v[run - 1].from)
            run--;
        c->from = run ? all.v.v[run - 1].from : SP_ABSENT;
        c->to = run ? all.v.v[all.v.n - 1].to : SP_ABSENT;
    }
    sp_vec_free(&all.v);
    return ok;
}

/* What speaks against a deadlock: a thread that waits for good does not go away, and of one whose rows are
 * missing not all is known. */
static void deadlock_doubt(const struct sp_waits *w, struct sp_wait_chain *c)
{
    for (uint32_t i = c->cycle; i < c->n; i++) {
        const struct sp_wait_thread *t = &w->threads.v[deadlock_step(w, c, i)->waiter];
        c->lacks_rows = c->lacks_rows || t->lacks_rows;
        if (sp_waits_is_gone(t))
            c->gone = t->last > c->gone ? t->last : c->gone;
    }
    c->sure = c->sure && c->gone == SP_ABSENT && !c->lacks_rows;
}

/* Of a ring of waits that do not end. */
static enum sp_deadlock deadlock_told(const struct sp_waits *w, const struct sp_wait_chain *c, bool *sure)
{
    int64_t since = SP_ABSENT, end = INT64_MAX, last = SP_ABSENT;
    bool all = true, known = true;
    for (uint32_t i = c->cycle; i < c->n; i++) {
        const struct sp_wait *x = deadlock_step(w, c, i);
        const struct sp_wait_thread *t = &w->threads.v[x->waiter];
        if (!deadlock_can_be(x) || t->stuck == SP_NONE || w->waits.v[t->stuck].holder != x->holder)
            return SP_DEADLOCK_NONE;
        all = all && t->stuck_all;
        known = known && t->since != SP_ABSENT;
        since = t->since > since ? t->since : since;
        end = t->last < end ? t->last : end;
        last = t->last > last ? t->last : last;
        *sure = *sure && t->stuck_all && (x->hops == SP_ABSENT || x->hops == 0) && t->all > 1;
    }
    if (known && (since > end || end + 1 < last)) /* never at once, or one of them went away */
        return SP_DEADLOCK_NONE;
    if (all)
        return SP_DEADLOCK_ALL;
    return deadlock_is_long(w, since, end) ? SP_DEADLOCK_TO_END : SP_DEADLOCK_NONE;
}

/* The profiler calls one of its waits a part of a deadlock, and the thread was not seen to go on from there.
 */
static bool deadlock_reported(const struct sp_waits *w, const struct sp_wait_chain *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct sp_wait *x = deadlock_step(w, c, i);
        const struct sp_wait_thread *t = &w->threads.v[x->waiter];
        if (x->reported && (!t->nsteps || t->stuck != SP_NONE || x->all == t->all))
            return true;
    }
    return false;
}

/* It begins with the last of its waits; these were there at once before, for what had an end. */
static void deadlock_begin(const struct sp_waits *w, struct sp_wait_chain *c)
{
    int64_t end = INT64_MAX, last;
    for (uint32_t i = c->cycle; i < c->n; i++) {
        int64_t since = w->threads.v[deadlock_step(w, c, i)->waiter].since;
        c->from = since > c->from ? since : c->from;
        last = w->threads.v[deadlock_step(w, c, i)->waiter].last;
        end = last < end ? last : end;
    }
    c->to = end;
}

bool sp_waits_judge(struct sp_waits *w, struct sp_wait_chain *c)
{
    bool ring = c->cycle != SP_NONE;
    c->at_once = c->from = c->to = c->gone = SP_ABSENT;
    c->at_least = 0;
    c->ended = false;
    c->sure = ring;
    c->deadlock = ring ? deadlock_told(w, c, &c->sure) : SP_DEADLOCK_NONE;
    if (c->deadlock == SP_DEADLOCK_NONE && deadlock_reported(w, c))
        c->deadlock = SP_DEADLOCK_REPORTED;
    c->sure = c->sure && c->deadlock == SP_DEADLOCK_ALL;
    if (ring && c->deadlock != SP_DEADLOCK_NONE)
        deadlock_doubt(w, c);
    for (uint32_t i = c->cycle; ring && i < c->n; i++)
        c->ended = c->ended || !sp_waits_may_be_one(w, w->steps.v[c->first + i]);
    if (ring && !deadlock_at_once(w, c))
        return false;
    if (c->deadlock == SP_DEADLOCK_TO_END)
        deadlock_begin(w, c);
    return true;
}
