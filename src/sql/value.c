/* Values as SQLite takes them: integers stay exact, texts are lent, decimals become doubles. */
#include "sql/internal.h"

#include "base/num.h"

void sql_str(sqlite3_context *out, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    if (s != SP_STR_NONE)
        sqlite3_result_text64(out, t.p, t.n, SQLITE_STATIC, SQLITE_UTF8);
}

void sql_fact(sqlite3_context *out, const struct sp_profile *p, const struct sp_fact *f, const void *row)
{
    switch (f->type) {
    case SP_FACT_NUMBER:
        sql_i64(out, sp_fact_get_number(f, row));
        break;
    case SP_FACT_TEXT:
        sql_str(out, p, sp_fact_get_text(f, row));
        break;
    case SP_FACT_ADDRESS:
        if (sp_fact_get_address(f, row) != SP_NO_ADDRESS)
            sql_hex(out, sp_fact_get_address(f, row));
        break;
    case SP_FACT_FLAG:
        sqlite3_result_int(out, sp_fact_get_flag(f, row));
        break;
    }
}

int sql_pool(struct sp_sql *q, sqlite3_context *out, uint32_t context, uint32_t record)
{
    if (!q->have_pools) {
        spaa_status st = sp_pools_of(q->profile, NULL, q->diags, &q->pools);
        if (st)
            return sql_status(q, st);
        q->have_pools = true;
    }
    uint32_t pool = context != SP_NONE ? q->pools.by_thread[context] : q->pools.of_record[record];
    if (pool != SP_NONE) {
        struct sp_str pattern = sp_str_at(&q->pools.names, q->pools.pools.v[pool].pattern);
        sql_copy(out, pattern.p, pattern.n);
    }
    return SQLITE_OK;
}

void sql_text(sqlite3_context *out, const char *s)
{
    if (s)
        sqlite3_result_text(out, s, -1, SQLITE_STATIC);
}

void sql_copy(sqlite3_context *out, const char *p, size_t n)
{
    sqlite3_result_text64(out, n ? p : "", n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void sql_i64(sqlite3_context *out, int64_t v)
{
    if (v != SP_ABSENT)
        sqlite3_result_int64(out, v);
}

void sql_number(sqlite3_context *out, uint32_t n)
{
    if (n != SP_NONE)
        sqlite3_result_int64(out, n);
}

void sql_hex(sqlite3_context *out, uint64_t v)
{
    char t[18] = "0x";
    sql_copy(out, t, 2 + sp_hex_text(v, t + 2));
}

void sql_scaled(sqlite3_context *out, int64_t v, unsigned scale)
{
    char t[64];
    if (!scale) {
        sqlite3_result_int64(out, v);
        return;
    }
    size_t n = sp_scaled_text(v, scale, t);
    sql_decimal(out, (struct sp_str){t, (uint32_t)n});
}

void sql_decimal(sqlite3_context *out, struct sp_str text)
{
    int64_t v;
    unsigned scale;
    if (!text.n)
        return;
    if (sp_parse_scaled(text.p, text.n, &v, &scale) && !scale)
        sqlite3_result_int64(out, v);
    else
        sqlite3_result_double(out, sp_text_double(text.p, text.n));
}

void sql_number_text(sqlite3_context *out, const struct sp_profile *p, uint32_t s)
{
    sql_decimal(out, sp_pstr(p, s));
}

void sql_func_info(sqlite3_context *out, const struct sp_profile *p, const struct sp_func_info *x, int which)
{
    if (!x)
        return;
    if (which < 2)
        sql_str(out, p, which ? x->file : x->linkage);
    else if (which == 2 && x->line)
        sqlite3_result_int64(out, x->line);
    else if (which == 3 && x->flags & SP_FUNC_START)
        sql_hex(out, x->start);
}

void sql_members(sqlite3_context *out, const struct sp_profile *p, uint32_t more)
{
    struct sp_str t = sp_pstr(p, more);
    if (!t.n)
        return;
    char *object = sqlite3_malloc64((sqlite3_uint64)t.n + 2);
    if (!object) {
        sqlite3_result_error_nomem(out);
        return;
    }
    object[0] = '{';
    memcpy(object + 1, t.p, t.n);
    object[t.n + 1] = '}';
    sqlite3_result_text64(out, object, (sqlite3_uint64)t.n + 2, sqlite3_free, SQLITE_UTF8);
}

void sql_weight_value(sqlite3_context *out, const struct sql_view *v, int64_t weight)
{
    if (!v->s.cannot_add)
        sql_scaled(out, weight, v->s.scale);
}

int sql_parameter(struct sql_at *at, int which, sqlite3_context *out)
{
    int rc = sql_view_of(at);
    const struct sp_profile *p = at->q->profile;
    if (!rc)
        sql_str(out, p, which ? p->metrics.v[at->view->s.metric].name : p->events.v[at->view->s.event].name);
    return rc;
}
