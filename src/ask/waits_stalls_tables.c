/* Stalls as tables. */
#include "ask/waits_stalls_parts.h"

#define EDGES_MAX  100
#define COLUMNS(x) (sizeof(x) / sizeof *(x))

#define THREAD_COLUMNS(at, prefix, whose)                                                                    \
    [at] = {prefix "comm", SP_COL_TEXT, .doc = "the command of " whose},                                     \
    [(at) + 1] = {prefix "pid", SP_COL_COUNT, .doc = "its process"},                                         \
    [(at) + 2] = {prefix "tid", SP_COL_COUNT, .doc = "its thread"}
enum { THREAD_N = 3 };

/* ---- the sets ---- */

enum {
    SET_KIND,
    SET_REASON,
    SET_EPISODES,
    SET_WAITS,
    SET_WAITERS,
    SET_THREADS,
    SET_PROCESS,
    SET_PID,
    SET_LOST,
    SET_LONGEST,
    SET_THRESHOLD,
    SET_NEXT,
    SET_CALL,
    SET_EVIDENCE,
    SET_AT_RESUME,
    SET_RING,
    SET_AT_MOST,
    SET_CONVOY,
    SET_HOLDER,
    SET_HOLDER_IN = SET_HOLDER + THREAD_N,
    SET_LET_GO_IN,
    SET_FUNCTION,
    SET_COLUMNS = SET_FUNCTION + SP_FUNCTION_NCOLUMNS
};
static const struct sp_answer_column set_columns[] = {
    [SET_KIND] =
        {"kind", SP_COL_TEXT,
         .doc = "blocked: at one place; stopped: by a signal or a debugger; no cpu: ready, but none of the "
                "process ran; not ended: locks that were waited for when the recording ended"},
    [SET_REASON] = {"reason", SP_COL_TEXT, .doc = "why they waited: lock, condition, disk, …"},
    [SET_EPISODES] = {"episodes_count", SP_COL_COUNT, .doc = "how many episodes of this place and holder"},
    [SET_WAITS] = {"waits", SP_COL_COUNT, .doc = "waits in them"},
    [SET_WAITERS] = {"threads", SP_COL_COUNT, .doc = "different threads that waited"},
    [SET_THREADS] = {"who", SP_COL_TEXT, .doc = "these in words: all 20 http-*"},
    [SET_PROCESS] = {"process", SP_COL_TEXT, .doc = "the command of the first of them"},
    [SET_PID] = {"pid", SP_COL_COUNT, .doc = "their process; null: several, or it is not recorded"},
    [SET_LOST] = {"lost_ns", SP_COL_TIME, .doc = "sum of these waits"},
    [SET_LONGEST] = {"longest_ns", SP_COL_TIME, .doc = "the longest of them"},
    [SET_THRESHOLD] = {"threshold_ns", SP_COL_TIME, .doc = "waits of the place that are as long are stalls"},
    [SET_NEXT] = {"next_longest_ns", SP_COL_TIME, .doc = "the longest wait of the place that is none"},
    [SET_CALL] = {"call", SP_COL_NAME, .doc = "the function of a library or of the kernel that waits"},
    [SET_EVIDENCE] =
        {"evidence", SP_COL_TEXT,
         .doc = "how the holder is known: woken (it woke a waiter), inferred (by elimination, if no "
                "other process shares the lock), candidates, nobody ran, signal, interrupt, device, not "
                "ended, none, any, unknown"},
    [SET_AT_RESUME] = {"only_at_resume", SP_COL_BOOL,
                       .doc = "inferred: others ran meanwhile, too, but not when the first waiter went on"},
    [SET_AT_MOST] = {"at_most", SP_COL_BOOL,
                     .doc =
                         "of waits that were not seen to end: some may have been over before, which is not "
                         "recorded; null: they had an end, or lasted to the end of the recording"},
    [SET_RING] =
        {"fits_deadlock", SP_COL_BOOL,
         .doc = "not ended: those who let go of each place before wait at another; no proof, the less where "
                "`candidates` has threads"},
    [SET_CONVOY] = {"convoy", SP_COL_BOOL,
                    .doc = "let go again and again: nobody had it for half of the episode; holder: who "
                           "had it longest"},
    THREAD_COLUMNS(SET_HOLDER, "holder.", "who held it, or woke them; null: not known"),
    [SET_HOLDER_IN] = {"holder.function", SP_COL_NAME,
                       .doc = "own function in which it left the CPU meanwhile"},
    [SET_LET_GO_IN] = {"holder.released_in", SP_COL_NAME,
                       .doc = "own function that woke the first waiter; null: its callers are not all there"},
    SP_FUNCTION_COLUMNS(SET_FUNCTION, NULL, NULL),
};
const struct sp_table_decl sp_waits_stall_sets = {
    "stalls", set_columns, COLUMNS(set_columns),
    .doc =
        "where several threads stood still at one place at once, by place and holder, most time lost first"};

/* ---- their details ---- */

enum {
    EP_AT,
    EP_RELEASED,
    EP_LENGTH,
    EP_OPEN,
    EP_WAITS,
    EP_LOST,
    EP_LONGEST,
    EP_UNSURE,
    EP_HANDOVERS,
    EP_HOLDER_FROM,
    EP_HELD,
    EP_RUNNING,
    EP_RUNNABLE,
    EP_BLOCKED,
    EP_UNKNOWN,
    EP_REASON,
    EP_HOLDER_WAITED,
    EP_EVENTS_LOST,
};
static const struct sp_answer_column episode_columns[] = {
    [EP_AT] = {"at_ns", SP_COL_TIME, .doc = "when the first wait began, from the recording's start"},
    [EP_RELEASED] = {"released_at_ns", SP_COL_TIME, .doc = "when the first of them ended"},
    [EP_LENGTH] = {"length_ns", SP_COL_TIME, .doc = "from the first wait's start to the last one's end"},
    [EP_OPEN] = {"open", SP_COL_BOOL, .doc = "it was not over at the end: its length is a lower bound"},
    [EP_WAITS] = {"waits", SP_COL_COUNT, .doc = "threads that waited"},
    [EP_LOST] = {"lost_ns", SP_COL_TIME, .doc = "sum of their waits"},
    [EP_LONGEST] = {"longest_ns", SP_COL_TIME, .doc = "the longest of them"},
    [EP_UNSURE] =
        {"waits_without_end", SP_COL_COUNT,
         .doc = "further threads that waited there; just until when is not recorded; null: not looked for"},
    [EP_HANDOVERS] = {"handovers", SP_COL_COUNT, .doc = "waiters that let the next one go on"},
    [EP_HOLDER_FROM] = {"held_from_ns", SP_COL_TIME,
                        .doc = "since when the holder had it, at the latest; null: no holder is known"},
    [EP_HELD] = {"held_ns", SP_COL_TIME, .doc = "until it let go: the sum of the next four"},
    [EP_RUNNING] = {"held_running_ns", SP_COL_TIME, .doc = "of it the holder ran"},
    [EP_RUNNABLE] = {"held_runnable_ns", SP_COL_TIME, .doc = "it waited for a CPU"},
    [EP_BLOCKED] = {"held_blocked_ns", SP_COL_TIME, .doc = "it was blocked itself"},
    [EP_UNKNOWN] = {"held_unknown_ns", SP_COL_TIME, .doc = "the recording does not say"},
    [EP_REASON] = {"held_blocked_by", SP_COL_TEXT, .doc = "most of what it was blocked by"},
    [EP_HOLDER_WAITED] = {"holder_waited_ns", SP_COL_TIME,
                          .doc = "inferred: before held_from_ns it waited there itself, and did not have it"},
    [EP_EVENTS_LOST] = {"events_lost_ns", SP_COL_TIME,
                        .doc =
                            "so long of its length events were lost: a wait may be several, and others may "
                            "have run or held it"},
};
const struct sp_table_decl sp_waits_stall_episodes = {"episodes", episode_columns, COLUMNS(episode_columns),
                                                      .of = "stalls", .doc = "the episodes, by time"};

enum { TAKER_EPISODE, TAKER_WHO, TAKER_ITS = TAKER_WHO + THREAD_N, TAKER_ALL };
static const struct sp_answer_column taker_columns[] = {
    [TAKER_EPISODE] = {"at_ns", SP_COL_TIME, .doc = "the episode"},
    THREAD_COLUMNS(TAKER_WHO, "", "who had a CPU; null: it was idle"),
    [TAKER_ITS] = {"its_cpu_ns", SP_COL_TIME, .doc = "on the CPU where the holder ran next"},
    [TAKER_ALL] = {"all_cpus_ns", SP_COL_TIME, .doc = "on all CPUs"},
};
const struct sp_table_decl sp_waits_stall_takers = {
    "cpus_went_to", taker_columns, COLUMNS(taker_columns), .of = "stalls",
    .doc = "who had the CPUs while the holder, or all of them, waited for one, in the longest episode"};

enum { HOLD_EPISODE, HOLD_WHO, HOLD_FROM = HOLD_WHO + THREAD_N, HOLD_LENGTH, HOLD_IN };
static const struct sp_answer_column hold_columns[] = {
    [HOLD_EPISODE] = {"at_ns", SP_COL_TIME, .doc = "the episode"},
    THREAD_COLUMNS(HOLD_WHO, "", "who let go of it"),
    [HOLD_FROM] = {"from_ns", SP_COL_TIME, .doc = "since when it had it, at the latest"},
    [HOLD_LENGTH] = {"length_ns", SP_COL_TIME, .doc = "until it woke the next one"},
    [HOLD_IN] = {"released_in", SP_COL_NAME, .doc = "own function in which it did; null likewise"},
};
const struct sp_table_decl sp_waits_stall_holds = {
    "holds", hold_columns, COLUMNS(hold_columns), .of = "stalls",
    .doc = "from hand to hand, in the longest episode; only with events of waking"};

enum { CANDIDATE_WHO, CANDIDATE_RUNNING = CANDIDATE_WHO + THREAD_N };
static const struct sp_answer_column candidate_columns[] = {
    THREAD_COLUMNS(CANDIDATE_WHO, "", "a thread that may have held it"),
    [CANDIDATE_RUNNING] = {"running_ns", SP_COL_TIME,
                           .doc = "how long it ran before the first waiter went on"},
};
const struct sp_table_decl sp_waits_stall_candidates = {
    "candidates", candidate_columns, COLUMNS(candidate_columns), .of = "stalls",
    .doc =
        "without events of waking: who of the process ran meanwhile without waiting, in the longest episode; "
        "of waits that did not end: who does not wait there, first those who let go there before"};

enum { LINK_WHO, LINK_REASON = LINK_WHO + THREAD_N, LINK_BLOCKED, LINK_IN, LINK_RUNNING, LINK_RUNNABLE };
static const struct sp_answer_column link_columns[] = {
    THREAD_COLUMNS(LINK_WHO, "", "a thread; the first is the holder, each next one woke the one before"),
    [LINK_REASON] = {"reason", SP_COL_TEXT, .doc = "what it was blocked by longest; null: it was not"},
    [LINK_BLOCKED] = {"blocked_ns", SP_COL_TIME, .doc = "how long so, while the one before waited"},
    [LINK_IN] = {"blocked_in", SP_COL_NAME, .doc = "own function that was"},
    [LINK_RUNNING] = {"running_ns", SP_COL_TIME, .doc = "how long it ran meanwhile"},
    [LINK_RUNNABLE] = {"runnable_ns", SP_COL_TIME, .doc = "how long it waited for a CPU meanwhile"},
};
const struct sp_table_decl sp_waits_stall_links = {
    "chain", link_columns, COLUMNS(link_columns), .of = "stalls",
    .doc = "whom the holder waited for itself, where that was a quarter of the hold, in the longest episode"};

enum { PART_WHO, PART_STATE = PART_WHO + THREAD_N, PART_REASON, PART_NS };
static const struct sp_answer_column part_columns[] = {
    THREAD_COLUMNS(PART_WHO, "", "a thread"),
    [PART_STATE] = {"state", SP_COL_TEXT, .doc = "running, runnable, blocked, unknown"},
    [PART_REASON] = {"reason", SP_COL_TEXT, .doc = "of blocked"},
    [PART_NS] = {"ns", SP_COL_TIME, .doc = "its part; all parts are the time until the first waiter went on"},
};
const struct sp_table_decl sp_waits_stall_path = {
    "critical_path", part_columns, COLUMNS(part_columns), .of = "stalls",
    .doc =
        "what the time until the first waiter went on was made of, back over who woke whom, in the longest "
        "episode"};

enum {
    EDGE_FROM,
    EDGE_TO = EDGE_FROM + THREAD_N,
    EDGE_COUNT = EDGE_TO + THREAD_N,
    EDGE_WAITED,
    EDGE_LONGEST
};
static const struct sp_answer_column edge_columns[] = {
    THREAD_COLUMNS(EDGE_FROM, "waker.", "who woke"),
    THREAD_COLUMNS(EDGE_TO, "woken.", "who waited"),
    [EDGE_COUNT] = {"count", SP_COL_COUNT, .doc = "how often"},
    [EDGE_WAITED] = {"waited_ns", SP_COL_TIME, .doc = "how long it had waited, in all"},
    [EDGE_LONGEST] = {"longest_ns", SP_COL_TIME, .doc = "the longest of these"},
};
const struct sp_table_decl sp_waits_wakes = {
    "wakes", edge_columns, COLUMNS(edge_columns),
    .doc = "who woke whom, longest waited first, the first hundred; waits for work and interrupts left out"};

/* ---- cells ---- */

static void put_thread(struct stalls *x, struct sp_answer_table *t, size_t at, uint32_t thread)
{
    const struct sp_interval_thread *i = thread == SP_NONE ? NULL : &x->v->threads.v[thread];
    if (!i || !i->tid)
        return;
    sp_put_str(x->a->out, t, at, stalls_comm(x, thread));
    sp_put_int(t, at + 1, i->pid);
    sp_put_int(t, at + 2, i->tid);
}

static void put_name(struct stalls *x, struct sp_answer_table *t, size_t at, uint32_t function)
{
    const struct sp_profile *p = x->a->s.profile;
    if (function != SP_NONE)
        sp_put_str(x->a->out, t, at, sp_pstr(p, p->functions.v[function].name));
}

static void put_word(struct stalls *x, struct sp_answer_table *t, size_t at, const char *word)
{
    sp_put_text(x->a->out, t, at, word, strlen(word));
}

static void put_set(struct stalls *x, struct sp_answer_table *t, const struct sp_stall_set *set,
                    const struct sp_stall *s)
{
    static const char *const kinds[] = {"blocked", "stopped", "no cpu", "not ended"};
    struct sp_buf *b = &x->a->b;
    uint32_t waits = 0;
    int64_t longest = 0;
    for (uint32_t k = 0; k < set->members.n; k++) {
        const struct sp_stall *m = stalls_member(x, set, k);
        waits += m->waits.n;
        longest = m->longest > longest ? m->longest : longest;
    }
    sp_table_row(x->a->out, t);
    put_word(x, t, SET_KIND, kinds[s->kind]);
    put_word(x, t, SET_REASON, sp_wait_reason_names[s->reason]);
    sp_put_int(t, SET_EPISODES, set->members.n);
    sp_put_int(t, SET_WAITS, waits);
    sp_put_int(t, SET_WAITERS, set->threads);
    sp_buf_clear(b);
    stalls_say_threads(x, b, set);
    sp_put_buf(x->a->out, t, SET_THREADS, b);
    sp_put_str(x->a->out, t, SET_PROCESS, stalls_comm(x, s->group));
    sp_put_int(t, SET_PID, s->processes ? SP_ABSENT : x->v->threads.v[s->group].pid);
    sp_put_int(t, SET_LOST, set->lost);
    sp_put_int(t, SET_LONGEST, longest);
    sp_put_int(t, SET_THRESHOLD, s->threshold);
    sp_put_int(t, SET_NEXT, s->next ? s->next : SP_ABSENT);
    put_name(x, t, SET_CALL, s->call);
    put_word(x, t, SET_EVIDENCE, sp_stall_by_names[s->by]);
    if (s->by == SP_STALL_BY_INFERRED)
        sp_put_int(t, SET_AT_RESUME, s->at_resume);
    if (s->kind == SP_STALL_OPEN)
        sp_put_int(t, SET_RING, s->ring);
    if (s->at_most)
        sp_put_int(t, SET_AT_MOST, 1);
    if (s->by == SP_STALL_BY_WOKEN && sp_wait_is_lock(s->reason))
        sp_put_int(t, SET_CONVOY, s->convoy);
    put_thread(x, t, SET_HOLDER, s->holder);
    if (s->holder != SP_NONE)
        put_name(x, t, SET_HOLDER_IN, s->split.function);
    bool gap;
    uint32_t own = stalls_own_of(x, s->waker_stack, &gap);
    put_name(x, t, SET_LET_GO_IN, gap ? SP_NONE : own);
    sp_put_function(x->a, t, SET_FUNCTION, s->function);
}

static void put_episode(struct stalls *x, struct sp_answer_table *t, const struct sp_stall *s)
{
    const struct sp_stall_split *p = &s->split;
    int64_t begin = x->zero;
    sp_table_row(x->a->out, t);
    sp_put_int(t, EP_AT, s->start - begin);
    sp_put_int(t, EP_RELEASED, s->by == SP_STALL_BY_NOT_ENDED ? SP_ABSENT : s->released - begin);
    sp_put_int(t, EP_LENGTH, s->end - s->start);
    sp_put_int(t, EP_OPEN, s->by == SP_STALL_BY_NOT_ENDED);
    sp_put_int(t, EP_WAITS, s->waits.n);
    sp_put_int(t, EP_LOST, s->lost);
    sp_put_int(t, EP_LONGEST, s->longest);
    if (s->candidates.n && s->by != SP_STALL_BY_NOT_ENDED)
        sp_put_int(t, EP_UNSURE, s->unsure);
    sp_put_int(t, EP_HANDOVERS, s->handovers);
    sp_put_int(t, EP_EVENTS_LOST, stalls_events_lost(x, s));
    if (s->holder == SP_NONE)
        return;
    sp_put_int(t, EP_HOLDER_FROM, p->from - begin);
    sp_put_int(t, EP_HELD, p->to - p->from);
    sp_put_int(t, EP_RUNNING, p->running);
    sp_put_int(t, EP_RUNNABLE, p->runnable);
    sp_put_int(t, EP_BLOCKED, p->blocked);
    sp_put_int(t, EP_UNKNOWN, p->unknown);
    if (p->blocked)
        put_word(x, t, EP_REASON, sp_wait_reason_names[stalls_blocked_by(p)]);
    if (s->holder_waited)
        sp_put_int(t, EP_HOLDER_WAITED, s->holder_waited);
}

static void put_holds(struct stalls *x, struct sp_answer_table *takers, struct sp_answer_table *holds,
                      const struct sp_stall *s)
{
    for (uint32_t k = 0; k < s->takers.n; k++) {
        const struct sp_stall_taker *i = &x->s.takers.v[s->takers.first + k];
        sp_table_row(x->a->out, takers);
        sp_put_int(takers, TAKER_EPISODE, s->start - x->zero);
        put_thread(x, takers, TAKER_WHO, i->thread);
        sp_put_int(takers, TAKER_ITS, i->its_cpu);
        sp_put_int(takers, TAKER_ALL, i->all_cpus);
    }
    for (uint32_t k = 0; k < s->holds.n; k++) {
        const struct sp_stall_hold *i = &x->s.holds.v[s->holds.first + k];
        sp_table_row(x->a->out, holds);
        sp_put_int(holds, HOLD_EPISODE, s->start - x->zero);
        put_thread(x, holds, HOLD_WHO, i->thread);
        sp_put_int(holds, HOLD_FROM, i->from - x->zero);
        sp_put_int(holds, HOLD_LENGTH, i->to - i->from);
        bool gap;
        uint32_t own = stalls_own_of(x, i->stack, &gap);
        put_name(x, holds, HOLD_IN, gap ? SP_NONE : own);
    }
}

static void put_links(struct stalls *x, struct sp_answer_table *candidates, struct sp_answer_table *links,
                      const struct sp_stall *s)
{
    for (uint32_t k = 0; k < s->candidates.n; k++) {
        const struct sp_stall_candidate *i = &x->s.candidates.v[s->candidates.first + k];
        sp_table_row(x->a->out, candidates);
        put_thread(x, candidates, CANDIDATE_WHO, i->thread);
        sp_put_int(candidates, CANDIDATE_RUNNING, i->running);
    }
    for (uint32_t k = 0; k < s->links.n; k++) {
        const struct sp_stall_link *i = &x->s.links.v[s->links.first + k];
        sp_table_row(x->a->out, links);
        put_thread(x, links, LINK_WHO, i->thread);
        sp_put_int(links, LINK_RUNNING, i->split.running);
        sp_put_int(links, LINK_RUNNABLE, i->split.runnable);
        sp_put_int(links, LINK_BLOCKED, i->split.reason[stalls_blocked_by(&i->split)]);
        if (i->interval == SP_NONE)
            continue;
        uint32_t stack = x->v->v.v[i->interval].stack;
        put_word(x, links, LINK_REASON, sp_wait_reason_names[stalls_blocked_by(&i->split)]);
        if (stack < x->why->n)
            put_name(x, links, LINK_IN, x->why->of[stack].function);
    }
}

static void put_path(struct stalls *x, struct sp_answer_table *t, const struct sp_stall *s)
{
    static const char *const states[] = {"running", "runnable", "blocked", "unknown"};
    for (uint32_t k = 0; k < s->path.n; k++) {
        const struct sp_stall_part *i = &x->s.path.v[s->path.first + k];
        sp_table_row(x->a->out, t);
        put_thread(x, t, PART_WHO, i->thread);
        put_word(x, t, PART_STATE, states[i->state]);
        if (i->state == SP_RUN_BLOCKED)
            put_word(x, t, PART_REASON, sp_wait_reason_names[i->reason]);
        sp_put_int(t, PART_NS, i->ns);
    }
}

static void put_edges(struct stalls *x)
{
    struct sp_answer_table *t = sp_answer_table(x->a->out, &sp_waits_wakes);
    for (size_t k = 0; t && k < x->s.edges.n && k < EDGES_MAX; k++) {
        const struct sp_stall_edge *e = &x->s.edges.v[k];
        sp_table_row(x->a->out, t);
        put_thread(x, t, EDGE_FROM, e->from);
        put_thread(x, t, EDGE_TO, e->to);
        sp_put_int(t, EDGE_COUNT, e->count);
        sp_put_int(t, EDGE_WAITED, e->waited);
        sp_put_int(t, EDGE_LONGEST, e->longest);
    }
    if (t)
        t->quiet = true;
}

void stalls_put(struct stalls *x)
{
    struct sp_answer *a = x->a->out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_waits_stall_sets);
    struct sp_answer_table *of[6] = {NULL};
    static const struct sp_table_decl *const details[] = {
        &sp_waits_stall_episodes,   &sp_waits_stall_takers, &sp_waits_stall_holds,
        &sp_waits_stall_candidates, &sp_waits_stall_links,  &sp_waits_stall_path};
    for (size_t i = 0; t && i < 6; i++)
        of[i] = sp_answer_detail(a, details[i], t);
    if (!t || !of[0] || !of[1] || !of[2] || !of[3] || !of[4] || !of[5])
        return;
    t->quiet = true;
    for (size_t i = 0; i < x->s.sets.n; i++) {
        const struct sp_stall_set *set = &x->s.sets.v[i];
        const struct sp_stall *s = stalls_longest(x, set);
        put_set(x, t, set, s);
        for (uint32_t k = 0; k < set->members.n; k++)
            put_episode(x, of[0], stalls_member(x, set, k));
        put_holds(x, of[1], of[2], s);
        put_links(x, of[3], of[4], s);
        put_path(x, of[5], s);
    }
    put_edges(x);
}
