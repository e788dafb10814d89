/*
 * summary: what was profiled, how good the data is, where the weight is, what looks wrong, what to ask next.
 */
#include "ask/summary.h"

/* The hottest function, the first finding of weight, and the drawing. */
static void summary_next(struct sp_summary *x)
{
    struct sp_answer *a = x->x.out;
    char handle[32];
    struct sp_buf word;
    if (x->hottest != SP_NONE) {
        sp_handle_text(&x->x.handles, x->hottest, handle);
        sp_answer_next(a, "function", handle, NULL);
    }
    sp_buf_init(&word, 0);
    for (size_t i = 0; i < x->findings.list.n && a->next.n < SP_SUMMARY_NEXT - 1; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        uint32_t about = f->from != SP_NONE ? f->from : f->function;
        if ((about == SP_NONE && f->context == SP_NONE) || (about != SP_NONE && about == x->hottest))
            continue;
        struct sp_next next = sp_finding_next(&x->x, f, &word);
        sp_answer_next(a, next.question, next.argument, next.tail);
        a->failed |= word.failed;
    }
    sp_buf_free(&word);
    if (a->next.n < SP_SUMMARY_NEXT - 1)
        sp_answer_next(a, "tree", NULL, "--inverted --depth 4");
    sp_answer_next(a, "flamegraph", NULL, "-o flame.svg");
}

static void summary_answer(struct sp_summary *x)
{
    sp_asked_facts(&x->x);
    sp_summary_head(x);
    sp_summary_shares(x);
    sp_summary_say_quality(x);
    sp_summary_hot(x);
    sp_summary_path(x);
    sp_summary_found(x);
    if (!x->x.q->brief)
        sp_quality_facts(&x->x, &x->quality);
    summary_next(x);
    sp_summary_say_next(x);
}

static spaa_status summary_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_summary x = {0};
    spaa_status st = sp_asked_select(q, NULL, out, &x.x);
    if (!st)
        st = sp_summary_gather(&x);
    if (!st)
        summary_answer(&x);
    sp_summary_free(&x);
    return st;
}

static spaa_status summary_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->no_ids = true;
    out->times = true;
    return SPAA_OK;
}

const struct sp_question sp_question_summary = {
    .name = "summary",
    .args = "FILE…",
    .groups = G_READ | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "the brief an engineer would write: what is hot, where, how sure, what next",
    .examples = "spaa summary perf.data\n"
                "spaa perf.data # the same",
    .schema = "spaa.summary/3",
    .facts = sp_summary_facts,
    .tables = sp_summary_tables,
    .needs = summary_needs,
    .ask = summary_ask,
};
