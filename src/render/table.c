#include "render/table.h"

#include "answer/text.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdlib.h>

void sp_table_init(struct sp_table *t, const struct sp_table_column *columns, size_t n)
{
    *t = (struct sp_table){.columns = columns, .ncolumns = n};
    sp_arena_init(&t->arena, 0);
    sp_buf_init(&t->b, UINT32_MAX);
}

void sp_table_clear(struct sp_table *t)
{
    t->cells.n = t->handles.n = 0;
    sp_arena_free(&t->arena);
}

void sp_table_next(struct sp_table *t)
{
    sp_table_clear(t);
    t->goes_on = true;
}

void sp_table_free(struct sp_table *t)
{
    sp_vec_free(&t->cells);
    sp_vec_free(&t->handles);
    sp_arena_free(&t->arena);
    sp_buf_free(&t->b);
    free(t->whole);
    free(t->filled);
    free(t->widths);
    t->whole = t->filled = t->widths = NULL;
}

void sp_table_cell(struct sp_table *t, const char *p, size_t n)
{
    sp_buf_clear(&t->b);
    sp_text_safe(&t->b, p, n);
    struct sp_table_cell cell = {t->b.failed ? NULL
                                             : sp_arena_dup(&t->arena, t->b.data ? t->b.data : "", t->b.len),
                                 (uint32_t)t->b.len, 0};
    if (!cell.p || !sp_vec_push(&t->cells, cell))
        t->failed = true;
}

/* Safe text behind what a cell has; how many bytes that is. */
static uint32_t table_append(struct sp_table *t, size_t cell, const char *between, const char *p, size_t n)
{
    struct sp_buf *b = &t->b;
    uint32_t added = 0;
    struct sp_table_cell *c = cell < t->cells.n ? &t->cells.v[cell] : NULL;
    sp_buf_clear(b);
    bool ok = c && sp_buf_add(b, c->p, c->n) && sp_buf_puts(b, c->n ? between : "") && sp_text_safe(b, p, n);
    const char *all = ok ? sp_arena_dup(&t->arena, b->data ? b->data : "", b->len) : NULL;
    if (all) {
        added = (uint32_t)b->len - c->n;
        *c = (struct sp_table_cell){all, (uint32_t)b->len, c->tail};
    }
    t->failed |= !all;
    return added;
}

void sp_table_tail(struct sp_table *t, const char *p, size_t n)
{
    uint32_t added = n ? table_append(t, t->cells.n - 1, "", p, n) : 0;
    if (added)
        t->cells.v[t->cells.n - 1].tail += added;
}

bool sp_table_more(struct sp_table *t, size_t row, size_t column, const char *tail)
{
    size_t cell = row * t->ncolumns + column;
    uint32_t added = table_append(t, cell, "", tail, strlen(tail));
    if (added)
        t->cells.v[cell].tail += added;
    return !t->failed;
}

void sp_table_handle(struct sp_table *t, size_t column, const char *handle)
{
    t->named = column;
    t->failed |= !sp_vec_push(&t->handles, handle);
}

void sp_table_item(struct sp_table *t, const char *p, size_t n)
{
    static const char between[] = {SP_TABLE_ITEM, 0};
    table_append(t, t->cells.n - 1, between, p, n);
}

void sp_table_printf(struct sp_table *t, const char *fmt, ...)
{
    struct sp_buf b;
    va_list ap;
    sp_buf_init(&b, 0);
    va_start(ap, fmt);
    sp_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    t->failed = t->failed || b.failed;
    sp_table_cell(t, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
}

static void spaces(struct sp_output *out, size_t n)
{
    static const char some[] = "                                ";
    for (size_t at; n; n -= at) {
        at = n < sizeof some - 1 ? n : sizeof some - 1;
        sp_write(out, some, at);
    }
}

static void text_cell(const char *p, size_t n, struct sp_output *out)
{
    for (size_t from = 0, to; from < n; from = to + 1) {
        const char *end = memchr(p + from, SP_TABLE_ITEM, n - from);
        to = end ? (size_t)(end - p) : n;
        sp_write(out, p + from, to - from);
        if (end)
            sp_write(out, " ", 1);
    }
}

static bool text_row(const struct sp_table *t, const struct sp_table_cell *row, struct sp_buf *b,
                     struct sp_output *out)
{
    bool ok = true, any = false;
    for (size_t c = 0; c < t->ncolumns; c++) {
        const char *title = t->columns[c].title;
        if (t->widths[c] == SP_TABLE_LEFT_OUT)
            continue;
        sp_buf_clear(b);
        if (!row)
            ok = sp_text_fit(b, title, strlen(title), t->widths[c]) && ok;
        const char *p = row ? row[c].p : b->len ? b->data : "";
        size_t n = row ? row[c].n : b->len, w = sp_text_width(p, n);
        size_t pad = w < t->widths[c] ? t->widths[c] - w : 0;
        sp_write(out, "  ", any ? 2 : 0);
        any = true;
        if (t->columns[c].right)
            spaces(out, pad);
        text_cell(p, n, out);
        if (!t->columns[c].right && c + 1 < t->ncolumns)
            spaces(out, pad);
    }
    sp_write(out, "\n", 1);
    return ok;
}

static bool text_form(struct sp_table *t, size_t rows, unsigned width, struct sp_buf *b,
                      struct sp_output *out)
{
    if (!t->fits && !sp_table_fit(t, width))
        return false;
    bool ok = t->goes_on || text_row(t, NULL, b, out);
    for (size_t r = 0; r < rows; r++)
        ok = text_row(t, t->cells.v + r * t->ncolumns, b, out) && ok;
    return ok;
}

size_t sp_table_left_out(const struct sp_table *t, struct sp_buf *b)
{
    size_t n = 0;
    for (size_t c = 0; t->widths && c < t->ncolumns; c++)
        if (t->widths[c] == SP_TABLE_LEFT_OUT && *t->columns[c].title) {
            sp_buf_puts(b, n++ ? ", " : "");
            sp_text_safe(b, t->columns[c].title, strlen(t->columns[c].title));
        }
    return n;
}

void sp_csv_cell(struct sp_buf *out, const char *p, size_t n)
{
    bool quote = n && (memchr(p, ',', n) || memchr(p, '"', n));
    /* A leading =, +, - or @ would be a formula to a spreadsheet, except in a number. */
    bool formula =
        n && memchr("=+@-", p[0], 4) && !(p[0] == '-' && n > 1 && (unsigned char)(p[1] - '0') < 10);
    if (!quote && !formula) {
        sp_buf_add(out, p, n);
        return;
    }
    sp_buf_puts(out, formula ? "\"'" : "\"");
    for (size_t i = 0; i < n; i++)
        sp_buf_add(out, p[i] == '"' ? "\"\"" : p + i, p[i] == '"' ? 2 : 1);
    sp_buf_ch(out, '"');
}

void sp_markdown_text(struct sp_output *out, const char *p, size_t n)
{
    static const bool escaped[256] = {['|'] = true, ['\\'] = true, ['`'] = true, ['*'] = true, ['_'] = true,
                                      ['['] = true, [']'] = true,  ['<'] = true, ['>'] = true, ['&'] = true};
    size_t from = 0; /* what is not yet written */
    for (size_t i = 0; i < n; i++) {
        if (!escaped[(unsigned char)p[i]])
            continue;
        sp_write(out, p + from, i - from);
        sp_write(out, "\\", 1);
        from = i;
    }
    sp_write(out, p + from, n - from);
}

static void markdown_rule(const struct sp_table *t, struct sp_output *out)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        sp_printf(out, "%s%s%s", c ? "" : "|", t->columns[c].right ? "---:|" : "---|",
                  c + 1 == t->ncolumns ? "\n" : "");
}

/* As cells are when they are put: a title may be a key that the profile has. Lent until the next one. */
static struct sp_table_cell safe_title(struct sp_table *t, size_t column)
{
    const char *title = t->columns[column].title;
    sp_buf_clear(&t->b);
    sp_text_safe(&t->b, title, strlen(title));
    t->failed |= t->b.failed;
    return (struct sp_table_cell){t->b.len ? t->b.data : "", (uint32_t)t->b.len, 0};
}

static bool line_form(struct sp_table *t, size_t rows, bool markdown, struct sp_buf *b, struct sp_output *out)
{
    bool ok = true;
    for (size_t r = t->goes_on; r <= rows; r++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            struct sp_table_cell cell = r ? t->cells.v[(r - 1) * t->ncolumns + c] : safe_title(t, c);
            sp_puts(out, markdown ? (c ? " | " : "| ") : c ? "," : "");
            if (markdown) {
                sp_markdown_text(out, cell.p, cell.n);
                continue;
            }
            sp_buf_clear(b);
            sp_csv_cell(b, cell.p, cell.n);
            ok = ok && !b->failed;
            sp_write(out, b->data, b->len);
        }
        sp_puts(out, markdown ? " |\n" : "\n");
        if (markdown && !r)
            markdown_rule(t, out);
    }
    return ok && !t->failed;
}

spaa_status sp_table_write(struct sp_table *t, enum sp_table_form form, unsigned width, struct sp_output *out)
{
    if (t->failed)
        return SPAA_ERR_NOMEM;
    size_t rows = t->cells.n / t->ncolumns;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool ok = true;
    if (form == SP_TABLE_TEXT)
        ok = text_form(t, rows, width, &b, out);
    else
        ok = line_form(t, rows, form == SP_TABLE_MARKDOWN, &b, out);
    spaa_status st = b.failed || !ok ? SPAA_ERR_NOMEM : SPAA_OK;
    sp_buf_free(&b);
    return st;
}
