/*
 * The functions of a unit and what is inlined into them: one walk over its entries.
 *
 * Functions and inlined ones become nodes, each knowing what it is inlined into. Their address ranges,
 * which lie in one another, are then cut into disjoint stretches that know the innermost node, so that
 * a question is one search however deep the nesting.
 */
#include "dwarf/private.h"

#include <stdlib.h>

struct span {
    uint64_t lo, hi;
    uint32_t node, depth;
};

struct walk {
    struct sp_dwarf *d;
    struct sp_dw_unit *u;
    const struct sp_dw_abbrevs *t;
    struct sp_dw_inlines *out;
    struct sp_dw_cursor c;
    SP_VEC(struct span) spans;
    sp_dw_ranges ranges;
    uint32_t inside[DW_DEPTH_MAX]; /* by nesting: the node whose entry it is in */
    uint32_t scope[DW_DEPTH_MAX];  /* and the scope */
    size_t depth;
};

/* What is taken of a function's entry. */
struct entry {
    struct sp_dw_value low, high, ranges, origin;
    uint32_t call_file, call_line, call_column;
    uint64_t sibling;
};

static uint32_t small(uint64_t v)
{
    return v <= UINT32_MAX ? (uint32_t)v : 0;
}

static void read_entry(struct walk *w, const struct sp_dw_abbrev *a, struct entry *e)
{
    struct sp_dw_value v;
    *e = (struct entry){0};
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sp_dw_spec *s = &w->t->specs.v[a->first + i];
        sp_dw_value(w->d, w->u, &w->c, s->form, s->implicit, &v);
        switch (s->at) {
        case AT_low_pc:
            e->low = v;
            break;
        case AT_high_pc:
            e->high = v;
            break;
        case AT_ranges:
            e->ranges = v;
            break;
        case AT_call_file:
            e->call_file = small(v.u);
            break;
        case AT_call_line:
            e->call_line = small(v.u);
            break;
        case AT_call_column:
            e->call_column = small(v.u);
            break;
        case AT_abstract_origin:
            e->origin = v;
            break;
        case AT_sibling:
            e->sibling = v.is == DW_REF ? v.u : 0;
            break;
        default:
            break;
        }
    }
}

static bool ranges_of(struct walk *w, const struct entry *e)
{
    uint64_t lo, hi = e->high.u;
    w->ranges.n = 0;
    bool empty; /* of version 4 one whose first range is empty and where the unit begins looks so */
    if (e->ranges.is)
        return sp_dw_range_list(w->d, w->u, &e->ranges, &w->ranges, &empty);
    if (!e->low.is || !e->high.is || !sp_dw_address(w->u, &e->low, &lo))
        return true;
    if (e->high.is == DW_NUMBER)
        hi = lo + e->high.u;
    else if (!sp_dw_address(w->u, &e->high, &hi))
        return true;
    return sp_dw_range_add(w->u, &w->ranges, lo, hi);
}

/* Adds a node for the entry; *node is DW_NO_NODE when it has no code. False: out of memory. */
static bool add_node(struct walk *w, uint64_t die, const struct sp_dw_abbrev *a, const struct entry *e,
                     uint32_t *node)
{
    uint32_t parent = w->inside[w->depth];
    *node = DW_NO_NODE;
    if (!ranges_of(w, e))
        return false;
    if (!w->ranges.n || w->out->nodes.n >= DW_NO_NODE || w->spans.n > DW_RANGES_MAX)
        return true;
    struct sp_dw_node n = {.die = die, .parent = DW_NO_NODE, .entry = UINT64_MAX};
    const bool known = e->origin.is == DW_REF && e->origin.u;
    if (a->tag == TAG_inlined_subroutine) {
        n.die = known ? e->origin.u : die;
        n.parent = parent;
        n.call_file = e->call_file;
        n.call_line = e->call_line;
        n.call_column = e->call_column;
    }
    *node = (uint32_t)w->out->nodes.n;
    for (size_t i = 0; i < w->ranges.n; i++) {
        struct span s = {w->ranges.v[i].lo, w->ranges.v[i].hi, *node, (uint32_t)w->depth};
        if (s.lo < n.entry)
            n.entry = s.lo;
        if (!sp_vec_push(&w->spans, s))
            return false;
    }
    struct sp_dw_copy copy = {e->origin.u, n.entry};
    if (known && a->tag == TAG_subprogram && !sp_vec_push(&w->out->copies, copy))
        return false;
    return sp_vec_push(&w->out->nodes, n);
}

/* Entries below which there is no code. */
static bool is_barren(uint16_t tag)
{
    return tag == TAG_enumeration_type || tag == TAG_array_type || tag == TAG_subroutine_type ||
           tag == TAG_call_site || tag == TAG_GNU_call_site;
}

static bool is_scope(uint16_t tag)
{
    return tag == TAG_namespace || tag == TAG_structure_type || tag == TAG_class_type ||
           tag == TAG_union_type || tag == TAG_subprogram;
}

/* Goes down to what is in an entry. False: out of memory. */
static bool enter(struct walk *w, uint64_t die, uint16_t tag, uint32_t inside)
{
    uint32_t scope = w->scope[w->depth];
    struct sp_dw_scope s = {die, w->u->end, scope, tag};
    if (w->depth + 1 >= DW_DEPTH_MAX) {
        w->c.bad = true;
        return true;
    }
    if (is_scope(tag) && w->out->scopes.n < DW_RANGES_MAX) {
        scope = (uint32_t)w->out->scopes.n;
        if (!sp_vec_push(&w->out->scopes, s))
            return false;
    }
    w->scope[++w->depth] = scope;
    w->inside[w->depth] = inside;
    return true;
}

/* Comes up again behind the last of what is in an entry. */
static void leave(struct walk *w)
{
    if (!w->depth)
        return;
    uint32_t scope = w->scope[w->depth--];
    if (scope != w->scope[w->depth])
        w->out->scopes.v[scope].end = (uint64_t)(w->c.p - w->u->f->sec[DW_INFO].p);
}

/* The entry at the cursor, whose code was read. False: out of memory. */
static bool walk_entry(struct walk *w, uint64_t die, const struct sp_dw_abbrev *a)
{
    const unsigned char *base = w->u->f->sec[DW_INFO].p;
    uint32_t inside = w->inside[w->depth];
    if (a->has_code && (a->tag == TAG_subprogram || a->tag == TAG_inlined_subroutine)) {
        struct entry e;
        uint32_t node;
        read_entry(w, a, &e);
        if (!add_node(w, die, a, &e, &node))
            return false;
        if (node != DW_NO_NODE || a->tag == TAG_subprogram)
            inside = node;
    } else if (a->children && a->has_sibling && is_barren(a->tag)) {
        struct entry e;
        read_entry(w, a, &e);
        const unsigned char *next = base + (e.sibling < w->u->end ? e.sibling : 0);
        if (next > w->c.p && !w->c.bad) {
            w->c.p = next;
            return true;
        }
    } else {
        sp_dw_skip_attributes(w->u, w->t, a, &w->c);
    }
    w->out->typed |= a->tag == TAG_formal_parameter;
    return !a->children || enter(w, die, a->tag, inside);
}

static bool walk(struct walk *w)
{
    const unsigned char *base = w->u->f->sec[DW_INFO].p;
    bool ok = true;
    w->inside[0] = w->scope[0] = DW_NO_NODE;
    while (ok && w->c.p < w->c.end && !sp_dw_excess(w->d)) {
        uint64_t die = (uint64_t)(w->c.p - base), code = sp_dw_uleb(&w->c);
        if (!code) {
            leave(w);
            continue;
        }
        const struct sp_dw_abbrev *a = sp_dw_abbrev_find(w->t, code);
        if (!a) {
            w->c.bad = true;
            break;
        }
        ok = walk_entry(w, die, a);
    }
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->hi != y->hi)
        return x->hi > y->hi ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool dwarf_inlines_add_seg(struct sp_dw_inlines *in, uint64_t start, uint32_t node)
{
    if (in->seg.n && in->seg.v[in->seg.n - 1] == start) {
        in->seg_node.v[in->seg.n - 1] = node;
        return true;
    }
    if (in->seg.n && in->seg_node.v[in->seg.n - 1] == node)
        return true;
    if (!sp_vec_reserve(&in->seg, in->seg.n + 1) || !sp_vec_reserve(&in->seg_node, in->seg.n + 1))
        return false;
    in->seg.v[in->seg.n++] = start;
    in->seg_node.v[in->seg_node.n++] = node;
    return true;
}

/*
 * A sweep over the starts with a stack of the spans still open, the innermost on top. When the top one
 * ends, so do those below that end no later, and the next one goes on.
 */
static bool cut(struct walk *w)
{
    SP_VEC(uint32_t) open = {0};
    const struct span *v = w->spans.v;
    size_t n = w->spans.n;
    bool ok = true;
    if (n)
        qsort(w->spans.v, n, sizeof *w->spans.v, by_place);
    for (size_t i = 0; ok && i <= n; i++) {
        uint64_t next = i < n ? v[i].lo : UINT64_MAX;
        while (ok && open.n && v[open.v[open.n - 1]].hi <= next) {
            uint64_t end = v[open.v[open.n - 1]].hi;
            while (open.n && v[open.v[open.n - 1]].hi <= end)
                open.n--;
            ok = dwarf_inlines_add_seg(w->out, end, open.n ? v[open.v[open.n - 1]].node : DW_NO_NODE);
        }
        if (ok && i < n)
            ok = dwarf_inlines_add_seg(w->out, v[i].lo, v[i].node) && sp_vec_push(&open, (uint32_t)i);
    }
    sp_vec_free(&open);
    return ok;
}

static int copy_by_die(const void *a, const void *b)
{
    const struct sp_dw_copy *x = a, *y = b;
    if (x->die != y->die)
        return x->die < y->die ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

bool sp_dw_inlines_build(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    if (u->inlines.built)
        return true;
    u->inlines.built = true;
    const struct sp_dw_abbrevs *t = sp_dw_abbrevs_of(d, u);
    struct walk *w = t ? malloc(sizeof *w) : NULL;
    if (!w)
        return !t && !sp_dwarf_failed(d);
    w->d = d;
    w->u = u;
    w->t = t;
    w->out = &u->inlines;
    w->c = sp_dw_at(u->f, DW_INFO, u->die, u->end);
    w->depth = 0;
    memset(&w->spans, 0, sizeof w->spans);
    memset(&w->ranges, 0, sizeof w->ranges);
    bool ok = walk(w) && cut(w);
    if (u->inlines.copies.n)
        qsort(u->inlines.copies.v, u->inlines.copies.n, sizeof *u->inlines.copies.v, copy_by_die);
    if (w->c.bad)
        u->f->damaged++;
    sp_vec_free(&w->spans);
    sp_vec_free(&w->ranges);
    free(w);
    return ok;
}

uint32_t sp_dw_inlines_find(const struct sp_dw_inlines *in, uint64_t addr)
{
    size_t lo = 0, hi = in->seg.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (in->seg.v[mid] <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? in->seg_node.v[lo - 1] : DW_NO_NODE;
}

uint64_t sp_dw_inlines_copy(const struct sp_dw_inlines *in, uint64_t die)
{
    size_t lo = 0, hi = in->copies.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (in->copies.v[mid].die < die)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < in->copies.n && in->copies.v[lo].die == die ? in->copies.v[lo].entry : 0;
}

uint32_t sp_dw_scope_of(const struct sp_dw_inlines *in, uint64_t die)
{
    size_t lo = 0, hi = in->scopes.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (in->scopes.v[mid].die < die)
            lo = mid + 1;
        else
            hi = mid;
    }
    uint32_t i = lo ? (uint32_t)lo - 1 : DW_NO_NODE;
    while (i != DW_NO_NODE && in->scopes.v[i].end <= die)
        i = in->scopes.v[i].parent;
    return i;
}
