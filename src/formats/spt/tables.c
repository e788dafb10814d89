#include "formats/spt/tables.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void sp_spt_tables_init(struct sp_spt_tables *t)
{
    *t = (struct sp_spt_tables){0};
    sp_arena_init(&t->arena, 0);
}

void sp_spt_tables_free(struct sp_spt_tables *t)
{
    for (uint32_t i = 0; i < t->programs; i++)
        for (unsigned k = 0; k < SP_SPT_KIND_CALLSTACK; k++)
            free(t->counts[i][k].slots);
    free(t->counts);
    sp_vec_free(&t->stacks);
    sp_map_free(&t->stack_map);
    sp_arena_free(&t->arena);
    sp_spt_tables_init(t);
}

bool sp_spt_tables_reach(struct sp_spt_tables *t, uint32_t program)
{
    if (program < t->programs)
        return true;
    uint32_t room = t->programs ? t->programs * 2 : 16;
    while (room <= program)
        room *= 2;
    void *counts = realloc(t->counts, room * sizeof *t->counts);
    if (!counts)
        return false;
    t->counts = counts;
    memset(t->counts + t->programs, 0, (room - t->programs) * sizeof *t->counts);
    t->programs = room;
    return true;
}

static inline size_t spt_slot_of(const struct sp_spt_counts *c, uint64_t key)
{
    return (size_t)((key * 0x9E3779B97F4A7C15u) >> 32 ^ key) & c->mask;
}

static bool spt_grow(struct sp_spt_counts *c)
{
    size_t n = c->slots ? 2 * (c->mask + 1) : 64;
    struct sp_spt_counts fresh = {calloc(n, sizeof *fresh.slots), n - 1, c->count};
    if (!fresh.slots)
        return false;
    for (size_t i = 0; c->slots && i <= c->mask; i++) {
        const struct sp_spt_count *from = &c->slots[i];
        if (!from->sum.low && !from->sum.high)
            continue;
        size_t at = spt_slot_of(&fresh, from->key);
        while (fresh.slots[at].sum.low || fresh.slots[at].sum.high)
            at = (at + 1) & fresh.mask;
        fresh.slots[at] = *from;
    }
    free(c->slots);
    *c = fresh;
    return true;
}

bool sp_spt_counts_add(struct sp_spt_counts *c, uint64_t key, uint64_t hits)
{
    if (2 * (c->count + 1) > c->mask && !spt_grow(c))
        return false;
    for (size_t i = spt_slot_of(c, key);; i = (i + 1) & c->mask) {
        struct sp_spt_count *s = &c->slots[i];
        bool empty = !s->sum.low && !s->sum.high;
        if (!empty && s->key != key)
            continue;
        s->key = key;
        c->count += empty;
        sp_spt_add(&s->sum, hits);
        return true;
    }
}

static bool spt_add_stack(struct sp_spt_tables *t, const struct sp_spt_waiting *w)
{
    size_t bytes = (size_t)4 * w->n;
    struct sp_probe at = sp_map_probe(&t->stack_map, w->hash);
    for (uint32_t i; (i = sp_map_next(&t->stack_map, &at)) != SP_MAP_NONE;) {
        struct sp_spt_stack *s = &t->stacks.v[i];
        if (s->n == w->n && s->program == w->program &&
            (!bytes || memcmp(s->entries, w->entries, bytes) == 0)) {
            sp_spt_add(&s->sum, w->hits);
            return true;
        }
    }
    unsigned char *copy = sp_arena_alloc(&t->arena, bytes + 1);
    struct sp_spt_stack fresh = {copy, {w->hits, 0}, w->n, w->program};
    if (!copy || t->stacks.n >= SP_NONE - 1 || !sp_vec_reserve(&t->stacks, t->stacks.n + 1) ||
        !sp_map_add(&t->stack_map, w->hash, (uint32_t)t->stacks.n))
        return false;
    memcpy(copy, w->entries, bytes);
    t->stacks.v[t->stacks.n++] = fresh;
    return true;
}

static inline struct sp_spt_waiting spt_waiting(uint32_t program, const unsigned char *entries, uint32_t n,
                                                uint64_t hits)
{
    return (struct sp_spt_waiting){entries, sp_hash64_seed(entries, (size_t)4 * n, program), hits, n,
                                   program};
}

bool sp_spt_stack_add(struct sp_spt_tables *t, uint32_t program, const unsigned char *entries, uint32_t n,
                      uint64_t hits)
{
    struct sp_spt_waiting w = spt_waiting(program, entries, n, hits);
    return spt_add_stack(t, &w);
}

bool sp_spt_tables_settle(struct sp_spt_tables *t)
{
    const struct sp_spt_stack *ahead[SP_SPT_BATCH];
    const struct sp_map *m = &t->stack_map;
    bool ok = true;
    for (unsigned i = 0; i < t->nwaiting && m->slots; i++) {
        uint32_t item = m->slots[(uint32_t)t->waiting[i].hash & m->mask].item;
        ahead[i] = item ? &t->stacks.v[item - 1] : NULL;
        if (item)
            __builtin_prefetch(ahead[i], 1);
    }
    for (unsigned i = 0; i < t->nwaiting && m->slots; i++)
        for (size_t at = 0; ahead[i] && at < (size_t)4 * t->waiting[i].n; at += 64)
            __builtin_prefetch(ahead[i]->entries + at);
    for (unsigned i = 0; ok && i < t->nwaiting; i++)
        ok = spt_add_stack(t, &t->waiting[i]);
    t->nwaiting = 0;
    return ok;
}

bool sp_spt_tables_add(struct sp_spt_tables *t, const struct sp_spt_record *r)
{
    bool ok = sp_spt_tables_reach(t, r->program);
    if (r->kind == SP_SPT_KIND_CALLSTACK) {
        struct sp_spt_waiting *w = &t->waiting[t->nwaiting];
        *w = spt_waiting(r->program, r->entries, r->n, r->hits);
        sp_map_expect(&t->stack_map, w->hash);
        return ok && (++t->nwaiting < SP_SPT_BATCH || sp_spt_tables_settle(t));
    }
    struct sp_spt_counts *c = &t->counts[r->program][r->kind];
    const unsigned char *p = r->entries;
    for (unsigned i = 0; ok && i < r->n; i++) {
        if (r->kind == SP_SPT_KIND_LBR) {
            ok = sp_spt_counts_add(c, (uint64_t)sp_spt_u32(p) << 32 | sp_spt_u32(p + 4), r->hits);
            p += 8;
        } else {
            ok = sp_spt_counts_add(c, sp_spt_u32(p), r->hits);
            p += 4;
        }
    }
    return ok;
}
