#include "base/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void sha256_block(uint32_t h[static 8], const unsigned char *p)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = big32(p + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 =
            s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t t2 =
            (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

struct sha256 {
    uint32_t h[8];
    unsigned char rest[64];
    uint64_t n;
};

static void sha256_begin(struct sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, start, sizeof start);
    s->n = 0;
}

static void sha256_add(struct sha256 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t have = s->n % 64;
    s->n += n;
    if (have) {
        size_t take = n < 64 - have ? n : 64 - have;
        if (take)
            memcpy(s->rest + have, p, take);
        if (have + take < 64)
            return;
        sha256_block(s->h, s->rest);
        p += take;
        n -= take;
    }
    for (; n >= 64; p += 64, n -= 64)
        sha256_block(s->h, p);
    if (n)
        memcpy(s->rest, p, n);
}

static void sha256_end(struct sha256 *s, unsigned char out[static SP_SHA256])
{
    unsigned char tail[72] = {0x80};
    uint64_t bits = s->n * 8;
    size_t have = s->n % 64, pad = have < 56 ? 56 - have : 120 - have;
    for (size_t i = 0; i < 8; i++)
        tail[pad + i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(s, tail, pad + 8);
    for (size_t i = 0; i < 32; i++)
        out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sp_sha256(const void *p, size_t n, unsigned char out[static SP_SHA256])
{
    struct sha256 s;
    sha256_begin(&s);
    sha256_add(&s, p, n);
    sha256_end(&s, out);
}

void sp_digest_hex(const unsigned char digest[static SP_SHA256], char out[static 2 * SP_SHA256 + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SP_SHA256; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[(size_t)2 * SP_SHA256] = '\0';
}

void sp_sha256_hex(const void *p, size_t n, char out[static 2 * SP_SHA256 + 1])
{
    unsigned char digest[SP_SHA256];
    sp_sha256(p, n, digest);
    sp_digest_hex(digest, out);
}

void sp_hmac_sha256(const void *key, size_t key_n, const void *p, size_t n,
                    unsigned char out[static SP_SHA256])
{
    unsigned char pad[64] = {0}, inner[SP_SHA256];
    struct sha256 s;
    if (key_n > sizeof pad)
        sp_sha256(key, key_n, pad);
    else if (key_n)
        memcpy(pad, key, key_n);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] ^= 0x36;
    sha256_begin(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, p, n);
    sha256_end(&s, inner);
    for (size_t i = 0; i < sizeof pad; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    sha256_begin(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, inner, sizeof inner);
    sha256_end(&s, out);
    explicit_bzero(pad, sizeof pad);
}
