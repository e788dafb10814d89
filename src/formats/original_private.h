/* What keeping an original (original_keep.c) and giving it back (original.c) have in common. */
#ifndef SP_ORIGINAL_PRIVATE_H
#define SP_ORIGINAL_PRIVATE_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SP_ORIGINAL_ENCODING "zstd+base64"
#define SP_ORIGINAL_DIGEST   "xxh3-128:" /* before the digits of sp_original_digest */

/* original_keep.c: 32 hexadecimal digits. */
void sp_original_digest(XXH3_state_t *state, char out[static 33]);

#endif
