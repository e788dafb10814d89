/* Functions of allocators: what hands memory out (owners.h), and what takes it back. */
#ifndef SP_ALLOCATOR_CALL_H
#define SP_ALLOCATOR_CALL_H

#include "base/buf.h"
#include "model/profile.h"

/* owners: of sp_owner_kinds. `scratch` is overwritten; it may fail. */
bool sp_is_allocator_call(const struct sp_profile *p, const unsigned char *owners, uint32_t function,
                          struct sp_buf *scratch);
/* Whether it is one wherever it stands: allocators that are linked into the program have names of their own.
 */
bool sp_is_linked_allocator(struct sp_str name);

#endif
