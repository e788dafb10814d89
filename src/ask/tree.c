/* tree: the call tree, heaviest first. */
#include "ask/common.h"

#include "analysis/own_fold.h"
#include "analysis/top.h"
#include "analysis/tree.h"
#include "model/functions.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- columns ---- */

enum {
    TOTAL_PERCENT,
    SELF_PERCENT,
    TOTAL,
    SELF,
    NAME,
    MARKS,
    DSO,
    FUNCTION,
    OWN,
    KIND,
    TAGS,
    SAMPLES,
    INFERRED,
    IN_PART,
    ID,
    PARENT,
    DEPTH,
    ELIDED,
    ELIDED_CHILDREN,
};
static const struct sp_answer_column tree_columns[] = {
    [TOTAL_PERCENT] = {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "its share of the whole"},
    [SELF_PERCENT] = {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "its share of the whole"},
    [TOTAL] = {"total", SP_COL_WEIGHT, "total", .flags = SP_COL_OMITTED,
               .doc = "weight of stacks that pass here"},
    [SELF] = {"self", SP_COL_WEIGHT, .doc = "weight of stacks that end here"},
    [NAME] = {"name", SP_COL_NAME, "function", .flags = SP_COL_FLEXIBLE | SP_COL_ALIKE,
              .doc = "the function; of the root: all"},
    [MARKS] = {"marks", SP_COL_TEXT, "marks", .flags = SP_COL_NO_JSON | SP_COL_SUFFIX | SP_COL_CSV,
               .doc = "what else is known of it, and the children that are not shown"},
    [DSO] = {"dso", SP_COL_DSO, .flags = SP_COL_ALIKE, .doc = "the binary it is in"},
    [FUNCTION] = {"function", SP_COL_HANDLE, .flags = SP_COL_ALIKE, .doc = "its handle"},
    [OWN] = {"own", SP_COL_BOOL, .flags = SP_COL_ALIKE, .doc = "it is the program's own"},
    [KIND] = {"kind", SP_COL_TEXT, .flags = SP_COL_ALIKE, .doc = "user, kernel or unknown"},
    [TAGS] = {"tags", SP_COL_TEXTS, .flags = SP_COL_OPTIONAL | SP_COL_ALIKE,
              .doc = "irq-enable: it only lets interrupts in again, its self weight is that of its callers"},
    [SAMPLES] = {"samples", SP_COL_COUNT, .doc = "samples of the total"},
    [INFERRED] = {"inferred", SP_COL_BOOL, .flags = SP_COL_OPTIONAL, .doc = "no stack recorded it here"},
    [IN_PART] = {"inferred_in_part", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                 .doc = "some stacks did not record it here"},
    [ID] = {"id", SP_COL_COUNT, .doc = "number in this answer; 0: the root"},
    [PARENT] = {"parent", SP_COL_COUNT, .doc = "id of the caller's node; null of the root"},
    [DEPTH] = {"depth", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "0: the root"},
    [ELIDED] = {"elided", SP_COL_WEIGHT, .flags = SP_COL_OPTIONAL | SP_COL_CSV,
                .doc = "weight of its children that are not shown, with all below them"},
    [ELIDED_CHILDREN] = {"elided_children", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                         .doc = "how many these are"},
};
static const struct sp_table_decl tree_nodes = {
    "nodes",
    tree_columns,
    sizeof tree_columns / sizeof *tree_columns,
    .noun = "subtrees",
    .more = "marked (+children: weight); --min-percent 0 -n 0 shows all, --root-at FUNCTION one of them",
    .doc = "depth first, the heaviest child first; what is left out is told where it is missing"};

static const struct sp_answer_column tree_facts[] = {
    {"omitted.subtrees", SP_COL_COUNT, .doc = "subtrees that are not shown"},
    {0},
};
static const struct sp_table_decl *const tree_tables[] = {&tree_nodes, NULL};

/* ---- what is shown ---- */

struct tree {
    struct sp_asked asked;
    struct sp_tree t;
    struct sp_tree_opts how;
    struct sp_row_maker maker;
    uint32_t first;          /* row of the first node of t: 0, but of a part of a tree that is walked */
    uint32_t *rows;          /* per row: its node; NULL: nodes are rows */
    int64_t *elided;         /* per node: weight of the children not shown; NULL: as the node says */
    uint32_t *missing;       /* per node: how many these are; likewise */
    uint32_t *number;        /* per node: its row; likewise */
    unsigned char *passing;  /* per node: tree_find_passing; NULL: all are shown */
    size_t most;             /* so many rows are shown of the nodes at most; 0: any */
    SP_VEC(unsigned) indent; /* by depth: of the last node there */
    char handle[32];
    struct sp_buf marks;
};

static void tree_free(void *p)
{
    struct tree *x = p;
    sp_tree_free(&x->t);
    free(x->rows);
    free(x->elided);
    free(x->missing);
    free(x->number);
    free(x->passing);
    sp_vec_free(&x->indent);
    sp_buf_free(&x->marks);
    sp_asked_free(&x->asked);
    free(x);
}

/*
 * One child goes on in its parent's column, so that straight chains do not run off the screen. Of nodes in
 * depth-first order: the last one of the depth above is the parent.
 */
static unsigned tree_indent(struct tree *x, const struct sp_tree_node *n)
{
    unsigned indent = n->depth < 2 ? 0 : x->indent.v[n->depth - 1] + !n->alone;
    x->indent.v[n->depth] = indent;
    return indent;
}

/* Room for what cut() finds. */
static bool tree_room(struct tree *x, struct sp_answer_table *t)
{
    size_t n = x->t.nodes.n;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < n; i++)
        deepest = x->t.nodes.v[i].depth > deepest ? x->t.nodes.v[i].depth : deepest;
    x->rows = malloc((n + 1) * sizeof *x->rows);
    x->elided = malloc((n + 1) * sizeof *x->elided);
    x->missing = malloc((n + 1) * sizeof *x->missing);
    x->number = malloc((n + 1) * sizeof *x->number);
    return x->rows && x->elided && x->missing && x->number && t && sp_vec_reserve(&t->depth, n) &&
           sp_vec_reserve(&x->indent, deepest + 1);
}

/*
 * Nodes that only hand on what they got, of no function of the program's own, three or more in a row: the
 * start of a runtime takes the screen, and says nothing. The first of a row stays.
 */
static spaa_status tree_find_passing(struct tree *x)
{
    enum { FEW = 3 };
    const struct sp_tree_node *v = x->t.nodes.v;
    size_t n = x->t.nodes.n, run = 0;
    spaa_status st = sp_asked_own(&x->asked);
    if (st)
        return st;
    x->passing = calloc(n + 1, 1);
    if (!x->passing)
        return sp_nomem(x->asked.q->diags);
    for (size_t i = 0; i + 1 < n; i++) {
        bool lone = v[i].depth > 1 && v[i].alone && v[i].function != SP_NONE && !v[i].inferred;
        bool hands_on = !v[i].self && v[i + 1].parent == i && v[i + 1].alone && v[i + 1].total == v[i].total;
        run = lone && hands_on && !sp_is_own(&x->asked.own, v[i].function) ? run + 1 : 0;
        if (run >= FEW)
            memset(x->passing + i + 1 - run, 1, run);
    }
    return SPAA_OK;
}

/* How many passing nodes follow a node. */
static unsigned tree_passing_behind(const struct tree *x, size_t i)
{
    unsigned n = 0;
    while (x->passing && i + 1 + n < x->t.nodes.n && x->passing[i + 1 + n])
        n++;
    return n;
}

/* The order up to which nodes are shown, so that `most` are that do not only pass. */
static size_t tree_shown(const struct tree *x, size_t most)
{
    size_t n = x->t.nodes.n, passing = 0;
    if (!x->passing || most >= n)
        return most;
    /* Each that is taken in may be one that passes, too. */
    for (size_t shown = most, before = SIZE_MAX; shown < n && shown != before; shown = most + passing) {
        before = shown;
        passing = 0;
        for (size_t i = 0; i < n; i++)
            passing += x->passing[i] && x->t.nodes.v[i].order < shown;
        if (most + passing == shown)
            return shown;
    }
    return most + passing;
}

/* The heaviest nodes, and what they leave out. */
static void tree_cut(void *arg, struct sp_answer_table *t, size_t most)
{
    struct tree *x = arg;
    const struct sp_tree_node *v = x->t.nodes.v;
    most = x->most && most > x->most ? x->most : most;
    size_t shown = tree_shown(x, most ? most : 1); /* the root is always there */
    uint32_t rows = 0;
    *t->made = 0;
    t->left_out = shown < x->t.nodes.n ? 0 : x->t.pruned;
    t->left_out_sum = shown < x->t.nodes.n ? 0 : x->t.pruned_total;
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        bool all = shown >= x->t.nodes.n, here = all || v[i].order < shown;
        x->elided[i] = v[i].elided;
        x->missing[i] = v[i].elided_children;
        if (here && x->passing && x->passing[i] && (all || v[i + 1].order < shown)) {
            tree_indent(x, &v[i]); /* of those below */
        } else if (here) {
            x->rows[rows] = i;
            t->depth.v[rows] = tree_indent(x, &v[i]);
            x->number[i] = rows++;
        } else if (v[v[i].parent].order < shown) {
            x->elided[v[i].parent] += v[i].total;
            x->missing[v[i].parent]++;
        }
    }
    t->rows = t->depth.n = rows;
    for (uint32_t r = 0; r < rows && shown < x->t.nodes.n; r++) {
        t->left_out += x->missing[x->rows[r]];
        t->left_out_sum += x->elided[x->rows[r]];
    }
}

/* ---- a tree that is shown while it is made ---- */

struct tree_walk {
    struct tree *x;
    void (*take)(void *to, size_t row);
    void *to;
};

static void tree_take_part(void *arg, const struct sp_tree *part, uint32_t first)
{
    const struct tree_walk *w = arg;
    w->x->t = *part; /* lent */
    w->x->first = first;
    for (uint32_t i = 0; i < part->nodes.n; i++)
        w->take(w->to, (size_t)first + i);
}

/* Millions of nodes: a part of them at a time. */
static spaa_status tree_walk(void *arg, struct sp_answer_table *t, void (*take)(void *to, size_t row),
                             void *to)
{
    struct tree *x = arg;
    struct tree_walk w = {x, take, to};
    struct sp_tree_opts how = x->how;
    struct sp_tree whole = {0};
    how.take = tree_take_part;
    how.arg = &w;
    *t->made = 0;
    spaa_status st = sp_tree_build(&x->asked.s, &how, x->asked.q->diags, &whole);
    t->rows = x->first + x->t.nodes.n;
    t->left_out = whole.pruned;
    t->left_out_sum = whole.pruned_total;
    sp_tree_free(&whole);
    x->t = (struct sp_tree){0};
    return st;
}

/* ---- rows ---- */

static struct sp_cell int_cell(int64_t v)
{
    return v == SP_ABSENT ? (struct sp_cell){0} : (struct sp_cell){.kind = SP_VALUE_INT, .i = v};
}

static struct sp_cell text_cell(const char *p, size_t n)
{
    return (struct sp_cell){.kind = SP_VALUE_TEXT, .n = (uint32_t)n, .text = p};
}

/* Children that are not shown. */
static uint32_t tree_missing(const struct tree *x, uint32_t i)
{
    return x->missing ? x->missing[i] : x->t.nodes.v[i].elided_children;
}

static int64_t tree_elided(const struct tree *x, uint32_t i)
{
    return x->elided ? x->elided[i] : x->t.nodes.v[i].elided;
}

static uint32_t tree_node_of(const struct tree *x, size_t row)
{
    return x->rows ? x->rows[row] : (uint32_t)(row - x->first);
}

/* What people see behind a node's name. */
static void make_marks(struct tree *x, uint32_t i, bool irq, struct sp_cell *cells)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    struct sp_buf *b = &x->marks;
    sp_buf_clear(b);
    if (n->function != SP_NONE && x->asked.names.shared[n->function]) {
        struct sp_str file = sp_function_file(x->t.profile, n->function);
        if (file.n)
            sp_buf_printf(b, " (%.*s)", (int)file.n, file.p);
    }
    sp_buf_puts(b, n->kind == SP_KERNEL ? " [k]" : "");
    sp_buf_puts(b, n->inlined ? " [inlined]" : "");
    sp_buf_puts(b, irq ? " [irq-enable]" : "");
    sp_buf_puts(b, sp_inferred_mark(x->t.profile, n->function, n->inferred));
    if (tree_passing_behind(x, i) && !(x->passing[i]))
        sp_buf_printf(b, " [then %u that only pass it on]", tree_passing_behind(x, i));
    if (tree_missing(x, i) && x->asked.q->brief) {
        sp_buf_printf(b, " (+%u: ", tree_missing(x, i));
        sp_text_share_of(b, &x->asked.s, tree_elided(x, i));
        sp_buf_puts(b, "%)");
    }
    if (b->len && !b->failed)
        cells[MARKS] = text_cell(b->data, b->len);
}

static bool enables_irqs(const struct tree *x, uint32_t function)
{
    const struct sp_profile *p = x->asked.s.profile;
    return function != SP_NONE && p->dsos.v[p->functions.v[function].dso].is_kernel &&
           sp_function_tags(&x->asked.s, function) & SP_TAG_IRQ;
}

/* A function has nodes of several kinds: the kernel's code is called from the program's. */
enum { KINDS = 4 };
static size_t tree_key(void *arg, size_t row)
{
    const struct tree *x = arg;
    const struct sp_tree_node *n = &x->t.nodes.v[tree_node_of(x, row)];
    size_t functions = x->asked.s.profile->functions.n; /* its number is the root's */
    return (n->function == SP_NONE ? functions : n->function) * KINDS + n->kind % KINDS;
}

static void tree_alike(void *arg, size_t key, struct sp_cell *cells)
{
    static const struct sp_value_text irq_enable = {"irq-enable", 10};
    struct tree *x = arg;
    const struct sp_profile *p = x->asked.s.profile;
    uint32_t function = (uint32_t)(key / KINDS);
    if (function == p->functions.n) {
        cells[NAME] = text_cell("all", 3);
        return;
    }
    const char *kind = sp_frame_kind_names[key % KINDS];
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    struct sp_str dso = sp_dso_name(p, p->functions.v[function].dso);
    cells[NAME] = text_cell(name.p, name.n);
    cells[DSO] = text_cell(dso.p, dso.n);
    cells[FUNCTION] = text_cell(x->handle, sp_handle_text(&x->asked.handles, function, x->handle));
    cells[KIND] = text_cell(kind, strlen(kind));
    if (x->asked.has_own)
        cells[OWN] = int_cell(sp_is_own(&x->asked.own, function));
    if (enables_irqs(x, function))
        cells[TAGS] = (struct sp_cell){.kind = SP_VALUE_TEXTS, .n = 1, .texts = &irq_enable};
}

static void tree_make(void *arg, size_t row, struct sp_cell *cells)
{
    struct tree *x = arg;
    uint32_t i = tree_node_of(x, row);
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    cells[TOTAL] = int_cell(n->total);
    cells[SELF] = int_cell(n->self);
    cells[SAMPLES] = int_cell(n->samples);
    if (n->inferred)
        cells[n->inferred == SP_INFERRED ? INFERRED : IN_PART] = int_cell(1);
    cells[ID] = int_cell((int64_t)row);
    if (n->parent != SP_NONE)
        cells[PARENT] = int_cell(x->number ? x->number[n->parent] : n->parent);
    cells[DEPTH] = int_cell(n->depth);
    make_marks(x, i, n->self && enables_irqs(x, n->function), cells);
    if (tree_missing(x, i)) {
        cells[ELIDED] = int_cell(tree_elided(x, i));
        cells[ELIDED_CHILDREN] = int_cell(tree_missing(x, i));
    }
}

/* ---- the question ---- */

/* Where the heaviest path of the program's own functions ends. */
static spaa_status put_next(struct tree *x)
{
    struct sp_asked *asked = &x->asked;
    struct sp_own_fold f;
    char handle[32];
    if (!asked->has_own)
        return SPAA_OK;
    spaa_status st = sp_own_fold(&asked->s, &asked->own, asked->q->diags, &f);
    if (st)
        return st;
    sp_answer_next(asked->out, "flamegraph", NULL, NULL);
    sp_answer_next(asked->out, "top", NULL, "--sort total");
    if (f.nsteps && sp_handle_text(&asked->handles, f.steps[f.nsteps - 1].function, handle))
        sp_answer_next(asked->out, "function", handle, NULL);
    sp_own_fold_free(&f);
    return SPAA_OK;
}

static bool tree_options(const struct sp_options *o, struct sp_diags *d, struct sp_tree_opts *how,
                         double *percent)
{
    long depth;
    char *end = NULL;
    *percent = o->min_percent ? strtod(o->min_percent, &end) : 0.5;
    if (o->min_percent && (!*o->min_percent || *end || !(*percent >= 0 && *percent <= 100))) {
        sp_usage(d, NULL, "--min-percent needs a number from 0 to 100, not \"%s\"", o->min_percent);
        return false;
    }
    if (!sp_option_number(d, "depth", o->depth, 1, 1000000, 0, &depth))
        return false;
    *how = (struct sp_tree_opts){
        .inverted = o->inverted != NULL, .sort = SP_TREE_BY_WEIGHT, .max_depth = (uint32_t)depth};
    return true;
}

/* Nodes beyond the limit are never built: the root is one more. */
static bool tree_limit(const struct sp_ask *q, size_t *most)
{
    long budget;
    size_t limit;
    if (!sp_option_number(q->diags, "budget", q->options->budget, 1, LONG_MAX / 4, 0, &budget) ||
        !sp_ask_limit(q, budget ? SIZE_MAX : 22, &limit))
        return false;
    size_t fit = budget ? (size_t)budget / 2 + 2 : SIZE_MAX; /* a row takes more than 6 characters */
    *most = limit < fit ? limit + 1 : fit == SIZE_MAX ? 0 : fit;
    return true;
}

/* People who ask for no number of rows and no whole names are spared nodes that only pass weight on. */
static bool tree_spares(const struct sp_ask *q)
{
    return q->brief && !q->options->limit && !sp_options_full_names(q->options);
}

/* All nodes, of which the answer may leave out some again. */
static spaa_status tree_keep(struct tree *x, struct sp_answer_table *t)
{
    enum { PASSING = 100 }; /* as many at most stand in the way of the rows that are shown */
    const struct sp_ask *q = x->asked.q;
    size_t most = x->how.max_nodes;
    x->how.max_nodes += tree_spares(q) && most ? PASSING : 0;
    spaa_status st = sp_tree_build(&x->asked.s, &x->how, x->asked.q->diags, &x->t);
    if (!st && tree_spares(q))
        st = tree_find_passing(x);
    if (st)
        return st;
    x->most = tree_spares(q) ? most : 0;
    if (!tree_room(x, t))
        return sp_nomem(x->asked.q->diags);
    x->maker.cut = tree_cut;
    sp_table_made(x->asked.out, t, &x->maker, x->t.nodes.n);
    if (t->made)
        tree_cut(x, t, SIZE_MAX);
    return SPAA_OK;
}

/* Of the nodes that are shown some only pass weight on, and are not. */
static bool tree_spared(const struct tree *x)
{
    size_t shown = x->passing ? tree_shown(x, x->most ? x->most : SIZE_MAX) : 0;
    for (size_t i = 0; x->passing && i < x->t.nodes.n; i++)
        if (x->passing[i] && x->t.nodes.v[i].order < shown)
            return true;
    return false;
}

/* For people, where a row stands in its parent's column. */
static void tree_say_chains(const struct tree *x)
{
    bool any = false;
    for (uint32_t i = 0; x->asked.q->brief && i < x->t.nodes.n && !any; i++)
        any = x->t.nodes.v[i].depth > 1 && x->t.nodes.v[i].alone;
    if (any)
        sp_answer_line(x->asked.out, "a lone %s stands below its %s, not indented%s",
                       x->how.inverted ? "caller" : "callee", x->how.inverted ? "callee" : "caller",
                       tree_spared(x) ? "; --names full shows those that only pass weight on" : "");
}

static spaa_status tree_answer(struct tree *x)
{
    struct sp_asked *asked = &x->asked;
    const struct sp_ask *q = asked->q;
    double percent;
    if (!tree_options(q->options, q->diags, &x->how, &percent) || !tree_limit(q, &x->how.max_nodes))
        return SPAA_ERR_USAGE;
    x->how.min_total = (int64_t)fmin(fabs((double)asked->s.whole) * percent / 100, 9e18);
    struct sp_answer_table *t = sp_answer_table(asked->out, &tree_nodes);
    if (!t)
        return sp_nomem(q->diags);
    x->maker = (struct sp_row_maker){.arg = x,
                                     .make = tree_make,
                                     .alike = tree_alike,
                                     .key = tree_key,
                                     .keys = (asked->s.profile->functions.n + 1) * KINDS};
    t->json_rows = 1; /* the root */
    spaa_status st = SPAA_OK;
    if (q->once && !x->how.max_nodes) {
        x->maker.walk = tree_walk;
        sp_table_made(asked->out, t, &x->maker, 0);
    } else {
        st = tree_keep(x, t);
        if (!st)
            tree_say_chains(x);
    }
    if (!st)
        st = put_next(x);
    return st ? st : sp_asked_end(asked);
}

static spaa_status tree_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct tree *x = calloc(1, sizeof *x);
    if (!x || !sp_answer_keep(out, x, tree_free))
        return sp_nomem(q->diags);
    sp_buf_init(&x->marks, 0);
    spaa_status st = sp_asked_begin(q, out, &x->asked);
    return st ? st : tree_answer(x);
}

static spaa_status tree_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    struct sp_tree_opts how;
    double percent;
    out->no_ids = true;
    return tree_options(o, d, &how, &percent) ? SPAA_OK : SPAA_ERR_USAGE;
}

const struct sp_question sp_question_tree = {
    .name = "tree",
    .args = "FILE…",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_TREE | G_ROWS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "the call tree, heaviest first",
    .examples = "spaa tree perf.data\n"
                "spaa tree perf.data --inverted --depth 4 # who calls the hot leaves\n"
                "spaa tree perf.data --min-percent 0 --json",
    .schema = "spaa.tree/3",
    .facts = tree_facts,
    .tables = tree_tables,
    .needs = tree_needs,
    .ask = tree_ask,
};
