/*
 * How good the data of a selection is: what could not be named, what was cut off, what was lost. Finds
 * s->chains too.
 */
#ifndef SP_QUALITY_H
#define SP_QUALITY_H

#include "analysis/chains.h"

struct sp_quality {
    int64_t unresolved_leaf; /* weight of rows whose leaf has no symbol; not of Go's runtime where it is left
                                out */
    int64_t unresolved_any;  /* weight of rows with any such frame */
    int64_t no_stack;        /* weight of rows without frames */
    uint64_t frames, frames_unresolved; /* distinct ones */
    uint64_t lost, truncated;           /* as the header says */
    uint64_t unfinished, throttled_ns;  /* the same */
    int64_t callees_not_recorded;       /* weight of these (model/callees.h) */
    uint64_t exclusive_differs;         /* records whose `exclusive` says another weight than the stack */
    uint64_t exclusive_unusable;        /* those of them where it is above the weight, or of the other sign */
    int64_t lineless;                   /* weight of rows whose leaf's DSO has no debug information */
    struct sp_dso_weights dsos;         /* with unresolved leaves, heaviest first */
    struct sp_dso_weights no_lines;     /* without debug information, by weight of named leaves, likewise */
};

/* What each frame of a profile lacks: a name, or being named, debug information. */
struct sp_frame_lacks {
    unsigned char *v;
    uint64_t unnamed; /* so many have no name */
};
/* False: out of memory. */
bool sp_frame_lacks_of(const struct sp_profile *p, struct sp_frame_lacks *out);
void sp_frame_lacks_free(struct sp_frame_lacks *l);

/* lacks: of the selection's profile, where several selections are asked about; NULL: it is found here. */
spaa_status sp_quality_among(struct sp_selection *s, const struct sp_frame_lacks *lacks, struct sp_diags *d,
                             struct sp_quality *out);
spaa_status sp_quality_of(struct sp_selection *s, struct sp_diags *d, struct sp_quality *out);
void sp_quality_free(struct sp_quality *q);

#endif
