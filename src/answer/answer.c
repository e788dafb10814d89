#include "answer/answer.h"

#include "base/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ABSENT INT64_MIN /* SP_ABSENT of model/tables.h */

const char *const sp_column_type_names[] = {
    [SP_COL_NAME] = "name",     [SP_COL_DSO] = "dso",         [SP_COL_HANDLE] = "handle",
    [SP_COL_WEIGHT] = "weight", [SP_COL_PERCENT] = "percent", [SP_COL_COUNT] = "count",
    [SP_COL_TEXT] = "text",     [SP_COL_TIME] = "time",       [SP_COL_NUMBER] = "number",
    [SP_COL_BOOL] = "bool",     [SP_COL_TEXTS] = "texts",
};

void sp_answer_init(struct sp_answer *a, const char *schema, struct sp_diags *d)
{
    *a = (struct sp_answer){.schema = schema, .diags = d};
    sp_arena_init(&a->arena, 0);
    sp_buf_init(&a->scratch, 0);
}

void sp_answer_free(struct sp_answer *a)
{
    for (size_t i = 0; i < a->items.n; i++) {
        struct sp_answer_table *t = a->items.v[i].table;
        if (!t)
            continue;
        sp_vec_free(&t->columns);
        sp_vec_free(&t->measure);
        sp_vec_free(&t->row_measure);
        sp_vec_free(&t->absent);
        sp_vec_free(&t->cells);
        sp_vec_free(&t->depth);
        sp_vec_free(&t->owner);
    }
    for (size_t i = 0; i < a->kept.n; i++)
        a->kept.v[i].free(a->kept.v[i].p);
    sp_vec_free(&a->told);
    sp_vec_free(&a->kept);
    sp_vec_free(&a->items);
    sp_vec_free(&a->measures);
    sp_vec_free(&a->next);
    sp_buf_free(&a->scratch);
    sp_arena_free(&a->arena);
}

void sp_answer_at_most(struct sp_answer *a, uint64_t most, bool aside)
{
    a->most = most;
    a->aside = aside;
    a->arena.limit = most < SIZE_MAX ? (size_t)most : 0;
}

spaa_status sp_answer_too_long(const struct sp_answer *a)
{
    sp_emit_hint(a->diags, SP_E007, SP_AT_NOTHING, "fewer rows: -n N, --budget N, or a filter",
                 "the answer would be more than %llu MB, out of all proportion to what the profile holds",
                 (unsigned long long)(a->most / 1000000));
    return SPAA_ERR_LIMIT;
}

spaa_status sp_answer_status(const struct sp_answer *a)
{
    if (a->failed && a->arena.full)
        return sp_answer_too_long(a);
    return a->failed || a->scratch.failed ? sp_nomem(a->diags) : SPAA_OK;
}

/* A copy in the arena; NULL on failure. */
static const char *answer_text(struct sp_answer *a, const char *p, size_t n)
{
    const char *copy = n <= UINT32_MAX ? sp_arena_dup(&a->arena, p, n) : NULL;
    a->failed |= !copy;
    return copy;
}

static struct sp_cell answer_text_cell(struct sp_answer *a, const char *p, size_t n)
{
    const char *copy = p ? answer_text(a, p, n) : NULL;
    return copy ? (struct sp_cell){.kind = SP_VALUE_TEXT, .n = (uint32_t)n, .text = copy}
                : (struct sp_cell){0};
}

static struct sp_cell answer_int_cell(int64_t v)
{
    return v == ABSENT ? (struct sp_cell){0} : (struct sp_cell){.kind = SP_VALUE_INT, .i = v};
}

uint32_t sp_answer_measure(struct sp_answer *a, const struct sp_measure *m)
{
    struct sp_measure copy = *m;
    struct sp_str *texts[] = {&copy.event, &copy.metric, &copy.unit};
    for (size_t i = 0; i < 3; i++) {
        texts[i]->p = answer_text(a, texts[i]->n ? texts[i]->p : "", texts[i]->n);
        if (!texts[i]->p)
            return 0;
    }
    if (!sp_vec_push(&a->measures, copy)) {
        a->failed = true;
        return 0;
    }
    return (uint32_t)(a->measures.n - 1);
}

/* ---- items ---- */

static void answer_item(struct sp_answer *a, const struct sp_item *item)
{
    if (!sp_vec_push(&a->items, *item))
        a->failed = true;
}

static void answer_fact(struct sp_answer *a, const char *name, enum sp_column_type type, uint32_t measure,
                        struct sp_cell value)
{
    const char *copy = answer_text(a, name, strlen(name));
    if (copy)
        answer_item(
            a, &(struct sp_item){
                   .kind = SP_ITEM_FACT, .name = copy, .type = type, .measure = measure, .value = value});
}

void sp_fact_text(struct sp_answer *a, const char *name, const char *p, size_t n)
{
    answer_fact(a, name, SP_COL_TEXT, 0, answer_text_cell(a, p, n));
}

void sp_fact_name(struct sp_answer *a, const char *name, const char *p, size_t n)
{
    answer_fact(a, name, SP_COL_NAME, 0, answer_text_cell(a, p, n));
}

void sp_fact_cstr(struct sp_answer *a, const char *name, const char *s)
{
    sp_fact_text(a, name, s, s ? strlen(s) : 0);
}

void sp_fact_count(struct sp_answer *a, const char *name, int64_t v)
{
    answer_fact(a, name, SP_COL_COUNT, 0, answer_int_cell(v));
}

void sp_fact_bool(struct sp_answer *a, const char *name, bool v)
{
    answer_fact(a, name, SP_COL_BOOL, 0, answer_int_cell(v));
}

void sp_fact_weight(struct sp_answer *a, const char *name, uint32_t measure, int64_t v)
{
    answer_fact(a, name, SP_COL_WEIGHT, measure, answer_int_cell(v));
}

void sp_fact_percent(struct sp_answer *a, const char *name, uint32_t measure, int64_t v)
{
    answer_fact(a, name, SP_COL_PERCENT, measure, answer_int_cell(v));
}

void sp_fact_share(struct sp_answer *a, const char *name, int64_t v, int64_t of)
{
    if (of)
        sp_fact_scaled(a, name, (int64_t)sp_ratio(v, of, 10000), 2);
    else
        sp_fact_null(a, name);
}

void sp_fact_real(struct sp_answer *a, const char *name, double v)
{
    answer_fact(a, name, SP_COL_NUMBER, 0, (struct sp_cell){.kind = SP_VALUE_REAL, .real = v});
}

void sp_fact_scaled(struct sp_answer *a, const char *name, int64_t v, unsigned scale)
{
    struct sp_cell cell = answer_int_cell(v);
    cell.scale = (uint8_t)scale;
    answer_fact(a, name, SP_COL_NUMBER, 0, cell);
}

void sp_fact_null(struct sp_answer *a, const char *name)
{
    answer_fact(a, name, SP_COL_TEXT, 0, (struct sp_cell){0});
}

void sp_answer_open(struct sp_answer *a, const char *name, char kind)
{
    const char *copy = answer_text(a, name ? name : "", name ? strlen(name) : 0);
    if (copy)
        answer_item(a, &(struct sp_item){.kind = SP_ITEM_OPEN, .name = copy, .list = kind == '['});
}

void sp_answer_close(struct sp_answer *a)
{
    answer_item(a, &(struct sp_item){.kind = SP_ITEM_CLOSE});
}

void sp_answer_line_buf(struct sp_answer *a, const struct sp_buf *b)
{
    sp_answer_line_of(a, SP_LINE_PLAIN, b);
}

void sp_answer_line_of(struct sp_answer *a, enum sp_line_style style, const struct sp_buf *b)
{
    a->failed |= b->failed;
    answer_item(a, &(struct sp_item){.kind = SP_ITEM_LINE,
                                     .style = style,
                                     .value = answer_text_cell(a, b->len ? b->data : "", b->len)});
}

void sp_answer_line(struct sp_answer *a, const char *fmt, ...)
{
    va_list args;
    char text[1024];
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    answer_item(a, &(struct sp_item){.kind = SP_ITEM_LINE, .value = answer_text_cell(a, text, len)});
}

/* ---- tables ---- */

struct sp_answer_table *sp_answer_table(struct sp_answer *a, const struct sp_table_decl *decl)
{
    struct sp_answer_table *t = sp_arena_zalloc(&a->arena, sizeof *t);
    if (!t ||
        !sp_vec_push(&a->items, ((struct sp_item){.kind = SP_ITEM_TABLE, .name = decl->name, .table = t}))) {
        a->failed = true;
        return NULL;
    }
    t->decl = decl;
    t->limit = SIZE_MAX;
    for (size_t i = 0; i < decl->ncolumns; i++)
        if (!sp_vec_push(&t->columns, decl->columns[i]) || !sp_vec_push(&t->measure, 0) ||
            !sp_vec_push(&t->absent, false))
            a->failed = true;
    return a->failed ? NULL : t;
}

struct sp_answer_table *sp_answer_detail(struct sp_answer *a, const struct sp_table_decl *decl,
                                         const struct sp_answer_table *of)
{
    struct sp_answer_table *t = of ? sp_answer_table(a, decl) : NULL;
    if (t)
        t->of = of;
    return t;
}

size_t sp_table_add_column(struct sp_answer *a, struct sp_answer_table *t, const struct sp_answer_column *c,
                           uint32_t measure)
{
    struct sp_answer_column copy = *c;
    const char **texts[] = {&copy.name, &copy.title, &copy.of, &copy.doc};
    if (!t)
        return 0;
    for (size_t i = 0; i < 4; i++)
        if (*texts[i])
            *texts[i] = answer_text(a, *texts[i], strlen(*texts[i]));
    if (a->failed || !sp_vec_push(&t->columns, copy) || !sp_vec_push(&t->measure, measure) ||
        !sp_vec_push(&t->absent, false)) {
        a->failed = true;
        return 0;
    }
    return t->columns.n - 1;
}

void sp_table_title(struct sp_answer *a, struct sp_answer_table *t, size_t column, const char *title)
{
    if (t)
        t->columns.v[column].title = title ? answer_text(a, title, strlen(title)) : NULL;
}

void sp_table_row_measure(struct sp_answer *a, struct sp_answer_table *t, uint32_t measure)
{
    if (t && !sp_vec_push(&t->row_measure, measure))
        a->failed = true;
}

void sp_table_without(struct sp_answer_table *t, size_t column)
{
    if (t)
        t->absent.v[column] = true;
}

void sp_table_row(struct sp_answer *a, struct sp_answer_table *t)
{
    if (!t)
        return;
    if (!sp_vec_reserve(&t->cells, t->cells.n + t->columns.n) || t->absent.n != t->columns.n ||
        (t->of && !sp_vec_push(&t->owner, t->of->rows - 1))) {
        a->failed = true;
        return;
    }
    memset(t->cells.v + t->cells.n, 0, t->columns.n * sizeof *t->cells.v);
    t->cells.n += t->columns.n;
    t->rows++;
}

/* The cell of the last row; a place to throw away where there is none. */
static struct sp_cell *answer_last_cell(struct sp_answer_table *t, size_t column)
{
    static _Thread_local struct sp_cell nowhere;
    return t && t->rows && column < t->columns.n ? &t->cells.v[t->cells.n - t->columns.n + column] : &nowhere;
}

void sp_put_int(struct sp_answer_table *t, size_t column, int64_t v)
{
    *answer_last_cell(t, column) = answer_int_cell(v);
}

void sp_put_real(struct sp_answer_table *t, size_t column, double v)
{
    *answer_last_cell(t, column) = (struct sp_cell){.kind = SP_VALUE_REAL, .real = v};
}

void sp_put_scaled(struct sp_answer_table *t, size_t column, int64_t v, unsigned scale)
{
    struct sp_cell c = answer_int_cell(v);
    c.scale = (uint8_t)scale;
    *answer_last_cell(t, column) = c;
}

void sp_put_text(struct sp_answer *a, struct sp_answer_table *t, size_t column, const char *p, size_t n)
{
    *answer_last_cell(t, column) = answer_text_cell(a, p, n);
}

void sp_put_texts(struct sp_answer *a, struct sp_answer_table *t, size_t column,
                  const struct sp_value_text *v, size_t n)
{
    struct sp_value_text *copy = n < UINT32_MAX ? sp_arena_alloc(&a->arena, (n + 1) * sizeof *copy) : NULL;
    a->failed |= !copy;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = (struct sp_value_text){answer_text(a, v[i].p, v[i].n), v[i].n};
    if (!a->failed)
        *answer_last_cell(t, column) =
            (struct sp_cell){.kind = SP_VALUE_TEXTS, .n = (uint32_t)n, .texts = copy};
}

void sp_answer_tells(struct sp_answer *a, enum sp_code code)
{
    a->failed |= !sp_vec_push(&a->told, code);
}

bool sp_answer_keep(struct sp_answer *a, void *p, void (*free)(void *p))
{
    bool ok = sp_vec_push(&a->kept, ((struct sp_kept){p, free}));
    if (!ok)
        free(p);
    a->failed |= !ok;
    return ok;
}

void sp_table_made(struct sp_answer *a, struct sp_answer_table *t, const struct sp_row_maker *maker,
                   size_t rows)
{
    if (t)
        t->made = sp_arena_zalloc(&a->arena, sizeof *t->made);
    if (!t || !t->made || !sp_vec_reserve(&t->cells, t->columns.n)) {
        a->failed = true;
        return;
    }
    t->maker = maker;
    t->rows = rows;
}

void sp_row_make(const struct sp_answer_table *t, size_t row)
{
    if (*t->made == row + 1)
        return;
    sp_row_own_cells(t, row);
    t->maker->alike(t->maker->arg, t->maker->key(t->maker->arg, row), t->cells.v);
    *t->made = row + 1;
}

const struct sp_cell *sp_row_own_cells(const struct sp_answer_table *t, size_t row)
{
    memset(t->cells.v, 0, t->columns.n * sizeof *t->cells.v);
    t->maker->make(t->maker->arg, row, t->cells.v);
    *t->made = 0;
    return t->cells.v;
}

const struct sp_cell *sp_row_cells(const struct sp_answer_table *t, size_t row)
{
    return sp_cell_at(t, row, 0);
}

spaa_status sp_rows_take(struct sp_answer_table *t, size_t n, void (*take)(void *to, size_t row), void *to)
{
    if (t->maker && t->maker->walk)
        return t->maker->walk(t->maker->arg, t, take, to);
    for (size_t row = 0; row < n; row++)
        take(to, row);
    return SPAA_OK;
}

const struct sp_measure *sp_cell_measure(const struct sp_answer *a, const struct sp_answer_table *t,
                                         size_t row, size_t column)
{
    static const struct sp_measure none;
    uint32_t m = t->row_measure.n ? t->row_measure.v[row] : t->measure.v[column];
    return m < a->measures.n ? &a->measures.v[m] : &none;
}

size_t sp_column_of(const struct sp_answer_table *t, size_t column)
{
    const struct sp_answer_column *c = &t->columns.v[column];
    for (size_t i = 0; c->of && i < t->columns.n; i++)
        if (strcmp(t->columns.v[i].name, c->of) == 0)
            return i;
    return column;
}

const struct sp_cell *sp_shown_cell(const struct sp_answer_table *t, size_t row, size_t column)
{
    bool percent = t->columns.v[column].type == SP_COL_PERCENT;
    return sp_cell_at(t, row, percent ? sp_column_of(t, column) : column);
}

const struct sp_answer_table *sp_answer_find(const struct sp_answer *a, const char *name)
{
    for (size_t i = 0; i < a->items.n; i++)
        if (a->items.v[i].kind == SP_ITEM_TABLE && strcmp(a->items.v[i].name, name) == 0)
            return a->items.v[i].table;
    return NULL;
}

void sp_answer_next(struct sp_answer *a, const char *question, const char *argument, const char *tail)
{
    struct sp_next next = {.question = question};
    if (argument)
        next.argument = answer_text(a, argument, strlen(argument));
    if (tail)
        next.tail = answer_text(a, tail, strlen(tail));
    if (!sp_vec_push(&a->next, next))
        a->failed = true;
}

void sp_answer_next_command(struct sp_answer *a, const char *question, const struct sp_buf *command)
{
    const char *text =
        command->failed ? NULL : answer_text(a, command->data ? command->data : "", command->len);
    if (!text || !sp_vec_push(&a->next, ((struct sp_next){.question = question, .command = text})))
        a->failed = true;
}
