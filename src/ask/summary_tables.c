/* The facts and tables of a summary. */
#include "ask/summary.h"

#include "ask/findings_table.h"
#include "ask/function_at.h"
#include "base/num.h"

/* ---- declarations ---- */

const struct sp_answer_column sp_summary_facts[] = {
    FACT("profiled.command", SP_COL_TEXT, "the command that was recorded; null: not known"),
    FACT("profiled.host", SP_COL_TEXT, "where; null: not known"),
    FACT("profiled.arch", SP_COL_TEXT, "of the host; null: not known"),
    FACT("profiled.cpus", SP_COL_NUMBER, "of the host; null: not known"),
    FACT("profiled.duration", SP_COL_NUMBER, "seconds; null: not known"),
    FACT("profiled.events", SP_COL_COUNT, "events that the profile has"),
    FACT("threads", SP_COL_COUNT, "threads that the profile knows"),
    FACT("all_own", SP_COL_BOOL, "no function is known to be the program's own, so all are taken for it"),
    {0},
};

enum { GAP_CODE, GAP_FILE, GAP_MESSAGE, GAP_HINT, GAP_COUNT };
static const struct sp_answer_column summary_gap_columns[] = {
    [GAP_CODE] = {"code", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "of the diagnostic"},
    [GAP_FILE] = {"file", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "that it is about"},
    [GAP_MESSAGE] = {"message", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "what is missing"},
    [GAP_HINT] = {"hint", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "what helps"},
    [GAP_COUNT] = {"count", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "how often"},
};

/* CSV tells these tables apart by the title of the name. */
enum { SHARE_NAME, SHARE_SELF, SHARE_TOTAL = 3, SHARE_POOL };
#define SHARES(kind, what, words)                                                                            \
    [SHARE_NAME] = {"name", kind, what, .doc = words},                                                       \
    [SHARE_SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "its weight"},                        \
    {"self_percent", SP_COL_PERCENT, .of = "self", .flags = SP_COL_CSV, .doc = "its share of the whole"},    \
    [SHARE_TOTAL] = {"total_percent", SP_COL_PERCENT, .flags = SP_COL_CSV,                                   \
                     .doc = "share of the stacks that it is in"}
static const struct sp_answer_column summary_process_columns[] = {
    SHARES(SP_COL_TEXT, "process", "the process")};
static const struct sp_answer_column summary_thread_columns[] = {
    SHARES(SP_COL_TEXT, "thread", "the thread, or the pool with the number of its threads"),
    SP_POOL_COLUMNS(SHARE_POOL),
};
static const struct sp_answer_column summary_dso_columns[] = {SHARES(SP_COL_DSO, "binary", "the binary")};

#define BENEATH(at)                                                                                          \
    [at] = {"beneath.weight", SP_COL_WEIGHT, .doc = "of that, where something that it calls is the leaf"},   \
    [(at) + 1] = {"beneath.percent", SP_COL_PERCENT, .of = "beneath.weight",                                 \
                  .doc = "its share of the whole"}

enum {
    HOT_FUNCTION,
    HOT_WEIGHT = SP_FUNCTION_NCOLUMNS,
    HOT_SELF = HOT_WEIGHT + 2,
    HOT_TOTAL = HOT_SELF + 2,
    HOT_AT_MOST,
    HOT_AT_MOST_PERCENT,
    HOT_IRQ,
    HOT_BENEATH,
};
static const struct sp_answer_column summary_hot_columns[] = {
    SP_FUNCTION_AT(HOT_FUNCTION, "", "name", SP_COL_CSV),
    [HOT_WEIGHT] = {"weight", SP_COL_WEIGHT, .flags = SP_COL_CSV,
                    .doc = "weight of the stacks in which it is the own function nearest to the leaf"},
    {"percent", SP_COL_PERCENT, .of = "weight", .flags = SP_COL_CSV, .doc = "its share of the whole"},
    [HOT_SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks whose leaf it is"},
    {"self_percent", SP_COL_PERCENT, .of = "self", .flags = SP_COL_CSV, .doc = "its share of the whole"},
    [HOT_TOTAL] = {"total_percent", SP_COL_PERCENT, .flags = SP_COL_CSV,
                   .doc = "share of the stacks it is in"},
    [HOT_AT_MOST] = {"total_at_most", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
                     .doc = "where callers are missing: what the total can be; else left out"},
    [HOT_AT_MOST_PERCENT] = {"total_at_most_percent", SP_COL_PERCENT, .of = "total_at_most",
                             .flags = SP_COL_SOMETIMES, .doc = "its share of the whole"},
    [HOT_IRQ] = {"irq_enable", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                 .doc = "it only lets interrupts in again, its self weight is that of its callers"},
    BENEATH(HOT_BENEATH),
};

enum { STEP_FUNCTION, STEP_TIMES = SP_FUNCTION_NCOLUMNS, STEP_TOTAL, STEP_BENEATH };
static const struct sp_answer_column summary_step_columns[] = {
    SP_FUNCTION_AT(STEP_FUNCTION, "", "name", SP_COL_CSV),
    [STEP_TIMES] = {"times", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "how often it calls itself, and once"},
    [STEP_TOTAL] = {"total_percent", SP_COL_PERCENT, .flags = SP_COL_CSV,
                    .doc = "share of the stacks through this step"},
    BENEATH(STEP_BENEATH),
};

enum { CALLEE_NAME, CALLEE_PERCENT };
static const struct sp_answer_column summary_callee_columns[] = {
    [CALLEE_NAME] = {"name", SP_COL_TEXT, .doc = "what it calls, by its plain name"},
    [CALLEE_PERCENT] = {"percent", SP_COL_PERCENT, .doc = "its share of the whole"},
};

#define TABLE(columns) columns, sizeof columns / sizeof *columns
static const struct sp_table_decl
    gaps = {"incomplete", TABLE(summary_gap_columns),
            .doc = "what of the input is missing: cut off, damaged"},
    processes = {"by_process", TABLE(summary_process_columns), .doc = "the heaviest processes"},
    threads = {"by_thread", TABLE(summary_thread_columns), .doc = "the heaviest threads and pools"},
    dsos = {"by_dso", TABLE(summary_dso_columns), .doc = "the heaviest binaries"},
    hot = {"hot", TABLE(summary_hot_columns),
           .doc = "the program's own functions, with what they call beneath"},
    hot_in = {"beneath.in", TABLE(summary_callee_columns), .of = "hot", .doc = "in what, the heaviest"},
    path = {"heaviest_path", TABLE(summary_step_columns), .doc = "of own functions, from the root"},
    path_in = {"beneath.in", TABLE(summary_callee_columns), .of = "heaviest_path",
               .doc = "in what, the heaviest"};
const struct sp_table_decl *const sp_summary_tables[] = {
    &hot, &hot_in, &path, &path_in, &processes, &threads, &dsos, SP_FINDINGS_TABLES, &gaps, NULL};

/* What a budget leaves first. */
enum { KEEP_HOT = 1, KEEP_FOUND, KEEP_PATH, KEEP_THREADS, KEEP_DSOS, KEEP_PROCESSES };

static struct sp_answer_table *summary_table(struct sp_summary *x, const struct sp_table_decl *decl,
                                             unsigned keep)
{
    struct sp_answer_table *t = sp_answer_table(x->x.out, decl);
    if (t) {
        t->quiet = true;
        t->keep = keep;
        t->fixed = !keep;
    }
    return t;
}

/* How many of these are shown; what is not is told. */
static size_t summary_room(struct sp_answer_table *t, size_t n, size_t most)
{
    if (t && n > most)
        t->left_out = n - most;
    return n < most ? n : most;
}

/* ---- what was profiled ---- */

static void fact_number(struct sp_answer *a, const char *name, struct sp_str s)
{
    int64_t v;
    unsigned scale;
    if (s.n && sp_parse_scaled(s.p, s.n, &v, &scale))
        sp_fact_scaled(a, name, v, scale);
    else
        sp_fact_null(a, name);
}

static void put_cstr(struct sp_summary *x, struct sp_answer_table *t, size_t column, const char *s)
{
    sp_put_text(x->x.out, t, column, s, s ? strlen(s) : 0);
}

static void put_gaps(struct sp_summary *x)
{
    struct sp_answer_table *t = summary_table(x, &gaps, 0);
    size_t i = 0;
    for (const struct sp_diag *g; t && (g = sp_summary_missing(x, &i));) {
        sp_table_row(x->x.out, t);
        put_cstr(x, t, GAP_CODE, sp_code_info(g->code)->name);
        put_cstr(x, t, GAP_FILE, g->file);
        put_cstr(x, t, GAP_MESSAGE, g->message);
        put_cstr(x, t, GAP_HINT, g->hint);
        sp_put_int(t, GAP_COUNT, (int64_t)x->x.q->diags->count[g->code]);
    }
}

void sp_summary_head(struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    const struct sp_header *h = &p->header;
    struct sp_answer *a = x->x.out;
    struct sp_str command = sp_pstr(p, h->command);
    sp_fact_str(a, "profiled.command", command);
    sp_fact_str(a, "profiled.host", sp_pstr(p, h->host.name));
    sp_fact_str(a, "profiled.arch", sp_pstr(p, h->host.arch));
    fact_number(a, "profiled.cpus", sp_pstr(p, h->host.cpus));
    fact_number(a, "profiled.duration", sp_pstr(p, h->duration));
    sp_fact_count(a, "profiled.events", (int64_t)p->events.n);
    if (h->command) {
        sp_buf_clear(&x->x.b);
        sp_buf_printf(&x->x.b, "%-*s", SP_LABEL_COLUMNS, "profiled");
        sp_buf_add(&x->x.b, command.p, command.n);
        sp_answer_line_of(a, SP_LINE_LABEL, &x->x.b);
    }
    sp_asked_heading_as(&x->x, "weight");
    put_gaps(x);
    sp_summary_say_incomplete(x);
    sp_fact_count(a, "threads", (int64_t)p->threads.n);
}

/* ---- shares ---- */

static struct sp_answer_table *put_shares(struct sp_summary *x, const struct sp_table_decl *decl,
                                          unsigned keep, const struct sp_top *top, size_t least)
{
    struct sp_answer_table *t = summary_table(x, decl, keep);
    size_t n = top->rows.n < least ? 0 : summary_room(t, top->rows.n, SP_SUMMARY_SHARES);
    for (size_t i = 0; t && i < n; i++) {
        const struct sp_top_row *r = &top->rows.v[i];
        struct sp_str name = sp_str_at(&top->names, r->name);
        sp_table_row(x->x.out, t);
        sp_put_text(x->x.out, t, SHARE_NAME, name.p, name.n);
        sp_put_int(t, SHARE_SELF, r->self);
        sp_put_int(t, SHARE_TOTAL, r->total);
        if (decl == &threads)
            sp_put_pool(&x->x, t, SHARE_POOL, sp_top_pool(&x->x.s, SP_TOP_THREAD, r));
    }
    return t;
}

/* People are not told of the one process that there is, nor of threads where the profile tells none apart. */
void sp_summary_shares(struct sp_summary *x)
{
    x->by_process = put_shares(x, &processes, KEEP_PROCESSES, &x->processes, x->x.q->brief ? 2 : 0);
    sp_summary_say_shares(x, "processes", &x->processes, x->by_process);
    x->by_thread = put_shares(x, &threads, KEEP_THREADS, &x->threads, 0);
    if (x->x.s.profile->threads.n)
        sp_summary_say_shares(x, "threads", &x->threads, x->by_thread);
    x->by_dso = put_shares(x, &dsos, KEEP_DSOS, &x->dsos, 0);
    sp_summary_say_shares(x, "binaries", &x->dsos, x->by_dso);
}

/* ---- functions ---- */

static void put_function(struct sp_summary *x, struct sp_answer_table *t, size_t at, uint32_t function)
{
    sp_put_function(&x->x, t, at, function);
    if (function == SP_NONE)
        put_cstr(x, t, at + SP_FUNCTION_NAME, "[no own function]");
}

static void put_beneath(struct sp_summary *x, struct sp_answer_table *t, size_t at,
                        struct sp_answer_table *in, const struct sp_own_sum *sum)
{
    sp_put_int(t, at, sum->beneath);
    for (size_t i = 0; in && i < sum->n && i < SP_SUMMARY_CALLEES; i++) {
        const struct sp_own_callee *c = &x->fold.callees.v[sum->first + i];
        struct sp_str name = sp_str_at(&x->fold.names, c->name);
        sp_table_row(x->x.out, in);
        sp_put_text(x->x.out, in, CALLEE_NAME, name.p, name.n);
        sp_put_int(in, CALLEE_PERCENT, c->weight);
    }
}

void sp_summary_hot(struct sp_summary *x)
{
    bool bounds = sp_chains_tell(&x->x.s);
    sp_fact_bool(x->x.out, "all_own", x->x.own.all);
    struct sp_answer_table *t = x->hot = summary_table(x, &hot, KEEP_HOT);
    struct sp_answer_table *in = sp_answer_detail(x->x.out, &hot_in, t);
    size_t n = summary_room(t, x->fold.rows.n, SP_SUMMARY_HOT);
    if (!bounds) {
        sp_table_without(t, HOT_AT_MOST);
        sp_table_without(t, HOT_AT_MOST_PERCENT);
    }
    for (size_t i = 0; t && i < n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        sp_table_row(x->x.out, t);
        put_function(x, t, HOT_FUNCTION, r->function);
        sp_put_int(t, HOT_WEIGHT, r->sum.weight);
        sp_put_int(t, HOT_SELF, r->self);
        sp_put_int(t, HOT_TOTAL, r->total);
        sp_put_int(t, HOT_AT_MOST, r->at_most);
        if (sp_summary_is_irq(x, r->function))
            sp_put_int(t, HOT_IRQ, 1);
        put_beneath(x, t, HOT_BENEATH, in, &r->sum);
    }
    sp_summary_say_hot(x);
}

void sp_summary_path(struct sp_summary *x)
{
    struct sp_answer_table *t = x->path = summary_table(x, &path, KEEP_PATH);
    struct sp_answer_table *in = sp_answer_detail(x->x.out, &path_in, t);
    for (size_t i = 0; t && i < x->fold.nsteps; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_table_row(x->x.out, t);
        put_function(x, t, STEP_FUNCTION, step->function);
        sp_put_int(t, STEP_TIMES, step->times);
        sp_put_int(t, STEP_TOTAL, step->total);
        put_beneath(x, t, STEP_BENEATH, in, &step->sum);
    }
    sp_summary_say_path(x);
}

/* ---- findings ---- */

void sp_summary_found(struct sp_summary *x)
{
    x->found = sp_findings_put(&x->x, &x->names, &x->findings, SP_SUMMARY_FINDINGS, KEEP_FOUND);
    for (size_t i = 0; x->found && i < x->found->rows; i++)
        sp_summary_say_finding(x, &x->findings.list.v[i], i);
}
