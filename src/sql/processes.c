/* processes: what the profiler says of each, as often as it was reported. */
#include "sql/internal.h"

/* Then the fields of sp_process_facts, in their order. */
enum { ID, FACTS, EXTRA_JSON = FACTS + 15 };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: process_images.process"},
    {"pid", SQL_INTEGER, SQL_KEY, 1, "threads.pid, stacks.pid"},
    {"name", SQL_TEXT, 0, 0, "as the profiler calls it"},
    {"path", SQL_TEXT, 0, 0, "the file it runs"},
    {"instance", SQL_TEXT, 0, 0, "which of several of this number and name: label instance of stacks"},
    {"parent_pid", SQL_INTEGER, SQL_KEY, 10, "the process that made it"},
    {"start_ns", SQL_INTEGER, 0, 0, "when it began, on the clock of samples.time"},
    {"exit_ns", SQL_INTEGER, 0, 0, "when it ended"},
    {"cpu_time_ns", SQL_INTEGER, 0, 0, "CPU time while it was watched"},
    {"cycles", SQL_INTEGER, 0, 0, "likewise"},
    {"instructions", SQL_INTEGER, 0, 0, "likewise"},
    {"footprint_bytes", SQL_INTEGER, 0, 0, "memory that the system charges it"},
    {"rss_bytes", SQL_INTEGER, 0, 0, "memory of it that is in RAM"},
    {"frontmost", SQL_INTEGER, 0, 0, "1: the application that the user was looking at"},
    {"suspended", SQL_INTEGER, 0, 0, "1: it was stopped"},
    {"lines_lost", SQL_INTEGER, 0, 0, "1: lines of its report are lost: stacks may be another thread's"},
    {"extra_json", SQL_TEXT, 0, 0, "what there is no column for, as a JSON object"},
    {0},
};

static int sql_processes_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->processes.n;
    return SQLITE_OK;
}

static int sql_processes_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_process_fact *x = &p->processes.v[at->row];
    if (column == EXTRA_JSON)
        sql_members(out, p, x->extra_json);
    else
        sql_fact(out, p, &sp_process_facts[column - FACTS], x);
    return SQLITE_OK;
}

static int64_t sql_processes_key(struct sql_at *at, int column)
{
    return sp_fact_get_number(&sp_process_facts[column - FACTS], &at->q->profile->processes.v[at->row]);
}

const struct sql_table sql_processes = {"processes",
                                        "processes, as often as the profiler reported them",
                                        columns,
                                        100,
                                        0,
                                        sql_processes_rows,
                                        sql_processes_value,
                                        NULL,
                                        sql_processes_key,
                                        NULL};
