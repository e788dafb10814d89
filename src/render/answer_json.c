/*
 * Answers as JSON. Names of members may be paths: "profile.event" is member event of the object profile,
 * which stays open while what follows is in it, too; a number in a path is the place in a list.
 */
#include "render/answer_private.h"

#include "analysis/short_name.h"
#include "base/num.h"
#include "render/diag_json.h"
#include "json/json.h"

#include <stdio.h>

enum { LEVELS = 24, KEY = 64 };

struct level {
    char key[KEY]; /* of a path; "" of what the answer opened itself */
    char bracket;
    bool opened; /* by the answer itself: closed by it, too */
};
struct writing {
    const struct sp_drawing *g;
    struct sp_jw w;
    struct level levels[LEVELS];
    size_t n;
    struct sp_buf b;
    bool failed; /* which the buffer forgets when it is cleared */
};

static void json_pop(struct writing *x)
{
    char bracket = x->levels[--x->n].bracket;
    sp_jw_close(&x->w, bracket == '{' ? '}' : ']');
}

static void json_push(struct writing *x, const char *key, char bracket, bool opened)
{
    if (x->n == LEVELS)
        return;
    bool in_list = x->n && x->levels[x->n - 1].bracket == '[';
    struct level *l = &x->levels[x->n++];
    *l = (struct level){.bracket = bracket, .opened = opened};
    snprintf(l->key, sizeof l->key, "%s", key);
    sp_jw_open(&x->w, in_list ? NULL : l->key, bracket);
}

static bool is_place(const char *p)
{
    return *p >= '0' && *p <= '9';
}

/* Opens what the path is in, and closes what it is not in; returns the last part, which is the key. */
static const char *json_path(struct writing *x, const char *path, size_t base)
{
    size_t at = base;
    const char *p = path;
    for (const char *dot; (dot = strchr(p, '.')); p = dot + 1) {
        size_t n = (size_t)(dot - p);
        char key[KEY];
        snprintf(key, sizeof key, "%.*s", (int)n, p);
        if (at < x->n && strcmp(x->levels[at].key, key) == 0) {
            at++;
            continue;
        }
        while (x->n > at)
            json_pop(x);
        json_push(x, key, is_place(dot + 1) ? '[' : '{', false);
        at++;
    }
    while (x->n > at)
        json_pop(x);
    return p;
}

/* Items of a list have no key. */
static const char *json_key(const struct writing *x, const char *key)
{
    return x->n && x->levels[x->n - 1].bracket == '[' ? NULL : key;
}

/* Where the answer's own members begin: behind what it opened last. */
static size_t json_base(const struct writing *x)
{
    size_t base = x->n;
    while (base && !x->levels[base - 1].opened)
        base--;
    return base;
}

/* ---- values ---- */

static void json_percent(struct sp_jw *w, const char *key, int64_t v, const struct sp_measure *m)
{
    if (m->cannot_add || !m->whole)
        sp_jw_null(w, key);
    else
        sp_jw_scaled(w, key, sp_ratio(v, m->whole, 10000), 2);
}

static void json_int(struct sp_jw *w, const char *key, enum sp_column_type type, const struct sp_cell *cell,
                     const struct sp_measure *m)
{
    if (type == SP_COL_PERCENT)
        json_percent(w, key, cell->i, m);
    else if (type == SP_COL_WEIGHT && m->cannot_add)
        sp_jw_null(w, key);
    else if (type == SP_COL_WEIGHT)
        sp_jw_scaled(w, key, cell->i, m->scale);
    else if (type == SP_COL_BOOL)
        sp_jw_bool(w, key, cell->i != 0);
    else
        sp_jw_scaled(w, key, cell->i, cell->scale);
}

static void json_real(struct sp_jw *w, const char *key, double v)
{
    char t[32];
    if (v - v != 0) /* infinite, or no number */
        sp_jw_null(w, key);
    else
        sp_jw_raw(w, key, t, sp_double_text(v, t));
}

static void json_value(struct sp_jw *w, const char *key, enum sp_column_type type, const struct sp_cell *cell,
                       const struct sp_measure *m)
{
    switch (cell->kind) {
    case SP_VALUE_INT:
        json_int(w, key, type, cell, m);
        break;
    case SP_VALUE_REAL:
        json_real(w, key, cell->real);
        break;
    case SP_VALUE_TEXT:
        sp_jw_str(w, key, cell->text, cell->n);
        break;
    case SP_VALUE_TEXTS:
        sp_jw_open(w, key, '[');
        for (uint32_t i = 0; i < cell->n; i++)
            sp_jw_str(w, NULL, cell->texts[i].p, cell->texts[i].n);
        sp_jw_close(w, ']');
        break;
    default:
        sp_jw_null(w, key);
    }
}

static void json_fact(struct writing *x, const struct sp_item *item)
{
    static const struct sp_measure none;
    const struct sp_answer *a = x->g->answer;
    const struct sp_measure *m = item->measure < a->measures.n ? &a->measures.v[item->measure] : &none;
    const char *key = json_key(x, json_path(x, item->name, json_base(x)));
    json_value(&x->w, key, item->type, &item->value, m);
    if (item->type == SP_COL_NAME && item->value.kind == SP_VALUE_TEXT) {
        sp_buf_clear(&x->b);
        sp_short_name(&x->b, item->value.text, item->value.n, SP_SHORTEST);
        sp_jw_str(&x->w, "short", x->b.data ? x->b.data : "", x->b.len);
        x->failed |= x->b.failed;
    }
}

/* ---- tables ---- */

static bool json_leads(const struct sp_answer_column *c)
{
    return (c->type == SP_COL_HANDLE || c->type == SP_COL_NAME || c->type == SP_COL_DSO) &&
           (c->flags & SP_COL_WHOLE_NAME || !strchr(c->name, '.'));
}

static void json_cell(struct writing *x, const struct sp_answer_table *t, size_t row, size_t column,
                      size_t base, const struct sp_value_text *shorts)
{
    const struct sp_answer_column *c = &t->columns.v[column];
    const struct sp_cell *cell = sp_shown_cell(t, row, column);
    if (t->absent.v[column] || c->flags & SP_COL_NO_JSON ||
        (c->flags & SP_COL_OPTIONAL && cell->kind == SP_VALUE_NONE))
        return;
    bool path = !(c->flags & SP_COL_WHOLE_NAME);
    const char *key = json_key(x, json_path(x, path ? c->name : "", base));
    key = path ? key : c->name;
    json_value(&x->w, key, c->type, cell, sp_cell_measure(x->g->answer, t, row, column));
    if (shorts && cell->kind == SP_VALUE_TEXT)
        sp_jw_str(&x->w, "short", shorts[row].p, shorts[row].n);
}

static const struct sp_value_text *json_shorts(const struct sp_answer_table *t, size_t rows, size_t *function,
                                               struct sp_arena *arena)
{
    static const struct sp_value_text none;
    *function = SIZE_MAX;
    for (size_t c = 0; c < t->columns.n; c++)
        if (t->columns.v[c].type == SP_COL_NAME && strcmp(t->columns.v[c].name, "function") == 0 &&
            !t->absent.v[c])
            *function = c;
    return *function == SIZE_MAX ? &none : sp_short_names(t, *function, rows, arena);
}

/* A table on the way: details are written with the row that they are of. */
struct json_rows {
    const struct sp_answer_table *t;
    const struct sp_value_text *shorts;
    size_t function, next, end; /* rows */
};

/* A row begins with what it is called. */
static void json_row(struct writing *x, const struct json_rows *r, size_t row)
{
    const struct sp_answer_table *t = r->t;
    json_push(x, "", '{', true);
    size_t base = x->n;
    for (int names = 1; names >= 0; names--)
        for (size_t c = 0; c < t->columns.n; c++)
            if (json_leads(&t->columns.v[c]) == (names == 1))
                json_cell(x, t, row, c, base, c == r->function ? r->shorts : NULL);
}

enum { DETAILS = 8 };

/* The table and its details, which are behind it in the answer; how many in all. */
static size_t json_collect(struct writing *x, const struct sp_answer_table *t, size_t rows,
                           struct sp_arena *arena, struct json_rows out[static DETAILS])
{
    const struct sp_answer *a = x->g->answer;
    size_t n = 0;
    for (size_t i = 0; i < a->items.n && n < DETAILS; i++) {
        const struct sp_answer_table *one = a->items.v[i].table;
        if (!one || (one != t && one->of != t))
            continue;
        struct json_rows *r = &out[n++];
        *r = (struct json_rows){.t = one, .end = one == t ? rows : one->rows};
        r->shorts = json_shorts(one, r->end, &r->function, arena);
        x->failed |= !r->shorts;
    }
    return n;
}

static spaa_status json_table(struct writing *x, const struct sp_answer_table *t)
{
    struct sp_arena arena;
    struct json_rows tables[DETAILS];
    size_t rows = sp_drawn_rows(x->g, t);
    sp_arena_init(&arena, 0);
    size_t n = json_collect(x, t, rows, &arena, tables);
    const char *key = json_path(x, t->decl->name, json_base(x));
    json_push(x, key, '[', true);
    for (size_t row = 0; !x->failed && row < rows; row++) {
        json_row(x, &tables[0], row);
        for (size_t k = 1; k < n; k++) {
            struct json_rows *d = &tables[k];
            json_push(x, json_path(x, d->t->decl->name, json_base(x)), '[', true);
            for (; d->next < d->end && d->t->owner.v[d->next] == row; d->next++) {
                json_row(x, d, d->next);
                json_path(x, "", json_base(x));
                json_pop(x);
            }
            json_pop(x);
        }
        json_path(x, "", json_base(x));
        json_pop(x);
    }
    json_pop(x);
    sp_arena_free(&arena);
    return x->failed ? SPAA_ERR_NOMEM : SPAA_OK;
}

static bool json_is_cut(const struct sp_answer_table *t)
{
    return t && !t->fixed && !t->of && !t->decl->joined;
}

/* How much of each table is not shown: behind the last one that may be cut. */
static void json_omitted(struct writing *x)
{
    const struct sp_answer *a = x->g->answer;
    json_path(x, "", json_base(x));
    sp_jw_open(&x->w, "omitted", '{');
    for (size_t i = 0; i < a->items.n; i++) {
        const struct sp_answer_table *t = a->items.v[i].table;
        size_t column;
        int64_t sum;
        if (!json_is_cut(t))
            continue;
        const char *key = t->maker && t->decl->noun ? t->decl->noun : t->decl->name;
        sp_jw_u64(&x->w, key, sp_omitted_rows(x->g, t, &column, &sum));
        if (column == SIZE_MAX)
            continue;
        const struct sp_measure *m = sp_cell_measure(a, t, 0, column);
        if (t->row_measure.n || m->cannot_add)
            sp_jw_null(&x->w, t->columns.v[column].name);
        else
            sp_jw_scaled(&x->w, t->columns.v[column].name, sum, m->scale);
    }
    sp_jw_close(&x->w, '}');
}

/* ---- the answer ---- */

static size_t last_cut_table(const struct sp_answer *a)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < a->items.n; i++)
        if (json_is_cut(a->items.v[i].table))
            last = i;
    return last;
}

/* Of its kind. */
static bool json_is_first(const struct sp_diags *d, size_t i)
{
    size_t k = 0;
    while (d->list.v[k].code != d->list.v[i].code)
        k++;
    return k == i;
}

static void json_end(struct writing *x)
{
    const struct sp_answer *a = x->g->answer;
    while (x->n)
        json_pop(x);
    sp_jw_open(&x->w, "next", '[');
    for (size_t i = 0; i < a->next.n; i++)
        sp_jw_cstr(&x->w, NULL, a->next.v[i].command);
    sp_jw_close(&x->w, ']');
    sp_jw_open(&x->w, "diagnostics", '[');
    size_t left_out = 0;
    for (size_t i = 0; i < a->diags->list.n; i++) {
        if (x->g->opts->lean && !json_is_first(a->diags, i))
            left_out++;
        else
            sp_diag_json(&x->w, &a->diags->list.v[i]);
    }
    sp_jw_close(&x->w, ']');
    if (left_out)
        sp_jw_u64(&x->w, "diagnostics_left_out", left_out);
}

static spaa_status json_item(struct writing *x, const struct sp_item *item)
{
    spaa_status st = SPAA_OK;
    switch (item->kind) {
    case SP_ITEM_FACT:
        json_fact(x, item);
        break;
    case SP_ITEM_TABLE:
        st = item->table->of || item->table->decl->joined ? SPAA_OK : json_table(x, item->table);
        break;
    case SP_ITEM_OPEN: {
        const char *key = json_path(x, item->name, json_base(x));
        json_push(x, key, item->list ? '[' : '{', true);
        break;
    }
    case SP_ITEM_CLOSE:
        json_path(x, "", json_base(x));
        json_pop(x);
        break;
    default:
        break;
    }
    return st;
}

spaa_status sp_draw_json(const struct sp_drawing *g)
{
    const struct sp_answer *a = g->answer;
    struct writing x = {.g = g};
    spaa_status st = SPAA_OK;
    size_t last = last_cut_table(a);
    sp_buf_init(&x.b, 0);
    sp_jw_init(&x.w, g->out);
    sp_jw_open(&x.w, NULL, '{');
    sp_jw_cstr(&x.w, "schema", a->schema);
    for (size_t i = 0; !st && i < a->items.n; i++) {
        st = json_item(&x, &a->items.v[i]);
        if (i == last)
            json_omitted(&x);
    }
    json_end(&x);
    sp_jw_close(&x.w, '}');
    sp_puts(g->out, "\n");
    st = x.failed || x.b.failed ? SPAA_ERR_NOMEM : st;
    sp_jw_free(&x.w);
    sp_buf_free(&x.b);
    return st;
}
