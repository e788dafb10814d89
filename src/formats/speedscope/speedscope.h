/*
 * speedscope's own format: https://www.speedscope.app/file-format-schema.json, src/lib/file-format-spec.ts of
 * github.com/jlfwong/speedscope; also what py-spy, rbspy and many others write.
 *
 *     {"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},…]},
 *      "profiles":[{"type":"sampled","name":"one","unit":"seconds","startValue":0,"endValue":14,
 *                   "samples":[[0,1],…],"weights":[1,…]},
 *                  {"type":"evented",…,"events":[{"type":"O","frame":0,"at":0},{"type":"C",…}]}]}
 *
 * A file has frames, and profiles of their own names and units that use them: as a rule one for each thread.
 * Members stand in any order, so the text is held whole, and its parts are read when they are needed.
 *
 * What the format does not say:
 * - what is measured. Events here are `time` (whatever the unit, in nanoseconds), `bytes` and `weight`.
 * - how many samples were taken: a row of a sampled profile may stand for one or for a thousand.
 * - whether a line is where a function begins or where it was; it is taken for the latter.
 * - binaries. A file without a line is taken for one, as what speedscope makes of perf's text has it.
 */
#ifndef SP_SPEEDSCOPE_H
#define SP_SPEEDSCOPE_H

#include "formats/common/text/json_file.h"
#include "json/find.h"

#define SP_SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

enum sp_ss_kind { SP_SS_TIME, SP_SS_BYTES, SP_SS_WEIGHT, SP_SS_KINDS };

struct sp_ss {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_json_file file;
    SP_VEC(uint32_t) frames; /* by their number in the file; SP_NONE: it is none */
    uint32_t events[SP_SS_KINDS], layouts[SP_SS_KINDS], value;
    bool ours; /* rows of sampled profiles are sums, their order is no time; lines are of declarations */
    size_t frames_max;
    SP_VEC(uint32_t) path; /* a stack, leaf first */
    /* What is said once, at the end. */
    uint64_t rounded, bad_frames, bad_rows, stray_closes, mended, left_open, backwards, deep;
    int64_t gaps[SP_SS_KINDS]; /* while no frame was open, in the unit of the event's weights */
    bool timed;                /* some profile's rows have times */
    int64_t first, last;       /* of them, ns */
    spaa_status status;        /* of what ended a walk that the text did not */
};

/* The profile in work. Values are fixed numbers: of time nanoseconds, of others in 10^-9. */
struct sp_ss_profile {
    struct sp_span type, unit, events, samples, weights;
    enum sp_ss_kind kind;
    unsigned digits; /* of its unit to those */
    uint32_t context;
    int64_t pid, tid;
    bool has_start, has_end;
    __int128 start, end;
};

/* frames.c: the table of frames; false: r->status says why. */
bool sp_ss_read_frames(struct sp_ss *r, struct sp_span frames);

/* stack.c */
#define SP_SS_DEPTH ((size_t)1 << 14) /* open frames; what is called deeper counts as the last one's */
/* A number of the profile; false: it is none, which is counted. */
bool sp_ss_number(struct sp_ss *r, const struct sp_ss_profile *x, struct sp_span raw, __int128 *out);
/* The frame of this number; SP_NONE, counted: there is none. */
uint32_t sp_ss_frame(struct sp_ss *r, struct sp_span raw);
/* A weight for the stack in r->path, root first, that ended at `until`; timed: that is a time. */
bool sp_ss_add(struct sp_ss *r, const struct sp_ss_profile *x, __int128 weight, bool timed, __int128 until);
/* Where a cursor stands, and whether the call may go on: false where it is to be left. */
bool sp_ss_note(struct sp_ss *r, const struct sp_json *j);
/* What ended a walk over a part of the text, reported; false: it is a reason to end the reading. */
bool sp_ss_ended(struct sp_ss *r, const struct sp_json *j);

bool sp_ss_read_evented(struct sp_ss *r, const struct sp_ss_profile *x);
bool sp_ss_read_sampled(struct sp_ss *r, const struct sp_ss_profile *x);

spaa_status sp_ss_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p);
spaa_status sp_ss_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);

#endif
