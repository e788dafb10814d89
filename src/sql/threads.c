/* threads: one row per thread record. */
#include "sql/internal.h"

/* Between pool and extra_json the fields of sp_thread_facts, in their order. */
enum { ID, PID, TID, COMM, POOL, FACTS, EXTRA_JSON = FACTS + 9 };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number"},
    {"pid", SQL_INTEGER, SQL_KEY, 10, "process"},
    {"tid", SQL_INTEGER, SQL_KEY, 1, "thread: stacks.tid, samples.tid"},
    {"comm", SQL_TEXT, SQL_KEY, 10, "name"},
    {"pool", SQL_TEXT, 0, 0, "of its process, where it is in one: http-*"},
    {"name", SQL_TEXT, 0, 0, "what the profiler calls it"},
    {"queue", SQL_TEXT, 0, 0, "the dispatch queue that it served"},
    {"priority", SQL_TEXT, 0, 0, "as it was stated: 31, 4-31"},
    {"cpu_time_ns", SQL_INTEGER, 0, 0, "CPU time while it was watched"},
    {"cycles", SQL_INTEGER, 0, 0, "likewise"},
    {"instructions", SQL_INTEGER, 0, 0, "likewise"},
    {"start_ns", SQL_INTEGER, 0, 0, "when it began, on the clock of samples.time"},
    {"exit_ns", SQL_INTEGER, 0, 0, "when it ended"},
    {"renamed_from", SQL_TEXT, 0, 0, "a name that it had before comm, in the same program"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_threads_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->threads.n;
    return SQLITE_OK;
}

static int sql_threads_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_thread *t = &p->threads.v[at->row];
    if (column == COMM)
        sql_str(out, p, t->comm);
    else if (column == POOL)
        return sql_pool(at->q, out, SP_NONE, (uint32_t)at->row);
    else if (column == EXTRA_JSON)
        sql_members(out, p, t->extra_json);
    else if (column >= FACTS)
        sql_fact(out, p, &sp_thread_facts[column - FACTS], t);
    else
        sql_i64(out, column == PID ? t->pid : t->tid);
    return SQLITE_OK;
}

static int64_t sql_threads_key(struct sql_at *at, int column)
{
    const struct sp_thread *t = &at->q->profile->threads.v[at->row];
    if (column == COMM)
        return t->comm == SP_STR_NONE ? SP_ABSENT : t->comm;
    return column == PID ? t->pid : t->tid;
}

const struct sql_table sql_threads = {"threads",         "threads", columns,         100, 0, sql_threads_rows,
                                      sql_threads_value, NULL,      sql_threads_key, NULL};
