/*
 * The text behind a row's count:
 *
 *     symbol + off (image + off) [0xADDR] (states) 1-37
 *     symbol + off (file:line[,col] in image + off) [0xADDR]
 *     symbol + off (file in image + off) [0xADDR]
 *     ??? (image + off) [0xADDR]          symbol + off (image) [0xADDR]          ??? [0xADDR]
 *
 * Symbols, images and states hold blanks and parentheses, so it is taken apart from the right, groups by
 * balanced parentheses. What does not fit stays part of the symbol: put together again, the text is the same.
 */
#include "base/num.h"
#include "formats/spindump/spindump.h"

#include <string.h>

bool sp_spindump_cut_range(struct sp_span *s, int64_t *from, int64_t *to)
{
    size_t i = s->n, dash;
    if (!i || !sp_hang_digit(s->p[i - 1]))
        return false;
    while (i && sp_hang_digit(s->p[i - 1]))
        i--;
    dash = i;
    if (i && s->p[i - 1] == '-')
        for (i--; i && sp_hang_digit(s->p[i - 1]); i--)
            ;
    if (i < 2 || s->p[i - 1] != ' ' || !memchr("])>", s->p[i - 2], 3) || i == s->n || s->p[i] == '0' ||
        s->p[dash] == '0')
        return false;
    const char *end = s->p + s->n;
    if (sp_parse_i64(s->p + dash, end, to) != s->n - dash)
        return false;
    *from = *to;
    if (dash != i && sp_parse_i64(s->p + i, end, from) != dash - 1 - i)
        return false;
    if (*from > *to || *to >= INT64_MAX / 4 || (dash != i && *from == *to))
        return false;
    s->n = i - 1;
    return true;
}

bool sp_spindump_truncated(struct sp_span s)
{
    return sp_hang_starts(s, "<") && (sp_hang_ends(s, "truncated backtrace>"));
}

static bool spindump_is_hex_or_x(char c)
{
    return sp_hang_hex(c) || c == 'x';
}

/* "[0x1f]" or "[0]" at the end, after a blank or alone. */
bool sp_spindump_cut_address(struct sp_span *s, struct sp_span *address)
{
    size_t i = s->n;
    if (i < 3 || s->p[i - 1] != ']')
        return false;
    for (i--; i && spindump_is_hex_or_x(s->p[i - 1]); i--)
        ;
    if (i < 2 || s->p[i - 1] != '[' || s->p[i - 2] != ' ')
        return false;
    struct sp_span a = {s->p + i, s->n - 1 - i};
    if (!(a.n == 1 && *a.p == '0') &&
        !(a.n > 2 && a.n <= 18 && a.p[0] == '0' && a.p[1] == 'x' && !memchr(a.p + 2, 'x', a.n - 2)))
        return false;
    *address = a;
    s->n = i - 2;
    return true;
}

/* The last "[0xADDR] (" of a text that ends with a parenthesis: for states whose own do not balance. */
static const char *spindump_state_after_address(struct sp_span s)
{
    for (size_t i = s.n; i-- > 3;) {
        if (s.p[i] != '(' || s.p[i - 1] != ' ' || s.p[i - 2] != ']')
            continue;
        struct sp_span left = {s.p, i - 1}, address;
        if (sp_spindump_cut_address(&left, &address) && address.n > 1)
            return s.p + i;
    }
    return NULL;
}

static bool spindump_cut_state(struct sp_span *s, const char *open, struct sp_spindump_frame *f)
{
    if (!open || open - s->p < 2 || open[-1] != ' ')
        return false;
    struct sp_span left = {s->p, (size_t)(open - 1 - s->p)}, address = {NULL, 0};
    struct sp_span before = left;
    if (!sp_spindump_cut_address(&left, &address) && !sp_spindump_truncated(before))
        return false;
    f->state = (struct sp_span){open + 1, (size_t)(s->p + s->n - 1 - (open + 1))};
    f->address = address;
    *s = left;
    return true;
}

/* A source without a line, as code has that the compiler made: "File.swift", "<compiler-generated>". */
static bool spindump_is_source_file(struct sp_span s)
{
    static const char *const extensions[] = {
        "swift", "m",   "mm", "c", "cc",  "cpp", "cxx", "c++", "h",   "hh", "hpp", "hxx", "inc",  "inl",
        "ipp",   "tcc", "s",  "S", "asm", "rs",  "go",  "d",   "zig", "kt", "f",   "f90", "metal"};
    const char *dot = s.n ? memrchr(s.p, '.', s.n) : NULL;
    if (s.n > 2 && *s.p == '<' && s.p[s.n - 1] == '>')
        return true;
    for (size_t i = 0; dot && dot > s.p && i < sizeof extensions / sizeof *extensions; i++)
        if (sp_span_is(sp_hang_after(s, (size_t)(dot + 1 - s.p)), extensions[i]))
            return true;
    return false;
}

/* Digits behind a colon, and perhaps others behind a comma. */
static bool spindump_ends_in_line(struct sp_span s)
{
    size_t i = s.n, n = i;
    while (i && sp_hang_digit(s.p[i - 1]))
        i--;
    if (i < n && i && s.p[i - 1] == ',')
        for (n = --i; i && sp_hang_digit(s.p[i - 1]); i--)
            ;
    return i < n && i >= 2 && s.p[i - 1] == ':';
}

/* "file:line[,col] in image" or "file in image": up to the first " in " that has such a thing before it. */
static void spindump_cut_srcline(struct sp_spindump_frame *f)
{
    struct sp_span s = f->image;
    for (const char *p = s.p; (p = memmem(p, (size_t)(s.p + s.n - p), " in ", 4)); p++) {
        struct sp_span source = {s.p, (size_t)(p - s.p)};
        if (p + 4 == s.p + s.n || !(spindump_ends_in_line(source) || spindump_is_source_file(source)))
            continue;
        f->srcline = source;
        f->image = sp_hang_after(s, (size_t)(p + 4 - s.p));
        return;
    }
}

static bool spindump_ends_in_offset(struct sp_span s)
{
    uint64_t off;
    return sp_hang_cut_offset(&s, &off);
}

/* "(image + off)" or, after a symbol with an offset, "(image)". */
static bool spindump_cut_image(struct sp_span *s, const char *open, struct sp_spindump_frame *f)
{
    if (!open || open - s->p < 2 || open[-1] != ' ')
        return false;
    struct sp_span in = {open + 1, (size_t)(s->p + s->n - 1 - (open + 1))};
    struct sp_span left = {s->p, (size_t)(open - 1 - s->p)};
    bool off = sp_hang_cut_offset(&in, &f->image_off);
    if (!in.n || (!off && !spindump_ends_in_offset(left) && !sp_span_is(left, "???")))
        return false;
    f->has_image_off = off;
    f->image = in;
    *s = left;
    spindump_cut_srcline(f);
    return true;
}

/* The last " (" whose group ends in an offset: for images whose own parentheses do not balance. */
static const char *spindump_odd_image(struct sp_span s)
{
    struct sp_span in = {s.p, s.n - 1};
    if (s.n < 2 || s.p[s.n - 1] != ')' || !spindump_ends_in_offset(in))
        return NULL;
    for (size_t i = s.n; i-- > 1;)
        if (s.p[i] == '(' && s.p[i - 1] == ' ')
            return s.p + i;
    return NULL;
}

void sp_spindump_parse_frame(struct sp_span s, struct sp_spindump_frame *f)
{
    memset(f, 0, sizeof *f);
    if (s.n && s.p[s.n - 1] == ')' && !spindump_cut_state(&s, sp_hang_group(s), f))
        spindump_cut_state(&s, spindump_state_after_address(s), f);
    if (!f->address.n && !f->state.p)
        sp_spindump_cut_address(&s, &f->address);
    if (f->address.n > 2)
        sp_parse_hex(f->address.p + 2, f->address.p + f->address.n, &f->address_value);
    if (s.n && s.p[s.n - 1] == ')') {
        const char *open = sp_hang_group(s);
        if (!spindump_cut_image(&s, open, f) && !open)
            spindump_cut_image(&s, spindump_odd_image(s), f);
    }
    f->symbol = s;
    if (sp_hang_cut_offset(&f->symbol, &f->off))
        f->has_off = f->symbol.n > 0;
    if (!f->has_off)
        f->symbol = s;
}
