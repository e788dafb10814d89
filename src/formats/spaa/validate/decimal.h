/* Exact comparison of numbers given as JSON text, whatever their length and exponent. */
#ifndef SP_VALIDATE_DECIMAL_H
#define SP_VALIDATE_DECIMAL_H

#include "json/json.h"

bool sp_decimal_is_zero(struct sp_span number);
bool sp_decimal_is_negative(struct sp_span number); /* -0 is not */
int sp_decimal_compare(struct sp_span a, struct sp_span b);

#endif
