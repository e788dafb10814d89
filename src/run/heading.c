#include "run/heading.h"

#include "run/fold.h"

#include "answer/text.h"
#include "ask/selection_words.h"
#include "render/diag_json.h"

static void answer_str(struct sp_jw *w, const char *key, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    if (s == SP_STR_NONE)
        sp_jw_null(w, key);
    else
        sp_jw_str(w, key, t.p, t.n);
}

static void answer_samples(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

void sp_run_json_open(struct sp_run *run, struct sp_jw *w, const char *schema, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    sp_jw_init(w, run->out);
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "schema", schema);
    sp_jw_open(w, "profile", '{');
    answer_str(w, "source_tool", p, p->header.source_tool);
    answer_str(w, "event", p, p->events.v[s->event].name);
    answer_str(w, "metric", p, p->metrics.v[s->metric].name);
    if (s->unit.n)
        sp_jw_str(w, "unit", s->unit.p, s->unit.n);
    else
        sp_jw_null(w, "unit");
    answer_samples(w, "samples", s->whole_samples);
    sp_jw_cstr(w, "view", s->view);
    sp_jw_str(w, "filters", s->filters.data ? s->filters.data : "", s->filters.len);
    if (s->cannot_add)
        sp_jw_null(w, "event_whole");
    else
        sp_jw_scaled(w, "event_whole", s->event_whole, s->scale);
    sp_jw_close(w, '}');
    if (s->cannot_add) {
        sp_jw_null(w, "whole");
        sp_jw_null(w, "kept");
    } else {
        sp_jw_scaled(w, "whole", s->whole, s->scale);
        sp_jw_scaled(w, "kept", s->kept, s->scale);
    }
    sp_jw_percent(w, "kept_percent", s->kept, s->cannot_add ? 0 : s->event_whole); /* of event_whole */
    answer_samples(w, "kept_samples", s->samples);
}

void sp_run_json_close(struct sp_run *run, struct sp_jw *w)
{
    sp_jw_open(w, "diagnostics", '[');
    for (size_t i = 0; i < run->diags->list.n; i++)
        sp_diag_json(w, &run->diags->list.v[i]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
    sp_puts(run->out, "\n");
    sp_jw_free(w);
}

int sp_run_heading(struct sp_run *run, const struct sp_selection *s)
{
    struct sp_buf words, b;
    sp_buf_init(&words, 0);
    sp_buf_init(&b, 0);
    sp_heading_text(&words, s);
    sp_text_safe(&b, words.data, words.len);
    sp_buf_ch(&b, '\n');
    bool failed = words.failed;
    struct sp_output *kept;
    int rc = SP_EXIT_FINE;
    sp_buf_clear(&words);
    sp_bounds_text(&words, s);
    if (words.len) {
        sp_text_safe(&b, words.data, words.len);
        sp_buf_ch(&b, '\n');
    }
    failed = failed || words.failed || b.failed;
    if (failed) {
        sp_nomem(run->diags);
    } else if (run->form == SP_FORM_MARKDOWN) {
        sp_markdown_text(run->out, b.data, b.len);
        sp_puts(run->out, "\n");
    } else if (run->form == SP_FORM_TEXT) {
        rc = sp_run_fold_begin(run, &kept);
        if (!rc)
            sp_write(run->out, b.data, b.len);
        rc = sp_run_fold_end(run, kept, rc);
    }
    sp_buf_free(&words);
    sp_buf_free(&b);
    return failed ? sp_run_exit(run, SPAA_ERR_NOMEM) : rc;
}

int sp_run_table_write(struct sp_run *run, struct sp_table *t)
{
    static const enum sp_table_form forms[] = {SP_TABLE_TEXT, SP_TABLE_TEXT, SP_TABLE_CSV, SP_TABLE_MARKDOWN};
    bool whole = sp_options_full_names(&run->v);
    unsigned width = run->width ? run->width : whole ? 0 : SP_PIPED_COLUMNS;
    spaa_status st = sp_table_write(t, forms[run->form], width, run->out);
    return st ? sp_run_exit(run, sp_nomem(run->diags)) : SP_EXIT_FINE;
}
