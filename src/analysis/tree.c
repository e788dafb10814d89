/*
 * Builds the call tree from the root down. A node is a run of paths that begin alike; one pass over the run
 * sums its children, keyed by the rank of the next function's name, and a second one moves the paths of the
 * children that are kept together, each child's in their old order. What is pruned is never looked into.
 * Where nothing is, paths that begin alike are joined ahead (tree_paths.h): a run then holds the beginnings
 * that its paths share, and what is below one takes its place where it ends.
 *
 * Nodes that wait to be opened are a stack, which gives depth-first order at once; when only the heaviest
 * so many are wanted they are a heap by weight, and the order is made at the end.
 */
#include "analysis/tree.h"

#include "analysis/name_order.h"
#include "analysis/tree_paths.h"
#include "base/watch.h"

#include <stdlib.h>
#include <string.h>

#define INLINED   0x80000000u /* flags in builder.keys */
#define INFERRED  0x40000000u
#define KEY       0x3fffffffu
#define KEYS_MAX  KEY
#define NO_SLOT   UINT32_MAX
#define ENDS_HERE (UINT32_MAX - 1)

/* The flags that all frames of a node have, and those that some have. */
struct marks {
    uint32_t all, some;
};

/* A child while its parent is open. */
struct slot {
    uint32_t key, frame, comm, paths;
    uint32_t row; /* the first one that goes through it: its frame is the child's */
    int64_t total, samples;
    size_t at; /* where its paths go */
    struct marks marks;
};

/* A node that waits to be opened, with its run of builder.run. */
struct waiting {
    int64_t total, samples;
    size_t lo, hi;
    uint32_t parent, depth, frame, comm;
    uint32_t sibling; /* position among its siblings */
    uint32_t number;  /* of waiting nodes: ties of the heap */
    struct marks marks;
    bool alone;
    bool fetched; /* its paths and their frames are in the cache */
};

struct builder {
    struct sp_selection *s;
    const struct sp_tree_opts *opts;
    const struct sp_profile *p;
    struct sp_tree t;
    uint32_t *keys;     /* frame -> key of its function, INLINED, INFERRED */
    uint32_t *comm_key; /* string -> key; by_comm only */
    size_t nkeys;
    uint32_t *function_of_key; /* nothing at the keys of comms */
    unsigned char *kinds; /* per frame; frames themselves take too much memory to be asked for each node */
    struct sp_tree_paths paths;
    uint32_t *run, *moved;  /* paths in the order of the nodes; scratch for moving them */
    uint32_t *slot_of_path; /* of the run */
    uint32_t *slot_of_key;  /* NO_SLOT between nodes */
    SP_VEC(struct slot) slots;
    SP_VEC(uint32_t) kept; /* slots, sorted */
    SP_VEC(struct waiting) waiting;
    SP_VEC(uint32_t) sibling; /* per node; max_nodes only */
    SP_VEC(uint32_t) above;   /* the last node, and those above it; not with max_nodes */
    uint32_t numbered;
    uint32_t given; /* nodes that were given away, before the first one in t */
};

/* ---- keys: ranks of names ---- */

/* Comms come before functions. */
static bool tree_make_keys(struct builder *b)
{
    const struct sp_profile *p = b->p;
    SP_VEC(uint32_t) comms = {0};
    bool ok = true;
    for (size_t i = 0; ok && b->opts->by_comm && i < p->contexts.n; i++)
        ok = sp_vec_push(&comms, b->s->pools.comm[i]);
    if (ok && b->opts->by_comm)
        b->comm_key = sp_string_ranks(&b->s->pools.names, comms.v, comms.n);
    ok = ok && (b->comm_key || !b->opts->by_comm);
    b->nkeys = comms.n + p->functions.n;
    sp_vec_free(&comms);
    uint32_t *rank = ok ? sp_function_ranks(p) : NULL;
    b->keys = malloc((p->frames.n + 1) * sizeof *b->keys);
    b->slot_of_key = malloc((b->nkeys + 1) * sizeof *b->slot_of_key);
    b->function_of_key = calloc(b->nkeys + 1, sizeof *b->function_of_key);
    b->kinds = malloc(p->frames.n + 1);
    ok = rank && b->keys && b->slot_of_key && b->function_of_key && b->kinds && b->nkeys < KEYS_MAX;
    for (size_t i = 0; ok && i < p->functions.n; i++)
        b->function_of_key[b->nkeys - p->functions.n + rank[i]] = (uint32_t)i;
    for (size_t i = 0; ok && i < p->frames.n; i++)
        b->kinds[i] = p->frames.v[i].kind;
    for (size_t i = 0; ok && i < p->frames.n; i++)
        b->keys[i] = ((uint32_t)(b->nkeys - p->functions.n) + rank[p->frames.v[i].function]) |
                     (p->frames.v[i].flags & SP_FRAME_INLINED ? INLINED : 0) |
                     (p->frames.v[i].flags & SP_FRAME_INFERRED ? INFERRED : 0);
    if (ok)
        memset(b->slot_of_key, 0xff, (b->nkeys + 1) * sizeof *b->slot_of_key);
    free(rank);
    return ok;
}

/* ---- paths ---- */

static bool make_paths(struct builder *b)
{
    const struct sp_tree_opts *o = b->opts;
    /* Where most of the tree is left out, so is most of what would be joined. */
    bool join = !o->max_nodes && !o->max_depth && !o->min_total && !o->by_comm;
    if (!sp_tree_paths_make(b->s, o, join, &b->paths))
        return false;
    size_t n = b->paths.v.n + 1;
    b->run = malloc(n * sizeof *b->run);
    b->moved = malloc(n * sizeof *b->moved);
    b->slot_of_path = malloc(n * sizeof *b->slot_of_path);
    if (!b->run || !b->moved || !b->slot_of_path)
        return false;
    for (uint32_t i = 0; i < b->paths.begin; i++)
        b->run[i] = join ? b->paths.list[i] : i;
    return true;
}

static inline const struct sp_tree_path *tree_path(const struct builder *b, size_t i)
{
    return &b->paths.v.v[b->run[i]];
}

/* The frame of a path's step, SP_NONE for its comm; ENDS_HERE when it has no such step. */
static inline uint32_t tree_step(const struct builder *b, const struct sp_tree_path *x, uint32_t depth)
{
    if (x->comm && depth-- == 0)
        return SP_NONE;
    if (depth >= x->n)
        return ENDS_HERE;
    return x->frames[b->opts->inverted ? depth : x->n - 1 - depth];
}

/* The frames of a run's paths lie anywhere in memory, but are known ahead. */
static inline void tree_fetch_ahead(const struct builder *b, const struct waiting *w, size_t i)
{
    enum { AHEAD = 16 };
    if (i + AHEAD >= w->hi)
        return;
    if (i + 2 * AHEAD < w->hi)
        __builtin_prefetch(tree_path(b, i + 2 * AHEAD));
    const struct sp_tree_path *x = tree_path(b, i + AHEAD);
    if (w->depth < x->n)
        __builtin_prefetch(x->frames + (b->opts->inverted ? w->depth : x->n - 1 - w->depth));
}

/* Once for a run that the caches hold: all that is left of its paths. */
static void fetch_run(const struct builder *b, struct waiting *w)
{
    enum { PATHS = 256, LINE = 64 / sizeof(uint32_t), LINES = 8 };
    if (w->fetched || w->hi - w->lo > PATHS)
        return;
    w->fetched = true;
    for (size_t i = w->lo; i < w->hi; i++) {
        const struct sp_tree_path *x = tree_path(b, i);
        uint32_t left = w->depth < x->n ? x->n - w->depth : 0;
        const uint32_t *from = x->frames + (b->opts->inverted ? x->n - left : 0);
        for (uint32_t k = 0; k < left && k < LINES * LINE; k += LINE)
            __builtin_prefetch(from + k);
    }
}

static bool is_kept(const struct builder *b, int64_t total, uint32_t depth)
{
    int64_t magnitude = total < 0 && !b->opts->positive ? -total : total;
    return (!b->opts->max_depth || depth <= b->opts->max_depth) && magnitude >= b->opts->min_total;
}

static uint32_t nodes_made(const struct builder *b)
{
    return b->given + (uint32_t)b->t.nodes.n;
}

static struct sp_tree_node *node_at(const struct builder *b, uint32_t number)
{
    return &b->t.nodes.v[number - b->given];
}

static void tree_leave_out(struct builder *b, uint32_t parent, int64_t total)
{
    node_at(b, parent)->elided += total;
    node_at(b, parent)->elided_children++;
    b->t.pruned++;
    b->t.pruned_total += total;
}

/* In depth-first order, the next node ends the subtrees of those before it that are not above it. */
static bool begin_node(struct builder *b, uint32_t depth)
{
    while (b->above.n > depth)
        b->t.nodes.v[b->above.v[--b->above.n]].end = (uint32_t)b->t.nodes.n;
    return sp_vec_push(&b->above, (uint32_t)b->t.nodes.n);
}

static bool tree_add_node(struct builder *b, const struct waiting *w)
{
    bool framed = w->frame != SP_NONE;
    struct sp_tree_node node = {.parent = w->parent,
                                .function = framed ? b->function_of_key[b->keys[w->frame] & KEY] : SP_NONE,
                                .frame = w->frame,
                                .depth = w->depth,
                                .inlined = w->marks.all & INLINED,
                                .inferred = w->marks.all & INFERRED    ? SP_INFERRED
                                            : w->marks.some & INFERRED ? SP_INFERRED_IN_PART
                                                                       : SP_RECORDED,
                                .alone = w->alone,
                                .kind = framed ? b->kinds[w->frame] : SP_UNKNOWN,
                                .total = w->total,
                                .samples = w->samples,
                                .order = nodes_made(b)};
    return nodes_made(b) < SP_NONE && !sp_leaving(b->p->diags, nodes_made(b)) &&
           (b->opts->max_nodes || b->opts->take || begin_node(b, w->depth)) &&
           sp_vec_push(&b->t.nodes, node) && (!b->opts->by_comm || sp_vec_push(&b->t.comms, w->comm)) &&
           (!b->opts->max_nodes || sp_vec_push(&b->sibling, w->sibling));
}

/* ---- waiting nodes ---- */

static bool heavier(const struct waiting *a, const struct waiting *b)
{
    int64_t x = a->total < 0 ? -a->total : a->total, y = b->total < 0 ? -b->total : b->total;
    return x != y ? x > y : a->number < b->number;
}

static bool tree_put(struct builder *b, struct waiting w)
{
    w.number = b->numbered++;
    if (!sp_vec_push(&b->waiting, w))
        return false;
    struct waiting *v = b->waiting.v;
    for (size_t i = b->waiting.n - 1; b->opts->max_nodes && i && heavier(&v[i], &v[(i - 1) / 2]);
         i = (i - 1) / 2) {
        struct waiting t = v[i];
        v[i] = v[(i - 1) / 2];
        v[(i - 1) / 2] = t;
    }
    return true;
}

static struct waiting tree_take(struct builder *b)
{
    struct waiting *v = b->waiting.v, first = v[0];
    size_t n = --b->waiting.n;
    if (!b->opts->max_nodes)
        return v[n];
    v[0] = v[n];
    for (size_t i = 0;;) {
        size_t best = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2; k++)
            if (k < n && heavier(&v[k], &v[best]))
                best = k;
        if (best == i)
            return first;
        struct waiting t = v[i];
        v[i] = v[best];
        v[best] = t;
        i = best;
    }
}

/* ---- opening a node ---- */

static inline void add_marks(struct marks *m, uint32_t key)
{
    m->all &= key;
    m->some |= key & ~KEY;
}

static uint32_t slot_for(struct builder *b, const struct sp_tree_path *x, uint32_t frame)
{
    uint32_t key = frame == SP_NONE ? b->comm_key[x->comm] : b->keys[frame] & KEY;
    uint32_t slot = b->slot_of_key[key];
    if (slot != NO_SLOT)
        return slot;
    struct slot fresh = {.key = key,
                         .frame = frame,
                         .comm = frame == SP_NONE ? x->comm : 0,
                         .row = x->row,
                         .samples = SP_ABSENT,
                         .marks.all = frame != SP_NONE ? ~KEY : 0};
    slot = (uint32_t)b->slots.n;
    if (!sp_vec_push(&b->slots, fresh))
        return NO_SLOT;
    b->slot_of_key[key] = slot;
    return slot;
}

/* Sums the children of a node; what ends in it is its self weight. */
static bool sum_children(struct builder *b, const struct waiting *w, uint32_t node)
{
    int64_t self = 0;
    b->slots.n = 0;
    for (size_t i = w->lo; i < w->hi; i++) {
        const struct sp_tree_path *x = tree_path(b, i);
        tree_fetch_ahead(b, w, i);
        uint32_t frame = tree_step(b, x, w->depth);
        if (frame == ENDS_HERE) {
            self += x->weight;
            b->slot_of_path[i] = NO_SLOT;
            continue;
        }
        uint32_t n = slot_for(b, x, frame);
        if (n == NO_SLOT)
            return false;
        struct slot *slot = &b->slots.v[n];
        slot->total += x->weight;
        sp_tree_add_samples(&slot->samples, x->samples);
        slot->paths++;
        if (x->row < slot->row) {
            slot->row = x->row;
            slot->frame = frame;
        }
        if (frame != SP_NONE)
            add_marks(&slot->marks, b->keys[frame]);
        b->slot_of_path[i] = n;
    }
    for (size_t i = 0; i < b->slots.n; i++)
        b->slot_of_key[b->slots.v[i].key] = NO_SLOT;
    node_at(b, node)->self = self;
    return true;
}

static int cmp_slot(const void *va, const void *vb, void *arg)
{
    const struct builder *b = arg;
    const struct slot *x = &b->slots.v[*(const uint32_t *)va], *y = &b->slots.v[*(const uint32_t *)vb];
    if (b->opts->sort == SP_TREE_BY_WEIGHT && x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Most nodes have few children. */
static void sort_kept(struct builder *b)
{
    enum { FEW = 12 };
    uint32_t *v = b->kept.v;
    if (b->kept.n > FEW) {
        qsort_r(v, b->kept.n, sizeof *v, cmp_slot, b);
        return;
    }
    for (size_t i = 1; i < b->kept.n; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k && cmp_slot(&x, &v[k - 1], b) < 0; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/*
 * Moves the paths of the kept children together, the first child's last: it is opened first, and then nothing
 * stands after its run, which may grow.
 */
static void move_paths(struct builder *b, const struct waiting *w)
{
    size_t at = w->lo;
    for (size_t i = 0; i < b->slots.n; i++)
        b->slots.v[i].at = SIZE_MAX;
    for (size_t i = b->kept.n; i-- > 0;) {
        struct slot *slot = &b->slots.v[b->kept.v[i]];
        slot->at = at;
        at += slot->paths;
    }
    if (b->kept.n == 1 && at == w->hi) /* all of them go on in one child */
        return;
    for (size_t i = w->lo; i < w->hi; i++) {
        struct slot *slot = b->slot_of_path[i] == NO_SLOT ? NULL : &b->slots.v[b->slot_of_path[i]];
        if (slot && slot->at != SIZE_MAX)
            b->moved[slot->at++] = b->run[i];
    }
    memcpy(b->run + w->lo, b->moved + w->lo, (at - w->lo) * sizeof *b->run);
}

static bool open_node(struct builder *b, const struct waiting *w, uint32_t node)
{
    if (!sum_children(b, w, node))
        return false;
    b->kept.n = 0;
    for (uint32_t i = 0; i < b->slots.n; i++) {
        if (!is_kept(b, b->slots.v[i].total, w->depth + 1))
            tree_leave_out(b, node, b->slots.v[i].total);
        else if (!sp_vec_push(&b->kept, i))
            return false;
    }
    if (!b->kept.n)
        return true;
    sort_kept(b);
    move_paths(b, w);
    size_t lo = w->lo;
    for (size_t i = b->kept.n; i-- > 0;) {
        const struct slot *x = &b->slots.v[b->kept.v[i]];
        struct waiting child = {.total = x->total,
                                .samples = x->samples,
                                .lo = lo,
                                .hi = lo + x->paths,
                                .parent = node,
                                .depth = w->depth + 1,
                                .frame = x->frame,
                                .comm = x->comm,
                                .sibling = (uint32_t)i,
                                .marks = x->marks,
                                .alone = b->slots.n == 1,
                                .fetched = w->fetched};
        lo += x->paths;
        if (!tree_put(b, child))
            return false;
    }
    return true;
}

/*
 * What is below the beginnings that end at this node takes their place: nothing stands after the run, as
 * nodes are opened in depth-first order.
 */
static void unfold(struct builder *b, struct waiting *w)
{
    size_t at = w->lo, ends = 0;
    for (size_t i = w->lo; i < w->hi; i++) {
        const struct sp_tree_path *x = tree_path(b, i);
        if (x->below && x->n == w->depth)
            b->moved[ends++] = b->run[i];
        else
            b->run[at++] = b->run[i];
    }
    for (size_t i = 0; i < ends; i++) {
        const struct sp_tree_path *x = &b->paths.v.v[b->moved[i]];
        memcpy(b->run + at, b->paths.list + x->first, x->below * sizeof *b->run);
        for (uint32_t k = 0; k < x->below; k++)
            __builtin_prefetch(tree_path(b, at + k));
        at += x->below;
    }
    w->hi = at;
    w->fetched = w->fetched && !ends;
}

/* A single path is a chain, as far as it goes: *w and *node become its last node. False: out of memory. */
static bool open_chain(struct builder *b, struct waiting *w, uint32_t *node, bool *done)
{
    const struct sp_tree_path *x = tree_path(b, w->lo);
    w->total = x->weight;
    w->samples = x->samples > SP_DECIMAL ? x->samples : SP_ABSENT;
    w->alone = true;
    for (uint32_t frame; (frame = tree_step(b, x, w->depth)) != ENDS_HERE;) {
        if (!is_kept(b, x->weight, w->depth + 1)) {
            tree_leave_out(b, *node, x->weight);
            *done = true;
            return true;
        }
        w->parent = *node;
        w->depth++;
        w->frame = frame;
        w->comm = frame == SP_NONE ? x->comm : 0;
        w->marks.all = w->marks.some = frame != SP_NONE ? b->keys[frame] & ~KEY : 0;
        *node = nodes_made(b);
        if (!tree_add_node(b, w))
            return false;
    }
    *done = !x->below;
    if (*done)
        node_at(b, *node)->self = x->weight;
    return true;
}

/* Do all paths of a run go on alike? *frame: of the first row. */
static bool goes_on_alike(const struct builder *b, const struct waiting *w, uint32_t *frame,
                          struct marks *marks)
{
    const struct sp_tree_path *x = tree_path(b, w->lo);
    uint32_t f = tree_step(b, x, w->depth), row = x->row;
    if (f == ENDS_HERE || f == SP_NONE)
        return false;
    uint32_t key = b->keys[f] & KEY;
    struct marks found = {~KEY, 0};
    add_marks(&found, b->keys[f]);
    for (size_t i = w->lo + 1; i < w->hi; i++) {
        tree_fetch_ahead(b, w, i);
        x = tree_path(b, i);
        uint32_t other = tree_step(b, x, w->depth);
        if (other == ENDS_HERE || other == SP_NONE || (b->keys[other] & KEY) != key)
            return false;
        add_marks(&found, b->keys[other]);
        f = x->row < row ? other : f;
        row = x->row < row ? x->row : row;
    }
    *frame = f;
    *marks = found;
    return true;
}

/* What several paths share below a node needs no sums: its weight is the node's. False: out of memory. */
static bool open_shared(struct builder *b, struct waiting *w, uint32_t *node, bool *done)
{
    if (!is_kept(b, w->total, w->depth + 1)) {
        tree_leave_out(b, *node, w->total);
        *done = true;
        return true;
    }
    w->parent = *node;
    w->depth++;
    w->comm = 0;
    w->alone = true;
    *node = nodes_made(b);
    return tree_add_node(b, w);
}

/* Opens the node added last, and those below it that are the only one there. False: out of memory. */
static bool open_down(struct builder *b, struct waiting *w)
{
    uint32_t node = nodes_made(b) - 1;
    bool done = false, ok = true;
    while (ok && !done) {
        if (b->paths.list && w->depth % SP_TREE_PIECE == 0)
            unfold(b, w);
        fetch_run(b, w);
        if (w->hi - w->lo == 1)
            ok = open_chain(b, w, &node, &done);
        else if (w->hi > w->lo && goes_on_alike(b, w, &w->frame, &w->marks))
            ok = open_shared(b, w, &node, &done);
        else
            return open_node(b, w, node);
    }
    return ok;
}

/* Between two nodes: all that were made are open. */
static void give(struct builder *b)
{
    b->opts->take(b->opts->arg, &b->t, b->given);
    b->given += (uint32_t)b->t.nodes.n;
    b->t.nodes.n = b->t.comms.n = 0;
}

static bool tree_grow(struct builder *b)
{
    enum { PART = 256 };
    struct waiting root = {
        .samples = b->s->samples, .hi = b->paths.begin, .parent = SP_NONE, .frame = SP_NONE, .total = 0};
    for (size_t i = 0; i < b->s->rows.n; i++)
        root.total += b->s->rows.v[i].weight;
    bool ok = tree_put(b, root);
    while (ok && b->waiting.n && (!b->opts->max_nodes || b->t.nodes.n < b->opts->max_nodes)) {
        struct waiting w = tree_take(b);
        uint32_t node = nodes_made(b);
        if (b->opts->take && b->t.nodes.n >= PART)
            give(b);
        ok = tree_add_node(b, &w) && (b->opts->max_nodes ? open_node(b, &w, node) : open_down(b, &w));
    }
    for (size_t i = 0; ok && i < b->waiting.n; i++)
        tree_leave_out(b, b->waiting.v[i].parent, b->waiting.v[i].total);
    if (ok && b->opts->take)
        give(b);
    return ok;
}

/* ---- nodes that were taken heaviest first ---- */

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

static void tree_find_ends(struct sp_tree *t)
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

/*
 * Nodes in the order they were taken, parents before children, become depth-first order, with their ends;
 * sibling: per node, its place among those of its parent. False: out of memory, and nothing was done.
 */
static bool tree_put_in_order(struct sp_tree *t, const uint32_t *sibling)
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
    tree_find_ends(t);
    return true;
}

spaa_status sp_tree_build(struct sp_selection *s, const struct sp_tree_opts *opts, struct sp_diags *d,
                          struct sp_tree *out)
{
    struct builder b = {.s = s,
                        .opts = opts,
                        .p = s->profile,
                        .t = {.profile = s->profile, .comm_names = &s->pools.names, .pools = &s->pools}};
    bool ok = tree_make_keys(&b) && make_paths(&b) && tree_grow(&b);
    if (ok && opts->max_nodes)
        ok = tree_put_in_order(&b.t, b.sibling.v);
    while (ok && b.above.n)
        b.t.nodes.v[b.above.v[--b.above.n]].end = (uint32_t)b.t.nodes.n;
    free(b.keys);
    free(b.comm_key);
    free(b.run);
    free(b.moved);
    free(b.slot_of_path);
    free(b.slot_of_key);
    free(b.function_of_key);
    free(b.kinds);
    sp_tree_paths_free(&b.paths);
    sp_vec_free(&b.slots);
    sp_vec_free(&b.kept);
    sp_vec_free(&b.waiting);
    sp_vec_free(&b.sibling);
    sp_vec_free(&b.above);
    if (!ok) {
        sp_tree_free(&b.t);
        return sp_nomem(d);
    }
    *out = b.t;
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
    return node < t->comms.n && t->comms.v[node] ? sp_str_at(t->comm_names, t->comms.v[node])
                                                 : (struct sp_str){"all", 3};
}

struct sp_str sp_tree_comm_key(const struct sp_tree *t, uint32_t node)
{
    uint32_t comm = node < t->comms.n ? t->comms.v[node] : SP_STR_NONE;
    for (size_t i = 0; comm && t->pools && i < t->pools->comms.n; i++)
        if (t->pools->comms.v[i].name == comm)
            return sp_str_at(&t->pools->names, t->pools->comms.v[i].pattern);
    return sp_tree_name(t, node);
}
