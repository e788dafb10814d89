/*
 * A mutator of protobuf that keeps messages whole: it changes what a field holds, at any depth, or doubles or
 * drops the field, and the lengths of all messages around it. Now and then it changes any byte.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH = 4, FIELDS_MAX = 256, ROOM = 65536, VARINT_MAX = 10 };

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed);

/* A field: where its tag stands, where its content, and where that ends. */
struct field {
    size_t tag, length, content, end;
    unsigned wire;
};

static bool varint(const uint8_t *p, size_t end, size_t *at, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t b = p[(*at)++];
        *v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return true;
    }
    return false;
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 128; v >>= 7)
        p[n++] = (uint8_t)(v | 128);
    p[n++] = (uint8_t)v;
    return n;
}

/* The fields of a message; 0 where it is none. */
static size_t split(const uint8_t *p, size_t at, size_t end, struct field *out)
{
    size_t n = 0;
    while (at < end && n < FIELDS_MAX) {
        struct field f = {.tag = at};
        uint64_t v;
        if (!varint(p, end, &at, &v) || !(v >> 3))
            return 0;
        f.wire = v & 7;
        f.length = f.content = at;
        if (f.wire == 0   ? !varint(p, end, &at, &v)
            : f.wire == 2 ? !varint(p, end, &at, &v) || v > end - at
                          : true)
            return 0;
        if (f.wire == 2) {
            f.content = at;
            at += v;
        }
        f.end = at;
        out[n++] = f;
    }
    return n;
}

/* Puts `with` where p[at..end) is, and the new lengths of the messages of `path` around it. 0: no room. */
static size_t replace(uint8_t *p, size_t n, size_t max, size_t at, size_t end, const uint8_t *with, size_t m,
                      const struct field *path, size_t depth)
{
    static uint8_t made[2][ROOM];
    uint8_t *to = made[0], *next = made[1];
    if (m > ROOM)
        return 0;
    memcpy(to, with, m);
    for (size_t i = depth + 1; i-- > 0;) { /* from the inside out */
        size_t from = i ? path[i - 1].content : 0, stop = i ? path[i - 1].end : n;
        size_t whole = at - from + m + (stop - end), used = 0;
        if (whole + VARINT_MAX > ROOM)
            return 0;
        used = i ? put_varint(next, whole) : 0;
        memcpy(next + used, p + from, at - from);
        memcpy(next + used + (at - from), to, m);
        memcpy(next + used + (at - from) + m, p + end, stop - end);
        m = used + whole;
        at = i ? path[i - 1].length : 0;
        end = stop;
        uint8_t *swap = to;
        to = next;
        next = swap;
    }
    if (m > max)
        return 0;
    memcpy(p, to, m);
    return m;
}

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed)
{
    static struct field fields[FIELDS_MAX];
    static uint8_t room[ROOM];
    struct field path[DEPTH];
    size_t depth = 0, from = 0, end = n, count, m;
    unsigned how = seed % 8;
    for (seed /= 8; (count = split(p, from, end, fields)); seed /= 2) {
        path[depth] = fields[seed % count];
        seed /= 16;
        if (path[depth].wire != 2 || depth + 1 == DEPTH || seed % 2)
            break;
        from = path[depth].content;
        end = path[depth].end;
        depth++;
    }
    if (!how || (!count && !depth))
        return LLVMFuzzerMutate(p, n, max);
    if (!count) /* of text: the field that holds it */
        depth--;
    const struct field f = path[depth];
    size_t whole = f.end - f.tag, at = f.tag;
    if (how == 1) { /* dropped */
        m = 0;
    } else if (how == 2 && 2 * whole <= ROOM) {
        memcpy(room, p + f.tag, whole);
        memcpy(room + whole, p + f.tag, whole);
        m = 2 * whole;
    } else if (f.wire == 2 && f.end - f.content <= ROOM / 2) {
        size_t was = f.end - f.content;
        memcpy(room + VARINT_MAX, p + f.content, was);
        m = LLVMFuzzerMutate(room + VARINT_MAX, was, was + 16);
        size_t used = put_varint(room, m);
        memmove(room + used, room + VARINT_MAX, m);
        m += used;
        at = f.length;
    } else {
        uint8_t value[8] = {0};
        size_t used = f.content;
        uint64_t v = 0;
        varint(p, f.end, &used, &v);
        memcpy(value, &v, sizeof v);
        LLVMFuzzerMutate(value, sizeof value, sizeof value);
        memcpy(&v, value, sizeof v);
        m = put_varint(room, seed % 3 ? v % 64 : v);
        at = f.content;
    }
    size_t made = replace(p, n, max, at, f.end, room, m, path, depth);
    return made ? made : LLVMFuzzerMutate(p, n, max);
}
