/*
 * A node of the result stands for nodes of the two trees, several of one where names became equal. Their
 * children are gathered, sorted by normalised name, and each run of equal names is the next node.
 */
#include "analysis/difftree.h"

#include "analysis/binaries.h"
#include "analysis/normalise.h"
#include "analysis/signature.h"

#include <math.h>

struct source {
    uint32_t key; /* normalised name, number in strs */
    uint32_t node;
    uint8_t side;
};

struct work {
    size_t first, n; /* slice of sources */
    uint32_t parent;
};

struct joiner {
    const struct sp_tree *trees[SP_SIDES];
    uint32_t
        *dsos[SP_SIDES]; /* per DSO of a side's profile: normalised name, of the new side where renamed */
    uint32_t *keys[SP_SIDES];      /* per function of a side's profile */
    uint32_t *functions[SP_SIDES]; /* its number in out.profile */
    struct sp_strtab strs;
    SP_VEC(struct source) sources;
    SP_VEC(struct work) work;
    struct sp_diff_tree out;
    int64_t multiply, divide; /* base weights to the scale of the new ones */
    bool too_many;            /* binaries, to pair them */
};

static uint32_t difftree_key_of(struct joiner *j, struct sp_buf *text, char kind, struct sp_str name,
                                struct sp_str dso)
{
    sp_buf_clear(text);
    sp_buf_ch(text, kind); /* threads first, as in a tree */
    sp_buf_add(text, name.p, name.n);
    sp_buf_ch(text, '\0');
    sp_buf_add(text, dso.p, dso.n);
    return text->failed ? SP_STR_FAIL : sp_intern(&j->strs, text->data, text->len);
}

/* ---- renamed binaries ---- */

static uint32_t normal(struct joiner *j, struct sp_buf *text, struct sp_str name,
                       void (*how)(struct sp_buf *, struct sp_str))
{
    sp_buf_clear(text);
    how(text, name);
    return text->failed ? SP_STR_FAIL : sp_intern(&j->strs, text->data ? text->data : "", text->len);
}

static void bare_function(struct sp_buf *out, struct sp_str name)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_normal_function(&b, name);
    sp_name_form(out, (struct sp_str){b.data ? b.data : "", (uint32_t)b.len}, SP_NAME_BARE);
    out->failed = out->failed || b.failed;
    sp_buf_free(&b);
}

/* The functions of a side that have weight; dsos: the normalised name of each DSO. */
static bool difftree_find_uses(struct joiner *j, unsigned side, struct sp_buf *text,
                               struct sp_binary_use *uses, size_t *n)
{
    const struct sp_tree *t = j->trees[side];
    const struct sp_profile *p = t->profile;
    double *self = calloc(p->functions.n + 1, sizeof *self);
    unsigned char *met = calloc(p->functions.n + 1, 1);
    bool ok = self && met;
    for (size_t i = 0; ok && i < t->nodes.n; i++)
        if (t->nodes.v[i].function != SP_NONE) {
            self[t->nodes.v[i].function] += (double)t->nodes.v[i].self;
            met[t->nodes.v[i].function] = 1;
        }
    for (size_t i = 0; ok && i < p->functions.n; i++) {
        const struct sp_function *f = &p->functions.v[i];
        if (!met[i])
            continue;
        uses[*n] = (struct sp_binary_use){j->dsos[side][f->dso],
                                          normal(j, text, sp_pstr(p, f->name), bare_function), side, self[i]};
        ok = uses[(*n)++].function != SP_STR_FAIL;
    }
    free(self);
    free(met);
    return ok;
}

/* The DSOs of both sides by normalised names; those of the base that were renamed have the new one. */
static bool name_dsos(struct joiner *j, struct sp_buf *text)
{
    const struct sp_profile *base = j->trees[SP_BASE]->profile, *fresh = j->trees[SP_NEW]->profile;
    struct sp_binary_use *uses = calloc(base->functions.n + fresh->functions.n + 1, sizeof *uses);
    struct sp_binary_pairs pairs = {0};
    size_t n = 0;
    bool ok = uses != NULL;
    for (unsigned side = 0; ok && side < SP_SIDES; side++) {
        const struct sp_profile *p = j->trees[side]->profile;
        j->dsos[side] = calloc(p->dsos.n + 1, sizeof **j->dsos);
        ok = j->dsos[side] != NULL;
        for (size_t i = 0; ok && i < p->dsos.n; i++) {
            j->dsos[side][i] = normal(j, text, sp_pstr(p, p->dsos.v[i].name), sp_normal_dso);
            ok = j->dsos[side][i] != SP_STR_FAIL;
        }
        ok = ok && difftree_find_uses(j, side, text, uses, &n);
    }
    n = ok ? sp_binary_uses_join(uses, n) : 0;
    ok = ok && sp_binaries_pair(&j->strs, uses, n, &pairs);
    uint32_t *now = calloc(j->strs.strs.n + 1, sizeof *now); /* per name: what it is called now, or 0 */
    ok = ok && now;
    for (size_t k = 0; ok && k < pairs.v.n; k++)
        if (pairs.v.v[k].how == SP_BINARY_BY_FUNCTIONS)
            now[pairs.v.v[k].dso[SP_BASE]] = pairs.v.v[k].dso[SP_NEW];
    for (size_t i = 0; ok && i < base->dsos.n; i++)
        j->dsos[SP_BASE][i] = now[j->dsos[SP_BASE][i]] ? now[j->dsos[SP_BASE][i]] : j->dsos[SP_BASE][i];
    j->too_many = pairs.too_many;
    sp_vec_free(&pairs.v);
    free(now);
    free(uses);
    return ok;
}

static bool has_comm(const struct sp_tree *t, struct sp_str comm)
{
    for (uint32_t i = 1; i < t->nodes.n; i++)
        if (t->nodes.v[i].parent == 0 && t->nodes.v[i].function == SP_NONE &&
            sp_str_cmp(sp_tree_comm_key(t, i), comm) == 0)
            return true;
    return false;
}

/* A thread that is called as its binary is (the kernel keeps 15 bytes of that) is called as what that is
 * compared by. */
static struct sp_str difftree_thread_name(const struct joiner *j, unsigned side, struct sp_str comm)
{
    const struct sp_profile *p = j->trees[side]->profile;
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str file = sp_last_part(sp_pstr(p, p->dsos.v[i].name));
        file.n = file.n > 15 ? 15 : file.n;
        if (file.n && sp_str_cmp(file, comm) == 0 && !has_comm(j->trees[!side], comm))
            return sp_str_at(&j->strs, j->dsos[side][i]);
    }
    return comm;
}

static bool name_functions(struct joiner *j)
{
    struct sp_buf text;
    sp_buf_init(&text, 0);
    bool ok = name_dsos(j, &text);
    for (unsigned side = 0; ok && side < SP_SIDES; side++) {
        const struct sp_profile *p = j->trees[side]->profile;
        j->keys[side] = calloc(p->functions.n + 1, sizeof **j->keys);
        j->functions[side] = calloc(p->functions.n + 1, sizeof **j->functions);
        ok = j->keys[side] && j->functions[side];
        for (size_t i = 0; ok && i < p->functions.n; i++) {
            const struct sp_function *f = &p->functions.v[i];
            const struct sp_dso *o = &p->dsos.v[f->dso];
            struct sp_str name = sp_pstr(p, f->name), file = sp_pstr(p, o->name);
            struct sp_dso dso = {.name = sp_profile_str(j->out.profile, file.p, file.n),
                                 .is_kernel = o->is_kernel};
            uint32_t number = dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(j->out.profile, &dso);
            uint32_t fresh = sp_profile_str(j->out.profile, name.p, name.n);
            uint32_t plain = normal(j, &text, name, sp_normal_function);
            ok = number != SP_NONE && fresh != SP_STR_FAIL && plain != SP_STR_FAIL;
            if (!ok)
                break;
            j->functions[side][i] = sp_function_intern(j->out.profile, fresh, number);
            j->keys[side][i] = difftree_key_of(j, &text, 'f', sp_str_at(&j->strs, plain),
                                               sp_str_at(&j->strs, j->dsos[side][f->dso]));
            ok = j->functions[side][i] != SP_NONE && j->keys[side][i] != SP_STR_FAIL;
        }
    }
    sp_buf_free(&text);
    return ok;
}

static bool add_source(struct joiner *j, unsigned side, uint32_t node)
{
    const struct sp_tree *t = j->trees[side];
    uint32_t function = t->nodes.v[node].function;
    struct source s = {.node = node, .side = (uint8_t)side};
    if (function != SP_NONE) {
        s.key = j->keys[side][function];
    } else {
        struct sp_buf text;
        sp_buf_init(&text, 0);
        s.key = difftree_key_of(j, &text, 'c', difftree_thread_name(j, side, sp_tree_comm_key(t, node)),
                                (struct sp_str){"", 0});
        sp_buf_free(&text);
    }
    return s.key != SP_STR_FAIL && sp_vec_push(&j->sources, s);
}

static int cmp_source(const void *va, const void *vb, void *arg)
{
    const struct joiner *j = arg;
    const struct source *a = va, *b = vb;
    int c = a->key == b->key ? 0 : sp_str_cmp(sp_str_at(&j->strs, a->key), sp_str_at(&j->strs, b->key));
    c = c ? c : b->side - a->side; /* the new side names the node */
    return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int64_t difftree_scaled(const struct joiner *j, unsigned side, int64_t v)
{
    if (side == SP_NEW)
        return v;
    __int128 x = (__int128)v * j->multiply / j->divide;
    return x > INT64_MAX ? INT64_MAX : x < -INT64_MAX ? -INT64_MAX : (int64_t)x;
}

/* The node for a slice of sources; SP_NONE: out of memory. */
static uint32_t difftree_add_node(struct joiner *j, const struct source *s, size_t n, uint32_t parent)
{
    struct sp_profile *p = j->out.profile;
    const struct sp_tree *t = j->trees[s->side];
    const struct sp_tree_node *from = &t->nodes.v[s->node];
    struct sp_tree_node node = *from;
    struct sp_diff_node sides = {0};
    uint32_t comm = 0;
    bool in[SP_SIDES] = {false, false};
    node.parent = parent;
    node.samples = SP_ABSENT;
    if (from->function != SP_NONE) {
        struct sp_frame frame = {.function = j->functions[s->side][from->function], .kind = from->kind};
        if (from->frame != SP_NONE)
            frame.flags = t->profile->frames.v[from->frame].flags & (SP_FRAME_UNRESOLVED | SP_FRAME_INLINED);
        node.function = frame.function;
        node.frame = sp_frame_intern(p, &frame);
        if (node.frame == SP_NONE)
            return SP_NONE;
    } else if (parent != SP_NONE) {
        struct sp_str name = sp_tree_name(t, s->node);
        comm = sp_profile_str(p, name.p, name.n);
        if (comm == SP_STR_FAIL)
            return SP_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        const struct sp_tree_node *x = &j->trees[s[i].side]->nodes.v[s[i].node];
        in[s[i].side] = true;
        sides.total[s[i].side] += difftree_scaled(j, s[i].side, x->total);
        sides.self[s[i].side] += difftree_scaled(j, s[i].side, x->self);
    }
    sides.change = in[SP_BASE] && in[SP_NEW] ? SP_CHANGE_SAME
                   : in[SP_NEW]              ? SP_CHANGE_NEW
                                             : SP_CHANGE_VANISHED;
    uint32_t number = (uint32_t)j->out.tree.nodes.n;
    return sp_vec_push(&j->out.tree.nodes, node) && sp_vec_push(&j->out.tree.comms, comm) &&
                   sp_vec_push(&j->out.sides, sides)
               ? number
               : SP_NONE;
}

/* Makes the node of a piece of work and puts its children to work, last first. */
static bool difftree_step(struct joiner *j)
{
    struct work w = j->work.v[--j->work.n];
    uint32_t number = difftree_add_node(j, &j->sources.v[w.first], w.n, w.parent);
    if (number == SP_NONE)
        return false;
    size_t first = j->sources.n;
    for (size_t i = w.first; i < w.first + w.n; i++) {
        struct source s = j->sources.v[i];
        const struct sp_tree *t = j->trees[s.side];
        for (uint32_t c = s.node + 1; c < t->nodes.v[s.node].end; c = t->nodes.v[c].end)
            if (!add_source(j, s.side, c))
                return false;
    }
    size_t end = j->sources.n;
    if (end > first)
        qsort_r(j->sources.v + first, end - first, sizeof *j->sources.v, cmp_source, j);
    while (end > first) {
        size_t at = end - 1;
        while (at > first && j->sources.v[at - 1].key == j->sources.v[at].key)
            at--;
        if (!sp_vec_push(&j->work, ((struct work){at, end - at, number})))
            return false;
        end = at;
    }
    return true;
}

static void difftree_find_ends(struct sp_tree *t)
{
    for (size_t i = 0; i < t->nodes.n; i++)
        t->nodes.v[i].end = (uint32_t)i + 1;
    for (size_t i = t->nodes.n; i-- > 1;)
        if (t->nodes.v[t->nodes.v[i].parent].end < t->nodes.v[i].end)
            t->nodes.v[t->nodes.v[i].parent].end = t->nodes.v[i].end;
}

static void difftree_judge(struct sp_diff_node *n, double base, double fresh)
{
    static const double steps[] = {0.02, 0.1, 0.25, 0.5, 0.75};
    if (n->change != SP_CHANGE_SAME || !(base > 0) || !(fresh > 0))
        return;
    double b = (double)n->total[SP_BASE] / base, f = (double)n->total[SP_NEW] / fresh;
    double r = fabs(f - b) / (f > b ? f : b);
    while (n->level < 5 && r >= steps[n->level])
        n->level++;
    if (n->level)
        n->change = f > b ? SP_CHANGE_GREW : SP_CHANGE_SHRANK;
}

/* Widths, from the leaves down: the new weight and what vanished, as wide as its share was. */
static bool widths(struct joiner *j)
{
    struct sp_tree *t = &j->out.tree;
    const struct sp_diff_node *root = &j->out.sides.v[0];
    double base = (double)root->total[SP_BASE], fresh = (double)root->total[SP_NEW];
    int64_t *more = calloc(t->nodes.n + 1, sizeof *more);
    if (!more)
        return false;
    for (size_t i = t->nodes.n; i-- > 0;) {
        struct sp_diff_node *n = &j->out.sides.v[i];
        bool vanished = n->change == SP_CHANGE_VANISHED;
        double share = base > 0 ? (double)n->total[SP_BASE] / base : 0;
        int64_t was = llround(share * (fresh > 0 ? fresh : base));
        t->nodes.v[i].total = vanished ? was : n->total[SP_NEW] + more[i];
        t->nodes.v[i].self = n->self[vanished ? SP_BASE : SP_NEW];
        if (i)
            more[t->nodes.v[i].parent] += vanished ? was : more[i];
        if (i)
            difftree_judge(n, base, fresh);
    }
    free(more);
    return true;
}

spaa_status sp_diff_tree_build(const struct sp_tree *base, unsigned base_scale, const struct sp_tree *fresh,
                               unsigned scale, struct sp_diags *d, struct sp_diff_tree *out)
{
    struct joiner j = {.trees = {base, fresh}, .multiply = 1, .divide = 1};
    for (unsigned i = base_scale; i < scale; i++)
        j.multiply *= 10;
    for (unsigned i = scale; i < base_scale; i++)
        j.divide *= 10;
    spaa_status st = sp_profile_new(d, &j.out.profile);
    bool ok = !st && sp_strtab_init(&j.strs) && name_functions(&j);
    if (ok && j.too_many)
        sp_emit(d, SP_W644, SP_AT_NOTHING, "those of one side alone are compared with none of the other");
    for (unsigned side = SP_SIDES; ok && side-- > 0;)
        ok = sp_vec_push(&j.sources, ((struct source){0, 0, (uint8_t)side}));
    ok = ok && sp_vec_push(&j.work, ((struct work){0, SP_SIDES, SP_NONE}));
    while (ok && j.work.n)
        ok = difftree_step(&j);
    if (ok) {
        j.out.tree.profile = j.out.profile;
        j.out.tree.comm_names = &j.out.profile->strs;
        j.out.tree.pruned = base->pruned + fresh->pruned;
        difftree_find_ends(&j.out.tree);
        ok = widths(&j);
    }
    for (unsigned side = 0; side < SP_SIDES; side++) {
        free(j.dsos[side]);
        free(j.keys[side]);
        free(j.functions[side]);
    }
    sp_vec_free(&j.sources);
    sp_vec_free(&j.work);
    sp_strtab_free(&j.strs);
    if (!ok) {
        sp_diff_tree_free(&j.out);
        return st ? st : sp_nomem(d);
    }
    *out = j.out;
    return SPAA_OK;
}

void sp_diff_tree_free(struct sp_diff_tree *t)
{
    sp_tree_free(&t->tree);
    sp_vec_free(&t->sides);
    sp_profile_free(t->profile);
    *t = (struct sp_diff_tree){0};
}
