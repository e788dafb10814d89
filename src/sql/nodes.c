/* nodes: the call tree of the selection, as `spaa tree --min-percent 0` has it. */
#include "sql/internal.h"

enum {
    ID,
    PARENT,
    DEPTH,
    SUBTREE_END,
    FUNCTION,
    NAME,
    DSO_NAME,
    FRAME,
    KIND,
    INLINED,
    SELF,
    TOTAL,
    SAMPLES,
    EVENT,
    METRIC,
    INVERTED
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number, depth first, the heaviest child first; 0: the root, all"},
    {"parent", SQL_INTEGER, SQL_KEY, 3, "nodes.id; NULL for the root"},
    {"depth", SQL_INTEGER, 0, 0, "0: the root"},
    {"subtree_end", SQL_INTEGER, 0, 0, "what is below n are the ids from n.id + 1 to n.subtree_end - 1"},
    {"function", SQL_INTEGER, SQL_KEY, 200, "functions.id"},
    {"name", SQL_TEXT, 0, 0, "functions.name; of the root: all"},
    {"dso_name", SQL_TEXT, 0, 0, "dsos.name"},
    {"frame", SQL_INTEGER, SQL_KEY, 50, "frames.id of one of its frames"},
    {"kind", SQL_TEXT, 0, 0, "user, kernel, unknown"},
    {"inlined", SQL_INTEGER, 0, 0, "1: all of its frames are inlined"},
    {"self", SQL_NUMERIC, 0, 0, "weight of stacks that end here"},
    {"total", SQL_NUMERIC, 0, 0, "weight of stacks that pass here"},
    {"samples", SQL_INTEGER, 0, 0, "samples of total"},
    SQL_PARAMETERS,
    {"inverted", SQL_INTEGER, SQL_PARAM, 0, "parameter: 1: from the leaves to their callers; default 0"},
    {0},
};

static const struct sp_tree *tree(const struct sql_at *at)
{
    return &at->view->trees[at->inverted];
}

static int sql_nodes_rows(struct sql_at *at, uint64_t *n)
{
    int rc = sql_view_of(at);
    if (!rc)
        rc = sql_view_tree(at->view, at->q, at->inverted);
    if (!rc)
        *n = tree(at)->nodes.n;
    return rc;
}

static int sql_nodes_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_tree *t = tree(at);
    const struct sp_tree_node *n = &t->nodes.v[at->row];
    struct sp_str name;
    switch (column) {
    case PARENT:
        sql_number(out, n->parent);
        break;
    case DEPTH:
        sqlite3_result_int64(out, n->depth);
        break;
    case SUBTREE_END:
        sqlite3_result_int64(out, n->end);
        break;
    case FUNCTION:
        sql_number(out, n->function);
        break;
    case NAME:
        name = sp_tree_name(t, (uint32_t)at->row);
        sqlite3_result_text64(out, name.p, name.n, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case DSO_NAME:
        if (n->function != SP_NONE)
            sql_str(out, p, p->dsos.v[p->functions.v[n->function].dso].name);
        break;
    case FRAME:
        sql_number(out, n->frame);
        break;
    case KIND:
        if (n->function != SP_NONE)
            sql_text(out, sp_frame_kind_names[n->kind]);
        break;
    case INLINED:
        sqlite3_result_int(out, n->inlined);
        break;
    case SAMPLES:
        sql_i64(out, n->samples);
        break;
    case EVENT:
    case METRIC:
        return sql_parameter(at, column - EVENT, out);
    case INVERTED:
        sqlite3_result_int(out, at->inverted);
        break;
    default:
        sql_weight_value(out, at->view, column == SELF ? n->self : n->total);
    }
    return SQLITE_OK;
}

static int64_t sql_nodes_number(uint32_t n)
{
    return n == SP_NONE ? SP_ABSENT : n;
}

static int64_t sql_nodes_key(struct sql_at *at, int column)
{
    const struct sp_tree_node *n = &tree(at)->nodes.v[at->row];
    return sql_nodes_number(column == PARENT ? n->parent : column == FUNCTION ? n->function : n->frame);
}

const struct sql_table sql_nodes = {"nodes",         "the call tree of the selection, as `spaa tree` has it",
                                    columns,         2e6,
                                    SQL_SELECTED,    sql_nodes_rows,
                                    sql_nodes_value, NULL,
                                    sql_nodes_key,   NULL};
