/*
 * Chains of waits: from each thread that no chain comes through, whom it waits for, and that one, until
 * somebody waits for nobody who is named, or it comes back.
 */
#include "analysis/waits.h"

#include <stdlib.h>

/*
 * From each thread at most one way leads on, so chains are walked once: depth of a thread is one more than
 * that of whom it waits for. mark: 0 not seen, 1 on the way, 2 done.
 */
static bool waits_measure(struct sp_waits *w, unsigned char *mark)
{
    SP_VEC(uint32_t) way = {0};
    bool ok = true;
    for (uint32_t start = 0; ok && start < w->threads.n; start++) {
        uint32_t t = start;
        way.n = 0;
        while (ok && t != SP_NONE && !mark[t]) {
            uint32_t x = sp_waits_followed(w, t);
            mark[t] = 1;
            ok = sp_vec_push(&way, t);
            t = x == SP_NONE ? SP_NONE : w->waits.v[x].holder;
        }
        bool cycle = t != SP_NONE && mark[t] == 1;
        uint32_t length = 0;
        for (size_t i = way.n; cycle && i-- > 0;) {
            length++;
            if (way.v[i] == t)
                break;
        }
        for (size_t i = way.n; i-- > 0;) {
            struct sp_wait_thread *x = &w->threads.v[way.v[i]];
            uint32_t wait = sp_waits_followed(w, way.v[i]);
            uint32_t next = wait == SP_NONE ? SP_NONE : w->waits.v[wait].holder;
            if (cycle && way.n - i <= length) {
                x->depth = length;
                x->cyclic = true;
            } else if (wait != SP_NONE) {
                x->depth = 1 + (next == SP_NONE ? 0 : w->threads.v[next].depth);
                x->cyclic = next != SP_NONE && w->threads.v[next].cyclic;
            }
            mark[way.v[i]] = 2;
        }
    }
    sp_vec_free(&way);
    return ok;
}

static uint32_t chain_waiter(const struct sp_waits *w, const struct sp_wait_chain *c, uint32_t k)
{
    return w->waits.v[w->steps.v[c->first + k]].waiter;
}

/* Whether waits from..to of a chain were never there at once, as far as steps are known. */
static bool chain_is_apart(const struct sp_waits *w, const struct sp_wait_chain *c, uint32_t from,
                           uint32_t to, bool *ok)
{
    struct sp_wait_chain part = {.first = c->first + from};
    struct sp_wait_steps steps;
    bool apart = false;
    *ok = *ok && sp_waits_chain_steps(w, &part, to - from + 1, &steps, &apart);
    if (*ok)
        sp_vec_free(&steps.v);
    return *ok && apart;
}

/*
 * A ring holds nobody up whose waits were over when it began: a chain that leads into one ends at the holder
 * that it was at once with. *after: its threads from this place on were at once with the ring, and have
 * chains of their own. Fewer waits are apart less, so both ends are searched by halves.
 */
static bool chain_cut(struct sp_waits *w, struct sp_wait_chain *c, uint32_t *step_of, uint32_t *after)
{
    bool ok = true;
    *after = c->n;
    if (c->cycle == SP_NONE || !c->cycle || !chain_is_apart(w, c, 0, c->cycle, &ok))
        return ok;
    uint32_t keep = 1, begins = 1;
    for (uint32_t hi = c->cycle, mid; ok && keep < hi;) {
        mid = keep + (hi - keep) / 2;
        if (chain_is_apart(w, c, 0, mid, &ok))
            hi = mid;
        else
            keep = mid + 1;
    }
    for (uint32_t hi = c->cycle, mid; ok && begins < hi;) {
        mid = begins + (hi - begins) / 2;
        if (chain_is_apart(w, c, mid, c->cycle, &ok))
            begins = mid + 1;
        else
            hi = mid;
    }
    for (uint32_t k = keep; k < c->n; k++)
        step_of[chain_waiter(w, c, k)] = 0;
    *after = begins < keep ? begins : keep;
    for (uint32_t k = 0; k < *after; k++) {
        struct sp_wait_thread *t = &w->threads.v[chain_waiter(w, c, k)];
        t->depth = keep - k;
        t->cyclic = false;
    }
    w->steps.n = c->first + keep;
    c->n = keep;
    c->cycle = SP_NONE;
    return ok;
}

/* *after: so many of its threads need no chain of their own. */
static bool waits_add_chain(struct sp_waits *w, uint32_t thread, uint32_t *step_of, uint32_t *after)
{
    struct sp_wait_chain c = {.first = (uint32_t)w->steps.n, .cycle = SP_NONE};
    uint32_t t = thread;
    bool ok = true;
    while (ok && t != SP_NONE && sp_waits_followed(w, t) != SP_NONE) {
        if (step_of[t] > c.first) { /* of this chain: 1 + its place in steps */
            c.cycle = step_of[t] - 1 - c.first;
            break;
        }
        ok = sp_vec_push(&w->steps, sp_waits_followed(w, t));
        step_of[t] = (uint32_t)w->steps.n;
        t = w->waits.v[sp_waits_followed(w, t)].holder;
    }
    c.n = (uint32_t)w->steps.n - c.first;
    return ok && chain_cut(w, &c, step_of, after) && sp_waits_judge(w, &c) && sp_vec_push(&w->chains, c);
}

static int waits_by_weight(const void *va, const void *vb, void *arg)
{
    const struct sp_waits *w = arg;
    const struct sp_wait_thread *a = &w->threads.v[*(const uint32_t *)va],
                                *b = &w->threads.v[*(const uint32_t *)vb];
    if (a->frontmost != b->frontmost)
        return a->frontmost ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    if (a->waiting != b->waiting)
        return a->waiting > b->waiting ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Chains begin at threads that no chain comes through; of a cycle that nobody leads into, at its first
 * thread. */
bool sp_waits_find_chains(struct sp_waits *w)
{
    size_t n = w->threads.n + 1;
    unsigned char *mark = calloc(n, 1), *inner = calloc(n, 1), *covered = calloc(n, 1);
    uint32_t *step_of = calloc(n, sizeof *step_of);
    bool ok = mark && inner && covered && step_of && waits_measure(w, mark);
    for (uint32_t t = 0; ok && t < w->threads.n; t++) {
        uint32_t x = sp_waits_followed(w, t);
        if (x == SP_NONE)
            continue;
        if (w->waits.v[x].holder != SP_NONE && w->threads.v[t].asked)
            inner[w->waits.v[x].holder] = 1;
        ok = !w->threads.v[t].asked || sp_vec_push(&w->order, t);
    }
    if (ok && w->order.n)
        qsort_r(w->order.v, w->order.n, sizeof *w->order.v, waits_by_weight, w);
    for (int pass = 0; ok && pass < 2; pass++)
        for (size_t i = 0; ok && i < w->order.n; i++) {
            uint32_t t = w->order.v[i];
            if (covered[t] || (!pass && inner[t] && !w->threads.v[t].frontmost))
                continue;
            uint32_t after;
            ok = waits_add_chain(w, t, step_of, &after);
            for (uint32_t k = 0; ok && k < after; k++)
                covered[chain_waiter(w, &w->chains.v[w->chains.n - 1], k)] = 1;
        }
    free(mark);
    free(inner);
    free(covered);
    free(step_of);
    return ok;
}

static int by_chain(const void *va, const void *vb, void *arg)
{
    const struct sp_wait_chain *a = va, *b = vb;
    const struct sp_waits *w = arg;
    if ((a->deadlock != SP_DEADLOCK_NONE) != (b->deadlock != SP_DEADLOCK_NONE))
        return a->deadlock != SP_DEADLOCK_NONE ? -1 : 1;
    if (a->beside != b->beside)
        return a->beside ? 1 : -1;
    uint32_t x = w->waits.v[w->steps.v[a->first]].waiter, y = w->waits.v[w->steps.v[b->first]].waiter;
    int by = waits_by_weight(&x, &y, arg);
    return by ? by : (a->first > b->first) - (a->first < b->first);
}

void sp_waits_sort_chains(struct sp_waits *w)
{
    if (w->chains.n)
        qsort_r(w->chains.v, w->chains.n, sizeof *w->chains.v, by_chain, w);
}
