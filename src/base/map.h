/*
 * A hash index: from 64-bit hashes to dense uint32_t numbers of things that live elsewhere.
 *
 * The map stores (half of the hash, number) in eight bytes, so that a cache line holds eight whole places;
 * the caller keeps the things and compares them:
 *
 *     struct sp_probe at = sp_map_probe(&m, hash);
 *     for (uint32_t i; (i = sp_map_next(&m, &at)) != SP_MAP_NONE;)
 *         if (equal(things[i], wanted))
 *             return i;
 *     sp_map_add(&m, hash, new_number);      or, with the map as it was: sp_map_add_at(&m, &at, new_number);
 *
 * Open addressing, linear probing, at most 2/3 full. A zeroed map is empty and valid. No removal.
 */
#ifndef SP_MAP_H
#define SP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_MAP_NONE UINT32_MAX

struct sp_map_slot {
    uint32_t low;  /* lower half of the hash: its place, and what tells it from neighbours */
    uint32_t item; /* number + 1; 0: empty */
};

struct sp_map {
    struct sp_map_slot *slots;
    size_t mask; /* slots - 1, when there are slots */
    size_t count, room;
};

struct sp_probe {
    size_t slot;
    uint32_t low;
};

bool sp_map_grow(struct sp_map *m, size_t items); /* room for `items` in all, ahead of time */
bool sp_map_add(struct sp_map *m, uint64_t hash, uint32_t number);
/* The same where sp_map_next just said that no more is there: what it looked at last is the place. */
static inline bool sp_map_add_at(struct sp_map *m, const struct sp_probe *at, uint32_t number)
{
    if (m->count >= m->room || number == SP_MAP_NONE)
        return sp_map_add(m, at->low, number);
    m->slots[at->slot] = (struct sp_map_slot){at->low, number + 1};
    m->count++;
    return true;
}
void sp_map_clear(struct sp_map *m); /* empties, keeps the memory */
void sp_map_free(struct sp_map *m);

static inline struct sp_probe sp_map_probe(const struct sp_map *m, uint64_t hash)
{
    return (struct sp_probe){(uint32_t)hash & m->mask, (uint32_t)hash};
}

/* A probe for this hash comes soon: its slots are fetched meanwhile. */
static inline void sp_map_expect(const struct sp_map *m, uint64_t hash)
{
    if (m->slots)
        __builtin_prefetch(&m->slots[(uint32_t)hash & m->mask]);
}

static inline uint32_t sp_map_next(const struct sp_map *m, struct sp_probe *at)
{
    if (!m->slots)
        return SP_MAP_NONE;
    for (;;) {
        const struct sp_map_slot *s = &m->slots[at->slot];
        if (!s->item)
            return SP_MAP_NONE;
        at->slot = (at->slot + 1) & m->mask;
        if (s->low == at->low)
            return s->item - 1;
    }
}

#endif
