/*
 * summary: what was profiled, how good the data is, where the weight is, what looks wrong, what to ask next.
 */
#include "ask/summary.h"

#include "analysis/names.h"
#include "model/waiting.h"

enum { WINDOWS = 48 }; /* of the time of heap profiles, to tell what grows */

/* The hottest function has no name: which binaries lack them. */
static bool summary_lacks_names(const struct sp_summary *x)
{
    return x->quality.unresolved_leaf > 0 && (double)x->quality.unresolved_leaf >= 0.5 * (double)x->x.s.whole;
}

/*
 * One command: who waited, which binaries lack names, what is live, a finding of more weight than the hottest
 * own function has, or that function.
 */
static void summary_next(struct sp_summary *x)
{
    struct sp_answer *a = x->x.out;
    char handle[32];
    struct sp_buf word;
    if (sp_is_scheduler(&x->x.s) || sp_is_off_cpu(&x->x.s)) { /* of wakings alone, nobody knows who waited */
        uint32_t event, metric;
        sp_answer_next(a, sp_waiting_of(x->x.s.profile, &event, &metric) ? "waits" : "top", NULL, NULL);
        return;
    }
    if (x->fields) {
        sp_answer_next(a, "top", NULL, NULL);
        return;
    }
    if (x->hang.known) {
        sp_summary_hang_next(x);
        return;
    }
    if (summary_lacks_names(x) && !sp_summary_memory_unseen(x)) {
        if (!sp_summary_lacks_jit_names(x)) /* else nothing that can be asked of this profile says more */
            sp_answer_next(a, "top", NULL, "--by dso");
        return;
    }
    if (x->memory.known) {
        sp_summary_memory_next(x);
        return;
    }
    int64_t most = x->calls.n ? x->fold.rows.v[x->calls.row[0]].sum.weight : 0;
    sp_buf_init(&word, 0);
    for (size_t i = 0; i < x->findings.list.n && !a->next.n; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        if (!sp_finding_is_rule(f->kind) || f->function == SP_NONE || f->weight < most)
            continue;
        struct sp_next next = sp_finding_next(&x->x, f, &word);
        sp_answer_next(a, next.question, next.argument, next.tail);
        a->failed |= word.failed;
    }
    sp_buf_free(&word);
    if (!a->next.n && x->hottest != SP_NONE) {
        sp_handle_text(&x->x.handles, x->hottest, handle);
        sp_answer_next(a, "function", handle, NULL);
    }
    if (!a->next.n)
        sp_answer_next(a, "info", NULL, NULL);
}

static spaa_status summary_answer(struct sp_summary *x)
{
    sp_summary_recorded(x);
    sp_summary_measure(x);
    spaa_status st = sp_summary_cautions(x);
    if (st)
        return st;
    summary_next(x);
    st = sp_summary_brief(x);
    if (st || x->x.q->brief)
        return st;
    sp_asked_facts(&x->x);
    sp_bounds_report(&x->x.s, x->x.q->diags);
    sp_summary_put(x);
    sp_quality_facts(&x->x, &x->quality);
    return SPAA_OK;
}

static spaa_status summary_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_summary x = {0};
    struct sp_select_opts how;
    if (!sp_ask_select_opts(q, &how))
        return SPAA_ERR_USAGE;
    sp_summary_memory_choose(q, &how);
    spaa_status st = sp_summary_hang_choose(q, &how);
    if (!st)
        st = sp_asked_select(q, &how, out, &x.x);
    if (!st)
        st = sp_summary_gather(&x);
    if (!st)
        st = summary_answer(&x);
    sp_summary_free(&x);
    return st;
}

static spaa_status summary_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->no_ids = true;
    out->times = true;
    out->fields = true;
    out->windows = WINDOWS;
    out->windows_do = true;
    return SPAA_OK;
}

const struct sp_question sp_question_summary = {
    .name = "summary",
    .args = "FILE…",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "the brief an engineer would write: what is hot, where, how sure, what next",
    .examples = "spaa summary perf.data\n"
                "spaa perf.data # the same",
    .all_metrics = true,
    .schema = "spaa.summary/4",
    .facts = sp_summary_facts,
    .tables = sp_summary_tables,
    .needs = summary_needs,
    .ask = summary_ask,
};
