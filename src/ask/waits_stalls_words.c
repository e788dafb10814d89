/* Stalls in words: a few lines for each of the first sets of episodes. */
#include "ask/waits_stalls_parts.h"

#include "analysis/wait_rule.h"

#define SETS_SHOWN     3
#define TIMES_SHOWN    3
#define UNJUDGED_SHOWN 2

static void say_at(const struct stalls *x, struct sp_buf *b, int64_t t)
{
    int64_t ms = (t - x->zero + 500000) / 1000000;
    sp_buf_printf(b, "+%lld.%03lld s", (long long)(ms / 1000), (long long)(ms % 1000));
}

/* ---- when, and at what ---- */

/* "at +1.389 s 160 ms, +1.9 s 155 ms and 3 more" */
static void say_times(const struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set)
{
    for (uint32_t k = 0; k < set->members.n && k < TIMES_SHOWN; k++) {
        const struct sp_stall *s = stalls_member(x, set, k);
        sp_buf_puts(b, k ? ", " : "  at ");
        say_at(x, b, s->start);
        sp_buf_ch(b, ' ');
        sp_buf_puts(b, s->at_most ? "≤ " : s->by == SP_STALL_BY_NOT_ENDED ? "≥ " : "");
        stalls_say_ns(b, s->end - s->start);
    }
    if (set->members.n > TIMES_SHOWN)
        sp_buf_printf(b, " and %u more", set->members.n - TIMES_SHOWN);
}

/* Of waits that were not over: each of their places, "ab, ba (lock)". */
static void say_places(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    uint32_t said[NAMES_SHOWN];
    size_t n = 0;
    for (uint32_t k = 0; k < s->waits.n; k++) {
        uint32_t stack = x->v->v.v[x->s.waits.v[s->waits.first + k]].stack;
        uint32_t function = stack < x->why->n ? x->why->of[stack].function : SP_NONE;
        size_t m = 0;
        while (m < n && said[m] != function)
            m++;
        if (function == SP_NONE || m < n)
            continue;
        if (n == NAMES_SHOWN) {
            sp_buf_puts(b, ", …");
            break;
        }
        sp_buf_puts(b, n ? ", " : "");
        stalls_say_function(x, b, function);
        said[n++] = function;
    }
    sp_buf_puts(b, n ? " (lock)" : "? (lock)");
}

/* Its function has no name: the binary that called what waits, "[server]"; false: no such frame. */
static bool say_binary(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    const struct sp_profile *p = x->a->s.profile;
    uint32_t stack = x->v->v.v[x->s.waits.v[s->waits.first]].stack;
    if (stack >= p->stacks.n)
        return false;
    const uint32_t *frames = sp_stack_frames(p, stack);
    bool called = false;
    for (uint32_t k = 0; k < p->stacks.v[stack].n; k++) {
        const struct sp_function *f = &p->functions.v[p->frames.v[frames[k]].function];
        struct sp_str name = sp_pstr(p, p->dsos.v[f->dso].name);
        called = called || p->frames.v[frames[k]].function == s->call;
        if (!called || p->dsos.v[f->dso].is_kernel || f->dso == p->functions.v[s->call].dso || !name.n)
            continue;
        const char *slash = memrchr(name.p, '/', name.n);
        const char *from = slash ? slash + 1 : name.p;
        if (*from == '[')
            return false;
        sp_buf_ch(b, '[');
        sp_buf_add(b, from, name.n - (size_t)(from - name.p));
        sp_buf_ch(b, ']');
        return true;
    }
    return false;
}

static void say_place(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    if (s->kind == SP_STALL_STOPPED || s->kind == SP_STALL_CPU) {
        sp_buf_puts(b, s->kind == SP_STALL_CPU ? "waiting for a CPU, none of the process ran" : "stopped");
        return;
    }
    sp_buf_puts(b, "waiting in ");
    if (s->kind == SP_STALL_OPEN) {
        say_places(x, b, s);
        return;
    }
    bool said = s->function != SP_NONE || s->call == SP_NONE;
    if (s->function != SP_NONE)
        stalls_say_function(x, b, s->function);
    else if (s->call == SP_NONE)
        sp_buf_ch(b, '?');
    else
        said = say_binary(x, b, s);
    if (s->call != SP_NONE && s->call != s->function) {
        const struct sp_profile *p = x->a->s.profile;
        const struct sp_function *f = &p->functions.v[s->call];
        struct sp_buf scratch;
        sp_buf_init(&scratch, 0);
        struct sp_str name = sp_wait_call_name(sp_pstr(p, f->name), p->dsos.v[f->dso].is_kernel, &scratch);
        sp_buf_puts(b, said ? " > " : "");
        sp_buf_add(b, name.p, name.n);
        sp_buf_free(&scratch);
    }
    sp_buf_printf(b, " (%s)", sp_wait_reason_names[s->reason]);
}

/* What is said of the episodes is as it was recorded. */
static void say_events_lost(const struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set)
{
    int64_t most;
    uint32_t n = stalls_set_events_lost(x, set, &most);
    if (!n)
        return;
    sp_buf_puts(b, "; events were lost for ");
    stalls_say_ns(b, most);
    if (set->members.n == 1)
        sp_buf_puts(b, " of it");
    else
        sp_buf_printf(b, "%s of %u of them", n > 1 ? " at most" : "", n);
}

static void say_episodes(struct stalls *x, const struct sp_stall_set *set)
{
    struct sp_buf *b = &x->a->b;
    const struct sp_stall *s = stalls_longest(x, set);
    sp_buf_clear(b);
    say_times(x, b, set);
    sp_buf_puts(b, "   ");
    say_place(x, b, s);
    sp_buf_puts(b, ": ");
    stalls_say_threads(x, b, set);
    if (s->unsure)
        sp_buf_printf(b, " (and %u whose end is not recorded)", s->unsure);
    if (s->next) {
        sp_buf_puts(b, "; next longest ");
        stalls_say_ns(b, s->next);
    }
    say_events_lost(x, b, set);
    sp_answer_line_of(x->a->out, SP_LINE_ITEM, b);
}

/* ---- all of it ---- */

/* That there is none, of what can be seen. */
static void say_none(struct stalls *x, struct sp_buf *b)
{
    if (x->v->some_cpus) {
        sp_buf_puts(b, "STALLS: not known: threads ran on CPUs that were not recorded");
        return;
    }
    if (x->s.last_waits) {
        sp_buf_puts(b, "STALLS: not known: at the last event of the recording no thread ran, and ");
        sp_text_count(b, x->s.last_waits, "thread");
        sp_buf_puts(
            b, " waited for a lock; a hang from then on leaves no event (perf record -a tells how long)");
        return;
    }
    sp_buf_puts(b, x->s.not_judged
                       ? "STALLS: none shown; long waits that may be for locks are not judged"
                       : "STALLS: none found: no several threads ≥ 20 ms at one place for a lock or a disk");
    if (x->v->losses && !x->s.unjudged.n)
        sp_buf_puts(b, ", as far as was recorded: events were lost");
    if (sp_waits_has_goroutines(x->a))
        sp_buf_puts(b, "; what goroutines wait for is not in it");
}

static void say_head(struct stalls *x)
{
    struct sp_buf *b = &x->a->b;
    uint64_t waits = 0;
    int64_t lost = 0, threshold = INT64_MAX, highest = 0;
    bool at_most = false, open = false;
    for (size_t i = 0; i < x->s.v.n; i++) {
        waits += x->s.v.v[i].waits.n;
        lost += x->s.v.v[i].lost;
        at_most |= x->s.v.v[i].at_most;
        open |= x->s.v.v[i].by == SP_STALL_BY_NOT_ENDED;
        threshold = x->s.v.v[i].threshold < threshold ? x->s.v.v[i].threshold : threshold;
        highest = x->s.v.v[i].threshold > highest ? x->s.v.v[i].threshold : highest;
    }
    sp_buf_clear(b);
    if (!x->stacks) {
        sp_buf_puts(b, x->waker_stacks
                           ? "STALLS: not known at which places: what was read has no call stacks of waits"
                           : "STALLS: not known at which places: no call stacks (perf record -g)");
        sp_buf_puts(b, x->s.v.n ? "; without: " : "");
        if (x->s.v.n)
            sp_text_count(b, x->s.v.n, "episode");
    } else if (!x->s.v.n) {
        say_none(x, b);
    } else {
        sp_buf_puts(b, "STALLS > ");
        stalls_say_ns(b, threshold);
        sp_buf_puts(b, highest > threshold ? " to > " : "");
        if (highest > threshold)
            stalls_say_ns(b, highest);
        sp_buf_puts(b, highest > threshold ? " by place: " : ": ");
        sp_text_count(b, x->s.v.n, "episode");
        sp_buf_puts(b, ", ");
        sp_text_count(b, waits, "wait");
        sp_buf_puts(b, at_most ? ", ≤ " : open ? ", ≥ " : ", ");
        stalls_say_ns(b, lost);
        sp_buf_puts(b, " of threads' time");
    }
    if (x->s.cut) {
        sp_buf_puts(b, "; signals cut ");
        sp_text_count(b, x->s.cut, "wait");
        sp_buf_puts(b, " for a lock in two: whole ones are longer");
    }
    sp_answer_line_of(x->a->out, SP_LINE_HEAD, b);
}

/* Long waits that may be for work: they are no stalls, and none is not said of them. */
static void say_unjudged(struct stalls *x)
{
    struct sp_buf *b = &x->a->b;
    sp_buf_clear(b);
    for (size_t i = 0; i < x->s.unjudged.n && i < UNJUDGED_SHOWN; i++) {
        const struct sp_stall_unjudged *u = &x->s.unjudged.v[i];
        uint32_t stack = x->v->v.v[u->interval].stack;
        const struct sp_wait_why *why = stack < x->why->n ? &x->why->of[stack] : NULL;
        sp_buf_puts(b, i ? "; " : "Not judged, as idle ones wait so, too: ");
        stalls_say_thread(x, b, u->thread);
        sp_buf_printf(b, " and %u more: ", u->threads - 1);
        sp_text_count(b, u->waits, "wait");
        sp_buf_puts(b, " ≥ 20 ms, ");
        stalls_say_ns(b, u->waited);
        if (why)
            sp_buf_printf(b, " (%s%s)", sp_wait_reason_names[why->reason],
                          why->idle                          ? ", idle?"
                          : why->reason == SP_WAIT_CONDITION ? "?: may be a lock"
                                                             : "");
    }
    if (x->s.unjudged.n > UNJUDGED_SHOWN)
        sp_buf_printf(b, "; and at %zu more", x->s.unjudged.n - UNJUDGED_SHOWN);
    if (x->s.unjudged.n)
        sp_answer_line_buf(x->a->out, b);
}

static bool lacks_wakings(const struct stalls *x)
{
    for (size_t i = 0; i < x->s.v.n; i++)
        if (x->s.v.v[i].kind == SP_STALL_PLACE && x->s.v.v[i].by != SP_STALL_BY_DEVICE)
            return !x->v->has_wakes || !x->waker_stacks;
    return false;
}

/* Which threads are of one process is not known, and what follows from that. */
static void say_no_processes(struct stalls *x)
{
    bool known = false;
    for (size_t t = 0; t < x->v->threads.n; t++)
        known |= x->v->threads.v[t].tid && x->v->threads.v[t].pid != SP_ABSENT;
    if (x->stacks && !known)
        sp_answer_line(
            x->a->out,
            "Not recorded: processes (perf script -F +pid,+ip,+sym,+dso): threads that wait for locks in one "
            "function count as one program; no holder is inferred, and stalls at conditions, "
            "pipes and networks are not looked for");
}

/* Those that waited for a CPU, or the others: how many were said. */
static size_t say_sets(struct stalls *x, bool cpu, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < x->s.sets.n && n < most; i++) {
        const struct sp_stall_set *set = &x->s.sets.v[i];
        const struct sp_stall *s = stalls_longest(x, set);
        if ((s->kind == SP_STALL_CPU) != cpu)
            continue;
        n++;
        say_episodes(x, set);
        stalls_say_by(x, set, s);
        if (s->holder == SP_NONE)
            continue;
        stalls_say_hold(x, set, s);
    }
    return n;
}

/*
 * On a machine that is busy whole processes wait for a CPU again and again: one of them is an example, and
 * none takes the place of what holds a program up.
 */
void stalls_say(struct stalls *x)
{
    struct sp_buf *b = &x->a->b;
    say_head(x);
    stalls_say_load(x);
    size_t shown = say_sets(x, false, SETS_SHOWN);
    shown += say_sets(x, true, shown < SETS_SHOWN ? 1 : 0);
    sp_buf_clear(b);
    if (x->s.sets.n > shown) {
        sp_buf_printf(b, "and %zu more places with stalls (--json has all)", x->s.sets.n - shown);
        sp_answer_line_buf(x->a->out, b);
    }
    say_unjudged(x);
    if (x->s.unsure) {
        sp_buf_clear(b);
        sp_text_count(b, x->s.unsure, "wait");
        sp_buf_puts(b, x->s.unsure == 1 ? " is" : " are");
        sp_buf_puts(b, " left out, whose ends are not recorded (perf record -a --switch-events has them)");
        sp_answer_line_buf(x->a->out, b);
    }
    say_no_processes(x);
    if (lacks_wakings(x))
        sp_answer_line(
            x->a->out,
            x->v->has_wakes
                ? "Not recorded: stacks of wakeups (-g), which tell who let go from who was interrupted"
                : "Not recorded: wakeups (-e sched:sched_switch,sched:sched_waking makes it certain)");
    sp_buf_clear(b);
}
