/*
 * The stacks of a profile: the one place where equal stacks are found, by their content.
 *
 * `append` always makes a new record; `intern` first looks for one with the same frames, context, type and
 * edges, which are compared: a hash only says where to look. A new record has no weights yet; readers of
 * sample streams set the layout once per new stack and then only add (model/weights.h).
 *
 * Frames are given leaf first. They may stand behind those of the profile already, where room was reserved
 * (sp_vec_reserve on stack_frames), and then stay where they are.
 *
 * All return the number, or SP_NONE when memory (or a cap) is exhausted: return sp_nomem(diags) then.
 */
#ifndef SP_MODEL_STACKS_H
#define SP_MODEL_STACKS_H

#include "model/tables.h"

/* Frames root first become leaf first, as stacks are here; and the other way round. */
void sp_turn_path(uint32_t *frames, size_t n);
uint32_t sp_stack_append(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type);
uint32_t sp_stack_intern(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type, bool *is_new);
/* The same of stacks with edges (model/edges.h): other edges make another record. */
uint32_t sp_stack_intern_edges(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                               enum sp_stack_type type, uint32_t edges, bool *is_new);

/*
 * The same in steps, for merging, which knows ahead what it will look for: the table of stacks is larger than
 * the caches, so a look-up waits for memory unless it is asked for before.
 */
struct sp_stack_key {
    const uint32_t *frames; /* borrowed */
    uint64_t hash;          /* of the rest, by sp_stack_key */
    uint32_t n, context, edges;
    enum sp_stack_type type;
};
struct sp_stack_key sp_stack_key(const uint32_t *frames, uint32_t n, uint32_t context,
                                 enum sp_stack_type type, uint32_t edges);
bool sp_stack_equals(const struct sp_profile *p, uint32_t stack, const struct sp_stack_key *key);
uint32_t sp_stack_intern_key(struct sp_profile *p, const struct sp_stack_key *key, bool *is_new);
/* A look-up of this hash comes soon; later, the stack that it will look at first, or SP_NONE. */
static inline void sp_stack_expect_hash(const struct sp_profile *p, uint64_t hash)
{
    sp_map_expect(&p->stack_map, hash);
}
static inline uint32_t sp_stack_likely(const struct sp_profile *p, uint64_t hash)
{
    struct sp_probe at = sp_map_probe(&p->stack_map, hash);
    return sp_map_next(&p->stack_map, &at);
}

/* The one record that a stack is related to; false: out of memory. */
bool sp_stack_link(struct sp_profile *p, uint32_t stack, uint32_t other);
/*
 * The one record of the other kind that a kernel or user record was observed together with; SP_NONE where
 * there is none, or several. What is written as one stack is written of the user record, with both records'
 * frames.
 */
uint32_t sp_stack_linked(const struct sp_profile *p, uint32_t stack);

#endif
