/* What an event is by its nature. */
#include "analysis/finding_private.h"
#include "model/off_cpu.h"

static bool contains_any(struct sp_str s, const char *const *words)
{
    for (; *words; words++)
        if (s.n && memmem(s.p, s.n, *words, strlen(*words)))
            return true;
    return false;
}

static bool measures_off_cpu(const struct finder *x)
{
    return sp_measures_off_cpu(x->p, x->s->event);
}

/* Tracepoints and probes of one place ("sched:sched_waking"); maps of tracers ("@") may be of anything. */
static bool is_of_a_place(const struct finder *x)
{
    const struct sp_event *e = &x->p->events.v[x->s->event];
    struct sp_str name = sp_pstr(x->p, e->name);
    return e->kind == SP_PROBE && name.n && memchr(name.p, ':', name.n);
}

/* How often a place is passed tells nothing of what costs time in the code that leads there. Only where
 * threads leave the CPU in a lock, the count is of that. */
static bool finding_is_of_time(struct sp_str event, enum sp_finding_kind kind)
{
    static const char *const switches[] = {"sched_switch", NULL};
    bool rule = sp_finding_infos[kind].group == SP_FINDING_RULE;
    return (rule && !(kind == SP_FIND_LOCK && contains_any(event, switches))) || kind == SP_FIND_IDLE ||
           kind == SP_FIND_WAIT || kind == SP_FIND_IRQ || kind == SP_FIND_SATURATED;
}

/* What an event is by its nature is no finding: that an allocation allocates, or that who left the CPU waits.
 */
bool finding_goes_without_saying(const struct finder *x, enum sp_finding_kind kind)
{
    static const char *const off_cpu[] = {"off-cpu",
                                          "offcpu",
                                          "off_cpu",
                                          "sched_switch",
                                          "context-switches",
                                          "sched_stat_sleep",
                                          "sched_stat_iowait",
                                          "sched_stat_blocked",
                                          NULL};
    static const char *const locks_only[] = {"contention", "mutex", "futex", NULL};
    static const char *const heap[] = {"alloc", "heap", "kmem:", "free", "inuse", "brk", NULL};
    static const char *const page_faults[] = {"page-fault", "page_fault", "minor-fault", "major-fault", NULL};
    static const char *const calls[] = {"syscalls:", "sys_enter", "sys_exit", NULL};
    const struct sp_event *e = &x->p->events.v[x->s->event];
    struct sp_str name = sp_pstr(x->p, e->name), metric = sp_pstr(x->p, x->p->metrics.v[x->s->metric].name);
    bool off = contains_any(name, off_cpu) || contains_any(metric, off_cpu) || sp_str_is(name, "cs");
    bool blocked = contains_any(name, locks_only) || sp_str_is(name, "block") ||
                   (name.n > 5 && memcmp(name.p, "lock:", 5) == 0); /* cpu-clock:u is none */
    if (measures_off_cpu(x)) /* which has reasons of its own: waits, and the brief's lines of them */
        return sp_finding_infos[kind].group == SP_FINDING_RULE || kind == SP_FIND_IDLE ||
               kind == SP_FIND_WAIT;
    if (is_of_a_place(x) && finding_is_of_time(name, kind))
        return true;
    switch (kind) {
    case SP_FIND_ALLOC:
        return e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION || contains_any(name, heap);
    case SP_FIND_IDLE:
    case SP_FIND_SYSCALL:
        return off || contains_any(name, calls);
    case SP_FIND_WAIT:
        return off || blocked;
    case SP_FIND_LOCK:
        return blocked;
    case SP_FIND_FAULT:
        return contains_any(name, page_faults);
    default:
        return sp_finding_infos[kind].flags & SP_FINDING_CPU &&
               (off || blocked || e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION);
    }
}

static bool named(struct sp_str name, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (name.n >= n && memcmp(name.p, *words, n) == 0 && (name.n == n || strchr(":/#_", name.p[n])))
            return true;
    }
    return false;
}

/* Time on a CPU or by the wall's clock, cycles, instructions. What is counted (switches, faults, misses) may
 * be fewer without anything being faster, and folded stacks may be of anything. */
bool finding_weighs_work(const struct finder *x)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", NULL};
    static const char *const counters[] = {"cycles", "cpu-cycles", "ref-cycles", "instructions", NULL};
    static const char *const units[] = {"cpu", "cpu_core", "cpu_atom", NULL};
    static const char *const in_units[] = {"cycles", "instructions", NULL};
    static const char *const others[] = {"branch", "stalled", "miss", NULL};
    const struct sp_event *e = &x->p->events.v[x->s->event];
    struct sp_str name = sp_pstr(x->p, e->name);
    switch (e->kind) {
    case SP_HARDWARE:
        return named(name, counters) ||
               (named(name, units) && contains_any(name, in_units) && !contains_any(name, others));
    case SP_SOFTWARE:
        return named(name, clocks);
    case SP_TIMER:
        return !sp_str_is(name, "folded") && !finding_goes_without_saying(x, SP_FIND_WAIT);
    default:
        return false;
    }
}
