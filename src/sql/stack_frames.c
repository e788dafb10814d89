/* stack_frames: the frames of each stack record, from the leaf; filters do not change them. */
#include "sql/internal.h"

enum { ID, STACK, POSITION, DEPTH, FRAME, FUNCTION };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, stack by stack"},
    {"stack", SQL_INTEGER, SQL_SLICE | SQL_ASCENDING, 34, "stacks.id"},
    {"position", SQL_INTEGER, 0, 0, "0: the leaf"},
    {"depth", SQL_INTEGER, 0, 0, "1: the root, as in nodes.depth"},
    {"frame", SQL_INTEGER, SQL_KEY, 300, "frames.id"},
    {"function", SQL_INTEGER, SQL_KEY, 1000, "functions.id"},
    {0},
};

static uint32_t sql_stack_frames_length(const struct sp_profile *p, uint32_t stack)
{
    return p->stacks.v[stack].n;
}

static int sql_stack_frames_rows(struct sql_at *at, uint64_t *n)
{
    const struct sp_profile *p = at->q->profile;
    struct sql_runs *r = &at->q->frame_runs;
    bool fresh = !r->start;
    int rc = sql_runs_make(r, p, (uint32_t)p->stacks.n, sql_stack_frames_length);
    if (rc)
        return rc;
    *n = r->start[r->n];
    for (uint32_t i = 0; fresh && i < r->n; i++)
        at->q->frames_apart = at->q->frames_apart || p->stacks.v[i].first != r->start[i];
    return SQLITE_OK;
}

/* Most often the rows are those of the profile; else (records that were dropped) the stack leads to them. */
static uint32_t sql_stack_frames_frame_at(struct sql_at *at)
{
    const struct sp_profile *p = at->q->profile;
    uint64_t in;
    if (!at->q->frames_apart)
        return p->stack_frames.v[at->row];
    uint32_t stack = sql_run_of(at, &at->q->frame_runs, &in);
    return sp_stack_frames(p, stack)[in];
}

static int sql_stack_frames_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    uint64_t in;
    if (column == FRAME || column == FUNCTION) {
        uint32_t frame = sql_stack_frames_frame_at(at);
        sqlite3_result_int64(out, column == FRAME ? frame : p->frames.v[frame].function);
        return SQLITE_OK;
    }
    uint32_t stack = sql_run_of(at, &at->q->frame_runs, &in);
    sqlite3_result_int64(out, column == STACK      ? stack
                              : column == POSITION ? (sqlite3_int64)in
                                                   : p->stacks.v[stack].n - (sqlite3_int64)in);
    return SQLITE_OK;
}

static int sql_stack_frames_slice(struct sql_at *at, int column, int64_t stack, uint64_t *first,
                                  uint64_t *end)
{
    (void)column;
    const struct sql_runs *r = &at->q->frame_runs;
    if (stack < r->n) {
        *first = r->start[stack];
        *end = r->start[stack + 1];
        at->hint = (uint32_t)stack;
    }
    return SQLITE_OK;
}

static int64_t sql_stack_frames_key(struct sql_at *at, int column)
{
    uint32_t frame = sql_stack_frames_frame_at(at);
    return column == FRAME ? frame : at->q->profile->frames.v[frame].function;
}

const struct sql_table sql_stack_frames = {
    "stack_frames",
    "the frames of each stack, from the leaf; filters do not change them",
    columns,
    2e7,
    0,
    sql_stack_frames_rows,
    sql_stack_frames_value,
    sql_stack_frames_slice,
    sql_stack_frames_key,
    NULL};
