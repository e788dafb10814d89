/* Members of text. */
#include "formats/spaa/write.h"

#include "json/json.h"

/* Text that is no UTF-8, in hex: under its name, or where another text has that, under name#2, … */
static void write_bytes(struct writer *w, const char *name, struct sp_str v)
{
    struct sp_buf *b = &w->raw_hex;
    size_t had = b->len;
    for (unsigned number = 1; !b->failed; number++) {
        sp_buf_printf(b, "%s\"%s", had ? "," : "", name);
        if (number > 1)
            sp_buf_printf(b, "#%u", number);
        sp_buf_puts(b, "\":\"");
        size_t key = b->len - had;
        for (uint32_t i = 0; i < v.n; i++)
            sp_buf_printf(b, "%02x", (unsigned char)v.p[i]);
        sp_buf_ch(b, '"');
        size_t skip = had ? 1 : 0; /* the comma */
        const char *member = b->failed ? NULL : b->data + had + skip;
        bool taken = member && had && memmem(b->data, had, member, key - skip);
        bool same = taken && memmem(b->data, had, member, b->len - had - skip);
        if (!taken)
            return;
        b->len = had;
        if (same)
            return;
    }
}

void sp_write_raw_hex(struct writer *w)
{
    w->b.failed |= w->raw_hex.failed;
    if (!w->raw_hex.len)
        return;
    sp_buf_puts(&w->b, ",\"x_raw_hex\":{");
    sp_buf_add(&w->b, w->raw_hex.data, w->raw_hex.len);
    sp_buf_ch(&w->b, '}');
    sp_buf_clear(&w->raw_hex);
}

void sp_write_str(struct writer *w, const char *key, const char *name, uint32_t s)
{
    struct sp_str v = sp_pstr(w->p, s);
    bool damaged;
    sp_buf_puts(&w->b, key);
    sp_json_string_to(&w->b, v.p, v.n, &damaged);
    if (!damaged)
        return;
    write_bytes(w, name, v);
}
