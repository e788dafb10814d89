/* dsos: binaries, libraries, kernel images. */
#include "sql/internal.h"

enum { ID, NAME, BUILD_ID, IS_KERNEL, EXTRA_JSON };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: functions.dso, frames.dso"},
    {"name", SQL_TEXT, SQL_KEY, 1, "path or [name]"},
    {"build_id", SQL_TEXT, 0, 0, "hex"},
    {"is_kernel", SQL_INTEGER, 0, 0, "1: kernel image or module"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_dsos_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->dsos.n;
    return SQLITE_OK;
}

static int sql_dsos_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_dso *d = &p->dsos.v[at->row];
    if (column == IS_KERNEL)
        sqlite3_result_int(out, d->is_kernel);
    else if (column == EXTRA_JSON)
        sql_members(out, p, d->extra_json);
    else
        sql_str(out, p, column == NAME ? d->name : d->build_id);
    return SQLITE_OK;
}

static int64_t sql_dsos_key(struct sql_at *at, int column)
{
    (void)column;
    return at->q->profile->dsos.v[at->row].name;
}

const struct sql_table sql_dsos = {"dsos",
                                   "binaries, libraries, kernel images",
                                   columns,
                                   200,
                                   0,
                                   sql_dsos_rows,
                                   sql_dsos_value,
                                   NULL,
                                   sql_dsos_key,
                                   NULL};
