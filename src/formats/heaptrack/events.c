/*
 * Allocations and frees.
 *
 * The most that was live at once is known last, and each trace's part of it is wanted. So a peak only counts
 * an epoch up, and a cost that changes for the first time in an epoch keeps what it had: that was its part
 * when the peak was reached. What did not change since has it still.
 */
#include "base/hash.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"

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

uint32_t sp_ht_cost_of(struct sp_ht *ht, uint32_t trace)
{
    uint32_t *slot = trace ? &ht->traces.v[trace - 1].cost : &ht->no_trace;
    if (*slot)
        return *slot - 1;
    if (ht->costs.n >= SP_HT_THINGS_MAX || !sp_vec_reserve(&ht->costs, ht->costs.n + 1) ||
        !sp_vec_push(&ht->cost_trace, trace) || (ht->pointers && !sp_vec_push(&ht->last_info, SP_NONE)) ||
        (ht->windows.most && !sp_vec_push(&ht->windows.seen, 0)))
        return SP_NONE;
    ht->costs.v[ht->costs.n++] = (struct sp_ht_cost){0};
    *slot = (uint32_t)ht->costs.n;
    return *slot - 1;
}

/* Before a cost changes. */
static inline bool touch(struct sp_ht *ht, struct sp_ht_cost *c)
{
    if (c->epoch != ht->epoch) {
        c->peak_bytes = c->alloc_bytes - c->free_bytes;
        c->peak_count = c->alloc_count - c->free_count;
        c->epoch = ht->epoch;
    }
    return !ht->windows.most || sp_ht_windows_touch(ht, (uint32_t)(c - ht->costs.v));
}

/* Raw samples name costs: the stacks of these are known last. */
static spaa_status add_sample(struct sp_ht *ht, const struct sp_ht_info *info)
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

static spaa_status cannot_count(struct sp_ht *ht)
{
    return sp_ht_bad(ht, SP_L751, "an allocation beyond what can be counted");
}

static inline spaa_status allocate(struct sp_ht *ht, uint32_t number)
{
    struct sp_ht_info *info = &ht->infos.v[number];
    struct sp_ht_cost *c = &ht->costs.v[info->cost];
    int64_t size = (int64_t)info->size, sum;
    if (__builtin_add_overflow(ht->alloc_bytes, size, &sum) || info->live == UINT32_MAX)
        return cannot_count(ht);
    if (!touch(ht, c))
        return sp_nomem(ht->d);
    ht->alloc_bytes = sum;
    ht->alloc_count++;
    ht->live_count++;
    info->live++;
    c->alloc_bytes += size;
    c->alloc_count++;
    ht->live_bytes += size;
    if (ht->live_bytes > ht->peak_bytes) {
        ht->peak_bytes = ht->live_bytes;
        ht->peak_time = ht->now;
        ht->epoch++;
    }
    return ht->p->samples ? add_sample(ht, info) : SPAA_OK;
}

static inline spaa_status release(struct sp_ht *ht, uint32_t number, bool temporary)
{
    struct sp_ht_info *info = &ht->infos.v[number];
    struct sp_ht_cost *c = &ht->costs.v[info->cost];
    if (!info->live) {
        ht->bad_frees++;
        return sp_ht_bad(ht, SP_L752, "a free of what is not allocated");
    }
    if (!touch(ht, c))
        return sp_nomem(ht->d);
    info->live--;
    c->free_bytes += (int64_t)info->size;
    c->free_count++;
    ht->live_bytes -= (int64_t)info->size;
    ht->live_count--;
    c->temporary += temporary;
    ht->temporary += temporary;
    return SPAA_OK;
}

/* ---- infos ---- */

static inline spaa_status info_event(struct sp_ht *ht, char kind, uint64_t info)
{
    if (info >= ht->infos.n)
        return sp_ht_bad(ht, SP_L752, kind == '+' ? "an allocation of an info that is not there"
                                                  : "a free of an info that is not there");
    if (kind == '+') {
        ht->last = info;
        return allocate(ht, (uint32_t)info);
    }
    bool temporary = ht->last == info;
    ht->last = 0;
    return release(ht, (uint32_t)info, temporary);
}

/* ---- pointers ---- */

/* The info of a size at a cost; SP_NONE: out of memory. */
static uint32_t info_of(struct sp_ht *ht, uint64_t size, uint32_t cost)
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
    struct sp_ht_info fresh = {size, cost, 0};
    if (ht->infos.n >= SP_HT_THINGS_MAX || !sp_vec_push(&ht->infos, fresh) ||
        !sp_map_add(&ht->info_map, hash, number))
        return SP_NONE;
    return ht->last_info.v[cost] = number;
}

static spaa_status pointer_allocated(struct sp_ht *ht, uint64_t size, uint64_t trace, uint64_t ptr)
{
    if (size > INT64_MAX)
        return cannot_count(ht);
    if (trace > ht->traces.n) {
        spaa_status st = sp_ht_bad(ht, SP_L752, "an allocation at a trace that is not there");
        if (st)
            return st;
        trace = 0;
    }
    uint32_t cost = sp_ht_cost_of(ht, (uint32_t)trace);
    uint32_t info = cost == SP_NONE ? SP_NONE : info_of(ht, size, cost);
    if (info == SP_NONE || (ptr && !sp_ht_pointers_put(&ht->live, ptr, info)))
        return sp_nomem(ht->d);
    ht->last = ht->version || ht->raw ? info : ptr;
    return allocate(ht, info);
}

static spaa_status pointer_freed(struct sp_ht *ht, uint64_t ptr)
{
    uint32_t info;
    if (!sp_ht_pointers_take(&ht->live, ptr, &info)) {
        ht->unknown_frees++;
        return SPAA_OK;
    }
    bool temporary = ht->last == (ht->version || ht->raw ? info : ptr);
    ht->last = 0;
    return release(ht, info, temporary);
}

spaa_status sp_ht_event(struct sp_ht *ht, const char *p, size_t n)
{
    const char *at = p + 2, *end = p + n;
    uint64_t a, b, c;
    bool ok = n > 2 && p[1] == ' ' && sp_ht_hex(&at, end, &a);
    if (ok && !ht->pointers)
        return info_event(ht, *p, a);
    if (ok && *p == '-')
        return pointer_freed(ht, a);
    if (ok && sp_ht_hex(&at, end, &b) && sp_ht_hex(&at, end, &c))
        return pointer_allocated(ht, a, b, c);
    return sp_ht_bad(ht, SP_L751, "an event that is no numbers");
}

/* ---- many at once ---- */

/* A number that ends with `stop`, of at most 16 digits; NULL: it is none of these. */
static inline const char *number(const char *p, char stop, uint64_t *out)
{
    uint64_t v = 0;
    const char *from = p;
    for (unsigned char d; p - from < 16 && (d = digits[(unsigned char)*p]) != 0; p++)
        v = v << 4 | (d - 1u);
    *out = v;
    return p > from && *p == stop ? p + 1 : NULL;
}

/* Lines of events, up to something else; room for three numbers is left at the end. */
enum { ROOM = 64 };

static spaa_status infos_known(struct sp_ht *ht, const char *p, const char *end, size_t *used)
{
    const char *at = p;
    uint64_t offset = ht->lines.offset;
    spaa_status st = SPAA_OK;
    while (!st && end - at >= ROOM && (*at == '+' || *at == '-') && at[1] == ' ') {
        uint64_t info;
        const char *next = number(at + 2, '\n', &info);
        if (!next)
            break;
        ht->lines.line++;
        ht->lines.offset = offset + (uint64_t)(at - p);
        st = info_event(ht, *at, info);
        at = next;
    }
    *used = (size_t)(at - p);
    return st;
}

static spaa_status pointers_known(struct sp_ht *ht, const char *p, const char *end, size_t *used)
{
    const char *at = p;
    uint64_t offset = ht->lines.offset;
    spaa_status st = SPAA_OK;
    while (!st && end - at >= ROOM && (*at == '+' || *at == '-') && at[1] == ' ') {
        uint64_t size = 0, trace = 0, ptr;
        const char *next = at + 2;
        if (*at == '+') {
            next = number(next, ' ', &size);
            next = next ? number(next, ' ', &trace) : NULL;
        }
        next = next ? number(next, '\n', &ptr) : NULL;
        if (!next)
            break;
        ht->lines.line++;
        ht->lines.offset = offset + (uint64_t)(at - p);
        st = *at == '+' ? pointer_allocated(ht, size, trace, ptr) : pointer_freed(ht, ptr);
        at = next;
    }
    *used = (size_t)(at - p);
    return st;
}

spaa_status sp_ht_take_known(void *reader, const char *p, const char *end, size_t *used)
{
    struct sp_ht *ht = reader;
    return ht->pointers ? pointers_known(ht, p, end, used) : infos_known(ht, p, end, used);
}
