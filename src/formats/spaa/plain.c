#include "formats/spaa/plain.h"

#include "formats/spaa/decode.h"
#include "json/find.h"

bool sp_plain_init(struct sp_plain *x)
{
    *x = (struct sp_plain){0};
    sp_buf_init(&x->text, 0);
    return sp_strtab_init(&x->names);
}

void sp_plain_free(struct sp_plain *x)
{
    sp_strtab_free(&x->names);
    sp_vec_free(&x->counts);
    sp_buf_free(&x->text);
}

static bool plain_count(struct sp_plain *x, struct sp_span name)
{
    uint32_t number = sp_intern(&x->names, name.p, name.n);
    if (number == SP_STR_FAIL || !sp_vec_reserve(&x->counts, (size_t)number + 1))
        return false;
    while (x->counts.n <= number)
        x->counts.v[x->counts.n++] = 0;
    x->counts.v[number]++;
    return true;
}

static const struct sp_field_info *plain_field(unsigned table, struct sp_span name)
{
    for (unsigned i = sp_first_field[table]; i < sp_first_field[table + 1]; i++)
        if (sp_field_infos[i].length == name.n && memcmp(sp_field_infos[i].quoted + 1, name.p, name.n) == 0)
            return &sp_field_infos[i];
    return NULL;
}

static bool plain_object(struct sp_plain *x, unsigned table, struct sp_span raw, struct sp_buf *out);

/* The value of a field. It nests as deep as the specification does. */
static bool plain_value(struct sp_plain *x, const struct sp_field_info *f, struct sp_span raw,
                        struct sp_buf *out)
{
    struct sp_span rest = raw, item;
    bool objects = (f->type == SP_IS_OBJECT || f->type == SP_IS_LIST) && f->inner != SP_T_ANYTHING;
    bool ok = true, first = true;
    if (objects && raw.n && *raw.p == '{')
        return plain_object(x, f->inner, raw, out);
    if (!objects || !raw.n || *raw.p != '[')
        return sp_buf_add(out, raw.p, raw.n);
    sp_buf_ch(out, '[');
    for (; ok && sp_json_next(&rest, &item); first = false) {
        if (!first)
            sp_buf_ch(out, ',');
        ok = plain_object(x, f->inner, item, out);
    }
    return ok && sp_buf_ch(out, ']');
}

static bool plain_object(struct sp_plain *x, unsigned table, struct sp_span raw, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, value;
    bool ok = sp_buf_ch(out, '{'), first = true;
    sp_json_init(&j, raw.p, raw.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (ok && sp_json_key(&j, &key)) {
            const struct sp_field_info *f = plain_field(table, key);
            bool type = first && sp_span_is(key, "type");
            if (!f && !type) {
                ok = plain_count(x, key) && sp_json_skip(&j, &value);
                continue;
            }
            if (!first)
                sp_buf_ch(out, ',');
            first = false;
            sp_json_string(out, key.p, key.n);
            sp_buf_ch(out, ':');
            ok = sp_json_skip(&j, &value) &&
                 (f ? plain_value(x, f, value, out) : sp_buf_add(out, value.p, value.n));
        }
    sp_json_free(&j);
    return ok && sp_buf_ch(out, '}');
}

/* Number of the table of a type of record; SP_T_ANYTHING: it is none of the specification's. */
static unsigned plain_table(struct sp_span type)
{
    static const struct {
        const char *name;
        unsigned table;
    } types[] = {{"\"header\"", SP_T_HEADER}, {"\"dso\"", SP_T_DSO},     {"\"frame\"", SP_T_FRAME},
                 {"\"thread\"", SP_T_THREAD}, {"\"stack\"", SP_T_STACK}, {"\"sample\"", SP_T_SAMPLE},
                 {"\"window\"", SP_T_WINDOW}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sp_span_is(type, types[i].name))
            return types[i].table;
    return SP_T_ANYTHING;
}

/* It has what a strict reader of such records wants. */
static bool plain_complete(struct sp_plain *x, unsigned table, struct sp_span raw)
{
    static const char *const wanted[] = {"timestamp", "pid", "tid", "cpu", "event", "stack_id"};
    struct sp_span value;
    if (table == SP_T_SAMPLE)
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (!sp_json_find(raw, wanted[i], &value) || *value.p == '-') {
                x->samples++;
                return false;
            }
    if (table == SP_T_THREAD)
        return sp_json_find(raw, "pid", &value) && *value.p != '-' && sp_json_find(raw, "tid", &value) &&
               *value.p != '-';
    return table != SP_T_FRAME || !sp_json_find_true(raw, "x_inferred"); /* no stack names it */
}

bool sp_plain_record(struct sp_plain *x, struct sp_buf *b)
{
    struct sp_span raw = {b->data, b->len}, type = {"", 0};
    bool ok = true;
    while (raw.n && raw.p[raw.n - 1] == '\n')
        raw.n--;
    sp_json_find(raw, "type", &type);
    unsigned table = plain_table(type);
    sp_buf_clear(&x->text);
    if (table == SP_T_ANYTHING)
        ok = plain_count(x, type);
    else if (plain_complete(x, table, raw))
        ok = plain_object(x, table, raw, &x->text) && sp_buf_ch(&x->text, '\n');
    sp_buf_clear(b);
    return ok && sp_buf_add(b, x->text.data ? x->text.data : "", x->text.len);
}

void sp_plain_report(const struct sp_plain *x, struct sp_diags *d)
{
    enum { SHOWN = 12 };
    struct sp_buf list;
    size_t n = 0;
    sp_buf_init(&list, 4096);
    for (uint32_t i = 0; i < x->counts.n; i++) {
        struct sp_str name = sp_str_at(&x->names, i);
        if (!x->counts.v[i] || n++ >= SHOWN)
            continue;
        if (name.n > 1 && *name.p == '"')
            sp_buf_printf(&list, "%s%llu records of type %.*s", n > 1 ? ", " : "",
                          (unsigned long long)x->counts.v[i], (int)(name.n - 2), name.p + 1);
        else
            sp_buf_printf(&list, "%s%.*s (%llu)", n > 1 ? ", " : "", (int)name.n, name.p,
                          (unsigned long long)x->counts.v[i]);
    }
    if (n > SHOWN)
        sp_buf_printf(&list, " and %zu more", n - SHOWN);
    if (n)
        sp_emit(d, SP_I321, SP_AT_NOTHING, "--plain: what the specification does not name: %s",
                sp_buf_cstr(&list));
    if (x->samples)
        sp_emit(d, SP_I321, SP_AT_NOTHING,
                "--plain: %llu samples that lack one of time, pid, tid, cpu, event and stack",
                (unsigned long long)x->samples);
    sp_buf_free(&list);
}
