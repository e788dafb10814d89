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

/* "  *341  text" at s: a row with an address, which is no part of a thread's line ("341 samples"). */
static bool torn_row_begins(struct sp_span s)
{
    const char *p = s.p, *end = s.p + s.n, *digits;
    struct sp_span text;
    while (p < end && *p == ' ')
        p++;
    digits = p += p < end && *p == '*';
    while (p < end && sp_hang_digit(*p))
        p++;
    text = sp_hang_trim((struct sp_span){p, (size_t)(end - p)});
    return p > digits && p < end && *p == ' ' && text.n && !memchr("(*", *text.p, 2) &&
           !sp_hang_digit(*text.p) && !sp_hang_starts(text, "sample") && !sp_hang_starts(text, "I/O") &&
           memmem(text.p, text.n, " [0x", 4);
}

/* As far as brackets tell. */
static bool torn_has_two_addresses(struct sp_span s)
{
    const char *first = s.n ? memchr(s.p, '[', s.n) : NULL;
    return first && memchr(first + 1, '[', (size_t)(s.p + s.n - first - 1));
}

/* Blanks behind what can end a row: an address, a state, a range, a mark of what is missing. */
const char *sp_spindump_second_row(struct sp_span s)
{
    enum { TRIES = 64 };
    size_t tries = 0;
    if (!torn_has_two_addresses(s))
        return NULL;
    for (const char *p = s.p, *end = s.p + s.n; p < end && (p = memchr(p, ' ', (size_t)(end - p))); p++) {
        struct sp_span left = {s.p, (size_t)(p - s.p)};
        if (!left.n || p[-1] == ' ' || !torn_row_begins((struct sp_span){p, (size_t)(end - p)}))
            continue;
        if (++tries > TRIES)
            break;
        struct sp_spindump_frame f;
        int64_t from, to;
        sp_spindump_cut_range(&left, &from, &to);
        sp_spindump_parse_row(left, &f);
        if (f.address.n || sp_spindump_truncated(f.symbol) || (f.torn && memmem(left.p, left.n, " [0", 3)))
            return p;
    }
    return NULL;
}

const char *sp_spindump_row_behind(struct sp_span s)
{
    const char *p = s.p, *end = memmem(s.p, s.n, " [0x", 4) ? s.p + s.n : s.p;
    for (; p < end && (p = memchr(p, ' ', (size_t)(end - p))); p++)
        if (torn_row_begins((struct sp_span){p, (size_t)(end - p)}))
            return p;
    return NULL;
}
