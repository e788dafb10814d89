/* waits of what was measured off the CPU: facts, the answer in one line, and what it cannot know. */
#include "ask/waits_parts.h"

#include "model/off_cpu.h"

void sp_waits_duration(struct sp_buf *b, int64_t ns, bool at_least)
{
    static const struct {
        int64_t of;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t k = 0;
    while (k < 3 && ns < units[k].of - units[k].of / 2000)
        k++;
    int64_t whole = ns / units[k].of;
    int digits = k == 3 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
    sp_buf_printf(b, "%s%.*f %s", at_least ? "≥ " : "", digits, (double)ns / (double)units[k].of,
                  units[k].unit);
}

/* ---- facts ---- */

static void fact_ns(struct sp_answer *a, uint32_t measure, const char *name, int64_t v)
{
    if (v == SP_ABSENT)
        sp_fact_null(a, name);
    else
        sp_fact_weight(a, name, measure, v);
}

void sp_waits_facts(const struct sp_waits_asked *x)
{
    struct sp_answer *a = x->a->out;
    const struct sp_off_cpu_accounts *c = x->acc;
    uint32_t m = x->a->measure;
    fact_ns(a, m, "duration", c->has_intervals ? c->end - c->begin : SP_ABSENT);
    sp_fact_count(a, "threads_seen", c->knows_threads ? (int64_t)c->all.threads : SP_ABSENT);
    fact_ns(a, m, "running", c->all.running);
    fact_ns(a, m, "unknown", c->all.running == SP_ABSENT ? SP_ABSENT : c->all.unknown);
    fact_ns(a, m, "runnable", c->has_runnable ? c->all.runnable : SP_ABSENT);
    fact_ns(a, m, "blocked", c->all.blocked);
    fact_ns(a, m, "idle", c->all.idle);
    fact_ns(a, m, "maybe_idle", c->all.maybe_idle);
    fact_ns(a, m, "unseen", c->all.unseen);
    fact_ns(a, m, "before_first_event", c->has_intervals ? c->before : SP_ABSENT);
    fact_ns(a, m, "unsure", c->unsure);
    sp_fact_count(a, "cpus", c->cpus ? c->cpus : SP_ABSENT);
    fact_ns(a, m, "busy", c->cpus ? c->busy : SP_ABSENT);
    sp_fact_bool(a, "intervals", c->has_intervals);
    sp_fact_bool(a, "wakeups", c->has_wakes);
    sp_fact_count(a, "wakes_missing", (int64_t)c->wakes_missing);
    sp_fact_count(a, "contradictions", (int64_t)c->contradictions);
}

/* ---- the answer in one line ---- */

static bool any_at_least(const bool *v)
{
    bool is = false;
    for (size_t i = 0; i < SP_WAIT_REASONS; i++)
        is |= i != SP_WAIT_CPU && v[i];
    return is;
}

static void say_running(const struct sp_waits_asked *x, struct sp_buf *b)
{
    const struct sp_off_cpu_accounts *c = x->acc;
    if (c->all.running == SP_ABSENT)
        return;
    sp_waits_duration(b, c->all.running, c->all.running_at_least);
    sp_buf_puts(b, " on CPUs");
    int64_t room = (int64_t)c->cpus * (c->end - c->begin);
    if (room > 0) {
        sp_buf_printf(b, " (%u CPU%s", c->cpus, c->cpus == 1 ? "" : "s");
        if (c->busy <= room) { /* else events were lost */
            sp_buf_puts(b, c->busy_at_least ? ", ≥ " : ", ");
            sp_text_about(b, c->busy, room);
            sp_buf_puts(b, c->busy == c->all.running ? " busy" : " busy with all threads");
        }
        sp_buf_ch(b, ')');
    }
    sp_buf_puts(b, ", ");
}

bool sp_waits_much_unknown(const struct sp_off_cpu_accounts *c)
{
    return c->all.unknown > 0 && c->all.unknown * 20 >= c->all.running + c->all.unknown;
}

const char *sp_waits_unknown_words(const struct sp_off_cpu_accounts *c)
{
    return c->lost ? "running, waiting or ended: not recorded which, events were lost"
                   : "running or waiting: not recorded which";
}

struct part {
    int64_t ns;
    bool at_least;
    const char *words;
};

/* "Not in this: 29.1 s idle (not below: --idle), 8.74 s before a thread was first seen" */
static void say_apart(const struct sp_waits_asked *x, struct sp_buf *b)
{
    const struct sp_off_cpu_who *all = &x->acc->all;
    const struct part parts[] = {
        {sp_waits_much_unknown(x->acc) ? all->unknown : 0, false, sp_waits_unknown_words(x->acc)},
        {all->idle, all->idle_at_least, x->idle ? "idle" : "idle (not below: --idle)"},
        {all->maybe_idle, all->maybe_idle_at_least,
         x->idle         ? "idle?, which nothing proves"
         : all->idle > 0 ? "which may be idle (idle?)"
                         : "which may be idle (idle?; not below: --idle)"},
        {all->unseen + x->acc->before, false,
         x->acc->unseen_later > 0 ? "before a thread was first seen or where events are missing"
                                  : "before a thread was first seen"}};
    const char *before = ". Not in this: ";
    int64_t apart = all->idle + all->maybe_idle + all->unseen + x->acc->before + all->unknown;
    if (x->bytes < SP_WAITS_LITTLE / 2 && apart > 0) {
        sp_buf_puts(b, before);
        sp_waits_duration(b, apart, false);
        sp_buf_puts(b, " idle or not seen");
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].ns <= 0)
            continue;
        sp_buf_puts(b, before);
        sp_waits_duration(b, parts[i].ns, parts[i].at_least);
        sp_buf_printf(b, " %s", parts[i].words);
        before = ", ";
    }
}

void sp_waits_head(const struct sp_waits_asked *x)
{
    struct sp_buf *b = &x->a->b;
    const struct sp_off_cpu_accounts *c = x->acc;
    const struct sp_off_cpu_who *all = &c->all;
    sp_buf_clear(b);
    if (c->has_intervals) {
        sp_waits_duration(b, c->end - c->begin, false);
        sp_buf_puts(b, " of ");
    }
    if (c->knows_threads)
        sp_text_count(b, (uint64_t)all->threads, "thread");
    else
        sp_buf_puts(b, "Threads are not told apart");
    if (x->a->s.filters.len) {
        sp_buf_puts(b, " (");
        sp_buf_add(b, x->a->s.filters.data, x->a->s.filters.len);
        sp_buf_ch(b, ')');
    }
    sp_buf_puts(b, ": ");
    say_running(x, b);
    if (c->has_runnable) {
        sp_waits_duration(b, all->runnable, all->at_least[SP_WAIT_CPU]);
        sp_buf_puts(b, " waiting for a CPU, ");
    }
    sp_buf_puts(b, x->holders ? "others were held up for " : "");
    sp_waits_duration(b, all->blocked, any_at_least(all->at_least));
    sp_buf_puts(b, x->holders ? "" : " blocked");
    say_apart(x, b);
    sp_answer_line_of(x->a->out, SP_LINE_HEAD, b);
    sp_buf_clear(b);
}

/* ---- what is not known ---- */

static void say(const struct sp_waits_asked *x, const char *words)
{
    struct sp_buf *b = &x->a->b;
    sp_buf_puts(b, words);
    sp_answer_line_of(x->a->out, SP_LINE_PLAIN, b);
    sp_buf_clear(b);
}

/* It has stacks of other events, so that -g was used. */
static bool has_waking_stacks(const struct sp_waits_asked *x)
{
    const struct sp_profile *p = x->a->s.profile;
    for (size_t i = 0; i < p->stacks.n; i++)
        if (p->stacks.v[i].n > 1 && p->contexts.v[p->stacks.v[i].context].event != x->a->s.event)
            return true;
    return false;
}

static void say_frames(const struct sp_waits_asked *x)
{
    const struct sp_wait_reasons *w = x->why;
    struct sp_buf *b = &x->a->b;
    if (!w->has_callers && has_waking_stacks(x))
        say(x, "No call stacks of waits are in what was read of the recording: places and reasons are not "
               "known");
    else if (!w->has_callers)
        say(x, "No call stacks: places and reasons need perf record -g (or --call-graph dwarf)");
    else if (!w->has_user_frames)
        say(x,
            "No stacks of programs: a futex may be a lock or a condition, and idle waits are not told from "
            "others but by the kernel; perf record -g tells");
    else if (x->acc->unsure * 20 >= x->acc->all.blocked + x->acc->all.idle + x->acc->all.maybe_idle &&
             x->acc->unsure > 0) {
        sp_waits_duration(b, x->acc->unsure, false);
        say(x, " of waits have a likely reason only: callers are missing, a condition may be a semaphore, a "
               "join or a read-write lock; --call-graph dwarf tells");
    }
}

bool sp_waits_has_goroutines(const struct sp_asked *a)
{
    const struct sp_profile *p = a->s.profile;
    bool is = false;
    for (size_t i = 0; !is && i < a->s.rows.n; i++) {
        uint32_t stack = a->s.rows.v[i].stack;
        const uint32_t *frames = sp_stack_frames(p, stack);
        for (uint32_t k = 0; !is && k < p->stacks.v[stack].n; k++) {
            struct sp_str name = sp_pstr(p, sp_frame_function(p, frames[k])->name);
            is = (name.n >= 14 && !memcmp(name.p, "runtime.mstart", 14)) ||
                 (name.n >= 23 && !memcmp(name.p, "runtime.findRunnable.abi", 23)) ||
                 sp_str_is(name, "runtime.findRunnable") || sp_str_is(name, "runtime.gopark");
        }
    }
    return is;
}

/* The event was made of a recording of switches. */
static bool is_ours(const struct sp_waits_asked *x)
{
    const struct sp_profile *p = x->a->s.profile;
    return sp_str_is(sp_pstr(p, p->events.v[x->a->s.event].name), SP_OFF_CPU_EVENT);
}

void sp_waits_unknown(const struct sp_waits_asked *x)
{
    const struct sp_off_cpu_accounts *c = x->acc;
    struct sp_buf *b = &x->a->b;
    sp_buf_clear(b);
    if (x->bytes >= SP_WAITS_LITTLE)
        say_frames(x);
    if (!c->has_intervals && !c->knows_threads)
        say(x, "Sums of stacks: no single waits, no threads, no moments at which many stood still");
    else if (!c->has_intervals && is_ours(x))
        say(x,
            "Sums of stacks: no single waits, nor which of them ended with their process alone, nothing of "
            "running, no moments at which many stood still; spaa convert --samples keeps all that");
    else if (!c->has_intervals)
        say(x,
            "Sums of stacks: no single waits, nothing of running, no moments at which many stood still; perf "
            "record -a -g -e sched:sched_switch,sched:sched_waking has them");
    else if (!c->has_wakes)
        say(x, "Not recorded: wakeups. A wait holds the wait for a CPU after it; -e "
               "sched:sched_switch,sched:sched_waking tells them apart");
    if (c->wakes_missing_ns * 20 > c->all.blocked + c->all.idle + c->all.maybe_idle) {
        sp_text_count(b, c->wakes_missing, "wait");
        sp_buf_puts(b, " of ");
        sp_waits_duration(b, c->wakes_missing_ns, false);
        say(x,
            c->all_threads
                ? " end in a waking that was not recorded: the wait for a CPU after it is in them"
                : " end in a waking that was not recorded, as by timers: the wait for a CPU after it is in "
                  "them, means and longest ones, too; perf record -a has these wakings");
    }
    if (x->bytes >= SP_WAITS_LITTLE && c->has_intervals && sp_waits_has_goroutines(x->a))
        say(x, "Go: threads do not show what goroutines wait for; its block and mutex profiles do "
               "(/debug/pprof/block, /debug/pprof/mutex)");
    if (c->some_cpus)
        say(x, "Recorded of some CPUs (perf record -C): what threads did on others is not known, so nothing "
               "of their "
               "waits is certain; perf record -a tells");
    if (c->has_intervals && !c->all_threads)
        say(x, "Recorded of some processes: who had the CPUs meanwhile is not known; perf record -a tells");
    if (c->contradictions) {
        sp_text_count(b, c->contradictions, "contradiction");
        say(x, x->bytes < SP_WAITS_LITTLE ? " in the order of events: waits are unsure"
                                          : " in the order of events: waits around them are unsure");
        sp_answer_tells(x->a->out, SP_W315);
    }
    const struct sp_options *o = x->a->q->options;
    bool ours = is_ours(x) && !o->event;
    const char *view = o->view || o->state ? NULL : "--view all",
               *of = ours ? view ? "--event " SP_OFF_CPU_EVENT " --view all" : "--event " SP_OFF_CPU_EVENT
                          : view;
    if (!x->idle && c->all.idle + c->all.maybe_idle > 0)
        sp_answer_next(x->a->out, "waits", NULL, "--idle");
    sp_answer_next(x->a->out, "tree", NULL, of);
    sp_answer_next(x->a->out, "flamegraph", NULL, of);
}
