/* How much of each opcode a trace has, by program: what validation, dumps and matching sum up. */
#ifndef SP_SPT_TALLY_H
#define SP_SPT_TALLY_H

#include "base/buf.h"
#include "formats/common/spt/spt.h"

struct sp_spt_tally {
    uint32_t program;
    uint64_t records[SP_SPT_KINDS];
    uint64_t entries[SP_SPT_KINDS];       /* samples, pairs; of call stacks their arcs */
    struct sp_spt_sum hits[SP_SPT_KINDS]; /* entries times 1 + repeats; of call stacks the stacks */
};

struct sp_spt_tallies {
    struct sp_spt_tally *v; /* by program, until sorted */
    uint32_t n, used;       /* used: how many have something, once sorted */
};

void sp_spt_tallies_free(struct sp_spt_tallies *t); /* a zeroed one is empty and valid */
/* Counts a record that is an event; false: out of memory. */
bool sp_spt_tally_add(struct sp_spt_tallies *t, const struct sp_spt_record *r);
/* By descending hits: the last step. */
void sp_spt_tallies_sort(struct sp_spt_tallies *t);
bool sp_spt_has(const struct sp_spt_tally *t, int kind);
/* In decimal. */
void sp_spt_sum_text(struct sp_buf *out, struct sp_spt_sum s);

#endif
