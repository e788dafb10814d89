/* A line of folded text, what it holds, and whether a text is folded at all. */
#include "formats/folded/folded.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Length of the number that [p, end) is as a whole: sign, digits, fraction, exponent; 0 if it is none. */
static bool number(const char *p, const char *end)
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
static bool last_word(const char *p, const char *end, const char **stack_end, const char **word)
{
    const char *w = end;
    while (w > p && !blank(w[-1]))
        w--;
    if (w == p)
        return false;
    *word = w;
    while (w > p && blank(w[-1]))
        w--;
    *stack_end = w;
    return true;
}

static bool comment(const char *p, const char *end)
{
    return *p == '#' && (end - p == 1 || memchr(" \t#-=|!", p[1], 7));
}

enum sp_fold_is sp_fold_line(const char *p, const char *end, bool two, struct sp_fold_line *line)
{
    while (end > p && blank(end[-1]))
        end--;
    if (p == end || comment(p, end))
        return SP_FOLD_COMMENT;
    const char *stack_end, *word;
    if (!last_word(p, end, &stack_end, &word) || stack_end == p || !number(word, end))
        return *p == '#' ? SP_FOLD_COMMENT : SP_FOLD_NOTHING;
    *line = (struct sp_fold_line){.stack = p, .value = word, .value_n = (size_t)(end - word)};
    line->stack_n = (size_t)(stack_end - p);
    const char *first, *first_end = stack_end;
    if (two && last_word(p, first_end, &stack_end, &first) && stack_end > p && number(first, first_end)) {
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

enum sp_fold_mark sp_fold_mark(const unsigned char *p, size_t n)
{
    if (n >= 2 && p[0] == 0xFF && p[1] == 0xFE)
        return SP_FOLD_UTF16LE;
    if (n >= 2 && p[0] == 0xFE && p[1] == 0xFF)
        return SP_FOLD_UTF16BE;
    return n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? SP_FOLD_UTF8 : SP_FOLD_PLAIN;
}

static void utf8(struct sp_buf *out, uint32_t c)
{
    char t[4];
    size_t n = 0;
    if (c < 0x80) {
        t[n++] = (char)c;
    } else if (c < 0x800) {
        t[n++] = (char)(0xC0 | c >> 6);
    } else if (c < 0x10000) {
        t[n++] = (char)(0xE0 | c >> 12);
        t[n++] = (char)(0x80 | (c >> 6 & 0x3F));
    } else {
        t[n++] = (char)(0xF0 | c >> 18);
        t[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        t[n++] = (char)(0x80 | (c >> 6 & 0x3F));
    }
    if (c >= 0x80)
        t[n++] = (char)(0x80 | (c & 0x3F));
    sp_buf_add(out, t, n);
}

static uint32_t unit(const unsigned char *p, bool big)
{
    return big ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
}

size_t sp_fold_from_utf16(struct sp_buf *out, const unsigned char *p, size_t n, bool big)
{
    size_t i = 0;
    while (i + 2 <= n) {
        uint32_t c = unit(p + i, big);
        size_t used = 2;
        if (c >> 10 == 0xD800 >> 10) { /* a high surrogate wants a low one */
            if (i + 4 > n)
                break;
            uint32_t low = unit(p + i + 2, big);
            if (low >> 10 == 0xDC00 >> 10) {
                c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
                used = 4;
            }
        }
        utf8(out, c >> 11 == 0xD800 >> 11 ? 0xFFFD : c);
        i += used;
    }
    return i;
}

/* The share of lines that are stacks, and whether any has more than one frame. */
static int score(const char *p, size_t n, bool whole, const char **reason)
{
    const char *end = p + n;
    size_t good = 0, bad = 0, deep = 0, control = 0;
    for (unsigned lines = 0; p < end && lines < 200; lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        struct sp_fold_line line;
        switch (sp_fold_line(p, nl ? nl : end, false, &line)) {
        case SP_FOLD_STACK:
            good++;
            deep += memchr(line.stack, ';', line.stack_n) != NULL;
            control += memchr(line.stack, '\0', line.stack_n) != NULL;
            break;
        case SP_FOLD_NOTHING:
            bad++;
            break;
        case SP_FOLD_COMMENT:
            break;
        }
        p = nl ? nl + 1 : end;
    }
    if (!good || control)
        return 0;
    *reason = deep ? "lines of frames between semicolons, and a number" : "lines that end in a number";
    if (!bad)
        return deep ? 70 : 25;
    if (good * 10 >= (good + bad) * 9)
        return deep ? 50 : 12;
    return good * 4 >= good + bad ? (deep ? 20 : 5) : 0;
}

int sp_fold_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    enum sp_fold_mark mark = sp_fold_mark(p, n);
    if (mark != SP_FOLD_UTF16LE && mark != SP_FOLD_UTF16BE) {
        size_t skip = mark == SP_FOLD_UTF8 ? 3 : 0;
        return score((const char *)p + skip, n - skip, whole, reason);
    }
    char room[24 << 10]; /* two bytes become three at most; a probe allocates nothing */
    struct sp_buf text = {.data = room, .cap = sizeof room, .max = sizeof room};
    n -= 2;
    if (n > sizeof room / 3 * 2) {
        n = sizeof room / 3 * 2;
        whole = false;
    }
    sp_fold_from_utf16(&text, p + 2, n, mark == SP_FOLD_UTF16BE);
    return text.len ? score(text.data, text.len, whole, reason) : 0;
}
