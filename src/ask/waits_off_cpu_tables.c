/* waits of what was measured off the CPU: its tables. */
#include "ask/waits_parts.h"

#include "analysis/wait_rule.h"
#include "ask/said_names.h"
#include "base/num.h"

/* ---- threads and pools ---- */

enum {
    FEW = 5,
    FEW_PLACES = 5
}; /* rows of threads for people: who waited where is in the table of places, too */

enum {
    WHO_NAME,
    WHO_RUNNING_SAID,
    WHO_UNKNOWN_SAID,
    WHO_RUNNABLE_SAID,
    WHO_BLOCKED_SAID,
    WHO_IDLE_SAID,
    WHO_MAINLY,
    WHO_PID,
    WHO_TID,
    WHO_POOL,
    WHO_THREADS,
    WHO_RUNNING,
    WHO_UNKNOWN,
    WHO_RUNNABLE,
    WHO_BLOCKED,
    WHO_IDLE,
    WHO_MAYBE_IDLE,
    WHO_UNSEEN
};
#define SAID(name, title)                                                                                    \
    {                                                                                                        \
        name, SP_COL_TEXT, title, .flags = SP_COL_NO_JSON | SP_COL_RIGHT, .doc = "in words"                  \
    }
static const struct sp_answer_column waits_thread_columns[] = {
    [WHO_NAME] = {"name", SP_COL_TEXT, "threads", .flags = SP_COL_FLEXIBLE,
                  .doc = "the pool, the threads of one name, or the thread"},
    [WHO_RUNNING_SAID] = SAID("said_running", "running"),
    [WHO_UNKNOWN_SAID] = SAID("said_unknown", "ran or waited"),
    [WHO_RUNNABLE_SAID] = SAID("said_runnable", "waiting for a CPU"),
    [WHO_BLOCKED_SAID] = SAID("said_blocked", "blocked"),
    [WHO_IDLE_SAID] = SAID("said_idle", "idle"),
    [WHO_MAINLY] = {"mainly", SP_COL_TEXT, "mainly by", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
                    .doc = "the reasons of most time"},
    [WHO_PID] = {"pid", SP_COL_COUNT, .doc = "their process; null: several, or not known"},
    [WHO_TID] = {"tid", SP_COL_COUNT, .doc = "the thread; null: several"},
    SP_POOL_COLUMNS(WHO_POOL),
    [WHO_RUNNING] = {"running", SP_COL_WEIGHT, .doc = "on CPUs; null: not known"},
    [WHO_UNKNOWN] = {"unknown", SP_COL_WEIGHT,
                     .doc = "running or waiting, which of them is not recorded; in no other sum"},
    [WHO_RUNNABLE] = {"runnable", SP_COL_WEIGHT,
                      .doc = "waiting for a CPU; without events of waking only where it was put off one"},
    [WHO_BLOCKED] = {"blocked", SP_COL_WEIGHT, .doc = "waiting for something, idle waits not counted"},
    [WHO_IDLE] = {"idle", SP_COL_WEIGHT, .doc = "waiting for work"},
    [WHO_MAYBE_IDLE] = {"maybe_idle", SP_COL_WEIGHT,
                        .doc = "waiting for work by the look of it, which nothing shows; in neither"},
    [WHO_UNSEEN] = {"unseen", SP_COL_WEIGHT,
                    .doc = "blocked, and where they left the CPU was not recorded; in neither"},
};
const struct sp_table_decl sp_waits_threads = {
    "threads", waits_thread_columns, sizeof waits_thread_columns / sizeof *waits_thread_columns,
    .doc = "where the time of threads off the CPU went, pools as one; most time waiting and not idle first",
    .noun = "threads or pools"};

enum { REASON_NAME, REASON_NS, REASON_AT_LEAST, REASON_UNSURE };
static const struct sp_answer_column waits_reason_columns[] = {
    [REASON_NAME] = {"reason", SP_COL_TEXT,
                     .doc = "lock, condition, sleep, poll, disk, network, page fault, pipe, child, stopped, "
                            "lock or condition, allocator lock, waiting for a CPU, other"},
    [REASON_NS] = {"weight", SP_COL_WEIGHT, .doc = "time, idle waits not counted"},
    [REASON_AT_LEAST] = {"at_least", SP_COL_BOOL,
                         .doc = "some waits began before the recording or were not over at its end"},
    [REASON_UNSURE] = {"unsure", SP_COL_BOOL,
                       .doc = "of a twentieth or more callers are missing that would tell this reason from "
                              "others; lock or condition is never sure"},
};
const struct sp_table_decl sp_waits_reasons = {"reasons", waits_reason_columns,
                                               sizeof waits_reason_columns / sizeof *waits_reason_columns,
                                               .of = "threads", .doc = "its reasons, in order of the words"};

/* ---- places ---- */

enum {
    PLACE_SUM_SAID,
    PLACE_MOST_SAID,
    PLACE_SHARE,
    PLACE_COUNT,
    PLACE_MEAN_SAID,
    PLACE_P99_SAID,
    PLACE_LONGEST_SAID,
    PLACE_REASON_SAID,
    PLACE_WHERE,
    PLACE_WHO_SAID,
    PLACE_WHO,
    PLACE_SUM,
    PLACE_AT_LEAST,
    PLACE_UNKNOWN,
    PLACE_MEAN,
    PLACE_MEDIAN,
    PLACE_MEDIAN_AT_LEAST,
    PLACE_P99,
    PLACE_P99_AT_LEAST,
    PLACE_LONGEST,
    PLACE_LONGEST_AT_LEAST,
    PLACE_OPEN,
    PLACE_REASON,
    PLACE_UNSURE,
    PLACE_IDLE,
    PLACE_IDLE_UNSURE,
    PLACE_CALL,
    PLACE_LINE,
    PLACE_FUNCTION
};
static const struct sp_answer_column waits_place_columns[] = {
    [PLACE_SUM_SAID] = SAID("said_time", "time"),
    [PLACE_MOST_SAID] = SAID("said_most", "at most"),
    [PLACE_SHARE] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "of all waiting that is in the answer"},
    [PLACE_COUNT] = {"count", SP_COL_COUNT, "waits", .doc = "how many; null: the source does not count"},
    [PLACE_MEAN_SAID] = {"said_mean", SP_COL_TEXT, "mean",
                         .flags = SP_COL_NO_JSON | SP_COL_RIGHT | SP_COL_SPARE, .doc = "in words"},
    [PLACE_P99_SAID] = SAID("said_p99", "p99"),
    [PLACE_LONGEST_SAID] = SAID("said_longest", "longest"),
    [PLACE_REASON_SAID] = {"said_reason", SP_COL_TEXT, "for", .flags = SP_COL_NO_JSON, .doc = "the reason"},
    [PLACE_WHERE] = {"where", SP_COL_TEXT, "where", .flags = SP_COL_FLEXIBLE | SP_COL_NO_JSON,
                     .doc = "the own function and what it called"},
    [PLACE_WHO_SAID] = {"said_threads", SP_COL_TEXT, "threads", .flags = SP_COL_NO_JSON,
                        .doc = "the pool, or the name of the thread"},
    [PLACE_WHO] = {"waiter", SP_COL_TEXT, .doc = "the pool, or the thread: the name in the table of threads"},
    [PLACE_SUM] = {"weight", SP_COL_WEIGHT, .doc = "time that they waited so"},
    [PLACE_AT_LEAST] = {"at_least", SP_COL_BOOL,
                        .doc =
                            "some waits began before the recording, were not over at its end, or it is not "
                            "recorded when they were"},
    [PLACE_UNKNOWN] =
        {"unknown", SP_COL_WEIGHT,
         .doc = "besides: until when they waited is not recorded, they did or ran; where events "
                "were lost, or CPUs are not recorded, there may be waits whose beginning is not, too"},
    [PLACE_MEAN] = {"mean", SP_COL_WEIGHT,
                    .doc = "of one wait, at least where at_least is true; null: not known"},
    [PLACE_MEDIAN] = {"median", SP_COL_WEIGHT, .doc = "nearest rank; null: single waits are not known"},
    [PLACE_MEDIAN_AT_LEAST] = {"median_at_least", SP_COL_BOOL,
                               .doc = "it may be longer: some wait up to there is longer than what was seen"},
    [PLACE_P99] = {"p99", SP_COL_WEIGHT, .doc = "nearest rank, likewise"},
    [PLACE_P99_AT_LEAST] = {"p99_at_least", SP_COL_BOOL, .doc = "likewise"},
    [PLACE_LONGEST] = {"longest", SP_COL_WEIGHT, .doc = "the longest wait; null: not known"},
    [PLACE_LONGEST_AT_LEAST] = {"longest_at_least", SP_COL_BOOL,
                                .doc = "that one is longer than what was seen of it"},
    [PLACE_OPEN] = {"open", SP_COL_COUNT,
                    .doc = "of the waits, those that began before the recording or were not over at its end"},
    [PLACE_REASON] = {"reason", SP_COL_TEXT, .doc = "as in the reasons of threads"},
    [PLACE_UNSURE] = {"unsure", SP_COL_BOOL,
                      .doc = "callers are missing that would tell this reason from others"},
    [PLACE_IDLE] = {"idle", SP_COL_BOOL, .doc = "a wait for work: rows are there with --idle"},
    [PLACE_IDLE_UNSURE] =
        {"idle_unsure", SP_COL_BOOL,
         .doc = "with idle: by the look of it; who ended these waits may have worked for them"},
    [PLACE_CALL] = {"call", SP_COL_NAME,
                    .doc = "the function of a library or of the kernel that waits; null: none is known"},
    [PLACE_LINE] = {"line", SP_COL_TEXT, .doc = "file:line in the own function; null: several, or not known"},
    SP_FUNCTION_COLUMNS(PLACE_FUNCTION, NULL, NULL),
};
const struct sp_table_decl sp_waits_places = {
    "places", waits_place_columns, sizeof waits_place_columns / sizeof *waits_place_columns,
    .doc = "waits by reason, by the program's own function that waited and by thread; longest sum first",
    .noun = "places"};

/* ---- cells ---- */

static void put_duration(const struct sp_waits_asked *x, struct sp_answer_table *t, size_t column, int64_t ns,
                         bool at_least)
{
    struct sp_buf *b = &x->a->b;
    sp_buf_clear(b);
    if (ns == SP_ABSENT)
        return;
    sp_waits_duration(b, ns, at_least);
    sp_put_buf(x->a->out, t, column, b);
}

/* In CSV numbers instead of words. */
static void shape_sheet(const struct sp_waits_asked *x, struct sp_answer_table *t, const size_t (*numbers)[2],
                        size_t n)
{
    for (size_t i = 0; x->a->q->sheet && i < n; i++) {
        sp_table_title(x->a->out, t, numbers[i][1], t->decl->columns[numbers[i][1]].name);
        sp_table_title(x->a->out, t, numbers[i][0], NULL);
    }
}

/* Nanoseconds, whose whole is all the waiting that is in the answer. */
static uint32_t measure_of(const struct sp_waits_asked *x)
{
    const struct sp_off_cpu_who *all = &x->acc->all;
    struct sp_measure m = sp_measure_of(&x->a->s);
    m.scale = 0;
    m.whole = all->blocked + all->runnable + (x->idle ? all->idle + all->maybe_idle : 0);
    return sp_answer_measure(x->a->out, &m);
}

static bool any(const bool *v)
{
    bool is = false;
    for (size_t i = 0; i < SP_WAIT_REASONS; i++)
        is |= i != SP_WAIT_CPU && v[i];
    return is;
}

/* "lock 6.00 s, sleep 34.0 ms": the three heaviest. */
static void put_mainly(const struct sp_waits_asked *x, struct sp_answer_table *t,
                       const struct sp_off_cpu_who *w)
{
    struct sp_buf *b = &x->a->b;
    bool said[SP_WAIT_REASONS] = {false};
    sp_buf_clear(b);
    for (size_t k = 0; k < 3; k++) {
        size_t best = SP_WAIT_REASONS;
        for (size_t i = 0; i < SP_WAIT_REASONS; i++)
            if (i != SP_WAIT_CPU && !said[i] && w->by[i] > 0 &&
                (best == SP_WAIT_REASONS || w->by[i] > w->by[best]))
                best = i;
        if (best == SP_WAIT_REASONS || w->by[best] * 20 < w->blocked)
            break;
        said[best] = true;
        sp_buf_printf(b, "%s%s%s ", k ? ", " : "", sp_wait_reason_names[best],
                      sp_off_cpu_unsure(w, (unsigned)best) ? "?" : "");
        sp_waits_duration(b, w->by[best], w->at_least[best]);
    }
    sp_put_buf(x->a->out, t, WHO_MAINLY, b);
}

static void put_who(const struct sp_waits_asked *x, struct sp_answer_table *t,
                    struct sp_answer_table *reasons, const struct sp_off_cpu_who *w)
{
    struct sp_answer *a = x->a->out;
    sp_table_row(a, t);
    sp_put_str(a, t, WHO_NAME, sp_str_at(&x->acc->names, w->name));
    put_duration(x, t, WHO_RUNNING_SAID, w->running, w->running_at_least);
    put_duration(x, t, WHO_UNKNOWN_SAID, w->unknown, false);
    put_duration(x, t, WHO_RUNNABLE_SAID, w->runnable, w->at_least[SP_WAIT_CPU]);
    put_duration(x, t, WHO_BLOCKED_SAID, w->blocked, any(w->at_least));
    put_duration(x, t, WHO_IDLE_SAID, w->idle + w->maybe_idle, w->idle_at_least || w->maybe_idle_at_least);
    put_mainly(x, t, w);
    sp_put_int(t, WHO_PID, w->pid);
    sp_put_int(t, WHO_TID, w->tid);
    sp_put_pool(x->a, t, WHO_POOL, w->pool);
    if (!w->pool)
        sp_put_int(t, WHO_THREADS, w->threads);
    sp_put_int(t, WHO_RUNNING, w->running);
    sp_put_int(t, WHO_UNKNOWN, w->running == SP_ABSENT ? SP_ABSENT : w->unknown);
    sp_put_int(t, WHO_RUNNABLE, x->acc->has_runnable ? w->runnable : SP_ABSENT);
    sp_put_int(t, WHO_BLOCKED, w->blocked);
    sp_put_int(t, WHO_IDLE, w->idle);
    sp_put_int(t, WHO_MAYBE_IDLE, w->maybe_idle);
    sp_put_int(t, WHO_UNSEEN, w->unseen);
    for (size_t i = 0; i < SP_WAIT_REASONS; i++) {
        if (!w->by[i])
            continue;
        sp_table_row(a, reasons);
        sp_put_text(a, reasons, REASON_NAME, sp_wait_reason_names[i], strlen(sp_wait_reason_names[i]));
        sp_put_int(reasons, REASON_NS, w->by[i]);
        sp_put_int(reasons, REASON_AT_LEAST, w->at_least[i]);
        sp_put_int(reasons, REASON_UNSURE, i == SP_WAIT_FUTEX || sp_off_cpu_unsure(w, (unsigned)i));
    }
}

/* As `sched` has them: threads that were not there in the range of time, or did nothing that was asked for.
 */
static bool is_nothing(const struct sp_waits_asked *x, const struct sp_off_cpu_who *w)
{
    bool none = w->running <= 0 && !w->unknown && !w->runnable && !w->blocked && !w->idle && !w->maybe_idle;
    return x->acc->has_intervals && none && (!w->unseen || !w->seen);
}

/* To people, threads that did nothing but be idle are not worth a row, nor is what is below a thousandth. */
static bool is_shown(const struct sp_waits_asked *x, const struct sp_off_cpu_who *w)
{
    const struct sp_off_cpu_who *all = &x->acc->all;
    int64_t waited = w->blocked + w->runnable + (x->idle ? w->idle + w->maybe_idle : 0),
            whole = all->blocked + all->runnable + (x->idle ? all->idle + all->maybe_idle : 0);
    return !x->a->q->brief || waited * 1000 >= whole;
}

static void put_threads(const struct sp_waits_asked *x)
{
    struct sp_answer *a = x->a->out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_waits_threads),
                           *reasons = sp_answer_detail(a, &sp_waits_reasons, t);
    if (!t || !reasons)
        return;
    if (!x->idle)
        sp_table_title(a, t, WHO_IDLE_SAID, NULL);
    if (!x->acc->has_runnable)
        sp_table_title(a, t, WHO_RUNNABLE_SAID, NULL);
    if (!sp_waits_much_unknown(x->acc))
        sp_table_title(a, t, WHO_UNKNOWN_SAID, NULL);
    if (!x->acc->has_intervals || x->acc->only_stacks)
        sp_table_title(a, t, WHO_RUNNING_SAID, NULL);
    static const size_t numbers[][2] = {{WHO_RUNNING_SAID, WHO_RUNNING},
                                        {WHO_UNKNOWN_SAID, WHO_UNKNOWN},
                                        {WHO_RUNNABLE_SAID, WHO_RUNNABLE},
                                        {WHO_BLOCKED_SAID, WHO_BLOCKED},
                                        {WHO_IDLE_SAID, WHO_IDLE}};
    shape_sheet(x, t, numbers, sizeof numbers / sizeof *numbers);
    if (!x->why->has_callers)
        sp_table_title(a, t, WHO_MAINLY, NULL);
    for (int stalled = 1; stalled >= 0; stalled--)
        for (size_t i = 0; i < x->acc->who.n; i++)
            if (x->stalled[i] == stalled && !is_nothing(x, &x->acc->who.v[i]) &&
                is_shown(x, &x->acc->who.v[i]))
                put_who(x, t, reasons, &x->acc->who.v[i]);
    t->limit = x->a->q->brief && !x->a->q->options->limit ? FEW - (size_t)x->stalls : x->limit;
    t->quiet = !x->acc->knows_threads || x->bytes < SP_WAITS_LITTLE;
    t->keep = 2;
}

/* To people, without the marks of the C library's own names. */
static void say_call(const struct sp_waits_asked *x, struct sp_buf *b, const struct sp_said_names *names,
                     uint32_t call)
{
    const struct sp_profile *p = x->a->s.profile;
    const struct sp_function *f = &p->functions.v[call];
    struct sp_str whole = sp_pstr(p, f->name);
    struct sp_buf scratch;
    sp_buf_init(&scratch, 0);
    struct sp_str said = sp_wait_call_name(whole, p->dsos.v[f->dso].is_kernel, &scratch);
    bool plain = said.n && !memchr(said.p, ':', said.n) && !memchr(said.p, '.', said.n) && said.n != whole.n;
    if (plain)
        sp_buf_add(b, said.p, said.n);
    else
        sp_said_text(b, names, x->a, call);
    x->a->out->failed |= scratch.nomem;
    sp_buf_free(&scratch);
}

/* "handle srv.cpp:23 > pthread_mutex_lock", with "…" where callers between are missing. */
static void say_where(const struct sp_waits_asked *x, struct sp_buf *b, const struct sp_said_names *names,
                      const struct sp_wait_why *why)
{
    const struct sp_profile *p = x->a->s.profile;
    if (why->function != SP_NONE)
        sp_said_text(b, names, x->a, why->function);
    struct sp_str line =
        why->frame == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->frames.v[why->frame].srcline);
    if (line.n) {
        const char *slash = memrchr(line.p, '/', line.n), *from = slash ? slash + 1 : line.p;
        sp_buf_ch(b, ' ');
        sp_buf_add(b, from, (size_t)(line.p + line.n - from));
    }
    if (why->call == SP_NONE)
        return;
    sp_buf_puts(b, why->function == SP_NONE ? "" : why->gap ? " > … > " : " > ");
    say_call(x, b, names, why->call);
}

static void put_reason(const struct sp_waits_asked *x, struct sp_answer_table *t,
                       const struct sp_wait_why *why)
{
    struct sp_buf *b = &x->a->b;
    const char *name = sp_wait_reason_names[why->reason];
    sp_put_text(x->a->out, t, PLACE_REASON, name, strlen(name));
    sp_buf_clear(b);
    bool futex = why->reason == SP_WAIT_FUTEX, says = why->unsure && !futex;
    sp_buf_printf(b, "%s%s%s",
                  why->reason == SP_WAIT_CPU ? "a CPU"
                  : futex                    ? "futex"
                                             : name,
                  says ? "?" : "",
                  !why->idle         ? ""
                  : why->idle_unsure ? " (idle?)"
                                     : " (idle)");
    sp_put_buf(x->a->out, t, PLACE_REASON_SAID, b);
}

static void put_place(const struct sp_waits_asked *x, struct sp_answer_table *t,
                      const struct sp_said_names *names, const struct sp_off_cpu_place *o, uint32_t measure)
{
    const struct sp_profile *p = x->a->s.profile;
    struct sp_answer *a = x->a->out;
    struct sp_buf *b = &x->a->b;
    int64_t mean = o->count > 0 ? o->ns / o->count : SP_ABSENT;
    sp_table_row(a, t);
    sp_table_row_measure(a, t, measure);
    put_duration(x, t, PLACE_SUM_SAID, o->ns, o->at_least || o->more);
    sp_put_int(t, PLACE_COUNT, o->count);
    if (o->unknown)
        put_duration(x, t, PLACE_MOST_SAID, o->ns + o->unknown, false);
    put_duration(x, t, PLACE_MEAN_SAID, mean, o->at_least);
    put_duration(x, t, PLACE_P99_SAID, o->p99, o->p99_at_least);
    put_duration(x, t, PLACE_LONGEST_SAID, o->longest, o->longest_at_least || o->more);
    put_reason(x, t, &o->why);
    say_where(x, b, names, &o->why);
    sp_put_buf(a, t, PLACE_WHERE, b);
    struct sp_str who = sp_str_at(&x->acc->names, x->acc->who.v[o->who].name), shown = who;
    const char *tid = memmem(who.p, who.n, " (tid ", 6);
    if (tid)
        shown.n = (uint32_t)(tid - who.p);
    sp_put_str(a, t, PLACE_WHO_SAID, shown);
    sp_put_str(a, t, PLACE_WHO, sp_str_at(&x->acc->names, x->acc->who.v[o->who].name));
    sp_put_int(t, PLACE_SUM, o->ns);
    sp_put_int(t, PLACE_AT_LEAST, o->at_least || o->more);
    sp_put_int(t, PLACE_UNKNOWN, x->acc->has_intervals ? o->unknown : SP_ABSENT);
    sp_put_int(t, PLACE_MEAN, mean);
    sp_put_int(t, PLACE_MEDIAN, o->median);
    sp_put_int(t, PLACE_MEDIAN_AT_LEAST, o->median_at_least);
    sp_put_int(t, PLACE_P99, o->p99);
    sp_put_int(t, PLACE_P99_AT_LEAST, o->p99_at_least);
    sp_put_int(t, PLACE_LONGEST, o->longest);
    sp_put_int(t, PLACE_LONGEST_AT_LEAST, o->longest_at_least || o->more);
    sp_put_int(t, PLACE_OPEN, x->acc->has_intervals ? o->open : SP_ABSENT);
    sp_put_int(t, PLACE_UNSURE, o->why.unsure);
    sp_put_int(t, PLACE_IDLE, o->why.idle);
    sp_put_int(t, PLACE_IDLE_UNSURE, o->why.idle_unsure);
    if (o->why.call != SP_NONE)
        sp_put_str(a, t, PLACE_CALL, sp_pstr(p, p->functions.v[o->why.call].name));
    if (o->why.frame != SP_NONE)
        sp_put_str(a, t, PLACE_LINE, sp_pstr(p, p->frames.v[o->why.frame].srcline));
    sp_put_function(x->a, t, PLACE_FUNCTION, o->why.function);
}

static bool is_asked(const struct sp_waits_asked *x, const struct sp_off_cpu_place *o)
{
    return x->idle || !o->why.idle;
}

static spaa_status put_places(const struct sp_waits_asked *x, struct sp_said_names *names)
{
    bool ok = true;
    for (size_t i = 0; ok && i < x->acc->places.n; i++)
        if (is_asked(x, &x->acc->places.v[i]))
            ok = sp_said_add(names, x->acc->places.v[i].why.function) &&
                 sp_said_add(names, x->acc->places.v[i].why.call);
    spaa_status st = ok ? sp_said_shorten(names, x->a) : sp_nomem(x->a->q->diags);
    if (st)
        return st;
    struct sp_answer_table *t = sp_answer_table(x->a->out, &sp_waits_places);
    if (!t)
        return SPAA_OK;
    uint32_t measure = measure_of(x);
    if (!x->acc->has_intervals)
        sp_table_title(x->a->out, t, PLACE_P99_SAID, NULL);
    static const size_t numbers[][2] = {
        {PLACE_SUM_SAID, PLACE_SUM},         {PLACE_MEAN_SAID, PLACE_MEAN},     {PLACE_P99_SAID, PLACE_P99},
        {PLACE_LONGEST_SAID, PLACE_LONGEST}, {PLACE_REASON_SAID, PLACE_REASON}, {PLACE_WHO_SAID, PLACE_WHO}};
    shape_sheet(x, t, numbers, sizeof numbers / sizeof *numbers);
    bool longest = false, unknown = false;
    for (size_t i = 0; i < x->acc->places.n; i++) {
        longest |= x->acc->places.v[i].longest != SP_ABSENT;
        unknown |= x->acc->places.v[i].unknown && is_asked(x, &x->acc->places.v[i]);
    }
    /* Waits that began unseen, where events were lost or on CPUs that were not recorded, may be of any row.
     */
    if (!unknown || x->a->q->sheet || x->acc->lost || x->acc->some_cpus)
        sp_table_title(x->a->out, t, PLACE_MOST_SAID, NULL);
    if (!longest)
        sp_table_title(x->a->out, t, PLACE_LONGEST_SAID, NULL);
    if (!x->why->has_callers)
        sp_table_title(x->a->out, t, PLACE_WHERE, NULL);
    if (!x->acc->knows_threads)
        sp_table_title(x->a->out, t, PLACE_WHO_SAID, NULL);
    if (x->holders && !x->a->q->sheet)
        sp_table_title(x->a->out, t, PLACE_SUM_SAID, "held up others for");
    for (int stalled = 1; stalled >= 0; stalled--)
        for (size_t i = 0; i < x->acc->places.n; i++)
            if (is_asked(x, &x->acc->places.v[i]) && x->stalled[x->acc->places.v[i].who] == stalled)
                put_place(x, t, names, &x->acc->places.v[i], measure);
    t->limit = x->a->q->brief && x->stalls && !x->a->q->options->limit ? FEW_PLACES : x->limit;
    t->keep = 1;
    return SPAA_OK;
}

spaa_status sp_waits_put_tables(const struct sp_waits_asked *x)
{
    struct sp_said_names names = {0};
    put_threads(x);
    spaa_status st = put_places(x, &names);
    sp_said_free(&names);
    return st;
}
