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

spaa_status sp_probe_view(struct sp_input *in, const unsigned char **p, size_t *n, bool *whole)
{
    size_t want = SP_PROBE_BYTES;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, p, n);
        if (st)
            return st;
        *whole = *n < want;
        if (*n > want)
            *n = want;
        if (*whole || want >= SP_PROBE_LINE || memchr(*p, '\n', *n))
            return SPAA_OK;
        want = want * 4 < SP_PROBE_LINE ? want * 4 : SP_PROBE_LINE;
    }
}

bool sp_probe_is_text(const unsigned char *p, size_t n)
{
    static const char usual[] = "\t\n\v\f\r\b\033";
    size_t control = 0;
    n = n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES;
    for (size_t i = 0; i < n; i++)
        control += p[i] < 0x20 && (!p[i] || !strchr(usual, p[i]));
    return control <= 1 || control * 50 <= n;
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
        int score = spaa_formats[i]->probe(p, n, whole, &why);
        if (score > best_score) {
            best_score = score;
            best = (struct sp_guess){spaa_formats[i], why};
        }
    }
    if (guess)
        *guess = best;
    return best_score >= SP_PROBE_SURE ? best.format : NULL;
}

const char *sp_own_opt(const struct sp_own_opt *own, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].value ? own[i].value : "";
    return NULL;
}
