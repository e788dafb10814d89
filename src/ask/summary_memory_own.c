/* The memory of a summary by the program's own functions: a line for each, then what grows or was lost. */
#include "ask/summary.h"

#include "answer/text.h"
#include "ask/leaks_words.h"
#include "model/identity.h"

enum { NAME_COLUMNS = 34, LINE_COLUMNS = 120, BYTES_COLUMNS = 12, PERCENT_COLUMNS = 7, CALLS_COLUMNS = 11 };

struct memory_table {
    const struct sp_summary *x;
    const struct sp_summary_memory *y;
    size_t name_columns;
    struct sp_buf b, cell;
    sp_take_line_fn *take;
    void *arg;
};

/* What a line shows of each function. */
static const struct {
    enum sp_leak_metric m;
    const char *title, *by, *said;
} columns[] = {{SP_LEAK_LIVE_BYTES, "live", "live", "live bytes"},
               {SP_LEAK_PEAK_BYTES, "at the peak", "peak", "bytes at the peak"},
               {SP_LEAK_ALLOC_BYTES, "allocated", "allocated", "allocated bytes"},
               {SP_LEAK_ALLOC_COUNT, "calls", "calls", "calls"}};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static bool memory_has(const struct memory_table *t, enum sp_leak_metric m)
{
    const struct sp_leaks *l = &t->y->m.leaks;
    if (m == SP_LEAK_LIVE_BYTES && t->y->live_by_none)
        return false;
    return l->has[m] && l->now.v[m] > 0 && (m != SP_LEAK_PEAK_BYTES || !l->peaks_apart);
}

/* ---- text in columns ---- */

static size_t memory_width(const struct sp_buf *b)
{
    return b->len ? sp_text_width(b->data, b->len) : 0;
}

static void memory_give(struct memory_table *t, enum sp_line_style style)
{
    while (t->b.len && t->b.data[t->b.len - 1] == ' ')
        t->b.len--;
    t->take(t->arg, style, &t->b);
    sp_buf_clear(&t->b);
}

/* The cell at the left of its columns, fitted; or at their right, whole, and behind a blank. */
static void memory_cell(struct memory_table *t, size_t columns_of, bool right)
{
    size_t width = memory_width(&t->cell);
    int blanks = width < columns_of ? (int)(columns_of - width) : 0;
    if (right)
        sp_buf_printf(&t->b, "%*s", t->cell.len && !blanks ? 1 : blanks, "");
    if (!right && width > columns_of)
        sp_text_fit(&t->b, t->cell.data, t->cell.len, columns_of);
    else if (t->cell.len)
        sp_buf_add(&t->b, t->cell.data, t->cell.len);
    if (!right)
        sp_buf_printf(&t->b, "%*s", blanks, "");
    t->b.failed |= t->cell.failed;
    sp_buf_clear(&t->cell);
}

/* The name; "libc.so.6 0x7f12" of an address: nobody else knows what it is in. */
static void memory_function(struct memory_table *t, uint32_t function)
{
    const struct sp_profile *p = t->x->x.s.profile;
    sp_buf_clear(&t->cell);
    if (function != SP_NONE && p->functions.v[function].dso != SP_NONE) {
        struct sp_str name = sp_pstr(p, p->functions.v[function].name);
        struct sp_str dso = sp_base_name(sp_dso_name(p, p->functions.v[function].dso));
        if (name.n > 2 && memcmp(name.p, "0x", 2) == 0 && dso.n)
            sp_buf_printf(&t->cell, "%.*s ", (int)dso.n, dso.p);
    }
    sp_summary_name(&t->cell, t->x, function);
}

static void memory_name(struct memory_table *t, size_t row)
{
    memory_function(t, sp_memory_function(t->x, row));
}

/* What there is of the cell if the line has room for it. */
static void memory_if_room(struct memory_table *t)
{
    t->b.failed |= t->cell.failed;
    if (t->cell.len && memory_width(&t->b) + memory_width(&t->cell) <= LINE_COLUMNS)
        sp_buf_add(&t->b, t->cell.data, t->cell.len);
    sp_buf_clear(&t->cell);
}

/* ---- own functions ---- */

static void memory_heading(struct memory_table *t, const size_t *rows, size_t n)
{
    size_t i = 0;
    while (i + 1 < NCOLUMNS && columns[i].m != t->y->m.rank)
        i++;
    const char *by = columns[i].m == t->y->m.rank ? columns[i].by : sp_leak_metric_names[t->y->m.rank];
    struct sp_buf title;
    sp_buf_init(&title, 0);
    sp_buf_printf(&title, "%s, by %s",
                  t->x->x.own.all ? "functions (none is known to be own)" : "own functions", by);
    t->name_columns = memory_width(&title) + 1;
    for (size_t k = 0; k < n; k++) {
        memory_name(t, rows[k]);
        size_t width = memory_width(&t->cell) < NAME_COLUMNS ? memory_width(&t->cell) : NAME_COLUMNS;
        t->name_columns = width > t->name_columns ? width : t->name_columns;
    }
    sp_buf_clear(&t->cell);
    sp_buf_add(&t->cell, title.data, title.len);
    memory_cell(t, t->name_columns, false);
    t->b.failed |= title.failed;
    sp_buf_free(&title);
    for (size_t k = 0; k < NCOLUMNS; k++) {
        if (!memory_has(t, columns[k].m))
            continue;
        bool calls = columns[k].m == SP_LEAK_ALLOC_COUNT;
        sp_buf_puts(&t->cell, columns[k].title);
        memory_cell(t, calls ? CALLS_COLUMNS : BYTES_COLUMNS, true);
        sp_buf_printf(&t->b, "%*s", calls ? 0 : PERCENT_COLUMNS, "");
    }
    memory_give(t, SP_LINE_STRONG);
}

/* An amount of a metric, and its share. */
static void memory_share(struct memory_table *t, enum sp_leak_metric m, int64_t v)
{
    bool calls = m == SP_LEAK_ALLOC_COUNT;
    if (v == 0)
        sp_buf_ch(&t->cell, '-');
    else
        sp_memory_amount(&t->cell, m, v);
    memory_cell(t, calls ? CALLS_COLUMNS : BYTES_COLUMNS, true);
    if (calls)
        return;
    if (v != SP_ABSENT && v != 0)
        sp_text_about(&t->cell, v, t->y->m.leaks.now.v[m]);
    memory_cell(t, PERCENT_COLUMNS, true);
}

/* "  < copy_of < remember < main 90.15%; 1 other caller", or the first of them, as there is room. */
static void memory_callers(struct memory_table *t, const struct sp_leak_callers *c)
{
    struct sp_leak_callers first = *c;
    size_t before = t->b.len;
    sp_buf_puts(&t->cell, "  < ");
    sp_leak_callers_text(&t->cell, t->y->m.leaks.profile, c, false);
    memory_if_room(t);
    if (t->b.len > before)
        return;
    first.n = first.n ? 1 : 0;
    first.others = 0;
    sp_buf_puts(&t->cell, "  < ");
    sp_leak_callers_text(&t->cell, t->y->m.leaks.profile, &first, false);
    memory_if_room(t);
}

static void memory_line(struct memory_table *t, size_t row, const struct sp_leak_callers *c)
{
    const struct sp_leaks *l = &t->y->m.leaks;
    const struct sp_own_memory_row *r = &t->y->m.rows.v[row];
    memory_name(t, row);
    memory_cell(t, t->name_columns, false);
    for (size_t k = 0; k < NCOLUMNS; k++)
        if (memory_has(t, columns[k].m))
            memory_share(t, columns[k].m, r->now.v[columns[k].m]);
    sp_buf_puts(&t->cell, " ");
    sp_leak_lines_text(&t->cell, l, &l->rows.v[r->leak], false);
    uint32_t function = sp_memory_function(t->x, row); /* of blocks without a call stack there is none */
    if (t->cell.len == 1 && function != SP_NONE) {
        sp_buf_ch(&t->cell, ' ');
        sp_summary_place(&t->cell, t->x, function);
    }
    memory_if_room(t);
    if (c->others) /* it may be a wrapper: for whom */
        memory_callers(t, c);
    memory_give(t, SP_LINE_ITEM);
}

static const char *rank_said(const struct memory_table *t)
{
    for (size_t k = 0; k < NCOLUMNS; k++)
        if (columns[k].m == t->y->m.rank)
            return columns[k].said;
    return sp_leak_metric_names[t->y->m.rank];
}

/* What the rows leave of the metric that sorts them. */
static void memory_others(struct memory_table *t, size_t shown)
{
    const struct sp_leaks *l = &t->y->m.leaks;
    int64_t whole = l->now.v[t->y->m.rank], left = 0;
    size_t more = 0;
    for (size_t i = 0; i < t->y->m.rows.n; i++) {
        int64_t v = t->y->m.rows.v[i].now.v[t->y->m.rank];
        bool is = !t->y->m.rows.v[i].own;
        for (size_t k = 0; !is && k < shown; k++)
            is = t->y->owners[k] == i;
        if (is || v <= 0)
            continue;
        left += v;
        more++;
    }
    if (!more || (double)left < 0.005 * (double)whole)
        return;
    sp_text_count(&t->b, more, "more function");
    sp_buf_puts(&t->b, ", ");
    sp_text_about(&t->b, left, whole);
    sp_buf_printf(&t->b, " of %s (spaa leaks)", rank_said(t));
    memory_give(t, SP_LINE_ITEM);
}

/* " (most: helper 48.83 KiB)" */
static void memory_most(struct memory_table *t, size_t row, enum sp_leak_metric m)
{
    int64_t v = t->y->m.rows.v[row].now.v[m];
    if (sp_memory_function(t->x, row) == SP_NONE || v <= 0)
        return;
    sp_buf_puts(&t->b, " (most: ");
    memory_name(t, row);
    size_t width = memory_width(&t->cell);
    memory_cell(t, width < NAME_COLUMNS ? width : NAME_COLUMNS, false);
    sp_buf_ch(&t->b, ' ');
    sp_memory_amount(&t->b, m, v);
    sp_buf_ch(&t->b, ')');
}

static void memory_none(struct memory_table *t)
{
    const struct sp_summary_memory *y = t->y;
    int64_t none = y->none.v[y->m.rank], whole = y->m.leaks.now.v[y->m.rank];
    if (y->heaviest_none != SIZE_MAX && none > 0 && whole > 0 && (double)none >= 0.01 * (double)whole) {
        sp_text_about(&t->b, none, whole);
        sp_buf_printf(&t->b, " of %s has no own function on its stack", rank_said(t));
        memory_most(t, y->heaviest_none, y->m.rank);
        memory_give(t, SP_LINE_ITEM);
    }
    if (y->m.rank != SP_LEAK_LIVE_BYTES && y->live_by_none && y->none.v[SP_LEAK_LIVE_BYTES] > 0) {
        sp_buf_puts(&t->b, "none of the live bytes has an own function on its stack");
        memory_most(t, y->most_live_none, SP_LEAK_LIVE_BYTES);
        memory_give(t, SP_LINE_ITEM);
    }
}

static void memory_begin(struct memory_table *t, const struct sp_summary *x, sp_take_line_fn *take, void *arg)
{
    *t = (struct memory_table){.x = x, .y = &x->memory, .take = take, .arg = arg};
    sp_buf_init(&t->b, 0);
    sp_buf_init(&t->cell, 0);
}

static void memory_end(struct memory_table *t)
{
    t->x->x.out->failed |= t->b.failed || t->cell.failed;
    sp_buf_free(&t->b);
    sp_buf_free(&t->cell);
}

/* Those for whom there is room, by what matters. */
static void order_shown(const struct memory_table *t, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        int64_t v = t->y->m.rows.v[t->y->owners[i]].now.v[t->y->m.rank];
        size_t at = i;
        for (; at && v > t->y->m.rows.v[t->y->owners[order[at - 1]]].now.v[t->y->m.rank]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

void sp_summary_memory_own(const struct sp_summary *x, size_t rows, sp_take_line_fn *take, void *arg)
{
    struct memory_table t;
    memory_begin(&t, x, take, arg);
    size_t n = rows < x->memory.nowners ? rows : x->memory.nowners, order[SP_SUMMARY_OWNERS];
    if (n) {
        memory_heading(&t, x->memory.owners, n);
        order_shown(&t, n, order);
        for (size_t i = 0; i < n; i++)
            memory_line(&t, x->memory.owners[order[i]], &x->memory.callers[order[i]]);
        memory_others(&t, n);
    }
    memory_none(&t);
    memory_end(&t);
}

/* ---- what grows, or was lost ---- */

/* "lost or reachable: definite 1,000 B in 10 blocks, possible 20 B in 1 block" */
static void memory_reach(struct memory_table *t)
{
    const struct sp_leaks *l = &t->y->m.leaks;
    const char *between = "lost or reachable: ";
    for (int i = 0; i < SP_LEAK_UNTOLD; i++) {
        int64_t bytes = l->reach[i].v[SP_LEAK_LIVE_BYTES], blocks = l->reach[i].v[SP_LEAK_LIVE_COUNT];
        if (bytes == SP_ABSENT || bytes <= 0)
            continue;
        sp_buf_printf(&t->b, "%s%s ", between, sp_leak_reach_names[i]);
        sp_text_bytes(&t->b, bytes, 0);
        if (blocks != SP_ABSENT && blocks > 0) {
            sp_buf_puts(&t->b, " in ");
            sp_text_count(&t->b, (uint64_t)blocks, "block");
        }
        between = ", ";
    }
    if (t->b.len)
        memory_give(t, SP_LINE_PLAIN);
}

/* "may leak  forgotten leaky.cpp:21  1.91 MiB in 2,000 blocks, growing +1.32 MiB/s ± 0.05" */
static void memory_leak(struct memory_table *t, size_t leak, const struct sp_leak_callers *c)
{
    const struct sp_leaks *l = &t->y->m.leaks;
    const struct sp_leak_row *r = &l->rows.v[leak];
    int64_t blocks = r->now.v[SP_LEAK_LIVE_COUNT];
    sp_buf_puts(&t->b, l->told ? "lost  " : "may leak  ");
    memory_function(t, r->function);
    size_t width = memory_width(&t->cell);
    memory_cell(t, width < NAME_COLUMNS ? width : NAME_COLUMNS, false);
    sp_leak_lines_text(&t->b, l, r, false);
    sp_buf_puts(&t->b, "  ");
    if (l->told)
        sp_buf_printf(&t->b, "%s ", sp_leak_reach_names[r->reach]);
    sp_text_bytes(&t->b, r->now.v[SP_LEAK_LIVE_BYTES], 0);
    if (blocks != SP_ABSENT && blocks >= 0) {
        sp_buf_puts(&t->b, " in ");
        sp_text_count(&t->b, (uint64_t)blocks, "block");
    }
    if (!l->told) {
        sp_buf_puts(&t->b, ", ");
        sp_leak_state_text(&t->b, l, r);
    }
    if (c->n > 1 || c->others) /* it may only allocate for them */
        memory_callers(t, c);
    memory_give(t, SP_LINE_ITEM);
}

/* ": leak_realloc 99.8 % left" */
static void memory_more_leak(struct memory_table *t, size_t leak, bool first)
{
    enum { END = 20 }; /* of the line */
    const struct sp_leak_row *r = &t->y->m.leaks.rows.v[leak];
    struct sp_buf one;
    sp_buf_init(&one, 0);
    memory_function(t, r->function);
    sp_buf_puts(&one, first ? ": " : ", ");
    sp_text_fit(&one, t->cell.data, t->cell.len, NAME_COLUMNS);
    sp_buf_ch(&one, ' ');
    if (r->kind == SP_LEAK_PARTLY && r->now.v[SP_LEAK_ALLOC_BYTES] > 0) {
        sp_text_about(&one, r->now.v[SP_LEAK_LIVE_BYTES], r->now.v[SP_LEAK_ALLOC_BYTES]);
        sp_buf_puts(&one, " left");
    } else {
        sp_buf_puts(&one, t->y->m.leaks.told ? sp_leak_reach_names[r->reach] : sp_leak_kind_names[r->kind]);
    }
    if (memory_width(&t->b) + memory_width(&one) + END <= LINE_COLUMNS)
        sp_buf_add(&t->b, one.data, one.len);
    t->b.failed |= one.failed || t->cell.failed;
    sp_buf_clear(&t->cell);
    sp_buf_free(&one);
}

/* "3 more, 6.6 % of live: leak_map never freed (spaa leaks)": the heaviest of them by name. */
static void memory_more_leaks(struct memory_table *t, size_t shown)
{
    const struct sp_summary_memory *y = t->y;
    const struct sp_leaks *l = &y->m.leaks;
    int64_t left = y->more_live;
    for (size_t i = shown; i < y->nleaks; i++)
        left += l->rows.v[y->leaks[i]].now.v[SP_LEAK_LIVE_BYTES];
    sp_buf_printf(&t->b, "%zu more, ", y->nleaks - shown + y->more_leaks);
    sp_text_about(&t->b, left, l->now.v[SP_LEAK_LIVE_BYTES]);
    sp_buf_puts(&t->b, " of live");
    for (size_t i = shown; i < y->nleaks; i++)
        memory_more_leak(t, y->leaks[i], i == shown);
    sp_buf_puts(&t->b, " (spaa leaks)");
    memory_give(t, SP_LINE_ITEM);
}

void sp_summary_memory_leaks(const struct sp_summary *x, size_t rows, sp_take_line_fn *take, void *arg)
{
    struct memory_table t;
    const struct sp_summary_memory *y = &x->memory;
    const struct sp_leaks *l = &y->m.leaks;
    size_t n = rows < y->nleaks ? rows : y->nleaks;
    bool grows = false;
    memory_begin(&t, x, take, arg);
    if (l->told)
        memory_reach(&t);
    for (size_t i = 0; i < n; i++)
        memory_leak(&t, y->leaks[i], &y->leak_callers[i]);
    if (n && y->nleaks - n + y->more_leaks)
        memory_more_leaks(&t, n);
    for (size_t i = 0; i < l->rows.n; i++)
        grows = grows || l->rows.v[i].kind == SP_LEAK_GROWING;
    if (l->growth && !grows && l->now.v[SP_LEAK_LIVE_BYTES] > 0) {
        sp_summary_memory_level_text(&t.b, l);
        memory_give(&t, SP_LINE_PLAIN);
    }
    memory_end(&t);
}
