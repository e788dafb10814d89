/* The brief of a hang report in words: what happened to whom. */
#include "ask/summary.h"

#include "answer/text.h"

/* The event is of another process than the one that is looked at. */
static bool hang_is_of_another(const struct sp_summary_hang *h)
{
    return h->e.event && h->e.pid != SP_ABSENT && h->pid != SP_ABSENT && h->e.pid != h->pid;
}

void sp_summary_hang_head(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_hang_event *e = &h->e;
    size_t processes = x->x.q->profiles[0]->processes.n;
    bool another = hang_is_of_another(h);
    sp_buf_puts(b, e->event && !another ? e->event : h->states ? "report" : "sampled");
    sp_buf_puts(b, e->event || h->states ? " of " : " ");
    if (h->process.n)
        sp_buf_add(b, h->process.p, h->process.n);
    else if (h->among)
        sp_buf_printf(b, "%u processes", h->among);
    else if (processes == 1)
        sp_buf_puts(b, "a process that is not named");
    else
        sp_buf_printf(b, "%zu processes", processes);
    if (h->pid != SP_ABSENT)
        sp_buf_printf(b, " [%lld]", (long long)h->pid);
    if (h->instance.n)
        sp_buf_printf(b, ", %.*s", (int)h->instance.n, h->instance.p);
    if (another)
        sp_buf_printf(b, ", beside the %s of %s [%lld]", e->event, e->command ? e->command : "process",
                      (long long)e->pid);
    if (e->measured)
        sp_buf_printf(b, ": %s, limit %s", e->measured, e->allowed ? e->allowed : "?");
    if (e->times > 1)
        sp_buf_printf(b, " (%.1f times that)", e->times);
    const char *between = e->measured ? "; " : ": ";
    if (e->unresponsive) {
        sp_buf_printf(b, "%sunresponsive for %s before sampling", between, e->unresponsive);
        between = ", ";
    }
    const char *took = e->sampled ? e->sampled : e->duration;
    if (took) {
        sp_buf_printf(b, "%ssampled for %s", between, took);
        between = ", ";
    }
    if (e->steps)
        sp_buf_printf(b, "%ssteps: %s", between, e->steps);
}

/* "footprint 512.30 MiB -> 610.00 MiB (+97.70 MiB); action taken: Process killed" */
void sp_summary_hang_memory(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->footprint != SP_ABSENT) {
        sp_buf_puts(b, "footprint ");
        if (h->footprint_before != SP_ABSENT) {
            sp_text_bytes(b, h->footprint_before, 0);
            sp_buf_puts(b, " -> ");
        }
        sp_text_bytes(b, h->footprint, 0);
        if (h->footprint_before != SP_ABSENT) {
            sp_buf_puts(b, h->footprint >= h->footprint_before ? " (+" : " (");
            sp_text_bytes(b, h->footprint - h->footprint_before, 0);
            sp_buf_ch(b, ')');
        }
    }
    if (h->e.action)
        sp_buf_printf(b, "%saction taken: %s", b->len ? "; " : "", h->e.action);
}

/* Which of several is meant is not said. */
void sp_summary_hang_also_in_front(struct sp_buf *b, const struct sp_summary *x)
{
    if (x->hang.also)
        sp_buf_printf(b, "in front was also: %s; --pid PID looks at it", x->hang.also);
}
