/*
 * Allocations and frees.
 *
 * The most that was live at once is known last, and each trace's part of it is wanted. So a peak only counts
 * an epoch up, and an info that changes for the first time in an epoch keeps what it had: that was its part
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
static inline bool touch(struct sp_ht *ht, struct sp_ht_info *x)
{
    if (x->epoch != ht->epoch) {
        x->peak = x->live;
        x->epoch = ht->epoch;
    }
    return !ht->windows.most || sp_ht_windows_touch(ht, (uint32_t)(x - ht->infos.v));
}

/* A new peak. Epochs that ran out begin again, with all infos as they were when the last one began. */
static inline void next_epoch(struct sp_ht *ht)
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
    struct sp_ht_info *x = &ht->infos.v[number];
    int64_t size = (int64_t)x->size, sum;
    if (__builtin_add_overflow(ht->alloc_bytes, size, &sum) || x->live == UINT32_MAX)
        return cannot_count(ht);
    if (!touch(ht, x))
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
    if (ht->live_bytes > ht->peak_bytes) {
        ht->peak_bytes = ht->live_bytes;
        ht->peak_time = ht->now;
        next_epoch(ht);
    }
    return ht->p->samples ? add_sample(ht, x) : SPAA_OK;
}

static inline spaa_status release(struct sp_ht *ht, uint32_t number, bool temporary)
{
    struct sp_ht_info *x = &ht->infos.v[number];
    if (!x->live) {
        ht->bad_frees++;
        return sp_ht_bad(ht, SP_L752, "a free of what is not allocated");
    }
    if (!touch(ht, x))
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

static inline spaa_status info_event(struct sp_ht *ht, char kind, uint64_t info)
{
    if (info >= ht->infos.n)
        return sp_ht_bad(ht, SP_L752,
                         kind == '+' ? "an allocation of an info that is not there"
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
    if (ht->infos.n >= SP_HT_THINGS_MAX || !sp_ht_add_info(ht, size, cost) ||
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

/*
 * Events are few bytes, and what each changes is somewhere else in tables larger than the caches: so a number
 * of lines is read, what they will touch is asked for, and only then they are counted, in their order.
 */
enum { ROOM = 64, AHEAD = 32 }; /* ROOM for three numbers is left at the end */

struct event {
    const char *at;
    uint64_t a, b, c; /* an info; or size, trace, pointer */
};

/* Lines of events at *at, up to AHEAD of them or something else. */
static size_t parse(const char **at, const char *end, bool pointers, struct event *out)
{
    size_t n = 0;
    for (const char *p = *at; n < AHEAD && end - p >= ROOM && (*p == '+' || *p == '-') && p[1] == ' '; n++) {
        struct event *e = &out[n];
        const char *next = p + 2;
        e->at = p;
        if (!pointers) {
            next = number(next, '\n', &e->a);
        } else {
            if (*p == '+') {
                next = number(next, ' ', &e->a);
                next = next ? number(next, ' ', &e->b) : NULL;
            }
            next = next ? number(next, '\n', &e->c) : NULL;
        }
        if (!next)
            break;
        p = *at = next;
    }
    return n;
}

static void ask_info(const struct sp_ht *ht, uint32_t info)
{
    __builtin_prefetch(&ht->infos.v[info], 1);
    if (ht->windows.most)
        __builtin_prefetch(&ht->windows.seen.v[info], 1);
}

static void ask_infos(const struct sp_ht *ht, const struct event *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].a < ht->infos.n)
            ask_info(ht, (uint32_t)e[i].a);
}

static void ask_pointers(const struct sp_ht *ht, const struct event *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sp_ht_pointers_ask(&ht->live, e[i].c);
        if (*e[i].at == '+' && e[i].b && e[i].b <= ht->traces.n)
            __builtin_prefetch(&ht->traces.v[e[i].b - 1]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t cost =
            *e[i].at == '+' && e[i].b && e[i].b <= ht->traces.n ? ht->traces.v[e[i].b - 1].cost : 0;
        uint32_t info = cost ? SP_NONE : sp_ht_pointers_peek(&ht->live, e[i].c);
        if (info != SP_NONE)
            ask_info(ht, info);
        if (cost)
            __builtin_prefetch(&ht->last_info.v[cost - 1]);
    }
}

spaa_status sp_ht_take_known(void *reader, const char *p, const char *end, size_t *used)
{
    struct sp_ht *ht = reader;
    struct event e[AHEAD];
    const char *at = p;
    uint64_t offset = ht->lines.offset;
    spaa_status st = SPAA_OK;
    for (size_t n; !st && (n = parse(&at, end, ht->pointers, e)) > 0;) {
        if (ht->pointers)
            ask_pointers(ht, e, n);
        else
            ask_infos(ht, e, n);
        for (size_t i = 0; !st && i < n; i++) {
            char kind = *e[i].at;
            ht->lines.line++;
            ht->lines.offset = offset + (uint64_t)(e[i].at - p);
            st = !ht->pointers ? info_event(ht, kind, e[i].a)
                 : kind == '+' ? pointer_allocated(ht, e[i].a, e[i].b, e[i].c)
                               : pointer_freed(ht, e[i].c);
        }
    }
    *used = (size_t)(at - p);
    return st;
}
