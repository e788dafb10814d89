/* labels: what stacks and samples are labelled with. */
#include "sql/internal.h"

#include "model/labels.h"

enum { ID, STACK, SAMPLE, KEY, TEXT, NUMBER, UNIT };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: those of stacks, then those of samples"},
    {"stack", SQL_INTEGER, SQL_KEY, 4, "stacks.id"},
    {"sample", SQL_INTEGER, SQL_KEY, 4, "samples.id; NULL where all of the stack has it"},
    {"key", SQL_TEXT, SQL_KEY, 10000, "its name"},
    {"text", SQL_TEXT, SQL_KEY, 1000, "what it says; of a number, its digits"},
    {"number", SQL_NUMERIC, 0, 0, "the number, where it is one"},
    {"unit", SQL_TEXT, 0, 0, "of the number, where one is stated"},
    {0},
};

static bool labels_push(struct sp_sql *q, uint32_t set, uint32_t stack, uint32_t sample)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(q->profile, set, &n);
    for (size_t i = 0; i < n; i++) {
        struct sql_label row = {stack, sample, (uint32_t)(&l[i] - q->profile->labels.v)};
        if (!sp_vec_push(&q->labels, row))
            return false;
    }
    return true;
}

static int labels_make(struct sql_at *at)
{
    struct sp_sql *q = at->q;
    struct sp_profile *p = q->profile;
    uint64_t n;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->stacks.n; i++)
        ok = labels_push(q, p->contexts.v[p->stacks.v[i].context].labels, i, SP_NONE);
    int rc = sql_samples.rows(at, &n); /* in their order */
    for (uint32_t i = 0; ok && !rc && i < n; i++) {
        uint32_t set = sp_labels_of_sample(p, &q->samples[i]);
        ok = set != SP_NONE && labels_push(q, set, q->samples[i].stack, i);
    }
    q->have_labels = ok && !rc;
    return rc ? rc : ok ? SQLITE_OK : SQLITE_NOMEM;
}

static int sql_labels_rows(struct sql_at *at, uint64_t *n)
{
    int rc = at->q->have_labels ? SQLITE_OK : labels_make(at);
    *n = at->q->labels.n;
    return rc;
}

static int sql_labels_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sql_label *x = &at->q->labels.v[at->row];
    const struct sp_label *l = &p->labels.v[x->label];
    switch (column) {
    case STACK:
        sql_number(out, x->stack);
        break;
    case SAMPLE:
        sql_number(out, x->sample);
        break;
    case NUMBER:
        if (l->flags & SP_LABEL_NUMBER)
            sql_number_text(out, p, l->value);
        break;
    default:
        sql_str(out, p, column == KEY ? l->key : column == TEXT ? l->value : l->unit);
    }
    return SQLITE_OK;
}

static int64_t sql_labels_key(struct sql_at *at, int column)
{
    const struct sql_label *x = &at->q->labels.v[at->row];
    const struct sp_label *l = &at->q->profile->labels.v[x->label];
    uint32_t number = column == STACK ? x->stack : x->sample;
    if (column == KEY || column == TEXT)
        return column == KEY ? l->key : l->value;
    return number == SP_NONE ? SP_ABSENT : number;
}

const struct sql_table sql_labels = {
    "labels",
    "labels of stacks and of raw samples: of pprof, fields of tracepoints, the cgroup, …",
    columns,
    1e5,
    0,
    sql_labels_rows,
    sql_labels_value,
    NULL,
    sql_labels_key,
    NULL};
