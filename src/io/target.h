/*
 * Where an output path leads: a descriptor to write to, and how it becomes the file of that name.
 * Private to this folder.
 */
#ifndef SP_IO_TARGET_H
#define SP_IO_TARGET_H

#include "base/diag.h"

#include <stdbool.h>

struct sp_target {
    int fd;      /* -1: none */
    bool close;  /* fd is ours */
    char *final; /* what the temporary file becomes; NULL: written directly */
    char *temp;
};

/* Failure is reported, and leaves nothing open. */
spaa_status sp_target_open(struct sp_target *t, const char *path, struct sp_diags *d);
/* Syncs and renames. 0, or the errno of what failed, the temporary file being gone then. */
int sp_target_finish(struct sp_target *t);
void sp_target_discard(struct sp_target *t); /* after finish: frees only */

#endif
