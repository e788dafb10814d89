#include "model/join.h"

#include <stdlib.h>
#include <string.h>

#define PART 2048u /* stacks of a part, about: their table is to stay in the first cache */

struct entry {
    uint32_t low; /* lower half of the hash */
    uint32_t stack;
};

/* A stack, and the first one that equals it. */
struct pair {
    uint32_t stack, first;
};

struct parts {
    unsigned bits;                /* upper ones of a hash that say in which part it is */
    size_t *ends;                 /* of parts, in entries */
    SP_VEC(struct entry) entries; /* of all stacks, part by part, in their order */
    uint32_t *slots;              /* of the part in work: 1 + number of its entry, or 0 */
    SP_VEC(struct pair) found;
};

static size_t part_of(const struct parts *x, uint64_t hash)
{
    return x->bits ? (size_t)(hash >> (64 - x->bits)) : 0;
}

static size_t slots_for(size_t n)
{
    size_t slots = 64;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

static bool divide(struct parts *x, const uint64_t *hashes, size_t n)
{
    size_t largest = 0, sum = 0;
    while (n >> x->bits > PART && x->bits < 16)
        x->bits++;
    const size_t nparts = (size_t)1 << x->bits;
    x->ends = calloc(nparts, sizeof *x->ends);
    if (!x->ends || !sp_vec_reserve(&x->entries, n))
        return false;
    for (size_t i = 0; i < n; i++)
        x->ends[part_of(x, hashes[i])]++;
    for (size_t k = 0; k < nparts; k++) {
        size_t count = x->ends[k];
        largest = count > largest ? count : largest;
        x->ends[k] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        x->entries.v[x->ends[part_of(x, hashes[i])]++] = (struct entry){(uint32_t)hashes[i], (uint32_t)i};
    x->slots = malloc(slots_for(largest) * sizeof *x->slots);
    return x->slots;
}

static bool equal(const struct sp_profile *p, const uint64_t *hashes, uint32_t a, uint32_t b)
{
    const struct sp_stack *sa = &p->stacks.v[a], *sb = &p->stacks.v[b];
    return hashes[a] == hashes[b] && sa->n == sb->n && sa->context == sb->context && sa->type == sb->type &&
           (!sa->n || memcmp(p->stack_frames.v + sa->first, p->stack_frames.v + sb->first,
                             sa->n * sizeof *p->stack_frames.v) == 0);
}

static bool look_through(struct parts *x, const struct sp_profile *p, const uint64_t *hashes,
                         const struct entry *part, size_t n)
{
    const size_t mask = slots_for(n) - 1;
    memset(x->slots, 0, (mask + 1) * sizeof *x->slots);
    for (size_t k = 0; k < n; k++) {
        size_t at = part[k].low & mask;
        const struct entry *other = NULL;
        for (; x->slots[at]; at = (at + 1) & mask) {
            other = &part[x->slots[at] - 1];
            if (other->low == part[k].low && equal(p, hashes, other->stack, part[k].stack))
                break;
        }
        if (!x->slots[at]) {
            x->slots[at] = (uint32_t)k + 1;
        } else {
            struct pair pair = {part[k].stack, other->stack};
            if (!sp_vec_push(&x->found, pair))
                return false;
        }
    }
    return true;
}

static int by_stack(const void *a, const void *b)
{
    uint32_t sa = ((const struct pair *)a)->stack, sb = ((const struct pair *)b)->stack;
    return (sa > sb) - (sa < sb);
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

/* Moves n elements of a table. */
static void move_up(void *v, size_t size, size_t to, size_t from, size_t n)
{
    memmove((char *)v + to * size, (char *)v + from * size, n * size);
}

/* Moves the stacks that stay up, run by run; the frames of the others stay, unused. */
static void close_up(struct sp_profile *p, uint64_t *hashes, const struct pair *gone, size_t ngone)
{
    size_t to = gone[0].stack;
    for (size_t k = 0; k < ngone; k++) {
        size_t from = (size_t)gone[k].stack + 1, end = k + 1 < ngone ? gone[k + 1].stack : p->stacks.n;
        for (size_t m = 0; m < p->metrics.n; m++) {
            const struct sp_column *c = &p->columns[m];
            if (from < c->n)
                move_up(c->v, sizeof *c->v, to, from, (end < c->n ? end : c->n) - from);
        }
        move_up(p->stacks.v, sizeof *p->stacks.v, to, from, end - from);
        move_up(hashes, sizeof *hashes, to, from, end - from);
        to += end - from;
    }
    for (size_t m = 0; m < p->metrics.n; m++) {
        size_t k = 0;
        while (k < ngone && gone[k].stack < p->columns[m].n)
            k++;
        p->columns[m].n -= k;
    }
    p->stacks.n = to;
}

/* Weights that are texts are kept by the number of their stack. */
static bool renumber(struct sp_profile *p, const struct pair *gone, size_t ngone, size_t n)
{
    if (!p->decimals.n)
        return true;
    uint32_t *numbers = malloc(n * sizeof *numbers), to = 0;
    if (!numbers)
        return false;
    for (size_t i = 0, k = 0; i < n; i++) {
        bool is_gone = k < ngone && gone[k].stack == i;
        numbers[i] = is_gone ? SP_NONE : to;
        to += !is_gone;
        k += is_gone;
    }
    bool ok = sp_weights_renumber(p, numbers);
    free(numbers);
    return ok;
}

static bool join(struct sp_profile *p, uint64_t *hashes, struct pair *gone, size_t ngone)
{
    const size_t n = p->stacks.n;
    qsort(gone, ngone, sizeof *gone, by_stack);
    for (size_t k = 0; k < ngone; k++)
        if (!add_weights(p, gone[k].stack, gone[k].first))
            return false;
    close_up(p, hashes, gone, ngone);
    return renumber(p, gone, ngone, n);
}

size_t sp_stacks_join(struct sp_profile *p, uint64_t *hashes)
{
    struct parts x = {0};
    bool ok = divide(&x, hashes, p->stacks.n);
    for (size_t k = 0, from = 0; ok && k < (size_t)1 << x.bits; from = x.ends[k++])
        ok = look_through(&x, p, hashes, x.entries.v + from, x.ends[k] - from);
    if (ok && x.found.n)
        ok = join(p, hashes, x.found.v, x.found.n);
    size_t removed = ok ? x.found.n : SIZE_MAX;
    free(x.ends);
    sp_vec_free(&x.entries);
    free(x.slots);
    sp_vec_free(&x.found);
    return removed;
}
