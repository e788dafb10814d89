/* The facts and tables of a summary. */
#include "ask/findings_table.h"
#include "ask/function_at.h"
#include "ask/summary_rows.h"

#include "base/num.h"

/* ---- declarations ---- */

const struct sp_answer_column sp_summary_facts[] = {
    FACT("headline", SP_COL_TEXT, "the answer in one line: what was recorded, how much, of whom"),
    FACT("profiled.command", SP_COL_TEXT, "the command that was recorded; null: not known"),
    FACT("profiled.host", SP_COL_TEXT, "where; null: not known"),
    FACT("profiled.arch", SP_COL_TEXT, "of the host; null: not known"),
    FACT("profiled.cpus", SP_COL_NUMBER, "of the host; null: not known"),
    FACT("profiled.duration", SP_COL_NUMBER, "seconds; null: not known"),
    FACT("profiled.events", SP_COL_COUNT, "events that the profile has"),
    FACT("threads", SP_COL_COUNT, "threads that the profile knows"),
    {"fields", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "of a tracepoint's events: the commonest by their fields, with their shares"},
    {"waits.reasons", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "where time off the CPU was recorded: what threads waited for, waits for work not counted"},
    {"waits.most", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "the heaviest of it; null: there is none"},
    {"waits.runnable_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "waiting for a CPU"},
    {"waits.blocked_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "waiting for something else"},
    {"waits.idle_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "waiting for work"},
    {"waits.maybe_idle_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "waiting for work by the look of it, which nothing shows; not in idle"},
    {"waits.unknown_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "running or waiting: not recorded which; in no other sum"},
    {"waits.unseen_ns", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "blocked, and where they left the CPU was not recorded; in none of these"},
    SOMETIMES("hang.event", SP_COL_TEXT,
              "of hang reports, from here on: what happened, `hang`, `cpu usage`; null: it is not said"),
    SOMETIMES("hang.process", SP_COL_TEXT, "whom the report is about; null: not known"),
    SOMETIMES("hang.pid", SP_COL_COUNT, "its number"),
    SOMETIMES("hang.processes", SP_COL_COUNT,
              "so many processes had that number one after the other, and which is meant is not known; null: "
              "it is"),
    SOMETIMES("hang.action", SP_COL_TEXT, "what the system did about it; null: nothing"),
    SOMETIMES("hang.measured", SP_COL_TEXT, "what went past a limit, as the report says it; null: nothing"),
    SOMETIMES("hang.limit", SP_COL_TEXT, "the limit, likewise"),
    SOMETIMES("hang.times_limit", SP_COL_NUMBER, "the rate that was measured in parts of the one allowed"),
    SOMETIMES("hang.unresponsive", SP_COL_TEXT, "how long before sampling; null: not said"),
    SOMETIMES("hang.duration", SP_COL_TEXT, "of the event, as it is said"),
    SOMETIMES("hang.sampled", SP_COL_TEXT, "of that with samples"),
    SOMETIMES("hang.steps", SP_COL_TEXT, "how many, and how often"),
    SOMETIMES("hang.steps_lost", SP_COL_COUNT, "steps without samples; null: not said"),
    SOMETIMES("hang.footprint_before_bytes", SP_COL_COUNT, "memory of the process at first; null: not said"),
    SOMETIMES("hang.footprint_bytes", SP_COL_COUNT, "and at the end"),
    SOMETIMES("hang.verdict", SP_COL_TEXT,
              "what its main thread did most, or, waited, the deadlock that it ended in: ran, starved "
              "(ready, without a CPU), waited, suspended, idle (in "
              "its run loop); null: not known"),
    SOMETIMES("hang.deadlock", SP_COL_BOOL, "it waits in a deadlock, or for one"),
    SOMETIMES("hang.deadlock_sure", SP_COL_BOOL, "false: it is the likely one; null: there is none"),
    SOMETIMES("hang.deadlock_beside", SP_COL_BOOL,
              "other threads of the process are in a deadlock, which its main thread is not held up by"),
    SOMETIMES("hang.main.tid", SP_COL_COUNT, "its main thread; null: not known"),
    SOMETIMES("hang.main.weight", SP_COL_WEIGHT, "of all its samples"),
    SOMETIMES("hang.main.ran", SP_COL_WEIGHT, "on a CPU; null: states are not known"),
    SOMETIMES("hang.main.ready", SP_COL_WEIGHT, "ready, without a CPU"),
    SOMETIMES("hang.main.waited", SP_COL_WEIGHT, "for anything else"),
    SOMETIMES("hang.main.disk", SP_COL_WEIGHT,
              "of it, for the disk, by functions of the kernel; no state says so"),
    SOMETIMES("hang.main.events", SP_COL_WEIGHT, "of it, for events in its run loop"),
    SOMETIMES("hang.main.suspended", SP_COL_WEIGHT, "stopped by somebody"),
    SOMETIMES("hang.main.unknown", SP_COL_WEIGHT,
              "it ran or waited, which is not stated, and the innermost function does not tell"),
    SOMETIMES("hang.main.stack", SP_COL_TEXT,
              "its heaviest stack while it did what the verdict says: own functions, without any all, "
              "callers first"),
    SOMETIMES("hang.waited_for", SP_COL_TEXT, "what it waited for most; null: nothing is stated"),
    SOMETIMES("hang.holder.process", SP_COL_TEXT,
              "who held it, or held that up in the end; null: not stated"),
    SOMETIMES("hang.holder.pid", SP_COL_COUNT, "its process"),
    SOMETIMES("hang.holder.tid", SP_COL_COUNT, "its thread; null: the report does not have it"),
    SOMETIMES("hang.holder.through_main_thread", SP_COL_BOOL,
              "the process alone is known; its main thread is looked at"),
    SOMETIMES("hang.holder.hops", SP_COL_COUNT, "waits of others that lie between; null: not stated"),
    SOMETIMES("hang.holder.waits_on", SP_COL_COUNT, "how many waits lead from the main thread to it"),
    SOMETIMES("hang.holder.did", SP_COL_TEXT,
              "what it did most meanwhile: ran, ready, waited, suspended; null: not known"),
    SOMETIMES("hang.holder.stack", SP_COL_TEXT, "its heaviest stack while it did that"),
    SOMETIMES("memory.ranked_by", SP_COL_TEXT,
              "of memory, from here on: the metric that sorts memory_owners, what matters most in this file"),
    SOMETIMES("memory.live_bytes", SP_COL_COUNT,
              "bytes that are live, without what is suppressed; null: not known"),
    SOMETIMES("memory.live_doubt_bytes", SP_COL_COUNT,
              "sampled: the live bytes are within so much of that with 95 %; else 0"),
    SOMETIMES("memory.live_blocks", SP_COL_COUNT, "blocks that are live"),
    SOMETIMES("memory.at_end", SP_COL_BOOL, "live when the program ended, not when the profile was taken"),
    SOMETIMES("memory.suppressed_bytes", SP_COL_COUNT,
              "live bytes that the recording calls no leak; null: none"),
    SOMETIMES("memory.peak_bytes", SP_COL_COUNT, "the most that was live at once; null: not known"),
    SOMETIMES("memory.peak_seconds", SP_COL_NUMBER, "when that was, from the start; null: not known"),
    SOMETIMES("memory.peak_after", SP_COL_COUNT,
              "the same in peak_after_unit, where that is no time; else null"),
    SOMETIMES("memory.peak_after_unit", SP_COL_TEXT, "\"instructions\"; null: there is none"),
    SOMETIMES("memory.allocated_bytes", SP_COL_COUNT, "all that was allocated"),
    SOMETIMES("memory.calls", SP_COL_COUNT, "calls that allocated"),
    SOMETIMES("memory.temporary_calls", SP_COL_COUNT, "of these, whose block was freed next"),
    SOMETIMES("memory.rss_peak_bytes", SP_COL_COUNT,
              "the most of memory that the process had; null: not known"),
    SOMETIMES("memory.seconds", SP_COL_NUMBER, "how long it was recorded; null: not known"),
    SOMETIMES("memory.sampled_every_bytes", SP_COL_COUNT,
              "bytes from one sample to the next, on average; null: each allocation was recorded"),
    SOMETIMES("memory.growth_known", SP_COL_BOOL, "the file tells what grows over its time"),
    SOMETIMES("memory.live_after_quarter.0", SP_COL_COUNT, "live bytes after the first quarter of the time"),
    SOMETIMES("memory.live_after_quarter.1", SP_COL_COUNT, "after the second; null: not known"),
    SOMETIMES("memory.live_after_quarter.2", SP_COL_COUNT, "after the third"),
    SOMETIMES("memory.live_after_quarter.3", SP_COL_COUNT, "after the last"),
    SOMETIMES("memory.lost.definite", SP_COL_COUNT, "live bytes that nothing refers to; null: not known"),
    SOMETIMES("memory.lost.indirect", SP_COL_COUNT, "referred to from such only"),
    SOMETIMES("memory.lost.possible", SP_COL_COUNT, "referred to from within only"),
    SOMETIMES("memory.lost.other", SP_COL_COUNT, "of a kind of its own"),
    SOMETIMES("memory.lost.reachable", SP_COL_COUNT, "that the program can reach"),
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

enum { CAUTION_ID, CAUTION_STATEMENT, CAUTION_SETTLE };
static const struct sp_answer_column summary_warning_columns[] = {
    [CAUTION_ID] = {"id", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "of its kind: docs/views.md"},
    [CAUTION_STATEMENT] = {"statement", SP_COL_TEXT, .flags = SP_COL_CSV,
                           .doc = "it in a sentence, with figures"},
};
static const struct sp_answer_column summary_unknown_columns[] = {
    [CAUTION_ID] = {"id", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "of its kind"},
    [CAUTION_STATEMENT] = {"statement", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "what is not known"},
    [CAUTION_SETTLE] = {"settle", SP_COL_TEXT, .flags = SP_COL_CSV,
                        .doc = "which recording would tell; null: none is known"},
};
enum {
    OWN_FUNCTION,
    OWN_WEIGHT = SP_FUNCTION_NCOLUMNS,
    OWN_SELF = OWN_WEIGHT + 2,
    OWN_TOTAL = OWN_SELF + 2,
    OWN_AT_MOST,
    OWN_PLACE,
    OWN_CALLER
};
static const struct sp_answer_column summary_own_columns[] = {
    SP_FUNCTION_AT(OWN_FUNCTION, "", "name", SP_COL_CSV),
    [OWN_WEIGHT] = {"weight", SP_COL_WEIGHT, .flags = SP_COL_CSV,
                    .doc = "weight of the stacks in which it is the own function nearest to the leaf"},
    {"percent", SP_COL_PERCENT, .of = "weight", .flags = SP_COL_CSV, .doc = "its share of the whole"},
    [OWN_SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks whose leaf it is"},
    {"self_percent", SP_COL_PERCENT, .of = "self", .flags = SP_COL_CSV, .doc = "its share of the whole"},
    [OWN_TOTAL] = {"total_percent", SP_COL_PERCENT, .flags = SP_COL_CSV,
                   .doc = "share of the stacks it is in"},
    [OWN_AT_MOST] = {"total_at_most_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES,
                     .doc = "where callers are missing: what the total can be; else left out"},
    [OWN_PLACE] = {"place", SP_COL_TEXT, .flags = SP_COL_CSV,
                   .doc = "file and line of its declaration, and its binary where that is not the program; "
                          "null: not known"},
    [OWN_CALLER] = {"called_by", SP_COL_HANDLE, .flags = SP_COL_CSV,
                    .doc = "the one of these that nine tenths of its weight stand below; null: none"},
};

static const struct sp_table_decl
    gaps = {"incomplete", TABLE(summary_gap_columns),
            .doc = "what of the input is missing: cut off, damaged"},
    warnings = {"warnings", TABLE(summary_warning_columns), .doc = "what changes what may be concluded"},
    unknowns = {"cannot_know", TABLE(summary_unknown_columns), .doc = "what the profile cannot tell"},
    own = {"own_functions", TABLE(summary_own_columns),
           .doc = "a few own functions as a call tree: those of most weight, then callers of the first"},
    processes = {"by_process", TABLE(summary_process_columns), .doc = "the heaviest processes"},
    threads = {"by_thread", TABLE(summary_thread_columns), .doc = "the heaviest threads and pools"},
    dsos = {"by_dso", TABLE(summary_dso_columns), .doc = "the heaviest binaries"},
    hot = {"hot", TABLE(summary_hot_columns),
           .doc = "the program's own functions, with what they call beneath"},
    hot_in = {"beneath.in", TABLE(summary_callee_columns), .of = "hot", .doc = "in what, the heaviest"},
    path = {"heaviest_path", TABLE(summary_step_columns), .doc = "of own functions, from the root"},
    path_in = {"beneath.in", TABLE(summary_callee_columns), .of = "heaviest_path",
               .doc = "in what, the heaviest"};
const struct sp_table_decl *const sp_summary_tables[] = {&hot,
                                                         &hot_in,
                                                         &path,
                                                         &path_in,
                                                         &processes,
                                                         &threads,
                                                         &dsos,
                                                         SP_FINDINGS_TABLES,
                                                         &gaps,
                                                         &warnings,
                                                         &unknowns,
                                                         &own,
                                                         &sp_summary_memory_owners,
                                                         &sp_summary_memory_leaks_rows,
                                                         NULL};

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

static void put_gaps(struct sp_summary *x)
{
    struct sp_answer_table *t = sp_summary_table(x, &gaps, 0);
    size_t i = 0;
    for (const struct sp_diag *g; t && (g = sp_summary_missing(x, &i));) {
        sp_table_row(x->x.out, t);
        sp_summary_put_cstr(x, t, GAP_CODE, sp_code_info(g->code)->name);
        sp_summary_put_cstr(x, t, GAP_FILE, g->file);
        sp_summary_put_cstr(x, t, GAP_MESSAGE, g->message);
        sp_summary_put_cstr(x, t, GAP_HINT, g->hint);
        sp_put_int(t, GAP_COUNT, (int64_t)x->x.q->diags->count[g->code]);
    }
}

static void put_head(struct sp_summary *x)
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
    put_gaps(x);
    sp_buf_clear(&x->x.b);
    sp_summary_head_text(&x->x.b, x);
    sp_fact_text(a, "headline", sp_buf_text(&x->x.b), x->x.b.len);
    a->failed |= x->x.b.failed;
    sp_buf_clear(&x->x.b);
    sp_fact_count(a, "threads", (int64_t)p->threads.n);
}

/* ---- shares ---- */

static void put_shares(struct sp_summary *x, const struct sp_table_decl *decl, unsigned keep,
                       const struct sp_top *top)
{
    struct sp_answer_table *t = sp_summary_table(x, decl, keep);
    size_t n = sp_summary_room(t, top->rows.n, SP_SUMMARY_SHARES);
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
}

static void put_all_shares(struct sp_summary *x)
{
    put_shares(x, &processes, KEEP_PROCESSES, &x->processes);
    put_shares(x, &threads, KEEP_THREADS, &x->threads);
    put_shares(x, &dsos, KEEP_DSOS, &x->dsos);
}

/* ---- functions ---- */

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

static void put_hot(struct sp_summary *x)
{
    bool bounds = sp_chains_tell(&x->x.s);
    if (x->fields)
        sp_fact_cstr(x->x.out, "fields", x->fields);
    if (x->waits.known) {
        sp_fact_cstr(x->x.out, "waits.reasons", x->waits.reasons);
        sp_fact_cstr(x->x.out, "waits.most", x->waits.most);
        sp_fact_count(x->x.out, "waits.runnable_ns", x->waits.runnable);
        sp_fact_count(x->x.out, "waits.blocked_ns", x->waits.blocked);
        sp_fact_count(x->x.out, "waits.idle_ns", x->waits.idle);
        sp_fact_count(x->x.out, "waits.maybe_idle_ns", x->waits.maybe_idle);
        sp_fact_count(x->x.out, "waits.unknown_ns", x->waits.unknown);
        sp_fact_count(x->x.out, "waits.unseen_ns", x->waits.unseen);
    }
    sp_fact_bool(x->x.out, "all_own", x->x.own.all);
    struct sp_answer_table *t = sp_summary_table(x, &hot, KEEP_HOT);
    struct sp_answer_table *in = sp_answer_detail(x->x.out, &hot_in, t);
    size_t n = sp_summary_room(t, x->fold.rows.n, SP_SUMMARY_HOT);
    if (!bounds) {
        sp_table_without(t, HOT_AT_MOST);
        sp_table_without(t, HOT_AT_MOST_PERCENT);
    }
    for (size_t i = 0; t && i < n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        sp_table_row(x->x.out, t);
        sp_summary_put_function(x, t, HOT_FUNCTION, r->function);
        sp_put_int(t, HOT_WEIGHT, r->sum.weight);
        sp_put_int(t, HOT_SELF, r->self);
        sp_put_int(t, HOT_TOTAL, r->total);
        sp_put_int(t, HOT_AT_MOST, r->at_most);
        if (sp_summary_is_irq(x, r->function))
            sp_put_int(t, HOT_IRQ, 1);
        put_beneath(x, t, HOT_BENEATH, in, &r->sum);
    }
}

static void put_path(struct sp_summary *x)
{
    struct sp_answer_table *t = sp_summary_table(x, &path, KEEP_PATH);
    struct sp_answer_table *in = sp_answer_detail(x->x.out, &path_in, t);
    for (size_t i = 0; t && i < x->fold.nsteps; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_table_row(x->x.out, t);
        sp_summary_put_function(x, t, STEP_FUNCTION, step->function);
        sp_put_int(t, STEP_TIMES, step->times);
        sp_put_int(t, STEP_TOTAL, step->total);
        put_beneath(x, t, STEP_BENEATH, in, &step->sum);
    }
}

/* ---- what only the brief had ---- */

static void put_cautions(struct sp_summary *x)
{
    struct sp_answer_table *t[] = {sp_summary_table(x, &warnings, 0), sp_summary_table(x, &unknowns, 0)};
    for (size_t i = 0; t[0] && t[1] && i < x->cautions.n; i++) {
        const struct sp_caution *c = &x->cautions.v[i];
        struct sp_answer_table *to = t[!c->title];
        sp_table_row(x->x.out, to);
        sp_summary_put_cstr(x, to, CAUTION_ID, c->id);
        sp_summary_put_cstr(x, to, CAUTION_STATEMENT, c->statement);
        if (!c->title)
            sp_summary_put_cstr(x, to, CAUTION_SETTLE, c->settle);
    }
}

static void put_own(struct sp_summary *x)
{
    struct sp_answer_table *t = sp_summary_table(x, &own, KEEP_OWN);
    char handle[32];
    if (!sp_chains_tell(&x->x.s))
        sp_table_without(t, OWN_AT_MOST);
    for (size_t i = 0; t && i < x->calls.n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[x->calls.row[i]];
        size_t caller = sp_own_caller(&x->calls, i, x->calls.n);
        sp_table_row(x->x.out, t);
        sp_put_function(&x->x, t, OWN_FUNCTION, r->function);
        sp_put_int(t, OWN_WEIGHT, r->sum.weight);
        sp_put_int(t, OWN_SELF, r->self);
        sp_put_int(t, OWN_TOTAL, r->total);
        sp_put_int(t, OWN_AT_MOST, r->at_most);
        sp_buf_clear(&x->x.b);
        sp_summary_place(&x->x.b, x, r->function);
        sp_put_buf(x->x.out, t, OWN_PLACE, &x->x.b);
        if (caller != SIZE_MAX)
            sp_put_text(x->x.out, t, OWN_CALLER, handle,
                        sp_handle_text(&x->x.handles, x->fold.rows.v[x->calls.row[caller]].function, handle));
    }
}

void sp_summary_put(struct sp_summary *x)
{
    put_head(x);
    sp_summary_hang_put(x);
    put_cautions(x);
    put_all_shares(x);
    put_hot(x);
    put_own(x);
    put_path(x);
    sp_summary_memory_put(x);
    sp_findings_put(&x->x, &x->names, &x->findings, SP_SUMMARY_FINDINGS, KEEP_FOUND);
}
