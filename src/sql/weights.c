/* weights: every weight of every stack record, as the input states it; filters do not change them. */
#include "sql/internal.h"

#include "base/num.h"

enum { ID, STACK, METRIC, VALUE, DECIMAL, UNIT, EXCLUSIVE, EXTRA_JSON };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, stack by stack"},
    {"stack", SQL_INTEGER, SQL_SLICE | SQL_ASCENDING, 2, "stacks.id"},
    {"metric", SQL_TEXT, SQL_KEY, 500000, "samples, period, …"},
    {"value", SQL_NUMERIC, 0, 0, "the weight; REAL where it is no integer of 64 bits"},
    {"decimal", SQL_TEXT, 0, 0, "its digits as written, all of them"},
    {"unit", SQL_TEXT, 0, 0, "where one is stated"},
    {"exclusive", SQL_NUMERIC, 0, 0, "of it, what the record states as the leaf's own"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static uint32_t sql_weights_length(const struct sp_profile *p, uint32_t stack)
{
    uint32_t layout = p->stacks.v[stack].layout;
    return layout == SP_NONE ? 0 : p->layouts.v[layout].n;
}

static int sql_weights_rows(struct sql_at *at, uint64_t *n)
{
    const struct sp_profile *p = at->q->profile;
    struct sql_runs *r = &at->q->weight_runs;
    int rc = sql_runs_make(r, p, (uint32_t)p->stacks.n, sql_weights_length);
    if (!rc)
        *n = r->start[r->n];
    return rc;
}

static const struct sp_weight_field *sql_weights_field(struct sql_at *at, uint32_t *stack)
{
    const struct sp_profile *p = at->q->profile;
    uint64_t in;
    *stack = sql_run_of(at, &at->q->weight_runs, &in);
    return &p->layout_fields.v[p->layouts.v[p->stacks.v[*stack].layout].first + in];
}

static void exclusive(sqlite3_context *out, const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    uint32_t x = p->stacks.v[stack].exclusive;
    if (x == SP_EXCLUSIVE_SAME) {
        int64_t v = sp_weight(p, stack, metric);
        if (v == SP_DECIMAL)
            sql_decimal(out, sp_weight_text(p, stack, metric));
        else
            sql_i64(out, v);
    }
    if (x < 2 || p->exclusives.v[x - 2].layout == SP_NONE)
        return;
    const struct sp_exclusive *e = &p->exclusives.v[x - 2];
    const struct sp_layout *l = &p->layouts.v[e->layout];
    for (uint32_t i = 0; i < l->n; i++) {
        const struct sp_value *v = &p->values.v[e->first + i];
        if (p->layout_fields.v[l->first + i].metric != metric)
            continue;
        if (v->v == SP_DECIMAL)
            sql_number_text(out, p, v->text);
        else
            sql_i64(out, v->v);
        return;
    }
}

static void sql_weights_digits(sqlite3_context *out, const struct sp_profile *p, uint32_t stack,
                               uint32_t metric, int64_t v)
{
    char t[64];
    struct sp_str s = {t, 0};
    if (v == SP_DECIMAL)
        s = sp_weight_text(p, stack, metric);
    else if (v != SP_ABSENT)
        s.n = (uint32_t)sp_scaled_text(v, 0, t);
    if (s.n)
        sql_copy(out, s.p, s.n);
}

static int sql_weights_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    uint32_t stack;
    const struct sp_weight_field *f = sql_weights_field(at, &stack);
    int64_t v = sp_weight(p, stack, f->metric);
    switch (column) {
    case STACK:
        sqlite3_result_int64(out, stack);
        break;
    case METRIC:
        sql_str(out, p, p->metrics.v[f->metric].name);
        break;
    case VALUE:
        if (v == SP_DECIMAL)
            sql_decimal(out, sp_weight_text(p, stack, f->metric));
        else
            sql_i64(out, v);
        break;
    case DECIMAL:
        sql_weights_digits(out, p, stack, f->metric, v);
        break;
    case UNIT:
        sql_str(out, p, f->unit);
        break;
    case EXCLUSIVE:
        exclusive(out, p, stack, f->metric);
        break;
    default:
        sql_members(out, p, f->extra_json);
    }
    return SQLITE_OK;
}

static int sql_weights_slice(struct sql_at *at, int column, int64_t stack, uint64_t *first, uint64_t *end)
{
    (void)column;
    const struct sql_runs *r = &at->q->weight_runs;
    if (stack < r->n) {
        *first = r->start[stack];
        *end = r->start[stack + 1];
        at->hint = (uint32_t)stack;
    }
    return SQLITE_OK;
}

static int64_t sql_weights_key(struct sql_at *at, int column)
{
    (void)column;
    uint32_t stack;
    return at->q->profile->metrics.v[sql_weights_field(at, &stack)->metric].name;
}

const struct sql_table sql_weights = {"weights",
                                      "every weight of every stack, as stated; filters do not change them",
                                      columns,
                                      1e6,
                                      0,
                                      sql_weights_rows,
                                      sql_weights_value,
                                      sql_weights_slice,
                                      sql_weights_key,
                                      NULL};
