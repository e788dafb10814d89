/* The tables of `timeline --explain`. */
#include "ask/timeline_explain.h"

enum { EXPLAIN_NS = 9 };

enum {
    PHASE_FROM,
    PHASE_TO,
    PHASE_STRETCHES,
    PHASE_SECONDS,
    PHASE_WEIGHT,
    PHASE_SHARE,
    PHASE_SAMPLES,
    PHASE_REST_WEIGHT,
    PHASE_REST_SECONDS,
    PHASE_RATIO,
    PHASE_QUIET,
    PHASE_P
};
static const struct sp_answer_column timeline_phase_columns[] = {
    [PHASE_FROM] = {"start", SP_COL_NUMBER, .flags = SP_COL_CSV,
                    .doc = "seconds from the start of the profile, of the first stretch"},
    [PHASE_TO] = {"end", SP_COL_NUMBER, .flags = SP_COL_CSV, .doc = "where the last one ends"},
    [PHASE_STRETCHES] = {"count", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "how many stretches it has"},
    [PHASE_SECONDS] = {"seconds", SP_COL_NUMBER, .flags = SP_COL_CSV, .doc = "how long they are together"},
    [PHASE_WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .doc = "what was recorded in them"},
    [PHASE_SHARE] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "its share of the whole"},
    [PHASE_SAMPLES] = {"samples", SP_COL_COUNT, "samples", .doc = "how many samples"},
    [PHASE_REST_WEIGHT] = {"rest.weight", SP_COL_WEIGHT, .doc = "what was recorded at all other times"},
    [PHASE_REST_SECONDS] = {"rest.seconds", SP_COL_NUMBER, .doc = "how long these are"},
    [PHASE_RATIO] = {"ratio", SP_COL_NUMBER, .flags = SP_COL_CSV,
                     .doc = "weight per second against that of the rest; null: the rest has none"},
    [PHASE_QUIET] = {"quiet", SP_COL_BOOL,
                     .doc = "next to nothing ran: less than a fiftieth of what the rest has in such a time"},
    [PHASE_P] =
        {"p", SP_COL_NUMBER,
         .doc = "how likely a steady profile has such a stretch anywhere, by any function: corrected for all "
                "that was looked at"},
};
const struct sp_table_decl sp_timeline_phases = {
    "phases", timeline_phase_columns, sizeof timeline_phase_columns / sizeof *timeline_phase_columns,
    .doc = "with --explain: what differs from the rest beyond noise, most telling first; stretches that come "
           "back are "
           "one"};

enum { STRETCH_FROM, STRETCH_TO, STRETCH_FROM_DOUBT, STRETCH_TO_DOUBT };
static const struct sp_answer_column timeline_stretch_columns[] = {
    [STRETCH_FROM] = {"start", SP_COL_NUMBER, .doc = "seconds from the start of the profile"},
    [STRETCH_TO] = {"end", SP_COL_NUMBER, .doc = "where it ends"},
    [STRETCH_FROM_DOUBT] = {"start_doubt", SP_COL_NUMBER,
                            .doc = "so many seconds to both sides, with 95 % confidence"},
    [STRETCH_TO_DOUBT] = {"end_doubt", SP_COL_NUMBER, .doc = "of the end likewise"},
};
const struct sp_table_decl sp_timeline_stretches = {
    "stretches", timeline_stretch_columns, sizeof timeline_stretch_columns / sizeof *timeline_stretch_columns,
    .of = "phases", .doc = "its stretches, in time"};

enum {
    ACCOUNT_FUNCTION,
    ACCOUNT_SELF = ACCOUNT_FUNCTION + SP_FUNCTION_NCOLUMNS,
    ACCOUNT_TOTAL,
    ACCOUNT_SHARE,
    ACCOUNT_REST_SELF,
    ACCOUNT_REST_TOTAL,
    ACCOUNT_REST_SHARE,
    ACCOUNT_LOW,
    ACCOUNT_HIGH,
    ACCOUNT_ONLY,
    ACCOUNT_Q
};
static const struct sp_answer_column timeline_account_columns[] = {
    SP_FUNCTION_COLUMNS(ACCOUNT_FUNCTION, NULL, NULL),
    [ACCOUNT_SELF] = {"self", SP_COL_WEIGHT, .doc = "its self weight in the phase"},
    [ACCOUNT_TOTAL] = {"total", SP_COL_WEIGHT, .doc = "its total there"},
    [ACCOUNT_REST_SELF] = {"rest.self", SP_COL_WEIGHT, .doc = "its self weight at all other times"},
    [ACCOUNT_REST_TOTAL] = {"rest.total", SP_COL_WEIGHT, .doc = "its total then"},
    [ACCOUNT_SHARE] = {"share", SP_COL_NUMBER, .doc = "percent of the phase's samples that it is in"},
    [ACCOUNT_REST_SHARE] = {"rest.share", SP_COL_NUMBER, .doc = "of the samples of all other times"},
    [ACCOUNT_LOW] = {"difference.low", SP_COL_NUMBER,
                     .doc = "95 % interval of the difference of these, in percentage points"},
    [ACCOUNT_HIGH] = {"difference.high", SP_COL_NUMBER, .doc = "its end"},
    [ACCOUNT_ONLY] = {"only", SP_COL_BOOL, .doc = "it was seen at no other time"},
    [ACCOUNT_Q] =
        {"q", SP_COL_NUMBER,
         .doc = "the false share among functions that differ so (Benjamini and Hochberg), of p that are "
                "corrected for all stretches"},
};
const struct sp_table_decl sp_timeline_accounts = {
    "functions", timeline_account_columns, sizeof timeline_account_columns / sizeof *timeline_account_columns,
    .of = "phases",
    .doc = "functions whose share is larger there, beyond noise: own ones first, then by how much"};

struct tables {
    struct sp_asked *x;
    const struct sp_phases *p;
    int64_t zero;
};

static void put_account(struct sp_asked *x, struct sp_answer_table *t, const struct sp_phase_function *f)
{
    sp_table_row(x->out, t);
    sp_put_function(x, t, ACCOUNT_FUNCTION, f->function);
    sp_put_int(t, ACCOUNT_SELF, f->self);
    sp_put_int(t, ACCOUNT_TOTAL, f->total);
    sp_put_int(t, ACCOUNT_REST_SELF, f->rest_self);
    sp_put_int(t, ACCOUNT_REST_TOTAL, f->rest_total);
    sp_put_real(t, ACCOUNT_SHARE, f->share);
    sp_put_real(t, ACCOUNT_REST_SHARE, f->rest_share);
    sp_put_real(t, ACCOUNT_LOW, f->lo);
    sp_put_real(t, ACCOUNT_HIGH, f->hi);
    sp_put_int(t, ACCOUNT_ONLY, !f->rest_samples);
    sp_put_real(t, ACCOUNT_Q, f->q);
}

static void put_phase(const struct tables *y, struct sp_answer_table *t, struct sp_answer_table *stretches,
                      struct sp_answer_table *accounts, const struct sp_phase *p)
{
    double ratio = sp_phase_ratio(p);
    sp_table_row(y->x->out, t);
    sp_put_scaled(t, PHASE_FROM, sp_phase_stretch_of(y->p, p, 0)->lo - y->zero, EXPLAIN_NS);
    sp_put_scaled(t, PHASE_TO, sp_phase_stretch_of(y->p, p, p->n - 1)->hi - y->zero, EXPLAIN_NS);
    sp_put_int(t, PHASE_STRETCHES, (int64_t)p->n);
    sp_put_scaled(t, PHASE_SECONDS, p->ns, EXPLAIN_NS);
    sp_put_int(t, PHASE_WEIGHT, p->weight);
    sp_put_int(t, PHASE_SAMPLES, p->samples);
    sp_put_int(t, PHASE_REST_WEIGHT, p->rest_weight);
    sp_put_scaled(t, PHASE_REST_SECONDS, p->rest_ns, EXPLAIN_NS);
    if (ratio >= 0)
        sp_put_real(t, PHASE_RATIO, ratio);
    sp_put_int(t, PHASE_QUIET, p->quiet);
    sp_put_real(t, PHASE_P, p->p);
    for (size_t i = 0; i < p->n; i++) {
        const struct sp_phase_stretch *s = sp_phase_stretch_of(y->p, p, i);
        sp_table_row(y->x->out, stretches);
        sp_put_scaled(stretches, STRETCH_FROM, s->lo - y->zero, EXPLAIN_NS);
        sp_put_scaled(stretches, STRETCH_TO, s->hi - y->zero, EXPLAIN_NS);
        sp_put_scaled(stretches, STRETCH_FROM_DOUBT, s->lo_doubt, EXPLAIN_NS);
        sp_put_scaled(stretches, STRETCH_TO_DOUBT, s->hi_doubt, EXPLAIN_NS);
    }
    for (size_t i = 0; i < p->nfunctions; i++)
        put_account(y->x, accounts, &y->p->functions.v[p->functions + i]);
}

void sp_timeline_put_phases(struct sp_asked *x, const struct sp_phases *phases, int64_t zero)
{
    const struct tables all = {x, phases, zero}, *y = &all;
    struct sp_answer *a = x->out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_timeline_phases);
    struct sp_answer_table *stretches = sp_answer_detail(a, &sp_timeline_stretches, t);
    struct sp_answer_table *accounts = sp_answer_detail(a, &sp_timeline_accounts, t);
    if (!t || !stretches || !accounts)
        return;
    t->quiet = t->fixed = true;
    for (size_t i = 0; i < y->p->list.n; i++)
        put_phase(y, t, stretches, accounts, &y->p->list.v[i]);
}
