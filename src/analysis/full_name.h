/*
 * Full names: names of functions that say which one is meant. Where functions of one DSO share a name, what
 * tells them apart stands behind it: the file, as in `hash (table.c)`, with as much of its path as it takes,
 * as in `hash (a/util.c)`, or where that does not, the address; overloads have their parameters.
 * function_lookup.h finds functions by them.
 */
#ifndef SP_FULL_NAME_H
#define SP_FULL_NAME_H

#include "base/buf.h"
#include "model/profile.h"

struct sp_full_names {
    const struct sp_profile *profile; /* borrowed */
    unsigned char *shared;            /* per function: others in its DSO have its name */
    unsigned char *folders;           /* parts of its file's path that tell it from these; 0: they do not */
};

spaa_status sp_full_names_of(const struct sp_profile *p, struct sp_full_names *out);
void sp_full_names_free(struct sp_full_names *l);
/* Appends the full name of a function; false: out of memory. */
bool sp_full_name_put(struct sp_buf *out, const struct sp_full_names *l, uint32_t function);

#endif
