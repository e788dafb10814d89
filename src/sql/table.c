/*
 * The template of the virtual tables: one module of SQLite for all of them, over struct sql_table.
 *
 * A cursor is a row number that counts up through a range, or through the rows that an index lists. The
 * planner (xBestIndex) is told of four ways to rows, in this order: equality of `id`; of a column whose
 * rows stand together; of a column with an index; a range of `id`; else all rows, in the order of an index
 * where that spares SQLite a sort. Parameters are
 * constraints as well, that must be there before the rows: a plan that would have them later is refused.
 * SQLite tests again whatever was used to find rows, so that it is enough to return all that might fit.
 */
#include "sql/internal.h"

const struct sql_table *const sql_tables[] = {
#define SPAA_TABLE(name) &sql_##name,
#include "sql/tables.def"
#undef SPAA_TABLE
    NULL,
};

enum { PARAMS = 3, AHEAD = 12 /* rows to prefetch */ };
/* idxNum: a bit per parameter, these, and the column looked up from bit 8 on. */
enum plan {
    PLAN_DOWN = 8,
    PLAN_LOW = 16,
    PLAN_HIGH = 32,
    PLAN_EQUAL = 64,
    PLAN_ORDER = 128,
    PLAN_COLUMN = 8
};

struct table {
    sqlite3_vtab base;
    struct sp_sql *q;
    const struct sql_table *t;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct sql_at at;
    uint64_t i, start, end; /* rows, or positions in the list */
    bool down;              /* from the end to the start */
    const uint32_t *list;   /* NULL: all rows of the range */
};

const char *sql_type_name(enum sql_type t)
{
    return t == SQL_INTEGER ? "INTEGER" : t == SQL_TEXT ? "TEXT" : "NUMERIC";
}

int sql_table_find(const char *name)
{
    for (int i = 0; sql_tables[i]; i++)
        if (sqlite3_stricmp(sql_tables[i]->name, name) == 0)
            return i;
    return -1;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **error)
{
    (void)error;
    int number = argc > 2 ? sql_table_find(argv[2]) : -1;
    if (number < 0)
        return SQLITE_ERROR;
    const struct sql_table *t = sql_tables[number];
    sqlite3_str *s = sqlite3_str_new(db);
    sqlite3_str_appendall(s, "CREATE TABLE x(");
    for (int i = 0; t->columns[i].name; i++)
        sqlite3_str_appendf(s, "%s\"%s\" %s%s", i ? "," : "", t->columns[i].name,
                            sql_type_name(t->columns[i].type),
                            t->columns[i].flags & (SQL_PARAM | SQL_OLD) ? " HIDDEN" : "");
    sqlite3_str_appendall(s, ")");
    char *declaration = sqlite3_str_finish(s);
    struct table *table = calloc(1, sizeof *table);
    int rc = declaration && table ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (!rc)
        rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (rc) {
        free(table);
        return rc;
    }
    table->q = aux;
    table->t = t;
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

/* What of a query's constraints leads to rows; numbers of constraints, -1: none. */
struct found {
    int param[PARAMS], equal, low, high;
    int column;
    double rows;
};

static int parameter_number(const struct sql_table *t, int column)
{
    int n = 0;
    for (int i = 0; i < column; i++)
        n += (t->columns[i].flags & SQL_PARAM) != 0;
    return n;
}

/* Better than what was found before? Few rows first; `id` is one row. */
static void equality(const struct sql_table *t, sqlite3_index_info *info, int i, int column, struct found *f)
{
    const struct sql_column *c = &t->columns[column];
    if (column && !(c->flags & (SQL_KEY | SQL_SLICE)))
        return;
    if (c->type == SQL_TEXT && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return;
    double rows = column ? c->expect : 1;
    if (f->equal >= 0 && rows >= f->rows)
        return;
    f->equal = i;
    f->column = column;
    f->rows = rows;
}

/* False: a parameter comes too late in this order of the tables. */
static bool sql_table_find_plan(const struct sql_table *t, sqlite3_index_info *info, struct found *f)
{
    *f = (struct found){{-1, -1, -1}, -1, -1, -1, 0, t->expect};
    for (int i = 0; i < info->nConstraint; i++) {
        int op = info->aConstraint[i].op, column = info->aConstraint[i].iColumn;
        bool usable = info->aConstraint[i].usable;
        if (op >= SQLITE_INDEX_CONSTRAINT_LIMIT && op <= SQLITE_INDEX_CONSTRAINT_OFFSET)
            continue;
        column = column < 0 ? 0 : column;
        if (t->columns[column].flags & SQL_PARAM) {
            int n = parameter_number(t, column);
            if (op != SQLITE_INDEX_CONSTRAINT_EQ || f->param[n] >= 0)
                continue;
            if (!usable)
                return false;
            f->param[n] = i;
        } else if (usable && op == SQLITE_INDEX_CONSTRAINT_EQ) {
            equality(t, info, i, column, f);
        } else if (usable && !column &&
                   (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE)) {
            f->low = i;
        } else if (usable && !column &&
                   (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE)) {
            f->high = i;
        }
    }
    return true;
}

static void sql_table_take(sqlite3_index_info *info, int constraint, int bit, bool omit, int *next)
{
    if (constraint < 0)
        return;
    info->aConstraintUsage[constraint].argvIndex = ++*next;
    info->aConstraintUsage[constraint].omit = omit;
    info->idxNum |= bit;
}

/*
 * GROUP BY would do with equal values together, but SQLite 3.40 then skips an ORDER BY of the same column;
 * and it groups downwards where it will sort the groups downwards.
 */
static void order(const struct sql_table *t, sqlite3_index_info *info, bool all)
{
    int column = info->aOrderBy[0].iColumn;
    if (column > 0 && !(t->columns[column].flags & SQL_ASCENDING)) {
        if (!all || !(t->columns[column].flags & SQL_KEY))
            return;
        info->idxNum |= PLAN_ORDER | column << PLAN_COLUMN;
    }
    info->idxNum |= info->aOrderBy[0].desc ? PLAN_DOWN : 0;
    info->orderByConsumed = 1;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_table *t = ((struct table *)base)->t;
    struct found f;
    int next = 0;
    if (!sql_table_find_plan(t, info, &f))
        return SQLITE_CONSTRAINT;
    info->idxNum = 0;
    for (int i = 0; i < PARAMS; i++)
        sql_table_take(info, f.param[i], 1 << i, true, &next);
    if (f.equal >= 0) {
        sql_table_take(info, f.equal, PLAN_EQUAL | f.column << PLAN_COLUMN, false, &next);
        info->idxFlags = f.column ? 0 : SQLITE_INDEX_SCAN_UNIQUE;
    } else {
        sql_table_take(info, f.low, PLAN_LOW, false, &next);
        sql_table_take(info, f.high, PLAN_HIGH, false, &next);
        f.rows /= (f.low >= 0 ? 4 : 1) * (f.high >= 0 ? 4 : 1);
    }
    info->estimatedRows = (sqlite3_int64)f.rows;
    info->estimatedCost = f.rows;
    if (info->nOrderBy == 1)
        order(t, info, f.equal < 0 && f.low < 0 && f.high < 0);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    const struct table *t = (struct table *)base;
    struct cursor *c = calloc(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    c->at.q = t->q;
    c->at.table = t->t;
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

static int complain(struct cursor *c, char *message)
{
    sqlite3_free(c->base.pVtab->zErrMsg);
    c->base.pVtab->zErrMsg = message;
    return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* The parameters are, by their names, an event, a metric and whether the tree is inverted. */
static int set_parameter(struct cursor *c, int number, sqlite3_value *v)
{
    const struct sp_profile *p = c->at.q->profile;
    int column = 0;
    while (!(c->at.table->columns[column].flags & SQL_PARAM) || number--)
        column++;
    const char *name = c->at.table->columns[column].name;
    if (strcmp(name, "inverted") == 0) {
        c->at.inverted = sqlite3_value_int(v) != 0;
        return SQLITE_OK;
    }
    if (sqlite3_value_type(v) == SQLITE_NULL)
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_value_text(v);
    size_t n = (size_t)sqlite3_value_bytes(v);
    if (!text)
        return SQLITE_NOMEM;
    bool event = strcmp(name, "event") == 0;
    uint32_t found = event ? sp_event_find(p, text, n) : sp_metric_find(p, text, n);
    *(event ? &c->at.event : &c->at.metric) = found;
    if (found == SP_NONE)
        return complain(c, sqlite3_mprintf("%s: no such %s: %s", c->at.table->name, name, text));
    return SQLITE_OK;
}

/* The value looked up as the table has it; *none: no row can have it. */
static int sql_table_key_of(struct cursor *c, int column, sqlite3_value *v, int64_t *key, bool *none)
{
    *none = true;
    if (c->at.table->columns[column].type == SQL_TEXT) {
        if (sqlite3_value_type(v) == SQLITE_NULL || sqlite3_value_type(v) == SQLITE_BLOB)
            return SQLITE_OK;
        const void *text = sqlite3_value_text(v);
        if (!text)
            return SQLITE_NOMEM;
        uint32_t s = sp_strtab_find(&c->at.q->profile->strs, text, (size_t)sqlite3_value_bytes(v));
        *none = s == SP_STR_NONE;
        *key = s;
        return SQLITE_OK;
    }
    int type = sqlite3_value_numeric_type(v);
    *key = sqlite3_value_int64(v);
    *none = type == SQLITE_NULL || type == SQLITE_TEXT || type == SQLITE_BLOB || *key <= SP_DECIMAL ||
            (type == SQLITE_FLOAT && (double)*key < sqlite3_value_double(v)) ||
            (type == SQLITE_FLOAT && (double)*key > sqlite3_value_double(v));
    return SQLITE_OK;
}

static int sql_table_look_up(struct cursor *c, int column, sqlite3_value *v, uint64_t rows)
{
    const struct sql_table *t = c->at.table;
    int64_t key = 0;
    bool none;
    int rc = sql_table_key_of(c, column, v, &key, &none);
    c->i = c->end = 0;
    if (rc || none)
        return rc;
    if (column && t->columns[column].flags & SQL_KEY)
        return sql_index_rows(&c->at, column, key, &c->list, &c->end);
    if (key < 0)
        return SQLITE_OK;
    if (column)
        return t->slice(&c->at, column, key, &c->i, &c->end);
    c->i = (uint64_t)key < rows ? (uint64_t)key : 0;
    c->end = (uint64_t)key < rows ? (uint64_t)key + 1 : 0;
    return SQLITE_OK;
}

/* Integers narrow the range; SQLite compares the others itself. One more row at each end does no harm. */
static void narrow(struct cursor *c, int plan, sqlite3_value **v)
{
    if (plan & PLAN_LOW) {
        int64_t low = sqlite3_value_type(*v) == SQLITE_INTEGER ? sqlite3_value_int64(*v) : 0;
        if (low > 0)
            c->i = (uint64_t)low < c->end ? (uint64_t)low : c->end;
        v++;
    }
    if (plan & PLAN_HIGH && sqlite3_value_type(*v) == SQLITE_INTEGER) {
        int64_t high = sqlite3_value_int64(*v);
        if (high < 0)
            c->end = c->i;
        else if ((uint64_t)high < c->end)
            c->end = (uint64_t)high + 1;
    }
}

static int find_rows(struct cursor *c, int plan, sqlite3_value **v)
{
    uint64_t rows = 0;
    int rc = SQLITE_OK;
    if (!c->at.q->profile)
        return complain(c, sqlite3_mprintf("there is no profile"));
    c->at.event = c->at.metric = SP_NONE;
    c->at.inverted = false;
    c->at.view = NULL;
    c->at.hint = 0;
    c->list = NULL;
    for (int i = 0; !rc && i < PARAMS; i++)
        if (plan & 1 << i)
            rc = set_parameter(c, i, *v++);
    if (!rc)
        rc = c->at.table->rows(&c->at, &rows);
    if (rc)
        return rc;
    if (plan & PLAN_EQUAL)
        return sql_table_look_up(c, plan >> PLAN_COLUMN, *v, rows);
    c->i = 0;
    c->end = rows;
    narrow(c, plan, v);
    return plan & PLAN_ORDER ? sql_index_order(&c->at, plan >> PLAN_COLUMN, &c->list) : SQLITE_OK;
}

static int sql_table_filter(sqlite3_vtab_cursor *base, int plan, const char *unused, int argc,
                            sqlite3_value **v)
{
    (void)unused;
    (void)argc;
    struct cursor *c = (struct cursor *)base;
    int rc = find_rows(c, plan, v);
    c->start = c->i;
    c->down = plan & PLAN_DOWN;
    return rc;
}

static uint64_t sql_table_row_at(const struct cursor *c, uint64_t i)
{
    uint64_t place = c->down ? c->start + (c->end - 1 - i) : i;
    return c->list ? c->list[place] : place;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    c->i++;
    if (c->list && c->end - c->i > AHEAD && c->at.table->prefetch)
        c->at.table->prefetch(&c->at, sql_table_row_at(c, c->i + AHEAD));
    return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (const struct cursor *)base;
    return c->i >= c->end;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    struct cursor *c = (struct cursor *)base;
    c->at.row = sql_table_row_at(c, c->i);
    if (column <= 0) {
        sqlite3_result_int64(out, (sqlite3_int64)c->at.row);
        return SQLITE_OK;
    }
    if (c->at.table->columns[column].flags & SQL_OLD)
        column = (int)c->at.table->columns[column].expect;
    return c->at.table->value(&c->at, column, out);
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)sql_table_row_at((struct cursor *)base, ((struct cursor *)base)->i);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = connect,
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = sql_table_filter,
    .xNext = next,
    .xEof = eof,
    .xColumn = column_value,
    .xRowid = rowid,
};

int sql_tables_create(struct sp_sql *q)
{
    int rc = sqlite3_create_module(q->db, "spaa", &module, q);
    for (int i = 0; !rc && sql_tables[i]; i++) {
        char *create = sqlite3_mprintf("CREATE VIRTUAL TABLE %s USING spaa", sql_tables[i]->name);
        rc = create ? sqlite3_exec(q->db, create, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(create);
    }
    return rc;
}
