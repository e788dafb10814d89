/*
 * Stretches of addresses, which may lie in one another, by where they begin: the last that reaches over an
 * address. Those in between that end before it, however many, are stepped over by a tree (Fenwick's): element
 * i, counted from 1, knows the highest end of as many elements up to it as its lowest bit says.
 */
#include "dwarf/private.h"

static size_t low_bit(size_t i)
{
    return i & (~i + 1);
}

static const struct sp_dw_reach *element(const struct sp_dw_reach *first, size_t stride, size_t i)
{
    return (const struct sp_dw_reach *)(const void *)((const char *)first + (i - 1) * stride);
}

void sp_dw_reach_set(struct sp_dw_reach *first, size_t stride, size_t n)
{
    for (size_t i = 1; i <= n; i++) {
        struct sp_dw_reach *r = (struct sp_dw_reach *)(uintptr_t)element(first, stride, i);
        r->max = r->hi;
        for (size_t k = 1; k < low_bit(i); k *= 2) {
            uint64_t below = element(first, stride, i - k)->max;
            r->max = below > r->max ? below : r->max;
        }
    }
}

size_t sp_dw_reach_find(const struct sp_dw_reach *first, size_t stride, size_t upto, uint64_t addr)
{
    size_t i = upto;
    while (i) {
        const struct sp_dw_reach *r = element(first, stride, i);
        if (r->hi > addr)
            return i;
        i -= r->max <= addr ? low_bit(i) : 1;
    }
    return 0;
}
