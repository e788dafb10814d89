#include "analysis/cpu_claims.h"

#include "analysis/state_shares.h"
#include "analysis/thread_info.h"
#include "base/num.h"

#include <stdlib.h>

enum {
    CLAIM_SAMPLES = 20, /* fewer are chance */
    CLAIM_TIMES = 5     /* one is so many times the other */
};

/* From sample to sample; 0: not stated. */
static int64_t claims_interval(const struct sp_profile *p, uint32_t event)
{
    struct sp_str hz = sp_pstr(p, p->events.v[event].frequency_hz);
    double rate = hz.n ? sp_text_double(hz.p, hz.n) : 0;
    return rate >= 0.001 && rate <= 1e9 ? (int64_t)(1e9 / rate) : 0;
}

static bool claims_contradict(struct sp_cpu_claim *x, int64_t interval)
{
    if (__builtin_mul_overflow(x->running, interval, &x->seen_ns))
        return false;
    return (x->running >= CLAIM_SAMPLES && x->cpu_ns < x->seen_ns / CLAIM_TIMES) ||
           (x->cpu_ns / CLAIM_SAMPLES >= interval && x->seen_ns < x->cpu_ns / CLAIM_TIMES);
}

static int claims_compare(const void *va, const void *vb)
{
    const struct sp_cpu_claim *a = va, *b = vb;
    int64_t x = llabs(a->seen_ns - a->cpu_ns), y = llabs(b->seen_ns - b->cpu_ns);
    return x != y ? (x > y ? -1 : 1) : (a->context > b->context) - (a->context < b->context);
}

/* Running samples by process, of which each has the context of one of its stacks. */
static void claims_count(const struct sp_profile *p, uint32_t event, const struct sp_thread_info *f,
                         struct sp_cpu_claim *by)
{
    uint32_t metric = p->events.v[event].primary;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        const struct sp_reported_process *x =
            c->event == event && c->pid != SP_ABSENT ? sp_thread_info_process_of(f, c) : NULL;
        int64_t v = sp_weight(p, i, metric);
        if (!x || v <= 0)
            continue;
        struct sp_cpu_claim *claim = &by[x - f->processes.v];
        claim->context = claim->context == SP_NONE ? p->stacks.v[i].context : claim->context;
        if (sp_str_is(sp_pstr(p, c->state), "RUNNABLE") &&
            __builtin_add_overflow(claim->running, v, &claim->running))
            claim->running = INT64_MAX;
    }
}

spaa_status sp_cpu_claims_of(const struct sp_profile *p, uint32_t event, struct sp_diags *d,
                             struct sp_cpu_claims *out)
{
    struct sp_thread_info f;
    *out = (struct sp_cpu_claims){0};
    int64_t interval = sp_is_of_hangs(p, event) ? claims_interval(p, event) : 0;
    if (!interval || !p->processes.n)
        return SPAA_OK;
    spaa_status st = sp_thread_info_of(p, d, &f);
    if (st)
        return st;
    struct sp_cpu_claim *by = calloc(f.processes.n + 1, sizeof *by);
    bool ok = by;
    for (size_t i = 0; ok && i < f.processes.n; i++)
        by[i].context = SP_NONE;
    if (ok)
        claims_count(p, event, &f, by);
    for (size_t i = 0; ok && i < f.processes.n; i++) {
        by[i].cpu_ns = f.processes.v[i].cpu.cpu_ns;
        if (by[i].cpu_ns >= 0 && by[i].context != SP_NONE && claims_contradict(&by[i], interval))
            ok = sp_vec_push(&out->list, by[i]);
    }
    if (ok && out->list.n)
        qsort(out->list.v, out->list.n, sizeof *out->list.v, claims_compare);
    free(by);
    sp_thread_info_free(&f);
    if (ok)
        return SPAA_OK;
    sp_cpu_claims_free(out);
    return sp_nomem(d);
}

void sp_cpu_claims_free(struct sp_cpu_claims *x)
{
    sp_vec_free(&x->list);
}
