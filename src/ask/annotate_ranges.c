/* The tables of annotate: lines as they stand in the source for people, ranges of most weight for JSON. */
#include "ask/annotate.h"
#include "ask/annotate_asm.h"

#include "analysis/short_name.h"

#include <stdlib.h>

#define WEIGHTS                                                                                              \
    [SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks whose leaf is there"},    \
    [SELF + 1] = {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "its share of the whole"},         \
    [TOTAL] = {"total", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks that go through it"},   \
    [TOTAL + 1] = {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "its share of the whole"}
enum { SELF, TOTAL = 2, AFTER = 4 };

enum { LIST_SAMPLES = AFTER, LIST_FILE, LIST_LINE, LIST_TEXT, LIST_INLINED, LIST_N };
static const struct sp_answer_column list_columns[] = {
    WEIGHTS,
    [LIST_SAMPLES] = {"samples", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "samples of self"},
    [LIST_FILE] = {"file", SP_COL_TEXT, "file", .flags = SP_COL_FLEXIBLE, .doc = "as the compiler was told"},
    [LIST_LINE] = {"line", SP_COL_COUNT, "line", .flags = SP_COL_STAYS, .doc = "its number; null: not known"},
    [LIST_TEXT] = {"text", SP_COL_TEXT, "source", .flags = SP_COL_FLEXIBLE, .doc = "what stands there"},
    [LIST_INLINED] = {"inlined", SP_COL_TEXTS, "inlined there", .flags = SP_COL_FLEXIBLE,
                      .doc = "functions that are inlined there, with their share of the whole"},
};

enum { RANGE_FILE = AFTER, RANGE_PATH, RANGE_DIR, RANGE_FIRST, RANGE_LAST, RANGE_TEXT, RANGE_N };
static const struct sp_answer_column range_columns[] = {
    WEIGHTS,
    [RANGE_FILE] = {"file", SP_COL_TEXT, .doc = "as the compiler was told; null: not known"},
    [RANGE_PATH] = {"path", SP_COL_TEXT, .doc = "absolute, where it was compiled; null: not known"},
    [RANGE_DIR] = {"comp_dir", SP_COL_TEXT, .doc = "where the compiler ran; null: not known"},
    [RANGE_FIRST] = {"first", SP_COL_COUNT, .doc = "its first line"},
    [RANGE_LAST] = {"last", SP_COL_COUNT, .doc = "its last line"},
    [RANGE_TEXT] = {"text", SP_COL_TEXT, .doc = "its lines; null: the source is not there"},
};

enum { LINE_SAMPLES = AFTER, LINE_TOTAL_SAMPLES, LINE_LINE, LINE_N };
static const struct sp_answer_column line_columns[] = {
    WEIGHTS,
    [LINE_SAMPLES] = {"samples", SP_COL_COUNT, .doc = "samples of self"},
    [LINE_TOTAL_SAMPLES] = {"total_samples", SP_COL_COUNT, .doc = "samples of total"},
    [LINE_LINE] = {"line", SP_COL_COUNT, .doc = "its number"},
};

enum { IN_FILE = AFTER, IN_LINE, IN_FUNCTION, IN_N = IN_FUNCTION + SP_FUNCTION_NCOLUMNS };
static const struct sp_answer_column in_columns[] = {
    WEIGHTS,
    [IN_FILE] = {"file", SP_COL_TEXT, .doc = "of the call"},
    [IN_LINE] = {"line", SP_COL_COUNT, .doc = "of the call; null: not known"},
    SP_FUNCTION_COLUMNS(IN_FUNCTION, NULL, NULL),
};

enum {
    FILE_FILE,
    FILE_PATH,
    FILE_DIR,
    FILE_BINARY,
    FILE_SOURCE,
    FILE_READ,
    FILE_NEWER,
    FILE_LINES,
    FILE_MISSING,
    FILE_N
};
static const struct sp_answer_column file_columns[] = {
    [FILE_FILE] = {"file", SP_COL_TEXT, .doc = "as the compiler was told; null: not known"},
    [FILE_PATH] = {"path", SP_COL_TEXT, .doc = "absolute, where it was compiled; null: not known"},
    [FILE_DIR] = {"comp_dir", SP_COL_TEXT, .doc = "where the compiler ran; null: not known"},
    [FILE_BINARY] = {"binary", SP_COL_TEXT, .doc = "the binary that says so; null: none was found"},
    [FILE_SOURCE] =
        {"source", SP_COL_TEXT,
         .doc = "how its text was found: embedded (in debug information), source-path, profile, recorded, "
                "debuginfod; null: not"},
    [FILE_READ] = {"read", SP_COL_TEXT, .doc = "the file that was read; null: none"},
    [FILE_NEWER] = {"newer", SP_COL_BOOL,
                    .doc =
                        "it was written after the binary: lines may be others; null: it is not known: the "
                        "binary is a copy without the time of the original, may be another build, or is not "
                        "here, or was not when the profile took the text"},
    [FILE_LINES] = {"lines", SP_COL_COUNT, .doc = "that the file has; null: it was not found"},
    [FILE_MISSING] = {"missing", SP_COL_COUNT, .doc = "of these the profile has no text"},
};

static const struct sp_table_decl
    listing = {"listing",      list_columns,    LIST_N,
               .joined = true, .noun = "lines", .doc = "the lines, in the order of the source"},
    ranges = {"ranges", range_columns, RANGE_N, .noun = "ranges",
              .doc =
                  "lines of most weight with those around them, the heaviest first; total: of the heaviest "
                  "line"},
    lines = {"lines", line_columns, LINE_N, .of = "ranges", .doc = "its lines that have weight"},
    inlined = {"inlines", in_columns, IN_N, .doc = "what is inlined at these lines, the heaviest first"},
    files = {"files", file_columns, FILE_N, .doc = "the source files, that of most weight first"};
const struct sp_table_decl *const sp_annotate_tables[] = {&listing,
                                                          &ranges,
                                                          &lines,
                                                          &inlined,
                                                          &files,
                                                          &sp_annotate_code,
                                                          &sp_annotate_blocks,
                                                          &sp_annotate_insns,
                                                          &sp_annotate_basic_blocks,
                                                          &sp_annotate_runs,
                                                          &sp_annotate_compared,
                                                          NULL};

static void put_cstr(struct sp_annotate *x, struct sp_answer_table *t, size_t column, const char *s)
{
    if (s)
        sp_put_text(x->asked.out, t, column, s, strlen(s));
}

static void put_file(struct sp_annotate *x, struct sp_answer_table *t, size_t column, uint32_t file)
{
    sp_put_str(x->asked.out, t, column, x->a.files.v[file].file);
}

/* ---- for people ---- */

static void put_inlined_texts(struct sp_annotate *x, struct sp_answer_table *t,
                              const struct sp_annotated_line *l)
{
    enum { MOST = 8 };
    struct sp_value_text texts[MOST];
    size_t ends[MOST + 1] = {0}, n = 0;
    struct sp_buf *b = &x->asked.b;
    const struct sp_profile *p = x->asked.s.profile;
    sp_buf_clear(b);
    for (; n < l->n && n < MOST; n++) {
        const struct sp_annotated_inline *in = &x->a.inlined.v[l->first + n];
        struct sp_str name = sp_pstr(p, p->functions.v[in->function].name);
        sp_short_name(b, name.p, name.n, SP_SHORTEST);
        sp_buf_ch(b, ' ');
        sp_text_share_of(b, &x->asked.s, in->total);
        sp_buf_ch(b, '%');
        ends[n + 1] = b->len;
    }
    x->asked.out->failed |= b->failed;
    for (size_t i = 0; i < n && !b->failed; i++)
        texts[i] = (struct sp_value_text){b->data + ends[i], ends[i + 1] - ends[i]};
    if (n && !b->failed)
        sp_put_texts(x->asked.out, t, LIST_INLINED, texts, n);
    sp_buf_clear(b);
}

static void put_listed(struct sp_annotate *x, struct sp_answer_table *t, uint32_t file, uint32_t line)
{
    const struct sp_annotated_line *l = sp_annotate_line(x, file, line);
    struct sp_str text = sp_source_line(&x->texts.v[file], line);
    sp_table_row(x->asked.out, t);
    put_file(x, t, LIST_FILE, file);
    sp_put_int(t, LIST_LINE, line);
    if (text.p)
        sp_annotate_put_source(x, t, LIST_TEXT, text);
    if (!l)
        return;
    sp_put_int(t, SELF, l->self);
    sp_put_int(t, TOTAL, l->total);
    sp_put_int(t, LIST_SAMPLES, l->samples);
    sp_annotate_put_ratios(x, t, LIST_N, l);
    put_inlined_texts(x, t, l);
}

/* What no line has: callers that were inferred. */
static void put_inferred(struct sp_annotate *x, struct sp_answer_table *t)
{
    if (!x->a.inferred)
        return;
    sp_table_row(x->asked.out, t);
    sp_put_int(t, TOTAL, x->a.inferred);
    if (x->asked.q->brief)
        sp_put_text(x->asked.out, t, LIST_TEXT, "? [inferred]", strlen("? [inferred]"));
}

static bool any_text(const struct sp_annotate *x)
{
    for (size_t i = 0; i < x->ranges.n; i++)
        if (x->texts.v[x->ranges.v[i].file].from)
            return true;
    return false;
}

static bool any_inlined(const struct sp_annotate *x)
{
    for (size_t i = 0; i < x->ranges.n; i++)
        for (uint32_t k = x->ranges.v[i].first; k <= x->ranges.v[i].last; k++) {
            const struct sp_annotated_line *l = sp_annotate_line(x, x->ranges.v[i].file, k);
            if (l && l->n)
                return true;
        }
    return false;
}

static void put_listing(struct sp_annotate *x)
{
    struct sp_answer_table *t = sp_answer_table(x->asked.out, &listing);
    if (!t)
        return;
    bool one = true;
    for (size_t i = 1; i < x->ranges.n; i++)
        one = one && x->ranges.v[i].file == x->ranges.v[0].file;
    t->limit = SIZE_MAX;
    t->fixed = true; /* what there is room for was chosen */
    t->quiet = !x->ranges.n;
    if (x->asked.q->brief && one)
        sp_table_title(x->asked.out, t, LIST_FILE, NULL);
    if (x->asked.q->brief && !any_text(x))
        sp_table_title(x->asked.out, t, LIST_TEXT, NULL);
    if (x->asked.q->brief && !any_inlined(x))
        sp_table_title(x->asked.out, t, LIST_INLINED, NULL);
    sp_ratios_columns(&x->asked, &x->ratios, t);
    for (size_t i = 0; i < x->ranges.n; i++) {
        const struct sp_annotate_range *r = &x->ranges.v[i];
        if (i && x->asked.q->brief && any_text(x)) {
            sp_table_row(x->asked.out, t);
            sp_put_text(x->asked.out, t, LIST_TEXT, "⋮", strlen("⋮"));
        }
        for (uint32_t line = r->first; line <= r->last; line++)
            put_listed(x, t, r->file, line);
    }
    put_inferred(x, t);
}

/* ---- for programs ---- */

static int range_by_weight(const void *va, const void *vb)
{
    const struct sp_annotate_range *x = *(const struct sp_annotate_range *const *)va,
                                   *y = *(const struct sp_annotate_range *const *)vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_range_lines(struct sp_annotate *x, struct sp_answer_table *t,
                            const struct sp_annotate_range *r)
{
    for (uint32_t i = r->first; t && i <= r->last; i++) {
        const struct sp_annotated_line *l = sp_annotate_line(x, r->file, i);
        if (!l)
            continue;
        sp_table_row(x->asked.out, t);
        sp_put_int(t, SELF, l->self);
        sp_put_int(t, TOTAL, l->total);
        sp_put_int(t, LINE_SAMPLES, l->samples);
        sp_put_int(t, LINE_TOTAL_SAMPLES, l->total_samples);
        sp_put_int(t, LINE_LINE, i);
        sp_annotate_put_ratios(x, t, LINE_N, l);
    }
}

static void put_range(struct sp_annotate *x, struct sp_answer_table *t, struct sp_answer_table *details,
                      const struct sp_annotate_range *r)
{
    const struct sp_source_place *at = &x->a.files.v[r->file];
    const struct sp_source_text *text = &x->texts.v[r->file];
    sp_table_row(x->asked.out, t);
    sp_put_int(t, SELF, r->self);
    sp_put_int(t, TOTAL, r->total);
    put_file(x, t, RANGE_FILE, r->file);
    put_cstr(x, t, RANGE_PATH, at->path);
    put_cstr(x, t, RANGE_DIR, at->comp_dir);
    sp_put_int(t, RANGE_FIRST, r->first);
    sp_put_int(t, RANGE_LAST, r->last);
    struct sp_str first = sp_source_line(text, r->first), last = sp_source_line(text, r->last);
    if (first.p && last.p)
        sp_put_text(x->asked.out, t, RANGE_TEXT, first.p, (size_t)(last.p + last.n - first.p));
    put_range_lines(x, details, r);
}

static void put_ranges(struct sp_annotate *x)
{
    struct sp_answer_table *t = sp_answer_table(x->asked.out, &ranges);
    struct sp_answer_table *details = t ? sp_answer_detail(x->asked.out, &lines, t) : NULL;
    const struct sp_annotate_range **order = malloc((x->ranges.n + 1) * sizeof *order);
    if (!t || !details || !order) {
        x->asked.out->failed = true;
        free(order);
        return;
    }
    sp_ratios_columns(&x->asked, &x->ratios, details);
    t->quiet = true; /* the listing has them */
    t->keep = 1;
    t->limit = SIZE_MAX;
    for (size_t i = 0; i < x->ranges.n; i++)
        order[i] = &x->ranges.v[i];
    if (x->ranges.n)
        qsort(order, x->ranges.n, sizeof *order, range_by_weight);
    for (size_t i = 0; i < x->ranges.n; i++)
        put_range(x, t, details, order[i]);
    free(order);
}

static int inline_by_weight(const void *va, const void *vb)
{
    const struct sp_annotated_inline *x = *(const struct sp_annotated_inline *const *)va,
                                     *y = *(const struct sp_annotated_inline *const *)vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool is_shown(const struct sp_annotate *x, const struct sp_annotated_line *l)
{
    for (size_t i = 0; i < x->ranges.n; i++)
        if (x->ranges.v[i].file == l->file && l->line >= x->ranges.v[i].first &&
            l->line <= x->ranges.v[i].last)
            return true;
    return false;
}

static void put_inlined(struct sp_annotate *x)
{
    struct sp_answer_table *t = sp_answer_table(x->asked.out, &inlined);
    const struct sp_annotated_inline **order = malloc((x->a.inlined.n + 1) * sizeof *order);
    size_t n = 0;
    if (!t || !order) {
        x->asked.out->failed = true;
        free(order);
        return;
    }
    t->quiet = true; /* beside the lines */
    t->keep = 2;
    t->limit = x->limit;
    for (size_t i = 0; i < x->a.inlined.n; i++)
        if (is_shown(x, &x->a.lines.v[x->a.inlined.v[i].line]))
            order[n++] = &x->a.inlined.v[i];
    if (n)
        qsort(order, n, sizeof *order, inline_by_weight);
    for (size_t i = 0; i < n; i++) {
        const struct sp_annotated_line *l = &x->a.lines.v[order[i]->line];
        sp_table_row(x->asked.out, t);
        sp_put_int(t, SELF, order[i]->self);
        sp_put_int(t, TOTAL, order[i]->total);
        put_file(x, t, IN_FILE, l->file);
        sp_put_int(t, IN_LINE, l->line ? (int64_t)l->line : SP_ABSENT);
        sp_put_function(&x->asked, t, IN_FUNCTION, order[i]->function);
    }
    free(order);
}

static void put_files(struct sp_annotate *x)
{
    struct sp_answer_table *t = sp_answer_table(x->asked.out, &files);
    if (!t)
        return;
    t->quiet = true; /* said above */
    t->keep = 3;
    t->limit = SIZE_MAX;
    for (size_t i = 0; i < x->a.files.n; i++) {
        const struct sp_source_place *at = &x->a.files.v[i];
        const struct sp_source_text *text = &x->texts.v[i];
        sp_table_row(x->asked.out, t);
        put_file(x, t, FILE_FILE, (uint32_t)i);
        put_cstr(x, t, FILE_PATH, at->path);
        put_cstr(x, t, FILE_DIR, at->comp_dir);
        put_cstr(x, t, FILE_BINARY, at->module ? sp_module_file(at->module) : NULL);
        put_cstr(x, t, FILE_SOURCE, sp_source_from_names[text->from]);
        put_cstr(x, t, FILE_READ, text->found);
        sp_put_int(t, FILE_NEWER, text->undated ? SP_ABSENT : text->newer);
        sp_put_int(t, FILE_LINES, text->from ? (int64_t)text->total : SP_ABSENT);
        sp_put_int(t, FILE_MISSING, (int64_t)text->total - (int64_t)text->lines.n);
    }
}

void sp_annotate_put(struct sp_annotate *x)
{
    put_listing(x);
    put_ranges(x);
    put_inlined(x);
    put_files(x);
}
