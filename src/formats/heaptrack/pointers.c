/* Which info the memory at a pointer is of: linear probing, and what a removal leaves is filled up again. */
#include "formats/heaptrack/heaptrack.h"

static size_t heaptrack_pointers_home(const struct sp_ht_pointers *t, uint64_t ptr)
{
    return (size_t)((ptr * 0x9E3779B97F4A7C15u) >> t->shift);
}

static void heaptrack_pointers_move(struct sp_ht_pointers *t, struct sp_ht_pointer x)
{
    size_t i = heaptrack_pointers_home(t, x.ptr);
    while (t->slots[i].ptr)
        i = (i + 1) & t->mask;
    t->slots[i] = x;
}

static bool heaptrack_pointers_grow(struct sp_ht_pointers *t)
{
    struct sp_ht_pointers bigger = {.shift = t->slots ? t->shift - 1 : 64 - 10};
    size_t n = (size_t)1 << (64 - bigger.shift);
    if (bigger.shift < 24)
        return false;
    bigger.slots = calloc(n, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    sp_large_pages(bigger.slots, n * sizeof *bigger.slots);
    bigger.mask = n - 1;
    bigger.count = t->count;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].ptr)
            heaptrack_pointers_move(&bigger, t->slots[i]);
    free(t->slots);
    *t = bigger;
    return true;
}

bool sp_ht_pointers_put(struct sp_ht_pointers *t, uint64_t ptr, uint32_t info)
{
    if ((!t->slots || t->count >= (t->mask + 1) / 2) && !heaptrack_pointers_grow(t))
        return false;
    size_t i = heaptrack_pointers_home(t, ptr);
    for (; t->slots[i].ptr; i = (i + 1) & t->mask) {
        if (t->slots[i].ptr != ptr)
            continue;
        t->slots[i].info = info;
        return true;
    }
    t->slots[i] = (struct sp_ht_pointer){ptr, info};
    t->count++;
    return true;
}

bool sp_ht_pointers_take(struct sp_ht_pointers *t, uint64_t ptr, uint32_t *info)
{
    if (!t->slots || !ptr)
        return false;
    size_t i = heaptrack_pointers_home(t, ptr);
    for (; t->slots[i].ptr != ptr; i = (i + 1) & t->mask)
        if (!t->slots[i].ptr)
            return false;
    *info = t->slots[i].info;
    t->count--;
    /* What stands behind it and could stand here, or before, moves up. */
    for (size_t k = (i + 1) & t->mask; t->slots[k].ptr; k = (k + 1) & t->mask) {
        size_t home = heaptrack_pointers_home(t, t->slots[k].ptr);
        if (((k - home) & t->mask) >= ((k - i) & t->mask)) {
            t->slots[i] = t->slots[k];
            i = k;
        }
    }
    t->slots[i].ptr = 0;
    return true;
}
