/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104). */
#ifndef SP_SHA256_H
#define SP_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SP_SHA256 32 /* bytes of a digest */

void sp_sha256(const void *p, size_t n, unsigned char out[static SP_SHA256]);
/* A digest in lower-case hex and a NUL; that of n bytes. */
void sp_digest_hex(const unsigned char digest[static SP_SHA256], char out[static 2 * SP_SHA256 + 1]);
void sp_sha256_hex(const void *p, size_t n, char out[static 2 * SP_SHA256 + 1]);
void sp_hmac_sha256(const void *key, size_t key_n, const void *p, size_t n,
                    unsigned char out[static SP_SHA256]);

#endif
