/*
 * Where many threads stood still at once (analysis/stall.h): the words are waits_stalls_words.c's, the tables
 * waits_stalls_tables.c's.
 */
#include "ask/waits_stalls_parts.h"

#include "analysis/sample_times.h"

#include "analysis/wake_kind.h"
#include "model/off_cpu.h"

/* ---- threads of pools ---- */

static uint32_t thread_of(const struct sp_intervals *v, int64_t pid, int64_t tid)
{
    size_t lo = 0, hi = v->threads.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct sp_interval_thread *t = &v->threads.v[mid];
        if (t->tid && (t->pid > pid || (t->pid == pid && t->tid >= tid)))
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo < v->threads.n && v->threads.v[lo].pid == pid && v->threads.v[lo].tid == tid ? (uint32_t)lo
                                                                                           : SP_NONE;
}

static spaa_status find_pools(struct stalls *x)
{
    const struct sp_profile *p = x->a->s.profile;
    spaa_status st = sp_pools_of(p, NULL, x->a->q->diags, &x->pools);
    if (st)
        return st;
    x->pool = malloc((x->v->threads.n + 1) * sizeof *x->pool);
    if (!x->pool) {
        sp_pools_free(&x->pools);
        return sp_nomem(x->a->q->diags);
    }
    for (size_t i = 0; i < x->v->threads.n; i++)
        x->pool[i] = SP_NONE;
    for (size_t i = 0; i < p->threads.n; i++) {
        uint32_t t = thread_of(x->v, p->threads.v[i].pid, p->threads.v[i].tid);
        if (t != SP_NONE)
            x->pool[t] = x->pools.of_record[i];
    }
    return SPAA_OK;
}

/* ---- what stacks say ---- */

/* By a function of the kernel in a waker's stack; enum sp_stall_wakes. */
static unsigned char wakes_by(struct sp_str name)
{
    unsigned kind = sp_wake_kind(name);
    return kind & SP_WAKE_BY_REMOTE      ? SP_STALL_WAKES_REMOTE
           : kind & SP_WAKE_BY_INTERRUPT ? SP_STALL_WAKES_INTERRUPT
           : kind & SP_WAKE_BY_SIGNAL    ? SP_STALL_WAKES_SIGNAL
                                         : SP_STALL_WAKES_THREAD;
}

struct marks {
    unsigned char *selected, *wakers;
};

static spaa_status mark_stacks(struct stalls *x, struct marks *m)
{
    const struct sp_selection *s = &x->a->s;
    const struct sp_profile *p = s->profile;
    unsigned char *function = calloc(p->functions.n + 1, 1);
    m->selected = calloc(p->stacks.n + 1, 1);
    m->wakers = calloc(p->stacks.n + 1, 1);
    if (!function || !m->selected || !m->wakers) {
        free(function);
        return sp_nomem(x->a->q->diags);
    }
    for (size_t i = 0; i < s->rows.n; i++)
        m->selected[s->rows.v[i].stack] = 1;
    for (size_t i = 0; i < p->functions.n; i++)
        function[i] = wakes_by(sp_pstr(p, p->functions.v[i].name));
    for (size_t i = 0; i < x->v->v.n; i++) {
        uint32_t stack = x->v->v.v[i].waker_stack, off = x->v->v.v[i].stack;
        x->stacks |= off < p->stacks.n && p->stacks.v[off].n > 1;
        if (stack == SP_NONE || stack >= p->stacks.n || m->wakers[stack])
            continue;
        const uint32_t *frames = sp_stack_frames(p, stack);
        x->waker_stacks |= p->stacks.v[stack].n > 0;
        for (uint32_t k = 0; k < p->stacks.v[stack].n && !m->wakers[stack]; k++)
            m->wakers[stack] = function[p->frames.v[frames[k]].function];
    }
    free(function);
    return SPAA_OK;
}

static spaa_status find_stalls(struct stalls *x)
{
    struct marks m = {NULL, NULL};
    spaa_status st = mark_stacks(x, &m); /* says waker_stacks */
    struct sp_stall_input in = {.v = x->v,
                                .why = x->why->of,
                                .selected = m.selected,
                                .wakers = m.wakers,
                                .stacks = x->why->n,
                                .timed = x->a->s.timed,
                                .from = x->a->s.time_lo,
                                .to = x->a->s.time_hi,
                                .waker_stacks = x->waker_stacks};
    if (!st)
        st = sp_stalls_of(&in, x->a->q->diags, &x->s);
    free(m.selected);
    free(m.wakers);
    return st;
}

static bool list_processes(const struct stalls *x, struct sp_waits_stalled *out)
{
    for (size_t i = 0; i < x->s.v.n; i++) {
        const struct sp_stall *s = &x->s.v.v[i];
        for (uint32_t k = 0; k < (s->processes ? s->waits.n : 1); k++) {
            uint32_t t = s->processes ? x->v->v.v[x->s.waits.v[s->waits.first + k]].thread : s->group;
            const struct sp_interval_thread *thread = &x->v->threads.v[t];
            struct sp_waits_stalled_process p = {thread->pid, thread->comm,
                                                 s->processes || thread->pid == SP_ABSENT};
            if (!sp_vec_push(&out->v, p))
                return false;
        }
    }
    return true;
}

spaa_status sp_waits_stalls(struct sp_asked *a, const struct sp_intervals *v,
                            const struct sp_wait_reasons *why, struct sp_waits_stalled *out)
{
    struct stalls x = {.a = a, .v = v, .why = why};
    if (!v->v.n)
        return SPAA_OK;
    spaa_status st = sp_asked_own(a);
    if (!st)
        st = sp_sample_times_zero(a->s.profile, a->q->diags, &x.zero);
    if (!st)
        st = find_pools(&x);
    if (st)
        return st;
    st = find_stalls(&x);
    if (!st) {
        stalls_say(&x);
        stalls_put(&x);
        st = list_processes(&x, out) ? SPAA_OK : sp_nomem(a->q->diags);
        sp_stalls_free(&x.s);
    }
    free(x.pool);
    sp_pools_free(&x.pools);
    return st;
}
