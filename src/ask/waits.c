/*
 * waits: time off the CPU. Roads to an answer, by what the input knows: reports that say what threads waited
 * for (waits_reported.c); samples that have states, but no threads (waits_states.c); weights or intervals off
 * the CPU (waits_off_cpu.c), with the moments at which many stood still (waits_stalls.c) where intervals are
 * known.
 */
#include "ask/waits_parts.h"

#include "model/waiting.h"

static const struct sp_answer_column waits_facts[] = {
    SOMETIMES("waiting", SP_COL_WEIGHT, "of reports: weight of threads that waited for something named"),
    SOMETIMES("waiting_for_nothing_named", SP_COL_WEIGHT, "of reports: weight off the CPU without a reason"),
    SOMETIMES("waiting_for_disk", SP_COL_WEIGHT, "of that: for the disk, by functions of the kernel"),
    SOMETIMES("receiving", SP_COL_WEIGHT, "of reports: weight of servers that waited for messages"),
    SOMETIMES("idle_threads", SP_COL_WEIGHT, "of reports: weight of threads for when there is nothing to do"),
    SOMETIMES("suspended", SP_COL_WEIGHT, "of reports: weight that was suspended, with no holder named"),
    SOMETIMES("waiting_in_states", SP_COL_WEIGHT,
              "of samples with states of threads: weight in those that wait"),
    SOMETIMES("deadlocks", SP_COL_COUNT,
              "of reports: rings of threads that are deadlocks; null: who has the locks is not named"),
    SOMETIMES("fatal", SP_COL_TEXT,
              "of dumps of goroutines: why the runtime ended the program; null: it did not"),
    SOMETIMES("duration", SP_COL_WEIGHT, "how long was looked at; null: not known"),
    SOMETIMES("threads_seen", SP_COL_COUNT,
              "how many threads are in the answer; null: the source does not tell threads apart"),
    SOMETIMES("running", SP_COL_WEIGHT, "on CPUs; null: not known"),
    SOMETIMES("unknown", SP_COL_WEIGHT, "running or waiting, which of them is not recorded; in no other sum"),
    SOMETIMES("runnable", SP_COL_WEIGHT, "waiting for a CPU; null: not known"),
    SOMETIMES("blocked", SP_COL_WEIGHT, "waiting for something, idle waits not counted"),
    SOMETIMES("idle", SP_COL_WEIGHT, "waiting for work"),
    SOMETIMES("maybe_idle", SP_COL_WEIGHT,
              "waiting for work by the look of it: nothing shows that nobody worked for it; in neither"),
    SOMETIMES("unseen", SP_COL_WEIGHT, "blocked, and where they left the CPU was not recorded; in neither"),
    SOMETIMES(
        "before_first_event", SP_COL_WEIGHT,
        "of recordings of some processes: how long threads were there before their first event; in no sum"),
    SOMETIMES("unsure", SP_COL_WEIGHT, "of blocked and idle, with a reason that is the likely one only"),
    SOMETIMES("cpus", SP_COL_COUNT, "of the machine; null: not all of it was recorded"),
    SOMETIMES("busy", SP_COL_WEIGHT, "on these CPUs, of all threads, at least; null likewise"),
    SOMETIMES("intervals", SP_COL_BOOL, "single waits are known, not only sums"),
    SOMETIMES("wakeups", SP_COL_BOOL, "when threads were woken was recorded"),
    SOMETIMES("wakes_missing", SP_COL_COUNT,
              "where wakings were recorded: waits that end in one that was not, and so hold the wait for a "
              "CPU after it"),
    SOMETIMES("contradictions", SP_COL_COUNT, "places where the order of events cannot be"),
    SOMETIMES("stacks_of", SP_COL_TEXT,
              "of what was measured off the CPU: `waiter`, or `holder` where stacks are of who released the "
              "lock that others waited for (mutex profiles of Go), `both`; null: it does not tell"),
    {0},
};
static const struct sp_table_decl *const waits_tables[] = {&sp_waits_rows,
                                                           &sp_waits_waiters,
                                                           &sp_waits_waits,
                                                           &sp_waits_chains,
                                                           &sp_waits_steps,
                                                           &sp_waits_held,
                                                           &sp_waits_threads,
                                                           &sp_waits_reasons,
                                                           &sp_waits_places,
                                                           &sp_waits_states,
                                                           &sp_waits_state_stacks,
                                                           SP_WAITS_STALL_TABLES,
                                                           NULL};

static spaa_status waits_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->times = true;
    return SPAA_OK;
}

/* The recorder looked at switches of threads, and the input has not one. */
static bool saw_no_switch(const struct sp_profile *p)
{
    return sp_sched_has(p, SP_SCHED_SWITCH) && !p->stacks.n;
}

static spaa_status waits_of_none(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_asked x = {0};
    struct sp_select_opts o;
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    o.any_state = o.may_be_empty = true;
    spaa_status st = sp_asked_begin_with(q, &o, out, &x);
    if (!st) {
        sp_fact_count(out, "threads_seen", 0);
        sp_fact_bool(out, "intervals", false);
        sp_answer_line(out, "No switch of a thread was recorded: of waits nothing is known");
        sp_answer_line(out,
                       "perf record -a -g -e sched:sched_switch,sched:sched_waking records them, without a "
                       "filter (--filter) that leaves them all out");
        st = sp_asked_end(&x);
    }
    sp_asked_free(&x);
    return st;
}

/* An event of which intervals are made. */
static bool waits_is_scheduler(const struct sp_profile *p, const char *asked)
{
    uint32_t event = sp_event_find(p, asked, strlen(asked));
    return event != SP_NONE && sp_sched_kind_of(sp_pstr(p, p->events.v[event].name)) != SP_SCHED_OTHER;
}

static spaa_status waits_ask(struct sp_ask *q, struct sp_answer *out)
{
    const struct sp_profile *p = q->profiles[0];
    const char *asked = q->options->event;
    uint32_t event, metric;
    bool measured = sp_waiting_of(p, &event, &metric);
    if (!measured && saw_no_switch(p))
        return waits_of_none(q, out);
    bool other = measured && asked && !sp_str_is(sp_pstr(p, p->events.v[event].name), asked);
    if (other && sp_intervals_can(p) && waits_is_scheduler(p, asked)) {
        sp_emit_hint(q->diags, SP_E036, SP_AT_NOTHING,
                     "without --event: waits are made of all events of the scheduler",
                     "the event %s counts what happened, and has no time that threads waited", asked);
        return SPAA_ERR_USAGE;
    }
    if (!measured || other)
        return sp_waits_only_states(p) ? sp_waits_by_state(q, out) : sp_waits_reported(q, out);
    spaa_status st = sp_waits_off_cpu(q, out);
    if (!st)
        sp_waits_put_whose(p, event, out);
    return st;
}

const struct sp_question sp_question_waits = {
    .name = "waits",
    .args = "FILE…",
    .groups =
        G_READ | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_WAITS | G_ROWS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "time off the CPU: who waited, for what, how long, held up by whom",
    .examples = "spaa waits waits.spaa # of perf record -a -g -e sched:sched_switch,sched:sched_waking\n"
                "spaa waits waits.spaa --idle # with the waits for work\n"
                "spaa waits report.spindump.txt\n"
                "spaa waits profile.codeguru.json # where threads waited, by state\n"
                "spaa waits report.spindump.txt --pid 412 # its threads, and the chains from there\n"
                "spaa waits report.spindump.txt --json",
    .schema = "spaa.waits/4",
    .facts = waits_facts,
    .tables = waits_tables,
    .needs = waits_needs,
    .ask = waits_ask,
};
