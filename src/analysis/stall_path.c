/*
 * The critical path of an episode: from the moment the first waiter went on back to the episode's start.
 * Time in which a thread ran, or waited for a CPU, is its own; time in which it was blocked is that of the
 * thread that woke it, where that is known.
 */
#include "analysis/stall_parts.h"

#define STEPS_MAX 100000
#define DEPTH_MAX 64

struct path {
    struct stall_work *w;
    struct sp_stall *s;
};

static bool add_part(struct path *p, uint32_t thread, uint8_t state, uint8_t reason, int64_t ns)
{
    struct sp_stalls *o = p->w->out;
    for (size_t k = p->s->path.first; k < o->path.n; k++) {
        struct sp_stall_part *x = &o->path.v[k];
        if (x->thread == thread && x->state == state && x->reason == reason) {
            x->ns += ns;
            return true;
        }
    }
    struct sp_stall_part x = {thread, state, reason, ns};
    return ns <= 0 || sp_vec_push(&o->path, x);
}

/* [from, to) of an interval, as what it is for certain and what is not recorded. */
static bool add_interval(struct path *p, uint32_t thread, const struct sp_interval *x, uint8_t state,
                         uint8_t reason, int64_t from, int64_t to)
{
    int64_t sure = x->until < from ? from : x->until < to ? x->until : to;
    return add_part(p, thread, state, reason, sure - from) &&
           add_part(p, thread, SP_RUN_STATES, SP_WAIT_OTHER, to - sure);
}

static int by_ns(const void *va, const void *vb)
{
    const struct sp_stall_part *a = va, *b = vb;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->state > b->state) - (a->state < b->state);
}

/* The interval of a thread that covers what is just before t; NULL: the recording has none. */
static const struct sp_interval *before(const struct sp_intervals *v, uint32_t thread, int64_t t)
{
    const struct sp_interval_thread *x = &v->threads.v[thread];
    uint32_t i = sp_interval_after(v, thread, t - 1);
    return i < x->first + x->n && v->v.v[i].start < t ? &v->v.v[i] : NULL;
}

/*
 * A thread whose wait the path goes through: what its waker did before the wait is not of the path, which
 * comes back to the thread there.
 */
struct frame {
    uint32_t thread;
    uint8_t reason;
    int64_t bound; /* of this and all outer ones */
};

struct frames {
    struct frame v[DEPTH_MAX];
    size_t n;
};

static void enter(struct frames *f, uint32_t thread, uint8_t reason, int64_t start)
{
    int64_t outer = f->n ? f->v[f->n - 1].bound : INT64_MIN;
    if (f->n < DEPTH_MAX)
        f->v[f->n++] = (struct frame){thread, reason, start > outer ? start : outer};
}

/* Back to the thread whose wait began at t. */
static uint32_t come_back(struct frames *f, uint32_t thread, int64_t t)
{
    while (f->n && f->v[f->n - 1].bound >= t)
        thread = f->v[--f->n].thread;
    return thread;
}

/* What had nothing to do stood still for the one that it served. */
static bool stood_still(const struct stall_work *w, const struct sp_interval *x)
{
    const struct sp_wait_why *why = stall_why(w, x);
    return x->task == SP_TASK_IDLE || why->idle || why->reason == SP_WAIT_OTHER;
}

bool stall_path_of(struct stall_work *w, struct sp_stall *s)
{
    struct path p = {w, s};
    struct frames f = {.n = 0};
    s->path.first = (uint32_t)w->out->path.n;
    if (!w->v->has_wakes || s->kind != SP_STALL_PLACE || s->by != SP_STALL_BY_WOKEN)
        return true;
    uint32_t thread = w->v->v.v[w->out->waits.v[s->waits.first]].thread;
    int64_t t = s->released;
    enum sp_stall_wakes how;
    bool ok = true, first = true;
    for (int steps = 0, still = 0; ok && t > s->start && steps < STEPS_MAX && still < DEPTH_MAX; steps++) {
        const struct sp_interval *x = before(w->v, thread, t);
        if (!x)
            break;
        uint8_t reason = x->state == SP_RUN_BLOCKED ? stall_why(w, x)->reason : SP_WAIT_OTHER;
        uint32_t waker = x->state == SP_RUN_BLOCKED && x->end == t ? stall_waker(w, x, &how) : SP_NONE;
        still = waker != SP_NONE ? still + 1 : 0;
        if (waker != SP_NONE) {
            if (!first) /* all of the episode is a wait of the first one's kind */
                enter(&f, thread, reason, x->start);
            first = false;
            thread = waker;
            continue;
        }
        int64_t from = x->start > s->start ? x->start : s->start;
        if (f.n && f.v[f.n - 1].bound > from)
            from = f.v[f.n - 1].bound;
        if (x->state == SP_RUN_BLOCKED && f.n && stood_still(w, x))
            ok = add_interval(&p, f.v[f.n - 1].thread, x, SP_RUN_BLOCKED, f.v[f.n - 1].reason, from, t);
        else
            ok = add_interval(&p, thread, x, x->state, reason, from, t);
        t = from;
        thread = come_back(&f, thread, t);
    }
    ok = ok && (t <= s->start || add_part(&p, thread, SP_RUN_STATES, SP_WAIT_OTHER, t - s->start));
    s->path.n = (uint32_t)w->out->path.n - s->path.first;
    if (s->path.n)
        qsort(w->out->path.v + s->path.first, s->path.n, sizeof(struct sp_stall_part), by_ns);
    return ok;
}
