#include "analysis/name_order.h"

#include "model/functions.h"

#include <stdlib.h>

int sp_function_name_cmp(const struct sp_profile *p, uint32_t na, uint32_t nb)
{
    const struct sp_function *a = &p->functions.v[na], *b = &p->functions.v[nb];
    const struct sp_dso *da = &p->dsos.v[a->dso], *db = &p->dsos.v[b->dso];
    int c = sp_str_cmp(sp_pstr(p, a->name), sp_pstr(p, b->name));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, da->name), sp_pstr(p, db->name));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, da->build_id), sp_pstr(p, db->build_id));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, a->tells), sp_pstr(p, b->tells));
    if (!c)
        c = sp_func_info_cmp(p, a->info, b->info);
    return c ? c : (na > nb) - (na < nb);
}

static int cmp_function_name(const void *va, const void *vb, void *arg)
{
    return sp_function_name_cmp(arg, *(const uint32_t *)va, *(const uint32_t *)vb);
}

static int name_order_cmp_string(const void *va, const void *vb, void *arg)
{
    const struct sp_strtab *strs = arg;
    return sp_str_cmp(sp_str_at(strs, *(const uint32_t *)va), sp_str_at(strs, *(const uint32_t *)vb));
}

static uint32_t *rank_by(size_t n, const uint32_t *items, size_t table,
                         int (*cmp)(const void *, const void *, void *), const void *arg)
{
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint32_t *rank = calloc(table + 1, sizeof *rank);
    if (order && rank) {
        for (size_t i = 0; i < n; i++)
            order[i] = items ? items[i] : (uint32_t)i;
        qsort_r(order, n, sizeof *order, cmp, (void *)(uintptr_t)arg);
        for (size_t i = 0; i < n; i++)
            rank[order[i]] = (uint32_t)i;
    } else {
        free(rank);
        rank = NULL;
    }
    free(order);
    return rank;
}

uint32_t *sp_function_ranks(const struct sp_profile *p)
{
    return rank_by(p->functions.n, NULL, p->functions.n, cmp_function_name, p);
}

uint32_t *sp_string_ranks(const struct sp_strtab *strs, const uint32_t *items, size_t n)
{
    return rank_by(n, items, strs->strs.n, name_order_cmp_string, strs);
}
