#include "analysis/tally.h"

#include "analysis/select_private.h"
#include "base/num.h"
#include "model/callees.h"

#include <math.h>
#include <stdlib.h>

int64_t sp_scale_weight(struct sp_selection *s, int64_t v, struct sp_str text)
{
    int64_t m = v;
    unsigned scale = 0;
    if (v == SP_DECIMAL && (!sp_parse_scaled(text.p, text.n, &m, &scale) || scale > s->scale)) {
        double x = sp_text_double(text.p, text.n) * pow(10, (double)s->scale);
        bool beyond = fabs(x) >= 9.2e18; /* no rounding, but a loss */
        *(beyond ? &s->capped : &s->inexact) = true;
        return !beyond ? llround(x) : x > 0 ? INT64_MAX : -INT64_MAX;
    }
    for (; scale < s->scale; scale++) {
        if (__builtin_mul_overflow(m, 10, &m)) {
            s->capped = true;
            return v > 0 ? INT64_MAX : -INT64_MAX;
        }
    }
    return m;
}

void sp_tally_add(int64_t *to, int64_t v)
{
    if (v == SP_ABSENT)
        return;
    if (*to == SP_ABSENT)
        *to = 0;
    if (__builtin_add_overflow(*to, v, to))
        *to = v > 0 ? INT64_MAX : -INT64_MAX;
}

static void scale_of(const struct sp_profile *p, struct sp_value v, unsigned *scale, double *sum)
{
    int64_t m;
    unsigned digits;
    if (v.v != SP_DECIMAL) {
        *sum += v.v == SP_ABSENT ? 0 : fabs((double)v.v);
        return;
    }
    struct sp_str t = sp_pstr(p, v.text);
    if (sp_parse_scaled(t.p, t.n, &m, &digits) && digits > *scale)
        *scale = digits;
    *sum += fabs(sp_text_double(t.p, t.n));
}

void sp_tally_scale(const struct sp_selection *s, const struct sp_sample_times *m, unsigned *scale,
                    double *sum)
{
    const struct sp_profile *p = s->profile;
    enum sp_weighing how = sp_weighing_of(p, s->event, s->metric);
    for (size_t i = 0; i < m->n && how != SP_WEIGH_ONE; i++)
        if (m->rows[i].period == SP_DECIMAL)
            scale_of(p, sp_sample_value(&m->rows[i], how), scale, sum);
    for (size_t i = 0; i < p->window_rows.n && !m->rows; i++)
        scale_of(p, sp_window_value(p, &p->window_rows.v[i], s->metric), scale, sum);
}

static int64_t tally_scaled(struct sp_selection *s, struct sp_value v)
{
    return v.v == SP_ABSENT ? SP_ABSENT : sp_scale_weight(s, v.v, sp_pstr(s->profile, v.text));
}

static bool of_event(const struct sp_selection *s, uint32_t stack)
{
    const struct sp_profile *p = s->profile;
    return stack != SP_NONE && p->contexts.v[p->stacks.v[stack].context].event == s->event;
}

static spaa_status tally_from_samples(struct sp_selection *s, const struct sp_sample_times *m, int64_t lo,
                                      int64_t hi, struct sp_diags *d, struct sp_tally *t)
{
    enum sp_weighing how;
    spaa_status st = sp_weighing_or_say(s->profile, s->event, s->metric, d, &how);
    for (size_t i = 0; !st && i < m->n; i++) {
        const struct sp_sample *x = &m->rows[i];
        int64_t from, to;
        if (!of_event(s, x->stack) || !sp_sample_span(m, x, &from, &to) || to <= lo || from >= hi)
            continue;
        sp_tally_add(&t->weight[x->stack], tally_scaled(s, sp_sample_part(m, x, how, lo, hi)));
        if (!sp_sample_is_interval(m, x))
            sp_tally_add(&t->samples[x->stack], 1);
    }
    return st;
}

static spaa_status tally_from_windows(struct sp_selection *s, const struct sp_sample_times *m, int64_t lo,
                                      int64_t hi, struct sp_diags *d, struct sp_tally *t)
{
    const struct sp_profile *p = s->profile;
    uint32_t samples = sp_metric_find(p, "samples", 7);
    size_t first, n;
    spaa_status st = sp_sample_times_windows(m, lo, hi, d, &first, &n);
    for (size_t i = 0; !st && i < n; i++) {
        const struct sp_window *w = &p->windows.v[m->windows.v[first + i].window];
        for (uint32_t k = 0; k < w->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[w->first + k];
            if (!of_event(s, r->stack))
                continue;
            sp_tally_add(&t->weight[r->stack], tally_scaled(s, sp_window_value(p, r, s->metric)));
            int64_t count = samples == SP_NONE ? SP_ABSENT : sp_window_value(p, r, samples).v;
            if (count > SP_DECIMAL)
                sp_tally_add(&t->samples[r->stack], count);
        }
    }
    return st;
}

/* Samples and windows are of whole records: what was divided is divided in proportion. */
static void tally_divide(const struct sp_selection *s, struct sp_tally *t, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    bool any = false;
    for (size_t i = 0; i < p->rests.list.n; i++) {
        const struct sp_rest *r = &p->rests.list.v[i];
        int64_t weight = t->weight[r->stack], samples = t->samples[r->stack];
        if (weight == SP_ABSENT || sp_weight(p, r->rest, s->metric) == SP_ABSENT)
            continue;
        t->weight[r->rest] = sp_callees_part(p, i, s->metric, weight);
        t->weight[r->stack] -= t->weight[r->rest];
        any = any || (t->weight[r->rest] && t->weight[r->stack]);
        if (samples == SP_ABSENT)
            continue;
        t->samples[r->rest] = sp_callees_part(p, i, s->metric, samples);
        t->samples[r->stack] -= t->samples[r->rest];
    }
    if (any)
        sp_emit(d, SP_I322, SP_AT_NOTHING, "%s",
                "what leaves have of their stacks is not known for a range of time: they were divided as all "
                "of it is");
}

spaa_status sp_tally_range(struct sp_selection *s, const struct sp_sample_times *m, int64_t lo, int64_t hi,
                           struct sp_diags *d, struct sp_tally *out)
{
    size_t n = s->profile->stacks.n;
    struct sp_tally t = {malloc((n + 1) * sizeof *t.weight), malloc((n + 1) * sizeof *t.samples)};
    spaa_status st = t.weight && t.samples ? SPAA_OK : sp_nomem(d);
    for (size_t i = 0; !st && i < n; i++)
        t.weight[i] = t.samples[i] = SP_ABSENT;
    if (!st)
        st = m->rows ? tally_from_samples(s, m, lo, hi, d, &t) : tally_from_windows(s, m, lo, hi, d, &t);
    if (!st)
        tally_divide(s, &t, d);
    if (st)
        sp_tally_free(&t);
    else
        *out = t;
    return st;
}

void sp_tally_free(struct sp_tally *t)
{
    free(t->weight);
    free(t->samples);
    *t = (struct sp_tally){0};
}
