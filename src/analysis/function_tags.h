/* What functions are known for, by their names and DSOs: to wait, to be idle, to be of the kernel. */
#ifndef SP_FUNCTION_TAGS_H
#define SP_FUNCTION_TAGS_H

#include "analysis/select.h"

enum sp_top_tag {
    SP_TAG_UNRESOLVED = 1,
    SP_TAG_IDLE = 2,
    SP_TAG_WAIT = 4,
    SP_TAG_KERNEL = 8,
    SP_TAG_INLINED = 16,
    SP_TAG_IRQ = 32 /* its self weight is that of code before it, which had interrupts off */
};
extern const char *const sp_tag_words[]; /* NULL-terminated, by bit */

/* Tags of a function by its name and DSO, in the samples of a selection. */
unsigned sp_function_tags(const struct sp_selection *s, uint32_t function);
/* The same without a look at the samples: one that waits may do so in some stacks only. */
unsigned sp_function_tags_by_name(const struct sp_profile *p, uint32_t event, uint32_t function);
/* Whether a function that waits by its name does so in a stack, as it was recorded. */
bool sp_waits_in(const struct sp_profile *p, uint32_t stack, uint32_t function);
/* cpu-clock and task-clock: a timer that cannot interrupt code which has interrupts off. */
bool sp_is_software_clock(const struct sp_profile *p, uint32_t event);

#endif
