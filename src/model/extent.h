/*
 * How much a profile holds, each name, stack and sample once: what a text about it is measured by. Formats
 * that spell out every stack make gigabytes of a kilobyte that names one long function often enough; no
 * recording does.
 */
#ifndef SP_MODEL_EXTENT_H
#define SP_MODEL_EXTENT_H

#include "model/tables.h"

struct sp_extent {
    uint64_t most;    /* bytes that may be written of it where nobody asks for more */
    uint64_t longest; /* of the names in one stack */
    uint64_t spelled; /* about what all stacks with their names take, indented or not */
};

struct sp_extent sp_profile_extent(const struct sp_profile *p);

#endif
