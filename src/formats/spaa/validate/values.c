/* What a decoded record has in a field, as the checks ask for it. */
#include "formats/spaa/validate/internal.h"

/* The first value of a field, where that is of another type: the decoder took a later one, if any. */
const struct sp_odd *sp_field_wrong(const struct sp_validator *v, const struct sp_rec *rec, unsigned position)
{
    const struct sp_odd *odd = v->decoder.odd.v;
    if (!(rec->wrong >> position & 1))
        return NULL;
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = odd[i].next)
        if (odd[i].position == position && odd[i].what & SP_ODD_WRONG && !(odd[i].what & SP_ODD_AGAIN))
            return &odd[i];
    return NULL;
}

const struct sp_token *sp_field_value(const struct sp_rec *rec, const struct sp_field_info *f)
{
    return (const struct sp_token *)(const void *)((const char *)rec + f->offset);
}

const struct sp_nested *sp_field_nested(const struct sp_validator *v, const struct sp_rec *rec,
                                        unsigned field)
{
    const struct sp_field_info *f = &sp_field_infos[field];
    if (!(rec->present >> f->position & 1) || sp_field_wrong(v, rec, f->position))
        return NULL;
    return (const struct sp_nested *)(const void *)sp_field_value(rec, f);
}

bool sp_states_derivation(const struct sp_validator *v, const struct sp_rec *rec)
{
    const struct sp_odd *odd = v->decoder.odd.v;
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = odd[i].next) {
        const struct sp_token *key = &odd[i].key;
        if (odd[i].what & SP_ODD_UNKNOWN && !key->escaped && key->n >= 10 &&
            memmem(key->p, key->n, "derivation", 10))
            return true;
    }
    return false;
}

static const char *values_type_name(unsigned kind)
{
    static const char *const names[] = {"nothing",  "an object", "an array", "a string",
                                        "a number", "true",      "false",    "null"};
    return names[kind];
}

void sp_report_type(struct sp_validator *v, const char *at, const char *wanted, unsigned found)
{
    sp_report(v, SP_E110, at, "expected %s, found %s", wanted, values_type_name(found));
}
