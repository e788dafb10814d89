/* windows: parts of the time that the profile states weights for. */
#include "sql/internal.h"

#include "model/windows.h"

enum { ID, WINDOW_ID, START, END, UNIT, STACKS, EXTRA_JSON };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: window_weights.window"},
    {"window_id", SQL_TEXT, 0, 0, "the id as in SPAA"},
    {"start", SQL_NUMERIC, 0, 0, "in unit"},
    {"end", SQL_NUMERIC, 0, 0, "in unit"},
    {"unit", SQL_TEXT, 0, 0, "seconds, …"},
    {"stacks", SQL_INTEGER, 0, 0, "stacks with weights in it"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_windows_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->windows.n;
    return SQLITE_OK;
}

static void window_id(sqlite3_context *out, const struct sp_profile *p, const struct sp_window *w)
{
    struct sp_buf text;
    sp_buf_init(&text, 0);
    if (!sp_window_id(p, w, &text))
        sqlite3_result_error_nomem(out);
    else if (w->id)
        sql_copy(out, text.data ? text.data : "", text.len);
    sp_buf_free(&text);
}

static int sql_windows_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_window *w = &p->windows.v[at->row];
    switch (column) {
    case WINDOW_ID:
        window_id(out, p, w);
        break;
    case START:
    case END:
        sql_number_text(out, p, column == START ? w->start : w->end);
        break;
    case UNIT:
        sql_str(out, p, w->unit);
        break;
    case STACKS:
        sqlite3_result_int64(out, w->n);
        break;
    default:
        sql_members(out, p, w->extra_json);
    }
    return SQLITE_OK;
}

const struct sql_table sql_windows = {"windows",
                                      "parts of the time that the profile states weights for",
                                      columns,
                                      100,
                                      0,
                                      sql_windows_rows,
                                      sql_windows_value,
                                      NULL,
                                      NULL,
                                      NULL};
