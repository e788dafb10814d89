#include "analysis/top_keep.h"

#include "analysis/match.h"

#include <stdlib.h>

static bool keep_row(const struct sp_top *t, size_t i, const unsigned char *names, const unsigned char *dsos)
{
    const struct sp_top_row *r = &t->rows.v[i];
    uint32_t dso = r->function == SP_NONE ? r->dso : t->profile->functions.v[r->function].dso;
    return (names && names[i]) || (dsos && dso != SP_NONE && dsos[dso]);
}

static size_t keep_rows(struct sp_top *t, const unsigned char *names, const unsigned char *dsos)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        if (!keep_row(t, i, names, dsos))
            continue;
        for (size_t k = 0; k < t->nextras; k++)
            t->extras[k].v[kept] = t->extras[k].v[i];
        t->rows.v[kept++] = t->rows.v[i];
    }
    for (size_t k = 0; k < t->nextras; k++)
        t->extras[k].n = kept;
    return t->rows.n = kept;
}

spaa_status sp_top_keep(struct sp_top *t, const char *pattern, enum sp_top_keep_by by, struct sp_diags *d)
{
    unsigned char *names = NULL, *dsos = NULL;
    uint32_t *items = malloc((t->rows.n + 1) * sizeof *items);
    if (!items)
        return sp_nomem(d);
    for (size_t i = 0; i < t->rows.n; i++)
        items[i] = t->rows.v[i].name;
    spaa_status st = SPAA_OK;
    if (by != SP_KEEP_BINARY)
        st = sp_match_strings(&t->names, items, t->rows.n, pattern, d, &names);
    if (!st && by != SP_KEEP_NAME)
        st = sp_match_dsos(t->profile, pattern, d, &dsos);
    if (!st && t->rows.n && !keep_rows(t, names, dsos)) {
        sp_emit_hint(d, SP_E032, SP_AT_NOTHING, "rows are named as -n 0 --names full shows them",
                     "no row: %s", pattern);
        st = SPAA_ERR_NOT_FOUND;
    }
    free(items);
    free(names);
    free(dsos);
    return st;
}
