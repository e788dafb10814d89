#include "formats/spt/hits.h"

spaa_status sp_spt_hits_init(struct sp_spt_hits *h, struct sp_diags *d)
{
    *h = (struct sp_spt_hits){0};
    return sp_profile_new(d, &h->things);
}

void sp_spt_hits_free(struct sp_spt_hits *h)
{
    sp_profile_free(h->things);
    sp_vec_free(&h->sums);
    h->things = NULL;
}

bool sp_spt_hits_add(struct sp_spt_hits *h, uint32_t program, int kind, const uint32_t *addresses, uint32_t n,
                     struct sp_spt_sum sum)
{
    uint32_t context = program * SP_SPT_KINDS + (uint32_t)kind;
    bool is_new;
    uint32_t i = sp_stack_intern(h->things, addresses, n, context, SP_UNIFIED, &is_new);
    if (i == SP_NONE || (is_new && !sp_vec_push(&h->sums, (struct sp_spt_sum){0})))
        return false;
    sp_spt_add(&h->sums.v[i], sum.low);
    h->sums.v[i].high += sum.high;
    return true;
}

struct sp_spt_thing sp_spt_hits_at(const struct sp_spt_hits *h, size_t i)
{
    const struct sp_stack *s = &h->things->stacks.v[i];
    return (struct sp_spt_thing){s->context / SP_SPT_KINDS, (int)(s->context % SP_SPT_KINDS), s->n,
                                 h->things->stack_frames.v + s->first, h->sums.v[i]};
}
