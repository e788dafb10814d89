/* Numbers, names and verdicts as diff writes them. */
#include "ask/diff.h"

#include "analysis/short_name.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

enum { SHORT = 72, SHORTER = 36 }; /* characters of a name in a sentence; where it stood before */

void sp_diff_number(struct sp_buf *out, double x, unsigned digits, bool sign)
{
    char t[64];
    double scale = pow(10, digits);
    if (!isfinite(x) || fabs(x) * scale > 9e15) {
        sp_buf_puts(out, isinf(x) && x > 0 ? "new" : "-");
        return;
    }
    int64_t v = llround(x * scale);
    uint64_t whole = (uint64_t)(v < 0 ? -v : v), unit = (uint64_t)llround(scale);
    sp_buf_puts(out, v < 0 ? "-" : sign && v > 0 ? "+" : "");
    sp_buf_u64(out, whole / unit);
    if (digits) {
        size_t n = sp_u64_text(whole % unit, t);
        sp_buf_ch(out, '.');
        for (size_t i = n; i < digits; i++)
            sp_buf_ch(out, '0');
        sp_buf_add(out, t, n);
    }
}

/* Characters of UTF-8. */
static size_t cells_columns(const char *p, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)p[i] & 0xc0) != 0x80;
    return count;
}

/* "…::b::c": as many of the last parts as fit; a part too long for that is cut. */
static void cells_last_parts(struct sp_buf *out, struct sp_str s, size_t most)
{
    size_t from = s.n, depth = 0, end = s.n;
    for (size_t i = s.n; i-- > 2;) {
        depth += strchr(">)", s.p[i]) && s.p[i];
        depth -= depth && strchr("<(", s.p[i]) && s.p[i];
        if (!depth && s.p[i - 1] == ':' && s.p[i - 2] == ':' && cells_columns(s.p + i, s.n - i) + 3 <= most)
            from = i;
    }
    if (from < s.n) {
        sp_buf_puts(out, "…::");
        sp_buf_add(out, s.p + from, s.n - from);
        return;
    }
    while (end && (cells_columns(s.p, end) >= most || ((unsigned char)s.p[end] & 0xc0) == 0x80))
        end--;
    sp_buf_add(out, s.p, end);
    sp_buf_puts(out, "…");
}

void sp_diff_say_within(struct sp_buf *out, struct sp_str s, bool shorter)
{
    size_t most = shorter ? SHORTER : SHORT;
    if (cells_columns(s.p, s.n) <= most)
        sp_buf_add(out, s.p, s.n);
    else
        cells_last_parts(out, s, most);
}

void sp_diff_say_name(struct sp_buf *out, struct sp_str name)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_short_name(&b, name.p, name.n, SP_SHORTEST);
    sp_diff_say_within(out, (struct sp_str){sp_buf_text(&b), (uint32_t)b.len}, false);
    out->failed |= b.failed;
    sp_buf_free(&b);
}

const char *sp_diff_verdict_word(const struct sp_diff_test *t)
{
    static const char *const words[] = {"significant", "inconclusive", "below MDE",
                                        "-",           "differs",      "unchanged"};
    return t->test && strcmp(t->test, "exact") == 0 && t->verdict == SP_DIFF_SIGNIFICANT ? "changed"
                                                                                         : words[t->verdict];
}

const char *sp_diff_per_words(const struct sp_diff *d)
{
    static const char *const words[] = {"a run", "a second", "a unit of work"};
    return words[d->per];
}

/* ---- numbers of JSON ---- */

/* What follows so many significant digits depends on the machine's mathematics, or nobody needs it. */
double sp_diff_rounded(double x, int digits)
{
    if (!isfinite(x) || x == 0 || fabs(x) < 1e-290)
        return x;
    double places = digits - 1 - floor(log10(fabs(x))), scale = pow(10, fabs(places));
    if (!isfinite(scale))
        return x;
    return places < 0 ? round(x / scale) * scale : round(x * scale) / scale;
}

double sp_diff_as_number(const struct diff_answer *a, double x)
{
    return sp_diff_rounded(x, a->compact && fabs(x) < 1 ? 5 : 12);
}

/* A percentage: two decimals, where nobody wants all numbers. */
double sp_diff_as_percent(const struct diff_answer *a, double part)
{
    return a->compact ? round(1e4 * part) / 100 : sp_diff_as_number(a, 100 * part);
}

/* The weight with as few decimals as it needs: exact where 64 bits hold that. */
bool sp_diff_exact(__int128 *v, unsigned *scale)
{
    for (; *scale && *v % 10 == 0; --*scale)
        *v /= 10;
    return *v > INT64_MIN && *v <= INT64_MAX;
}
