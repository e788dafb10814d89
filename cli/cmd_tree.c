/* spaa tree: the call tree, heaviest first. */
#include "answer.h"

#include "analysis/tree.h"
#include "base/num.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

struct piece {
    size_t at;
    uint32_t n;
};

struct tree {
    struct answer a;
    struct piece *pieces; /* per function: of text; n 0: not made yet */
    struct sp_buf text;
    struct sp_tree t;
    size_t shown;      /* nodes: those of order < shown */
    int64_t *elided;   /* per node: weight of the children not shown */
    uint32_t *missing; /* per node: how many these are */
    uint32_t *number;  /* per node: its id in the answer */
};

/* What the nodes that are shown leave out. */
static void count_elided(struct tree *x)
{
    uint32_t id = 0;
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        const struct sp_tree_node *n = &x->t.nodes.v[i];
        x->elided[i] = n->elided;
        x->missing[i] = n->elided_children;
        if (n->order < x->shown) {
            x->number[i] = id++;
        } else if (n->parent != SP_NONE && x->t.nodes.v[n->parent].order < x->shown) {
            x->elided[n->parent] += n->total;
            x->missing[n->parent]++;
        }
    }
}

/*
 * A whole tree has millions of nodes: what is alike in all nodes of a function is put together once, and a
 * node is one piece of text.
 */
static struct sp_str fragment(struct tree *x, uint32_t function)
{
    const struct sp_profile *p = x->t.profile;
    struct piece *f = &x->pieces[function];
    if (!f->n) {
        struct sp_str name = sp_pstr(p, p->functions.v[function].name);
        struct sp_str dso = dso_name(p, p->functions.v[function].dso);
        char handle[32];
        f->at = x->text.len;
        sp_buf_puts(&x->text, ",\"name\":");
        sp_json_string(&x->text, name.p, name.n);
        sp_buf_puts(&x->text, ",\"dso\":");
        sp_json_string(&x->text, dso.p, dso.n);
        sp_buf_puts(&x->text, ",\"function\":\"");
        sp_buf_add(&x->text, handle, sp_handle_text(&x->a.handles, function, handle));
        sp_buf_puts(&x->text, "\",\"kind\":\"");
        f->n = (uint32_t)(x->text.len - f->at);
    }
    return (struct sp_str){x->text.data + f->at, f->n};
}

static void number(struct tree *x, const char *key, int64_t v)
{
    const struct sp_selection *s = x->a.s;
    char t[64];
    sp_buf_puts(&x->a.b, key);
    if (s->cannot_add)
        sp_buf_puts(&x->a.b, "null");
    else if (!s->scale)
        sp_buf_i64(&x->a.b, v);
    else
        sp_buf_add(&x->a.b, t, sp_scaled_text(v, s->scale, t));
}

/* As sp_jw_percent has it. */
static void percent(struct sp_buf *b, const struct sp_selection *s, int64_t v)
{
    char t[64];
    if (s->cannot_add || !s->base) {
        sp_buf_puts(b, "null");
        return;
    }
    __int128 exact = sp_ratio(v, s->base, 1000000);
    int64_t r = exact < 0 || exact > INT64_MAX ? 0 : (int64_t)exact;
    if (r % 10000 == 0) {
        sp_buf_add(b, t, sp_scaled_text(exact, 4, t));
        return;
    }
    size_t n = 4;
    uint32_t rest = (uint32_t)(r % 10000);
    for (size_t i = 4; i-- > 0; rest /= 10)
        t[i] = (char)('0' + rest % 10);
    while (t[n - 1] == '0')
        n--;
    sp_buf_i64(b, r / 10000);
    sp_buf_ch(b, '.');
    sp_buf_add(b, t, n);
}

static void json_node(struct tree *x, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    sp_buf_puts(b, "{\"id\":");
    sp_buf_u64(b, x->number[i]);
    sp_buf_puts(b, ",\"parent\":");
    if (n->parent == SP_NONE)
        sp_buf_puts(b, "null");
    else
        sp_buf_u64(b, x->number[n->parent]);
    sp_buf_puts(b, ",\"depth\":");
    sp_buf_u64(b, n->depth);
    if (n->function != SP_NONE) {
        struct sp_str f = fragment(x, n->function);
        sp_buf_add(b, f.p, f.n);
        sp_buf_puts(b, sp_frame_kind_names[n->kind]);
        sp_buf_ch(b, '"');
    } else {
        struct sp_str name = sp_tree_name(&x->t, i);
        sp_buf_puts(b, ",\"name\":");
        sp_json_string(b, name.p, name.n);
        sp_buf_puts(b, ",\"dso\":null");
    }
    number(x, ",\"self\":", n->self);
    number(x, ",\"total\":", n->total);
    sp_buf_puts(b, ",\"total_percent\":");
    percent(b, x->a.s, n->total);
    sp_buf_puts(b, ",\"samples\":");
    if (n->samples == SP_ABSENT)
        sp_buf_puts(b, "null");
    else
        sp_buf_i64(b, n->samples);
    if (x->missing[i]) {
        number(x, ",\"elided\":", x->elided[i]);
        sp_buf_puts(b, ",\"elided_children\":");
        sp_buf_u64(b, x->missing[i]);
    }
    sp_buf_ch(b, '}');
    sp_jw_raw(&x->a.w, NULL, b->data, b->len);
}

/* Subtrees and weight that are not shown. */
static size_t sum_elided(const struct tree *x, int64_t *weight)
{
    size_t n = 0;
    *weight = 0;
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        if (x->t.nodes.v[i].order >= x->shown)
            continue;
        n += x->missing[i];
        *weight += x->elided[i];
    }
    return n;
}

static int draw_json(struct tree *x)
{
    int64_t weight;
    int rc = answer_begin(&x->a, "spaa.tree/1");
    if (rc)
        return rc;
    sp_jw_open(&x->a.w, "nodes", '[');
    for (uint32_t i = 0; i < x->t.nodes.n; i++)
        if (x->t.nodes.v[i].order < x->shown)
            json_node(x, i);
    sp_jw_close(&x->a.w, ']');
    if (x->text.failed || x->a.b.failed)
        return cli_exit_of(sp_nomem(&x->a.c->diags));
    sp_jw_open(&x->a.w, "omitted", '{');
    sp_jw_u64(&x->a.w, "subtrees", sum_elided(x, &weight));
    answer_weight(&x->a, "weight", weight);
    sp_jw_close(&x->a.w, '}');
    const struct answer_next next[] = {{"flamegraph", NULL, NULL}, {"top", NULL, "--sort cum"}};
    return answer_end(&x->a, next, 2);
}

/* One child goes on in its parent's column, so that straight chains do not run off the screen. */
static void indents(const struct tree *x, unsigned *indent)
{
    const struct sp_tree *t = &x->t;
    for (uint32_t i = 1; i < t->nodes.n; i++) {
        uint32_t up = t->nodes.v[i].parent;
        bool only = t->nodes.v[i].end == t->nodes.v[up].end && i == up + 1 && !x->missing[up];
        indent[i] = up == 0 ? 0 : indent[up] + !only;
    }
}

static void table_row(struct tree *x, struct sp_table *table, uint32_t i, unsigned indent)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
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
    if (x->missing[i] && x->a.c->format != FORMAT_CSV) {
        sp_buf_printf(b, " (+%u: ", x->missing[i]);
        percent_text(b, x->a.s, x->elided[i]);
        sp_buf_puts(b, "%)");
    }
    cell_buf(table, b);
    if (x->a.c->format == FORMAT_CSV) {
        sp_table_printf(table, "%u", n->depth);
        cell_weight(&x->a, table, x->elided[i]);
    }
}

static int draw_text(struct tree *x)
{
    static const struct sp_table_column columns[] = {{"total%", true, false}, {"self%", true, false},
                                                     {"total", true, false},  {"function", false, true},
                                                     {"depth", true, false},  {"elided", true, false}};
    struct cli *c = x->a.c;
    unsigned *indent = calloc(x->t.nodes.n, sizeof *indent);
    struct sp_table table;
    int64_t weight;
    if (!indent)
        return cli_exit_of(sp_nomem(&c->diags));
    indents(x, indent);
    sp_table_init(&table, columns, c->format == FORMAT_CSV ? 6 : 4);
    for (uint32_t i = 1; i < x->t.nodes.n; i++)
        if (x->t.nodes.v[i].order < x->shown)
            table_row(x, &table, i, indent[i]);
    answer_heading(c, x->a.s);
    int rc = answer_table(c, &table);
    size_t more = sum_elided(x, &weight);
    if (!rc && more && c->format != FORMAT_CSV) {
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, weight);
        sp_printf(c->out, "%s%zu more subtrees with %s%%, marked (+children: weight); %s\n",
                  c->format == FORMAT_MARKDOWN ? "\n" : "", more, sp_buf_cstr(&x->a.b),
                  c->v.budget ? answer_more(c)
                              : "--min-percent 0 -n 0 shows all, --root-at FUNCTION one of them");
    }
    free(indent);
    sp_table_free(&table);
    return rc;
}

static int draw(void *arg, size_t rows)
{
    struct tree *x = arg;
    x->shown = rows + 1; /* the root is no row */
    count_elided(x);
    return x->a.c->format == FORMAT_JSON ? draw_json(x) : draw_text(x);
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
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    how.min_total = (int64_t)fmin(fabs((double)s.base) * percent / 100, 9e18);
    how.max_nodes = nodes_wanted(c, limit);
    st = sp_tree_build(&s, &how, &c->diags, &x.t);
    size_t n = x.t.nodes.n;
    x.elided = st ? NULL : malloc((n + 1) * sizeof *x.elided);
    x.missing = st ? NULL : malloc((n + 1) * sizeof *x.missing);
    x.number = st ? NULL : malloc((n + 1) * sizeof *x.number);
    x.pieces = st ? NULL : calloc(c->profile->functions.n + 1, sizeof *x.pieces);
    sp_buf_init(&x.text, SIZE_MAX);
    if (!st && (!x.elided || !x.missing || !x.number || !x.pieces))
        st = sp_nomem(&c->diags);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, n - 1, draw, &x);
    free(x.elided);
    free(x.missing);
    free(x.number);
    free(x.pieces);
    sp_buf_free(&x.text);
    sp_tree_free(&x.t);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}
