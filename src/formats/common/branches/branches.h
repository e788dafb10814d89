/*
 * What optimisers take of a profile: of one binary, its branches, what ran between them, and its samples, by
 * address. Formats of optimisers are ways to write that down (profgen, autofdo, bolt, fdata).
 *
 * Branches are those of the event `lbr`, ranges those of `lbr_trace` (model/events.h): SPT has branches
 * alone. Rows are sorted and added up; of branches from or to other binaries, that end is SP_BR_OUTSIDE.
 */
#ifndef SP_BRANCHES_H
#define SP_BRANCHES_H

#include "formats/format.h"

#define SP_BR_OUTSIDE UINT64_MAX

/* Of a branch from and to; of a range its first byte and the branch that ends it; of a sample its address. */
struct sp_br_row {
    uint64_t a, b;
    uint64_t count, missed; /* missed: of a branch, how often it was predicted wrongly */
    bool entered;           /* of a range: from another function, where that is known */
    uint32_t frame;         /* of a sample: one that stands there */
};
struct sp_br_rows {
    struct sp_br_row *v;
    size_t n, cap;
};

enum sp_br_addresses {
    SP_BR_LINKED,
    SP_BR_OFFSETS, /* in the file */
    SP_BR_TEXT,    /* from the page where the first executable segment is linked */
};

struct sp_br_wants {
    const char *format; /* for messages: "llvm-profgen's profile" */
    enum sp_br_addresses addresses;
    bool branches, samples; /* what the format has */
    bool outside;           /* it has branches from and to other binaries */
};

struct sp_branches {
    uint32_t dso, event; /* event: of the samples, or SP_NONE */
    struct sp_br_rows branches, ranges, samples;
};

/* The options of these formats. */
#define SP_BR_OPTIONS                                                                                        \
    {"binary", "NAME", "of which binary: without it, of that with the most weight", SP_CAN_WRITE},           \
    {                                                                                                        \
        "image", "FILE", "the binary itself: its segments say what addresses offsets are, and the reverse",  \
            SP_CAN_WRITE                                                                                     \
    }

/*
 * Takes them. What is left out is reported, and which binary it is of. SPAA_ERR_UNSUPPORTED, reported, when
 * nothing of what the format takes is there; _USAGE: --binary names none; _INPUT: --image is of no use.
 */
spaa_status sp_branches_take(const struct sp_profile *p, const struct sp_write_opts *opts,
                             const struct sp_br_wants *wants, struct sp_diags *d, struct sp_branches *out);
void sp_branches_free(struct sp_branches *b); /* a zeroed one is fine */

/*
 * print.c: the number of rows, and a line for each: "a-b:count" with what stands `between`, "a:count" where
 * that is NULL. How a range was entered is not told.
 */
void sp_br_print(const struct sp_br_rows *rows, const char *between, struct sp_output *out);

/* image.c: makes all addresses what the format wants; the rows are in no order then. As sp_branches_take. */
spaa_status sp_branches_place(const struct sp_profile *p, const struct sp_write_opts *opts,
                              const struct sp_br_wants *wants, struct sp_diags *d, struct sp_branches *b);

#endif
