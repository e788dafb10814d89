/* Mangled names of C++, Rust (legacy and v0) and D to what the programmer wrote. */
#ifndef SP_DEMANGLE_H
#define SP_DEMANGLE_H

#include "base/buf.h"

/* Appends the plain name and returns true; leaves out as it was when the name is not mangled. */
bool sp_demangle(const char *name, struct sp_buf *out);

#endif
