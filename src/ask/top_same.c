#include "ask/top_same.h"

#include "ask/common.h"
#include "model/builds.h"

bool sp_top_samples_tell(const struct sp_top *t, const struct sp_selection *s, size_t limit)
{
    for (size_t i = 0; i < t->rows.n && i < limit; i++)
        if (!sp_samples_follow(s, t->rows.v[i].self, t->rows.v[i].samples))
            return true;
    return !t->rows.n;
}

uint32_t sp_top_only_dso(const struct sp_top *t, size_t limit)
{
    const struct sp_profile *p = t->profile;
    uint32_t dso = SP_NONE;
    for (size_t i = 0; i < t->rows.n && i < limit; i++) {
        uint32_t function = t->rows.v[i].function;
        uint32_t of = function == SP_NONE ? SP_NONE : p->functions.v[function].dso;
        if (of == SP_NONE || (i && of != dso))
            return SP_NONE;
        dso = of;
    }
    bool one = t->rows.n > 2 && dso != SP_NONE && !sp_dso_is_one_of_several(p, dso);
    return one ? dso : SP_NONE;
}
