/*
 * The event `wall`. Weights of a thread's stacks w[i], with the sum W, become the parts of the R nanoseconds
 * that it ran: w[i] * R / W, rounded down, and what is missing of R goes to the largest remainders, equal
 * ones in the order of the stacks.
 */
#include "model/wall.h"

#include "model/intervals.h"
#include "model/off_cpu.h"
#include "model/samples.h"

#include <stdlib.h>
#include <string.h>

/* A stack on the CPU: what it weighs, and which part of its thread's time that is. */
struct part {
    unsigned __int128 rest; /* of the division */
    int64_t tid, weight, ns;
    uint32_t stack;
};

struct ran {
    int64_t tid, ns;
    int64_t unknown; /* besides: it ran, or waited */
    uint32_t thread; /* in the intervals */
    bool sampled;
};

struct wall {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_intervals v;
    uint32_t event, metric, layout;
    uint32_t state, waiting; /* of running; of time off the CPU where none is stated */
    uint32_t cpu, off;
    uint32_t unsampled, unknown; /* the frames; SP_NONE until they are needed */
    uint32_t unknown_state;
    bool clock; /* weights of the CPU's event are nanoseconds */
    SP_VEC(struct part) parts;
    SP_VEC(struct ran) ran; /* threads whose running time is known, by tid */
    uint32_t *stack_of;     /* of a stack of the profile as it was: 1 + that of wall; 0: none */
    int64_t *part_of;       /* of a stack on the CPU: its nanoseconds */
    size_t nstacks;
    int64_t lost; /* weight of threads whose running time is not known, of an event that is no clock */
};

/* ---- what is refused ---- */

static spaa_status wall_refuse(struct sp_diags *d, const char *hint, const char *what)
{
    sp_emit_hint(d, SP_E036, SP_AT_NOTHING, hint, "%s", what);
    return SPAA_ERR_USAGE;
}

static spaa_status wall_check(const struct wall *w)
{
    static const char record[] = "record both: perf record -a -g -e cpu-clock -e sched:sched_switch";
    bool known = w->ran.n > 0;
    if (w->off == SP_NONE && !known)
        return wall_refuse(w->d, record, "it says nothing of time off the CPU, so there is no event wall");
    if (w->cpu == SP_NONE && !known)
        return wall_refuse(w->d, record, "it says nothing of time on the CPU, so there is no event wall");
    if (!w->clock && !known)
        return wall_refuse(w->d, "record a clock: -e cpu-clock; or switches too: -e sched:sched_switch",
                           "time off the CPU is in ns and work on it in cycles, which do not add up, and how "
                           "long threads ran was not recorded: there is no event wall");
    for (size_t i = 0; known && i < w->p->contexts.n; i++)
        if (w->p->contexts.v[i].event == w->cpu && w->p->contexts.v[i].tid == SP_ABSENT)
            return wall_refuse(w->d,
                               "read the recording itself, or convert it with --group-by pid,tid,comm,state",
                               "its stacks are not told apart by thread, so there is no event wall");
    return SPAA_OK;
}

/* ---- stacks of the event ---- */

static bool wall_begin(struct wall *w)
{
    struct sp_profile *p = w->p;
    struct sp_event e = {.name = sp_profile_cstr(p, SP_WALL_EVENT),
                         .kind = SP_SOFTWARE,
                         .mode = SP_EVENT,
                         .unit = sp_profile_cstr(p, "ns")};
    w->state = sp_profile_cstr(p, SP_WALL_RUNNING);
    w->waiting = sp_profile_cstr(p, SP_WALL_WAITING);
    w->unknown_state = sp_profile_cstr(p, sp_task_state_name(SP_TASK_UNKNOWN));
    w->metric = sp_metric_intern(p, SP_WALL_NS, strlen(SP_WALL_NS));
    if (e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || w->state == SP_STR_FAIL ||
        w->waiting == SP_STR_FAIL || w->unknown_state == SP_STR_FAIL || w->metric == SP_NONE)
        return false;
    const struct sp_weight_field field = {.metric = w->metric, .unit = e.unit};
    w->layout = sp_layout_intern(p, &field, 1);
    e.primary = w->metric;
    w->event = w->layout == SP_NONE ? SP_NONE : sp_event_add(p, &e);
    p->off_cpu_stateless = p->off_cpu_stateless || !(p->header.group_by & SP_BY_STATE);
    p->header.group_by |= SP_BY_STATE;
    return w->event != SP_NONE;
}

static uint32_t wall_context(struct wall *w, const struct sp_context *of, uint32_t state)
{
    struct sp_context c = *of;
    c.event = w->event;
    c.state = state;
    c.extra_json = SP_STR_NONE;
    return sp_context_intern(w->p, &c);
}

/* Adds to the stack of these frames, leaf first: its number, or SP_NONE when memory is out. */
static uint32_t wall_put(struct wall *w, const uint32_t *frames, size_t n, uint32_t context, uint32_t edges,
                         enum sp_stack_type type, int64_t ns)
{
    bool is_new;
    uint32_t made =
        context == SP_NONE ? SP_NONE : sp_stack_intern_edges(w->p, frames, n, context, type, edges, &is_new);
    if (made == SP_NONE)
        return SP_NONE;
    sp_stack_set_layout(w->p, made, w->layout);
    return sp_weight_add(w->p, made, w->metric, ns) ? made : SP_NONE;
}

/* The same frames as those of a stack, and of the kernel's one that was observed with it. */
static bool wall_copy(struct wall *w, uint32_t stack, uint32_t state, int64_t ns)
{
    struct sp_profile *p = w->p;
    const struct sp_stack s = p->stacks.v[stack];
    uint32_t kernel = s.type == SP_USER_STACK ? sp_stack_linked(p, stack) : SP_NONE;
    size_t above = kernel == SP_NONE ? 0 : p->stacks.v[kernel].n;
    uint32_t *frames = malloc((above + s.n + 1) * sizeof *frames); /* the profile's may move */
    if (!frames)
        return false;
    if (above)
        memcpy(frames, sp_stack_frames(p, kernel), above * sizeof *frames);
    if (s.n)
        memcpy(frames + above, sp_stack_frames(p, stack), s.n * sizeof *frames);
    uint32_t context = wall_context(w, &p->contexts.v[s.context], state);
    uint32_t made = wall_put(w, frames, above + s.n, context, above ? 0 : s.edges,
                             kernel == SP_NONE ? (enum sp_stack_type)s.type : SP_UNIFIED, ns);
    free(frames);
    if (made == SP_NONE)
        return false;
    w->stack_of[stack] = made + 1;
    w->part_of[stack] = ns;
    return true;
}

/* ---- on the CPU ---- */

static int wall_cmp_ran(const void *va, const void *vb)
{
    const struct ran *a = va, *b = vb;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* How long threads ran, as far as the scheduler's events say it. */
static bool wall_find_ran(struct wall *w)
{
    for (uint32_t i = 0; i < w->v.threads.n; i++) {
        const struct sp_interval_thread *t = &w->v.threads.v[i];
        struct ran r = {.tid = t->tid, .unknown = t->maybe_ns, .thread = i};
        for (uint32_t k = t->first; t->tid && k < t->first + t->n; k++) {
            const struct sp_interval *x = &w->v.v.v[k];
            r.ns += x->state == SP_RUN_RUNNING ? x->until - x->start : 0;
            r.unknown += x->end - x->until;
        }
        if ((r.ns > 0 || r.unknown > 0) && !sp_vec_push(&w->ran, r))
            return false;
    }
    if (w->ran.n)
        qsort(w->ran.v, w->ran.n, sizeof *w->ran.v, wall_cmp_ran);
    return true;
}

/* CPUs cannot have run more than all the while: else switches are missing that say when threads left. */
static void wall_check_sum(const struct wall *w)
{
    __int128 ran = 0, most = (__int128)(w->v.end - w->v.begin) * w->v.cpus;
    for (size_t i = 0; i < w->ran.n; i++)
        ran += w->ran.v[i].ns;
    if (ran > most)
        sp_emit_hint(w->d, SP_W618, SP_AT_NOTHING,
                     "its time on the CPU is at most what wall says; record anew",
                     "threads ran %lld ns in sum, which %u CPUs cannot in %lld ns: switches are missing",
                     (long long)ran, w->v.cpus, (long long)(w->v.end - w->v.begin));
}

static struct ran *wall_ran(struct wall *w, int64_t tid)
{
    const struct ran key = {.tid = tid};
    return w->ran.n ? bsearch(&key, w->ran.v, w->ran.n, sizeof key, wall_cmp_ran) : NULL;
}

/* The kernel's side of an observation counts with the user's. */
static bool wall_counts(const struct sp_profile *p, uint32_t stack)
{
    return p->stacks.v[stack].type != SP_KERNEL_STACK || sp_stack_linked(p, stack) == SP_NONE;
}

static bool wall_find_parts(struct wall *w)
{
    const struct sp_profile *p = w->p;
    for (uint32_t i = 0; w->cpu != SP_NONE && i < w->nstacks; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        struct part x = {.stack = i, .tid = c->tid, .weight = sp_weight(p, i, p->events.v[w->cpu].primary)};
        if (c->event == w->cpu && x.weight > 0 && c->tid != 0 && wall_counts(p, i) &&
            !sp_vec_push(&w->parts, x))
            return false;
    }
    return true;
}

static int wall_cmp_tid(const void *va, const void *vb)
{
    const struct part *a = va, *b = vb;
    return a->tid != b->tid ? (a->tid > b->tid) - (a->tid < b->tid)
                            : (a->stack > b->stack) - (a->stack < b->stack);
}

static int wall_cmp_rest(const void *va, const void *vb)
{
    const struct part *a = va, *b = vb;
    return a->rest != b->rest ? (a->rest < b->rest) - (a->rest > b->rest)
                              : (a->stack > b->stack) - (a->stack < b->stack);
}

/* Divides what a thread ran among its stacks. */
static void wall_divide(struct part *v, size_t n, int64_t ns)
{
    unsigned __int128 sum = 0;
    int64_t left = ns;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)v[i].weight;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 x = (unsigned __int128)(uint64_t)v[i].weight * (uint64_t)ns;
        v[i].ns = (int64_t)(x / sum);
        v[i].rest = x % sum;
        left -= v[i].ns;
    }
    qsort(v, n, sizeof *v, wall_cmp_rest);
    for (size_t i = 0; left > 0 && n; i = (i + 1) % n, left--)
        v[i].ns++;
}

/* How much of the time that is not known was running: as much as samples of a clock tell, if there is room.
 */
static void wall_judge_unknown(const struct wall *w, struct ran *r, const struct part *v, size_t n)
{
    __int128 sum = 0;
    for (size_t i = 0; w->clock && i < n; i++)
        sum += v[i].weight;
    int64_t more = sum <= r->ns ? 0 : sum - r->ns < r->unknown ? (int64_t)(sum - r->ns) : r->unknown;
    r->ns += more;
    r->unknown -= more;
}

static bool wall_add_running(struct wall *w)
{
    if (w->parts.n)
        qsort(w->parts.v, w->parts.n, sizeof *w->parts.v, wall_cmp_tid);
    for (size_t from = 0, to; from < w->parts.n; from = to) {
        struct part *v = w->parts.v;
        for (to = from; to < w->parts.n && v[to].tid == v[from].tid; to++)
            v[to].ns = w->clock ? v[to].weight : 0;
        struct ran *r = wall_ran(w, v[from].tid);
        if (r) {
            wall_judge_unknown(w, r, v + from, to - from);
            r->sampled = true;
            wall_divide(v + from, to - from, r->ns);
        }
        for (size_t i = from; i < to; i++)
            if (!r && !w->clock)
                w->lost += v[i].weight;
            else if (!wall_copy(w, v[i].stack, w->state, v[i].ns))
                return false;
    }
    return true;
}

/* ---- ran, and was not sampled ---- */

static uint32_t wall_frame(struct sp_profile *p, const char *text)
{
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    uint32_t name = sp_profile_cstr(p, text);
    uint32_t number = dso.name == SP_STR_FAIL || name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &dso);
    struct sp_frame f = {.kind = SP_UNKNOWN};
    f.function = number == SP_NONE ? SP_NONE : sp_function_known(p, name, number, 0);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
}

static bool wall_add_row(struct wall *w, struct sp_sample row, uint32_t stack, int64_t ns)
{
    row.event = w->event;
    row.stack = stack;
    row.period = ns;
    row.period_text = row.context = row.more = 0;
    row.flags &= SP_SAMPLE_TIME | SP_SAMPLE_LASTED;
    return sp_samples_add(w->p->samples, &row) == SPAA_OK;
}

/* What an interval has of a thread's running, or of what it did when that is not known. */
static int64_t wall_part(const struct sp_interval *i, bool running)
{
    return !running ? i->end - i->until : i->state == SP_RUN_RUNNING ? i->until - i->start : 0;
}

/* Raw samples of the intervals, and of what was before the first, with their parts of a stack's nanoseconds.
 */
static bool wall_add_parts(struct wall *w, const struct sp_interval_thread *t, bool running, uint32_t stack,
                           int64_t ns)
{
    __int128 whole = running ? 0 : t->maybe_ns, done = 0, after = whole;
    for (uint32_t k = 0; k < t->n; k++)
        whole += wall_part(&w->v.v.v[t->first + k], running);
    for (uint32_t k = 0; whole && k <= t->n; k++) {
        const struct sp_interval *i = k ? &w->v.v.v[t->first + k - 1] : NULL;
        after += i ? wall_part(i, running) : 0;
        const struct sp_sample row = {.time = !i        ? w->v.v.v[t->first].start
                                              : running ? i->until
                                                        : i->end,
                                      .pid = t->pid,
                                      .tid = t->tid,
                                      .cpu = i && running ? i->cpu : SP_ABSENT,
                                      .flags = SP_SAMPLE_TIME | SP_SAMPLE_LASTED};
        int64_t part = (int64_t)(after * ns / whole) - (int64_t)(done * ns / whole);
        done = after;
        if (part > 0 && !wall_add_row(w, row, stack, part))
            return false;
    }
    return true;
}

/* Of a thread what one frame stands for: its running, or what it did when that is not known. */
static bool wall_add_frame(struct wall *w, const struct ran *r, bool running)
{
    struct sp_profile *p = w->p;
    const struct sp_interval_thread *t = &w->v.threads.v[r->thread];
    uint32_t *frame = running ? &w->unsampled : &w->unknown;
    int64_t ns = running ? r->ns : r->unknown;
    unsigned by = p->header.group_by;
    const struct sp_context none = {.pid = by & SP_BY_PID ? t->pid : SP_ABSENT,
                                    .tid = by & SP_BY_TID ? t->tid : SP_ABSENT,
                                    .cpu = SP_ABSENT,
                                    .comm = by & SP_BY_COMM ? t->comm : SP_STR_NONE};
    if (*frame == SP_NONE &&
        (*frame = wall_frame(p, running ? SP_WALL_UNSAMPLED : SP_WALL_UNKNOWN)) == SP_NONE)
        return false;
    uint32_t context = wall_context(w, &none, running ? w->state : w->unknown_state),
             made = wall_put(w, frame, 1, context, 0, SP_UNIFIED, ns);
    return made != SP_NONE && (!p->samples || wall_add_parts(w, t, running, made, ns));
}

/* ---- off the CPU, and raw samples ---- */

static bool wall_add_waiting(struct wall *w)
{
    struct sp_profile *p = w->p;
    for (uint32_t i = 0; w->off != SP_NONE && i < w->nstacks; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        int64_t ns = sp_weight(p, i, p->events.v[w->off].primary);
        uint32_t state = c->state ? c->state : w->waiting;
        if (c->event == w->off && ns > 0 && wall_counts(p, i) && !wall_copy(w, i, state, ns))
            return false;
    }
    return true;
}

/* Samples of what wall is made of, again: each with its part of its stack's nanoseconds. */
static spaa_status wall_add_rows(struct wall *w)
{
    struct sp_profile *p = w->p;
    struct sp_sample *lent = NULL;
    size_t n = 0;
    spaa_status st = p->samples ? sp_samples_rows(p->samples, &lent, &n) : SPAA_OK;
    SP_VEC(struct sp_sample) rows = {0};
    __int128 *done = n ? calloc(w->nstacks + 1, sizeof *done) : NULL;
    bool ok = !n || done;
    for (size_t i = 0; ok && !st && i < n; i++)
        if ((lent[i].event == w->cpu || lent[i].event == w->off) && lent[i].stack < w->nstacks &&
            w->stack_of[lent[i].stack] && lent[i].period > 0)
            ok = sp_vec_push(&rows, lent[i]);
    for (size_t i = 0; ok && !st && i < rows.n; i++) {
        struct sp_sample *x = &rows.v[i];
        uint32_t primary = p->events.v[x->event].primary;
        int64_t whole = sp_weight(p, x->stack, primary), ns = w->part_of[x->stack];
        __int128 before = done[x->stack], after = before + x->period;
        after = after > whole ? whole : after;
        done[x->stack] = after;
        x->flags |= x->event == w->off ? SP_SAMPLE_LASTED : 0;
        ok = wall_add_row(w, *x, w->stack_of[x->stack] - 1,
                          (int64_t)(after * ns / whole) - (int64_t)(before * ns / whole));
    }
    sp_vec_free(&rows);
    free(done);
    return st ? st : ok ? SPAA_OK : sp_nomem(w->d);
}

static spaa_status wall_fill(struct wall *w)
{
    w->nstacks = w->p->stacks.n;
    w->stack_of = calloc(w->nstacks + 1, sizeof *w->stack_of);
    w->part_of = calloc(w->nstacks + 1, sizeof *w->part_of);
    bool ok = w->stack_of && w->part_of && wall_begin(w) && wall_find_parts(w) && wall_add_running(w) &&
              wall_add_waiting(w);
    spaa_status st = ok ? wall_add_rows(w) : sp_nomem(w->d);
    for (size_t i = 0; !st && i < w->ran.n; i++) {
        const struct ran *r = &w->ran.v[i];
        ok = (r->sampled || !r->ns || wall_add_frame(w, r, true)) &&
             (!r->unknown || wall_add_frame(w, r, false));
        st = ok ? SPAA_OK : sp_nomem(w->d);
    }
    if (!st && w->p->samples)
        st = sp_samples_sort(w->p->samples);
    if (!st && w->lost)
        sp_emit(w->d, SP_W618, SP_AT_NOTHING, "%lld of %.*s, of threads whose switches were not recorded",
                (long long)w->lost, (int)sp_pstr(w->p, w->p->events.v[w->cpu].name).n,
                sp_pstr(w->p, w->p->events.v[w->cpu].name).p);
    return st;
}

spaa_status sp_wall_add(struct sp_profile *p, struct sp_diags *d)
{
    struct wall w = {.p = p, .d = d, .unsampled = SP_NONE, .unknown = SP_NONE};
    if (sp_wall_event(p) != SP_NONE)
        return SPAA_OK;
    spaa_status st = sp_intervals_of(p, d, &w.v);
    if (st)
        return st;
    w.cpu = sp_wall_cpu_event(p);
    w.off = sp_wall_off_event(p);
    w.off = w.off != SP_NONE && sp_wall_has_stacks(p, w.off) ? w.off : SP_NONE;
    w.clock = w.cpu == SP_NONE || sp_wall_in_ns(p, w.cpu);
    st = wall_find_ran(&w) ? wall_check(&w) : sp_nomem(d);
    if (!st)
        wall_check_sum(&w);
    if (!st)
        st = wall_fill(&w);
    sp_intervals_free(&w.v);
    sp_vec_free(&w.parts);
    sp_vec_free(&w.ran);
    free(w.stack_of);
    free(w.part_of);
    return st;
}
