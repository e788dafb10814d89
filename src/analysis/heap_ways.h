/*
 * For whom an owner's memory grows: the program's own functions above it, along the way that most of the
 * growth goes, as leaks_callers.h tells of one profile. Behind a wrapper that all ask, this is who asks.
 *
 * A way is the next own functions above an owner's frame, by their names; amounts are added to it dump by
 * dump, so that profiles need not stay.
 */
#ifndef SP_HEAP_WAYS_H
#define SP_HEAP_WAYS_H

#include "analysis/leaks_callers.h"
#include "base/map.h"
#include "base/strtab.h"

struct sp_heap_way {
    uint32_t owner;
    uint32_t next; /* 1 + the next way of its owner; 0: it is the last one */
    uint32_t n;
    uint32_t name[SP_LEAK_CALLERS]; /* in the strings of the series, the nearest first */
};

struct sp_heap_way_value {
    uint32_t way, dump;
    int64_t v;
};

struct sp_heap_ways {
    SP_VEC(struct sp_heap_way) all;
    SP_VEC(uint32_t) first; /* per owner: 1 + its first way */
    SP_VEC(struct sp_heap_way_value) values;
    struct sp_map map;
};

/* Of the growth from one dump to another one, these take most. */
struct sp_heap_callers {
    uint32_t name[SP_LEAK_CALLERS]; /* in the strings of the series */
    unsigned n;
    double weight, whole; /* what goes this way of all that ways gained */
    double nearest;       /* what goes through the first of them */
    uint32_t others;      /* nearest own functions beside the first that grow as well, or hold something */
};

void sp_heap_ways_free(struct sp_heap_ways *w);
/*
 * Adds to the way of an owner what a row of the selection has; at: the owner's frame among the visible ones.
 * False: out of memory, or the call is to be left.
 */
bool sp_heap_ways_add(struct sp_heap_ways *w, struct sp_strtab *strs, struct sp_selection *s,
                      const struct sp_own *own, size_t row, size_t at, uint32_t owner, uint32_t dump,
                      int64_t v);
/* From and to: dumps, by the numbers they were added with. None where nothing grew. False: out of memory. */
bool sp_heap_callers_of(const struct sp_heap_ways *w, uint32_t owner, uint32_t from, uint32_t to,
                        struct sp_heap_callers *out);
/* Once all dumps are there, before callers are asked for: values by way, then by dump. */
void sp_heap_ways_sort(struct sp_heap_ways *w);

#endif
