/*
 * annotate --diff BASE: the lines of a function in two versions side by side. Weights are shares of each
 * side's own whole.
 */
#include "ask/annotate_diff.h"
#include "ask/symbol_options.h"

#include <stdlib.h>

static const char *const change_names[] = {"same", "changed", "added", "removed", "unknown"};
static const char *const change_marks[] = {" ", "~", "+", "-", "?"};

enum {
    BASE_SELF,
    SELF = 2,
    BASE_TOTAL = 4,
    TOTAL = 6,
    BASE_SAMPLES = 8,
    SAMPLES,
    BASE_FILE,
    FILE_,
    BASE_LINE,
    LINE,
    CHANGE,
    MARK,
    TEXT,
    BASE_TEXT,
    NCOLUMNS
};
static const struct sp_answer_column diff_columns[] = {
    [BASE_SELF] = {"base_self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "of the line in the base"},
    {"base_self_percent", SP_COL_PERCENT, "base self%", "base_self", .doc = "of the base's whole"},
    [SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "of the line in the new version"},
    {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "of its whole"},
    [BASE_TOTAL] = {"base_total", SP_COL_WEIGHT, .flags = SP_COL_CSV,
                    .doc = "likewise, of stacks through it"},
    {"base_total_percent", SP_COL_PERCENT, "base total%", "base_total", .doc = "of the base's whole"},
    [TOTAL] = {"total", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "likewise, in the new version"},
    {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "of its whole"},
    [BASE_SAMPLES] = {"base_samples", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "samples of base_self"},
    [SAMPLES] = {"samples", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "samples of self"},
    [BASE_FILE] = {"base_file", SP_COL_TEXT, .doc = "as the base's compiler was told; null: not in it"},
    [FILE_] = {"file", SP_COL_TEXT, .doc = "as the new version's was; null: not in it"},
    [BASE_LINE] = {"base_line", SP_COL_COUNT, "base", .flags = SP_COL_STAYS,
                   .doc = "its number there; null: it is not in the base"},
    [LINE] = {"line", SP_COL_COUNT, "line", .flags = SP_COL_STAYS,
              .doc = "its number; null: it is not in the new version"},
    [CHANGE] =
        {"change", SP_COL_TEXT, .flags = SP_COL_CSV,
         .doc = "same, changed, added, removed; unknown: paired by number, for want of a text, or by what "
                "the profile carries of it"},
    [MARK] = {"mark", SP_COL_TEXT, "", .flags = SP_COL_NO_JSON, .doc = "the same in a sign"},
    [TEXT] = {"text", SP_COL_TEXT, "source", .flags = SP_COL_FLEXIBLE,
              .doc = "what stands there; of removed lines in the base; null: not known"},
    [BASE_TEXT] = {"base_text", SP_COL_TEXT, .doc = "of changed lines: what stood there"},
};
const struct sp_table_decl sp_annotate_compared = {
    "compared", diff_columns, NCOLUMNS, .noun = "lines",
    .doc = "--diff: lines of both versions, in order, the heaviest "
           "and those around them"};

/* ---- the base ---- */

static spaa_status diff_select(struct sp_annotate_diff *d)
{
    const struct sp_selection *s = &d->x->asked.s;
    struct sp_str event = sp_pstr(s->profile, s->profile->events.v[s->event].name);
    struct sp_select_opts o;
    if (!sp_ask_select_opts(d->x->asked.q, &o))
        return SPAA_ERR_USAGE;
    uint32_t same = sp_event_find(d->profile, event.p, event.n);
    if (!o.event && same != SP_NONE)
        o.event_number = &same;
    spaa_status st = sp_select(d->profile, &o, d->x->asked.q->diags, &d->base.asked.s);
    d->has_selection = !st;
    return st;
}

/* The base's sources: where they were recorded; only what is not there is looked for where the new ones are.
 */
static spaa_status diff_sources(struct sp_annotate_diff *d)
{
    const struct sp_options *o = d->x->asked.q->options;
    struct sp_source_opts how = {o->base_paths.v, o->base_paths.n, o->symfs, o->source_gate};
    spaa_status st = sp_annotate_sources(&d->base, &how, d->x->asked.q->diags);
    if (o->base_paths.n)
        return st;
    how = (struct sp_source_opts){o->source_paths.v, o->source_paths.n, o->symfs, o->source_gate};
    for (size_t g = 0; !st && o->source_paths.n && g < d->base.texts.n; g++)
        if (!d->base.texts.v[g].from && d->base.a.files.v[g].file.n)
            st = sp_source_read(&d->base.a.files.v[g], &how, d->x->asked.q->diags, &d->base.texts.v[g]);
    return st;
}

static spaa_status diff_open(struct sp_annotate_diff *d)
{
    struct sp_ask *q = d->x->asked.q;
    struct sp_symbol_opts symbols = sp_symbol_options(q->options);
    if (!q->open_base)
        return sp_usage(q->diags, NULL, "--diff is for the command line");
    spaa_status st = q->open_base(q->open_base_arg, q->options->annotate_base, &d->profile);
    sp_diags_source(q->diags, q->options->annotate_base, NULL);
    if (!st)
        st = sp_lookup_functions(d->profile, q->argument, q->diags, &d->base.lookup);
    d->has_lookup = !st;
    if (!st)
        st = diff_select(d);
    if (!st)
        st = sp_annotate(&d->base.asked.s, &d->base.lookup, &symbols, q->diags, &d->base.a);
    if (!st)
        st = diff_sources(d);
    d->base.asked.q = q;
    d->base.limit = d->x->limit;
    d->base.context = d->x->context;
    if (!st && q->options->whole)
        st = sp_annotate_choose(&d->base);
    sp_diags_source(q->diags, NULL, NULL);
    return st;
}

static void diff_close(struct sp_annotate_diff *d)
{
    sp_vec_free(&d->rows);
    for (size_t i = 0; i < d->base.texts.n; i++)
        sp_source_free(&d->base.texts.v[i]);
    sp_vec_free(&d->base.texts);
    sp_vec_free(&d->base.ranges);
    sp_vec_free(&d->base.missing);
    sp_annotation_free(&d->base.a);
    if (d->has_selection)
        sp_selection_free(&d->base.asked.s);
    if (d->has_lookup)
        sp_function_lookup_free(&d->base.lookup);
    sp_profile_free(d->profile);
}

/* ---- which are shown ---- */

static double share(const struct sp_annotated_line *l, const struct sp_selection *s)
{
    return l && s->whole ? (double)l->total / (double)s->whole : 0;
}

static int by_share(const void *va, const void *vb, void *arg)
{
    const struct sp_annotate_diff *d = arg;
    const struct sp_line_pair *x = &d->rows.v[*(const size_t *)va], *y = &d->rows.v[*(const size_t *)vb];
    double a = share(x->base, &d->base.asked.s) + share(x->now, &d->x->asked.s);
    double b = share(y->base, &d->base.asked.s) + share(y->now, &d->x->asked.s);
    if (a > b || a < b)
        return a > b ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool same_files(const struct sp_line_pair *a, const struct sp_line_pair *b)
{
    return a->base_file == b->base_file && a->file == b->file;
}

static bool is_next(const struct sp_annotate *x, uint32_t file, uint32_t before, uint32_t line)
{
    return !before || !line || line == before + 1 || !x->texts.v[file].numbers;
}

/* Whether nothing is missing between a row and the one before it: of profiles that carry some lines only. */
static bool goes_on(const struct sp_annotate_diff *d, size_t i)
{
    const struct sp_line_pair *before = &d->rows.v[i - 1], *r = &d->rows.v[i];
    return !same_files(before, r) || (is_next(&d->base, r->base_file, before->base_line, r->base_line) &&
                                      is_next(d->x, r->file, before->line, r->line));
}

static void show_around(struct sp_annotate_diff *d, size_t at)
{
    size_t around = d->x->asked.q->options->whole ? 0 : (size_t)d->x->context;
    size_t first = at, last = at;
    while (first && at - first < around && goes_on(d, first))
        first--;
    while (last + 1 < d->rows.n && last - at < around && goes_on(d, last + 1))
        last++;
    for (size_t i = first; i <= last; i++)
        d->rows.v[i].shown |= same_files(&d->rows.v[i], &d->rows.v[at]);
}

static bool in_ranges(const struct sp_annotate *x, uint32_t file, uint32_t line)
{
    for (size_t i = 0; line && i < x->ranges.n; i++)
        if (x->ranges.v[i].file == file && line >= x->ranges.v[i].first && line <= x->ranges.v[i].last)
            return true;
    return false;
}

/* --whole: all from the first to the last line that the function has in either version, by file. */
static void show_spans(struct sp_annotate_diff *d)
{
    for (size_t from = 0, to; from < d->rows.n; from = to) {
        size_t first = SIZE_MAX, last = 0;
        for (to = from; to < d->rows.n && same_files(&d->rows.v[from], &d->rows.v[to]); to++)
            if (d->rows.v[to].base || d->rows.v[to].now ||
                in_ranges(&d->base, d->rows.v[to].base_file, d->rows.v[to].base_line) ||
                in_ranges(d->x, d->rows.v[to].file, d->rows.v[to].line)) {
                first = first == SIZE_MAX ? to : first;
                last = to;
            }
        for (size_t i = first; first != SIZE_MAX && i <= last; i++)
            d->rows.v[i].shown = true;
    }
}

static spaa_status diff_choose(struct sp_annotate_diff *d)
{
    size_t *order = malloc((d->rows.n + 1) * sizeof *order), n = 0;
    size_t limit = d->x->asked.q->options->whole ? SIZE_MAX : d->x->limit;
    if (!order)
        return sp_nomem(d->x->asked.q->diags);
    for (size_t i = 0; i < d->rows.n; i++)
        if (d->rows.v[i].base || d->rows.v[i].now)
            order[n++] = i;
    if (n)
        qsort_r(order, n, sizeof *order, by_share, d);
    for (size_t i = 0; i < n && i < limit; i++, d->chosen++)
        show_around(d, order[i]);
    if (d->x->asked.q->options->whole)
        show_spans(d);
    free(order);
    return SPAA_OK;
}

/* ---- the answer ---- */

static void say_side(struct sp_annotate_diff *d, const char *before, const struct sp_annotate *x)
{
    struct sp_buf *b = &d->x->asked.b;
    sp_buf_puts(b, before);
    sp_buf_puts(b, "self ");
    sp_text_weight_of(b, &x->asked.s, x->a.self);
    sp_buf_puts(b, ", total ");
    sp_text_weight_of(b, &x->asked.s, x->a.total);
}

static void say_renamed(struct sp_annotate_diff *d)
{
    struct sp_answer *a = d->x->asked.out;
    if (d->renamed == SP_NONE)
        return;
    struct sp_str is = d->x->a.files.v[d->renamed].file, was = d->base.a.files.v[d->renamed_base].file;
    sp_fact_str(a, "diff.file", is);
    sp_fact_str(a, "diff.base_file", was);
    sp_answer_line(a, "%.*s is %.*s in the base: the function's lines are there", (int)is.n, is.p, (int)was.n,
                   was.p);
}

static void diff_say(struct sp_annotate_diff *d, uint32_t measure)
{
    struct sp_answer *a = d->x->asked.out;
    const char *name = d->x->asked.q->options->annotate_base;
    struct sp_buf *b = &d->x->asked.b;
    sp_fact_cstr(a, "diff.base", name);
    sp_fact_weight(a, "diff.base_self", measure, d->base.a.self);
    sp_fact_percent(a, "diff.base_self_percent", measure, d->base.a.self);
    sp_fact_weight(a, "diff.base_total", measure, d->base.a.total);
    sp_fact_percent(a, "diff.base_total_percent", measure, d->base.a.total);
    sp_fact_weight(a, "diff.base_no_line_total", measure, d->base.a.unlined_total);
    sp_fact_weight(a, "diff.base_inferred", measure, d->base.a.inferred);
    sp_fact_count(a, "diff.base_samples", d->base.a.samples);
    sp_fact_bool(a, "diff.by_number", d->by_number);
    sp_fact_bool(a, "diff.one_text", d->one_text);
    sp_fact_bool(a, "diff.partial", d->partial);
    sp_fact_bool(a, "diff.cut", d->cut);
    sp_fact_count(a, "diff.lines_with_weight", (int64_t)d->known);
    sp_fact_count(a, "diff.lines_shown", (int64_t)d->chosen);
    sp_buf_clear(b);
    sp_buf_printf(b, "against %s: ", name);
    say_side(d, "", &d->base);
    sp_answer_line_buf(a, b);
    sp_annotate_say_inferred(a, b, "base: ", &d->base);
    for (size_t g = 0; g < d->base.texts.n; g++)
        sp_annotate_say_source(d->x, "base: ", &d->base.a.files.v[g], &d->base.texts.v[g]);
    say_renamed(d);
    if (d->one_text)
        sp_answer_line(a,
                       "! one file was read as the source of two builds: of one at most it can be what was "
                       "compiled (--base-source-path says where the base's is)");
    if (d->by_number)
        sp_answer_line(
            a, "! lines marked ? are paired by their numbers, which move between versions: the text of both "
               "as compiled is not here (--source-path, --base-source-path)");
    if (d->partial)
        sp_answer_line(
            a,
            "! of a file that the profile carries in part, lines marked ? are paired among what is there, or "
            "stand alone: lines like them may be missing");
    if (d->cut)
        sp_answer_line(
            a, "! the files differ too much to be compared to the end: lines may stand as removed and added");
    if (d->chosen < d->known)
        sp_answer_line(a, "the heaviest %zu of %zu lines with weight; -n N shows others, --whole all",
                       d->chosen, d->known);
}

static void put_text(struct sp_annotate_diff *d, struct sp_answer_table *t, size_t column, struct sp_str s)
{
    if (s.p)
        sp_annotate_put_source(d->x, t, column, s);
}

/* People see no zeros where neither version has weight. */
static void diff_put_weights(struct sp_annotate_diff *d, struct sp_answer_table *t,
                             const struct sp_line_pair *r)
{
    const struct sp_annotated_line none = {0}, *was = r->base ? r->base : &none,
                                   *is = r->now ? r->now : &none;
    if (d->x->asked.q->brief && !r->base && !r->now)
        return;
    if (r->base_line) {
        sp_put_int(t, BASE_SELF, was->self);
        sp_put_int(t, BASE_TOTAL, was->total);
        sp_put_int(t, BASE_SAMPLES, was->samples);
    }
    if (r->line) {
        sp_put_int(t, SELF, is->self);
        sp_put_int(t, TOTAL, is->total);
        sp_put_int(t, SAMPLES, is->samples);
    }
}

static void diff_put(struct sp_annotate_diff *d, struct sp_answer_table *t, const struct sp_line_pair *r)
{
    struct sp_answer *out = d->x->asked.out;
    struct sp_str was = {NULL, 0}, is = {NULL, 0};
    sp_table_row(out, t);
    diff_put_weights(d, t, r);
    if (r->base_line) {
        sp_put_str(out, t, BASE_FILE, d->base.a.files.v[r->base_file].file);
        sp_put_int(t, BASE_LINE, r->base_line);
        if (r->change != SP_LINE_UNKNOWN || sp_annotate_text_known(&d->base, r->base_file))
            was = sp_source_line(&d->base.texts.v[r->base_file], r->base_line);
    }
    if (r->line) {
        sp_put_str(out, t, FILE_, d->x->a.files.v[r->file].file);
        sp_put_int(t, LINE, r->line);
        if (r->change != SP_LINE_UNKNOWN || sp_annotate_text_known(d->x, r->file))
            is = sp_source_line(&d->x->texts.v[r->file], r->line);
    }
    sp_put_text(out, t, CHANGE, change_names[r->change], strlen(change_names[r->change]));
    sp_put_text(out, t, MARK, change_marks[r->change], 1);
    put_text(d, t, TEXT, is.p ? is : was);
    if (r->change == SP_LINE_CHANGED)
        put_text(d, t, BASE_TEXT, was);
}

static void diff_put_all(struct sp_annotate_diff *d, uint32_t measure)
{
    struct sp_answer_table *t = sp_answer_table(d->x->asked.out, &sp_annotate_compared);
    if (!t)
        return;
    t->limit = SIZE_MAX;
    t->fixed = d->x->asked.q->brief;
    t->keep = 1;
    t->measure.v[BASE_SELF] = t->measure.v[BASE_SELF + 1] = measure;
    t->measure.v[BASE_TOTAL] = t->measure.v[BASE_TOTAL + 1] = measure;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < d->rows.n; i++) {
        if (!d->rows.v[i].shown)
            continue;
        if (d->x->asked.q->brief && last != SIZE_MAX && (last + 1 != i || !goes_on(d, i))) {
            sp_table_row(d->x->asked.out, t);
            sp_put_text(d->x->asked.out, t, TEXT, "⋮", strlen("⋮"));
        }
        diff_put(d, t, &d->rows.v[i]);
        last = i;
    }
}

spaa_status sp_annotate_diff(struct sp_annotate *x)
{
    struct sp_annotate_diff d = {.x = x};
    spaa_status st = SPAA_OK;
    if (x->asked.q->options->assembly)
        st = sp_usage(x->asked.q->diags, "leave out --asm", "--diff is of lines, not of instructions");
    if (!st)
        st = diff_open(&d);
    if (!st)
        st = sp_annotate_diff_pair(&d);
    if (!st)
        st = diff_choose(&d);
    if (!st) {
        struct sp_measure m = sp_measure_of(&d.base.asked.s);
        uint32_t measure = sp_answer_measure(x->asked.out, &m);
        diff_say(&d, measure);
        diff_put_all(&d, measure);
    }
    diff_close(&d);
    return st;
}
