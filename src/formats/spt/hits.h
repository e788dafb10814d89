/*
 * Hits of each distinct thing of a trace: what the reader adds up before it fills the profile, and the writer
 * before it writes. Things are samples, branches and call stacks, each some addresses in one program.
 *
 * Call stacks are stacks of a profile of its own, whose frames are the addresses and whose contexts are
 * program and kind, so that equal ones are found as equal stacks are everywhere. Samples and branches, of
 * which there are many more, are counted by their addresses, and join the others at the end.
 */
#ifndef SP_SPT_HITS_H
#define SP_SPT_HITS_H

#include "formats/common/spt/spt.h"
#include "model/profile.h"

/* By address of a sample, or to << 32 | from of a branch: an open table. */
struct sp_spt_count {
    uint64_t key;
    struct sp_spt_sum sum; /* 0: an empty slot */
};
struct sp_spt_counts {
    struct sp_spt_count *slots;
    size_t mask, count;
};

struct sp_spt_hits {
    struct sp_spt_counts (*counts)[SP_SPT_KIND_CALLSTACK]; /* [program][kind] */
    uint32_t programs;                                     /* room of counts */
    struct sp_profile *things;
    SP_VEC(struct sp_spt_sum) sums; /* by stack */
};

struct sp_spt_thing {
    uint32_t program;
    int kind;
    uint32_t n;
    const uint32_t
        *addresses; /* as in a file: call stacks leaf first, branches to and from; until the next add */
    struct sp_spt_sum sum;
};

spaa_status sp_spt_hits_init(struct sp_spt_hits *h, struct sp_diags *d);
void sp_spt_hits_free(struct sp_spt_hits *h); /* a zeroed one is fine */
/* False: out of memory. A program's number is below 2^29. */
bool sp_spt_hits_add(struct sp_spt_hits *h, uint32_t program, int kind, const uint32_t *addresses, uint32_t n,
                     struct sp_spt_sum sum);

/* After the last add, before the first look: false: out of memory. */
bool sp_spt_hits_finish(struct sp_spt_hits *h);

static inline size_t sp_spt_hits_count(const struct sp_spt_hits *h)
{
    return h->sums.n;
}
struct sp_spt_thing sp_spt_hits_at(const struct sp_spt_hits *h, size_t i);

#endif
