/* Whether dumps are of one process: what they say of it, and counters that only add up while it lives. */
#include "analysis/heap_series.h"

#define ROUNDED 1e-3 /* sums of estimates that were rounded may be so much less */

int64_t sp_heap_pid(const struct sp_heap_dump *x)
{
    return x->pid;
}

int64_t sp_heap_command(const struct sp_heap_dump *x)
{
    return x->command ? (int64_t)x->command : SP_ABSENT;
}

int64_t sp_heap_rate(const struct sp_heap_dump *x)
{
    return x->rate_guessed || !x->rate ? SP_ABSENT : x->rate;
}

bool sp_heap_several(const struct sp_heap_series *h, int64_t (*of)(const struct sp_heap_dump *x), size_t *odd)
{
    size_t n = 0, first = 0, other = SIZE_MAX, like_first = 0, like_other = 0;
    bool third = false;
    *odd = SIZE_MAX;
    for (size_t i = 0; i < h->dumps.n; i++) {
        int64_t v = of(&h->dumps.v[i]);
        if (v == SP_ABSENT)
            continue;
        first = n++ ? first : i;
        if (v == of(&h->dumps.v[first])) {
            like_first++;
            continue;
        }
        other = other == SIZE_MAX ? i : other;
        third = third || v != of(&h->dumps.v[other]);
        like_other++;
    }
    if (n > 2 && !third && other != SIZE_MAX && (like_first == 1 || like_other == 1))
        *odd = like_first == 1 ? first : other;
    return other != SIZE_MAX;
}

static bool falls(const struct sp_heap_sums *a, const struct sp_heap_sums *b, enum sp_leak_metric m)
{
    double was = (double)sp_heap_value(a, m);
    return was > 0 && (double)sp_heap_value(b, m) < was * (1 - ROUNDED);
}

/* From one dump to another; of functions bytes alone, since estimates of blocks may fall. */
static bool falls_at(const struct sp_heap_series *h, size_t from, size_t to, struct sp_heap_fall *f)
{
    f->dump = to;
    f->owner = SIZE_MAX;
    for (int m = SP_LEAK_ALLOC_BYTES; m <= SP_LEAK_ALLOC_COUNT; m++) {
        const struct sp_heap_sums *a = &h->dumps.v[from].all, *b = &h->dumps.v[to].all;
        f->metric = (enum sp_leak_metric)m;
        bool known = a->v[m] != SP_ABSENT && b->v[m] != SP_ABSENT;
        if (known && (m == SP_LEAK_ALLOC_BYTES || h->dumps.v[to].rate <= 1) && falls(a, b, f->metric))
            return true;
    }
    f->metric = SP_LEAK_ALLOC_BYTES;
    double most = 0;
    for (size_t i = 0; i < h->owners.n && h->dumps.v[to].all.v[SP_LEAK_ALLOC_BYTES] != SP_ABSENT; i++) {
        const struct sp_heap_sums *a = sp_heap_at(h, i, from), *b = sp_heap_at(h, i, to);
        double by = (double)sp_heap_value(a, f->metric) - (double)sp_heap_value(b, f->metric);
        if (by > most && falls(a, b, f->metric)) {
            most = by;
            f->owner = i;
        }
    }
    return most > 0;
}

/* The first place where something falls, one dump left out. */
static bool find_fall(const struct sp_heap_series *h, size_t without, struct sp_heap_fall *f)
{
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < h->dumps.n; i++) {
        if (i == without)
            continue;
        if (before != SIZE_MAX && falls_at(h, before, i, f))
            return true;
        before = i;
    }
    return false;
}

void sp_heap_check(struct sp_heap_series *h)
{
    struct sp_heap_fall other;
    size_t odd;
    h->fall.there = find_fall(h, SIZE_MAX, &h->fall);
    h->fall.odd = SIZE_MAX;
    if (h->fall.there && h->dumps.n > 2 && h->order != SP_HEAP_AS_GIVEN) { /* else it may be misplaced */
        size_t at = h->fall.dump;
        bool this = !find_fall(h, at, &other), before = !find_fall(h, at - 1, &other);
        if (this != before)
            h->fall.odd = this ? at : at - 1;
    }
    h->apart = h->fall.there || h->rebuilt || sp_heap_several(h, sp_heap_pid, &odd) ||
               sp_heap_several(h, sp_heap_command, &odd) || sp_heap_several(h, sp_heap_rate, &odd);
}
