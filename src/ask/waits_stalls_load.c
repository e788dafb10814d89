/*
 * A machine that has too few CPUs for what is ready to run: who waited for them most, in sum. Single waits
 * say nothing of it, as the scheduler shares CPUs out in small slices.
 */
#include "ask/waits_stalls_parts.h"

#define CROWDS_SHOWN 3

struct crowd {
    uint32_t pool, thread; /* pool SP_NONE: a thread */
    int64_t waited;
};

static int by_waited(const void *va, const void *vb)
{
    const struct crowd *a = va, *b = vb;
    if (a->waited != b->waited)
        return a->waited > b->waited ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static int64_t time_in(const struct stalls *x, uint32_t thread, enum sp_run_state state, int64_t from,
                       int64_t to)
{
    const struct sp_interval_thread *t = &x->v->threads.v[thread];
    int64_t sum = 0;
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        const struct sp_interval *v = &x->v->v.v[i];
        int64_t a = v->start > from ? v->start : from, b = v->until < to ? v->until : to;
        sum += v->state == state && b > a ? b - a : 0;
    }
    return sum;
}

/* Pools first, then threads of none. */
static int64_t sum_crowds(const struct stalls *x, struct crowd *v, int64_t from, int64_t to)
{
    int64_t all = 0;
    for (size_t i = 0; i < x->pools.pools.n; i++)
        v[i] = (struct crowd){(uint32_t)i, SP_NONE, 0};
    for (uint32_t t = 0; t < x->v->threads.n; t++) {
        uint32_t pool = x->pool[t];
        int64_t waited = x->v->threads.v[t].tid ? time_in(x, t, SP_RUN_RUNNABLE, from, to) : 0;
        v[x->pools.pools.n + t] = (struct crowd){SP_NONE, t, pool == SP_NONE ? waited : 0};
        if (pool != SP_NONE)
            v[pool].waited += waited;
        all += waited;
    }
    return all;
}

/* What is ready and not let run, by a quota, leaves CPUs idle. */
static bool is_busy(const struct stalls *x, int64_t from, int64_t to)
{
    int64_t ran = 0;
    for (uint32_t t = 0; t < x->v->threads.n; t++)
        ran += x->v->threads.v[t].tid ? time_in(x, t, SP_RUN_RUNNING, from, to) : 0;
    return (double)ran >= 0.8 * (double)(to - from) * (double)x->v->cpus;
}

static void say_crowds(struct stalls *x, const struct crowd *v, size_t n, int64_t all)
{
    struct sp_buf *b = &x->a->b;
    for (size_t i = 0; i < n && i < CROWDS_SHOWN && v[i].waited * 10 >= all; i++) {
        sp_buf_puts(b, i ? ", " : "; most: ");
        if (v[i].pool == SP_NONE) {
            stalls_say_thread(x, b, v[i].thread);
        } else {
            const struct sp_pool *pool = &x->pools.pools.v[v[i].pool];
            struct sp_str pattern = sp_str_at(&x->pools.names, pool->pattern);
            sp_buf_add(b, pattern.p, pattern.n);
            sp_buf_printf(b, " (%u)", pool->threads);
        }
        sp_buf_ch(b, ' ');
        stalls_say_ns(b, v[i].waited);
    }
}

void stalls_say_load(struct stalls *x)
{
    int64_t from = x->v->begin, to = x->v->end;
    size_t n = x->pools.pools.n + x->v->threads.n;
    struct sp_buf *b = &x->a->b;
    if (x->a->s.timed) {
        from = x->a->s.time_lo > from ? x->a->s.time_lo : from;
        to = x->a->s.time_hi < to ? x->a->s.time_hi : to;
    }
    if (!x->v->all_threads || to <= from)
        return;
    struct crowd *v = malloc((n + 1) * sizeof *v);
    if (!v) {
        x->a->out->failed = true;
        return;
    }
    int64_t all = sum_crowds(x, v, from, to);
    double threads = (double)all / (double)(to - from);
    if (threads >= (double)x->v->cpus && is_busy(x, from, to)) {
        qsort(v, n, sizeof *v, by_waited);
        sp_buf_clear(b);
        sp_buf_printf(b, "OVERLOADED: on average %.3g waited for one of %u CPUs", threads, x->v->cpus);
        say_crowds(x, v, n, all);
        sp_answer_line_of(x->a->out, SP_LINE_STRONG, b);
    }
    free(v);
}
