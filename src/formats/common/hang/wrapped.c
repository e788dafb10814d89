#include "formats/common/hang/wrapped.h"

bool sp_hang_wrapped_join(struct sp_hang_wrapped *w, struct sp_span line, const char *between,
                          struct sp_span text, int (*parts)(struct sp_span s, bool *torn), struct sp_buf *b,
                          struct sp_arena *texts)
{
    bool torn, whole_torn;
    int whole = parts(w->whole, &whole_torn);
    sp_buf_clear(b);
    sp_buf_add(b, w->text.p, w->text.n);
    sp_buf_puts(b, between);
    sp_buf_add(b, text.p, text.n);
    char *copy = b->failed ? NULL : sp_arena_dup(texts, b->data, b->len);
    if (!copy)
        return false;
    w->text = (struct sp_span){copy, b->len};
    w->lines[w->n++] = line;
    if (parts(w->text, &torn) > whole || whole_torn) {
        w->whole = w->text;
        w->whole_n = w->n;
    }
    return true;
}

void sp_hang_wrapped_say(const struct sp_hang_wrapped *w, uint32_t line, struct sp_diags *d)
{
    if (w->whole_n)
        sp_emit(d, SP_W523, SP_AT_LINE(line, SP_NOWHERE), "\"%.*s\"",
                (int)(w->whole.n > 60 ? 60 : w->whole.n), w->whole.p);
}
