/*
 * A number is taken as a sign, significant digits (leading zeros dropped), and the power of ten above the
 * first of them; two positive numbers compare by that power, then digit by digit.
 */
#include "formats/spaa/validate/decimal.h"

/* An exponent too long for 64 bits is as good as this one. */
#define EXPONENT_MAX ((int64_t)1 << 60)

static int64_t exponent_of(const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    int64_t v = 0;
    for (; p < end && v < EXPONENT_MAX / 10; p++)
        v = v * 10 + (*p - '0');
    if (p < end)
        v = EXPONENT_MAX;
    return negative ? -v : v;
}

struct sp_digits sp_decimal(struct sp_span s)
{
    struct sp_digits d = {.p = s.p, .end = s.p + s.n};
    if (d.p < d.end && *d.p == '-') {
        d.negative = true;
        d.p++;
    }
    const char *e = d.p, *point = NULL;
    while (e < d.end && *e != 'e' && *e != 'E') {
        if (*e == '.')
            point = e;
        e++;
    }
    if (e < d.end)
        d.top = exponent_of(e + 1, d.end);
    d.end = e;
    if (!point)
        point = e;
    while (d.p < d.end && (*d.p == '0' || *d.p == '.'))
        d.p++;
    d.zero = d.p == d.end;
    d.top += d.p < point ? point - d.p : point - d.p + 1;
    return d;
}

static char next_digit(struct sp_digits *d)
{
    if (d->p < d->end && *d->p == '.')
        d->p++;
    return d->p < d->end ? *d->p++ : '0';
}

static int compare_size(struct sp_digits a, struct sp_digits b)
{
    if (a.zero || b.zero)
        return a.zero ? -!b.zero : 1;
    if (a.top != b.top)
        return a.top < b.top ? -1 : 1;
    while (a.p < a.end || b.p < b.end) {
        char x = next_digit(&a), y = next_digit(&b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

int sp_decimal_order(struct sp_digits a, struct sp_digits b)
{
    bool an = a.negative && !a.zero, bn = b.negative && !b.zero;
    if (an != bn)
        return an ? -1 : 1;
    return an ? compare_size(b, a) : compare_size(a, b);
}

int sp_decimal_compare(struct sp_span a, struct sp_span b)
{
    if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0) /* as what a leaf weighs of its stack, mostly */
        return 0;
    return sp_decimal_order(sp_decimal(a), sp_decimal(b));
}
