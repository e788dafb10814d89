/* A line of folded text, what it holds, and whether a text is folded at all. */
#include "formats/folded/folded.h"

#include <string.h>
#include <strings.h>

static bool folded_is_blank_line(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Length of the number that [p, end) is as a whole: sign, digits, fraction, exponent; 0 if it is none. */
static bool folded_last_number(const char *p, const char *end)
{
    const char *q = p + (p < end && (*p == '-' || *p == '+'));
    size_t digits = 0;
    for (; q < end && (unsigned char)(*q - '0') < 10; q++)
        digits++;
    if (q < end && *q == '.')
        for (q++; q < end && (unsigned char)(*q - '0') < 10; q++)
            digits++;
    if (!digits)
        return false;
    if (q < end && (*q == 'e' || *q == 'E')) {
        q += 1 + (q + 1 < end && (q[1] == '-' || q[1] == '+'));
        const char *first = q;
        while (q < end && (unsigned char)(*q - '0') < 10)
            q++;
        if (q == first)
            return false;
    }
    return q == end;
}

/* Splits the last word off [p, end); false if there is no blank before it. */
static bool folded_last_word(const char *p, const char *end, const char **stack_end, const char **word)
{
    const char *w = end;
    while (w > p && !folded_is_blank_line(w[-1]))
        w--;
    if (w == p)
        return false;
    *word = w;
    while (w > p && folded_is_blank_line(w[-1]))
        w--;
    *stack_end = w;
    return true;
}

static bool folded_is_comment(const char *p, const char *end)
{
    return *p == '#' && (end - p == 1 || memchr(" \t#-=|!", p[1], 7));
}

enum sp_fold_is sp_fold_line(const char *p, const char *end, bool two, struct sp_fold_line *line)
{
    while (end > p && folded_is_blank_line(end[-1]))
        end--;
    if (p == end || folded_is_comment(p, end))
        return SP_FOLD_COMMENT;
    const char *stack_end, *word;
    if (!folded_last_word(p, end, &stack_end, &word) || stack_end == p || !folded_last_number(word, end))
        return *p == '#' ? SP_FOLD_COMMENT : SP_FOLD_NOTHING;
    *line = (struct sp_fold_line){.stack = p, .value = word, .value_n = (size_t)(end - word)};
    line->stack_n = (size_t)(stack_end - p);
    const char *first, *first_end = stack_end;
    if (two && folded_last_word(p, first_end, &stack_end, &first) && stack_end > p &&
        folded_last_number(first, first_end)) {
        line->before = first;
        line->before_n = (size_t)(first_end - first);
        line->stack_n = (size_t)(stack_end - p);
    }
    return SP_FOLD_STACK;
}

bool sp_fold_two_columns(const char *p, size_t n, bool whole)
{
    const char *end = p + n;
    size_t seen = 0;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        struct sp_fold_line line;
        if (sp_fold_line(p, nl ? nl : end, true, &line) == SP_FOLD_STACK) {
            if (!line.before)
                return false;
            seen++;
        }
        p = nl ? nl + 1 : end;
    }
    return seen > 1;
}

struct sp_str sp_fold_event(const char *p, size_t n)
{
    static const char word[] = "event";
    const char *end = p + n;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        const char *eol = nl ? nl : end, *q = p;
        if (*q != '#')
            continue;
        for (q++; q < eol && folded_is_blank_line(*q); q++)
            ;
        if ((size_t)(eol - q) < sizeof word || strncasecmp(q, word, sizeof word - 1) != 0)
            continue;
        q += sizeof word - 1;
        if (*q != ':' && *q != '=')
            continue;
        for (q++; q < eol && folded_is_blank_line(*q); q++)
            ;
        while (eol > q && folded_is_blank_line(eol[-1]))
            eol--;
        if (eol > q && eol - q < 256)
            return (struct sp_str){q, (uint32_t)(eol - q)};
    }
    return (struct sp_str){"", 0};
}

/* Whether a counter can have the number as its value. */
static bool folded_in_range(const char *p, size_t n)
{
    const char *end = p + n, *digits;
    p += p < end && (*p == '-' || *p == '+');
    while (end - p > 1 && *p == '0')
        p++;
    for (digits = p; p < end && (unsigned char)(*p - '0') < 10; p++)
        ;
    size_t count = (size_t)(p - digits);
    return count < 20 || (count == 20 && memcmp(digits, "18446744073709551615", 20) <= 0);
}

/* Frames on both sides of a semicolon, or a mark at the end of a name: more than a line with a number. */
static bool folded_shows_frames(const struct sp_fold_line *line)
{
    const char *p = line->stack, *end = p + line->stack_n;
    if (end - p > 4 && end[-1] == ']' && end[-3] == '[' && end[-4] == '_' && memchr("kjiw", end[-2], 4))
        return true;
    for (const char *s = p; (s = memchr(s, ';', (size_t)(end - s))); s++)
        if (s > p && s + 1 < end && !folded_is_blank_line(s[-1]) && !folded_is_blank_line(s[1]))
            return true;
    return false;
}

static size_t folded_semicolons(const char *p, const char *end)
{
    size_t n = 0;
    for (; (p = memchr(p, ';', (size_t)(end - p))); p++)
        n++;
    return n;
}

/* A table of values between semicolons: a first line of titles, and as many columns in all that follow. */
static bool folded_is_table(const char *p, const char *end)
{
    struct sp_fold_line line;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    if (!nl || sp_fold_line(p, nl, false, &line) != SP_FOLD_NOTHING)
        return false;
    size_t columns = folded_semicolons(p, nl);
    for (p = nl + 1; (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1)
        if (folded_semicolons(p, nl) != columns)
            return false;
    return columns > 0;
}

/*
 * A text is folded when 95 % of its lines are stacks and any of them shows frames, or a comment names the
 * event; otherwise lists of words and numbers (headers in C, changelogs) would be.
 */
int sp_fold_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    size_t good = 0, all = 0;
    bool frames = sp_fold_event(p, n).n;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        struct sp_fold_line line;
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        enum sp_fold_is is = sp_fold_line(p, nl ? nl : end, false, &line);
        if (!nl && is != SP_FOLD_STACK)
            break; /* a file that was cut off says nothing of what it is */
        all += is != SP_FOLD_COMMENT;
        if (is != SP_FOLD_STACK || *line.stack == '#' || !folded_in_range(line.value, line.value_n))
            continue;
        good++;
        frames = frames || folded_shows_frames(&line);
    }
    *reason = !frames                 ? "lines that end in a number, but none shows frames"
              : good * 100 < all * 95 ? "lines of frames and a number, but fewer than 95 %"
                                      : "lines of frames between semicolons, and a number";
    if (good && good * 100 >= all * 95 && frames && !folded_is_table((const char *)bytes, end))
        return good == all ? 70 : 55;
    return good * 4 >= all && good ? (frames ? 20 : 10) : 0;
}
