/* The cursor of json.h. Classes of bytes come from one table, so that scanning a string is one load each. */
#include "json/json.h"

#include "base/num.h"

enum { PLAIN, QUOTE, ESCAPE, CONTROL, HIGH };

/* HIGH for bytes that start or continue a multi-byte sequence. */
static const unsigned char classes[256] = {
    [0 ... 31] = CONTROL,
    ['"'] = QUOTE,
    ['\\'] = ESCAPE,
    [128 ... 255] = HIGH,
};

void sp_json_init(struct sp_json *j, const char *p, size_t n)
{
    sp_buf_init(&j->scratch, 0);
    sp_json_reset(j, p, n);
}

void sp_json_reset(struct sp_json *j, const char *p, size_t n)
{
    j->start = j->p = p;
    j->end = p + n;
    j->error = NULL;
    j->error_at = 0;
    j->first = false;
}

void sp_json_free(struct sp_json *j)
{
    sp_buf_free(&j->scratch);
}

bool sp_json_fail(struct sp_json *j, const char *literal)
{
    if (!j->error) {
        j->error = literal;
        j->error_at = (size_t)(j->p - j->start);
        j->p = j->end;
    }
    return false;
}

static inline void cursor_blanks(struct sp_json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
        j->p++;
}

static inline bool cursor_take(struct sp_json *j, char c)
{
    cursor_blanks(j);
    if (j->p < j->end && *j->p == c) {
        j->p++;
        return true;
    }
    return false;
}

enum sp_json_type sp_json_type(struct sp_json *j)
{
    cursor_blanks(j);
    if (j->p >= j->end)
        return SP_JSON_NOTHING;
    switch (*j->p) {
    case '{':
        return SP_JSON_OBJECT;
    case '[':
        return SP_JSON_ARRAY;
    case '"':
        return SP_JSON_STRING;
    case 't':
        return SP_JSON_TRUE;
    case 'f':
        return SP_JSON_FALSE;
    case 'n':
        return SP_JSON_NULL;
    default:
        return *j->p == '-' || (unsigned char)(*j->p - '0') < 10 ? SP_JSON_NUMBER : SP_JSON_NOTHING;
    }
}

bool sp_json_object(struct sp_json *j)
{
    if (!cursor_take(j, '{'))
        return sp_json_fail(j, "expected an object");
    j->first = true;
    return true;
}

bool sp_json_array(struct sp_json *j)
{
    if (!cursor_take(j, '['))
        return sp_json_fail(j, "expected an array");
    j->first = true;
    return true;
}

size_t sp_utf8_at(const char *s, const char *end)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t left = (size_t)(end - s);
    if (!left)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, beyond U+10FFFF. */
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
        (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return n;
}

size_t sp_utf8_prefix(const char *p, size_t n)
{
    const char *s = p, *end = p + n;
    while (s < end) {
        uint64_t w;
        if (end - s >= 8 && (memcpy(&w, s, sizeof w), !(w & 0x8080808080808080u))) {
            s += 8;
            continue;
        }
        size_t used = sp_utf8_at(s, end);
        if (!used)
            break;
        s += used;
    }
    return (size_t)(s - p);
}

bool sp_utf8_clean(struct sp_buf *out, const char *p, size_t n)
{
    const char *end = p + n;
    while (p < end) {
        size_t good = sp_utf8_prefix(p, (size_t)(end - p));
        sp_buf_add(out, p, good);
        p += good;
        if (p < end)
            sp_buf_add(out, "\xEF\xBF\xBD", 3);
        p += p < end;
    }
    return !out->failed;
}

/* At *p, behind "\u". */
static bool json_hex4(const char **p, const char *end, uint32_t *out, const char **error)
{
    uint64_t v;
    if (end - *p < 4 || sp_parse_hex(*p, *p + 4, &v) != 4) {
        *error = "\\u needs four hex digits";
        return false;
    }
    *p += 4;
    *out = (uint32_t)v;
    return true;
}

static bool json_low_surrogate(const char **p, const char *end, uint32_t *code, const char **error)
{
    uint32_t low;
    *error = "a lone high surrogate";
    if (end - *p < 2 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return false;
    *p += 2;
    if (!json_hex4(p, end, &low, error) || low < 0xDC00 || low > 0xDFFF)
        return false;
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

bool sp_json_escape(const char **p, const char *end, uint32_t *code, const char **error)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = *p < end && **p ? strchr(from, **p) : NULL;
    if (at) {
        ++*p;
        *code = (uint32_t)to[at - from];
        return true;
    }
    *error = *p < end ? "unknown escape" : "the string does not end";
    if (*p >= end || **p != 'u')
        return false;
    ++*p;
    if (!json_hex4(p, end, code, error))
        return false;
    *error = "a lone low surrogate";
    if (*code >= 0xDC00 && *code < 0xE000)
        return false;
    return *code < 0xD800 || *code > 0xDBFF || json_low_surrogate(p, end, code, error);
}

void sp_json_add_code_point(struct sp_buf *b, uint32_t c)
{
    char t[4];
    size_t n = 0;
    if (c < 0x80) {
        t[n++] = (char)c;
    } else if (c < 0x800) {
        t[n++] = (char)(0xC0 | c >> 6);
        t[n++] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        t[n++] = (char)(0xE0 | c >> 12);
        t[n++] = (char)(0x80 | (c >> 6 & 63));
        t[n++] = (char)(0x80 | (c & 63));
    } else {
        t[n++] = (char)(0xF0 | c >> 18);
        t[n++] = (char)(0x80 | (c >> 12 & 63));
        t[n++] = (char)(0x80 | (c >> 6 & 63));
        t[n++] = (char)(0x80 | (c & 63));
    }
    sp_buf_add(b, t, n);
}

/* After the backslash. */
static bool cursor_escape(struct sp_json *j)
{
    uint32_t code;
    const char *error;
    if (!sp_json_escape(&j->p, j->end, &code, &error))
        return sp_json_fail(j, error);
    sp_json_add_code_point(&j->scratch, code);
    return true;
}

/* The rest of a string from its first escape on. */
static bool decode(struct sp_json *j, const char *from, struct sp_span *out)
{
    sp_buf_clear(&j->scratch);
    for (;;) {
        const char *run = j->p;
        while (j->p < j->end && (classes[(unsigned char)*j->p] == PLAIN))
            j->p++;
        if (from) {
            run = from;
            from = NULL;
        }
        sp_buf_add(&j->scratch, run, (size_t)(j->p - run));
        if (j->p >= j->end)
            return sp_json_fail(j, "the string does not end");
        size_t n;
        switch (classes[(unsigned char)*j->p]) {
        case QUOTE:
            j->p++;
            if (j->scratch.failed)
                return sp_json_fail(j, "out of memory");
            *out = (struct sp_span){j->scratch.len ? j->scratch.data : "", j->scratch.len};
            return true;
        case ESCAPE:
            j->p++;
            if (!cursor_escape(j))
                return false;
            break;
        case HIGH:
            n = sp_utf8_at(j->p, j->end);
            if (!n)
                return sp_json_fail(j, "not UTF-8");
            sp_buf_add(&j->scratch, j->p, n);
            j->p += n;
            break;
        default:
            return sp_json_fail(j, "a control character in a string");
        }
    }
}

/* At the opening quote. Most strings have no escape: they are lent as they stand. */
static bool string(struct sp_json *j, struct sp_span *out)
{
    const char *from = ++j->p;
    for (;;) {
        while (j->p < j->end && classes[(unsigned char)*j->p] == PLAIN)
            j->p++;
        if (j->p >= j->end)
            return sp_json_fail(j, "the string does not end");
        size_t n;
        switch (classes[(unsigned char)*j->p]) {
        case QUOTE:
            *out = (struct sp_span){from, (size_t)(j->p - from)};
            j->p++;
            return true;
        case ESCAPE:
            return decode(j, from, out);
        case HIGH:
            n = sp_utf8_at(j->p, j->end);
            if (!n)
                return sp_json_fail(j, "not UTF-8");
            j->p += n;
            break;
        default:
            return sp_json_fail(j, "a control character in a string");
        }
    }
}

bool sp_json_string_value(struct sp_json *j, struct sp_span *out)
{
    cursor_blanks(j);
    if (j->p >= j->end || *j->p != '"')
        return sp_json_fail(j, "expected a string");
    return string(j, out);
}

bool sp_json_key(struct sp_json *j, struct sp_span *key)
{
    if (cursor_take(j, '}')) {
        j->first = false;
        return false;
    }
    if (!j->first && !cursor_take(j, ','))
        return sp_json_fail(j, "expected a comma or a closing brace");
    j->first = false;
    cursor_blanks(j);
    if (j->p >= j->end || *j->p != '"')
        return sp_json_fail(j, "expected a key");
    if (!string(j, key))
        return false;
    return cursor_take(j, ':') || sp_json_fail(j, "expected a colon");
}

bool sp_json_item(struct sp_json *j)
{
    if (cursor_take(j, ']')) {
        j->first = false;
        return false;
    }
    if (!j->first && !cursor_take(j, ','))
        return sp_json_fail(j, "expected a comma or a closing bracket");
    j->first = false;
    return sp_json_type(j) != SP_JSON_NOTHING || sp_json_fail(j, "expected a value");
}

static bool cursor_digits(struct sp_json *j)
{
    const char *from = j->p;
    while (j->p < j->end && (unsigned char)(*j->p - '0') < 10)
        j->p++;
    return j->p > from || sp_json_fail(j, "expected a digit");
}

bool sp_json_number(struct sp_json *j, struct sp_span *out)
{
    cursor_blanks(j);
    const char *from = j->p;
    if (j->p < j->end && *j->p == '-')
        j->p++;
    if (j->p < j->end && *j->p == '0')
        j->p++;
    else if (!cursor_digits(j))
        return false;
    if (j->p < j->end && *j->p == '.') {
        j->p++;
        if (!cursor_digits(j))
            return false;
    }
    if (j->p < j->end && (*j->p | 32) == 'e') {
        j->p++;
        if (j->p < j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        if (!cursor_digits(j))
            return false;
    }
    *out = (struct sp_span){from, (size_t)(j->p - from)};
    return true;
}

bool sp_json_u64(struct sp_json *j, uint64_t *out)
{
    struct sp_span s;
    if (!sp_json_number(j, &s))
        return false;
    return sp_parse_u64(s.p, s.p + s.n, out) == s.n ? true : sp_json_fail(j, "expected a whole number");
}

static bool word(struct sp_json *j, const char *w, size_t n)
{
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
        return sp_json_fail(j, "expected a value");
    j->p += n;
    return true;
}

bool sp_json_bool(struct sp_json *j, bool *out)
{
    enum sp_json_type t = sp_json_type(j);
    if (t != SP_JSON_TRUE && t != SP_JSON_FALSE)
        return sp_json_fail(j, "expected true or false");
    *out = t == SP_JSON_TRUE;
    return word(j, *out ? "true" : "false", *out ? 4 : 5);
}

static bool scalar(struct sp_json *j)
{
    struct sp_span s;
    switch (sp_json_type(j)) {
    case SP_JSON_STRING:
        return string(j, &s);
    case SP_JSON_NUMBER:
        return sp_json_number(j, &s);
    case SP_JSON_TRUE:
        return word(j, "true", 4);
    case SP_JSON_FALSE:
        return word(j, "false", 5);
    case SP_JSON_NULL:
        return word(j, "null", 4);
    default:
        return sp_json_fail(j, "expected a value");
    }
}

_Static_assert(SP_JSON_DEPTH == 131072, "SP_JSON_TOO_DEEP says it");

bool sp_json_at_limit(const struct sp_json *j)
{
    return j->error && strcmp(j->error, SP_JSON_TOO_DEEP) == 0;
}

/* Nested values are walked with a bit per level: set where the level is an object. */
bool sp_json_skip(struct sp_json *j, struct sp_span *raw)
{
    uint64_t object[SP_JSON_DEPTH / 64];
    size_t depth = 0;
    cursor_blanks(j);
    const char *from = j->p;
    do {
        enum sp_json_type t = sp_json_type(j);
        if (t == SP_JSON_OBJECT || t == SP_JSON_ARRAY) {
            if (depth == SP_JSON_DEPTH)
                return sp_json_fail(j, SP_JSON_TOO_DEEP);
            uint64_t bit = (uint64_t)1 << depth % 64;
            uint64_t *w = &object[depth / 64];
            *w = t == SP_JSON_OBJECT ? *w | bit : *w & ~bit;
            depth++;
            j->p++;
            j->first = true;
        } else if (!scalar(j)) {
            return false;
        }
        struct sp_span key;
        while (depth &&
               !(object[(depth - 1) / 64] >> (depth - 1) % 64 & 1 ? sp_json_key(j, &key) : sp_json_item(j))) {
            if (j->error)
                return false;
            depth--;
        }
    } while (depth);
    *raw = (struct sp_span){from, (size_t)(j->p - from)};
    return true;
}

bool sp_json_end(struct sp_json *j)
{
    cursor_blanks(j);
    if (j->error)
        return false;
    return j->p == j->end || sp_json_fail(j, "something follows the value");
}
