/*
 * Numbers in words for people. All append to `out` and return false only when the buffer failed (base/buf.h).
 */
#ifndef SP_WORDS_H
#define SP_WORDS_H

#include "base/buf.h"
#include "base/strtab.h"

/* v * 10^-scale with thousands separators and no trailing zeros of the fraction: "-1,234.5". */
bool sp_text_grouped(struct sp_buf *out, int64_t v, unsigned scale);
/* "512 B", "1.50 KiB", "-3.21 MiB": v * 10^-scale bytes with two decimals, halves away from zero. */
bool sp_text_bytes(struct sp_buf *out, int64_t v, unsigned scale);
/* 100 * v / of with exactly two decimals, halves away from zero: "12.35"; "0.00" when `of` is 0. No sign
 * of percent. */
bool sp_text_percent(struct sp_buf *out, int64_t v, int64_t of);

/* The same as short as it is read: "62 %", "3.1 %", "<0.1 %"; 100 only of all. */
bool sp_text_about(struct sp_buf *out, int64_t v, int64_t of);

/* "1 sample", "1,308 samples", "0 samples": of a noun whose plural has an s. */
bool sp_text_count(struct sp_buf *out, uint64_t n, const char *noun);

/* A weight of this unit: time where that is "ns" ("1.23 s"), KiB and more of "bytes", else "1,234". */
bool sp_text_weight(struct sp_buf *out, struct sp_str unit, unsigned scale, int64_t v);

#endif
