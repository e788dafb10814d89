/* spaa query: SQL over the profile's tables. */
#include "run/query_schema.h"

#include "answer/text.h"
#include "base/num.h"
#include "io/input.h"
#include "sql/sql.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ROWS = 1000,       /* when no --limit is given */
    COUNTED = 1000000, /* rows beyond the limit are counted up to here */
    SECONDS = 60,      /* when no --timeout is given */
    BATCH = 1024,      /* rows of CSV and Markdown that are written together */
    SQL_MAX = 1 << 20,
};

/* ---- values ---- */

/* A number that shows that it is no integer: "2.0". */
static size_t real_text(double v, char out[static 40])
{
    if (isinf(v)) { /* what JSON reads as beyond any double */
        const char *beyond = v < 0 ? "-9e999" : "9e999";
        size_t n = strlen(beyond);
        memcpy(out, beyond, n + 1);
        return n;
    }
    size_t n = sp_double_text(v, out);
    if (strspn(out, "-0123456789") == n) {
        memcpy(out + n, ".0", 3);
        n += 2;
    }
    return n;
}

/* As SQL writes it: x'00ff'. */
static void blob_text(struct sp_buf *b, const char *p, size_t n)
{
    sp_buf_puts(b, "x'");
    for (size_t i = 0; i < n; i++) {
        sp_buf_ch(b, "0123456789abcdef"[(unsigned char)p[i] >> 4]);
        sp_buf_ch(b, "0123456789abcdef"[p[i] & 15]);
    }
    sp_buf_ch(b, '\'');
}

static void value_text(struct sp_buf *b, const struct sp_sql_value *v)
{
    char t[40];
    if (v->kind == SP_SQL_INTEGER)
        sp_buf_i64(b, v->integer);
    else if (v->kind == SP_SQL_REAL)
        sp_buf_add(b, t, real_text(v->real, t));
    else if (v->kind == SP_SQL_BLOB)
        blob_text(b, v->p, v->n);
    else
        sp_buf_add(b, v->p, v->n);
}

/* ---- the answer ---- */

struct rows {
    struct sp_run *run;
    struct sp_sql *q;
    size_t limit;
    struct sp_buf b; /* JSON: all rows; else scratch */
    struct sp_table t;
    struct sp_table_column *columns;
    struct sp_arena titles;
    uint64_t rows, left_out;
    bool at_least; /* there are still more than were counted */
};

static spaa_status cmd_query_json_row(struct rows *a)
{
    struct sp_buf text;
    sp_buf_init(&text, 0);
    sp_buf_puts(&a->b, a->rows ? ",[" : "[");
    for (int i = 0; i < sp_sql_columns(a->q); i++) {
        struct sp_sql_value v = sp_sql_value(a->q, i);
        if (i)
            sp_buf_ch(&a->b, ',');
        sp_buf_clear(&text);
        if (v.kind == SP_SQL_BLOB)
            blob_text(&text, v.p, v.n);
        if (v.kind == SP_SQL_NULL)
            sp_buf_puts(&a->b, "null");
        else if (v.kind == SP_SQL_TEXT)
            sp_json_string(&a->b, v.p, v.n);
        else if (v.kind == SP_SQL_BLOB)
            sp_json_string(&a->b, text.data ? text.data : "", text.len);
        else
            value_text(&a->b, &v);
    }
    sp_buf_ch(&a->b, ']');
    bool failed = a->b.failed || text.failed;
    sp_buf_free(&text);
    if (failed && a->b.len > SP_BUF_MAX / 2) {
        sp_emit_hint(a->run->diags, SP_E653, SP_AT_NOTHING,
                     "--limit N, or --format csv, which is written row by row",
                     "the answer is longer than 1 GiB");
        return SPAA_ERR_LIMIT;
    }
    return failed ? sp_nomem(a->run->diags) : SPAA_OK;
}

static spaa_status write_batch(struct rows *a)
{
    int rc = sp_run_table_write(a->run, &a->t);
    sp_table_next(&a->t);
    return rc ? SPAA_ERR_NOMEM : SPAA_OK;
}

/* Columns of numbers are set right; NULL is empty in CSV. */
static spaa_status cmd_query_table_row(struct rows *a)
{
    bool csv = a->run->form == SP_FORM_CSV;
    for (int i = 0; i < sp_sql_columns(a->q); i++) {
        struct sp_sql_value v = sp_sql_value(a->q, i);
        sp_buf_clear(&a->b);
        if (v.kind == SP_SQL_NULL)
            sp_buf_puts(&a->b, csv ? "" : "NULL");
        else
            value_text(&a->b, &v);
        if (v.kind == SP_SQL_TEXT || v.kind == SP_SQL_BLOB) {
            a->columns[i].right = false;
            a->columns[i].cut = SP_CUT_FIRST;
        }
        sp_table_cell(&a->t, a->b.data ? a->b.data : "", a->b.len);
        if (a->b.failed)
            return sp_nomem(a->run->diags);
    }
    return csv && a->rows % BATCH == BATCH - 1 ? write_batch(a) : SPAA_OK;
}

static spaa_status cmd_query_run(struct rows *a)
{
    for (;;) {
        bool row;
        spaa_status st = sp_sql_step(a->q, &row);
        if (st && sp_sql_late(a->q) && a->left_out) {
            a->at_least = true; /* the answer is complete up to its limit */
            return SPAA_OK;
        }
        if (st || !row)
            return st;
        if (a->rows >= a->limit) {
            if (a->left_out == COUNTED) {
                a->at_least = true;
                return SPAA_OK;
            }
            a->left_out++;
            continue;
        }
        st = a->run->form == SP_FORM_JSON ? cmd_query_json_row(a) : cmd_query_table_row(a);
        if (st)
            return st;
        a->rows++;
    }
}

static void cmd_query_answer_json(struct rows *a)
{
    struct sp_jw w;
    const struct sp_selection *s = sp_sql_selection(a->q);
    if (s) {
        sp_run_json_open(a->run, &w, "spaa.query/2", s);
    } else {
        sp_jw_init(&w, a->run->out);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "schema", "spaa.query/2");
    }
    sp_jw_open(&w, "columns", '[');
    for (int i = 0; i < sp_sql_columns(a->q); i++)
        sp_jw_cstr(&w, NULL, sp_sql_column(a->q, i));
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "rows", '[');
    if (a->rows)
        sp_jw_raw(&w, NULL, a->b.data, a->b.len);
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "omitted", '{');
    sp_jw_u64(&w, "rows", a->left_out);
    sp_jw_bool(&w, "at_least", a->at_least);
    sp_jw_close(&w, '}');
    sp_run_json_close(a->run, &w);
}

static int cmd_query_answer_rows(struct rows *a)
{
    bool csv = a->run->form == SP_FORM_CSV;
    const struct sp_selection *s = sp_sql_selection(a->q);
    int rc = s && !csv ? sp_run_heading(a->run, s) : SP_EXIT_FINE;
    if (!rc && !(a->t.goes_on && !a->t.cells.n))
        rc = sp_run_table_write(a->run, &a->t);
    if (!rc && a->left_out && !csv)
        sp_printf(a->run->out, "%s%s%llu more rows; -n 0 shows all\n",
                  a->run->form == SP_FORM_MARKDOWN ? "\n" : "", a->at_least ? "at least " : "",
                  (unsigned long long)a->left_out);
    return rc;
}

static bool titles(struct rows *a)
{
    int n = sp_sql_columns(a->q);
    a->columns = calloc((size_t)n, sizeof *a->columns);
    for (int i = 0; a->columns && i < n; i++) {
        const char *name = sp_sql_column(a->q, i);
        sp_buf_clear(&a->b);
        sp_text_safe(&a->b, name, strlen(name));
        char *title = a->b.failed ? NULL : sp_arena_dup(&a->titles, a->b.data ? a->b.data : "", a->b.len);
        if (!title)
            return false;
        a->columns[i] = (struct sp_table_column){title, true, SP_CUT_NEVER};
    }
    sp_buf_clear(&a->b);
    sp_table_init(&a->t, a->columns, (size_t)n);
    return a->columns != NULL;
}

static int cmd_query_answer(struct sp_run *run, struct sp_sql *q, size_t limit)
{
    struct rows a = {.run = run, .q = q, .limit = limit};
    sp_buf_init(&a.b, 0);
    sp_arena_init(&a.titles, 0);
    spaa_status st = titles(&a) ? SPAA_OK : sp_nomem(run->diags);
    int rc = SP_EXIT_FINE;
    if (!st && run->form == SP_FORM_CSV)
        rc = sp_run_stdout(run);
    if (!st && !rc)
        st = cmd_query_run(&a);
    if (!rc)
        rc = sp_run_exit(run, st);
    if (!rc)
        rc = sp_run_stdout(run);
    if (!rc && run->form == SP_FORM_JSON)
        cmd_query_answer_json(&a);
    else if (!rc)
        rc = cmd_query_answer_rows(&a);
    if (!rc && a.left_out && run->form == SP_FORM_CSV)
        sp_emit_hint(run->diags, SP_I321, SP_AT_NOTHING, "", "%s%llu more rows; -n 0 writes all",
                     a.at_least ? "at least " : "", (unsigned long long)a.left_out);
    if (a.columns)
        sp_table_free(&a.t);
    free(a.columns);
    sp_arena_free(&a.titles);
    sp_buf_free(&a.b);
    return rc;
}

/* ---- the command ---- */

/* From --file, else the last argument, which is taken off the files: a file NAME.sql, or SQL.
 */
static int sql_text(struct sp_run *run, struct sp_buf *out)
{
    if (!run->v.file) {
        if (!run->files.n)
            return sp_run_usage(run, "for example: spaa query perf.data 'SELECT name, self FROM functions'",
                                "query needs SQL");
        const char *last = run->files.v[--run->files.n];
        size_t n = strlen(last);
        bool is_file = access(last, F_OK) == 0, is_sql = n > 4 && strcmp(last + n - 4, ".sql") == 0;
        if (is_file && !is_sql)
            return sp_run_usage(
                run, "the SQL stands behind the files, in quotes; `spaa query .tables` lists the tables",
                "%s is a file, not SQL", last);
        if (!is_file)
            return sp_buf_puts(out, last) ? SP_EXIT_FINE : sp_run_exit(run, sp_nomem(run->diags));
        run->v.file = last;
    }
    for (size_t i = 0; i < run->files.n; i++)
        if (strcmp(run->v.file, "-") == 0 && strcmp(run->files.v[i], "-") == 0)
            return sp_run_usage(run, NULL, "SQL and profile cannot both come from standard input");
    struct sp_input *in = NULL;
    const unsigned char *p;
    size_t n;
    spaa_status st = sp_input_open(run->v.file, run->diags, &in);
    if (!st)
        st = sp_input_peek(in, SQL_MAX, &p, &n);
    int rc = sp_run_exit(run, st);
    if (!rc && n >= SQL_MAX)
        rc = sp_run_usage(run, "queries are short; is it the profile?", "%s is longer than 1 MiB",
                          run->v.file);
    if (!rc && !sp_buf_add(out, p, n))
        rc = sp_run_exit(run, sp_nomem(run->diags));
    sp_input_close(in);
    return rc;
}

/* Of a query of the skill's, parameters without a value are NULL, for which it has values of its own. */
static int cmd_query_bind(struct sp_run *run, struct sp_sql *q)
{
    for (size_t i = 0; i < run->v.params.n; i++) {
        const char *given = run->v.params.v[i], *value = strchr(given, '=');
        char name[128];
        size_t n = value ? (size_t)(value - given) : 0;
        if (!n || n >= sizeof name)
            return sp_run_usage(run, NULL, "--param needs NAME=VALUE, not \"%s\"", given);
        memcpy(name, given, n);
        name[n] = '\0';
        spaa_status st = sp_sql_bind(q, name, value + 1);
        if (st)
            return sp_run_exit(run, st);
    }
    return sp_run_exit(run, sp_sql_bound(q));
}

/* Filters that were given and decide nothing would pass for filters that were applied. */
static void say_unused(struct sp_run *run, const struct sp_sql *q)
{
    for (const struct sp_option *o = sp_option_table; o->name && !sp_sql_uses(q, NULL); o++)
        if (o->groups & (G_EVENT | G_SELECT | G_TIME) &&
            *(const char *const *)(const void *)((const char *)&run->v + o->offset)) {
            sp_emit(run->diags, SP_W660, SP_AT_NOTHING, "--%s changes nothing in this query", o->name);
            return;
        }
}

static int cmd_query_ask(struct sp_run *run, struct sp_sql *q, const struct sp_buf *sql, size_t limit,
                         long seconds)
{
    struct sp_select_opts filters;
    sp_sql_timeout(q, (unsigned)seconds);
    int rc = sp_run_exit(run, sp_sql_prepare(q, sql->data ? sql->data : "", sql->len));
    if (!rc)
        rc = cmd_query_bind(run, q);
    if (!rc && !sp_run_select_opts(run, &filters))
        rc = SP_EXIT_USAGE;
    if (rc)
        return rc;
    if (sp_sql_uses(q, "samples") || sp_sql_uses(q, "labels") || sp_sql_uses(q, "intervals"))
        run->v.samples = "";
    sp_sql_options(q, &run->v);
    struct sp_needs needs;
    rc = sp_run_exit(run, sp_sql_needs(q, &run->v, &needs));
    if (rc)
        return rc;
    run->needs = needs;
    rc = sp_run_open(run);
    if (!rc)
        rc = sp_run_exit(run, sp_sql_profile(q, run->profile, &filters));
    if (rc)
        return rc;
    say_unused(run, q);
    return cmd_query_answer(run, q, limit);
}

/* Half of what the machine has. */
static int64_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size / 2 : (int64_t)1 << 31;
}

int sp_cmd_query(struct sp_run *run)
{
    struct sp_buf sql;
    struct sp_sql *q = NULL;
    long limit, seconds;
    int names;
    if (!sp_option_number(run->diags, "limit", run->v.limit, 0, LONG_MAX, ROWS, &limit) ||
        !sp_option_number(run->diags, "timeout", run->v.timeout, 0, 1000000, SECONDS, &seconds) ||
        !sp_option_choice(run->diags, "names", run->v.names, sp_names_forms, 0, &names))
        return SP_EXIT_USAGE;
    /* `.schema TABLE` may come as two words. */
    for (size_t i = 0; !run->v.file && i + 1 < run->files.n; i++)
        if (strcmp(run->files.v[i], ".schema") == 0 && i + 2 == run->files.n) {
            char two[128];
            snprintf(two, sizeof two, ".schema %.100s", run->files.v[i + 1]);
            return sp_query_dot(run, two);
        }
    sp_buf_init(&sql, SQL_MAX + 1);
    int rc = sql_text(run, &sql);
    const char *text = rc ? "" : sp_buf_cstr(&sql);
    if (!rc && *text == '.') {
        rc = sp_query_dot(run, text);
    } else if (!rc) {
        rc = sp_run_exit(run, sp_sql_open(run->diags, memory_limit(), &q));
        if (!rc)
            rc = cmd_query_ask(run, q, &sql, limit ? (size_t)limit : SIZE_MAX, seconds);
        sp_sql_close(q);
    }
    sp_buf_free(&sql);
    return rc;
}
