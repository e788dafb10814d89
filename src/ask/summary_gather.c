/* What a summary is made of, and what its tables and words both ask of it. */
#include "ask/summary.h"

#include "analysis/names.h"

static bool summary_names(struct sp_summary *x)
{
    bool ok = true;
    for (size_t i = 0; ok && i < x->fold.rows.n && i < SP_SUMMARY_NAMED; i++)
        ok = sp_said_add(&x->names, x->fold.rows.v[i].function);
    for (size_t i = 0; ok && i < x->calls.n; i++)
        ok = sp_said_add(&x->names, x->fold.rows.v[x->calls.row[i]].function);
    for (size_t i = 0; ok && i < x->fold.nsteps; i++)
        ok = sp_said_add(&x->names, x->fold.steps[i].function);
    return ok && sp_findings_say_names(&x->findings, SP_SUMMARY_FINDINGS, &x->names);
}

/* What is live of what was allocated. */
static spaa_status summary_live(struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    const struct sp_profile *p = s->profile;
    struct sp_select_opts how;
    struct sp_selection live;
    x->live = SP_ABSENT;
    if (!sp_str_is(sp_pstr(p, p->metrics.v[s->metric].name), "alloc_bytes") ||
        sp_event_metric(p, s->event, "live_bytes") == SP_NONE)
        return SPAA_OK;
    if (!sp_ask_select_opts(x->x.q, &how))
        return SPAA_ERR_USAGE;
    how.metric = "live_bytes";
    spaa_status st = sp_ask_select(x->x.q, &how, &live);
    if (st)
        return st;
    x->live = live.cannot_add ? SP_ABSENT : live.kept;
    x->live_scale = live.scale;
    sp_selection_free(&live);
    return SPAA_OK;
}

spaa_status sp_summary_gather(struct sp_summary *x)
{
    struct sp_selection *s = &x->x.s;
    struct sp_diags *d = x->x.q->diags;
    spaa_status st = sp_quality_of(s, d, &x->quality);
    if (!st)
        st = sp_asked_own(&x->x);
    if (!st)
        st = sp_own_fold(s, &x->x.own, d, &x->fold);
    if (!st)
        st = sp_own_calls_of(s, &x->x.own, &x->fold, d, &x->calls);
    if (!st)
        st = sp_top_build(s, SP_TOP_THREAD, false, d, &x->threads);
    if (!st)
        st = sp_top_build(s, SP_TOP_DSO, false, d, &x->dsos);
    if (!st)
        st = sp_top_build(s, SP_TOP_PROCESS, false, d, &x->processes);
    if (!st)
        st = sp_findings_of(s, &x->quality, &x->x.own, d, &x->findings);
    if (!st)
        st = sp_own_hottest(s, &x->fold, d, &x->hottest);
    if (!st)
        st = summary_live(x);
    if (!st && !summary_names(x))
        st = sp_nomem(d);
    return st ? st : sp_said_shorten(&x->names, &x->x);
}

void sp_summary_free(struct sp_summary *x)
{
    sp_vec_free(&x->recorded);
    sp_vec_free(&x->cautions);
    sp_said_free(&x->names);
    sp_own_calls_free(&x->calls);
    sp_findings_free(&x->findings);
    sp_own_fold_free(&x->fold);
    sp_top_free(&x->threads);
    sp_top_free(&x->dsos);
    sp_top_free(&x->processes);
    sp_quality_free(&x->quality);
    sp_asked_free(&x->x);
}

/* It was cut off, damaged, or never finished. Lost samples stand with quality. */
static bool is_missing(const struct sp_diag *g)
{
    return (g->severity >= SP_LOSS && g->code != SP_L303 && g->code != SP_L304) || g->code == SP_W310;
}

const struct sp_diag *sp_summary_missing(const struct sp_summary *x, size_t *i)
{
    const struct sp_diags *d = x->x.q->diags;
    for (; *i < d->list.n; ++*i) {
        const struct sp_diag *g = &d->list.v[*i];
        bool first = is_missing(g);
        for (size_t k = 0; first && k < *i; k++)
            first = d->list.v[k].code != g->code;
        if (first)
            return &d->list.v[(*i)++];
    }
    return NULL;
}

bool sp_summary_is_irq(const struct sp_summary *x, uint32_t function)
{
    return function != SP_NONE && sp_function_tags(x->x.s.profile, x->x.s.event, function) & SP_TAG_IRQ;
}
