/*
 * What is alike in all nodes of a function is put together once; a node is one piece of text, put where it
 * will be written from.
 */
#include "tree_nodes.h"

#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"

/* Of a node's text, but for its name; of a name that is put beside it at once. */
enum { NODE_ROOM = 1024, NAME_ROOM = 2048, PIECE_LINE = 32 };

unsigned tree_indent(struct tree *x, const struct sp_tree_node *n)
{
    if (!sp_vec_reserve(&x->indent, n->depth + 1)) {
        x->text.failed = true;
        return 0;
    }
    unsigned indent = n->depth < 2 ? 0 : x->indent.v[n->depth - 1] + !n->alone;
    x->indent.v[n->depth] = indent;
    return indent;
}

/* ---- JSON ---- */

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
    sp_buf_puts(&x->text, sp_is_own(&x->a.own, n->function) ? "\",\"own\":true" : "\",\"own\":false");
    if (sp_function_tags(p, x->a.s->event, n->function) & SP_TAG_IRQ)
        sp_buf_puts(&x->text, ",\"tags\":[\"irq-enable\"]");
    sp_buf_puts(&x->text, ",\"kind\":\"");
    f->n = (uint32_t)(x->text.len - f->at);
    f->kind = n->kind;
    sp_buf_puts(&x->text, sp_frame_kind_names[n->kind]);
    sp_buf_puts(&x->text, "\",\"self\":");
    f->more = (uint8_t)(x->text.len - f->at - f->n);
    sp_buf_reserve(&x->text, PIECE_LINE);
    return f;
}

static inline char *tree_nodes_put(char *at, const char *s)
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
    return s->cannot_add ? tree_nodes_put(at, "null") : put_weight(at, s, v);
}

/* As sp_jw_percent has it. */
static char *put_percent(char *at, const struct sp_selection *s, int64_t v)
{
    if (s->cannot_add || !s->whole)
        return tree_nodes_put(at, "null");
    return at + sp_scaled_text(sp_ratio(v, s->whole, 10000), 2, at);
}

static const struct same *json_same(struct tree *x, const struct sp_tree_node *n)
{
    struct same *same = &x->same;
    if (same->n && same->total == n->total && same->samples == n->samples)
        return same;
    char *at = put_sum(tree_nodes_put(same->text, ",\"total\":"), x->a.s, n->total);
    at = tree_nodes_put(at, ",\"total_percent\":");
    at = put_percent(at, x->a.s, n->total);
    at = tree_nodes_put(at, ",\"samples\":");
    at = n->samples == SP_ABSENT ? tree_nodes_put(at, "null") : put_i64(at, n->samples);
    same->total = n->total;
    same->samples = n->samples;
    same->n = (size_t)(at - same->text);
    return same;
}

/* Up to its self weight, where there is no function or its name is long. */
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
    at = put_counter(tree_nodes_put(at, "{\"id\":"), &x->last);
    at = tree_nodes_put(at, ",\"parent\":");
    if (n->parent == SP_NONE)
        at = tree_nodes_put(at, "null");
    else if (before.n && number_of(x, n->parent) == before.v)
        at = put_counter(at, &before);
    else
        at += sp_u64_text(number_of(x, n->parent), at);
    at = tree_nodes_put(at, ",\"depth\":");
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
    if (n->inferred)
        at = tree_nodes_put(at,
                            n->inferred == SP_INFERRED ? ",\"inferred\":true" : ",\"inferred_in_part\":true");
    if (missing_of(x, i)) {
        at = put_sum(tree_nodes_put(at, ",\"elided\":"), x->a.s, elided_of(x, i));
        at = tree_nodes_put(at, ",\"elided_children\":");
        at += sp_u64_text(missing_of(x, i), at);
    }
    *at++ = '}';
    sp_output_took(out, (size_t)(at - start));
}

/* The texts of functions are more than the caches hold, and asked for in any order. */
static inline void tree_nodes_fetch_ahead(const struct tree *x, uint32_t i)
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

void tree_nodes_json(struct tree *x)
{
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        tree_nodes_fetch_ahead(x, i);
        if (x->t.nodes.v[i].order < x->shown)
            json_node(x, i);
    }
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
        sp_text_percent(b, v, x->a.s->whole);
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
    unsigned indent = tree_indent(x, n);
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
        at = tree_nodes_put(at, "0.00");
    }
    *at++ = ',';
    memcpy(at, same->text + same->share, same->n - same->share);
    at += same->n - same->share;
    if (quote)
        at = tree_nodes_put(at, formula ? "\"'" : "\"");
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
        at = tree_nodes_put(at, " [k]");
    if (n->inlined)
        at = tree_nodes_put(at, " [inlined]");
    at = tree_nodes_put(at, sp_inferred_mark(x->t.profile, n->function, n->inferred));
    at = put_depth(tree_nodes_put(at, quote ? "\"," : ","), n->depth);
    *at++ = ',';
    if (!x->a.s->cannot_add)
        at = put_weight(at, x->a.s, elided_of(x, i));
    *at++ = '\n';
    sp_output_took(out, (size_t)(at - start));
}

void tree_nodes_csv(struct tree *x)
{
    for (uint32_t i = 0; i < x->t.nodes.n; i++) {
        tree_nodes_fetch_ahead(x, i);
        if (x->t.nodes.v[i].order < x->shown && x->t.nodes.v[i].parent != SP_NONE)
            csv_row(x, x->a.c->out, i);
    }
}
