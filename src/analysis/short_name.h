/*
 * Names of functions, short enough to be read: `std::vector<int, …>::push_back(int&&)` is
 * `std::vector<…>::push_back`. What a name that is not understood holds stays as it is.
 */
#ifndef SP_SHORT_NAME_H
#define SP_SHORT_NAME_H

#include "base/buf.h"
#include "base/strtab.h"

enum sp_shortness {
    SP_SHORTEST,     /* no template arguments, parameters, return type */
    SP_NO_ARGUMENTS, /* no template arguments */
    SP_WHOLE_NAME
};

void sp_short_name(struct sp_buf *out, const char *p, size_t n, enum sp_shortness how);
/* The base name of a path; anything else as it is. */
struct sp_str sp_short_dso(const char *p, size_t n);

#endif
