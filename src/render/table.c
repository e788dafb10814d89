#include "render/table.h"

#include "base/buf.h"
#include "render/text.h"

#include <stdarg.h>
#include <stdlib.h>

void sp_table_init(struct sp_table *t, const struct sp_table_column *columns, size_t n)
{
    *t = (struct sp_table){.columns = columns, .ncolumns = n};
    sp_arena_init(&t->arena, 0);
}

void sp_table_next(struct sp_table *t)
{
    t->cells.n = 0;
    t->goes_on = true;
    sp_arena_free(&t->arena);
}

void sp_table_free(struct sp_table *t)
{
    sp_vec_free(&t->cells);
    sp_arena_free(&t->arena);
}

void sp_table_cell(struct sp_table *t, const char *p, size_t n)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_text_safe(&b, p, n);
    struct sp_table_cell cell = {b.failed ? NULL : sp_arena_dup(&t->arena, b.data ? b.data : "", b.len),
                                 b.len};
    if (!cell.p || !sp_vec_push(&t->cells, cell))
        t->failed = true;
    sp_buf_free(&b);
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
    for (; n; n--)
        sp_write(out, " ", 1);
}

static bool text_row(const struct sp_table *t, const struct sp_table_cell *row, const size_t *widths,
                     struct sp_buf *b, struct sp_output *out)
{
    bool ok = true;
    for (size_t c = 0; c < t->ncolumns; c++) {
        struct sp_table_cell cell =
            row ? row[c] : (struct sp_table_cell){t->columns[c].title, strlen(t->columns[c].title)};
        sp_buf_clear(b);
        ok = sp_text_fit(b, cell.p, cell.n, widths[c]) && ok;
        size_t w = sp_text_width(b->data ? b->data : "", b->len), pad = w < widths[c] ? widths[c] - w : 0;
        if (c)
            sp_write(out, "  ", 2);
        if (t->columns[c].right)
            spaces(out, pad);
        sp_write(out, b->data, b->len);
        if (!t->columns[c].right && c + 1 < t->ncolumns)
            spaces(out, pad);
    }
    sp_write(out, "\n", 1);
    return ok;
}

static bool text_form(const struct sp_table *t, size_t rows, unsigned width, struct sp_buf *b,
                      struct sp_output *out)
{
    size_t *widths = calloc(t->ncolumns, sizeof *widths), sum = 0;
    if (!widths)
        return false;
    for (size_t c = 0; c < t->ncolumns; c++) {
        widths[c] = strlen(t->columns[c].title);
        for (size_t r = 0; r < rows; r++) {
            const struct sp_table_cell *cell = &t->cells.v[r * t->ncolumns + c];
            size_t w = sp_text_width(cell->p, cell->n);
            if (w > widths[c])
                widths[c] = w;
        }
        sum += widths[c] + (c ? 2 : 0);
    }
    for (size_t c = t->ncolumns; width && sum > width && c-- > 0;) {
        if (!t->columns[c].flexible)
            continue;
        size_t least = widths[c] < 16 ? widths[c] : 16, cut = sum - width;
        if (cut > widths[c] - least)
            cut = widths[c] - least;
        widths[c] -= cut;
        sum -= cut;
    }
    bool ok = text_row(t, NULL, widths, b, out);
    for (size_t r = 0; r < rows; r++)
        ok = text_row(t, t->cells.v + r * t->ncolumns, widths, b, out) && ok;
    free(widths);
    return ok;
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
    for (size_t i = 0; i < n; i++) {
        if (strchr("|\\`*_[]<>&", p[i]) && p[i])
            sp_write(out, "\\", 1);
        sp_write(out, p + i, 1);
    }
}

static void markdown_rule(const struct sp_table *t, struct sp_output *out)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        sp_printf(out, "%s%s%s", c ? "" : "|", t->columns[c].right ? "---:|" : "---|",
                  c + 1 == t->ncolumns ? "\n" : "");
}

static bool line_form(const struct sp_table *t, size_t rows, bool markdown, struct sp_buf *b,
                      struct sp_output *out)
{
    bool ok = true;
    for (size_t r = t->goes_on; r <= rows; r++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            struct sp_table_cell cell = {t->columns[c].title, strlen(t->columns[c].title)};
            if (r)
                cell = t->cells.v[(r - 1) * t->ncolumns + c];
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
    return ok;
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
