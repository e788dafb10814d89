/*
 * annotate --diff BASE: the lines of a function in two versions side by side, matched by their text.
 *
 * What a line is called by, its number, moves between versions. Where the text of a side is not known, or the
 * file that was found is newer than the binary, lines are the same by number, and the answer says that this
 * is a guess. Weights are shares of each side's own whole.
 */
#include "analysis/line_match.h"
#include "ask/annotate.h"
#include "ask/symbol_options.h"
#include "model/identity.h"

#include <stdlib.h>
#include <sys/stat.h>

enum change { SAME, CHANGED, ADDED, REMOVED, BY_NUMBER };
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
    [CHANGE] = {"change", SP_COL_TEXT, .flags = SP_COL_CSV,
                .doc =
                    "same, changed, added, removed; unknown: paired by number, for want of a text, or alone, "
                    "for want of that around it"},
    [MARK] = {"mark", SP_COL_TEXT, "", .flags = SP_COL_NO_JSON, .doc = "the same in a sign"},
    [TEXT] = {"text", SP_COL_TEXT, "source", .flags = SP_COL_FLEXIBLE,
              .doc = "what stands there; of removed lines in the base; null: not known"},
    [BASE_TEXT] = {"base_text", SP_COL_TEXT, .doc = "of changed lines: what stood there"},
};
const struct sp_table_decl sp_annotate_compared = {
    "compared", diff_columns, NCOLUMNS, .noun = "lines",
    .doc = "--diff: lines of both versions, in order, the heaviest "
           "and those around them"};

/* A line of either version or both. */
struct row {
    uint32_t base_file, file; /* SP_NONE: in none */
    uint32_t base_line, line; /* 0: in none */
    enum change change;
    bool shown;
    const struct sp_annotated_line *base, *now; /* weights; NULL */
};

struct diff {
    struct sp_annotate *x; /* the new version */
    struct sp_profile *profile;
    struct sp_annotate base;
    bool has_lookup, has_selection;
    SP_VEC(struct row) rows;
    bool by_number, one_text, cut;
    bool apart; /* lines of which the profile does not carry what is around them */
    size_t known, chosen;
};

static spaa_status diff_nomem(struct diff *d)
{
    return sp_nomem(d->x->asked.q->diags);
}

/* ---- the base ---- */

static spaa_status diff_select(struct diff *d)
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
static spaa_status diff_sources(struct diff *d)
{
    const struct sp_options *o = d->x->asked.q->options;
    struct sp_source_opts how = {o->base_paths.v, o->base_paths.n, o->symfs};
    spaa_status st = sp_annotate_sources(&d->base, &how, d->x->asked.q->diags);
    if (o->base_paths.n)
        return st;
    how = (struct sp_source_opts){o->source_paths.v, o->source_paths.n, o->symfs};
    for (size_t g = 0; !st && o->source_paths.n && g < d->base.texts.n; g++)
        if (!d->base.texts.v[g].from && d->base.a.files.v[g].file.n)
            st = sp_source_read(&d->base.a.files.v[g], &how, d->x->asked.q->diags, &d->base.texts.v[g]);
    return st;
}

static spaa_status diff_open(struct diff *d)
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

static void diff_close(struct diff *d)
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

/* ---- pairs of lines ---- */

static spaa_status diff_add(struct diff *d, uint32_t base_file, uint32_t base_line, uint32_t file,
                            uint32_t line, enum change change)
{
    struct row r = {base_file, file, base_line, line, change, false, NULL, NULL};
    r.base = base_line ? sp_annotate_line(&d->base, base_file, base_line) : NULL;
    r.now = line ? sp_annotate_line(d->x, file, line) : NULL;
    d->known += r.base || r.now;
    return sp_vec_push(&d->rows, r) ? SPAA_OK : diff_nomem(d);
}

/* The text of a file as it was compiled, as far as that can be known. */
static bool is_known(const struct sp_annotate *x, uint32_t file)
{
    const struct sp_source_text *t = &x->texts.v[file];
    return t->from && !t->newer && !t->undated;
}

static bool same_build(const struct sp_module *a, const struct sp_module *b)
{
    const char *x = a ? sp_module_build_id(a) : NULL, *y = b ? sp_module_build_id(b) : NULL;
    return x && y && *x && strcmp(x, y) == 0;
}

/*
 * One file, found for two builds where they do not say that it was: of one of them at most it is the text. At
 * the path that both recorded, and older than both, it is what both were compiled from.
 */
static bool is_one_text(const struct diff *d, uint32_t g, uint32_t f)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    struct stat a, b;
    bool given = was->from == SP_SOURCE_GIVEN || is->from == SP_SOURCE_GIVEN;
    if (!given || same_build(d->base.a.files.v[g].module, d->x->a.files.v[f].module))
        return false;
    return was->found && is->found && !stat(was->found, &a) && !stat(is->found, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The next line of a file that has weight; 0: none. */
static uint32_t next_line(const struct sp_annotate *x, uint32_t file, uint32_t behind)
{
    for (size_t i = 0; file != SP_NONE && i < x->a.lines.n; i++)
        if (x->a.lines.v[i].file == file && x->a.lines.v[i].line > behind)
            return x->a.lines.v[i].line;
    return 0;
}

/* What stands between two lines that are the same: from..to of those that each text has. */
struct gap {
    size_t base_from, base_to, from, to;
};

/* Number of a line of those that are there; behind the last one, as there is no other. */
static uint32_t number_at(const struct sp_source_text *t, size_t i)
{
    uint32_t line = t->total + 1;
    if (i < t->lines.n)
        sp_source_held(t, i, &line);
    return line;
}

/* All lines of the file that stand there are there. */
static bool is_whole(const struct sp_source_text *t, size_t from, size_t to)
{
    uint32_t before = from ? number_at(t, from - 1) : 0;
    return !t->numbers || number_at(t, to) - before == to - from + 1;
}

/* What became of lines is not known where some are not there: those that have weight stand alone. */
static spaa_status diff_apart(struct diff *d, uint32_t g, uint32_t f, const struct gap *x)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    uint32_t line = x->base_from ? number_at(was, x->base_from - 1) : 0;
    spaa_status st = SPAA_OK;
    while (!st && (line = next_line(&d->base, g, line)) && line < number_at(was, x->base_to)) {
        st = diff_add(d, g, line, f, 0, BY_NUMBER);
        d->apart = true;
    }
    line = x->from ? number_at(is, x->from - 1) : 0;
    while (!st && (line = next_line(d->x, f, line)) && line < number_at(is, x->to)) {
        st = diff_add(d, g, 0, f, line, BY_NUMBER);
        d->apart = true;
    }
    return st;
}

/* Lines that are not the same: those that are alike, in order, are changed ones. */
static spaa_status diff_gap(struct diff *d, uint32_t g, uint32_t f, const struct gap *x)
{
    enum { LOOK = 64 }; /* so far on it is looked for what a line became */
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    spaa_status st = SPAA_OK;
    size_t from = x->from;
    if (!is_whole(was, x->base_from, x->base_to) || !is_whole(is, x->from, x->to))
        return diff_apart(d, g, f, x);
    for (size_t base = x->base_from; !st && base < x->base_to; base++) {
        uint32_t line, other;
        struct sp_str text = sp_source_held(was, base, &line);
        size_t at = from, end = x->to - from > LOOK ? from + LOOK : x->to;
        while (at < end && !sp_lines_alike(text, sp_source_held(is, at, &other)))
            at++;
        for (; !st && at < end && from < at; from++)
            st = diff_add(d, g, 0, f, number_at(is, from), ADDED);
        if (!st && at < end)
            st = diff_add(d, g, line, f, number_at(is, from++), CHANGED);
        else if (!st)
            st = diff_add(d, g, line, f, 0, REMOVED);
    }
    for (; !st && from < x->to; from++)
        st = diff_add(d, g, 0, f, number_at(is, from), ADDED);
    return st;
}

static spaa_status diff_by_text(struct diff *d, uint32_t g, uint32_t f)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    bool cut;
    uint32_t *pairs = sp_match_lines(was, is, &cut);
    struct gap x = {0, 0, 0, 0};
    spaa_status st = pairs ? SPAA_OK : diff_nomem(d);
    d->cut |= !st && cut;
    for (size_t k = 0; !st && k < is->lines.n; k++) {
        if (!pairs[k])
            continue;
        x.base_to = pairs[k] - 1;
        x.to = k;
        st = diff_gap(d, g, f, &x);
        if (!st)
            st = diff_add(d, g, number_at(was, x.base_to), f, number_at(is, k), SAME);
        x.base_from = x.base_to + 1;
        x.from = k + 1;
    }
    x.base_to = was->lines.n;
    x.to = is->lines.n;
    if (!st)
        st = diff_gap(d, g, f, &x);
    free(pairs);
    return st;
}

/* Lines with weight, of one number in both; a file that the other version has not (SP_NONE) is all new. */
static spaa_status diff_by_number(struct diff *d, uint32_t g, uint32_t f)
{
    spaa_status st = SPAA_OK;
    bool one = g == SP_NONE || f == SP_NONE;
    for (uint32_t n = 0; !st;) {
        uint32_t was = next_line(&d->base, g, n), is = next_line(d->x, f, n);
        if (!was && !is)
            break;
        n = !was || (is && is < was) ? is : was;
        st = one ? diff_add(d, g, g == SP_NONE ? 0 : n, f, f == SP_NONE ? 0 : n,
                            g == SP_NONE ? ADDED : REMOVED)
                 : diff_add(d, g, n, f, n, BY_NUMBER);
    }
    d->by_number |= !one && !st;
    return st;
}

/* The base's file that a file was: of its path, else the first of its name; SP_NONE. */
static uint32_t file_before(const struct diff *d, uint32_t f, const bool *used)
{
    struct sp_str want = d->x->a.files.v[f].file;
    uint32_t named = SP_NONE;
    for (uint32_t g = 0; g < d->base.a.files.n; g++) {
        struct sp_str has = d->base.a.files.v[g].file;
        if (used[g] || !has.n || !want.n)
            continue;
        if (sp_str_cmp(has, want) == 0)
            return g;
        if (named == SP_NONE && sp_str_cmp(sp_base_name(has), sp_base_name(want)) == 0)
            named = g;
    }
    return named;
}

static spaa_status diff_pair(struct diff *d)
{
    bool *used = calloc(d->base.a.files.n + 1, sizeof *used);
    spaa_status st = used ? SPAA_OK : diff_nomem(d);
    for (uint32_t f = 0; !st && f < d->x->a.files.n; f++) {
        uint32_t g = file_before(d, f, used);
        if (g != SP_NONE)
            used[g] = true;
        bool one = g != SP_NONE && is_one_text(d, g, f);
        bool text = g != SP_NONE && !one && is_known(&d->base, g) && is_known(d->x, f);
        d->one_text |= one;
        st = text ? diff_by_text(d, g, f) : diff_by_number(d, g, f);
    }
    for (uint32_t g = 0; !st && g < d->base.a.files.n; g++)
        if (!used[g])
            st = diff_by_number(d, g, SP_NONE);
    free(used);
    return st;
}

/* ---- which are shown ---- */

static double share(const struct sp_annotated_line *l, const struct sp_selection *s)
{
    return l && s->whole ? (double)l->total / (double)s->whole : 0;
}

static int by_share(const void *va, const void *vb, void *arg)
{
    const struct diff *d = arg;
    const struct row *x = &d->rows.v[*(const size_t *)va], *y = &d->rows.v[*(const size_t *)vb];
    double a = share(x->base, &d->base.asked.s) + share(x->now, &d->x->asked.s);
    double b = share(y->base, &d->base.asked.s) + share(y->now, &d->x->asked.s);
    if (a > b || a < b)
        return a > b ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool same_files(const struct row *a, const struct row *b)
{
    return a->base_file == b->base_file && a->file == b->file;
}

static bool is_next(const struct sp_annotate *x, uint32_t file, uint32_t before, uint32_t line)
{
    return !before || !line || line == before + 1 || !x->texts.v[file].numbers;
}

/* Whether nothing is missing between a row and the one before it: of profiles that carry some lines only. */
static bool goes_on(const struct diff *d, size_t i)
{
    const struct row *before = &d->rows.v[i - 1], *r = &d->rows.v[i];
    return !same_files(before, r) || (is_next(&d->base, r->base_file, before->base_line, r->base_line) &&
                                      is_next(d->x, r->file, before->line, r->line));
}

static void show_around(struct diff *d, size_t at)
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
static void show_spans(struct diff *d)
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

static spaa_status diff_choose(struct diff *d)
{
    size_t *order = malloc((d->rows.n + 1) * sizeof *order), n = 0;
    size_t limit = d->x->asked.q->options->whole ? SIZE_MAX : d->x->limit;
    if (!order)
        return diff_nomem(d);
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

static void say_side(struct diff *d, const char *before, const struct sp_annotate *x)
{
    struct sp_buf *b = &d->x->asked.b;
    sp_buf_puts(b, before);
    sp_buf_puts(b, "self ");
    sp_text_weight_of(b, &x->asked.s, x->a.self);
    sp_buf_puts(b, ", total ");
    sp_text_weight_of(b, &x->asked.s, x->a.total);
}

static void diff_say(struct diff *d, uint32_t measure)
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
    sp_fact_bool(a, "diff.apart", d->apart);
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
    if (d->one_text)
        sp_answer_line(a,
                       "! one file was read as the source of two builds: of one at most it can be what was "
                       "compiled (--base-source-path says where the base's is)");
    if (d->by_number)
        sp_answer_line(
            a, "! lines marked ? are paired by their numbers, which move between versions: the text of both "
               "as compiled is not here (--source-path, --base-source-path)");
    if (d->apart)
        sp_answer_line(
            a, "! other lines marked ? stand alone: the profile does not carry the lines around them, "
               "so what they were or became is not known");
    if (d->cut)
        sp_answer_line(
            a, "! the files differ too much to be compared to the end: lines may stand as removed and added");
    if (d->chosen < d->known)
        sp_answer_line(a, "the heaviest %zu of %zu lines with weight; -n N shows others, --whole all",
                       d->chosen, d->known);
}

static void put_text(struct diff *d, struct sp_answer_table *t, size_t column, struct sp_str s)
{
    if (s.p)
        sp_annotate_put_source(d->x, t, column, s);
}

/* People see no zeros where neither version has weight. */
static void diff_put_weights(struct diff *d, struct sp_answer_table *t, const struct row *r)
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

static void diff_put(struct diff *d, struct sp_answer_table *t, const struct row *r)
{
    struct sp_answer *out = d->x->asked.out;
    struct sp_str was = {NULL, 0}, is = {NULL, 0};
    sp_table_row(out, t);
    diff_put_weights(d, t, r);
    if (r->base_line) {
        sp_put_str(out, t, BASE_FILE, d->base.a.files.v[r->base_file].file);
        sp_put_int(t, BASE_LINE, r->base_line);
        if (r->change != BY_NUMBER || is_known(&d->base, r->base_file))
            was = sp_source_line(&d->base.texts.v[r->base_file], r->base_line);
    }
    if (r->line) {
        sp_put_str(out, t, FILE_, d->x->a.files.v[r->file].file);
        sp_put_int(t, LINE, r->line);
        if (r->change != BY_NUMBER || is_known(d->x, r->file))
            is = sp_source_line(&d->x->texts.v[r->file], r->line);
    }
    sp_put_text(out, t, CHANGE, change_names[r->change], strlen(change_names[r->change]));
    sp_put_text(out, t, MARK, change_marks[r->change], 1);
    put_text(d, t, TEXT, is.p ? is : was);
    if (r->change == CHANGED)
        put_text(d, t, BASE_TEXT, was);
}

static void diff_put_all(struct diff *d, uint32_t measure)
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
    struct diff d = {.x = x};
    spaa_status st = SPAA_OK;
    if (x->asked.q->options->assembly)
        st = sp_usage(x->asked.q->diags, "leave out --asm", "--diff is of lines, not of instructions");
    if (!st)
        st = diff_open(&d);
    if (!st)
        st = diff_pair(&d);
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
