/* spaa tree: the call tree, heaviest first. */
#include "answer.h"

#include "analysis/tree.h"
#include "base/num.h"
#include "render/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What all nodes of a function have in common in an answer, and most of them besides: see `fragment`. */
struct piece {
    uint32_t at;
    uint32_t n;   /* 0: not made yet */
    uint8_t more; /* JSON: bytes after them, for nodes of this kind */
    uint8_t kind;
    bool quote;   /* CSV */
    bool formula; /* CSV: where it starts a cell */
};

/* What a node has in common with the one before it, where their weights are the same. */
struct same {
    int64_t total, samples;
    size_t n;     /* 0: none yet */
    size_t share; /* CSV: the first bytes, the share of the total */
    char text[256];
};

/* A node's id as text. */
struct counter {
    char text[20];
    uint32_t n, v;
};

/* Of a node's text, but for its name; of a name that is put beside it at once. */
enum { NODE_ROOM = 1024, NAME_ROOM = 2048, PIECE_LINE = 32 };

struct tree {
    struct answer a;
    struct piece *pieces; /* per function: of text */
    struct sp_buf text;
    struct same same;
    struct counter last; /* the node drawn last */
    struct sp_tree t;
    uint32_t first; /* the number of the first node in t, where the tree comes in parts */
    bool parts;
    SP_VEC(unsigned) indent; /* by depth: of the last node there */
    size_t shown;      /* nodes: those of order < shown; where that is all, the next three are not used */
    int64_t *elided;   /* per node: weight of the children not shown */
    uint32_t *missing; /* per node: how many these are */
    uint32_t *number;  /* per node: its id in the answer */
};

static bool shows_all(const struct tree *x)
{
    return x->parts || x->shown >= x->t.nodes.n;
}

static int64_t elided_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? x->t.nodes.v[i].elided : x->elided[i];
}

static uint32_t missing_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? x->t.nodes.v[i].elided_children : x->missing[i];
}

static uint32_t number_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? i : x->number[i];
}

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

/*
 * A whole tree has millions of nodes: what is alike in all nodes of a function is put together once, and a
 * node is one piece of text. The kind is that of a frame, but mostly the same for all of a function.
 */
static const struct piece *fragment(struct tree *x, const struct sp_tree_node *n)
{
    const struct sp_profile *p = x->t.profile;
    struct piece *f = &x->pieces[n->function];
    if (f->n)
        return f;
    struct sp_str name = sp_pstr(p, p->functions.v[n->function].name);
    struct sp_str dso = dso_name(p, p->functions.v[n->function].dso);
    char handle[32];
    f->at = (uint32_t)x->text.len;
    sp_buf_puts(&x->text, ",\"name\":");
    sp_json_string(&x->text, name.p, name.n);
    sp_buf_puts(&x->text, ",\"dso\":");
    sp_json_string(&x->text, dso.p, dso.n);
    sp_buf_puts(&x->text, ",\"function\":\"");
    sp_buf_add(&x->text, handle, sp_handle_text(&x->a.handles, n->function, handle));
    sp_buf_puts(&x->text, "\",\"kind\":\"");
    f->n = (uint32_t)(x->text.len - f->at);
    f->kind = n->kind;
    sp_buf_puts(&x->text, sp_frame_kind_names[n->kind]);
    sp_buf_puts(&x->text, "\",\"self\":");
    f->more = (uint8_t)(x->text.len - f->at - f->n);
    sp_buf_reserve(&x->text, PIECE_LINE);
    return f;
}

static inline char *put(char *at, const char *s)
{
    size_t n = strlen(s);
    memcpy(at, s, n);
    return at + n;
}

/*
 * A piece of x->text of at most NAME_ROOM bytes: whole lines of it, as a copy of a number of bytes that is
 * not known costs more than what is too much. Where a piece is made, room for the last of them is.
 */
static inline char *put_piece(char *at, const struct tree *x, const struct piece *f, size_t n)
{
    const char *from = x->text.data + f->at;
    for (size_t k = 0; k < n; k += PIECE_LINE)
        memcpy(at + k, from + k, PIECE_LINE);
    return at + n;
}

static bool is_at_hand(const struct tree *x, size_t n)
{
    return n <= NAME_ROOM && !x->text.failed;
}

static char *put_i64(char *at, int64_t v)
{
    if (v < 0)
        *at++ = '-';
    return at + sp_u64_text(v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v, at);
}

/* At most 64 bytes. */
static char *put_weight(char *at, const struct sp_selection *s, int64_t v)
{
    return s->scale ? at + sp_scaled_text(v, s->scale, at) : put_i64(at, v);
}

static char *put_sum(char *at, const struct sp_selection *s, int64_t v)
{
    return s->cannot_add ? put(at, "null") : put_weight(at, s, v);
}

/* As sp_jw_percent has it. */
static char *put_percent(char *at, const struct sp_selection *s, int64_t v)
{
    if (s->cannot_add || !s->base)
        return put(at, "null");
    return at + sp_scaled_text(sp_ratio(v, s->base, 1000000), 4, at);
}

static const struct same *json_same(struct tree *x, const struct sp_tree_node *n)
{
    struct same *same = &x->same;
    if (same->n && same->total == n->total && same->samples == n->samples)
        return same;
    char *at = put_sum(put(same->text, ",\"total\":"), x->a.s, n->total);
    at = put(at, ",\"total_percent\":");
    at = put_percent(at, x->a.s, n->total);
    at = put(at, ",\"samples\":");
    at = n->samples == SP_ABSENT ? put(at, "null") : put_i64(at, n->samples);
    same->total = n->total;
    same->samples = n->samples;
    same->n = (size_t)(at - same->text);
    return same;
}

/* Up to its own weight, where there is no function or its name is long. */
static void json_name(struct tree *x, const struct sp_tree_node *n, struct sp_output *out)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    if (n->function != SP_NONE) {
        const struct piece *f = fragment(x, n);
        sp_buf_add(b, x->text.data + f->at, f->n);
        sp_buf_puts(b, sp_frame_kind_names[n->kind]);
        sp_buf_puts(b, "\",\"self\":");
    } else {
        sp_buf_puts(b, ",\"name\":\"all\",\"dso\":null,\"self\":");
    }
    x->text.failed = x->text.failed || b->failed;
    sp_write(out, b->data, b->len);
}

/* Ids follow each other: mostly only the last digit changes. */
static void count_to(struct counter *c, uint32_t v)
{
    if (c->n && v == c->v + 1 && c->text[c->n - 1] != '9')
        c->text[c->n - 1]++;
    else
        c->n = (uint32_t)sp_u64_text(v, c->text);
    c->v = v;
}

static inline char *put_counter(char *at, const struct counter *c)
{
    memcpy(at, c->text, sizeof c->text); /* more than its digits, which costs less */
    return at + c->n;
}

static inline char *put_depth(char *at, uint32_t v)
{
    if (v >= 100)
        return at + sp_u64_text(v, at);
    if (v >= 10)
        *at++ = (char)('0' + v / 10);
    *at++ = (char)('0' + v % 10);
    return at;
}

/* Most nodes are the only child of the one before. */
static char *put_place(char *at, struct tree *x, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    struct counter before = x->last;
    count_to(&x->last, number_of(x, x->first + i));
    at = put_counter(put(at, "{\"id\":"), &x->last);
    at = put(at, ",\"parent\":");
    if (n->parent == SP_NONE)
        at = put(at, "null");
    else if (before.n && number_of(x, n->parent) == before.v)
        at = put_counter(at, &before);
    else
        at += sp_u64_text(number_of(x, n->parent), at);
    at = put(at, ",\"depth\":");
    return put_depth(at, n->depth);
}

static void json_node(struct tree *x, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    const struct same *same = json_same(x, n);
    const struct piece *f = n->function != SP_NONE ? fragment(x, n) : NULL;
    struct sp_output *out = x->a.w.out;
    if (n->parent == SP_NONE)
        sp_jw_raw(&x->a.w, NULL, "", 0);
    char *start = sp_output_room(out, NODE_ROOM + NAME_ROOM), *at = start;
    if (n->parent != SP_NONE)
        *at++ = ',';
    at = put_place(at, x, i);
    if (f && f->kind == n->kind && is_at_hand(x, f->n + f->more)) {
        at = put_piece(at, x, f, f->n + f->more);
    } else {
        sp_output_took(out, (size_t)(at - start));
        json_name(x, n, out);
        at = start = sp_output_room(out, NODE_ROOM);
    }
    at = put_sum(at, x->a.s, n->self);
    memcpy(at, same->text, same->n);
    at += same->n;
    if (missing_of(x, i)) {
        at = put_sum(put(at, ",\"elided\":"), x->a.s, elided_of(x, i));
        at = put(at, ",\"elided_children\":");
        at += sp_u64_text(missing_of(x, i), at);
    }
    *at++ = '}';
    sp_output_took(out, (size_t)(at - start));
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

/* The texts of functions are more than the caches hold, and asked for in any order. */
static inline void fetch_ahead(const struct tree *x, uint32_t i)
{
    enum { PIECE = 12, TEXT = 6, LINE = 64 };
    if (i + PIECE >= x->t.nodes.n || x->t.nodes.v[i].function == SP_NONE)
        return;
    const struct piece *near = &x->pieces[x->t.nodes.v[i + TEXT].function];
    __builtin_prefetch(&x->pieces[x->t.nodes.v[i + PIECE].function]);
    for (uint32_t k = 0; k < near->n + near->more; k += LINE)
        __builtin_prefetch(x->text.data + near->at + k);
    __builtin_prefetch(x->text.data + near->at + near->n + near->more);
}

static void json_nodes(struct tree *x)
{
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        fetch_ahead(x, i);
        if (x->t.nodes.v[i].order < x->shown)
            json_node(x, i);
    }
}

static int begin_json(struct tree *x)
{
    int rc = answer_begin(&x->a, "spaa.tree/1");
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
    const struct answer_next next[] = {{"flamegraph", NULL, NULL}, {"top", NULL, "--sort cum"}};
    return answer_end(&x->a, next, 2);
}

static int draw_json(struct tree *x)
{
    int rc = begin_json(x);
    if (rc)
        return rc;
    json_nodes(x);
    return end_json(x);
}

/*
 * One child goes on in its parent's column, so that straight chains do not run off the screen. Nodes come in
 * depth-first order: the last one of the depth above is the parent.
 */
static unsigned indent_of(struct tree *x, const struct sp_tree_node *n)
{
    if (!sp_vec_reserve(&x->indent, n->depth + 1)) {
        x->text.failed = true;
        return 0;
    }
    unsigned indent = n->depth < 2 ? 0 : x->indent.v[n->depth - 1] + !n->alone;
    x->indent.v[n->depth] = indent;
    return indent;
}

static void table_row(struct tree *x, struct sp_table *table, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    unsigned indent = indent_of(x, n);
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
    if (missing_of(x, i)) {
        sp_buf_printf(b, " (+%u: ", missing_of(x, i));
        percent_text(b, x->a.s, elided_of(x, i));
        sp_buf_puts(b, "%)");
    }
    cell_buf(table, b);
}

/* ---- CSV: as sp_table_write has it, without a table of millions of cells ---- */

static const struct piece *csv_name(struct tree *x, uint32_t node)
{
    static const char formula[] = "=+@-";
    uint32_t function = x->t.nodes.v[node].function;
    struct piece *f = &x->pieces[function == SP_NONE ? x->t.profile->functions.n : function];
    if (f->n && function != SP_NONE)
        return f;
    struct sp_str name = sp_tree_name(&x->t, node);
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    sp_text_safe(b, name.p, name.n);
    const char *t = sp_buf_cstr(b);
    *f = (struct piece){.at = (uint32_t)x->text.len};
    f->quote = memchr(t, ',', b->len) || memchr(t, '"', b->len);
    f->formula = b->len && memchr(formula, t[0], 4) && !(t[0] == '-' && t[1] >= '0' && t[1] <= '9');
    for (size_t i = 0; i < b->len; i++) {
        if (t[i] == '"')
            sp_buf_ch(&x->text, '"');
        sp_buf_ch(&x->text, t[i]);
    }
    x->text.failed = x->text.failed || b->failed;
    f->n = (uint32_t)(x->text.len - f->at);
    sp_buf_reserve(&x->text, PIECE_LINE);
    return f;
}

static char *csv_percent(char *at, struct tree *x, int64_t v)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    if (!x->a.s->cannot_add)
        sp_text_percent(b, v, x->a.s->base);
    x->text.failed = x->text.failed || b->failed;
    if (b->len)
        memcpy(at, b->data, b->len);
    return at + b->len;
}

/* Percent of the total, and the total. */
static const struct same *csv_same(struct tree *x, const struct sp_tree_node *n)
{
    struct same *same = &x->same;
    if (same->n && same->total == n->total)
        return same;
    char *at = csv_percent(same->text, x, n->total);
    same->share = (size_t)(at - same->text);
    at = x->a.s->cannot_add ? at : put_weight(at, x->a.s, n->total);
    *at++ = ',';
    same->total = n->total;
    same->n = (size_t)(at - same->text);
    return same;
}

static void csv_row(struct tree *x, struct sp_output *out, uint32_t i)
{
    const struct sp_tree_node *n = &x->t.nodes.v[i];
    unsigned indent = indent_of(x, n);
    const struct piece *name = csv_name(x, i);
    const struct same *same = csv_same(x, n);
    bool formula = name->formula && !indent, quote = name->quote || formula;
    size_t spaces = 2 * (indent < 200 ? (size_t)indent : 200);
    char *start = sp_output_room(out, NODE_ROOM + NAME_ROOM), *at = start;
    memcpy(at, same->text, same->share);
    at += same->share;
    *at++ = ',';
    if (n->self == n->total) {
        memcpy(at, same->text, same->share);
        at += same->share;
    } else if (n->self || x->a.s->cannot_add) {
        at = csv_percent(at, x, n->self);
    } else {
        at = put(at, "0.00");
    }
    *at++ = ',';
    memcpy(at, same->text + same->share, same->n - same->share);
    at += same->n - same->share;
    if (quote)
        at = put(at, formula ? "\"'" : "\"");
    memset(at, ' ', spaces);
    at += spaces;
    if (is_at_hand(x, name->n)) {
        at = put_piece(at, x, name, name->n);
    } else {
        sp_output_took(out, (size_t)(at - start));
        sp_write(out, x->text.data + name->at, name->n);
        at = start = sp_output_room(out, NODE_ROOM);
    }
    if (n->kind == SP_KERNEL)
        at = put(at, " [k]");
    if (n->inlined)
        at = put(at, " [inlined]");
    at = put_depth(put(at, quote ? "\"," : ","), n->depth);
    *at++ = ',';
    if (!x->a.s->cannot_add)
        at = put_weight(at, x->a.s, elided_of(x, i));
    *at++ = '\n';
    sp_output_took(out, (size_t)(at - start));
}

static void csv_rows(struct tree *x)
{
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        fetch_ahead(x, i);
        if (x->t.nodes.v[i].order < x->shown && x->t.nodes.v[i].parent != SP_NONE)
            csv_row(x, x->a.c->out, i);
    }
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
        csv_rows(x);
    return x->text.failed ? cli_exit_of(sp_nomem(&x->a.c->diags)) : rc;
}

static int draw_text(struct tree *x)
{
    struct cli *c = x->a.c;
    struct sp_table table;
    int64_t weight;
    sp_table_init(&table, columns, 4);
    for (uint32_t i = 1; i < x->t.nodes.n; i++)
        if (x->t.nodes.v[i].order < x->shown)
            table_row(x, &table, i);
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

static int draw(void *arg, size_t rows)
{
    struct tree *x = arg;
    x->shown = rows + 1; /* the root is no row */
    if (!count_elided(x))
        return cli_exit_of(sp_nomem(&x->a.c->diags));
    return x->a.c->format == FORMAT_JSON  ? draw_json(x)
           : x->a.c->format == FORMAT_CSV ? draw_csv(x)
                                          : draw_text(x);
}

/* ---- a tree that is written as it is made ---- */

static void take_part(void *arg, const struct sp_tree *part, uint32_t first)
{
    struct tree *x = arg;
    x->t = *part; /* lent */
    x->first = first;
    if (x->a.c->format == FORMAT_JSON)
        json_nodes(x);
    else
        csv_rows(x);
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
        rc = answer_fit(c, x->t.nodes.n - 1, draw, x);
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
    how.min_total = (int64_t)fmin(fabs((double)s.base) * percent / 100, 9e18);
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
