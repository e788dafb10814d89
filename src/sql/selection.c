/* selection: one row, what the weights are of: the event, the metric, and what the filters leave. */
#include "sql/internal.h"

enum { ID, EVENT, METRIC, UNIT, VIEW, FILTERS, EVENT_WHOLE, WHOLE, KEPT, SAMPLES, KEPT_SAMPLES };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "0: there is one row"},
    {"event", SQL_TEXT, 0, 0, "--event, else the event with most samples"},
    {"metric", SQL_TEXT, 0, 0, "--metric, else the event's primary metric"},
    {"unit", SQL_TEXT, 0, 0, "of the metric"},
    {"view", SQL_TEXT, 0, 0, "--view: which thread states; NULL where there are none"},
    {"filters", SQL_TEXT, 0, 0, "the filters in words"},
    {"event_whole", SQL_NUMERIC, 0, 0, "weight of the event, before any filter"},
    {"whole", SQL_NUMERIC, 0, 0, "after state, pid, thread and comm: what percentages are of"},
    {"kept", SQL_NUMERIC, 0, 0, "after dso, focus, ignore and root-at: what the tables add up to"},
    {"samples", SQL_INTEGER, 0, 0, "samples of whole"},
    {"kept_samples", SQL_INTEGER, 0, 0, "samples of kept"},
    {"event_total", SQL_NUMERIC, SQL_OLD, EVENT_WHOLE, "event_whole"},
    {0},
};

static int sql_selection_rows(struct sql_at *at, uint64_t *n)
{
    *n = 1;
    return sql_view_of(at);
}

static int sql_selection_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sql_view *v = at->view;
    const struct sp_selection *s = &v->s;
    switch (column) {
    case EVENT:
        sql_str(out, p, p->events.v[s->event].name);
        break;
    case METRIC:
        sql_str(out, p, p->metrics.v[s->metric].name);
        break;
    case UNIT:
        if (s->unit.n)
            sql_copy(out, s->unit.p, s->unit.n);
        break;
    case VIEW:
        if (s->view)
            sql_copy(out, s->view, strlen(s->view));
        break;
    case FILTERS:
        sql_copy(out, s->filters.data, s->filters.len);
        break;
    case SAMPLES:
        sql_i64(out, s->whole_samples);
        break;
    case KEPT_SAMPLES:
        sql_i64(out, s->samples);
        break;
    default:
        sql_weight_value(out, v,
                         column == EVENT_WHOLE ? s->event_whole
                         : column == WHOLE     ? s->whole
                                               : s->kept);
    }
    return SQLITE_OK;
}

const struct sql_table sql_selection = {"selection",
                                        "one row: what `self`, `total` and `weight` are of",
                                        columns,
                                        1,
                                        SQL_SELECTED,
                                        sql_selection_rows,
                                        sql_selection_value,
                                        NULL,
                                        NULL,
                                        NULL};
