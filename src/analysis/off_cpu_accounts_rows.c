/* The rows of the accounts of time off the CPU: who waits, and at which places. */
#include "analysis/off_cpu_accounts_parts.h"

#include "base/hash.h"
#include "model/thread_names.h"

#include <stdlib.h>

/* ---- who ---- */

static uint32_t add_who(struct accounts *x, struct sp_off_cpu_who w)
{
    w.running = x->out.has_intervals && !x->out.only_stacks ? 0 : SP_ABSENT;
    if (x->out.who.n >= SP_NONE - 1 || !sp_vec_push(&x->out.who, w))
        return SP_NONE;
    return (uint32_t)x->out.who.n - 1;
}

uint32_t accounts_who_of_thread(struct accounts *x, int64_t pid, int64_t tid, uint32_t comm)
{
    bool each = tid != SP_ABSENT && (!x->pooled || pid == SP_ABSENT);
    uint64_t key = sp_hash_mix((uint64_t)pid, sp_hash_mix(each ? (uint64_t)tid : 0, comm));
    struct sp_probe at = sp_map_probe(&x->who_map, key);
    for (uint32_t i; (i = sp_map_next(&x->who_map, &at)) != SP_MAP_NONE;) {
        const struct sp_off_cpu_who *w = &x->out.who.v[i];
        if (!w->pool && w->pid == pid && w->comm == comm && (!each || w->tid == tid))
            return i;
    }
    uint32_t made = add_who(x, (struct sp_off_cpu_who){.pid = pid, .tid = tid, .comm = comm});
    return made == SP_NONE || !sp_map_add(&x->who_map, key, made) ? SP_NONE : made;
}

uint32_t accounts_who_of_context(struct accounts *x, uint32_t context)
{
    const struct sp_context *c = &x->p->contexts.v[context];
    const struct sp_pools *pools = &x->wide->pools;
    uint32_t pool = pools->by_thread[context];
    if (pool == SP_NONE)
        return accounts_who_of_thread(x, c->pid, c->tid, sp_context_name(x->p, c));
    if (!x->of_pool[pool]) {
        const struct sp_pool *of = &pools->pools.v[pool];
        struct sp_off_cpu_who w = {.pool = of, .pid = of->pid, .tid = SP_ABSENT, .threads = of->threads};
        uint32_t made = add_who(x, w);
        if (made == SP_NONE)
            return SP_NONE;
        x->of_pool[pool] = made + 1;
    }
    return x->of_pool[pool] - 1;
}

static int by_tid(const void *va, const void *vb)
{
    const struct known *a = va, *b = vb;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->context > b->context) - (a->context < b->context);
}

bool accounts_know_threads(struct accounts *x)
{
    for (size_t i = 0; i < x->wide->rows.n; i++) {
        uint32_t context = x->p->stacks.v[x->wide->rows.v[i].stack].context;
        const struct sp_context *c = &x->p->contexts.v[context];
        struct known k = {c->tid, c->pid, context};
        x->in[context] = 1;
        if (x->known.n && x->known.v[x->known.n - 1].context == context)
            continue;
        if (!sp_vec_push(&x->known, k))
            return false;
    }
    if (x->known.n)
        qsort(x->known.v, x->known.n, sizeof *x->known.v, by_tid);
    return true;
}

const struct known *accounts_known_of(const struct accounts *x, const struct sp_interval_thread *t)
{
    size_t lo = 0, hi = x->known.n;
    struct known want = {t->tid, t->pid, 0};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (by_tid(&x->known.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < x->known.n && x->known.v[lo].tid == t->tid && x->known.v[lo].pid == t->pid)
        return &x->known.v[lo];
    /* Where one of the two does not know the process. */
    if (lo && x->known.v[lo - 1].tid == t->tid && x->known.v[lo - 1].pid == SP_ABSENT)
        return &x->known.v[lo - 1];
    return t->pid == SP_ABSENT && lo < x->known.n && x->known.v[lo].tid == t->tid ? &x->known.v[lo] : NULL;
}

/* ---- places ---- */

static uint32_t line_of(const struct sp_profile *p, uint32_t frame)
{
    return frame == SP_NONE ? SP_STR_NONE : p->frames.v[frame].srcline;
}

uint32_t accounts_place_of(struct accounts *x, uint32_t who, const struct sp_wait_why *why)
{
    struct sp_wait_why w = *why;
    if (w.reason == SP_WAIT_CPU) {
        w.function = w.call = w.frame = SP_NONE;
        w.idle = w.idle_unsure = w.unsure = false;
    }
    uint64_t key = sp_hash_mix(sp_hash_mix(who, w.function),
                               sp_hash_mix(w.call, w.reason * 4u + w.idle * 2u + w.idle_unsure));
    struct sp_probe at = sp_map_probe(&x->place_map, key);
    for (uint32_t i; (i = sp_map_next(&x->place_map, &at)) != SP_MAP_NONE;) {
        struct sp_off_cpu_place *o = &x->out.places.v[i];
        if (o->who == who && o->why.function == w.function && o->why.call == w.call &&
            o->why.reason == w.reason && o->why.idle == w.idle && o->why.idle_unsure == w.idle_unsure) {
            if (o->why.frame != w.frame && line_of(x->p, o->why.frame) != line_of(x->p, w.frame))
                o->why.frame = SP_NONE;
            o->why.unsure |= w.unsure;
            o->why.gap |= w.gap;
            return i;
        }
    }
    struct sp_off_cpu_place made = {.who = who,
                                    .why = w,
                                    .count = SP_ABSENT,
                                    .median = SP_ABSENT,
                                    .p99 = SP_ABSENT,
                                    .longest = SP_ABSENT,
                                    .last = SP_ABSENT};
    if (x->out.places.n >= SP_NONE - 1 || !sp_vec_push(&x->out.places, made) ||
        !sp_map_add(&x->place_map, key, (uint32_t)x->out.places.n - 1))
        return SP_NONE;
    return (uint32_t)x->out.places.n - 1;
}

static void add_to_who(struct sp_off_cpu_who *w, const struct sp_wait_why *why, int64_t ns, bool at_least)
{
    if (why->reason == SP_WAIT_CPU) {
        w->runnable += ns;
    } else if (why->idle && why->idle_unsure) {
        w->maybe_idle += ns;
        w->maybe_idle_at_least |= at_least;
        return;
    } else if (why->idle) {
        w->idle += ns;
        w->idle_at_least |= at_least;
        return;
    } else {
        w->blocked += ns;
    }
    w->by[why->reason] += ns;
    w->unsure[why->reason] += why->unsure && why->reason != SP_WAIT_CPU ? ns : 0;
    w->at_least[why->reason] |= at_least;
}

bool accounts_add_wait(struct accounts *x, uint32_t who, const struct sp_wait_why *why, int64_t ns,
                       bool at_least)
{
    uint32_t place = who == SP_NONE ? SP_NONE : accounts_place_of(x, who, why);
    if (place == SP_NONE)
        return false;
    struct sp_off_cpu_place *at = &x->out.places.v[place];
    at->ns += ns;
    at->at_least |= at_least;
    at->open += at_least;
    x->out.unsure += why->unsure ? ns : 0;
    x->out.has_runnable |= why->reason == SP_WAIT_CPU;
    add_to_who(&x->out.who.v[who], why, ns, at_least);
    add_to_who(&x->out.all, why, ns, at_least);
    return true;
}

bool accounts_is_unseen(const struct accounts *x, const struct sp_wait_why *why)
{
    return why->unseen && x->why->has_frames && why->reason == SP_WAIT_OTHER && !why->idle;
}
