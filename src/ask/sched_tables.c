/* The tables of sched. */
#include "ask/sched_parts.h"

#include "base/num.h"

enum {
    THREAD,
    TID,
    PID,
    POOL,
    THREADS,
    RUN,
    RUN_TEXT,
    RUN_PERCENT,
    RUN_MOST,
    RUN_CUT,
    RUNS,
    RUN_AVG,
    RUN_MAX,
    DELAY,
    DELAY_TEXT,
    DELAY_CUT,
    DELAY_N,
    DELAY_AVG,
    DELAY_MAX,
    DELAY_MAX_TEXT,
    DELAY_MAX_AT,
    DELAY_MAX_CUT,
    DELAY_MAX_TID,
    DELAY_AT_TEXT,
    PREEMPTED,
    PREEMPTED_N,
    WAIT,
    WAIT_TEXT,
    WAIT_CUT,
    WAIT_N,
    WAIT_MAX,
    WAKES_MISSING,
    UNKNOWN,
    UNKNOWN_RUNS,
    MIGRATIONS,
};
static const struct sp_answer_column columns[] = {
    [THREAD] = {"thread", SP_COL_TEXT, "thread", .flags = SP_COL_FLEXIBLE,
                .doc =
                    "the name and number of the thread, or the name of a pool and how many threads it has"},
    [TID] = {"tid", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "the thread; null of pools"},
    [PID] = {"pid", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "its process; null: not known"},
    SP_POOL_COLUMNS(POOL),
    [RUN] = {"run_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
             .doc =
                 "time on CPUs within the recording or --time, in ns: at least, where unknown_ns is not 0"},
    [RUN_TEXT] = {"run", SP_COL_TEXT, "run", .flags = SP_COL_NO_JSON | SP_COL_RIGHT, .doc = "the same"},
    [RUN_PERCENT] = {"run_percent", SP_COL_NUMBER, "% CPU", .flags = SP_COL_CSV,
                     .doc = "that as a share of the time asked about: 100 is one CPU"},
    [RUN_MOST] = {"run_most", SP_COL_TEXT, "at most", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                  .doc = "run_ns and unknown_ns together"},
    [RUN_CUT] = {"run_cut_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                 .doc =
                     "of it, runs that begin before or end after the recording: perf counts none of these"},
    [RUNS] = {"runs", SP_COL_COUNT, "runs",
              .doc = "how often it was on a CPU (perf's sched-in, which leaves out what is not over)"},
    [RUN_AVG] = {"run_avg_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                 .doc = "of the runs that are whole; null: none"},
    [RUN_MAX] = {"run_max_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "the longest run; null: none"},
    [DELAY] =
        {"delay_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
         .doc = "waiting for a CPU, woken or put off one; null: no wakes are recorded, and it was woken. At "
                "least, where wakes_missing is not 0"},
    [DELAY_TEXT] = {"delay", SP_COL_TEXT, "wait for CPU", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                    .doc = "the same; of preempted ones alone where that is null"},
    [DELAY_CUT] = {"delay_cut_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                   .doc = "of it, waits that are not over"},
    [DELAY_N] = {"delays", SP_COL_COUNT, .flags = SP_COL_CSV,
                 .doc = "how many such waits are over; null likewise"},
    [DELAY_AVG] = {"delay_avg_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "of these; null: none"},
    [DELAY_MAX] = {"delay_max_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                   .doc = "the longest that is known; null: none"},
    [DELAY_MAX_TEXT] = {"delay_max", SP_COL_TEXT, "longest", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                        .doc = "the same"},
    [DELAY_MAX_AT] = {"delay_max_at", SP_COL_NUMBER, .flags = SP_COL_CSV,
                      .doc = "when that began, in seconds from the start of the profile"},
    [DELAY_MAX_CUT] = {"delay_max_cut", SP_COL_BOOL, .doc = "it was not over, and is at least that long"},
    [DELAY_MAX_TID] = {"delay_max_tid", SP_COL_COUNT, .doc = "of pools: which thread waited so"},
    [DELAY_AT_TEXT] = {"at", SP_COL_TEXT, "at", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                       .doc = "when that began"},
    [PREEMPTED] = {"preempted_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                   .doc = "of the waits for a CPU those after being put off one"},
    [PREEMPTED_N] = {"preempted", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "how many of them are over"},
    [WAIT] =
        {"wait_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
         .doc =
             "waiting for something else than a CPU; where wakes_missing is not 0, with the wait for a CPU "
             "after it"},
    [WAIT_TEXT] = {"wait", SP_COL_TEXT, "blocked", .flags = SP_COL_NO_JSON | SP_COL_RIGHT, .doc = "the same"},
    [WAIT_CUT] = {"wait_cut_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "of it, waits that are not over"},
    [WAIT_N] = {"waits", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "how many are over"},
    [WAIT_MAX] = {"wait_max_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "the longest; null: none"},
    [WAKES_MISSING] = {"wakes_missing", SP_COL_COUNT, .flags = SP_COL_CSV,
                       .doc = "waits whose wake is not recorded: when the wait for a CPU began is not known"},
    [UNKNOWN] = {"unknown_ns", SP_COL_COUNT, .flags = SP_COL_CSV,
                 .doc = "it ran or was off the CPU, which is not recorded: perf counts it as run"},
    [UNKNOWN_RUNS] = {"unknown_runs", SP_COL_COUNT, .flags = SP_COL_CSV,
                      .doc = "of the runs those whose begin is not recorded"},
    [MIGRATIONS] = {"migrations", SP_COL_COUNT, "migr.",
                    .doc = "how often it ran on another CPU than the time before"},
};
const struct sp_table_decl sp_sched_rows = {"rows", columns, sizeof columns / sizeof *columns,
                                            .doc = "threads and pools, most time on CPUs first",
                                            .noun = "threads"};

enum {
    CPU,
    CPU_BUSY,
    CPU_BUSY_TEXT,
    CPU_PERCENT,
    CPU_IDLE,
    CPU_IDLE_TEXT,
    CPU_UNKNOWN,
    CPU_UNKNOWN_TEXT,
    CPU_RUNS
};
static const struct sp_answer_column cpu_columns[] = {
    [CPU] = {"cpu", SP_COL_COUNT, "CPU", .flags = SP_COL_LEFT, .doc = "its number"},
    [CPU_BUSY] = {"busy_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "it ran threads; at least"},
    [CPU_BUSY_TEXT] = {"busy", SP_COL_TEXT, "busy", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                       .doc = "the same"},
    [CPU_PERCENT] = {"busy_percent", SP_COL_NUMBER, "%", .doc = "that as a share of the time asked about"},
    [CPU_IDLE] = {"idle_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "it ran none; at least"},
    [CPU_IDLE_TEXT] = {"idle", SP_COL_TEXT, "idle", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                       .doc = "the same"},
    [CPU_UNKNOWN] = {"unknown_ns", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "the rest: it is not recorded"},
    [CPU_UNKNOWN_TEXT] = {"unknown", SP_COL_TEXT, "not known", .flags = SP_COL_NO_JSON | SP_COL_RIGHT,
                          .doc = "the same"},
    [CPU_RUNS] = {"runs", SP_COL_COUNT, "runs", .doc = "how often a thread ran on it"},
};
const struct sp_table_decl sp_sched_cpus = {"cpus", cpu_columns, sizeof cpu_columns / sizeof *cpu_columns,
                                            .doc = "CPUs that ran something", .noun = "CPUs"};

/* ---- cells ---- */

static const struct sp_str ns_unit = {"ns", 2};

static void put_time(struct sp_asked_sched *x, struct sp_answer_table *t, size_t column, int64_t ns,
                     const char *before)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    sp_buf_puts(b, before);
    sp_text_weight(b, ns_unit, 0, ns);
    sp_put_buf(x->a.out, t, column, b);
}

void sp_sched_name(struct sp_buf *b, const struct sp_asked_sched *x, const struct sp_sched_row *r)
{
    const struct sp_interval_thread *t = &x->v.threads.v[r->thread];
    const struct sp_profile *p = x->a.s.profile;
    if (r->pool != SP_NONE) {
        struct sp_str s = sp_str_at(&x->a.s.pools.names, x->a.s.pools.pools.v[r->pool].name);
        sp_buf_add(b, s.p, s.n);
        return;
    }
    struct sp_str s = sp_pstr(p, r->comm);
    sp_buf_add(b, s.n ? s.p : "?", s.n ? s.n : 1);
    sp_buf_printf(b, " (tid %lld)", (long long)t->tid);
}

static void put_who(struct sp_asked_sched *x, struct sp_answer_table *t, const struct sp_sched_row *r)
{
    const struct sp_interval_thread *th = &x->v.threads.v[r->thread];
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    sp_sched_name(b, x, r);
    sp_put_buf(x->a.out, t, THREAD, b);
    sp_put_int(t, PID, th->pid);
    if (r->pool == SP_NONE) {
        sp_put_int(t, TID, th->tid);
        return;
    }
    sp_put_str(x->a.out, t, POOL, sp_str_at(&x->a.s.pools.names, x->a.s.pools.pools.v[r->pool].pattern));
    sp_put_int(t, THREADS, r->threads);
}

static int64_t average(const struct sp_sched_sum *s)
{
    return s->n ? (int64_t)sp_ratio(s->ns - s->cut_ns, (__int128)s->n, 1) : SP_ABSENT;
}

static void put_run(struct sp_asked_sched *x, struct sp_answer_table *t, const struct sp_sched_row *r)
{
    int64_t span = x->s.hi - x->s.lo;
    sp_put_int(t, RUN, r->run.ns);
    put_time(x, t, RUN_TEXT, r->run.ns, r->unknown_ns ? "≥ " : "");
    if (span > 0)
        sp_put_scaled(t, RUN_PERCENT, (int64_t)sp_ratio(r->run.ns, span, 10000), 2);
    if (r->unknown_ns)
        put_time(x, t, RUN_MOST, r->run.ns + r->unknown_ns, "");
    sp_put_int(t, RUN_CUT, r->run.cut_ns);
    sp_put_int(t, RUNS, (int64_t)r->runs);
    sp_put_int(t, RUN_AVG, average(&r->run));
    sp_put_int(t, RUN_MAX, r->run.longest < 0 ? SP_ABSENT : r->run.longest);
    sp_put_int(t, UNKNOWN, r->unknown_ns);
    sp_put_int(t, UNKNOWN_RUNS, (int64_t)r->unknown_runs);
}

/* Where wakes are not recorded, only the waits of preempted threads are known. */
static void put_delay(struct sp_asked_sched *x, struct sp_answer_table *t, const struct sp_sched_row *r)
{
    bool known = x->v.has_wakes;
    const struct sp_sched_sum *s = known ? &r->delay : &r->preempted;
    struct sp_buf *b = &x->a.b;
    if (known) {
        sp_put_int(t, DELAY, s->ns);
        sp_put_int(t, DELAY_CUT, s->cut_ns);
        sp_put_int(t, DELAY_N, (int64_t)s->n);
        sp_put_int(t, DELAY_AVG, average(s));
    }
    if (known || s->ns)
        put_time(x, t, DELAY_TEXT, s->ns, r->wakes_missing || s->maybe ? "≥ " : "");
    sp_put_int(t, PREEMPTED, r->preempted.ns);
    sp_put_int(t, PREEMPTED_N, (int64_t)r->preempted.n);
    sp_put_int(t, WAKES_MISSING, (int64_t)r->wakes_missing);
    if (s->longest < 0)
        return;
    sp_put_int(t, DELAY_MAX, s->longest);
    sp_put_scaled(t, DELAY_MAX_AT, s->longest_at - x->zero, 9);
    sp_put_int(t, DELAY_MAX_CUT, s->longest_cut);
    if (r->pool != SP_NONE)
        sp_put_int(t, DELAY_MAX_TID, x->v.threads.v[s->longest_thread].tid);
    put_time(x, t, DELAY_MAX_TEXT, s->longest, s->longest_cut ? "≥ " : "");
    sp_buf_clear(b);
    sp_sched_when(b, s->longest_at - x->zero);
    sp_put_buf(x->a.out, t, DELAY_AT_TEXT, b);
}

static void put_wait(struct sp_asked_sched *x, struct sp_answer_table *t, const struct sp_sched_row *r)
{
    sp_put_int(t, WAIT, r->blocked.ns);
    put_time(x, t, WAIT_TEXT, r->blocked.ns, r->unknown_ns ? "≥ " : "");
    sp_put_int(t, WAIT_CUT, r->blocked.cut_ns);
    sp_put_int(t, WAIT_N, (int64_t)r->blocked.n);
    sp_put_int(t, WAIT_MAX, r->blocked.longest < 0 ? SP_ABSENT : r->blocked.longest);
    sp_put_int(t, MIGRATIONS, (int64_t)r->migrations);
}

/* A sheet has the numbers alone. */
static void without_texts(struct sp_answer_table *t)
{
    for (size_t i = 0; i < t->decl->ncolumns; i++)
        if (t->decl->columns[i].flags & SP_COL_NO_JSON)
            sp_table_without(t, i);
}

void sp_sched_put_rows(struct sp_asked_sched *x)
{
    struct sp_answer *a = x->a.out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_sched_rows);
    if (!t)
        return;
    t->limit = x->limit;
    t->keep = 1;
    if (x->a.q->sheet)
        without_texts(t);
    if (!x->s.all.unknown_ns)
        sp_table_title(a, t, RUN_MOST, NULL);
    if (!x->v.has_wakes)
        sp_table_title(a, t, DELAY_TEXT, "preempted");
    for (size_t i = 0; i < x->s.rows.n; i++) {
        const struct sp_sched_row *r = &x->s.rows.v[i];
        sp_table_row(a, t);
        put_who(x, t, r);
        put_run(x, t, r);
        put_delay(x, t, r);
        put_wait(x, t, r);
    }
}

void sp_sched_put_cpus(struct sp_asked_sched *x)
{
    struct sp_answer *a = x->a.out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_sched_cpus);
    int64_t span = x->s.hi - x->s.lo;
    if (!t)
        return;
    t->keep = 2;
    if (x->a.q->sheet)
        without_texts(t);
    for (size_t i = 0; i < x->s.cpus.n; i++) {
        const struct sp_sched_cpu *c = &x->s.cpus.v[i];
        int64_t unknown = span - c->busy_ns - c->idle_ns;
        const char *least = unknown > 0 ? "≥ " : "";
        sp_table_row(a, t);
        sp_put_int(t, CPU, c->cpu);
        sp_put_int(t, CPU_BUSY, c->busy_ns);
        sp_put_int(t, CPU_IDLE, c->idle_ns);
        sp_put_int(t, CPU_UNKNOWN, unknown > 0 ? unknown : 0);
        put_time(x, t, CPU_BUSY_TEXT, c->busy_ns, least);
        put_time(x, t, CPU_IDLE_TEXT, c->idle_ns, least);
        put_time(x, t, CPU_UNKNOWN_TEXT, unknown > 0 ? unknown : 0, "");
        if (span > 0)
            sp_put_scaled(t, CPU_PERCENT, (int64_t)sp_ratio(c->busy_ns, span, 10000), 2);
        sp_put_int(t, CPU_RUNS, (int64_t)c->switches);
    }
}
