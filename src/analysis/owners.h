/*
 * Who owns memory: the function that asked for it, not what handed it out.
 *
 * At the leaf of an allocation's stack stand allocators (malloc, operator new, je_…), containers and wrappers
 * (std::vector<…>::push_back, Vec::push, strdup) and runtimes (runtime.mallocgc): owners.def names them, for
 * all questions. The owner is the first function from the leaf that is none of these: one of the program, or
 * of a library that keeps memory of its own accord.
 *
 * Some stacks have nothing else: what a runtime keeps for itself, or a thread whose function was inlined.
 * These end at the container nearest to what started the thread; without one at the first function of the
 * runtime that has a name; without one at the outermost allocator. No stack becomes empty.
 */
#ifndef SP_OWNERS_H
#define SP_OWNERS_H

#include "model/profile.h"

enum sp_owner_kind { SP_MAY_OWN, SP_ALLOCATOR, SP_CONTAINER, SP_RUNTIME };

/*
 * Of each function its enum sp_owner_kind, to be freed. `more`: a regular expression (PCRE2); functions of
 * these names are allocators as well, *any: there are some; NULL: none. SPAA_ERR_USAGE for a bad expression,
 * SPAA_ERR_NOMEM; reported.
 */
spaa_status sp_owner_kinds(const struct sp_profile *p, const char *more, bool *any, struct sp_diags *d,
                           unsigned char **out);
/*
 * How many frames, leaf first, stand between the memory and its owner: less than n, but for n 0.
 */
size_t sp_owner_skip(const struct sp_profile *p, const unsigned char *kinds, const uint32_t *frames,
                     size_t n);
/* Whether the metric counts memory or what is done with it, so that stacks are of allocations. */
bool sp_is_of_memory(const struct sp_profile *p, uint32_t metric);

#endif
