#include "model/edges.h"

#include "base/hash.h"

#include <stdlib.h>

uint32_t sp_edges_intern(struct sp_profile *p, const struct sp_edge *edges, size_t n)
{
    if (!n)
        return 0;
    uint64_t hash = sp_hash_key(edges, n * sizeof *edges);
    struct sp_probe at = sp_map_probe(&p->edge_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->edge_map, &at)) != SP_MAP_NONE;)
        if (p->edge_lists.v[i].n == n &&
            memcmp(p->edges.v + p->edge_lists.v[i].first, edges, n * sizeof *edges) == 0)
            return i + 1;
    size_t first = p->edges.n;
    if (first + n >= SP_NONE || p->edge_lists.n >= SP_NONE - 2 || !sp_vec_reserve(&p->edges, first + n) ||
        !sp_vec_reserve(&p->edge_lists, p->edge_lists.n + 1) ||
        !sp_map_add(&p->edge_map, hash, (uint32_t)p->edge_lists.n))
        return SP_NONE;
    memcpy(p->edges.v + first, edges, n * sizeof *edges);
    p->edges.n += n;
    p->edge_lists.v[p->edge_lists.n++] = (struct sp_edge_list){(uint32_t)first, (uint32_t)n};
    return (uint32_t)p->edge_lists.n;
}

uint32_t sp_edge_broken_frame(struct sp_profile *p)
{
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    uint32_t name = sp_profile_cstr(p, SP_BROKEN_CHAIN);
    uint32_t number = dso.name == SP_STR_FAIL || name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &dso);
    struct sp_frame f = {.kind = SP_UNKNOWN, .flags = SP_FRAME_INFERRED};
    f.function = number == SP_NONE ? SP_NONE : sp_function_intern(p, name, number);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
}

bool sp_edges_broken(const struct sp_profile *p, uint32_t edges)
{
    size_t n;
    const struct sp_edge *e = sp_edges_of(p, edges, &n);
    for (size_t i = 0; i < n; i++)
        if (e[i].kind == SP_EDGE_BROKEN)
            return true;
    return false;
}

const char *sp_inferred_mark(const struct sp_profile *p, uint32_t function, enum sp_inferred inferred)
{
    if (inferred == SP_RECORDED || function == SP_NONE ||
        sp_str_is(sp_pstr(p, p->functions.v[function].name), SP_BROKEN_CHAIN))
        return "";
    return inferred == SP_INFERRED ? " [inferred]" : " [inferred in part]";
}
