/*
 * Branch stacks: as branches (`perf record -b`), or as call stacks (`--call-graph lbr`).
 *
 * Quirk: the flags of an entry are C bit fields, which big-endian machines fill from the other end.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"
#include "model/events.h"

struct sp_pd_branch_entry sp_pd_branch_entry_read(const struct sp_pd *pd, const unsigned char *p)
{
    uint64_t flags = sp_pd_u64(p + 16, pd->swap);
    bool big = pd->big_endian;
    return (struct sp_pd_branch_entry){
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

/*
 * Branches: the event `lbr`: each distinct branch of a thread is a stack of two,
 * where it went at the leaf and where it came from at the root, weighted with how often it was seen, how
 * often it had been predicted wrongly, and the cycles since the branch before it where the processor counts
 * them.
 *
 * Traces: the event `lbr_trace`. Where every branch was recorded (`-j any`), what ran between two that are
 * neighbours in a branch stack is known: from where the older one went to where the newer one stands. Each
 * distinct one is a stack of three: the newer branch at the leaf, then as of `lbr`, so that it is known what
 * was entered from where, which optimisers ask. The cycles of the newer branch are those that the trace took;
 * a count that stands at its end says only that there were more, and is none.
 */
static uint64_t pd_branches_branch_hash(const struct sp_pd_branch *a)
{
    return sp_hash_mix(sp_hash_mix(a->from, a->to) ^ a->next, (uint64_t)a->epoch << 32 | (uint32_t)a->cpu);
}

static struct sp_pd_branch *pd_branches_intern(struct sp_pd *pd, const struct sp_pd_branch *want)
{
    uint64_t hash = pd_branches_branch_hash(want);
    struct sp_probe at = sp_map_probe(&pd->branch_map, hash);
    for (uint32_t i; (i = sp_map_next(&pd->branch_map, &at)) != SP_MAP_NONE;) {
        struct sp_pd_branch *a = &pd->branches.v[i];
        if (a->from == want->from && a->to == want->to && a->next == want->next && a->epoch == want->epoch &&
            a->cpu == want->cpu)
            return a;
    }
    if (pd->branches.n >= SP_NONE - 1 || !sp_vec_push(&pd->branches, *want) ||
        !sp_map_add(&pd->branch_map, hash, (uint32_t)pd->branches.n - 1))
        return NULL;
    return &pd->branches.v[pd->branches.n - 1];
}

/* Whether nothing was left out between entries: then one runs into the next. */
static bool pd_branches_are_all(const struct sp_pd_attr *a)
{
    const uint64_t some = PD_BRANCH_IN_TX | PD_BRANCH_NO_TX | PD_BRANCH_CALL_STACK;
    return a->branch_type & PD_BRANCH_ANY && !(a->branch_type & some);
}

spaa_status sp_pd_branches_add(struct sp_pd *pd, const struct sp_pd_fields *f, uint32_t attr, uint32_t epoch,
                               int32_t cpu)
{
    bool all = pd_branches_are_all(&pd->attrs.v[attr]);
    uint64_t next = 0;   /* where the newer branch stands */
    uint16_t cycles = 0; /* the newer branch's */
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch_entry b = sp_pd_branch_entry_read(pd, f->branches + i * 24);
        struct sp_pd_branch want = {.from = b.from, .to = b.to, .epoch = epoch, .attr = attr};
        want.cpu = pd->group_by & SP_BY_CPU ? cpu : 0;
        if (b.from || b.to) {
            struct sp_pd_branch *a = pd_branches_intern(pd, &want);
            if (!a)
                return sp_nomem(pd->d);
            a->count++;
            a->missed += b.missed;
            a->cycles += b.cycles;
            pd->branches_missed |= b.missed || b.predicted;
            pd->branches_cycles |= b.cycles != 0;
        }
        want.next = next;
        if (all && next && b.to) {
            struct sp_pd_branch *a = pd_branches_intern(pd, &want);
            if (!a)
                return sp_nomem(pd->d);
            a->count++;
            pd->traces = true;
            if (cycles && cycles != UINT16_MAX) {
                a->cycles += cycles;
                a->timed++;
                pd->traces_timed = true;
            }
        }
        next = b.from;
        cycles = b.cycles;
    }
    return SPAA_OK;
}

/* The layout of these metrics, as many as are wanted; the last are cycles. SP_NONE: out of memory. */
static uint32_t pd_branches_layout(struct sp_pd *pd, const char *const names[3], const bool wanted[3],
                                   uint32_t metrics[3])
{
    struct sp_profile *p = pd->p;
    struct sp_weight_field fields[3];
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        metrics[i] = wanted[i] ? sp_metric_intern(p, names[i], strlen(names[i])) : SP_NONE;
        if (wanted[i] && metrics[i] == SP_NONE)
            return SP_NONE;
        if (wanted[i])
            fields[n++] = (struct sp_weight_field){.metric = metrics[i]};
    }
    if (wanted[2]) {
        fields[n - 1].unit = sp_profile_cstr(p, "cycles");
        if (fields[n - 1].unit == SP_STR_FAIL)
            return SP_NONE;
    }
    return sp_layout_intern(p, fields, n);
}

/* The event of traces, sampled as that of branches. */
static spaa_status pd_branches_trace_event(struct sp_pd *pd, struct sp_event e)
{
    struct sp_profile *p = pd->p;
    pd->trace_event = SP_NONE;
    if (!pd->traces)
        return SPAA_OK;
    e.name = sp_profile_cstr(p, SP_LBR_TRACE);
    static const char *const names[] = {SP_TRACES, SP_TIMED_TRACES, SP_BRANCH_CYCLES};
    const bool wanted[] = {true, pd->traces_timed, pd->traces_timed};
    pd->trace_layout = pd_branches_layout(pd, names, wanted, pd->trace_metrics);
    if (e.name == SP_STR_FAIL || pd->trace_layout == SP_NONE)
        return sp_nomem(pd->d);
    e.primary = pd->trace_metrics[0];
    pd->trace_event = sp_event_add_named(p, &e);
    return pd->trace_event == SP_NONE ? sp_nomem(pd->d) : SPAA_OK;
}

/* The event, sampled as the one whose samples hold the branches, and the layout of its weights. */
spaa_status sp_pd_branches_event(struct sp_pd *pd)
{
    struct sp_profile *p = pd->p;
    if (!pd->branches.n)
        return SPAA_OK;
    const struct sp_pd_attr *a = &pd->attrs.v[pd->branches.v[0].attr];
    struct sp_event e = {.name = sp_profile_cstr(p, SP_LBR), .kind = SP_HARDWARE};
    if (a->event != SP_NONE) {
        e.mode = p->events.v[a->event].mode;
        e.sample_period = p->events.v[a->event].sample_period;
        e.frequency_hz = p->events.v[a->event].frequency_hz;
    }
    static const char *const names[] = {SP_BRANCHES_TAKEN, SP_BRANCH_MISSES, SP_BRANCH_CYCLES};
    const bool wanted[] = {true, pd->branches_missed, pd->branches_cycles};
    pd->branch_layout = pd_branches_layout(pd, names, wanted, pd->branch_metrics);
    if (pd->branch_layout == SP_NONE || e.name == SP_STR_FAIL)
        return sp_nomem(pd->d);
    e.primary = pd->branch_metrics[0];
    pd->branch_event = sp_event_add_named(p, &e);
    return pd->branch_event == SP_NONE ? sp_nomem(pd->d) : pd_branches_trace_event(pd, e);
}

/*
 * Call stacks from branch stacks.
 *
 * Where the processor kept a call stack (`perf record --call-graph lbr`, branch_sample_type CALL_STACK), each
 * entry is a call that has not returned, newest first: the user's callchain is where user code stood and then
 * the places of the calls, whatever the kernel found by frame pointers. The kernel's part is the recorded
 * callchain's, and a callchain without a user part (a kernel thread's) stays as it is: so does perf
 * (tools/perf/util/machine.c, resolve_lbr_callchain_sample). Quirk: perf shows as leaf where the last call
 * went; here it is where the sample was taken, which is in the same function and has the right line.
 *
 * Of other branch stacks a call stack can be had, with --lbr-callstack, when the recorder wrote of what type
 * each branch is (`-j any,save_type`): going back in time, a return skips the call that it belongs to, and
 * calls that are not skipped are open. What ran in the kernel meanwhile came back to where it began, so its
 * branches do not count.
 *
 * The entries are the addresses of calls, not of returns: each has a marker of its own before it, since what
 * follows one is taken as exact.
 */
/* perf_branch_entry.type: those that tell calls and returns */
enum { BR_CALL = 4, BR_IND_CALL = 5, BR_RET = 6, BR_COND_CALL = 9, BR_COND_RET = 10 };

static bool pd_branches_put_u64(const struct sp_pd *pd, struct sp_pd_values *out, uint64_t v)
{
    v = pd->swap ? __builtin_bswap64(v) : v;
    return sp_vec_push(out, v);
}

static bool pd_branches_put_call(const struct sp_pd *pd, struct sp_pd_values *out, uint64_t addr)
{
    return pd_branches_put_u64(pd, out, PD_CONTEXT_USER) && pd_branches_put_u64(pd, out, addr);
}

static bool pd_branches_in_kernel(uint64_t addr)
{
    return addr >> 63;
}

bool sp_pd_lbr_is_chain(const struct sp_pd_attr *a)
{
    return a->sample_type & PD_BRANCH_STACK && a->branch_type & PD_BRANCH_CALL_STACK;
}

/* Whether calls and returns are all there and can be told apart. */
static bool pd_branches_is_typed(const struct sp_pd_attr *a)
{
    const uint64_t both = PD_BRANCH_ANY_CALL | PD_BRANCH_ANY_RETURN;
    return a->branch_type & PD_BRANCH_TYPE_SAVE &&
           (a->branch_type & PD_BRANCH_ANY || (a->branch_type & both) == both);
}

static bool pd_branches_has_types(const struct sp_pd *pd, const struct sp_pd_fields *f)
{
    for (uint64_t i = 0; i < f->nbranches; i++)
        if (sp_pd_branch_entry_read(pd, f->branches + i * 24).type)
            return true;
    return false;
}

/* Where user code stood when the kernel was sampled and did not save it; 0: not known. */
static uint64_t pd_branches_leaf_of(const struct sp_pd *pd, const struct sp_pd_fields *f)
{
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch_entry b = sp_pd_branch_entry_read(pd, f->branches + i * 24);
        if (!pd_branches_in_kernel(b.from))
            return pd_branches_in_kernel(b.to) ? b.from : b.to;
    }
    return 0;
}

/* The kernel's part of the callchain, and where user code stood. */
static bool pd_branches_put_start(const struct sp_pd *pd, const struct sp_pd_fields *f,
                                  const struct sp_pd_sample *s, struct sp_pd_values *out)
{
    bool swap = pd->swap;
    uint32_t kernel = 0;
    uint64_t leaf = s->mode == PD_MODE_USER ? s->ip : pd_branches_leaf_of(pd, f);
    if (s->mode != PD_MODE_USER) {
        while (kernel < s->n && sp_pd_u64(s->chain + (size_t)kernel * 8, swap) != PD_CONTEXT_USER)
            kernel++;
        if (kernel + 1 < s->n)
            leaf = sp_pd_u64(s->chain + ((size_t)kernel + 1) * 8, swap);
        if (!s->n &&
            (!pd_branches_put_u64(pd, out, PD_CONTEXT_KERNEL) || !pd_branches_put_u64(pd, out, s->ip)))
            return false;
        if (!sp_vec_reserve(out, out->n + kernel))
            return false;
        if (kernel)
            memcpy(out->v + out->n, s->chain, (size_t)kernel * 8);
        out->n += kernel;
    }
    return !leaf || pd_branches_put_call(pd, out, leaf);
}

/* The calls that are open, newest first. */
static bool pd_branches_put_open_calls(const struct sp_pd *pd, const struct sp_pd_fields *f,
                                       struct sp_pd_values *out)
{
    uint64_t returned = 0;
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch_entry b = sp_pd_branch_entry_read(pd, f->branches + i * 24);
        if (pd_branches_in_kernel(b.from) || pd_branches_in_kernel(b.to))
            continue;
        if (b.type == BR_RET || b.type == BR_COND_RET)
            returned++;
        if (b.type != BR_CALL && b.type != BR_IND_CALL && b.type != BR_COND_CALL)
            continue;
        if (returned)
            returned--;
        else if (!pd_branches_put_call(pd, out, b.from))
            return false;
    }
    return true;
}

static bool pd_branches_has_marker(const struct sp_pd *pd, const struct sp_pd_sample *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (sp_pd_u64(s->chain + (size_t)i * 8, pd->swap) == PD_CONTEXT_USER)
            return true;
    return false;
}

bool sp_pd_lbr_chain(struct sp_pd *pd, const struct sp_pd_attr *a, const struct sp_pd_fields *f,
                     const struct sp_pd_sample *s, struct sp_pd_values *out)
{
    out->n = 0;
    if (!(f->has & PD_BRANCH_STACK) || !f->nbranches ||
        (s->mode != PD_MODE_USER && s->mode != PD_MODE_KERNEL) ||
        (s->mode == PD_MODE_KERNEL && s->n && !pd_branches_has_marker(pd, s)))
        return true;
    bool calls = sp_pd_lbr_is_chain(a);
    if (!calls && !(pd_branches_is_typed(a) && pd_branches_has_types(pd, f))) {
        pd->lbr_untyped++;
        return true;
    }
    if (!pd_branches_put_start(pd, f, s, out))
        return false;
    if (!calls)
        return pd_branches_put_open_calls(pd, f, out);
    for (uint64_t i = 0; i < f->nbranches; i++)
        if (!pd_branches_put_call(pd, out, sp_pd_u64(f->branches + i * 24, pd->swap)))
            return false;
    return true;
}

void sp_pd_lbr_report(struct sp_pd *pd)
{
    bool any = false;
    if (!pd->lbr_callstack)
        return;
    for (size_t i = 0; i < pd->attrs.n; i++)
        any |= (pd->attrs.v[i].sample_type & PD_BRANCH_STACK) != 0;
    if (!any)
        sp_emit(pd->d, SP_W830, SP_AT_NOTHING, "no event of it was recorded with them");
    if (pd->lbr_untyped)
        sp_emit(pd->d, SP_W831, SP_AT_NOTHING, "%llu samples keep the stacks that the kernel recorded",
                (unsigned long long)pd->lbr_untyped);
}
