/*
 * The JSON cursor against jansson: both take the same texts, and see the same values in them. Left out is
 * what jansson limits and we do not: numbers beyond a double, NUL in keys, its own depth.
 */
#include "json/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static void die(const char *what)
{
    fprintf(stderr, "json: %s\n", what);
    abort();
}

static void compare(struct sp_span text, const json_t *theirs, unsigned depth);

static void compare_object(struct sp_json *j, const json_t *theirs, unsigned depth)
{
    struct sp_span key, raw;
    size_t members = 0;
    struct sp_json count = {0};
    sp_json_init(&count, j->start, (size_t)(j->end - j->start));
    if (!sp_json_object(&count))
        die("an object is none");
    for (; sp_json_key(&count, &key); members++)
        sp_json_skip(&count, &raw);
    sp_json_free(&count);
    if (members != json_object_size(theirs))
        return; /* a key twice: jansson keeps one */
    if (!sp_json_object(j))
        die("an object is none");
    while (sp_json_key(j, &key)) {
        char *copy = malloc(key.n + 1);
        if (!copy)
            die("out of memory");
        memcpy(copy, key.p, key.n);
        size_t len = key.n;
        const json_t *value = json_object_getn(theirs, copy, len);
        if (!value)
            die("a key that is not there");
        free(copy);
        if (!sp_json_skip(j, &raw))
            die("a value is none");
        compare(raw, value, depth + 1);
    }
}

static void compare_scalar(struct sp_json *j, const json_t *theirs)
{
    struct sp_span s;
    bool b;
    switch (json_typeof(theirs)) {
    case JSON_STRING:
        if (!sp_json_string_value(j, &s) || s.n != json_string_length(theirs) ||
            (s.n && memcmp(s.p, json_string_value(theirs), s.n)))
            die("another string");
        break;
    case JSON_REAL: {
        char text[400];
        if (!sp_json_number(j, &s))
            die("a number is none");
        if (s.n < sizeof text) {
            memcpy(text, s.p, s.n);
            text[s.n] = '\0';
            double v = strtod(text, NULL), w = json_real_value(theirs);
            if (v < w || v > w)
                die("another number");
        }
        break;
    }
    case JSON_TRUE:
    case JSON_FALSE:
        if (!sp_json_bool(j, &b) || b != json_is_true(theirs))
            die("another boolean");
        break;
    default:
        if (sp_json_type(j) != SP_JSON_NULL || !sp_json_skip(j, &s))
            die("null is something");
    }
}

/* Each value is read by a cursor of its own, on the text that `skip` says is the value. */
static void compare(struct sp_span text, const json_t *theirs, unsigned depth)
{
    struct sp_json j = {0};
    struct sp_span raw;
    size_t i = 0;
    if (depth > 200)
        return;
    sp_json_init(&j, text.p, text.n);
    if (json_is_object(theirs)) {
        compare_object(&j, theirs, depth);
    } else if (json_is_array(theirs)) {
        if (!sp_json_array(&j))
            die("an array is none");
        for (; sp_json_item(&j); i++) {
            if (i >= json_array_size(theirs) || !sp_json_skip(&j, &raw))
                die("another array");
            compare(raw, json_array_get(theirs, i), depth + 1);
        }
        if (i != json_array_size(theirs))
            die("a shorter array");
    } else {
        compare_scalar(&j, theirs);
    }
    sp_json_free(&j);
}

/* Without white space it is the same value, and has none left to take away. */
static void compare_minified(struct sp_span text, const json_t *theirs)
{
    struct sp_buf once, twice;
    sp_buf_init(&once, 0);
    sp_buf_init(&twice, 0);
    if (!sp_json_minify(&once, text) || !sp_json_minify(&twice, (struct sp_span){once.data, once.len}))
        die("cannot be minified");
    if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
        die("minified text shrinks");
    json_t *back =
        json_loadb(once.data, once.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    if (!back || !json_equal(back, theirs))
        die("minified text is another value");
    json_decref(back);
    sp_buf_free(&once);
    sp_buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    struct sp_json j = {0};
    struct sp_span text = {(const char *)p, n}, raw;
    json_error_t error;
    json_t *theirs =
        json_loadb(text.p, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    sp_json_init(&j, text.p, n);
    bool ours = sp_json_skip(&j, &raw) && sp_json_end(&j);
    if (!ours && !j.error)
        die("refused without a reason");
    if (!ours && j.error_at > n)
        die("an error behind the end");
    sp_json_free(&j);
    if (theirs && ours) {
        compare(raw, theirs, 0);
        compare_minified(raw, theirs);
    } else if (theirs) {
        bool deep = memchr(p, 0, n) != NULL; /* for jansson a NUL ends the text */
        unsigned open = 0;
        for (size_t i = 0; i < n; i++)
            deep |= (p[i] == '[' || p[i] == '{') && ++open > SP_JSON_DEPTH;
        if (!deep)
            die("jansson takes it, we do not");
    } else if (ours) {
        enum json_error_code code = json_error_code(&error);
        if (code != json_error_numeric_overflow && code != json_error_null_byte_in_key &&
            code != json_error_stack_overflow)
            die("we take it, jansson does not");
    }
    json_decref(theirs);
    return 0;
}
