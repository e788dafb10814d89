/*
 * XXH3-64 (xxHash 0.8's stable, published hash), for stack identity; and hashes for maps, which are others in
 * every process: whoever writes a file cannot choose keys that meet in one place of a map. What is written or
 * shown, and the order of anything, depends on the first kind alone.
 */
#ifndef SP_HASH_H
#define SP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The same everywhere. */
uint64_t sp_hash64(const void *p, size_t n);
uint64_t sp_hash64_seed(const void *p, size_t n, uint64_t seed);

/* For maps; never for identity, nor for an order. */
uint64_t sp_hash_key(const void *p, size_t n);
uint64_t sp_hash_key_seed(const void *p, size_t n, uint64_t seed);

/* The process's own: set before main, or when the library is loaded, and never again. */
extern uint64_t sp_hash_secret[2];

static inline uint64_t sp_hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/*
 * A mix of two words for map keys; as sp_hash_key. Folded twice: of numbers in a row with one other word, one
 * product in a hundred has steps of a large power of two, which meet in a few places of a map.
 */
static inline uint64_t sp_hash_mix(uint64_t a, uint64_t b)
{
    return sp_hash_fold(sp_hash_fold(a ^ sp_hash_secret[0], b ^ sp_hash_secret[1]), 0x9E3779B97F4A7C15u);
}

/* One that is the same everywhere. */
static inline uint64_t sp_hash_pair(uint64_t a, uint64_t b)
{
    return sp_hash_fold(a ^ 0x9E3779B97F4A7C15u, b ^ 0xC2B2AE3D27D4EB4Fu);
}

#endif
