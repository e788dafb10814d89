/* The brief of a hang report for programs. */
#include "ask/summary.h"
#include "ask/waits_reported.h"

static void hang_fact_own(struct sp_summary *x, const char *name, const struct sp_held *h)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < h->n; i++) {
        struct sp_str f = sp_pstr(p, p->functions.v[h->path[i]].name);
        if (h->own != SP_NONE && !sp_is_own(&x->hang.own, h->path[i]))
            continue;
        sp_buf_puts(&b, b.len ? " > " : "");
        sp_buf_add(&b, f.p, f.n);
    }
    if (b.len)
        sp_fact_text(x->x.out, name, b.data, b.len);
    else
        sp_fact_null(x->x.out, name);
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
}

static void hang_put_event(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_hang_event *e = &h->e;
    struct sp_answer *a = x->x.out;
    sp_fact_cstr(a, "hang.event", e->event);
    sp_fact_str(a, "hang.process", h->process);
    sp_fact_count(a, "hang.pid", h->pid);
    sp_fact_count(a, "hang.processes", h->among ? h->among : SP_ABSENT);
    sp_fact_cstr(a, "hang.action", e->action);
    sp_fact_cstr(a, "hang.measured", e->measured);
    sp_fact_cstr(a, "hang.limit", e->allowed);
    if (e->times > 0)
        sp_fact_real(a, "hang.times_limit", e->times);
    else
        sp_fact_null(a, "hang.times_limit");
    sp_fact_cstr(a, "hang.unresponsive", e->unresponsive);
    sp_fact_cstr(a, "hang.duration", e->duration);
    sp_fact_cstr(a, "hang.sampled", e->sampled);
    sp_fact_cstr(a, "hang.steps", e->steps);
    sp_fact_count(a, "hang.steps_lost", e->lost);
    sp_fact_count(a, "hang.footprint_before_bytes", h->footprint_before);
    sp_fact_count(a, "hang.footprint_bytes", h->footprint);
}

static void hang_put_main(struct sp_summary *x)
{
    static const char *const names[] = {"hang.main.ran",       "hang.main.ready",   "hang.main.waited",
                                        "hang.main.suspended", "hang.main.unknown", "hang.main.events"};
    const struct sp_summary_hang *h = &x->hang;
    sp_fact_count(x->x.out, "hang.main.tid", h->tid);
    sp_fact_weight(x->x.out, "hang.main.weight", x->x.measure, h->main.weight);
    for (size_t i = 0; i < SP_HELD_STATES; i++) { /* no function tells that a thread ran */
        int64_t events = i == SP_HELD_WAITED ? h->main.by[SP_HELD_EVENTS] : 0;
        if (h->states || i >= SP_HELD_UNKNOWN || i == SP_HELD_WAITED)
            sp_fact_weight(x->x.out, names[i], x->x.measure, h->main.by[i] + events);
        else
            sp_fact_null(x->x.out, names[i]);
    }
    sp_fact_weight(x->x.out, "hang.main.disk", x->x.measure, h->main.disk);
    hang_fact_own(x, "hang.main.stack", &h->main);
}

static void hang_put_holder(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_wait *w = h->wait == SP_NONE ? NULL : &h->w.waits.v[h->wait],
                         *last = w ? &h->w.waits.v[h->last] : NULL;
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_answer *a = x->x.out;
    sp_fact_cstr(a, "hang.waited_for", w ? sp_pstr(p, w->on).p : NULL);
    sp_fact_cstr(a, "hang.holder.process",
                 last && last->holder_name ? sp_pstr(p, last->holder_name).p : NULL);
    sp_fact_count(a, "hang.holder.pid", last ? last->holder_pid : SP_ABSENT);
    sp_fact_count(a, "hang.holder.tid", h->holder_tid);
    sp_fact_bool(a, "hang.holder.through_main_thread", last && last->by_process && last->holder != SP_NONE);
    sp_fact_count(a, "hang.holder.hops", last ? last->hops : SP_ABSENT);
    sp_fact_count(a, "hang.holder.waits_on", (int64_t)h->steps);
    sp_fact_cstr(a, "hang.holder.did", h->holder.weight ? sp_reported_did[h->holder.most] : NULL);
    hang_fact_own(x, "hang.holder.stack", &h->holder);
}

void sp_summary_hang_put(struct sp_summary *x)
{
    static const char *const verdicts[] = {[SP_HANG_UNKNOWN] = NULL,          [SP_HANG_RAN] = "ran",
                                           [SP_HANG_STARVED] = "starved",     [SP_HANG_WAITED] = "waited",
                                           [SP_HANG_SUSPENDED] = "suspended", [SP_HANG_IDLE] = "idle"};
    const struct sp_summary_hang *h = &x->hang;
    if (!h->known)
        return;
    hang_put_event(x);
    sp_fact_cstr(x->x.out, "hang.verdict", verdicts[h->verdict]);
    sp_fact_bool(x->x.out, "hang.deadlock", h->deadlock);
    if (h->deadlock)
        sp_fact_bool(x->x.out, "hang.deadlock_sure", h->deadlock->sure);
    else
        sp_fact_null(x->x.out, "hang.deadlock_sure");
    sp_fact_bool(x->x.out, "hang.deadlock_beside", h->beside);
    hang_put_main(x);
    hang_put_holder(x);
}
