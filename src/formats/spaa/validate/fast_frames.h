/* The list of frames of a stack line, when it is one of small whole numbers that are all defined. */
#ifndef SP_VALIDATE_FAST_FRAMES_H
#define SP_VALIDATE_FAST_FRAMES_H

#include "formats/spaa/usual.h"
#include "formats/spaa/validate/ids.h"

#define SP_FAST_FRAMES SP_LIST_MAX

struct sp_frame_run {
    size_t n;
    unsigned bits; /* enum sp_id_bits of all, or-ed */
    bool unusual;  /* an inlined frame is followed by another one than it was known to be */
    uint32_t ids[SP_FAST_FRAMES];
};

/*
 * Reads numbers from p, behind the bracket, to the closing one; returns what follows it, or NULL when the
 * list is of another kind. Eight bytes before p are readable, and nothing from `limit` on.
 */
const char *sp_fast_frames(const struct sp_ids *frames, const char *p, const char *limit, bool leaf_first,
                           struct sp_frame_run *out);

#endif
