/* XXH3-64 (xxHash 0.8's stable, published hash), for hash maps and for stack identity. */
#ifndef SP_HASH_H
#define SP_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t sp_hash64(const void *p, size_t n);
uint64_t sp_hash64_seed(const void *p, size_t n, uint64_t seed);

/* A mix of two words for map keys; never for identity. */
static inline uint64_t sp_hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xC2B2AE3D27D4EB4Fu);
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#endif
