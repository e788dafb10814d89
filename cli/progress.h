/*
 * A progress bar on standard error, while an input is read: only on a terminal, and only once the work has
 * passed half a second.
 */
#ifndef SP_PROGRESS_H
#define SP_PROGRESS_H

#include "cli.h"
#include "io/input.h"

struct progress;

/* NULL where none is shown; the input must outlive it. */
struct progress *progress_start(const struct cli *c, const struct sp_input *in);
/* Of several files: *done, which is stored atomically, of `files`. */
struct progress *progress_start_files(const struct cli *c, const size_t *done, size_t files);
/* Ends the display and clears its line. */
void progress_stop(struct progress *p);

#endif
