/*
 * Facts: what profilers say of processes, threads, images and waits beside their samples. A reader fills the
 * tables of the profile through this; whoever asks reads the tables. Each field has its name here, once: SPAA
 * files, merges and SQL go by these lists.
 *
 * What a profiler says that no field is for stays in `extra_json` of the row.
 */
#ifndef SP_MODEL_FACTS_H
#define SP_MODEL_FACTS_H

#include "model/fact_fields.h"
#include "model/profile.h"

/* No field says anything. */
void sp_facts_clear(const struct sp_fact *facts, void *row);
bool sp_facts_any(const struct sp_fact *facts, const void *row);
/* Total order of what the fields of two rows of a profile say, nothing first. */
int sp_facts_cmp(const struct sp_profile *p, const struct sp_fact *facts, const void *a, const void *b);

static inline int64_t sp_fact_get_number(const struct sp_fact *f, const void *row)
{
    return *(const int64_t *)(const void *)((const char *)row + f->offset);
}
static inline uint64_t sp_fact_get_address(const struct sp_fact *f, const void *row)
{
    return *(const uint64_t *)(const void *)((const char *)row + f->offset);
}
static inline uint32_t sp_fact_get_text(const struct sp_fact *f, const void *row)
{
    return *(const uint32_t *)(const void *)((const char *)row + f->offset);
}
static inline bool sp_fact_get_flag(const struct sp_fact *f, const void *row)
{
    return *(const uint32_t *)(const void *)((const char *)row + f->offset) & f->flag;
}
static inline void *sp_fact_place(const struct sp_fact *f, void *row)
{
    return (char *)row + f->offset;
}

/* Adding rows; false, SP_NONE: no memory, or a cap. Images of a process are numbers of p->images. */
bool sp_process_add(struct sp_profile *p, const struct sp_process_fact *x, const uint32_t *images, size_t n);
bool sp_image_add(struct sp_profile *p, const struct sp_image *x);
/* What sp_context.wait is to be: equal waits are one row. */
uint32_t sp_wait_intern(struct sp_profile *p, const struct sp_wait_fact *x);

/* What a context waited for; NULL: nothing is stated. */
static inline const struct sp_wait_fact *sp_context_wait(const struct sp_profile *p,
                                                         const struct sp_context *c)
{
    return c->wait ? &p->waits.v[c->wait - 1] : NULL;
}

/* What is live of it is known and meant: its profiler suppresses it as a leak (`suppressed` of x_heaptrack,
 * x_valgrind).
 */
bool sp_stack_suppressed(const struct sp_profile *p, uint32_t stack);

/* Sorts images and processes by what they say, equal images as one. */
spaa_status sp_facts_sort(struct sp_profile *p);

#endif
