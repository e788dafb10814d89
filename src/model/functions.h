/*
 * What makes a function one function: its name, its DSO, and what tells it from others of that name there in
 * every build of the program: its linkage name, and for local and inlined functions the base name of the file
 * that declares it; never a line or an address.
 */
#ifndef SP_FUNCTIONS_H
#define SP_FUNCTIONS_H

#include "model/profile.h"

/* The text for sp_function.tells of a function with this sp_frame.info; SP_STR_FAIL: out of memory. */
uint32_t sp_function_tells(struct sp_profile *p, uint32_t info);

#endif
