/*
 * What a query may do: read the tables, and compute, within bounds.
 *
 * The database is an empty one in memory. An authorizer refuses every statement but SELECT and EXPLAIN,
 * every table but ours and a few harmless ones, and the functions that reach outside. Sizes are limited, so
 * that no single step takes long between two looks at the clock. What SQLite sorts stays in memory up to
 * 512 MiB, then goes to an unlinked temporary file, as samples do: that is several times faster than
 * temp_store=memory, which allocates every row.
 */
#include "sql/internal.h"

#include "base/watch.h"

enum {
    /* Bytes of a string or blob. instr and replace are quadratic in the worst case, and can neither be
     * cancelled nor timed out: of half as many in as many they take less than a second. */
    VALUE_MAX = 1 << 18,
    TEXT_MAX = 1 << 20, /* bytes of SQL */
    STEPS = 2000,       /* of SQLite's machine between two looks at the clock */
};

static const char *const harmless_tables[] = {"json_each",
                                              "json_tree",
                                              "sqlite_master",
                                              "sqlite_schema",
                                              "pragma_table_info",
                                              "pragma_table_xinfo",
                                              "pragma_table_list",
                                              "pragma_function_list",
                                              NULL};
static const char *const harmless_pragmas[] = {"table_info", "table_xinfo", "table_list", "function_list",
                                               NULL};
static const char *const refused_functions[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile",
                                                "edit",           "sqlite_log",     NULL};

static bool sql_guard_in_list(const char *const *list, const char *name)
{
    while (*list && sqlite3_stricmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

static const char *action_name(int action)
{
    static const struct {
        int action;
        const char *name;
    } names[] = {{SQLITE_INSERT, "INSERT"},
                 {SQLITE_UPDATE, "UPDATE"},
                 {SQLITE_DELETE, "DELETE"},
                 {SQLITE_ATTACH, "ATTACH"},
                 {SQLITE_DETACH, "DETACH"},
                 {SQLITE_PRAGMA, "PRAGMA"},
                 {SQLITE_TRANSACTION, "BEGIN, COMMIT and ROLLBACK"},
                 {SQLITE_SAVEPOINT, "SAVEPOINT"},
                 {SQLITE_ALTER_TABLE, "ALTER TABLE"},
                 {SQLITE_REINDEX, "REINDEX"},
                 {SQLITE_ANALYZE, "ANALYZE"},
                 {SQLITE_FUNCTION, "the function"},
                 {SQLITE_READ, "the table"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].action == action)
            return names[i].name;
    return "CREATE and DROP";
}

static int deny(struct sp_sql *q, int action, const char *what)
{
    if (!*q->denied)
        snprintf(q->denied, sizeof q->denied, "%s%s%.80s", action_name(action), what ? " " : "",
                 what ? what : "");
    return SQLITE_DENY;
}

/* For one version the old names of columns still do. */
static void note_old(struct sp_sql *q, const struct sql_table *t, const struct sql_column *c)
{
    size_t n = 0;
    while (n < sizeof q->old / sizeof *q->old && q->old[n] && q->old[n] != c)
        n++;
    if (n == sizeof q->old / sizeof *q->old || q->old[n])
        return;
    q->old[n] = c;
    sp_emit(q->diags, SP_I661, SP_AT_NOTHING, "%s.%s is called %s now", t->name, c->name,
            t->columns[c->expect].name);
}

static void note_read(struct sp_sql *q, int table, const char *column)
{
    const struct sql_table *t = sql_tables[table];
    q->used |= UINT64_C(1) << table;
    if (t->flags & SQL_SELECTED)
        q->used_selected = true;
    for (int i = 0; column && t->columns[i].name; i++) {
        if (strcmp(t->columns[i].name, column) != 0)
            continue;
        if (t->columns[i].flags & SQL_SELECTED)
            q->used_selected = true;
        if (t->columns[i].flags & SQL_OLD)
            note_old(q, t, &t->columns[i]);
    }
}

static int authorize(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
    struct sp_sql *q = arg;
    (void)c;
    (void)d;
    if (!q->guarded)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ: {
        int table = a ? sql_table_find(a) : -1, question = a ? sql_question_find(a) : -1;
        if (question >= 0) {
            q->asks |= UINT64_C(1) << question;
            return SQLITE_OK;
        }
        if (table >= 0)
            note_read(q, table, b);
        /* Without a column it may be the name of a WITH clause. */
        return table >= 0 || !a || !b || !*b || sql_guard_in_list(harmless_tables, a) ? SQLITE_OK
                                                                                      : deny(q, action, a);
    }
    case SQLITE_FUNCTION:
        return b && sql_guard_in_list(refused_functions, b) ? deny(q, action, b) : SQLITE_OK;
    case SQLITE_PRAGMA:
        return a && sql_guard_in_list(harmless_pragmas, a) ? SQLITE_OK : deny(q, action, a);
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return deny(q, action, NULL);
    default:
        if (a && sqlite3_strnicmp(a, "sqlite_", 7) == 0)
            return deny(q, SQLITE_CREATE_TABLE, NULL);
        return deny(q, action,
                    action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE ? a : NULL);
    }
}

static int on_time(void *arg)
{
    struct sp_sql *q = arg;
    struct timespec now;
    if (sp_cancelled(q->diags))
        return 1;
    if (!q->timeout)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    q->late = now.tv_sec > q->deadline.tv_sec ||
              (now.tv_sec == q->deadline.tv_sec && now.tv_nsec >= q->deadline.tv_nsec);
    return q->late;
}

int sql_guard(struct sp_sql *q)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
                              SQLITE_DBCONFIG_WRITABLE_SCHEMA,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                              SQLITE_DBCONFIG_DQS_DML,
                              SQLITE_DBCONFIG_DQS_DDL};
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, VALUE_MAX},    {SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX},
        {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_WORKER_THREADS, 0},
        {SQLITE_LIMIT_EXPR_DEPTH, 500},      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 1000}};
    /* Tables of SQLite's own come to be when they are first named, which would look like a CREATE. */
    int rc = sqlite3_exec(q->db,
                          "PRAGMA cache_size=-524288;"
                          "SELECT 1 FROM json_each('[]'), json_tree('[]'), pragma_table_info(''), "
                          "pragma_table_xinfo(''), pragma_table_list, pragma_function_list LIMIT 0",
                          NULL, NULL, NULL);
    for (size_t i = 0; !rc && i < sizeof off / sizeof *off; i++)
        rc = sqlite3_db_config(q->db, off[i], 0, NULL);
    if (!rc)
        rc = sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(q->db, limits[i][0], limits[i][1]);
    sqlite3_progress_handler(q->db, STEPS, on_time, q);
    if (!rc)
        rc = sqlite3_set_authorizer(q->db, authorize, q);
    q->guarded = true;
    return rc;
}
