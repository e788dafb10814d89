#include "ask/leaks_words.h"

#include "analysis/short_name.h"
#include "answer/words.h"

/* The names, "copy_of < remember < main": of long ones as many as a column holds. */
static void say_callers(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                        bool full)
{
    enum { ROOM = 48, NAME = 32 };
    struct sp_buf one;
    sp_buf_init(&one, 0);
    for (unsigned i = 0; i < c->n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[c->v[i]].name);
        sp_buf_clear(&one);
        sp_short_name(&one, name.p, name.n, full ? SP_WHOLE_NAME : SP_SHORTEST);
        if (!full && i && b->len + one.len > ROOM) {
            sp_buf_puts(b, " < …");
            break;
        }
        sp_buf_puts(b, i ? " < " : "");
        if (full || one.len <= NAME) {
            sp_buf_add(b, one.data, one.len);
        } else { /* a word of two hundred characters hides the rest; the end says most */
            size_t from = one.len - NAME;
            while ((one.data[from] & 0xc0) == 0x80 && from + 1 < one.len)
                from++;
            sp_buf_puts(b, "…");
            sp_buf_add(b, one.data + from, one.len - from);
        }
    }
    b->failed |= one.failed;
    sp_buf_free(&one);
}

void sp_leak_callers_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                          bool full)
{
    say_callers(b, p, c, full);
    if (c->n && c->weight != c->whole) {
        sp_buf_ch(b, ' ');
        sp_text_percent(b, c->weight, c->whole);
        sp_buf_ch(b, '%');
    }
    if (c->n && c->others)
        sp_buf_printf(b, "; %u other caller%s", c->others, c->others == 1 ? "" : "s");
}
