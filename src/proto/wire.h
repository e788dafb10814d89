/*
 * The protobuf wire format: a cursor over the fields of a message in memory, and writing fields.
 *
 * The cursor keeps no tree and copies nothing; a nested message is read by a cursor of its own over the
 * field's bytes:
 *
 *     struct sp_wire w = sp_wire_of(p, n);
 *     for (struct sp_wire_field f; sp_wire_next(&w, &f);)
 *         if (f.number == 2 && f.type == SP_WIRE_BYTES) nested(f.p, f.n);
 *     if (w.error) report(w.error, w.at);
 *
 * After the first error every call fails; `at` is where the field in question begins. Groups, which nobody
 * writes any more, are errors. A repeated number may stand packed or not, whatever its schema says:
 * sp_wire_numbers_of takes both.
 */
#ifndef SP_WIRE_H
#define SP_WIRE_H

#include "base/buf.h"
#include "base/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sp_wire_type { SP_WIRE_VARINT = 0, SP_WIRE_64 = 1, SP_WIRE_BYTES = 2, SP_WIRE_32 = 5 };

struct sp_wire {
    const unsigned char *p, *end;
    const unsigned char *at; /* the last field's first byte */
    const char *error;       /* NULL: none yet; a literal */
};

struct sp_wire_field {
    uint32_t number;
    uint32_t type;          /* enum sp_wire_type */
    uint64_t v;             /* of numbers */
    const unsigned char *p; /* of bytes */
    size_t n;
};

static inline struct sp_wire sp_wire_of(const unsigned char *p, size_t n)
{
    return (struct sp_wire){.p = p, .end = p + n, .at = p};
}

/* The number at p, with its end through *out; NULL: cut off, or longer than ten bytes. */
const unsigned char *sp_wire_varint_slow(const unsigned char *p, const unsigned char *end, uint64_t *out);

/* A number of up to eight bytes, where eight can be loaded: how long it is, or 0 where it has more. */
static inline size_t sp_wire_varint_word(const unsigned char *p, uint64_t *out)
{
    uint64_t x = sp_load_le64(p), ends = ~x & 0x8080808080808080u;
    if (!ends)
        return 0;
    /* The lower seven bits of its bytes, pushed together by pairs, fours and all. */
    x &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu;
    x -= (x >> 8 & 0x00ff00ff00ff00ffu) * 0x80;
    x -= (x >> 16 & 0x0000ffff0000ffffu) * 0xc000;
    *out = x - (x >> 32) * 0xf0000000u;
    return ((size_t)__builtin_ctzll(ends) >> 3) + 1;
}

static inline const unsigned char *sp_wire_varint(const unsigned char *p, const unsigned char *end,
                                                  uint64_t *out)
{
    if (end - p >= 2) {
        if (p[0] < 0x80) {
            *out = p[0];
            return p + 1;
        }
        if (p[1] < 0x80) {
            *out = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
            return p + 2;
        }
    }
    return sp_wire_varint_slow(p, end, out);
}

bool sp_wire_fail(struct sp_wire *w, const char *literal); /* records an error; returns false */
bool sp_wire_next_slow(struct sp_wire *w, struct sp_wire_field *f, uint64_t tag);

/* The next field; false at the end, or on an error. */
static inline bool sp_wire_next(struct sp_wire *w, struct sp_wire_field *f)
{
    uint64_t tag, n = 0;
    if (w->error || w->p == w->end)
        return false;
    w->at = w->p;
    const unsigned char *p = sp_wire_varint(w->p, w->end, &tag);
    if (!p)
        return sp_wire_fail(w, "a tag is cut off");
    w->p = p;
    if (((tag & 7) != SP_WIRE_BYTES && (tag & 7) != SP_WIRE_VARINT) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return sp_wire_next_slow(w, f, tag);
    p = sp_wire_varint(p, w->end, &n);
    if ((tag & 7) == SP_WIRE_VARINT) {
        *f = (struct sp_wire_field){(uint32_t)(tag >> 3), SP_WIRE_VARINT, n, p, 0};
        w->p = p ? p : w->p;
        return p || sp_wire_fail(w, "a number is cut off");
    }
    if (!p || n > (uint64_t)(w->end - p))
        return sp_wire_fail(w, "a field is cut off");
    *f = (struct sp_wire_field){(uint32_t)(tag >> 3), SP_WIRE_BYTES, 0, p, (size_t)n};
    w->p = p + n;
    return true;
}

/*
 * The numbers of a repeated field, packed or alone. sp_wire_number gives the next one; false at the end or on
 * an error.
 */
static inline struct sp_wire sp_wire_numbers_of(const struct sp_wire_field *f)
{
    return f->type == SP_WIRE_BYTES ? sp_wire_of(f->p, f->n) : (struct sp_wire){0};
}
static inline bool sp_wire_number(struct sp_wire *w, uint64_t *out)
{
    if (w->error || w->p == w->end)
        return false;
    /* How long numbers are that stand among others is hard to foresee. */
    size_t n = w->end - w->p >= 8 ? sp_wire_varint_word(w->p, out) : 0;
    const unsigned char *p = n ? w->p + n : sp_wire_varint(w->p, w->end, out);
    if (!p)
        return sp_wire_fail(w, "a packed number is cut off");
    w->p = p;
    return true;
}

/* Appending. Failures stick in the buffer. */
void sp_wire_put_varint(struct sp_buf *b, uint64_t v);
void sp_wire_put_number(struct sp_buf *b, uint32_t field, uint64_t v); /* 0 is the default: not written */
void sp_wire_put_bytes(struct sp_buf *b, uint32_t field, const void *p, size_t n);
size_t sp_wire_varint_size(uint64_t v);

#endif
