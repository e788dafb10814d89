/*
 * How much a profile holds, each name, stack and sample once: what a text about it is measured by. Formats
 * that spell out every stack make gigabytes of a kilobyte that names one long function often enough; no
 * recording does.
 */
#ifndef SP_MODEL_EXTENT_H
#define SP_MODEL_EXTENT_H

#include "model/tables.h"

/* Bytes that may be written of it where nobody asks for more. *name (may be NULL): of its longest text. */
uint64_t sp_profile_most(const struct sp_profile *p, uint64_t *name);

struct sp_spelled {
    uint64_t longest; /* bytes of the names in one stack */
    uint64_t all;     /* about what all stacks with their names take, indented or not */
};

struct sp_spelled sp_profile_spelled(const struct sp_profile *p);

#endif
