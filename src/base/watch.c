#include "base/watch.h"

#include <stdio.h>
#include <string.h>
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
    unsigned ms = w->asked.every_ms ? w->asked.every_ms : USUAL_MS;
    return ms == SP_WATCH_ALL ? 0 : (uint64_t)ms * 1000000u;
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

spaa_status sp_watch_end(struct sp_watch *w, struct sp_diags *d)
{
    if (d->watch == w)
        d->watch = NULL;
    pthread_mutex_destroy(&w->lock);
    if (!w->left)
        return SPAA_OK;
    sp_emit(d, SP_I329, SP_AT_NOTHING, "while %s%s%s", w->now.what, *w->name ? " " : "", w->name);
    return SPAA_ERR_CANCELLED;
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

/* Under the lock: what is told next. What was told of the same work is not taken back. */
static void watch_note(struct sp_watch *w, const char *what, const char *name, const char *unit,
                       uint64_t done, uint64_t whole)
{
    char cut[sizeof w->name];
    snprintf(cut, sizeof cut, "%s", name ? name : "");
    bool same = strcmp(w->now.what, what) == 0 && strcmp(w->name, cut) == 0;
    if (same && w->now.whole == whole && done < w->now.done)
        done = w->now.done;
    memcpy(w->name, cut, sizeof cut);
    w->now = (struct spaa_progress){sizeof w->now, what, w->name, unit, done < whole || !whole ? done : whole,
                                    whole};
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
    const char *only = w ? w->only : NULL;
    if (!w || (only && strcmp(only, what) != 0))
        return sp_cancelled(d);
    if (!w->left && watch_due(w)) {
        pthread_mutex_lock(&w->lock);
        watch_note(w, what, name, unit, done, whole);
        watch_call(w);
        pthread_mutex_unlock(&w->lock);
    }
    return w->left ? SPAA_ERR_CANCELLED : SPAA_OK;
}

void sp_progress_only(const struct sp_diags *d, const char *what)
{
    if (d->watch)
        d->watch->only = what;
}
