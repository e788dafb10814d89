#include "analysis/wait_idle.h"

#include "analysis/wait_stuck.h"
#include "model/off_cpu.h"

void sp_wait_idle_init(struct sp_wait_idle *x, const struct sp_selection *s, const struct sp_own *own)
{
    *x = (struct sp_wait_idle){.s = s, .own = own, .counts = SP_NONE};
    for (uint32_t i = 0; i < s->profile->metrics.n; i++)
        if (sp_str_is(sp_pstr(s->profile, s->profile->metrics.v[i].name), SP_OFF_CPU_WAITS))
            x->counts = i;
}

void sp_wait_idle_free(struct sp_wait_idle *x)
{
    sp_vec_free(&x->rows);
    sp_vec_free(&x->path);
}

bool sp_wait_idle_add(struct sp_wait_idle *x, size_t row, const uint32_t *frames, size_t n,
                      const struct sp_wait_why *why)
{
    const struct sp_profile *p = x->s->profile;
    const struct sp_selected *s = &x->s->rows.v[row];
    struct sp_wait_idle_row r = {.stack = s->stack,
                                 .kernel = s->kernel,
                                 .who = p->stacks.v[s->stack].context,
                                 .weight = s->weight > 0 ? s->weight : 0,
                                 .count = SP_ABSENT,
                                 .first = (uint32_t)x->path.n,
                                 .why = *why};
    if (x->counts != SP_NONE)
        r.count = sp_weight(p, s->stack, x->counts);
    for (size_t i = n; x->own && i-- > 0;) {
        uint32_t function = p->frames.v[frames[i]].function;
        if (!sp_is_own(x->own, function))
            continue;
        if (x->path.n >= SP_NONE || !sp_vec_push(&x->path, function))
            return false;
        r.depth++;
        if (function == why->function && frames[i] == why->frame)
            break; /* leafward of it rules know what is there */
    }
    return sp_vec_push(&x->rows, r);
}

/* ---- rows of one thread, or of one pool ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_who(const void *va, const void *vb, void *arg)
{
    const struct sp_selection *s = arg;
    const struct sp_wait_idle_row *a = va, *b = vb;
    const struct sp_context *ca = &s->profile->contexts.v[a->who], *cb = &s->profile->contexts.v[b->who];
    uint32_t pa = s->pools.by_thread[a->who], pb = s->pools.by_thread[b->who];
    if (pa != pb)
        return compare(pa, pb);
    if (pa != SP_NONE)
        return 0;
    if (ca->pid != cb->pid)
        return compare(ca->pid, cb->pid);
    if (ca->tid != cb->tid)
        return compare(ca->tid, cb->tid);
    return ca->tid == SP_ABSENT ? compare(ca->comm, cb->comm) : 0;
}

/* After `from`, the first row of another thread or pool. */
static size_t group_end(const struct sp_wait_idle *x, size_t from)
{
    size_t to = from + 1;
    while (to < x->rows.n && !by_who(&x->rows.v[from], &x->rows.v[to], (void *)(uintptr_t)x->s))
        to++;
    return to;
}

static int by_place(const void *va, const void *vb)
{
    const struct sp_wait_idle_row *a = va, *b = vb;
    int r = compare(a->why.function, b->why.function);
    r = r ? r : compare(a->why.call, b->why.call);
    r = r ? r : compare(a->why.reason, b->why.reason);
    return r ? r : compare(a->stack, b->stack);
}

struct group {
    const struct sp_wait_idle *x;
    struct sp_wait_idle_row *v;
    size_t n;
    uint32_t loop; /* how many own functions all of its stacks have in common */
    int64_t waited;
};

/* Stacks without an own function say nothing: they are cut off, or begin the thread. */
static void measure(struct group *g)
{
    const uint32_t *path = NULL;
    g->loop = 0;
    g->waited = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct sp_wait_idle_row *r = &g->v[i];
        if (r->why.reason != SP_WAIT_CPU)
            g->waited += r->weight;
        if (!r->depth)
            continue;
        const uint32_t *other = g->x->path.v + r->first;
        if (!path)
            g->loop = r->depth;
        path = path ? path : other;
        uint32_t k = 0;
        while (k < g->loop && k < r->depth && path[k] == other[k])
            k++;
        g->loop = k;
    }
}

/* In what the loop calls as `function`, nothing was seen but waiting. */
static bool only_waits(const struct group *g, uint32_t function)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct sp_wait_idle_row *r = &g->v[i];
        const uint32_t *path = g->x->path.v + r->first;
        unsigned why = r->why.reason;
        if (r->depth <= g->loop || path[g->loop] != function)
            continue;
        if (r->depth > g->loop + 1)
            return false;
        if (why != SP_WAIT_CONDITION && !sp_wait_is_lock(why) && why != SP_WAIT_FUTEX &&
            why != SP_WAIT_POLL && why != SP_WAIT_CPU)
            return false;
    }
    return true;
}

/* It waits in the loop, or in what the loop calls. */
static bool is_near(const struct group *g, const struct sp_wait_idle_row *r)
{
    return r->depth <= g->loop + 1;
}

/*
 * Further down than in what the first own function calls, all that blocks may be in the requests that a
 * thread handles, which have a path in common, too: that looks the same.
 */
static bool is_deep(const struct sp_wait_idle_row *r)
{
    return r->depth > 2;
}

/* One place may be a sleep that all sorts of functions call, and of a pool whose threads sleep once each. */
static bool sets_the_pace(const struct group *g, const struct sp_wait_idle_row *v, size_t n)
{
    int64_t weight = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_near(g, &v[i]))
            continue;
        weight += v[i].weight;
        most = v[i].count > most ? v[i].count : most;
    }
    __int128 tenths = (__int128)weight * 10, of = g->waited;
    bool comes_back = g->x->counts != SP_NONE ? most >= 2 : tenths >= of * 9;
    return weight && tenths >= of * 5 && comes_back;
}

static bool place_is_idle(const struct group *g, const struct sp_wait_idle_row *v, size_t n)
{
    int64_t weight = 0;
    uint32_t depth = 0;
    const struct sp_wait_why *why = &v->why;
    if (why->reason == SP_WAIT_SLEEP)
        return sets_the_pace(g, v, n);
    for (size_t i = 0; i < n; i++) {
        weight += v[i].weight;
        depth = v[i].depth > depth ? v[i].depth : depth;
    }
    __int128 tenths = (__int128)weight * 10, of = g->waited;
    if (tenths < of * 5 || !weight)
        return false;
    if (why->reason != SP_WAIT_CONDITION && why->reason != SP_WAIT_POLL &&
        !(why->reason == SP_WAIT_OTHER && why->call != SP_NONE))
        return false;
    bool near = depth <= g->loop + 1;
    if (tenths >= of * 9)
        return near;
    return depth && near && !why->unsure && why->reason != SP_WAIT_OTHER &&
           (depth == g->loop || only_waits(g, why->function));
}

/* After `from`, the first row of another place. */
static size_t place_end(const struct group *g, size_t from)
{
    const struct sp_wait_why *a = &g->v[from].why;
    size_t to = from + 1;
    for (; to < g->n; to++) {
        const struct sp_wait_why *b = &g->v[to].why;
        if (a->function != b->function || a->call != b->call || a->reason != b->reason)
            break;
    }
    return to;
}

static void tell_group(struct group *g, struct sp_wait_why *of)
{
    measure(g);
    for (size_t from = 0, to; from < g->n; from = to) {
        to = place_end(g, from);
        if (!place_is_idle(g, g->v + from, to - from))
            continue;
        for (size_t i = from; i < to; i++) {
            struct sp_wait_why *w = &of[g->v[i].stack];
            if (w->reason == SP_WAIT_SLEEP && !is_near(g, &g->v[i]))
                continue;
            w->idle_judged = !w->idle;
            w->idle_unsure = !w->idle && (w->reason != SP_WAIT_SLEEP || is_deep(&g->v[i]));
            w->idle = true;
        }
    }
}

/* ---- by who ended the waits ---- */

/* For most of it somebody waited for its end: it is not idle. Or somebody may have: it is not sure. */
static bool prove_sleep(const struct sp_wait_idle_row *v, size_t n, const struct sp_wait_ended *ended,
                        struct sp_wait_why *of)
{
    int64_t held = 0, maybe = 0, whole = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t both[] = {v[i].stack, v[i].kernel};
        for (size_t k = 0; k < 2 && both[k] != SP_NONE; k++) {
            held += ended[both[k]].held;
            maybe += ended[both[k]].maybe;
        }
        whole += of[v[i].stack].idle ? v[i].weight : 0;
    }
    bool was_held = whole && held > whole / 2;
    for (size_t i = 0; i < n; i++) {
        struct sp_wait_why *w = &of[v[i].stack];
        w->idle = w->idle && !was_held;
        w->idle_unsure = w->idle && (w->idle_unsure || maybe > whole / 2);
    }
    return was_held;
}

static bool prove_place(const struct sp_wait_idle_row *v, size_t n, const struct sp_wait_ended *ended,
                        bool last, struct sp_wait_why *of)
{
    struct sp_wait_ended sum = {0};
    int64_t whole = 0;
    bool unsure = false;
    if (v->why.reason == SP_WAIT_SLEEP)
        return prove_sleep(v, n, ended, of);
    for (size_t i = 0; i < n; i++) {
        if (!of[v[i].stack].idle_unsure)
            continue;
        uint32_t both[] = {v[i].stack, v[i].kernel};
        for (size_t k = 0; k < 2 && both[k] != SP_NONE; k++) {
            sum.asked += ended[both[k]].asked;
            sum.busy += ended[both[k]].busy;
            sum.rest += ended[both[k]].rest;
        }
        whole += v[i].weight;
        unsure |= v[i].why.unsure;
    }
    /* What may be a lock, too, need not have been asked for. */
    int64_t known = sum.asked + sum.busy + sum.rest, served = sum.asked + (unsure ? sum.busy : 0);
    bool works = known > 0 && served * 2 > known, rests = last && known > 0 && sum.rest * 2 > known;
    if (known < whole / 20 || (!works && !rests))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sp_wait_why *w = &of[v[i].stack];
        w->idle = w->idle && !(w->idle_unsure && works);
        w->idle_unsure = false;
    }
    return works;
}

spaa_status sp_wait_idle_prove(struct sp_wait_idle *x, struct sp_wait_wakers *wakers, struct sp_wait_why *of,
                               size_t n, bool last, bool *changed, struct sp_diags *d)
{
    struct sp_wait_ended *ended = calloc(n + 1, sizeof *ended);
    bool ok = ended && sp_wait_wakers_judge(wakers, ended);
    *changed = false;
    for (size_t from = 0, to; ok && from < x->rows.n; from = to) {
        to = group_end(x, from);
        struct group g = {.x = x, .v = x->rows.v + from, .n = to - from};
        for (size_t a = 0, b; a < g.n; a = b) {
            b = place_end(&g, a);
            *changed |= prove_place(g.v + a, b - a, ended, last, of);
        }
    }
    free(ended);
    return ok ? SPAA_OK : sp_nomem(d);
}

/* ---- beside locks that nobody let go of ---- */

/* Of most of the place's sleeps, or of those of one stack. */
static void doubt_sleeps(const struct sp_wait_idle_row *v, size_t n, const int64_t *stuck,
                         struct sp_wait_why *of)
{
    int64_t sum = 0, whole = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            struct sp_wait_why *w = &of[v[i].stack];
            int64_t own = stuck[v[i].stack] + (v[i].kernel == SP_NONE ? 0 : stuck[v[i].kernel]);
            if (!w->idle || w->reason != SP_WAIT_SLEEP)
                continue;
            sum += pass ? 0 : own;
            whole += pass ? 0 : v[i].weight;
            w->idle_unsure |= pass && (own > v[i].weight / 2 || sum > whole / 2);
        }
}

spaa_status sp_wait_idle_doubt(struct sp_wait_idle *x, const struct sp_intervals *v, struct sp_wait_why *of,
                               size_t n, struct sp_diags *d)
{
    int64_t *stuck = calloc(n + 1, sizeof *stuck);
    if (!stuck)
        return sp_nomem(d);
    sp_wait_stuck_sleeps(x->s->profile, v, of, n, stuck);
    for (size_t from = 0, to; from < x->rows.n; from = to) {
        to = group_end(x, from);
        struct group g = {.x = x, .v = x->rows.v + from, .n = to - from};
        for (size_t a = 0, b; a < g.n; a = b) {
            b = place_end(&g, a);
            doubt_sleeps(g.v + a, b - a, stuck, of);
        }
    }
    free(stuck);
    return SPAA_OK;
}

spaa_status sp_wait_idle_tell(struct sp_wait_idle *x, struct sp_wait_why *of, struct sp_diags *d)
{
    struct sp_wait_idle_row *v = x->rows.v;
    size_t n = x->rows.n;
    if (!n)
        return SPAA_OK;
    qsort_r(v, n, sizeof *v, by_who, (void *)(uintptr_t)x->s);
    for (size_t from = 0, to; from < n; from = to) {
        to = group_end(x, from);
        qsort(v + from, to - from, sizeof *v, by_place);
        struct group g = {.x = x, .v = v + from, .n = to - from};
        tell_group(&g, of);
    }
    (void)d;
    return SPAA_OK;
}
