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

/*
 * What names take where each frame has its own function's, line's and DSO's, each stack its event's, labels'
 * and metrics': about what SPAA takes. Files in which rows share a name may ask for gigabytes; true: this one
 * does, out of all proportion to what it holds.
 */
bool sp_profile_repeats(const struct sp_profile *p, uint64_t *bytes);
/*
 * Whether one more text of n bytes may be made of parts that others share, as "file:line" is: 256 MiB in all.
 * The first that may not is said.
 */
bool sp_profile_composes(struct sp_profile *p, size_t n);

#endif
