/* Windows of a profile, walked. */
#include "api/api.h"

#include "analysis/sample_times.h"
#include "model/windows.h"

spaa_status sp_api_list_windows(struct spaa_profile *s)
{
    struct sp_profile *p = s->p;
    struct sp_buf text;
    bool ok = true;
    sp_buf_init(&text, 0);
    s->window_ids.n = 0;
    for (size_t i = 0; ok && i < p->windows.n; i++) {
        sp_buf_clear(&text);
        ok = sp_window_id(p, &p->windows.v[i], &text);
        uint32_t id = ok ? sp_profile_str(p, text.data, text.len) : SP_STR_FAIL;
        ok = id != SP_STR_FAIL && sp_vec_push(&s->window_ids, id);
    }
    sp_buf_free(&text);
    return ok ? SPAA_OK : sp_nomem(&s->diags);
}

size_t spaa_profile_window_count(const struct spaa_profile *profile)
{
    return profile ? profile->window_ids.n : 0;
}

static int64_t window_time(const struct sp_profile *p, const struct sp_window *w, uint32_t time)
{
    int64_t ns;
    struct sp_str unit = sp_pstr(p, w->unit ? w->unit : p->header.time_unit);
    return sp_time_ns(sp_pstr(p, time), unit, &ns) ? ns : SPAA_ABSENT;
}

spaa_status spaa_profile_window(const struct spaa_profile *profile, size_t window, struct spaa_window *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    if (window >= profile->window_ids.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_profile *p = profile->p;
    const struct sp_window *w = &p->windows.v[window];
    struct spaa_window found = {.id = sp_str_cstr(&p->strs, profile->window_ids.v[window]),
                                .start_ns = window_time(p, w, w->start),
                                .end_ns = window_time(p, w, w->end),
                                .stack_count = w->n};
    return sp_api_result(out, &found, sizeof found);
}

/* Row i of a window; NULL: there is none. */
static const struct sp_window_row *window_row_at(const struct spaa_profile *s, size_t window, size_t i)
{
    const struct sp_window *w = window < s->window_ids.n ? &s->p->windows.v[window] : NULL;
    return w && i < w->n ? &s->p->window_rows.v[w->first + i] : NULL;
}

static size_t window_row_weights(const struct sp_profile *p, const struct sp_window_row *r)
{
    return r->layout == SP_NONE ? 0 : p->layouts.v[r->layout].n;
}

spaa_status spaa_window_stack(const struct spaa_profile *profile, size_t window, size_t i,
                              struct spaa_window_stack *out)
{
    const struct sp_window_row *r = profile && out ? window_row_at(profile, window, i) : NULL;
    if (!r)
        return profile && out ? SPAA_ERR_NOT_FOUND : SPAA_ERR_USAGE;
    struct spaa_window_stack found = {.stack = r->stack == SP_NONE ? SPAA_NONE : r->stack,
                                      .weight_count = window_row_weights(profile->p, r)};
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_window_weight(const struct spaa_profile *profile, size_t window, size_t i, size_t k,
                               struct spaa_weight *out)
{
    const struct sp_window_row *r = profile && out ? window_row_at(profile, window, i) : NULL;
    if (!r)
        return profile && out ? SPAA_ERR_NOT_FOUND : SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (k >= window_row_weights(p, r))
        return SPAA_ERR_NOT_FOUND;
    const struct sp_weight_field *f = &p->layout_fields.v[p->layouts.v[r->layout].first + k];
    const struct sp_value *v = &p->values.v[r->first + k];
    struct spaa_weight found = {.metric = sp_str_cstr(&p->strs, p->metrics.v[f->metric].name),
                                .unit = sp_api_str(p, f->unit),
                                .value = v->v == SP_DECIMAL ? SPAA_ABSENT : v->v,
                                .text = v->v == SP_DECIMAL ? sp_api_str(p, v->text) : NULL,
                                .combine = sp_metric_op_names[p->metrics.v[f->metric].info->op]};
    return sp_api_result(out, &found, sizeof found);
}
