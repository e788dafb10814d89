/*
 * The weights of stacks: a column of integers per metric, and beside it the text of what is no 64-bit
 * integer.
 *
 * Which metrics a stack has, and in which order, is its layout; most stacks share one. All that return bool:
 * false when out of memory.
 */
#ifndef SP_MODEL_WEIGHTS_H
#define SP_MODEL_WEIGHTS_H

#include "model/tables.h"

uint32_t sp_layout_intern(struct sp_profile *p, const struct sp_weight_field *fields, size_t n);
/* The layout of native readers: samples (unit none) beside the primary metric, or one of the two. */
uint32_t sp_layout_simple(struct sp_profile *p, uint32_t metric_a, uint32_t unit_a, uint32_t metric_b,
                          uint32_t unit_b); /* metric_b SP_NONE: one field */

/* Sets the layout; metrics of the layout without a weight read as absent. */
static inline void sp_stack_set_layout(struct sp_profile *p, uint32_t stack, uint32_t layout)
{
    p->stacks.v[stack].layout = layout;
}
/* Adds to an integer weight (absent counts as 0); overflow is reported once and capped. */
bool sp_weight_add_any(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v);
static inline bool sp_weight_add(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    struct sp_column *c = &p->columns[metric];
    int64_t sum;
    if (stack < c->n && c->v[stack] > SP_DECIMAL && !__builtin_add_overflow(c->v[stack], v, &sum) &&
        sum > SP_DECIMAL) {
        c->v[stack] = sum;
        return true;
    }
    if (stack != c->n || stack >= c->cap || v <= SP_DECIMAL)
        return sp_weight_add_any(p, stack, metric, v);
    c->v[c->n++] = v; /* the first of a new stack */
    return true;
}
bool sp_weight_set(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v);
/* Sets or adds a number given as text: exactly when it is an integer of 64 bits or a decimal. Zeros before
 * its first digit, which JSON does not have, are no part of it. */
bool sp_weight_set_text(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n);
bool sp_weight_add_text(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n);

static inline int64_t sp_weight(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    const struct sp_column *c = &p->columns[metric];
    return stack < c->n ? c->v[stack] : SP_ABSENT;
}
/* The same, but of a decimal that is whole, "50.0", that number. */
int64_t sp_weight_whole(const struct sp_profile *p, uint32_t stack, uint32_t metric);
/* The text of a weight that sp_weight says is SP_DECIMAL. */
struct sp_str sp_weight_text(const struct sp_profile *p, uint32_t stack, uint32_t metric);

/* Stacks got new numbers, those that are gone SP_NONE; their columns are in order: the texts follow. */
bool sp_weights_renumber(struct sp_profile *p, const uint32_t *stacks);

#endif
