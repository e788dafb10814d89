#include "analysis/tree_order.h"

#include <stdlib.h>

struct order {
    const struct sp_tree *t;
    const uint32_t *sibling;
};

static int cmp_family(const void *va, const void *vb, void *arg)
{
    const struct order *o = arg;
    uint32_t x = *(const uint32_t *)va, y = *(const uint32_t *)vb;
    uint32_t px = o->t->nodes.v[x].parent, py = o->t->nodes.v[y].parent;
    if (px != py)
        return px < py ? -1 : 1;
    return (o->sibling[x] > o->sibling[y]) - (o->sibling[x] < o->sibling[y]);
}

static void find_ends(struct sp_tree *t)
{
    for (size_t i = t->nodes.n; i-- > 0;) {
        struct sp_tree_node *n = &t->nodes.v[i];
        if (n->end < i + 1)
            n->end = (uint32_t)i + 1;
        if (n->parent != SP_NONE && t->nodes.v[n->parent].end < n->end)
            t->nodes.v[n->parent].end = n->end;
    }
}

struct moving {
    uint32_t node, parent; /* the old one; the new one of its parent */
};

bool sp_tree_put_in_order(struct sp_tree *t, const uint32_t *sibling)
{
    size_t n = t->nodes.n;
    struct order o = {t, sibling};
    struct sp_tree out = {.profile = t->profile,
                          .comm_names = t->comm_names,
                          .pools = t->pools,
                          .pruned = t->pruned,
                          .pruned_total = t->pruned_total};
    SP_VEC(struct moving) work = {0};
    uint32_t *family = malloc((n + 1) * sizeof *family), *first = calloc(n + 2, sizeof *first);
    bool ok = family && first && sp_vec_push(&work, ((struct moving){0, SP_NONE}));
    for (uint32_t i = 1; ok && i < n; i++) {
        family[i - 1] = i;
        first[t->nodes.v[i].parent + 1]++;
    }
    for (size_t i = 1; ok && i <= n; i++)
        first[i] += first[i - 1];
    if (ok && n > 2)
        qsort_r(family, n - 1, sizeof *family, cmp_family, &o);
    while (ok && work.n) {
        struct moving w = work.v[--work.n];
        struct sp_tree_node node = t->nodes.v[w.node];
        uint32_t fresh = (uint32_t)out.nodes.n;
        node.parent = w.parent;
        ok = sp_vec_push(&out.nodes, node) && (!t->comms.n || sp_vec_push(&out.comms, t->comms.v[w.node]));
        for (uint32_t i = first[w.node + 1]; ok && i-- > first[w.node];)
            ok = sp_vec_push(&work, ((struct moving){family[i], fresh}));
    }
    free(family);
    free(first);
    sp_vec_free(&work);
    if (!ok) {
        sp_tree_free(&out);
        return false;
    }
    sp_tree_free(t);
    *t = out;
    find_ends(t);
    return true;
}
