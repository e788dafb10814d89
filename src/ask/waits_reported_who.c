/* Waiters, waits and threads of reports, as cells and in words: what rows and chains both show. */
#include "ask/waits_reported.h"

#include "base/num.h"

struct sp_str sp_reported_comm(const struct sp_reported *x, const struct sp_wait_thread *t)
{
    return sp_pstr(x->w.profile, t->comm);
}

/* ---- cells of JSON ---- */

/* A thread, or so many threads of a pool; `of`: one of them. */
void sp_reported_put_waiter(struct sp_reported *x, struct sp_answer_table *t, uint32_t of, uint32_t pool,
                            uint32_t threads)
{
    const struct sp_wait_thread *thread = &x->w.threads.v[of];
    const struct sp_reported_thread *f = sp_thread_info_thread(&x->w.info, thread->tid);
    struct sp_answer *a = x->a.out;
    sp_put_str(a, t, WHO_PROCESS, sp_reported_comm(x, thread));
    sp_put_int(t, WHO_PID, thread->pid);
    if (threads > 1) {
        struct sp_pool some = pool == SP_NONE ? (struct sp_pool){0} : x->ws.pools->pools.v[pool];
        some.threads = threads;
        sp_put_pool(&x->a, t, WHO_POOL, &some);
        return;
    }
    sp_put_int(t, WHO_TID, thread->tid);
    if (f) {
        sp_put_str(a, t, WHO_THREAD_NAME, sp_pstr(x->w.profile, f->name));
        sp_put_str(a, t, WHO_QUEUE, sp_pstr(x->w.profile, f->queue));
    }
}

void sp_reported_put_wait(struct sp_reported *x, struct sp_answer_table *t, size_t at,
                          const struct sp_wait *w, int64_t weight)
{
    const struct sp_profile *p = x->w.profile;
    struct sp_answer *a = x->a.out;
    sp_put_str(a, t, at + WAIT_ON, sp_pstr(p, w->on));
    sp_put_str(a, t, at + WAIT_STATE, sp_pstr(p, w->state));
    sp_put_int(t, at + WAIT_WEIGHT, weight);
    if (x->w.counts_samples)
        sp_put_int(t, at + WAIT_SAMPLES, weight);
    sp_put_str(a, t, at + WAIT_TEXT, sp_pstr(p, w->text));
    sp_put_int(t, at + WAIT_HOPS, w->hops);
    if (x->w.threads.v[w->waiter].weight > 0)
        sp_put_scaled(t, at + WAIT_PERCENT,
                      (int64_t)sp_ratio(weight, x->w.threads.v[w->waiter].weight, 10000), 2);
    if (w->holder_pid == SP_ABSENT && w->holder_tid == SP_ABSENT)
        return;
    sp_put_str(a, t, at + WAIT_HOLDER, sp_pstr(p, w->holder_name));
    sp_put_int(t, at + WAIT_HOLDER_PID, w->holder_pid);
    sp_put_int(t, at + WAIT_HOLDER_TID, w->holder_tid);
    sp_put_int(t, at + WAIT_HOLDER_KNOWN, w->holder != SP_NONE || w->among > 1);
    sp_put_int(t, at + WAIT_HOLDER_PROCESSES, w->among > 1 ? w->among : SP_ABSENT);
}

/* ---- words ---- */

/* "Safari [412] 0x3fd504", "main.main 1": in the digits that the profiler prints. */
void sp_reported_say_thread(const struct sp_reported *x, struct sp_buf *b, struct sp_str name, int64_t pid,
                            int64_t tid)
{
    bool hex = sp_str_is(sp_pstr(x->w.profile, x->w.profile->header.source_tool), "spindump");
    sp_buf_add(b, name.p, name.n);
    if (pid != SP_ABSENT)
        sp_buf_printf(b, "%s[%lld]", name.n ? " " : "", (long long)pid);
    if (tid != SP_ABSENT)
        sp_buf_printf(b, hex ? "%s0x%llx" : "%s%lld", name.n || pid != SP_ABSENT ? " " : "", (long long)tid);
}

/* "Safari [412] 0x3fd504", "java [412] http-* (38 of 40)" */
void sp_reported_say_waiter(struct sp_reported *x, struct sp_buf *b, uint32_t of, uint32_t pool,
                            uint32_t threads)
{
    const struct sp_wait_thread *t = &x->w.threads.v[of];
    if (threads < 2) {
        sp_reported_say_thread(x, b, sp_reported_comm(x, t), t->pid, t->tid);
        return;
    }
    const struct sp_pool *all = &x->ws.pools->pools.v[pool];
    struct sp_str pattern = sp_str_at(&x->ws.pools->names, all->pattern);
    if (t->pid != SP_ABSENT || sp_str_cmp(sp_reported_comm(x, t), pattern) != 0) {
        sp_reported_say_thread(x, b, sp_reported_comm(x, t), t->pid, SP_ABSENT);
        sp_buf_ch(b, ' ');
    }
    sp_buf_add(b, pattern.p, pattern.n);
    sp_buf_printf(b, " (%u", threads);
    if (threads < all->threads)
        sp_buf_printf(b, " of %u", all->threads);
    sp_buf_ch(b, ')');
}

/* Numbers of samples are exact. */
void sp_reported_say_weight(struct sp_reported *x, struct sp_buf *b, int64_t v)
{
    char t[64];
    if (x->w.counts_samples)
        sp_buf_add(b, t, sp_scaled_text(v, x->w.scale, t));
    else
        sp_text_weight(b, x->a.s.unit, x->a.s.scale, v);
}
