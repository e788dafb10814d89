#include "base/decimal.h"

#include "base/num.h"

#include <stdint.h>
#include <string.h>

/* value = digits * 10^exp; no zeros at either end; n 0: zero. */
struct decimal {
    bool negative;
    size_t n;
    long exp;
    unsigned char digit[SP_DECIMAL_DIGITS];
};

enum { EXPONENT_MAX = 100000 };

static bool parse_exponent(const char *p, const char *end, long *exp)
{
    if (p == end)
        return true;
    if ((*p | 32) != 'e')
        return false;
    p++;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    uint64_t e;
    size_t used = sp_parse_u64(p, end, &e);
    if (!used || p + used != end || e > EXPONENT_MAX)
        return false;
    *exp += negative ? -(long)e : (long)e;
    return true;
}

static bool parse(const char *p, size_t n, struct decimal *d)
{
    const char *end = p + n;
    bool point = false, any = false;
    d->n = 0;
    d->exp = 0;
    d->negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    for (; p < end && ((unsigned char)(*p - '0') < 10 || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        d->exp -= point;
        if (!d->n && *p == '0')
            continue;
        if (d->n == SP_DECIMAL_DIGITS)
            return false;
        d->digit[d->n++] = (unsigned char)(*p - '0');
    }
    if (!any || !parse_exponent(p, end, &d->exp))
        return false;
    for (; d->n && !d->digit[d->n - 1]; d->n--)
        d->exp++;
    if (!d->n) {
        d->exp = 0;
        d->negative = false;
    }
    return true;
}

/* Without the signs. */
static int cmp_magnitude(const struct decimal *a, const struct decimal *b)
{
    if (!a->n || !b->n)
        return (a->n > 0) - (b->n > 0);
    long ta = (long)a->n + a->exp, tb = (long)b->n + b->exp;
    if (ta != tb)
        return ta < tb ? -1 : 1;
    size_t least = a->n < b->n ? a->n : b->n;
    int c = memcmp(a->digit, b->digit, least);
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

int sp_decimal_cmp(const char *a, size_t na, const char *b, size_t nb, bool *ok)
{
    struct decimal x, y;
    if (!parse(a, na, &x) || !parse(b, nb, &y)) {
        *ok = false;
        return 0;
    }
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    int c = cmp_magnitude(&x, &y);
    return x.negative ? -c : c;
}

/* The digit of 10^place. */
static int digit_at(const struct decimal *d, long place)
{
    long i = d->exp + (long)d->n - 1 - place;
    return i >= 0 && i < (long)d->n ? d->digit[i] : 0;
}

static size_t decimal_text_of(const unsigned char *digit, long lo, long hi, bool negative, char *out)
{
    size_t n = 0;
    long first = hi;
    while (first > 0 && !digit[first - lo])
        first--;
    long last = lo;
    while (last < 0 && !digit[last - lo])
        last++;
    if (negative)
        out[n++] = '-';
    for (long place = first; place >= last; place--) {
        if (place == -1)
            out[n++] = '.';
        out[n++] = (char)('0' + digit[place - lo]);
    }
    return n;
}

size_t sp_decimal_add(const char *a, size_t na, const char *b, size_t nb,
                      char out[static SP_DECIMAL_DIGITS + 4])
{
    struct decimal x, y;
    if (!parse(a, na, &x) || !parse(b, nb, &y))
        return 0;
    const struct decimal *big = &x, *small = &y;
    if (cmp_magnitude(&x, &y) < 0) {
        big = &y;
        small = &x;
    }
    /* The places from 10^lo to 10^hi, the units among them. */
    long lo = 0, hi = 0, top = (long)big->n + big->exp;
    if (x.n && x.exp < lo)
        lo = x.exp;
    if (y.n && y.exp < lo)
        lo = y.exp;
    hi = top > hi ? top : hi;
    if (hi - lo + 1 > SP_DECIMAL_DIGITS)
        return 0;
    unsigned char digit[SP_DECIMAL_DIGITS];
    int sign = x.negative == y.negative ? 1 : -1, carry = 0;
    bool zero = true;
    for (long place = lo; place <= hi; place++) {
        int v = digit_at(big, place) + sign * digit_at(small, place) + carry;
        carry = v < 0 ? -1 : v > 9;
        v -= 10 * carry;
        digit[place - lo] = (unsigned char)v;
        zero = zero && !v;
    }
    return decimal_text_of(digit, lo, hi, big->negative && !zero, out);
}
