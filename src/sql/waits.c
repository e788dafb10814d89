/* waits: what threads waited for, and who held it; how often is the weight of the stacks that did. */
#include "sql/internal.h"

/* Then the fields of sp_wait_facts, in their order. */
enum { ID, FACTS, EXTRA_JSON = FACTS + 10 };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: stacks.wait"},
    {"text", SQL_TEXT, SQL_KEY, 1, "as the profiler says it"},
    {"kind", SQL_TEXT, SQL_KEY, 100, "what it was: turnstile, unfair lock, wait4, …"},
    {"lock", SQL_INTEGER, 0, 0, "1: one thread holds it, so that a ring of such waits is a deadlock"},
    {"holder_name", SQL_TEXT, 0, 0, "who held it: the process"},
    {"holder_pid", SQL_INTEGER, SQL_KEY, 10, "its number"},
    {"holder_tid", SQL_INTEGER, SQL_KEY, 10, "its thread, where that is known"},
    {"hops", SQL_INTEGER, 0, 0, "so many waits lie between it and the holder; null: it is not said"},
    {"self", SQL_INTEGER, 0, 0, "1: the thread waits for itself"},
    {"deadlock", SQL_INTEGER, 0, 0, "1: the profiler itself calls it a part of a deadlock"},
    {"receive", SQL_INTEGER, 0, 0, "1: a server waits for messages: nobody holds it up"},
    {"extra_json", SQL_TEXT, 0, 0, "what there is no column for, as a JSON object"},
    {0},
};

static int sql_waits_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->waits.n;
    return SQLITE_OK;
}

static int sql_waits_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_wait_fact *x = &p->waits.v[at->row];
    if (column == EXTRA_JSON)
        sql_members(out, p, x->extra_json);
    else
        sql_fact(out, p, &sp_wait_facts[column - FACTS], x);
    return SQLITE_OK;
}

static int64_t sql_waits_key(struct sql_at *at, int column)
{
    const struct sp_fact *f = &sp_wait_facts[column - FACTS];
    const struct sp_wait_fact *x = &at->q->profile->waits.v[at->row];
    if (f->type == SP_FACT_NUMBER)
        return sp_fact_get_number(f, x);
    return sp_fact_get_text(f, x) == SP_STR_NONE ? SP_ABSENT : sp_fact_get_text(f, x);
}

const struct sql_table sql_waits = {"waits",
                                    "what threads waited for; stacks.weight says how often",
                                    columns,
                                    200,
                                    0,
                                    sql_waits_rows,
                                    sql_waits_value,
                                    NULL,
                                    sql_waits_key,
                                    NULL};
