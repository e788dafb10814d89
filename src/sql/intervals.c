/* intervals: what threads did, one after another, from the events of the scheduler. */
#include "sql/internal.h"

#include "analysis/interval_name.h"

enum {
    ID,
    THREAD,
    PID,
    TID,
    COMM,
    STATE,
    X_STATE,
    START,
    END,
    NS,
    LEAST_NS,
    STACK,
    CPU,
    WAKER_PID,
    WAKER_TID,
    WAKER_STACK,
    BEFORE,
    OPEN,
    NO_WAKE,
    PREEMPTED,
    UNSURE,
    AT_MOST
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: threads one after another, each in order of time"},
    {"thread", SQL_INTEGER, SQL_ASCENDING, 0, "number of the thread among those that were switched"},
    {"pid", SQL_INTEGER, SQL_KEY, 10000, "its process; NULL: not known"},
    {"tid", SQL_INTEGER, SQL_KEY, 1000, "the thread; 0: the idle task of a processor"},
    {"comm", SQL_TEXT, 0, 0, "the thread's name while it ran this program"},
    {"state", SQL_TEXT, 0, 0, "running, runnable (it waited for a processor), blocked"},
    {"x_state", SQL_TEXT, 0, 0, "of what is not running, as stacks.state: WAITING, BLOCKED, RUN_QUEUE, …"},
    {"start_time", SQL_INTEGER, 0, 0, "nanoseconds in the profile's clock, as samples.time"},
    {"end_time", SQL_INTEGER, 0, 0, "likewise"},
    {"ns", SQL_INTEGER, 0, 0, "end_time - start_time; a bound where before, open or at_most is 1"},
    {"least_ns", SQL_INTEGER, 0, 0,
     "of ns what is certain, from start_time on: then whether the thread ran is not recorded"},
    {"stack", SQL_INTEGER, SQL_KEY, 100,
     "stacks.id of where it left the processor; NULL: running, or not known"},
    {"cpu", SQL_INTEGER, 0, 0,
     "running: the processor; runnable: that on which it went on; blocked: that it left"},
    {"waker_pid", SQL_INTEGER, 0, 0, "blocked: process of the thread that woke it; NULL: not known"},
    {"waker_tid", SQL_INTEGER, 0, 0, "that thread; 0: an interrupt of an idle processor"},
    {"waker_stack", SQL_INTEGER, 0, 0, "stacks.id of where that thread was then"},
    {"before", SQL_INTEGER, 0, 0, "1: it began before the recording"},
    {"open", SQL_INTEGER, 0, 0, "1: it is not over at the end of the recording"},
    {"no_wake", SQL_INTEGER, 0, 0,
     "1: blocked, with the wait for a processor behind it: no waking is recorded"},
    {"preempted", SQL_INTEGER, 0, 0, "1: runnable since it was put off the processor; 0: since it was woken"},
    {"unsure", SQL_INTEGER, 0, 0, "1: the events around it contradict each other, or some were lost"},
    {"at_most", SQL_INTEGER, 0, 0, "1: its end is not recorded; it was over by then"},
    {0},
};

static int sql_intervals_rows(struct sql_at *at, uint64_t *n)
{
    struct sp_sql *q = at->q;
    if (!q->have_intervals) {
        spaa_status st = sp_intervals_of(q->profile, q->diags, &q->intervals);
        if (st)
            return sql_status(q, st);
    }
    q->have_intervals = true;
    *n = q->intervals.v.n;
    return SQLITE_OK;
}

static void waker(sqlite3_context *out, const struct sp_intervals *v, uint32_t thread, bool pid)
{
    if (thread != SP_NONE)
        sql_i64(out, pid ? v->threads.v[thread].pid : v->threads.v[thread].tid);
}

static void flag(sqlite3_context *out, const struct sp_interval *i, unsigned flag)
{
    sqlite3_result_int(out, (i->flags & flag) != 0);
}

static void of_thread(struct sql_at *at, sqlite3_context *out, int column)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_intervals *v = &at->q->intervals;
    const struct sp_interval_thread *t = &v->threads.v[v->v.v[at->row].thread];
    if (column == COMM)
        sql_str(out, p, sp_interval_name(p, v, (uint32_t)at->row));
    else
        sql_i64(out, column == PID ? t->pid : t->tid);
}

static void of_flags(sqlite3_context *out, const struct sp_interval *i, int column)
{
    static const unsigned flags[] = {SP_INTERVAL_BEFORE,    SP_INTERVAL_OPEN,   SP_INTERVAL_NO_WAKE,
                                     SP_INTERVAL_PREEMPTED, SP_INTERVAL_UNSURE, SP_INTERVAL_AT_MOST};
    flag(out, i, flags[column - BEFORE]);
}

static int sql_intervals_value(struct sql_at *at, int column, sqlite3_context *out)
{
    static const char *const states[] = {"running", "runnable", "blocked"};
    const struct sp_intervals *v = &at->q->intervals;
    const struct sp_interval *i = &v->v.v[at->row];
    switch (column) {
    case THREAD:
        sqlite3_result_int64(out, i->thread);
        break;
    case PID:
    case TID:
    case COMM:
        of_thread(at, out, column);
        break;
    case STATE:
        sql_text(out, states[i->state]);
        break;
    case X_STATE:
        if (i->state != SP_RUN_RUNNING)
            sql_text(out, i->state == SP_RUN_RUNNABLE ? "RUN_QUEUE"
                                                      : sp_task_state_name((enum sp_task_state)i->task));
        break;
    case START:
        sqlite3_result_int64(out, i->start);
        break;
    case END:
        sqlite3_result_int64(out, i->end);
        break;
    case NS:
        sqlite3_result_int64(out, i->end - i->start);
        break;
    case LEAST_NS:
        sqlite3_result_int64(out, i->until - i->start);
        break;
    case STACK:
        sql_number(out, i->stack);
        break;
    case CPU:
        sql_i64(out, i->cpu < 0 ? SP_ABSENT : i->cpu);
        break;
    case WAKER_PID:
    case WAKER_TID:
        waker(out, v, i->waker, column == WAKER_PID);
        break;
    case WAKER_STACK:
        sql_number(out, i->waker_stack);
        break;
    default:
        of_flags(out, i, column);
    }
    return SQLITE_OK;
}

static int64_t sql_intervals_key(struct sql_at *at, int column)
{
    const struct sp_intervals *v = &at->q->intervals;
    const struct sp_interval *i = &v->v.v[at->row];
    if (column == STACK)
        return i->stack == SP_NONE ? SP_ABSENT : i->stack;
    return column == PID ? v->threads.v[i->thread].pid : v->threads.v[i->thread].tid;
}

const struct sql_table sql_intervals = {
    "intervals",
    "what threads did: running, waiting for a processor, blocked; of recordings of sched_switch",
    columns,
    2e6,
    0,
    sql_intervals_rows,
    sql_intervals_value,
    NULL,
    sql_intervals_key,
    NULL};
