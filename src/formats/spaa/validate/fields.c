/* Presence, type and enumeration of every field in fields.def; what else there is to a value, its check says.
 */
#include "formats/spaa/validate/fields.h"

#define sp_check_none NULL
#define sp_begin_none NULL

static void (*const checks[SP_FIELDS])(struct sp_validator *v, const struct sp_checked *x) = {
#define SP_TABLE(table, where, begin)
#define SP_FIELD(table, name, need, type, check) sp_check_##check,
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

static void (*const begins[SP_TABLES])(struct sp_validator *v) = {
#define SP_TABLE(table, where, begin) sp_begin_##begin,
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

static void fields_check_object(struct sp_validator *v, struct sp_checked *x, unsigned table, uint32_t row)
{
    x->rec = sp_rec_any(&v->decoder, table, row);
    sp_check_table(v, table, x->rec, x->raw.p);
    if (v->status == SPAA_OK && checks[x->field - sp_field_infos])
        checks[x->field - sp_field_infos](v, x);
}

static void fields_check_list(struct sp_validator *v, const struct sp_field_info *f,
                              const struct sp_nested *list)
{
    for (uint32_t i = 0; i < list->count && v->status == SPAA_OK; i++) {
        const struct sp_rec *rec = sp_rec_any(&v->decoder, f->inner, list->first + i);
        struct sp_checked x = {.field = f, .raw = {rec->p + v->shift, 0}, .index = i};
        size_t cut = sp_path_item(v, i);
        if (rec->kind == SP_JSON_OBJECT)
            fields_check_object(v, &x, f->inner, list->first + i);
        else
            sp_report_type(v, x.raw.p, "an object", rec->kind);
        sp_path_cut(v, cut);
    }
}

static void fields_outside_enumeration(struct sp_validator *v, const struct sp_checked *x)
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

static void fields_check_scalar(struct sp_validator *v, struct sp_checked *x, const struct sp_token *value)
{
    void (*check)(struct sp_validator *, const struct sp_checked *) = checks[x->field - sp_field_infos];
    x->text = sp_token_text(value, &v->scratch);
    x->truth = value->kind == SP_JSON_TRUE;
    if (!x->text.p)
        sp_out_of_memory(v);
    else if (x->field->type == SP_IS_ENUM &&
             (x->choice = sp_name_index(x->field->names, x->text.p, x->text.n)) < 0)
        fields_outside_enumeration(v, x);
    else if (check)
        check(v, x);
}

static void fields_check_nested(struct sp_validator *v, struct sp_checked *x, const struct sp_nested *nested)
{
    const struct sp_field_info *f = x->field;
    ptrdiff_t shift = v->shift;
    v->shift += nested->v.p - nested->text; /* the rows' spans are of an equal text before this one */
    if (f->type == SP_IS_LIST) {
        uint64_t findings = v->findings;
        if (f != &sp_field_infos[SP_F_EXCLUSIVE_weights] || !sp_exclusive_again(v, nested))
            fields_check_list(v, f, nested);
        if (f == &sp_field_infos[SP_F_STACK_weights])
            v->stack.weights_again = v->findings == findings ? nested : NULL;
    } else if (f->type == SP_IS_IDS) {
        x->list = nested;
        checks[f - sp_field_infos](v, x);
    } else if (f->inner != SP_T_CONTEXT) {
        fields_check_object(v, x, f->inner, nested->first);
    } else if (!sp_context_again(v, nested->first)) {
        uint64_t findings = v->findings;
        fields_check_object(v, x, f->inner, nested->first);
        if (v->findings == findings && !(v->notes && v->notes->unsure))
            sp_remember_context(v, nested->first);
    }
    v->shift = shift;
}

static void fields_check_value(struct sp_validator *v, const struct sp_rec *rec,
                               const struct sp_field_info *f)
{
    static const char *const wanted[] = {
        "a string",  "a number", "true or false", "a string", "a number or a string",
        "an object", "an array", "an array"};
    const struct sp_odd *wrong = sp_field_wrong(v, rec, f->position);
    if (wrong) {
        sp_report_type(v, sp_token_raw(&wrong->value).p, wanted[f->type], wrong->value.kind);
        return;
    }
    struct sp_token value = *sp_field_value(rec, f);
    value.p += v->shift;
    struct sp_checked x = {.field = f, .raw = sp_token_raw(&value)};
    if (f->type < SP_IS_OBJECT)
        fields_check_scalar(v, &x, &value);
    else
        fields_check_nested(v, &x, (const struct sp_nested *)(const void *)sp_field_value(rec, f));
}

void sp_check_table(struct sp_validator *v, enum sp_table table, const struct sp_rec *rec, const char *at)
{
    const struct sp_fields_known *f = &v->fields[table];
    unsigned there = rec->present | rec->wrong, must = !v->whole && at == v->text ? 0 : f->must;
    if (begins[table])
        begins[table](v);
    for (unsigned todo = (rec->present & f->judged) | rec->wrong | (must & ~there);
         todo && v->status == SPAA_OK; todo &= todo - 1) {
        const unsigned position = (unsigned)__builtin_ctz(todo);
        const struct sp_field_info *info = &sp_field_infos[sp_first_field[table] + position];
        size_t cut = sp_path_push(v, info->quoted + 1, info->length);
        if (there >> position & 1)
            fields_check_value(v, rec, info);
        else
            sp_report(v, SP_E109, at, "`%.*s`", info->length, info->quoted + 1);
        sp_path_cut(v, cut);
    }
}

void sp_fields_init(struct sp_validator *v)
{
    for (unsigned i = 0; i < SP_FIELDS; i++) {
        const struct sp_field_info *f = &sp_field_infos[i];
        unsigned type = f->type, bit = 1u << f->position;
        bool inner = (type == SP_IS_OBJECT && f->inner != SP_T_ANYTHING) || type == SP_IS_LIST;
        v->fields[f->table].must |= f->must ? bit : 0;
        v->fields[f->table].judged |= checks[i] || type == SP_IS_ENUM || inner ? bit : 0;
    }
}
