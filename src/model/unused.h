/* Frames that were made before it was known whether any stack needs them. */
#ifndef SP_UNUSED_H
#define SP_UNUSED_H

#include "model/profile.h"

/*
 * Keeps the frames for which keep[frame] is set, among them all that stacks have, and the functions of these;
 * they get new numbers in their order. Nothing but stacks refers to frames yet. False: out of memory, the
 * profile can only be freed.
 */
bool sp_frames_keep(struct sp_profile *p, const bool *keep);

#endif
