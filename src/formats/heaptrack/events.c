/* What happened: the numbers of a line, the pointers that are live, and the allocations and frees themselves.
 */
#include "base/hash.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"

/* ---- lines: their numbers, and the report of one that was not understood ---- */

/* 1 + the digit, 0 for what is none. */
static const unsigned char digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

bool sp_ht_hex(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    uint64_t v = 0;
    for (; p < end && digits[(unsigned char)*p]; p++) {
        if (v >> 60)
            return false;
        v = v << 4 | (digits[(unsigned char)*p] - 1u);
    }
    if (p == *at || (p < end && *p != ' '))
        return false;
    *at = p + (p < end);
    *out = v;
    return true;
}

spaa_status sp_ht_bad(struct sp_ht *ht, enum sp_code code, const char *what)
{
    ht->bad_lines++;
    sp_emit(ht->d, code, sp_ht_here(ht), "%s", what);
    return ht->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

/*
 * ---- live pointers ----
 *
 * Which info the memory at a pointer is of: linear probing, and what a removal leaves is filled up again.
 */

static size_t heaptrack_pointers_home(const struct sp_ht_pointers *t, uint64_t ptr)
{
    return (size_t)((ptr * (sp_hash_secret[0] | 1)) >> t->shift);
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

static bool heaptrack_pointers_put(struct sp_ht_pointers *t, uint64_t ptr, uint32_t info)
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

static bool heaptrack_pointers_remove(struct sp_ht_pointers *t, uint64_t ptr, uint32_t *info)
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

/*
 * ---- allocations and frees ----
 *
 * The most that was live at once is known last, and each trace's part of it is wanted. So a peak only counts
 * an epoch up, and an info that changes for the first time in an epoch keeps what it had: that was its part
 * when the peak was reached. What did not change since has it still.
 */

uint32_t sp_ht_cost_of(struct sp_ht *ht, uint32_t trace)
{
    uint32_t *slot = trace ? &ht->traces.v[trace - 1].cost : &ht->no_trace;
    if (*slot)
        return *slot - 1;
    if (ht->costs.n >= SP_HT_THINGS_MAX || !sp_vec_reserve(&ht->costs, ht->costs.n + 1) ||
        !sp_vec_push(&ht->cost_trace, trace) || !sp_vec_push(&ht->last_info, SP_NONE) ||
        (ht->windows.most && !sp_vec_push(&ht->windows.at, 0)))
        return SP_NONE;
    ht->costs.v[ht->costs.n++] = (struct sp_ht_cost){0};
    *slot = (uint32_t)ht->costs.n;
    return *slot - 1;
}

bool sp_ht_add_info(struct sp_ht *ht, uint64_t size, uint32_t cost)
{
    struct sp_ht_info info = {.size = size, .cost = cost};
    return (!ht->windows.most || sp_vec_push(&ht->windows.seen, 0)) && sp_vec_push(&ht->infos, info);
}

void sp_ht_add_up(struct sp_ht *ht)
{
    for (size_t i = 0; i < ht->infos.n; i++) {
        const struct sp_ht_info *x = &ht->infos.v[i];
        struct sp_ht_cost *c = &ht->costs.v[x->cost];
        int64_t size = (int64_t)x->size, peak = x->epoch == ht->epoch ? x->peak : x->live;
        c->alloc_count += x->allocs;
        c->alloc_bytes += x->allocs * size;
        c->live_count += x->live;
        c->live_bytes += x->live * size;
        c->temporary += x->temporary;
        c->peak_count += peak;
        c->peak_bytes += peak * size;
    }
}

/* Before an info changes. */
static inline bool heaptrack_event_touch(struct sp_ht *ht, struct sp_ht_info *x)
{
    if (x->epoch != ht->epoch) {
        x->peak = x->live;
        x->epoch = ht->epoch;
    }
    return !ht->windows.most || sp_ht_windows_touch(ht, (uint32_t)(x - ht->infos.v));
}

/* A new peak. Epochs that ran out begin again, with all infos as they were when the last one began. */
static inline void heaptrack_event_next_epoch(struct sp_ht *ht)
{
    if (++ht->epoch != UINT32_MAX)
        return;
    for (size_t i = 0; i < ht->infos.n; i++) {
        ht->infos.v[i].peak = ht->infos.v[i].live;
        ht->infos.v[i].epoch = 1;
    }
    ht->epoch = 1;
}

/* Raw samples name costs: the stacks of these are known last. */
static spaa_status heaptrack_event_add_sample(struct sp_ht *ht, const struct sp_ht_info *info)
{
    struct sp_sample row = {.time = ht->now * 1000000,
                            .pid = SP_ABSENT,
                            .tid = SP_ABSENT,
                            .cpu = SP_ABSENT,
                            .period = (int64_t)info->size,
                            .stack = info->cost,
                            .flags = SP_SAMPLE_TIME};
    return sp_samples_add(ht->p->samples, &row);
}

static spaa_status heaptrack_event_cannot_count(struct sp_ht *ht)
{
    return sp_ht_bad(ht, SP_L751, "an allocation beyond what can be counted");
}

static inline spaa_status heaptrack_event_allocate(struct sp_ht *ht, uint32_t number)
{
    struct sp_ht_info *x = &ht->infos.v[number];
    int64_t size = (int64_t)x->size, sum;
    if (__builtin_add_overflow(ht->alloc_bytes, size, &sum) || x->live == UINT32_MAX)
        return heaptrack_event_cannot_count(ht);
    if (!heaptrack_event_touch(ht, x))
        return sp_nomem(ht->d);
    ht->alloc_bytes = sum;
    ht->alloc_count++;
    ht->live_count++;
    x->live++;
    if (!++x->allocs) {
        ht->costs.v[x->cost].alloc_count += (int64_t)1 << 32;
        ht->costs.v[x->cost].alloc_bytes += size << 32;
    }
    ht->live_bytes += size;
    if (ht->live_bytes > ht->windows.open.most)
        ht->windows.open.most = ht->live_bytes;
    if (ht->live_bytes > ht->peak_bytes) {
        ht->peak_bytes = ht->live_bytes;
        ht->peak_time = ht->now;
        heaptrack_event_next_epoch(ht);
    }
    return ht->p->samples ? heaptrack_event_add_sample(ht, x) : SPAA_OK;
}

static inline spaa_status heaptrack_event_release(struct sp_ht *ht, uint32_t number, bool temporary)
{
    struct sp_ht_info *x = &ht->infos.v[number];
    if (!x->live) {
        ht->bad_frees++;
        return sp_ht_bad(ht, SP_L752, "a free of what is not allocated");
    }
    if (!heaptrack_event_touch(ht, x))
        return sp_nomem(ht->d);
    x->live--;
    ht->live_bytes -= (int64_t)x->size;
    ht->live_count--;
    ht->temporary += temporary;
    x->temporary += temporary;
    if (temporary && !x->temporary)
        ht->costs.v[x->cost].temporary += (int64_t)1 << 32;
    return SPAA_OK;
}

/* ---- infos ---- */

static inline spaa_status heaptrack_info_event(struct sp_ht *ht, char kind, uint64_t info)
{
    if (info >= ht->infos.n)
        return sp_ht_bad(ht, SP_L752,
                         kind == '+' ? "an allocation of an info that is not there"
                                     : "a free of an info that is not there");
    if (kind == '+') {
        ht->last = info;
        return heaptrack_event_allocate(ht, (uint32_t)info);
    }
    bool temporary = ht->last == info;
    ht->last = 0;
    return heaptrack_event_release(ht, (uint32_t)info, temporary);
}

/* ---- pointers ---- */

/* The info of a size at a cost; SP_NONE: out of memory. */
static uint32_t heaptrack_event_info_of(struct sp_ht *ht, uint64_t size, uint32_t cost)
{
    uint32_t last = ht->last_info.v[cost];
    if (last != SP_NONE && ht->infos.v[last].size == size)
        return last;
    uint64_t hash = sp_hash_mix(size, cost);
    struct sp_probe at = sp_map_probe(&ht->info_map, hash);
    for (uint32_t i; (i = sp_map_next(&ht->info_map, &at)) != SP_MAP_NONE;)
        if (ht->infos.v[i].size == size && ht->infos.v[i].cost == cost)
            return ht->last_info.v[cost] = i;
    uint32_t number = (uint32_t)ht->infos.n;
    if (ht->infos.n >= SP_HT_THINGS_MAX || !sp_ht_add_info(ht, size, cost) ||
        !sp_map_add(&ht->info_map, hash, number))
        return SP_NONE;
    return ht->last_info.v[cost] = number;
}

static spaa_status heaptrack_pointer_allocated(struct sp_ht *ht, uint64_t size, uint64_t trace, uint64_t ptr)
{
    if (size > INT64_MAX)
        return heaptrack_event_cannot_count(ht);
    if (trace > ht->traces.n) {
        spaa_status st = sp_ht_bad(ht, SP_L752, "an allocation at a trace that is not there");
        if (st)
            return st;
        trace = 0;
    }
    uint32_t cost = sp_ht_cost_of(ht, (uint32_t)trace);
    uint32_t info = cost == SP_NONE ? SP_NONE : heaptrack_event_info_of(ht, size, cost);
    if (info == SP_NONE || (ptr && !heaptrack_pointers_put(&ht->live, ptr, info)))
        return sp_nomem(ht->d);
    ht->last = ht->version || ht->raw ? info : ptr;
    return heaptrack_event_allocate(ht, info);
}

static spaa_status heaptrack_pointer_freed(struct sp_ht *ht, uint64_t ptr)
{
    uint32_t info;
    if (!heaptrack_pointers_remove(&ht->live, ptr, &info)) {
        ht->unknown_frees++;
        return SPAA_OK;
    }
    bool temporary = ht->last == (ht->version || ht->raw ? info : ptr);
    ht->last = 0;
    return heaptrack_event_release(ht, info, temporary);
}

spaa_status sp_ht_event(struct sp_ht *ht, const char *p, size_t n)
{
    const char *at = p + 2, *end = p + n;
    uint64_t a, b, c;
    bool ok = n > 2 && p[1] == ' ' && sp_ht_hex(&at, end, &a);
    if (ok && !ht->pointers)
        return heaptrack_info_event(ht, *p, a);
    if (ok && *p == '-')
        return heaptrack_pointer_freed(ht, a);
    if (ok && sp_ht_hex(&at, end, &b) && sp_ht_hex(&at, end, &c))
        return heaptrack_pointer_allocated(ht, a, b, c);
    return sp_ht_bad(ht, SP_L751, "an event that is no numbers");
}
