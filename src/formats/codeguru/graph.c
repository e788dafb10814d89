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
#include "formats/codeguru/codeguru.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"
#include "json/unique.h"

#include <stdlib.h>

#define LEVELS_MAX  ((size_t)1 << 22)
#define FRAMES_FREE ((size_t)64 << 20) /* stack frames of any file; beyond, one per byte of input */
#define NOTE_EVERY  ((size_t)1 << 20)

/* A name that nodes have, by its number in `names`. */
struct name {
    uint32_t frame; /* of nodes that do not say where they are; SP_NONE: not made yet */
    uint32_t seen;  /* the search for names that stand twice that met it last */
};

struct node {
    uint32_t parent; /* SP_NONE: the root, which is no frame */
    uint32_t name;
    uint32_t frame; /* SP_NONE: it has not ended, or nothing was counted in it */
};

/* An open node. */
struct level {
    uint32_t name, node; /* SP_NONE: the root */
    bool in_children, recorded;
    size_t children, cells; /* where those of the node and all below begin */
    size_t extra;           /* where the members to keep begin */
    struct sp_cg_place place;
};

struct child {
    uint64_t at;
    uint32_t name;
};

struct cell {
    uint32_t node, context;
    int64_t v;             /* SP_DECIMAL: see number */
    struct sp_span number; /* as it stands in the text */
};

struct graph {
    struct sp_cg_graph *g;
    struct sp_json *j;
    struct sp_profile *p;
    struct sp_diags *d;
    bool twins; /* a child stood twice */
    struct sp_strtab names;
    struct sp_strtab places; /* name, file and line as they stand */
    SP_VEC(struct name) of_name;
    SP_VEC(uint32_t) frame_of_place;
    SP_VEC(struct level) levels; /* 0: the root */
    SP_VEC(struct child) children;
    SP_VEC(struct node) nodes;
    SP_VEC(struct cell) cells;
    SP_VEC(uint32_t) path;     /* frames of the stack at hand, leaf first */
    size_t complete;           /* cells behind whose numbers the text went on as JSON does */
    size_t shared;             /* levels of the last record's path that still are open */
    uint32_t searches;         /* for children and counters that stand twice */
    SP_VEC(uint32_t) counters; /* by context: the search that met it last */
    size_t noted, frames_max;
    struct sp_buf extra, text;
};

/* ---- names and frames ---- */

static struct sp_span codeguru_name_text(const struct graph *x, uint32_t name)
{
    struct sp_str s = sp_str_at(&x->names, name);
    return (struct sp_span){s.p, s.n};
}

/* SP_NONE: out of memory. */
static uint32_t codeguru_name(struct graph *x, struct sp_span key)
{
    uint32_t name = sp_intern(&x->names, key.p, key.n);
    while (name != SP_STR_FAIL && x->of_name.n <= name)
        if (!sp_vec_push(&x->of_name, ((struct name){.frame = SP_NONE})))
            return SP_NONE;
    return name == SP_STR_FAIL ? SP_NONE : name;
}

/* Where the number of the frame stands that has this name and place; NULL: out of memory. */
static uint32_t *codeguru_known_frame(struct graph *x, uint32_t name, const struct sp_cg_place *place)
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

static bool codeguru_resolve(struct graph *x, const struct level *l)
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

/* ---- members of a node ---- */

static void codeguru_keep_key(struct graph *x, struct sp_span key)
{
    if (x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
}

static void graph_codeguru_keep(struct graph *x, const char *key, struct sp_span raw)
{
    codeguru_keep_key(x, (struct sp_span){key, strlen(key)});
    sp_json_minify(&x->extra, raw);
}

/* Any value, kept as it stands. */
static bool codeguru_keep_member(struct graph *x, struct sp_span key)
{
    const char *odd = sp_span_is(key, "counts") ? "counts" : sp_span_is(key, "children") ? "children" : NULL;
    struct sp_span raw;
    codeguru_keep_key(x, key);
    if (!sp_json_skip(x->j, &raw))
        return false;
    sp_json_minify(&x->extra, raw);
    if (odd)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "`%s`", odd);
    return true;
}

/* Zeros are no observations, and what is no number cannot be counted: they are kept beside. */
static void codeguru_keep_count_key(struct graph *x, struct sp_span key, bool *open)
{
    if (!*open)
        codeguru_keep_key(x, (struct sp_span){"counts", 6});
    sp_buf_ch(&x->extra, *open ? ',' : '{');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    *open = true;
}

static bool codeguru_keep_count(struct graph *x, struct sp_span key, bool *open)
{
    struct sp_span raw;
    codeguru_keep_count_key(x, key, open); /* the value may have escapes, too */
    if (!sp_json_skip(x->j, &raw))
        return false;
    sp_json_minify(&x->extra, raw);
    sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "a count that is no number");
    return true;
}

static uint32_t codeguru_context(struct graph *x, struct sp_span counter)
{
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = x->g->event, .labels = x->g->labels};
    if (x->g->by_state)
        c.state = sp_profile_str(x->p, counter.p, counter.n);
    return c.state == SP_STR_FAIL ? SP_NONE : sp_context_intern(x->p, &c);
}

/* One in another form, "50.0", is kept as it stands and counts all the same. */
static void codeguru_judge_count(struct graph *x, const struct cell *c)
{
    int64_t v = c->v;
    unsigned scale = 0;
    bool fits = v != SP_DECIMAL || sp_parse_scaled(c->number.p, c->number.n, &v, &scale),
         odd = *c->number.p == '-' || !fits;
    if (!odd && !scale && __builtin_add_overflow(x->g->counted, (uint64_t)v, &x->g->counted))
        x->g->counted = UINT64_MAX;
    if (odd || scale)
        sp_emit(x->d, odd ? SP_W476 : SP_W483, SP_AT((uint64_t)(c->number.p - x->j->start)),
                "a count of %.*s", (int)(c->number.n < 40 ? c->number.n : 40), c->number.p);
}

/* Both count; with the states added up, other counters have the same context. False: out of memory. */
static bool codeguru_find_counter_again(struct graph *x, const struct cell *c)
{
    struct sp_str name = sp_pstr(x->p, x->p->contexts.v[c->context].state);
    while (x->counters.n <= c->context)
        if (!sp_vec_push(&x->counters, 0))
            return false;
    if (x->g->by_state && x->counters.v[c->context] == x->searches)
        sp_emit(x->d, SP_E491, SP_AT((uint64_t)(c->number.p - x->j->start)), "the counter `%.*s`; both count",
                (int)(name.n < 100 ? name.n : 100), name.p);
    x->counters.v[c->context] = x->searches;
    return true;
}

static bool codeguru_read_count(struct graph *x, struct sp_span key, bool *open)
{
    struct sp_json *j = x->j;
    struct cell c = {.node = x->levels.v[x->levels.n - 1].node, .v = SP_DECIMAL};
    if (sp_json_type(j) != SP_JSON_NUMBER)
        return codeguru_keep_count(x, key, open);
    if (!sp_json_number(j, &c.number) || sp_cg_cut_number(j, c.number))
        return false;
    if (sp_cg_is_zero(c.number)) {
        codeguru_keep_count_key(x, key, open);
        sp_buf_add(&x->extra, c.number.p, c.number.n);
        return true;
    }
    if (sp_parse_i64(c.number.p, c.number.p + c.number.n, &c.v) != c.number.n || c.v < SP_DECIMAL)
        c.v = SP_DECIMAL;
    if ((c.context = codeguru_context(x, key)) == SP_NONE)
        return sp_json_fail(j, "out of memory");
    codeguru_judge_count(x, &c);
    if (!codeguru_find_counter_again(x, &c))
        return sp_json_fail(j, "out of memory");
    if (!sp_vec_push(&x->cells, c))
        return sp_json_fail(j, "out of memory");
    const char *behind = j->p;
    while (behind < j->end && strchr(" \t\r\n", *behind) && *behind)
        behind++;
    if (behind < j->end && (*behind == ',' || *behind == '}'))
        x->complete = x->cells.n;
    return true;
}

static bool codeguru_read_counts(struct graph *x)
{
    struct sp_json *j = x->j;
    struct sp_span key;
    bool open = false, any = false;
    x->searches++;
    if (!sp_json_object(j))
        return false;
    for (; sp_json_key(j, &key); any = true)
        if (!codeguru_read_count(x, key, &open))
            return false;
    if (j->error)
        return false;
    if (open)
        sp_buf_ch(&x->extra, '}');
    if (!any)
        graph_codeguru_keep(x, "counts", (struct sp_span){"{}", 2});
    return true;
}

static bool codeguru_read_member(struct graph *x, struct sp_span key)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    if (sp_span_is(key, "counts") && sp_json_type(x->j) == SP_JSON_OBJECT)
        return codeguru_read_counts(x);
    if (sp_span_is(key, "children") && sp_json_type(x->j) == SP_JSON_OBJECT) {
        l->in_children = true;
        return sp_json_object(x->j);
    }
    if (l->name != SP_NONE && sp_span_is(key, "file"))
        return sp_json_skip(x->j, &l->place.file);
    if (l->name != SP_NONE && sp_span_is(key, "line"))
        return sp_json_skip(x->j, &l->place.line);
    return codeguru_keep_member(x, key);
}

/* ---- nodes ---- */

static spaa_status codeguru_open_node(struct graph *x, uint32_t name)
{
    struct level l = {
        .name = name, .node = SP_NONE, .children = x->children.n, .cells = x->cells.n, .extra = x->extra.len};
    if (x->levels.n >= LEVELS_MAX) {
        sp_emit(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)), "more than %zu levels", LEVELS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (name != SP_NONE) {
        struct node n = {x->levels.v[x->levels.n - 1].node, name, SP_NONE};
        l.node = (uint32_t)x->nodes.n;
        if (x->nodes.n >= SP_NONE || !sp_vec_push(&x->nodes, n))
            return sp_nomem(x->d);
    }
    return sp_vec_push(&x->levels, l) ? SPAA_OK : sp_nomem(x->d);
}

static spaa_status graph_codeguru_open_child(struct graph *x, struct sp_span key)
{
    struct sp_json *j = x->j;
    struct sp_span raw;
    uint32_t name = codeguru_name(x, key);
    bool object = sp_json_type(j) == SP_JSON_OBJECT;
    struct child c = {(uint64_t)(j->p - j->start), name};
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

static spaa_status codeguru_record(struct graph *x, const struct level *l)
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
static void codeguru_find_duplicates(struct graph *x, const struct level *l)
{
    uint32_t search = ++x->searches;
    for (size_t i = l->children; i < x->children.n; i++) {
        const struct child *c = &x->children.v[i];
        struct sp_span t = codeguru_name_text(x, c->name);
        if (x->of_name.v[c->name].seen == search) {
            x->twins = true;
            sp_emit(x->d, SP_W475, SP_AT(c->at), "`%.*s`", (int)(t.n < 100 ? t.n : 100), t.p);
        }
        x->of_name.v[c->name].seen = search;
    }
}

static spaa_status codeguru_close_node(struct graph *x)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    bool live = x->cells.n > l->cells, root = l->name == SP_NONE;
    if (live && !root && !codeguru_resolve(x, l))
        return sp_nomem(x->d);
    if (x->children.n > l->children + 1)
        codeguru_find_duplicates(x, l);
    if (!live && l->place.file.n)
        graph_codeguru_keep(x, "file", l->place.file);
    if (!live && l->place.line.n)
        graph_codeguru_keep(x, "line", l->place.line);
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

static spaa_status codeguru_step(struct graph *x)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    struct sp_span key;
    spaa_status st = SPAA_OK;
    if (sp_json_key(x->j, &key)) {
        if (l->in_children)
            st = graph_codeguru_open_child(x, key);
        else
            codeguru_read_member(x, key);
    } else if (!x->j->error && l->in_children) {
        l->in_children = false;
        if (x->children.n == l->children)
            graph_codeguru_keep(x, "children", (struct sp_span){"{}", 2});
    } else if (!x->j->error) {
        st = codeguru_close_node(x);
    }
    if (!st && (x->extra.failed || x->text.failed || x->j->scratch.failed))
        st = sp_nomem(x->d);
    return !st && x->j->error ? SPAA_ERR_INPUT : st;
}

static spaa_status codeguru_walk(struct graph *x)
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
static bool codeguru_abandon(struct graph *x)
{
    x->cells.n = x->complete;
    for (size_t i = x->levels.n; i-- > 0;) {
        const struct level *l = &x->levels.v[i];
        codeguru_find_duplicates(x, l);
        x->children.n = l->children;
        if (i && x->cells.n > l->cells && !codeguru_resolve(x, l))
            return false;
    }
    return true;
}

/* ---- nodes that stand several times ---- */

/* The first node with this path, of which `first` has the number for all nodes before. */
static bool codeguru_first_of(struct graph *x, struct sp_map *map, uint32_t *first, uint32_t n)
{
    const struct node *v = x->nodes.v;
    uint32_t parent = v[n].parent == SP_NONE ? SP_NONE : first[v[n].parent];
    uint64_t hash = sp_hash_mix((uint64_t)parent + 1, v[n].name);
    struct sp_probe at = sp_map_probe(map, hash);
    for (uint32_t i; (i = sp_map_next(map, &at)) != SP_MAP_NONE;) {
        uint32_t up = v[i].parent == SP_NONE ? SP_NONE : first[v[i].parent];
        if (up == parent && v[i].name == v[n].name) {
            first[n] = i;
            return true;
        }
    }
    first[n] = n;
    return sp_map_add_at(map, &at, n);
}

/* They are one node, with the file and lines of the first that has them. False: out of memory. */
static bool codeguru_share_places(struct graph *x)
{
    struct node *v = x->nodes.v;
    struct sp_map map = {0};
    uint32_t *first = calloc(x->nodes.n + 1, sizeof *first);
    bool ok = first && sp_map_grow(&map, x->nodes.n);
    for (uint32_t n = 0; ok && n < x->nodes.n; n++) {
        ok = codeguru_first_of(x, &map, first, n);
        uint32_t nowhere = x->of_name.v[v[n].name].frame, *frame = &v[first[n]].frame;
        if (ok && (*frame == SP_NONE || *frame == nowhere) && v[n].frame != SP_NONE)
            *frame = v[n].frame;
    }
    for (uint32_t n = 0; ok && n < x->nodes.n; n++)
        if (v[n].frame != SP_NONE)
            v[n].frame = v[first[n]].frame;
    sp_map_free(&map);
    free(first);
    return ok;
}

/* ---- stacks ---- */

static spaa_status codeguru_add_stack(struct graph *x, const struct cell *c)
{
    struct sp_profile *p = x->p;
    bool is_new;
    x->path.n = 0;
    for (uint32_t n = c->node; n != SP_NONE; n = x->nodes.v[n].parent)
        if (!sp_vec_push(&x->path, x->nodes.v[n].frame))
            return sp_nomem(x->d);
    if (p->stack_frames.n + x->path.n > x->frames_max) {
        sp_emit_hint(x->d, SP_E007, SP_AT((uint64_t)(c->number.p - x->j->start)),
                     "a tree this deep with counts at every level is no profile",
                     "the call stacks add up to more than %zu million frames", x->frames_max >> 20);
        return SPAA_ERR_LIMIT;
    }
    uint32_t s = sp_stack_intern(p, x->path.v, x->path.n, c->context, SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return sp_nomem(x->d);
    if (is_new)
        sp_stack_set_layout(p, s, x->g->layout);
    bool ok = c->v == SP_DECIMAL ? sp_weight_add_text(p, s, x->g->metric, c->number.p, c->number.n)
                                 : sp_weight_add(p, s, x->g->metric, c->v);
    return ok ? SPAA_OK : sp_nomem(x->d);
}

static void codeguru_free_graph(struct graph *x)
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
    struct graph x = {.g = g, .j = j, .p = g->p, .d = g->d, .noted = (size_t)(j->p - j->start)};
    x.frames_max = FRAMES_FREE + (size_t)(j->end - j->start);
    sp_buf_init(&x.extra, 0);
    sp_buf_init(&x.text, 0);
    spaa_status st =
        sp_strtab_init(&x.names) && sp_strtab_init(&x.places) ? codeguru_walk(&x) : sp_nomem(x.d);
    bool damaged = st == SPAA_ERR_INPUT;
    if (damaged && !codeguru_abandon(&x))
        st = sp_nomem(x.d);
    if (!st || st == SPAA_ERR_INPUT) {
        st = !x.twins || codeguru_share_places(&x) ? SPAA_OK : sp_nomem(x.d);
        for (size_t i = 0; !st && i < x.cells.n; i++)
            st = codeguru_add_stack(&x, &x.cells.v[i]);
    }
    codeguru_free_graph(&x);
    return !st && damaged ? SPAA_ERR_INPUT : st;
}
