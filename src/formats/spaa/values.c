/* Values of SPAA records into those of the model. */
#include "formats/spaa/fact_values.h"
#include "formats/spaa/read.h"

#include "base/num.h"

bool sp_take_str(struct reader *r, const struct sp_token *v, uint32_t *out)
{
    struct sp_span s = sp_token_text(v, &r->text);
    *out = s.p ? sp_profile_str(r->p, s.p, s.n) : SP_STR_FAIL;
    return *out != SP_STR_FAIL || sp_no_memory(r);
}

bool sp_take_raw(struct reader *r, const struct sp_token *v, uint32_t *out)
{
    struct sp_span s = sp_token_raw(v);
    *out = sp_profile_str(r->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_no_memory(r);
}

/* Not the least numbers, which mean something else in the model, and not what would be written as another
 * text. */
static bool value_i64(const struct sp_token *v, int64_t *out)
{
    return sp_parse_i64(v->p, v->p + v->n, out) == v->n && *out > SP_DECIMAL &&
           !(v->n == 2 && memcmp(v->p, "-0", 2) == 0);
}

bool sp_take_i64(struct reader *r, const char *name, const struct sp_token *v, int64_t *out)
{
    int64_t i;
    if (value_i64(v, &i)) {
        *out = i;
        return true;
    }
    sp_emit(r->d, SP_W203, sp_here(r, NULL), "expected a whole number; the member is kept as it is");
    return sp_keep(r, name, v);
}

bool sp_take_value(struct reader *r, const struct sp_token *v, struct sp_value *out)
{
    *out = (struct sp_value){0, 0};
    if (value_i64(v, &out->v))
        return true;
    out->v = SP_DECIMAL;
    return sp_take_str(r, v, &out->text);
}

bool sp_take_name(struct reader *r, const char *name, const struct sp_token *v, const char *const *names,
                  int otherwise, int *out)
{
    struct sp_span s = sp_token_text(v, &r->text);
    if (!s.p)
        return sp_no_memory(r);
    *out = sp_name_index(names, s.p, s.n);
    if (*out < 0) {
        sp_emit(r->d, SP_E111, sp_here(r, name), "\"%.*s\", taken as \"%s\"", (int)(s.n < 80 ? s.n : 80), s.p,
                names[otherwise]);
        *out = otherwise;
    }
    return true;
}

bool sp_take_own_str(struct reader *r, const struct sp_rec *rec, const char *name, uint32_t *out)
{
    struct sp_odd *o = rec->unknown ? sp_own(r, rec, name) : NULL;
    if (!o)
        return true;
    o->what |= SP_ODD_USED;
    return o->value.kind == SP_JSON_STRING ? sp_take_str(r, &o->value, out)
                                           : sp_keep_odd(r, name, &o->value, "a string");
}

/* The field's text becomes the bytes of a hex text that are written so. */
static bool value_unhex(struct reader *r, struct sp_span hex, uint32_t *str)
{
    struct sp_str text = sp_pstr(r->p, *str);
    struct sp_buf bytes;
    bool nomem = false;
    sp_buf_init(&bytes, 0);
    bool same = sp_raw_hex_bytes(hex, text, &bytes, &nomem);
    if (same)
        *str = sp_profile_str(r->p, bytes.data, bytes.len);
    if (nomem)
        sp_no_memory(r);
    sp_buf_free(&bytes);
    return same;
}

/* The members of the object at the cursor; false: they are not what they should be, or no memory. */
static bool value_raw_hex(struct reader *r, const struct raw_field *fields, size_t n)
{
    struct sp_span name, hex;
    if (!sp_json_object(&r->j))
        return false;
    while (sp_json_key(&r->j, &name)) {
        size_t i = 0;
        while (i < n && !sp_span_is(name, fields[i].name))
            i++;
        if (i == n || sp_json_type(&r->j) != SP_JSON_STRING || !sp_json_string_value(&r->j, &hex) ||
            !value_unhex(r, hex, fields[i].str))
            return false;
        if (*fields[i].str == SP_STR_FAIL)
            return sp_no_memory(r);
    }
    return !r->j.error || (r->j.error && strcmp(r->j.error, "out of memory") == 0 && sp_no_memory(r));
}

bool sp_take_raw_hex(struct reader *r, const struct sp_rec *rec, const struct raw_field *fields, size_t n)
{
    struct sp_odd *o = rec->unknown ? sp_own(r, rec, "x_raw_hex") : NULL;
    if (!o)
        return true;
    if (o->value.kind == SP_JSON_OBJECT) {
        struct sp_span raw = sp_clean_text(r, &o->value);
        if (!raw.p)
            return false;
        sp_json_reset(&r->j, raw.p, raw.n);
        if (value_raw_hex(r, fields, n))
            o->what |= SP_ODD_USED;
        return !r->st; /* also of strings that are not among these fields: it is kept */
    }
    o->what |= SP_ODD_USED;
    return sp_keep_odd(r, "x_raw_hex", &o->value, SP_RAW_HEX_WANTED);
}
