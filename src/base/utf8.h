/*
 * Characters of UTF-8, and which of them do not show.
 */
#ifndef SP_UTF8_H
#define SP_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges in ascending order. */
struct sp_utf8_range {
    uint32_t first, last;
};
bool sp_utf8_in(const struct sp_utf8_range *r, size_t n, uint32_t c);

/* The bytes of a character whose first byte this is; 0: it begins none. */
static inline size_t sp_utf8_bytes(unsigned char first)
{
    if (first < 0x80)
        return 1;
    return first < 0xc2 || first > 0xf4 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}
/* One character at p (n > 0); returns its bytes, 0 if there is none: overlong, surrogate, cut off. */
size_t sp_utf8_decode(const char *p, size_t n, uint32_t *out);
/* What takes no ink, breaks lines or reorders text, control characters among it; the joiners U+200C and
 * U+200D shape scripts and are none of these. */
bool sp_utf8_hidden(uint32_t c);

#endif
