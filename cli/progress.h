/*
 * A progress bar on standard error, while inputs are read: only on a terminal, and only once the work has
 * passed half a second.
 */
#ifndef SP_PROGRESS_H
#define SP_PROGRESS_H

#include "cli.h"

#include <time.h>

struct progress {
    struct timespec began; /* what is going on now */
    char what[32], name[256];
    bool shown;
};

/* Watches on c's behalf: false where no bar is shown. `p` and the watch must live as long as the call. */
bool progress_begin(const struct cli *c, struct progress *p, struct spaa_watch *out);
/* Clears its line, where there is one. */
void progress_clear(struct progress *p);

#endif
