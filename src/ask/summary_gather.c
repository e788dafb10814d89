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
    const struct sp_summary_memory *y = &x->memory;
    for (size_t i = 0; ok && i < y->nowners; i++)
        ok = sp_said_add(&x->names, sp_memory_function(x, y->owners[i]));
    for (size_t i = 0; ok && i < y->nleaks; i++)
        ok = sp_said_add(&x->names, y->m.leaks.rows.v[y->leaks[i]].function);
    if (ok && y->known && y->heaviest_none != SIZE_MAX)
        ok = sp_said_add(&x->names, sp_memory_function(x, y->heaviest_none));
    if (ok && y->known && y->most_live_none != SIZE_MAX)
        ok = sp_said_add(&x->names, sp_memory_function(x, y->most_live_none));
    return ok && sp_findings_say_names(&x->findings, SP_SUMMARY_FINDINGS, &x->names);
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
        st = sp_summary_memory(x);
    if (!st)
        st = sp_summary_waits(x);
    if (!st)
        st = sp_summary_fields(x);
    if (!st)
        st = sp_summary_hang(x);
    if (!st && !summary_names(x))
        st = sp_nomem(d);
    return st ? st : sp_said_shorten(&x->names, &x->x);
}

void sp_summary_free(struct sp_summary *x)
{
    sp_summary_memory_free(x);
    sp_summary_hang_free(x);
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
    return function != SP_NONE && sp_function_tags(&x->x.s, function) & SP_TAG_IRQ;
}
