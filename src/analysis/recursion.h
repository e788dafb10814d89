/*
 * Whether two frames of one stack are the same function, as far as the profile knows.
 *
 * A name is not enough: lambdas are all operator(), and inlined functions have bare names. Frames are one
 * function where their functions start at one address of one binary; where the profile says no starts, where
 * name, binary and what is known of the declaration agree. Inlined frames are copies of bodies: without a
 * declaration nothing tells whether two of them are of one function.
 */
#ifndef SP_RECURSION_H
#define SP_RECURSION_H

#include "model/profile.h"

bool sp_same_function(const struct sp_profile *p, uint32_t frame, uint32_t other);

#endif
