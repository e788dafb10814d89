/* spaa tree: the call tree, heaviest first. */
#include "tree_nodes.h"

#include "analysis/own_fold.h"
#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What the nodes that are shown leave out. */
static bool count_elided(struct tree *x)
{
    uint32_t id = 0;
    size_t n = x->t.nodes.n;
    if (shows_all(x))
        return true;
    x->elided = x->elided ? x->elided : malloc((n + 1) * sizeof *x->elided);
    x->missing = x->missing ? x->missing : malloc((n + 1) * sizeof *x->missing);
    x->number = x->number ? x->number : malloc((n + 1) * sizeof *x->number);
    if (!x->elided || !x->missing || !x->number)
        return false;
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        const struct sp_tree_node *node = &x->t.nodes.v[i];
        x->elided[i] = node->elided;
        x->missing[i] = node->elided_children;
        if (node->order < x->shown) {
            x->number[i] = id++;
        } else if (node->parent != SP_NONE && x->t.nodes.v[node->parent].order < x->shown) {
            x->elided[node->parent] += node->total;
            x->missing[node->parent]++;
        }
    }
    return true;
}

/* Subtrees and weight that are not shown. */
static size_t sum_elided(const struct tree *x, int64_t *weight)
{
    size_t n = 0;
    *weight = shows_all(x) ? x->t.pruned_total : 0;
    if (shows_all(x))
        return x->t.pruned;
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        if (x->t.nodes.v[i].order >= x->shown)
            continue;
        n += missing_of(x, i);
        *weight += elided_of(x, i);
    }
    return n;
}

/* Where the heaviest path of the program's own functions ends. */
static spaa_status find_path_end(struct tree *x)
{
    struct sp_own_fold f;
    if (x->has_path_end)
        return SPAA_OK;
    spaa_status st = sp_own_fold(x->a.s, &x->a.own, &x->a.c->diags, &f);
    if (st)
        return st;
    x->path_end = f.nsteps ? f.steps[f.nsteps - 1].function : SP_NONE;
    x->has_path_end = true;
    sp_own_fold_free(&f);
    return SPAA_OK;
}

static int begin_json(struct tree *x)
{
    spaa_status st = answer_ready(&x->a);
    if (!st)
        st = find_path_end(x);
    int rc = st ? cli_exit_of(st) : answer_begin(&x->a, "spaa.tree/2");
    if (!rc)
        sp_jw_open(&x->a.w, "nodes", '[');
    return rc;
}

static int end_json(struct tree *x)
{
    int64_t weight;
    sp_jw_close(&x->a.w, ']');
    if (x->text.failed)
        return cli_exit_of(sp_nomem(&x->a.c->diags));
    sp_jw_open(&x->a.w, "omitted", '{');
    sp_jw_u64(&x->a.w, "subtrees", sum_elided(x, &weight));
    answer_weight(&x->a, "weight", weight);
    sp_jw_close(&x->a.w, '}');
    char handle[32] = "";
    struct answer_next next[3] = {{"flamegraph", NULL, NULL}, {"top", NULL, "--sort total"}};
    size_t n = 2;
    if (x->path_end != SP_NONE) {
        sp_handle_text(&x->a.handles, x->path_end, handle);
        next[n++] = (struct answer_next){"function", handle, NULL};
    }
    return answer_end(&x->a, next, n);
}

static int cmd_tree_draw_json(struct tree *x)
{
    int rc = begin_json(x);
    if (rc)
        return rc;
    tree_nodes_json(x);
    return end_json(x);
}

static void cmd_tree_table_row(struct tree *x, struct sp_table *table, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    unsigned indent = tree_indent(x, n);
    struct sp_buf *b = &x->a.b;
    cell_percent(&x->a, table, n->total);
    cell_percent(&x->a, table, n->self);
    cell_weight(&x->a, table, n->total);
    for (unsigned k = 0; k < indent && k < 200; k++)
        sp_buf_puts(b, "  ");
    struct sp_str name = sp_tree_name(&x->t, i);
    sp_buf_add(b, name.p, name.n);
    if (n->kind == SP_KERNEL)
        sp_buf_puts(b, " [k]");
    if (n->inlined)
        sp_buf_puts(b, " [inlined]");
    if (n->self && n->function != SP_NONE &&
        sp_function_tags(x->t.profile, x->a.s->event, n->function) & SP_TAG_IRQ)
        sp_buf_puts(b, " [irq-enable]");
    sp_buf_puts(b, sp_inferred_mark(x->t.profile, n->function, n->inferred));
    if (missing_of(x, i)) {
        sp_buf_printf(b, " (+%u: ", missing_of(x, i));
        percent_text(b, x->a.s, elided_of(x, i));
        sp_buf_puts(b, "%)");
    }
    cell_buf(table, b);
}

static const struct sp_table_column columns[] = {{"total%", true, false}, {"self%", true, false},
                                                 {"total", true, false},  {"function", false, true},
                                                 {"depth", true, false},  {"elided", true, false}};

/* The line of titles. */
static int begin_csv(struct tree *x)
{
    struct sp_table table;
    sp_table_init(&table, columns, 6);
    int rc = answer_table(x->a.c, &table);
    sp_table_free(&table);
    return rc;
}

static int draw_csv(struct tree *x)
{
    int rc = begin_csv(x);
    if (!rc)
        tree_nodes_csv(x);
    return x->text.failed ? cli_exit_of(sp_nomem(&x->a.c->diags)) : rc;
}

static int cmd_tree_draw_text(struct tree *x)
{
    struct cli *c = x->a.c;
    struct sp_table table;
    int64_t weight;
    sp_table_init(&table, columns, 4);
    for (uint32_t i = 1; i < x->t.nodes.n; i++)
        if (x->t.nodes.v[i].order < x->shown)
            cmd_tree_table_row(x, &table, i);
    answer_heading(c, x->a.s);
    int rc = x->text.failed ? cli_exit_of(sp_nomem(&c->diags)) : answer_table(c, &table);
    size_t more = sum_elided(x, &weight);
    if (!rc && more) {
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, weight);
        sp_printf(c->out, "%s%zu more subtrees with %s%%, marked (+children: weight); %s\n",
                  c->format == FORMAT_MARKDOWN ? "\n" : "", more, sp_buf_cstr(&x->a.b),
                  c->v.budget ? answer_more(c)
                              : "--min-percent 0 -n 0 shows all, --root-at FUNCTION one of them");
    }
    sp_table_free(&table);
    return rc;
}

static int cmd_tree_draw(void *arg, size_t rows)
{
    struct tree *x = arg;
    x->shown = rows + 1; /* the root is no row */
    if (!count_elided(x))
        return cli_exit_of(sp_nomem(&x->a.c->diags));
    return x->a.c->format == FORMAT_JSON  ? cmd_tree_draw_json(x)
           : x->a.c->format == FORMAT_CSV ? draw_csv(x)
                                          : cmd_tree_draw_text(x);
}

/* ---- a tree that is written as it is made ---- */

static void take_part(void *arg, const struct sp_tree *part, uint32_t first)
{
    struct tree *x = arg;
    x->t = *part; /* lent */
    x->first = first;
    if (x->a.c->format == FORMAT_JSON)
        tree_nodes_json(x);
    else
        tree_nodes_csv(x);
}

static int answer_in_parts(struct tree *x, struct sp_tree_opts *how)
{
    struct cli *c = x->a.c;
    bool json = c->format == FORMAT_JSON;
    int rc = json ? begin_json(x) : begin_csv(x);
    if (rc)
        return rc;
    how->take = take_part;
    how->arg = x;
    x->parts = true;
    x->shown = SIZE_MAX;
    spaa_status st = sp_tree_build(x->a.s, how, &c->diags, &x->t);
    if (st)
        return cli_exit_of(st);
    sp_tree_free(&x->t); /* what was left out is still said */
    return json ? end_json(x) : x->text.failed ? cli_exit_of(sp_nomem(&c->diags)) : EXIT_FINE;
}

static int answer_whole(struct tree *x, const struct sp_tree_opts *how)
{
    struct cli *c = x->a.c;
    spaa_status st = sp_tree_build(x->a.s, how, &c->diags, &x->t);
    int rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, x->t.nodes.n - 1, cmd_tree_draw, x);
    sp_tree_free(&x->t);
    return rc;
}

static bool tree_options(struct cli *c, struct sp_tree_opts *how, double *percent)
{
    long depth;
    char *end;
    *percent = c->v.min_percent ? strtod(c->v.min_percent, &end) : 0.5;
    if (c->v.min_percent && (!*c->v.min_percent || *end || !(*percent >= 0 && *percent <= 100))) {
        cli_usage(c, NULL, "--min-percent needs a number from 0 to 100, not \"%s\"", c->v.min_percent);
        return false;
    }
    if (!cli_number(c, "depth", c->v.depth, 1, 1000000, 0, &depth))
        return false;
    *how = (struct sp_tree_opts){
        .inverted = c->v.inverted != NULL, .sort = SP_TREE_BY_WEIGHT, .max_depth = (uint32_t)depth};
    return true;
}

/* Rows beyond the limit are never built; in JSON the root counts as one. */
static size_t nodes_wanted(const struct cli *c, size_t limit)
{
    long budget = c->v.budget ? strtol(c->v.budget, NULL, 10) : 0;
    size_t n = limit == SIZE_MAX ? 0 : limit + (c->format != FORMAT_JSON);
    size_t most = budget > 0 ? (size_t)budget / 2 + 2 : 0; /* a row takes more than 6 characters */
    return !most ? n : !n || most < n ? most : n;
}

int sp_cmd_tree(struct cli *c)
{
    struct sp_tree_opts how;
    struct sp_selection s;
    struct tree x = {0};
    size_t limit;
    double percent;
    bool open = c->format == FORMAT_JSON || c->v.budget; /* no limit of rows of its own */
    if (!tree_options(c, &how, &percent) || !answer_limit(c, open ? SIZE_MAX : 22, &limit))
        return EXIT_USAGE;
    c->no_ids = true;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    how.min_total = (int64_t)fmin(fabs((double)s.whole) * percent / 100, 9e18);
    how.max_nodes = nodes_wanted(c, limit);
    bool parts = !how.max_nodes && !c->v.budget && (c->format == FORMAT_JSON || c->format == FORMAT_CSV);
    x.pieces = calloc(c->profile->functions.n + 1, sizeof *x.pieces); /* and of no function */
    sp_buf_init(&x.text, UINT32_MAX);
    rc = !x.pieces ? cli_exit_of(sp_nomem(&c->diags)) : parts ? cli_stdout(c) : EXIT_FINE;
    if (!rc)
        rc = parts ? answer_in_parts(&x, &how) : answer_whole(&x, &how);
    free(x.elided);
    free(x.missing);
    free(x.number);
    free(x.pieces);
    sp_vec_free(&x.indent);
    sp_buf_free(&x.text);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}
