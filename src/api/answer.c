/* An answer as data: facts by their paths, tables, and whole columns that are made when they are asked for.
 */
#include "api/answer.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- listing ---- */

enum { FACT_LEVELS = 24 };

/* Where facts are while the items are gone through: what is open, and the next place in a list. */
struct fact_path {
    struct {
        size_t len; /* of the path without it */
        bool list;
        size_t next;
    } open[FACT_LEVELS];
    size_t n;
    struct sp_buf path;
};

/* The path goes on to this member; the length that it had. */
static size_t fact_path_enter(struct fact_path *x, const char *name)
{
    size_t len = x->path.len;
    if (len)
        sp_buf_ch(&x->path, '.');
    if (x->n && x->open[x->n - 1].list)
        sp_buf_printf(&x->path, "%zu", x->open[x->n - 1].next++);
    else
        sp_buf_puts(&x->path, name);
    return len;
}

static void fact_path_item(struct fact_path *x, const struct sp_item *item)
{
    if (item->kind == SP_ITEM_OPEN && x->n < FACT_LEVELS) {
        size_t len = fact_path_enter(x, item->name);
        x->open[x->n].len = len;
        x->open[x->n].list = item->list;
        x->open[x->n++].next = 0;
    } else if (item->kind == SP_ITEM_CLOSE && x->n) {
        x->path.len = x->open[--x->n].len;
    }
}

static double real_of(const struct sp_cell *cell, enum sp_column_type type, const struct sp_measure *m)
{
    if (cell->kind == SP_VALUE_REAL)
        return cell->real;
    if (cell->kind != SP_VALUE_INT)
        return NAN;
    if (type != SP_COL_PERCENT)
        return (double)cell->i / pow(10, cell->scale);
    return m->cannot_add || !m->whole ? NAN : (double)sp_ratio(cell->i, m->whole, 10000) / 100;
}

static int64_t integer_of(const struct sp_cell *cell, enum sp_column_type type, const struct sp_measure *m)
{
    return cell->kind == SP_VALUE_INT && !(type == SP_COL_WEIGHT && m->cannot_add) ? cell->i : SPAA_ABSENT;
}

/* Which array a column has. */
enum column_array { COLUMN_INTEGERS, COLUMN_REALS, COLUMN_TEXT, COLUMN_LISTS };
static enum column_array array_of(enum sp_column_type type)
{
    switch (type) {
    case SP_COL_WEIGHT:
    case SP_COL_COUNT:
    case SP_COL_TIME:
    case SP_COL_BOOL:
        return COLUMN_INTEGERS;
    case SP_COL_PERCENT:
    case SP_COL_NUMBER:
        return COLUMN_REALS;
    case SP_COL_TEXTS:
        return COLUMN_LISTS;
    default:
        return COLUMN_TEXT;
    }
}

static bool has_measure(enum sp_column_type type)
{
    return type == SP_COL_WEIGHT || type == SP_COL_PERCENT;
}

static bool list_fact(struct spaa_answer *x, struct fact_path *path, const struct sp_item *item)
{
    static const struct sp_measure none;
    size_t len = fact_path_enter(path, item->name);
    const char *name = path->path.failed ? NULL : sp_arena_dup(&x->arena, path->path.data, path->path.len);
    path->path.len = len;
    if (!name)
        return false;
    const struct sp_measure *m = item->measure < x->a.measures.n ? &x->a.measures.v[item->measure] : &none;
    struct spaa_fact f = {.name = name,
                          .type = sp_column_type_names[item->type],
                          .integer = SPAA_ABSENT,
                          .real = NAN,
                          .measure = SPAA_NONE};
    if (has_measure(item->type))
        f.measure = item->measure;
    switch (array_of(item->type)) {
    case COLUMN_INTEGERS:
        f.integer = integer_of(&item->value, item->type, m);
        f.is_null = f.integer == SPAA_ABSENT;
        break;
    case COLUMN_REALS:
        f.real = real_of(&item->value, item->type, m);
        f.is_null = isnan(f.real);
        break;
    default:
        f.text = item->value.kind == SP_VALUE_TEXT ? item->value.text : NULL;
        f.is_null = !f.text;
    }
    return sp_vec_push(&x->facts, f);
}

void sp_api_answer_uncut(struct spaa_answer *x)
{
    for (size_t i = 0; i < x->a.items.n; i++) {
        struct sp_answer_table *t = x->a.items.v[i].table;
        if (t && t->maker)
            t->maker->cut(t->maker->arg, t, SIZE_MAX);
    }
}

bool sp_api_answer_list(struct spaa_answer *x)
{
    struct fact_path path = {0};
    bool ok = true;
    sp_buf_init(&path.path, 0);
    for (size_t i = 0; ok && i < x->a.items.n; i++) {
        const struct sp_item *item = &x->a.items.v[i];
        if (item->kind == SP_ITEM_FACT)
            ok = list_fact(x, &path, item);
        else if (item->kind == SP_ITEM_TABLE)
            ok = sp_vec_push(&x->tables, (const struct sp_answer_table *)item->table);
        else
            fact_path_item(&path, item);
    }
    for (size_t i = 0; ok && i < x->tables.n * SP_TABLE_COLUMNS; i++)
        ok = sp_vec_push(&x->columns, NULL);
    ok = ok && !path.path.failed;
    sp_api_answer_uncut(x);
    sp_buf_free(&path.path);
    return ok;
}

void spaa_answer_free(struct spaa_answer *answer)
{
    if (!answer)
        return;
    sp_answer_free(&answer->a);
    sp_run_question_free(&answer->run, &answer->asked);
    sp_run_free(&answer->run);
    free(answer->given);
    sp_vec_free(&answer->facts);
    sp_vec_free(&answer->tables);
    sp_vec_free(&answer->columns);
    sp_arena_free(&answer->arena);
    sp_diags_free(&answer->diags);
    free(answer);
}

/* ---- measures, facts, next ---- */

spaa_status spaa_answer_measure(const struct spaa_answer *answer, size_t i, struct spaa_measure *out)
{
    if (!answer || !out)
        return SPAA_ERR_USAGE;
    if (i >= answer->a.measures.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_measure *m = &answer->a.measures.v[i];
    struct spaa_measure found = {.event = m->event.p,
                                 .metric = m->metric.p,
                                 .unit = m->unit.p,
                                 .scale = m->scale,
                                 .cannot_add = m->cannot_add,
                                 .whole = m->whole};
    return sp_api_result(out, &found, sizeof found);
}

size_t spaa_answer_fact_count(const struct spaa_answer *answer)
{
    return answer ? answer->facts.n : 0;
}

spaa_status spaa_answer_fact(const struct spaa_answer *answer, size_t i, struct spaa_fact *out)
{
    if (!answer || !out)
        return SPAA_ERR_USAGE;
    return i < answer->facts.n ? sp_api_result(out, &answer->facts.v[i], sizeof *out) : SPAA_ERR_NOT_FOUND;
}

size_t spaa_answer_find_fact(const struct spaa_answer *answer, const char *name)
{
    for (size_t i = 0; answer && name && i < answer->facts.n; i++)
        if (strcmp(answer->facts.v[i].name, name) == 0)
            return i;
    return SPAA_NONE;
}

int spaa_answer_verdict(const struct spaa_answer *answer)
{
    return answer ? answer->a.verdict : SPAA_ANSWER_FINE;
}

const char *spaa_answer_next(const struct spaa_answer *answer, size_t i)
{
    return answer && i < answer->a.next.n ? answer->a.next.v[i].command : NULL;
}

/* ---- tables ---- */

/* Number k of the columns that are data, as a number of the table's; SIZE_MAX: there is none. */
static size_t api_column_number(const struct sp_answer_table *t, size_t k)
{
    for (size_t c = 0; c < t->columns.n; c++)
        if (!t->absent.v[c] && !(t->columns.v[c].flags & SP_COL_NO_JSON) && !k--)
            return c;
    return SIZE_MAX;
}

static size_t api_columns(const struct sp_answer_table *t)
{
    size_t n = 0;
    while (n < SP_TABLE_COLUMNS && api_column_number(t, n) != SIZE_MAX)
        n++;
    return n;
}

/* The rows that are shown: details are cut with what they are of. */
static size_t api_rows(const struct sp_answer_table *t)
{
    if (t->maker)
        return t->rows;
    size_t n = t->rows < t->limit ? t->rows : t->limit, of = t->of ? api_rows(t->of) : 0;
    while (t->of && n && t->owner.v[n - 1] >= of)
        n--;
    return n;
}

size_t spaa_answer_table_count(const struct spaa_answer *answer)
{
    return answer ? answer->tables.n : 0;
}

spaa_status spaa_answer_table(const struct spaa_answer *answer, size_t i, struct spaa_table *out)
{
    if (!answer || !out)
        return SPAA_ERR_USAGE;
    if (i >= answer->tables.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_answer_table *t = answer->tables.v[i];
    struct spaa_table found = {.name = t->decl->name,
                               .doc = t->decl->doc,
                               .rows = api_rows(t),
                               .columns = api_columns(t),
                               .of = SPAA_NONE,
                               .owner = t->owner.v};
    found.omitted = t->rows - found.rows + t->left_out;
    for (size_t k = 0; t->of && k < answer->tables.n; k++)
        if (answer->tables.v[k] == t->of)
            found.of = k;
    return sp_api_result(out, &found, sizeof found);
}

size_t spaa_answer_find_table(const struct spaa_answer *answer, const char *name)
{
    for (size_t i = 0; answer && name && i < answer->tables.n; i++)
        if (strcmp(answer->tables.v[i]->decl->name, name) == 0)
            return i;
    return SPAA_NONE;
}

size_t spaa_answer_find_column(const struct spaa_answer *answer, size_t i, const char *name)
{
    if (!answer || !name || i >= answer->tables.n)
        return SPAA_NONE;
    const struct sp_answer_table *t = answer->tables.v[i];
    for (size_t k = 0, n = api_columns(t); k < n; k++)
        if (strcmp(t->columns.v[api_column_number(t, k)].name, name) == 0)
            return k;
    return SPAA_NONE;
}

/* ---- columns ---- */

/* The texts of a column: one for each row, or all of each row's list with where they begin. */
static bool make_texts(struct spaa_answer *x, const struct sp_answer_table *t, size_t c, bool lists,
                       struct spaa_column *out)
{
    SP_VEC(const char *) texts = {0};
    size_t *first = lists ? sp_arena_alloc(&x->arena, (out->rows + 1) * sizeof *first) : NULL;
    bool ok = !lists || first;
    for (size_t r = 0; ok && r < out->rows; r++) {
        const struct sp_cell *cell = sp_shown_cell(t, r, c);
        if (lists) {
            first[r] = texts.n;
            for (uint32_t i = 0; ok && cell->kind == SP_VALUE_TEXTS && i < cell->n; i++) {
                const char *text = sp_arena_dup(&x->arena, cell->texts[i].p, cell->texts[i].n);
                ok = text && sp_vec_push(&texts, text);
            }
        } else {
            bool there = cell->kind == SP_VALUE_TEXT;
            const char *text = there ? sp_arena_dup(&x->arena, cell->text, cell->n) : NULL;
            ok = (text || !there) && sp_vec_push(&texts, text);
        }
    }
    if (ok && lists)
        first[out->rows] = texts.n;
    const char **copy = ok ? sp_arena_alloc(&x->arena, (texts.n + 1) * sizeof *copy) : NULL;
    if (copy && texts.n)
        memcpy(copy, texts.v, texts.n * sizeof *copy);
    sp_vec_free(&texts);
    out->texts = copy;
    out->first = first;
    return copy != NULL;
}

static bool make_integers(struct spaa_answer *x, const struct sp_answer_table *t, size_t c,
                          struct spaa_column *out)
{
    int64_t *v = sp_arena_alloc(&x->arena, (out->rows + 1) * sizeof *v);
    for (size_t r = 0; v && r < out->rows; r++)
        v[r] = integer_of(sp_shown_cell(t, r, c), t->columns.v[c].type, sp_cell_measure(&x->a, t, r, c));
    out->integers = v;
    return v != NULL;
}

static bool make_reals(struct spaa_answer *x, const struct sp_answer_table *t, size_t c,
                       struct spaa_column *out)
{
    double *v = sp_arena_alloc(&x->arena, (out->rows + 1) * sizeof *v);
    for (size_t r = 0; v && r < out->rows; r++)
        v[r] = real_of(sp_shown_cell(t, r, c), t->columns.v[c].type, sp_cell_measure(&x->a, t, r, c));
    out->reals = v;
    return v != NULL;
}

/* Which measure: one of all rows, or one of each. */
static bool make_measures(struct spaa_answer *x, const struct sp_answer_table *t, size_t c,
                          struct spaa_column *out)
{
    size_t *v;
    if (!has_measure(t->columns.v[c].type))
        return true;
    if (!t->row_measure.n) {
        out->measure = t->measure.v[c] < x->a.measures.n ? t->measure.v[c] : SPAA_NONE;
        return true;
    }
    if (!(v = sp_arena_alloc(&x->arena, (out->rows + 1) * sizeof *v)))
        return false;
    for (size_t r = 0; r < out->rows; r++)
        v[r] = t->row_measure.v[r];
    out->measures = v;
    return true;
}

static struct spaa_column *make_column(struct spaa_answer *x, const struct sp_answer_table *t, size_t c)
{
    const struct sp_answer_column *k = &t->columns.v[c];
    struct spaa_column *out = sp_arena_zalloc(&x->arena, sizeof *out);
    if (!out)
        return NULL;
    *out = (struct spaa_column){.name = k->name,
                                .type = sp_column_type_names[k->type],
                                .title = k->title,
                                .doc = k->doc,
                                .of = k->of,
                                .rows = api_rows(t),
                                .measure = SPAA_NONE};
    bool ok = make_measures(x, t, c, out);
    switch (array_of(k->type)) {
    case COLUMN_INTEGERS:
        ok = ok && make_integers(x, t, c, out);
        break;
    case COLUMN_REALS:
        ok = ok && make_reals(x, t, c, out);
        break;
    case COLUMN_TEXT:
        ok = ok && make_texts(x, t, c, false, out);
        break;
    case COLUMN_LISTS:
        ok = ok && make_texts(x, t, c, true, out);
        break;
    }
    return ok ? out : NULL;
}

spaa_status spaa_answer_column(struct spaa_answer *answer, size_t i, size_t k, struct spaa_column *out,
                               struct spaa_diagnostics **diagnostics)
{
    struct sp_diags d;
    if (!answer || !out)
        return sp_api_missing("no answer, or no place for the column", diagnostics);
    if (i >= answer->tables.n || k >= api_columns(answer->tables.v[i]))
        return SPAA_ERR_NOT_FOUND;
    const struct sp_answer_table *t = answer->tables.v[i];
    struct spaa_column **made = &answer->columns.v[i * SP_TABLE_COLUMNS + k];
    sp_diags_init(&d);
    if (!*made)
        *made = make_column(answer, t, api_column_number(t, k));
    spaa_status st = *made ? sp_api_result(out, *made, sizeof **made) : sp_nomem(&d);
    return sp_api_deliver(&d, diagnostics, st);
}
