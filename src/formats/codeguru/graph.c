/*
 * Reads the call graph: nodes {"counts":{…},"file":…,"line":[…],"children":{"name":{…}}} nested as deep as
 * the calls were, in one pass and without recursion.
 *
 * A node's members may stand in any order, its file and line even behind its children. So the pass makes a
 * tree, in which a node gets its frame when it ends, and only if something below it was counted; every count
 * of the tree becomes a stack afterwards, along the parents. Children that stand twice in one node, and
 * counters that are one thread state, are equal stacks there.
 *
 * What stacks and frames do not hold goes to records
 *
 *     {"type":"x_codeguru_node","shared":2,"path":["c"],"node":{"foo":1,"counts":{"IDLE":0}}}
 *
 * `path` from the root, of which the first `shared` levels are those of the record before; `node` has the
 * members to add: unknown keys, counts of zero, empty objects, what has an unexpected type, and file and line
 * of nodes without any count below them.
 */
#include "formats/codeguru/graph.h"

#include "formats/common/text/json_file.h"
#include "json/unique.h"

#define LEVELS_MAX ((size_t)1 << 22)
#define NOTE_EVERY ((size_t)1 << 20)

/* ---- names and frames ---- */

static struct sp_span codeguru_name_text(const struct sp_cg_tree *x, uint32_t name)
{
    struct sp_str s = sp_str_at(&x->names, name);
    return (struct sp_span){s.p, s.n};
}

/* SP_NONE: out of memory. */
static uint32_t codeguru_name(struct sp_cg_tree *x, struct sp_span key)
{
    uint32_t name = sp_intern(&x->names, key.p, key.n);
    while (name != SP_STR_FAIL && x->of_name.n <= name)
        if (!sp_vec_push(&x->of_name, ((struct sp_cg_name){.frame = SP_NONE})))
            return SP_NONE;
    return name == SP_STR_FAIL ? SP_NONE : name;
}

/* Where the number of the frame stands that has this name and place; NULL: out of memory. */
static uint32_t *codeguru_known_frame(struct sp_cg_tree *x, uint32_t name, const struct sp_cg_place *place)
{
    if (!place->file.n && !place->line.n)
        return &x->of_name.v[name].frame;
    sp_buf_clear(&x->text);
    sp_buf_add(&x->text, &name, sizeof name);
    sp_buf_add(&x->text, place->file.p, place->file.n);
    sp_buf_ch(&x->text, '\0');
    sp_buf_add(&x->text, place->line.p, place->line.n);
    uint32_t number = x->text.failed ? SP_STR_FAIL : sp_intern(&x->places, x->text.data, x->text.len);
    while (number != SP_STR_FAIL && x->frame_of_place.n <= number)
        if (!sp_vec_push(&x->frame_of_place, SP_NONE))
            return NULL;
    return number == SP_STR_FAIL ? NULL : &x->frame_of_place.v[number];
}

static bool codeguru_resolve(struct sp_cg_tree *x, const struct sp_cg_level *l)
{
    struct sp_cg_place place = {{NULL, 0}, {NULL, 0}};
    if (x->g->names.places)
        place = l->place;
    uint32_t *frame = codeguru_known_frame(x, l->name, &place);
    if (frame && *frame == SP_NONE)
        *frame = sp_cg_frame(&x->g->names, codeguru_name_text(x, l->name), place);
    x->nodes.v[l->node].frame = frame ? *frame : SP_NONE;
    return x->nodes.v[l->node].frame != SP_NONE;
}

/* ---- nodes ---- */

static spaa_status codeguru_open_node(struct sp_cg_tree *x, uint32_t name)
{
    struct sp_cg_level l = {
        .name = name, .node = SP_NONE, .children = x->children.n, .cells = x->cells.n, .extra = x->extra.len};
    if (x->levels.n >= LEVELS_MAX) {
        sp_emit(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)), "more than %zu levels", LEVELS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (name != SP_NONE) {
        struct sp_cg_node n = {x->levels.v[x->levels.n - 1].node, name, SP_NONE};
        l.node = (uint32_t)x->nodes.n;
        if (x->nodes.n >= SP_NONE || !sp_vec_push(&x->nodes, n))
            return sp_nomem(x->d);
    }
    return sp_vec_push(&x->levels, l) ? SPAA_OK : sp_nomem(x->d);
}

static spaa_status graph_codeguru_open_child(struct sp_cg_tree *x, struct sp_span key)
{
    struct sp_json *j = x->j;
    struct sp_span raw;
    uint32_t name = codeguru_name(x, key);
    bool object = sp_json_type(j) == SP_JSON_OBJECT;
    struct sp_cg_child c = {(uint64_t)(j->p - j->start), name};
    if (name == SP_NONE)
        return sp_nomem(x->d);
    if (!object) {
        struct sp_span text = codeguru_name_text(x, name);
        if (sp_json_skip(j, &raw))
            sp_emit(x->d, SP_L300, SP_AT(c.at), "the child `%.*s` is no object",
                    (int)(text.n < 100 ? text.n : 100), text.p);
        return SPAA_OK;
    }
    sp_json_object(j);
    return sp_vec_push(&x->children, c) ? codeguru_open_node(x, name) : sp_nomem(x->d);
}

static spaa_status codeguru_record(struct sp_cg_tree *x, const struct sp_cg_level *l)
{
    struct sp_buf *b = &x->text;
    sp_buf_clear(b);
    sp_buf_printf(b, "{\"type\":\"" SP_CG_NODE "\",\"shared\":%zu,\"path\":[", x->shared);
    for (size_t i = x->shared + 1; i < x->levels.n; i++) {
        struct sp_span n = codeguru_name_text(x, x->levels.v[i].name);
        if (i > x->shared + 1)
            sp_buf_ch(b, ',');
        sp_json_string(b, n.p, n.n);
    }
    sp_buf_puts(b, "],\"node\":{");
    if (x->extra.len > l->extra)
        sp_buf_add(b, x->extra.data + l->extra, x->extra.len - l->extra);
    sp_buf_puts(b, "}}");
    struct sp_extension e = {SP_STR_FAIL};
    if (!b->failed && !x->extra.failed)
        e.json = sp_unique_text(&x->p->strs, (struct sp_span){b->data, b->len}, x->d);
    if (e.json == SP_STR_FAIL || !sp_vec_push(&x->p->extensions, e))
        return sp_nomem(x->d);
    x->shared = x->levels.n - 1;
    return SPAA_OK;
}

/* Children that stand twice. */
static void codeguru_find_duplicates(struct sp_cg_tree *x, const struct sp_cg_level *l)
{
    uint32_t search = ++x->searches;
    for (size_t i = l->children; i < x->children.n; i++) {
        const struct sp_cg_child *c = &x->children.v[i];
        struct sp_span t = codeguru_name_text(x, c->name);
        if (x->of_name.v[c->name].seen == search) {
            x->twins = true;
            sp_emit(x->d, SP_W475, SP_AT(c->at), "`%.*s`", (int)(t.n < 100 ? t.n : 100), t.p);
        }
        x->of_name.v[c->name].seen = search;
    }
}

static spaa_status codeguru_close_node(struct sp_cg_tree *x)
{
    struct sp_cg_level *l = &x->levels.v[x->levels.n - 1];
    bool live = x->cells.n > l->cells, root = l->name == SP_NONE;
    if (live && !root && !codeguru_resolve(x, l))
        return sp_nomem(x->d);
    if (x->children.n > l->children + 1)
        codeguru_find_duplicates(x, l);
    if (!live && l->place.file.n)
        sp_cg_node_keep(x, "file", l->place.file);
    if (!live && l->place.line.n)
        sp_cg_node_keep(x, "line", l->place.line);
    if (x->extra.len > l->extra || (!live && !l->recorded && !root)) {
        spaa_status st = codeguru_record(x, l);
        if (st)
            return st;
        l->recorded = true;
    }
    x->extra.len = l->extra;
    x->children.n = l->children;
    if (!root)
        l[-1].recorded |= l->recorded;
    x->levels.n--;
    if (x->shared >= x->levels.n)
        x->shared = x->levels.n ? x->levels.n - 1 : 0;
    return SPAA_OK;
}

static spaa_status codeguru_step(struct sp_cg_tree *x)
{
    struct sp_cg_level *l = &x->levels.v[x->levels.n - 1];
    struct sp_span key;
    spaa_status st = SPAA_OK;
    if (sp_json_key(x->j, &key)) {
        if (l->in_children)
            st = graph_codeguru_open_child(x, key);
        else
            sp_cg_node_member(x, key);
    } else if (!x->j->error && l->in_children) {
        l->in_children = false;
        if (x->children.n == l->children)
            sp_cg_node_keep(x, "children", (struct sp_span){"{}", 2});
    } else if (!x->j->error) {
        st = codeguru_close_node(x);
    }
    if (!st && (x->extra.failed || x->text.failed || x->j->scratch.failed))
        st = sp_nomem(x->d);
    return !st && x->j->error ? SPAA_ERR_INPUT : st;
}

static spaa_status codeguru_walk(struct sp_cg_tree *x)
{
    spaa_status st = codeguru_open_node(x, SP_NONE);
    if (!st && !sp_json_object(x->j))
        return SPAA_ERR_INPUT;
    while (!st && x->levels.n) {
        st = codeguru_step(x);
        size_t at = (size_t)(x->j->p - x->j->start);
        if (at - x->noted > NOTE_EVERY) {
            x->noted = at;
            if (!st)
                st = sp_input_note(x->g->in, at);
        }
    }
    return st;
}

/* The text is damaged: nodes that did not end are what is known of them. */
static bool codeguru_abandon(struct sp_cg_tree *x)
{
    x->cells.n = x->complete;
    for (size_t i = x->levels.n; i-- > 0;) {
        const struct sp_cg_level *l = &x->levels.v[i];
        codeguru_find_duplicates(x, l);
        x->children.n = l->children;
        if (i && x->cells.n > l->cells && !codeguru_resolve(x, l))
            return false;
    }
    return true;
}

static void codeguru_free_graph(struct sp_cg_tree *x)
{
    sp_strtab_free(&x->names);
    sp_strtab_free(&x->places);
    sp_vec_free(&x->of_name);
    sp_vec_free(&x->frame_of_place);
    sp_vec_free(&x->levels);
    sp_vec_free(&x->children);
    sp_vec_free(&x->nodes);
    sp_vec_free(&x->cells);
    sp_vec_free(&x->counters);
    sp_vec_free(&x->path);
    sp_buf_free(&x->extra);
    sp_buf_free(&x->text);
}

spaa_status sp_cg_read_graph(struct sp_cg_graph *g, struct sp_json *j)
{
    struct sp_cg_tree x = {.g = g, .j = j, .p = g->p, .d = g->d, .noted = (size_t)(j->p - j->start)};
    x.frames_max = sp_json_frames_max((size_t)(j->end - j->start));
    sp_buf_init(&x.extra, 0);
    sp_buf_init(&x.text, 0);
    spaa_status st =
        sp_strtab_init(&x.names) && sp_strtab_init(&x.places) ? codeguru_walk(&x) : sp_nomem(x.d);
    bool damaged = st == SPAA_ERR_INPUT;
    if (damaged && !codeguru_abandon(&x))
        st = sp_nomem(x.d);
    if (!st || st == SPAA_ERR_INPUT)
        st = sp_cg_tree_stacks(&x);
    codeguru_free_graph(&x);
    return !st && damaged ? SPAA_ERR_INPUT : st;
}
