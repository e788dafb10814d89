#include "model/join.h"

#include <stdlib.h>
#include <string.h>

#define PART 2048u /* stacks of a part, about: their table is to stay in the first cache */

struct entry {
    uint32_t low; /* lower half of the hash */
    uint32_t stack;
};

struct parts {
    unsigned bits;         /* upper ones of a hash that say in which part it is */
    size_t *ends;          /* of parts, in entries */
    struct entry *entries; /* of all stacks, part by part, in their order */
    uint32_t *slots;       /* of the part in work: 1 + number of its entry, or 0 */
    uint32_t *same;        /* by stack: the earlier one that equals it; SP_NONE: none */
    size_t found;          /* that have one */
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
    x->entries = malloc((n + 1) * sizeof *x->entries);
    x->same = malloc((n + 1) * sizeof *x->same);
    if (!x->ends || !x->entries || !x->same)
        return false;
    memset(x->same, 0xff, n * sizeof *x->same);
    for (size_t i = 0; i < n; i++)
        x->ends[part_of(x, hashes[i])]++;
    for (size_t k = 0; k < nparts; k++) {
        size_t count = x->ends[k];
        largest = count > largest ? count : largest;
        x->ends[k] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        x->entries[x->ends[part_of(x, hashes[i])]++] = (struct entry){(uint32_t)hashes[i], (uint32_t)i};
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

static void look_through(struct parts *x, const struct sp_profile *p, const uint64_t *hashes,
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
        if (x->slots[at]) {
            x->same[part[k].stack] = other->stack;
            x->found++;
        } else {
            x->slots[at] = (uint32_t)k + 1;
        }
    }
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

/* Moves n elements; those of a table may have ended before. */
static void move_up(void *v, size_t size, size_t to, size_t from, size_t n)
{
    memmove((char *)v + to * size, (char *)v + from * size, n * size);
}

/* Moves the stacks that stay up, run by run; the frames of the others stay, unused. */
static void close_up(struct sp_profile *p, uint64_t *hashes, const uint32_t *same)
{
    const size_t n = p->stacks.n;
    size_t to = 0, cells[SP_METRICS_MAX] = {0};
    for (size_t i = 0, end; i < n; i = end + 1) {
        for (end = i; end < n && same[end] == SP_NONE;)
            end++;
        for (size_t m = 0; m < p->metrics.n; m++) {
            const struct sp_column *c = &p->columns[m];
            size_t stop = end < c->n ? end : c->n;
            if (stop > i) {
                move_up(c->v, sizeof *c->v, to, i, stop - i);
                cells[m] = to + (stop - i);
            }
        }
        move_up(p->stacks.v, sizeof *p->stacks.v, to, i, end - i);
        move_up(hashes, sizeof *hashes, to, i, end - i);
        to += end - i;
    }
    for (size_t m = 0; m < p->metrics.n; m++)
        p->columns[m].n = cells[m];
    p->stacks.n = to;
}

/* What numbers stacks get when those that equal others are gone. */
static bool renumber(struct sp_profile *p, uint32_t *same, size_t n)
{
    uint32_t to = 0;
    for (size_t i = 0; i < n; i++)
        same[i] = same[i] == SP_NONE ? to++ : SP_NONE;
    return sp_weights_renumber(p, same);
}

size_t sp_stacks_join(struct sp_profile *p, uint64_t *hashes)
{
    struct parts x = {0};
    const size_t n = p->stacks.n;
    bool ok = divide(&x, hashes, n);
    for (size_t k = 0, from = 0; ok && k < (size_t)1 << x.bits; from = x.ends[k++])
        look_through(&x, p, hashes, x.entries + from, x.ends[k] - from);
    if (ok && x.found) {
        for (uint32_t i = 0; ok && i < n; i++)
            ok = x.same[i] == SP_NONE || add_weights(p, i, x.same[i]);
        if (ok)
            close_up(p, hashes, x.same);
        ok = ok && renumber(p, x.same, n);
    }
    free(x.ends);
    free(x.entries);
    free(x.same);
    free(x.slots);
    return ok ? x.found : SIZE_MAX;
}
