#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t sp_hash64(const void *p, size_t n)
{
    return XXH3_64bits(p, n);
}

uint64_t sp_hash64_seed(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}
