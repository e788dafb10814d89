/* Exact comparison of numbers given as JSON text, whatever their length and exponent. */
#ifndef SP_VALIDATE_DECIMAL_H
#define SP_VALIDATE_DECIMAL_H

#include "json/json.h"

struct sp_digits {
    bool negative, zero;
    const char *p, *end; /* digits and perhaps a point, from the first significant digit on */
    int64_t top;         /* 0.d1d2d3… times 10^top */
};

struct sp_digits sp_decimal(struct sp_span number); /* points into the text */
int sp_decimal_order(struct sp_digits a, struct sp_digits b);

/* Most numbers show it by their first character. */
static inline bool sp_decimal_is_zero(struct sp_span number)
{
    return (unsigned char)(*number.p - '1') > 8 && sp_decimal(number).zero;
}
static inline bool sp_decimal_is_negative(struct sp_span number) /* -0 is not */
{
    return *number.p == '-' && !sp_decimal(number).zero;
}
int sp_decimal_compare(struct sp_span a, struct sp_span b);

#endif
