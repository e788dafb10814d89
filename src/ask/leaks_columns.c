/* The columns of leaks: what is there for programs, and what people are shown, by what ranks the rows. */
#include "ask/leaks_columns.h"
#include "ask/series.h"

/* ---- columns ---- */

#define GAINED_IN(n, word)                                                                                   \
    [SP_LEAKS_GAINED + n] = {"live_bytes_by_quarter." #n, SP_COL_COUNT,                                      \
                             .doc = "live bytes gained in the " word " quarter of the time"}

static const struct sp_answer_column leaks_columns[] = {
    [SP_LEAKS_RANK] = {"weight", SP_COL_WEIGHT, "weight", .flags = SP_COL_NO_JSON,
                       .doc = "the metric that ranks the rows"},
    [SP_LEAKS_PERCENT] = {"percent", SP_COL_PERCENT, "%", .doc = "share of the metric that ranks the rows"},
    [SP_LEAKS_NOW + SP_LEAK_LIVE_BYTES] = {"live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live"},
    [SP_LEAKS_NOW + SP_LEAK_LIVE_COUNT] = {"live_count", SP_COL_WEIGHT, .doc = "blocks that are live"},
    [SP_LEAKS_NOW + SP_LEAK_ALLOC_BYTES] = {"alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated"},
    [SP_LEAKS_NOW + SP_LEAK_ALLOC_COUNT] = {"alloc_count", SP_COL_WEIGHT, .doc = "calls that allocated"},
    [SP_LEAKS_NOW + SP_LEAK_FREE_BYTES] = {"free_bytes", SP_COL_WEIGHT, .doc = "bytes freed"},
    [SP_LEAKS_NOW + SP_LEAK_FREE_COUNT] = {"free_count", SP_COL_WEIGHT, .doc = "blocks freed"},
    [SP_LEAKS_NOW +
        SP_LEAK_TEMPORARY] = {"temporary_count", SP_COL_WEIGHT, .doc = "calls whose block was freed next"},
    [SP_LEAKS_NOW + SP_LEAK_PEAK_BYTES] = {"peak_bytes", SP_COL_WEIGHT, .doc = "bytes at the peak"},
    [SP_LEAKS_PER_SECOND] = {"calls_per_second", SP_COL_NUMBER,
                             .doc = "calls that allocated, by the time it was watched"},
    [SP_LEAKS_MEAN] = {"mean_bytes", SP_COL_WEIGHT, .doc = "bytes of a call that allocated, rounded"},
    [SP_LEAKS_TEMPORARY] = {"temporary_percent", SP_COL_NUMBER, .doc = "temporary calls of its calls"},
    [SP_LEAKS_LIVE_OF_ALLOC] = {"live_of_alloc_percent", SP_COL_NUMBER,
                                .doc = "live bytes of its allocated bytes"},
    [SP_LEAKS_REACH] =
        {"leak_kind", SP_COL_TEXT, "leak kind",
         .doc = "as the file says it: definite, indirect, possible, reachable; null: it does not"},
    [SP_LEAKS_KIND] = {"kind", SP_COL_TEXT, .flags = SP_COL_CSV,
                       .doc = "growing, never freed, partly freed, freed, …"},
    [SP_LEAKS_STATE] = {"state", SP_COL_TEXT, "state", .flags = SP_COL_NO_JSON,
                        .doc = "that in words, with how fast"},
    [SP_LEAKS_STATE_SHORT] = {"state_short", SP_COL_TEXT, .flags = SP_COL_NO_JSON,
                              .doc = "likewise, where names need the room"},
    [SP_LEAKS_NEVER_FREED] = {"never_freed", SP_COL_BOOL, .doc = "nothing of it was ever freed"},
    GAINED_IN(0, "first"),
    GAINED_IN(1, "second"),
    GAINED_IN(2, "third"),
    GAINED_IN(3, "last"),
    [SP_LEAKS_GROWTH] = {"growth.bytes_per_second", SP_COL_NUMBER,
                         .doc = "live bytes gained in the last three quarters, by their time"},
    [SP_LEAKS_DOUBT] = {"growth.doubt", SP_COL_NUMBER,
                        .doc =
                            "two standard errors of it, by how much windows differ; null: too few windows"},
    [SP_LEAKS_FLAT] = {"growth.flat_from_seconds", SP_COL_NUMBER,
                       .doc = "since the start: from then on live within 5 % of what it is at the end"},
    [SP_LEAKS_STACK] = {"stack", SP_COL_TEXT, "id", .doc = "id of its heaviest call stack"},
    [SP_LEAKS_PATH] = {"path", SP_COL_TEXTS, "allocated by < its callers",
                       .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
                       .doc = "the functions from the allocating one to the root"},
    SP_FUNCTION_COLUMNS(SP_LEAKS_FUNCTION, "function and line", "dso"),
    [SP_LEAKS_LINE] = {"srcline", SP_COL_TEXT, .flags = SP_COL_CSV,
                       .doc = "file:line in it that asked for most of it; of what grows, for most of that"},
    [SP_LEAKS_LINES_MORE] = {"lines_more", SP_COL_COUNT, .doc = "lines of it that are not in `lines`"},
    [SP_LEAKS_THROUGH] =
        {"asked_through", SP_COL_NAME, .flags = SP_COL_CSV,
         .doc = "what it called for most of it: a function of a library, a container; null: an allocator"},
    [SP_LEAKS_THROUGH_WORDS] = {"through_words", SP_COL_TEXT, "through",
                                .flags = SP_COL_FLEXIBLE | SP_COL_NO_JSON,
                                .doc = "that in short, and how many others there are"},
    [SP_LEAKS_THROUGH_MORE] = {"through_more", SP_COL_COUNT,
                               .doc = "such functions that are not in `through`"},
    [SP_LEAKS_CALLERS] =
        {"own_callers", SP_COL_TEXTS,
         .doc = "the program's own functions above it, nearest first, along the way most of it goes, or of a "
                "row that grows most of what it gained"},
    [SP_LEAKS_CALLERS_PERCENT] = {"own_callers_percent", SP_COL_NUMBER,
                                  .doc = "how much of the row goes that way; null: there are none"},
    [SP_LEAKS_CALLERS_OTHERS] =
        {"own_callers_others", SP_COL_COUNT,
         .doc = "own functions that call it nearest, beside the first: it may be a wrapper"},
    [SP_LEAKS_FOR] = {"for", SP_COL_TEXT, "called by", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
                      .doc = "these in words"},
    [SP_LEAKS_RECORDS] = {"records", SP_COL_COUNT, .doc = "call stacks in it"},
    [SP_LEAKS_SAMPLES] = {"samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
                          .doc =
                              "samples that its sums are estimated from; left out where nothing was sampled"},
    [SP_LEAKS_SKIPPED] =
        {"allocators_skipped", SP_COL_COUNT,
         .doc = "frames at the leaf of that call stack before the owner: allocators, containers"},
};
const struct sp_table_decl sp_leaks_rows = {
    "rows", leaks_columns, sizeof leaks_columns / sizeof *leaks_columns,
    .doc = "the program's functions that asked for memory, or with --by owners or call stacks; by the metric "
           "that ranks them, where the file says how reachable it is, what is lost first",
    .noun = "functions"};

static const struct sp_answer_column leaks_frame_columns[] = {
    [SP_LEAKS_FRAME_FUNCTION] = {"function", SP_COL_NAME, .doc = "its name"},
    [SP_LEAKS_FRAME_DSO] = {"dso", SP_COL_NAME, .doc = "the binary it is in"},
    [SP_LEAKS_FRAME_LINE] = {"srcline", SP_COL_TEXT, .doc = "file:line"},
    [SP_LEAKS_FRAME_OWNER] = {"owner", SP_COL_BOOL,
                              .doc = "it asked for the memory: all before it handed it out"},
};
const struct sp_table_decl sp_leaks_frames = {
    "frames", leaks_frame_columns, sizeof leaks_frame_columns / sizeof *leaks_frame_columns, .of = "rows",
    .doc = "the frames of that call stack as recorded, leaf first"};

#define PART_SUM_COLUMNS                                                                                     \
    [SP_LEAKS_PART_SUMS] = {"live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live"},                      \
    [SP_LEAKS_PART_SUMS + 1] = {"live_count", SP_COL_WEIGHT, .doc = "blocks that are live"},                 \
    [SP_LEAKS_PART_SUMS + 2] = {"alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated"},                     \
    [SP_LEAKS_PART_SUMS + 3] = {"alloc_count", SP_COL_WEIGHT, .doc = "calls that allocated"},                \
    [SP_LEAKS_PART_SUMS + 4] = {"temporary_count", SP_COL_WEIGHT,                                            \
                                .doc = "calls whose block was freed next"},                                  \
    [SP_LEAKS_PART_NEVER] = {"never_freed", SP_COL_BOOL, .doc = "nothing of it was ever freed"}
static const struct sp_answer_column leaks_line_columns[] = {
    [SP_LEAKS_PART_NAME] = {"srcline", SP_COL_TEXT, .doc = "file:line; null: not known"},
    PART_SUM_COLUMNS,
    [SP_LEAKS_PART_GROWTH] =
        {"bytes_per_second", SP_COL_NUMBER,
         .doc = "live bytes gained in the last three quarters, by their time; null: not known"},
};
const struct sp_table_decl sp_leaks_lines = {
    "lines", leaks_line_columns, sizeof leaks_line_columns / sizeof *leaks_line_columns, .of = "rows",
    .doc = "the lines of the function that asked, the first being the row's: at most 8"};
static const struct sp_answer_column leaks_through_columns[] = {
    [SP_LEAKS_PART_NAME] = {"function", SP_COL_NAME, .doc = "its name; null: it asked an allocator"},
    PART_SUM_COLUMNS,
};
const struct sp_table_decl sp_leaks_through = {
    "through", leaks_through_columns, sizeof leaks_through_columns / sizeof *leaks_through_columns,
    .of = "rows", .doc = "what the function called for memory, the heaviest first: at most 8"};

const struct sp_table_decl *const sp_leaks_tables[] = {
    &sp_leaks_rows,   &sp_leaks_lines,    &sp_leaks_through,
    &sp_leaks_frames, &sp_series_growth,  &sp_series_values,
    &sp_series_dumps, &sp_series_changed, NULL};

/* ---- what people are shown ---- */

static const char *rank_title(enum sp_leak_metric m)
{
    static const char *const titles[SP_LEAK_METRICS] = {"live",  "blocks", "allocated", "calls",
                                                        "freed", "frees",  "temporary", "at peak"};
    return titles[m];
}

static const char *share_title(enum sp_leak_metric m)
{
    static const char *const titles[SP_LEAK_METRICS] = {"of live",  "of blocks", "of allocated", "of calls",
                                                        "of freed", "of frees",  "of temporary", "of peak"};
    return titles[m];
}

/* Rows that are shown differ in it, or there is one: what is the same in all of them says little. */
static bool metric_tells(const struct sp_leaks_asked *x, enum sp_leak_metric m)
{
    for (size_t i = 0; i < x->l.rows.n && i < x->limit; i++)
        if (x->l.rows.v[i].now.v[m] != SP_ABSENT && x->l.rows.v[i].now.v[m] != 0)
            return true;
    return false;
}

static bool state_tells(const struct sp_leaks_asked *x)
{
    for (size_t i = 0; i < x->l.rows.n && i < x->limit; i++)
        if (x->l.rows.v[i].kind != SP_LEAK_HELD && x->l.rows.v[i].kind != SP_LEAK_UNKNOWN)
            return true;
    return false;
}

static void title_metric(const struct sp_leaks_asked *x, struct sp_answer_table *t, enum sp_leak_metric m)
{
    if (m != x->l.rank && metric_tells(x, m))
        t->columns.v[SP_LEAKS_NOW + m].title = rank_title(m);
}

static void titles_of_live(const struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    title_metric(x, t, SP_LEAK_LIVE_BYTES);
    title_metric(x, t, SP_LEAK_LIVE_COUNT);
    if (!state_tells(x))
        t->columns.v[SP_LEAKS_STATE].title = NULL;
}

static void titles_of_churn(const struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    bool of_temporary = x->l.rank == SP_LEAK_TEMPORARY;
    if (x->l.rank != SP_LEAK_PEAK_BYTES) {
        title_metric(x, t, SP_LEAK_ALLOC_BYTES);
        title_metric(x, t, SP_LEAK_ALLOC_COUNT);
        if (x->ns > 0 && x->l.has[SP_LEAK_ALLOC_COUNT])
            t->columns.v[SP_LEAKS_PER_SECOND].title = "calls/s";
        if (x->l.has[SP_LEAK_ALLOC_COUNT] && x->l.has[SP_LEAK_ALLOC_BYTES])
            t->columns.v[SP_LEAKS_MEAN].title = "mean";
        if (metric_tells(x, SP_LEAK_TEMPORARY))
            t->columns.v[SP_LEAKS_TEMPORARY].title = of_temporary ? "% of its calls" : "% temporary";
    }
    if (x->l.rank == SP_LEAK_PEAK_BYTES)
        title_metric(x, t, SP_LEAK_LIVE_BYTES);
    t->columns.v[SP_LEAKS_STATE].title = NULL;
}

static void titles_for_people(const struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    t->columns.v[SP_LEAKS_RANK].title = rank_title(x->l.rank);
    t->columns.v[SP_LEAKS_RANK].flags |= SP_COL_OMITTED;
    t->columns.v[SP_LEAKS_PERCENT].title = share_title(x->l.rank);
    if (sp_leaks_of_live(&x->l))
        titles_of_live(x, t);
    else
        titles_of_churn(x, t);
    t->columns.v[SP_LEAKS_FUNCTION + SP_FUNCTION_DSO].title = NULL; /* which says less than the line */
    if (!x->l.told)
        t->columns.v[SP_LEAKS_REACH].title = NULL;
}

/* In CSV columns are called what JSON calls them. */
static void titles_for_sheets(const struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    sp_table_without(t, SP_LEAKS_RANK);
    sp_table_without(t, SP_LEAKS_STATE);
    sp_table_without(t, SP_LEAKS_STATE_SHORT);
    sp_table_without(t, SP_LEAKS_FOR);
    sp_table_without(t, SP_LEAKS_FUNCTION + SP_FUNCTION_MARKS);
    sp_table_without(t, SP_LEAKS_THROUGH_WORDS);
    t->columns.v[SP_LEAKS_NOW + x->l.rank].flags |= SP_COL_OMITTED;
    for (size_t m = 0; m < SP_LEAK_METRICS; m++)
        if (x->l.has[m])
            t->columns.v[SP_LEAKS_NOW + m].title = leaks_columns[SP_LEAKS_NOW + m].name;
    for (size_t i = 0; i < t->columns.n; i++)
        if (t->columns.v[i].title)
            t->columns.v[i].title = t->columns.v[i].name; /* which says bytes or blocks */
}

void sp_leaks_titles(const struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    for (size_t m = 0; m < SP_LEAK_METRICS; m++)
        t->measure.v[SP_LEAKS_NOW + m] = sp_leak_is_bytes((int)m) ? x->bytes : x->count;
    t->measure.v[SP_LEAKS_PERCENT] = t->measure.v[SP_LEAKS_RANK] = t->measure.v[SP_LEAKS_NOW + x->l.rank] =
        x->rank;
    t->measure.v[SP_LEAKS_MEAN] = x->bytes;
    if (x->x->s.whole_samples == SP_ABSENT)
        sp_table_without(t, SP_LEAKS_SAMPLES);
    if (x->x->q->brief)
        titles_for_people(x, t);
    else
        titles_for_sheets(x, t);
    for (size_t i = SP_LEAKS_FUNCTION;
         x->by == SP_LEAKS_BY_STACK && i < SP_LEAKS_FUNCTION + SP_FUNCTION_NCOLUMNS; i++) {
        t->columns.v[i].title = NULL;
        t->columns.v[i].flags &= ~(unsigned)SP_COL_CSV;
    }
    if (x->by == SP_LEAKS_BY_STACK) {
        t->noun = "call stacks";
        t->columns.v[SP_LEAKS_THROUGH_WORDS].title = t->columns.v[SP_LEAKS_FOR].title =
            NULL; /* the path has them */
    } else {
        t->columns.v[SP_LEAKS_STACK].title = t->columns.v[SP_LEAKS_PATH].title = NULL;
    }
}
