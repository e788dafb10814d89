#include "base/hash.h"

#include <string.h>

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

#define BLOCK 32u /* words */

/* The first outputs of splitmix64 from 0. */
static const uint64_t places[BLOCK] = {
    0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u, 0x06C45D188009454Fu, 0xF88BB8A8724C81ECu, 0x1B39896A51A8749Bu,
    0x53CB9F0C747EA2EAu, 0x2C829ABE1F4532E1u, 0xC584133AC916AB3Cu, 0x3EE5789041C98AC3u, 0xF3B8488C368CB0A6u,
    0x657EECDD3CB13D09u, 0xC2D326E0055BDEF6u, 0x8621A03FE0BBDB7Bu, 0x8E1F7555983AA92Fu, 0xB54E0F1600CC4D19u,
    0x84BB3F97971D80ABu, 0x7D29825C75521255u, 0xC3CF17102B7F7F86u, 0x3466E9A083914F64u, 0xD81A8D2B5A4485ACu,
    0xDB01602B100B9ED7u, 0xA9038A921825F10Du, 0xEDF5F1D90DCA2F6Au, 0x54496AD67BD2634Cu, 0xDD7C01D4F5407269u,
    0x935E82F1DB4C4F7Bu, 0x69B82EBC92233300u, 0x40D29EB57DE1D510u, 0xA2F09DABB45C6316u, 0xEE521D7A0F4D3872u,
    0xF16952EE72F3454Fu, 0x377D35DEA8E40225u};

static inline unsigned __int128 product(const unsigned char *p, const uint64_t *place)
{
    uint64_t w[2];
    memcpy(w, p, sizeof w);
    return (unsigned __int128)(w[0] + place[0]) * (w[1] + place[1]);
}

/* At most BLOCK words. */
static inline unsigned __int128 sum_block(const unsigned char *p, size_t n)
{
    unsigned __int128 a = 0, b = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += product(p + i * 8, places + i);
        b += product(p + i * 8 + 16, places + i + 2);
    }
    if (n & 2) {
        a += product(p + i * 8, places + i);
        i += 2;
    }
    if (n & 1) {
        unsigned char last[16] = {0};
        memcpy(last, p + i * 8, 8);
        b += product(last, places + i);
    }
    return a + b;
}

uint64_t sp_hash_words(const void *p, size_t n, uint64_t *high)
{
    const unsigned char *at = p;
    uint64_t low = n, up = 0;
    for (;; n -= BLOCK, at += (size_t)8 * BLOCK) {
        unsigned __int128 sum = sum_block(at, n < BLOCK ? n : BLOCK);
        sum += (unsigned __int128)up << 64 | low;
        up = (uint64_t)(sum >> 64);
        low = sp_hash_mix((uint64_t)sum, up);
        if (n <= BLOCK)
            break;
    }
    *high = up;
    return low;
}
