#include "model/stacks.h"

#include "base/hash.h"

#include <string.h>

static uint64_t stacks_hash(const uint32_t *frames, size_t n, uint32_t context, enum sp_stack_type type,
                            uint32_t edges)
{
    uint64_t hash = sp_hash_key_seed(frames, n * sizeof *frames, (uint64_t)context << 8 | (uint64_t)type);
    return edges ? sp_hash_mix(hash, edges) : hash;
}

struct sp_stack_key sp_stack_key(const uint32_t *frames, uint32_t n, uint32_t context,
                                 enum sp_stack_type type, uint32_t edges)
{
    return (struct sp_stack_key){frames, stacks_hash(frames, n, context, type, edges), n, context, edges,
                                 type};
}

bool sp_stack_equals(const struct sp_profile *p, uint32_t stack, const struct sp_stack_key *key)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    return s->n == key->n && s->context == key->context && s->type == key->type && s->edges == key->edges &&
           (!s->n || memcmp(p->stack_frames.v + s->first, key->frames, s->n * sizeof *key->frames) == 0);
}

uint32_t sp_stack_append(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type)
{
    if (p->stacks.n >= SP_NONE - 1 || n >= SP_NONE || !sp_vec_reserve(&p->stacks, p->stacks.n + 1) ||
        !sp_vec_reserve(&p->stack_frames, p->stack_frames.n + n))
        return SP_NONE;
    uint32_t *to = p->stack_frames.v + p->stack_frames.n;
    if (n && frames != to)
        memmove(to, frames, n * sizeof *frames);
    p->stacks.v[p->stacks.n] = (struct sp_stack){.first = p->stack_frames.n,
                                                 .n = (uint32_t)n,
                                                 .context = context,
                                                 .layout = SP_NONE,
                                                 .exclusive = SP_EXCLUSIVE_SAME,
                                                 .type = type & 3u};
    p->stack_frames.n += n;
    return (uint32_t)p->stacks.n++;
}

uint32_t sp_stack_intern_key(struct sp_profile *p, const struct sp_stack_key *key, bool *is_new)
{
    struct sp_probe at = sp_map_probe(&p->stack_map, key->hash);
    *is_new = false;
    for (uint32_t i; (i = sp_map_next(&p->stack_map, &at)) != SP_MAP_NONE;)
        if (sp_stack_equals(p, i, key))
            return i;
    uint32_t i = sp_stack_append(p, key->frames, key->n, key->context, key->type);
    if (i == SP_NONE)
        return SP_NONE;
    p->stacks.v[i].edges = key->edges;
    if (!sp_map_add_at(&p->stack_map, &at, i)) {
        p->stacks.n--;
        p->stack_frames.n -= key->n;
        return SP_NONE;
    }
    *is_new = true;
    return i;
}

uint32_t sp_stack_intern_edges(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                               enum sp_stack_type type, uint32_t edges, bool *is_new)
{
    if (n >= SP_NONE)
        return SP_NONE;
    const struct sp_stack_key key = sp_stack_key(frames, (uint32_t)n, context, type, edges);
    return sp_stack_intern_key(p, &key, is_new);
}

uint32_t sp_stack_intern(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type, bool *is_new)
{
    return sp_stack_intern_edges(p, frames, n, context, type, 0, is_new);
}

bool sp_stack_link(struct sp_profile *p, uint32_t stack, uint32_t other)
{
    struct sp_linked x = {(uint32_t)p->linked_stacks.n, 1};
    if (p->linked.n >= SP_LINKED_MAX || p->linked_stacks.n >= SP_NONE - 1 ||
        !sp_vec_push(&p->linked_stacks, other) || !sp_vec_push(&p->linked, x))
        return false;
    p->stacks.v[stack].linked = (uint32_t)p->linked.n & SP_LINKED_MAX;
    return true;
}

uint32_t sp_stack_linked(const struct sp_profile *p, uint32_t stack)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    if (!s->linked || s->type == SP_UNIFIED || p->linked.v[s->linked - 1].n != 1)
        return SP_NONE;
    uint32_t other = p->linked_stacks.v[p->linked.v[s->linked - 1].first];
    bool pair =
        other != SP_NONE && p->stacks.v[other].type != SP_UNIFIED && p->stacks.v[other].type != s->type;
    return pair ? other : SP_NONE;
}

void sp_turn_path(uint32_t *frames, size_t n)
{
    for (size_t i = 0, k = n; i + 1 < k; i++) {
        uint32_t first = frames[i];
        frames[i] = frames[--k];
        frames[k] = first;
    }
}
