/* functions: with their weights in the selection, as `spaa top` has them. */
#include "sql/internal.h"

#include "analysis/top.h"

enum {
    ID,
    HANDLE,
    NAME,
    DSO,
    DSO_NAME,
    SELF,
    TOTAL,
    SELF_SAMPLES,
    TOTAL_SAMPLES,
    TAGS,
    LINKAGE,
    FILE_NAME,
    LINE,
    START,
    EVENT,
    METRIC
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: frames.function, stack_frames.function, nodes.function"},
    {"handle", SQL_TEXT, 0, 0, "f:…, the name that other commands take"},
    {"name", SQL_TEXT, SQL_KEY, 1, "name, or the address in hex"},
    {"dso", SQL_INTEGER, SQL_KEY, 100, "dsos.id"},
    {"dso_name", SQL_TEXT, SQL_KEY, 100, "dsos.name"},
    {"self", SQL_NUMERIC, SQL_SELECTED, 0, "weight of stacks with this function at the leaf"},
    {"total", SQL_NUMERIC, SQL_SELECTED, 0,
     "weight of stacks with this function, each once however it recurs; overlaps with that of other rows: "
     "never add"},
    {"self_samples", SQL_INTEGER, SQL_SELECTED, 0, "samples of self"},
    {"total_samples", SQL_INTEGER, SQL_SELECTED, 0, "samples of total"},
    {"tags", SQL_TEXT, SQL_SELECTED, 0,
     "of: unresolved idle wait kernel inlined irq-enable, joined by blanks; NULL when not in the selection"},
    {"linkage", SQL_TEXT, 0, 0, "the symbol in the binary; NULL: it is not known, or the name itself"},
    {"file", SQL_TEXT, 0, 0, "where it is declared"},
    {"line", SQL_INTEGER, 0, 0, "the line of its declaration"},
    {"start", SQL_TEXT, 0, 0, "where it starts in the binary as linked, \"0x…\""},
    SQL_PARAMETERS,
    {"total_overlapping", SQL_NUMERIC, SQL_OLD | SQL_SELECTED, TOTAL, "total"},
    {0},
};

static int sql_functions_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->functions.n;
    return SQLITE_OK;
}

static int handle(struct sql_at *at, sqlite3_context *out)
{
    struct sp_sql *q = at->q;
    char t[32];
    if (!q->have_handles) {
        spaa_status st = sp_handles_of(q->profile, q->diags, &q->handles);
        if (st)
            return sql_status(q, st);
        q->have_handles = true;
    }
    sql_copy(out, t, sp_handle_text(&q->handles, (uint32_t)at->row, t));
    return SQLITE_OK;
}

static void tags(sqlite3_context *out, unsigned bits)
{
    char t[128] = "";
    size_t n = 0;
    if (bits == SQL_OUTSIDE)
        return;
    for (unsigned i = 0; sp_tag_words[i]; i++)
        if (bits >> i & 1)
            n += (size_t)snprintf(t + n, sizeof t - n, "%s%s", n ? " " : "", sp_tag_words[i]);
    sql_copy(out, t, n);
}

static int sql_functions_weight(struct sql_at *at, int column, sqlite3_context *out)
{
    bool self = column == SELF || column == SELF_SAMPLES;
    int rc = sql_view_of(at);
    if (!rc)
        rc = self ? sql_view_self(at->view, at->q, false) : sql_view_total(at->view, at->q, false);
    if (rc)
        return rc;
    const struct sp_fold_sum *w = &(self ? at->view->functions.self : at->view->functions.total)[at->row];
    if (column == TAGS)
        tags(out, at->view->functions.tags[at->row]);
    else if (column == SELF_SAMPLES || column == TOTAL_SAMPLES)
        sql_i64(out, w->samples);
    else
        sql_weight_value(out, at->view, w->weight);
    return SQLITE_OK;
}

static int sql_functions_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_function *f = &p->functions.v[at->row];
    switch (column) {
    case HANDLE:
        return handle(at, out);
    case NAME:
        sql_str(out, p, f->name);
        break;
    case DSO:
        sqlite3_result_int64(out, f->dso);
        break;
    case DSO_NAME:
        sql_str(out, p, p->dsos.v[f->dso].name);
        break;
    case LINKAGE:
    case FILE_NAME:
    case LINE:
    case START:
        sql_func_info(out, p, sp_function_info(p, (uint32_t)at->row), column - LINKAGE);
        break;
    case EVENT:
    case METRIC:
        return sql_parameter(at, column - EVENT, out);
    default:
        return sql_functions_weight(at, column, out);
    }
    return SQLITE_OK;
}

static int64_t sql_functions_key(struct sql_at *at, int column)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_function *f = &p->functions.v[at->row];
    return column == NAME ? f->name : column == DSO ? f->dso : p->dsos.v[f->dso].name;
}

const struct sql_table sql_functions = {"functions",
                                        "functions, with their weight in the selection, as `spaa top` has it",
                                        columns,
                                        10000,
                                        0,
                                        sql_functions_rows,
                                        sql_functions_value,
                                        NULL,
                                        sql_functions_key,
                                        NULL};
