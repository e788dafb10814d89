/*
 * From stacks to the rows of a call tree, for writers. Texts and states are numbers of a string table; two
 * frames are one where their texts are.
 */
#ifndef SP_HANG_RENDER_H
#define SP_HANG_RENDER_H

#include "base/strtab.h"
#include "base/vec.h"
#include "formats/common/hang/tree.h"

struct sp_hang_stack {
    const uint32_t *path; /* texts, root first */
    uint32_t n;
    uint32_t state;
    int64_t count;
    const struct sp_hang_segment *ranges; /* in order; n 0: none */
    size_t nranges;
};

struct sp_hang_line {
    uint32_t depth, text, state; /* state: SP_STR_NONE where the row is not where samples ended */
    int64_t count, from, to;     /* from 0: no range */
};

struct sp_hang_render {
    const struct sp_strtab *texts; /* borrowed */
    SP_VEC(struct sp_hang_line) lines;
    SP_VEC(struct sp_hang_node) nodes;
    SP_VEC(struct sp_hang_time_range) time_ranges;
    SP_VEC(uint32_t) order, open;
};

struct sp_hang_node {
    uint32_t parent, text, state, depth, first; /* first: of its children in `order`, while that is made */
    int64_t total;
};

struct sp_hang_time_range { /* a range of one stack */
    const struct sp_hang_stack *stack;
    int64_t from, to, count;
};

void sp_hang_render_free(struct sp_hang_render *r);
/* The rows of these stacks, which are put in order; siblings by count, or by time where there are ranges. */
bool sp_hang_render(struct sp_hang_render *r, struct sp_hang_stack *stacks, size_t n);

#endif
