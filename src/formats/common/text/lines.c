#include "formats/common/text/lines.h"

#include <string.h>

enum { NOTE_EVERY = 64 << 10 }; /* bytes */

/* The complete lines of a view of the bytes ahead, and when it is the last also what has no newline. */
static spaa_status view_lines(struct sp_lines *l, struct sp_input *in, const char *p, size_t n, bool last,
                              size_t *used)
{
    const char *at = p, *end = p + n, *noted = p;
    uint64_t offset = sp_input_offset(in);
    spaa_status st = SPAA_OK;
    while (!st && at < end) {
        if (at - noted >= NOTE_EVERY && (st = sp_input_note(in, (uint64_t)((noted = at) - p))) != SPAA_OK)
            break;
        const char *nl = memchr(at, '\n', (size_t)(end - at)), *eol = nl ? nl : end;
        if (!nl && !last)
            break;
        l->line++;
        l->offset = offset + (uint64_t)(at - p);
        l->cut = !nl;
        st = l->take(l->reader, at, (size_t)(eol - at));
        at = nl ? nl + 1 : end;
    }
    *used = (size_t)(at - p);
    return st;
}

spaa_status sp_lines_read(struct sp_lines *l, struct sp_input *in)
{
    const unsigned char *v;
    size_t n, used, want = 1;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, &v, &n);
        if (st || !n)
            return st;
        bool endless = n > SP_LINE_MAX && !memchr(v, '\n', n);
        st = view_lines(l, in, (const char *)v, n, n < want || endless, &used);
        if (st)
            return st;
        sp_input_consume(in, used);
        size_t rest = n - used;
        want = rest + 1 < SP_LINE_MAX / 2 ? 2 * rest + 1 : SP_LINE_MAX + 1;
    }
}

void sp_lines_say_cut(struct sp_diags *d, uint64_t line, uint64_t offset)
{
    sp_emit(d, SP_I322, SP_AT_LINE(line, offset),
            "the file ends inside its last line, which has no newline: it may be cut off");
}
