/* What cannot be known from a hang report, which recording tells, and what to ask next. */
#include "ask/summary.h"

#include "ask/summary_cautions.h"

#include <stdio.h>

static void hang_unknown(struct sp_summary *x, const char *id, struct sp_buf *b, const char *settle)
{
    struct sp_buf s;
    sp_buf_init(&s, 0);
    sp_buf_puts(&s, settle);
    sp_caution_add(x, id, NULL, b, &s);
    sp_buf_free(&s);
}

/* Its samples of the kind that the verdict is of. */
static int64_t hang_off_cpu(const struct sp_summary_hang *h)
{
    return h->main.by[h->verdict == SP_HANG_SUSPENDED ? SP_HELD_SUSPENDED : SP_HELD_WAITED];
}

/* Of its samples that waited, those whose states name nobody. */
static int64_t hang_unnamed(const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    int64_t all = hang_off_cpu(h);
    uint32_t thread = sp_waits_thread_of(&h->w, &x->x.q->profiles[0]->contexts.v[h->context]);
    const struct sp_wait_thread *t = thread == SP_NONE ? NULL : &h->w.threads.v[thread];
    for (uint32_t i = 0; t && i < t->n; i++)
        if (sp_hang_has_holder(&h->w.waits.v[t->first + i]) &&
            sp_held_state_of(sp_pstr(h->w.profile, h->w.waits.v[t->first + i].state)) == h->main.most)
            all -= h->w.waits.v[t->first + i].all;
    if (h->verdict == SP_HANG_WAITED)
        all -= h->main.disk;
    return all > 0 ? all : 0;
}

/* The process alone is named, and none of its threads in the report is known to be the main one. */
static bool hang_is_of_process(const struct sp_summary_hang *h, const struct sp_wait *w)
{
    for (size_t i = 0; w->holder_tid == SP_ABSENT && i < h->w.threads.n; i++)
        if (h->w.threads.v[i].pid == w->holder_pid)
            return true;
    return false;
}

/* Of a wait: who held it, which thread of its process, what that did. */
static void hang_unknown_holder(struct sp_summary *x, struct sp_buf *b)
{
    static const char trace[] = "xctrace record --template 'System Trace' --all-processes, while it hangs";
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_wait *w = h->last == SP_NONE ? NULL : &h->w.waits.v[h->last];
    int64_t unnamed = hang_unnamed(x);
    if (h->deadlock)
        return;
    if (unnamed * 2 > hang_off_cpu(h)) {
        bool suspended = h->verdict == SP_HANG_SUSPENDED;
        sp_buf_puts(b, suspended ? "who suspended it " : "for whom it waited ");
        sp_hang_share(b, x, unnamed, h->main.weight);
        sp_buf_puts(b, ": the states name nobody");
        hang_unknown(x, suspended ? "suspended_by" : "holder", b,
                     suspended ? "sudo eslogger proc_suspend_resume, while it happens" : trace);
    }
    if (!w || !sp_hang_has_holder(w) || (sp_hang_is_child(x, w) && w->holder != SP_NONE))
        return;
    if (w->among > 1) {
        sp_buf_printf(b, "which of the %u%s processes that were ", w->among,
                      w->among < SP_AMONG_MOST ? "" : " or more");
        sp_hang_holder(b, x, w);
        sp_buf_puts(b, " it waited for, one after the other");
        hang_unknown(x, "holder_process", b,
                     h->w.ranges.v.n ? trace : "spindump -i FILE -timeline, which says when each was there");
    } else if (w->holder == SP_NONE && !hang_is_of_process(h, w)) {
        sp_buf_puts(b, "what ");
        sp_hang_holder(b, x, w);
        sp_buf_puts(b, " did meanwhile: the report has no samples of it");
        hang_unknown(x, "holder_did", b, "sudo spindump -notarget, of all processes");
    } else if (w->holder == SP_NONE || w->by_process || w->hops > 0) {
        bool process = w->holder == SP_NONE || w->by_process;
        sp_buf_puts(b, process ? "which thread of " : "who lies between it and ");
        sp_hang_holder(b, x, w);
        sp_buf_puts(b, process ? " it waited for: the report names the process alone" : "");
        hang_unknown(x, "holder_thread", b, trace);
    }
}

void sp_summary_hang_unknowns(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (!h->states) {
        sp_buf_puts(&b, h->verdict == SP_HANG_UNKNOWN
                            ? "whether its threads ran or waited: sample tells no states"
                            : "for whom its threads waited, and, where no function tells, whether they ran: "
                              "sample tells no states");
        hang_unknown(x, "states", &b, "sudo spindump NAME");
    } else if (h->e.microstackshots) {
        sp_buf_puts(
            &b, "what its threads waited for, and whether one was held up: samples are of threads that ran");
        hang_unknown(x, "waits", &b, "sudo spindump NAME, while it happens");
    } else if (!h->has_waits) {
        sp_buf_puts(&b, "what threads did: their states were left out when the profile was written");
        hang_unknown(x, "states", &b,
                     "convert the report again with --group-by pid,tid,comm,state, the default");
    }
    if (h->has_waits && (h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED))
        hang_unknown_holder(x, &b);
    if (h->verdict == SP_HANG_STARVED && !h->others) {
        sp_buf_puts(&b, "who had the CPUs: the report has no other thread that ran");
        hang_unknown(x, "cpus", &b, "sudo spindump -notarget, of all processes");
    }
    if (h->e.unresponsive) {
        sp_buf_printf(&b, "what it did in the %s before sampling began", h->e.unresponsive);
        hang_unknown(x, "before", &b,
                     "sudo tailspin enable; after a hang sudo tailspin save FILE, spindump -i FILE");
    }
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
}

/* What a microstackshot stands for is not the metric that views show by themselves. */
static void hang_next_of_micro(struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    const struct sp_summary_hang *h = &x->hang;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (h->s.metric != p->events.v[h->s.event].primary && !x->x.q->options->metric)
        sp_buf_printf(&b, "--metric %s ", sp_pstr(p, p->metrics.v[h->s.metric].name).p);
    if (h->pid == SP_ABSENT)
        sp_buf_puts(&b, "--by process");
    else
        sp_buf_printf(&b, "--pid %lld", (long long)h->pid);
    x->x.out->failed |= b.failed;
    sp_answer_next(x->x.out, "top", NULL, b.failed ? NULL : sp_buf_cstr(&b));
    sp_buf_free(&b);
}

void sp_summary_hang_next(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    struct sp_answer *a = x->x.out;
    char handle[32];
    if (h->among) {
        char tail[64];
        snprintf(tail, sizeof tail, "--pid %lld --by process --view all", (long long)h->pid);
        sp_answer_next(a, "top", NULL, x->x.q->options->pid ? strstr(tail, "--by") : tail);
    } else if (h->has_waits && (h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED)) {
        sp_answer_next(a, "waits", NULL, NULL);
    } else if (h->verdict == SP_HANG_STARVED) {
        sp_answer_next(a, "top", NULL, "--by process");
    } else if (h->verdict == SP_HANG_RAN && !h->own_rows) {
        char tail[40];
        snprintf(tail, sizeof tail, "--pid %lld", (long long)h->pid);
        sp_answer_next(a, "top", NULL, tail);
    } else if (h->own_rows && x->hottest != SP_NONE) {
        sp_handle_text(&x->x.handles, x->hottest, handle);
        sp_answer_next(a, "function", handle, NULL);
    } else if (h->e.microstackshots) {
        hang_next_of_micro(x);
    } else {
        sp_answer_next(a, "top", NULL, "--by thread --view all");
    }
}
