/*
 * Packed numbers, in a hurry: where they end comes from a mask of 64 bytes at a time, and four of up to three
 * bytes each are pushed together at once, so that no branch depends on how long one is.
 *
 * Of bytes before or behind what is asked for, a whole block is loaded: it must lie in memory.
 */
#ifndef SP_PPROF_PACKED_H
#define SP_PPROF_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PP_BLOCK   64u
#define PP_FACTORS 1024u
#define PP_STEP    32u

/* How the bytes of four numbers are spread over four words, by the ends among the next twelve bytes. */
#define PP_SHAPES 81u /* three lengths, four times */
struct sp_pp_shapes {
    bool usable;          /* the processor has what it takes */
    uint8_t number[4096]; /* of a shape; 0: one of the four is longer */
    uint8_t bytes[PP_SHAPES + 1][16];
    uint32_t factors[PP_FACTORS];
};
void sp_pp_shapes(struct sp_pp_shapes *x);

/*
 * Numbers packed in n bytes, the last of which ends one, into out, which has room for n + 4; those that are
 * not below `limit` as 0. How many; 0: some take more than eight bytes.
 */
size_t sp_pp_unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                    uint32_t *out);

/*
 * Copies n words, in steps of PP_STEP: where others stand behind them, these must be zeros. `to` may be where
 * they are. Returns a hash of them, to be mixed with n: the sum of the products of two each, with a random
 * number of its place added (NH of Black et al., UMAC, 1999).
 */
uint64_t sp_pp_copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to);

/*
 * How many of up to `max` bytes before a and before b are the same and are whole numbers of both, which end
 * there; *numbers: how many these are. What stands before those bytes ends like one of them.
 */
size_t sp_pp_same_end(const struct sp_pp_shapes *x, const unsigned char *a, const unsigned char *b,
                      size_t max, size_t *numbers);

#endif
