/*
 * Stacks of which the leaf has less than the weight: their record says so (`exclusive` in SPAA). The rest is
 * of functions that the leaf called and that the record does not name.
 *
 * Split, such a record is two: one with the leaf's own weight, and one of the rest, whose leaf is
 * [callees not recorded] below the frames of the record. Views and all formats but SPAA see it split, so that
 * what leaves have adds up to the whole everywhere; SPAA is written of what was read.
 *
 * A metric that `exclusive` does not state is divided as the event's primary one is, else as the first that
 * it states; what must not be added is not divided. A value that is not between 0 and the weight says
 * nothing. Of linked records of one observation, the kernel's leaf is the leaf: its record divides both.
 */
#ifndef SP_CALLEES_H
#define SP_CALLEES_H

#include "model/profile.h"

#define SP_CALLEES_NAME "[callees not recorded]"

/* Splits what is to be split, once. d: told what was assumed; NULL: it is known. */
spaa_status sp_callees_split(struct sp_profile *p, struct sp_diags *d);
/* As it was before, if nothing was added to the profile's stacks and dictionaries since. */
spaa_status sp_callees_join(struct sp_profile *p);

/* What of a part of the weight of the record rests.v[i] is not its leaf's: in proportion, as of all of it. */
int64_t sp_callees_part(const struct sp_profile *p, size_t i, uint32_t metric, int64_t part);

/* A weight: a whole number, or SP_DECIMAL and its text. */
struct sp_leaf_weight {
    int64_t v;
    struct sp_str text;
    char digits[64]; /* for a text that was made */
};

/* What the leaf of a record has of a metric that its `exclusive` does not state. */
void sp_exclusive_unstated(const struct sp_profile *p, uint32_t stack, uint32_t metric,
                           struct sp_leaf_weight *out);
/* What `exclusive` number x - 2 of stacks states of a metric; v is SP_ABSENT where it states none. */
struct sp_value sp_exclusive_value(const struct sp_profile *p, uint32_t x, uint32_t metric);

#endif
