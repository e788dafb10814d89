/*
 * Pass 2: samples to groups of them. This is the loop that speed depends on: per sample it reads the fixed
 * fields, finds the attribute and the thread's epoch in small direct-mapped caches, hashes the raw callchain
 * and adds to a group. Addresses are not looked at.
 *
 * Sampling of groups (`{a,b}:S`): one sample carries the counters of all members, and stands for each of
 * them that moved since the last reading. Deferred user callchains (a record of their own, with a cookie)
 * are put behind the kernel's. Callchains of branch stacks: lbr.c.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"

#define CACHE 256u /* a power of two */

struct cached_epoch {
    uint64_t since, span; /* span 0: empty */
    int32_t pid, tid;
    uint32_t epoch;
};

struct cached_id {
    uint64_t id;
    uint32_t attr; /* SP_NONE: empty */
};

struct pass {
    struct sp_pd *pd;
    uint64_t *clock_periods; /* by attribute: what a sample without a period stands for */
    bool one_attr;
    unsigned queued;
    struct sp_pd_sample batch[SP_PD_BATCH];
    struct cached_epoch epochs[CACHE];
    struct cached_id ids[CACHE];
    struct sp_pd_values scratch; /* a callchain put together */
    bool unwind;                 /* the sample that add_special is at has a stack to be unwound */
};

static __attribute__((noinline)) spaa_status
pd_samples_look_up_epoch(struct pass *ps, const struct sp_pd_sample *s, uint64_t when, struct cached_epoch *c)
{
    uint64_t until;
    c->span = 0;
    c->epoch = sp_pd_epoch(ps->pd, s->pid, s->tid, when, &c->since, &until);
    if (c->epoch == SP_NONE)
        return sp_nomem(ps->pd->d);
    c->span = until - c->since;
    c->pid = s->pid;
    c->tid = s->tid;
    return SPAA_OK;
}

static inline spaa_status pd_samples_find_epoch(struct pass *ps, struct sp_pd_sample *s)
{
    uint64_t when = ps->pd->by_position ? s->pos : s->time;
    struct cached_epoch *c = &ps->epochs[(uint32_t)s->tid % CACHE];
    if (when - c->since >= c->span || c->tid != s->tid || c->pid != s->pid) {
        spaa_status st = pd_samples_look_up_epoch(ps, s, when, c);
        if (st)
            return st;
    }
    s->epoch = c->epoch;
    return SPAA_OK;
}

/* The attribute of an id; 0 is what recorders without ids write. */
static uint32_t pd_samples_find_attr(struct pass *ps, uint64_t id)
{
    struct cached_id *c = &ps->ids[id % CACHE];
    if (c->attr != SP_NONE && c->id == id)
        return c->attr;
    uint32_t i = sp_pd_find_id(ps->pd, id);
    uint32_t attr = i != SP_NONE ? ps->pd->ids.v[i].attr : id ? SP_NONE : 0;
    if (attr == SP_NONE) {
        if (!ps->pd->unknown_ids++)
            ps->pd->first_unknown_id = id;
    } else {
        *c = (struct cached_id){id, attr};
    }
    return attr;
}

/* What the group of a sample is, beside its callchain. */
static inline __attribute__((always_inline)) spaa_status pd_samples_complete(struct pass *ps,
                                                                             struct sp_pd_sample *s)
{
    spaa_status st = pd_samples_find_epoch(ps, s);
    if (!st)
        sp_pd_sample_hash(ps->pd, s);
    return st;
}

/* A sample whose callchain is in the scratch buffer, or is not known yet, or that stands for several events.
 */
static spaa_status pd_samples_add_now(struct pass *ps, struct sp_pd_sample *s, bool copied)
{
    if (ps->unwind) {
        spaa_status found = pd_samples_find_epoch(ps, s);
        struct sp_pd_pending row = {s->pos, s->period, s->attr, s->shape, s->epoch, s->state};
        if (!found && (ps->pd->pending.n >= SP_NONE || !sp_vec_push(&ps->pd->pending, row)))
            found = sp_nomem(ps->pd->d);
        return found;
    }
    spaa_status st = pd_samples_complete(ps, s);
    return st ? st : sp_pd_group_add(ps->pd, s, copied);
}

static spaa_status pd_samples_flush(struct pass *ps)
{
    spaa_status st = sp_pd_groups_add(ps->pd, ps->batch, ps->queued);
    if (!st && ps->queued)
        st = sp_input_note(ps->pd->in, ps->batch[ps->queued - 1].pos);
    ps->queued = 0;
    return st;
}

/* Puts n more values into the scratch callchain. */
static bool pd_samples_scratch(struct pass *ps, const void *p, size_t n)
{
    if (!sp_vec_reserve(&ps->scratch, ps->scratch.n + n))
        return false;
    if (n)
        memcpy(ps->scratch.v + ps->scratch.n, p, n * 8);
    ps->scratch.n += n;
    return true;
}

static bool pd_samples_scratch_u64(struct pass *ps, uint64_t v)
{
    v = ps->pd->swap ? __builtin_bswap64(v) : v;
    return pd_samples_scratch(ps, &v, 1);
}

/* Replaces a deferred marker and cookie at the end by the user callchain recorded for it. */
static spaa_status pd_samples_join_deferred(struct pass *ps, struct sp_pd_sample *s, bool *copied)
{
    uint64_t cookie = sp_pd_u64(s->chain + ((size_t)s->n - 1) * 8, ps->pd->swap);
    const struct sp_pd_deferred *c = sp_pd_find_deferred(ps->pd, cookie, s->tid);
    if (!c)
        return SPAA_OK;
    ps->scratch.n = 0;
    if (!pd_samples_scratch(ps, s->chain, (size_t)s->n - 2) || !pd_samples_scratch_u64(ps, PD_CONTEXT_USER) ||
        !pd_samples_scratch(ps, c->chain, c->n))
        return sp_nomem(ps->pd->d);
    s->chain = (const unsigned char *)ps->scratch.v;
    s->n = (uint32_t)ps->scratch.n;
    *copied = true;
    return SPAA_OK;
}

/* The callchain by the branch stack, where that tells one. */
static spaa_status pd_samples_join_lbr(struct pass *ps, const struct sp_pd_attr *a,
                                       const struct sp_pd_fields *f, struct sp_pd_sample *s, bool *copied)
{
    if (!sp_pd_lbr_chain(ps->pd, a, f, s, &ps->scratch))
        return sp_nomem(ps->pd->d);
    *copied = ps->scratch.n;
    if (*copied) {
        s->chain = (const unsigned char *)ps->scratch.v;
        s->n = (uint32_t)ps->scratch.n;
    }
    return SPAA_OK;
}

/* How long a counter was wanted, and how long it counted, when it was read. */
struct read_times {
    uint64_t enabled, running;
};

static struct read_times pd_samples_times(const struct sp_pd_attr *a, const unsigned char *read, bool swap)
{
    const uint64_t both = PD_READ_ENABLED | PD_READ_RUNNING;
    if ((a->read_format & both) != both)
        return (struct read_times){0};
    return (struct read_times){sp_pd_u64(read + 8, swap), sp_pd_u64(read + 16, swap)};
}

/* The counter of one id moved by what its last reading says; the sample is one of its event. */
static spaa_status pd_samples_add_reading(struct pass *ps, struct sp_pd_sample *s, uint64_t id,
                                          uint64_t value, struct read_times times, bool copied)
{
    uint32_t i = sp_pd_find_id(ps->pd, id);
    if (i == SP_NONE) {
        if (!ps->pd->unknown_ids++)
            ps->pd->first_unknown_id = id;
        return SPAA_OK;
    }
    struct sp_pd_id *row = &ps->pd->ids.v[i];
    s->period = value >= row->value ? value - row->value : value;
    row->value = value;
    row->enabled = times.enabled;
    row->running = times.running;
    s->attr = row->attr;
    return s->period ? pd_samples_add_now(ps, s, copied) : SPAA_OK;
}

/* A sample whose read format has ids: it stands for its counters. `read` was checked to be inside. */
static spaa_status pd_samples_add_readings(struct pass *ps, struct sp_pd_sample *s, const unsigned char *read,
                                           bool copied)
{
    const struct sp_pd_attr *a = &ps->pd->attrs.v[s->attr];
    bool swap = ps->pd->swap;
    struct read_times times = pd_samples_times(a, read, swap);
    if (!(a->read_format & PD_READ_ID))
        return pd_samples_add_now(ps, s, copied);
    if (!a->plan.group)
        return pd_samples_add_reading(ps, s, sp_pd_u64(read + 8 + a->plan.read_times, swap),
                                      sp_pd_u64(read, swap), times, copied);
    uint64_t n = sp_pd_u64(read, swap);
    const unsigned char *entry = read + 8 + a->plan.read_times;
    spaa_status st = SPAA_OK;
    for (uint64_t i = 0; !st && i < n; i++, entry += a->plan.read_entry)
        st = pd_samples_add_reading(ps, s, sp_pd_u64(entry + 8, swap), sp_pd_u64(entry, swap), times, copied);
    return st;
}

static bool pd_samples_unwinds(const struct sp_pd_attr *a)
{
    const uint64_t both = PD_REGS_USER | PD_STACK_USER;
    return (a->sample_type & both) == both;
}

static spaa_status pd_samples_add_branches(struct pass *ps, const struct sp_pd_fields *f,
                                           struct sp_pd_sample *s)
{
    spaa_status st = pd_samples_find_epoch(ps, s);
    return st ? st : sp_pd_branches_add(ps->pd, f, s->attr, s->epoch, s->cpu);
}

/* Samples with a read format, a stack, a branch stack, an LBR callchain, or a deferred one: put together
 * here. */
static __attribute__((noinline)) spaa_status pd_samples_add_special(struct pass *ps, const unsigned char *p,
                                                                    size_t size, struct sp_pd_sample *s)
{
    struct sp_pd *pd = ps->pd;
    const struct sp_pd_attr *a = &pd->attrs.v[s->attr];
    size_t end;
    bool copied = false;
    spaa_status st = SPAA_OK;
    if (!sp_pd_chain_read(a, p, size, pd->swap, &s->chain, &s->n, &end)) {
        pd->bad_samples++;
        return SPAA_OK;
    }
    struct sp_pd_fields f = {0};
    if (pd_samples_unwinds(a) || a->sample_type & PD_BRANCH_STACK || a->prev_size)
        sp_pd_fields_read(a, p, size, end, pd->swap, &f);
    if (a->prev_size && s->state != SP_PD_IDLE)
        s->state = sp_pd_switch_state(pd, a, &f);
    ps->unwind = f.user_regs && f.stack_filled && f.has & PD_STACK_USER && pd_samples_unwinds(a);
    if (f.branches && !sp_pd_lbr_is_chain(a))
        st = pd_samples_add_branches(ps, &f, s);
    if (!st && (pd->lbr_callstack || sp_pd_lbr_is_chain(a)))
        st = pd_samples_join_lbr(ps, a, &f, s, &copied);
    if (!st && !copied && s->n >= 2 &&
        sp_pd_u64(s->chain + ((size_t)s->n - 2) * 8, pd->swap) == PD_CONTEXT_USER_DEFERRED)
        st = pd_samples_join_deferred(ps, s, &copied);
    if (st)
        return st;
    return a->plan.read ? pd_samples_add_readings(ps, s, p + a->plan.read, copied)
                        : pd_samples_add_now(ps, s, copied);
}

static bool pd_samples_is_special(const struct sp_pd *pd, const struct sp_pd_attr *a)
{
    return a->plan.read || pd->deferred.n || pd_samples_unwinds(a) || a->sample_type & PD_BRANCH_STACK ||
           a->prev_size;
}

/* The number of the sample's attribute; SP_NONE: it is not among the known. */
static inline uint32_t pd_samples_attr_of(struct pass *ps, const unsigned char *p, size_t size, bool swap)
{
    if (ps->one_attr)
        return 0;
    const struct sp_pd_plan *plan = &ps->pd->attrs.v[0].plan;
    uint32_t at = plan->identifier ? plan->identifier : plan->id;
    if (!at)
        return 0;
    return size >= at + 8 ? pd_samples_find_attr(ps, sp_pd_u64(p + at, swap)) : 0;
}

static inline __attribute__((always_inline)) spaa_status
pd_samples_take(struct pass *ps, const unsigned char *p, size_t size, uint64_t pos, bool swap)
{
    struct sp_pd *pd = ps->pd;
    uint32_t attr = pd_samples_attr_of(ps, p, size, swap);
    if (attr == SP_NONE)
        return SPAA_OK;
    const struct sp_pd_attr *a = &pd->attrs.v[attr];
    const struct sp_pd_plan *plan = &a->plan;
    if (size < plan->fixed) {
        pd->bad_samples++;
        return SPAA_OK;
    }
    struct sp_pd_sample *s = &ps->batch[ps->queued];
    sp_pd_sample_fixed(plan, p, swap, s);
    s->pos = pos;
    s->attr = s->shape = attr;
    s->state = a->state == SP_PD_ON_CPU && !s->pid ? SP_PD_IDLE : a->state;
    s->period = plan->period ? sp_pd_u64(p + plan->period, swap) : ps->clock_periods[attr];
    if (s->time < SP_PD_SANE && s->time) {
        pd->time_first = s->time < pd->time_first ? s->time : pd->time_first;
        pd->time_last = s->time > pd->time_last ? s->time : pd->time_last;
    }
    if (pd_samples_is_special(pd, a))
        return pd_samples_add_special(ps, p, size, s);
    if (plan->chain) {
        uint64_t n = sp_pd_u64(p + plan->chain, swap);
        if (n > (size - plan->chain - 8) / 8) {
            pd->bad_samples++;
            return SPAA_OK;
        }
        s->chain = p + plan->chain + 8;
        s->n = (uint32_t)n;
    }
    spaa_status st = pd_samples_complete(ps, s);
    if (st)
        return st;
    sp_pd_groups_expect(pd, s);
    return ++ps->queued < SP_PD_BATCH ? SPAA_OK : pd_samples_flush(ps);
}

static inline __attribute__((always_inline)) spaa_status
pd_samples_walk(struct pass *ps, const struct sp_pd_range *range, const bool swap)
{
    struct sp_pd_record r = {0};
    size_t at = 0;
    spaa_status st = SPAA_OK;
    while (!st) {
        while (range->n - at >= 8) {
            const unsigned char *p = range->p + at;
            size_t size = sp_pd_u16(p + 6, swap);
            if (sp_pd_u32(p, swap) != PD_SAMPLE || size < 8 || size > range->n - at)
                break;
            sp_pd_prefetch(p, size, range->n - at);
            st = pd_samples_take(ps, p, size, range->base + at, swap);
            if (st)
                return st;
            at += size;
        }
        r.at = at;
        r.span = 0;
        if (!sp_pd_next(ps->pd, range, &r, false))
            break;
        /* A sample is left where it is: the loop above takes it. */
        at = r.type == PD_SAMPLE ? r.at : r.at + r.span;
    }
    return st;
}

static spaa_status pd_samples_walk_native(struct pass *ps, const struct sp_pd_range *range)
{
    return pd_samples_walk(ps, range, false);
}

static spaa_status pd_samples_walk_swapped(struct pass *ps, const struct sp_pd_range *range)
{
    return pd_samples_walk(ps, range, true);
}

/* What a sample without a period field stands for. */
static uint64_t pd_samples_default_period(const struct sp_pd_attr *a)
{
    if (!a->freq)
        return a->period;
    bool clock = a->type == PD_SOFTWARE && a->config <= 1;
    return clock && a->period ? 1000000000 / a->period : 1;
}

static void pd_samples_report(struct sp_pd *pd)
{
    if (pd->unknown_ids)
        sp_emit(pd->d, SP_L300, SP_AT_NOTHING,
                "%llu samples have an event id that the file does not declare (%llu)",
                (unsigned long long)pd->unknown_ids, (unsigned long long)pd->first_unknown_id);
    if (pd->bad_samples)
        sp_emit(pd->d, SP_L300, SP_AT_NOTHING, "%llu samples are too short for what they should hold",
                (unsigned long long)pd->bad_samples);
    if (pd->capped)
        sp_emit(pd->d, SP_L304, SP_AT_NOTHING, "the sum of periods of one stack");
    sp_pd_lbr_report(pd);
}

spaa_status sp_pd_pass2(struct sp_pd *pd)
{
    if (!pd->attrs.n)
        return SPAA_OK;
    struct pass *ps = calloc(1, sizeof *ps);
    uint64_t *periods = calloc(pd->attrs.n, sizeof *periods);
    spaa_status st = SPAA_OK;
    if (!ps || !periods) {
        st = sp_nomem(pd->d);
        goto done;
    }
    for (size_t i = 0; i < pd->attrs.n; i++)
        periods[i] = pd_samples_default_period(&pd->attrs.v[i]);
    for (size_t i = 0; i < CACHE; i++)
        ps->ids[i].attr = SP_NONE;
    ps->pd = pd;
    ps->clock_periods = periods;
    ps->one_attr = pd->attrs.n == 1;
    pd->time_first = UINT64_MAX;
    for (size_t i = 0; i < 2 * pd->parts.n && !st; i++) {
        const struct sp_pd_range *range = &pd->parts.v[i / 2].ranges[i % 2];
        if (range->n)
            st = pd->swap ? pd_samples_walk_swapped(ps, range) : pd_samples_walk_native(ps, range);
    }
    if (!st)
        st = pd_samples_flush(ps);
    if (!st)
        pd_samples_report(pd);
done:
    if (ps)
        sp_vec_free(&ps->scratch);
    free(periods);
    free(ps);
    return st;
}
