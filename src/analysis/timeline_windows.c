/* Windows for the buckets of a timeline, from samples. */
#include "analysis/timeline_private.h"

#include "analysis/select_private.h"
#include "analysis/tally.h"
#include "base/num.h"
#include "model/callees.h"
#include "model/order.h"
#include "model/windows.h"

#include <stdio.h>

#include <stdlib.h>

/* Sums of one metric, exact at a common decimal scale. */
struct column {
    int64_t *sum; /* per stack; SP_ABSENT: nothing */
    unsigned scale;
};

struct writer {
    struct sp_profile *p;
    const struct sp_sample_times *m;
    struct column columns[SP_METRICS_MAX]; /* of the metrics that samples know */
    unsigned char *how;                    /* event * SP_METRICS_MAX + metric: enum sp_weighing */
    SP_VEC(uint32_t) stacks;               /* that the open window has */
    unsigned char *open;                   /* per stack: it is in that list */
};

static bool find_columns(struct writer *w)
{
    struct sp_profile *p = w->p;
    w->open = calloc(p->stacks.n + 1, 1);
    w->how = calloc((size_t)p->events.n * SP_METRICS_MAX + 1, 1);
    if (!w->open || !w->how)
        return false;
    for (uint32_t e = 0; e < p->events.n; e++) {
        for (uint32_t m = 0; m < p->metrics.n; m++) {
            enum sp_weighing how = sp_weighing_of(p, e, m);
            w->how[(size_t)e * SP_METRICS_MAX + m] = (unsigned char)how;
            struct column *c = &w->columns[m];
            if (how == SP_WEIGH_NOT || c->sum)
                continue;
            c->sum = malloc((p->stacks.n + 1) * sizeof *c->sum);
            for (size_t i = 0; c->sum && i < p->stacks.n; i++)
                c->sum[i] = SP_ABSENT;
            if (!c->sum)
                return false;
        }
    }
    unsigned most = 0;
    for (size_t i = 0; i < w->m->n; i++) {
        int64_t v;
        unsigned scale;
        struct sp_str t = sp_pstr(p, w->m->rows[i].period_text);
        if (w->m->rows[i].period == SP_DECIMAL && sp_parse_scaled(t.p, t.n, &v, &scale) && scale > most)
            most = scale < 9 ? scale : 9;
    }
    for (uint32_t m = 0; m < p->metrics.n; m++)
        w->columns[m].scale = sp_str_is(sp_pstr(p, p->metrics.v[m].name), "samples") ? 0 : most;
    return true;
}

static int64_t timeline_at_scale(const struct sp_profile *p, struct sp_value v, unsigned scale)
{
    struct sp_str t = sp_pstr(p, v.text);
    int64_t m = v.v;
    unsigned have = 0;
    if (v.v == SP_DECIMAL && !sp_parse_scaled(t.p, t.n, &m, &have))
        return SP_ABSENT;
    for (; have < scale; have++)
        if (__builtin_mul_overflow(m, 10, &m))
            return v.v > 0 ? INT64_MAX : -INT64_MAX;
    return m;
}

static bool timeline_add_sample(struct writer *w, const struct sp_sample *x, const struct sp_bucket *in)
{
    const struct sp_profile *p = w->p;
    if (x->stack == SP_NONE)
        return true;
    uint32_t event = p->contexts.v[p->stacks.v[x->stack].context].event;
    if (event == SP_NONE)
        return true;
    if (!w->open[x->stack]) {
        w->open[x->stack] = 1;
        if (!sp_vec_push(&w->stacks, x->stack))
            return false;
    }
    for (uint32_t m = 0; m < p->metrics.n; m++) {
        enum sp_weighing how = (enum sp_weighing)w->how[(size_t)event * SP_METRICS_MAX + m];
        struct sp_value v = sp_sample_part(w->m, x, how, in->lo, in->hi);
        if (how != SP_WEIGH_NOT && v.v != SP_ABSENT)
            sp_tally_add(&w->columns[m].sum[x->stack], timeline_at_scale(p, v, w->columns[m].scale));
    }
    return true;
}

/* The weights of a stack in the open window: the fields of the stack's self weights that samples know. */
static bool timeline_add_row(struct writer *w, uint32_t stack)
{
    struct sp_profile *p = w->p;
    uint32_t layout = p->stacks.v[stack].layout;
    struct sp_weight_field fields[SP_METRICS_MAX];
    struct sp_window_row row = {.stack = stack, .first = (uint32_t)p->values.n};
    size_t n = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && layout != SP_NONE && i < p->layouts.v[layout].n && n < SP_METRICS_MAX; i++) {
        struct sp_weight_field f = p->layout_fields.v[p->layouts.v[layout].first + i];
        const struct column *c = &w->columns[f.metric];
        if (!c->sum || c->sum[stack] == SP_ABSENT)
            continue;
        struct sp_value v = {c->sum[stack], 0};
        char t[64];
        if (c->scale) {
            size_t len = sp_scaled_text(v.v, c->scale, t);
            if (memchr(t, '.', len)) {
                v = (struct sp_value){SP_DECIMAL, sp_profile_str(p, t, len)};
                ok = v.text != SP_STR_FAIL;
            } else {
                sp_parse_i64(t, t + len, &v.v);
            }
        }
        fields[n++] = (struct sp_weight_field){f.metric, f.unit, 0};
        ok = ok && sp_vec_push(&p->values, v);
    }
    row.layout = ok ? sp_layout_intern(p, fields, n) : SP_NONE;
    return row.layout != SP_NONE && sp_vec_push(&p->window_rows, row);
}

static bool timeline_add_window(struct writer *w, const struct sp_bucket *x, size_t number)
{
    struct sp_profile *p = w->p;
    char t[64];
    struct sp_window out = {.first = (uint32_t)p->window_rows.n, .n = (uint32_t)w->stacks.n};
    out.id = sp_window_id_of(p, t, (size_t)snprintf(t, sizeof t, "w%zu", number));
    out.start = sp_profile_str(p, t, sp_ns_seconds(x->lo, t));
    out.end = sp_profile_str(p, t, sp_ns_seconds(x->hi, t));
    out.unit = sp_profile_cstr(p, "seconds");
    bool ok = out.id != SP_STR_FAIL && out.start != SP_STR_FAIL && out.end != SP_STR_FAIL &&
              out.unit != SP_STR_FAIL && p->window_rows.n + w->stacks.n < UINT32_MAX;
    for (size_t i = 0; ok && i < w->stacks.n; i++)
        ok = timeline_add_row(w, w->stacks.v[i]);
    for (size_t i = 0; i < w->stacks.n; i++) {
        w->open[w->stacks.v[i]] = 0;
        for (uint32_t m = 0; m < p->metrics.n; m++)
            if (w->columns[m].sum)
                w->columns[m].sum[w->stacks.v[i]] = SP_ABSENT;
    }
    w->stacks.n = 0;
    return ok && sp_vec_push(&p->windows, out);
}

spaa_status sp_timeline_windows(struct sp_profile *p, const struct sp_sample_times *m,
                                const struct sp_timeline *t, struct sp_diags *d)
{
    struct writer w = {.p = p, .m = m};
    size_t *first = NULL;
    uint32_t *order = NULL;
    if (p->windows.n)
        sp_emit(d, SP_I615, SP_AT_NOTHING, "%zu", p->windows.n);
    p->windows.n = p->window_rows.n = 0;
    size_t n = t->buckets.n;
    bool ok = find_columns(&w) && (!n || sp_timeline_sort_samples(m, t, n, &first, &order));
    for (size_t i = 0; ok && i < n; i++) {
        for (size_t k = first[i]; ok && k < first[i + 1]; k++)
            ok = timeline_add_sample(&w, &m->rows[order[k]], &t->buckets.v[i]);
        ok = ok && timeline_add_window(&w, &t->buckets.v[i], i + 1);
    }
    free(first);
    free(order);
    free(w.how);
    free(w.open);
    sp_vec_free(&w.stacks);
    for (uint32_t i = 0; i < SP_METRICS_MAX; i++)
        free(w.columns[i].sum);
    return ok ? sp_windows_order(p) : sp_nomem(d);
}
