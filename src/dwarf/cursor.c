/* Bytes of a section, read in order: a cursor that would leave its section becomes bad and gives zeros. */
#include "dwarf/private.h"

struct sp_dw_cursor sp_dw_at(const struct sp_dw_file *f, enum sp_dw_section s, uint64_t off, uint64_t end)
{
    const struct sp_dw_bytes *b = &f->sec[s];
    struct sp_dw_cursor c = {.big = f->big};
    if (end > b->n)
        end = b->n;
    c.bad = off > end;
    if (b->p && !c.bad) {
        c.p = b->p + off;
        c.end = b->p + end;
    }
    return c;
}

uint64_t sp_dw_bad(struct sp_dw_cursor *c)
{
    c->bad = true;
    c->p = c->end;
    return 0;
}

void sp_dw_skip(struct sp_dw_cursor *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->p))
        sp_dw_bad(c);
    else
        c->p += n;
}

uint64_t sp_dw_fixed(struct sp_dw_cursor *c, unsigned bytes)
{
    if ((size_t)(c->end - c->p) < bytes)
        return sp_dw_bad(c);
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)c->p[i] << 8 * (c->big ? bytes - 1 - i : i);
    c->p += bytes;
    return v;
}

uint64_t sp_dw_uleb_slow(struct sp_dw_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->p < c->end; shift += 7) {
        unsigned char b = *c->p++;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    return sp_dw_bad(c);
}

int64_t sp_dw_sleb(struct sp_dw_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->p < c->end;) {
        unsigned char b = *c->p++;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (b & 0x80)
            continue;
        if (b & 0x40 && shift < 64)
            v |= UINT64_MAX << shift;
        return (int64_t)v;
    }
    return (int64_t)sp_dw_bad(c);
}

const char *sp_dw_cstr(struct sp_dw_cursor *c)
{
    const char *s = (const char *)c->p;
    const unsigned char *nul = c->p < c->end ? memchr(c->p, 0, (size_t)(c->end - c->p)) : NULL;
    if (!nul) {
        sp_dw_bad(c);
        return NULL;
    }
    c->p = nul + 1;
    return s;
}

/*
 * Whether an empty string lies among zeros that no linker writes: it stands there once at most, which makes
 * two zeros in a row, its own and that which ends the one before.
 */
static bool is_zeroed_string(const struct sp_dw_bytes *b, size_t off)
{
    size_t from = off, to = off;
    while (from && off - from < 2 && !b->p[from - 1])
        from--;
    while (to < b->n && to - off < 3 && !b->p[to])
        to++;
    return to - from > 2;
}

const char *sp_dw_string_at(struct sp_dw_file *f, enum sp_dw_section s, uint64_t off)
{
    const struct sp_dw_bytes *b = &f->sec[s];
    if (off < b->text && (b->p[off] || !is_zeroed_string(b, off)))
        return (const char *)b->p + off;
    sp_dw_lacks(f, s);
    return NULL;
}
