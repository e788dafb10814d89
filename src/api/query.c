/* SQL over a profile: the rows of a query, kept as columns for the caller. */
#include "api/api.h"

#include "base/arena.h"
#include "spaa/query.h"
#include "sql/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct result_column {
    const char *name;
    SP_VEC(unsigned char) kinds;
    SP_VEC(int64_t) integers;
    SP_VEC(double) reals;
    SP_VEC(const char *) texts;
    SP_VEC(size_t) sizes;
};
struct spaa_result {
    struct sp_arena texts;
    struct result_column *columns;
    size_t ncolumns, rows;
    bool more;
};

static bool result_begin(struct spaa_result *r, const struct sp_sql *q)
{
    size_t n = (size_t)sp_sql_columns(q);
    r->columns = calloc(n ? n : 1, sizeof *r->columns);
    if (!r->columns)
        return false;
    r->ncolumns = n;
    for (size_t i = 0; i < n; i++) {
        const char *name = sp_sql_column(q, (int)i);
        if (!(r->columns[i].name = sp_arena_dup(&r->texts, name, strlen(name))))
            return false;
    }
    return true;
}

static bool result_cell(struct spaa_result *r, struct result_column *c, const struct sp_sql_value *v)
{
    static const unsigned char kinds[] = {[SP_SQL_NULL] = SPAA_VALUE_NULL,
                                          [SP_SQL_INTEGER] = SPAA_VALUE_INTEGER,
                                          [SP_SQL_REAL] = SPAA_VALUE_REAL,
                                          [SP_SQL_TEXT] = SPAA_VALUE_TEXT,
                                          [SP_SQL_BLOB] = SPAA_VALUE_BLOB};
    bool integer = v->kind == SP_SQL_INTEGER, text = v->kind == SP_SQL_TEXT || v->kind == SP_SQL_BLOB;
    const char *copy = text ? sp_arena_dup(&r->texts, v->n ? v->p : "", v->n) : NULL;
    if (text && !copy)
        return false;
    return sp_vec_push(&c->kinds, kinds[v->kind]) &&
           sp_vec_push(&c->integers, integer ? v->integer : SPAA_ABSENT) &&
           sp_vec_push(&c->reals, integer                  ? (double)v->integer
                                  : v->kind == SP_SQL_REAL ? v->real
                                                           : (double)NAN) &&
           sp_vec_push(&c->texts, copy) && sp_vec_push(&c->sizes, text ? v->n : 0);
}

static spaa_status result_fill(struct spaa_result *r, struct sp_sql *q, uint64_t limit, struct sp_diags *d)
{
    if (!result_begin(r, q))
        return sp_nomem(d);
    for (;;) {
        bool row;
        spaa_status st = sp_progress(d, "asking", "", "rows", r->rows, limit);
        if (!st)
            st = sp_sql_step(q, &row);
        if (st || !row)
            return st;
        if (limit && r->rows == limit) {
            r->more = true;
            return SPAA_OK;
        }
        for (size_t i = 0; i < r->ncolumns; i++) {
            struct sp_sql_value v = sp_sql_value(q, (int)i);
            if (!result_cell(r, &r->columns[i], &v))
                return sp_nomem(d);
        }
        r->rows++;
    }
}

static spaa_status query_ask(struct spaa_profile *s, const struct spaa_query_options *o,
                             struct spaa_result *r)
{
    const struct sp_select_opts filters = {.event = o->event, .metric = o->metric};
    struct sp_diags *d = &s->diags;
    struct sp_sql *q = NULL;
    if (!o->sql)
        return sp_api_usage(d, "a query needs sql");
    if (o->param_count && (!o->params || o->param_count > 4096))
        return sp_api_usage(d, "param_count without params");
    spaa_status st = sp_sql_open(d, o->memory > INT64_MAX ? INT64_MAX : (int64_t)o->memory, &q);
    if (!st && o->timeout_s)
        sp_sql_timeout(q, o->timeout_s);
    if (!st)
        st = sp_sql_prepare(q, o->sql, strlen(o->sql));
    for (size_t i = 0; !st && i < o->param_count; i++)
        st = o->params[i].name && o->params[i].value
                 ? sp_sql_bind(q, o->params[i].name, o->params[i].value)
                 : sp_api_usage(d, "a parameter needs a name and a value");
    if (!st)
        st = sp_sql_bound(q);
    if (!st)
        st = sp_sql_profile(q, s->p, &filters);
    if (!st)
        st = result_fill(r, q, o->limit, d);
    sp_sql_close(q);
    return st;
}

spaa_status spaa_query(struct spaa_profile *profile, const struct spaa_query_options *options,
                       struct spaa_result **result, struct spaa_diagnostics **diagnostics)
{
    struct spaa_query_options o;
    struct sp_watch watch;
    if (!profile || !result)
        return sp_api_missing("no profile, or no place for the rows", diagnostics);
    struct spaa_result *r = calloc(1, sizeof *r);
    if (!r)
        return SPAA_ERR_NOMEM;
    sp_arena_init(&r->texts, 0);
    spaa_status st = sp_api_options(&o, sizeof o, options, &profile->diags);
    spaa_status watched = sp_api_watch(&watch, o.watch, &profile->diags);
    st = st ? st : watched;
    if (!st)
        st = query_ask(profile, &o, r);
    st = sp_api_unwatch(&watch, &profile->diags, st);
    if (st)
        spaa_result_free(r);
    else
        *result = r;
    return sp_api_deliver(&profile->diags, diagnostics, st);
}

size_t spaa_result_rows(const struct spaa_result *result)
{
    return result ? result->rows : 0;
}

size_t spaa_result_columns(const struct spaa_result *result)
{
    return result ? result->ncolumns : 0;
}

int spaa_result_more(const struct spaa_result *result)
{
    return result && result->more;
}

spaa_status spaa_result_column_get(const struct spaa_result *result, size_t i, struct spaa_result_column *out)
{
    if (!result || !out)
        return SPAA_ERR_USAGE;
    if (i >= result->ncolumns)
        return SPAA_ERR_NOT_FOUND;
    const struct result_column *c = &result->columns[i];
    struct spaa_result_column found = {.name = c->name,
                                       .rows = result->rows,
                                       .kinds = c->kinds.v,
                                       .integers = c->integers.v,
                                       .reals = c->reals.v,
                                       .texts = c->texts.v,
                                       .text_sizes = c->sizes.v};
    return sp_api_result(out, &found, sizeof found);
}

void spaa_result_free(struct spaa_result *result)
{
    if (!result)
        return;
    for (size_t i = 0; i < result->ncolumns; i++) {
        struct result_column *c = &result->columns[i];
        sp_vec_free(&c->kinds);
        sp_vec_free(&c->integers);
        sp_vec_free(&c->reals);
        sp_vec_free(&c->texts);
        sp_vec_free(&c->sizes);
    }
    free(result->columns);
    sp_arena_free(&result->texts);
    free(result);
}
