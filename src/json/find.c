#include "json/find.h"

#include "base/num.h"

bool sp_json_find(struct sp_span text, const char *key, struct sp_span *raw)
{
    struct sp_json j;
    struct sp_span k, value;
    bool found = false;
    sp_json_init(&j, text.p, text.n);
    if (text.n && *text.p == '{')
        sp_json_object(&j);
    else
        j.first = true; /* members without their braces */
    while (!found && sp_json_key(&j, &k)) {
        found = sp_span_is(k, key);
        if (!sp_json_skip(&j, &value))
            found = false;
    }
    if (found)
        *raw = value;
    sp_json_free(&j);
    return found;
}

bool sp_json_find2(struct sp_span text, const char *outer, const char *key, struct sp_span *raw)
{
    struct sp_span object;
    return sp_json_find(text, outer, &object) && object.n && *object.p == '{' &&
           sp_json_find(object, key, raw);
}

bool sp_json_find_i64(struct sp_span text, const char *key, int64_t *v)
{
    struct sp_span raw;
    return sp_json_find(text, key, &raw) && raw.n && sp_parse_i64(raw.p, raw.p + raw.n, v) == raw.n;
}

bool sp_json_find_true(struct sp_span text, const char *key)
{
    struct sp_span raw;
    return sp_json_find(text, key, &raw) && sp_span_is(raw, "true");
}

bool sp_json_text_to(struct sp_buf *out, struct sp_span raw)
{
    struct sp_json j;
    struct sp_span s;
    sp_json_init(&j, raw.p, raw.n);
    bool ok = sp_json_type(&j) == SP_JSON_STRING && sp_json_string_value(&j, &s) && sp_buf_add(out, s.p, s.n);
    out->failed |= j.scratch.failed;
    sp_json_free(&j);
    return ok;
}

bool sp_json_members(struct sp_json *j, struct sp_json_member *want, size_t n)
{
    struct sp_span key, raw;
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        struct sp_json_member *m = NULL;
        for (size_t i = 0; !m && i < n; i++)
            if (!want[i].raw.n && sp_span_is(key, want[i].key))
                m = &want[i];
        sp_json_type(j); /* the cursor is at the value */
        const char *start = j->p;
        bool whole = sp_json_skip(j, &raw);
        if (m)
            m->raw = whole ? raw : (struct sp_span){start, (size_t)(j->end - start)};
    }
    return !j->error;
}

bool sp_json_next(struct sp_span *rest, struct sp_span *item)
{
    struct sp_json j;
    sp_json_init(&j, rest->p, rest->n);
    bool ok = false;
    if (rest->n && *rest->p == '[') {
        ok = sp_json_array(&j) && sp_json_item(&j);
    } else if (rest->n) {
        j.first = false;
        ok = sp_json_item(&j);
    }
    ok = ok && sp_json_skip(&j, item);
    *rest = (struct sp_span){ok ? j.p : rest->p, ok ? (size_t)(rest->p + rest->n - j.p) : 0};
    sp_json_free(&j);
    return ok;
}
