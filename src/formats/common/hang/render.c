/*
 * Stacks as the rows of a call tree, as hang reports print them. A row where samples ended in one state bears
 * it; where they ended in several, each further state is a sibling of its own. Ranges of samples make a tree
 * in order of time: neighbours share their callers' rows only where one range follows the other without a
 * gap, so that each row's own range is right.
 */
#include "formats/common/hang/render.h"

#include <stdlib.h>

void sp_hang_render_free(struct sp_hang_render *r)
{
    sp_vec_free(&r->lines);
    sp_vec_free(&r->nodes);
    sp_vec_free(&r->time_ranges);
    sp_vec_free(&r->order);
    sp_vec_free(&r->open);
}

static int hang_by_text(const struct sp_hang_render *r, uint32_t a, uint32_t b)
{
    return a == b ? 0 : sp_str_cmp(sp_str_at(r->texts, a), sp_str_at(r->texts, b));
}

static int hang_by_path(const void *va, const void *vb, void *arg)
{
    const struct sp_hang_stack *a = va, *b = vb;
    const struct sp_hang_render *r = arg;
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (a->path[i] != b->path[i])
            return hang_by_text(r, a->path[i], b->path[i]);
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return hang_by_text(r, a->state, b->state);
}

/* Largest first, then by state. */
static int hang_by_count(const void *va, const void *vb, void *arg)
{
    const struct sp_hang_stack *a = va, *b = vb;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return hang_by_text(arg, a->state, b->state);
}

static bool hang_same_path(const struct sp_hang_stack *a, const struct sp_hang_stack *b)
{
    return a->n == b->n && (!a->n || memcmp(a->path, b->path, a->n * sizeof *a->path) == 0);
}

static void hang_add_total(struct sp_hang_render *r, uint32_t node, int64_t count)
{
    for (; node != SP_NONE; node = r->nodes.v[node].parent)
        if (__builtin_add_overflow(r->nodes.v[node].total, count, &r->nodes.v[node].total))
            r->nodes.v[node].total = INT64_MAX;
}

static bool hang_add_node(struct sp_hang_render *r, uint32_t parent, uint32_t text, uint32_t depth)
{
    struct sp_hang_node n = {parent, text, SP_STR_NONE, depth, 0, 0};
    return r->nodes.n < SP_NONE - 1 && sp_vec_push(&r->nodes, n);
}

/* The nodes of stacks [from, to), which have one path; r->open are the nodes of the path before. */
static bool hang_add_path(struct sp_hang_render *r, struct sp_hang_stack *stacks, size_t from, size_t to)
{
    const struct sp_hang_stack *s = &stacks[from];
    uint32_t depth = 0;
    while (depth < r->open.n && depth < s->n && r->nodes.v[r->open.v[depth]].text == s->path[depth])
        depth++;
    r->open.n = depth;
    for (; depth < s->n; depth++) {
        uint32_t parent = depth ? r->open.v[depth - 1] : SP_NONE;
        if (!hang_add_node(r, parent, s->path[depth], depth) ||
            !sp_vec_push(&r->open, (uint32_t)r->nodes.n - 1))
            return false;
    }
    uint32_t node = r->open.v[s->n - 1];
    qsort_r(stacks + from, to - from, sizeof *stacks, hang_by_count, r);
    r->nodes.v[node].state = stacks[from].state;
    hang_add_total(r, node, stacks[from].count);
    for (size_t i = from + 1; i < to; i++) {
        if (!hang_add_node(r, r->nodes.v[node].parent, r->nodes.v[node].text, r->nodes.v[node].depth))
            return false;
        r->nodes.v[r->nodes.n - 1].state = stacks[i].state;
        hang_add_total(r, (uint32_t)r->nodes.n - 1, stacks[i].count);
    }
    return true;
}

static int hang_by_parent(const void *va, const void *vb, void *arg)
{
    const struct sp_hang_render *r = arg;
    const struct sp_hang_node *a = &r->nodes.v[*(const uint32_t *)va],
                              *b = &r->nodes.v[*(const uint32_t *)vb];
    uint32_t x = a->parent + 1, y = b->parent + 1; /* roots first */
    if (x != y)
        return x < y ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    int c = hang_by_text(r, a->text, b->text);
    if (!c)
        c = hang_by_text(r, a->state, b->state);
    return c ? c
             : (*(const uint32_t *)va > *(const uint32_t *)vb) -
                   (*(const uint32_t *)va < *(const uint32_t *)vb);
}

/* The nodes as rows, callers first: from the sorted order, whose groups of siblings are walked with a stack.
 */
static bool hang_print_nodes(struct sp_hang_render *r)
{
    size_t n = r->nodes.n;
    if (!n)
        return true;
    if (!sp_vec_reserve(&r->order, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        r->order.v[i] = i;
    qsort_r(r->order.v, n, sizeof *r->order.v, hang_by_parent, r);
    for (size_t i = n; i-- > 0;) {
        uint32_t parent = r->nodes.v[r->order.v[i]].parent;
        if (parent != SP_NONE)
            r->nodes.v[parent].first = (uint32_t)i + 1;
    }
    r->open.n = 0; /* places in `order` that are to come next */
    if (!sp_vec_push(&r->open, 0))
        return false;
    while (r->open.n) {
        uint32_t at = r->open.v[--r->open.n];
        const struct sp_hang_node *x = &r->nodes.v[r->order.v[at]];
        struct sp_hang_line line = {x->depth, x->text, x->state, x->total, 0, 0};
        if (!sp_vec_push(&r->lines, line))
            return false;
        if (at + 1 < n && r->nodes.v[r->order.v[at + 1]].parent == x->parent &&
            !sp_vec_push(&r->open, at + 1))
            return false;
        if (x->first && !sp_vec_push(&r->open, x->first - 1))
            return false;
    }
    return true;
}

static int hang_by_time(const void *va, const void *vb, void *arg)
{
    const struct sp_hang_time_range *a = va, *b = vb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return hang_by_path(a->stack, b->stack, arg);
}

/* One range as rows; r->open are the rows of callers that it may go on below. */
static bool hang_print_range(struct sp_hang_render *r, const struct sp_hang_time_range *x, int64_t *next)
{
    const struct sp_hang_stack *s = x->stack;
    bool exact = x->count == x->to - x->from + 1;
    uint32_t depth = 0;
    if (exact && x->from == *next)
        while (depth < r->open.n && depth + 1 < s->n && r->lines.v[r->open.v[depth]].text == s->path[depth])
            depth++;
    r->open.n = depth;
    for (uint32_t i = 0; i < depth; i++) {
        r->lines.v[r->open.v[i]].to = x->to;
        r->lines.v[r->open.v[i]].count += x->count;
    }
    for (; depth < s->n; depth++) {
        struct sp_hang_line line = {depth, s->path[depth], SP_STR_NONE, x->count, x->from, x->to};
        if (depth + 1 == s->n)
            line.state = s->state;
        if (!sp_vec_push(&r->lines, line) ||
            (depth + 1 < s->n && !sp_vec_push(&r->open, (uint32_t)r->lines.n - 1)))
            return false;
    }
    *next = exact ? x->to + 1 : -1;
    return true;
}

/* Stacks whose ranges cover their counts, in order of time; they leave the list. */
static bool hang_print_ranges(struct sp_hang_render *r, struct sp_hang_stack *stacks, size_t n)
{
    int64_t next = -1;
    r->time_ranges.n = r->open.n = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < stacks[i].nranges; k++)
            if (__builtin_add_overflow(sum, stacks[i].ranges[k].count, &sum))
                sum = -1;
        if (!stacks[i].nranges || sum != stacks[i].count)
            continue;
        for (size_t k = 0; k < stacks[i].nranges; k++) {
            const struct sp_hang_segment *g = &stacks[i].ranges[k];
            struct sp_hang_time_range x = {&stacks[i], g->from, g->to, g->count};
            if (!sp_vec_push(&r->time_ranges, x))
                return false;
        }
    }
    if (r->time_ranges.n)
        qsort_r(r->time_ranges.v, r->time_ranges.n, sizeof *r->time_ranges.v, hang_by_time, r);
    for (size_t i = 0; i < r->time_ranges.n; i++)
        if (!hang_print_range(r, &r->time_ranges.v[i], &next))
            return false;
    for (size_t i = 0; i < r->time_ranges.n; i++)
        stacks[r->time_ranges.v[i].stack - stacks].count = 0;
    return true;
}

bool sp_hang_render(struct sp_hang_render *r, struct sp_hang_stack *stacks, size_t n)
{
    r->lines.n = r->nodes.n = 0;
    if (!hang_print_ranges(r, stacks, n))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (stacks[i].count > 0 && stacks[i].n)
            stacks[kept++] = stacks[i];
    n = kept;
    if (n)
        qsort_r(stacks, n, sizeof *stacks, hang_by_path, r);
    kept = 0;
    for (size_t i = 0; i < n; i++) { /* equal texts and states add up */
        if (kept && hang_same_path(&stacks[kept - 1], &stacks[i]) &&
            stacks[kept - 1].state == stacks[i].state) {
            if (__builtin_add_overflow(stacks[kept - 1].count, stacks[i].count, &stacks[kept - 1].count))
                stacks[kept - 1].count = INT64_MAX;
        } else {
            stacks[kept++] = stacks[i];
        }
    }
    r->open.n = 0;
    for (size_t i = 0, next; i < kept; i = next) {
        for (next = i + 1; next < kept && hang_same_path(&stacks[i], &stacks[next]); next++)
            ;
        if (!hang_add_path(r, stacks, i, next))
            return false;
    }
    return hang_print_nodes(r);
}
