/*
 * Who watches a call of the library (include/spaa/watch.h), and whether it is to be left.
 *
 * It hangs on the diagnostics of the call, which everything that takes long has at hand: of its own, of its
 * input or of its profile. Long loops ask sp_cancelled or sp_leaving once in a while (a few milliseconds of
 * work between two are fine), and those that know how far they are say so with sp_progress, which asks too.
 * Without a watch all are one comparison.
 *
 * Once it was said to leave, every call says so, from any thread: whoever overlooks one meets the next. What
 * gives up because of it may say that it ran out of memory, or that the input ended early: sp_nomem returns
 * SPAA_ERR_CANCELLED then, and no message is kept (base/diag.c). sp_watch_end has the last word.
 */
#ifndef SP_WATCH_H
#define SP_WATCH_H

#include "base/diag.h"
#include "spaa/watch.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SP_WATCH_ALL UINT_MAX /* as spaa_watch.every_ms: hears of every question; for tests */

struct sp_watch {
    struct spaa_watch asked;
    pthread_mutex_t lock; /* one call of the callback at a time */
    _Atomic uint64_t next_ns;
    _Atomic bool left;
    struct spaa_progress now; /* of the last sp_progress that was due: under the lock */
    char name[256];
    const char *_Atomic only; /* sp_progress_only */
};

/* asked: NULL for none. The watch must outlive what is done with d, and with what borrows it from d. */
void sp_watch_begin(struct sp_watch *w, const struct spaa_watch *asked, struct sp_diags *d);
/* SPAA_ERR_CANCELLED where the call was left, which d says then, whatever else became of it; else SPAA_OK. */
spaa_status sp_watch_end(struct sp_watch *w, struct sp_diags *d);

/* SPAA_ERR_CANCELLED where the call is to be left, else SPAA_OK. Any thread. */
spaa_status sp_cancelled(const struct sp_diags *d);
/* The same, and tells how far it is: what and unit are static, name is copied. */
spaa_status sp_progress(const struct sp_diags *d, const char *what, const char *name, const char *unit,
                        uint64_t done, uint64_t whole);
/* Until it is said again, sp_progress tells of this kind of work (static; NULL: any) and only asks of others.
 */
void sp_progress_only(const struct sp_diags *d, const char *what);

/* How many bytes or the like of work are fine between two questions, where usually it is so many: fewer when
 * all are heard. */
static inline uint64_t sp_watch_stride(const struct sp_diags *d, uint64_t usual)
{
    return d->watch && d->watch->asked.every_ms == SP_WATCH_ALL ? usual / 128 : usual;
}

/* For loops of short steps, with the number of the step: asks at every 1024th. */
static inline bool sp_leaving(const struct sp_diags *d, size_t step)
{
    return d->watch && step % 1024 == 0 && sp_cancelled(d) != SPAA_OK;
}

#endif
