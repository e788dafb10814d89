/*
 * Parts of the folded format: one line per stack, root first, frames between semicolons, then a number.
 * See reader.c and writer.c.
 */
#ifndef SP_FOLDED_H
#define SP_FOLDED_H

#include "base/buf.h"
#include "formats/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * line.c: a line's parts.
 */
struct sp_fold_line {
    const char *stack, *value, *before; /* before: the first of two numbers; NULL: one number */
    size_t stack_n, value_n, before_n;
};

enum sp_fold_is { SP_FOLD_NOTHING, SP_FOLD_COMMENT, SP_FOLD_STACK };

/* The line [p, end) without its end; `two` reads two numbers where there are two. */
enum sp_fold_is sp_fold_line(const char *p, const char *end, bool two, struct sp_fold_line *line);
/* The name of the event where a comment at the start of a line gives it: `# event: cycles`; n 0 otherwise. */
struct sp_str sp_fold_event(const char *p, size_t n);
/* Whether all stacks of [p, n) have two numbers (at least two stacks, or one that is all there is). */
bool sp_fold_two_columns(const char *p, size_t n, bool whole);
int sp_fold_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

/*
 * Marks at the end of a frame's name.
 */
enum sp_fold_suffix {
    SP_FOLD_NONE,
    SP_FOLD_KERNEL = 'k',
    SP_FOLD_JIT = 'j',
    SP_FOLD_INLINED = 'i',
    SP_FOLD_WAKER = 'w'
};

spaa_status sp_fold_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                         struct sp_profile *p);

/*
 * names.c: a frame's name as it is written.
 */
struct sp_fold_style {
    bool perf;    /* as stackcollapse-perf.pl does: DSOs for unknown symbols, tidy names */
    bool printed; /* names as perf script printed them, where they were demangled here */
    bool addrs;   /* addresses of unknown symbols */
    bool tidy;
    bool kernel, jit, inlined; /* marks */
};

/* Appends the name of a frame; java: the process is one. */
bool sp_fold_name(struct sp_buf *out, const struct sp_profile *p, uint32_t frame,
                  const struct sp_fold_style *style, bool java);

spaa_status sp_fold_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                          struct sp_output *out);

#endif
