/* Handles: short stable names of functions, `f:` and a prefix of their content hash, as long as unique.
 * function_lookup.h finds them again. */
#ifndef SP_FUNCTION_HANDLE_H
#define SP_FUNCTION_HANDLE_H

#include "model/profile.h"

struct sp_handles {
    uint64_t *hash;  /* per function */
    uint8_t *digits; /* hex digits that tell it from the others, at least 4 */
};

spaa_status sp_handles_of(const struct sp_profile *p, struct sp_handles *out);
void sp_handles_free(struct sp_handles *h);
/* "f:1a2b3c"; returns the length. */
size_t sp_handle_text(const struct sp_handles *h, uint32_t function, char out[static 32]);

#endif
