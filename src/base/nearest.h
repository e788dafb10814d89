/* The nearest names to one that does not exist, for errors that help. */
#ifndef SP_NEAREST_H
#define SP_NEAREST_H

#include "base/buf.h"
#include "base/strtab.h"

/*
 * Appends "did you mean A, B?" for names close to `asked` (edit distance, or one holds the other), else
 * "there are A, B, C and 12 more"; nothing when there are no names. At most 5 are named.
 */
void sp_nearest_words(struct sp_buf *out, const char *asked, const struct sp_str *names, size_t n);
/* Edit distance with swaps, of at most 64 bytes each; larger than `cap` is returned as cap + 1. */
unsigned sp_edit_distance(struct sp_str a, struct sp_str b, unsigned cap);

#endif
