/*
 * Names of functions taken apart: what a return type, template arguments and parameters are wrapped around.
 *
 * `std::vector<my::T> my::f<int>(std::string) const` is `my::f`; `void std::sort<my::T*>(my::T*, my::T*)` is
 * `std::sort`. Names of Go and impls of Rust stand as they are.
 */
#ifndef SP_OWN_NAME_H
#define SP_OWN_NAME_H

#include "base/buf.h"
#include "base/strtab.h"

/* Appends the qualified name without return type, template arguments, parameters and clones. */
void sp_own_plain_name(struct sp_buf *out, struct sp_str name);
/*
 * The source file that a name holds, as profilers of scripts give them: `py::f:/a/b.py`, `f (a/b.py:3)`,
 * `JS:*f /a/b.js:3:1`, of one without a name `/a/b.js:3:1`; n 0: none.
 */
struct sp_str sp_own_name_file(struct sp_str name);
/*
 * Of an impl of Rust, `<T as Trait>::f`: the paths of its type and of its trait (n 0: none, or no path, as
 * of `u8`, `[T]` and type parameters). False: the name is none of an impl.
 */
bool sp_own_impl(struct sp_str name, struct sp_str *type, struct sp_str *trait);
/* The package of a Go function, "runtime/debug" of "runtime/debug.(*T).f"; n 0: none, as of assembly. */
struct sp_str sp_own_go_package(struct sp_str name);

#endif
