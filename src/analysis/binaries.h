/*
 * Binaries of two sides that go by different names: `shop` was built as `shop_new`.
 *
 * What only the base has is held against what only the new side has. Two are taken for one binary when at
 * least half of the functions seen (of the side that has fewer) and half of the self weight of each side have
 * the same names, and no other binary comes near that. Names that most programs have (`main`, `_start`, those
 * of languages' libraries) are no evidence, unless there are no others and one binary's name continues the
 * other's. Where another comes near, nothing is taken for granted: both are named as candidates.
 */
#ifndef SP_BINARIES_H
#define SP_BINARIES_H

#include "base/strtab.h"

#include <stddef.h>

/* A function that was seen in a binary: normalised names (normalise.h) as numbers of one table of strings. */
struct sp_binary_use {
    uint32_t dso, function;
    unsigned side; /* 0 the base, 1 the new side */
    double weight; /* own; in any unit that is the same for a side */
};

enum sp_binary_how {
    SP_BINARY_BY_FUNCTIONS, /* their functions have the same names */
    SP_BINARY_BY_NAME,      /* the names are the same but for the version */
    SP_BINARY_MAPPED,       /* somebody said so */
    SP_BINARY_CANDIDATE,    /* might be, and so might another: not compared */
};
extern const char *const sp_binary_how_names[]; /* NULL-terminated */

struct sp_binary_pair {
    uint32_t dso[2];
    enum sp_binary_how how;
    size_t same, of; /* functions with the same name, of all that were seen in either */
};

struct sp_binary_pairs {
    SP_VEC(struct sp_binary_pair) v;
    bool too_many; /* binaries that share functions: none was paired */
};

/*
 * Appends pairs and candidates, by name; the uses are joined. Which binaries share functions is looked at up
 * to a million pairs of them, and sixteen million times for one function. False: out of memory.
 */
bool sp_binaries_pair(const struct sp_strtab *strs, const struct sp_binary_use *uses, size_t n,
                      struct sp_binary_pairs *out);
/* Counts the functions of binary `base` of side 0 and `fresh` of side 1; the uses are joined. */
void sp_binaries_count(const struct sp_binary_use *uses, size_t n, struct sp_binary_pair *pair, uint32_t base,
                       uint32_t fresh);
/* Sorts, and makes one of uses that differ in weight only; how many are left. */
size_t sp_binary_uses_join(struct sp_binary_use *uses, size_t n);

#endif
