/*
 * Lines that are read at once, so that their end is looked for in the line below: those of processes, which
 * are counted before anything else is read, and annotations of threads.
 */
#include "formats/spindump/report.h"

#include <string.h>

/* The line below the one that `s` is the end of; n 0: none, or an empty one. */
static struct sp_span wrapped_below(const struct spindump_reader *r, struct sp_span s)
{
    const char *end = s.p + s.n, *nl = memchr(end, '\n', (size_t)(r->end - end)), *p = nl ? nl + 1 : r->end;
    nl = memchr(p, '\n', (size_t)(r->end - p));
    return sp_hang_trim((struct sp_span){p, (size_t)((nl ? nl : r->end) - p)});
}

/* With the line below, kept in r->joined. */
static bool wrapped_join(struct spindump_reader *r, struct sp_span *s, struct sp_span below)
{
    sp_buf_clear(&r->buf);
    sp_buf_add(&r->buf, s->p, s->n);
    sp_buf_ch(&r->buf, ' ');
    sp_buf_add(&r->buf, below.p, below.n);
    char *copy = r->buf.failed ? NULL : sp_arena_dup(&r->joined, r->buf.data, r->buf.len);
    *s = (struct sp_span){copy, r->buf.len};
    return copy;
}

bool sp_spindump_whole_process(struct spindump_reader *r, struct sp_span *line, bool *joined)
{
    struct sp_spindump_process x;
    struct sp_span key, value, rest, below = {NULL, 0};
    size_t n = sp_hang_starts(*line, "Process:") ? 8 : 15;
    sp_spindump_parse_process(sp_hang_after(*line, n), &x);
    *joined = false;
    if (x.pid == SP_ABSENT && x.name.n)
        below = wrapped_below(r, *line);
    if (!below.n || sp_spindump_key_value(below, &key, &value) || memmem(below.p, below.n, " [0x", 4))
        return true;
    rest = *line;
    if (!wrapped_join(r, &rest, below))
        return false;
    sp_spindump_parse_process(sp_hang_after(rest, n), &x);
    *joined = x.pid != SP_ABSENT && !x.rest.n;
    if (*joined)
        *line = rest;
    return true;
}

bool sp_spindump_whole_annotation(struct spindump_reader *r, struct sp_span *text, bool *joined)
{
    struct sp_span below = {NULL, 0};
    *joined = false;
    if (text->n > 1 && *text->p == '<' && !memchr(text->p, '>', text->n))
        below = wrapped_below(r, *text);
    *joined = below.n && below.p[below.n - 1] == '>' && !memchr(below.p, '<', below.n) &&
              !memmem(below.p, below.n, " [0x", 4);
    return !*joined || wrapped_join(r, text, below);
}

/* ---- images ---- */

/* The line of an image that waits is over. */
bool sp_spindump_settle_image(struct spindump_reader *r)
{
    struct sp_span text = r->image.text;
    bool ok = true;
    uint32_t i = text.n ? sp_hang_image(&r->images, text, r->stamp, &ok) : SP_NONE;
    r->image.text.n = 0;
    if (text.n && ok && i == SP_NONE)
        sp_spindump_not_understood(r, text, r->image.at, &r->not_understood, "no binary image");
    return ok && (i == SP_NONE || sp_vec_push(&r->process_images, i));
}

bool sp_spindump_image_line(struct spindump_reader *r, struct sp_span text)
{
    if (!sp_spindump_settle_image(r))
        return false;
    r->image = (struct sp_hang_image_line){text, sp_spindump_here(r, text.p)};
    return true;
}

/* A line below that of an image: its end (*taken), or something else. */
spaa_status sp_spindump_image_end(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    struct sp_span text = sp_hang_trim(line);
    *taken = false;
    if (!r->image.text.n)
        return SPAA_OK;
    bool ok = sp_spindump_is_begun(line, text) ||
              sp_hang_image_join(&r->image, line, text, &r->buf, &r->joined, r->d, taken);
    ok = ok && (*taken || sp_spindump_settle_image(r));
    return ok ? SPAA_OK : sp_nomem(r->d);
}
