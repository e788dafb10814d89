/* window_weights: the weights that time windows state for their stacks. */
#include "sql/internal.h"

enum { ID, WINDOW, STACK, METRIC, VALUE, UNIT };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, window by window"},
    {"window", SQL_INTEGER, SQL_KEY, 5000, "windows.id"},
    {"stack", SQL_INTEGER, SQL_KEY, 20, "stacks.id"},
    {"metric", SQL_TEXT, 0, 0, "samples, period, …"},
    {"value", SQL_NUMERIC, 0, 0, "the weight in this window"},
    {"unit", SQL_TEXT, 0, 0, "where one is stated"},
    {0},
};

static uint32_t sql_window_weights_length(const struct sp_profile *p, uint32_t row)
{
    uint32_t layout = p->window_rows.v[row].layout;
    return layout == SP_NONE ? 0 : p->layouts.v[layout].n;
}

static int sql_window_weights_rows(struct sql_at *at, uint64_t *n)
{
    struct sp_sql *q = at->q;
    const struct sp_profile *p = q->profile;
    if (!q->window_of) {
        uint32_t *of = calloc(p->window_rows.n + 1, sizeof *of);
        if (!of)
            return SQLITE_NOMEM;
        for (uint32_t i = 0; i < p->windows.n; i++)
            for (uint32_t k = 0; k < p->windows.v[i].n; k++)
                of[p->windows.v[i].first + k] = i;
        q->window_of = of;
    }
    int rc = sql_runs_make(&q->window_runs, p, (uint32_t)p->window_rows.n, sql_window_weights_length);
    if (!rc)
        *n = q->window_runs.start[q->window_runs.n];
    return rc;
}

static int sql_window_weights_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    uint64_t in;
    uint32_t row = sql_run_of(at, &at->q->window_runs, &in);
    const struct sp_window_row *r = &p->window_rows.v[row];
    const struct sp_weight_field *f = &p->layout_fields.v[p->layouts.v[r->layout].first + in];
    const struct sp_value *v = &p->values.v[r->first + in];
    if (column == WINDOW)
        sqlite3_result_int64(out, at->q->window_of[row]);
    else if (column == STACK)
        sql_number(out, r->stack);
    else if (column == METRIC)
        sql_str(out, p, p->metrics.v[f->metric].name);
    else if (column == UNIT)
        sql_str(out, p, f->unit);
    else if (v->v == SP_DECIMAL)
        sql_number_text(out, p, v->text);
    else
        sql_i64(out, v->v);
    return SQLITE_OK;
}

static int64_t sql_window_weights_key(struct sql_at *at, int column)
{
    uint64_t in;
    uint32_t row = sql_run_of(at, &at->q->window_runs, &in);
    uint32_t stack = at->q->profile->window_rows.v[row].stack;
    if (column == WINDOW)
        return at->q->window_of[row];
    return stack == SP_NONE ? SP_ABSENT : stack;
}

const struct sql_table sql_window_weights = {"window_weights",
                                             "the weights that windows state for their stacks",
                                             columns,
                                             5e5,
                                             0,
                                             sql_window_weights_rows,
                                             sql_window_weights_value,
                                             NULL,
                                             sql_window_weights_key,
                                             NULL};
