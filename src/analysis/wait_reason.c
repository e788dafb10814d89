#include "analysis/wait_reason.h"
#include "analysis/wait_bounds.h"

#include "analysis/allocator_call.h"
#include "analysis/own_fold.h"
#include "analysis/owners.h"
#include "analysis/wait_idle.h"
#include "analysis/wait_rule.h"
#include "model/entries.h"
#include "model/off_cpu.h"

const char *const sp_wait_reason_names[] = {"other",
                                            "lock",
                                            "condition",
                                            "sleep",
                                            "poll",
                                            "disk",
                                            "network",
                                            "page fault",
                                            "pipe",
                                            "child",
                                            "waiting for a CPU",
                                            "stopped",
                                            "lock or condition",
                                            "allocator lock",
                                            NULL};

/* What is known of functions, each looked at once. */
struct wait_classes {
    const struct sp_profile *p;
    const struct sp_own *own;
    const struct sp_wait_rule **rule; /* per function */
    unsigned char *done;              /* per function: its rule was looked up */
    unsigned char *owners;            /* per function: enum sp_owner_kind */
    struct sp_buf scratch;
};

static spaa_status wait_classes_new(const struct sp_profile *p, const struct sp_own *own, struct sp_diags *d,
                                    struct wait_classes **out)
{
    struct wait_classes *x = calloc(1, sizeof *x);
    *out = x;
    if (!x)
        return sp_nomem(d);
    x->p = p;
    x->own = own && !own->all ? own : NULL;
    x->rule = calloc(p->functions.n + 1, sizeof *x->rule);
    x->done = calloc(p->functions.n + 1, sizeof *x->done);
    sp_buf_init(&x->scratch, 0);
    return x->rule && x->done ? sp_owner_kinds(p, NULL, NULL, d, &x->owners) : sp_nomem(d);
}

static void wait_classes_free(struct wait_classes *x)
{
    if (!x)
        return;
    free(x->rule);
    free(x->done);
    free(x->owners);
    sp_buf_free(&x->scratch);
    free(x);
}

static const struct sp_wait_rule *rule_of(struct wait_classes *x, uint32_t frame)
{
    uint32_t function = x->p->frames.v[frame].function;
    if (!x->done[function]) {
        x->rule[function] =
            sp_wait_rule_of_function(x->p, function, sp_frame_is_kernel(x->p, frame), &x->scratch);
        x->done[function] = 1;
    }
    return x->rule[function];
}

/* What was found of a stack. */
struct looked {
    const struct sp_wait_rule *kernel, *code;
    uint32_t kernel_call, code_call; /* functions that these are of */
    uint32_t outermost;              /* the library's function that the own one called; SP_NONE */
    bool allocates;                  /* some function is an allocator's */
    bool parks;                      /* some function is one where threads wait for work */
    bool thread_of_kernel;
    bool shared, timed; /* as of sp_wait_why */
    uint32_t first;     /* the first named function above the kernel; SP_NONE */
    size_t user;        /* the first frame that is not the kernel's */
};

static size_t look_at_kernel(struct wait_classes *x, const uint32_t *frames, size_t n, struct looked *l)
{
    size_t i = 0;
    for (; i < n && sp_frame_is_kernel(x->p, frames[i]); i++) {
        const struct sp_wait_rule *r = rule_of(x, frames[i]);
        if (r && (!l->kernel || r->rank > l->kernel->rank)) {
            l->kernel = r;
            l->kernel_call = x->p->frames.v[frames[i]].function;
        }
        struct sp_str name = sp_pstr(x->p, sp_frame_function(x->p, frames[i])->name);
        l->thread_of_kernel |= sp_str_is(name, "kthread") || sp_str_is(name, "io_wq_worker") ||
                               sp_str_is(name, "kthreadd") || sp_str_is(name, "vhost_task_fn");
    }
    l->user = i;
    return i;
}

static bool name_has(struct sp_str name, const char *const *words)
{
    for (; *words; words++)
        if (memmem(name.p, name.n, *words, strlen(*words)))
            return true;
    return false;
}

/* What the name of a function that takes a lock says of the lock, and of how long it waits. */
static void look_at_lock(struct sp_str name, struct looked *l)
{
    static const char *const shared[] = {
        "rwlock",      "RwLock", "RWMutex",    "shared_mutex", "shared_timed_mutex",
        "SharedMutex", "rwsem",  "down_write", "flock",        "lockf",
        NULL};
    static const char *const reads[] = {"rdlock",     "lock_shared", "lockShared", "RLock",
                                        "ReaderLock", "lock_read",   "::read",     NULL};
    static const char *const timed[] = {"timedlock",   "clocklock",   "timedrdlock",
                                        "timedwrlock", "clockrdlock", "clockwrlock",
                                        "lock_for",    "lock_until",  NULL};
    l->shared |= name_has(name, shared) && !name_has(name, reads);
    l->timed |= name_has(name, timed);
}

/* From the kernel up to the program's own function: an own one that a rule knows by name is a call, too. */
static void look_at_code(struct wait_classes *x, const uint32_t *frames, size_t n, struct looked *l,
                         struct sp_wait_why *out)
{
    for (size_t i = l->user; i < n; i++) {
        uint32_t function = x->p->frames.v[frames[i]].function;
        const struct sp_wait_rule *r = rule_of(x, frames[i]);
        /* Where threads begin they wait for work only while nothing else was called. */
        if (r && i > l->user && sp_is_entry(sp_pstr(x->p, x->p->functions.v[function].name), SP_SIDE_USER))
            r = NULL;
        if (r && r->reason == SP_WAIT_LOCK)
            look_at_lock(sp_pstr(x->p, x->p->functions.v[function].name), l);
        bool linked = sp_is_linked_allocator(sp_pstr(x->p, x->p->functions.v[function].name));
        if (x->own && !r && !linked && sp_is_own(x->own, function)) {
            out->function = function;
            out->frame = frames[i];
            return;
        }
        if (r && (!l->code || r->rank > l->code->rank)) {
            l->code = r;
            l->code_call = function;
        }
        l->parks |= r && r->idle;
        l->allocates = l->allocates || linked || sp_is_allocator_call(x->p, x->owners, function, &x->scratch);
        out->gap |= sp_own_is_marker(x->p, function);
        if (!sp_own_is_marker(x->p, function) && !(x->p->frames.v[frames[i]].flags & SP_FRAME_UNRESOLVED)) {
            l->first = l->first == SP_NONE ? function : l->first;
            l->outermost = function;
        }
    }
}

/* Others may say what a state is: these are of Linux, and of virtual machines. */
static bool reason_of_state(struct sp_str state, const struct looked *l, struct sp_wait_why *out)
{
    if (sp_str_is(state, "RUN_QUEUE"))
        out->reason = SP_WAIT_CPU;
    else if (sp_str_is(state, "SUSPENDED"))
        out->reason = SP_WAIT_STOPPED;
    else
        return false;
    out->call = out->reason == SP_WAIT_CPU ? SP_NONE : l->kernel_call;
    return true;
}

static bool may_be_idle(unsigned reason)
{
    return !sp_wait_is_lock(reason) && reason != SP_WAIT_CPU && reason != SP_WAIT_DISK &&
           reason != SP_WAIT_FAULT && reason != SP_WAIT_STOPPED;
}

/* What the own function called; without one the name that says most. */
static uint32_t call_of(const struct looked *l, const struct sp_wait_rule *r, const struct sp_wait_why *why)
{
    if (why->function != SP_NONE && l->outermost != SP_NONE)
        return l->outermost;
    if (why->function == SP_NONE && why->reason != SP_WAIT_FAULT && l->first != SP_NONE)
        return l->code ? l->code_call : l->first;
    return r && r == l->code ? l->code_call : r ? l->kernel_call : SP_NONE;
}

/*
 * One stack: `frames` leaf first, state is x_state. Does not say `idle` of what depends on the rest of the
 * thread. False: out of memory.
 */
static bool wait_why_of(struct wait_classes *x, const uint32_t *frames, size_t n, struct sp_str state,
                        struct sp_wait_why *out)
{
    struct looked l = {.kernel_call = SP_NONE, .code_call = SP_NONE, .outermost = SP_NONE, .first = SP_NONE};
    *out = (struct sp_wait_why){.function = SP_NONE, .call = SP_NONE, .frame = SP_NONE};
    look_at_kernel(x, frames, n, &l);
    look_at_code(x, frames, n, &l, out);
    if (x->scratch.nomem)
        return false;
    if (reason_of_state(state, &l, out))
        return true;
    bool asks_code = !l.kernel || l.kernel->reason == SP_WAIT_OTHER || l.kernel->reason == SP_WAIT_FUTEX;
    const struct sp_wait_rule *r = l.code && asks_code ? l.code : l.kernel;
    if (r) {
        out->reason = r->reason;
        out->unsure = r->unsure;
        out->shared = l.shared;
        out->timed = l.timed;
        /* Of the kernel's own locks it is not the allocator's that is waited for. */
        if (asks_code && l.allocates && (r->reason == SP_WAIT_LOCK || r->reason == SP_WAIT_FUTEX)) {
            out->reason = SP_WAIT_ALLOCATOR;
            out->unsure = false;
        }
        out->idle = may_be_idle(r->reason) && (r->idle || l.parks);
    }
    out->call = call_of(&l, r, out);
    /* Threads of the kernel are interruptible for one thing only: not to count as load while they have no
     * work. */
    if (l.user == n && l.thread_of_kernel && !sp_str_is(state, "BLOCKED") && may_be_idle(out->reason))
        out->idle = true;
    out->idle |= sp_str_is(state, "IDLE");
    return true;
}

/* ---- all stacks ---- */

static bool says_something(const struct sp_profile *p, const uint32_t *frames, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!sp_own_is_marker(p, p->frames.v[frames[i]].function))
            return true;
    return false;
}

/* Those without the kernel's frames, where a selection has both. */
static void copy_to_kernel(const struct sp_selection *s, struct sp_wait_why *of)
{
    for (size_t i = 0; i < s->rows.n; i++)
        if (s->rows.v[i].kernel != SP_NONE)
            of[s->rows.v[i].kernel] = of[s->rows.v[i].stack];
}

/* Of chains of threads that wait for each other one after the other. */
static spaa_status prove(struct sp_wait_idle *idle, const struct sp_intervals *v, struct sp_wait_reasons *out,
                         struct sp_diags *d)
{
    bool changed = true;
    struct sp_wait_wakers *wakers = sp_wait_wakers_new(idle->s->profile, v, out->of, out->n);
    spaa_status st = wakers ? SPAA_OK : sp_nomem(d);
    for (int i = 0; !st && changed && i < 4; i++) {
        st = sp_wait_idle_prove(idle, wakers, out->of, out->n, false, &changed, d);
        copy_to_kernel(idle->s, out->of);
    }
    if (!st)
        st = sp_wait_idle_prove(idle, wakers, out->of, out->n, true, &changed, d);
    copy_to_kernel(idle->s, out->of);
    sp_wait_wakers_free(wakers);
    return st;
}

/*
 * Whether somebody waited for the end of a sleep, intervals tell where they have wakings: without these, or
 * of sums of intervals that are gone, as of a file without its samples, nothing does.
 */
static void doubt_sleeps(const struct sp_selection *s, struct sp_wait_why *of)
{
    const struct sp_profile *p = s->profile;
    bool wakes = sp_sched_has(p, SP_SCHED_WAKING) || sp_sched_has(p, SP_SCHED_WAKEUP) ||
                 sp_sched_has(p, SP_SCHED_WAKEUP_NEW);
    if (s->event != sp_off_cpu_own(p))
        return;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct sp_wait_why *w = &of[s->rows.v[i].stack];
        w->idle_unproven = w->idle_judged && !w->idle_unsure && !wakes;
        w->idle_unsure |= w->idle_judged;
    }
}

static spaa_status why_of_rows(struct sp_selection *s, struct wait_classes *x, const struct sp_own *own,
                               const struct sp_intervals *v, struct sp_wait_reasons *out, struct sp_diags *d)
{
    struct sp_wait_idle idle;
    const struct sp_profile *p = s->profile;
    sp_wait_idle_init(&idle, s, own);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < s->rows.n; i++) {
        size_t n;
        const struct sp_selected *r = &s->rows.v[i];
        const uint32_t *frames = sp_selected_frames(s, i, &n);
        struct sp_wait_why *why = &out->of[r->stack];
        struct sp_str state = sp_pstr(p, p->contexts.v[p->stacks.v[r->stack].context].state);
        if (!frames || !wait_why_of(x, frames, n, state, why) ||
            !sp_wait_idle_add(&idle, i, frames, n, why)) {
            st = sp_nomem(d);
            break;
        }
        why->unseen = !says_something(p, frames, n);
        out->has_frames |= !why->unseen;
        out->has_callers |= n > 1;
        for (size_t k = 0; k < n && !(out->has_kernel_frames && out->has_user_frames); k++) {
            out->has_kernel_frames |= sp_frame_is_kernel(p, frames[k]);
            out->has_user_frames |= !sp_frame_is_kernel(p, frames[k]);
        }
    }
    if (!st)
        st = sp_wait_idle_tell(&idle, out->of, d);
    if (!st && !(v->v.n && v->has_wakes))
        doubt_sleeps(s, out->of);
    if (!st)
        copy_to_kernel(s, out->of);
    if (!st && v->v.n && v->has_wakes)
        st = prove(&idle, v, out, d);
    if (!st)
        st = sp_wait_idle_doubt(&idle, v, out->of, out->n, d);
    if (!st)
        copy_to_kernel(s, out->of);
    sp_wait_idle_free(&idle);
    return st;
}

spaa_status sp_wait_reasons_with(const struct sp_selection *s, const char *own, const struct sp_intervals *v,
                                 struct sp_wait_reasons *out, struct sp_diags *d)
{
    struct sp_select_opts o = {
        .event_number = &s->event, .any_state = true, .pools = true, .may_be_empty = true};
    struct sp_selection whole;
    struct sp_own mine;
    struct wait_classes *x = NULL;
    *out = (struct sp_wait_reasons){.n = s->profile->stacks.n};
    out->of = calloc(out->n + 1, sizeof *out->of);
    for (size_t i = 0; out->of && i < out->n; i++)
        out->of[i].function = out->of[i].call = out->of[i].frame = SP_NONE;
    spaa_status st = out->of ? sp_select(s->profile, &o, d, &whole) : sp_nomem(d);
    if (st) {
        sp_wait_reasons_free(out);
        return st;
    }
    st = sp_own_of(&whole, own, d, &mine);
    if (!st) {
        st = wait_classes_new(s->profile, &mine, d, &x);
        if (!st)
            st = why_of_rows(&whole, x, mine.all ? NULL : &mine, v, out, d);
        wait_classes_free(x);
        sp_own_free(&mine);
    }
    sp_selection_free(&whole);
    if (st)
        sp_wait_reasons_free(out);
    else
        sp_wait_bounds_mark(s->profile, v, out->of, out->n);
    return st;
}

spaa_status sp_wait_reasons_of(const struct sp_selection *s, struct sp_profile *p, const char *own,
                               struct sp_wait_reasons *out, struct sp_diags *d)
{
    struct sp_intervals v;
    spaa_status st = sp_intervals_of(p, d, &v);
    if (st)
        return st;
    st = sp_wait_reasons_with(s, own, &v, out, d);
    sp_intervals_free(&v);
    return st;
}

void sp_wait_reasons_free(struct sp_wait_reasons *w)
{
    free(w->of);
    w->of = NULL;
}
