/*
 * Builds the call tree by sorting the paths, not by hashing prefixes: a path is the row of its
 * functions' ranks from the root; equal prefixes then stand together and one pass makes the nodes in
 * depth-first order, children by name. The order by weight is made from that by a second pass.
 */
#include "analysis/tree.h"

#include <stdlib.h>
#include <string.h>

struct path {
    uint64_t first; /* slice of builder.steps */
    uint32_t n, row;
};

struct builder {
    struct sp_selection *s;
    const struct sp_tree_opts *opts;
    uint32_t *rank;          /* function -> position by name */
    uint32_t *comm_rank;     /* string -> position among comms + 1; by_comm only */
    SP_VEC(uint32_t) steps;  /* ranks; with by_comm the first is the comm's */
    SP_VEC(uint32_t) frames; /* the frame of each step; SP_NONE for a comm */
    SP_VEC(struct path) paths;
};

static int cmp_function_name(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_function *a = &p->functions.v[*(const uint32_t *)va],
                             *b = &p->functions.v[*(const uint32_t *)vb];
    int c = sp_str_cmp(sp_pstr(p, a->name), sp_pstr(p, b->name));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[a->dso].name), sp_pstr(p, p->dsos.v[b->dso].name));
    return c ? c : (a->dso > b->dso) - (a->dso < b->dso);
}

static int cmp_comm(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_str_cmp(sp_pstr(p, *(const uint32_t *)va), sp_pstr(p, *(const uint32_t *)vb));
}

static uint32_t *rank_by(size_t n, const uint32_t *items, size_t table,
                         int (*cmp)(const void *, const void *, void *), const struct sp_profile *p)
{
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint32_t *rank = calloc(table + 1, sizeof *rank);
    if (order && rank) {
        for (size_t i = 0; i < n; i++)
            order[i] = items ? items[i] : (uint32_t)i;
        qsort_r(order, n, sizeof *order, cmp, (void *)(uintptr_t)p);
        for (size_t i = 0; i < n; i++)
            rank[order[i]] = (uint32_t)i;
    } else {
        free(rank);
        rank = NULL;
    }
    free(order);
    return rank;
}

static bool ranks(struct builder *b)
{
    const struct sp_profile *p = b->s->profile;
    b->rank = rank_by(p->functions.n, NULL, p->functions.n, cmp_function_name, p);
    if (!b->rank || !b->opts->by_comm)
        return b->rank != NULL;
    SP_VEC(uint32_t) comms = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->contexts.n; i++)
        ok = sp_vec_push(&comms, p->contexts.v[i].comm);
    if (ok)
        b->comm_rank = rank_by(comms.n, comms.v, p->strs.strs.n, cmp_comm, p);

    sp_vec_free(&comms);
    return b->comm_rank != NULL;
}

static bool add_path(struct builder *b, uint32_t row)
{
    const struct sp_profile *p = b->s->profile;
    size_t n;
    const uint32_t *f = sp_selected_frames(b->s, row, &n);
    uint32_t comm = p->contexts.v[p->stacks.v[b->s->rows.v[row].stack].context].comm;
    bool lead = b->opts->by_comm && comm;
    if (!f || !sp_vec_reserve(&b->steps, b->steps.n + n + 1) ||
        !sp_vec_reserve(&b->frames, b->frames.n + n + 1))
        return false;
    struct path path = {b->steps.n, (uint32_t)n + lead, row};
    if (lead) {
        b->steps.v[b->steps.n++] = b->comm_rank[comm];
        b->frames.v[b->frames.n++] = SP_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t frame = f[b->opts->inverted ? i : n - 1 - i];
        b->steps.v[b->steps.n++] = b->rank[p->frames.v[frame].function];
        b->frames.v[b->frames.n++] = frame;
    }
    return sp_vec_push(&b->paths, path);
}

static int cmp_path(const void *va, const void *vb, void *arg)
{
    const struct builder *b = arg;
    const struct path *x = va, *y = vb;
    const uint32_t *a = b->steps.v + x->first, *c = b->steps.v + y->first;
    /* A comm and a function of one rank are told apart: those with a comm come first. */
    bool ca = x->n && b->frames.v[x->first] == SP_NONE, cb = y->n && b->frames.v[y->first] == SP_NONE;
    if (ca != cb)
        return ca ? -1 : 1;
    uint32_t n = x->n < y->n ? x->n : y->n;
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != c[i])
            return a[i] < c[i] ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool inlined(const struct sp_profile *p, uint32_t frame)
{
    return frame != SP_NONE && p->frames.v[frame].flags & SP_FRAME_INLINED;
}

static bool add_node(struct sp_tree *t, const struct sp_profile *p, uint32_t parent, uint32_t depth,
                     uint32_t frame, uint32_t comm)
{
    struct sp_tree_node node = {.parent = parent,
                                .function = frame == SP_NONE ? SP_NONE : p->frames.v[frame].function,
                                .frame = frame,
                                .depth = depth,
                                .inlined = inlined(p, frame),
                                .kind = frame == SP_NONE ? SP_UNKNOWN : p->frames.v[frame].kind,
                                .samples = SP_ABSENT};
    return sp_vec_push(&t->nodes, node) && sp_vec_push(&t->comms, comm);
}

static void add_samples(int64_t *to, int64_t v)
{
    if (v > SP_DECIMAL)
        *to = (*to == SP_ABSENT ? 0 : *to) + v;
}

/* One pass over the sorted paths; `open` is the chain of nodes of the path before. */
static bool make_nodes(struct builder *b, struct sp_tree *t)
{
    const struct sp_profile *p = b->s->profile;
    SP_VEC(uint32_t) open = {0};
    const struct path *before = NULL;
    bool ok = add_node(t, p, SP_NONE, 0, SP_NONE, 0) && sp_vec_push(&open, 0u);
    for (size_t i = 0; ok && i < b->paths.n; i++) {
        const struct path *x = &b->paths.v[i];
        uint32_t same = 0;
        while (before && same < x->n && same < before->n &&
               b->steps.v[x->first + same] == b->steps.v[before->first + same] &&
               (b->frames.v[x->first + same] == SP_NONE) == (b->frames.v[before->first + same] == SP_NONE))
            same++;
        open.n = same + 1;
        const struct sp_selected *row = &b->s->rows.v[x->row];
        for (uint32_t k = 0; k < same; k++)
            if (!inlined(p, b->frames.v[x->first + k]))
                t->nodes.v[open.v[k + 1]].inlined = false;
        for (uint32_t k = same; ok && k < x->n; k++) {
            uint32_t frame = b->frames.v[x->first + k];
            uint32_t comm = frame == SP_NONE ? p->contexts.v[p->stacks.v[row->stack].context].comm : 0;
            ok = sp_vec_push(&open, (uint32_t)t->nodes.n) && add_node(t, p, open.v[k], k + 1, frame, comm);
        }
        for (size_t k = 0; ok && k < open.n; k++) {
            t->nodes.v[open.v[k]].total += row->weight;
            add_samples(&t->nodes.v[open.v[k]].samples, row->samples);
        }
        if (ok)
            t->nodes.v[open.v[open.n - 1]].self += b->opts->inverted ? row->weight : row->own;
        before = x;
    }
    sp_vec_free(&open);
    for (size_t i = t->nodes.n; ok && i-- > 0;) {
        struct sp_tree_node *n = &t->nodes.v[i];
        if (n->end < i + 1)
            n->end = (uint32_t)i + 1;
        if (n->parent != SP_NONE && t->nodes.v[n->parent].end < n->end)
            t->nodes.v[n->parent].end = n->end;
    }
    return ok;
}

struct child {
    int64_t total;
    uint32_t node;
};

static int cmp_child(const void *va, const void *vb)
{
    const struct child *a = va, *b = vb;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Copies the nodes that are kept, children sorted as asked, with an explicit stack of work. */
static bool reorder(struct sp_tree *t, const struct sp_tree_opts *opts)
{
    struct sp_tree out = {.profile = t->profile};
    SP_VEC(struct child) children = {0};
    SP_VEC(struct child) work = {0}; /* node to copy; total: number of its new parent */
    bool ok = sp_vec_push(&work, ((struct child){-1, 0}));
    while (ok && work.n) {
        struct child w = work.v[--work.n];
        uint32_t old = w.node, fresh = (uint32_t)out.nodes.n;
        struct sp_tree_node node = t->nodes.v[old];
        node.parent = w.total < 0 ? SP_NONE : (uint32_t)w.total;
        ok = sp_vec_push(&out.nodes, node) && sp_vec_push(&out.comms, t->comms.v[old]);
        children.n = 0;
        for (uint32_t c = old + 1; ok && c < t->nodes.v[old].end; c = t->nodes.v[c].end) {
            const struct sp_tree_node *n = &t->nodes.v[c];
            int64_t magnitude = n->total < 0 && !opts->positive ? -n->total : n->total;
            if ((opts->max_depth && n->depth > opts->max_depth) || magnitude < opts->min_total) {
                out.pruned += n->end - c;
                out.pruned_total += n->total;
                continue;
            }
            ok = sp_vec_push(&children, ((struct child){n->total, c}));
        }
        if (children.n && opts->sort == SP_TREE_BY_WEIGHT)
            qsort(children.v, children.n, sizeof *children.v, cmp_child);
        for (size_t i = children.n; ok && i-- > 0;)
            ok = sp_vec_push(&work, ((struct child){fresh, children.v[i].node}));
    }
    sp_vec_free(&children);
    sp_vec_free(&work);
    for (size_t i = 0; ok && i < out.nodes.n; i++)
        out.nodes.v[i].end = (uint32_t)i + 1;
    for (size_t i = out.nodes.n; ok && i-- > 1;)
        if (out.nodes.v[out.nodes.v[i].parent].end < out.nodes.v[i].end)
            out.nodes.v[out.nodes.v[i].parent].end = out.nodes.v[i].end;
    struct sp_tree old = *t;
    *t = out;
    sp_tree_free(&old);
    return ok;
}

spaa_status sp_tree_build(struct sp_selection *s, const struct sp_tree_opts *opts, struct sp_diags *d,
                          struct sp_tree *out)
{
    struct builder b = {.s = s, .opts = opts};
    struct sp_tree t = {.profile = s->profile};
    bool ok = ranks(&b);
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = add_path(&b, (uint32_t)i);
    if (ok) {
        if (b.paths.n)
            qsort_r(b.paths.v, b.paths.n, sizeof *b.paths.v, cmp_path, &b);
        ok = make_nodes(&b, &t) && reorder(&t, opts);
    }
    free(b.rank);
    free(b.comm_rank);
    sp_vec_free(&b.steps);
    sp_vec_free(&b.frames);
    sp_vec_free(&b.paths);
    if (!ok) {
        sp_tree_free(&t);
        return sp_nomem(d);
    }
    *out = t;
    return SPAA_OK;
}

void sp_tree_free(struct sp_tree *t)
{
    sp_vec_free(&t->nodes);
    sp_vec_free(&t->comms);
}

struct sp_str sp_tree_name(const struct sp_tree *t, uint32_t node)
{
    const struct sp_tree_node *n = &t->nodes.v[node];
    if (n->function != SP_NONE)
        return sp_pstr(t->profile, t->profile->functions.v[n->function].name);
    return t->comms.v[node] ? sp_pstr(t->profile, t->comms.v[node]) : (struct sp_str){"all", 3};
}
