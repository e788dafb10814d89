/* The brief of a hang report: threads that wait for each other, and what tells that they do so for good. */
#include "ask/summary.h"
#include "ask/waits_reported.h"

void sp_hang_thread(struct sp_buf *b, const struct sp_summary *x, int64_t tid)
{
    bool hex = sp_str_is(sp_pstr(x->x.q->profiles[0], x->x.q->profiles[0]->header.source_tool), "spindump");
    sp_buf_printf(b, hex ? "0x%llx" : "%lld", (long long)tid);
}

void sp_summary_hang_deadlock(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_wait_chain *c = x->hang.deadlock;
    if (!c)
        return;
    sp_buf_puts(b, c->sure ? "sure: " : "likely: ");
    if (c->deadlock == SP_DEADLOCK_REPORTED)
        sp_buf_puts(b, "the report itself calls it a part of a deadlock");
    else if (c->deadlock == SP_DEADLOCK_TO_END)
        sp_reported_say_to_end(&x->hang.w, b, c);
    else
        sp_buf_printf(b, "%s in every sample of its thread",
                      c->n - c->cycle > 1 ? "each of its waits is" : "the wait is");
    if (!c->sure)
        sp_reported_say_doubt(&x->hang.w, b, c);
}

/* "0x10 -(unfair lock)-> 0x11 -(turnstile)-> 0x10" */
static void hang_say_cycle(struct sp_buf *b, const struct sp_summary *x, const struct sp_wait_chain *c)
{
    const struct sp_summary_hang *h = &x->hang;
    for (uint32_t k = c->cycle; k < c->n; k++) {
        const struct sp_wait *w = &h->w.waits.v[h->w.steps.v[c->first + k]];
        struct sp_str on = sp_pstr(h->w.profile, w->on);
        if (k == c->cycle)
            sp_hang_thread(b, x, h->w.threads.v[w->waiter].tid);
        if (k == c->cycle + SP_REPORTED_HOLDERS) {
            sp_buf_printf(b, " and %u more", c->n - k);
            break;
        }
        sp_buf_printf(b, " -(%.*s)-> ", (int)on.n, on.p);
        if (w->holder == w->waiter)
            sp_buf_puts(b, "itself");
        else
            sp_hang_thread(b, x, h->w.threads.v[w->holder].tid);
    }
}

/* "…: they wait for each other, at once in 8 steps (102-109)" */
void sp_summary_hang_ring(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_wait_chain *c = h->ring ? h->ring : h->deadlock;
    if (!c || c->cycle == SP_NONE || c->n - c->cycle < 2)
        return;
    hang_say_cycle(b, x, c);
    sp_buf_puts(b, ": they wait for each other");
    if (!h->deadlock) {
        sp_reported_say_steps(b, c);
        sp_reported_say_why_none(&h->w, b, c);
    }
}

/* "beside it, a deadlock of other threads: 0x11 -(turnstile)-> 0x12 -(turnstile)-> 0x11" */
void sp_summary_hang_beside(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_wait_chain *c = x->hang.beside;
    if (!c)
        return;
    sp_buf_printf(b, "beside it, %s of its process's other threads: ",
                  c->sure ? "a deadlock" : "what is likely a deadlock");
    hang_say_cycle(b, x, c);
}
