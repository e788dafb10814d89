/* The address ranges of a process at one time: sorted, without overlap; what comes later covers what was. */
#include "formats/perf_data/resolve.h"

/* The first range that ends behind addr. */
static size_t pd_maps_first_ending_after(const struct sp_pd_maps *maps, uint64_t addr)
{
    size_t lo = 0, hi = maps->list.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (maps->list.v[mid].end <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct sp_pd_map *sp_pd_maps_find(const struct sp_pd_maps *maps, uint64_t addr)
{
    size_t i = pd_maps_first_ending_after(maps, addr);
    return i < maps->list.n && maps->list.v[i].start <= addr ? &maps->list.v[i] : NULL;
}

enum sp_pd_put sp_pd_maps_put(struct sp_pd_maps *maps, struct sp_pd_map add)
{
    struct sp_pd_map keep[3];
    size_t n = 0, i = pd_maps_first_ending_after(maps, add.start), j = i;
    if (add.end <= add.start)
        return SP_PD_PUT;
    while (j < maps->list.n && maps->list.v[j].start < add.end)
        j++;
    if (i < j && maps->list.v[i].start < add.start) {
        keep[n] = maps->list.v[i];
        keep[n++].end = add.start;
    }
    keep[n++] = add;
    if (i < j && maps->list.v[j - 1].end > add.end) {
        keep[n] = maps->list.v[j - 1];
        keep[n].pgoff += add.end - keep[n].start;
        keep[n++].start = add.end;
    }
    size_t after = maps->list.n - (j - i) + n;
    if (after > SP_PD_MAPS_MAX)
        return SP_PD_PUT_FULL;
    if (!sp_vec_reserve(&maps->list, after))
        return SP_PD_PUT_NOMEM;
    if (j < maps->list.n)
        memmove(maps->list.v + i + n, maps->list.v + j, (maps->list.n - j) * sizeof *maps->list.v);
    memcpy(maps->list.v + i, keep, n * sizeof *keep);
    maps->list.n = after;
    return SP_PD_PUT;
}

void sp_pd_maps_forget(struct sp_pd_maps *maps, uint32_t image)
{
    size_t n = 0;
    for (size_t i = 0; i < maps->list.n; i++)
        if (maps->list.v[i].image >= image)
            maps->list.v[n++] = maps->list.v[i];
    maps->list.n = n;
}
