/*
 * What SPT can say of a profile: collect.c adds it up, collect_words.c says what had to be left out, writer.c
 * lays out the file.
 */
#ifndef SP_SPT_COLLECT_H
#define SP_SPT_COLLECT_H

#include "formats/spt/hits.h"
#include "formats/spt/modules.h"
#include "formats/spt/spt_format.h"

#include "json/json.h"

enum { SP_SPT_SPLIT = 255 /* a record counts its addresses in a byte */ };

struct sp_spt_target {
    struct sp_rsds rsds;
    struct sp_str name; /* as it is written */
    uint32_t dso;
};

/* What goes into the file. */
struct sp_spt_collected {
    SP_VEC(struct sp_spt_target) programs; /* by name, then key */
    SP_VEC(struct sp_spt_thing) things;    /* with the numbers of these programs */
    struct sp_spt_hits hits;
};

struct sp_spt_collector {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_write_opts *opts;
    struct sp_spt_collected *out;
    struct sp_spt_modules modules;
    uint32_t *metrics;       /* by event: what is its hits; SP_NONE: nothing */
    int *kinds;              /* by event; below 0: none */
    uint32_t stacks_of;      /* the event whose stacks are written as call stacks */
    SP_VEC(uint32_t) frames; /* of the stack at hand: physical ones, leaf first */
    uint64_t no_frames;      /* hits of samples without a stack */
    uint64_t no_address, large, crossing_branches, crossing_calls, odd_weight, odd_event, written;
    struct sp_spt_sum split_hits; /* of stacks with more than SP_SPT_SPLIT frames of one binary in a row */
    uint64_t split, pieces;       /* how many these are, and records more than if they were whole */
    uint64_t traces;              /* of branches */
    uint64_t heaps;               /* of odd_event: of what was allocated */
};

/*
 * Enters the object `x_spt` of raw members (a header's, a context's): the cursor, which is initialised either
 * way, then walks its keys. `text` is what it walks over.
 */
bool sp_spt_enter(struct sp_json *j, struct sp_buf *text, struct sp_str more);

/*
 * What cannot be written is reported; SPAA_ERR_UNSUPPORTED (or USAGE: a NAME of --binary that is not there),
 * reported, when nothing can be. Free it on success only.
 */
spaa_status sp_spt_collect(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                           struct sp_spt_collected *out);
void sp_spt_collected_free(struct sp_spt_collected *c); /* a zeroed one is fine */

/* collect_words.c: reports all that was left out. SPAA_ERR_UNSUPPORTED, reported: that is everything. */
spaa_status sp_spt_report(struct sp_spt_collector *c);

#endif
