#include "model/builds.h"

#include <string.h>

enum { SHORT = 8 };

static bool is_other(const struct sp_profile *p, uint32_t dso, size_t i)
{
    const struct sp_dso *a = &p->dsos.v[i], *b = &p->dsos.v[dso];
    return i != dso && a->name == b->name && (a->build_id != b->build_id || a->doubtful != b->doubtful);
}

bool sp_dso_is_one_of_several(const struct sp_profile *p, uint32_t dso)
{
    if (dso == SP_NONE || (!sp_pstr(p, p->dsos.v[dso].build_id).n && !p->dsos.v[dso].doubtful))
        return false;
    for (size_t i = 0; i < p->dsos.n; i++)
        if (is_other(p, dso, i))
            return true;
    return false;
}

struct sp_str sp_dso_build(const struct sp_profile *p, uint32_t dso)
{
    if (!sp_dso_is_one_of_several(p, dso))
        return (struct sp_str){"", 0};
    struct sp_str id = sp_pstr(p, p->dsos.v[dso].build_id), prefix = id;
    if (!id.n)
        return (struct sp_str){"replaced", 8};
    prefix.n = id.n < SHORT ? id.n : SHORT;
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str other = sp_pstr(p, p->dsos.v[i].build_id);
        if (is_other(p, dso, i) && other.n >= prefix.n && memcmp(other.p, prefix.p, prefix.n) == 0)
            return id;
    }
    return prefix;
}
