/*
 * Which threads are looked at as one program: those of a process; and processes of one thread each, where
 * they share a name, or hand a lock to each other: one wakes another one that waited for a lock in an own
 * function in which it waits for locks itself. Where processes are not recorded, all threads that wait for
 * locks in one own function are one program.
 */
#include "analysis/stall_parts.h"

struct alone {
    uint32_t key, thread; /* key: its name, or an own function in which it waits for locks */
};

struct alones {
    SP_VEC(struct alone) v;
};

static int by_key(const void *va, const void *vb)
{
    const struct alone *a = va, *b = vb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static void sort(struct alones *x)
{
    if (x->v.n)
        qsort(x->v.v, x->v.n, sizeof *x->v.v, by_key);
}

/* The first thread of its group; the way there gets shorter. */
static uint32_t leader(struct stall_work *w, uint32_t thread)
{
    while (w->group[thread] != thread) {
        w->group[thread] = w->group[w->group[thread]];
        thread = w->group[thread];
    }
    return thread;
}

static void join(struct stall_work *w, uint32_t a, uint32_t b, enum stall_joined how)
{
    uint32_t x = leader(w, a), y = leader(w, b);
    w->group[x > y ? x : y] = x > y ? y : x;
    w->joined[a] |= (unsigned char)how;
    w->joined[b] |= (unsigned char)how;
}

/* Threads are ordered by process. */
static bool find_processes(struct stall_work *w, struct alones *alone)
{
    uint32_t n = (uint32_t)w->v->threads.n;
    const struct sp_interval_thread *t = w->v->threads.v;
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && t[i].tid && t[k].tid && t[k].pid == t[i].pid && t[i].pid != SP_ABSENT;)
            k++;
        for (uint32_t m = i; m < k; m++)
            w->group[m] = i;
        struct alone a = {t[i].comm, i};
        if (k == i + 1 && t[i].tid && !sp_vec_push(&alone->v, a))
            return false;
    }
    sort(alone);
    return true;
}

/* An own function in which it waits for a lock; SP_NONE. */
static uint32_t lock_place(const struct stall_work *w, const struct sp_interval *i)
{
    const struct sp_wait_why *why = stall_why(w, i);
    return i->state == SP_RUN_BLOCKED && sp_wait_is_lock(why->reason) ? why->function : SP_NONE;
}

/* Of each thread that is alone the places at which it waits for locks. */
static bool find_places(const struct stall_work *w, const struct alones *alone, struct alones *out)
{
    for (size_t k = 0; k < alone->v.n; k++) {
        const struct sp_interval_thread *t = &w->v->threads.v[alone->v.v[k].thread];
        uint32_t last = SP_NONE;
        for (uint32_t i = t->first; i < t->first + t->n; i++) {
            struct alone a = {lock_place(w, &w->v->v.v[i]), alone->v.v[k].thread};
            if (a.key != SP_NONE && a.key != last && !sp_vec_push(&out->v, a))
                return false;
            last = a.key == SP_NONE ? last : a.key;
        }
    }
    sort(out);
    return true;
}

static bool waits_at(const struct alones *places, uint32_t function, uint32_t thread)
{
    struct alone key = {function, thread};
    return places->v.n && bsearch(&key, places->v.v, places->v.n, sizeof key, by_key);
}

static void join_by_locks(struct stall_work *w, const struct alones *alone, const struct alones *places)
{
    const struct sp_interval_thread *t = w->v->threads.v;
    for (size_t k = 0; k + 1 < places->v.n; k++) {
        const struct alone *a = &places->v.v[k];
        if (a[0].key == a[1].key && t[a[0].thread].pid == SP_ABSENT && t[a[1].thread].pid == SP_ABSENT)
            join(w, a[0].thread, a[1].thread, STALL_JOINED_BY_LOCK);
    }
    for (size_t k = 0; k < alone->v.n; k++) {
        uint32_t thread = alone->v.v[k].thread;
        for (uint32_t i = t[thread].first; i < t[thread].first + t[thread].n; i++) {
            enum sp_stall_wakes how;
            uint32_t place = lock_place(w, &w->v->v.v[i]);
            uint32_t waker = place == SP_NONE ? SP_NONE : stall_waker(w, &w->v->v.v[i], &how);
            if (waker != SP_NONE && waits_at(places, place, waker))
                join(w, thread, waker, STALL_JOINED_BY_LOCK);
        }
    }
}

bool stall_find_groups(struct stall_work *w)
{
    uint32_t n = (uint32_t)w->v->threads.n;
    struct alones alone = {0}, places = {0};
    bool ok = find_processes(w, &alone) && find_places(w, &alone, &places);
    for (size_t k = 0; ok && k + 1 < alone.v.n; k++)
        if (alone.v.v[k].key == alone.v.v[k + 1].key)
            join(w, alone.v.v[k].thread, alone.v.v[k + 1].thread, STALL_JOINED_BY_NAME);
    if (ok)
        join_by_locks(w, &alone, &places);
    for (uint32_t t = 0; ok && t < n; t++) {
        w->group[t] = leader(w, t);
        w->joined[w->group[t]] |= w->joined[t];
    }
    for (uint32_t t = 0; ok && t < n; t++)
        w->joined[t] = w->joined[w->group[t]];
    sp_vec_free(&alone.v);
    sp_vec_free(&places.v);
    return ok;
}
