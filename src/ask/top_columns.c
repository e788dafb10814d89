/* What an answer of top is made of. */
#include "ask/top.h"

#include "ask/ratios.h"

static const struct sp_answer_column top_columns[] = {
    [SP_TOP_SELF] = {"self", SP_COL_WEIGHT, "self", .flags = SP_COL_OMITTED,
                     .doc = "weight of stacks whose leaf it is"},
    [SP_TOP_SELF_PERCENT] = {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "self of whole"},
    [SP_TOP_TOTAL] = {"total", SP_COL_WEIGHT, "total",
                      .doc = "weight of stacks with it, each once; totals of rows overlap: never add"},
    [SP_TOP_TOTAL_PERCENT] = {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "total of whole"},
    [SP_TOP_AT_MOST] = {"total_at_most", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
                        .doc = "where callers are missing: what total may be; null: not known"},
    [SP_TOP_AT_MOST_PERCENT] = {"total_at_most_percent", SP_COL_PERCENT, "at most%", "total_at_most",
                                .flags = SP_COL_SOMETIMES, .doc = "likewise, of whole"},
    [SP_TOP_SAMPLES] = {"samples", SP_COL_COUNT, "samples", .doc = "samples of self; null: not counted"},
    [SP_TOP_TOTAL_SAMPLES] = {"total_samples", SP_COL_COUNT, .doc = "samples of total"},
    [SP_TOP_WHOLE] = {"whole", SP_COL_WEIGHT, "whole", .flags = SP_COL_SOMETIMES | SP_COL_SPARE,
                      .doc = "by event: of the event, before any filter"},
    [SP_TOP_METRIC] = {"metric", SP_COL_TEXT, "metric", .flags = SP_COL_SOMETIMES,
                       .doc = "by event: its metric"},
    [SP_TOP_UNIT] = {"unit", SP_COL_TEXT, "unit", .flags = SP_COL_SOMETIMES,
                     .doc = "by event: its unit; null: a count"},
    [SP_TOP_CPU_TIME] = {"cpu_time_ns", SP_COL_TIME, "cpu time", .flags = SP_COL_SOMETIMES,
                         .doc =
                             "by thread and process: CPU time as the profiler says, in ns; null: not said"},
    [SP_TOP_CYCLES] = {"cycles", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "likewise: cycles"},
    [SP_TOP_INSTRUCTIONS] = {"instructions", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
                             .doc = "likewise: instructions"},
    SP_FUNCTION_COLUMNS_OF(SP_TOP_ROW, "function", "dso", SP_COL_SOMETIMES),
    [SP_TOP_NAME] = {"name", SP_COL_TEXT, "name", .flags = SP_COL_FLEXIBLE,
                     .doc = "what the row is called: of lines and addresses, function and place"},
    [SP_TOP_MARKS] = {"marks", SP_COL_TEXT, "name", .flags = SP_COL_SUFFIX | SP_COL_NO_JSON,
                      .doc = "what is said of it behind its name"},
    [SP_TOP_KNOWN] = {"known_as", SP_COL_TEXT, "name", .flags = SP_COL_SUFFIX | SP_COL_NO_JSON,
                      .doc = "another name of it"},
    [SP_TOP_PID] = {"pid", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
                    .doc = "by thread and process: the process"},
    [SP_TOP_TID] = {"tid", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
                    .doc = "by thread: the thread; null: a pool"},
    [SP_TOP_THREAD_NAME] = {"thread_name", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
                            .doc = "by thread: its name as the profiler says"},
    [SP_TOP_QUEUE] = {"queue", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
                      .doc = "by thread: the queue that it served"},
    [SP_TOP_PROCESS_NAME] = {"process_name", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
                             .doc = "by process: its name"},
    SP_POOL_COLUMNS_OF(SP_TOP_POOL, SP_COL_SOMETIMES),
    SP_SOURCE_COLUMNS_OF(SP_TOP_PATH, SP_COL_SOMETIMES),
    [SP_TOP_TAGS] = {"tags", SP_COL_TEXTS, .flags = SP_COL_CSV,
                     .doc = "of: unresolved, idle, wait, kernel, inlined, irq-enable"},
};
const struct sp_table_decl sp_top_rows = {"rows", top_columns, SP_TOP_NCOLUMNS,
                                          .doc = "the heaviest first, by self or --sort"};

const struct sp_answer_column sp_top_facts[] = {
    {"sum.regex", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--sum: the expression"},
    {"sum.total", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "weight of stacks with a function that matches"},
    {"sum.total_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "its share of whole"},
    {"sum.samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "its samples"},
    {"matching.regex", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--rows: the expression"},
    {"counted", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "rows are of an event's fields, as nobody said by what: what they count, \"switches\""},
    {"matching.rows", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "how many rows match"},
    {"matching.of", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "how many there are"},
    {"with.event", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--with: the event of each other weight"},
    {"with.metric", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "its metric"},
    {"with.unit", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "its unit; null: a count"},
    {"with.whole", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "what its percentages are of"},
    SP_RATIO_FACTS,
    SP_RATIO_ROWS("rows"),
    {"rows.symbol", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--by several: the symbol of the row's function"},
    {"rows.line", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: function and line"},
    {"rows.address", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: function and address"},
    {"rows.thread", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the thread"},
    {"rows.process", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the process"},
    {"rows.comm", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the name of its threads"},
    {"rows.cpu", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the CPU"},
    {"rows.state", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the thread state"},
    {"rows.event", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the event"},
    {"rows.source", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--by several: the input"},
    {"rows.label:KEY", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--by several: the value of that label; [no KEY]: it has none"},
    {"rows.with.self", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "the row's self in that weight"},
    {"rows.with.self_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "likewise, of its whole"},
    {"rows.with.total", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "the row's total in that weight"},
    {"rows.with.total_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "likewise, of its whole"},
    {"rows.with.samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "samples of that self"},
    {"rows.with.total_samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "samples of that total"},
    {0},
};

static const struct sp_answer_column sum_columns[] = {
    [SP_TOP_SUM_REGEX] = {"sum.regex", SP_COL_TEXT, "regex", .doc = "--sum: the expression"},
    [SP_TOP_SUM_TOTAL] = {"sum.total", SP_COL_WEIGHT, "total", .doc = "weight of stacks with a match"},
    [SP_TOP_SUM_PERCENT] = {"sum.total_percent", SP_COL_PERCENT, "total%", "sum.total", .doc = "of whole"},
    [SP_TOP_SUM_SAMPLES] = {"sum.samples", SP_COL_COUNT, "samples", .doc = "its samples"},
};
const struct sp_table_decl sp_top_sums = {"sums", sum_columns, SP_TOP_SUM_NCOLUMNS, .joined = true,
                                          .doc = "the sum of --sum"};

const struct sp_table_decl *const sp_top_tables[] = {&sp_top_rows, &sp_top_sums, NULL};

void sp_top_without(struct sp_answer_table *t, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        sp_table_without(t, i);
}
