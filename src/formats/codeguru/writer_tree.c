/*
 * Writes the call graph from sorted stacks as it comes: what a stack has in common with the one before is
 * open already.
 */
#include "formats/codeguru/writer.h"

#define CHILDREN_SIZE (sizeof SP_CG_CHILDREN - 1)

struct level {
    uint32_t extra;  /* node of kept members, SP_NONE: none */
    uint32_t cursor; /* its children that were written */
    struct sp_str place;
    bool head, any, open; /* the members but children are written; something is; `children` is open */
};

struct tree {
    struct sp_cg_writer *w;
    SP_VEC(struct level) levels;
    struct sp_cg_sums sums;
    bool nomem;
};

static void codeguru_put(struct tree *t, struct sp_str s)
{
    sp_write(t->w->out, s.p, s.n);
}

static void codeguru_comma(struct tree *t, struct level *l)
{
    if (l->any)
        sp_write(t->w->out, ",", 1);
    l->any = true;
}

enum part { PLACE, OTHERS, CHILDREN };

static enum part codeguru_part_of(struct sp_span key)
{
    return sp_span_is(key, "children")                          ? CHILDREN
           : sp_span_is(key, "file") || sp_span_is(key, "line") ? PLACE
                                                                : OTHERS;
}

/* Members that were kept, a part of them; but counts, which are merged. */
static void codeguru_put_kept(struct tree *t, struct level *l, struct sp_span member, enum part part)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, member.p, member.n);
    j.first = true;
    while (j.p < j.end && sp_json_key(&j, &key)) {
        bool wanted = codeguru_part_of(key) == part && !sp_span_is(key, "counts");
        sp_buf_clear(&t->w->b);
        sp_json_string(&t->w->b, key.p, key.n);
        t->nomem = t->nomem || t->w->b.failed;
        if (!sp_json_skip(&j, &raw))
            break;
        if (!wanted)
            continue;
        codeguru_comma(t, l);
        sp_write(t->w->out, t->w->b.data, t->w->b.len);
        sp_write(t->w->out, ":", 1);
        sp_write(t->w->out, raw.p, raw.n);
    }
    t->nomem = t->nomem || j.scratch.failed;
    sp_json_free(&j);
}

/* Everything of the innermost node but its children. */
static void codeguru_put_head(struct tree *t, struct level *l)
{
    struct sp_span none = {NULL, 0},
                   member = l->extra == SP_NONE ? none : t->w->extras.nodes.v[l->extra].member;
    struct sp_span counts = member.n ? sp_cg_member(member, "counts") : none;
    if (t->sums.v.n || counts.n) {
        codeguru_comma(t, l);
        sp_write(t->w->out, "\"counts\":", 9);
        sp_cg_sums_put(&t->sums, counts);
    }
    if (l->place.n) {
        codeguru_comma(t, l);
        codeguru_put(t, l->place);
    } else if (member.n) {
        codeguru_put_kept(t, l, member, PLACE);
    }
    if (member.n)
        codeguru_put_kept(t, l, member, OTHERS);
    l->head = true;
}

static void codeguru_close_level(struct tree *t)
{
    struct level *l = &t->levels.v[t->levels.n - 1];
    if (!l->head)
        codeguru_put_head(t, l);
    if (l->open)
        sp_write(t->w->out, "}}", 2);
    else {
        if (l->extra != SP_NONE && t->w->extras.nodes.v[l->extra].member.n)
            codeguru_put_kept(t, l, t->w->extras.nodes.v[l->extra].member, CHILDREN);
        sp_write(t->w->out, "}", 1);
    }
    t->levels.n--;
}

static void codeguru_open_level(struct tree *t, uint32_t rank, uint32_t extra, struct sp_str place)
{
    struct level *up = &t->levels.v[t->levels.n - 1];
    if (!up->head)
        codeguru_put_head(t, up);
    struct sp_str key = t->w->keys.v[rank].text;
    if (!up->open) {
        codeguru_comma(t, up);
        up->open = true;
        codeguru_put(t, key);
    } else {
        sp_write(t->w->out, ",", 1);
        sp_write(t->w->out, key.p + CHILDREN_SIZE, key.n - CHILDREN_SIZE);
    }
    struct level l = {.extra = extra, .place = place};
    if (!sp_vec_push(&t->levels, l))
        t->nomem = true;
}

/* The next child of the innermost level's kept node that was not written; SP_NONE: there is none. */
static uint32_t codeguru_next_extra(const struct tree *t, uint32_t *rank)
{
    const struct sp_cg_extras *x = &t->w->extras;
    const struct level *l = &t->levels.v[t->levels.n - 1];
    if (l->extra == SP_NONE || l->cursor >= x->nodes.v[l->extra].n)
        return SP_NONE;
    uint32_t c = x->sorted[x->nodes.v[l->extra].first + l->cursor];
    *rank = t->w->key_ranks[x->nodes.v[c].name] - 1;
    return c;
}

/* Kept nodes below the innermost level that come before `limit` and have no stacks: with all below them. */
static void codeguru_put_extras(struct tree *t, uint32_t limit)
{
    size_t base = t->levels.n;
    while (!t->nomem) {
        uint32_t rank = 0, c = codeguru_next_extra(t, &rank);
        if (c != SP_NONE && (t->levels.n > base || rank < limit)) {
            t->levels.v[t->levels.n - 1].cursor++;
            codeguru_open_level(t, rank, c, (struct sp_str){"", 0});
        } else if (t->levels.n > base) {
            codeguru_close_level(t);
        } else {
            return;
        }
    }
}

static void codeguru_open_child(struct tree *t, uint32_t stack, size_t depth)
{
    struct sp_cg_writer *w = t->w;
    uint32_t rank = sp_cg_key_at(w, stack, depth) - 1, extra = SP_NONE, at = 0;
    if (t->levels.v[t->levels.n - 1].extra != SP_NONE) {
        codeguru_put_extras(t, rank);
        uint32_t c = codeguru_next_extra(t, &at);
        if (c != SP_NONE && at == rank) {
            extra = c;
            t->levels.v[t->levels.n - 1].cursor++;
        }
    }
    struct sp_str place = w->keys.v[rank].place;
    if (w->kept.n) /* there are no commands */
        place = w->places[sp_cg_frame_at(w, stack, depth)];
    if (!t->nomem)
        codeguru_open_level(t, rank, extra, place);
}

static void codeguru_close_children(struct tree *t, size_t levels)
{
    while (t->levels.n > levels && !t->nomem) {
        codeguru_put_extras(t, UINT32_MAX);
        codeguru_close_level(t);
    }
}

bool sp_cg_put_tree(struct sp_cg_writer *w)
{
    struct tree t = {.w = w, .sums = {.w = w}};
    struct level root = {.extra = w->extras.nodes.n ? 0 : SP_NONE};
    t.nomem = !sp_vec_push(&t.levels, root);
    sp_write(w->out, "{", 1);
    for (size_t i = 0; i < w->order.n && !t.nomem && !w->out->status; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        size_t level = i ? sp_cg_common_levels(w, w->order.v[i - 1], stack, 0) : 0;
        codeguru_close_children(&t, level + 1);
        for (; !t.nomem && sp_cg_key_at(w, stack, level); level++)
            codeguru_open_child(&t, stack, level);
        int64_t v = sp_cg_count_of(w, stack, &text);
        if (v != SP_ABSENT)
            sp_cg_sums_add(&t.sums, w->counters_of[w->p->stacks.v[stack].context], v, text);
        t.nomem = t.nomem || t.sums.nomem;
    }
    codeguru_close_children(&t, 0);
    bool nomem = t.nomem || t.sums.nomem;
    sp_vec_free(&t.levels);
    sp_vec_free(&t.sums.v);
    return !nomem;
}
