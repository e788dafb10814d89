#include "analysis/findings.h"

#include "analysis/fold.h"
#include "analysis/own_fold.h"
#include "analysis/recursion.h"
#include "analysis/top.h"
#include "base/num.h"

#include <stdlib.h>

const struct sp_finding_info sp_finding_infos[SP_FINDINGS] = {
    [SP_FIND_UNRESOLVED] = {"unresolved", 5},
    [SP_FIND_NO_STACK] = {"no_stack", 5},
    [SP_FIND_LOST] = {"lost", 1},
    [SP_FIND_TRUNCATED] = {"truncated", 1},
    [SP_FIND_FEW] = {"few_samples", 1000},
    [SP_FIND_IDLE] = {"idle", 20},
    [SP_FIND_WAIT] = {"wait", 20},
    [SP_FIND_LOCK] = {"lock", 5},
    [SP_FIND_ALLOC] = {"allocation", 10},
    [SP_FIND_FAULT] = {"page_fault", 5},
    [SP_FIND_SYSCALL] = {"syscall", 20},
    [SP_FIND_RECURSION] = {"recursion", 10},
    [SP_FIND_IRQ] = {"irq_enable", 5},
    [SP_FIND_SATURATED] = {"saturated", 90},
    [SP_FIND_DOMINANT] = {"dominant_thread", 80},
};

/* Names as symbol tables and demanglers give them; with * at the end: names that begin so. */
static const char *const locks[] = {"pthread_mutex_lock",
                                    "__pthread_mutex_lock*",
                                    "___pthread_mutex_lock",
                                    "__GI___pthread_mutex_lock",
                                    "__lll_lock_wait*",
                                    "pthread_rwlock_rdlock",
                                    "pthread_rwlock_wrlock",
                                    "__pthread_rwlock_rdlock*",
                                    "__pthread_rwlock_wrlock*",
                                    "___pthread_rwlock_*",
                                    "pthread_spin_lock",
                                    "do_futex",
                                    "futex_wait*",
                                    "futex_wake*",
                                    "native_queued_spin_lock_slowpath",
                                    "queued_spin_lock_slowpath",
                                    "__pv_queued_spin_lock_slowpath",
                                    "_raw_spin_lock*",
                                    "mutex_lock*",
                                    "__mutex_lock*",
                                    "mutex_spin_on_owner",
                                    "rwsem_down_*",
                                    "down_read*",
                                    "down_write*",
                                    "osq_lock",
                                    "sync.(*Mutex).Lock*",
                                    "sync.(*Mutex).lockSlow",
                                    "sync.(*RWMutex).RLock",
                                    "sync.(*RWMutex).Lock",
                                    "runtime.lock2",
                                    "parking_lot::*",
                                    "__psynch_mutexwait",
                                    "_pthread_mutex_*",
                                    "os_unfair_lock_lock*",
                                    "_os_unfair_lock_lock_slow",
                                    "__ulock_wait*",
                                    "ObjectMonitor::enter*",
                                    "SharedRuntime::complete_monitor_locking*",
                                    "RtlEnterCriticalSection",
                                    "RtlpEnterCriticalSection*",
                                    "RtlAcquireSRWLock*",
                                    "AcquireSRWLock*",
                                    NULL};
static const char *const allocations[] = {"malloc",
                                          "__libc_malloc",
                                          "__GI___libc_malloc",
                                          "_int_malloc",
                                          "calloc",
                                          "__libc_calloc",
                                          "realloc",
                                          "__libc_realloc",
                                          "_int_realloc",
                                          "free",
                                          "cfree",
                                          "__libc_free",
                                          "__GI___libc_free",
                                          "_int_free*",
                                          "malloc_consolidate",
                                          "unlink_chunk*",
                                          "sysmalloc",
                                          "memalign",
                                          "posix_memalign",
                                          "aligned_alloc",
                                          "operator new*",
                                          "operator delete*",
                                          "je_malloc*",
                                          "je_free*",
                                          "tc_malloc*",
                                          "tc_free*",
                                          "tc_new*",
                                          "tc_delete*",
                                          "mi_malloc*",
                                          "mi_free*",
                                          "g_malloc*",
                                          "g_realloc*",
                                          "g_free*",
                                          "runtime.mallocgc*",
                                          "runtime.newobject",
                                          "runtime.makeslice",
                                          "runtime.growslice",
                                          "__rust_alloc*",
                                          "__rust_dealloc",
                                          "__rust_realloc",
                                          "__rdl_alloc*",
                                          "__rdl_dealloc",
                                          "HeapAlloc",
                                          "HeapFree",
                                          "RtlAllocateHeap",
                                          "RtlFreeHeap",
                                          "kmem_cache_alloc*",
                                          "kmem_cache_free*",
                                          "__kmalloc*",
                                          "kmalloc*",
                                          "kfree",
                                          NULL};
static const char *const faults[] = {"asm_exc_page_fault",
                                     "exc_page_fault",
                                     "do_user_addr_fault",
                                     "handle_mm_fault",
                                     "__handle_mm_fault",
                                     "page_fault",
                                     "do_page_fault",
                                     "__do_page_fault",
                                     "async_page_fault",
                                     "do_translation_fault",
                                     "do_mem_abort",
                                     "do_anonymous_page",
                                     "vm_fault",
                                     "MmAccessFault",
                                     NULL};
static const char *const syscalls[] = {"entry_SYSCALL_64*",
                                       "do_syscall_64",
                                       "entry_SYSENTER_*",
                                       "entry_INT80_*",
                                       "do_fast_syscall_32",
                                       "do_int80_syscall_32",
                                       "system_call_fastpath",
                                       "el0_svc*",
                                       "do_el0_svc",
                                       "invoke_syscall*",
                                       "unix_syscall64",
                                       "system_call_exception",
                                       "KiSystemServiceCopyEnd",
                                       NULL};

enum { CLASSES = 6, RECURSIVE = CLASSES, CALLED /* how many have own callers */ };
static const enum sp_finding_kind class_kinds[CLASSES] = {SP_FIND_IDLE,  SP_FIND_WAIT,  SP_FIND_LOCK,
                                                          SP_FIND_ALLOC, SP_FIND_FAULT, SP_FIND_SYSCALL};

static bool in(const char *const *names, struct sp_str s)
{
    for (; *names; names++) {
        size_t n = strlen(*names);
        bool begins = (*names)[n - 1] == '*';
        n -= begins;
        if ((begins ? s.n >= n : s.n == n) && memcmp(s.p, *names, n) == 0)
            return true;
    }
    return false;
}

static unsigned classes_of(const struct sp_profile *p, uint32_t event, uint32_t function)
{
    static const char *const *const lists[CLASSES] = {NULL, NULL, locks, allocations, faults, syscalls};
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    unsigned tags = sp_function_tags(p, event, function);
    unsigned classes = (tags & SP_TAG_IDLE ? 1u : 0) | (tags & SP_TAG_WAIT ? 2u : 0) |
                       (tags & SP_TAG_IRQ ? 1u << CLASSES : 0);
    for (unsigned i = 0; i < CLASSES; i++)
        if (lists[i] && in(lists[i], name))
            classes |= 1u << i;
    return classes;
}

struct finder {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_quality *q;
    const struct sp_own *own;
    struct sp_findings out;
    unsigned char *classes;   /* per function */
    struct sp_fold functions; /* by number */
    uint32_t *last;           /* per function: where it stood last in that row */
    SP_VEC(uint32_t) before;  /* per frame of the row: where its function stood before; SP_NONE: nowhere */
    uint32_t *again;          /* per function: 1 + the last row that has it twice */
    uint32_t *times;          /* per function: in that row */
    int64_t *through;         /* per function: its total, once all rows are in */
    unsigned char *proven;    /* per function: more than its name says that it recurs */
    int64_t *recursive;       /* per function: weight of the rows that have it twice */
    uint32_t *deepest;
    int64_t class_weight[CLASSES];
    int64_t recursion;
    /* of leaves that allow interrupts again; per function: of it, called by it */
    int64_t irq, *irq_leaf, *irq_caller;
    /* per function: weight of the class's rows that come from it; NULL: none did yet */
    int64_t *from[CALLED];
};

static bool findings_start(struct finder *x)
{
    size_t n = x->p->functions.n + 1;
    x->classes = calloc(n, 1);
    x->last = calloc(n, sizeof *x->last);
    x->again = calloc(n, sizeof *x->again);
    x->times = calloc(n, sizeof *x->times);
    x->through = calloc(n, sizeof *x->through);
    x->recursive = calloc(n, sizeof *x->recursive);
    x->proven = calloc(n, sizeof *x->proven);
    x->deepest = calloc(n, sizeof *x->deepest);
    x->irq_leaf = calloc(n, sizeof *x->irq_leaf);
    x->irq_caller = calloc(n, sizeof *x->irq_caller);
    if (!sp_fold_reserve(&x->functions, n) || !x->classes || !x->last || !x->again || !x->times ||
        !x->through || !x->recursive || !x->proven || !x->deepest || !x->irq_leaf || !x->irq_caller)
        return false;
    for (uint32_t i = 0; i < x->p->functions.n; i++)
        x->classes[i] = (unsigned char)classes_of(x->p, x->s->event, i);
    return true;
}

static void findings_finish(struct finder *x)
{
    free(x->classes);
    sp_fold_free(&x->functions);
    free(x->last);
    sp_vec_free(&x->before);
    free(x->again);
    free(x->times);
    free(x->through);
    free(x->recursive);
    free(x->proven);
    free(x->deepest);
    free(x->irq_leaf);
    free(x->irq_caller);
    for (int i = 0; i < CALLED; i++)
        free(x->from[i]);
}

static void repeated(struct finder *x, uint32_t f, uint32_t stamp, int64_t weight)
{
    if (sp_fold_first(&x->again[f], stamp)) {
        x->times[f] = 1;
        x->recursive[f] += weight;
    }
    x->times[f]++;
    if (x->times[f] > x->deepest[f])
        x->deepest[f] = x->times[f];
}

/* Whether one of the frames of this row that have the function's name is the function itself. */
static enum sp_sameness findings_recurs(const struct finder *x, const uint32_t *frames, size_t k)
{
    enum { LOOK_BACK = 64 }; /* a name of so many functions in one stack is none */
    enum sp_sameness best = SP_OTHERS;
    uint32_t at = x->before.v[k];
    for (unsigned i = 0; at != SP_NONE && i < LOOK_BACK && best < SP_SAME; i++, at = x->before.v[at]) {
        enum sp_sameness is = sp_same_function(x->p, frames, at, k);
        best = is > best ? is : best;
    }
    return best;
}

/* A leaf that allows interrupts again: its weight is that of the nearest caller that does something else. */
static void charge(struct finder *x, const uint32_t *frames, size_t n, int64_t weight)
{
    size_t k = 0;
    const struct sp_frame *f = x->p->frames.v;
    while (k < n && x->classes[f[frames[k]].function] >> CLASSES & 1)
        k++;
    if (!k)
        return;
    x->irq += weight;
    x->irq_leaf[f[frames[0]].function] += weight;
    if (k < n)
        x->irq_caller[f[frames[k]].function] += weight;
}

/* Of a row of a class: the frame of it nearest to the leaf is `first`. */
static bool add_from(struct finder *x, int class, const uint32_t *frames, size_t n, size_t first,
                     int64_t weight)
{
    size_t at;
    uint32_t f = x->own->all ? SP_NONE : sp_own_nearest(x->p, x->own, frames, n, first, &at);
    if (f == SP_NONE)
        return true;
    if (!x->from[class])
        x->from[class] = calloc(x->p->functions.n + 1, sizeof *x->from[class]);
    if (!x->from[class])
        return false;
    x->from[class][f] += weight;
    return true;
}

static bool findings_add_row(struct finder *x, size_t i)
{
    size_t n, first[CALLED] = {0};
    const uint32_t *frames = sp_selected_frames(x->s, i, &n);
    const struct sp_selected *row = &x->s->rows.v[i];
    struct sp_str state = sp_pstr(x->p, x->p->contexts.v[x->p->stacks.v[row->stack].context].state);
    uint32_t stamp = (uint32_t)i + 1;
    unsigned classes = sp_str_is(state, "IDLE") ? 1 : 0;
    bool recursive = false;
    if (!frames || !sp_vec_reserve(&x->before, n + 1))
        return false;
    for (size_t k = 0; k < n; k++) {
        uint32_t f = x->p->frames.v[frames[k]].function;
        bool seen = !sp_fold_total(&x->functions, f, row, stamp);
        x->before.v[k] = seen ? x->last[f] : SP_NONE;
        x->last[f] = (uint32_t)k;
        if (seen) {
            enum sp_sameness again = findings_recurs(x, frames, k);
            if (again && !recursive)
                first[RECURSIVE] = k;
            recursive = recursive || again;
            x->proven[f] |= again == SP_SAME;
            if (again)
                repeated(x, f, stamp, row->weight);
            continue;
        }
        for (unsigned c = 0, fresh = x->classes[f] & ~classes; fresh >> c; c++)
            if (fresh >> c & 1)
                first[c] = k;
        classes |= x->classes[f];
    }
    charge(x, frames, n, row->weight);
    bool ok = true;
    for (unsigned c = 0; ok && c < CLASSES; c++) {
        if (!(classes >> c & 1))
            continue;
        x->class_weight[c] += row->weight;
        ok = add_from(x, (int)c, frames, n, first[c], row->weight);
    }
    x->recursion += recursive ? row->weight : 0;
    return ok && (!recursive || add_from(x, RECURSIVE, frames, n, first[RECURSIVE], row->weight));
}

/* The function with most of something; SP_NONE where nothing is above 0. */
static uint32_t findings_heaviest(const struct finder *x, const int64_t *weight, unsigned classes)
{
    const struct sp_profile *p = x->p;
    uint32_t best = SP_NONE;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        if (weight[i] <= 0 || (classes && !(x->classes[i] & classes)))
            continue;
        if (best == SP_NONE || weight[i] > weight[best] ||
            (weight[i] == weight[best] &&
             sp_str_cmp(sp_pstr(p, p->functions.v[i].name), sp_pstr(p, p->functions.v[best].name)) < 0))
            best = i;
    }
    return best;
}

static bool reaches(enum sp_finding_kind kind, int64_t part, int64_t of)
{
    return of > 0 && part > 0 && (__int128)part * 100 >= (__int128)of * sp_finding_infos[kind].percent;
}

static bool found(struct finder *x, struct sp_finding f)
{
    return !reaches(f.kind, f.part, f.of) || sp_vec_push(&x->out.list, f);
}

static struct sp_finding about(enum sp_finding_kind kind, int64_t weight, int64_t part, int64_t of)
{
    return (struct sp_finding){.kind = kind,
                               .weight = weight,
                               .part = part,
                               .of = of,
                               .function = SP_NONE,
                               .context = SP_NONE,
                               .from = SP_NONE};
}

static void find_from(const struct finder *x, int class, struct sp_finding *f)
{
    if (!x->from[class])
        return;
    f->from = findings_heaviest(x, x->from[class], 0);
    f->from_weight = f->from == SP_NONE ? 0 : x->from[class][f->from];
    if ((__int128)f->from_weight * 2 <= f->weight) /* not most of it */
        f->from = SP_NONE;
}

/* Every occurrence was recorded: its shares are exact, however few there are. */
static bool counts_all(const struct sp_profile *p, uint32_t event)
{
    const struct sp_event *e = &p->events.v[event];
    return e->mode == SP_EVENT || (e->mode == SP_PERIOD && sp_str_is(sp_pstr(p, e->sample_period), "1"));
}

static bool data_findings(struct finder *x)
{
    const struct sp_selection *s = x->s;
    const struct sp_quality *q = x->q;
    int64_t samples = sp_event_samples(x->p, s->event);
    int64_t lost = q->lost > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)q->lost;
    int64_t cut = q->truncated > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)q->truncated;
    int64_t all = samples > 0 && samples < INT64_MAX / 4 ? samples : 0;
    bool ok = found(x, about(SP_FIND_UNRESOLVED, q->unresolved_leaf, q->unresolved_leaf, s->whole)) &&
              found(x, about(SP_FIND_NO_STACK, q->no_stack, q->no_stack, s->whole)) &&
              found(x, about(SP_FIND_LOST, SP_ABSENT, lost, all ? all + lost : 0)) &&
              found(x, about(SP_FIND_TRUNCATED, SP_ABSENT, cut, all));
    if (ok && s->whole_samples > 0 && s->whole_samples < sp_finding_infos[SP_FIND_FEW].percent &&
        !counts_all(x->p, s->event))
        ok = sp_vec_push(&x->out.list, about(SP_FIND_FEW, SP_ABSENT, s->whole_samples, s->whole_samples));
    return ok;
}

static bool contains_any(struct sp_str s, const char *const *words)
{
    for (; *words; words++)
        if (s.n && memmem(s.p, s.n, *words, strlen(*words)))
            return true;
    return false;
}

/* What an event is by its nature is no finding: that an allocation allocates, or that who left the CPU waits.
 */
static bool goes_without_saying(const struct finder *x, enum sp_finding_kind kind)
{
    static const char *const off_cpu[] = {"off-cpu",
                                          "offcpu",
                                          "off_cpu",
                                          "sched_switch",
                                          "context-switches",
                                          "sched_stat_sleep",
                                          "sched_stat_iowait",
                                          "sched_stat_blocked",
                                          NULL};
    static const char *const locks_only[] = {"contention", "mutex", "futex", "lock:", NULL};
    static const char *const heap[] = {"alloc", "heap", "kmem:", "free", "inuse", "brk", NULL};
    static const char *const page_faults[] = {"page-fault", "page_fault", "minor-fault", "major-fault", NULL};
    static const char *const calls[] = {"syscalls:", "sys_enter", "sys_exit", NULL};
    const struct sp_event *e = &x->p->events.v[x->s->event];
    struct sp_str name = sp_pstr(x->p, e->name), metric = sp_pstr(x->p, x->p->metrics.v[x->s->metric].name);
    bool off = contains_any(name, off_cpu) || contains_any(metric, off_cpu) || sp_str_is(name, "cs");
    bool blocked = contains_any(name, locks_only) || sp_str_is(name, "block");
    switch (kind) {
    case SP_FIND_ALLOC:
        return e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION || contains_any(name, heap);
    case SP_FIND_IDLE:
    case SP_FIND_SYSCALL:
        return off || contains_any(name, calls);
    case SP_FIND_WAIT:
        return off || blocked;
    case SP_FIND_LOCK:
        return blocked;
    case SP_FIND_FAULT:
        return contains_any(name, page_faults);
    default:
        return false;
    }
}

static bool class_findings(struct finder *x)
{
    bool ok = true;
    for (unsigned c = 0; ok && c < CLASSES; c++) {
        if (goes_without_saying(x, class_kinds[c]))
            continue;
        struct sp_finding f = about(class_kinds[c], x->class_weight[c], x->class_weight[c], x->s->whole);
        f.function = findings_heaviest(x, x->through, 1u << c);
        f.through = f.function == SP_NONE ? 0 : x->through[f.function];
        find_from(x, (int)c, &f);
        ok = found(x, f);
    }
    struct sp_finding f = about(SP_FIND_RECURSION, x->recursion, x->recursion, x->s->whole);
    f.function = findings_heaviest(x, x->recursive, 0);
    if (f.function != SP_NONE) {
        f.through = x->recursive[f.function];
        f.deepest = x->deepest[f.function];
        f.by_name = !x->proven[f.function];
        find_from(x, RECURSIVE, &f);
    }
    return ok && found(x, f);
}

static bool irq_finding(struct finder *x)
{
    struct sp_finding f = about(SP_FIND_IRQ, x->irq, x->irq, x->s->whole);
    f.function = findings_heaviest(x, x->irq_leaf, 0);
    f.through = f.function == SP_NONE ? 0 : x->irq_leaf[f.function];
    for (size_t i = 0; i < SP_FINDING_CALLERS; i++) {
        uint32_t caller = f.callers[i].function = findings_heaviest(x, x->irq_caller, 0);
        if (caller == SP_NONE)
            continue;
        f.callers[i].weight = x->irq_caller[caller];
        x->irq_caller[caller] = 0;
    }
    return found(x, f);
}

/* Nanoseconds of the whole profile; 0: not known. */
static int64_t duration(const struct sp_profile *p)
{
    struct sp_str t = sp_pstr(p, p->header.duration);
    int64_t m;
    unsigned scale;
    if (!t.n || !sp_parse_scaled(t.p, t.n, &m, &scale) || m <= 0)
        return 0;
    for (; scale < 9; scale++)
        if (__builtin_mul_overflow(m, 10, &m))
            return 0;
    for (; scale > 9; scale--)
        m /= 10;
    return m;
}

/* Weights are time on a CPU: a clock's, in ns, of all states that run. */
static bool is_cpu_time(const struct sp_selection *s)
{
    enum sp_event_kind kind = s->profile->events.v[s->event].kind;
    struct sp_str name = sp_pstr(s->profile, s->profile->events.v[s->event].name);
    return (kind == SP_SOFTWARE || kind == SP_TIMER) && sp_str_is(s->unit, "ns") && !s->scale &&
           (sp_str_is(name, "cpu-clock") || sp_str_is(name, "task-clock"));
}

/* Of a pool, one thread may be busy: rows are single threads. */
static bool top_of_threads(struct finder *x, struct sp_diags *d, struct sp_top *out)
{
    struct sp_pools pools = x->s->pools;
    if (sp_pools_none(x->p, d, &x->s->pools)) {
        x->s->pools = pools;
        return false;
    }
    bool ok = sp_top_build(x->s, SP_TOP_THREAD, false, d, out) == SPAA_OK;
    sp_pools_free(&x->s->pools);
    x->s->pools = pools;
    return ok;
}

static bool thread_findings(struct finder *x, struct sp_diags *d)
{
    struct sp_top t;
    if (!top_of_threads(x, d, &t))
        return false;
    bool ok = true;
    const struct sp_top_row *r = t.rows.n ? &t.rows.v[0] : NULL;
    if (r && x->p->contexts.v[r->context].tid != SP_ABSENT) {
        struct sp_finding f = about(SP_FIND_SATURATED, r->self, r->self,
                                    is_cpu_time(x->s) && !x->s->timed ? duration(x->p) : 0);
        f.context = r->context;
        ok = found(x, f);
        f = about(SP_FIND_DOMINANT, r->self, r->self, t.rows.n > 1 ? x->s->whole : 0);
        f.context = r->context;
        f.count = t.rows.n;
        ok = ok && found(x, f);
    }
    sp_top_free(&t);
    return ok;
}

spaa_status sp_findings_of(struct sp_selection *s, const struct sp_quality *q, const struct sp_own *own,
                           struct sp_diags *d, struct sp_findings *out)
{
    struct finder x = {.s = s, .p = s->profile, .q = q, .own = own};
    bool ok = true;
    if (!s->cannot_add) {
        ok = findings_start(&x);
        for (size_t i = 0; ok && i < s->rows.n; i++)
            ok = findings_add_row(&x, i);
        for (size_t i = 0; ok && i < x.p->functions.n; i++)
            x.through[i] = x.functions.total.v[i].weight;
        ok = ok && data_findings(&x) && class_findings(&x) && irq_finding(&x) && thread_findings(&x, d);
    }
    findings_finish(&x);
    if (!ok) {
        sp_findings_free(&x.out);
        return sp_nomem(d);
    }
    *out = x.out;
    return SPAA_OK;
}

void sp_findings_free(struct sp_findings *f)
{
    sp_vec_free(&f->list);
}
