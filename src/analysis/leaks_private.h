/* What the files of analysis/leaks share while rows are made. */
#ifndef SP_LEAKS_PRIVATE_H
#define SP_LEAKS_PRIVATE_H

#include "analysis/leaks.h"
#include "base/hash.h"

struct sp_leak_builder {
    struct sp_selection *s;
    const struct sp_leaks_opts *o;
    struct sp_diags *d;
    struct sp_leaks l;
    uint32_t metric[SP_LEAK_METRICS]; /* SP_NONE: the profile has none */
    uint32_t *alike;                  /* per function: the first of its name in DSOs of one base name */
    uint32_t *line;                   /* per stack: 1 + its part of lines; 0: none, or it is suppressed */
    struct sp_map map, part_maps[SP_LEAK_PARTS];
    SP_VEC(uint32_t) keys;   /* of rows: how reachable, then functions; one after the other */
    SP_VEC(size_t) key_from; /* per row */
    SP_VEC(uint32_t) path;
    bool peaks_add, end_untold;
};

/* Row i of the selection goes into its row and its parts. False: out of memory. */
bool sp_leak_take(struct sp_leak_builder *b, uint32_t i);
/* The growth of rows and lines, whose never_freed is known. */
spaa_status sp_leak_grow(struct sp_leak_builder *b);
/* Whether all that was allocated of it is live. */
bool sp_leak_never_freed(const struct sp_leak_sums *now, const int64_t hidden[2]);
/* The states, of rows whose parts are sorted by row. */
void sp_leak_judge(struct sp_leaks *l);
/* Live bytes rise in each of the last three quarters, surely: what frees may rise by chance. */
bool sp_leak_rises(const struct sp_leak_course *g, bool never_freed);

static inline int64_t sp_leak_zero(int64_t v)
{
    return v == SP_ABSENT ? 0 : v;
}

#endif
