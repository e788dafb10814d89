/* The files in a folder and the folders in it, sorted by their names. */
#ifndef SP_WALK_H
#define SP_WALK_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

#define WALK_DEPTH 64

struct walk {
    SP_VEC(const char *) paths; /* regular files, and symbolic links to such */
    struct sp_arena arena;
    bool failed; /* a folder could not be read; reported */
};

/*
 * Symbolic links to folders are not followed, and folders more than WALK_DEPTH deep are reported (SP_E007),
 * so that it ends. Free it, whatever it returns.
 */
spaa_status sp_walk_folder(const char *path, struct sp_diags *d, struct walk *out);
void sp_walk_free(struct walk *w);

#endif
