/*
 * Handles: short stable names of functions, `f:` and a prefix of their content hash, as long as unique.
 * function_lookup.h finds them again.
 *
 * The hash is of what other builds have, too: the name, the last part of the DSO's name and what tells
 * functions of one name apart. Functions that are equal in that (two static ones of two util.c, code without
 * names in binaries of one name) have a dot and digits behind it, by the DSO's path and build-id and where
 * the function starts: `f:1a2b.3c`. Without these `f:1a2b` is all of them.
 */
#ifndef SP_FUNCTION_HANDLE_H
#define SP_FUNCTION_HANDLE_H

#include "model/profile.h"

struct sp_handles {
    const struct sp_profile *profile;
    uint64_t *hash;  /* per function */
    uint8_t *digits; /* hex digits that tell it from those of other hashes, at least 4 */
    uint8_t *more;   /* digits that tell it from others of its hash; 0: there are none */
};

spaa_status sp_handles_of(const struct sp_profile *p, struct sp_diags *d, struct sp_handles *out);
void sp_handles_free(struct sp_handles *h);
/* "f:1a2b3c", "f:1a2b.3c"; returns the length. */
size_t sp_handle_text(const struct sp_handles *h, uint32_t function, char out[static 32]);
/* Of all functions of its hash: "f:1a2b". */
size_t sp_handle_text_alike(const struct sp_handles *h, uint32_t function, char out[static 32]);
/* By what functions of one hash differ in this build. */
uint32_t sp_function_build_hash(const struct sp_profile *p, uint32_t function);

#endif
