#include "base/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool sp_base64_encode(struct sp_buf *b, const unsigned char *p, size_t n)
{
    if (!sp_buf_reserve(b, (n + 2) / 3 * 4))
        return false;
    char *to = b->data + b->len;
    for (; n >= 3; n -= 3, p += 3) {
        uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = digits[v >> shift & 63];
    }
    if (n) {
        uint32_t v = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = n > 1 ? digits[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    b->len = (size_t)(to - b->data);
    return true;
}

bool sp_base64_decode(struct sp_buf *b, const char *p, size_t n)
{
    static const unsigned char plus_one[256] = {
    /* the digit's value + 1; 0: none */
#define ROW(c, v) [c] = (v) + 1
        ROW('A', 0),  ROW('B', 1),  ROW('C', 2),  ROW('D', 3),  ROW('E', 4),  ROW('F', 5),  ROW('G', 6),
        ROW('H', 7),  ROW('I', 8),  ROW('J', 9),  ROW('K', 10), ROW('L', 11), ROW('M', 12), ROW('N', 13),
        ROW('O', 14), ROW('P', 15), ROW('Q', 16), ROW('R', 17), ROW('S', 18), ROW('T', 19), ROW('U', 20),
        ROW('V', 21), ROW('W', 22), ROW('X', 23), ROW('Y', 24), ROW('Z', 25), ROW('a', 26), ROW('b', 27),
        ROW('c', 28), ROW('d', 29), ROW('e', 30), ROW('f', 31), ROW('g', 32), ROW('h', 33), ROW('i', 34),
        ROW('j', 35), ROW('k', 36), ROW('l', 37), ROW('m', 38), ROW('n', 39), ROW('o', 40), ROW('p', 41),
        ROW('q', 42), ROW('r', 43), ROW('s', 44), ROW('t', 45), ROW('u', 46), ROW('v', 47), ROW('w', 48),
        ROW('x', 49), ROW('y', 50), ROW('z', 51), ROW('0', 52), ROW('1', 53), ROW('2', 54), ROW('3', 55),
        ROW('4', 56), ROW('5', 57), ROW('6', 58), ROW('7', 59), ROW('8', 60), ROW('9', 61), ROW('+', 62),
        ROW('/', 63)
#undef ROW
    };
    size_t padding = n < 4 || p[n - 1] != '=' ? 0 : p[n - 2] == '=' ? 2 : 1;
    if (n % 4 || !sp_buf_reserve(b, n / 4 * 3))
        return false;
    unsigned char *to = (unsigned char *)b->data + b->len;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t v = 0;
        for (size_t k = i; k < i + 4; k++) {
            unsigned digit = k < n - padding ? plus_one[(unsigned char)p[k]] : 1;
            if (!digit)
                return false;
            v = v << 6 | (digit - 1);
        }
        *to++ = (unsigned char)(v >> 16);
        *to++ = (unsigned char)(v >> 8);
        *to++ = (unsigned char)v;
    }
    b->len = (size_t)(to - (unsigned char *)b->data) - padding;
    return true;
}
