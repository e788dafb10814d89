/* Files that the program brings along, written where they are asked for: `spaa skill --install`, `spaa demo`.
 */
#ifndef SP_RUN_PLACE_H
#define SP_RUN_PLACE_H

#include "run/run.h"

/*
 * Writes a file; the folders above it are made, and the answer says what was written or replaced. It appears
 * when it is complete, compressed where its name says so. The path is changed meanwhile.
 */
spaa_status sp_run_place(struct sp_run *run, char *path, const void *data, size_t n);

/* Makes the folders above the last slash of a path, those that are missing. It is changed meanwhile. */
spaa_status sp_run_folders(struct sp_run *run, char *path);

#endif
