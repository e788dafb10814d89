/* The rows of leaks, with their lines, callees and frames. */
#include "ask/leaks_columns.h"
#include "ask/leaks_words.h"

#include "analysis/own_fold.h"
#include "analysis/short_name.h"
#include "analysis/stacks.h"
#include "answer/text.h"
#include "base/num.h"
#include "model/identity.h"

#include <math.h>

struct leak_tables {
    struct sp_answer_table *rows, *lines, *through, *frames;
};

/* Columns of words that came out empty in all rows that are shown. */
static void leave_empty(const struct sp_leaks_asked *x, struct sp_answer_table *t, size_t column)
{
    for (size_t r = 0; r < t->rows && r < x->limit; r++)
        if (sp_cell_at(t, r, column)->kind != SP_VALUE_NONE && sp_cell_at(t, r, column)->n)
            return;
    t->columns.v[column].title = NULL;
}

/* ---- cells ---- */

static void put_share(struct sp_answer_table *t, size_t column, int64_t part, int64_t whole)
{
    if (part != SP_ABSENT && whole != SP_ABSENT && whole)
        sp_put_real(t, column, (double)sp_ratio(part, whole, 10000) / 100);
}

static void put_hundredths(struct sp_answer_table *t, size_t column, double v)
{
    if (fabs(v) < 9e16)
        sp_put_scaled(t, column, llround(v * 100), 2);
}

static void put_growth(struct sp_answer_table *t, const struct sp_leak_row *r)
{
    const struct sp_leak_course *g = &r->growth;
    if (!g->known)
        return;
    for (size_t q = 0; q < SP_LEAKS_QUARTERS; q++)
        sp_put_int(t, SP_LEAKS_GAINED + q, g->quarters[q]);
    put_hundredths(t, SP_LEAKS_GROWTH, g->per_second);
    if (g->doubt >= 0)
        put_hundredths(t, SP_LEAKS_DOUBT, g->doubt);
    if (sp_leak_is_flat(r))
        sp_put_scaled(t, SP_LEAKS_FLAT, g->flat_ns, 9);
}

/* Whole ones where they are many. */
static void put_calls_per_second(struct sp_answer_table *t, int64_t calls, int64_t ns)
{
    const double rate = (double)calls * 1e9 / (double)ns;
    sp_put_scaled(t, SP_LEAKS_PER_SECOND, llround(rate < 100 ? rate * 100 : rate), rate < 100 ? 2 : 0);
}

static void put_sums(struct sp_leaks_asked *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    const int64_t *v = r->now.v;
    int64_t calls = v[SP_LEAK_ALLOC_COUNT], bytes = v[SP_LEAK_ALLOC_BYTES];
    sp_put_int(t, SP_LEAKS_RANK, v[x->l.rank]);
    for (size_t m = 0; m < SP_LEAK_METRICS; m++)
        sp_put_int(t, SP_LEAKS_NOW + m, v[m]);
    sp_put_int(t, SP_LEAKS_PERCENT, v[x->l.rank]);
    if (calls != SP_ABSENT && x->ns > 0)
        put_calls_per_second(t, calls, x->ns);
    if (calls != SP_ABSENT && bytes != SP_ABSENT && calls > 0)
        sp_put_int(t, SP_LEAKS_MEAN, (int64_t)sp_ratio(bytes, calls, 1));
    put_share(t, SP_LEAKS_TEMPORARY, v[SP_LEAK_TEMPORARY], calls);
    put_share(t, SP_LEAKS_LIVE_OF_ALLOC, v[SP_LEAK_LIVE_BYTES], bytes);
    put_growth(t, r);
}

/* The functions from the owner on, each with a mark that the next one called it. */
static void put_path(struct sp_leaks_asked *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    struct sp_value_text none = {"[no stack]", 10};
    size_t n;
    const uint32_t *f = sp_selected_frames(&x->x->s, r->row, &n);
    n = f ? n : 0;
    struct sp_value_text *path = sp_arena_zalloc(&x->x->out->arena, (n + 1) * sizeof *path);
    const struct sp_profile *p = x->l.profile;
    struct sp_buf *b = &x->x->b;
    for (size_t i = 0; path && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        sp_buf_clear(b);
        sp_short_name(b, name.p, name.n, x->x->q->brief ? SP_SHORTEST : SP_WHOLE_NAME);
        sp_buf_puts(b, i + 1 < n ? " <" : "");
        path[i].n = b->len;
        path[i].p = b->failed ? NULL : sp_arena_dup(&x->x->out->arena, sp_buf_text(b), b->len);
        x->x->out->failed |= !path[i].p;
    }
    x->x->out->failed |= !path;
    if (!x->x->out->failed)
        sp_put_texts(x->x->out, t, SP_LEAKS_PATH, n ? path : &none, n ? n : 1);
}

/* The whole call stack beside the row. */
static void put_stack(struct sp_leaks_asked *x, const struct leak_tables *t, const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    struct sp_buf *b = &x->x->b;
    const struct sp_profile *p = x->l.profile;
    size_t n, skipped;
    sp_buf_clear(b);
    sp_stack_id_add(b, p, x->x->s.rows.v[r->row].stack);
    sp_put_text(a, t->rows, SP_LEAKS_STACK, b->data, b->len);
    const uint32_t *f = sp_selected_whole_frames(&x->x->s, r->row, &n, &skipped);
    for (size_t i = 0; f && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name),
                      line = sp_pstr(p, p->frames.v[f[i]].srcline),
                      dso = sp_pstr(p, sp_frame_dso(p, f[i])->name);
        sp_table_row(a, t->frames);
        sp_put_text(a, t->frames, SP_LEAKS_FRAME_FUNCTION, name.p, name.n);
        sp_put_text(a, t->frames, SP_LEAKS_FRAME_DSO, dso.p, dso.n);
        if (line.n)
            sp_put_text(a, t->frames, SP_LEAKS_FRAME_LINE, line.p, line.n);
        sp_put_int(t->frames, SP_LEAKS_FRAME_OWNER, i == r->skipped);
    }
    put_path(x, t->rows, r);
}

static void put_part(struct sp_leaks_asked *x, struct sp_answer_table *t, const struct sp_leak_part *part)
{
    static const enum sp_leak_metric sums[] = {SP_LEAK_LIVE_BYTES, SP_LEAK_LIVE_COUNT, SP_LEAK_ALLOC_BYTES,
                                               SP_LEAK_ALLOC_COUNT, SP_LEAK_TEMPORARY};
    sp_table_row(x->x->out, t);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        t->measure.v[SP_LEAKS_PART_SUMS + i] = sp_leak_is_bytes((int)sums[i]) ? x->bytes : x->count;
        sp_put_int(t, SP_LEAKS_PART_SUMS + i, part->now.v[sums[i]]);
    }
    sp_put_int(t, SP_LEAKS_PART_NEVER, part->never_freed);
}

/* The line is one of the own function that called for it, not of the row's. */
static bool line_is_of_caller(const struct sp_leaks_asked *x, const struct sp_leak_row *r)
{
    size_t n, at;
    const uint32_t *f = r->function == SP_NONE || sp_is_own(&x->x->own, r->function)
                            ? NULL
                            : sp_selected_frames(&x->x->s, r->row, &n);
    return f && sp_own_nearest(x->l.profile, &x->x->own, f, n, 0, &at) != SP_NONE;
}

/* Where no line is known: where its function begins. */
static void say_declared(struct sp_leaks_asked *x, const struct sp_leak_row *r)
{
    const struct sp_profile *p = x->l.profile;
    uint32_t known = r->function == SP_NONE ? 0 : p->functions.v[r->function].info;
    const struct sp_func_info *info = known ? &p->func_infos.v[known - 1] : NULL;
    if (x->x->b.len || !info || info->file == SP_STR_NONE || !info->line ||
        !sp_is_own(&x->x->own, r->function))
        return;
    struct sp_str file = sp_base_name(sp_pstr(p, info->file)),
                  name = sp_pstr(p, p->functions.v[r->function].name);
    if (!file.n || file.n > 40 || memmem(name.p, name.n, file.p, file.n))
        return;
    sp_buf_printf(&x->x->b, " %.*s:%u", (int)file.n, file.p, info->line);
    x->declared = true;
}

static void put_lines(struct sp_leaks_asked *x, const struct leak_tables *t, const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    const struct sp_profile *p = x->l.profile;
    const struct sp_leak_part *parts = x->l.parts[SP_LEAK_LINES].v + r->part[SP_LEAK_LINES];
    size_t n = r->nparts[SP_LEAK_LINES], shown = n < SP_LEAKS_PARTS ? n : SP_LEAKS_PARTS;
    sp_put_str(a, t->rows, SP_LEAKS_LINE, n ? sp_pstr(p, parts->key) : (struct sp_str){"", 0});
    sp_put_int(t->rows, SP_LEAKS_LINES_MORE, (int64_t)(n - shown));
    for (size_t i = 0; i < shown; i++) {
        put_part(x, t->lines, &parts[i]);
        sp_put_str(a, t->lines, SP_LEAKS_PART_NAME, sp_pstr(p, parts[i].key));
        if (parts[i].growth.known)
            put_hundredths(t->lines, SP_LEAKS_PART_GROWTH, parts[i].growth.per_second);
    }
    sp_buf_clear(&x->x->b);
    sp_leak_lines_text(&x->x->b, &x->l, r, line_is_of_caller(x, r));
    say_declared(x, r);
    sp_put_buf(a, t->rows, SP_LEAKS_FUNCTION + SP_FUNCTION_MARKS, &x->x->b);
}

static bool names_full(const struct sp_leaks_asked *x)
{
    return sp_options_full_names(x->x->q->options);
}

static void put_through(struct sp_leaks_asked *x, const struct leak_tables *t, const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    const struct sp_profile *p = x->l.profile;
    const struct sp_leak_part *parts = x->l.parts[SP_LEAK_THROUGH].v + r->part[SP_LEAK_THROUGH];
    size_t n = r->nparts[SP_LEAK_THROUGH], shown = n < SP_LEAKS_PARTS ? n : SP_LEAKS_PARTS;
    sp_put_int(t->rows, SP_LEAKS_THROUGH_MORE, (int64_t)(n - shown));
    sp_buf_clear(&x->x->b);
    if (n && parts->key != SP_NONE)
        sp_leak_through_text(&x->x->b, sp_pstr(p, p->functions.v[parts->key].name), n - 1, names_full(x));
    sp_put_buf(a, t->rows, SP_LEAKS_THROUGH_WORDS, &x->x->b);
    for (size_t i = 0; i < shown; i++) {
        put_part(x, t->through, &parts[i]);
        if (parts[i].key != SP_NONE)
            sp_put_str(a, t->through, SP_LEAKS_PART_NAME, sp_pstr(p, p->functions.v[parts[i].key].name));
        if (!i && parts[i].key != SP_NONE)
            sp_put_str(a, t->rows, SP_LEAKS_THROUGH, sp_pstr(p, p->functions.v[parts[i].key].name));
    }
}

/* Whom people are told of: of one function that is called by one, its line says enough, unless it has several
 * rows. */
static bool callers_tell(const struct sp_leaks_asked *x, const struct sp_leak_callers *c)
{
    const struct sp_profile *p = x->l.profile;
    bool main = c->n == 1 && sp_str_is(sp_pstr(p, p->functions.v[c->v[0]].name), "main");
    return c->others || ((x->by == SP_LEAKS_BY_OWNER || x->l.told) && !main);
}

static spaa_status put_callers(struct sp_leaks_asked *x, struct sp_answer_table *t,
                               const struct sp_leak_row *r)
{
    const struct sp_profile *p = x->l.profile;
    struct sp_value_text names[SP_LEAK_CALLERS];
    struct sp_leak_callers c;
    spaa_status st = sp_leak_callers_of(&x->x->s, &x->records, &x->x->own, r, x->diags, &c);
    if (st)
        return st;
    for (unsigned i = 0; i < c.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[c.v[i]].name);
        names[i] = (struct sp_value_text){name.p, name.n};
    }
    sp_put_texts(x->x->out, t, SP_LEAKS_CALLERS, names, c.n);
    if (c.n)
        put_share(t, SP_LEAKS_CALLERS_PERCENT, c.weight, c.whole);
    sp_put_int(t, SP_LEAKS_CALLERS_OTHERS, c.others);
    sp_buf_clear(&x->x->b);
    if (callers_tell(x, &c))
        sp_leak_callers_text(&x->x->b, p, &c, names_full(x));
    sp_put_buf(x->x->out, t, SP_LEAKS_FOR, &x->x->b);
    return SPAA_OK;
}

static void put_function(struct sp_leaks_asked *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    sp_put_function(x->x, t, SP_LEAKS_FUNCTION, r->function);
    if (r->function != SP_NONE) { /* the row is of all that are alike */
        char handle[32];
        sp_put_text(a, t, SP_LEAKS_FUNCTION + SP_FUNCTION_ID, handle,
                    sp_handle_text_alike(&x->x->handles, r->function, handle));
    }
    if (r->function == SP_NONE)
        sp_put_text(a, t, SP_LEAKS_FUNCTION + SP_FUNCTION_NAME, "[no stack]", 10);
}

static spaa_status put_row(struct sp_leaks_asked *x, const struct leak_tables *t, const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    const char *kind = sp_leak_kind_names[r->kind], *reach = sp_leak_reach_names[r->reach];
    sp_table_row(a, t->rows);
    put_sums(x, t->rows, r);
    sp_put_text(a, t->rows, SP_LEAKS_KIND, kind, strlen(kind));
    if (reach)
        sp_put_text(a, t->rows, SP_LEAKS_REACH, reach, strlen(reach));
    sp_put_int(t->rows, SP_LEAKS_NEVER_FREED, r->never_freed);
    sp_buf_clear(&x->x->b);
    sp_leak_state_text(&x->x->b, &x->l, r);
    sp_put_buf(a, t->rows, SP_LEAKS_STATE, &x->x->b);
    sp_buf_clear(&x->x->b);
    sp_leak_state_brief(&x->x->b, &x->l, r);
    sp_put_buf(a, t->rows, SP_LEAKS_STATE_SHORT, &x->x->b);
    put_function(x, t->rows, r);
    put_lines(x, t, r);
    put_through(x, t, r);
    sp_put_int(t->rows, SP_LEAKS_RECORDS, r->records);
    sp_put_int(t->rows, SP_LEAKS_SAMPLES, r->samples);
    sp_put_int(t->rows, SP_LEAKS_SKIPPED, r->skipped);
    put_stack(x, t, r);
    return put_callers(x, t->rows, r);
}

/* ---- what fits a line ---- */

enum { LINE = 120, GAP = 2, NAME_COLUMNS = 45, CALLER_COLUMNS = 32, NUMBER_COLUMNS = 10 };

/* How wide a column is, of names with what stands behind them. */
static size_t column_width(struct sp_leaks_asked *x, const struct sp_answer_table *t, size_t column)
{
    struct sp_buf *b = &x->x->b;
    const char *title = t->columns.v[column].title;
    size_t most = title ? sp_text_width(title, strlen(title)) : 0;
    for (size_t r = 0; r < t->rows && r < x->limit; r++) {
        const struct sp_cell *cell = sp_cell_at(t, r, column);
        sp_buf_clear(b);
        if (cell->kind != SP_VALUE_TEXT)
            continue;
        if (t->columns.v[column].type == SP_COL_NAME) {
            const struct sp_cell *marks = sp_cell_at(t, r, SP_LEAKS_FUNCTION + SP_FUNCTION_MARKS);
            sp_short_name(b, cell->text, cell->n, SP_SHORTEST);
            if (marks->kind == SP_VALUE_TEXT)
                sp_buf_add(b, marks->text, marks->n);
        } else {
            sp_buf_add(b, cell->text, cell->n);
        }
        size_t width = b->len ? sp_text_width(b->data, b->len) : 0;
        most = width > most ? width : most;
    }
    return most;
}

/* "1,234" */
static size_t count_width(const struct sp_leaks_asked *x, const struct sp_answer_table *t, size_t column)
{
    size_t most = strlen(t->columns.v[column].title);
    for (size_t r = 0; r < t->rows && r < x->limit; r++) {
        const struct sp_cell *cell = sp_cell_at(t, r, column);
        size_t digits = 1;
        for (int64_t i = cell->kind == SP_VALUE_INT ? cell->i : 0; i >= 10 || i <= -10; i /= 10)
            digits++;
        digits += (digits - 1) / 3;
        most = digits > most ? digits : most;
    }
    return most;
}

static bool is_words(const struct sp_answer_column *c)
{
    return c->type == SP_COL_TEXT || c->type == SP_COL_NAME;
}

static size_t width_of(struct sp_leaks_asked *x, const struct sp_answer_table *t, size_t column)
{
    enum { HANDLE = 6, PERCENT = 7 };
    const struct sp_answer_column *c = &t->columns.v[column];
    size_t title = strlen(c->title), width;
    if (is_words(c)) {
        size_t most = c->type == SP_COL_NAME ? NAME_COLUMNS : CALLER_COLUMNS;
        width = column_width(x, t, column);
        return c->flags & SP_COL_FLEXIBLE && width > most ? most : width;
    }
    bool count = c->type == SP_COL_COUNT || (c->type == SP_COL_WEIGHT && t->measure.v[column] == x->count);
    width = c->type == SP_COL_HANDLE ? HANDLE : c->type == SP_COL_PERCENT ? PERCENT : NUMBER_COLUMNS;
    return count ? count_width(x, t, column) : title > width ? title : width;
}

static bool table_fits(struct sp_leaks_asked *x, const struct sp_answer_table *t)
{
    size_t sum = 0;
    for (size_t c = 0; c < t->columns.n; c++)
        if (t->columns.v[c].title && !(t->columns.v[c].flags & SP_COL_SUFFIX))
            sum += width_of(x, t, c) + (sum ? GAP : 0);
    return sum <= LINE;
}

/*
 * Who holds the memory, and at which line, is the answer: what it was asked through goes for it, then since
 * when it is flat; then of callers less is shown.
 */
static void leave_room(struct sp_leaks_asked *x, struct sp_answer_table *t)
{
    struct sp_answer_column *name = &t->columns.v[SP_LEAKS_FUNCTION + SP_FUNCTION_NAME];
    if (x->by == SP_LEAKS_BY_STACK || names_full(x) || table_fits(x, t))
        return;
    t->columns.v[SP_LEAKS_THROUGH_WORDS].title = NULL;
    if (t->columns.v[SP_LEAKS_STATE].title && !table_fits(x, t)) {
        t->columns.v[SP_LEAKS_STATE_SHORT].title = t->columns.v[SP_LEAKS_STATE].title;
        t->columns.v[SP_LEAKS_STATE].title = NULL;
    }
    if (column_width(x, t, SP_LEAKS_FUNCTION + SP_FUNCTION_NAME) <= NAME_COLUMNS)
        name->flags &= ~(unsigned)SP_COL_FLEXIBLE;
}

/* ---- the table ---- */

/* People who ask for no number are shown rows of what there is something of, and told how many there are
 * more. */
static size_t rows_for_people(struct sp_leaks_asked *x)
{
    size_t some = 0, none = 0, n = x->l.rows.n;
    if (!x->x->q->brief || x->x->q->options->limit)
        return n;
    for (size_t i = 0; i < n; i++)
        if (x->l.rows.v[i].rank > 0)
            x->l.rows.v[some++] = x->l.rows.v[i];
        else
            none++;
    x->nothing = some ? none : 0;
    return some ? some : n;
}

/* There may be very many of them, each with a call stack. */
static void leave_out(const struct sp_leaks_asked *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    int64_t weight = r->now.v[x->l.rank];
    t->left_out++;
    t->left_out_sum += weight == SP_ABSENT ? 0 : weight;
}

spaa_status sp_leaks_put_rows(struct sp_leaks_asked *x)
{
    struct sp_answer *a = x->x->out;
    struct leak_tables t = {.rows = sp_answer_table(a, &sp_leaks_rows)};
    t.lines = sp_answer_detail(a, &sp_leaks_lines, t.rows);
    t.through = sp_answer_detail(a, &sp_leaks_through, t.rows);
    t.frames = sp_answer_detail(a, &sp_leaks_frames, t.rows);
    if (!t.rows || !t.lines || !t.through || !t.frames)
        return SPAA_OK;
    t.rows->limit = x->limit;
    sp_leaks_titles(x, t.rows);
    spaa_status st = sp_leak_records_of(&x->x->s, &x->l, x->diags, &x->records);
    size_t n = st ? 0 : rows_for_people(x);
    for (size_t i = 0; !st && i < n; i++)
        if (i < x->limit)
            st = put_row(x, &t, &x->l.rows.v[i]);
        else
            leave_out(x, t.rows, &x->l.rows.v[i]);
    sp_leak_records_free(&x->records);
    if (!st && x->x->q->brief && !a->failed) {
        leave_empty(x, t.rows, SP_LEAKS_FOR);
        leave_empty(x, t.rows, SP_LEAKS_THROUGH_WORDS);
        leave_room(x, t.rows);
    }
    return st;
}
