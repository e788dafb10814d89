/* What all parts of the writer use: strings of the table, and members of extra JSON. */
#include "formats/pprof/write.h"

static int pprof_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

struct sp_str sp_pw_keep(struct sp_pw *w, struct sp_span s)
{
    char *copy = sp_arena_dup(&w->arena, s.p, s.n);
    w->nomem |= !copy;
    return copy ? (struct sp_str){copy, (uint32_t)s.n} : (struct sp_str){"", 0};
}

void sp_pw_member(struct sp_pw *w, uint32_t more, struct sp_buf *out)
{
    struct sp_str s = sp_pstr(w->p, more);
    struct sp_buf object;
    struct sp_json j;
    struct sp_span key, raw;
    sp_buf_clear(out);
    if (!s.n)
        return;
    sp_buf_init(&object, 0);
    sp_buf_ch(&object, '{');
    sp_buf_add(&object, s.p, s.n);
    sp_buf_ch(&object, '}');
    if (!object.failed) {
        sp_json_init(&j, object.data, object.len);
        if (sp_json_object(&j))
            while (sp_json_key(&j, &key)) {
                bool wanted = sp_span_is(key, "x_pprof") && sp_json_type(&j) == SP_JSON_OBJECT;
                if (sp_json_skip(&j, &raw) && wanted)
                    sp_buf_add(out, raw.p, raw.n);
            }
        sp_json_free(&j);
    }
    w->nomem |= object.failed || out->failed;
    sp_buf_free(&object);
}

uint32_t sp_pw_str(struct sp_pw *w, struct sp_str s)
{
    if (!s.n)
        return 0;
    uint32_t i = sp_intern(&w->strings, s.p, s.n);
    if (i != SP_STR_FAIL)
        return i;
    w->nomem = true;
    return 0;
}

struct sp_str sp_pw_text(struct sp_pw *w, struct sp_json *j)
{
    struct sp_str out = {"", 0};
    struct sp_span key, s;
    if (sp_json_type(j) == SP_JSON_STRING)
        return sp_json_string_value(j, &s) ? sp_pw_keep(w, s) : out;
    sp_json_object(j);
    while (sp_json_key(j, &key)) {
        if (!sp_span_is(key, "hex") || sp_json_type(j) != SP_JSON_STRING)
            sp_json_skip(j, &s);
        else if (sp_json_string_value(j, &s))
            out = sp_pw_unhex(w, s);
    }
    return out;
}

bool sp_pw_text_ahead(struct sp_json *j)
{
    enum sp_json_type is = sp_json_type(j);
    return is == SP_JSON_STRING || is == SP_JSON_OBJECT;
}

struct sp_str sp_pw_unhex(struct sp_pw *w, struct sp_span digits)
{
    size_t n = digits.n / 2;
    char *copy = sp_arena_alloc(&w->arena, n + 1);
    w->nomem |= !copy;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = (char)(pprof_hex_digit(digits.p[2 * i]) << 4 | pprof_hex_digit(digits.p[2 * i + 1]));
    return copy ? (struct sp_str){copy, (uint32_t)n} : (struct sp_str){"", 0};
}
