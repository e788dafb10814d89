/*
 * Which waits chains follow: of each thread the one for whom it waited most, in whatever words; and rings of
 * waits that no chain follows, since each of their threads, or some, waited more for others.
 */
#include "analysis/waits.h"

#include "model/stacks.h"

#include <stdlib.h>

/* ---- the heaviest ---- */

static int64_t ways_sum(int64_t a, int64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

/* The weight of a wait with others for the same holder; `sums`: by holder, of the thread at hand. */
static int64_t ways_weight(const struct sp_wait *x, const int64_t *sums)
{
    return x->holder == SP_NONE ? x->weight : sums[x->holder];
}

/* Of what weighs as much, what is no server's wait for messages. */
static void ways_choose(struct sp_waits *w, struct sp_wait_thread *t, int64_t *sums)
{
    t->heaviest = t->first;
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        const struct sp_wait *x = &w->waits.v[i], *best = &w->waits.v[t->heaviest];
        int64_t weight = ways_weight(x, sums), most = ways_weight(best, sums);
        if (weight > most || (weight == most && best->receive && !x->receive))
            t->heaviest = i;
    }
    const struct sp_wait *best = &w->waits.v[t->heaviest];
    int64_t most = ways_weight(best, sums);
    if (best->holder != SP_NONE)
        sums[best->holder] = 0; /* each holder once */
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        const struct sp_wait *x = &w->waits.v[i];
        if (i == t->heaviest || x->receive || ways_weight(x, sums) != most || !most)
            continue;
        t->equal_wait = t->equals++ ? t->equal_wait : i;
        if (x->holder != SP_NONE)
            sums[x->holder] = 0;
    }
}

bool sp_waits_find_heaviest(struct sp_waits *w)
{
    int64_t *sums = calloc(w->threads.n + 1, sizeof *sums);
    for (uint32_t i = 0; sums && i < w->threads.n; i++) {
        struct sp_wait_thread *t = &w->threads.v[i];
        for (uint32_t k = t->first; k < t->first + t->n; k++)
            if (w->waits.v[k].holder != SP_NONE)
                sums[w->waits.v[k].holder] = ways_sum(sums[w->waits.v[k].holder], w->waits.v[k].weight);
        if (t->n)
            ways_choose(w, t, sums);
        for (uint32_t k = t->first; k < t->first + t->n; k++)
            if (w->waits.v[k].holder != SP_NONE)
                sums[w->waits.v[k].holder] = 0;
    }
    free(sums);
    return sums;
}

/* The wait that a chain follows from a thread; SP_NONE: it waits for nothing that is named. */
uint32_t sp_waits_followed(const struct sp_waits *w, uint32_t thread)
{
    const struct sp_wait_thread *t = &w->threads.v[thread];
    return t->stuck != SP_NONE ? t->stuck : t->n ? t->heaviest : SP_NONE;
}

/* ---- rings that no chain follows ---- */

struct ways_rings {
    struct sp_waits *w;
    unsigned char *said; /* by wait: a chain goes around through it, or through another for the same holder */
    uint32_t *from;      /* by thread: the wait that the search came through; SP_NONE */
    uint32_t *queue;
    size_t left; /* steps of searches */
};

static bool ways_leads_on(const struct sp_wait *x)
{
    return x->holder != SP_NONE && !x->receive && x->weight > 0;
}

static void ways_mark(struct ways_rings *r, uint32_t wait)
{
    const struct sp_wait_thread *t = &r->w->threads.v[r->w->waits.v[wait].waiter];
    for (uint32_t i = t->first; i < t->first + t->n; i++)
        if (sp_waits_alike(r->w, i, wait))
            r->said[i] = 1;
}

/* The shortest way from a thread to another, heaviest waits first; false: there is none. */
static bool ways_search(struct ways_rings *r, uint32_t from, uint32_t to)
{
    const struct sp_waits *w = r->w;
    size_t n = 0;
    for (size_t i = 0; i < w->threads.n; i++)
        r->from[i] = SP_NONE;
    r->queue[n++] = from;
    for (size_t i = 0; i < n && r->from[to] == SP_NONE && from != to; i++) {
        const struct sp_wait_thread *t = &w->threads.v[r->queue[i]];
        for (uint32_t k = t->first; k < t->first + t->n; k++) {
            const struct sp_wait *x = &w->waits.v[k];
            if (!ways_leads_on(x) || x->holder == from || r->from[x->holder] != SP_NONE)
                continue;
            r->from[x->holder] = k;
            r->queue[n++] = x->holder;
        }
    }
    r->left -= n + w->threads.n < r->left ? n + w->threads.n : r->left;
    return from == to || r->from[to] != SP_NONE;
}

/* The ring of a wait and of the way back from its holder. */
static bool ways_add_ring(struct ways_rings *r, uint32_t wait)
{
    struct sp_waits *w = r->w;
    const struct sp_wait *x = &w->waits.v[wait];
    struct sp_wait_chain c = {.first = (uint32_t)w->steps.n, .cycle = 0, .beside = true};
    bool ok = sp_vec_push(&w->steps, wait);
    for (uint32_t t = x->waiter; t != x->holder; t = w->waits.v[r->from[t]].waiter)
        ok = ok && sp_vec_push(&w->steps, r->from[t]);
    c.n = (uint32_t)w->steps.n - c.first;
    if (ok) /* it was walked backwards */
        sp_turn_path(w->steps.v + c.first + 1, c.n - 1);
    for (uint32_t i = 0; ok && i < c.n; i++)
        ways_mark(r, w->steps.v[c.first + i]);
    return ok && sp_waits_judge(w, &c) && sp_vec_push(&w->chains, c);
}

bool sp_waits_find_rings(struct sp_waits *w)
{
    enum { RINGS = 64, STEPS = 50000000 };
    size_t rings = 0;
    struct ways_rings r = {.w = w,
                           .said = calloc(w->waits.n + 1, 1),
                           .from = malloc((w->threads.n + 1) * sizeof *r.from),
                           .queue = malloc((w->threads.n + 1) * sizeof *r.queue),
                           .left = STEPS};
    bool ok = r.said && r.from && r.queue;
    for (size_t i = 0; ok && i < w->chains.n; i++) {
        const struct sp_wait_chain *c = &w->chains.v[i];
        for (uint32_t k = c->cycle == SP_NONE ? c->n : c->cycle; k < c->n; k++)
            ways_mark(&r, w->steps.v[c->first + k]);
    }
    for (size_t i = 0; ok && i < w->order.n && rings < RINGS; i++) {
        const struct sp_wait_thread *t = &w->threads.v[w->order.v[i]];
        for (uint32_t k = t->first; ok && k < t->first + t->n && rings < RINGS && r.left; k++) {
            const struct sp_wait *x = &w->waits.v[k];
            if (r.said[k] || !ways_leads_on(x) || !ways_search(&r, x->holder, x->waiter))
                continue;
            ok = ways_add_ring(&r, k);
            rings++;
        }
    }
    free(r.said);
    free(r.from);
    free(r.queue);
    return ok;
}
