#include "guide/guide.h"

#include <string.h>

/* "recording" of "references/recording.md", "SKILL.md" as it is. */
const char *sp_guide_short(const struct sp_guide_text *t, size_t *n)
{
    const char *slash = strrchr(t->name, '/'), *base = slash ? slash + 1 : t->name;
    *n = strlen(base);
    if (slash && *n > 3 && strcmp(base + *n - 3, ".md") == 0)
        *n -= 3;
    return base;
}

const struct sp_guide_text *sp_guide_find(const char *name)
{
    size_t n, asked = strlen(name);
    for (const struct sp_guide_text *t = sp_guide_texts; t->name; t++) {
        const char *base = sp_guide_short(t, &n);
        if (strcmp(name, t->name) == 0 || (asked == n && memcmp(name, base, n) == 0))
            return t;
    }
    return NULL;
}
