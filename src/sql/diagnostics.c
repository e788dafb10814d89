/* diagnostics: what reading the input had to say. */
#include "sql/internal.h"

enum { ID, CODE, SEVERITY, FILE_NAME, LINE, OFFSET, PATH, MESSAGE, HINT };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 0, "number, in the order they came"},
    {"code", SQL_TEXT, 0, 0, "stable code, SPAA-…: docs/diagnostics.md"},
    {"severity", SQL_TEXT, 0, 0, "info, warning, data-loss, error"},
    {"file", SQL_TEXT, 0, 0, "the input"},
    {"line", SQL_INTEGER, 0, 0, "line of the input"},
    {"offset", SQL_INTEGER, 0, 0, "byte of the (decompressed) input"},
    {"path", SQL_TEXT, 0, 0, "field of the record"},
    {"message", SQL_TEXT, 0, 0, "what there was"},
    {"hint", SQL_TEXT, 0, 0, "what to do"},
    {0},
};

static int sql_diagnostics_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->diags->list.n;
    return SQLITE_OK;
}

static void sql_diagnostics_copy(sqlite3_context *out, const char *s)
{
    if (s)
        sql_copy(out, s, strlen(s));
}

/* Copied: the list may grow while the query runs. */
static int sql_diagnostics_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_diag *g = &at->q->diags->list.v[at->row];
    switch (column) {
    case CODE:
        sql_text(out, sp_code_info(g->code)->name);
        break;
    case SEVERITY:
        sql_text(out, sp_severity_name(g->severity));
        break;
    case FILE_NAME:
        sql_diagnostics_copy(out, g->file);
        break;
    case LINE:
        if (g->line)
            sqlite3_result_int64(out, (sqlite3_int64)g->line);
        break;
    case OFFSET:
        if (g->offset != SP_NOWHERE)
            sqlite3_result_int64(out, (sqlite3_int64)g->offset);
        break;
    case PATH:
        sql_diagnostics_copy(out, g->field);
        break;
    case MESSAGE:
        sql_diagnostics_copy(out, g->message);
        break;
    default:
        sql_diagnostics_copy(out, g->hint);
    }
    return SQLITE_OK;
}

const struct sql_table sql_diagnostics = {"diagnostics",
                                          "what reading the input had to say",
                                          columns,
                                          8,
                                          0,
                                          sql_diagnostics_rows,
                                          sql_diagnostics_value,
                                          NULL,
                                          NULL,
                                          NULL};
