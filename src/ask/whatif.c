/* whatif: what is left when functions become faster, slower, or vanish. */
#include "ask/whatif_words.h"

#include "analysis/cpu_time.h"
#include "base/num.h"

#include <math.h>

static const struct sp_answer_column whatif_facts[] = {
    {"asked", SP_COL_TEXT, .doc = "the changes as they were given"},
    {"after", SP_COL_WEIGHT, .doc = "what is left of the kept weight, by what the stacks show; rounded"},
    {"speedup", SP_COL_NUMBER, .doc = "kept / after before that is rounded; null: nothing is left"},
    {"after_at_least", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "where callers are missing: what is left if all stacks that may belong to the changed functions "
            "do; null: not known"},
    {"after_at_most", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "likewise: the most that may be left, which is more than after only where functions get slower"},
    {"speedup_at_most", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES, .doc = "kept / after_at_least, likewise"},
    {"sampling.low", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "where samples are counted: 95 % interval of after, if they are independent and weigh alike"},
    {"sampling.high", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "its end"},
    {"busiest.before.name", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "where threads are known: the one of most weight"},
    {"busiest.before.weight", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "its weight"},
    {"busiest.after.name", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "the one of most weight then"},
    {"busiest.after.weight", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "its weight then: of CPU time, no run takes less, however many processors there are"},
    {"busiest.threads", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "how many threads there are"},
    {0},
};

enum { WEIGHT, SHARE, AFTER, SPEEDUP, KIND, NAME };
static const struct sp_answer_column whatif_row_columns[] = {
    [WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .doc = "what it has"},
    [SHARE] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "its share of the whole"},
    [AFTER] = {"after", SP_COL_WEIGHT, "left", .doc = "what is left of it"},
    [SPEEDUP] = {"speedup", SP_COL_NUMBER, "÷", .doc = "weight / after; null: nothing is left"},
    [KIND] = {"kind", SP_COL_TEXT, "of", .doc = "process, pool or thread"},
    [NAME] = {"name", SP_COL_TEXT, "name", .flags = SP_COL_FLEXIBLE, .doc = "which"},
};
static const struct sp_table_decl whatif_rows = {
    "rows", whatif_row_columns, sizeof whatif_row_columns / sizeof *whatif_row_columns,
    .doc = "processes, where there are several, then pools and the threads that are in none, heaviest first"};

enum { OF, OF_SHARE, DECIDED, LEFT, RATIO, SELF, FUNCTIONS, ASKED, ID, FUNCTION };
static const struct sp_answer_column whatif_change_columns[] = {
    [OF] = {"weight", SP_COL_WEIGHT, "weight",
            .doc = "of the stacks that the functions are in; of self: whose leaf one is"},
    [OF_SHARE] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "its share of the whole"},
    [DECIDED] = {"scaled", SP_COL_WEIGHT, "scaled",
                 .doc = "of that what this change scales: stacks that no stronger one is of, too"},
    [LEFT] = {"left", SP_COL_WEIGHT, "left", .doc = "what is left of that"},
    [RATIO] = {"factor", SP_COL_NUMBER, .doc = "left / scaled: 0.5 is twice as fast"},
    [SELF] = {"self", SP_COL_BOOL, .doc = "of self weight alone"},
    [FUNCTIONS] = {"functions", SP_COL_COUNT, .doc = "how many functions the name fits"},
    [ASKED] = {"asked", SP_COL_TEXT, "function", .flags = SP_COL_FLEXIBLE, .doc = "the name as it was given"},
    [ID] = {"id", SP_COL_HANDLE, .flags = SP_COL_CSV,
            .doc = "handle of the function, of the first of several"},
    [FUNCTION] = {"function", SP_COL_NAME, .flags = SP_COL_CSV, .doc = "its whole name"},
};
static const struct sp_table_decl whatif_changes = {
    "changes", whatif_change_columns, sizeof whatif_change_columns / sizeof *whatif_change_columns,
    .doc = "what was asked for, in that order"};
static const struct sp_table_decl *const whatif_tables[] = {&whatif_rows, &whatif_changes, NULL};

/* ---- facts and tables ---- */

static const struct sp_top_row *busiest_of(const struct sp_whatif_rows *r, bool after, int64_t *weight)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < r->rows.rows.n; i++) {
        int64_t v = after ? sp_whatif_weight(r->after[i]) : r->rows.rows.v[i].self;
        if (best == SIZE_MAX || v > *weight) {
            best = i;
            *weight = v;
        }
    }
    return best == SIZE_MAX ? NULL : &r->rows.rows.v[best];
}

/* Threads have numbers: else a row is of all that are not known. */
static bool knows_threads(const struct sp_whatif_question *x)
{
    const struct sp_whatif_rows *r = &x->w.threads;
    for (size_t i = 0; i < r->rows.rows.n; i++)
        if (r->rows.rows.v[i].context == SP_NONE ||
            x->x->s.profile->contexts.v[r->rows.rows.v[i].context].tid == SP_ABSENT)
            return false;
    return r->rows.rows.n > 0;
}

static void put_busiest(struct sp_whatif_question *x)
{
    const struct sp_whatif_rows *r = &x->w.threads;
    struct sp_answer *a = x->x->out;
    int64_t most = 0, least = 0;
    if (!knows_threads(x))
        return;
    struct sp_str before = sp_str_at(&r->rows.names, busiest_of(r, false, &most)->name);
    struct sp_str after = sp_str_at(&r->rows.names, busiest_of(r, true, &least)->name);
    sp_fact_text(a, "busiest.before.name", before.p, before.n);
    sp_fact_weight(a, "busiest.before.weight", 0, most);
    sp_fact_text(a, "busiest.after.name", after.p, after.n);
    sp_fact_weight(a, "busiest.after.weight", 0, least);
    sp_fact_count(a, "busiest.threads", (int64_t)r->rows.rows.n);
    if (x->cpu)
        sp_whatif_say_wall(x, before, after, least);
}

static void put_speedup(struct sp_answer *a, const char *name, double before, double after)
{
    if (after > 0 && before > 0 && before / after < 1e12)
        sp_fact_scaled(a, name, sp_whatif_speedup(before, after, true), SP_SPEEDUP_DIGITS);
    else
        sp_fact_null(a, name);
}

static void whatif_put_facts(struct sp_whatif_question *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_whatif *w = &x->w;
    sp_fact_cstr(a, "asked", x->x->q->argument);
    sp_fact_weight(a, "after", 0, w->after);
    put_speedup(a, "speedup", (double)w->before, w->left);
    if (w->bounds) {
        sp_fact_weight(a, "after_at_least", 0, w->least);
        sp_fact_weight(a, "after_at_most", 0, w->most);
        put_speedup(a, "speedup_at_most", (double)w->before, w->least == SP_ABSENT ? 0 : w->left_least);
    }
    if (w->sampled) {
        sp_fact_weight(a, "sampling.low", 0, w->sure_lo);
        sp_fact_weight(a, "sampling.high", 0, w->sure_hi);
    }
}

static void put_changes(struct sp_whatif_question *x)
{
    struct sp_answer *a = x->x->out;
    struct sp_answer_table *t = sp_answer_table(a, &whatif_changes);
    if (t)
        t->fixed = true;
    for (size_t i = 0; i < x->changes.list.n; i++) {
        const struct sp_change *c = &x->changes.list.v[i];
        char handle[32];
        sp_table_row(a, t);
        sp_put_int(t, OF, c->of);
        sp_put_int(t, DECIDED, c->decided);
        sp_put_int(t, LEFT, sp_change_left(c, c->decided));
        sp_put_real(t, RATIO, sp_change_ratio(c));
        sp_put_int(t, SELF, c->self);
        sp_put_int(t, FUNCTIONS, (int64_t)c->functions.n);
        sp_put_text(a, t, ASKED, x->changes.names.v[i], strlen(x->changes.names.v[i]));
        sp_put_text(a, t, ID, handle, sp_handle_text(&x->x->handles, c->functions.first, handle));
        struct sp_str name = sp_pstr(x->x->s.profile, x->x->s.profile->functions.v[c->functions.first].name);
        sp_put_text(a, t, FUNCTION, name.p, name.n);
    }
}

static void put_who(struct sp_whatif_question *x, struct sp_answer_table *t, const struct sp_whatif_rows *r,
                    enum sp_by by)
{
    for (size_t i = 0; i < r->rows.rows.n; i++) {
        const struct sp_top_row *row = &r->rows.rows.v[i];
        const char *kind = by == SP_TOP_PROCESS             ? "process"
                           : sp_top_pool(&x->x->s, by, row) ? "pool"
                                                            : "thread";
        struct sp_str name = sp_str_at(&r->rows.names, row->name);
        sp_table_row(x->x->out, t);
        sp_put_int(t, WEIGHT, row->self);
        sp_put_int(t, AFTER, sp_whatif_weight(r->after[i]));
        if (r->after[i] > 0 && row->self > 0 && (double)row->self / r->after[i] < 1e12)
            sp_put_scaled(t, SPEEDUP, sp_whatif_speedup((double)row->self, r->after[i], false),
                          SP_SPEEDUP_DIGITS);
        sp_put_text(x->x->out, t, KIND, kind, strlen(kind));
        sp_put_text(x->x->out, t, NAME, name.p, name.n);
    }
}

static void whatif_put_rows(struct sp_whatif_question *x)
{
    struct sp_answer_table *t = sp_answer_table(x->x->out, &whatif_rows);
    const struct sp_whatif *w = &x->w;
    if (!t)
        return;
    t->limit = x->limit;
    if (w->processes.rows.rows.n > 1)
        put_who(x, t, &w->processes, SP_TOP_PROCESS);
    put_who(x, t, w->pools.rows.rows.n ? &w->pools : &w->threads, SP_TOP_THREAD);
}

/* ---- the question ---- */

static spaa_status whatif_answer(struct sp_whatif_question *x)
{
    struct sp_ask *q = x->x->q;
    if (x->x->s.cannot_add)
        return sp_usage(q->diags, "ask with a --metric whose values add up",
                        "values of this metric must not be added: nothing can be said of their sum");
    spaa_status st = sp_whatif_of(&x->x->s, x->changes.list.v, x->changes.list.n, q->diags, &x->w);
    for (size_t i = 0; !st && i < x->changes.list.n; i++)
        if (!sp_said_add(&x->said, x->changes.list.v[i].functions.first))
            st = sp_nomem(q->diags);
    if (!st)
        st = sp_said_shorten(&x->said, x->x);
    if (st)
        return st;
    x->cpu = sp_is_cpu_time(&x->x->s);
    sp_asked_facts(x->x);
    whatif_put_facts(x);
    sp_whatif_say_head(x);
    sp_whatif_say_doubt(x);
    put_busiest(x);
    sp_whatif_say_assumptions(x);
    put_changes(x);
    whatif_put_rows(x);
    sp_asked_heading(x->x);
    return sp_asked_end(x->x);
}

static spaa_status whatif_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_asked asked = {0};
    struct sp_whatif_question x = {.x = &asked};
    if (!sp_ask_limit(q, 10, &x.limit))
        return SPAA_ERR_USAGE;
    if (!q->argument)
        return sp_usage(q->diags, "as in spaa whatif FILE NAME=2x, or ask_whatif('NAME=2x')",
                        "whatif needs a function and its factor");
    spaa_status st = sp_changes_parse(q->profiles[0], q->argument, q->diags, &x.changes);
    if (!st)
        st = sp_asked_select(q, NULL, out, &asked);
    if (!st)
        st = whatif_answer(&x);
    sp_whatif_free(&x.w);
    sp_said_free(&x.said);
    sp_asked_free(&asked);
    sp_changes_free(&x.changes);
    return st;
}

static spaa_status whatif_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->no_ids = true;
    return SPAA_OK;
}

const struct sp_question sp_question_whatif = {
    .name = "whatif",
    .args = "[FILE…] FUNCTION=2x|0|50%…",
    .groups = G_READ | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_ROWS | G_ANSWER | G_BUDGET,
    .title = "the bound on what making functions faster gains, in all and by thread",
    .examples = "spaa whatif stacks.folded malloc=2x # twice as fast; malloc=0: gone\n"
                "spaa whatif stacks.folded self:malloc=50% # its own code alone takes half",
    .argument = true,
    .is_argument = sp_change_is,
    .schema = "spaa.whatif/1",
    .facts = whatif_facts,
    .tables = whatif_tables,
    .needs = whatif_needs,
    .ask = whatif_ask,
};
