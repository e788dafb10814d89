/*
 * Answers as JSON. Names of members may be paths: "profile.event" is member event of the object profile,
 * which stays open while what follows is in it, too; a number in a path is the place in a list.
 */
#include "render/answer_private.h"

#include "analysis/short_name.h"
#include "answer/cell_json.h"
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

/* ---- facts ---- */

static void json_fact(struct writing *x, const struct sp_item *item)
{
    static const struct sp_measure none;
    const struct sp_answer *a = x->g->answer;
    const struct sp_measure *m = item->measure < a->measures.n ? &a->measures.v[item->measure] : &none;
    const char *key = json_key(x, json_path(x, item->name, json_base(x)));
    sp_buf_clear(&x->b);
    sp_cell_json(&x->b, item->type, &item->value, m);
    sp_jw_raw(&x->w, key, x->b.data, x->b.len);
    x->failed |= x->b.failed;
    if (item->type == SP_COL_NAME && item->value.kind == SP_VALUE_TEXT) {
        sp_buf_clear(&x->b);
        sp_short_name(&x->b, item->value.text, item->value.n, SP_SHORTEST);
        sp_jw_str(&x->w, "short", x->b.data ? x->b.data : "", x->b.len);
        x->failed |= x->b.failed;
    }
}

/* ---- tables ---- */

static spaa_status json_table(struct writing *x, struct sp_answer_table *t)
{
    json_push(x, json_path(x, t->decl->name, json_base(x)), '[', true);
    spaa_status st = sp_json_rows(x->g, t);
    json_pop(x);
    return st;
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
