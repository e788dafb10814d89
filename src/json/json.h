/*
 * A JSON cursor over text in memory, and JSON writing.
 *
 * The cursor pulls; it keeps no tree, copies nothing it need not and does not recurse. The caller
 * asks for what it expects:
 *
 *     struct sp_json j;
 *     sp_json_init(&j, text, n);
 *     if (sp_json_object(&j))
 *         for (struct sp_span key; sp_json_key(&j, &key);)
 *             if (sp_span_is(key, "id")) sp_json_u64(&j, &id);
 *             else sp_json_skip(&j, &raw);
 *     if (!sp_json_end(&j)) report(j.error, j.error_at);
 *
 * RFC 8259 throughout: UTF-8 is validated, a lone surrogate escape is an error, numbers follow the
 * grammar and keep their text. After the first error every call fails and `error` says why; error_at is
 * the byte offset in the text. Spans lent by the cursor point into the text, or into the cursor's own
 * scratch for strings with escapes (valid until the next string that has any, or sp_json_free).
 */
#ifndef SP_JSON_H
#define SP_JSON_H

#include "base/buf.h"
#include "io/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP_JSON_DEPTH (1u << 17) /* of a value that is skipped; callers that descend keep their own count */

#define SP_JSON_TOO_DEEP "nested more than 131072 levels deep, which is the limit" /* an error: no damage */

struct sp_span {
    const char *p;
    size_t n;
};

struct sp_json {
    const char *start, *p, *end;
    const char *error; /* NULL: none yet; a literal */
    size_t error_at;
    bool first; /* no member or item of the open container was seen yet */
    struct sp_buf scratch;
};

enum sp_json_type {
    SP_JSON_NOTHING, /* the end of the text, or an error */
    SP_JSON_OBJECT,
    SP_JSON_ARRAY,
    SP_JSON_STRING,
    SP_JSON_NUMBER,
    SP_JSON_TRUE,
    SP_JSON_FALSE,
    SP_JSON_NULL,
};

void sp_json_init(struct sp_json *j, const char *p, size_t n);
void sp_json_reset(struct sp_json *j, const char *p, size_t n); /* another text, same scratch */
void sp_json_free(struct sp_json *j);
/* The text may be fine: what reads it has a limit. */
bool sp_json_at_limit(const struct sp_json *j);
bool sp_json_fail(struct sp_json *j, const char *literal); /* records an error here; returns false */

enum sp_json_type sp_json_type(struct sp_json *j); /* of the next value, not consumed */
bool sp_json_object(struct sp_json *j);            /* enters an object */
bool sp_json_array(struct sp_json *j);
/* The next member's key, cursor at its value; false at the end of the object (consumed) or on error. */
bool sp_json_key(struct sp_json *j, struct sp_span *key);
/* True when the cursor stands at a further item; false at the end of the array (consumed) or on error. */
bool sp_json_item(struct sp_json *j);
/*
 * After a container inside another was read to its end, key and item go on with the outer one: the
 * cursor itself does not nest, which is why the end of each container must be reached.
 */
bool sp_json_string_value(struct sp_json *j, struct sp_span *out); /* decoded */
bool sp_json_number(struct sp_json *j, struct sp_span *out);       /* its text */
bool sp_json_u64(struct sp_json *j, uint64_t *out);
bool sp_json_bool(struct sp_json *j, bool *out);
bool sp_json_skip(struct sp_json *j, struct sp_span *raw); /* any value; raw text as it stands */
bool sp_json_end(struct sp_json *j);                       /* no error, and only white space is left */

static inline bool sp_span_is(struct sp_span s, const char *literal)
{
    return strlen(literal) == s.n && (!s.n || memcmp(s.p, literal, s.n) == 0);
}

/* Appends a valid JSON text without the white space between its tokens. */
bool sp_json_minify(struct sp_buf *out, struct sp_span raw);

/*
 * Where a quote, a backslash or a control character stands first from p on, or `end`: strings hold everything
 * before it as it is, but for bytes that are not UTF-8.
 */
static inline const char *sp_json_run(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    for (uint64_t w; end - p >= 8; p += 8) {
        memcpy(&w, p, sizeof w);
        uint64_t quote = w ^ ones * '"', escape = w ^ ones * '\\';
        /* A byte is below n if subtracting n borrows; what is wrong of that stands above the first byte. */
        uint64_t stop = (quote - ones) & ~quote;
        stop |= (escape - ones) & ~escape;
        stop |= (w - ones * 0x20) & ~w;
        if (stop & high)
            return p + __builtin_ctzll(stop & high) / 8;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}
/*
 * At *p, behind a backslash: the code point that the escape stands for. *p is moved behind the escape; on
 * failure, to what is wrong with it, and *error says what.
 */
bool sp_json_escape(const char **p, const char *end, uint32_t *code, const char **error);
void sp_json_add_code_point(struct sp_buf *b, uint32_t c); /* as UTF-8 */

/* Whether a string may hold it as it is: printable ASCII without quotes and backslashes. */
bool sp_json_plain(const char *p, size_t n);
/*
 * Appends a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD; the result tells whether
 * any did through *damaged (may be NULL). Only `"`, `\` and control characters are escaped.
 */
bool sp_json_string_to(struct sp_buf *out, const char *p, size_t n, bool *damaged);
static inline bool sp_json_string(struct sp_buf *out, const char *p, size_t n)
{
    return sp_json_string_to(out, p, n, NULL);
}
/* Bytes of the valid UTF-8 sequence at p (1..4), 0 if it is none. */
size_t sp_utf8_at(const char *p, const char *end);
/* Length of the longest prefix that is valid UTF-8. */
size_t sp_utf8_prefix(const char *p, size_t n);
/* Appends text, with U+FFFD for each byte that is no UTF-8. */
bool sp_utf8_clean(struct sp_buf *out, const char *p, size_t n);

/*
 * Writes JSON text with what a terminal would act on as escapes, which mean the same: DEL, the C1 controls,
 * the bidirectional ones and the separators of lines. For answers, which people look at.
 */
void sp_json_write(struct sp_output *out, const char *p, size_t n);

/*
 * Writing answers: commas and nesting are kept here; keys are literals. Errors are the output's. Texts are
 * written by sp_json_write.
 */
struct sp_jw {
    struct sp_output *out;
    struct sp_buf text; /* scratch */
    uint64_t used;      /* bit per depth: something was written in this container */
    unsigned depth;
};

void sp_jw_init(struct sp_jw *w, struct sp_output *out);
void sp_jw_free(struct sp_jw *w);
void sp_jw_open(struct sp_jw *w, const char *key, char bracket); /* '{' or '['; key NULL in arrays */
void sp_jw_close(struct sp_jw *w, char bracket);                 /* '}' or ']' */
void sp_jw_str(struct sp_jw *w, const char *key, const char *p, size_t n);
void sp_jw_cstr(struct sp_jw *w, const char *key, const char *s);          /* NULL: null */
void sp_jw_raw(struct sp_jw *w, const char *key, const char *p, size_t n); /* JSON text as it is */
void sp_jw_u64(struct sp_jw *w, const char *key, uint64_t v);
void sp_jw_i64(struct sp_jw *w, const char *key, int64_t v);
void sp_jw_bool(struct sp_jw *w, const char *key, bool v);
void sp_jw_null(struct sp_jw *w, const char *key);
/* 100 * part / whole with at most 2 decimals, rounded half up; null when whole is 0. */
void sp_jw_percent(struct sp_jw *w, const char *key, __int128 part, __int128 whole);
/* v * 10^-scale */
void sp_jw_scaled(struct sp_jw *w, const char *key, __int128 v, unsigned scale);

#endif
