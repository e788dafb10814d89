#include "analysis/thread_info.h"

#include "analysis/process.h"
#include "analysis/state_shares.h"

#include "base/hash.h"
#include "model/facts.h"
#include "model/labels.h"
#include "model/listed_threads.h"

#include <stdlib.h>

void sp_thread_info_free(struct sp_thread_info *f)
{
    sp_vec_free(&f->threads);
    sp_vec_free(&f->processes);
    sp_map_free(&f->by_tid);
    sp_map_free(&f->by_pid);
    sp_map_free(&f->by_name);
}

const struct sp_reported_thread *sp_thread_info_thread(const struct sp_thread_info *f, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&f->by_tid, sp_hash_mix((uint64_t)tid, 7));
    for (uint32_t i; (i = sp_map_next(&f->by_tid, &at)) != SP_MAP_NONE;)
        if (f->threads.v[i].tid == tid)
            return &f->threads.v[i];
    return NULL;
}

static uint64_t thread_info_hash(int64_t pid, uint32_t name, uint32_t instance)
{
    return sp_hash_mix((uint64_t)pid, (uint64_t)name << 32 | instance);
}

/* Of that number, name and instance. */
static struct sp_reported_process *find_process(const struct sp_thread_info *f, int64_t pid, uint32_t name,
                                                uint32_t instance)
{
    struct sp_probe at = sp_map_probe(&f->by_name, thread_info_hash(pid, name, instance));
    for (uint32_t i; (i = sp_map_next(&f->by_name, &at)) != SP_MAP_NONE;) {
        struct sp_reported_process *x = &f->processes.v[i];
        if (x->pid == pid && x->name == name && x->instance == instance)
            return x;
    }
    return NULL;
}

/* The first of that number. */
static struct sp_reported_process *process(const struct sp_thread_info *f, int64_t pid)
{
    struct sp_probe at = sp_map_probe(&f->by_pid, sp_hash_mix((uint64_t)pid, 9));
    for (uint32_t i; (i = sp_map_next(&f->by_pid, &at)) != SP_MAP_NONE;)
        if (f->processes.v[i].pid == pid)
            return &f->processes.v[i];
    return NULL;
}

const struct sp_reported_process *sp_thread_info_process(const struct sp_thread_info *f, int64_t pid,
                                                         uint32_t nth)
{
    const struct sp_reported_process *x = process(f, pid);
    for (; x && nth; nth--)
        x = x->next == SP_NONE ? NULL : &f->processes.v[x->next];
    return x;
}

bool sp_is_same_program(const struct sp_profile *p, const struct sp_context *a, const struct sp_context *b)
{
    return !sp_is_of_hangs(p, a->event) ||
           (a->pid == b->pid && a->comm == b->comm && a->source == b->source &&
            sp_str_cmp(sp_process_instance(p, a), sp_process_instance(p, b)) == 0);
}

static struct sp_reported_process *thread_info_exactly(const struct sp_thread_info *f,
                                                       const struct sp_context *c)
{
    const struct sp_label *l = sp_labels_find(f->profile, c->labels, (struct sp_str){"instance", 8});
    return find_process(f, c->pid, c->comm, l ? l->value : SP_STR_NONE);
}

const struct sp_reported_process *sp_thread_info_process_of(const struct sp_thread_info *f,
                                                            const struct sp_context *c)
{
    const struct sp_reported_process *x = thread_info_exactly(f, c);
    return x ? x : process(f, c->pid);
}

const struct sp_reported_thread *sp_thread_info_thread_of(const struct sp_thread_info *f,
                                                          const struct sp_context *c)
{
    const struct sp_reported_thread *one = NULL;
    const struct sp_reported_process *of = c->pid == SP_ABSENT ? NULL : sp_thread_info_process_of(f, c);
    struct sp_probe at = sp_map_probe(&f->by_tid, sp_hash_mix((uint64_t)c->tid, 7));
    for (uint32_t i; (i = sp_map_next(&f->by_tid, &at)) != SP_MAP_NONE;) {
        const struct sp_reported_thread *t = &f->threads.v[i];
        if (t->tid != c->tid)
            continue;
        if (of && &f->processes.v[t->process] == of)
            return t;
        one = one ? one : t;
    }
    return one;
}

static int64_t thread_info_stated(int64_t v)
{
    return v == SP_ABSENT ? -1 : v;
}

static struct sp_reported_cpu thread_info_cpu(int64_t ns, int64_t cycles, int64_t instructions)
{
    return (struct sp_reported_cpu){thread_info_stated(ns), thread_info_stated(cycles),
                                    thread_info_stated(instructions)};
}

/* An empty text names nothing. */
static uint32_t thread_info_text(const struct sp_profile *p, uint32_t s)
{
    return sp_pstr(p, s).n ? s : SP_STR_NONE;
}

static bool add_process(struct sp_thread_info *f, const struct sp_reported_process *x)
{
    uint32_t n = (uint32_t)f->processes.n;
    if (f->processes.n >= SP_NONE - 1 || !sp_vec_push(&f->processes, *x) ||
        !sp_map_add(&f->by_name, thread_info_hash(x->pid, x->name, x->instance), n))
        return false;
    f->processes.v[n].next = f->processes.v[n].last = SP_NONE;
    struct sp_reported_process *first = process(f, x->pid);
    if (!first)
        return sp_map_add(&f->by_pid, sp_hash_mix((uint64_t)x->pid, 9), n);
    f->processes.v[first->last == SP_NONE ? (uint32_t)(first - f->processes.v) : first->last].next = n;
    first->last = n;
    return true;
}

static bool thread_info_add_fact(struct sp_thread_info *f, const struct sp_profile *p,
                                 const struct sp_process_fact *fact)
{
    struct sp_reported_process x = {
        .pid = fact->pid,
        .name = thread_info_text(p, fact->name),
        .instance = thread_info_text(p, fact->instance),
        .cpu = thread_info_cpu(fact->cpu_time_ns, fact->cycles, fact->instructions),
        .frontmost = fact->flags & SP_FACT_FRONTMOST,
        .suspended = fact->flags & SP_FACT_SUSPENDED,
        .main = SP_ABSENT,
    };
    if (x.pid == SP_ABSENT || find_process(f, x.pid, x.name, x.instance))
        return true;
    f->any_cpu = f->any_cpu || x.cpu.cpu_ns >= 0;
    return add_process(f, &x);
}

static void thread_info_add_part(int64_t *sum, int64_t v)
{
    if (v >= 0 && __builtin_add_overflow(*sum < 0 ? 0 : *sum, v, sum))
        *sum = INT64_MAX;
}

struct sp_reported_cpu sp_thread_info_cpu(const struct sp_thread_info *f, const struct sp_context *c)
{
    struct sp_reported_cpu sum = {-1, -1, -1};
    const struct sp_reported_thread *one = sp_thread_info_thread_of(f, c);
    struct sp_probe at = sp_map_probe(&f->by_tid, sp_hash_mix((uint64_t)c->tid, 7));
    for (uint32_t i; one && (i = sp_map_next(&f->by_tid, &at)) != SP_MAP_NONE;) {
        const struct sp_reported_thread *t = &f->threads.v[i];
        if (t->tid != c->tid || t->pid != one->pid || t->comm != one->comm)
            continue;
        thread_info_add_part(&sum.cpu_ns, t->cpu.cpu_ns);
        thread_info_add_part(&sum.cycles, t->cpu.cycles);
        thread_info_add_part(&sum.instructions, t->cpu.instructions);
    }
    return sum;
}

/* In the process of the table with this number; SP_NONE: in the one that its name tells. */
static bool thread_info_add_thread(struct sp_thread_info *f, const struct sp_profile *p,
                                   const struct sp_thread *t, uint32_t process_number, const bool *stated)
{
    struct sp_reported_thread x = {.pid = t->pid,
                                   .tid = t->tid,
                                   .comm = t->comm,
                                   .name = thread_info_text(p, t->name),
                                   .queue = thread_info_text(p, t->queue),
                                   .cpu = thread_info_cpu(t->cpu_time_ns, t->cycles, t->instructions)};
    struct sp_str queue = sp_pstr(p, x.queue);
    x.main = queue.n && memmem(queue.p, queue.n, "com.apple.main-thread", 21);
    f->any_cpu = f->any_cpu || x.cpu.cpu_ns >= 0;
    struct sp_reported_process *of_thread = process_number != SP_NONE
                                                ? &f->processes.v[process_number]
                                                : find_process(f, t->pid, t->comm, SP_STR_NONE);
    of_thread = of_thread ? of_thread : process(f, t->pid);
    if (!of_thread) {
        struct sp_reported_process fresh = {.pid = t->pid, .cpu = {-1, -1, -1}, .main = SP_ABSENT};
        if (!add_process(f, &fresh))
            return false;
        of_thread = &f->processes.v[f->processes.n - 1];
    }
    x.process = (uint32_t)(of_thread - f->processes.v);
    if (!stated[x.process]) {
        thread_info_add_part(&of_thread->cpu.cpu_ns, x.cpu.cpu_ns);
        thread_info_add_part(&of_thread->cpu.cycles, x.cpu.cycles);
        thread_info_add_part(&of_thread->cpu.instructions, x.cpu.instructions);
    }
    if (x.main && of_thread->main == SP_ABSENT && !sp_thread_info_process(f, x.pid, 1))
        of_thread->main = x.tid;
    return f->threads.n < SP_NONE - 1 && sp_vec_push(&f->threads, x) &&
           sp_map_add(&f->by_tid, sp_hash_mix((uint64_t)x.tid, 7), (uint32_t)f->threads.n - 1);
}

/* What is to be known of the threads that processes of one number list, in reports. */
struct thread_info_lists {
    struct sp_listed_threads listed;
    uint32_t *of; /* by record: number of the process that it is of; SP_NONE: its name tells */
    bool *stated;
    bool add; /* threads whose record another process has; else `of` is filled */
};

static bool thread_info_of_process(struct sp_thread_info *f, struct thread_info_lists *x,
                                   const struct sp_process_fact *fact, uint32_t number)
{
    struct sp_listed_thread l;
    uint32_t record;
    bool ok = true;
    sp_listed_threads_of(&x->listed, fact);
    while (ok && sp_listed_threads_next(&x->listed, fact, &l, &record)) {
        if (l.own && record != SP_NONE)
            x->of[record] = number;
        if (l.own || !x->add)
            continue;
        struct sp_thread t = {.pid = fact->pid, .tid = l.tid, .comm = f->processes.v[number].name};
        sp_facts_clear(sp_thread_facts, &t);
        t.name = l.name;
        t.queue = l.queue;
        t.cpu_time_ns = l.cpu_time_ns;
        t.cycles = l.cycles;
        t.instructions = l.instructions;
        ok = thread_info_add_thread(f, x->listed.p, &t, number, x->stated);
    }
    return ok;
}

static bool thread_info_lists(struct sp_thread_info *f, struct thread_info_lists *x)
{
    const struct sp_profile *p = x->listed.p;
    bool ok = true;
    for (size_t i = 0; ok && i < p->processes.n; i++) {
        const struct sp_process_fact *fact = &p->processes.v[i];
        const struct sp_reported_process *of = NULL;
        if (sp_thread_info_process(f, fact->pid, 1))
            of = find_process(f, fact->pid, thread_info_text(p, fact->name),
                              thread_info_text(p, fact->instance));
        ok = !of || thread_info_of_process(f, x, fact, (uint32_t)(of - f->processes.v));
    }
    return ok;
}

/* All threads; where a number was of several processes, reports list which were whose. */
static bool thread_info_add_threads(struct sp_thread_info *f, const struct sp_profile *p)
{
    struct thread_info_lists x = {.listed = {.p = p}};
    bool again = false;
    x.of = malloc((p->threads.n + 1) * sizeof *x.of);
    x.stated = calloc(f->processes.n + p->threads.n + 1, sizeof *x.stated);
    bool ok = x.of && x.stated;
    for (size_t i = 0; ok && i < f->processes.n; i++) {
        x.stated[i] = f->processes.v[i].cpu.cpu_ns >= 0;
        again = again || f->processes.v[i].next != SP_NONE;
    }
    for (size_t i = 0; ok && i < p->threads.n; i++)
        x.of[i] = SP_NONE;
    ok = ok && (!again || (sp_listed_threads_open(&x.listed, p) && thread_info_lists(f, &x)));
    for (size_t i = 0; ok && i < p->threads.n; i++)
        ok = thread_info_add_thread(f, p, &p->threads.v[i], x.of[i], x.stated);
    x.add = true;
    ok = ok && (!again || thread_info_lists(f, &x));
    sp_listed_threads_close(&x.listed);
    free(x.of);
    free(x.stated);
    return ok;
}

/*
 * By the root of its stacks: what the system begins threads of a program with is never below its main thread.
 * Nor is what the first thread sleeps in for good once it has left its queue to others (dispatch_main).
 */
enum thread_info_root { ROOT_OTHER, ROOT_WORKER, ROOT_MAIN };
static enum thread_info_root thread_info_root(const struct sp_profile *p, const struct sp_stack *s)
{
    static const char *const workers[] = {"thread_start",      "_pthread_start",       "start_wqthread",
                                          "_pthread_wqthread", "_dispatch_sig_thread", NULL},
                             *const mains[] = {"start", "main", NULL};
    if (!s->n)
        return ROOT_OTHER;
    struct sp_str root =
        sp_pstr(p, p->functions.v[p->frames.v[p->stack_frames.v[s->first + s->n - 1]].function].name);
    return sp_name_index(workers, root.p, root.n) >= 0 ? ROOT_WORKER
           : sp_name_index(mains, root.p, root.n) >= 0 ? ROOT_MAIN
                                                       : ROOT_OTHER;
}

static void thread_info_roots(struct sp_thread_info *f, const struct sp_profile *p)
{
    for (size_t i = 0; i < p->stacks.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        enum thread_info_root root = ROOT_OTHER;
        if (c->tid != SP_ABSENT && sp_is_of_hangs(p, c->event))
            root = thread_info_root(p, &p->stacks.v[i]);
        if (root == ROOT_OTHER)
            continue;
        struct sp_probe at = sp_map_probe(&f->by_tid, sp_hash_mix((uint64_t)c->tid, 7));
        for (uint32_t k; (k = sp_map_next(&f->by_tid, &at)) != SP_MAP_NONE;)
            if (f->threads.v[k].tid == c->tid && f->threads.v[k].pid == c->pid) {
                f->threads.v[k].worker = f->threads.v[k].worker || root == ROOT_WORKER;
                f->threads.v[k].begins = f->threads.v[k].begins || root == ROOT_MAIN;
            }
    }
}

/* Without a queue that says so, the first thread is the main one, if it is none that the program began: of a
 * part of a report, the one that the program begins in. 0 is no process, or an unknown one. */
static void thread_info_mains(struct sp_thread_info *f, bool begins)
{
    for (size_t i = 0; i < f->threads.n; i++) {
        struct sp_reported_thread *t = &f->threads.v[i];
        struct sp_reported_process *x = process(f, t->pid);
        if (!x || !x->pid || x->pid == SP_ABSENT || x->main != SP_ABSENT ||
            sp_thread_info_process(f, x->pid, 1))
            continue;
        bool is = !t->worker && (begins ? t->begins : !x->met);
        x->met = true;
        if (!is)
            continue;
        x->main = t->tid;
        t->main = true;
    }
}

/* Of numbers that several processes had, contexts tell whose a thread is: first those that serve the main
 * queue, then, in their order, all. */
static void thread_info_mains_of_several(struct sp_thread_info *f, const struct sp_profile *p)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p->contexts.n; i++) {
            const struct sp_context *c = &p->contexts.v[i];
            if (c->tid == SP_ABSENT || c->pid == SP_ABSENT || !sp_thread_info_process(f, c->pid, 1))
                continue;
            struct sp_reported_process *x = thread_info_exactly(f, c);
            const struct sp_reported_thread *t = sp_thread_info_thread_of(f, c);
            if (x && x->main == SP_ABSENT && ((pass && !(t && t->worker)) || (t && t->main)))
                x->main = c->tid;
        }
}

spaa_status sp_thread_info_of(const struct sp_profile *p, struct sp_diags *d, struct sp_thread_info *out)
{
    struct sp_thread_info f = {.profile = p};
    bool ok = true;
    for (size_t i = 0; ok && i < p->processes.n; i++)
        ok = thread_info_add_fact(&f, p, &p->processes.v[i]);
    ok = ok && thread_info_add_threads(&f, p);
    if (ok) {
        thread_info_roots(&f, p);
        thread_info_mains(&f, false);
        thread_info_mains(&f, true);
    }
    if (ok)
        thread_info_mains_of_several(&f, p);
    if (!ok) {
        sp_thread_info_free(&f);
        return sp_nomem(d);
    }
    *out = f;
    return SPAA_OK;
}
