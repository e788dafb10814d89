/*
 * Building a profile from aggregations that a tracer printed: DTrace's and bpftrace's.
 *
 * A record is a tuple of keys and one or several values. Stack keys are blocks of frames, leaf first; the
 * others make up the context. Whether a block is kernel or user code mostly cannot be told from one frame, so
 * records are gathered and become stacks at the end, when all have been seen:
 *
 * - a block is what its format says (the name of its key), else kernel where one of its frames is known to
 * be;
 * - else kernel where its modules were only met in kernel blocks, user where one of them was only met in
 *   user blocks, and none in kernel blocks alone;
 * - else, in records of two blocks, what the other is not, what most blocks at its place are, or the
 *   first is the kernel's; these tell of modules, too;
 * - else kernel where all known blocks at its place are;
 * - else user.
 *
 * The kernel and the user block of one record become two stacks linked by related_stacks; both carry the
 * weight (design: one observation, counted once). Records of one stack and context add up as the vocabulary
 * says; where it says that a metric does not combine, they stay apart.
 *
 * All functions that return bool or a number (SP_NONE) fail for want of memory only.
 */
#ifndef SP_AGGREGATION_H
#define SP_AGGREGATION_H

#include "model/profile.h"

enum sp_agg_side { SP_AGG_ANY, SP_AGG_USER, SP_AGG_KERNEL }; /* bits of what is told */

/* A frame as printed; strings are numbers of the profile's strs. */
struct sp_agg_frame {
    uint32_t name;
    uint32_t module; /* SP_STR_NONE: none was printed */
    uint32_t more;   /* raw members */
    uint32_t srcline, build_id;
    uint32_t inline_depth;
    uint64_t ip, symoff;
    uint8_t flags; /* enum sp_frame_flag */
    uint8_t side;  /* enum sp_agg_side: what the frame alone tells */
};

struct sp_agg_value {
    uint32_t metric; /* SP_NONE: the primary metric of the event */
    uint32_t text;   /* number text, or SP_STR_NONE: see v */
    int64_t v;
};

struct sp_agg_block {
    uint64_t first; /* in block_frames */
    uint32_t n;
    uint16_t place; /* among the stacks of its record */
    uint8_t side;
    uint8_t told; /* what its frames tell: the bits of their sides */
};

struct sp_agg_record {
    uint64_t first_block, first_value;
    uint32_t blocks, values;
    uint32_t context;
};

struct sp_agg {
    struct sp_profile *p; /* borrowed */
    struct sp_diags *d;
    enum sp_granularity granularity; /* SP_FRAMES_ADDRESS unless set */
    uint32_t samples;                /* metric that counts beside the primary one, or SP_NONE */
    SP_VEC(struct sp_agg_frame) frames;
    SP_VEC(uint32_t) block_frames; /* numbers in frames */
    SP_VEC(struct sp_agg_block) blocks;
    SP_VEC(struct sp_agg_value) values;
    SP_VEC(struct sp_agg_record) records;
};

/* User addresses are below 2^47, kernel ones in the last part of the address space; others tell nothing. */
static inline enum sp_agg_side sp_agg_address_side(uint64_t ip)
{
    return ip >> 48 == 0xffff ? SP_AGG_KERNEL : ip >> 47 ? SP_AGG_ANY : SP_AGG_USER;
}

void sp_agg_init(struct sp_agg *a, struct sp_profile *p, struct sp_diags *d);
void sp_agg_free(struct sp_agg *a);
/* The number of a new frame. */
uint32_t sp_agg_frame_add(struct sp_agg *a, const struct sp_agg_frame *f);
/*
 * A function's name as people write it: demangled, and Rust's escaped forms undone; the raw name goes to
 * *more as a member `"NAMESPACE":{"raw":"…"}` where it differs.
 */
bool sp_agg_name(struct sp_agg *a, const char *symbol, size_t n, const char *namespace, uint32_t *name,
                 uint32_t *more);
/* Begins a block; its frames follow by sp_agg_block_push. */
bool sp_agg_block_begin(struct sp_agg *a, enum sp_agg_side side, uint32_t place);
static inline bool sp_agg_block_push(struct sp_agg *a, uint32_t frame)
{
    if (!sp_vec_push(&a->block_frames, frame))
        return false;
    a->blocks.v[a->blocks.n - 1].n++;
    a->blocks.v[a->blocks.n - 1].told |= a->frames.v[frame].side;
    return true;
}
bool sp_agg_value_add(struct sp_agg *a, uint32_t metric, int64_t v);
bool sp_agg_value_text(struct sp_agg *a, uint32_t metric, const char *s, size_t n);
/*
 * A row of a distribution, whose label is `mark` and n bytes: a value of the metric "bucket:…", unless it
 * counts nothing. Adds to *total, which stops at the largest number. SPAA_ERR_NOMEM, SPAA_ERR_LIMIT,
 * reported.
 */
spaa_status sp_agg_bucket_add(struct sp_agg *a, const char *mark, const char *label, size_t n, int64_t count,
                              int64_t *total, struct sp_where at);
/* Makes a record of the blocks from first_block on and the values from first_value on. */
bool sp_agg_record_add(struct sp_agg *a, size_t first_block, size_t first_value, uint32_t context);
/* Forgets them instead. */
void sp_agg_drop(struct sp_agg *a, size_t first_block, size_t first_value);
/*
 * An event for values of `metric` (count, sum, …; of an event of kind SP_TIMER counts are `samples`), named
 * after a probe: "profile-997" and "tick-10ms" are timers, "syscall::read:entry" is a probe.
 */
bool sp_agg_event_named(struct sp_profile *p, const char *name, size_t n, const char *metric,
                        struct sp_event *out);
/* Turns the records into stacks; the events' primary metrics are final by now. */
spaa_status sp_agg_finish(struct sp_agg *a);

#endif
