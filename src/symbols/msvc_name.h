/* Decorated names of Microsoft's C++ compiler to the qualified name that the programmer wrote. */
#ifndef SP_MSVC_NAME_H
#define SP_MSVC_NAME_H

#include "base/buf.h"

/*
 * Appends `engine::Queue<int>::push` for `?push@?$Queue@H@engine@@QEAAXH@Z` and returns true: scopes and
 * template arguments, no parameters and no return type (overloads look alike; the decorated name tells them
 * apart). Leaves out as it was when the name is not decorated or uses what is not known here.
 */
bool sp_msvc_name(const char *name, struct sp_buf *out);

#endif
