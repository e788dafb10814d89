#include "analysis/waits_held.h"

#include "analysis/state_shares.h"
#include "analysis/wait_rule.h"

#include <stdlib.h>

/* A row of the thread at hand, its functions root first. */
struct held_stack {
    uint32_t first, n, fact;
    enum sp_held_state state;
    bool shown;                      /* the heaviest stack is one of these */
    const struct sp_wait_rule *disk; /* that says that it waits for the disk; NULL: none */
    uint32_t disk_call;
    int64_t weight;
};

struct held_thread {
    const struct sp_profile *p;
    const struct sp_own *events; /* waits for events are told apart, by what is its own; NULL: they are not */
    SP_VEC(struct held_stack) stacks;
    SP_VEC(uint32_t) functions;
    struct sp_buf scratch;
    const struct sp_wait_rule **rules; /* by function of the kernel, where all threads are looked at; NULL */
    unsigned char *known;
};

enum sp_held_state sp_held_state_of(struct sp_str state)
{
    static const enum sp_held_state states[SP_SHARES] = {
        [SP_SHARE_RUNNING] = SP_HELD_RAN,         [SP_SHARE_RUNNABLE] = SP_HELD_READY,
        [SP_SHARE_BLOCKED] = SP_HELD_WAITED,      [SP_SHARE_WAITING] = SP_HELD_WAITED,
        [SP_SHARE_SUSPENDED] = SP_HELD_SUSPENDED, [SP_SHARE_IDLE] = SP_HELD_WAITED,
        [SP_SHARE_UNKNOWN] = SP_HELD_UNKNOWN,     [SP_SHARE_UNSTATED] = SP_HELD_UNKNOWN};
    return states[sp_state_share_of(state)];
}

static void held_thread_free(struct held_thread *t)
{
    sp_vec_free(&t->stacks);
    sp_vec_free(&t->functions);
    sp_buf_free(&t->scratch);
}

/* ---- the wait of a run loop ---- */

/* A wait in its run loop, for nobody that is named. */
static bool held_is_for_events(const struct held_thread *t, const struct held_stack *x)
{
    bool in_run_loop;
    if (!t->events || x->state != SP_HELD_WAITED ||
        (x->fact && !(t->p->waits.v[x->fact - 1].flags & SP_FACT_RECEIVE)))
        return false;
    return sp_held_nested(t->p, t->events, t->functions.v + x->first, x->n, &in_run_loop) == SP_NONE &&
           in_run_loop;
}

/* ---- the disk ---- */

static const struct sp_wait_rule *held_rule_of(struct held_thread *t, uint32_t function)
{
    if (!t->rules)
        return sp_wait_rule_of_function(t->p, function, true, &t->scratch);
    if (!t->known[function])
        t->rules[function] = sp_wait_rule_of_function(t->p, function, true, &t->scratch);
    t->known[function] = 1;
    return t->rules[function];
}

/* A program's thread that waits in the kernel, for nothing that its state names: what the functions there say
 * most of. */
static void held_look_for_disk(struct held_thread *t, struct held_stack *x)
{
    const struct sp_profile *p = t->p;
    const struct sp_wait_rule *best = NULL;
    const uint32_t *path = t->functions.v + x->first;
    if (x->state != SP_HELD_WAITED || x->fact || !x->n || p->dsos.v[p->functions.v[*path].dso].is_kernel)
        return;
    for (uint32_t i = x->n; i-- > 0 && p->dsos.v[p->functions.v[path[i]].dso].is_kernel;) {
        const struct sp_wait_rule *r = held_rule_of(t, path[i]);
        /* What waits for the disk sleeps in msleep. */
        if (!r || r->reason == SP_WAIT_SLEEP || (best && r->rank <= best->rank))
            continue;
        best = r;
        x->disk_call = path[i];
    }
    x->disk = best && best->reason == SP_WAIT_DISK ? best : NULL;
}

/* ---- the stacks of a thread ---- */

static bool held_add(const struct sp_held_rows *r, struct held_thread *t, uint32_t row, int64_t weight)
{
    const struct sp_profile *p = r->s->profile;
    const struct sp_context *c = &p->contexts.v[p->stacks.v[r->s->rows.v[row].stack].context];
    struct held_stack x = {.first = (uint32_t)t->functions.n,
                           .fact = c->wait,
                           .state = sp_held_state_of(sp_pstr(p, c->state)),
                           .weight = weight};
    size_t n;
    const uint32_t *frames = sp_selected_frames(r->s, row, &n);
    bool ok = frames != NULL;
    for (size_t i = n; ok && i-- > 0; x.n++)
        ok = sp_vec_push(&t->functions, p->frames.v[frames[i]].function);
    if (ok && held_is_for_events(t, &x))
        x.state = SP_HELD_EVENTS;
    if (ok)
        held_look_for_disk(t, &x);
    return ok && sp_vec_push(&t->stacks, x);
}

int64_t sp_held_within(const struct sp_waits *w, const struct sp_wait_thread *t, uint32_t stack,
                       const struct sp_wait_steps *steps)
{
    int64_t sum = 0;
    for (uint32_t i = t->steps; i < t->steps + t->nsteps; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        int64_t both = 0;
        for (size_t k = 0; r->stack == stack && k < steps->v.n; k++) {
            const struct sp_step_range *q = &steps->v.v[k];
            int64_t from = q->from > r->from ? q->from : r->from, to = q->to < r->to ? q->to : r->to;
            both += to >= from ? to - from + 1 : 0;
        }
        sum += both < r->count ? both : r->count;
    }
    return sum;
}

static bool held_gather(const struct sp_held_rows *r, const struct sp_waits *w, uint32_t context,
                        const struct sp_wait_steps *steps, uint32_t thread, struct held_thread *out)
{
    const struct sp_profile *p = r->s->profile;
    const struct sp_context *c = &p->contexts.v[context];
    bool ok = true;
    for (size_t i = sp_held_first(r, c->tid); ok && i < r->v.n && r->v.v[i].tid == c->tid; i++) {
        const struct sp_selected *x = &r->s->rows.v[r->v.v[i].row];
        if (!sp_is_same_program(p, c, &p->contexts.v[p->stacks.v[x->stack].context]))
            continue;
        int64_t weight = steps ? sp_held_within(w, &w->threads.v[thread], x->stack, steps) : x->weight;
        ok = weight <= 0 || held_add(r, out, r->v.v[i].row, weight);
    }
    return ok;
}

/* ---- its heaviest stack ---- */

struct held_next {
    uint32_t function, stack;
};

static int held_by_function(const void *va, const void *vb)
{
    const struct held_next *a = va, *b = vb;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

/* Of what is as heavy, the order of names decides, which numbers of functions do not tell alike in all files.
 */
static bool held_name_less(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    return sp_str_cmp(sp_pstr(p, p->functions.v[a].name), sp_pstr(p, p->functions.v[b].name)) < 0;
}

/* Of the stacks that go on at this depth, those of the heaviest function; how many are left. */
static size_t held_descend(const struct held_thread *t, struct held_next *alive, size_t n, uint32_t depth,
                           int64_t *weight)
{
    size_t kept = 0, best = 0, best_n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct held_stack *s = &t->stacks.v[alive[i].stack];
        if (depth < s->n)
            alive[kept++] = (struct held_next){t->functions.v[s->first + depth], alive[i].stack};
    }
    if (kept)
        qsort(alive, kept, sizeof *alive, held_by_function);
    *weight = 0;
    for (size_t i = 0, k; i < kept; i = k) {
        int64_t sum = 0;
        for (k = i; k < kept && alive[k].function == alive[i].function; k++)
            sum += t->stacks.v[alive[k].stack].weight;
        bool first = sum == *weight && held_name_less(t->p, alive[i].function, alive[best].function);
        if (sum > *weight || first) {
            *weight = sum;
            best = i;
            best_n = k - i;
        }
    }
    memmove(alive, alive + best, best_n * sizeof *alive);
    return best_n;
}

static bool held_path(const struct held_thread *t, const struct sp_own *own, struct sp_held *out)
{
    struct held_next *alive = malloc((t->stacks.n + 1) * sizeof *alive);
    size_t n = 0;
    if (!alive)
        return false;
    for (uint32_t i = 0; i < t->stacks.n; i++)
        if (t->stacks.v[i].shown)
            alive[n++] = (struct held_next){0, i};
    while (out->n < SP_HELD_FRAMES) {
        size_t left = held_descend(t, alive, n, out->n, &out->at[out->n]);
        if (!left)
            break;
        n = left;
        out->path[out->n] = alive[0].function;
        if (sp_is_own(own, alive[0].function) && !own->all)
            out->own = out->n;
        out->n++;
    }
    int64_t most = -1;
    for (size_t i = 0; i < n; i++)
        if (t->stacks.v[alive[i].stack].weight > most) {
            most = t->stacks.v[alive[i].stack].weight;
            out->fact = t->stacks.v[alive[i].stack].fact;
        }
    free(alive);
    return true;
}

static void held_sum(const struct held_thread *t, struct sp_held *out)
{
    int64_t most = 0;
    out->disk_call = SP_NONE;
    for (size_t i = 0; i < t->stacks.n; i++) {
        out->weight += t->stacks.v[i].weight;
        out->by[t->stacks.v[i].state] += t->stacks.v[i].weight;
        const struct held_stack *x = &t->stacks.v[i];
        if (!x->disk)
            continue;
        out->disk += x->weight;
        if (x->weight > most) {
            most = x->weight;
            out->disk_call = x->disk_call;
        }
        out->disk_likely = out->disk_likely || x->disk->unsure;
    }
}

/* What its samples tell most of: where it waited for others for long, and did nothing else so long, its waits
 * for events do not count. */
static enum sp_held_state held_most(const struct sp_held *h)
{
    enum { PART = 10 };
    enum sp_held_state most = SP_HELD_RAN;
    bool waited = h->by[SP_HELD_WAITED] >= h->weight / PART + (h->weight % PART != 0);
    for (unsigned i = 0; i < SP_HELD_EVENTS; i++)
        if (h->by[i] > h->by[most])
            most = (enum sp_held_state)i;
    bool others = most == SP_HELD_WAITED && h->by[SP_HELD_WAITED] && waited;
    return h->by[SP_HELD_EVENTS] > h->by[most] && !others ? SP_HELD_EVENTS : most;
}

static bool held_heaviest(struct held_thread *t, const struct sp_own *own, struct sp_held *out)
{
    held_sum(t, out);
    out->most = held_most(out);
    for (size_t i = 0; i < t->stacks.n; i++)
        t->stacks.v[i].shown = t->stacks.v[i].state == out->most;
    return held_path(t, own, out);
}

bool sp_held_main(const struct sp_held_rows *r, const struct sp_own *own, uint32_t context,
                  struct sp_held *out)
{
    struct held_thread t = {.p = r->s->profile, .events = own};
    sp_buf_init(&t.scratch, 0);
    *out = (struct sp_held){.own = SP_NONE};
    bool ok = held_gather(r, NULL, context, NULL, SP_NONE, &t) && held_heaviest(&t, own, out);
    held_thread_free(&t);
    return ok;
}

bool sp_held_in_steps(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                      uint32_t context, const struct sp_wait_steps *steps, struct sp_held *out)
{
    struct held_thread t = {.p = r->s->profile};
    sp_buf_init(&t.scratch, 0);
    uint32_t thread = steps->v.n ? sp_waits_thread_of(w, &r->s->profile->contexts.v[context]) : SP_NONE;
    *out = (struct sp_held){.own = SP_NONE, .in_steps = thread != SP_NONE};
    bool ok =
        held_gather(r, w, context, out->in_steps ? steps : NULL, thread, &t) && held_heaviest(&t, own, out);
    held_thread_free(&t);
    return ok;
}

bool sp_held_of(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                uint32_t context, uint32_t waiter, struct sp_held *out)
{
    struct sp_wait_steps steps = {0};
    uint32_t thread = w && waiter != SP_NONE && w->ranges.v.n
                          ? sp_waits_thread_of(w, &r->s->profile->contexts.v[context])
                          : SP_NONE;
    if (thread != SP_NONE && !sp_wait_steps_of(w, waiter, thread, &steps))
        return false;
    bool ok = sp_held_in_steps(r, own, w, context, &steps, out);
    sp_vec_free(&steps.v);
    return ok;
}

bool sp_held_steps_of(const struct sp_waits *w, uint32_t thread, enum sp_held_state state,
                      struct sp_wait_steps *out)
{
    const struct sp_profile *p = w->profile;
    const struct sp_wait_thread *t = &w->threads.v[thread];
    struct sp_wait_steps x = {0};
    for (uint32_t i = t->steps; i < t->steps + t->nsteps; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        if (r->count != r->to - r->from + 1 ||
            sp_held_state_of(sp_pstr(p, p->contexts.v[p->stacks.v[r->stack].context].state)) != state)
            continue; /* where others' steps lie between, it is not known which are its own */
        if (!sp_vec_push(&x.v, *r)) {
            sp_vec_free(&x.v);
            return false;
        }
    }
    *out = x;
    return true;
}

bool sp_held_waiting(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                     uint32_t wait, bool events, struct sp_held *out)
{
    const struct sp_wait *x = &w->waits.v[wait];
    const struct sp_wait_thread *thread = &w->threads.v[x->waiter];
    struct held_thread t = {.p = r->s->profile, .events = events ? own : NULL};
    sp_buf_init(&t.scratch, 0);
    *out = (struct sp_held){.own = SP_NONE};
    bool ok = held_gather(r, w, thread->context, NULL, SP_NONE, &t);
    held_sum(&t, out);
    out->most = sp_held_state_of(sp_pstr(w->profile, x->state));
    for (size_t i = 0; i < t.stacks.n; i++)
        for (uint32_t k = thread->first; k < thread->first + thread->n; k++)
            t.stacks.v[i].shown |= t.stacks.v[i].fact == w->waits.v[k].fact && sp_waits_alike(w, k, wait);
    ok = ok && held_path(&t, own, out);
    held_thread_free(&t);
    return ok;
}

bool sp_held_disk_of(struct sp_selection *s, int64_t *sum)
{
    const struct sp_profile *p = s->profile;
    struct sp_held_rows rows = {.s = s};
    struct held_thread t = {
        .p = p, .rules = calloc(p->functions.n + 1, sizeof *t.rules), .known = calloc(p->functions.n + 1, 1)};
    bool ok = t.rules && t.known;
    sp_buf_init(&t.scratch, 0);
    *sum = 0;
    for (uint32_t i = 0; ok && i < s->rows.n; i++) {
        t.functions.n = t.stacks.n = 0;
        ok = s->rows.v[i].weight <= 0 || held_add(&rows, &t, i, s->rows.v[i].weight);
        if (ok && t.stacks.n && t.stacks.v[0].disk && __builtin_add_overflow(*sum, t.stacks.v[0].weight, sum))
            *sum = INT64_MAX;
    }
    free(t.rules);
    free(t.known);
    held_thread_free(&t);
    return ok;
}
