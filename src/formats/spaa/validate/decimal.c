/*
 * A number is taken as a sign, significant digits (leading zeros dropped), and the power of ten above the
 * first of them; two positive numbers compare by that power, then digit by digit.
 */
#include "formats/spaa/validate/decimal.h"

struct decimal {
    bool negative, zero;
    const char *p, *end; /* digits and perhaps a point, from the first significant digit on */
    int64_t top;         /* 0.d1d2d3… times 10^top */
};

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

static struct decimal decimal_of(struct sp_span s)
{
    struct decimal d = {.p = s.p, .end = s.p + s.n};
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

bool sp_decimal_is_zero(struct sp_span number)
{
    return decimal_of(number).zero;
}

bool sp_decimal_is_negative(struct sp_span number)
{
    struct decimal d = decimal_of(number);
    return d.negative && !d.zero;
}

static char next_digit(struct decimal *d)
{
    if (d->p < d->end && *d->p == '.')
        d->p++;
    return d->p < d->end ? *d->p++ : '0';
}

static int compare_size(struct decimal a, struct decimal b)
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

int sp_decimal_compare(struct sp_span x, struct sp_span y)
{
    struct decimal a = decimal_of(x), b = decimal_of(y);
    bool an = a.negative && !a.zero, bn = b.negative && !b.zero;
    if (an != bn)
        return an ? -1 : 1;
    return an ? compare_size(b, a) : compare_size(a, b);
}
