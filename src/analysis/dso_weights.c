#include "analysis/dso_weights.h"

#include <stdlib.h>

static int cmp(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_dso_weight *a = va, *b = vb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    int c = sp_str_cmp(sp_pstr(p, p->dsos.v[a->dso].name), sp_pstr(p, p->dsos.v[b->dso].name));
    return c ? c : (a->dso > b->dso) - (a->dso < b->dso);
}

bool sp_dso_weights_of(const struct sp_profile *p, const int64_t *weights, struct sp_dso_weights *out)
{
    struct sp_dso_weights x = {0};
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        if (weights[i] && !sp_vec_push(&x.list, ((struct sp_dso_weight){i, weights[i]}))) {
            sp_dso_weights_free(&x);
            return false;
        }
    }
    if (x.list.n)
        qsort_r(x.list.v, x.list.n, sizeof *x.list.v, cmp, (void *)(uintptr_t)p);
    *out = x;
    return true;
}

void sp_dso_weights_free(struct sp_dso_weights *x)
{
    sp_vec_free(&x->list);
}
