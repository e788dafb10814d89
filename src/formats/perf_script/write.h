/*
 * Parts of the writer of `perf script` text. See writer.c.
 */
#ifndef SP_PERF_SCRIPT_WRITE_H
#define SP_PERF_SCRIPT_WRITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "formats/format.h"

struct sp_ps_printed {
    const char *text; /* NULL: not made yet */
    size_t n;
};

/* Frames as lines, each made once. */
struct sp_ps_printer {
    const struct sp_profile *p;
    bool printed;  /* the profile was read from such text: names stand as that had them */
    bool srclines; /* below the frames */
    bool relative; /* addresses of the kernel are offsets: where it stood is not known */
    struct sp_arena text;
    struct sp_ps_printed *frames;
    struct sp_buf row;
};

bool sp_ps_printer_init(struct sp_ps_printer *w, const struct sp_profile *p, bool srclines);
void sp_ps_printer_free(struct sp_ps_printer *w);
/* Appends the frames of a stack to the buffer, leaf first. False: out of memory. */
bool sp_ps_put_frames(struct sp_ps_printer *w, uint32_t stack, struct sp_buf *out);
/* Appends a text in which nothing ends a line. */
void sp_ps_put_text(struct sp_buf *out, const char *p, size_t n);

spaa_status sp_ps_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);

#endif
