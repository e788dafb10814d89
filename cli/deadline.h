/*
 * A limit in wall-clock time on a command that writes nothing but its answer.
 *
 * What looks at the clock itself (SQLite's steps) ends first, in order. What does not, like reading an input
 * that never ends, is ended from a thread: the error is said as any other, and the process exits with
 * EXIT_IO.
 */
#ifndef SP_DEADLINE_H
#define SP_DEADLINE_H

#include "cli.h"

struct deadline;

/* NULL where there is none to keep (0 seconds), or no thread to keep it. */
struct deadline *deadline_start(const struct cli *c, long seconds);
void deadline_stop(struct deadline *d); /* NULL is fine */

#endif
