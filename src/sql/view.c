/*
 * Views: a selection and what is made of it once, when a query first asks: weights per function and per
 * frame, the call tree. They come from the same functions as the answers of the other commands.
 */
#include "sql/internal.h"

#include "analysis/top.h"

int sql_status(struct sp_sql *q, spaa_status st)
{
    q->reported = true;
    q->status = st;
    return st == SPAA_ERR_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static void view_free(struct sql_view *v)
{
    free(v->functions);
    free(v->frames);
    free(v->row);
    for (int i = 0; i < 2; i++)
        sp_tree_free(&v->trees[i]);
    sp_selection_free(&v->s);
    free(v);
}

void sql_views_free(struct sp_sql *q)
{
    for (size_t i = 0; i < q->views.n; i++)
        view_free(q->views.v[i]);
    sp_vec_free(&q->views);
}

/* Filters that leave nothing of an event that was named in the query: no rows, and that is no failure. */
static spaa_status select_nothing(struct sp_sql *q, const struct sp_select_opts *o, struct sp_selection *out)
{
    struct sp_select_opts all = {
        .event = o->event, .metric = o->metric, .event_number = o->event_number, .view = "all"};
    spaa_status st = sp_select(q->profile, &all, q->diags, out);
    if (st)
        return st;
    out->rows.n = 0;
    out->base = out->total = 0;
    out->base_samples = out->samples = SP_ABSENT;
    return SPAA_OK;
}

static spaa_status make(struct sp_sql *q, struct sql_view *v)
{
    const struct sp_profile *p = q->profile;
    struct sp_select_opts o = v->all ? (struct sp_select_opts){.view = "all"} : q->filters;
    bool asked = v->event != SP_NONE || v->metric != SP_NONE;
    if (v->event != SP_NONE) {
        o.event = NULL;
        o.event_number = &v->event;
        o.metric = NULL; /* the event's own, unless the query names one */
    }
    if (v->metric != SP_NONE)
        o.metric = sp_str_cstr(&p->strs, p->metrics.v[v->metric].name);
    if (!asked || v->all)
        return sp_select(p, &o, q->diags, &v->s);
    struct sp_diags d;
    sp_diags_init(&d);
    spaa_status st = sp_select(p, &o, &d, &v->s);
    if (st == SPAA_ERR_NOT_FOUND)
        st = select_nothing(q, &o, &v->s);
    else
        sp_diags_merge(q->diags, &d);
    sp_diags_free(&d);
    return st;
}

int sql_view_get(struct sp_sql *q, uint32_t event, uint32_t metric, bool all, struct sql_view **out)
{
    for (size_t i = 0; i < q->views.n; i++) {
        struct sql_view *v = q->views.v[i];
        if (v->event == event && v->metric == metric && v->all == all) {
            *out = v;
            return SQLITE_OK;
        }
    }
    struct sql_view *v = calloc(1, sizeof *v);
    if (!v || !sp_vec_reserve(&q->views, q->views.n + 1)) {
        free(v);
        return SQLITE_NOMEM;
    }
    *v = (struct sql_view){.event = event, .metric = metric, .all = all};
    spaa_status st = make(q, v);
    if (st) {
        free(v);
        return sql_status(q, st);
    }
    q->views.v[q->views.n++] = v;
    *out = v;
    return SQLITE_OK;
}

int sql_view_of(struct sql_at *at)
{
    return at->view ? SQLITE_OK : sql_view_get(at->q, at->event, at->metric, false, &at->view);
}

static struct sql_weight *weights(size_t n)
{
    struct sql_weight *w = calloc(n + 1, sizeof *w);
    for (size_t i = 0; w && i < n; i++)
        w[i].self_samples = w[i].total_samples = SP_ABSENT;
    return w;
}

int sql_view_functions(struct sql_view *v, struct sp_sql *q)
{
    struct sp_top t;
    if (v->functions)
        return SQLITE_OK;
    struct sql_weight *w = weights(q->profile->functions.n);
    if (!w)
        return SQLITE_NOMEM;
    spaa_status st = sp_top_build(&v->s, SP_TOP_FUNCTION, false, q->diags, &t);
    if (st) {
        free(w);
        return sql_status(q, st);
    }
    for (size_t i = 0; i < t.rows.n; i++) {
        const struct sp_top_row *r = &t.rows.v[i];
        if (r->function != SP_NONE)
            w[r->function] =
                (struct sql_weight){r->flat, r->cum, r->samples, r->cum_samples, r->tags | SQL_IN_SELECTION};
    }
    sp_top_free(&t);
    v->functions = w;
    return SQLITE_OK;
}

static void add_samples(int64_t *to, int64_t v)
{
    if (v > SP_DECIMAL)
        *to = (*to == SP_ABSENT ? 0 : *to) + v;
}

/* Each frame counts once per row, however often it stands in the stack. */
int sql_view_frames(struct sql_view *v, struct sp_sql *q)
{
    if (v->frames)
        return SQLITE_OK;
    struct sql_weight *w = weights(q->profile->frames.n);
    uint32_t *stamp = calloc(q->profile->frames.n + 1, sizeof *stamp);
    bool ok = w && stamp;
    for (size_t i = 0; ok && i < v->s.rows.n; i++) {
        const struct sp_selected *row = &v->s.rows.v[i];
        size_t n;
        const uint32_t *f = sp_selected_frames(&v->s, i, &n);
        if (!f) {
            ok = false;
            break;
        }
        uint32_t leaf = sp_selected_leaf(&v->s, i, f, n);
        if (leaf != SP_NONE) {
            w[leaf].self += row->own;
            add_samples(&w[leaf].self_samples, row->samples);
        }
        for (size_t k = 0; k < n; k++) {
            if (stamp[f[k]] == i + 1)
                continue;
            stamp[f[k]] = (uint32_t)i + 1;
            w[f[k]].total += row->weight;
            add_samples(&w[f[k]].total_samples, row->samples);
        }
    }
    free(stamp);
    if (ok)
        v->frames = w;
    else
        free(w);
    return ok ? SQLITE_OK : SQLITE_NOMEM;
}

static int make_rows(struct sql_view *v, const struct sp_profile *p)
{
    v->whole = v->s.rows.n == p->stacks.n;
    for (size_t i = 0; v->whole && i < v->s.rows.n; i++)
        v->whole = v->s.rows.v[i].stack == i;
    if (v->whole)
        return SQLITE_OK;
    v->row = calloc(p->stacks.n + 1, sizeof *v->row);
    for (size_t i = 0; v->row && i < v->s.rows.n; i++) {
        const struct sp_selected *x = &v->s.rows.v[i];
        v->row[x->stack] = (uint32_t)i + 1;
        if (x->kernel != SP_NONE)
            v->row[x->kernel] = (uint32_t)i + 1;
    }
    return v->row ? SQLITE_OK : SQLITE_NOMEM;
}

int sql_view_row(struct sql_view *v, struct sp_sql *q, uint64_t stack, const struct sp_selected **out)
{
    int rc = v->whole || v->row ? SQLITE_OK : make_rows(v, q->profile);
    if (rc)
        return rc;
    if (v->whole)
        *out = &v->s.rows.v[stack];
    else
        *out = v->row[stack] ? &v->s.rows.v[v->row[stack] - 1] : NULL;
    return SQLITE_OK;
}

int sql_view_tree(struct sql_view *v, struct sp_sql *q, bool inverted)
{
    struct sp_tree_opts o = {.inverted = inverted, .sort = SP_TREE_BY_WEIGHT};
    if (v->trees[inverted].nodes.n)
        return SQLITE_OK;
    spaa_status st = sp_tree_build(&v->s, &o, q->diags, &v->trees[inverted]);
    return st ? sql_status(q, st) : SQLITE_OK;
}
