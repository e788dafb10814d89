/* The table of formats: by name, by the path, and by what an input looks like. */
#include "formats/format.h"

#include <string.h>
#include <strings.h>

#define SPAA_FORMAT(name) extern const struct spaa_format spaa_format_##name;
#include "formats/formats.def"
#undef SPAA_FORMAT

const struct spaa_format *const spaa_formats[] = {
#define SPAA_FORMAT(name) &spaa_format_##name,
#include "formats/formats.def"
#undef SPAA_FORMAT
    NULL,
};

const struct spaa_format *sp_format_by_name(const char *name)
{
    for (size_t i = 0; spaa_formats[i]; i++)
        if (strcmp(spaa_formats[i]->name, name) == 0)
            return spaa_formats[i];
    return NULL;
}

static bool ends_with(const char *s, size_t n, const char *ext, size_t ext_n)
{
    return n > ext_n && s[n - ext_n - 1] == '.' && strncasecmp(s + n - ext_n, ext, ext_n) == 0;
}

const struct spaa_format *sp_format_by_path(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = strlen(base), best_n = 0;
    const struct spaa_format *best = NULL;
    if (ends_with(base, n, "zst", 3))
        n -= 4;
    else if (ends_with(base, n, "gz", 2))
        n -= 3;
    for (size_t i = 0; spaa_formats[i]; i++) {
        for (const char *e = spaa_formats[i]->extensions; *e;) {
            size_t en = strcspn(e, " ");
            if (en > best_n && (ends_with(base, n, e, en) || (n == en && strncasecmp(base, e, n) == 0))) {
                best = spaa_formats[i];
                best_n = en;
            }
            e += en;
            e += *e == ' ';
        }
    }
    return best;
}

const struct spaa_format *sp_format_probe(struct sp_input *in, struct sp_guess *guess)
{
    const unsigned char *p;
    size_t n;
    bool whole;
    struct sp_guess best = {0};
    int best_score = 0;
    if (guess)
        *guess = best;
    if (sp_probe_view(in, &p, &n, &whole) != SPAA_OK || !n)
        return NULL;
    for (size_t i = 0; spaa_formats[i]; i++) {
        const char *why = NULL;
        int score = spaa_formats[i]->probe ? spaa_formats[i]->probe(p, n, whole, &why) : 0;
        if (score > best_score) {
            best_score = score;
            best = (struct sp_guess){spaa_formats[i], why};
        }
    }
    if (guess)
        *guess = best;
    return best_score >= SP_PROBE_SURE ? best.format : NULL;
}
