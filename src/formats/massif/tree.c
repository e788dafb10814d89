/*
 * The tree of a snapshot becomes rows: a stack for each line that none is below, for each sum of places below
 * the threshold, and for what a line has more than those below it. So rows add up to the root.
 */
#include "formats/massif/massif.h"

spaa_status sp_massif_row_add(struct sp_massif *m, const char *mark, int64_t size)
{
    struct sp_vg_place place;
    size_t n = m->path.n;
    if (mark) {
        if (!sp_vg_mark(&m->vg, mark, &place) || !sp_vec_push(&m->path, place))
            return sp_nomem(m->d);
    }
    uint32_t stack = sp_vg_stack(&m->vg, m->path.v, m->path.n, m->context, m->event.layout);
    m->path.n = n;
    if (stack == SP_NONE || !sp_vec_push(&m->rows, ((struct sp_massif_row){stack, size})))
        return sp_nomem(m->d);
    m->snapshots.v[m->snapshots.n - 1].n++;
    return SPAA_OK;
}

uint32_t sp_massif_untold(struct sp_massif *m)
{
    struct sp_vg_place place;
    if (!sp_vg_mark(&m->vg, SP_MASSIF_UNTOLD, &place))
        return SP_NONE;
    uint32_t stack = sp_vg_stack(&m->vg, &place, 1, m->context, m->event.layout);
    for (size_t i = 0; stack != SP_NONE && i < m->event.nmetrics; i++)
        if (!sp_weight_add(m->p, stack, m->event.metric[i], 0))
            return SP_NONE;
    return stack;
}

/* The last of the open nodes is whole. */
static spaa_status massif_node_end(struct sp_massif *m)
{
    const struct sp_massif_node x = m->nodes.v[m->nodes.n - 1];
    bool root = m->nodes.n == 1;
    spaa_status st = SPAA_OK;
    if (x.seen < x.children)
        m->cut++;
    if (x.rest < 0)
        sp_emit(m->d, SP_W772, SP_AT_LINE(m->lines.line, m->lines.offset),
                "the lines below one of %lld bytes have %lld more", (long long)x.size, -(long long)x.rest);
    if (x.rest > 0)
        st = sp_massif_row_add(m, root ? SP_MASSIF_UNTOLD : x.seen ? SP_MASSIF_REST : NULL, x.rest);
    m->nodes.n--;
    if (!root)
        m->path.n--;
    return st;
}

spaa_status sp_massif_tree_end(struct sp_massif *m)
{
    spaa_status st = SPAA_OK;
    while (!st && m->nodes.n)
        st = massif_node_end(m);
    return st;
}

static spaa_status massif_node_bad(struct sp_massif *m, const char *why)
{
    sp_emit(m->d, SP_L302, SP_AT_LINE(m->lines.line, m->lines.offset), "%s", why);
    return m->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

static spaa_status massif_root(struct sp_massif *m, const struct sp_massif_line *line)
{
    struct sp_massif_snapshot *s = &m->snapshots.v[m->snapshots.n - 1];
    struct sp_massif_node x = {line->size, line->size, line->children, 0};
    const char *blank = memchr(line->text.p, ' ', line->text.n);
    s->label = sp_profile_text(m->p, line->text.p, blank ? (size_t)(blank - line->text.p) : line->text.n);
    if (s->label == SP_STR_FAIL || !sp_vec_push(&m->nodes, x))
        return sp_nomem(m->d);
    m->pages = m->pages || memmem(line->text.p, line->text.n, "(page allocation", 16) != NULL;
    if (line->size != s->heap)
        sp_emit(m->d, SP_W772, SP_AT_LINE(m->lines.line, m->lines.offset),
                "snapshot %llu has %lld bytes, its tree %lld", (unsigned long long)s->number,
                (long long)s->heap, (long long)line->size);
    return SPAA_OK;
}

/* Below the last of the open nodes. */
static spaa_status massif_child(struct sp_massif *m, const struct sp_massif_line *line)
{
    struct sp_massif_node *above = &m->nodes.v[m->nodes.n - 1],
                          x = {line->size, line->size, line->children, 0};
    struct sp_vg_frame f;
    struct sp_vg_place place;
    bool below = sp_massif_below(line->text);
    above->seen++;
    if (__builtin_sub_overflow(above->rest, line->size, &above->rest))
        above->rest = INT64_MIN + 1;
    if (below)
        return line->size ? sp_massif_row_add(m, SP_MASSIF_BELOW, line->size) : SPAA_OK;
    if (!sp_vg_frame(line->text.p, line->text.n, &f)) {
        above->rest = above->rest > INT64_MAX - line->size ? INT64_MAX : above->rest + line->size;
        return massif_node_bad(m, "a line of a tree without a frame");
    }
    if (!sp_vg_place(&m->vg, &f, &place) || !sp_vec_push(&m->path, place))
        return sp_nomem(m->d);
    if (!sp_vec_push(&m->nodes, x)) {
        m->path.n--;
        return sp_nomem(m->d);
    }
    return SPAA_OK;
}

spaa_status sp_massif_tree_line(struct sp_massif *m, const struct sp_massif_line *line)
{
    spaa_status st = SPAA_OK;
    if (!line->depth && !m->nodes.n)
        return massif_root(m, line);
    if (!line->depth || line->depth > m->nodes.n || m->nodes.n > SP_VG_DEPTH)
        return massif_node_bad(m, "a line of a tree that is below nothing");
    while (!st && m->nodes.n > line->depth)
        st = massif_node_end(m);
    return st ? st : massif_child(m, line);
}
