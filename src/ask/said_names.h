/* Functions in the lines of an answer, by names as short as tells those apart that are said. */
#ifndef SP_SAID_NAMES_H
#define SP_SAID_NAMES_H

#include "ask/common.h"

struct sp_said_name {
    uint32_t function, whole, text; /* its name and what is said, in sp_said_names.texts */
    bool has_handle;                /* in what is said */
};
struct sp_said_names {
    SP_VEC(struct sp_said_name) list;
    SP_VEC(uint32_t) at; /* per function: 1 + its place in list; 0: it is not there */
    struct sp_strtab texts;
};
bool sp_said_add(struct sp_said_names *n, uint32_t function); /* SP_NONE: nothing; false: out of memory */
/*
 * The names of all that were added, once; --names full leaves them as they are. For people, functions of the
 * same name have handles, and those of names that lines may have to cut.
 */
spaa_status sp_said_shorten(struct sp_said_names *n, const struct sp_asked *x);
/* "[no own function]" of SP_NONE; the whole name of what was not added. */
void sp_said_text(struct sp_buf *b, const struct sp_said_names *n, const struct sp_asked *x,
                  uint32_t function);
void sp_said_free(struct sp_said_names *n);

#endif
