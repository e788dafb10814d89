/* The table of leaks of several dumps: what is there for programs, and what people are shown. */
#include "ask/leaks_series.h"

#include "analysis/leak_series.h"
#include "analysis/short_name.h"
#include "model/identity.h"

#include <math.h>

/* ---- columns ---- */

enum {
    GROWTH,
    GROWTH_SD,
    RATE,
    RATE_LOW,
    RATE_HIGH,
    RATE_WORDS,
    FIRST,
    LAST,
    SPARK,
    KIND,
    CHANCE,
    ALLOCATED,
    KEPT,
    BEYOND,
    FUNCTION,
    LINE = FUNCTION + SP_FUNCTION_NCOLUMNS,
    SRCLINE,
    THROUGH,
    CALLERS,
    CALLERS_PERCENT,
    CALLERS_OTHERS,
    FOR,
    STACK,
};
static const struct sp_answer_column growth_columns[] = {
    [GROWTH] = {"growth", SP_COL_WEIGHT, "growth", .flags = SP_COL_OMITTED, .doc = "last less first"},
    [GROWTH_SD] = {"growth_sd", SP_COL_NUMBER,
                   .doc = "its standard deviation, by what sampling makes unsure; 0: exact"},
    [RATE] = {"rate", SP_COL_NUMBER,
              .doc = "growth per second or dump (series.rate_per): the median of the slopes of all pairs; "
                     "null: not of one process, or in no order"},
    [RATE_LOW] = {"rate_low", SP_COL_NUMBER, .flags = SP_COL_CSV,
                  .doc =
                      "from where, at 95 %: rows are sorted by it; null: of two exact values nothing says"},
    [RATE_HIGH] = {"rate_high", SP_COL_NUMBER, .flags = SP_COL_CSV, .doc = "up to where"},
    [RATE_WORDS] = {"rate_words", SP_COL_TEXT, "rate", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                    .doc = "these in words"},
    [FIRST] = {"first", SP_COL_WEIGHT, "first", .flags = SP_COL_SPARE, .doc = "in the first dump"},
    [LAST] = {"last", SP_COL_WEIGHT, "last", .doc = "in the last dump"},
    [SPARK] = {"dumps", SP_COL_TEXT, "dumps", .flags = SP_COL_NO_JSON | SP_COL_SPARE,
               .doc = "a block character for each dump"},
    [KIND] =
        {"kind", SP_COL_TEXT, "kind",
         .doc =
             "only grows, grows, up each time (chance would do that, too), may grow (more dumps would tell), "
             "slows down, grew once, new (in the last dump alone), varies, noise (of sampling), level, "
             "shrinks; of two: grew; not "
             "known: "
             "not of one process, or in no order; "
             "null: the files are of a run each, nothing grows between them"},
    [CHANCE] = {"chance", SP_COL_NUMBER,
                .doc = "how probable such an order is where nothing grows; null: it was not asked"},
    [ALLOCATED] = {"allocated", SP_COL_WEIGHT, .doc = "bytes allocated from the first dump to the last"},
    [KEPT] = {"kept_percent", SP_COL_NUMBER, "% kept",
              .doc = "of the blocks allocated between the dumps so much more is live; null: not known"},
    [BEYOND] = {"beyond_time", SP_COL_WEIGHT,
                .doc = "of two profiles with durations: growth that the longer one's time does not explain"},
    SP_FUNCTION_COLUMNS(FUNCTION, "function", NULL),
    [LINE] = {"line", SP_COL_TEXT, "line", .flags = SP_COL_NO_JSON, .doc = "that without its folders"},
    [SRCLINE] = {"srcline", SP_COL_TEXT, .flags = SP_COL_CSV,
                 .doc = "file:line where it asks along its heaviest stack, in the last dump"},
    [THROUGH] = {"through", SP_COL_NAME, "through", .flags = SP_COL_FLEXIBLE | SP_COL_SPARE,
                 .doc = "the function of a library that it asked there; null: none"},
    [CALLERS] = {"own_callers", SP_COL_TEXTS,
                 .doc = "the program's own functions above it, nearest first, along the way most of its "
                        "growth goes"},
    [CALLERS_PERCENT] = {"own_callers_percent", SP_COL_NUMBER,
                         .doc = "how much of what its ways gained goes that way; null: there are none"},
    [CALLERS_OTHERS] = {"own_callers_others", SP_COL_COUNT,
                        .doc = "own functions that call it nearest, beside the first: it may be a wrapper"},
    [FOR] = {"for", SP_COL_TEXT, "grew for", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
             .doc = "the nearest in words, where several ask it: how much of the growth is its"},
    [STACK] = {"stack", SP_COL_TEXT, .flags = SP_COL_FLEXIBLE | SP_COL_SOMETIMES,
               .doc = "with --by stack: the functions, that nearest to the memory first"},
};
const struct sp_table_decl sp_series_growth = {
    "by_growth", growth_columns, sizeof growth_columns / sizeof *growth_columns,
    .doc = "of several files: own functions that asked for memory, or what --by says, by the rate they "
           "grow at least"};

enum { VALUE_DUMP, VALUE, VALUE_SD, VALUE_ALLOCATED };
static const struct sp_answer_column value_columns[] = {
    [VALUE_DUMP] = {"dump", SP_COL_COUNT, .doc = "1, 2, … as in dumps"},
    [VALUE] = {"value", SP_COL_WEIGHT, .doc = "the metric that ranks rows"},
    [VALUE_SD] = {"sd", SP_COL_NUMBER, .doc = "its standard deviation, where it is an estimate"},
    [VALUE_ALLOCATED] = {"alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated up to then"},
};
const struct sp_table_decl sp_series_values = {"values", value_columns,
                                               sizeof value_columns / sizeof *value_columns,
                                               .of = "by_growth", .doc = "the same in each dump"};

/* ---- rows ---- */

struct sp_str sp_growth_name(const struct sp_growth *x, const struct sp_growth_row *r)
{
    static const char none[] = "[no stack]";
    uint32_t name = x->s.h.owners.v[r->owner].name;
    return name ? sp_str_at(&x->s.h.strs, name) : (struct sp_str){none, sizeof none - 1};
}

struct sp_str sp_growth_line(const struct sp_growth *x, const struct sp_growth_row *r)
{
    return r->line ? sp_pstr(x->s.last, r->line) : (struct sp_str){0};
}

static void put_number(struct sp_answer_table *t, size_t column, double v)
{
    if (isfinite(v))
        sp_put_real(t, column, v);
}

/* Of one that a single function asks its own name says enough. */
static bool callers_tell(const struct sp_growth *x, const struct sp_growth_row *r)
{
    return r->callers.n && r->g.growth > 0 && (r->callers.others || x->s.h.by == SP_HEAP_BY_OWNER);
}

/* "copy_request 60 %": the nearest, and how much of what its ways gained is its. */
static void nearest_text(const struct sp_growth *x, const struct sp_heap_callers *c, struct sp_buf *b)
{
    struct sp_str name = sp_str_at(&x->s.h.strs, c->name[0]);
    double percent = c->whole > 0 ? 100 * c->nearest / c->whole : 0;
    sp_short_name(b, name.p, name.n, SP_SHORTEST);
    if (percent < 99.95)
        sp_buf_printf(b, percent >= 99.5 ? " %.1f %%" : " %.0f %%", percent);
}

void sp_growth_say_callers(const struct sp_growth *x, const struct sp_growth_row *r, struct sp_buf *b)
{
    if (!callers_tell(x, r))
        return;
    sp_buf_puts(b, " < ");
    nearest_text(x, &r->callers, b);
}

static void put_callers(struct sp_growth *x, struct sp_answer_table *t, const struct sp_growth_row *r)
{
    const struct sp_heap_callers *c = &r->callers;
    struct sp_value_text names[SP_LEAK_CALLERS];
    struct sp_buf *b = &x->s.x.b;
    for (unsigned i = 0; i < c->n; i++) {
        struct sp_str name = sp_str_at(&x->s.h.strs, c->name[i]);
        names[i] = (struct sp_value_text){name.p, name.n};
    }
    sp_put_texts(x->s.out, t, CALLERS, names, c->n);
    if (c->n && c->whole > 0)
        sp_put_scaled(t, CALLERS_PERCENT, llround(100 * (100 * c->weight / c->whole)), 2);
    sp_put_int(t, CALLERS_OTHERS, c->others);
    sp_buf_clear(b);
    if (callers_tell(x, r))
        nearest_text(x, c, b);
    sp_put_buf(x->s.out, t, FOR, b);
}

static void put_line(struct sp_growth *x, struct sp_answer_table *t, const struct sp_growth_row *r)
{
    struct sp_str line = sp_growth_line(x, r);
    sp_put_str(x->s.out, t, SRCLINE, line);
    sp_put_str(x->s.out, t, LINE, sp_base_name(line));
}

static void put_function(struct sp_growth *x, struct sp_answer_table *t, const struct sp_growth_row *r)
{
    struct sp_answer *a = x->s.out;
    const struct sp_heap_owner *o = &x->s.h.owners.v[r->owner];
    struct sp_str name = sp_growth_name(x, r), dso = sp_str_at(&x->s.h.strs, o->dso);
    if (r->function != SP_NONE) {
        sp_put_function(&x->s.x, t, FUNCTION, r->function);
    } else { /* the last dump has none of it */
        sp_put_text(a, t, FUNCTION + SP_FUNCTION_NAME, name.p, name.n);
        sp_put_str(a, t, FUNCTION + SP_FUNCTION_DSO, dso);
    }
    if (r->through != SP_NONE) {
        struct sp_str through = sp_pstr(x->s.last, x->s.last->functions.v[r->through].name);
        sp_put_str(a, t, THROUGH, through);
    }
    if (x->s.h.by == SP_HEAP_BY_STACK)
        sp_put_str(a, t, STACK, sp_str_at(&x->s.h.strs, o->path));
    put_line(x, t, r);
    put_callers(x, t, r);
}

/* Of two profiles: what would be live by now if the first one's grew evenly from nothing. */
static int64_t beyond_time(const struct sp_growth *x, int64_t first, int64_t last)
{
    const struct sp_heap_series *h = &x->s.h;
    const struct sp_heap_dump *a = &h->dumps.v[0], *b = &h->dumps.v[h->dumps.n - 1];
    if (h->dumps.n != 2 || a->duration_ns <= 0 || b->duration_ns <= 0)
        return SP_ABSENT;
    double v = (double)last - (double)first * ((double)b->duration_ns / (double)a->duration_ns);
    return fabs(v) < 9e18 ? (int64_t)llround(v) : SP_ABSENT;
}

static void put_values(struct sp_growth *x, struct sp_answer_table *t, const struct sp_growth_row *r)
{
    for (size_t i = 0; i < x->s.h.dumps.n; i++) {
        const struct sp_heap_sums *w = sp_heap_at(&x->s.h, r->owner, i);
        sp_table_row(x->s.out, t);
        sp_put_int(t, VALUE_DUMP, (int64_t)i + 1);
        sp_put_int(t, VALUE, sp_heap_value(w, x->s.rank));
        sp_put_real(t, VALUE_SD, w ? sqrt(w->var[x->s.rank]) : 0);
        sp_put_int(t, VALUE_ALLOCATED, w ? w->v[SP_LEAK_ALLOC_BYTES] : SP_ABSENT);
    }
}

static void put_row(struct sp_growth *x, struct sp_answer_table *t, struct sp_answer_table *values,
                    const struct sp_growth_row *r)
{
    struct sp_answer *a = x->s.out;
    struct sp_buf *b = &x->s.x.b;
    const char *kind = sp_leak_trend_names[r->g.trend];
    sp_table_row(a, t);
    sp_put_int(t, GROWTH, llround(r->g.growth));
    put_number(t, GROWTH_SD, r->g.sd);
    bool rated = !x->s.runs && !sp_series_withheld(&x->s);
    put_number(t, RATE, rated ? r->g.rate : NAN);
    put_number(t, RATE_LOW, rated && r->g.interval ? r->g.lo : NAN);
    put_number(t, RATE_HIGH, rated && r->g.interval ? r->g.hi : NAN);
    sp_buf_clear(b);
    sp_series_rate(b, &x->s, &r->g);
    sp_put_buf(a, t, RATE_WORDS, b);
    sp_put_int(t, FIRST, r->first);
    sp_put_int(t, LAST, r->last);
    sp_series_sparkline(b, &x->s.h, r->owner, x->s.rank);
    sp_put_buf(a, t, SPARK, b);
    if (!x->s.runs)
        sp_put_text(a, t, KIND, kind, strlen(kind));
    put_number(t, CHANCE, x->s.runs ? NAN : r->g.chance);
    sp_put_int(t, ALLOCATED, sp_series_allocated(&x->s, r->owner));
    if (isfinite(r->g.kept) && !x->s.runs)
        sp_put_scaled(t, KEPT, llround(r->g.kept * 1000), 1);
    sp_put_int(t, BEYOND, beyond_time(x, r->first, r->last));
    put_function(x, t, r);
    put_values(x, values, r);
}

/* Columns that no row has something for are not shown. */
static void hide_empty(struct sp_growth *x, struct sp_answer_table *t)
{
    bool through = false, line = false, callers = false;
    for (size_t i = 0; i < x->rows.n; i++) {
        through = through || x->rows.v[i].through != SP_NONE;
        line = line || x->rows.v[i].line;
        callers = callers || callers_tell(x, &x->rows.v[i]);
    }
    if (!callers)
        sp_table_title(x->s.out, t, FOR, NULL);
    if (!through)
        sp_table_title(x->s.out, t, THROUGH, NULL);
    if (!line)
        sp_table_title(x->s.out, t, LINE, NULL);
}

static void titles(struct sp_growth *x, struct sp_answer_table *t)
{
    const struct sp_heap_series *h = &x->s.h;
    static const size_t ranked[] = {GROWTH, FIRST, LAST, BEYOND};
    for (size_t i = 0; i < sizeof ranked / sizeof *ranked; i++)
        t->measure.v[ranked[i]] = x->s.ranked;
    t->measure.v[ALLOCATED] = x->s.bytes;
    if (x->s.runs || sp_series_withheld(&x->s) ||
        (h->dumps.n == 2 && h->order != SP_HEAP_BY_TIME && x->s.whole.sd <= 0))
        sp_table_title(x->s.out, t, RATE_WORDS, NULL); /* it is the growth */
    if (h->dumps.n == 2)
        sp_table_title(x->s.out, t, SPARK, NULL);
    hide_empty(x, t);
    if (h->by == SP_HEAP_BY_STACK) {
        sp_table_title(x->s.out, t, STACK, "function < its callers");
        sp_table_title(x->s.out, t, FUNCTION + SP_FUNCTION_ID, NULL);
        sp_table_title(x->s.out, t, FUNCTION + SP_FUNCTION_NAME, NULL);
        sp_table_title(x->s.out, t, FUNCTION + SP_FUNCTION_MARKS, NULL);
        sp_table_title(x->s.out, t, THROUGH, NULL);
    } else {
        sp_table_without(t, STACK);
    }
    if (beyond_time(x, 0, 0) != SP_ABSENT)
        sp_table_title(x->s.out, t, BEYOND, "beyond time");
    if (x->s.runs)
        sp_table_title(x->s.out, t, KIND, NULL);
    if (x->s.runs || sp_series_withheld(&x->s) || !h->known[SP_LEAK_ALLOC_COUNT] ||
        !h->known[SP_LEAK_LIVE_COUNT])
        sp_table_title(x->s.out, t, KEPT, NULL);
}

/* For people who ask for no number: what grows, one row at least. */
static size_t rows_to_show(const struct sp_growth *x)
{
    enum { MOST_ROWS = 10 };
    size_t n = 0;
    while (n < x->rows.n && n < MOST_ROWS &&
           (sp_leak_trend_is_up(x->rows.v[n].g.trend) || x->rows.v[n].g.growth > 0))
        n++;
    return n ? n : 1;
}

void sp_growth_put(struct sp_growth *x)
{
    struct sp_answer_table *t = sp_answer_table(x->s.out, &sp_series_growth),
                           *values = sp_answer_detail(x->s.out, &sp_series_values, t);
    if (!values)
        return;
    values->measure.v[VALUE] = x->s.ranked;
    values->measure.v[VALUE_ALLOCATED] = x->s.bytes;
    size_t some = x->s.q->brief && !x->s.q->options->limit ? rows_to_show(x) : SIZE_MAX;
    t->limit = x->limit < some ? x->limit : some;
    titles(x, t);
    for (size_t i = 0; i < x->rows.n; i++)
        put_row(x, t, values, &x->rows.v[i]);
}
