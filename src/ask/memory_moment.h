/* Which moment it is that a recording's live memory was live at. */
#ifndef SP_MEMORY_MOMENT_H
#define SP_MEMORY_MOMENT_H

#include "ask/question.h"
#include "base/buf.h"

enum sp_memory_moment {
    SP_MOMENT_UNTOLD,        /* a dump: it may be any */
    SP_MOMENT_END,           /* the program ended */
    SP_MOMENT_LAST_SNAPSHOT, /* massif's: it went on for some time */
    SP_MOMENT_STOPPED,       /* --at SECONDS: reading stopped there */
};

/* Of the live bytes of an event. told: the file says what of them is lost, as is looked for at the end. */
enum sp_memory_moment sp_memory_moment_of(const struct sp_profile *p, uint32_t event, bool told);
/* " at the end", " at 1 s"; nothing where it is not told. at: the option. */
void sp_memory_moment_text(struct sp_buf *b, enum sp_memory_moment moment, const char *at);

#endif
