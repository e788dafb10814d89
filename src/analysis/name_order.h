/* Places in the order of names, so that what follows compares numbers. */
#ifndef SP_NAME_ORDER_H
#define SP_NAME_ORDER_H

#include "model/profile.h"

/*
 * Functions by name, then binary, then by what tells them from others of that name there: no order of
 * records, so that a converted recording has the same.
 */
int sp_function_name_cmp(const struct sp_profile *p, uint32_t a, uint32_t b);
/* Of each function; NULL: out of memory. */
uint32_t *sp_function_ranks(const struct sp_profile *p);
/* Of these strings, per string of the table; others have no meaning. Equal ones stand one behind the other.
 */
uint32_t *sp_string_ranks(const struct sp_strtab *strs, const uint32_t *items, size_t n);

#endif
