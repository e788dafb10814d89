/* Who held what the threads of a stall waited for, in words, and how that is known. */
#include "ask/waits_stalls_parts.h"

static const char *each_time(const struct sp_stall_set *set)
{
    return set->members.n == 1 ? "" : set->members.n == 2 ? " of both" : " of each";
}

/* "the first waiter of each", or of how many of them. */
static void say_first_waiters(const struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < set->members.n; k++) {
        const struct sp_stall *s = stalls_member(x, set, k);
        n += x->v->v.v[x->s.waits.v[s->waits.first]].waker == s->holder;
    }
    if (set->threads == 1 && n == set->members.n)
        sp_buf_puts(b, n == 1 ? "it woke the waiter" : "it woke the waiter each time");
    else if (!n)
        sp_buf_puts(b, "it woke one that waited");
    else if (n < set->members.n)
        sp_buf_printf(b, "it woke the first waiter of %u of %u", n, set->members.n);
    else
        sp_buf_printf(b, "it woke the first waiter%s", each_time(set));
}

static struct sp_str without_number(struct sp_str name)
{
    while (name.n && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9')
        name.n--;
    return name;
}

/*
 * Waiters of different names, of whom the holder woke only some: the lock was handed on, or those it woke
 * have another one, that is taken in the same function and that the rest waits for.
 */
static void say_which_lock(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    uint32_t first = x->v->v.v[x->s.waits.v[s->waits.first]].thread;
    struct sp_str name = without_number(stalls_comm(x, first));
    bool alike = true, all = s->by == SP_STALL_BY_WOKEN;
    for (uint32_t k = 0; k < s->waits.n; k++) {
        const struct sp_interval *i = &x->v->v.v[x->s.waits.v[s->waits.first + k]];
        struct sp_str other = without_number(stalls_comm(x, i->thread));
        alike = alike && other.n == name.n && !memcmp(other.p, name.p, name.n);
        all = all && i->waker == s->holder;
    }
    if (alike || all)
        return;
    sp_buf_puts(b, "; shown for ");
    stalls_say_thread(x, b, first);
    sp_buf_puts(b, " only: the others may wait for a lock that it has");
}

/* Nobody had it for half of the time. */
static void say_convoy(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    if (s->hands > 1)
        sp_buf_printf(
            b, "CONVOY: no single holder; let go %u times by %u threads in the longest; longest had by ",
            s->holds.n, s->hands);
    else
        sp_buf_printf(b, "NO SINGLE HOLD: let go %u %s and taken again, while others waited, by ", s->holds.n,
                      s->holds.n == 1 ? "time" : "times");
    stalls_say_thread(x, b, s->holder);
}

static void say_woken(const struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set,
                      const struct sp_stall *s)
{
    bool gap;
    uint32_t own = stalls_own_of(x, s->waker_stack, &gap);
    bool held = sp_wait_is_lock(s->reason);
    if (s->convoy) {
        say_convoy(x, b, s);
    } else {
        sp_buf_puts(b, held ? "HELD BY " : "WOKEN BY ");
        stalls_say_thread(x, b, s->holder);
        sp_buf_puts(b, ": ");
        say_first_waiters(x, b, set);
    }
    if (own != SP_NONE) {
        sp_buf_puts(b, held ? ", let go in " : ", in ");
        stalls_say_function(x, b, own);
        sp_buf_puts(b, gap ? " > …" : "");
    } else if (s->split.function != SP_NONE) {
        sp_buf_puts(b, "; it was in ");
        stalls_say_function(x, b, s->split.function);
    }
    if (held && !s->convoy)
        say_which_lock(x, b, s);
    if (s->reason == SP_WAIT_CONDITION)
        sp_buf_puts(b, "; a condition has no holder: this is who signalled");
}

static void say_inferred(const struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set,
                         const struct sp_stall *s)
{
    int64_t lost; /* others may have run then */
    sp_buf_puts(b, "HELD BY ");
    stalls_say_thread(x, b, s->holder);
    sp_buf_printf(b, ", inferred%s, if no other process shares the lock: of its process it alone ran ",
                  stalls_set_events_lost(x, set, &lost) ? " from what was recorded" : "");
    if (s->at_resume)
        sp_buf_printf(b, "when the first waiter%s went on", each_time(set));
    else if (set->members.n < 3)
        sp_buf_puts(b, set->members.n == 1 ? "meanwhile" : "during both");
    else
        sp_buf_printf(b, "during all %u", set->members.n);
    if (s->split.function != SP_NONE) {
        sp_buf_puts(b, "; it was in ");
        stalls_say_function(x, b, s->split.function);
    }
    say_which_lock(x, b, s);
}

static void say_several(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    sp_buf_printf(b, "HOLDER not known: one of %u that ran meanwhile: ", s->candidates.n);
    for (uint32_t k = 0; k < s->candidates.n && k < NAMES_SHOWN; k++) {
        const struct sp_stall_candidate *c = &x->s.candidates.v[s->candidates.first + k];
        sp_buf_puts(b, k ? ", " : "");
        stalls_say_thread(x, b, c->thread);
        sp_buf_ch(b, ' ');
        stalls_say_ns(b, c->running);
    }
}

/* Who does not wait there may hold it, first of all one that let go there before. */
static void say_not_ended(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    const uint32_t n = s->candidates.n;
    sp_buf_puts(b, s->at_most ? x->v->losses ? "NOT SEEN TO END: events were lost"
                                             : "NOT SEEN TO END (perf record --switch-events records it)"
                              : "NOT ENDED when the recording was, or the process");
    sp_buf_puts(b, s->ring
                       ? ": fits a deadlock, not proven: of each place's waiters some were let go before by "
                         "a thread that now waits at another"
                       : ": who holds it is not shown");
    if (!s->ring && s->places > 1)
        sp_buf_printf(b, "; they wait at %u places, maybe for each other%s", s->places,
                      x->v->has_waking ? "" : " (-e sched:sched_switch,sched:sched_waking tells more)");
    for (uint32_t k = 0; k < n && k < NAMES_SHOWN; k++) {
        sp_buf_puts(b, k         ? ", "
                       : s->ring ? "; or one that is not seen to wait there holds it: "
                                 : "; its threads that are not seen to wait there: ");
        stalls_say_thread(x, b, x->s.candidates.v[s->candidates.first + k].thread);
    }
    if (n > NAMES_SHOWN)
        sp_buf_printf(b, " and %u more", n - NAMES_SHOWN);
}

static void say_last(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    bool gap;
    uint32_t own = stalls_own_of(x, s->waker_stack, &gap);
    sp_buf_puts(b, "HOLDER not known: several may have had this lock at once; ");
    stalls_say_thread(x, b, x->s.candidates.v[s->candidates.first].thread);
    sp_buf_puts(b, " let go last");
    if (own != SP_NONE) {
        sp_buf_puts(b, ", in ");
        stalls_say_function(x, b, own);
        sp_buf_puts(b, gap ? " > …" : "");
    }
}

static void say_no_cpu(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    int64_t taken = 0;
    for (uint32_t k = 0; k < s->takers.n; k++)
        taken += x->s.takers.v[s->takers.first + k].all_cpus;
    sp_buf_puts(b, "NO HOLDER: they were ready to run; CPUs were idle ");
    sp_text_about(b, s->idle, taken);
    sp_buf_puts(
        b,
        s->idle * 5 > taken
            ? " meanwhile: a quota of a cgroup (cpu.stat: nr_throttled), or CPUs that they may not use"
            : " meanwhile: others had them, or a quota of a cgroup kept them off (cpu.stat: nr_throttled)");
}

void stalls_say_by(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s)
{
    struct sp_buf *b = &x->a->b;
    sp_buf_clear(b);
    switch (s->by) {
    case SP_STALL_BY_WOKEN:
        say_woken(x, b, set, s);
        break;
    case SP_STALL_BY_INFERRED:
        say_inferred(x, b, set, s);
        break;
    case SP_STALL_BY_SEVERAL:
        say_several(x, b, s);
        break;
    case SP_STALL_BY_NONE:
        sp_buf_puts(b, "HOLDER not in the recording: no thread of the process that did not wait ran "
                       "meanwhile: another process, the kernel, or I/O");
        break;
    case SP_STALL_BY_UNSEEN:
        sp_buf_puts(b, "HOLDER not known: no thread of the process that did not wait is seen to have run "
                       "meanwhile, but not all switches are recorded; perf record -a --switch-events -e "
                       "sched:sched_switch,sched:sched_waking tells");
        break;
    case SP_STALL_BY_SIGNAL:
        sp_buf_puts(b, "HOLDER not known: a signal ended the first wait; nobody let go");
        break;
    case SP_STALL_BY_INTERRUPT:
        sp_buf_puts(b, "NO HOLDER shown: a timer or a device woke the first waiter, no thread");
        break;
    case SP_STALL_BY_DEVICE:
        sp_buf_puts(b, s->reason == SP_WAIT_DISK ? "NO HOLDER: they waited for the disk"
                                                 : "HOLDER not known: they waited in the kernel");
        break;
    case SP_STALL_BY_LAST:
        say_last(x, b, s);
        break;
    case SP_STALL_BY_TIMED:
        sp_buf_puts(b, "HOLDER not known: the wait has a limit of time, and may have given up by itself");
        break;
    case SP_STALL_BY_NO_HOLDER:
        if (s->kind == SP_STALL_CPU)
            say_no_cpu(x, b, s);
        else
            sp_buf_puts(b, "NO HOLDER: a signal or a debugger stopped them");
        break;
    case SP_STALL_BY_NOT_ENDED:
        say_not_ended(x, b, s);
        break;
    default:
        if (s->at_most && x->v->losses)
            sp_buf_puts(b, "HOLDER not known: events were lost while the first one waited");
        else
            sp_buf_puts(b, x->v->has_wakes ? "HOLDER not known: who woke the first waiter is not recorded"
                                           : "HOLDER not known: any process may end such a wait");
    }
    sp_answer_line_of(x->a->out, SP_LINE_STRONG, b);
}
