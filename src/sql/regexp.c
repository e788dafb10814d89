/* text REGEXP pattern: PCRE2, matching anywhere, as --focus and --hide do. */
#include "sql/internal.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

static void pattern_free(void *arg)
{
    struct pattern *x = arg;
    pcre2_match_data_free(x->data);
    pcre2_match_context_free(x->limits);
    pcre2_code_free(x->code);
    free(x);
}

/* NULL: the context has the error. */
static struct pattern *pattern_new(sqlite3_context *out, sqlite3_value *v)
{
    int error = 0;
    PCRE2_SIZE place = 0;
    PCRE2_SPTR text = sqlite3_value_text(v);
    struct pattern *x = calloc(1, sizeof *x);
    if (x && text)
        x->code = pcre2_compile(text, (PCRE2_SIZE)sqlite3_value_bytes(v), PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                                &error, &place, NULL);
    if (x && x->code) {
        x->data = pcre2_match_data_create_from_pattern(x->code, NULL);
        x->limits = pcre2_match_context_create(NULL);
        if (x->data && x->limits) {
            pcre2_set_match_limit(x->limits, 1000000); /* as in analysis/match.c */
            return x;
        }
    }
    if (x && text && !x->code && error != PCRE2_ERROR_NOMEMORY && error != 121 /* heap, when compiling */) {
        PCRE2_UCHAR words[256];
        pcre2_get_error_message(error, words, sizeof words);
        char *message = sqlite3_mprintf("bad regular expression: %s at character %d of \"%s\"", words,
                                        (int)place + 1, text);
        if (message)
            sqlite3_result_error(out, message, -1);
        else
            sqlite3_result_error_nomem(out);
        sqlite3_free(message);
    } else {
        sqlite3_result_error_nomem(out);
    }
    if (x)
        pattern_free(x);
    return NULL;
}

/* regexp(pattern, text); the compiled pattern is kept while it stays the same. */
static void regexp(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    struct pattern *x = sqlite3_get_auxdata(out, 0), *fresh = NULL;
    if (!x && !(x = fresh = pattern_new(out, argv[0])))
        return;
    PCRE2_SPTR text = sqlite3_value_text(argv[1]);
    if (text)
        sqlite3_result_int(out, pcre2_match(x->code, text, (PCRE2_SIZE)sqlite3_value_bytes(argv[1]), 0, 0,
                                            x->data, x->limits) >= 0);
    else
        sqlite3_result_error_nomem(out);
    if (fresh)
        sqlite3_set_auxdata(out, 0, fresh, pattern_free);
}

int sql_regexp_create(struct sp_sql *q)
{
    return sqlite3_create_function(q->db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                   NULL, regexp, NULL, NULL);
}
