#include "answer/words.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

bool sp_text_grouped(struct sp_buf *out, int64_t v, unsigned scale)
{
    char t[64];
    size_t n = sp_scaled_text(v, scale, t);
    size_t start = t[0] == '-', whole = start;
    while (whole < n && t[whole] != '.')
        whole++;
    bool ok = sp_buf_add(out, t, start);
    for (size_t i = start; i < whole; i++) {
        if (i > start && (whole - i) % 3 == 0)
            ok = ok && sp_buf_ch(out, ',');
        ok = ok && sp_buf_ch(out, t[i]);
    }
    return ok && sp_buf_add(out, t + whole, n - whole);
}

bool sp_text_bytes(struct sp_buf *out, int64_t v, unsigned scale)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    __int128 unit = 1, magnitude = v < 0 ? -(__int128)v : v;
    size_t u = 0;
    char t[64];
    for (unsigned i = 0; i < scale; i++)
        unit *= 10;
    for (; u < 6 && magnitude >= unit * 1024; u++)
        unit *= 1024;
    __int128 hundredths = (magnitude * 200 + unit) / (unit * 2);
    if (u < 6 && u && hundredths >= 102400) { /* rounded up to the next unit */
        hundredths = 100;
        u++;
    }
    size_t n = sp_scaled_text(hundredths, 2, t);
    const char *point = memchr(t, '.', n);
    bool ok = v >= 0 || sp_buf_ch(out, '-');
    ok = ok && sp_buf_add(out, t, n);
    if (u)
        for (size_t i = point ? n - (size_t)(point - t) : 0; ok && i < 3; i++)
            ok = sp_buf_ch(out, i ? '0' : '.');
    return ok && sp_buf_ch(out, ' ') && sp_buf_puts(out, units[u]);
}

bool sp_text_percent(struct sp_buf *out, int64_t v, int64_t of)
{
    __int128 num = (__int128)v * 10000, den = of;
    if (den < 0) {
        num = -num;
        den = -den;
    }
    bool negative = num < 0;
    if (negative)
        num = -num;
    __int128 q = den ? (num * 2 + den) / (den * 2) : 0;
    char t[64];
    size_t n = sp_scaled_text(q / 100, 0, t);
    char cents[3] = {'.', (char)('0' + (int)(q % 100 / 10)), (char)('0' + (int)(q % 10))};
    return (!negative || q == 0 || sp_buf_ch(out, '-')) && sp_buf_add(out, t, n) && sp_buf_add(out, cents, 3);
}

bool sp_text_about(struct sp_buf *out, int64_t v, int64_t of)
{
    double percent = of ? 100.0 * (double)v / (double)of : 0, size = fabs(percent);
    if (v && of && size < 0.05)
        return sp_buf_puts(out, percent < 0 ? "-<0.1 %" : "<0.1 %");
    if (size > 99.5 && size < 100) /* no share is said to be all that is not */
        return sp_buf_printf(out, "%.1f %%", percent > 0 ? fmin(percent, 99.9) : fmax(percent, -99.9));
    return sp_buf_printf(out, size == 0 || size >= 9.95 ? "%.0f %%" : "%.1f %%", percent);
}

bool sp_text_count(struct sp_buf *out, uint64_t n, const char *noun)
{
    bool ok = sp_text_grouped(out, n < INT64_MAX ? (int64_t)n : INT64_MAX, 0);
    return ok && sp_buf_ch(out, ' ') && sp_buf_puts(out, noun) && (n == 1 || sp_buf_ch(out, 's'));
}

bool sp_text_weight(struct sp_buf *out, struct sp_str unit, unsigned scale, int64_t v)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    if (sp_str_is(unit, "bytes"))
        return sp_text_bytes(out, v, scale);
    if (!sp_str_is(unit, "ns") || scale)
        return sp_text_grouped(out, v, scale);
    int64_t magnitude = v < 0 ? -v : v;
    size_t u = 0;
    while (u < 3 && magnitude < units[u].ns)
        u++;
    char t[64];
    size_t n = sp_scaled_text(sp_ratio(v, units[u].ns, 100), 2, t);
    return sp_buf_add(out, t, n) && sp_buf_ch(out, ' ') && sp_buf_puts(out, units[u].name);
}
