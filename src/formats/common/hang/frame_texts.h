/*
 * Distinct texts of frames. A report repeats them: each is parsed once, and made a frame when its process
 * ends, since the images below the rows tell which file a frame is of. They are not copied.
 */
#ifndef SP_HANG_FRAME_TEXTS_H
#define SP_HANG_FRAME_TEXTS_H

#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"
#include "json/json.h"

struct sp_hang_text {
    struct sp_span text;
    bool kernel;
    uint32_t stamp, frame; /* the frame it is in the process with this stamp; stamp 0: there is none yet */
};

struct sp_hang_texts {
    SP_VEC(struct sp_hang_text) v;
    struct sp_map map;
};

void sp_hang_texts_free(struct sp_hang_texts *t);
/* The number of a text, equal for equal ones; SP_NONE: no memory. */
uint32_t sp_hang_text(struct sp_hang_texts *t, struct sp_span text, bool kernel);

#endif
