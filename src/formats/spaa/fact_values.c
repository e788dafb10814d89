#include "formats/spaa/fact_values.h"

#include "base/num.h"
#include "model/tables.h"

enum sp_fact_record sp_fact_record(struct sp_span type)
{
    static const char *const types[] = {"x_spaa_process",   "x_spaa_image",     "x_spindump_process",
                                        "x_spindump_image", "x_sample_process", "x_sample_image",
                                        "x_spaa_source"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sp_span_is(type, types[i]))
            return (enum sp_fact_record)(SP_PROCESS_FACT + i);
    return SP_NO_FACT;
}

void sp_facts_begin(struct sp_json *j, struct sp_span text)
{
    sp_json_init(j, text.p, text.n);
    if (text.n && *text.p == '{')
        sp_json_object(j);
    else
        j->first = true; /* members without their braces */
}

bool sp_facts_nomem(const struct sp_json *j)
{
    return j->error && strcmp(j->error, "out of memory") == 0;
}

bool sp_fact_find(struct sp_span text, const char *key, struct sp_span *raw, bool *nomem)
{
    struct sp_json j;
    struct sp_span k, value;
    bool found = false;
    sp_facts_begin(&j, text);
    while (!found && sp_json_key(&j, &k)) {
        found = sp_span_is(k, key);
        if (!sp_json_skip(&j, &value))
            found = false;
    }
    if (found)
        *raw = value;
    if (sp_facts_nomem(&j))
        *nomem = true;
    sp_json_free(&j);
    return found;
}

bool sp_fact_next(struct sp_span *rest, struct sp_span *item, bool *nomem)
{
    struct sp_json j;
    sp_json_init(&j, rest->p, rest->n);
    if (rest->n && *rest->p == '[')
        sp_json_array(&j);
    else
        j.first = false;
    bool ok = rest->n && !j.error && sp_json_item(&j) && sp_json_skip(&j, item);
    *rest = (struct sp_span){ok ? j.p : rest->p, ok ? (size_t)(rest->p + rest->n - j.p) : 0};
    if (sp_facts_nomem(&j))
        *nomem = true;
    sp_json_free(&j);
    return ok;
}

bool sp_fact_decode(struct sp_buf *out, struct sp_span raw, bool *nomem)
{
    struct sp_json j;
    struct sp_span s;
    sp_json_init(&j, raw.p, raw.n);
    bool ok = sp_json_type(&j) == SP_JSON_STRING && sp_json_string_value(&j, &s) && sp_buf_add(out, s.p, s.n);
    if (out->failed || sp_facts_nomem(&j))
        *nomem = true;
    sp_json_free(&j);
    return ok;
}

/* Whether bytes, written as a JSON string, are what this text is. */
static bool is_written_as(const struct sp_buf *bytes, struct sp_str text, bool *nomem)
{
    struct sp_buf shown, have;
    sp_buf_init(&shown, 0);
    sp_buf_init(&have, 0);
    bool same = sp_json_string(&shown, bytes->data ? bytes->data : "", bytes->len) &&
                sp_json_string(&have, text.p, text.n) && shown.len == have.len &&
                memcmp(shown.data, have.data, have.len) == 0;
    *nomem |= shown.failed || have.failed;
    sp_buf_free(&shown);
    sp_buf_free(&have);
    return same;
}

bool sp_raw_hex_bytes(struct sp_span hex, struct sp_str text, struct sp_buf *bytes, bool *nomem)
{
    bool ok = hex.n % 2 == 0;
    for (size_t i = 0; ok && i < hex.n; i += 2) {
        uint64_t v;
        ok = sp_parse_hex(hex.p + i, hex.p + i + 2, &v) == 2 && sp_buf_ch(bytes, (char)v);
    }
    *nomem |= bytes->failed;
    return ok && is_written_as(bytes, text, nomem);
}

bool sp_fact_number_of(struct sp_span raw, int64_t *out)
{
    int64_t v;
    if (sp_parse_i64(raw.p, raw.p + raw.n, &v) != raw.n || v <= SP_DECIMAL || sp_span_is(raw, "-0"))
        return false;
    *out = v;
    return true;
}

bool sp_fact_address_of(struct sp_span text, uint64_t *out)
{
    char t[16];
    uint64_t v;
    if (text.n < 3 || !sp_parse_0x(text.p, text.n, &v) || v == SP_NO_ADDRESS)
        return false;
    size_t n = sp_hex_text(v, t);
    if (text.n != n + 2 || text.p[1] != 'x' || memcmp(text.p + 2, t, n) != 0)
        return false;
    *out = v;
    return true;
}

const char *sp_fact_wanted(const struct sp_fact *f, struct sp_span raw)
{
    int64_t number;
    uint64_t address;
    bool string = raw.n > 1 && *raw.p == '"';
    switch (f->type) {
    case SP_FACT_NUMBER:
        return sp_fact_number_of(raw, &number) ? NULL : "a whole number";
    case SP_FACT_TEXT:
        return string ? NULL : "a string";
    case SP_FACT_ADDRESS:
        return string && sp_fact_address_of((struct sp_span){raw.p + 1, raw.n - 2}, &address)
                   ? NULL
                   : "a hex string without leading zeros";
    case SP_FACT_FLAG:
        break;
    }
    return sp_span_is(raw, "true") || sp_span_is(raw, "false") ? NULL : "true or false";
}

const struct sp_fact *sp_fact_of_key(const struct sp_fact *facts, struct sp_span key)
{
    for (const struct sp_fact *f = facts; f->key; f++)
        if (sp_span_is(key, f->key))
            return f;
    return NULL;
}
