/*
 * Lines of -x agghist and -x aggpack, rewritten as those that dtrace prints without: what follows need not
 * know of them. Behind the keys, which may be stacks, stands a bar with the value:
 *
 *                  key  ------------- Distribution ------------- count
 *                 bash |@@@@@@@@@@                               12
 *
 *                  key  min .-----. max  | count
 *                 bash    0 :▁▂█▅ : 64   | 12
 *
 * The latter is a distribution whose numbers are not printed: of it remains how many there are.
 */
#include "base/num.h"
#include "formats/dtrace/dtrace.h"

#include <string.h>

static bool bars_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct dt_text bars_trimmed(const char *p, const char *end)
{
    while (p < end && bars_is_blank(*p))
        p++;
    while (end > p && (bars_is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    return (struct dt_text){p, (size_t)(end - p)};
}

/* The number at the end, and where it begins. */
static bool bars_number(struct dt_text t, struct dt_text *number)
{
    const char *end = t.p + t.n, *p = end;
    int64_t v;
    while (p > t.p && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '-'))
        p--;
    *number = (struct dt_text){p, (size_t)(end - p)};
    return p > t.p && dt_integer(*number, &v);
}

/* Nothing but bar in [p, end). */
static bool bars_only(const char *p, const char *end)
{
    for (size_t n; p < end; p += n)
        if (!(n = dt_bar_at(p, end)))
            return false;
    return true;
}

/* "KEYS |@@@@   12": bars of negative values stand before the rule. */
static bool bars_of_hist(struct dt_text t, struct dt_text *keys, struct dt_text *number)
{
    if (!bars_number(t, number))
        return false;
    const char *rule = memrchr(t.p, '|', (size_t)(number->p - t.p)), *end = rule;
    if (!rule || !bars_only(rule + 1, number->p))
        return false;
    while (end > t.p && (end[-1] == '@' || bars_is_blank(end[-1])))
        end--;
    *keys = bars_trimmed(t.p, end);
    return true;
}

/* Off the end of [p, *end) a bound: "64", ">= 100", "< 0"; false: there is none. */
static bool bars_bound(const char *p, const char **end)
{
    struct dt_text t = bars_trimmed(p, *end), number;
    if (!t.n || (!bars_number(t, &number) && number.n != t.n))
        return false;
    t = bars_trimmed(p, number.p);
    if (t.n && t.p[t.n - 1] == '<')
        t.n--;
    else if (t.n > 1 && memcmp(t.p + t.n - 2, ">=", 2) == 0)
        t.n -= 2;
    *end = t.p + t.n;
    return number.n > 0;
}

/* "KEYS 0 :▁▂█▅ : 64 | 12" */
static bool bars_of_pack(struct dt_text t, struct dt_text *keys, struct dt_text *number)
{
    if (!bars_number(t, number))
        return false;
    const char *rule = memrchr(t.p, '|', (size_t)(number->p - t.p)), *end = rule;
    if (!rule || !bars_bound(t.p, &end))
        return false;
    struct dt_text left = bars_trimmed(t.p, end);
    if (!left.n || left.p[left.n - 1] != ':')
        return false;
    const char *close = left.p + left.n - 1, *open = memrchr(t.p, ':', (size_t)(close - t.p));
    end = open;
    if (!open || !bars_only(open + 1, close) || !bars_bound(t.p, &end))
        return false;
    *keys = bars_trimmed(t.p, end);
    return true;
}

bool dt_is_barred(const char *p, size_t n, bool pack, struct dt_text *keys, struct dt_text *number)
{
    struct dt_text t = bars_trimmed(p, p + n);
    return pack ? bars_of_pack(t, keys, number) : bars_of_hist(t, keys, number);
}

bool dt_unpacked(const char *p, size_t n, bool pack, struct sp_buf *out)
{
    struct dt_text keys, number, words[DT_KEYS_MAX];
    if (!dt_is_barred(p, n, pack, &keys, &number))
        return false;
    size_t count = keys.n ? dt_words(keys, words, DT_KEYS_MAX) : 0;
    sp_buf_clear(out);
    for (size_t i = 0; i < count; i++) {
        int64_t v;
        bool is = dt_integer(words[i], &v);
        sp_buf_printf(out, is ? " %*.*s" : "  %-*.*s", is ? DT_VALUE_WIDTH : DT_STRING_WIDTH, (int)words[i].n,
                      words[i].p);
    }
    sp_buf_printf(out, " %*.*s", DT_VALUE_WIDTH, (int)number.n, number.p);
    return true;
}
