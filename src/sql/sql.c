/* A query: opened, prepared against the schema, bound, run row by row. */
#include "sql/internal.h"

#include "base/nearest.h"
#include "base/num.h"

static spaa_status opened(struct sp_sql *q)
{
    int rc = sqlite3_open_v2(":memory:", &q->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!rc)
        rc = sql_regexp_create(q);
    if (!rc)
        rc = sql_tables_create(q);
    if (!rc)
        rc = sql_questions_create(q);
    if (!rc)
        rc = sql_guard(q);
    return !rc ? SPAA_OK : q->db ? sql_failed(q, rc) : sp_nomem(q->diags);
}

spaa_status sp_sql_open(struct sp_diags *d, int64_t memory, struct sp_sql **out)
{
    struct sp_sql *q = calloc(1, sizeof *q);
    if (!q)
        return sp_nomem(d);
    q->diags = d;
    q->memory = memory;
    if (memory) {
        sqlite3_memory_highwater(1);
        q->memory_before = sqlite3_hard_heap_limit64(memory);
    }
    spaa_status st = opened(q);
    if (st)
        sp_sql_close(q);
    else
        *out = q;
    return st;
}

void sp_sql_close(struct sp_sql *q)
{
    if (!q)
        return;
    sqlite3_finalize(q->stmt);
    sqlite3_close_v2(q->db);
    if (q->memory)
        sqlite3_hard_heap_limit64(q->memory_before);
    sql_indexes_free(q);
    sql_views_free(q);
    sp_handles_free(&q->handles);
    sp_pools_free(&q->pools);
    free(q->frame_runs.start);
    free(q->weight_runs.start);
    sp_vec_free(&q->labels);
    sp_intervals_free(&q->intervals);
    free(q->window_runs.start);
    free(q->image_runs.start);
    free(q->window_of);
    free(q->text);
    free(q);
}

static spaa_status sql_refuse(struct sp_sql *q, const char *hint, const char *message)
{
    sp_emit_hint(q->diags, SP_E650, SP_AT_NOTHING, hint, "%s", message);
    q->reported = true;
    return q->status = SPAA_ERR_USAGE;
}

/* Nothing but blanks, semicolons and comments may follow the statement. */
static spaa_status single(struct sp_sql *q, const char *tail)
{
    while (*tail) {
        sqlite3_stmt *more = NULL;
        const char *rest = tail;
        int rc = sqlite3_prepare_v2(q->db, tail, -1, &more, &rest);
        sqlite3_finalize(more);
        if (rc == SQLITE_NOMEM)
            return sql_failed(q, rc);
        if (rc || more)
            return sql_refuse(q, "WITH names partial results inside one statement",
                              "there are several statements; a query is one");
        if (rest == tail)
            break;
        tail = rest;
    }
    return SPAA_OK;
}

static spaa_status write_refused(struct sp_sql *q)
{
    sp_emit(q->diags, SP_E651, SP_AT_NOTHING, "not allowed: a statement that gives no rows");
    q->reported = true;
    return q->status = SPAA_ERR_USAGE;
}

spaa_status sp_sql_prepare(struct sp_sql *q, const char *text, size_t n)
{
    const char *tail;
    q->text = malloc(n + 1);
    if (!q->text)
        return sp_nomem(q->diags);
    memcpy(q->text, text, n);
    q->text[n] = '\0';
    q->text_n = n;
    if (memchr(text, '\0', n))
        return sql_refuse(q, "", "the SQL has a NUL byte");
    if (n >= (size_t)1 << 20)
        return sql_refuse(q, "", "the SQL is longer than 1 MiB");
    int rc = sqlite3_prepare_v2(q->db, q->text, (int)n + 1, &q->stmt, &tail);
    if (rc)
        return sql_failed(q, rc);
    if (!q->stmt)
        return sql_refuse(q, "for example: SELECT name, self FROM functions ORDER BY self DESC LIMIT 10",
                          "there is no SQL statement");
    uint64_t used = q->used;
    bool selected = q->used_selected;
    spaa_status st = single(q, tail);
    q->used = used;
    q->used_selected = selected;
    if (!st && (!sqlite3_stmt_readonly(q->stmt) || !sqlite3_column_count(q->stmt)))
        st = write_refused(q);
    return st;
}

bool sp_sql_uses(const struct sp_sql *q, const char *table)
{
    return table ? q->used >> sql_table_find(table) & 1 : q->used_selected || q->asks;
}

/* ---- parameters ---- */

static int bind_value(sqlite3_stmt *s, int i, const char *v)
{
    size_t n = strlen(v);
    int64_t integer, mantissa;
    unsigned scale;
    bool digit = n && ((v[0] >= '0' && v[0] <= '9') || (v[0] == '-' && n > 1) || v[0] == '.');
    if (digit && sp_parse_i64(v, v + n, &integer) == n)
        return sqlite3_bind_int64(s, i, integer);
    if (digit && sp_parse_scaled(v, n, &mantissa, &scale))
        return sqlite3_bind_double(s, i, sp_text_double(v, n));
    if (sqlite3_stricmp(v, "null") == 0)
        return sqlite3_bind_null(s, i);
    if (n >= 2 && v[0] == '\'' && v[n - 1] == '\'') {
        char *t = sqlite3_malloc64(n);
        size_t used = 0;
        for (size_t k = 1; t && k + 1 < n; k++) {
            t[used++] = v[k];
            k += v[k] == '\'' && k + 2 < n && v[k + 1] == '\'';
        }
        return t ? sqlite3_bind_text64(s, i, t, used, sqlite3_free, SQLITE_UTF8) : SQLITE_NOMEM;
    }
    return sqlite3_bind_text64(s, i, v, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static const char *parameter_name(const struct sp_sql *q, int i)
{
    const char *name = sqlite3_bind_parameter_name(q->stmt, i);
    return name ? name + 1 : "?";
}

spaa_status sp_sql_bind(struct sp_sql *q, const char *name, const char *value)
{
    int n = sqlite3_bind_parameter_count(q->stmt);
    bool found = false;
    for (int i = 1; i <= n; i++) {
        if (strcmp(parameter_name(q, i), name) != 0)
            continue;
        int rc = bind_value(q->stmt, i, value);
        if (rc)
            return sql_failed(q, rc);
        if (i > 64)
            return sql_refuse(q, "", "there are more than 64 parameters");
        q->bound |= UINT64_C(1) << (i - 1);
        found = true;
    }
    if (found)
        return SPAA_OK;
    struct sp_str names[64];
    struct sp_buf hint;
    int known = 0;
    sp_buf_init(&hint, 4096);
    for (; known < n && known < 64; known++) {
        const char *s = parameter_name(q, known + 1);
        names[known] = (struct sp_str){s, (uint32_t)strlen(s)};
    }
    sp_nearest_words(&hint, name, names, (size_t)known);
    sp_emit_hint(q->diags, SP_E654, SP_AT_NOTHING, known ? sp_buf_cstr(&hint) : "the query has no parameters",
                 "the query has no parameter :%s", name);
    sp_buf_free(&hint);
    return SPAA_ERR_USAGE;
}

spaa_status sp_sql_bound(struct sp_sql *q)
{
    int n = sqlite3_bind_parameter_count(q->stmt);
    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(q->stmt, i);
        if (i <= 64 && q->bound >> (i - 1) & 1)
            continue;
        if (!name) {
            sp_emit(q->diags, SP_E654, SP_AT_NOTHING, "a parameter has no name: write :name instead of ?");
        } else {
            char hint[160];
            snprintf(hint, sizeof hint, "--param %.60s=VALUE", name + 1);
            sp_emit_hint(q->diags, SP_E654, SP_AT_NOTHING, hint, "the parameter %s has no value", name);
        }
        return SPAA_ERR_USAGE;
    }
    return SPAA_OK;
}

/* ---- running ---- */

/* An event, metric or filter that this profile does not have is a mistake, whether the query needs it or not.
 */
static spaa_status check_filters(struct sp_sql *q)
{
    const struct sp_select_opts *o = &q->filters;
    struct sp_selection s;
    if (!o->event && !o->metric && !sp_narrows(o))
        return SPAA_OK;
    spaa_status st = sp_select(q->profile, o, q->diags, &s);
    if (!st)
        sp_selection_free(&s);
    return st;
}

spaa_status sp_sql_profile(struct sp_sql *q, struct sp_profile *p, const struct sp_select_opts *filters)
{
    struct sql_view *v;
    q->profile = p;
    q->filters = *filters;
    if (!q->used_selected)
        return check_filters(q);
    int rc = sql_view_get(q, SP_NONE, SP_NONE, false, &v);
    return rc ? sql_failed(q, rc) : SPAA_OK;
}

const struct sp_selection *sp_sql_selection(const struct sp_sql *q)
{
    return q->used_selected && q->views.n ? &q->views.v[0]->s : NULL;
}

void sp_sql_timeout(struct sp_sql *q, unsigned seconds)
{
    q->timeout = seconds;
    clock_gettime(CLOCK_MONOTONIC, &q->deadline);
    q->deadline.tv_sec += seconds;
}

spaa_status sp_sql_step(struct sp_sql *q, bool *row)
{
    int rc = sqlite3_step(q->stmt);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SPAA_OK : sql_failed(q, rc);
}

bool sp_sql_late(const struct sp_sql *q)
{
    return q->late;
}

int sp_sql_columns(const struct sp_sql *q)
{
    return sqlite3_column_count(q->stmt);
}

const char *sp_sql_column(const struct sp_sql *q, int column)
{
    const char *name = sqlite3_column_name(q->stmt, column);
    return name ? name : "";
}

struct sp_sql_value sp_sql_value(struct sp_sql *q, int column)
{
    struct sp_sql_value v = {SP_SQL_NULL, 0, 0, "", 0};
    switch (sqlite3_column_type(q->stmt, column)) {
    case SQLITE_INTEGER:
        v.kind = SP_SQL_INTEGER;
        v.integer = sqlite3_column_int64(q->stmt, column);
        break;
    case SQLITE_FLOAT:
        v.kind = SP_SQL_REAL;
        v.real = sqlite3_column_double(q->stmt, column);
        break;
    case SQLITE_TEXT:
        v.kind = SP_SQL_TEXT;
        v.p = (const char *)sqlite3_column_text(q->stmt, column);
        v.n = (size_t)sqlite3_column_bytes(q->stmt, column);
        break;
    case SQLITE_BLOB:
        v.kind = SP_SQL_BLOB;
        v.p = sqlite3_column_blob(q->stmt, column);
        v.n = (size_t)sqlite3_column_bytes(q->stmt, column);
        break;
    default:
        break;
    }
    if (!v.p) {
        v.p = "";
        v.n = 0;
    }
    return v;
}

void sp_sql_options(struct sp_sql *q, const struct sp_options *o)
{
    q->options = o;
}
