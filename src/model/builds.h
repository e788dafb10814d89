/*
 * Builds of one binary: DSOs of a profile that have the same name, which their build-ids tell apart; without
 * these, that one is the file which is there now, and the other was replaced.
 */
#ifndef SP_BUILDS_H
#define SP_BUILDS_H

#include "model/profile.h"

/* Is there another build of its name? False of SP_NONE and of a file without a build-id that is there. */
bool sp_dso_is_one_of_several(const struct sp_profile *p, uint32_t dso);
/*
 * What tells it from these for a reader: the first eight digits of its build-id, or all of it where they are
 * another's too (of a PE image: GUID and age); "replaced". n is 0 where its name says enough.
 */
struct sp_str sp_dso_build(const struct sp_profile *p, uint32_t dso);

#endif
