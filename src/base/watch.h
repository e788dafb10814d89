/*
 * Who watches a call of the library (include/spaa/watch.h), and whether it is to be left.
 *
 * It hangs on the diagnostics of the call, which everything that takes long has at hand. Long loops ask
 * sp_cancelled once in a while (a look at the clock: a millisecond of work between two is fine), and those
 * that know how far they are say so with sp_progress, which asks too. Without a watch both are one
 * comparison.
 *
 * Once it was said to leave, every call says so, from any thread: whoever overlooks one meets the next.
 */
#ifndef SP_WATCH_H
#define SP_WATCH_H

#include "base/diag.h"
#include "spaa/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sp_watch {
    struct spaa_watch asked;
    pthread_mutex_t lock; /* one call of the callback at a time */
    _Atomic uint64_t next_ns;
    _Atomic bool left;
    struct spaa_progress now; /* of the last sp_progress: under the lock */
    char name[256];
};

/* asked: NULL for none. The watch must outlive what is done with d. */
void sp_watch_begin(struct sp_watch *w, const struct spaa_watch *asked, struct sp_diags *d);
void sp_watch_end(struct sp_watch *w, struct sp_diags *d);

/* SPAA_ERR_CANCELLED where the call is to be left, else SPAA_OK. Any thread. */
spaa_status sp_cancelled(const struct sp_diags *d);
/* The same, and tells how far it is: what and unit are static, name is copied. */
spaa_status sp_progress(const struct sp_diags *d, const char *what, const char *name, const char *unit,
                        uint64_t done, uint64_t whole);

#endif
