#include "formats/common/text/srcline.h"

#include "base/num.h"

/* ":12" at the end of the first n bytes; the length without it, or n where there is none. */
static size_t srcline_number(const char *p, size_t n, int64_t *out)
{
    size_t i = n;
    while (i && p[i - 1] >= '0' && p[i - 1] <= '9')
        i--;
    if (i == n || i < 2 || p[i - 1] != ':' || p[i] == '0')
        return n;
    return sp_parse_i64(p + i, p + n, out) == n - i ? i - 1 : n;
}

/* The first line of "file:12-20", lines of which CodeGuru knows the least and the greatest; n: it is none. */
static size_t srcline_lines(const char *p, size_t n, int64_t *line)
{
    size_t i = n;
    while (i && p[i - 1] >= '0' && p[i - 1] <= '9')
        i--;
    if (i == n || i < 2 || p[i - 1] != '-')
        return n;
    size_t m = srcline_number(p, i - 1, line);
    return m == i - 1 ? n : m;
}

size_t sp_srcline_split(struct sp_str s, int64_t *line, int64_t *column)
{
    int64_t last = 0, before = 0;
    *line = *column = 0;
    size_t lines = srcline_lines(s.p, s.n, line);
    if (lines != s.n)
        return lines;
    size_t n = srcline_number(s.p, s.n, &last);
    if (n == s.n)
        return n;
    size_t m = srcline_number(s.p, n, &before);
    *line = m == n ? last : before;
    *column = m == n ? 0 : last;
    return m;
}
