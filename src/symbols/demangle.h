/* Mangled names of C++ (Itanium's and Microsoft's), Rust (legacy and v0) and D to what the programmer wrote.
 */
#ifndef SP_DEMANGLE_H
#define SP_DEMANGLE_H

#include "base/buf.h"

/* No name is longer: neither what a mangled one stands for, nor one of just-in-time code, which is cut. */
#define SP_NAME_TEXT_MAX ((size_t)64 << 10)

/* Appends the plain name and returns true; leaves out as it was when the name is not mangled. */
bool sp_demangle(const char *name, struct sp_buf *out);
/*
 * The same for names that something else has demangled halfway, as DTrace does with Rust's legacy names:
 * `_$LT$T$u20$as$u20$core..X$GT$::f::h0123456789abcdef (.llvm.1)` is `<T as core::X>::f`.
 */
bool sp_demangle_escaped(const char *name, size_t n, struct sp_buf *out);

#endif
