/* What went wrong with a query, said so that it can be put right: where, and what there is instead. */
#include "sql/internal.h"

#include "base/nearest.h"
#include "base/watch.h"

#include <ctype.h>

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Whether the query has this word, in any case. */
static bool mentions(const struct sp_sql *q, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= q->text_n; i++)
        if (sqlite3_strnicmp(q->text + i, word, (int)n) == 0 && (!i || !word_char(q->text[i - 1])) &&
            (i + n == q->text_n || !word_char(q->text[i + n])))
            return true;
    return false;
}

/* A further sentence of a hint. */
static void sql_errors_add(struct sp_buf *hint, const char *words)
{
    bool question = hint->len && hint->data[hint->len - 1] == '?';
    sp_buf_puts(hint, !hint->len ? "" : question ? " " : "; ");
    sp_buf_puts(hint, words);
}

/* "functions has id, handle, name, …": as many as a line holds. */
static void table_columns(struct sp_buf *hint, const char *table)
{
    enum { ROOM = 160 };
    struct sp_sql_about a;
    size_t from = 0;
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        if (!a.column || sqlite3_stricmp(a.table, table) != 0)
            continue;
        if (!from) {
            sql_errors_add(hint, a.table);
            from = hint->len;
        } else if (hint->len - from > ROOM) {
            sp_buf_puts(hint, ", …");
            return;
        }
        sp_buf_printf(hint, "%s%s", hint->len > from ? ", " : " has ", a.column);
    }
}

static void near_table(struct sp_buf *hint, const char *asked)
{
    static const char begin[] = "did you mean ";
    const size_t word = sizeof begin - 1;
    struct sp_str names[64];
    char found[64] = "";
    size_t n = 0;
    for (; sql_tables[n]; n++)
        names[n] = (struct sp_str){sql_tables[n]->name, (uint32_t)strlen(sql_tables[n]->name)};
    sp_nearest_words(hint, asked, names, n);
    const char *said = sp_buf_cstr(hint);
    if (strncmp(said, begin, word) == 0 && strcspn(said + word, ",?") < sizeof found)
        memcpy(found, said + word, strcspn(said + word, ",? "));
    if (*found)
        table_columns(hint, found);
    sql_errors_add(hint, "`.tables` lists the tables");
}

/* Of all tables that the query names, the columns; of what is no table of the profile (ask_top) too. */
static void mentioned_columns(const struct sp_sql *q, struct sp_buf *hint)
{
    struct sp_sql_about a;
    for (size_t i = 0; sp_sql_about(i, &a); i++) {
        char table[64];
        if (a.column || !mentions(q, a.table))
            continue;
        snprintf(table, sizeof table, "%s", a.table); /* lent until the next one is asked for */
        table_columns(hint, table);
    }
}

/* Whether a table is meant: the query names it, or names none. */
static bool table_is_meant(const struct sp_sql *q, const char *table)
{
    struct sp_sql_about a;
    char asked[64];
    snprintf(asked, sizeof asked, "%s", table); /* lent until the next one is asked for */
    if (mentions(q, asked))
        return true;
    for (size_t i = 0; sp_sql_about(i, &a); i++)
        if (!a.column && mentions(q, a.table))
            return false;
    return true;
}

/* Among the columns of the tables that are meant. */
static void near_column(const struct sp_sql *q, struct sp_buf *hint, const char *asked)
{
    struct sp_str names[512];
    struct sp_sql_about a;
    struct sp_arena kept;
    size_t n = 0;
    bool meant = false;
    const char *dot = strrchr(asked, '.');
    sp_arena_init(&kept, 1 << 20);
    for (size_t i = 0; n < 512 && sp_sql_about(i, &a); i++) {
        if (!a.column) {
            meant = table_is_meant(q, a.table);
            continue;
        }
        size_t len = strlen(a.column);
        const char *name = meant ? sp_arena_dup(&kept, a.column, len) : NULL;
        if (name)
            names[n++] = (struct sp_str){name, (uint32_t)len};
    }
    sp_nearest_words(hint, dot ? dot + 1 : asked, names, n);
    sp_arena_free(&kept);
    char quoted[80];
    if (snprintf(quoted, sizeof quoted, "\"%s\"", asked) < (int)sizeof quoted && strstr(q->text, quoted))
        sql_errors_add(hint, "text stands in single quotes: 'main'");
    mentioned_columns(q, hint);
    sql_errors_add(hint, "`.schema TABLE` says what each is");
}

static void near_function(struct sp_sql *q, struct sp_buf *hint, const char *asked)
{
    struct sp_str names[400];
    size_t n = 0;
    sqlite3_stmt *list = NULL;
    q->guarded = false;
    int rc = sqlite3_prepare_v2(
        q->db, "SELECT DISTINCT name FROM pragma_function_list WHERE name <> ?1 ORDER BY name", -1, &list,
        NULL);
    if (!rc)
        rc = sqlite3_bind_text(list, 1, asked, -1, SQLITE_STATIC);
    struct sp_arena kept;
    sp_arena_init(&kept, 1 << 20);
    while (!rc && n < 400 && sqlite3_step(list) == SQLITE_ROW) {
        int len = sqlite3_column_bytes(list, 0);
        const char *name = sp_arena_dup(&kept, sqlite3_column_text(list, 0), (size_t)len);
        if (name && isalpha((unsigned char)*name))
            names[n++] = (struct sp_str){name, (uint32_t)len};
    }
    sqlite3_finalize(list);
    q->guarded = true;
    sp_nearest_words(hint, asked, names, n);
    sp_arena_free(&kept);
}

static void near_event(const struct sp_profile *p, struct sp_buf *hint, const char *asked)
{
    struct sp_str names[256];
    size_t n = 0;
    for (; n < p->events.n && n < 256; n++)
        names[n] = sp_pstr(p, p->events.v[n].name);
    sp_nearest_words(hint, asked, names, n);
}

static void near_metric(const struct sp_profile *p, struct sp_buf *hint, const char *asked)
{
    struct sp_str names[SP_METRICS_MAX];
    size_t n = 0;
    for (; n < p->metrics.n; n++)
        names[n] = sp_pstr(p, p->metrics.v[n].name);
    sp_nearest_words(hint, asked, names, n);
}

/* The word after a beginning of SQLite's message; NULL when it begins otherwise. */
static const char *sql_errors_after(const char *message, const char *beginning)
{
    size_t n = strlen(beginning);
    return strncmp(message, beginning, n) == 0 ? message + n : NULL;
}

static void mistake_hint(struct sp_sql *q, const char *message, struct sp_buf *hint)
{
    const char *asked;
    if ((asked = sql_errors_after(message, "no such table: ")))
        near_table(hint, asked);
    else if ((asked = sql_errors_after(message, "no such column: ")))
        near_column(q, hint, asked);
    else if ((asked = sql_errors_after(message, "no such function: ")))
        near_function(q, hint, asked);
    else if (sql_errors_after(message, "integer overflow"))
        sp_buf_puts(hint, "total(x) adds as decimals, sum(x) as integers of 64 bits");
    else if ((asked = strstr(message, "no such event: ")) && q->profile)
        near_event(q->profile, hint, asked + 15);
    else if ((asked = strstr(message, "no such metric: ")) && q->profile)
        near_metric(q->profile, hint, asked + 16);
    else if (sql_errors_after(message, "no query solution"))
        sp_buf_puts(hint,
                    "event, metric and inverted are parameters: they must be equal to what is known before");
    else
        sp_buf_puts(hint, "the language is SQLite's; `.schema` lists tables and columns");
}

/* Line (from 1) and column of a byte of the query; what stands there goes into the message. */
static void mistake(struct sp_sql *q)
{
    int offset = sqlite3_error_offset(q->db);
    const char *said = sqlite3_errmsg(q->db);
    struct sp_buf hint, message;
    struct sp_where where = SP_AT_NOTHING;
    sp_buf_init(&hint, 64 << 10);
    sp_buf_init(&message, 64 << 10);
    sp_buf_puts(&message, said);
    mistake_hint(q, said, &hint);
    if (offset >= 0 && (size_t)offset <= q->text_n) {
        size_t line = 1, start = 0, end = (size_t)offset;
        for (size_t i = 0; i < (size_t)offset; i++)
            if (q->text[i] == '\n') {
                line++;
                start = i + 1;
            }
        while (end < q->text_n && q->text[end] != '\n' && end - (size_t)offset < 32)
            end++;
        where = SP_AT_LINE(line, (uint64_t)offset);
        sp_buf_printf(&message, ", column %zu", (size_t)offset - start + 1);
        if (end > (size_t)offset) {
            sp_buf_puts(&message, ", at \"");
            sp_buf_add(&message, q->text + offset, end - (size_t)offset);
            sp_buf_puts(&message, "\"");
        }
    }
    sp_emit_hint(q->diags, SP_E650, where, sp_buf_cstr(&hint), "%s", sp_buf_cstr(&message));
    sp_buf_free(&hint);
    sp_buf_free(&message);
}

static spaa_status sql_errors_no_room(struct sp_sql *q)
{
    if (!q->memory || sqlite3_memory_highwater(0) < q->memory - q->memory / 8)
        return sp_nomem(q->diags);
    sp_emit(q->diags, SP_E653, SP_AT_NOTHING, "the query needs more than %lld MiB of memory",
            (long long)(q->memory >> 20));
    return SPAA_ERR_LIMIT;
}

spaa_status sql_failed(struct sp_sql *q, int rc)
{
    if (q->reported)
        return rc == SQLITE_NOMEM ? SPAA_ERR_NOMEM : q->status;
    q->reported = true;
    q->status = SPAA_ERR_USAGE;
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return q->status = sql_errors_no_room(q);
    case SQLITE_INTERRUPT:
        if (sp_cancelled(q->diags))
            return q->status = SPAA_ERR_CANCELLED;
        sp_emit(q->diags, SP_E652, SP_AT_NOTHING, "the query took longer than %u s", q->timeout);
        return q->status = SPAA_ERR_LIMIT;
    case SQLITE_TOOBIG:
        sp_emit(q->diags, SP_E653, SP_AT_NOTHING, "a value of the query is longer than 256 KiB");
        return q->status = SPAA_ERR_LIMIT;
    case SQLITE_AUTH:
    case SQLITE_READONLY:
        sp_emit(q->diags, SP_E651, SP_AT_NOTHING, "not allowed: %s",
                *q->denied ? q->denied : sqlite3_errmsg(q->db));
        return q->status;
    default:
        if (strstr(sqlite3_errmsg(q->db), "may not be modified"))
            sp_emit(q->diags, SP_E651, SP_AT_NOTHING, "not allowed: %s", sqlite3_errmsg(q->db));
        else if (*q->denied) /* some refusals come as another error */
            sp_emit(q->diags, SP_E651, SP_AT_NOTHING, "not allowed: %s", q->denied);
        else
            mistake(q);
        return q->status;
    }
}
