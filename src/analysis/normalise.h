/*
 * Names made comparable between two builds: what compilers, linkers and runtimes vary is taken out.
 *
 * Functions: `.isra.0 .part.1 .constprop.2 .cold .llvm.123 .lto_priv.0 .localalias .__uniq.5 .__part.1
 * .specialized.1 .clone.2` and their
 * demangled form ` [clone .isra.0]`; Rust's `::h0123456789abcdef` and `core[0123456789abcdef]`; numbers of
 * lambdas, closures, unnamed types, blocks and `auto` parameters (`{lambda(int)#2}`, `$_3`, `'lambda1'`,
 * `auto:1`, `lambda$run$5`, `$$Lambda$12/0x7f`, `_block_invoke_2`, Go's `main.run.func2.1`); V8's marks of
 * how hot it found a function
 * (`LazyCompile:*f`, `JS:~f`); symbol versions (`@@GLIBC_2.34`).
 *
 * DSOs: the path's last part without version: `libz.so.1.2.13` and `libz-1.2.so` are `libz.so`,
 * `app-2.0.1` is `app`, `perf-123.map` is `[jit]`.
 */
#ifndef SP_NORMALISE_H
#define SP_NORMALISE_H

#include "base/buf.h"
#include "base/strtab.h"

/* Both append to `out`. A name of nothing but what is taken out stays as it is. */
void sp_normal_function(struct sp_buf *out, struct sp_str name);
void sp_normal_dso(struct sp_buf *out, struct sp_str name);
/* The last part of a path. */
struct sp_str sp_last_part(struct sp_str path);
/* The part of a function's name before what compilers and linkers put behind it; counters stay. */
struct sp_str sp_without_suffixes(struct sp_str name);

#endif
