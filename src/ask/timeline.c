/* timeline: weight over time, and what was hot when. */
#include "ask/common.h"
#include "ask/next.h"
#include "ask/series.h"
#include "ask/timeline_explain.h"
#include "ask/timeline_hot.h"
#include "ask/timeline_memory.h"
#include "ask/timeline_steps.h"

#include "analysis/chains.h"
#include "analysis/timeline.h"
#include "base/num.h"
#include "model/callees.h"
#include "model/windows.h"

#include <stdio.h>

enum { BUCKETS = 20, BUCKETS_MAX = 100000, NS = 9, LINE = 60, WINDOWS = 512 };

enum { START, END, FROM, TO, WINDOW, WEIGHT, PERCENT, LEVEL, SAMPLES = LEVEL + SP_LEVEL_NCOLUMNS, NAMES };
static const struct sp_answer_column timeline_columns[] = {
    [START] = {"start", SP_COL_NUMBER, .flags = SP_COL_CSV, .doc = "seconds from the start of the profile"},
    [END] = {"end", SP_COL_NUMBER, .flags = SP_COL_CSV,
             .doc = "where it ends, likewise; that is not part of it"},
    [FROM] = {"from", SP_COL_NUMBER, "from s", .flags = SP_COL_NO_JSON,
              .doc = "start, as exact as rows differ"},
    [TO] = {"to", SP_COL_NUMBER, "to s", .flags = SP_COL_NO_JSON, .doc = "end likewise"},
    [WINDOW] = {"window", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "of windows: its id in SPAA"},
    [WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .doc = "what was recorded in this time"},
    [PERCENT] = {"percent", SP_COL_PERCENT, "%", "weight", .flags = SP_COL_SOMETIMES,
                 .doc = "its share of the whole; not where weights are changes, of which some are below 0"},
    SP_LEVEL_COLUMNS(LEVEL),
    [SAMPLES] = {"samples", SP_COL_COUNT, "samples",
                 .doc = "how many samples; null where they are not counted"},
    [NAMES] = {"names", SP_COL_TEXTS, "hot, by self weight", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
               .doc = "the functions of most self weight, each with its share of this time (for people: the "
                      "first, and others of "
                      "a tenth or more; ″: those of the row above); of changes, the "
                      "largest in the "
                      "direction of their sum, as weights"},
};
static const struct sp_table_decl timeline_rows = {
    "rows", timeline_columns, sizeof timeline_columns / sizeof *timeline_columns,
    .doc = "equal stretches of time in order, or the profile's windows"};

enum { HOT_FUNCTION, HOT_SELF = HOT_FUNCTION + SP_FUNCTION_NCOLUMNS, HOT_PERCENT };
static const struct sp_answer_column timeline_hot_columns[] = {
    SP_FUNCTION_COLUMNS(HOT_FUNCTION, NULL, NULL),
    [HOT_SELF] = {"self", SP_COL_WEIGHT, .doc = "its self weight in this time"},
    [HOT_PERCENT] = {"percent_of_bucket", SP_COL_NUMBER,
                     .doc = "that as a share of this time's weight; null where weights are changes"},
};
static const struct sp_table_decl timeline_hot = {
    "hot", timeline_hot_columns, sizeof timeline_hot_columns / sizeof *timeline_hot_columns, .of = "rows",
    .doc =
        "the functions of most self weight in this time, heaviest first; where that is below 0, those "
        "that took most away. Of time off the CPU `name` is what was waited for, and in which own function; "
        "of events with fields their values"};

static const struct sp_table_decl *const timeline_tables[] = {
    &timeline_rows,        &timeline_hot,    &sp_timeline_phases, &sp_timeline_stretches,
    &sp_timeline_accounts, &sp_series_dumps, &sp_series_changed,  NULL};
static const struct sp_answer_column timeline_facts[] = {
    {"from", SP_COL_TEXT, .doc = "what tells when: samples, windows, or steps of a timeline report"},
    SP_TIMELINE_STEPS_FACTS,
    {"time.profile_start", SP_COL_NUMBER, .doc = "seconds of the profile's clock; all others are from there"},
    {"time.start", SP_COL_NUMBER, .doc = "where the first row begins"},
    {"time.end", SP_COL_NUMBER, .doc = "where the last row ends"},
    {"time.untimed", SP_COL_COUNT, .doc = "samples without a time, which are in no row"},
    {"covered", SP_COL_WEIGHT, .doc = "weight of all rows"},
    {"covered_percent", SP_COL_PERCENT, .doc = "its share of the whole; null where weights are changes"},
    {"sparkline", SP_COL_TEXT, .doc = "a block character for each row, by its weight"},
    SP_LEVEL_FACTS,
    SP_TIMELINE_EXPLAIN_FACTS,
    SP_SERIES_FACTS,
    {0},
};

struct timeline {
    struct sp_asked *x;
    size_t buckets, limit;
    struct sp_sample_times times;
    struct sp_step_ranges steps; /* of reports that have them in place of samples: last is not 0 then */
    struct sp_timeline t;
    struct sp_timeline_hot hot;
    struct sp_timeline_memory memory; /* where it is on, t is its t, lent */
    struct sp_phases phases;
    bool looked; /* for phases */
};

/*
 * A block character for every so many buckets: the weight of the heaviest of them, as a part of the heaviest
 * of all; of memory the most that was live.
 */
static int64_t height_of(const struct timeline *x, size_t bucket)
{
    return x->memory.on && x->memory.l.of_level ? x->memory.l.list.v[bucket].most
                                                : x->t.buckets.v[bucket].weight;
}

static void sparkline(const struct timeline *x, size_t every, struct sp_buf *b)
{
    const struct sp_timeline *t = &x->t;
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int64_t most = 0;
    for (size_t i = 0; i < t->buckets.n; i++)
        most = height_of(x, i) > most ? height_of(x, i) : most;
    for (size_t i = 0; i < t->buckets.n; i += every) {
        int64_t v = height_of(x, i);
        for (size_t k = i + 1; k < t->buckets.n && k < i + every; k++)
            v = height_of(x, k) > v ? height_of(x, k) : v;
        if (v <= 0 || !most)
            sp_buf_ch(b, ' ');
        else
            sp_buf_puts(b, blocks[(size_t)(((__int128)v * 8 - 1) / most)]);
    }
}

static void put_window(struct timeline *x, struct sp_answer_table *t, const struct sp_window *w)
{
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    if (!sp_window_id(x->x->s.profile, w, b))
        x->x->out->failed = true;
    else if (w->id)
        sp_put_text(x->x->out, t, WINDOW, b->data ? b->data : "", b->len);
}

/* What most weight counts for in a bucket, beside its row. */
static void put_hot(struct timeline *x, struct sp_answer_table *t, const struct sp_bucket *y)
{
    bool adds = !x->x->s.cannot_add;
    for (size_t i = 0; i < y->nhot; i++) {
        const struct sp_hot *h = &x->t.hot.v[y->hot + i];
        sp_table_row(x->x->out, t);
        if (x->hot.kinds.list.n) {
            sp_buf_clear(&x->x->b);
            sp_timeline_hot_name(&x->hot, &x->x->b, h->what);
            sp_put_buf(x->x->out, t, HOT_FUNCTION + SP_FUNCTION_NAME, &x->x->b);
        } else {
            sp_put_function(x->x, t, HOT_FUNCTION, h->what);
        }
        sp_put_int(t, HOT_SELF, h->self);
        if (adds && y->weight && !x->t.changes)
            sp_put_scaled(t, HOT_PERCENT, (int64_t)sp_ratio(h->self, y->weight, 10000), 2);
    }
}

/* Seconds with the digits that tell the buckets apart: *unit is the last one's, in ns. */
static unsigned digits_of(const struct sp_timeline *t, int64_t *unit)
{
    int64_t width = INT64_MAX;
    for (size_t i = 0; i < t->buckets.n; i++) {
        int64_t w = t->buckets.v[i].hi - t->buckets.v[i].lo;
        width = w > 0 && w < width ? w : width;
    }
    unsigned digits = NS;
    for (*unit = 1; digits > 1 && width >= *unit * 100; *unit *= 10)
        digits--;
    return digits;
}

static void put_times(struct timeline *x, struct sp_answer_table *t, const struct sp_bucket *y)
{
    int64_t lo = y->lo - x->t.zero, hi = y->hi - x->t.zero, unit;
    unsigned digits = digits_of(&x->t, &unit);
    sp_put_scaled(t, START, lo, NS);
    sp_put_scaled(t, END, hi, NS);
    if (!x->x->q->brief)
        return;
    sp_put_scaled(t, FROM, (int64_t)sp_ratio(lo, unit, 1), digits);
    sp_put_scaled(t, TO, (int64_t)sp_ratio(hi, unit, 1), digits);
}

static void put_rows(struct timeline *x)
{
    struct sp_answer *a = x->x->out;
    struct sp_answer_table *t = sp_answer_table(a, &timeline_rows);
    struct sp_answer_table *hot = sp_answer_detail(a, &timeline_hot, t);
    if (t)
        t->limit = sp_asked_limit(x->x, x->limit);
    if (t && x->x->q->options->explain)
        t->quiet = true; /* the phases say it in fewer words */
    if (x->t.changes) {
        sp_table_without(t, PERCENT);
        sp_table_title(a, t, WEIGHT, x->memory.on && x->x->q->brief ? NULL : "change");
        sp_table_title(a, t, NAMES,
                       x->memory.on ? "changed most" : "changed most in that direction, by self weight");
    }
    sp_timeline_memory_columns(&x->memory, t, LEVEL);
    if (x->hot.kinds.list.n)
        sp_table_title(a, t, NAMES, sp_is_off_cpu(&x->x->s) ? "waited, most first" : "most, first");
    if (x->memory.on && t)
        t->columns.v[SAMPLES].title = NULL;
    if (!x->x->q->brief) {
        sp_table_without(t, FROM);
        sp_table_without(t, TO);
    }
    for (size_t i = 0; i < x->t.buckets.n; i++) {
        const struct sp_bucket *y = &x->t.buckets.v[i];
        sp_table_row(a, t);
        put_times(x, t, y);
        if (y->window != SP_NONE)
            put_window(x, t, &x->x->s.profile->windows.v[y->window]);
        sp_put_int(t, WEIGHT, y->weight);
        sp_put_int(t, SAMPLES, y->samples);
        sp_timeline_memory_row(&x->memory, t, LEVEL, i);
        sp_timeline_hot_put(&x->hot, t, NAMES, y);
        put_hot(x, hot, y);
    }
}

static void put_facts(struct timeline *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_timeline *t = &x->t;
    struct sp_buf *b = &x->x->b;
    sp_fact_cstr(a, "from", x->steps.last ? "steps" : x->times.rows && !x->memory.on ? "samples" : "windows");
    if (x->steps.last)
        sp_timeline_steps_facts(x->x, &x->steps, t);
    sp_fact_scaled(a, "time.profile_start", t->zero, NS);
    sp_fact_scaled(a, "time.start", t->start - t->zero, NS);
    sp_fact_scaled(a, "time.end", t->end - t->zero, NS);
    sp_fact_count(a, "time.untimed", (int64_t)x->times.untimed);
    sp_fact_weight(a, "covered", 0, t->covered);
    if (t->changes)
        sp_fact_null(a, "covered_percent");
    else
        sp_fact_percent(a, "covered_percent", 0, t->covered);
    sp_buf_clear(b);
    sparkline(x, 1, b);
    a->failed |= b->failed;
    sp_fact_text(a, "sparkline", sp_buf_text(b), b->len);
    sp_timeline_memory_facts(&x->memory);
}

/* Self weight is exact where callers are missing, too: only phases go by totals. */
static void say_heading(struct timeline *x)
{
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    sp_heading_text(b, &x->x->s);
    sp_answer_line_buf(x->x->out, b);
    if (!x->x->q->brief)
        sp_bounds_report(&x->x->s, x->x->q->diags);
    else if (x->x->q->options->explain && sp_chains_tell(&x->x->s))
        sp_answer_line(x->x->out,
                       "callers are missing: shares of functions are at least what they say, self is exact");
}

static void say_all(struct timeline *x)
{
    const struct sp_selection *s = &x->x->s;
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    sp_buf_puts(b, "|");
    sparkline(x, (x->t.buckets.n + LINE - 1) / LINE, b);
    sp_buf_printf(b, "| %zu %s, ", x->t.buckets.n,
                  x->times.rows || x->memory.on || x->steps.last ? "buckets" : "windows");
    if (x->memory.on && x->memory.l.of_level) {
        sp_buf_puts(b, "the most that was live in each");
    } else if (x->t.changes) {
        sp_buf_puts(b, "each with what changed in it: above 0 it grew, below 0 it shrank");
    } else {
        sp_buf_puts(b, "covering ");
        sp_text_share_of(b, s, x->t.covered);
        sp_buf_puts(b, "% of the weight");
    }
    sp_answer_line_buf(x->x->out, b);
    if (x->steps.last)
        sp_timeline_steps_say(x->x, &x->steps, &x->t);
}

static void say_next(struct timeline *x, const char *question, const char *tail)
{
    const struct sp_ask *q = x->x->q;
    const struct sp_next next = {.question = question, .tail = tail};
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    sp_buf_puts(b, "next: ");
    sp_command_text(b, &next, q->names, q->nnames, q->options, sp_next_groups(next.question));
    sp_answer_line_of(x->x->out, SP_LINE_PLAIN, b);
}

/* What stood out most: the functions of the heaviest bucket. */
static void put_next(struct timeline *x)
{
    const struct sp_bucket *best = NULL;
    char from[64], to[64], tail[160];
    if (x->phases.list.n) {
        sp_answer_next(x->x->out, "timeline", NULL,
                       "--explain"); /* what differs from the rest is to be told */
        say_next(x, "timeline", "--explain");
        return;
    }
    if (x->memory.on) {
        sp_timeline_memory_next(&x->memory);
        return;
    }
    for (size_t i = 0; i < x->t.buckets.n; i++)
        if (!best || x->t.buckets.v[i].weight > best->weight)
            best = &x->t.buckets.v[i];
    if (!best || x->x->q->options->time || x->steps.last)
        return;
    sp_scaled_text((__int128)best->lo - x->t.zero, NS, from);
    sp_scaled_text((__int128)best->hi - x->t.zero, NS, to);
    snprintf(tail, sizeof tail, "--time %s..%s", from, to);
    sp_answer_next(x->x->out, sp_is_off_cpu(&x->x->s) ? "waits" : "top", NULL, tail);
    if (sp_is_off_cpu(&x->x->s))
        say_next(x, "waits", tail);
}

/* ---- the question ---- */

static spaa_status timeline_of_memory(struct timeline *x, size_t buckets)
{
    spaa_status st = sp_timeline_memory_begin(&x->memory, x->x, buckets, SP_TIMELINE_HOT);
    if (!st)
        x->t = x->memory.l.t;
    return st;
}

static spaa_status timeline_begin(struct timeline *x, struct sp_ask *q, struct sp_answer *out)
{
    long buckets;
    if (!sp_option_number(q->diags, "buckets", q->options->buckets, 1, BUCKETS_MAX, BUCKETS, &buckets) ||
        !sp_ask_limit(q, SIZE_MAX, &x->limit))
        return SPAA_ERR_USAGE;
    struct sp_select_opts how;
    bool steps;
    spaa_status st = sp_timeline_steps_find(q, &x->steps, &steps);
    if (!st && !steps)
        st = sp_sample_times_of(q->profiles[0], q->diags, &x->times);
    if (!st && !sp_ask_select_opts(q, &how))
        st = SPAA_ERR_USAGE;
    bool memory = !st && sp_timeline_memory_wanted(q, &how);
    if (!st)
        st = sp_asked_select(q, &how, out, x->x);
    if (!st && (!q->brief || q->options->own_re || q->options->explain))
        st = sp_asked_own(x->x);
    if (!st && steps)
        return sp_timeline_of_steps(&x->x->s, &x->steps, (size_t)buckets, SP_TIMELINE_HOT, q->diags, &x->t);
    if (!st && memory)
        return timeline_of_memory(x, (size_t)buckets);
    if (!st)
        st = sp_timeline_memory_refused(x->x, &x->times);
    if (!st)
        st = sp_timeline_hot_kinds(&x->hot);
    if (!st)
        st = sp_timeline_build(&x->x->s, &x->times, x->hot.kinds.list.n ? &x->hot.kinds : NULL,
                               (size_t)buckets, SP_TIMELINE_HOT, q->diags, &x->t);
    return st;
}

/* -o: the whole profile gets a window for each row. */
static spaa_status make_windows(struct timeline *x)
{
    struct sp_ask *q = x->x->q;
    if (x->x->s.filters.len)
        sp_emit(q->diags, SP_I616, SP_AT_NOTHING, " ");
    spaa_status st = sp_callees_join(q->profiles[0]); /* windows are of the records that are written */
    return st ? st : sp_timeline_windows(q->profiles[0], &x->times, &x->t, q->diags);
}

/* For --explain, and for people to be told that it pays. */
static spaa_status look_for_phases(struct timeline *x)
{
    struct sp_ask *q = x->x->q;
    if (q->options->explain && (!x->times.rows || x->x->s.cannot_add || x->t.changes))
        return sp_usage(q->diags, "ask the recording itself, or a file of `spaa convert --samples`",
                        "--explain needs samples with a time, whose weights add up");
    if (!q->options->explain && (!q->brief || !x->times.rows || x->x->s.cannot_add || x->t.changes ||
                                 x->memory.on || x->hot.kinds.list.n))
        return SPAA_OK;
    spaa_status st = sp_asked_own(x->x);
    x->looked = !st;
    return st ? st : sp_phases_of(&x->x->s, &x->x->own, &x->times, q->diags, &x->phases);
}

static spaa_status timeline_answer(struct timeline *x)
{
    struct sp_ask *q = x->x->q;
    if (q->options->output && !x->times.rows && !sp_is_svg(q->options->output)) {
        sp_emit_hint(q->diags, SP_E600, SP_AT_NOTHING, NULL,
                     "windows are made of samples, and there are none");
        return SPAA_ERR_USAGE;
    }
    if (q->options->output && sp_is_svg(q->options->output) && !(x->memory.on && x->memory.l.of_level))
        return sp_usage(q->diags, "spaa flamegraph draws what is hot; -o FILE.spaa writes windows",
                        "a picture of time is of what memory was live, which is not known here");
    spaa_status st = sp_timeline_hot_names(&x->hot);
    if (!st)
        st = look_for_phases(x);
    if (st)
        return st;
    size_t filters = x->x->s.filters.len;
    if (x->memory.on && q->options->time) /* which the selection was made without */
        sp_buf_printf(&x->x->s.filters, "%s--time %s", filters ? ", " : "", q->options->time);
    sp_asked_facts(x->x);
    x->x->s.filters.len = filters;
    put_facts(x);
    if (!st && q->options->explain)
        st = sp_timeline_say_phases(x->x, &x->phases, x->t.zero);
    say_heading(x);
    if (x->memory.on)
        sp_timeline_memory_say(&x->memory);
    if (!q->options->explain)
        say_all(x);
    put_rows(x);
    if (!q->options->explain)
        put_next(x);
    st = st ? st : sp_asked_end(x->x);
    return !st && q->options->output && !sp_is_svg(q->options->output) ? make_windows(x) : st;
}

static spaa_status timeline_ask(struct sp_ask *q, struct sp_answer *out)
{
    if (q->nprofiles > 1)
        return sp_timeline_series_ask(q, out);
    struct sp_asked asked = {0};
    struct timeline x = {.x = &asked};
    x.hot.x = &asked;
    x.hot.t = &x.t;
    spaa_status st = timeline_begin(&x, q, out);
    if (!st)
        st = timeline_answer(&x);
    sp_said_free(&x.hot.said);
    sp_stack_kinds_free(&x.hot.kinds);
    sp_phases_free(&x.phases);
    if (x.memory.on)
        sp_levels_free(&x.memory.l);
    else
        sp_timeline_free(&x.t);
    sp_sample_times_free(&x.times);
    sp_step_ranges_free(&x.steps);
    sp_asked_free(&asked);
    return st;
}

static spaa_status timeline_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    long buckets;
    out->samples = true;
    out->fields = !o->output;         /* windows are written of the profile's own stacks */
    if (!sp_timeline_of_samples(o)) { /* of memory more is known by windows */
        out->windows = WINDOWS;
        out->windows_do = true;
    }
    return sp_option_number(d, "buckets", o->buckets, 1, BUCKETS_MAX, BUCKETS, &buckets) ? SPAA_OK
                                                                                         : SPAA_ERR_USAGE;
}

const struct sp_question sp_question_timeline = {
    .name = "timeline",
    .args = "FILE [LATER…]",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_TIMELINE | G_ROWS | G_OWN | G_ANSWER |
              G_BUDGET | G_OUT,
    .title = "weight over time, and what was hot when",
    .examples = "spaa timeline perf.data --buckets 10\n"
                "spaa timeline perf.data --explain # what weighs more when, and which functions do\n"
                "spaa timeline perf.data -o windows.spaa # the profile with a window for each bucket",
    .apart = true,
    .writes = "spaa",
    .draws = true,
    .schema = "spaa.timeline/3",
    .facts = timeline_facts,
    .tables = timeline_tables,
    .needs = timeline_needs,
    .ask = timeline_ask,
};
