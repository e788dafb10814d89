/* Rows of numbers and addresses, and the estimate of what sampling did not see. */
#include "base/num.h"
#include "base/word.h"
#include "formats/mapped.h"

#include <math.h>

size_t sp_mapped_eol(const char *p, const char *end, const char **next)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((nl ? nl : end) - p);
    *next = nl ? nl + 1 : end;
    return n && p[n - 1] == '\r' ? n - 1 : n;
}

struct sp_str sp_mapped_trim(const char *p, size_t n)
{
    while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
        n--;
    while (n && (*p == ' ' || *p == '\t')) {
        p++;
        n--;
    }
    return (struct sp_str){p, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
}

bool sp_mapped_int(const char **p, const char *end, int64_t *out)
{
    *p = sp_mapped_blank(*p, end);
    size_t n = sp_parse_i64(*p, end, out);
    *p += n;
    /* The two lowest mean something else in a profile. */
    return n && *out > SP_DECIMAL;
}

static bool take(const char **p, const char *end, char c)
{
    *p = sp_mapped_blank(*p, end);
    if (*p == end || **p != c)
        return false;
    ++*p;
    return true;
}

bool sp_mapped_counts(const char **p, const char *end, int64_t v[static 4])
{
    return sp_mapped_int(p, end, &v[0]) && take(p, end, ':') && sp_mapped_int(p, end, &v[1]) &&
           take(p, end, '[') && sp_mapped_int(p, end, &v[2]) && take(p, end, ':') &&
           sp_mapped_int(p, end, &v[3]) && take(p, end, ']');
}

/* By byte: the value of a hexadecimal digit; 16: none. */
static const unsigned char digits[256] = {
#define NONE16 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16
    NONE16, NONE16, NONE16, 0,      1,      2,      3,      4,      5,      6,      7,  8,  9,
    16,     16,     16,     16,     16,     16,     16,     10,     11,     12,     13, 14, 15,
    16,     16,     16,     16,     16,     16,     16,     16,     16,     NONE16, 16, 10, 11,
    12,     13,     14,     15,     16,     16,     16,     16,     16,     16,     16, 16, 16,
    NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
};

#define EACH(byte) (0x0101010101010101u * (byte))

/*
 * The hexadecimal digits that eight bytes begin with: how many, and their value. Each byte is compared in a
 * byte of its own, whose highest bit is the answer.
 */
static inline unsigned eight(uint64_t x, uint64_t *v)
{
    uint64_t y = x | EACH(0x20), ascii = ~x;
    uint64_t digit = (x + EACH(0x80 - '0')) & ~(x + EACH(0x80 - ('9' + 1)));
    uint64_t letter = (y + EACH(0x80 - 'a')) & ~(y + EACH(0x80 - ('f' + 1)));
    uint64_t others = ~((digit | letter) & ascii) & EACH(0x80);
    unsigned n = others ? (unsigned)__builtin_ctzll(others) >> 3 : 8;
    if (!n)
        return 0;
    x <<= 64 - 8 * n;
    x = (x & EACH(0x0f)) + 9 * (x >> 6 & EACH(0x01));
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
    x = (x << 8 | x >> 16) & 0x0000ffff0000ffff;
    *v = (x << 16 | x >> 32) & 0xffffffff;
    return n;
}

/* The digits at p, which readable bytes follow; 0: none, or they do not fit. */
static inline size_t hex_fast(const char *p, uint64_t *v)
{
    uint64_t more;
    unsigned n = eight(sp_load_le64(p), v);
    if (n < 8)
        return n;
    unsigned k = eight(sp_load_le64(p + 8), &more);
    if (k)
        *v = *v << 4 * k | more;
    return k == 8 && digits[(unsigned char)p[16]] < 16 ? 0 : 8 + k;
}

/* The same up to end; any number of zeros may come first. */
static size_t hex(const char *p, const char *end, uint64_t *v)
{
    const char *q = p;
    *v = 0;
    for (unsigned x; q < end && (x = digits[(unsigned char)*q]) < 16; q++) {
        if (*v >> 60)
            return 0;
        *v = *v << 4 | x;
    }
    return (size_t)(q - p);
}

#define BATCH 64

/* Up to BATCH addresses at *at; their places are on their way to the cache then. */
static unsigned parse_batch(const struct sp_mapped *m, const char **at, const char *end, uint64_t *v)
{
    const char *p = *at;
    unsigned k = 0;
    while (k < BATCH) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (end - p < 3 || p[0] != '0' || (p[1] | 0x20) != 'x')
            break;
        size_t n = m->end - p >= 24 ? hex_fast(p + 2, &v[k]) : 0;
        if (!n || n > (size_t)(end - p - 2))
            n = hex(p + 2, end, &v[k]);
        const char *q = p + 2 + n;
        if (!n || (q < end && *q != ' ' && *q != '\t'))
            break;
        __builtin_prefetch(sp_mapped_slot(m, v[k++]));
        p = q;
    }
    *at = p;
    return k;
}

spaa_status sp_mapped_addresses(struct sp_mapped *m, const char **at, const char *end, enum sp_mapped_are are)
{
    bool caller = are == SP_MAPPED_CALLERS;
    uint64_t v[BATCH];
    for (unsigned n = BATCH; n == BATCH;) {
        n = parse_batch(m, at, end, v);
        for (unsigned i = 0; i < n; i++) {
            if (!sp_mapped_add(m, v[i], caller))
                return sp_nomem(m->d);
            caller = are != SP_MAPPED_EXACT;
        }
    }
    return SPAA_OK;
}

void sp_mapped_unbias(int64_t count, int64_t bytes, int64_t rate, double *all_count, double *all_bytes)
{
    *all_count = (double)count;
    *all_bytes = (double)bytes;
    if (rate <= 1)
        return;
    if (!count || !bytes) {
        *all_count = *all_bytes = 0;
        return;
    }
    double scale = 1 / (1 - exp(-((double)bytes / (double)count) / (double)rate));
    *all_count *= scale;
    *all_bytes *= scale;
}

int64_t sp_mapped_cut(double v)
{
    if (isnan(v))
        return 0;
    return v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? -INT64_MAX : (int64_t)v;
}
