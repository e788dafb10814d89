/* What was found of the callchains of a selection (chains.h), which keeps it. */
#ifndef SP_BROKEN_CHAINS_H
#define SP_BROKEN_CHAINS_H

#include "analysis/dso_weights.h"

enum sp_chain {
    SP_CHAIN_WHOLE,
    SP_CHAIN_NO_ENTRY, /* begins in a function that something calls */
    SP_CHAIN_UNMAPPED, /* begins where nothing is mapped */
    SP_CHAIN_CUT,      /* the recorder says that it is cut off */
    SP_CHAIN_EDGE,     /* a frame cannot have called the next */
    SP_CHAINS
};

struct sp_chains {
    bool judged;   /* there are callchains, and what they are is known */
    bool tells;    /* so much is broken that totals are bounds */
    bool copies;   /* unwound from copies of stacks, of which some were too short or lacked tables */
    bool filtered; /* judged before filters of frames: what those look for may be missing from other stacks */
    int64_t of;    /* the weight that was judged */
    int64_t broken, by[SP_CHAINS]; /* of it */
    uint32_t limit;                /* most of it is of this many frames, and none is deeper; 0: it is not */
    unsigned char *rows;           /* per row of the selection: enum sp_chain; NULL where none is judged */
    struct sp_dso_weights dsos;    /* where chains break, heaviest first */
    int64_t unchecked;             /* of frame pointers, not broken, with a caller whose code is not known */
    struct sp_dso_weights unchecked_dsos; /* those callers' */
};

void sp_chains_free(struct sp_chains *c); /* NULL is fine */

#endif
