/* Pieces of the lines of hang reports, quantities as they print them, and their JSON. */
#include "formats/common/hang/line.h"

#include "formats/common/hang/fences.h"
#include "formats/format.h"

#include "base/num.h"

#include <string.h>

const char *sp_hang_group(struct sp_span s)
{
    size_t open = 0;
    if (!s.n || s.p[s.n - 1] != ')')
        return NULL;
    for (const char *q = s.p + s.n; q-- > s.p;) {
        if (*q == ')')
            open++;
        else if (*q == '(' && --open == 0)
            return q;
    }
    return NULL;
}

bool sp_hang_cut_offset(struct sp_span *s, uint64_t *off)
{
    size_t i = s->n;
    while (i && sp_hang_digit(s->p[i - 1]))
        i--;
    if (i == s->n || i < 3 || memcmp(s->p + i - 3, " + ", 3) != 0 || (s->p[i] == '0' && s->n - i > 1) ||
        sp_parse_u64(s->p + i, s->p + s->n, off) != s->n - i)
        return false;
    s->n = i - 3;
    return true;
}

bool sp_hang_cut_pid(struct sp_span *s, int64_t *pid)
{
    size_t i = s->n;
    if (!i || s->p[i - 1] != ']')
        return false;
    for (i--; i && sp_hang_digit(s->p[i - 1]); i--)
        ;
    if (!i || s->p[i - 1] != '[' || i == s->n - 1 ||
        sp_parse_i64(s->p + i, s->p + s->n - 1, pid) != s->n - 1 - i || *pid == INT64_MAX)
        return false;
    *s = sp_hang_trim((struct sp_span){s->p, i - 1});
    return true;
}

/* A decimal with a digit at both ends: mantissa / part. The number of bytes; 0: none. */
static size_t hang_decimal(struct sp_span s, int64_t *mantissa, int64_t *part)
{
    const size_t room = s.n < 19 ? s.n : 19;
    int64_t v = 0, unit = 1;
    size_t n = 0;
    for (; n < room && sp_hang_digit(s.p[n]); n++)
        v = v * 10 + (s.p[n] - '0');
    if (n && n < room && s.p[n] == '.')
        for (n++; n < room && sp_hang_digit(s.p[n]); n++, unit *= 10)
            v = v * 10 + (s.p[n] - '0');
    *mantissa = v;
    *part = unit;
    return n && sp_hang_digit(s.p[n - 1]) && !(n < s.n && sp_hang_digit(s.p[n])) ? n : 0;
}

/* mantissa / part * unit, rounded to a whole number; false: too large. */
static bool hang_times(int64_t mantissa, int64_t part, int64_t unit, int64_t *v)
{
    __int128 x = ((__int128)mantissa * unit + part / 2) / part;
    if (x > INT64_MAX / 2)
        return false;
    *v = (int64_t)x;
    return true;
}

size_t sp_hang_seconds(struct sp_span s, int64_t *ns)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    size_t less = s.n && *s.p == '<';
    int64_t mantissa, part;
    s = sp_hang_after(s, less);
    size_t n = hang_decimal(s, &mantissa, &part);
    for (size_t i = 0; n && i < 4; i++)
        if (sp_hang_starts(sp_hang_after(s, n), units[i].unit))
            return hang_times(mantissa, part, units[i].ns, ns) ? less + n + strlen(units[i].unit) : 0;
    return 0;
}

size_t sp_hang_count(struct sp_span s, int64_t *v)
{
    static const struct {
        char letter;
        int64_t unit;
    } units[] = {{'K', 1000}, {'k', 1000}, {'M', 1000000}, {'G', 1000000000}, {'T', 1000000000000}};
    int64_t mantissa, part;
    size_t less = s.n && *s.p == '<';
    s = sp_hang_after(s, less);
    size_t n = hang_decimal(s, &mantissa, &part);
    for (size_t i = 0; n && n < s.n && i < 5; i++)
        if (s.p[n] == units[i].letter)
            return hang_times(mantissa, part, units[i].unit, v) ? less + n + 1 : 0;
    return n && hang_times(mantissa, part, 1, v) ? less + n : 0;
}

size_t sp_hang_bytes(struct sp_span s, int64_t *v)
{
    int64_t mantissa, part;
    size_t n = hang_decimal(s, &mantissa, &part), at = n;
    static const char letters[] = "KMGT";
    if (!n)
        return 0;
    while (at < s.n && s.p[at] == ' ')
        at++;
    const char *l = at < s.n ? memchr(letters, s.p[at], 4) : NULL;
    if (l && hang_times(mantissa, part, (int64_t)1 << (10 * (l - letters + 1)), v)) {
        at++;
        return at + (at < s.n && s.p[at] == 'B');
    }
    if (!hang_times(mantissa, part, 1, v))
        return 0;
    if (sp_hang_starts(sp_hang_after(s, at), "bytes"))
        return at + 5;
    return at < s.n && s.p[at] == 'B' ? at + 1 : n;
}

void sp_hang_key(struct sp_buf *b, const char *key)
{
    sp_hang_comma(b);
    sp_buf_ch(b, '"');
    sp_buf_puts(b, key);
    sp_buf_add(b, "\":", 2);
}

void sp_hang_member(struct sp_buf *b, const char *key, struct sp_span value)
{
    sp_hang_key(b, key);
    sp_json_string(b, value.p, value.n);
}

void sp_hang_number(struct sp_buf *b, const char *key, int64_t v)
{
    sp_hang_key(b, key);
    sp_buf_i64(b, v);
}

void sp_hang_item(struct sp_buf *b, struct sp_span value)
{
    sp_hang_comma(b);
    sp_json_string(b, value.p, value.n);
}

void sp_hang_pair(struct sp_buf *b, struct sp_span key, struct sp_span value)
{
    sp_hang_comma(b);
    sp_buf_ch(b, '[');
    sp_hang_item(b, key);
    sp_hang_item(b, value);
    sp_buf_ch(b, ']');
}

void sp_hang_add_plain(struct sp_buf *b, struct sp_span s)
{
    for (size_t i = 0; i < s.n; i++)
        sp_buf_ch(b, s.p[i] == '\n' || s.p[i] == '\r' ? ' ' : s.p[i]);
}

struct sp_hang_cpu sp_hang_cpu(struct sp_span s)
{
    struct sp_hang_cpu c = {SP_ABSENT, SP_ABSENT, SP_ABSENT};
    int64_t v;
    size_t n = sp_hang_seconds(s, &v);
    if (!n)
        return c;
    c.ns = v;
    s = sp_hang_trim(sp_hang_after(s, n));
    if (!s.n || *s.p != '(')
        return c;
    for (s = sp_hang_after(s, 1); s.n;) {
        n = sp_hang_count(s, &v);
        struct sp_span unit = sp_hang_trim(sp_hang_after(s, n));
        if (n && c.cycles == SP_ABSENT && sp_hang_starts(unit, "cycles"))
            c.cycles = v;
        else if (n && c.instructions == SP_ABSENT && sp_hang_starts(unit, "instructions"))
            c.instructions = v;
        const char *comma = memchr(s.p, ',', s.n);
        if (!comma)
            break;
        s = sp_hang_trim(sp_hang_after(s, (size_t)(comma + 1 - s.p)));
    }
    return c;
}

void sp_hang_io_members(struct sp_buf *b, struct sp_span s)
{
    int64_t v;
    size_t n = sp_hang_count(s, &v);
    if (!n)
        return;
    sp_hang_number(b, "io_count", v);
    const char *open = memchr(s.p, '(', s.n);
    if (open && sp_hang_bytes(sp_hang_after(s, (size_t)(open + 1 - s.p)), &v))
        sp_hang_number(b, "io_bytes", v);
}

uint32_t sp_hang_str(struct sp_profile *p, struct sp_span s)
{
    return sp_profile_str(p, s.p, s.n);
}

bool sp_hang_extension(struct sp_profile *p, struct sp_buf *b)
{
    sp_buf_ch(b, '}');
    struct sp_extension e = {b->failed ? SP_STR_FAIL : sp_profile_str(p, b->data, b->len)};
    sp_buf_clear(b);
    return e.json != SP_STR_FAIL && sp_vec_push(&p->extensions, e);
}

/* "0x1f" of a number, as a string of the profile. */
uint32_t sp_hang_hex_str(struct sp_profile *p, uint64_t v)
{
    char t[18] = "0x";
    return sp_profile_str(p, t, 2 + sp_hex_text(v, t + 2));
}

/* A row of a tree, a thread, a field, an image, a rule: anything a report has, as far as its shape goes. */
static bool hang_report_line(struct sp_span s)
{
    while (s.n && (sp_hang_blank(*s.p) || memchr("*+!:|", *s.p, 5)))
        s = sp_hang_after(s, 1);
    if (!s.n || sp_hang_digit(*s.p))
        return s.n; /* a count, an address */
    if (memchr("-<", *s.p, 2) || sp_hang_starts(s, "Thread"))
        return true;
    size_t n = 0;
    while (n < s.n && n < 60 && s.p[n] != ':')
        n++;
    bool field =
        n < s.n && s.p[n] == ':' && *s.p >= 'A' && *s.p <= 'Z' && (n + 1 == s.n || sp_hang_blank(s.p[n + 1]));
    for (size_t i = 0; i < n && field; i++)
        field = !memchr("\"'=;{}[]", s.p[i], 8);
    return field || sp_hang_starts(s, "Analysis of sampling") || sp_hang_starts(s, "Call graph") ||
           sp_hang_starts(s, "Use spindump") || memmem(s.p, s.n, "  (in ", 6);
}

bool sp_hang_is_report(const unsigned char *bytes, size_t n)
{
    const char *p = (const char *)bytes, *end = p + n;
    enum { WRAPPED = 3 }; /* lines that may be the rest of one above */
    size_t good = 0, all = 0, room = 0;
    if (!sp_probe_is_text(bytes, n))
        return false;
    struct sp_hang_fences fences = sp_hang_fences_of(p, n);
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span whole = {p, (size_t)((nl ? nl : end) - p)}, line = sp_hang_trim(whole);
        if (sp_hang_fences_skip(&fences, line))
            continue;
        bool fits = line.n && hang_report_line(line);
        if (!fits && line.n && room && line.p == p) { /* mail clients wrap long lines */
            room--;
            continue;
        }
        all += line.n > 0;
        good += fits;
        room = fits && sp_hang_starts(whole, "  ") ? WRAPPED : 0;
    }
    return good * 4 >= all * 3 && (!fences.outside || fences.outside < all); /* pages show reports, too */
}

unsigned sp_hang_tab_width(const char *p, const char *end)
{
    enum { WIDE = 8, NARROW = 4 };
    if (p == end || (*p != '\t' && !memmem(p, (size_t)(end - p), "\n\t", 2)))
        return WIDE;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        if (line.n > NARROW && sp_hang_starts(line, "    "))
            return WIDE;
    }
    return NARROW;
}
