/*
 * waits of reports that say what threads waited for, as spindump's: who is blocked, on what, held by whom,
 * and the chains these make.
 */
#include "ask/waits_reported.h"

#include "analysis/state_shares.h"

#include "base/num.h"
#include "model/go_fatal.h"
#include "model/off_cpu.h"

enum { ROWS = 22, ROWS_BRIEF = 12, CHAINS_BRIEF = 4 };

/* ---- columns ---- */

enum {
    ROW_WEIGHT,
    ROW_SHARE,
    ROW_WAITER,
    ROW_ON,
    ROW_HELD_BY,
    ROW_CHAIN,
    ROW_STATE,
    ROW_PID,
    ROW_TID,
    ROW_HOLDER_PID,
    ROW_HOLDER_TID
};
static const struct sp_answer_column waits_row_columns[] = {
    [ROW_WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .doc = "weight that waited so"},
    [ROW_SHARE] = {"percent_of_thread", SP_COL_NUMBER, "of thread", .doc = "share of its threads' weight"},
    [ROW_WAITER] = {"waiter", SP_COL_TEXT, "waiter", .flags = SP_COL_FLEXIBLE,
                    .doc = "process, its number, thread or pool"},
    [ROW_ON] = {"on", SP_COL_TEXT, "on", .flags = SP_COL_FLEXIBLE, .doc = "what is waited for"},
    [ROW_HELD_BY] = {"held_by", SP_COL_TEXT, "held by", .flags = SP_COL_FLEXIBLE,
                     .doc = "process and thread"},
    [ROW_CHAIN] = {"chain", SP_COL_TEXT, "chain",
                   .doc = "how many waits its chain has; cycle: it comes back"},
    [ROW_STATE] = {"state", SP_COL_TEXT, .doc = "the thread's state"},
    [ROW_PID] = {"pid", SP_COL_COUNT, .doc = "the waiter's process"},
    [ROW_TID] = {"tid", SP_COL_COUNT, .doc = "its thread; null: several of a pool"},
    [ROW_HOLDER_PID] = {"holder_pid", SP_COL_COUNT, .doc = "the holder's process; null: not stated"},
    [ROW_HOLDER_TID] = {"holder_tid", SP_COL_COUNT, .doc = "its thread"},
};
const struct sp_table_decl sp_waits_rows = {"rows", waits_row_columns,
                                            sizeof waits_row_columns / sizeof *waits_row_columns,
                                            .doc = "each wait with its waiter", .joined = true};

enum { WAITER_WEIGHT = WHOS, WAITER_SAMPLES, WAITER_WAITING, WAITER_FRONTMOST, WAITER_CHAIN, WAITER_CYCLE };
static const struct sp_answer_column waits_waiter_columns[] = {
    WHO_COLUMNS(0),
    [WAITER_WEIGHT] = {"weight", SP_COL_WEIGHT, .doc = "its weight, waiting or not"},
    [WAITER_SAMPLES] = {"samples", SP_COL_WEIGHT,
                        .doc = "the same where the metric counts samples; else null"},
    [WAITER_WAITING] = {"waiting", SP_COL_WEIGHT, .doc = "of it with a wait for something named"},
    [WAITER_FRONTMOST] = {"frontmost_main", SP_COL_BOOL,
                          .doc = "it is the main thread of the application in front"},
    [WAITER_CHAIN] = {"chain_length", SP_COL_COUNT, .doc = "how many waits its chain has"},
    [WAITER_CYCLE] = {"cycle", SP_COL_BOOL, .doc = "its chain comes back"},
};
const struct sp_table_decl sp_waits_waiters = {
    "waiters", waits_waiter_columns, sizeof waits_waiter_columns / sizeof *waits_waiter_columns,
    .doc =
        "threads that wait, equal ones of a pool as one; first the main thread of the application in front, "
        "then by the length of the chain and by weight"};
static const struct sp_answer_column waits_wait_columns[] = {WAIT_COLUMNS_AT(0)};
const struct sp_table_decl sp_waits_waits = {"waits", waits_wait_columns,
                                             sizeof waits_wait_columns / sizeof *waits_wait_columns,
                                             .of = "waiters", .doc = "its waits, heaviest first"};

static void say_holder(struct sp_reported *x, struct sp_buf *b, const struct sp_wait *w,
                       const char *otherwise)
{
    if (w->holder_pid == SP_ABSENT && w->holder_tid == SP_ABSENT)
        sp_buf_puts(b, otherwise);
    else
        sp_reported_say_thread(x, b, sp_pstr(x->w.profile, w->holder_name), w->holder_pid, w->holder_tid);
    if (w->among > 1)
        sp_buf_printf(b, " (of %u%s)", w->among, w->among < SP_AMONG_MOST ? "" : " or more");
}

static void say_part(struct sp_reported *x, struct sp_buf *b, int64_t v, const char *what)
{
    if (!v)
        return;
    sp_buf_puts(b, ", ");
    sp_reported_say_weight(x, b, v);
    sp_buf_puts(b, what);
}

/* Some wait for a lock, or for what is not told, and of no wait it is named who has what: rings of them
 * cannot be seen. */
static bool holders_unnamed(const struct sp_reported *x)
{
    bool locks = x->w.unexplained > x->disk || /* sample(1) states nothing of any */
                 sp_str_is(sp_pstr(x->w.profile, x->w.profile->header.source_tool), "sample");
    for (size_t i = 0; i < x->w.waits.n; i++) {
        const struct sp_wait *w = &x->w.waits.v[i];
        if (w->holder_pid != SP_ABSENT || w->holder_tid != SP_ABSENT || w->holder_name)
            return false;
        locks |= w->lock || sp_str_is(sp_pstr(x->w.profile, w->state), "BLOCKED");
    }
    return locks;
}

/* What ended the program, which the program's own runtime knows. */
static void say_fatal(struct sp_reported *x)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    bool ended = sp_go_fatal(x->a.s.profile, b);
    sp_fact_str(x->a.out, "fatal", (struct sp_str){b->len ? b->data : "", (uint32_t)b->len});
    sp_buf_clear(b);
    if (!ended)
        return;
    sp_buf_puts(b, sp_go_is_deadlock(x->a.s.profile) ? "DEADLOCK, says Go's runtime: "
                                                     : "Go's runtime ended it: ");
    sp_go_fatal(x->a.s.profile, b);
    sp_answer_line_of(x->a.out, SP_LINE_STRONG, b);
    sp_buf_clear(b);
}

static void say_sums(struct sp_reported *x, int64_t deadlocks)
{
    const struct sp_selection *s = &x->a.s;
    struct sp_buf *b = &x->a.b;
    sp_buf_clear(b);
    sp_reported_say_weight(x, b, x->w.waiting);
    sp_buf_puts(b, " of ");
    sp_reported_say_weight(x, b, x->w.weight);
    if (x->w.counts_samples) {
        sp_buf_puts(b, " samples");
    } else if (!sp_str_is(s->unit, "ns") && !sp_str_is(s->unit, "bytes")) { /* these stand with the number */
        struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name),
                      unit = s->unit.n ? s->unit : metric;
        sp_buf_ch(b, ' ');
        sp_buf_add(b, unit.p, unit.n);
    }
    sp_buf_puts(b, " waited for something named, ");
    sp_reported_say_weight(x, b, x->w.unexplained);
    sp_buf_puts(b, " for nothing named");
    if (x->disk) {
        sp_buf_puts(b, " (");
        sp_reported_say_weight(x, b, x->disk);
        sp_buf_puts(b, " of them for the disk, by functions of the kernel)");
    }
    say_part(x, b, x->w.receiving, " for messages");
    say_part(x, b, x->w.suspended, " suspended");
    say_part(x, b, x->w.idle, " of idle threads");
    if (deadlocks == SP_ABSENT)
        sp_buf_puts(b, sp_go_is_deadlock(s->profile)
                           ? "; who has the locks is not named"
                           : "; who has the locks is not named: deadlocks are not known");
    else
        sp_buf_printf(b, "; %lld deadlock%s", (long long)deadlocks, deadlocks == 1 ? "" : "s");
    sp_answer_line_buf(x->a.out, b);
    sp_buf_clear(b);
}

/* ---- tables ---- */

/* What is waited for; "sync.Mutex.Lock 0xc00001c0a0" where it is said which one. */
static struct sp_str which(const struct sp_reported *x, const struct sp_wait *w)
{
    struct sp_str on = sp_pstr(x->w.profile, w->on), text = sp_pstr(x->w.profile, w->text);
    bool more = text.n > on.n + 3 && text.n < on.n + 24 && memcmp(text.p, on.p, on.n) == 0 &&
                memcmp(text.p + on.n, " 0x", 3) == 0;
    return more ? text : on;
}

static void put_wait_row(struct sp_reported *x, struct sp_answer_table *t, const struct sp_waiter *who,
                         const struct sp_waiter_wait *wait)
{
    const struct sp_wait *w = &x->w.waits.v[wait->wait];
    const struct sp_wait_thread *thread = &x->w.threads.v[who->thread];
    const struct sp_reported_thread *f =
        who->threads > 1 ? NULL : sp_thread_info_thread(&x->w.info, thread->tid);
    struct sp_answer *a = x->a.out;
    struct sp_buf *b = &x->a.b;
    sp_table_row(a, t);
    sp_put_int(t, ROW_WEIGHT, wait->weight);
    if (wait->of)
        sp_put_scaled(t, ROW_SHARE, (int64_t)sp_ratio(wait->weight, wait->of, 10000), 2);
    sp_reported_say_waiter(x, b, who->thread, who->pool, who->threads);
    if (f && f->name) {
        struct sp_str name = sp_pstr(x->w.profile, f->name);
        sp_buf_ch(b, ' ');
        sp_buf_add(b, name.p, name.n);
    } else if (f && f->main) {
        sp_buf_puts(b, " main");
    }
    sp_put_buf(a, t, ROW_WAITER, b);
    sp_put_str(a, t, ROW_ON, which(x, w));
    say_holder(x, b, w, "");
    sp_put_buf(a, t, ROW_HELD_BY, b);
    sp_buf_printf(b, "%u%s", thread->depth, thread->cyclic ? " cycle" : "");
    sp_put_buf(a, t, ROW_CHAIN, b);
    sp_put_str(a, t, ROW_STATE, sp_pstr(x->w.profile, w->state));
    sp_put_int(t, ROW_PID, thread->pid);
    sp_put_int(t, ROW_TID, who->threads > 1 ? SP_ABSENT : thread->tid);
    sp_put_int(t, ROW_HOLDER_PID, w->holder_pid);
    sp_put_int(t, ROW_HOLDER_TID, w->holder_tid);
}

static void put_wait_rows(struct sp_reported *x)
{
    struct sp_answer_table *t = sp_answer_table(x->a.out, &sp_waits_rows);
    sp_buf_clear(&x->a.b);
    if (!t)
        return;
    if (x->w.counts_samples)
        sp_table_title(x->a.out, t, ROW_WEIGHT, "samples");
    if (x->a.q->brief)
        sp_table_title(x->a.out, t, ROW_SHARE, "% of thread");
    for (size_t i = 0; i < x->ws.list.n; i++)
        for (uint32_t k = 0; k < x->ws.list.v[i].n; k++)
            put_wait_row(x, t, &x->ws.list.v[i], &x->ws.waits.v[x->ws.list.v[i].first + k]);
    t->limit = x->limit;
}

static void put_waiters(struct sp_reported *x)
{
    struct sp_answer *a = x->a.out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_waits_waiters),
                           *waits = sp_answer_detail(a, &sp_waits_waits, t);
    for (size_t i = 0; t && waits && i < x->ws.list.n; i++) {
        const struct sp_waiter *who = &x->ws.list.v[i];
        const struct sp_wait_thread *thread = &x->w.threads.v[who->thread];
        sp_table_row(a, t);
        sp_reported_put_waiter(x, t, who->thread, who->pool, who->threads);
        sp_put_int(t, WAITER_WEIGHT, who->weight);
        if (x->w.counts_samples)
            sp_put_int(t, WAITER_SAMPLES, who->weight);
        sp_put_int(t, WAITER_WAITING, who->waiting);
        sp_put_int(t, WAITER_FRONTMOST, thread->frontmost);
        sp_put_int(t, WAITER_CHAIN, thread->depth);
        sp_put_int(t, WAITER_CYCLE, thread->cyclic);
        for (uint32_t k = who->first; k < who->first + who->n; k++) {
            const struct sp_waiter_wait *wait = &x->ws.waits.v[k];
            sp_table_row(a, waits);
            sp_reported_put_wait(x, waits, 0, &x->w.waits.v[wait->wait], wait->weight);
        }
    }
    if (t)
        t->limit = x->limit;
}

/* ---- the question ---- */

/* What is asked about, in any state unless some are named, and all of the event where filters narrow that. */
static spaa_status waits_select(struct sp_reported *x, struct sp_ask *q, struct sp_answer *out)
{
    struct sp_select_opts o,
        event = {.event = q->options->event, .metric = q->options->metric, .any_state = true};
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    o.any_state = true;
    spaa_status st = sp_asked_begin_with(q, &o, out, &x->a);
    if (st || x->a.s.kept == x->a.s.event_whole)
        return st;
    st = sp_select(q->profiles[0], &event, q->diags, &x->whole);
    x->narrowed = !st;
    return st;
}

/* A sum of nothing would say that nothing waited. */
static bool say_switches_missing(struct sp_reported *x)
{
    const struct sp_profile *p = x->a.s.profile;
    if (x->w.waiting || x->w.unexplained || x->w.receiving || x->w.suspended || x->w.idle || x->ws.chains.n ||
        !sp_sched_has(p, SP_SCHED_SWITCH) || sp_off_cpu_event(p) != SP_NONE)
        return false;
    sp_answer_line(x->a.out,
                   "cannot tell who waited, or how long: only some switches of threads were recorded");
    sp_answer_line(x->a.out, "settle it: perf record -c 1 -g -e sched:sched_switch, which takes all of them");
    return true;
}

static void waits_put(struct sp_reported *x)
{
    int64_t deadlocks = holders_unnamed(x) ? SP_ABSENT : sp_reported_deadlocks(x);
    struct sp_answer *a = x->a.out;
    sp_fact_weight(a, "waiting", x->a.measure, x->w.waiting);
    sp_fact_weight(a, "waiting_for_nothing_named", x->a.measure, x->w.unexplained);
    sp_fact_weight(a, "waiting_for_disk", x->a.measure, x->disk);
    sp_fact_weight(a, "receiving", x->a.measure, x->w.receiving);
    sp_fact_weight(a, "idle_threads", x->a.measure, x->w.idle);
    sp_fact_weight(a, "suspended", x->a.measure, x->w.suspended);
    sp_fact_count(a, "deadlocks", deadlocks);
    say_fatal(x);
    if (!say_switches_missing(x))
        say_sums(x, deadlocks);
    if (x->w.reports > 1 && sp_is_of_hangs(x->w.profile, x->a.s.event)) {
        sp_buf_printf(&x->a.b, "these are %u reports: chains are of one each, and so are steps",
                      x->w.reports);
        sp_answer_line_buf(a, &x->a.b);
        sp_buf_clear(&x->a.b);
    }
    put_wait_rows(x);
    put_waiters(x);
    sp_reported_put_chains(x);
    sp_answer_next(a, "top", NULL, "--by state --view all");
}

static spaa_status waits_answer(struct sp_reported *x, struct sp_diags *d)
{
    spaa_status st = sp_waits_of(&x->a.s, x->narrowed ? &x->whole : NULL, d, &x->w);
    if (st)
        return st;
    st = sp_waiters_of(&x->w, &x->a.s.pools, d, &x->ws);
    if (!st)
        st = sp_held_rows_of(x->narrowed ? &x->whole : &x->a.s, d, &x->held);
    if (!st)
        st = sp_asked_own(&x->a);
    if (!st && !sp_held_disk_of(&x->a.s, &x->disk))
        st = sp_nomem(d);
    if (!st)
        waits_put(x);
    sp_held_rows_free(&x->held);
    sp_waiters_free(&x->ws);
    sp_waits_free(&x->w);
    return st ? st : sp_asked_end(&x->a);
}

spaa_status sp_waits_reported(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_reported x = {.narrowed = false};
    if (!sp_ask_limit(q, q->brief ? ROWS_BRIEF : ROWS, &x.limit) ||
        !sp_ask_limit(q, q->brief ? CHAINS_BRIEF : ROWS, &x.chains))
        return SPAA_ERR_USAGE;
    spaa_status st = waits_select(&x, q, out);
    if (!st)
        st = waits_answer(&x, q->diags);
    if (x.narrowed)
        sp_selection_free(&x.whole);
    sp_asked_free(&x.a);
    return st;
}
