/* What sched says in words. */
#include "ask/sched_parts.h"

#include "analysis/interval_name.h"
#include "base/num.h"

#include <stdio.h>

static const struct sp_str ns_unit = {"ns", 2};

/* "+1.389 s" */
void sp_sched_when(struct sp_buf *b, int64_t ns)
{
    char t[32];
    snprintf(t, sizeof t, "+%.3f s", (double)ns / 1e9);
    sp_buf_puts(b, t);
}

/* "98 % busy", "at least 40 % busy" */
static void busy(struct sp_buf *b, const struct sp_sched *s)
{
    int64_t runs = 0, idle = 0, whole = (s->hi - s->lo) * (int64_t)s->ncpus;
    for (size_t i = 0; i < s->cpus.n; i++) {
        runs += s->cpus.v[i].busy_ns;
        idle += s->cpus.v[i].idle_ns;
    }
    bool sure = (whole - runs - idle) <= whole / 1000;
    if (!sure)
        sp_buf_puts(b, "at least ");
    sp_text_about(b, runs, whole);
    sp_buf_puts(b, " busy");
    if (!sure) {
        sp_buf_puts(b, ", at most ");
        sp_text_about(b, whole - idle, whole);
    }
}

void sp_sched_head(struct sp_buf *b, const struct sp_asked_sched *x)
{
    const struct sp_sched *s = &x->s;
    const struct sp_sched_sum *delay = &s->all.delay;
    if (s->ncpus) {
        sp_text_count(b, s->ncpus, "CPU");
        sp_buf_puts(b, ", ");
    }
    sp_text_weight(b, ns_unit, 0, s->hi - s->lo);
    if ((s->lo - x->zero) * 100 > s->hi - s->lo && !x->a.s.timed) { /* other events were recorded before */
        sp_buf_puts(b, " from ");
        sp_sched_when(b, s->lo - x->zero);
        sp_buf_puts(b, " on");
    }
    if (s->ncpus) {
        sp_buf_puts(b, ": ");
        busy(b, s);
    } else {
        sp_buf_puts(b, ": on which CPUs is not recorded");
    }
    if (delay->longest >= 0) {
        sp_buf_printf(b, "; longest %swait for a CPU %s", x->v.has_wakes ? "" : "known ",
                      delay->longest_cut ? "≥ " : "");
        sp_text_weight(b, ns_unit, 0, delay->longest);
        sp_buf_puts(b, " (");
        const struct sp_profile *p = x->a.s.profile;
        uint32_t i = sp_interval_after(&x->v, delay->longest_thread, delay->longest_at);
        struct sp_str comm = sp_pstr(p, sp_interval_name(p, &x->v, i));
        sp_buf_add(b, comm.p, comm.n);
        sp_buf_puts(b, " at ");
        sp_sched_when(b, delay->longest_at - x->zero);
        sp_buf_ch(b, ')');
    }
}

static void say_queue(struct sp_asked_sched *x)
{
    const struct sp_sched *s = &x->s;
    struct sp_buf *b = &x->a.b;
    char mean[64];
    int64_t span = s->hi - s->lo;
    if (!s->queue.most || span <= 0)
        return;
    sp_buf_clear(b);
    sp_scaled_text(sp_ratio(s->queue.ns, span, 100), 2, mean);
    sp_buf_printf(b, "waiting for a CPU: %s%s threads on average, %u at most, at ",
                  s->all.wakes_missing || s->all.delay.maybe ? "≥ " : "", mean, s->queue.most);
    sp_sched_when(b, s->queue.most_at - x->zero);
    sp_answer_line_of(x->a.out, SP_LINE_PLAIN, b);
}

/* Times that a thread was not seen to come, whatever is asked about: each contradicts what was there, twice.
 */
static uint64_t unseen(const struct sp_cpu_segments *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->v.n; i++)
        n += c->v.v[i].state == SP_CPU_UNKNOWN;
    return n;
}

/* What is not in the recording, and what to record instead. */
static void say_limits(struct sp_asked_sched *x)
{
    const struct sp_sched_row *all = &x->s.all;
    struct sp_buf *b = &x->a.b;
    if (all->unknown_runs) {
        sp_buf_clear(b);
        sp_text_grouped(b, (int64_t)all->unknown_runs, 0);
        sp_buf_puts(b, " of ");
        sp_text_grouped(b, (int64_t)all->runs, 0);
        sp_buf_puts(
            b, " runs begin unseen: the recording has no switches away from the idle task, or none of other "
               "processes. Run is between two bounds (perf sched timehist shows the upper one)");
        if (!sp_sched_has(x->a.s.profile, SP_SCHED_RECORD))
            sp_buf_puts(b, "; perf record --switch-events has them");
        sp_answer_line_of(x->a.out, SP_LINE_WARNING, b);
    }
    if (!x->v.has_wakes) {
        sp_answer_line(
            x->a.out,
            "not recorded: wakes (-e sched:sched_waking). Of waits for a CPU only those of preempted "
            "threads are known; blocked holds the others");
    } else if (all->wakes_missing) {
        sp_buf_clear(b);
        sp_text_grouped(b, (int64_t)all->wakes_missing, 0);
        sp_buf_puts(b, " wakes were not recorded: blocked holds the waits for a CPU behind them");
        sp_answer_line_of(x->a.out, SP_LINE_PLAIN, b);
    }
    if (x->v.contradictions > 2 * unseen(&x->cpus)) {
        sp_buf_clear(b);
        sp_text_grouped(b, (int64_t)x->v.contradictions, 0);
        sp_buf_puts(b, " times events contradict each other: some are lost, or clocks of CPUs differ");
        sp_answer_tells(x->a.out, SP_W315);
        sp_answer_line_of(x->a.out, SP_LINE_PLAIN, b);
    }
}

void sp_sched_say(struct sp_asked_sched *x)
{
    sp_buf_clear(&x->a.b);
    sp_sched_head(&x->a.b, x);
    sp_answer_line_of(x->a.out, SP_LINE_HEAD, &x->a.b);
    say_queue(x);
    say_limits(x);
}
