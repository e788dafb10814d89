#include "model/events.h"

#include "json/find.h"

/* False: the sum is what it is, whatever follows. */
static bool add_samples(int64_t *sum, int64_t v)
{
    if (v == SP_ABSENT)
        return true;
    if (v == SP_DECIMAL) {
        *sum = SP_ABSENT;
        return false;
    }
    if (*sum == SP_ABSENT)
        *sum = 0;
    bool fits = !__builtin_add_overflow(*sum, v, sum);
    if (!fits)
        *sum = INT64_MAX;
    return fits;
}

int64_t sp_event_samples(const struct sp_profile *p, uint32_t event)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    int64_t sum = SP_ABSENT;
    bool more = samples != SP_NONE;
    for (uint32_t i = 0; more && i < p->stacks.n; i++)
        if (p->contexts.v[p->stacks.v[i].context].event == event)
            more = add_samples(&sum, sp_weight_whole(p, i, samples));
    return sum;
}

/* So many events, one after the other, are summed up in one pass over the stacks: there may be thousands. */
enum { EVENTS_AT_ONCE = 512 };
struct event_sum {
    int64_t samples; /* as sp_event_samples has it */
    bool more;       /* stacks may change it */
    bool averages;   /* some stack has an average */
};

static void sum_events(const struct sp_profile *p, uint32_t first, struct event_sum sums[EVENTS_AT_ONCE])
{
    uint32_t samples = sp_metric_find(p, "samples", 7), avg = sp_metric_find(p, "avg", 3);
    for (size_t e = 0; e < EVENTS_AT_ONCE; e++)
        sums[e] = (struct event_sum){SP_ABSENT, samples != SP_NONE, false};
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        uint32_t e = p->contexts.v[p->stacks.v[i].context].event - first;
        if (e >= EVENTS_AT_ONCE) /* another one, those before among them */
            continue;
        if (sums[e].more)
            sums[e].more = add_samples(&sums[e].samples, sp_weight_whole(p, i, samples));
        sums[e].averages = sums[e].averages || (avg != SP_NONE && sp_weight(p, i, avg) != SP_ABSENT);
    }
}

/* What no sum can be made of, and statistics with an average in them, come behind what adds. */
static int event_rank(const struct sp_profile *p, uint32_t event, const struct event_sum *sum)
{
    uint32_t primary = p->events.v[event].primary;
    if (primary == SP_NONE || p->metrics.v[primary].info->op != SP_OP_SUM)
        return 0;
    return sum->averages ? 1 : 2;
}

/* Of switches, wakings and the like, the time off the CPU that was made of them says more than their number.
 */
static uint32_t instead_of_switches(const struct sp_profile *p, uint32_t event)
{
    static const char scheduler[] = "sched:sched_";
    struct sp_str name = event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[event].name);
    uint32_t off = sp_metric_find(p, "offcpu_ns", 9);
    if (off == SP_NONE || name.n < sizeof scheduler || memcmp(name.p, scheduler, sizeof scheduler - 1) != 0)
        return event;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        uint32_t of = p->contexts.v[p->stacks.v[i].context].event;
        if (of < p->events.n && p->events.v[of].primary == off && sp_weight(p, i, off) != SP_ABSENT)
            return of;
    }
    return event;
}

bool sp_is_branches(const struct sp_profile *p, uint32_t event)
{
    struct sp_str name = event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[event].name);
    return sp_str_is(name, SP_LBR) || sp_str_is(name, SP_LBR_TRACE);
}

uint32_t sp_default_event(const struct sp_profile *p)
{
    struct event_sum sums[EVENTS_AT_ONCE];
    uint32_t best = SP_NONE;
    int64_t best_samples = 0;
    int best_rank = 0;
    if (p->events.n == 1)
        return 0;
    struct sp_str stated = sp_pstr(p, p->header.default_event);
    if (stated.n && (best = sp_event_find(p, stated.p, stated.n)) != SP_NONE)
        return best;
    for (uint32_t e = 0; e < p->events.n; e++) {
        const struct event_sum *sum = &sums[e % EVENTS_AT_ONCE];
        if (sum == sums)
            sum_events(p, e, sums);
        if (sp_is_branches(p, e))
            continue;
        int64_t samples = sum->samples;
        int rank = event_rank(p, e, sum);
        if (best == SP_NONE || rank > best_rank || (rank == best_rank && samples > best_samples)) {
            best = e;
            best_rank = rank;
            best_samples = samples;
        }
    }
    if (best == SP_NONE && p->events.n) /* branches and nothing else */
        return 0;
    return instead_of_switches(p, best);
}

bool sp_peaks_add(const struct sp_profile *p, uint32_t event)
{
    struct sp_str tracking = sp_pstr(p, p->events.v[event].allocation_tracking);
    struct sp_span raw, text = {tracking.p, tracking.n};
    return tracking.n && sp_json_find(text, "x_peak", &raw) && sp_span_is(raw, "\"of_total\"");
}

bool sp_metric_adds(const struct sp_profile *p, uint32_t event, uint32_t metric)
{
    struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
    if (p->metrics.v[metric].info->op == SP_OP_SUM)
        return true;
    return (sp_str_is(name, "peak_bytes") || sp_str_is(name, "x_peak_count")) && sp_peaks_add(p, event);
}

uint32_t sp_branch_ends(const struct sp_profile *p, uint32_t stack,
                        const struct sp_frame *out[SP_BRANCH_ENDS])
{
    const uint32_t *f = sp_stack_frames(p, stack);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->stacks.v[stack].n; i++) {
        const struct sp_frame *frame = &p->frames.v[f[i]];
        if (frame->flags & SP_FRAME_INLINED)
            continue;
        if (n < SP_BRANCH_ENDS)
            out[n] = frame;
        n++;
    }
    return n;
}
