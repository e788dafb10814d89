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
    case offsetof(struct sp_options, base_where):
        return sp_vec_push(&o->wheres[0], value);
    case offsetof(struct sp_options, new_where):
        return sp_vec_push(&o->wheres[1], value);
    default:
        return true;
    }
}

void sp_options_free(struct sp_options *o)
{
    sp_vec_free(&o->params);
    sp_vec_free(&o->withs);
    sp_vec_free(&o->maps);
    sp_vec_free(&o->wheres[0]);
    sp_vec_free(&o->wheres[1]);
}
