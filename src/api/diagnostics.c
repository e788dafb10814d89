/* The diagnostics of the public interface: the collector of base/diag.h, seen from outside. */
#include "api/api.h"

#include "answer/text.h"
#include "render/diag_text.h"
#include "json/json.h"

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
        if (*to && !d->per_code) /* all are wanted */
            (*to)->d.per_code = 0;
        if (*to)
            sp_diags_merge(&(*to)->d, d);
    }
    sp_diags_free(d);
    d->watch = NULL; /* the call is over */
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

/* ---- for people and for programs that answer in JSON ---- */

static void diagnostic_line(struct sp_buf *b, const struct sp_diag *g, bool colour)
{
    const char *on = !colour ? "" : g->severity >= SP_ERROR ? "\033[31m" : "\033[33m";
    sp_buf_printf(b, "%s%s%s: ", on, sp_diag_word(g), colour ? "\033[0m" : "");
    sp_diag_text(b, g);
    sp_buf_ch(b, '\n');
    if (*g->hint && g->severity != SP_INFO) {
        sp_buf_puts(b, "  ");
        sp_text_safe(b, g->hint, strlen(g->hint));
        sp_buf_ch(b, '\n');
    }
}

spaa_status spaa_diagnostics_text(const struct spaa_diagnostics *diagnostics, size_t i, int colour,
                                  char **text)
{
    struct sp_buf b;
    if (!diagnostics || !text)
        return SPAA_ERR_USAGE;
    if (i >= diagnostics->d.list.n)
        return SPAA_ERR_NOT_FOUND;
    sp_buf_init(&b, 1 << 20);
    diagnostic_line(&b, &diagnostics->d.list.v[i], colour != 0);
    char *copy = sp_api_copy(sp_buf_cstr(&b)); /* cut where there is no memory for more */
    sp_buf_free(&b);
    *text = copy ? copy : *text;
    return copy ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* A copy of what was made, for the caller. */
static spaa_status diagnostic_made(struct sp_buf *b, char **out)
{
    const char *made = sp_buf_cstr(b);
    char *copy = b->failed ? NULL : sp_api_copy(made);
    sp_buf_free(b);
    *out = copy ? copy : *out;
    return copy ? SPAA_OK : SPAA_ERR_NOMEM;
}

spaa_status spaa_shell_word(const char *text, char **word)
{
    struct sp_buf b;
    if (!text || !word)
        return SPAA_ERR_USAGE;
    sp_buf_init(&b, 0);
    sp_shell_word(&b, text);
    return diagnostic_made(&b, word);
}

spaa_status spaa_safe_text(const char *text, unsigned columns, char **safe)
{
    struct sp_buf b;
    if (!text || !safe)
        return SPAA_ERR_USAGE;
    sp_buf_init(&b, 0);
    if (columns)
        sp_text_fit(&b, text, strlen(text), columns);
    else
        sp_text_safe(&b, text, strlen(text));
    return diagnostic_made(&b, safe);
}

spaa_status spaa_diagnostics_unkept(const struct spaa_diagnostics *diagnostics, size_t k,
                                    struct spaa_unkept *out)
{
    uint64_t kept[SP_CODES] = {0};
    if (!diagnostics || !out)
        return SPAA_ERR_USAGE;
    const struct sp_diags *d = &diagnostics->d;
    for (size_t i = 0; i < d->list.n; i++)
        kept[d->list.v[i].code]++;
    for (int code = 0; code < SP_CODES; code++) {
        const struct sp_code_info *info = sp_code_info((enum sp_code)code);
        if (d->count[code] <= kept[code] || k--)
            continue;
        struct spaa_unkept found = {.code = info->name,
                                    .severity = sp_severity_name(info->severity),
                                    .title = info->title,
                                    .count = d->count[code] - kept[code]};
        return sp_api_result(out, &found, sizeof found);
    }
    return SPAA_ERR_NOT_FOUND;
}

static void error_object(struct sp_output *out, const struct sp_diag *g)
{
    struct sp_jw w;
    sp_jw_init(&w, out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.error/1");
    sp_jw_open(&w, "error", '{');
    sp_jw_cstr(&w, "code", sp_code_info(g->code)->name);
    sp_jw_cstr(&w, "message", g->message);
    sp_jw_cstr(&w, "file", g->file);
    if (g->offset == SP_NOWHERE)
        sp_jw_null(&w, "offset");
    else
        sp_jw_u64(&w, "offset", g->offset);
    if (g->line)
        sp_jw_u64(&w, "line", g->line);
    else
        sp_jw_null(&w, "line");
    sp_jw_cstr(&w, "hint", g->hint);
    sp_jw_close(&w, '}');
    sp_jw_close(&w, '}');
    sp_puts(out, "\n");
    sp_jw_free(&w);
}

spaa_status spaa_diagnostics_error(const struct spaa_diagnostics *diagnostics, char **json)
{
    const struct sp_diag *g = NULL;
    struct sp_output *out = NULL;
    struct sp_diags d;
    size_t n;
    if (!json)
        return SPAA_ERR_USAGE;
    for (size_t i = 0; diagnostics && i < diagnostics->d.list.n; i++)
        if (diagnostics->d.list.v[i].severity >= SP_ERROR)
            g = &diagnostics->d.list.v[i];
    if (!g)
        return SPAA_ERR_NOT_FOUND;
    sp_diags_init(&d);
    spaa_status st = sp_output_memory(&d, &out);
    if (!st) {
        error_object(out, g);
        st = out->status;
    }
    char *copy = st ? NULL : sp_api_copy(sp_output_data(out, &n));
    *json = copy ? copy : *json;
    sp_output_close(out);
    sp_diags_free(&d);
    return st || copy ? st : SPAA_ERR_NOMEM;
}

spaa_status spaa_diagnostics_add(struct spaa_diagnostics **diagnostics, const char *code, const char *hint,
                                 const char *message)
{
    struct sp_diags d;
    if (!diagnostics || !code || !message)
        return SPAA_ERR_USAGE;
    for (int i = 0; i < SP_CODES; i++)
        if (strcmp(sp_code_info((enum sp_code)i)->name, code) == 0) {
            sp_diags_init(&d);
            if (hint)
                sp_emit_hint(&d, (enum sp_code)i, SP_AT_NOTHING, hint, "%s", message);
            else
                sp_emit(&d, (enum sp_code)i, SP_AT_NOTHING, "%s", message);
            return sp_api_deliver(&d, diagnostics, SPAA_OK);
        }
    return SPAA_ERR_USAGE;
}

void spaa_diagnostics_free(struct spaa_diagnostics *diagnostics)
{
    if (!diagnostics)
        return;
    sp_diags_free(&diagnostics->d);
    free(diagnostics);
}
