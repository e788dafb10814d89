#include "analysis/waiters.h"

#include "base/hash.h"

#include <stdlib.h>

struct builder {
    struct sp_waiters out;
    struct sp_map list, waits, chains; /* by what makes two of them one */
};

static uint32_t waiters_pool_of(const struct sp_waiters *x, uint32_t thread)
{
    return x->pools->by_thread[x->w->threads.v[thread].context];
}

static void waiters_add(int64_t *sum, int64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = INT64_MAX;
}

/* ---- waiters ---- */

static bool stand_alike(const struct sp_waits *w, uint32_t a, uint32_t b)
{
    const struct sp_wait_thread *x = &w->threads.v[a], *y = &w->threads.v[b];
    return x->depth == y->depth && x->cyclic == y->cyclic && x->frontmost == y->frontmost;
}

/* SP_NONE: out of memory. */
static uint32_t waiter_of(struct builder *b, uint32_t thread)
{
    struct sp_waiters *o = &b->out;
    uint32_t pool = waiters_pool_of(o, thread);
    uint64_t hash = sp_hash_mix(pool, o->w->threads.v[thread].depth);
    struct sp_probe at = sp_map_probe(&b->list, hash);
    for (uint32_t i; pool != SP_NONE && (i = sp_map_next(&b->list, &at)) != SP_MAP_NONE;)
        if (o->list.v[i].pool == pool && stand_alike(o->w, o->list.v[i].thread, thread))
            return i;
    uint32_t n = (uint32_t)o->list.n;
    struct sp_waiter fresh = {.thread = thread, .pool = pool};
    return sp_map_add(&b->list, hash, n) && sp_vec_push(&o->list, fresh) ? n : SP_NONE;
}

static bool same_wait(const struct sp_wait *a, const struct sp_wait *b)
{
    return a->on == b->on && a->state == b->state && a->holder_pid == b->holder_pid &&
           a->holder_tid == b->holder_tid && a->holder_name == b->holder_name;
}

static bool add_wait(struct builder *b, uint32_t waiter, uint32_t number)
{
    struct sp_waiters *o = &b->out;
    const struct sp_wait *x = &o->w->waits.v[number];
    uint64_t hash = sp_hash_mix((uint64_t)waiter << 32 | x->on, (uint64_t)x->holder_tid);
    struct sp_probe at = sp_map_probe(&b->waits, hash);
    uint32_t found = SP_NONE;
    for (uint32_t i; found == SP_NONE && (i = sp_map_next(&b->waits, &at)) != SP_MAP_NONE;)
        if (o->waits.v[i].waiter == waiter && same_wait(&o->w->waits.v[o->waits.v[i].wait], x))
            found = i;
    bool joins = found != SP_NONE && o->list.v[waiter].pool != SP_NONE;
    if (!joins) {
        struct sp_waiter_wait fresh = {.wait = number, .waiter = waiter, .last = SP_NONE};
        found = (uint32_t)o->waits.n;
        if (!sp_map_add(&b->waits, hash, found) || !sp_vec_push(&o->waits, fresh))
            return false;
    }
    waiters_add(&o->waits.v[found].weight, x->weight);
    if (o->waits.v[found].last != x->waiter)
        waiters_add(&o->waits.v[found].of, o->w->threads.v[x->waiter].weight);
    o->waits.v[found].last = x->waiter;
    return true;
}

static bool waiters_add_thread(struct builder *b, uint32_t thread)
{
    const struct sp_wait_thread *t = &b->out.w->threads.v[thread];
    uint32_t waiter = waiter_of(b, thread);
    if (waiter == SP_NONE)
        return false;
    struct sp_waiter *x = &b->out.list.v[waiter];
    x->threads++;
    waiters_add(&x->weight, t->weight);
    waiters_add(&x->waiting, t->waiting);
    bool ok = true;
    for (uint32_t k = 0; ok && k < t->n; k++)
        ok = add_wait(b, waiter, t->first + k);
    return ok;
}

/* As single threads are: see waits.h. */
static int cmp_waiter(const void *va, const void *vb, void *arg)
{
    const struct sp_waits *w = arg;
    const struct sp_waiter *a = va, *b = vb;
    const struct sp_wait_thread *x = &w->threads.v[a->thread], *y = &w->threads.v[b->thread];
    if (x->frontmost != y->frontmost)
        return x->frontmost ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    if (a->waiting != b->waiting)
        return a->waiting > b->waiting ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static int cmp_wait(const void *va, const void *vb)
{
    const struct sp_waiter_wait *a = va, *b = vb;
    if (a->waiter != b->waiter)
        return a->waiter < b->waiter ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

static void waiters_put_in_order(struct sp_waiters *o)
{
    if (o->waits.n)
        qsort(o->waits.v, o->waits.n, sizeof *o->waits.v, cmp_wait);
    for (size_t i = 0; i < o->waits.n; i++) {
        struct sp_waiter *x = &o->list.v[o->waits.v[i].waiter];
        if (!x->n++)
            x->first = (uint32_t)i;
    }
    if (o->list.n)
        qsort_r(o->list.v, o->list.n, sizeof *o->list.v, cmp_waiter, (void *)(uintptr_t)o->w);
}

/* ---- chains ---- */

static const struct sp_wait *waiters_step(const struct sp_waits *w, const struct sp_wait_chain *c, uint32_t k)
{
    return &w->waits.v[w->steps.v[c->first + k]];
}

/* They differ in the thread of a pool that they begin at, and go on alike. */
static bool go_on_alike(const struct sp_waits *w, const struct sp_wait_chain *a,
                        const struct sp_wait_chain *b)
{
    if (a->n != b->n || a->cycle != b->cycle || !same_wait(waiters_step(w, a, 0), waiters_step(w, b, 0)))
        return false;
    return a->n < 2 ||
           !memcmp(w->steps.v + a->first + 1, w->steps.v + b->first + 1, (a->n - 1) * sizeof *w->steps.v);
}

static bool waiters_add_chain(struct builder *b, uint32_t number)
{
    struct sp_waiters *o = &b->out;
    const struct sp_waits *w = o->w;
    const struct sp_wait_chain *c = &w->chains.v[number];
    const struct sp_wait *first = waiters_step(w, c, 0);
    uint32_t pool = c->cycle == 0 ? SP_NONE : waiters_pool_of(o, first->waiter); /* a ring begins at none */
    uint64_t hash = sp_hash_mix((uint64_t)pool << 32 | first->on, (uint64_t)first->holder_tid ^ c->n);
    struct sp_probe at = sp_map_probe(&b->chains, hash);
    for (uint32_t i; pool != SP_NONE && (i = sp_map_next(&b->chains, &at)) != SP_MAP_NONE;) {
        struct sp_waiter_chain *x = &o->chains.v[i];
        if (x->pool == pool && go_on_alike(w, &w->chains.v[x->chain], c)) {
            x->threads++;
            waiters_add(&x->weight, first->weight);
            return true;
        }
    }
    struct sp_waiter_chain fresh = {.chain = number, .pool = pool, .threads = 1, .weight = first->weight};
    return sp_map_add(&b->chains, hash, (uint32_t)o->chains.n) && sp_vec_push(&o->chains, fresh);
}

spaa_status sp_waiters_of(const struct sp_waits *w, const struct sp_pools *pools, struct sp_diags *d,
                          struct sp_waiters *out)
{
    struct builder b = {.out = {.w = w, .pools = pools}};
    bool ok = true;
    for (size_t i = 0; ok && i < w->order.n; i++)
        ok = waiters_add_thread(&b, w->order.v[i]);
    for (uint32_t i = 0; ok && i < w->chains.n; i++)
        ok = waiters_add_chain(&b, i);
    if (ok)
        waiters_put_in_order(&b.out);
    sp_map_free(&b.list);
    sp_map_free(&b.waits);
    sp_map_free(&b.chains);
    if (!ok) {
        sp_waiters_free(&b.out);
        return sp_nomem(d);
    }
    *out = b.out;
    return SPAA_OK;
}

void sp_waiters_free(struct sp_waiters *x)
{
    sp_vec_free(&x->list);
    sp_vec_free(&x->waits);
    sp_vec_free(&x->chains);
}
