/*
 * Branch stacks (`perf record -b`) as the event `lbr`: each distinct branch of a thread is a stack of two,
 * where it went at the leaf and where it came from at the root, weighted with how often it was seen, how
 * often it had been predicted wrongly, and the cycles since the branch before it where the processor counts
 * them.
 *
 * The branch stacks of `--call-graph lbr` are callchains and do not come here. Quirk: the flags are C bit
 * fields, which big-endian machines fill from the other end.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"

static uint64_t arc_hash(const struct sp_pd_arc *a)
{
    return sp_hash_mix(sp_hash_mix(a->from, a->to), (uint64_t)a->moment << 32 | (uint32_t)a->cpu);
}

static struct sp_pd_arc *intern(struct sp_pd *pd, const struct sp_pd_arc *want)
{
    uint64_t hash = arc_hash(want);
    struct sp_probe at = sp_map_probe(&pd->arc_map, hash);
    for (uint32_t i; (i = sp_map_next(&pd->arc_map, &at)) != SP_MAP_NONE;) {
        struct sp_pd_arc *a = &pd->arcs.v[i];
        if (a->from == want->from && a->to == want->to && a->moment == want->moment && a->cpu == want->cpu)
            return a;
    }
    if (pd->arcs.n >= SP_NONE - 1 || !sp_vec_push(&pd->arcs, *want) ||
        !sp_map_add(&pd->arc_map, hash, (uint32_t)pd->arcs.n - 1))
        return NULL;
    return &pd->arcs.v[pd->arcs.n - 1];
}

struct sp_pd_branch sp_pd_branch_read(const struct sp_pd *pd, const unsigned char *p)
{
    uint64_t flags = sp_pd_u64(p + 16, pd->swap);
    bool big = pd->big_endian;
    return (struct sp_pd_branch){
        .from = sp_pd_u64(p, pd->swap),
        .to = sp_pd_u64(p + 8, pd->swap),
        .missed = flags >> (big ? 63 : 0) & 1,
        .predicted = flags >> (big ? 62 : 1) & 1,
        .in_transaction = flags >> (big ? 61 : 2) & 1,
        .aborted = flags >> (big ? 60 : 3) & 1,
        .cycles = (uint16_t)(flags >> (big ? 44 : 4)),
        .type = flags >> (big ? 40 : 20) & 15,
        .spec = flags >> (big ? 38 : 24) & 3,
    };
}

spaa_status sp_pd_arcs_add(struct sp_pd *pd, const struct sp_pd_fields *f, uint32_t attr, uint32_t moment,
                           int32_t cpu)
{
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch b = sp_pd_branch_read(pd, f->branches + i * 24);
        if (!b.from && !b.to)
            continue;
        struct sp_pd_arc want = {.from = b.from, .to = b.to, .moment = moment, .attr = attr};
        want.cpu = pd->group_by & SP_BY_CPU ? cpu : 0;
        struct sp_pd_arc *a = intern(pd, &want);
        if (!a)
            return sp_nomem(pd->d);
        a->count++;
        a->missed += b.missed;
        a->cycles += b.cycles;
        pd->arcs_missed |= b.missed || b.predicted;
        pd->arcs_cycles |= b.cycles != 0;
    }
    return SPAA_OK;
}

/* The event, sampled as the one whose samples hold the branches, and the layout of its weights. */
spaa_status sp_pd_arcs_event(struct sp_pd *pd)
{
    struct sp_profile *p = pd->p;
    if (!pd->arcs.n)
        return SPAA_OK;
    const struct sp_pd_attr *a = &pd->attrs.v[pd->arcs.v[0].attr];
    struct sp_event e = {.name = sp_profile_cstr(p, "lbr"), .kind = SP_HARDWARE};
    if (a->event != SP_NONE) {
        e.mode = p->events.v[a->event].mode;
        e.sample_period = p->events.v[a->event].sample_period;
        e.frequency_hz = p->events.v[a->event].frequency_hz;
    }
    static const char *const names[] = {"branches", "branch_misses", "branch_cycles"};
    const bool wanted[] = {true, pd->arcs_missed, pd->arcs_cycles};
    struct sp_weight_field fields[3];
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        pd->arc_metrics[i] = wanted[i] ? sp_metric_intern(p, names[i], strlen(names[i])) : SP_NONE;
        if (wanted[i] && pd->arc_metrics[i] == SP_NONE)
            return sp_nomem(pd->d);
        if (wanted[i])
            fields[n++] = (struct sp_weight_field){.metric = pd->arc_metrics[i]};
    }
    if (pd->arcs_cycles) {
        fields[n - 1].unit = sp_profile_cstr(p, "cycles");
        if (fields[n - 1].unit == SP_STR_FAIL)
            return sp_nomem(pd->d);
    }
    e.primary = pd->arc_metrics[0];
    pd->arc_layout = sp_layout_intern(p, fields, n);
    pd->arc_event = e.name == SP_STR_FAIL ? SP_NONE : sp_event_add_named(p, &e);
    return pd->arc_event == SP_NONE || pd->arc_layout == SP_NONE ? sp_nomem(pd->d) : SPAA_OK;
}
