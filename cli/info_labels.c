/* Which labels there are, in spaa info. */
#include "answer.h"
#include "info.h"

#include "render/text.h"

spaa_status info_labels_of(struct cli *c, struct info_labels *out)
{
    struct sp_selection s = {.profile = c->profile};
    uint32_t event = sp_default_event(c->profile);
    struct sp_select_opts o = {.event_number = &event, .view = "all"};
    *out = (struct info_labels){0};
    if (event == SP_NONE || (!c->profile->label_sets.n && !c->profile->samples))
        return SPAA_OK;
    spaa_status st = sp_select(c->profile, &o, &c->diags, &s);
    if (st)
        return st;
    out->whole = s.cannot_add ? 0 : s.kept;
    st = sp_label_report_of(c->profile, &s, &c->diags, &out->report);
    sp_selection_free(&s);
    return st;
}

void info_labels_free(struct info_labels *x)
{
    sp_label_report_free(&x->report);
}

void info_labels_json(const struct info_labels *x, const struct sp_profile *p, struct sp_jw *w)
{
    sp_jw_open(w, "labels", '[');
    for (size_t i = 0; i < x->report.rows.n; i++) {
        const struct sp_label_row *r = &x->report.rows.v[i];
        struct sp_str key = sp_pstr(p, r->key);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "key", key.p, key.n);
        sp_jw_u64(w, "values", r->values);
        sp_jw_percent(w, "percent", r->weight, x->whole);
        if (x->report.samples)
            sp_jw_u64(w, "samples", r->samples);
        else
            sp_jw_null(w, "samples");
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* On samples alone, it is they that are counted. */
void info_labels_text(struct cli *c, const struct info_labels *x)
{
    enum { SHOWN = 8 };
    struct sp_buf b;
    size_t n = x->report.rows.n;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct sp_label_row *r = &x->report.rows.v[i];
        struct sp_str key = sp_pstr(c->profile, r->key);
        bool samples = !r->weight && x->report.samples;
        sp_buf_clear(&b);
        sp_text_safe(&b, key.p, key.n);
        sp_buf_printf(&b, ": %llu value%s, on ", (unsigned long long)r->values, r->values == 1 ? "" : "s");
        if (samples)
            sp_text_percent(&b, (int64_t)r->samples, (int64_t)x->report.samples);
        else
            sp_text_percent(&b, r->weight, x->whole);
        sp_buf_puts(&b, samples ? "% of samples" : "% of the weight");
        sp_printf(c->out, "%-12s %s\n", i ? "" : "labels", sp_buf_cstr(&b));
    }
    if (n > SHOWN)
        sp_printf(c->out, "%-12s and %zu more (--json)\n", "", n - SHOWN);
    sp_buf_free(&b);
}
