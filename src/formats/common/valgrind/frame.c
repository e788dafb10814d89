/* The text of a frame, and valgrind's numbers: see valgrind.h. */
#include "base/num.h"
#include "formats/common/valgrind/valgrind.h"

#include <string.h>

static struct sp_str frame_str(const char *p, const char *end)
{
    return (struct sp_str){p, (uint32_t)(end - p)};
}

/* Where ":12" before `end` begins; NULL: no number stands there. */
static const char *frame_number(const char *p, const char *end)
{
    const char *q = end;
    while (q > p && (unsigned char)(q[-1] - '0') < 10)
        q--;
    return q < end && q > p + 1 && q[-1] == ':' ? q - 1 : NULL;
}

/* Within the parentheses: "a.c:27", and of dhat-rs "a.rs:27:5". */
static bool frame_line(const char *p, const char *end, struct sp_str *at)
{
    const char *colon = frame_number(p, end), *before = colon ? frame_number(p, colon) : NULL;
    if (!colon)
        return false;
    *at = frame_str(p, before ? colon : end);
    return true;
}

/* Cuts " (a.c:27)" or " (in /lib/x.so)" off the name that ends at *end. */
static void frame_where(const char *p, const char **end, struct sp_vg_frame *out)
{
    static const char in[] = " (in ";
    const char *last = *end - 1, *at;
    if (last <= p || *last != ')')
        return;
    at = memmem(p, (size_t)(last - p), in, sizeof in - 1);
    if (at && at + sizeof in - 1 < last) {
        out->object = frame_str(at + sizeof in - 1, last);
        *end = at;
        return;
    }
    for (at = last; at > p && !(at[0] == '(' && at[-1] == ' '); at--)
        ;
    if (at > p && frame_line(at + 1, last, &out->at))
        *end = at - 1;
}

bool sp_vg_frame(const char *p, size_t n, struct sp_vg_frame *out)
{
    const char *end = p + n;
    *out = (struct sp_vg_frame){.name = {"", 0}, .at = {"", 0}, .object = {"", 0}};
    if (n < 5 || n > UINT32_MAX || p[0] != '0' || p[1] != 'x')
        return false;
    size_t digits = sp_parse_hex(p + 2, end, &out->addr);
    p += 2 + digits;
    if (!digits || end - p < 3 || p[0] != ':' || p[1] != ' ')
        return false;
    p += 2;
    frame_where(p, &end, out);
    out->name = frame_str(p, end);
    if (sp_str_is(out->name, "???"))
        out->name.n = 0;
    return end > p;
}

size_t sp_vg_number(const char *p, const char *end, int64_t *out)
{
    const char *q = p;
    int64_t v = 0;
    for (; q < end; q++) {
        if (*q == ',' && q > p && end - q > 3 && (unsigned char)(q[1] - '0') < 10)
            continue;
        unsigned digit = (unsigned char)(*q - '0');
        if (digit > 9)
            break;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (int64_t)digit, &v))
            return 0;
    }
    *out = v;
    return (size_t)(q - p);
}
