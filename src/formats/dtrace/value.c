/* The value in a line of keys, and lines that printa() makes where dtrace itself would print another. */
#include "formats/dtrace/dtrace.h"

static bool dtrace_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct dt_text dtrace_trimmed(const char *p, const char *end)
{
    while (p < end && dtrace_is_blank(*p))
        p++;
    while (end > p && dtrace_is_blank(end[-1]))
        end--;
    return (struct dt_text){p, (size_t)(end - p)};
}

static const char *dtrace_word_at_end(struct dt_text t)
{
    const char *p = t.p + t.n;
    while (p > t.p && !dtrace_is_blank(p[-1]))
        p--;
    return p;
}

/* "pid 12:" to "pid 12", "bash ms:" to "bash": a label goes, unless it is a number. */
static struct dt_text dtrace_without_label(struct dt_text t)
{
    int64_t v;
    if (!t.n || (t.p[t.n - 1] != ':' && t.p[t.n - 1] != '='))
        return t;
    const char *word = dtrace_word_at_end(t), *end = t.p + t.n - 1;
    bool number = dt_integer((struct dt_text){word, (size_t)(end - word)}, &v);
    return dtrace_trimmed(t.p, number ? end : word);
}

bool dt_value_at_end(struct dt_text t, struct dt_text *keys, int64_t *v)
{
    const char *end = t.p + t.n, *p = end;
    while (p > t.p && p[-1] >= '0' && p[-1] <= '9')
        p--;
    if (p > t.p && p[-1] == '-')
        p--;
    if (p == t.p || (!dtrace_is_blank(p[-1]) && p[-1] != '=' && p[-1] != ':') ||
        !dt_integer((struct dt_text){p, (size_t)(end - p)}, v))
        return false;
    *keys = dtrace_without_label(dtrace_trimmed(t.p, p));
    return true;
}

bool dt_value_at_start(struct dt_text t, struct dt_text *keys, int64_t *v)
{
    const char *end = t.p + t.n, *p = t.p;
    while (p < end && !dtrace_is_blank(*p))
        p++;
    if (p == end || !dt_integer((struct dt_text){t.p, (size_t)(p - t.p)}, v))
        return false;
    *keys = dtrace_trimmed(p, end);
    return true;
}

/* The columns that words take where dtrace puts them; numbers, and the last of them, in so many. */
static size_t default_columns(const struct dt_text *words, size_t n, size_t numbers, size_t last)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        bool number = dt_integer(words[i], &v);
        size_t room = !number ? DT_STRING_WIDTH : i + 1 == n ? last : numbers;
        width += (number ? 1 : 2) + (words[i].n > room ? words[i].n : room);
    }
    return width;
}

bool dt_default_print(struct dt_text t, size_t indent)
{
    struct dt_text words[DT_KEYS_MAX];
    size_t n = dt_words(t, words, DT_KEYS_MAX), columns = indent + t.n;
    size_t width = default_columns(words, n, DT_VALUE_WIDTH, DT_VALUE_WIDTH);
    int64_t v;
    /* The blanks that fill a string at the end of its line are not in t. */
    return n && dt_integer(words[n - 1], &v) ? columns == width : n && columns <= width && indent == 2;
}

bool dt_ends_in_key(struct dt_text t, size_t indent)
{
    struct dt_text words[DT_KEYS_MAX];
    size_t n = dt_words(t, words, DT_KEYS_MAX), columns = indent + t.n;
    int64_t v;
    if (!n || !dt_integer(words[n - 1], &v) || words[n - 1].n > DT_KEY_WIDTH)
        return false;
    size_t narrow = default_columns(words, n, DT_KEY_WIDTH, DT_KEY_WIDTH),
           wide = default_columns(words, n, DT_VALUE_WIDTH, DT_KEY_WIDTH);
    size_t more = n > 1; /* behind a string one blank may stand for nothing */
    return (columns >= narrow && columns <= narrow + more) || (columns >= wide && columns <= wide + more);
}
