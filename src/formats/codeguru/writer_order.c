#include "formats/codeguru/writer.h"

#include <stdlib.h>

/*
 * Stacks sorted by the ranks of their keys, root first, so that a node's own stacks come right before those
 * of its children, and children by the bytes of their names. Multikey quicksort: at each level, by one key,
 * only among stacks that are equal up to there; no key is compared twice, and deep stacks need no recursion.
 */

struct range {
    size_t lo, hi, level;
};

uint32_t sp_cg_frame_at(const struct sp_cg_writer *w, uint32_t stack, size_t i)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    if (i >= s->n) {
        uint32_t kernel = sp_stack_linked(p, stack);
        i -= s->n;
        if (kernel == SP_NONE || i >= p->stacks.v[kernel].n)
            return SP_NONE;
        s = &p->stacks.v[kernel];
    }
    return p->stack_frames.v[s->first + s->n - 1 - i];
}

uint32_t sp_cg_key_at(const struct sp_cg_writer *w, uint32_t stack, size_t level)
{
    uint32_t command = w->commands[w->p->stacks.v[stack].context];
    if (command && level-- == 0)
        return command;
    uint32_t frame = sp_cg_frame_at(w, stack, level);
    return frame == SP_NONE ? 0 : w->ranks[frame];
}

size_t sp_cg_common_levels(const struct sp_cg_writer *w, uint32_t a, uint32_t b, size_t from)
{
    for (uint32_t k; (k = sp_cg_key_at(w, a, from)) != 0 && k == sp_cg_key_at(w, b, from);)
        from++;
    return from;
}

static int codeguru_compare(const struct sp_cg_writer *w, uint32_t a, uint32_t b, size_t level)
{
    level = sp_cg_common_levels(w, a, b, level);
    uint32_t x = sp_cg_key_at(w, a, level), y = sp_cg_key_at(w, b, level);
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static void codeguru_insertion(struct sp_cg_writer *w, size_t lo, size_t hi, size_t level)
{
    uint32_t *v = w->order.v;
    for (size_t i = lo + 1; i < hi; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k > lo && codeguru_compare(w, v[k - 1], x, level) > 0; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

static int codeguru_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t codeguru_median(uint32_t a, uint32_t b, uint32_t c)
{
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

/* Splits [lo, hi) at a key into smaller, equal and larger ones. */
static void codeguru_split(struct sp_cg_writer *w, const struct range *r, uint32_t *pivot, size_t *lt,
                           size_t *gt)
{
    uint32_t *v = w->order.v;
    *pivot = codeguru_median(sp_cg_key_at(w, v[r->lo], r->level),
                             sp_cg_key_at(w, v[r->lo + (r->hi - r->lo) / 2], r->level),
                             sp_cg_key_at(w, v[r->hi - 1], r->level));
    size_t l = r->lo, i = r->lo, g = r->hi;
    while (i < g) {
        uint32_t k = sp_cg_key_at(w, v[i], r->level), t = v[i];
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

spaa_status sp_cg_sort(struct sp_cg_writer *w)
{
    enum { SMALL = 12 };
    SP_VEC(struct range) todo = {0};
    bool ok = sp_vec_push(&todo, ((struct range){0, w->order.n, 0}));
    while (ok && todo.n) {
        struct range r = todo.v[--todo.n];
        uint32_t pivot;
        size_t lt, gt;
        if (r.hi - r.lo < 2)
            continue;
        if (r.hi - r.lo <= SMALL) {
            codeguru_insertion(w, r.lo, r.hi, r.level);
            continue;
        }
        codeguru_split(w, &r, &pivot, &lt, &gt);
        if (!pivot)
            qsort(w->order.v + lt, gt - lt, sizeof *w->order.v, codeguru_by_number);
        else
            ok = sp_vec_push(&todo, ((struct range){lt, gt, r.level + 1}));
        ok = ok && sp_vec_push(&todo, ((struct range){r.lo, lt, r.level})) &&
             sp_vec_push(&todo, ((struct range){gt, r.hi, r.level}));
    }
    sp_vec_free(&todo);
    return ok ? SPAA_OK : sp_nomem(w->d);
}
