#include "base/nearest.h"

#include <ctype.h>

enum { LONGEST = 64, NAMED = 5 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

unsigned sp_edit_distance(struct sp_str a, struct sp_str b, unsigned cap)
{
    unsigned row[3][LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return cap + 1;
    for (unsigned j = 0; j <= b.n; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned *now = row[i % 3], *above = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            bool same = lower(a.p[i - 1]) == lower(b.p[j - 1]);
            unsigned v = above[j - 1] + !same;
            if (above[j] + 1 < v)
                v = above[j] + 1;
            if (now[j - 1] + 1 < v)
                v = now[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a.p[i - 1]) == lower(b.p[j - 2]) &&
                lower(a.p[i - 2]) == lower(b.p[j - 1]) && two[j - 2] + 1 < v)
                v = two[j - 2] + 1;
            now[j] = v;
        }
    }
    unsigned v = row[a.n % 3][b.n];
    return v > cap ? cap + 1 : v;
}

static bool holds(struct sp_str s, struct sp_str part)
{
    if (!part.n || part.n > s.n)
        return false;
    for (uint32_t i = 0; i + part.n <= s.n; i++) {
        uint32_t k = 0;
        while (k < part.n && lower(s.p[i + k]) == lower(part.p[k]))
            k++;
        if (k == part.n)
            return true;
    }
    return false;
}

static bool nearest_is_number(struct sp_str s)
{
    uint32_t i = 0;
    while (i < s.n && (unsigned char)(s.p[i] - '0') < 10)
        i++;
    return s.n && i == s.n;
}

/* Smaller is closer; UINT_MAX-like 1000 is no candidate: a number is no misspelling of another. */
static unsigned closeness(struct sp_str asked, struct sp_str name)
{
    if (nearest_is_number(asked) && nearest_is_number(name))
        return 1000;
    unsigned cap = asked.n < 4 ? 1 : asked.n < 8 ? 2 : 3;
    unsigned distance = sp_edit_distance(asked, name, cap);
    if (distance <= cap)
        return distance;
    if (holds(name, asked))
        return 10 + (name.n - asked.n < 100 ? name.n - asked.n : 100);
    return asked.n > 2 && holds(asked, name) && name.n > 2 ? 200 : 1000;
}

void sp_nearest_words(struct sp_buf *out, const char *asked, const struct sp_str *names, size_t n)
{
    struct sp_str a = {asked, (uint32_t)strlen(asked)};
    struct sp_str best[NAMED];
    unsigned score[NAMED];
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned s = closeness(a, names[i]);
        bool again = sp_str_cmp(a, names[i]) == 0; /* it is not what is meant: it was asked for */
        for (size_t k = 0; k < found; k++)
            again = again || sp_str_cmp(best[k], names[i]) == 0;
        if (s >= 1000 || again || (found == NAMED && s >= score[NAMED - 1]))
            continue;
        size_t at = found < NAMED ? found++ : NAMED - 1;
        for (; at > 0 && score[at - 1] > s; at--) {
            best[at] = best[at - 1];
            score[at] = score[at - 1];
        }
        best[at] = names[i];
        score[at] = s;
    }
    bool close = found > 0;
    for (size_t i = 0; !close && i < n && found < NAMED; i++)
        if (sp_str_cmp(a, names[i]) != 0)
            best[found++] = names[i];
    if (!found)
        return;
    sp_buf_puts(out, close ? "did you mean " : "there ");
    if (!close)
        sp_buf_puts(out, found == 1 ? "is only " : "are ");
    for (size_t i = 0; i < found; i++) {
        sp_buf_puts(out, i ? ", " : "");
        sp_buf_add(out, best[i].p, best[i].n);
    }
    if (close)
        sp_buf_ch(out, '?');
    else if (n > found)
        sp_buf_printf(out, " and %zu more", n - found);
}
