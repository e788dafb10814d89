#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t sp_hash_secret[2];

/* Of the 16 random bytes that the kernel gives each program, which are used for other things, too: not as
 * they are. */
__attribute__((constructor)) static void choose_secret(void)
{
    unsigned char bytes[16 + sizeof(void *)] = {0};
    const void *random = (const void *)getauxval(AT_RANDOM); // NOLINT(performance-no-int-to-ptr)
    const void *here = &sp_hash_secret;
    if (random)
        memcpy(bytes, random, 16);
    memcpy(bytes + 16, &here, sizeof here);
    sp_hash_secret[0] = XXH3_64bits_withSeed(bytes, sizeof bytes, 1);
    sp_hash_secret[1] = XXH3_64bits_withSeed(bytes, sizeof bytes, 2);
}

uint64_t sp_hash64(const void *p, size_t n)
{
    return XXH3_64bits(p, n);
}

uint64_t sp_hash64_seed(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

uint64_t sp_hash_key(const void *p, size_t n)
{
    return XXH3_64bits_withSeed(p, n, sp_hash_secret[0]);
}

uint64_t sp_hash_key_seed(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, sp_hash_mix(seed, 0));
}
