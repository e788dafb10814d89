/*
 * sched: what threads and CPUs did, by the events of the scheduler: time on a CPU, waiting for one, waiting
 * for something else. The picture of it (-o) is drawn by run/sched.c.
 */
#include "ask/sched_parts.h"

#include "analysis/waits.h"
#include "base/num.h"
#include "model/off_cpu.h"
#include "model/sched_events.h"

enum { ROWS = 12 };

static const struct sp_answer_column sched_facts[] = {
    FACT("time.profile_start", SP_COL_NUMBER, "seconds of the profile's clock; all others are from there"),
    FACT("time.start", SP_COL_NUMBER, "where what is asked about begins"),
    FACT("time.end", SP_COL_NUMBER, "where it ends"),
    FACT("ncpus", SP_COL_COUNT, "CPUs that ran something"),
    FACT("nthreads", SP_COL_COUNT, "threads in the rows"),
    FACT("busy_ns", SP_COL_COUNT, "of all CPUs and threads, whatever filters leave; at least"),
    FACT("idle_ns", SP_COL_COUNT, "likewise"),
    FACT("busy_percent", SP_COL_NUMBER, "of the time of all CPUs; at least"),
    FACT("busy_percent_most", SP_COL_NUMBER, "the same with all time that is not known"),
    FACT("wakes_recorded", SP_COL_BOOL, "sched_waking or sched_wakeup is in the recording"),
    FACT("runs_unseen", SP_COL_COUNT, "how often threads left a CPU onto which nobody saw them come"),
    FACT("contradictions", SP_COL_COUNT, "places where the order of events cannot be"),
    FACT("queue.mean", SP_COL_NUMBER,
         "threads that waited for a CPU, on average; at least where wakes are missing"),
    FACT("queue.most", SP_COL_COUNT, "the most at once"),
    FACT("queue.most_at", SP_COL_NUMBER, "when, in seconds from the start of the profile; null: never"),
    FACT("total.run_ns", SP_COL_COUNT, "of all rows together, as in them"),
    FACT("total.unknown_ns", SP_COL_COUNT, "likewise"),
    FACT("total.delay_ns", SP_COL_COUNT, "likewise"),
    FACT("total.preempted_ns", SP_COL_COUNT, "likewise"),
    FACT("total.wait_ns", SP_COL_COUNT, "likewise"),
    FACT("total.runs", SP_COL_COUNT, "likewise"),
    FACT("total.migrations", SP_COL_COUNT, "likewise"),
    {0},
};
static const struct sp_table_decl *const sched_tables[] = {&sp_sched_rows, &sp_sched_cpus, NULL};

static spaa_status sched_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->samples = true;
    out->no_ids = true;
    out->no_lines = true;
    return SPAA_OK;
}

static spaa_status cannot(struct sp_ask *q)
{
    if (sp_sched_names_lost(q->profiles[0])) {
        sp_waits_refuse_lost(q->diags);
        return SPAA_ERR_USAGE;
    }
    sp_emit_hint(q->diags, SP_E036, SP_AT_NOTHING,
                 "perf record -a -e sched:sched_switch,sched:sched_waking -- COMMAND (or perf sched record), "
                 "and ask the "
                 "recording itself or a file of `spaa convert --samples`",
                 "the profile has no events of the scheduler with their times");
    return SPAA_ERR_USAGE;
}

/* ---- facts ---- */

static void put_facts(struct sp_asked_sched *x)
{
    struct sp_answer *a = x->a.out;
    const struct sp_sched *s = &x->s;
    int64_t busy = 0, idle = 0, span = s->hi - s->lo;
    for (size_t i = 0; i < s->cpus.n; i++) {
        busy += s->cpus.v[i].busy_ns;
        idle += s->cpus.v[i].idle_ns;
    }
    __int128 whole = (__int128)span * s->ncpus;
    bool known = x->v.has_wakes;
    sp_fact_scaled(a, "time.profile_start", x->zero, 9);
    sp_fact_scaled(a, "time.start", s->lo - x->zero, 9);
    sp_fact_scaled(a, "time.end", s->hi - x->zero, 9);
    sp_fact_count(a, "ncpus", s->ncpus);
    sp_fact_count(a, "nthreads", s->all.threads);
    sp_fact_count(a, "busy_ns", busy);
    sp_fact_count(a, "idle_ns", idle);
    sp_fact_scaled(a, "busy_percent", whole > 0 ? (int64_t)sp_ratio(busy, whole, 10000) : SP_ABSENT, 2);
    sp_fact_scaled(a, "busy_percent_most",
                   whole > 0 ? (int64_t)sp_ratio(whole - idle, whole, 10000) : SP_ABSENT, 2);
    sp_fact_bool(a, "wakes_recorded", x->v.has_wakes);
    sp_fact_count(a, "runs_unseen", (int64_t)s->all.unknown_runs);
    sp_fact_count(a, "contradictions", (int64_t)x->v.contradictions);
    sp_fact_scaled(a, "queue.mean", span > 0 ? (int64_t)sp_ratio(s->queue.ns, span, 1000) : SP_ABSENT, 3);
    sp_fact_count(a, "queue.most", s->queue.most);
    sp_fact_scaled(a, "queue.most_at", s->queue.most ? s->queue.most_at - x->zero : SP_ABSENT, 9);
    sp_fact_count(a, "total.run_ns", s->all.run.ns);
    sp_fact_count(a, "total.unknown_ns", s->all.unknown_ns);
    sp_fact_count(a, "total.delay_ns", known ? s->all.delay.ns : SP_ABSENT);
    sp_fact_count(a, "total.preempted_ns", s->all.preempted.ns);
    sp_fact_count(a, "total.wait_ns", s->all.blocked.ns);
    sp_fact_count(a, "total.runs", (int64_t)s->all.runs);
    sp_fact_count(a, "total.migrations", (int64_t)s->all.migrations);
}

/* ---- the question ---- */

static spaa_status look(struct sp_asked_sched *x)
{
    struct sp_ask *q = x->a.q;
    struct sp_profile *p = q->profiles[0];
    spaa_status st = sp_sched_filter(q, x);
    if (st)
        return st;
    if (x->a.s.pools.of_record && !(x->pools = sp_sched_pools(p, &x->v, &x->a.s.pools)))
        return sp_nomem(q->diags);
    struct sp_sched_opts how = {.lo = x->a.s.timed ? x->a.s.time_lo : INT64_MIN,
                                .hi = x->a.s.timed ? x->a.s.time_hi : INT64_MAX,
                                .keep = x->keep,
                                .profile = p,
                                .who = x->who,
                                .pools = x->pools};
    if (!sp_cpu_segments_of(&x->v, &x->cpus) || !sp_sched_of(&x->v, &x->cpus, &how, &x->s))
        return sp_nomem(q->diags);
    if (x->s.hi > x->s.lo)
        return SPAA_OK;
    sp_emit_hint(q->diags, SP_E032, SP_AT_NOTHING, "`spaa timeline` shows when there was",
                 "no switch was recorded in that time");
    return SPAA_ERR_NOT_FOUND;
}

spaa_status sp_sched_begin(struct sp_ask *q, struct sp_answer *out, struct sp_asked_sched *x)
{
    struct sp_select_opts o;
    *x = (struct sp_asked_sched){0};
    if (sp_off_cpu_event(q->profiles[0]) == SP_NONE || !sp_intervals_can(q->profiles[0]))
        return cannot(q);
    if (!sp_ask_limit(q, ROWS, &x->limit) || !sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    struct sp_select_opts all = {.event = SP_OFF_CPU_EVENT,
                                 .thread = o.thread,
                                 .pid = o.pid,
                                 .comm = o.comm,
                                 .time = o.time,
                                 .any_state = true,
                                 .may_be_empty = true,
                                 .pools = o.pools};
    /* Before anything counts the profile's stacks and threads: intervals may add some. */
    spaa_status st = sp_intervals_of(q->profiles[0], q->diags, &x->v);
    if (!st && !x->v.v.n)
        st = cannot(q);
    if (!st)
        st = sp_asked_select(q, &all, out, &x->a);
    if (!st)
        st = sp_sample_times_zero(q->profiles[0], q->diags, &x->zero);
    return st ? st : look(x);
}

void sp_sched_end(struct sp_asked_sched *x)
{
    sp_sched_free(&x->s);
    sp_cpu_segments_free(&x->cpus);
    sp_intervals_free(&x->v);
    free(x->keep);
    free(x->who);
    free(x->pools);
    sp_asked_free(&x->a);
}

static spaa_status sched_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_asked_sched x;
    spaa_status st = sp_sched_begin(q, out, &x);
    if (!st) {
        sp_asked_facts(&x.a);
        put_facts(&x);
        sp_sched_say(&x);
        sp_sched_put_rows(&x);
        sp_sched_put_cpus(&x);
        st = sp_asked_end(&x.a);
    }
    sp_sched_end(&x);
    return st;
}

const struct sp_question sp_question_sched = {
    .name = "sched",
    .args = "FILE",
    .groups = G_READ | G_SELECT | G_TIME | G_THREADS | G_ROWS | G_ANSWER | G_BUDGET | G_OUT,
    .title = "threads and CPUs: time running, waiting for a CPU, blocked; -o draws it",
    .examples = "spaa sched switch.data # of perf record -a -e sched:sched_switch,sched:sched_waking\n"
                "spaa sched switch.data --time 0.1..0.3 --no-pool\n"
                "spaa sched switch.data -o cpus.svg # CPUs and threads over time",
    .schema = "spaa.sched/1",
    .facts = sched_facts,
    .tables = sched_tables,
    .needs = sched_needs,
    .ask = sched_ask,
    .draws = true,
};
