/*
 * Damaged times: a byte that changed makes a moment days away, and everything that lasts until then as long.
 *
 * A recording of all CPUs has one buffer for each, whose records are in order of time but for microseconds. A
 * time above both that follow it there, or below both that came before, cannot be. The times of the others
 * are the bounds of the recording.
 */
#include "formats/perf_data/perf_data.h"

#include "base/watch.h"

enum { CPUS = 4096, WINDOW = 5 };
#define SLACK_NS  1000000000u
#define BACKWARDS ((uint64_t)1 << 27) /* write_backward: buffers that are read from their end */

struct stream {
    uint64_t t[WINDOW]; /* the last ones; the middle one is judged */
    uint32_t n;
};

struct times {
    struct sp_pd *pd;
    struct stream *streams; /* by CPU */
    uint64_t seen, damaged, first, last;
};

static void judge(struct times *x, const uint64_t *t, bool low, bool high)
{
    uint64_t v = *t;
    if ((high && v > t[1] + SLACK_NS && v > t[2] + SLACK_NS) ||
        (low && v + SLACK_NS < t[-1] && v + SLACK_NS < t[-2])) {
        x->damaged++;
        return;
    }
    x->first = v < x->first ? v : x->first;
    x->last = v > x->last ? v : x->last;
}

static void add(struct times *x, struct stream *s, uint64_t t)
{
    if (s->n == WINDOW) {
        memmove(s->t, s->t + 1, (WINDOW - 1) * sizeof *s->t);
        s->n--;
    }
    s->t[s->n++] = t;
    if (s->n == 3)
        judge(x, &s->t[0], false, true);
    if (s->n == 4)
        judge(x, &s->t[1], false, true);
    if (s->n == WINDOW)
        judge(x, &s->t[2], true, true);
}

/* What is last of a CPU has none after it. */
static void finish(struct times *x)
{
    for (size_t i = 0; i < CPUS; i++) {
        const struct stream *s = &x->streams[i];
        for (uint32_t k = s->n < 3 ? 0 : s->n - 2; s->n >= 3 && k < s->n; k++)
            judge(x, &s->t[k], k >= 2, false);
    }
}

/* A record's time and CPU; false: it has none. */
static bool place_of(const struct sp_pd *pd, const struct sp_pd_record *r, uint64_t *time, int32_t *cpu)
{
    if (r->type == PD_SAMPLE) {
        const struct sp_pd_plan *plan = &pd->attrs.v[0].plan;
        if (!plan->time || !plan->cpu || r->size < plan->time + 8 || r->size < plan->cpu + 4)
            return false;
        *time = sp_pd_u64(r->p + plan->time, pd->swap);
        *cpu = sp_pd_i32(r->p + plan->cpu, pd->swap);
    } else {
        struct sp_pd_trailer t;
        sp_pd_trailer_read(pd, r, 8, &t);
        *time = t.time;
        *cpu = t.cpu;
    }
    return *time && *time < SP_PD_SANE && *cpu >= 0 && *cpu < CPUS;
}

/* All events have time and CPU at the same places. */
static bool is_plain(const struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->attrs.n; i++)
        if (pd->attrs.v[i].plan.time != pd->attrs.v[0].plan.time ||
            pd->attrs.v[i].plan.cpu != pd->attrs.v[0].plan.cpu || pd->attrs.v[i].flags & BACKWARDS)
            return false;
    return pd->attrs.n && (pd->p->recorded == SP_RECORDED_ALL || pd->p->recorded == SP_RECORDED_CPUS);
}

static spaa_status walk(struct times *x, const struct sp_pd_range *range)
{
    struct sp_pd_record r = {0};
    uint64_t time;
    int32_t cpu;
    while (sp_pd_next(x->pd, range, &r, false)) {
        if (sp_leaving(x->pd->d, x->seen++))
            return SPAA_ERR_CANCELLED;
        if (r.type < 64 && place_of(x->pd, &r, &time, &cpu))
            add(x, &x->streams[cpu], time);
    }
    return SPAA_OK;
}

spaa_status sp_pd_bound_times(struct sp_pd *pd, uint64_t *first, uint64_t *last)
{
    *first = 0;
    *last = SP_PD_SANE - 1;
    if (!is_plain(pd))
        return SPAA_OK;
    struct times x = {.pd = pd, .first = UINT64_MAX};
    x.streams = calloc(CPUS, sizeof *x.streams);
    spaa_status st = x.streams ? SPAA_OK : sp_nomem(pd->d);
    for (size_t i = 0; i < 2 * pd->parts.n && !st; i++)
        if (pd->parts.v[i / 2].ranges[i % 2].n)
            st = walk(&x, &pd->parts.v[i / 2].ranges[i % 2]);
    if (!st)
        finish(&x);
    free(x.streams);
    if (st || !x.damaged || x.damaged > 1 + x.seen / 20 || x.first > x.last)
        return st;
    *first = x.first;
    *last = x.last;
    sp_emit(
        pd->d, SP_L300, SP_AT_NOTHING,
        "damaged times: %llu records have one far from those around them; what lies outside the others is "
        "left out of the time on and off the CPU",
        (unsigned long long)x.damaged);
    return SPAA_OK;
}
