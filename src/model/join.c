#include "model/join.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the first table for each stack: so many that of different stacks few meet. */
#define BITS_EACH 16u

/* A stack, and the first one that equals it. */
struct pair {
    uint32_t stack, first;
};

struct look {
    uint64_t *met, *again; /* bits by hash: one stack or more; two or more */
    uint32_t met_mask, again_mask;
    SP_VEC(uint32_t) some; /* stacks that may equal another, in their order */
    uint32_t *slots;       /* 1 + number of one of these, or 0 */
    SP_VEC(struct pair) found;
};

static uint32_t again_bit(const struct look *x, uint32_t hash)
{
    return hash * 0x9e3779b1u >> 7 & x->again_mask;
}

static bool begin(struct look *x, size_t n)
{
    size_t met = 1024;
    while (met < BITS_EACH * n && met < (size_t)1 << 32)
        met *= 2;
    x->met_mask = (uint32_t)(met - 1);
    x->again_mask = (uint32_t)(met / BITS_EACH - 1) & 0x1ffffff;
    x->met = calloc(met / 64, sizeof *x->met);
    x->again = calloc((size_t)x->again_mask / 64 + 1, sizeof *x->again);
    return x->met && x->again;
}

/* Nearly all stacks differ from all others: what is left has a bit of its hash in common with another one. */
static bool sift(struct look *x, const uint32_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bit = hashes[i] & x->met_mask, again = again_bit(x, hashes[i]);
        if (x->met[bit / 64] >> bit % 64 & 1)
            x->again[again / 64] |= (uint64_t)1 << again % 64;
        x->met[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t again = again_bit(x, hashes[i]);
        if (x->again[again / 64] >> again % 64 & 1 && !sp_vec_push(&x->some, (uint32_t)i))
            return false;
    }
    return true;
}

static bool equal(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    const struct sp_stack *sa = &p->stacks.v[a], *sb = &p->stacks.v[b];
    return sa->n == sb->n && sa->context == sb->context && sa->type == sb->type && sa->edges == sb->edges &&
           (!sa->n || memcmp(p->stack_frames.v + sa->first, p->stack_frames.v + sb->first,
                             sa->n * sizeof *p->stack_frames.v) == 0);
}

static bool look_through(struct look *x, const struct sp_profile *p, const uint32_t *hashes)
{
    size_t slots = 64;
    while (slots < 2 * x->some.n)
        slots *= 2;
    if (!(x->slots = calloc(slots, sizeof *x->slots)))
        return false;
    for (size_t k = 0; k < x->some.n; k++) {
        const uint32_t stack = x->some.v[k];
        size_t at = hashes[stack] & (slots - 1);
        struct pair pair = {stack, SP_NONE};
        for (; x->slots[at] && pair.first == SP_NONE; at = (at + 1) & (slots - 1)) {
            const uint32_t other = x->some.v[x->slots[at] - 1];
            if (hashes[other] == hashes[stack] && equal(p, other, stack))
                pair.first = other;
        }
        if (pair.first == SP_NONE)
            x->slots[at] = (uint32_t)k + 1;
        else if (!sp_vec_push(&x->found, pair))
            return false;
    }
    return true;
}

static bool add_weights(struct sp_profile *p, uint32_t from, uint32_t to)
{
    const struct sp_layout l = p->layouts.v[p->stacks.v[from].layout];
    for (uint32_t i = 0; i < l.n; i++) {
        uint32_t metric = p->layout_fields.v[l.first + i].metric;
        int64_t v = sp_weight(p, from, metric);
        struct sp_str text = v == SP_DECIMAL ? sp_weight_text(p, from, metric) : (struct sp_str){0};
        if (v != SP_ABSENT && !(v == SP_DECIMAL ? sp_weight_add_text(p, to, metric, text.p, text.n)
                                                : sp_weight_add(p, to, metric, v)))
            return false;
    }
    return true;
}

/* A stack and its weights take the place of another one. */
static void take_place(struct sp_profile *p, uint32_t *hashes, uint32_t of, uint32_t stack)
{
    p->stacks.v[of] = p->stacks.v[stack];
    hashes[of] = hashes[stack];
    for (size_t m = 0; m < p->metrics.n; m++) {
        const struct sp_column *c = &p->columns[m];
        if (of < c->n)
            c->v[of] = stack < c->n ? c->v[stack] : SP_ABSENT;
    }
}

/*
 * The last stacks take the places of those that are gone, whose frames stay, unused. What stands behind the
 * others in a column is of a stack that has got its place already.
 */
static void close_up(struct sp_profile *p, uint32_t *hashes, const struct pair *gone, size_t ngone,
                     uint32_t *numbers)
{
    const size_t n = p->stacks.n - ngone;
    size_t last = p->stacks.n, end = ngone;
    for (size_t k = 0; k < ngone && gone[k].stack < n; k++) {
        for (last--; end && gone[end - 1].stack == last; last--)
            end--;
        take_place(p, hashes, gone[k].stack, (uint32_t)last);
        if (numbers)
            numbers[last] = gone[k].stack;
    }
    p->stacks.n = n;
    for (size_t m = 0; m < p->metrics.n; m++)
        p->columns[m].n = p->columns[m].n < n ? p->columns[m].n : n;
}

static bool join(struct sp_profile *p, uint32_t *hashes, const struct pair *gone, size_t ngone)
{
    const size_t n = p->stacks.n;
    uint32_t *numbers = NULL; /* weights that are texts are kept by the number of their stack */
    if (p->decimals.n && !(numbers = malloc(n * sizeof *numbers)))
        return false;
    bool ok = true;
    for (size_t k = 0; ok && k < ngone; k++)
        ok = add_weights(p, gone[k].stack, gone[k].first);
    if (ok && numbers) {
        for (uint32_t i = 0; i < n; i++)
            numbers[i] = i;
        for (size_t k = 0; k < ngone; k++)
            numbers[gone[k].stack] = SP_NONE;
    }
    if (ok)
        close_up(p, hashes, gone, ngone, numbers);
    if (ok && numbers)
        ok = sp_weights_renumber(p, numbers);
    free(numbers);
    return ok;
}

size_t sp_stacks_join(struct sp_profile *p, uint32_t *hashes)
{
    struct look x = {0};
    bool ok = begin(&x, p->stacks.n) && sift(&x, hashes, p->stacks.n) && look_through(&x, p, hashes);
    if (ok && x.found.n)
        ok = join(p, hashes, x.found.v, x.found.n);
    size_t removed = ok ? x.found.n : SIZE_MAX;
    free(x.met);
    free(x.again);
    sp_vec_free(&x.some);
    free(x.slots);
    sp_vec_free(&x.found);
    return removed;
}
