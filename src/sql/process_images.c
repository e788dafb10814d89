/* process_images: what was loaded in which process. */
#include "sql/internal.h"

enum { ID, PROCESS, IMAGE };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, process by process"},
    {"process", SQL_INTEGER, SQL_KEY, 300, "processes.id"},
    {"image", SQL_INTEGER, SQL_KEY, 20, "images.id"},
    {0},
};

static uint32_t sql_process_images_length(const struct sp_profile *p, uint32_t process)
{
    return p->processes.v[process].images;
}

static int sql_process_images_rows(struct sql_at *at, uint64_t *n)
{
    struct sp_sql *q = at->q;
    int rc = sql_runs_make(&q->image_runs, q->profile, (uint32_t)q->profile->processes.n,
                           sql_process_images_length);
    if (!rc)
        *n = q->image_runs.start[q->image_runs.n];
    return rc;
}

static int64_t sql_process_images_key(struct sql_at *at, int column)
{
    const struct sp_profile *p = at->q->profile;
    uint64_t in;
    uint32_t process = sql_run_of(at, &at->q->image_runs, &in);
    return column == PROCESS ? process : p->process_images.v[p->processes.v[process].first + in];
}

static int sql_process_images_value(struct sql_at *at, int column, sqlite3_context *out)
{
    sql_i64(out, sql_process_images_key(at, column));
    return SQLITE_OK;
}

const struct sql_table sql_process_images = {"process_images",
                                             "what was loaded in which process",
                                             columns,
                                             20000,
                                             0,
                                             sql_process_images_rows,
                                             sql_process_images_value,
                                             NULL,
                                             sql_process_images_key,
                                             NULL};
