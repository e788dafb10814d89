/* events: what was sampled, and how much of it there is, before any filter. */
#include "sql/internal.h"

enum {
    ID,
    NAME,
    KIND,
    MODE,
    PRIMARY_METRIC,
    UNIT,
    SAMPLE_PERIOD,
    FREQUENCY_HZ,
    SAMPLES,
    WHOLE,
    STACKS,
    SELECTED,
    EXTRA_JSON
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, in the order of the header"},
    {"name", SQL_TEXT, SQL_KEY, 1, "as --event and the parameters take it"},
    {"kind", SQL_TEXT, 0, 0, "hardware, software, allocation, …"},
    {"mode", SQL_TEXT, 0, 0, "period, frequency, event"},
    {"primary_metric", SQL_TEXT, 0, 0, "the metric that is taken when none is named"},
    {"unit", SQL_TEXT, 0, 0, "of the primary metric"},
    {"sample_period", SQL_NUMERIC, 0, 0, "events per sample"},
    {"frequency_hz", SQL_NUMERIC, 0, 0, "samples per second"},
    {"samples", SQL_INTEGER, 0, 0, "observations; NULL where they are not counted"},
    {"whole", SQL_NUMERIC, 0, 0, "of the primary metric; NULL where it must not be added"},
    {"stacks", SQL_INTEGER, 0, 0, "stacks; linked ones are one"},
    {"selected", SQL_INTEGER, SQL_SELECTED, 0,
     "1: the event of `selection`, that is taken when none is named"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_events_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->events.n;
    return SQLITE_OK;
}

static int of_selection(struct sql_at *at, int column, sqlite3_context *out)
{
    struct sql_view *v;
    bool all = column != SELECTED;
    int rc = sql_view_get(at->q, all ? (uint32_t)at->row : SP_NONE, SP_NONE, all, &v);
    if (rc)
        return rc;
    if (column == SELECTED)
        sqlite3_result_int(out, v->s.event == at->row);
    else if (column == SAMPLES)
        sql_i64(out, v->s.samples);
    else if (column == STACKS)
        sqlite3_result_int64(out, (sqlite3_int64)v->s.rows.n);
    else if (column == WHOLE)
        sql_weight_value(out, v, v->s.kept);
    else if (v->s.unit.n)
        sql_copy(out, v->s.unit.p, v->s.unit.n);
    return SQLITE_OK;
}

static int sql_events_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_event *e = &p->events.v[at->row];
    switch (column) {
    case NAME:
        sql_str(out, p, e->name);
        break;
    case KIND:
        sql_text(out, sp_event_kind_names[e->kind]);
        break;
    case MODE:
        sql_text(out, sp_mode_names[e->mode]);
        break;
    case PRIMARY_METRIC:
        sql_str(out, p, p->metrics.v[e->primary].name);
        break;
    case SAMPLE_PERIOD:
        sql_number_text(out, p, e->sample_period);
        break;
    case FREQUENCY_HZ:
        sql_number_text(out, p, e->frequency_hz);
        break;
    case EXTRA_JSON:
        sql_members(out, p, e->extra_json);
        break;
    default:
        return of_selection(at, column, out);
    }
    return SQLITE_OK;
}

static int64_t sql_events_key(struct sql_at *at, int column)
{
    (void)column;
    return at->q->profile->events.v[at->row].name;
}

const struct sql_table sql_events = {"events",
                                     "what was sampled, before any filter",
                                     columns,
                                     3,
                                     0,
                                     sql_events_rows,
                                     sql_events_value,
                                     NULL,
                                     sql_events_key,
                                     NULL};
