/*
 * Numbers to text and back, exactly.
 *
 * Parsers take a span, never a NUL-terminated string, return the number of bytes used (0: no number
 * or it does not fit), and do not look at the locale.
 */
#ifndef SP_NUM_H
#define SP_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t sp_u64_text(uint64_t v, char out[static 20]); /* decimal digits, no NUL; returns how many */
size_t sp_hex_text(uint64_t v, char out[static 16]); /* lower-case hex digits, no prefix, no NUL */
size_t sp_parse_u64(const char *p, const char *end, uint64_t *out);
size_t sp_parse_i64(const char *p, const char *end, int64_t *out);
size_t sp_parse_hex(const char *p, const char *end, uint64_t *out); /* no prefix */
/* "0x1f" as a whole; false, and *out as it was, if anything else stands there. */
bool sp_parse_0x(const char *p, size_t n, uint64_t *out);

/* The shortest decimal text that reads back to the same double; finite values only, NUL-terminated. */
size_t sp_double_text(double v, char out[static 32]);
double sp_text_double(const char *p, size_t n);

/*
 * A decimal number as mantissa * 10^-scale with scale <= 18, exactly: "3.140" is 3140 at scale 3, or
 * 314 at scale 2 (trailing zeros are dropped), "2e3" is 2000 at scale 0. False when it does not fit.
 */
bool sp_parse_scaled(const char *p, size_t n, int64_t *mantissa, unsigned *scale);
/*
 * A number as whole units of 10^-digits (digits <= 9), rounded half away from zero: "1.5" is 1500 with 3
 * digits. *exact is set to false where something was rounded. False: it is no number, or beyond 10^27 units.
 */
bool sp_parse_fixed(const char *p, size_t n, unsigned digits, __int128 *out, bool *exact);
/* Their sum as text, exactly; 0: one is no such number. NUL-terminated; out may not overlap them. */
size_t sp_scaled_sum(const char *a, size_t na, const char *b, size_t nb, char out[static 64]);
/* The text of v * 10^-scale without trailing zeros of the fraction; NUL-terminated. */
size_t sp_scaled_text(__int128 v, unsigned scale, char out[static 64]);

/*
 * Seconds as decimal text ("838.459762") to nanoseconds and back; exact, at most 9 fraction digits.
 * Printing drops trailing zeros, and the point when nothing follows it.
 */
bool sp_seconds_ns(const char *p, size_t n, int64_t *ns);
size_t sp_ns_seconds(int64_t ns, char out[static 32]);

/* times * part / whole, rounded half up (away from zero); whole is not 0. */
static inline __int128 sp_ratio(__int128 part, __int128 whole, int64_t times)
{
    bool neg = (part < 0) != (whole < 0);
    part = part < 0 ? -part : part;
    whole = whole < 0 ? -whole : whole;
    __int128 r = (part * times * 2 + whole) / (whole * 2);
    return neg ? -r : r;
}

#endif
