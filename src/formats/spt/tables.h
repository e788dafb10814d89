/*
 * Hits of each distinct thing of a trace: what the reader adds up before it fills the profile, and the writer
 * before it writes.
 */
#ifndef SP_SPT_TABLES_H
#define SP_SPT_TABLES_H

#include "formats/common/spt/spt.h"

/* By key: an RVA, or to << 32 | from of a branch. */
struct sp_spt_count {
    uint64_t key;
    struct sp_spt_sum sum; /* 0: an empty slot */
};
struct sp_spt_counts {
    struct sp_spt_count *slots;
    size_t mask, count;
};

/* A call stack: n addresses as they stand in a file, leaf first. */
struct sp_spt_stack {
    const unsigned char *entries;
    struct sp_spt_sum sum;
    uint32_t n, program;
};

/*
 * Call stacks wait to be looked up together: while a file streams through the caches the table falls out of
 * them, so what each look-up will touch is asked for one step ahead.
 */
enum { SP_SPT_BATCH = 32 };
struct sp_spt_waiting {
    const unsigned char *entries; /* lent */
    uint64_t hash, hits;
    uint32_t n, program;
};

struct sp_spt_tables {
    struct sp_spt_counts (*counts)[SP_SPT_KIND_CALLSTACK]; /* [program][kind] */
    uint32_t programs;                                     /* room of counts */
    SP_VEC(struct sp_spt_stack) stacks;
    struct sp_map stack_map;
    struct sp_arena arena; /* the stacks' addresses */
    struct sp_spt_waiting waiting[SP_SPT_BATCH];
    unsigned nwaiting;
};

void sp_spt_tables_init(struct sp_spt_tables *t);
void sp_spt_tables_free(struct sp_spt_tables *t);
/* These return false when memory is exhausted. hits is not 0. */
bool sp_spt_tables_reach(struct sp_spt_tables *t, uint32_t program); /* makes room for its counts */
bool sp_spt_counts_add(struct sp_spt_counts *c, uint64_t key, uint64_t hits);
bool sp_spt_stack_add(struct sp_spt_tables *t, uint32_t program, const unsigned char *entries, uint32_t n,
                      uint64_t hits);
/*
 * An event record, which has hits. Call stacks may wait: sp_spt_tables_settle, before what the records lend
 * goes away, and at the end.
 */
bool sp_spt_tables_add(struct sp_spt_tables *t, const struct sp_spt_record *r);
bool sp_spt_tables_settle(struct sp_spt_tables *t);

#endif
