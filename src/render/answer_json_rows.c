/*
 * Rows of an answer's tables as JSON: what depends on the column is put together once for each column, and a
 * row is kept no longer than it takes to write it.
 */
#include "render/answer_private.h"

#include "answer/cell_json.h"
#include "json/json.h"

#include <stdlib.h>

enum { FULL = 1 << 14, DETAILS = 8 };

/* ---- columns ---- */

struct json_column {
    size_t cell; /* column whose cells it shows: of a percentage, that of its weight */
    enum sp_column_type type;
    bool optional, named; /* named: its short form stands beside it */
    const char *path;     /* a member of a member; NULL: a member of the row */
    const char *member;   /* ,"name": */
    size_t member_n;
    const struct sp_measure *measure; /* NULL: rows have their own */
};

struct json_rows {
    struct sp_answer_table *t;
    struct json_column *columns;
    size_t n;
    const struct sp_value_text *shorts; /* of the named column, by row */
    size_t next;                        /* of details: the row to be written next */
};

/* A table with its details: rows on their way. */
struct json_list {
    const struct sp_drawing *g;
    struct json_rows tables[DETAILS];
    size_t n;
    struct sp_buf b;
    const char *open; /* path of the member that was written last, whose lists and objects are open */
    struct sp_arena arena;
    bool any, failed;
};

static bool json_is_path(const struct sp_answer_column *c)
{
    return !(c->flags & SP_COL_WHOLE_NAME) && strchr(c->name, '.');
}

/* A row begins with what it is called. */
static bool json_leads(const struct sp_answer_column *c)
{
    return (c->type == SP_COL_HANDLE || c->type == SP_COL_NAME || c->type == SP_COL_DSO) && !json_is_path(c);
}

static bool json_member_text(struct json_column *c, const char *name, struct sp_arena *arena)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_ch(&b, ',');
    sp_json_string(&b, name, strlen(name));
    sp_buf_ch(&b, ':');
    c->member = b.failed ? NULL : sp_arena_dup(arena, b.data, b.len);
    c->member_n = b.len;
    sp_buf_free(&b);
    return c->member;
}

static bool json_column(const struct json_list *l, struct json_rows *r, size_t column, struct sp_arena *arena)
{
    const struct sp_answer_table *t = r->t;
    const struct sp_answer_column *c = &t->columns.v[column];
    struct json_column *out = &r->columns[r->n++];
    bool percent = c->type == SP_COL_PERCENT;
    *out = (struct json_column){.cell = percent ? sp_column_of(t, column) : column,
                                .type = c->type,
                                .optional = c->flags & SP_COL_OPTIONAL,
                                .named = c->type == SP_COL_NAME && strcmp(c->name, "function") == 0,
                                .path = json_is_path(c) ? c->name : NULL};
    if (!t->row_measure.n)
        out->measure = sp_cell_measure(l->g->answer, t, 0, column);
    return json_member_text(out, c->name, arena);
}

static bool json_columns(const struct json_list *l, struct json_rows *r, struct sp_arena *arena)
{
    const struct sp_answer_table *t = r->t;
    r->columns = sp_arena_zalloc(arena, (t->columns.n + 1) * sizeof *r->columns);
    bool ok = r->columns;
    for (int leads = 1; leads >= 0; leads--)
        for (size_t c = 0; ok && c < t->columns.n; c++)
            if (!t->absent.v[c] && !(t->columns.v[c].flags & SP_COL_NO_JSON) &&
                json_leads(&t->columns.v[c]) == (leads == 1))
                ok = json_column(l, r, c, arena);
    return ok;
}

/* ---- paths ---- */

static bool is_place(const char *p)
{
    return *p >= '0' && *p <= '9';
}

/* How much of them is the same lists and objects: up to behind a point. */
static size_t json_common(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '.')
            common = i + 1;
    return common;
}

/* From the member at the path `from` to that at `to`, up to its value; NULL: a member of the row. */
static void json_go(struct sp_buf *b, const char *from, const char *to)
{
    size_t common = from && to ? json_common(from, to) : 0;
    for (size_t i = from ? strlen(from) : 0; i > common; i--)
        if (from[i - 1] == '.')
            sp_buf_ch(b, is_place(from + i) ? ']' : '}');
    if (!to)
        return;
    sp_buf_ch(b, ',');
    for (const char *p = to + common, *end; p; p = end ? end + 1 : NULL) {
        end = strchr(p, '.');
        if (p == to || !is_place(p)) { /* items of a list have no name */
            sp_json_string(b, p, end ? (size_t)(end - p) : strlen(p));
            sp_buf_ch(b, ':');
        }
        if (end)
            sp_buf_ch(b, is_place(end + 1) ? '[' : '{');
    }
}

/* ---- rows ---- */

static const struct sp_measure *json_measure(const struct json_list *l, const struct json_rows *r,
                                             const struct json_column *c, size_t row)
{
    return c->measure ? c->measure : sp_cell_measure(l->g->answer, r->t, row, c->cell);
}

static void json_member(struct json_list *l, struct json_rows *r, struct json_column *c,
                        const struct sp_cell *cell, size_t row, struct sp_buf *b)
{
    if (c->optional && cell->kind == SP_VALUE_NONE)
        return;
    const struct sp_measure *m = json_measure(l, r, c, row);
    if (l->open || c->path)
        json_go(b, l->open, c->path);
    l->open = c->path;
    if (!c->path)
        sp_buf_add(b, c->member, c->member_n);
    sp_cell_json(b, c->type, cell, m);
    if (c->named && r->shorts && cell->kind == SP_VALUE_TEXT) {
        sp_buf_puts(b, ",\"short\":");
        sp_json_string(b, r->shorts[row].p, r->shorts[row].n);
    }
}

static void json_members(struct json_list *l, struct json_rows *r, size_t row)
{
    const struct sp_cell *cells = sp_row_cells(r->t, row);
    for (size_t i = 0; i < r->n; i++)
        json_member(l, r, &r->columns[i], &cells[r->columns[i].cell], row, &l->b);
}

/* Members have a comma before them each: the first one's becomes the bracket of what began at `at`. */
static void json_close_row(struct json_list *l, size_t at)
{
    if (l->open)
        json_go(&l->b, l->open, NULL);
    l->open = NULL;
    if (l->b.len > at)
        l->b.data[at] = '{';
    else
        sp_buf_ch(&l->b, '{');
    sp_buf_ch(&l->b, '}');
}

/* What belongs to the row, as lists inside it. */
static void json_details(struct json_list *l, size_t row)
{
    for (size_t k = 1; k < l->n; k++) {
        struct json_rows *d = &l->tables[k];
        json_go(&l->b, l->open, d->t->decl->name);
        sp_buf_ch(&l->b, '[');
        for (bool first = true; d->next < d->t->rows && d->t->owner.v[d->next] == row; first = false) {
            sp_buf_puts(&l->b, first ? "" : ",");
            size_t at = l->b.len;
            l->open = NULL;
            json_members(l, d, d->next++);
            json_close_row(l, at);
        }
        sp_buf_ch(&l->b, ']');
        l->open = d->t->decl->name;
    }
}

static void json_flush(struct json_list *l)
{
    l->failed |= l->b.failed;
    sp_json_write(l->g->out, l->b.data, l->b.len);
    sp_buf_clear(&l->b);
}

static void json_take_row(void *to, size_t row)
{
    struct json_list *l = to;
    if (l->failed)
        return;
    if (l->any)
        sp_buf_ch(&l->b, ',');
    l->any = true;
    size_t at = l->b.len;
    json_members(l, &l->tables[0], row);
    json_details(l, row);
    json_close_row(l, at);
    if (l->b.len >= FULL || l->b.failed)
        json_flush(l);
}

/* ---- tables ---- */

/* Short names of the column that has them; false: memory is exhausted. */
static bool json_shorts(struct json_rows *r, size_t rows, struct sp_arena *arena)
{
    struct sp_row_groups each; /* by itself */
    for (size_t i = 0; i < r->n; i++)
        if (r->columns[i].named)
            return sp_row_groups_init(&each, r->t, rows, false) &&
                   (r->shorts = sp_short_names(&each, r->columns[i].cell, arena));
    return true;
}

/* The table and its details, which are behind it in the answer. */
static bool json_collect(struct json_list *l, struct sp_answer_table *t, size_t rows)
{
    const struct sp_answer *a = l->g->answer;
    bool ok = true;
    for (size_t i = 0; ok && i < a->items.n && l->n < DETAILS; i++) {
        struct sp_answer_table *one = a->items.v[i].table;
        if (!one || (one != t && one->of != t))
            continue;
        struct json_rows *r = &l->tables[l->n++];
        r->t = one;
        ok = json_columns(l, r, &l->arena) && json_shorts(r, one == t ? rows : one->rows, &l->arena);
    }
    return ok;
}

spaa_status sp_json_rows(const struct sp_drawing *g, struct sp_answer_table *t)
{
    struct json_list l = {.g = g};
    size_t rows = sp_drawn_rows(g, t);
    sp_buf_init(&l.b, 0);
    sp_arena_init(&l.arena, 0);
    l.failed = !json_collect(&l, t, rows);
    spaa_status st = l.failed ? SPAA_ERR_NOMEM : sp_rows_take(t, rows, json_take_row, &l);
    json_flush(&l);
    sp_arena_free(&l.arena);
    sp_buf_free(&l.b);
    return st ? st : l.failed ? SPAA_ERR_NOMEM : SPAA_OK;
}
