#include "base/watch.h"

#include <stdio.h>
#include <time.h>

enum { USUAL_MS = 100 };

static uint64_t watch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t watch_step(const struct sp_watch *w)
{
    return (uint64_t)(w->asked.every_ms ? w->asked.every_ms : USUAL_MS) * 1000000u;
}

void sp_watch_begin(struct sp_watch *w, const struct spaa_watch *asked, struct sp_diags *d)
{
    *w = (struct sp_watch){
        .now = {.size = sizeof w->now, .what = "reading", .unit = "bytes", .name = w->name}};
    pthread_mutex_init(&w->lock, NULL);
    if (!asked || !asked->progress)
        return;
    w->asked = *asked;
    w->next_ns = watch_now() + watch_step(w);
    d->watch = w;
}

void sp_watch_end(struct sp_watch *w, struct sp_diags *d)
{
    if (d->watch == w)
        d->watch = NULL;
    pthread_mutex_destroy(&w->lock);
}

/* Is it time again, and is it this thread's turn? */
static bool watch_due(struct sp_watch *w)
{
    uint64_t now = watch_now(), next = atomic_load_explicit(&w->next_ns, memory_order_relaxed);
    return now >= next && atomic_compare_exchange_strong(&w->next_ns, &next, now + watch_step(w));
}

/* Under the lock. */
static void watch_call(struct sp_watch *w)
{
    if (!w->left && w->asked.progress(w->asked.arg, &w->now))
        w->left = true;
}

spaa_status sp_cancelled(const struct sp_diags *d)
{
    struct sp_watch *w = d->watch;
    if (!w)
        return SPAA_OK;
    if (!w->left && watch_due(w)) {
        pthread_mutex_lock(&w->lock);
        watch_call(w);
        pthread_mutex_unlock(&w->lock);
    }
    return w->left ? SPAA_ERR_CANCELLED : SPAA_OK;
}

spaa_status sp_progress(const struct sp_diags *d, const char *what, const char *name, const char *unit,
                        uint64_t done, uint64_t whole)
{
    struct sp_watch *w = d->watch;
    if (!w)
        return SPAA_OK;
    if (!w->left && watch_due(w)) {
        pthread_mutex_lock(&w->lock);
        snprintf(w->name, sizeof w->name, "%s", name ? name : "");
        w->now = (struct spaa_progress){
            sizeof w->now, what, w->name, unit, done < whole || !whole ? done : whole, whole};
        watch_call(w);
        pthread_mutex_unlock(&w->lock);
    }
    return w->left ? SPAA_ERR_CANCELLED : SPAA_OK;
}
