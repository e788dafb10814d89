/*
 * The canonical order of a profile's tables: by content, never by the order things came in.
 *
 * Tables are not moved; an order is a permutation beside them. Ranks (numbers in the file) start at 1.
 */
#ifndef SP_ORDER_H
#define SP_ORDER_H

#include "model/profile.h"

struct sp_order {
    uint32_t *dsos, *frames, *threads, *stacks;      /* position -> number in the table */
    uint32_t *dso_rank, *function_rank, *frame_rank; /* number in the table -> position */
};

/* DSOs, functions, frames and threads. Zeroed on failure. */
spaa_status sp_order_dictionaries(const struct sp_profile *p, struct sp_order *o);
/* Stacks: by descending weight of their event's primary metric, ties by id. Ids must be set. */
spaa_status sp_order_stacks(const struct sp_profile *p, struct sp_order *o);
void sp_order_free(struct sp_order *o);

/* The content of two stacks: context, then frames from the root by rank, then weights. */
int sp_stack_content_cmp(const struct sp_profile *p, const struct sp_order *o, uint32_t a, uint32_t b);
/* Weight as a double, for ordering only; absent is lowest. */
double sp_weight_double(const struct sp_profile *p, uint32_t stack, uint32_t metric);

#endif
