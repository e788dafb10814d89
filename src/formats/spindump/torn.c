/*
 * Rows that are damaged: cut off in the middle, or with the next one in the same line. What is whole of them
 * is read; what a cut row's samples did is not known, since that stands last.
 */
#include "formats/spindump/spindump.h"

#include <string.h>

/* "sym + 28 (image + 24) [0xfffffe0008": in the address. */
static bool torn_in_address(struct sp_span *s)
{
    size_t i = s->n;
    while (i && (sp_hang_hex(s->p[i - 1]) || s->p[i - 1] == 'x'))
        i--;
    if (i < 3 || s->p[i - 1] != '[' || s->p[i - 2] != ' ' || (i < s->n && s->p[i] != '0'))
        return false;
    s->n = i - 2;
    return true;
}

/* "… [0x180016510] (blocked by turnsti": in the state. */
static bool torn_in_state(struct sp_span *s)
{
    if (s->p[s->n - 1] == ')')
        return false;
    for (const char *p = s->p; (p = memmem(p, (size_t)(s->p + s->n - p), "] (", 3)); p++) {
        struct sp_span left = {s->p, (size_t)(p + 1 - s->p)}, address;
        struct sp_span before = left;
        if (!sp_spindump_cut_address(&left, &address))
            continue;
        *s = before;
        return true;
    }
    return false;
}

/* "sym + 28 (kernel.rel", "??? (kern": in the image. */
static bool torn_in_image(struct sp_span *s)
{
    if (memchr(")]", s->p[s->n - 1], 2))
        return false;
    for (const char *p = s->p; (p = memmem(p, (size_t)(s->p + s->n - p), " (", 2)); p++) {
        struct sp_span left = {s->p, (size_t)(p - s->p)}, before = left;
        uint64_t off;
        size_t open = 0;
        if (!sp_hang_cut_offset(&left, &off) && !sp_span_is(before, "???"))
            continue;
        for (const char *q = p; q < s->p + s->n; q++)
            open = *q == '(' ? open + 1 : *q == ')' && open ? open - 1 : open;
        if (!open)
            continue;
        *s = before;
        return true;
    }
    return false;
}

void sp_spindump_parse_row(struct sp_span s, struct sp_spindump_frame *f)
{
    bool torn = s.n && (torn_in_state(&s) || torn_in_address(&s) || torn_in_image(&s));
    sp_spindump_parse_frame(s, f);
    f->torn = torn;
}

bool sp_spindump_cut_torn_range(struct sp_span *s)
{
    size_t i = s->n;
    while (i && sp_hang_digit(s->p[i - 1]))
        i--;
    if (i < 2 || s->p[i - 1] != '-')
        return false;
    for (i--; i && sp_hang_digit(s->p[i - 1]); i--)
        ;
    if (i < 2 || !sp_hang_digit(s->p[i]) || s->p[i - 1] != ' ' || !memchr("])>", s->p[i - 2], 3))
        return false;
    s->n = i - 1;
    return true;
}

const char *sp_spindump_second_row(struct sp_span s)
{
    for (const char *p = s.p, *end = s.p + s.n; (p = memmem(p, (size_t)(end - p), "  ", 2));) {
        const char *at = p, *digits;
        while (p < end && *p == ' ')
            p++;
        digits = p += p < end && *p == '*';
        while (p < end && sp_hang_digit(*p))
            p++;
        if (p == digits || p == end || *p != ' ' || !memmem(s.p, (size_t)(at - s.p), " [0", 3))
            continue;
        struct sp_span right = {p, (size_t)(end - p)};
        if (memmem(right.p, right.n, " [0x", 4))
            return at;
    }
    return NULL;
}
