#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

static unsigned decimal_digits(uint64_t v) /* 1 for 0 */
{
    static const uint64_t powers[] = {0,
                                      (uint64_t)1e1,
                                      (uint64_t)1e2,
                                      (uint64_t)1e3,
                                      (uint64_t)1e4,
                                      (uint64_t)1e5,
                                      (uint64_t)1e6,
                                      (uint64_t)1e7,
                                      (uint64_t)1e8,
                                      (uint64_t)1e9,
                                      (uint64_t)1e10,
                                      (uint64_t)1e11,
                                      (uint64_t)1e12,
                                      (uint64_t)1e13,
                                      (uint64_t)1e14,
                                      (uint64_t)1e15,
                                      (uint64_t)1e16,
                                      (uint64_t)1e17,
                                      (uint64_t)1e18,
                                      (uint64_t)1e19};
    unsigned about = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12; /* log10 2 is 1233/4096 */
    return about + (v >= powers[about]);
}

size_t sp_u64_text(uint64_t v, char out[static 20])
{
    size_t n = decimal_digits(v), at = n;
    while (v >= 100) {
        at -= 2;
        memcpy(out + at, two_digits + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(out, two_digits + 2 * v, 2);
    else
        out[0] = (char)('0' + v);
    return n;
}

size_t sp_hex_text(uint64_t v, char out[static 16])
{
    size_t n = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;
    for (size_t i = n; i-- > 0; v >>= 4)
        out[i] = "0123456789abcdef"[v & 15];
    return n;
}

size_t sp_parse_u64(const char *p, const char *end, uint64_t *out)
{
    const char *s = p;
    uint64_t v = 0;
    for (; s < end && (unsigned char)(*s - '0') < 10; s++) {
        unsigned d = (unsigned)(*s - '0');
        if (v > (UINT64_MAX - d) / 10)
            return 0;
        v = v * 10 + d;
    }
    if (s == p)
        return 0;
    *out = v;
    return (size_t)(s - p);
}

size_t sp_parse_i64(const char *p, const char *end, int64_t *out)
{
    bool neg = p < end && *p == '-';
    uint64_t v;
    size_t n = sp_parse_u64(p + neg, end, &v);
    if (!n || v > (uint64_t)INT64_MAX + neg)
        return 0;
    *out = neg ? (int64_t)((uint64_t)0 - v) : (int64_t)v;
    return n + neg;
}

/* 1 + what a hexadecimal digit stands for; 0: it is none. */
static const unsigned char hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

size_t sp_parse_hex(const char *p, const char *end, uint64_t *out)
{
    const char *s = p;
    uint64_t v = 0;
    for (unsigned d; s < end && (d = hex_digits[(unsigned char)*s]); s++) {
        if (v >> 60)
            return 0;
        v = v << 4 | (d - 1);
    }
    if (s == p)
        return 0;
    *out = v;
    return (size_t)(s - p);
}

bool sp_parse_0x(const char *p, size_t n, uint64_t *out)
{
    uint64_t v;
    if (n <= 2 || p[0] != '0' || (p[1] != 'x' && p[1] != 'X') || sp_parse_hex(p + 2, p + n, &v) != n - 2)
        return false;
    *out = v;
    return true;
}

size_t sp_double_text(double v, char out[static 32])
{
    int n = 0;
    bool subnormal = v > -2.3e-308 && v < 2.3e-308; /* fewer than 15 digits may tell these apart */
    for (int digits = subnormal ? 1 : 15; digits <= 17; digits++) {
        n = snprintf(out, 32, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    return n > 0 ? (size_t)n : 0;
}

double sp_text_double(const char *p, size_t n)
{
    char t[1100]; /* more digits than any double's value depends on */
    double beyond = 1;
    if (n >= sizeof t) {
        size_t point = 0; /* digits of the whole part that are cut off scale what is left */
        while (point < n && p[point] != '.' && (p[point] | 32) != 'e')
            point++;
        for (; point >= sizeof t; point--)
            beyond *= 10;
        n = sizeof t - 1;
    }
    memcpy(t, p, n);
    t[n] = '\0';
    return strtod(t, NULL) * beyond;
}

/* Digits, point and exponent of a JSON-like number, as far as they matter for an exact value. */
bool sp_parse_scaled(const char *p, size_t n, int64_t *mantissa, unsigned *scale)
{
    const char *end = p + n;
    bool neg = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    __int128 m = 0;
    long exponent = 0;
    long zeros = 0; /* trailing zeros seen and not yet part of m */
    bool point = false, any = false;
    for (; p < end && ((unsigned char)(*p - '0') < 10 || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        if (point)
            exponent--;
        if (*p == '0') {
            zeros++;
            continue;
        }
        if (zeros > 40 && m)
            return false;
        for (; zeros > 0; zeros--)
            if ((m *= 10) > INT64_MAX)
                return false;
        zeros = 0;
        m = m * 10 + (*p - '0');
        if (m > INT64_MAX)
            return false;
    }
    exponent += zeros;
    if (!any)
        return false;
    if (p < end && (*p | 32) == 'e') {
        p++;
        bool eneg = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        uint64_t e;
        size_t used = sp_parse_u64(p, end, &e);
        if (!used || e > 400)
            return false;
        p += used;
        exponent += eneg ? -(long)e : (long)e;
    }
    if (p != end)
        return false;
    if (m == 0)
        exponent = 0;
    for (; exponent > 0; exponent--)
        if ((m *= 10) > INT64_MAX)
            return false;
    if (exponent < -18)
        return false;
    *mantissa = (int64_t)(neg ? -m : m);
    *scale = (unsigned)-exponent;
    return true;
}

bool sp_parse_fixed(const char *p, size_t n, unsigned digits, __int128 *out, bool *exact)
{
    int64_t m;
    unsigned scale;
    if (sp_parse_scaled(p, n, &m, &scale)) {
        __int128 v = m, cut = 1;
        for (; scale < digits; scale++)
            v *= 10;
        for (; scale > digits; scale--)
            cut *= 10;
        *exact = *exact && v % cut == 0;
        *out = cut == 1 ? v : sp_ratio(v, cut, 1);
        return true;
    }
    double v = n && ((unsigned char)(*p - '0') < 10 || *p == '-') ? sp_text_double(p, n) : 1e30;
    for (unsigned i = 0; i < digits; i++)
        v *= 10;
    if (!(v > -1e27 && v < 1e27))
        return false;
    *exact = false;
    *out = (__int128)(v < 0 ? v - 0.5 : v + 0.5);
    return true;
}

size_t sp_scaled_sum(const char *a, size_t na, const char *b, size_t nb, char out[static 64])
{
    int64_t x, y;
    unsigned sx, sy;
    if (!sp_parse_scaled(a, na, &x, &sx) || !sp_parse_scaled(b, nb, &y, &sy))
        return 0;
    __int128 left = x, right = y;
    unsigned scale = sx > sy ? sx : sy;
    for (; sx < scale; sx++)
        left *= 10;
    for (; sy < scale; sy++)
        right *= 10;
    return sp_scaled_text(left + right, scale, out);
}

size_t sp_scaled_text(__int128 v, unsigned scale, char out[static 64])
{
    char t[64];
    size_t at = sizeof t;
    bool neg = v < 0;
    unsigned __int128 u = neg ? (unsigned __int128)0 - (unsigned __int128)v : (unsigned __int128)v;
    unsigned left = scale;
    while (left && u % 10 == 0 && u) {
        u /= 10;
        left--;
    }
    if (!u)
        left = 0;
    for (unsigned d = 0; u || d <= left; d++) {
        if (d == left && left)
            t[--at] = '.';
        t[--at] = (char)('0' + (int)(u % 10));
        u /= 10;
    }
    size_t n = 0;
    if (neg)
        out[n++] = '-';
    memcpy(out + n, t + at, sizeof t - at);
    n += sizeof t - at;
    out[n] = '\0';
    return n;
}

bool sp_seconds_ns(const char *p, size_t n, int64_t *ns)
{
    int64_t m;
    unsigned scale;
    if (!sp_parse_scaled(p, n, &m, &scale) || scale > 9)
        return false;
    for (; scale < 9; scale++)
        if (__builtin_mul_overflow(m, 10, &m))
            return false;
    *ns = m;
    return true;
}

size_t sp_ns_seconds(int64_t ns, char out[static 32])
{
    char t[64];
    size_t n = sp_scaled_text(ns, 9, t);
    memcpy(out, t, n + 1);
    return n;
}
