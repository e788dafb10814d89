/* What is known of the frames of a list: most of most files. */
#include "formats/spaa/validate/fast_frames.h"

static inline uint32_t caller_of(const struct sp_ids *frames, uint32_t id)
{
    return __atomic_load_n(&frames->briefs[id].caller, __ATOMIC_RELAXED);
}

/* Whether an inlined frame is followed towards the root by another one than it was known to be. */
static bool unusual(const struct sp_ids *frames, const struct sp_frame_run *run, bool leaf_first)
{
    uint32_t expected = 0; /* by the frame nearer to the leaf */
    for (size_t i = 0; i < run->n; i++) {
        uint32_t id = run->ids[leaf_first ? i : run->n - 1 - i];
        if (expected && expected != id + 1)
            return true;
        expected = caller_of(frames, id);
    }
    return expected != 0;
}

const char *sp_fast_frames(const struct sp_ids *frames, const char *p, const char *limit, bool leaf_first,
                           struct sp_frame_run *out)
{
    const char *close;
    const struct sp_brief *briefs = frames->briefs;
    out->n = sp_number_list(p, limit, 0, (uint32_t)frames->nnumbers, out->ids, &close);
    if (!out->n)
        return NULL;
    unsigned all = SP_ID_DEFINED, any = 0;
    for (size_t i = 0; i < out->n; i++) {
        unsigned bits = briefs[out->ids[i]].bits;
        all &= bits;
        any |= bits;
    }
    if (!all)
        return NULL;
    out->bits = any;
    out->unusual = any & SP_ID_INLINED && unusual(frames, out, leaf_first);
    return close + 1;
}
