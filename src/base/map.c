#include "base/map.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

static void map_put(struct sp_map *m, uint32_t low, uint32_t item)
{
    size_t i = low & m->mask;
    /* Half a hash addresses at most 2^32 slots: numbers are 32 bits as well. */
    while (m->slots[i].item)
        i = (i + 1) & m->mask;
    m->slots[i] = (struct sp_map_slot){low, item};
}

bool sp_map_grow(struct sp_map *m, size_t items)
{
    if (items <= m->room)
        return true;
    size_t slots = m->slots ? (m->mask + 1) * 2 : 64;
    while (slots / 3 * 2 < items) {
        if (slots > SIZE_MAX / 4 / sizeof(struct sp_map_slot))
            return false;
        slots *= 2;
    }
    struct sp_map bigger = {.mask = slots - 1, .count = m->count, .room = slots / 3 * 2};
    bigger.slots = calloc(slots, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    sp_large_pages(bigger.slots, slots * sizeof *bigger.slots);
    sp_touch_pages(bigger.slots, slots * sizeof *bigger.slots);
    for (size_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].item)
            map_put(&bigger, m->slots[i].low, m->slots[i].item);
    free(m->slots);
    *m = bigger;
    return true;
}

bool sp_map_add(struct sp_map *m, uint64_t hash, uint32_t number)
{
    if (number == SP_MAP_NONE || !sp_map_grow(m, m->count + 1))
        return false;
    map_put(m, (uint32_t)hash, number + 1);
    m->count++;
    return true;
}

void sp_map_clear(struct sp_map *m)
{
    if (m->slots)
        memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
    m->count = 0;
}

void sp_map_free(struct sp_map *m)
{
    free(m->slots);
    *m = (struct sp_map){0};
}
