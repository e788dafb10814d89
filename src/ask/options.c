#include "ask/options.h"

const struct sp_option sp_option_table[] = {
#define SPAA_OPT(field, name, letter, value, groups, help)                                                   \
    {name, letter, value, groups, help, offsetof(struct sp_options, field)},
#include "options.def"
#undef SPAA_OPT
    {0},
};

bool sp_option_set(struct sp_options *o, const struct sp_option *option, const char *value)
{
    *(const char **)(void *)((char *)o + option->offset) = value;
    switch (option->offset) {
    case offsetof(struct sp_options, param):
        return sp_vec_push(&o->params, value);
    case offsetof(struct sp_options, with):
        return sp_vec_push(&o->withs, value);
    case offsetof(struct sp_options, map):
        return sp_vec_push(&o->maps, value);
    case offsetof(struct sp_options, label):
        return sp_vec_push(&o->labels, value);
    case offsetof(struct sp_options, base_where):
        return sp_vec_push(&o->wheres[0], value);
    case offsetof(struct sp_options, new_where):
        return sp_vec_push(&o->wheres[1], value);
    default:
        return true;
    }
}

size_t sp_option_labels(const struct sp_options *o, const char *const **out)
{
    bool own = o->label && (!o->labels.n || o->labels.v[o->labels.n - 1] != o->label);
    *out = own ? &o->label : o->labels.v; /* own: of one side of a comparison */
    return own ? 1 : o->labels.n;
}

void sp_options_free(struct sp_options *o)
{
    sp_vec_free(&o->params);
    sp_vec_free(&o->withs);
    sp_vec_free(&o->maps);
    sp_vec_free(&o->labels);
    sp_vec_free(&o->wheres[0]);
    sp_vec_free(&o->wheres[1]);
}
