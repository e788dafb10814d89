#include "analysis/process.h"

#include "analysis/state_shares.h"
#include "model/labels.h"

#include <stdlib.h>

/* The main thread's tid is the pid. */
static int process_cmp_process(const void *va, const void *vb)
{
    const struct sp_process *a = va, *b = vb;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if ((a->tid == a->pid) != (b->tid == b->pid))
        return a->tid == a->pid ? -1 : 1;
    if (a->of_stack != b->of_stack)
        return a->of_stack ? 1 : -1;
    return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : (a->comm > b->comm) - (a->comm < b->comm);
}

static bool process_add(struct sp_processes *x, const struct sp_profile *p, struct sp_process y)
{
    return y.pid == SP_ABSENT || !sp_pstr(p, y.comm).n || sp_vec_push(&x->list, y);
}

static int process_cmp_start(const void *va, const void *vb)
{
    const struct sp_process_fact *a = *(const struct sp_process_fact *const *)va,
                                 *b = *(const struct sp_process_fact *const *)vb;
    return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
                            : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The name that is told of a process is its own, where another than its main thread would name it. */
static void process_name_by_fact(struct sp_process *x, const struct sp_process_fact *f)
{
    if (x->tid != x->pid && !x->shared && f->name != SP_STR_NONE)
        x->comm = f->name;
}

/* A number is of another process once one is told to have begun after the one before had ended. */
static bool process_take_facts(struct sp_processes *x, const struct sp_profile *p)
{
    const struct sp_process_fact **facts = malloc((p->processes.n + 1) * sizeof(struct sp_process_fact *));
    if (!facts)
        return false;
    for (size_t i = 0; i < p->processes.n; i++)
        facts[i] = &p->processes.v[i];
    qsort(facts, p->processes.n, sizeof(struct sp_process_fact *), process_cmp_start);
    for (size_t i = 0, k = 0; i < x->list.n; i++) {
        int64_t ended = SP_ABSENT;
        while (k < p->processes.n && facts[k]->pid < x->list.v[i].pid)
            k++;
        for (size_t first = k; k < p->processes.n && facts[k]->pid == x->list.v[i].pid; k++) {
            x->list.v[i].shared |= facts[k]->name != facts[first]->name;
            x->list.v[i].told |= facts[k]->name != SP_STR_NONE;
            x->list.v[i].lives += ended != SP_ABSENT && facts[k]->start_ns > ended;
            ended = facts[k]->exit_ns;
        }
        if (k && facts[k - 1]->pid == x->list.v[i].pid)
            process_name_by_fact(&x->list.v[i], facts[k - 1]);
    }
    free(facts);
    return true;
}

spaa_status sp_processes_of(const struct sp_profile *p, struct sp_diags *d, struct sp_processes *out)
{
    struct sp_processes x = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->threads.n; i++)
        ok = process_add(&x, p,
                         (struct sp_process){.pid = p->threads.v[i].pid,
                                             .tid = p->threads.v[i].tid,
                                             .comm = p->threads.v[i].comm,
                                             .lives = 1});
    for (size_t i = 0; ok && i < p->contexts.n; i++)
        ok = process_add(&x, p,
                         (struct sp_process){.pid = p->contexts.v[i].pid,
                                             .tid = p->contexts.v[i].tid,
                                             .comm = p->contexts.v[i].comm,
                                             .lives = 1,
                                             .of_stack = true});
    if (!ok) {
        sp_processes_free(&x);
        return sp_nomem(d);
    }
    if (x.list.n)
        qsort(x.list.v, x.list.n, sizeof *x.list.v, process_cmp_process);
    size_t kept = 0;
    for (size_t i = 0; i < x.list.n; i++)
        if (!kept || x.list.v[kept - 1].pid != x.list.v[i].pid)
            x.list.v[kept++] = x.list.v[i];
    x.list.n = kept;
    if (!process_take_facts(&x, p)) {
        sp_processes_free(&x);
        return sp_nomem(d);
    }
    *out = x;
    return SPAA_OK;
}

void sp_processes_free(struct sp_processes *x)
{
    sp_vec_free(&x->list);
}

const struct sp_process *sp_process_find(const struct sp_processes *x, int64_t pid)
{
    size_t lo = 0, hi = x->list.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->list.v[mid].pid < pid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->list.n && x->list.v[lo].pid == pid ? &x->list.v[lo] : NULL;
}

struct sp_str sp_process_name(const struct sp_profile *p, const struct sp_processes *x, int64_t pid)
{
    const struct sp_process *y = sp_process_find(x, pid);
    return y ? sp_pstr(p, y->comm) : (struct sp_str){"", 0};
}

struct sp_str sp_process_instance(const struct sp_profile *p, const struct sp_context *c)
{
    const struct sp_label *l = sp_labels_find(p, c->labels, (struct sp_str){"instance", 8});
    return l ? sp_pstr(p, l->value) : (struct sp_str){"", 0};
}

/*
 * A number was of several processes, and the context's name is that of one of them: in hang reports, where it
 * is the process's. Elsewhere it is a thread's, which may be of either.
 */
static bool process_is_named(const struct sp_profile *p, const struct sp_process *x,
                             const struct sp_context *c)
{
    if (!x || !x->shared || !c->comm || !sp_is_of_hangs(p, c->event))
        return false;
    for (size_t i = 0; i < p->processes.n; i++)
        if (p->processes.v[i].pid == c->pid && p->processes.v[i].name == c->comm)
            return true;
    return false;
}

struct sp_str sp_process_name_of(const struct sp_profile *p, const struct sp_processes *x,
                                 const struct sp_context *c)
{
    bool apart = process_is_named(p, sp_process_find(x, c->pid), c);
    return apart ? sp_pstr(p, c->comm) : sp_process_name(p, x, c->pid);
}

void sp_process_text(const struct sp_profile *p, const struct sp_processes *x, const struct sp_context *c,
                     struct sp_buf *b)
{
    const struct sp_process *process = sp_process_find(x, c->pid);
    struct sp_str name = sp_process_name_of(p, x, c), instance = sp_process_instance(p, c);
    sp_buf_add(b, name.p, name.n);
    sp_buf_puts(b, name.n ? " (pid " : "pid ");
    if (c->pid == SP_ABSENT)
        sp_buf_puts(b, "?");
    else
        sp_buf_i64(b, c->pid);
    if (instance.n)
        sp_buf_printf(b, ", %.*s", (int)instance.n, instance.p);
    else if (process && process->lives > 1 && !process_is_named(p, process, c))
        sp_buf_printf(b, ", of %u processes", process->lives);
    sp_buf_puts(b, name.n ? ")" : "");
}
