/* Which frames the texts of rows are. */
#ifndef SP_SPINDUMP_FRAMES_H
#define SP_SPINDUMP_FRAMES_H

#include "formats/common/hang/frame_texts.h"
#include "formats/common/hang/images.h"
#include "model/profile.h"

struct sp_spindump_meaning { /* what a text says, beside struct sp_hang_text */
    struct sp_span image_name;
    uint64_t address;
    uint32_t image;             /* the one that the frame was made with; SP_NONE: none */
    uint32_t state;             /* of the context of samples that end here: x_state */
    uint32_t wait, state_extra; /* its text, as a wait or as what else it is */
    struct sp_span said;        /* its text; p NULL: none is stated */
    bool idle;                  /* a processor without work, by where it is or by what is said */
    bool truncated;
    bool torn, bare; /* its end is missing; it has no address, as rows do that were cut before it */
    bool rangeless;  /* no range can stand behind it, since there is no address */
};

struct sp_spindump_frames {
    struct sp_profile *p;
    struct sp_diags *d;
    enum sp_granularity frames;
    struct sp_hang_images *images;
    struct sp_hang_texts texts;
    SP_VEC(struct sp_spindump_meaning) meanings;
    struct sp_buf buf;
};

void sp_spindump_frames_free(struct sp_spindump_frames *m);
/* Makes a text's frame in the process with this stamp (from 1 on). False: no memory. */
bool sp_spindump_bind(struct sp_spindump_frames *m, uint32_t text, uint32_t stamp);

#endif
