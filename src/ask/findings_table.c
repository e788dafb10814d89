/* The findings of an answer as a table, with what only some of them have as details. */
#include "ask/findings_table.h"

#include "analysis/interval.h"
#include "ask/function_at.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

/* ---- declarations ---- */

enum {
    FOUND_ID,
    FOUND_STATEMENT,
    FOUND_WEIGHT,
    FOUND_PERCENT,
    FOUND_COUNT,
    FOUND_METHOD,
    FOUND_FUNCTION,
    FOUND_THROUGH = FOUND_FUNCTION + SP_FUNCTION_NCOLUMNS,
    FOUND_FROM,
    FOUND_FROM_WEIGHT = FOUND_FROM + SP_FUNCTION_NCOLUMNS,
    FOUND_DEEPEST,
    FOUND_BY_NAME,
    FOUND_COMMAND,
    FOUND_TITLE,
    FOUND_SYSCALL,
    FOUND_LOW,
    FOUND_HIGH,
    FOUND_AT_LEAST,
    FOUND_CALLERS_MISSING,
    FOUND_KERNEL,
    FOUND_WAY,
    FOUND_LINE,
    FOUND_APART,
    FOUND_REPEATS,
    FOUND_FUNCTIONS,
    FOUND_BOUND,
    FOUND_BENEATH,
    FOUND_REMEDY,
    FOUND_CONFIRM,
    FOUND_PAGE,
};
static const struct sp_answer_column finding_columns[] = {
    [FOUND_ID] = {"id", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "of its kind: docs/findings.md"},
    [FOUND_STATEMENT] = {"statement", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "it in a sentence"},
    [FOUND_WEIGHT] = {"weight", SP_COL_WEIGHT, .flags = SP_COL_CSV,
                      .doc = "of the stacks that it is about; null: it is about counts"},
    [FOUND_PERCENT] = {"percent", SP_COL_NUMBER, .flags = SP_COL_CSV,
                       .doc = "the share that passes its threshold; null: it is no share"},
    [FOUND_COUNT] = {"count", SP_COL_COUNT, .flags = SP_COL_OPTIONAL, .doc = "what is counted instead"},
    [FOUND_METHOD] = {"method", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "of the intervals"},
    SP_FUNCTION_AT(FOUND_FUNCTION, "function.", "function", SP_COL_OPTIONAL),
    [FOUND_THROUGH] = {"function.weight", SP_COL_WEIGHT, .flags = SP_COL_OPTIONAL,
                       .doc = "of the stacks with this one, the heaviest of the kind"},
    SP_FUNCTION_AT(FOUND_FROM, "from.", "function", SP_COL_OPTIONAL),
    [FOUND_FROM_WEIGHT] = {"from.weight", SP_COL_WEIGHT, .flags = SP_COL_OPTIONAL,
                           .doc = "of what comes from this own function"},
    [FOUND_DEEPEST] = {"most_in_a_stack", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                       .doc = "of recursion: how often it stands in one stack, at most"},
    [FOUND_BY_NAME] = {"by_name_only", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                       .doc = "of recursion: nothing but names shows it"},
    [FOUND_COMMAND] = {"command", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "what shows more of it"},
    [FOUND_TITLE] = {"title", SP_COL_TEXT, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                     .doc = "of a rule: what it is, as a brief heads it"},
    [FOUND_SYSCALL] = {"syscall", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                       .doc = "which system call it is about"},
    [FOUND_LOW] = {"low", SP_COL_NUMBER, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                   .doc = "of a rule: the least that the share in percent is likely to be (Wilson, 95 %)"},
    [FOUND_HIGH] = {"high", SP_COL_NUMBER, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                    .doc = "the most, of what the recorded callers show"},
    [FOUND_AT_LEAST] = {"at_least", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                        .doc = "callers are missing: there may be more of it"},
    [FOUND_CALLERS_MISSING] = {"callers_missing", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                               .doc = "of a rule: from where it comes is known of a part alone"},
    [FOUND_KERNEL] = {"in_kernel", SP_COL_WEIGHT, .flags = SP_COL_OPTIONAL,
                      .doc = "of a rule's weight, where the leaf is the kernel's"},
    [FOUND_WAY] = {"way_weight", SP_COL_WEIGHT, .flags = SP_COL_OPTIONAL,
                   .doc = "of a rule's weight, what comes by the way that is told"},
    [FOUND_LINE] = {"line", SP_COL_TEXT, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                    .doc = "file:line where the last own function of the way calls it"},
    [FOUND_APART] = {"beginnings", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                     .doc = "of what is built: how often it began anew at least, by samples of one thread"},
    [FOUND_REPEATS] =
        {"repeats", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
         .doc = "of what is built: it is again and again for one function, all through the recording"},
    [FOUND_FUNCTIONS] = {"functions", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                         .doc = "of a debug build: functions that should be inlined and are not"},
    [FOUND_BOUND] = {"bound", SP_COL_NUMBER, .flags = SP_COL_OPTIONAL,
                     .doc = "without all of it the whole would be divided by this; null where callers are "
                            "missing, where its remedy cannot save all, and where counts are no time"},
    [FOUND_BENEATH] = {"beneath", SP_COL_TEXT, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                       .doc = "the finding that nine tenths of it or more are part of: not to be added"},
    [FOUND_REMEDY] = {"remedy", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "what helps"},
    [FOUND_CONFIRM] = {"confirm", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "what would confirm it"},
    [FOUND_PAGE] = {"page", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "where it is explained"},
};
enum { WAY_FUNCTION };
static const struct sp_answer_column finding_way_columns[] = {
    SP_FUNCTION_AT(WAY_FUNCTION, "", "function", 0),
};
enum { PART_WHAT, PART_WEIGHT, PART_PERCENT };
static const struct sp_answer_column finding_part_columns[] = {
    [PART_WHAT] = {"what", SP_COL_TEXT, .doc = "which part"},
    [PART_WEIGHT] = {"weight", SP_COL_WEIGHT,
                     .doc = "its weight; of what is built, that of using it is beside it"},
    [PART_PERCENT] = {"percent", SP_COL_PERCENT, .of = "weight", .doc = "its share of the whole"},
};
enum { RANGE_PERCENT, RANGE_LOW, RANGE_HIGH };
static const struct sp_answer_column finding_interval_columns[] = {
    [RANGE_PERCENT] = {"percent", SP_COL_NUMBER, .doc = "a share that is seen"},
    [RANGE_LOW] = {"low", SP_COL_NUMBER, .doc = "the least that it is likely to be"},
    [RANGE_HIGH] = {"high", SP_COL_NUMBER, .doc = "the most"},
};
enum { CALLER_FUNCTION, CALLER_WEIGHT = SP_FUNCTION_NCOLUMNS, CALLER_PERCENT };
static const struct sp_answer_column finding_caller_columns[] = {
    SP_FUNCTION_AT(CALLER_FUNCTION, "", "function", 0),
    [CALLER_WEIGHT] = {"weight", SP_COL_WEIGHT, .doc = "what it had to wait for with interrupts off"},
    [CALLER_PERCENT] = {"percent_of_finding", SP_COL_NUMBER, .doc = "its share of the finding's weight"},
};

#define TABLE(columns) columns, sizeof columns / sizeof *columns
const struct sp_table_decl sp_findings_table = {"findings", TABLE(finding_columns),
                                                .doc = "what looks wrong"};
const struct sp_table_decl sp_findings_ranges = {
    "intervals", TABLE(finding_interval_columns), .of = "findings",
    .doc = "of few samples: within what shares are likely to be"};
const struct sp_table_decl sp_findings_callers = {"callers", TABLE(finding_caller_columns), .of = "findings",
                                                  .doc = "of allowed interrupts: whose time it is"};

const struct sp_table_decl sp_findings_way = {
    "way", TABLE(finding_way_columns), .of = "findings",
    .doc = "of a rule: own functions on the heaviest way to it, callers first, then what the last one calls"};
const struct sp_table_decl sp_findings_parts = {"parts", TABLE(finding_part_columns), .of = "findings",
                                                .doc = "of a rule: of what it consists; parts may overlap"};

/* ---- rows ---- */

static void put_words(struct sp_asked *x, struct sp_answer_table *t, size_t column, const char *s)
{
    sp_put_text(x->out, t, column, s, s ? strlen(s) : 0);
}

static void put_ratio(struct sp_answer_table *t, size_t column, int64_t part, int64_t of)
{
    if (of)
        sp_put_scaled(t, column, (int64_t)sp_ratio(part, of, 10000), 2);
}

static void put_ranges(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    for (size_t i = 0; t && f->kind == SP_FIND_FEW && i < SP_FINDING_SHARES; i++) {
        double lo, hi;
        sp_share_interval(sp_finding_shares[i], f->part, &lo, &hi);
        sp_table_row(x->out, t);
        sp_put_scaled(t, RANGE_PERCENT, (int64_t)sp_finding_shares[i], 0);
        sp_put_scaled(t, RANGE_LOW, llround(lo * 10000), 4);
        sp_put_scaled(t, RANGE_HIGH, llround(hi * 10000), 4);
    }
}

static void put_callers(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    if (!t || f->kind != SP_FIND_IRQ)
        return;
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_table_row(x->out, t);
        sp_put_function(x, t, CALLER_FUNCTION, f->callers[i].function);
        sp_put_int(t, CALLER_WEIGHT, f->callers[i].weight);
        put_ratio(t, CALLER_PERCENT, f->callers[i].weight, f->weight);
    }
}

static void put_finding(struct sp_asked *x, const struct sp_said_names *n, struct sp_answer_table *t,
                        const struct sp_finding *f)
{
    struct sp_buf *b = &x->b;
    sp_table_row(x->out, t);
    put_words(x, t, FOUND_ID, sp_finding_infos[f->kind].id);
    sp_buf_clear(b);
    sp_finding_text(b, x, n, f);
    sp_put_buf(x->out, t, FOUND_STATEMENT, b);
    sp_put_int(t, FOUND_WEIGHT, f->weight);
    if (f->kind == SP_FIND_FEW)
        put_words(x, t, FOUND_METHOD, "Wilson, 95 %: samples taken as independent and of equal weight");
    else
        put_ratio(t, FOUND_PERCENT, f->part, f->of);
    if (f->weight == SP_ABSENT)
        sp_put_int(t, FOUND_COUNT, f->part);
    if (f->function != SP_NONE) {
        sp_put_function(x, t, FOUND_FUNCTION, f->function);
        sp_put_int(t, FOUND_THROUGH, f->through);
    }
    if (f->from != SP_NONE) {
        sp_put_function(x, t, FOUND_FROM, f->from);
        sp_put_int(t, FOUND_FROM_WEIGHT, f->from_weight);
    }
    if (f->deepest)
        sp_put_int(t, FOUND_DEEPEST, f->deepest);
    if (f->kind == SP_FIND_RECURSION)
        sp_put_int(t, FOUND_BY_NAME, f->by_name);
    sp_finding_command(b, x, f);
    sp_put_buf(x->out, t, FOUND_COMMAND, b);
}

static void put_line(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    if (!f->place.file.n)
        return;
    sp_buf_clear(&x->b);
    sp_buf_add(&x->b, f->place.file.p, f->place.file.n);
    sp_buf_printf(&x->b, ":%u", f->place.line);
    sp_put_buf(x->out, t, FOUND_LINE, &x->b);
}

static void put_rule_words(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    put_words(x, t, FOUND_REMEDY, f->remedy);
    put_words(x, t, FOUND_CONFIRM, f->confirm);
    sp_buf_clear(&x->b);
    sp_finding_title(&x->b, f);
    sp_put_buf(x->out, t, FOUND_TITLE, &x->b);
    sp_buf_printf(&x->b, "docs/findings.md#%s", sp_finding_infos[f->kind].id);
    sp_put_buf(x->out, t, FOUND_PAGE, &x->b);
}

static void put_rule(struct sp_asked *x, const struct sp_findings *all, struct sp_answer_table *t,
                     const struct sp_finding *f)
{
    bool built = f->kind == SP_FIND_REGEX || f->kind == SP_FIND_FORMAT;
    if (!sp_finding_is_rule(f->kind))
        return;
    put_rule_words(x, t, f);
    if (*f->what)
        put_words(x, t, FOUND_SYSCALL, f->what);
    if (f->has_interval) {
        sp_put_scaled(t, FOUND_LOW, llround(f->low * 100), 2);
        sp_put_scaled(t, FOUND_HIGH, llround(f->high * 100), 2);
    }
    sp_put_int(t, FOUND_AT_LEAST, f->at_least);
    sp_put_int(t, FOUND_CALLERS_MISSING, f->callers_missing);
    sp_put_int(t, FOUND_KERNEL, f->in_kernel);
    sp_put_int(t, FOUND_WAY, f->way);
    put_line(x, t, f);
    sp_put_int(t, FOUND_APART, built ? f->apart : SP_ABSENT);
    sp_put_int(t, FOUND_REPEATS, built ? f->repeats : SP_ABSENT);
    sp_put_int(t, FOUND_FUNCTIONS, f->kind == SP_FIND_DEBUG ? (int64_t)f->count : SP_ABSENT);
    double bound = sp_finding_bound(f);
    if (bound > 0)
        sp_put_scaled(t, FOUND_BOUND, llround(bound * 100), 2);
    if (f->beneath)
        put_words(x, t, FOUND_BENEATH, sp_finding_infos[all->list.v[f->beneath - 1].kind].id);
}

static void put_way(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    const uint32_t way[SP_FINDING_STEPS + 1] = {f->steps[0], f->steps[1], f->callee};
    for (size_t i = 0; t && sp_finding_is_rule(f->kind) && i < SP_FINDING_STEPS + 1; i++) {
        if (way[i] == SP_NONE)
            continue;
        sp_table_row(x->out, t);
        sp_put_function(x, t, WAY_FUNCTION, way[i]);
    }
}

static void put_parts(struct sp_asked *x, struct sp_answer_table *t, const struct sp_finding *f)
{
    for (size_t i = 1; t && i < SP_PARTS; i++) {
        if (f->parts[i] <= 0)
            continue;
        sp_table_row(x->out, t);
        put_words(x, t, PART_WHAT, sp_finding_part_words[i]);
        sp_put_int(t, PART_WEIGHT, f->parts[i]);
    }
}

struct sp_answer_table *sp_findings_put(struct sp_asked *x, const struct sp_said_names *n,
                                        const struct sp_findings *f, size_t most, unsigned keep)
{
    struct sp_answer_table *t = sp_answer_table(x->out, &sp_findings_table);
    struct sp_answer_table *ranges = sp_answer_detail(x->out, &sp_findings_ranges, t);
    struct sp_answer_table *callers = sp_answer_detail(x->out, &sp_findings_callers, t);
    struct sp_answer_table *way = sp_answer_detail(x->out, &sp_findings_way, t);
    struct sp_answer_table *parts = sp_answer_detail(x->out, &sp_findings_parts, t);
    if (!t)
        return NULL;
    t->quiet = true;
    t->keep = keep;
    t->fixed = !keep;
    t->left_out = f->list.n > most ? f->list.n - most : 0;
    for (size_t i = 0; i < f->list.n && i < most; i++) {
        put_finding(x, n, t, &f->list.v[i]);
        put_ranges(x, ranges, &f->list.v[i]);
        put_callers(x, callers, &f->list.v[i]);
        put_rule(x, f, t, &f->list.v[i]);
        put_way(x, way, &f->list.v[i]);
        put_parts(x, parts, &f->list.v[i]);
    }
    return t;
}
