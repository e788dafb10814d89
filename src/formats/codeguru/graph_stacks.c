/* The tree of the call graph as stacks; what stands several times in it is one node. */
#include "formats/codeguru/graph.h"

#include "base/hash.h"
#include "base/map.h"
#include "formats/common/text/json_file.h"

#include <stdlib.h>

/* ---- nodes that stand several times ---- */

/* The first node with this path, of which `first` has the number for all nodes before. */
static bool codeguru_first_of(struct sp_cg_tree *x, struct sp_map *map, uint32_t *first, uint32_t n)
{
    const struct sp_cg_node *v = x->nodes.v;
    uint32_t parent = v[n].parent == SP_NONE ? SP_NONE : first[v[n].parent];
    uint64_t hash = sp_hash_mix((uint64_t)parent + 1, v[n].name);
    struct sp_probe at = sp_map_probe(map, hash);
    for (uint32_t i; (i = sp_map_next(map, &at)) != SP_MAP_NONE;) {
        uint32_t up = v[i].parent == SP_NONE ? SP_NONE : first[v[i].parent];
        if (up == parent && v[i].name == v[n].name) {
            first[n] = i;
            return true;
        }
    }
    first[n] = n;
    return sp_map_add_at(map, &at, n);
}

/* They are one node, with the file and lines of the first that has them. False: out of memory. */
static bool codeguru_share_places(struct sp_cg_tree *x)
{
    struct sp_cg_node *v = x->nodes.v;
    struct sp_map map = {0};
    uint32_t *first = calloc(x->nodes.n + 1, sizeof *first);
    bool ok = first && sp_map_grow(&map, x->nodes.n);
    for (uint32_t n = 0; ok && n < x->nodes.n; n++) {
        ok = codeguru_first_of(x, &map, first, n);
        uint32_t nowhere = x->of_name.v[v[n].name].frame, *frame = &v[first[n]].frame;
        if (ok && (*frame == SP_NONE || *frame == nowhere) && v[n].frame != SP_NONE)
            *frame = v[n].frame;
    }
    for (uint32_t n = 0; ok && n < x->nodes.n; n++)
        if (v[n].frame != SP_NONE)
            v[n].frame = v[first[n]].frame;
    sp_map_free(&map);
    free(first);
    return ok;
}

/* ---- stacks ---- */

static spaa_status codeguru_add_stack(struct sp_cg_tree *x, const struct sp_cg_cell *c)
{
    struct sp_profile *p = x->p;
    bool is_new;
    x->path.n = 0;
    for (uint32_t n = c->node; n != SP_NONE; n = x->nodes.v[n].parent)
        if (!sp_vec_push(&x->path, x->nodes.v[n].frame))
            return sp_nomem(x->d);
    if (p->stack_frames.n + x->path.n > x->frames_max)
        return sp_json_too_many_frames(x->d, SP_AT((uint64_t)(c->number.p - x->j->start)), x->frames_max,
                                       "a tree this deep with counts at every level is no profile");
    uint32_t s = sp_stack_intern(p, x->path.v, x->path.n, c->context, SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return sp_nomem(x->d);
    if (is_new)
        sp_stack_set_layout(p, s, x->g->layout);
    bool ok = c->v == SP_DECIMAL ? sp_weight_add_text(p, s, x->g->metric, c->number.p, c->number.n)
                                 : sp_weight_add(p, s, x->g->metric, c->v);
    return ok ? SPAA_OK : sp_nomem(x->d);
}

spaa_status sp_cg_tree_stacks(struct sp_cg_tree *x)
{
    spaa_status st = !x->twins || codeguru_share_places(x) ? SPAA_OK : sp_nomem(x->d);
    for (size_t i = 0; !st && i < x->cells.n; i++)
        st = codeguru_add_stack(x, &x->cells.v[i]);
    return st;
}
