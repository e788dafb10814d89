/*
 * The table of sample groups: samples that are one stack. A hash says where to look; the raw callchains are
 * compared.
 *
 * A group's callchain stays where it is in the input, but for the first ones, which are copied to lie
 * close together. While the input streams through the caches, the table falls out of them; so samples
 * come in batches, and what a look-up will touch is asked for one step ahead: the slot, then the group.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"
#include "model/samples.h"

#define COPIED ((size_t)16 << 20) /* bytes of callchains */

void sp_pd_sample_hash(const struct sp_pd *pd, struct sp_pd_sample *s)
{
    uint64_t hash = s->n ? sp_hash_key(s->chain, (size_t)s->n * 8) : s->ip;
    if (pd->group_by & SP_BY_CPU)
        hash ^= (uint64_t)(uint32_t)s->cpu << 32;
    s->hash = sp_hash_mix(hash, (uint64_t)s->epoch << 32 | s->attr << 3 | s->mode) + s->state;
}

static spaa_status pd_groups_keep_sample(struct sp_pd *pd, const struct sp_pd_sample *s, uint32_t group)
{
    const struct sp_pd_plan *plan = &pd->attrs.v[s->attr].plan;
    struct sp_sample row = {
        .time = (int64_t)s->time,
        .pid = plan->tid ? s->pid : SP_ABSENT,
        .tid = plan->tid ? s->tid : SP_ABSENT,
        .cpu = plan->cpu ? s->cpu : SP_ABSENT,
        .period = s->period <= INT64_MAX ? (int64_t)s->period : INT64_MAX,
        .stack = group,
        .event = s->attr,
        .flags = plan->time && s->time < SP_PD_SANE ? SP_SAMPLE_TIME : 0,
    };
    spaa_status st = sp_pd_details(pd, s->shape, s->pos, &row);
    return st ? st : sp_samples_add(pd->p->samples, &row);
}

static uint32_t pd_groups_new_group(struct sp_pd *pd, const struct sp_pd_sample *s, int32_t cpu, bool copy)
{
    struct sp_pd_group fresh = {.chain = s->chain,
                                .n = s->n,
                                .ip = s->ip,
                                .attr = s->attr,
                                .epoch = s->epoch,
                                .cpu = cpu,
                                .mode = (uint16_t)s->mode,
                                .state = (uint16_t)s->state,
                                .hash = s->hash,
                                .stack = SP_NONE};
    if (s->n && (copy || pd->arena.total < COPIED)) {
        fresh.chain = (unsigned char *)sp_arena_dup(&pd->arena, s->chain, (size_t)s->n * 8);
        if (!fresh.chain)
            return SP_NONE;
    }
    uint32_t i = (uint32_t)pd->groups.n;
    if (pd->groups.n >= SP_NONE - 1 || !sp_vec_push(&pd->groups, fresh) ||
        !sp_map_add(&pd->group_map, s->hash, i))
        return SP_NONE;
    return i;
}

spaa_status sp_pd_group_add(struct sp_pd *pd, const struct sp_pd_sample *s, bool copy)
{
    int32_t cpu = pd->group_by & SP_BY_CPU ? s->cpu : 0;
    struct sp_probe probe = sp_map_probe(&pd->group_map, s->hash);
    uint32_t i;
    while ((i = sp_map_next(&pd->group_map, &probe)) != SP_MAP_NONE) {
        const struct sp_pd_group *g = &pd->groups.v[i];
        if (g->hash == s->hash && g->epoch == s->epoch && g->attr == s->attr && g->n == s->n &&
            g->mode == s->mode && g->state == s->state && g->cpu == cpu &&
            (s->n ? memcmp(g->chain, s->chain, (size_t)s->n * 8) == 0 : g->ip == s->ip))
            break;
    }
    if (i == SP_MAP_NONE)
        i = pd_groups_new_group(pd, s, cpu, copy);
    if (i == SP_NONE)
        return sp_nomem(pd->d);
    struct sp_pd_group *g = &pd->groups.v[i];
    g->count++;
    if (__builtin_add_overflow(g->period, s->period, &g->period)) {
        g->period = UINT64_MAX;
        pd->capped = true;
    }
    return pd->p->samples ? pd_groups_keep_sample(pd, s, i) : SPAA_OK;
}

spaa_status sp_pd_groups_add(struct sp_pd *pd, const struct sp_pd_sample *batch, unsigned n)
{
    const struct sp_map *m = &pd->group_map;
    spaa_status st = SPAA_OK;
    for (unsigned i = 0; i < n && m->slots; i++) {
        uint32_t item = m->slots[(uint32_t)batch[i].hash & m->mask].item;
        const struct sp_pd_group *ahead = item ? &pd->groups.v[item - 1] : NULL;
        if (ahead) {
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch((const char *)(ahead + 1) - 1, 1);
        }
    }
    for (unsigned i = 0; i < n && !st; i++)
        st = sp_pd_group_add(pd, &batch[i], false);
    return st;
}
