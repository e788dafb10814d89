/*
 * Watching long work, and leaving it: a callback that hears how far a call is, and may end it.
 *
 *     static int show(void *arg, const struct spaa_progress *now)
 *     {
 *         fprintf(stderr, "%s %s: %llu of %llu\n", now->what, now->name, ...);
 *         return *(volatile int *)arg; // not 0: the call ends with SPAA_ERR_CANCELLED
 *     }
 *     struct spaa_watch w = {.size = sizeof w, .progress = show, .arg = &stop};
 *     struct spaa_open_options o = {.size = sizeof o, .watch = &w};
 *
 * A call that was left gives nothing and leaves nothing behind, as after every other error; profiles that it
 * was about can be used as before (one whose stacks a question was telling apart anew, spaa/ask.h, can no
 * longer be written, as after that question). Answers do not depend on whether somebody watches. While
 * several files are merged, only the files are counted.
 *
 * Threads: calls come from the thread that called the library or from one of its own, one at a time. The
 * callback must not call functions about the same profile, answer or builder.
 */
#ifndef SPAA_WATCH_H
#define SPAA_WATCH_H

#include <spaa/export.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far it is. */
struct spaa_progress {
    size_t size;
    const char *what; /* "reading", "unwinding", "symbols", "merging", "asking", "writing": static */
    const char *name; /* of the file or question concerned; "" where there is none; lives during the call */
    const char *unit; /* "bytes", "files", "stacks", ...; "" where nothing is counted: static */
    uint64_t done, whole; /* in that unit; whole 0: not known. done never exceeds whole, and is lower again
                             when another piece of work (what, name) has begun */
};

struct spaa_watch {
    size_t size;
    int (*progress)(void *arg, const struct spaa_progress *now); /* not 0: leave; NULL: nobody watches */
    void *arg;
    unsigned every_ms; /* at most so often; 0: 100. Leaving takes about as long */
};

#ifdef __cplusplus
}
#endif
#endif
