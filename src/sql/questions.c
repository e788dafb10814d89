/*
 * Questions as tables: SELECT * FROM ask_top('--by dso --sort total'), for every question of
 * ask/questions.def.
 *
 * The columns are those that its first table declares ("base.self" is base_self), and two hidden ones: the
 * options, which are those of the command over those that the query was given, and `more`, an object of JSON
 * with the columns that only this answer has, as labels of --by. All rows are there, without --limit. The
 * question is asked when the rows are first wanted; then the answer stays with the cursor.
 */
#include "sql/internal.h"

#include "answer/cell_json.h"
#include "ask/option_words.h"
#include "ask/question.h"
#include "json/json.h"

#define PREFIX "ask_"

struct asked_table {
    sqlite3_vtab base;
    struct sp_sql *q;
    const struct sp_question *question;
};

struct asked_cursor {
    sqlite3_vtab_cursor base;
    struct sp_answer answer;
    const struct sp_answer_table *rows; /* NULL: none */
    struct sp_options options;
    struct sp_arena words;
    bool asked;
    size_t row;
};

static bool in_sql(const struct sp_answer_column *c)
{
    return !(c->flags & SP_COL_NO_JSON);
}

static enum sql_type question_type(const struct sp_answer_column *c)
{
    switch (c->type) {
    case SP_COL_WEIGHT:
    case SP_COL_PERCENT:
    case SP_COL_NUMBER:
        return SQL_NUMERIC;
    case SP_COL_COUNT:
    case SP_COL_TIME:
    case SP_COL_BOOL:
        return SQL_INTEGER;
    default:
        return SQL_TEXT;
    }
}

static void question_column_name(const struct sp_answer_column *c, char out[static 64])
{
    snprintf(out, 64, "%s", c->name);
    for (char *p = out; *p; p++)
        *p = *p == '.' ? '_' : *p;
}

int sql_question_find(const char *name)
{
    if (sqlite3_strnicmp(name, PREFIX, strlen(PREFIX)) != 0)
        return -1;
    for (int i = 0; sp_questions[i]; i++)
        if (!sp_questions[i]->sides && sqlite3_stricmp(sp_questions[i]->name, name + strlen(PREFIX)) == 0)
            return i;
    return -1;
}

static bool question_about_options(struct sp_sql_about *out)
{
    out->about = "parameter: options of the command as one text, '--sort total'";
    out->column = "options";
    out->type = "TEXT";
    out->parameter = true;
    return true;
}

static bool question_about_more(struct sp_sql_about *out)
{
    out->about =
        "hidden: the columns that only this answer has as an object of JSON, more->>'$.\"label:K\"'; "
        "null: none";
    out->column = "more";
    out->type = "TEXT";
    return true;
}

bool sql_question_about(size_t *i, struct sp_sql_about *out)
{
    for (size_t k = 0; sp_questions[k]; k++) {
        const struct sp_table_decl *decl = sp_questions[k]->tables[0];
        if (sp_questions[k]->sides)
            continue; /* a query has no sides */
        snprintf(out->names[0], sizeof out->names[0], PREFIX "%s", sp_questions[k]->name);
        out->table = out->names[0];
        out->about = sp_questions[k]->title;
        out->column = out->type = NULL;
        out->parameter = false;
        if (!(*i)--)
            return true;
        for (size_t c = 0; c < decl->ncolumns; c++) {
            if (!in_sql(&decl->columns[c]) || (*i)--)
                continue;
            question_column_name(&decl->columns[c], out->names[1]);
            out->about = decl->columns[c].doc;
            out->column = out->names[1];
            out->type = sql_type_name(question_type(&decl->columns[c]));
            return true;
        }
        if (!(*i)--)
            return question_about_options(out);
        if (!(*i)--)
            return question_about_more(out);
    }
    return false;
}

/* ---- the table ---- */

static int question_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                            char **error)
{
    char name[64];
    (void)error;
    int number = argc > 0 ? sql_question_find(argv[0]) : -1;
    if (number < 0)
        return SQLITE_ERROR;
    const struct sp_table_decl *decl = sp_questions[number]->tables[0];
    sqlite3_str *s = sqlite3_str_new(db);
    sqlite3_str_appendall(s, "CREATE TABLE x(");
    for (size_t i = 0; i < decl->ncolumns; i++) {
        if (!in_sql(&decl->columns[i]))
            continue;
        question_column_name(&decl->columns[i], name);
        sqlite3_str_appendf(s, "\"%s\" %s,", name, sql_type_name(question_type(&decl->columns[i])));
    }
    sqlite3_str_appendall(s, "options TEXT HIDDEN, more TEXT HIDDEN)");
    char *declaration = sqlite3_str_finish(s);
    struct asked_table *table = calloc(1, sizeof *table);
    int rc = declaration && table ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (!rc)
        rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (rc) {
        free(table);
        return rc;
    }
    table->q = aux;
    table->question = sp_questions[number];
    *out = &table->base;
    return SQLITE_OK;
}

static int question_disconnect(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

/* The declared column of a number in SQL; behind these the options, and more. */
static size_t question_column(const struct sp_table_decl *decl, int column)
{
    size_t i = 0;
    for (; i < decl->ncolumns; i++)
        if (in_sql(&decl->columns[i]) && !column--)
            return i;
    return i + (size_t)column;
}

static int question_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sp_table_decl *decl = ((struct asked_table *)base)->question->tables[0];
    info->estimatedRows = 1000;
    info->estimatedCost = 1e6;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || info->aConstraint[i].iColumn < 0 ||
            question_column(decl, info->aConstraint[i].iColumn) != decl->ncolumns)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->idxNum = 1;
        return SQLITE_OK;
    }
    return SQLITE_OK;
}

/* ---- rows ---- */

static int question_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct asked_cursor *c = calloc(1, sizeof *c);
    (void)base;
    if (!c)
        return SQLITE_NOMEM;
    sp_arena_init(&c->words, 0);
    *out = &c->base;
    return SQLITE_OK;
}

static void question_forget(struct asked_cursor *c)
{
    if (c->asked)
        sp_answer_free(&c->answer);
    c->asked = false;
    c->rows = NULL;
    sp_options_free(&c->options);
    c->options = (struct sp_options){0};
    sp_arena_free(&c->words);
    sp_arena_init(&c->words, 0);
}

static int question_close(sqlite3_vtab_cursor *base)
{
    struct asked_cursor *c = (struct asked_cursor *)base;
    question_forget(c);
    sp_arena_free(&c->words);
    free(c);
    return SQLITE_OK;
}

/* The options of the query that the question takes, then those of the text. */
static spaa_status question_options(struct asked_cursor *c, const struct asked_table *t, const char *text,
                                    const char **argument)
{
    uint64_t groups = t->question->groups & ~(uint64_t)G_READ;
    for (const struct sp_option *o = sp_option_table; o->name; o++) {
        const char *v = t->q->options
                            ? *(const char *const *)(const void *)((const char *)t->q->options + o->offset)
                            : NULL;
        if (v && o->groups & groups & (G_EVENT | G_SELECT | G_TIME) && !sp_option_set(&c->options, o, v))
            return sp_nomem(t->q->diags);
    }
    c->options.limit = "0";
    if (t->q->options)
        c->options.source_gate = t->q->options->source_gate;
    return sp_options_parse(&c->options, text, groups, &c->words, t->question->argument ? argument : NULL,
                            t->q->diags);
}

static spaa_status question_ask(struct asked_cursor *c, const struct asked_table *t, const char *text)
{
    struct sp_ask ask = {.question = t->question,
                         .options = &c->options,
                         .diags = t->q->diags,
                         .profiles = &t->q->profile,
                         .nprofiles = 1};
    struct sp_needs needs;
    spaa_status st = question_options(c, t, text, &ask.argument);
    if (!st && t->question->needs)
        st = t->question->needs(&c->options, t->q->diags, &needs);
    if (st)
        return st;
    sp_answer_init(&c->answer, t->question->schema, t->q->diags);
    c->asked = true;
    st = sp_ask(&ask, &c->answer);
    if (!st)
        c->rows = sp_answer_find(&c->answer, t->question->tables[0]->name);
    return st;
}

static int question_filter(sqlite3_vtab_cursor *base, int plan, const char *unused, int argc,
                           sqlite3_value **v)
{
    struct asked_cursor *c = (struct asked_cursor *)base;
    const struct asked_table *t = (const struct asked_table *)base->pVtab;
    (void)unused;
    const char *text = plan && argc ? (const char *)sqlite3_value_text(v[0]) : "";
    if (!t->q->profile) {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = sqlite3_mprintf("there is no profile");
        return SQLITE_ERROR;
    }
    question_forget(c);
    c->row = 0;
    spaa_status st = question_ask(c, t, text ? text : "");
    return st ? sql_status(t->q, st) : SQLITE_OK;
}

static int question_next(sqlite3_vtab_cursor *base)
{
    ((struct asked_cursor *)base)->row++;
    return SQLITE_OK;
}

static int question_eof(sqlite3_vtab_cursor *base)
{
    const struct asked_cursor *c = (const struct asked_cursor *)base;
    return !c->rows || c->row >= c->rows->rows || c->row >= c->rows->limit;
}

static void question_texts(sqlite3_context *out, const struct sp_cell *cell)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < cell->n; i++) {
        sp_buf_puts(&b, i ? " " : "");
        sp_buf_add(&b, cell->texts[i].p, cell->texts[i].n);
    }
    sql_copy(out, b.data, b.len);
    sp_buf_free(&b);
}

static void question_int(sqlite3_context *out, const struct asked_cursor *c, size_t column,
                         const struct sp_cell *cell)
{
    const struct sp_answer_table *t = c->rows;
    uint32_t number = t->row_measure.n ? t->row_measure.v[c->row] : t->measure.v[column];
    const struct sp_measure *m = &c->answer.measures.v[number];
    enum sp_column_type type = t->columns.v[column].type;
    if ((type == SP_COL_WEIGHT || type == SP_COL_PERCENT) && m->cannot_add)
        return;
    if (type == SP_COL_PERCENT && m->whole)
        sqlite3_result_double(out, 100.0 * (double)cell->i / (double)m->whole);
    else if (type != SP_COL_PERCENT)
        sql_scaled(out, cell->i, type == SP_COL_WEIGHT ? m->scale : cell->scale);
}

/* The columns that only this answer has: the declared ones have a column of SQL each. */
static void question_more(sqlite3_context *out, const struct asked_cursor *c)
{
    const struct sp_answer_table *t = c->rows;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (size_t i = t->decl->ncolumns; i < t->columns.n; i++) {
        if (t->columns.v[i].flags & SP_COL_NO_JSON)
            continue;
        sp_buf_ch(&b, b.len ? ',' : '{');
        sp_json_string(&b, t->columns.v[i].name, strlen(t->columns.v[i].name));
        sp_buf_ch(&b, ':');
        sp_cell_json(&b, t->columns.v[i].type, sp_shown_cell(t, c->row, i),
                     sp_cell_measure(&c->answer, t, c->row, i));
    }
    if (b.len || b.failed)
        sp_buf_ch(&b, '}');
    if (b.failed)
        sqlite3_result_error_nomem(out);
    else if (b.len)
        sql_copy(out, b.data, b.len);
    sp_buf_free(&b);
}

static int question_value(sqlite3_vtab_cursor *base, sqlite3_context *out, int number)
{
    const struct asked_cursor *c = (const struct asked_cursor *)base;
    const struct asked_table *t = (const struct asked_table *)base->pVtab;
    size_t column = question_column(t->question->tables[0], number);
    if (number >= 0 && column == t->question->tables[0]->ncolumns + 1)
        question_more(out, c);
    if (number < 0 || column >= t->question->tables[0]->ncolumns)
        return SQLITE_OK;
    const struct sp_cell *cell = sp_shown_cell(c->rows, c->row, column);
    if (cell->kind == SP_VALUE_INT)
        question_int(out, c, column, cell);
    else if (cell->kind == SP_VALUE_REAL)
        sqlite3_result_double(out, cell->real);
    else if (cell->kind == SP_VALUE_TEXT)
        sql_copy(out, cell->text, cell->n);
    else if (cell->kind == SP_VALUE_TEXTS)
        question_texts(out, cell);
    return SQLITE_OK;
}

static int question_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct asked_cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module question_module = {
    .iVersion = 1,
    .xConnect = question_connect, /* without xCreate: a table that is there, with arguments */
    .xBestIndex = question_best_index,
    .xDisconnect = question_disconnect,
    .xOpen = question_open,
    .xClose = question_close,
    .xFilter = question_filter,
    .xNext = question_next,
    .xEof = question_eof,
    .xColumn = question_value,
    .xRowid = question_rowid,
};

int sql_questions_create(struct sp_sql *q)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; !rc && sp_questions[i]; i++) {
        if (sp_questions[i]->sides)
            continue;
        char *name = sqlite3_mprintf(PREFIX "%s", sp_questions[i]->name);
        char *first = sqlite3_mprintf("SELECT 1 FROM " PREFIX "%s LIMIT 0", sp_questions[i]->name);
        rc = name && first ? sqlite3_create_module(q->db, name, &question_module, q) : SQLITE_NOMEM;
        if (!rc) /* it comes to be when it is first named, which would look like a CREATE */
            rc = sqlite3_exec(q->db, first, NULL, NULL, NULL);
        sqlite3_free(name);
        sqlite3_free(first);
    }
    return rc;
}

/* What is asked by is in the texts of options, which only run when the input is read: a word must do. */
static bool names_cpus(const struct sp_sql *q)
{
    return q->text && memmem(q->text, q->text_n, "cpu", 3);
}

spaa_status sp_sql_needs(const struct sp_sql *q, const struct sp_options *o, struct sp_needs *out)
{
    *out = (struct sp_needs){0};
    for (size_t i = 0; sp_questions[i]; i++) {
        struct sp_needs one = {0};
        spaa_status st = SPAA_OK;
        if (!(q->asks >> i & 1))
            continue;
        if (sp_questions[i]->needs)
            st = sp_questions[i]->needs(o, q->diags, &one);
        if (st)
            return st;
        out->groups |= one.groups | (names_cpus(q) ? SP_BY_CPU : 0u);
        out->samples |= one.samples;
        out->windows = one.windows > out->windows ? one.windows : out->windows;
    }
    return SPAA_OK;
}
