/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104). */
#ifndef SP_SHA256_H
#define SP_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SP_SHA256 32 /* bytes of a digest */

void sp_sha256(const void *p, size_t n, unsigned char out[static SP_SHA256]);
void sp_hmac_sha256(const void *key, size_t key_n, const void *p, size_t n,
                    unsigned char out[static SP_SHA256]);

#endif
