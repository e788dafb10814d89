/* samples: raw samples in time order, mapped from the file that holds them. */
#include "sql/internal.h"

#include "base/num.h"
#include "model/samples.h"

enum { ID, TIME, TIMESTAMP, PID, TID, CPU, EVENT, PERIOD, STACK, CONTEXT, EXTRA_JSON };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, in time order"},
    {"time", SQL_INTEGER, SQL_ASCENDING, 0, "nanoseconds in the profile's clock"},
    {"timestamp", SQL_NUMERIC, 0, 0, "the same in the unit of header.time_unit"},
    {"pid", SQL_INTEGER, SQL_KEY, 100000, "process"},
    {"tid", SQL_INTEGER, SQL_KEY, 10000, "thread"},
    {"cpu", SQL_INTEGER, SQL_KEY, 10000, "processor"},
    {"event", SQL_TEXT, SQL_KEY, 500000, "events.name"},
    {"period", SQL_NUMERIC, 0, 0, "events that it stands for"},
    {"stack", SQL_INTEGER, SQL_KEY, 10, "stacks.id"},
    {"context", SQL_TEXT, 0, 0, "its context, as a JSON object"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_samples_rows(struct sql_at *at, uint64_t *n)
{
    struct sp_sql *q = at->q;
    if (!q->have_samples && q->profile->samples) {
        spaa_status st = sp_samples_sort(q->profile->samples);
        if (!st)
            st = sp_samples_rows(q->profile->samples, &q->samples, &q->nsamples);
        if (st)
            return sql_status(q, st);
    }
    q->have_samples = true;
    *n = q->nsamples;
    return SQLITE_OK;
}

static void timestamp(sqlite3_context *out, const struct sp_profile *p, const struct sp_sample *s)
{
    char t[32];
    if (s->time_text) {
        sql_number_text(out, p, s->time_text);
    } else if (s->flags & SP_SAMPLE_TIME) {
        size_t n = sp_ns_seconds(s->time, t);
        sql_decimal(out, (struct sp_str){t, (uint32_t)n});
    }
}

static int sql_samples_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_sample *s = &at->q->samples[at->row];
    switch (column) {
    case TIME:
        if (s->flags & SP_SAMPLE_TIME)
            sqlite3_result_int64(out, s->time);
        break;
    case TIMESTAMP:
        timestamp(out, p, s);
        break;
    case PID:
        sql_i64(out, s->pid);
        break;
    case TID:
        sql_i64(out, s->tid);
        break;
    case CPU:
        sql_i64(out, s->cpu);
        break;
    case EVENT:
        if (s->event != SP_NONE)
            sql_str(out, p, p->events.v[s->event].name);
        break;
    case PERIOD:
        if (s->period == SP_DECIMAL)
            sql_number_text(out, p, s->period_text);
        else
            sql_i64(out, s->period);
        break;
    case STACK:
        sql_number(out, s->stack);
        break;
    default:
        sql_members(out, p, column == CONTEXT ? s->context : s->more);
    }
    return SQLITE_OK;
}

static int64_t sql_samples_key(struct sql_at *at, int column)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_sample *s = &at->q->samples[at->row];
    switch (column) {
    case PID:
        return s->pid;
    case TID:
        return s->tid;
    case CPU:
        return s->cpu;
    case EVENT:
        return s->event == SP_NONE ? SP_ABSENT : p->events.v[s->event].name;
    default:
        return s->stack == SP_NONE ? SP_ABSENT : s->stack;
    }
}

const struct sql_table sql_samples = {
    "samples",
    "raw samples in time order, where the input has them; filters do not change them",
    columns,
    2e6,
    0,
    sql_samples_rows,
    sql_samples_value,
    NULL,
    sql_samples_key,
    NULL};
