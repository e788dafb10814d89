/*
 * Parts of the reader of dhat.out of valgrind's DHAT (dhat/dh_main.c, dhat/dh_view.js) and of the crate dhat,
 * versions 1 and 2 of its format: a JSON object, with a member `mode`:
 *
 *     heap, rust-heap       what each stack allocated: of its program point in `pps`
 *         tb tbk            bytes and blocks allocated             alloc_bytes, alloc_count
 *         tl                lifetimes of the blocks, added         x_lifetime, in the unit of time
 *         mb mbk            the most that were live at once        x_max_bytes, x_max_count: of each stack at
 *                                                                  its own time, so they do not add
 *         gb gbk            live when all together had most (tg)   peak_bytes, x_peak_count
 *         eb ebk            live at the end (te)                   live_bytes, live_count
 *         rb wb             bytes read, written                    x_read_bytes, x_written_bytes
 *         acc               how often each byte was accessed       x_dhat.acc of the stack, as it is
 *     ad-hoc, rust-ad-hoc   tb: units, tbk: events                 x_units, count
 *     copy                  tb: bytes copied, tbk: copies          x_copied_bytes, count
 *
 * fs: numbers of frames in `ftbl`, which comes last; the allocator's first. What was allocated and is not
 * live is freed: DHAT counts a realloc as a free and an allocation where the block was first allocated.
 */
#ifndef SP_DHAT_H
#define SP_DHAT_H

#include "formats/common/valgrind/valgrind.h"
#include "json/json.h"

/* Metrics of the mode heap, in order. */
enum sp_dhat_metric {
    SP_DHAT_ALLOC_BYTES,
    SP_DHAT_ALLOC_COUNT,
    SP_DHAT_FREE_BYTES,
    SP_DHAT_FREE_COUNT,
    SP_DHAT_LIVE_BYTES,
    SP_DHAT_LIVE_COUNT,
    SP_DHAT_PEAK_BYTES,
    SP_DHAT_PEAK_COUNT,
    SP_DHAT_MAX_BYTES,
    SP_DHAT_MAX_COUNT,
    SP_DHAT_LIFETIME,
    SP_DHAT_HEAP_METRICS,
    SP_DHAT_READ_BYTES = SP_DHAT_HEAP_METRICS, /* these where accesses were watched */
    SP_DHAT_WRITTEN_BYTES,
    SP_DHAT_NEVER_READ,
    SP_DHAT_NEVER_WRITTEN,
    SP_DHAT_ALL_METRICS
};
enum sp_dhat_mode { SP_DHAT_IS_HEAP, SP_DHAT_IS_COPY, SP_DHAT_IS_AD_HOC };

struct sp_dhat {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_vg vg;
    struct sp_vg_event event;
    struct sp_vg_metric metrics[SP_DHAT_ALL_METRICS];
    uint32_t context;
    uint64_t version;
    enum sp_dhat_mode mode;
    bool has_mode, accesses, lifetimes;
    uint32_t mode_name, command, unit, verb;
    uint64_t pid, te, tg;
    bool has_pid, has_te, has_tg;
    struct sp_span pps; /* raw; p NULL: none */
    size_t pps_at;
    SP_VEC(struct sp_vg_place) table, path;
    uint64_t points, bad, untold;
};

/* points.c: a stack for each item of pps, which are known with the frames. */
spaa_status sp_dhat_points(struct sp_dhat *x);

#endif
