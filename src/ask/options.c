#include "ask/options.h"

#include <string.h>

const struct sp_option sp_option_table[] = {
#define SPAA_OPT(field, name, letter, value, groups, help)                                                   \
    {name, letter, value, groups, help, offsetof(struct sp_options, field)},
#include "options.def"
#undef SPAA_OPT
    {0},
};

bool sp_options_full_names(const struct sp_options *o)
{
    return o->names && strcmp(o->names, "full") == 0;
}

/* Where each value of an option is kept; NULL: only the last one is. */
static struct sp_option_values *option_values(struct sp_options *o, const struct sp_option *option)
{
    switch (option->offset) {
    case offsetof(struct sp_options, param):
        return &o->params;
    case offsetof(struct sp_options, with):
        return &o->withs;
    case offsetof(struct sp_options, ratio):
        return &o->ratios;
    case offsetof(struct sp_options, map):
        return &o->maps;
    case offsetof(struct sp_options, label):
        return &o->labels;
    case offsetof(struct sp_options, source_path):
        return &o->source_paths;
    case offsetof(struct sp_options, redact):
        return &o->redacts;
    case offsetof(struct sp_options, base_path):
        return &o->base_paths;
    case offsetof(struct sp_options, base_where):
        return &o->wheres[0];
    case offsetof(struct sp_options, new_where):
        return &o->wheres[1];
    default:
        return NULL;
    }
}

bool sp_option_repeats(const struct sp_option *option)
{
    struct sp_options none;
    return option_values(&none, option) != NULL;
}

bool sp_option_set(struct sp_options *o, const struct sp_option *option, const char *value)
{
    struct sp_option_values *values = option_values(o, option);
    *(const char **)(void *)((char *)o + option->offset) = value;
    return !values || sp_vec_push(values, value);
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
    sp_vec_free(&o->ratios);
    sp_vec_free(&o->maps);
    sp_vec_free(&o->labels);
    sp_vec_free(&o->source_paths);
    sp_vec_free(&o->redacts);
    sp_vec_free(&o->base_paths);
    sp_vec_free(&o->wheres[0]);
    sp_vec_free(&o->wheres[1]);
}
