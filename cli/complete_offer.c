#include "complete.h"

#include <stdlib.h>
#include <string.h>

/* The first of them: what is hot stands first, and a longer word finds the others. */
#define OFFERED_MAX 1000

static void complete_add(struct complete *x, const char *p, size_t n)
{
    if (x->room - x->n < n + 1) {
        size_t room = 2 * (x->n + n) + 4096;
        char *more = realloc(x->text, room);
        if (!more)
            return;
        x->text = more;
        x->room = room;
    }
    memcpy(x->text + x->n, p, n);
    x->n += n;
    x->text[x->n] = '\0';
}

/* A shell shows candidates as they are, and profiles are by strangers. */
static bool complete_is_safe(const char *text)
{
    char *safe = NULL;
    bool same = *text && spaa_safe_text(text, 0, &safe) == SPAA_OK && strcmp(safe, text) == 0;
    spaa_free(safe);
    return same;
}

static bool complete_is_listed(const struct complete *x, const char *candidate)
{
    size_t n = strlen(candidate);
    for (const char *p = x->word - x->listed; p < x->word; p += strcspn(p, ",") + 1)
        if (strcspn(p, ",") == n && memcmp(p, candidate, n) == 0)
            return true;
    return false;
}

void complete_offer(struct complete *x, const char *candidate, const char *title)
{
    if (strncmp(candidate, x->word, strlen(x->word)) != 0 || x->offered == OFFERED_MAX ||
        complete_is_listed(x, candidate) || !complete_is_safe(candidate))
        return;
    x->offered++;
    complete_add(x, x->word - x->before, x->before);
    complete_add(x, candidate, strlen(candidate));
    complete_add(x, "\t", 1);
    if (title && complete_is_safe(title))
        complete_add(x, title, strlen(title));
    complete_add(x, "\n", 1);
}

void complete_after_comma(struct complete *x)
{
    const char *comma = strrchr(x->word, ',');
    size_t n = comma ? (size_t)(comma + 1 - x->word) : 0;
    x->word += n;
    x->before += n;
    x->listed = n;
}
