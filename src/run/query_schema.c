/* .tables and .schema of `spaa query`: what can be asked for, before any profile is read. */
#include "run/query_schema.h"

#include "run/fold.h"

#include "answer/text.h"
#include "sql/sql.h"

#include <stdio.h>

struct listing {
    struct sp_run *run;
    struct sp_jw w;
    struct sp_table t;
    size_t rows;
};

static void list_row(struct listing *l, const char *const *cells, size_t n)
{
    l->rows++;
    if (l->run->form == SP_FORM_JSON)
        sp_jw_open(&l->w, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        if (l->run->form == SP_FORM_JSON)
            sp_jw_cstr(&l->w, NULL, cells[i]);
        else
            sp_table_cell(&l->t, cells[i], strlen(cells[i]));
    }
    if (l->run->form == SP_FORM_JSON)
        sp_jw_close(&l->w, ']');
}

static void json_columns(struct listing *l, const struct sp_table_column *columns, size_t n)
{
    sp_jw_init(&l->w, l->run->out);
    sp_jw_open(&l->w, NULL, '{');
    sp_jw_cstr(&l->w, "schema", "spaa.query/2");
    sp_jw_open(&l->w, "columns", '[');
    for (size_t i = 0; i < n; i++)
        sp_jw_cstr(&l->w, NULL, columns[i].title);
    sp_jw_close(&l->w, ']');
    sp_jw_open(&l->w, "rows", '[');
}

/* All tables, or all columns of one table or of all. */
static int cmd_query_list(struct sp_run *run, bool with_columns, const char *table)
{
    static const struct sp_table_column of_tables[] = {{"table", false, SP_CUT_NEVER},
                                                       {"about", false, SP_CUT_FIRST}};
    static const struct sp_table_column of_columns[] = {{"table", false, SP_CUT_NEVER},
                                                        {"column", false, SP_CUT_NEVER},
                                                        {"type", false, SP_CUT_NEVER},
                                                        {"about", false, SP_CUT_FIRST}};
    const struct sp_table_column *columns = with_columns ? of_columns : of_tables;
    size_t n = with_columns ? 4 : 2;
    struct listing l = {.run = run};
    struct sp_sql_about a;
    int rc = SP_EXIT_FINE;
    if (run->form == SP_FORM_JSON)
        json_columns(&l, columns, n);
    sp_table_init(&l.t, columns, n);
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        const char *cells[] = {a.table, a.about, NULL, NULL};
        if (with_columns && a.column) {
            cells[1] = a.column;
            cells[2] = a.type;
            cells[3] = a.about;
        }
        if (with_columns == (a.column != NULL) && (!table || strcmp(a.table, table) == 0))
            list_row(&l, cells, n);
    }
    if (run->form == SP_FORM_JSON) {
        sp_jw_close(&l.w, ']');
        sp_run_json_close(run, &l.w);
    } else {
        rc = sp_run_table_write(run, &l.t);
    }
    sp_table_free(&l.t);
    return rc;
}

/* As CREATE TABLE with comments: what people and agents read most easily. */
static void schema_table(struct sp_buf *b, const char *table)
{
    struct sp_sql_about a, after;
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        if (strcmp(a.table, table) != 0)
            continue;
        if (!a.column) {
            sp_buf_printf(b, "CREATE TABLE %s ( -- %s\n", a.table, a.about);
            continue;
        }
        bool last = !sp_sql_about(i + 1, &after) || !after.column;
        char type[32];
        snprintf(type, sizeof type, "%s%s%s", a.type, a.parameter ? " HIDDEN" : "", last ? "" : ",");
        sp_buf_printf(b, "    %-18s %-12s -- %s\n%s", a.column, type, a.about, last ? ");\n" : "");
    }
}

/* The same, but of the columns their names alone. */
static void schema_names(struct sp_buf *b, const char *table)
{
    enum { ROOM = 100 };
    struct sp_sql_about a;
    size_t line = 0;
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        if (strcmp(a.table, table) != 0)
            continue;
        if (!a.column) {
            sp_buf_printf(b, "CREATE TABLE %s ( -- %s; .schema %s --names full says what each column is",
                          a.table, a.about, a.table);
        } else {
            bool fresh = !line || b->len - line > ROOM;
            sp_buf_printf(b, "%s%s%s%s", line ? "," : "", fresh ? "\n    " : " ", a.column,
                          a.parameter ? " HIDDEN" : "");
            line = fresh ? b->len : line;
        }
    }
    sp_buf_puts(b, "\n);\n");
}

/* One table as people read it: whole where it is asked for or not long. */
static int schema_text(struct sp_run *run, const char *table)
{
    enum { LONG = 1500 }; /* bytes */
    struct sp_buf b;
    bool full = sp_options_full_names(&run->v);
    sp_buf_init(&b, 0);
    schema_table(&b, table);
    if (!full && b.len > LONG) {
        sp_buf_clear(&b);
        schema_names(&b, table);
    }
    bool ok = !b.failed;
    if (ok)
        sp_write(run->out, b.data, b.len);
    sp_buf_free(&b);
    return ok ? SP_EXIT_FINE : sp_run_exit(run, sp_nomem(run->diags));
}

/* Every table whole. */
static int schema_all(struct sp_run *run)
{
    struct sp_sql_about a;
    struct sp_buf b;
    char table[64];
    sp_buf_init(&b, 0);
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        snprintf(table, sizeof table, "%s", a.table);
        if (!a.column)
            schema_table(&b, table);
    }
    bool ok = !b.failed;
    if (ok)
        sp_write(run->out, b.data, b.len);
    sp_buf_free(&b);
    return ok ? SP_EXIT_FINE : sp_run_exit(run, sp_nomem(run->diags));
}

static int no_table(struct sp_run *run, const char *table)
{
    const char *names[64];
    struct sp_sql_about a;
    size_t n = 0;
    for (size_t i = 0; n < 63 && sp_sql_about(i, &a); i++) {
        if (!a.column && strcmp(a.table, table) == 0)
            return SP_EXIT_FINE;
        if (!a.column)
            names[n++] = a.table;
    }
    names[n] = NULL;
    char near[256], hint[320];
    sp_near_hint(table, names, near, sizeof near);
    snprintf(hint, sizeof hint, "%s%s`.tables` lists them", near, *near ? " " : "");
    return sp_run_usage(run, hint, "there is no table \"%s\"", table);
}

int sp_query_dot(struct sp_run *run, const char *sql)
{
    char table[64] = "";
    size_t n = strcspn(sql, " \t;");
    const char *rest = sql + n + strspn(sql + n, " \t;");
    size_t word = strcspn(rest, " \t;");
    bool schema = n == 7 && memcmp(sql, ".schema", 7) == 0, tables = n == 7 && memcmp(sql, ".tables", 7) == 0;
    if ((!schema && !tables) || word >= sizeof table || rest[word + strspn(rest + word, " \t;")] ||
        (tables && word))
        return sp_run_usage(run, "there are .tables and .schema [TABLE]", "no such command: %s", sql);
    memcpy(table, rest, word);
    bool all = schema && strcmp(table, "all") == 0, text = run->form == SP_FORM_TEXT;
    int rc = word && !all ? no_table(run, table) : SP_EXIT_FINE;
    if (!rc)
        rc = sp_run_stdout(run);
    if (rc)
        return rc;
    if (word && text) {
        struct sp_output *kept;
        rc = sp_run_fold_begin(run, &kept);
        if (!rc)
            rc = all ? schema_all(run) : schema_text(run, table);
        return sp_run_fold_end(run, kept, rc);
    }
    rc = cmd_query_list(run, schema && !text, word && !all ? table : NULL);
    if (!rc && schema && text)
        sp_puts(run->out, ".schema TABLE lists its columns, .schema all those of all\n");
    return rc;
}
