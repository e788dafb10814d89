/* windows: parts of the time that the profile states weights for. */
#include "sql/internal.h"

#include "json/json.h"

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

/* A JSON string is decoded; a number stays as it is written. */
static void window_id(sqlite3_context *out, const struct sp_profile *p, uint32_t raw)
{
    struct sp_str t = sp_pstr(p, raw);
    struct sp_json j;
    struct sp_span s;
    if (!t.n)
        return;
    sp_json_init(&j, t.p, t.n);
    if (sp_json_type(&j) == SP_JSON_STRING && sp_json_string_value(&j, &s))
        sql_copy(out, s.p, s.n);
    else if (!j.error)
        sql_str(out, p, raw);
    else
        sqlite3_result_error_nomem(out); /* it was read as JSON before */
    sp_json_free(&j);
}

static int sql_windows_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_window *w = &p->windows.v[at->row];
    switch (column) {
    case WINDOW_ID:
        window_id(out, p, w->id);
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
