/* Findings of the validator, with the line at which they stand. */
#include "formats/codeguru/validate.h"

#include <stdarg.h>
#include <stdio.h>

bool sp_cg_wanted(const struct sp_cg_check *c, enum sp_code code)
{
    return !c->d->per_code || c->d->count[code] < c->d->per_code;
}

void sp_cg_find(struct sp_cg_check *c, enum sp_code code, const char *at, const char *path, const char *hint,
                const char *fmt, ...)
{
    char text[512];
    struct sp_where where = SP_AT((uint64_t)(at - c->j.start));
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (sp_cg_wanted(c, code)) {
        if (at < c->line_at) {
            c->line_at = c->j.start;
            c->lines = 0;
        }
        for (const char *nl; (nl = memchr(c->line_at, '\n', (size_t)(at - c->line_at))); c->line_at = nl + 1)
            c->lines++;
        where.line = c->lines + 1;
        where.field = path;
    }
    if (hint)
        sp_emit_hint(c->d, code, where, hint, "%s", text);
    else if (strcmp(text, " ") == 0) /* the code says it all */
        sp_emit(c->d, code, where, " ");
    else
        sp_emit(c->d, code, where, "%s", text);
}

bool sp_cg_again(struct sp_cg_check *c, uint32_t search, uint32_t name)
{
    bool fine = name != SP_STR_FAIL;
    while (fine && c->seen.n <= name)
        fine = sp_vec_push(&c->seen, 0);
    c->nomem = c->nomem || !fine;
    if (!fine || c->seen.v[name] == search)
        return fine;
    c->seen.v[name] = search;
    return false;
}
