#include "proto/wire.h"

const unsigned char *sp_wire_varint_slow(const unsigned char *p, const unsigned char *end, uint64_t *out)
{
    uint64_t v = 0;
    size_t n;
    if (end - p >= 8 && (n = sp_wire_varint_word(p, out)) != 0)
        return p + n;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        unsigned char c = *p++;
        if (shift == 63 && c > 1) /* what is beyond 64 bits is cut, as others do */
            c = (unsigned char)((c & 0x80) | (c & 1));
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *out = v;
            return p;
        }
    }
    return NULL;
}

bool sp_wire_fail(struct sp_wire *w, const char *literal)
{
    if (!w->error)
        w->error = literal;
    return false;
}

/* What is neither bytes nor a number of any length; the cursor stands behind the tag. */
bool sp_wire_next_slow(struct sp_wire *w, struct sp_wire_field *f, uint64_t tag)
{
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return sp_wire_fail(w, "no field has this number");
    *f = (struct sp_wire_field){.number = (uint32_t)(tag >> 3), .type = (uint32_t)(tag & 7)};
    size_t left = (size_t)(w->end - w->p), fixed = f->type == SP_WIRE_64 ? 8 : 4;
    switch (f->type) {
    case SP_WIRE_64:
    case SP_WIRE_32:
        if (left < fixed)
            return sp_wire_fail(w, "a number is cut off");
        for (size_t i = 0; i < fixed; i++)
            f->v |= (uint64_t)w->p[i] << 8 * i;
        w->p += fixed;
        return true;
    default:
        return sp_wire_fail(w, "a wire type that does not exist");
    }
}

size_t sp_wire_varint_size(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

void sp_wire_put_varint(struct sp_buf *b, uint64_t v)
{
    unsigned char t[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        t[n++] = (unsigned char)(v | 0x80);
    t[n++] = (unsigned char)v;
    sp_buf_add(b, t, n);
}

void sp_wire_put_number(struct sp_buf *b, uint32_t field, uint64_t v)
{
    if (!v)
        return;
    sp_wire_put_varint(b, (uint64_t)field << 3 | SP_WIRE_VARINT);
    sp_wire_put_varint(b, v);
}

void sp_wire_put_bytes(struct sp_buf *b, uint32_t field, const void *p, size_t n)
{
    sp_wire_put_varint(b, (uint64_t)field << 3 | SP_WIRE_BYTES);
    sp_wire_put_varint(b, n);
    sp_buf_add(b, p, n);
}
