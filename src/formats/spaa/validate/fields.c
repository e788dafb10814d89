/* Presence, type and enumeration of every field in fields.def; what else there is to a value, its check says.
 */
#include "formats/spaa/validate/fields.h"

#define sp_check_none NULL
#define sp_begin_none NULL

#define STRING     .type = SP_IS_STRING
#define NUMBER     .type = SP_IS_NUMBER
#define BOOL       .type = SP_IS_BOOL
#define ID         .type = SP_IS_ID
#define IDS        .type = SP_IS_IDS
#define ENUM(list) .type = SP_IS_ENUM, .names = list
#define OBJECT(of) .type = SP_IS_OBJECT, .inner = SP_T_##of
#define LIST(of)   .type = SP_IS_LIST, .inner = SP_T_##of
#define MUST       true
#define MAY        false

static const struct sp_field fields[SP_FIELDS] = {
#define SP_TABLE(t, where, begin)
#define SP_FIELD(t, key, need, kind, fn)                                                                     \
    {.table = SP_T_##t, .name = #key, .length = sizeof #key - 1, .must = need, kind, .check = sp_check_##fn},
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

static void (*const begins[SP_TABLES])(struct sp_validator *v) = {
#define SP_TABLE(t, where, begin) [SP_T_##t] = sp_begin_##begin,
#define SP_FIELD(t, key, need, kind, fn)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

void sp_fields_init(struct sp_validator *v)
{
    for (int t = 0, i = 0; t < SP_TABLES; t++) {
        v->first_field[t] = (unsigned char)i;
        while (i < SP_FIELDS && fields[i].table == t)
            i++;
    }
    v->first_field[SP_TABLES] = SP_FIELDS;
    for (int i = 0; i < SP_FIELDS; i++)
        v->field_keys[i] = sp_fingerprint(fields[i].name, fields[i].length);
}

bool sp_field_known(const struct sp_validator *v, enum sp_table table, struct sp_fp key)
{
    for (int i = v->first_field[table]; i < v->first_field[table + 1]; i++)
        if (sp_fp_equal(v->field_keys[i], key))
            return true;
    return false;
}

static const char *type_name(enum sp_json_type t)
{
    static const char *const names[] = {"nothing",  "an object", "an array", "a string",
                                        "a number", "true",      "false",    "null"};
    return names[t];
}

static void wrong_type(struct sp_validator *v, const char *at, const char *wanted, enum sp_json_type found)
{
    sp_report(v, SP_E110, at, "expected %s, found %s", wanted, type_name(found));
}

static void run_check(struct sp_validator *v, const struct sp_value *x)
{
    if (x->field->check)
        x->field->check(v, x);
}

/* The members of an object, appended to v->members. */
static bool list_members(struct sp_validator *v, struct sp_span raw)
{
    struct sp_json j;
    struct sp_span key;
    bool ok = true;
    sp_json_init(&j, raw.p, raw.n);
    sp_json_object(&j);
    while (ok && sp_json_key(&j, &key)) {
        bool inside = key.p >= raw.p && key.p <= raw.p + raw.n;
        struct sp_member m = {.key = sp_fingerprint(key.p, key.n),
                              .prefixed = key.n > 2 && key.p[0] == 'x' && key.p[1] == '_'};
        if (inside)
            m.name = key;
        ok = sp_json_skip(&j, &m.raw) && sp_vec_push(&v->members, m);
    }
    if (!ok || j.error)
        v->status = sp_nomem(v->d); /* the text itself was read before */
    sp_json_free(&j);
    return v->status == SPAA_OK;
}

static void check_object(struct sp_validator *v, struct sp_value *x)
{
    x->members = v->members.n;
    if (!list_members(v, x->raw))
        return;
    x->nmembers = v->members.n - x->members;
    sp_check_table(v, x->field->inner, x->raw.p, x->members, x->nmembers);
    if (v->status == SPAA_OK)
        run_check(v, x);
    v->members.n = x->members;
}

static void check_list(struct sp_validator *v, struct sp_value *x)
{
    struct sp_json j;
    sp_json_init(&j, x->raw.p, x->raw.n);
    sp_json_array(&j);
    for (size_t i = 0; v->status == SPAA_OK && sp_json_item(&j); i++) {
        enum sp_json_type t = sp_json_type(&j);
        struct sp_value item = {.field = x->field, .index = i};
        if (!sp_json_skip(&j, &item.raw))
            break;
        size_t cut = sp_path_item(v, i);
        if (t == SP_JSON_OBJECT)
            check_object(v, &item);
        else
            wrong_type(v, item.raw.p, "an object", t);
        sp_path_cut(v, cut);
    }
    if (j.error)
        v->status = sp_nomem(v->d);
    sp_json_free(&j);
}

static void check_ids(struct sp_validator *v, struct sp_value *x)
{
    struct sp_json *j = &v->reader;
    sp_json_reset(j, x->raw.p, x->raw.n);
    sp_json_array(j);
    struct sp_value item = {.field = x->field};
    for (; v->status == SPAA_OK && sp_json_item(j); item.index++) {
        enum sp_json_type t = sp_json_type(j);
        item.raw = (struct sp_span){j->p, 0};
        if (t == SP_JSON_NUMBER ? sp_json_number(j, &item.text)
                                : t == SP_JSON_STRING && sp_json_string_value(j, &item.text)) {
            item.raw.n = (size_t)(j->p - item.raw.p);
            run_check(v, &item);
            continue;
        }
        if (j->error || !sp_json_skip(j, &item.raw))
            break;
        size_t cut = sp_path_item(v, item.index);
        wrong_type(v, item.raw.p, "a number or a string", t);
        sp_path_cut(v, cut);
        item.text = (struct sp_span){NULL, 0};
        run_check(v, &item); /* the item counts, without an id */
    }
    if (j->error)
        v->status = sp_nomem(v->d);
}

static void outside_enumeration(struct sp_validator *v, const struct sp_value *x)
{
    char list[160];
    size_t n = 0;
    for (const char *const *name = x->field->names; *name; name++) {
        size_t len = strlen(*name);
        if (n + len + 4 > sizeof list)
            break;
        if (n) {
            memcpy(list + n, ", ", 2);
            n += 2;
        }
        memcpy(list + n, *name, len);
        n += len;
    }
    sp_report(v, SP_E111, x->raw.p, "\"%.*s\" is none of %.*s", SP_CLIP(x->text), (int)n, list);
}

static bool fits(enum sp_field_type want, enum sp_json_type t)
{
    switch (want) {
    case SP_IS_STRING:
    case SP_IS_ENUM:
        return t == SP_JSON_STRING;
    case SP_IS_NUMBER:
        return t == SP_JSON_NUMBER;
    case SP_IS_BOOL:
        return t == SP_JSON_TRUE || t == SP_JSON_FALSE;
    case SP_IS_ID:
        return t == SP_JSON_STRING || t == SP_JSON_NUMBER;
    case SP_IS_OBJECT:
        return t == SP_JSON_OBJECT;
    default:
        return t == SP_JSON_ARRAY;
    }
}

static void check_value(struct sp_validator *v, const struct sp_field *f, struct sp_span raw)
{
    static const char *const wanted[] = {
        "a string",  "a number", "true or false", "a string", "a number or a string",
        "an object", "an array", "an array"};
    struct sp_json *j = &v->reader;
    struct sp_value x = {.field = f, .raw = raw};
    sp_json_reset(j, raw.p, raw.n);
    enum sp_json_type t = sp_json_type(j);
    if (!fits(f->type, t)) {
        wrong_type(v, raw.p, wanted[f->type], t);
        return;
    }
    if (f->type == SP_IS_OBJECT) {
        check_object(v, &x);
        return;
    }
    if (f->type == SP_IS_LIST) {
        check_list(v, &x);
        return;
    }
    if (f->type == SP_IS_IDS) {
        check_ids(v, &x);
        return;
    }
    if (t == SP_JSON_STRING)
        sp_json_string_value(j, &x.text);
    else
        x.text = raw;
    x.truth = t == SP_JSON_TRUE;
    if (j->error) {
        v->status = sp_nomem(v->d);
        return;
    }
    if (f->type == SP_IS_ENUM && (x.choice = sp_name_index(f->names, x.text.p, x.text.n)) < 0)
        outside_enumeration(v, &x);
    else
        run_check(v, &x);
}

void sp_check_table(struct sp_validator *v, enum sp_table table, const char *at, size_t first, size_t n)
{
    if (begins[table])
        begins[table](v);
    for (int i = v->first_field[table]; i < v->first_field[table + 1] && v->status == SPAA_OK; i++) {
        const struct sp_field *f = &fields[i];
        size_t m = first;
        while (m < first + n && !sp_fp_equal(v->members.v[m].key, v->field_keys[i]))
            m++;
        bool there = m < first + n;
        if (!there && (!f->must || (!v->whole && at == v->text)))
            continue;
        size_t cut = sp_path_push(v, f->name, f->length);
        if (there)
            check_value(v, f, v->members.v[m].raw);
        else
            sp_report(v, SP_E109, at, "`%s`", f->name);
        sp_path_cut(v, cut);
    }
}
