/*
 * Views: a selection and what is made of it once, when a query first asks: weights per function and per
 * frame, the call tree.
 */
#include "sql/internal.h"

#include "analysis/function_tags.h"

int sql_status(struct sp_sql *q, spaa_status st)
{
    q->reported = true;
    q->status = st;
    return st == SPAA_ERR_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static void weights_free(struct sql_weights *w)
{
    free(w->self);
    free(w->total);
    free(w->tags);
}

static void view_free(struct sql_view *v)
{
    weights_free(&v->functions);
    weights_free(&v->frames);
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
    out->whole = out->kept = 0;
    out->whole_samples = out->samples = SP_ABSENT;
    return SPAA_OK;
}

static spaa_status sql_view_make(struct sp_sql *q, struct sql_view *v)
{
    const struct sp_profile *p = q->profile;
    struct sp_select_opts o = v->all ? (struct sp_select_opts){.view = "all"} : q->filters;
    bool asked = v->event != SP_NONE || v->metric != SP_NONE;
    o.by_owner = false; /* tables are as recorded */
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
    d.watch = q->diags->watch;
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
    spaa_status st = sql_view_make(q, v);
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

/* What the weights of functions or of frames are summed by; tags: of each function what its frames that are
 * met say. */
struct sql_fold {
    const struct sp_profile *p;
    const struct sp_selection *s;
    bool frames;
    unsigned *tags;
};

static uint32_t sql_fold_group(void *arg, uint32_t frame)
{
    struct sql_fold *x = arg;
    if (frame == SP_NONE)
        return SP_NONE;
    const struct sp_frame *f = &x->p->frames.v[frame];
    if (x->tags && x->tags[f->function] == SQL_OUTSIDE)
        x->tags[f->function] = sp_function_tags(x->s, f->function);
    if (x->tags)
        x->tags[f->function] |= (f->flags & SP_FRAME_UNRESOLVED ? SP_TAG_UNRESOLVED : 0u) |
                                (f->flags & SP_FRAME_INLINED ? SP_TAG_INLINED : 0u);
    return x->frames ? frame : f->function;
}

static bool sql_view_fold(struct sql_view *v, struct sql_fold *x, bool self_only, struct sp_fold *sums)
{
    size_t n = x->p->frames.n;
    struct sp_fold_key key = {malloc((n + 1) * sizeof *key.of), SP_NONE, sql_fold_group, x};
    for (size_t i = 0; key.of && i < n; i++)
        key.of[i] = SP_FOLD_NEW;
    bool ok = key.of && sp_fold_reserve(sums, (x->frames ? n : x->p->functions.n) + 1) &&
              sp_fold(&v->s, &(struct sp_fold_by){.frames = &key, .self_only = self_only}, sums);
    free(key.of);
    return ok;
}

int sql_view_self(struct sql_view *v, struct sp_sql *q, bool frames)
{
    struct sql_weights *out = frames ? &v->frames : &v->functions;
    struct sql_fold x = {.p = q->profile, .frames = frames};
    struct sp_fold sums = {0};
    if (out->self)
        return SQLITE_OK;
    if (sql_view_fold(v, &x, true, &sums)) {
        out->self = sums.self.v;
        sums.self.v = NULL;
    }
    sp_fold_free(&sums);
    return out->self ? SQLITE_OK : SQLITE_NOMEM;
}

/* The tags of a function are of its frames that are in the selection, as in sp_top_build. */
int sql_view_total(struct sql_view *v, struct sp_sql *q, bool frames)
{
    const struct sp_profile *p = q->profile;
    struct sql_weights *out = frames ? &v->frames : &v->functions;
    struct sql_fold x = {.p = p, .s = &v->s, .frames = frames};
    struct sp_fold sums = {0};
    if (out->total)
        return SQLITE_OK;
    if (!frames && !(x.tags = malloc((p->functions.n + 1) * sizeof *x.tags)))
        return SQLITE_NOMEM;
    for (size_t i = 0; x.tags && i < p->functions.n; i++)
        x.tags[i] = SQL_OUTSIDE;
    if (sql_view_fold(v, &x, false, &sums)) {
        out->total = sums.total.v;
        out->tags = x.tags;
        sums.total.v = NULL;
        if (!out->self) {
            out->self = sums.self.v;
            sums.self.v = NULL;
        }
        x.tags = NULL;
    }
    free(x.tags);
    sp_fold_free(&sums);
    return out->total ? SQLITE_OK : SQLITE_NOMEM;
}

static int sql_view_make_rows(struct sql_view *v, const struct sp_profile *p)
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
    int rc = v->whole || v->row ? SQLITE_OK : sql_view_make_rows(v, q->profile);
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
