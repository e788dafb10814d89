/* The diagnostics of the public interface: the collector of base/diag.h, seen from outside. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

static bool anything(const struct sp_diags *d)
{
    for (int i = 0; i < SP_CODES; i++)
        if (d->count[i])
            return true;
    return false;
}

spaa_status sp_api_deliver(struct sp_diags *d, struct spaa_diagnostics **to, spaa_status st)
{
    if (to && anything(d)) {
        if (!*to && (*to = calloc(1, sizeof **to)))
            sp_diags_init(&(*to)->d);
        if (*to)
            sp_diags_merge(&(*to)->d, d);
    }
    sp_diags_free(d);
    return st;
}

spaa_status sp_api_missing(const char *what, struct spaa_diagnostics **to)
{
    struct sp_diags d;
    sp_diags_init(&d);
    return sp_api_deliver(&d, to, sp_api_usage(&d, "%s", what));
}

size_t spaa_diagnostics_count(const struct spaa_diagnostics *diagnostics)
{
    return diagnostics ? diagnostics->d.list.n : 0;
}

spaa_status spaa_diagnostics_get(const struct spaa_diagnostics *diagnostics, size_t i,
                                 struct spaa_diagnostic *out)
{
    if (!diagnostics || !out)
        return SPAA_ERR_USAGE;
    if (i >= diagnostics->d.list.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_diag *g = &diagnostics->d.list.v[i];
    struct spaa_diagnostic found = {
        .code = sp_code_info(g->code)->name,
        .severity = sp_severity_name(g->severity),
        .message = g->message,
        .hint = g->hint,
        .format = g->format,
        .file = g->file,
        .offset = g->offset,
        .line = g->line,
        .field = g->field,
    };
    return sp_api_result(out, &found, sizeof found);
}

uint64_t spaa_diagnostics_total(const struct spaa_diagnostics *diagnostics, const char *severity)
{
    uint64_t n = 0;
    for (int i = 0; diagnostics && severity && i < SP_CODES; i++)
        if (strcmp(sp_severity_name(sp_code_info((enum sp_code)i)->severity), severity) == 0)
            n += diagnostics->d.count[i];
    return n;
}

void spaa_diagnostics_free(struct spaa_diagnostics *diagnostics)
{
    if (!diagnostics)
        return;
    sp_diags_free(&diagnostics->d);
    free(diagnostics);
}
