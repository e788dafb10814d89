/*
 * Exact decimals of any length, as the texts they are written in: "18446744073709551616", "0.10", "-2e3".
 *
 * For numbers beyond 64 bits, and for sums that must not depend on their order, as doubles' do.
 */
#ifndef SP_DECIMAL_H
#define SP_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#define SP_DECIMAL_DIGITS 2048 /* the longest number, written without exponent */

/* By value: negative, 0, positive; *ok is set to false where one of them is no such number. */
int sp_decimal_cmp(const char *a, size_t na, const char *b, size_t nb, bool *ok);
/*
 * The sum's shortest text without exponent into out (no NUL); its length, or 0 where a or b is no number or
 * the sum does not fit in SP_DECIMAL_DIGITS.
 */
size_t sp_decimal_add(const char *a, size_t na, const char *b, size_t nb,
                      char out[static SP_DECIMAL_DIGITS + 4]);

#endif
