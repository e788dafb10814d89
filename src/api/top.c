/* The heaviest rows: a selection and a table of it, kept for the caller. */
#include "analysis/top.h"
#include "analysis/names.h"

#include "api/api.h"

#include <stdlib.h>

struct spaa_rows {
    struct sp_top top;
    struct spaa_whole whole; /* its texts are in `texts` */
    struct sp_arena texts;
};

static spaa_status api_top_ask(const struct sp_profile *p, const struct spaa_top_options *o,
                               struct sp_diags *d, struct sp_selection *out)
{
    static const char *const views[] = {"cpu", "latency", "all", NULL};
    int view;
    if (!sp_api_choice(d, "view", o->view, views, 0, &view))
        return SPAA_ERR_USAGE;
    struct sp_select_opts asked = {.event = o->event,
                                   .metric = o->metric,
                                   .thread = o->thread,
                                   .pid = o->pid,
                                   .comm = o->comm,
                                   .state = o->state,
                                   .view = o->view,
                                   .dso = o->dso,
                                   .focus = o->focus,
                                   .ignore = o->ignore,
                                   .hide = o->hide,
                                   .root_at = o->root_at,
                                   .pools = !o->no_pool,
                                   .user_only = o->user != 0,
                                   .kernel_only = o->kernel != 0};
    return sp_select(p, &asked, d, out);
}

/* What outlives the selection. */
static bool keep_whole(struct spaa_rows *r, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    const char *filters = sp_arena_dup(&r->texts, s->filters.data ? s->filters.data : "", s->filters.len);
    const char *view = s->view ? sp_arena_dup(&r->texts, s->view, strlen(s->view)) : NULL;
    r->whole = (struct spaa_whole){
        .event = sp_str_cstr(&p->strs, p->events.v[s->event].name),
        .metric = sp_str_cstr(&p->strs, p->metrics.v[s->metric].name),
        .unit = s->unit.p,
        .view = view,
        .filters = filters,
        .scale = s->scale,
        .cannot_add = s->cannot_add,
        .event_whole = s->event_whole,
        .whole = s->whole,
        .kept = s->kept,
        .samples = s->samples,
    };
    return filters && (view || !s->view);
}

static spaa_status api_top_build(const struct spaa_profile *profile, const struct spaa_top_options *o,
                                 struct sp_diags *d, struct spaa_rows *r)
{
    static const char *const sorts[] = {"self", "total", NULL};
    struct sp_selection s;
    struct sp_by_list by;
    int sort;
    if (sp_by_parse(o->by, d, &by) || !sp_api_choice(d, "sort", sp_weight_word(o->sort), sorts, 0, &sort))
        return SPAA_ERR_USAGE;
    struct spaa_top_options asked = *o;
    if (sp_by_has(&by, SP_TOP_STATE) && !o->view && !o->state)
        asked.view = "all"; /* the split is of everything */
    spaa_status st = api_top_ask(profile->p, &asked, d, &s);
    if (st)
        return st;
    st = keep_whole(r, &s) ? sp_top_by(&s, &by, sort == 1, d, &r->top) : sp_nomem(d);
    sp_selection_free(&s);
    return st;
}

spaa_status spaa_top(const struct spaa_profile *profile, const struct spaa_top_options *options,
                     struct spaa_rows **rows, struct spaa_diagnostics **diagnostics)
{
    struct spaa_top_options o;
    struct sp_diags d;
    struct spaa_rows *r = NULL;
    sp_diags_init(&d);
    spaa_status st = sp_api_options(&o, sizeof o, options, &d);
    if (!st && (!profile || !rows))
        st = sp_api_usage(&d, "no profile, or no place for the rows");
    if (!st && !(r = calloc(1, sizeof *r)))
        st = sp_nomem(&d);
    if (!st) {
        sp_arena_init(&r->texts, 0);
        st = api_top_build(profile, &o, &d, r);
        if (!st) {
            *rows = r;
        } else { /* a table that failed frees itself */
            sp_arena_free(&r->texts);
            free(r);
        }
    }
    return sp_api_deliver(&d, diagnostics, st);
}

spaa_status spaa_rows_whole(const struct spaa_rows *rows, struct spaa_whole *out)
{
    return rows ? sp_api_result(out, &rows->whole, sizeof rows->whole) : SPAA_ERR_USAGE;
}

size_t spaa_rows_count(const struct spaa_rows *rows)
{
    return rows ? rows->top.rows.n : 0;
}

spaa_status spaa_rows_get(const struct spaa_rows *rows, size_t i, struct spaa_row *out)
{
    if (!rows || !out)
        return SPAA_ERR_USAGE;
    if (i >= rows->top.rows.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_profile *p = rows->top.profile;
    const struct sp_top_row *r = &rows->top.rows.v[i];
    struct spaa_row found = {
        .name = sp_str_cstr(&rows->top.names, r->name),
        .dso = r->dso == SP_NONE ? NULL : sp_str_cstr(&p->strs, p->dsos.v[r->dso].name),
        .function = r->function == SP_NONE ? SPAA_NONE : r->function,
        .self = r->self,
        .total = r->total,
        .samples = r->samples,
        .total_samples = r->total_samples,
        .resolved = !(r->tags & SP_TAG_UNRESOLVED),
    };
    return sp_api_result(out, &found, sizeof found);
}

void spaa_rows_free(struct spaa_rows *rows)
{
    if (!rows)
        return;
    sp_top_free(&rows->top);
    sp_arena_free(&rows->texts);
    free(rows);
}
