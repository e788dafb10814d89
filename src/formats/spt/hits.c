#include "formats/spt/hits.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

spaa_status sp_spt_hits_init(struct sp_spt_hits *h, struct sp_diags *d)
{
    *h = (struct sp_spt_hits){0};
    return sp_profile_new(d, &h->things);
}

void sp_spt_hits_free(struct sp_spt_hits *h)
{
    for (uint32_t i = 0; i < h->programs; i++)
        for (unsigned k = 0; k < SP_SPT_KIND_CALLSTACK; k++)
            free(h->counts[i][k].slots);
    free(h->counts);
    h->counts = NULL;
    h->programs = 0;
    sp_profile_free(h->things);
    sp_vec_free(&h->sums);
    h->things = NULL;
}

static bool spt_is_empty(const struct sp_spt_count *c)
{
    return !c->sum.low && !c->sum.high;
}

static void spt_add_sum(struct sp_spt_sum *to, struct sp_spt_sum sum)
{
    sp_spt_add(to, sum.low);
    to->high += sum.high;
}

static bool spt_reach_program(struct sp_spt_hits *h, uint32_t program)
{
    if (program < h->programs)
        return true;
    uint32_t room = h->programs ? h->programs * 2 : 16;
    while (room <= program)
        room *= 2;
    void *counts = realloc(h->counts, room * sizeof *h->counts);
    if (!counts)
        return false;
    h->counts = counts;
    memset(h->counts + h->programs, 0, (room - h->programs) * sizeof *h->counts);
    h->programs = room;
    return true;
}

static inline size_t spt_slot_of(const struct sp_spt_counts *c, uint64_t key)
{
    return (size_t)sp_hash_mix(key, 0) & c->mask;
}

static bool spt_grow_counts(struct sp_spt_counts *c)
{
    size_t n = c->slots ? 2 * (c->mask + 1) : 64;
    struct sp_spt_counts fresh = {calloc(n, sizeof *fresh.slots), n - 1, c->count};
    if (!fresh.slots)
        return false;
    for (size_t i = 0; c->slots && i <= c->mask; i++) {
        if (spt_is_empty(&c->slots[i]))
            continue;
        size_t at = spt_slot_of(&fresh, c->slots[i].key);
        while (!spt_is_empty(&fresh.slots[at]))
            at = (at + 1) & fresh.mask;
        fresh.slots[at] = c->slots[i];
    }
    free(c->slots);
    *c = fresh;
    return true;
}

static bool spt_count(struct sp_spt_counts *c, uint64_t key, struct sp_spt_sum sum)
{
    if (2 * (c->count + 1) > c->mask && !spt_grow_counts(c))
        return false;
    size_t i = spt_slot_of(c, key);
    while (!spt_is_empty(&c->slots[i]) && c->slots[i].key != key)
        i = (i + 1) & c->mask;
    c->count += spt_is_empty(&c->slots[i]);
    c->slots[i].key = key;
    spt_add_sum(&c->slots[i].sum, sum);
    return true;
}

bool sp_spt_hits_add(struct sp_spt_hits *h, uint32_t program, int kind, const uint32_t *addresses, uint32_t n,
                     struct sp_spt_sum sum)
{
    uint32_t context = program * SP_SPT_KINDS + (uint32_t)kind;
    bool is_new;
    if (kind != SP_SPT_KIND_CALLSTACK) {
        uint64_t key = n == 2 ? (uint64_t)addresses[0] << 32 | addresses[1] : addresses[0];
        return spt_reach_program(h, program) && spt_count(&h->counts[program][kind], key, sum);
    }
    uint32_t i = sp_stack_intern(h->things, addresses, n, context, SP_UNIFIED, &is_new);
    if (i == SP_NONE || (is_new && !sp_vec_push(&h->sums, (struct sp_spt_sum){0})))
        return false;
    spt_add_sum(&h->sums.v[i], sum);
    return true;
}

static int spt_by_key(const void *a, const void *b)
{
    const struct sp_spt_count *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* In order of their keys: where they stand differs from process to process. */
static bool spt_list_counts(struct sp_spt_hits *h, uint32_t program, int kind)
{
    struct sp_spt_counts *c = &h->counts[program][kind];
    uint32_t context = program * SP_SPT_KINDS + (uint32_t)kind;
    bool branch = kind == SP_SPT_KIND_LBR;
    bool ok = true;
    size_t n = 0;
    for (size_t i = 0; c->slots && i <= c->mask; i++)
        if (!spt_is_empty(&c->slots[i]))
            c->slots[n++] = c->slots[i];
    if (n)
        qsort(c->slots, n, sizeof *c->slots, spt_by_key);
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t key = c->slots[i].key;
        uint32_t addresses[2] = {(uint32_t)(branch ? key >> 32 : key), (uint32_t)key};
        ok = sp_stack_append(h->things, addresses, branch ? 2 : 1, context, SP_UNIFIED) != SP_NONE &&
             sp_vec_push(&h->sums, c->slots[i].sum);
    }
    free(c->slots);
    *c = (struct sp_spt_counts){0};
    return ok;
}

bool sp_spt_hits_finish(struct sp_spt_hits *h)
{
    bool ok = true;
    for (int kind = 0; kind < SP_SPT_KIND_CALLSTACK; kind++)
        for (uint32_t i = 0; ok && i < h->programs; i++)
            ok = spt_list_counts(h, i, kind);
    return ok;
}

struct sp_spt_thing sp_spt_hits_at(const struct sp_spt_hits *h, size_t i)
{
    const struct sp_stack *s = &h->things->stacks.v[i];
    return (struct sp_spt_thing){s->context / SP_SPT_KINDS, (int)(s->context % SP_SPT_KINDS), s->n,
                                 h->things->stack_frames.v + s->first, h->sums.v[i]};
}
