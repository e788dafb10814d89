/* frames: places in functions, with their weights in the selection. */
#include "sql/internal.h"

enum {
    ID,
    FUNCTION,
    FUNC,
    DSO,
    DSO_NAME,
    IP,
    SYMOFF,
    SRCLINE,
    KIND,
    FUNC_RESOLVED,
    INLINED,
    INLINE_DEPTH,
    SELF,
    TOTAL,
    SELF_SAMPLES,
    TOTAL_SAMPLES,
    EXTRA_JSON,
    LINKAGE,
    FILE_NAME,
    LINE,
    START,
    EVENT,
    METRIC
};

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: stack_frames.frame, stacks.leaf, nodes.frame"},
    {"function", SQL_INTEGER, SQL_KEY, 4, "functions.id"},
    {"func", SQL_TEXT, SQL_KEY, 4, "name of the function, or the address in hex"},
    {"dso", SQL_INTEGER, SQL_KEY, 500, "dsos.id"},
    {"dso_name", SQL_TEXT, SQL_KEY, 500, "dsos.name"},
    {"ip", SQL_TEXT, 0, 0, "address in the binary as linked, \"0x…\""},
    {"symoff", SQL_TEXT, 0, 0, "offset in the function, \"0x…\""},
    {"srcline", SQL_TEXT, SQL_KEY, 2, "file:line"},
    {"kind", SQL_TEXT, 0, 0, "user, kernel, unknown"},
    {"func_resolved", SQL_INTEGER, 0, 0, "0: there is no symbol"},
    {"inlined", SQL_INTEGER, 0, 0, "1: inlined into the next frame towards the root"},
    {"inline_depth", SQL_INTEGER, 0, 0, "0: physical"},
    {"self", SQL_NUMERIC, SQL_SELECTED, 0, "weight of stacks with this frame at the leaf"},
    {"total", SQL_NUMERIC, SQL_SELECTED, 0,
     "weight of stacks with this frame, each once; overlaps with that of other rows: never add"},
    {"self_samples", SQL_INTEGER, SQL_SELECTED, 0, "samples of self"},
    {"total_samples", SQL_INTEGER, SQL_SELECTED, 0, "samples of total"},
    {"extra_json", SQL_TEXT, 0, 0, "members that SPAA does not define, as a JSON object"},
    {"linkage", SQL_TEXT, 0, 0, "the symbol in the binary, with parts like .cold"},
    {"file", SQL_TEXT, 0, 0, "where the function is declared"},
    {"line", SQL_INTEGER, 0, 0, "the line of its declaration"},
    {"start", SQL_TEXT, 0, 0, "where it, or the part, starts in the binary as linked, \"0x…\""},
    SQL_PARAMETERS,
    {"more", SQL_TEXT, SQL_OLD, EXTRA_JSON, "extra_json"},
    {"total_overlapping", SQL_NUMERIC, SQL_OLD | SQL_SELECTED, TOTAL, "total"},
    {0},
};

static int sql_frames_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->frames.n;
    return SQLITE_OK;
}

static int sql_frames_weight(struct sql_at *at, int column, sqlite3_context *out)
{
    bool self = column == SELF || column == SELF_SAMPLES;
    int rc = sql_view_of(at);
    if (!rc)
        rc = self ? sql_view_self(at->view, at->q, true) : sql_view_total(at->view, at->q, true);
    if (rc)
        return rc;
    const struct sp_fold_sum *w = &(self ? at->view->frames.self : at->view->frames.total)[at->row];
    if (column == SELF_SAMPLES || column == TOTAL_SAMPLES)
        sql_i64(out, w->samples);
    else
        sql_weight_value(out, at->view, w->weight);
    return SQLITE_OK;
}

static int sql_frames_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_frame *f = &p->frames.v[at->row];
    const struct sp_function *function = &p->functions.v[f->function];
    switch (column) {
    case FUNCTION:
        sqlite3_result_int64(out, f->function);
        break;
    case FUNC:
        sql_str(out, p, function->name);
        break;
    case DSO:
        sqlite3_result_int64(out, function->dso);
        break;
    case DSO_NAME:
        sql_str(out, p, p->dsos.v[function->dso].name);
        break;
    case IP:
        if (f->flags & SP_FRAME_IP)
            sql_hex(out, f->ip);
        break;
    case SYMOFF:
        if (f->flags & SP_FRAME_SYMOFF)
            sql_hex(out, f->symoff);
        break;
    case SRCLINE:
        sql_str(out, p, f->srcline);
        break;
    case KIND:
        sql_text(out, sp_frame_kind_names[f->kind]);
        break;
    case FUNC_RESOLVED:
        sqlite3_result_int(out, !(f->flags & SP_FRAME_UNRESOLVED));
        break;
    case INLINED:
        sqlite3_result_int(out, (f->flags & SP_FRAME_INLINED) != 0);
        break;
    case INLINE_DEPTH:
        sqlite3_result_int64(out, f->inline_depth);
        break;
    case EXTRA_JSON:
        sql_members(out, p, f->extra_json);
        break;
    case LINKAGE:
    case FILE_NAME:
    case LINE:
    case START:
        sql_func_info(out, p, sp_frame_known(p, (uint32_t)at->row), column - LINKAGE);
        break;
    case EVENT:
    case METRIC:
        return sql_parameter(at, column - EVENT, out);
    default:
        return sql_frames_weight(at, column, out);
    }
    return SQLITE_OK;
}

static int64_t sql_frames_key(struct sql_at *at, int column)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_frame *f = &p->frames.v[at->row];
    const struct sp_function *function = &p->functions.v[f->function];
    switch (column) {
    case FUNCTION:
        return f->function;
    case FUNC:
        return function->name;
    case DSO:
        return function->dso;
    case DSO_NAME:
        return p->dsos.v[function->dso].name;
    default:
        return f->srcline == SP_STR_NONE ? SP_ABSENT : f->srcline;
    }
}

const struct sql_table sql_frames = {"frames",
                                     "places in functions, with their weight in the selection",
                                     columns,
                                     50000,
                                     0,
                                     sql_frames_rows,
                                     sql_frames_value,
                                     NULL,
                                     sql_frames_key,
                                     NULL};
