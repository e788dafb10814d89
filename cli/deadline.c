#include "deadline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_NS = 250000000 }; /* for what looks at the clock itself */

struct deadline {
    struct cli end; /* what the error is said with: diagnostics of its own, for the command's are in use */
    long seconds;
    struct timespec until;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stop;
};

static void *deadline_run(void *arg)
{
    struct deadline *d = arg;
    int rc = 0;
    pthread_mutex_lock(&d->lock);
    while (!d->stop && rc == 0)
        rc = pthread_cond_timedwait(&d->stopped, &d->lock, &d->until);
    if (!d->stop) {
        char message[64];
        snprintf(message, sizeof message, "not done after %ld s", d->seconds);
        spaa_diagnostics_add(&d->end.diags, "SPAA-E652", NULL, message);
        _exit(cli_finish(&d->end, EXIT_IO));
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

struct deadline *deadline_start(const struct cli *c, long seconds)
{
    struct deadline *d = seconds ? calloc(1, sizeof *d) : NULL;
    pthread_condattr_t attr;
    if (!d)
        return NULL;
    d->seconds = seconds;
    d->end = *c;
    d->end.diags = NULL;
    clock_gettime(CLOCK_MONOTONIC, &d->until);
    d->until.tv_sec += seconds;
    d->until.tv_nsec += GRACE_NS;
    d->until.tv_sec += d->until.tv_nsec / 1000000000;
    d->until.tv_nsec %= 1000000000;
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&d->stopped, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&d->thread, NULL, deadline_run, d) == 0)
        return d;
    pthread_cond_destroy(&d->stopped);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return NULL;
}

void deadline_stop(struct deadline *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->stopped);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->stopped);
    pthread_mutex_destroy(&d->lock);
    free(d);
}
