/*
 * Functions that hand out memory and say nothing about who wanted it: malloc and its kin, operator new, the
 * allocators of libraries and languages, and what is inside jemalloc, tcmalloc and mimalloc.
 */
#ifndef SP_ALLOCATORS_H
#define SP_ALLOCATORS_H

#include "model/profile.h"

bool sp_is_allocator(const struct sp_profile *p, uint32_t function);

#endif
