/*
 * The order of the tree: stacks sorted by the ranks of their keys, root first, so that a node's own stacks
 * come right before those of its children, and children by the bytes of their names.
 *
 * Multikey quicksort: at each level, by one key, only among stacks that are equal up to there; no key is
 * compared twice, and deep stacks need no recursion.
 */
#include "formats/codeguru/writer.h"

#include <stdlib.h>

struct range {
    size_t lo, hi, level;
};

size_t sp_cg_depth_slow(const struct sp_cg_writer *w, uint32_t stack)
{
    const struct sp_stack *s = &w->p->stacks.v[stack];
    uint32_t other = sp_stack_partner(w->p, stack);
    return (size_t)s->n + (w->heads[s->context] != 0) + (other == SP_NONE ? 0 : w->p->stacks.v[other].n);
}

uint32_t sp_cg_frame_at(const struct sp_cg_writer *w, uint32_t stack, size_t level)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    if (w->heads[s->context] && level-- == 0)
        return SP_NONE;
    if (level < s->n)
        return p->stack_frames.v[s->first + s->n - 1 - level];
    const struct sp_stack *other = &p->stacks.v[sp_stack_partner(w->p, stack)];
    return p->stack_frames.v[other->first + other->n - 1 - (level - s->n)];
}

uint32_t sp_cg_key_slow(const struct sp_cg_writer *w, uint32_t stack, size_t level)
{
    if (level >= sp_cg_depth_slow(w, stack))
        return 0;
    uint32_t f = sp_cg_frame_at(w, stack, level);
    return f == SP_NONE ? w->heads[w->p->stacks.v[stack].context] : w->ranks[f];
}

static inline bool same_four(const uint32_t *a, const uint32_t *b)
{
    uint64_t u[2], v[2];
    memcpy(u, a, sizeof u);
    memcpy(v, b, sizeof v);
    return ((u[0] ^ v[0]) | (u[1] ^ v[1])) == 0;
}

size_t sp_cg_common(const struct sp_cg_writer *w, uint32_t a, uint32_t b)
{
    const struct sp_profile *p = w->p;
    size_t i = 0;
    if (!sp_cg_plain(w, a) || !sp_cg_plain(w, b)) {
        for (uint32_t k; (k = sp_cg_key(w, a, i)) != 0 && k == sp_cg_key(w, b, i);)
            i++;
        return i;
    }
    const struct sp_stack *x = &p->stacks.v[a], *y = &p->stacks.v[b];
    const uint32_t *fx = p->stack_frames.v + x->first + x->n, *fy = p->stack_frames.v + y->first + y->n;
    size_t n = x->n < y->n ? x->n : y->n;
    while (i < n) {
        while (n - i >= 4 && same_four(fx - i - 4, fy - i - 4))
            i += 4;
        /* Other frames may have the same name. */
        for (size_t end = n - i >= 4 ? i + 4 : n; i < end; i++) {
            uint32_t l = fx[-1 - (ptrdiff_t)i], m = fy[-1 - (ptrdiff_t)i];
            if (l != m && w->ranks[l] != w->ranks[m])
                return i;
        }
    }
    return i;
}

static int compare(const struct sp_cg_writer *w, uint32_t a, uint32_t b, size_t level)
{
    for (;; level++) {
        uint32_t x = sp_cg_key(w, a, level), y = sp_cg_key(w, b, level);
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return a < b ? -1 : a > b;
    }
}

static void insertion(struct sp_cg_writer *w, size_t lo, size_t hi, size_t level)
{
    uint32_t *v = w->order.v;
    for (size_t i = lo + 1; i < hi; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k > lo && compare(w, v[k - 1], x, level) > 0; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

/* Splits [lo, hi) at a key into smaller, equal and larger ones. */
static void split(struct sp_cg_writer *w, const struct range *r, uint32_t *pivot, size_t *lt, size_t *gt)
{
    uint32_t *v = w->order.v;
    *pivot = median(sp_cg_key(w, v[r->lo], r->level), sp_cg_key(w, v[r->lo + (r->hi - r->lo) / 2], r->level),
                    sp_cg_key(w, v[r->hi - 1], r->level));
    size_t l = r->lo, i = r->lo, g = r->hi;
    while (i < g) {
        uint32_t k = sp_cg_key(w, v[i], r->level), t = v[i];
        if (k < *pivot) {
            v[i++] = v[l];
            v[l++] = t;
        } else if (k > *pivot) {
            v[i] = v[--g];
            v[g] = t;
        } else {
            i++;
        }
    }
    *lt = l;
    *gt = g;
}

/* Whether the stacks are sorted already, as those of most files are; then what they share is kept. */
static bool look(struct sp_cg_writer *w, bool *sorted)
{
    *sorted = true;
    w->common = calloc(w->order.n + 1, sizeof *w->common);
    if (!w->common)
        return false;
    for (size_t i = 1; i < w->order.n && *sorted; i++) {
        uint32_t a = w->order.v[i - 1], b = w->order.v[i];
        size_t n = sp_cg_common(w, a, b);
        *sorted = sp_cg_key(w, a, n) <= sp_cg_key(w, b, n);
        w->common[i] = (uint32_t)n;
    }
    if (!*sorted) {
        free(w->common);
        w->common = NULL;
    }
    return true;
}

spaa_status sp_cg_sort(struct sp_cg_writer *w)
{
    enum { SMALL = 12 };
    SP_VEC(struct range) todo = {0};
    bool sorted, ok;
    if (!look(w, &sorted))
        return sp_nomem(w->d);
    if (sorted)
        return SPAA_OK;
    ok = sp_vec_push(&todo, ((struct range){0, w->order.n, 0}));
    while (ok && todo.n) {
        struct range r = todo.v[--todo.n];
        uint32_t pivot;
        size_t lt, gt;
        if (r.hi - r.lo < 2)
            continue;
        if (r.hi - r.lo <= SMALL) {
            insertion(w, r.lo, r.hi, r.level);
            continue;
        }
        split(w, &r, &pivot, &lt, &gt);
        if (!pivot)
            qsort(w->order.v + lt, gt - lt, sizeof *w->order.v, by_number);
        else
            ok = sp_vec_push(&todo, ((struct range){lt, gt, r.level + 1}));
        ok = ok && sp_vec_push(&todo, ((struct range){r.lo, lt, r.level})) &&
             sp_vec_push(&todo, ((struct range){gt, r.hi, r.level}));
    }
    sp_vec_free(&todo);
    return ok ? SPAA_OK : sp_nomem(w->d);
}
