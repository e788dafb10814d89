/* Answers for people: lines of words and tables, in a terminal or in Markdown. */
#include "answer/text.h"
#include "render/answer_private.h"
#include "render/diag_text.h"
#include "render/wrap.h"

#include <stdio.h>

static bool is_markdown(const struct sp_drawing *g)
{
    return g->opts->form == SP_FORM_MARKDOWN;
}

/* What stands before and behind a line: of one of each style. */
struct text_marks {
    const char *before, *behind;
};

static struct text_marks text_marks(const struct sp_drawing *g, enum sp_line_style style)
{
    static const struct text_marks plain[] = {
        [SP_LINE_PLAIN] = {"", "\n"},  [SP_LINE_HEAD] = {"", "\n"}, [SP_LINE_WARNING] = {"", "\n"},
        [SP_LINE_STRONG] = {"", "\n"}, [SP_LINE_ITEM] = {"", "\n"}, [SP_LINE_TITLE] = {"\n", "\n"},
        [SP_LINE_COMMAND] = {"", "\n"}};
    static const struct text_marks coloured[] = {[SP_LINE_PLAIN] = {"", "\n"},
                                                 [SP_LINE_HEAD] = {"\033[1m", "\033[0m\n"},
                                                 [SP_LINE_WARNING] = {"\033[33m", "\033[0m\n"},
                                                 [SP_LINE_STRONG] = {"", "\n"},
                                                 [SP_LINE_ITEM] = {"", "\n"},
                                                 [SP_LINE_TITLE] = {"\n\033[1m", "\033[0m\n"},
                                                 [SP_LINE_COMMAND] = {"", "\n"}};
    static const struct text_marks markdown[] = {
        [SP_LINE_PLAIN] = {"", "\n"},     [SP_LINE_HEAD] = {"**", "**\n\n"},
        [SP_LINE_WARNING] = {"- ", "\n"}, [SP_LINE_STRONG] = {"- ", "\n"},
        [SP_LINE_ITEM] = {"- ", "\n"},    [SP_LINE_TITLE] = {"\n**", "**\n\n"},
        [SP_LINE_COMMAND] = {"- ", "\n"}};
    return is_markdown(g) ? markdown[style] : g->opts->colour ? coloured[style] : plain[style];
}

/* The title of a line that has one, in bold; returns how much of the line it takes. */
static size_t text_strong(const struct sp_drawing *g, const char *p, size_t n)
{
    const char *end = n ? memmem(p, n, "   ", 3) : NULL;
    size_t title = end ? (size_t)(end - p) : 0;
    for (size_t i = 0; i < title; i++)
        if (p[i] < ' ' || p[i] > '~')
            return 0;
    if (!title || !g->opts->colour || is_markdown(g))
        return 0;
    sp_puts(g->out, "\033[1m");
    sp_write(g->out, p, title);
    sp_puts(g->out, "\033[0m");
    return title;
}

/* Safe text, as wide as there is room; `before`: columns of the line that are taken. */
static bool text_wrapped(const struct sp_drawing *g, enum sp_line_style style, const struct sp_buf *b,
                         size_t before)
{
    struct sp_buf lines;
    sp_buf_init(&lines, 0);
    bool ok = sp_text_wrap(&lines, style == SP_LINE_COMMAND ? SP_WRAP_COMMAND : SP_WRAP_WORDS,
                           b->data ? b->data : "", b->len, before, g->opts->width);
    sp_write(g->out, lines.data, lines.len);
    sp_buf_free(&lines);
    return ok;
}

static bool text_line(const struct sp_drawing *g, enum sp_line_style style, const char *p, size_t n,
                      struct sp_buf *b)
{
    struct text_marks marks = text_marks(g, style);
    size_t skip = 0;
    sp_puts(g->out, marks.before);
    if (style == SP_LINE_STRONG)
        skip = text_strong(g, p, n);
    bool listed = style == SP_LINE_ITEM || style == SP_LINE_COMMAND;
    while (is_markdown(g) && listed && skip < n && p[skip] == ' ')
        skip++; /* which would be an indented block */
    sp_buf_clear(b);
    bool ok = sp_text_safe(b, p + skip, n - skip);
    if (is_markdown(g))
        sp_markdown_text(g->out, b->data ? b->data : "", b->len);
    else
        ok = text_wrapped(g, style, b, skip) && ok;
    sp_puts(g->out, marks.behind);
    return ok;
}

/* How many rows are not shown, beneath those that are. */
static bool text_more(const struct sp_drawing *g, const struct sp_buf *more)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool ok = is_markdown(g) || text_line(g, SP_LINE_PLAIN, more->data, more->len, &b);
    if (is_markdown(g))
        sp_printf(g->out, "%s\n", more->data);
    sp_buf_free(&b);
    return ok;
}

/* Nothing of a table vanishes without a word. */
static bool text_left_out(const struct sp_drawing *g, const struct sp_table *t)
{
    struct sp_buf b, line;
    sp_buf_init(&b, 0);
    sp_buf_init(&line, 0);
    size_t n = sp_table_left_out(t, &line);
    sp_buf_printf(&line, ": no room for %s; a wider terminal, --json and --format csv have %s",
                  n == 1 ? "this column" : "these columns", n == 1 ? "it" : "them");
    bool ok = !line.failed && (!n || text_line(g, SP_LINE_PLAIN, line.data, line.len, &b));
    sp_buf_free(&b);
    sp_buf_free(&line);
    return ok;
}

/* What stands above the next item. */
enum text_above { ABOVE_NOTHING, ABOVE_LINE, ABOVE_TABLE };

/* A table of nothing but words: its rows are lines. */
static bool text_of_words(const struct sp_drawing *g, const struct sp_table *t)
{
    return t->ncolumns == 1 && t->columns[0].cut == SP_CUT_LAST && !is_markdown(g);
}

static spaa_status text_words(const struct sp_drawing *g, const struct sp_table *t)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool ok = text_line(g, SP_LINE_PLAIN, t->columns[0].title, strlen(t->columns[0].title), &b);
    for (size_t r = 0; ok && r < t->cells.n; r++)
        ok = text_line(g, SP_LINE_PLAIN, t->cells.v[r].p, t->cells.v[r].n, &b);
    sp_buf_free(&b);
    return ok && !t->failed ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* All rows in words, or as a table. */
static spaa_status text_rows(const struct sp_drawing *g, struct sp_people_table *x)
{
    if (!text_of_words(g, &x->table))
        return sp_people_write(x, is_markdown(g) ? SP_TABLE_MARKDOWN : SP_TABLE_TEXT);
    spaa_status st = sp_people_keep(x);
    return st ? st : text_words(g, &x->table);
}

/* An empty table is shown where it is the answer. */
static spaa_status text_table(const struct sp_drawing *g, const struct sp_answer_table *t, bool first,
                              enum text_above *above)
{
    struct sp_people_table x;
    struct sp_buf more;
    sp_buf_init(&more, 0);
    spaa_status st = sp_people_begin(&x, g, t);
    if (!st && x.table.ncolumns && (t->rows || first)) {
        sp_puts(g->out, *above == ABOVE_TABLE || (is_markdown(g) && *above) ? "\n" : "");
        st = text_rows(g, &x);
        if (!st && !text_left_out(g, &x.table))
            st = SPAA_ERR_NOMEM;
        if (!st && sp_more_line(g, t, &more)) {
            sp_puts(g->out, is_markdown(g) ? "\n" : "");
            st = text_more(g, &more) ? SPAA_OK : SPAA_ERR_NOMEM;
        }
        *above = ABOVE_TABLE;
    }
    st = more.failed ? SPAA_ERR_NOMEM : st;
    sp_buf_free(&more);
    sp_people_free(&x);
    return st;
}

enum { DETAIL_INDENT = 4 };

/* The cells of a detail in one line, below what begins the paragraph. */
static void paragraph_detail(const struct sp_drawing *g, const struct sp_table *details, size_t row)
{
    sp_printf(g->out, "%*s", DETAIL_INDENT - 2, "");
    for (size_t i = 0; i < details->ncolumns; i++) {
        struct sp_table_cell cell = details->cells.v[row * details->ncolumns + i];
        if (!cell.n || details->widths[i] == SP_TABLE_LEFT_OUT)
            continue;
        sp_puts(g->out, "  ");
        sp_write(g->out, cell.p, cell.n);
    }
    sp_puts(g->out, "\n");
}

/* The first table of details of `t`; NULL: it has none. */
static const struct sp_answer_table *paragraph_details(const struct sp_answer *a,
                                                       const struct sp_answer_table *t)
{
    for (size_t i = 0; i < a->items.n; i++)
        if (a->items.v[i].table && a->items.v[i].table->of == t)
            return a->items.v[i].table;
    return NULL;
}

static bool paragraph_rows(const struct sp_drawing *g, const struct sp_answer_table *t,
                           const struct sp_answer_table *of, const struct sp_table *details, struct sp_buf *b)
{
    bool ok = true;
    for (size_t r = 0, d = 0; ok && r < sp_drawn_rows(g, t); r++) {
        const struct sp_cell *head = sp_cell_at(t, r, t->paragraph - 1);
        size_t first = d;
        sp_puts(g->out, "\n");
        ok = text_line(g, SP_LINE_PLAIN, head->kind == SP_VALUE_TEXT ? head->text : "", head->n, b);
        for (; d < of->rows && of->owner.v[d] == r; d++)
            paragraph_detail(g, details, d);
        if (d == first)
            sp_puts(g->out, "    [no stack]\n");
    }
    return ok;
}

/* A table whose rows are paragraphs. */
static spaa_status text_paragraphs(const struct sp_drawing *g, const struct sp_answer_table *t)
{
    const struct sp_answer_table *of = paragraph_details(g->answer, t);
    struct sp_people_table x;
    struct sp_buf b;
    if (!of)
        return SPAA_OK;
    sp_buf_init(&b, 0);
    spaa_status st = sp_people_begin(&x, g, of);
    struct sp_table *details = &x.table;
    st = st ? st : sp_people_keep(&x);
    size_t width = g->opts->width > DETAIL_INDENT ? g->opts->width - DETAIL_INDENT : g->opts->width;
    if (!st && details->ncolumns && !sp_table_fit(details, width))
        st = SPAA_ERR_NOMEM;
    if (!st && !paragraph_rows(g, t, of, details, &b))
        st = SPAA_ERR_NOMEM;
    if (!st && !text_left_out(g, details))
        st = SPAA_ERR_NOMEM;
    sp_buf_clear(&b);
    if (!st && sp_more_line(g, t, &b)) {
        sp_puts(g->out, "\n");
        st = text_more(g, &b) ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    st = b.failed ? SPAA_ERR_NOMEM : st;
    sp_buf_free(&b);
    sp_people_free(&x);
    return st;
}

static bool text_is_told(const struct sp_answer *a, enum sp_code code)
{
    for (size_t i = 0; i < a->told.n; i++)
        if (a->told.v[i] == code)
            return true;
    return false;
}

/* Whether all that is told is of one input, or of none: then it need not be named. */
static bool text_notes_of_one_file(const struct sp_diags *d)
{
    for (size_t i = 1; i < d->list.n; i++) {
        const char *a = d->list.v[0].file, *b = d->list.v[i].file;
        if ((!a) != (!b) || (a && strcmp(a, b) != 0))
            return false;
    }
    return true;
}

/* A note in one line: the end of what it says gives way to its code; --verbose has all of it. */
static bool text_note(const struct sp_drawing *g, const struct sp_diag *one, uint64_t count, struct sp_buf *b)
{
    struct sp_diag bare = *one;
    bool info = one->severity == SP_INFO;
    char tail[96];
    size_t n = 0;
    if (info && text_notes_of_one_file(g->answer->diags))
        bare.file = NULL;
    sp_buf_clear(b);
    sp_buf_printf(b, "%s: ", sp_diag_word(one));
    sp_diag_text(b, &bare);
    if (count > 1)
        n = (size_t)snprintf(tail, sizeof tail, ", and %llu more (%s)", (unsigned long long)(count - 1),
                             info ? "-v" : "--verbose");
    if (info && !is_markdown(g) && g->opts->width && sp_text_width(b->data, b->len) + n > g->opts->width) {
        char code[32];
        size_t c = (size_t)snprintf(code, sizeof code, "… [%s]", sp_code_info(one->code)->name);
        size_t room = g->opts->width > n + c ? g->opts->width - n - c : 0; /* bytes: at most as wide */
        while (room && room < b->len && (b->data[room] & 0xc0) == 0x80)
            room--; /* never inside a character */
        b->len = room < b->len ? room : b->len;
        sp_buf_add(b, code, c);
    }
    sp_buf_add(b, tail, n);
    if (*one->hint && !info)
        sp_buf_printf(b, ": %s", one->hint);
    return !b->failed;
}

/* Each kind once, with how many there are; what is lost or failed is said elsewhere. */
static bool text_notes(const struct sp_drawing *g, struct sp_buf *b)
{
    const struct sp_diags *d = g->answer->diags;
    bool any = false, ok = true;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct sp_diag *one = &d->list.v[i];
        size_t before = 0;
        while (before < i && d->list.v[before].code != one->code)
            before++;
        if (before < i || one->severity >= SP_LOSS || text_is_told(g->answer, one->code))
            continue;
        ok = text_note(g, one, d->count[one->code], b) && ok;
        sp_puts(g->out, any ? "" : "\n");
        any = true;
        struct sp_buf line = *b;
        sp_buf_init(b, 0);
        ok = !line.failed && text_line(g, SP_LINE_PLAIN, line.data, line.len, b) && ok;
        sp_buf_free(&line);
    }
    return ok;
}

spaa_status sp_draw_text(const struct sp_drawing *g)
{
    spaa_status st = SPAA_OK;
    struct sp_buf b;
    bool first = true;
    enum text_above above = ABOVE_NOTHING;
    sp_buf_init(&b, 0);
    for (size_t i = 0; !st && i < g->answer->items.n; i++) {
        const struct sp_item *item = &g->answer->items.v[i];
        if (item->kind == SP_ITEM_LINE) {
            st = text_line(g, item->style, item->value.text, item->value.n, &b) ? SPAA_OK : SPAA_ERR_NOMEM;
            above = item->style == SP_LINE_TITLE ? ABOVE_NOTHING : ABOVE_LINE;
        } else if (item->kind == SP_ITEM_TABLE && item->table->of) {
            continue; /* nothing, or shown with its rows */
        } else if (item->kind == SP_ITEM_TABLE && item->table->paragraph && !is_markdown(g)) {
            st = text_paragraphs(g, item->table);
            above = ABOVE_TABLE;
            first = false;
        } else if (item->kind == SP_ITEM_TABLE) {
            st = text_table(g, item->table, first, &above);
            first = false;
        }
    }
    if (!st && g->opts->notes && !text_notes(g, &b))
        st = SPAA_ERR_NOMEM;
    sp_buf_free(&b);
    return st;
}
