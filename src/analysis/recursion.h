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

enum sp_sameness {
    SP_OTHERS,   /* not one function, or nothing shows that they are */
    SP_SAMENAME, /* one name, and nothing else is known: overloads and the like have that, too */
    SP_SAME,
};

/*
 * Of the frames i < k of a stack, leaf first. What one address was inlined to stands there frame by frame,
 * and may name a function twice (perf script does): that is one visit.
 */
enum sp_sameness sp_same_function(const struct sp_profile *p, const uint32_t *stack, size_t i, size_t k);
/* The file of a frame's source line, else that which declares its function; n 0: it is not known. */
struct sp_str sp_frame_file(const struct sp_profile *p, const struct sp_frame *f);

#endif
