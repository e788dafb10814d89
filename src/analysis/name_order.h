/* Places in the order of names, so that what follows compares numbers. */
#ifndef SP_NAME_ORDER_H
#define SP_NAME_ORDER_H

#include "model/profile.h"

/* Of each function, by name, then binary; NULL: out of memory. */
uint32_t *sp_function_ranks(const struct sp_profile *p);
/* Of these strings, per string of the table; others have no meaning. Equal ones stand one behind the other.
 */
uint32_t *sp_string_ranks(const struct sp_strtab *strs, const uint32_t *items, size_t n);

#endif
