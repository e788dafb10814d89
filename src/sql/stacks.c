/* stacks: all stack records, with what they count for in the selection. */
#include "sql/internal.h"

#include "model/identity.h"
#include "model/thread_names.h"

enum {
    ID,
    STACK_ID,
    EVENT,
    STACK_TYPE,
    PID,
    TID,
    CPU,
    COMM,
    POOL,
    STATE,
    WAIT,
    SOURCE,
    DEPTH,
    LEAF,
    SELECTED,
    OBSERVATION,
    WEIGHT,
    SELF,
    SAMPLES,
    EXTRA_JSON
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: stack_frames.stack, weights.stack, samples.stack"},
    {"stack_id", SQL_TEXT, 0, 0, "the id as in SPAA, that other commands name it by"},
    {"event", SQL_TEXT, SQL_KEY, 200000, "events.name"},
    {"stack_type", SQL_TEXT, 0, 0, "unified, user, kernel"},
    {"pid", SQL_INTEGER, SQL_KEY, 20000, "process"},
    {"tid", SQL_INTEGER, SQL_KEY, 5000, "thread"},
    {"cpu", SQL_INTEGER, SQL_KEY, 50000, "processor"},
    {"comm", SQL_TEXT, SQL_KEY, 20000, "the thread's name"},
    {"pool", SQL_TEXT, 0, 0, "the thread's pool in its process, where it is in one: http-*"},
    {"state", SQL_TEXT, SQL_KEY, 100000, "thread state (x_state)"},
    {"wait", SQL_INTEGER, SQL_KEY, 1000, "waits.id of what its samples waited for"},
    {"source", SQL_TEXT, SQL_KEY, 200000, "the input, where several are one profile (x_source)"},
    {"depth", SQL_INTEGER, SQL_KEY, 10000, "frames"},
    {"leaf", SQL_INTEGER, SQL_KEY, 50, "frames.id of the leaf"},
    {"selected", SQL_INTEGER, SQL_SELECTED, 0, "1: in the selection"},
    {"observation", SQL_INTEGER, SQL_SELECTED, 0,
     "stacks.id of the record that counts for it: itself, or the user half of a linked pair; NULL when not "
     "selected"},
    {"weight", SQL_NUMERIC, SQL_SELECTED, 0,
     "in the selection; NULL when not in it and for the kernel half of a linked pair"},
    {"self", SQL_NUMERIC, SQL_SELECTED, 0, "of it, what is the leaf's own"},
    {"samples", SQL_INTEGER, SQL_SELECTED, 0, "samples of weight"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {0},
};

static int sql_stacks_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->stacks.n;
    return SQLITE_OK;
}

static int stack_id(struct sql_at *at, sqlite3_context *out)
{
    struct sp_profile *p = at->q->profile;
    char t[32];
    if (p->ids.n != p->stacks.n) {
        struct sp_order order;
        spaa_status st = sp_order_dictionaries(p, &order);
        if (!st) {
            st = sp_profile_identify(p, &order);
            sp_order_free(&order);
        }
        if (st)
            return sql_status(at->q, st);
    }
    const struct sp_stack_id *id = &p->ids.v[at->row];
    if (id->text != SP_STR_NONE)
        sql_str(out, p, id->text);
    else
        sql_copy(out, t, sp_stack_id_text(id, t));
    return SQLITE_OK;
}

static int sql_stacks_weight(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_selected *x;
    int rc = sql_view_of(at);
    if (!rc)
        rc = sql_view_row(at->view, at->q, at->row, &x);
    if (rc)
        return rc;
    if (column == SELECTED)
        sqlite3_result_int(out, x != NULL);
    else if (!x)
        ;
    else if (column == OBSERVATION)
        sqlite3_result_int64(out, x->stack);
    else if (x->stack != at->row)
        ;
    else if (column == SAMPLES)
        sql_i64(out, x->samples);
    else
        sql_weight_value(out, at->view, x->weight);
    return SQLITE_OK;
}

static int sql_stacks_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_stack *s = &p->stacks.v[at->row];
    const struct sp_context *c = &p->contexts.v[s->context];
    switch (column) {
    case STACK_ID:
        return stack_id(at, out);
    case EVENT:
        if (c->event != SP_NONE)
            sql_str(out, p, p->events.v[c->event].name);
        break;
    case STACK_TYPE:
        sql_text(out, sp_stack_type_names[s->type]);
        break;
    case PID:
        sql_i64(out, c->pid);
        break;
    case TID:
        sql_i64(out, c->tid);
        break;
    case CPU:
        sql_i64(out, c->cpu);
        break;
    case COMM:
        sql_str(out, p, sp_context_name(p, c));
        break;
    case POOL:
        return sql_pool(at->q, out, s->context, SP_NONE);
    case STATE:
        sql_str(out, p, c->state);
        break;
    case WAIT:
        if (c->wait)
            sqlite3_result_int64(out, c->wait - 1);
        break;
    case SOURCE:
        sql_str(out, p, c->source);
        break;
    case DEPTH:
        sqlite3_result_int64(out, s->n);
        break;
    case LEAF:
        if (s->n)
            sqlite3_result_int64(out, sp_stack_frames(p, (uint32_t)at->row)[0]);
        break;
    case EXTRA_JSON:
        sql_members(out, p, s->extra_json);
        break;
    default:
        return sql_stacks_weight(at, column, out);
    }
    return SQLITE_OK;
}

static int64_t text_key(uint32_t s)
{
    return s == SP_STR_NONE ? SP_ABSENT : s;
}

static int64_t sql_stacks_key(struct sql_at *at, int column)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_stack *s = &p->stacks.v[at->row];
    const struct sp_context *c = &p->contexts.v[s->context];
    switch (column) {
    case EVENT:
        return c->event == SP_NONE ? SP_ABSENT : p->events.v[c->event].name;
    case PID:
        return c->pid;
    case TID:
        return c->tid;
    case CPU:
        return c->cpu;
    case COMM:
        return text_key(sp_context_name(p, c));
    case STATE:
        return text_key(c->state);
    case WAIT:
        return c->wait ? (int64_t)c->wait - 1 : SP_ABSENT;
    case SOURCE:
        return text_key(c->source);
    case DEPTH:
        return s->n;
    default:
        return s->n ? sp_stack_frames(p, (uint32_t)at->row)[0] : SP_ABSENT;
    }
}

static void prefetch(const struct sql_at *at, uint64_t row)
{
    __builtin_prefetch(&at->q->profile->stacks.v[row]);
    if (at->view && at->view->whole)
        __builtin_prefetch(&at->view->s.rows.v[row]);
}

const struct sql_table sql_stacks = {"stacks",
                                     "all stack records, with what they count for in the selection",
                                     columns,
                                     500000,
                                     0,
                                     sql_stacks_rows,
                                     sql_stacks_value,
                                     NULL,
                                     sql_stacks_key,
                                     prefetch};
