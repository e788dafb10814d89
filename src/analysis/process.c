#include "analysis/process.h"

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

spaa_status sp_processes_of(const struct sp_profile *p, struct sp_diags *d, struct sp_processes *out)
{
    struct sp_processes x = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->threads.n; i++)
        ok = process_add(
            &x, p,
            (struct sp_process){p->threads.v[i].pid, p->threads.v[i].tid, p->threads.v[i].comm, false});
    for (size_t i = 0; ok && i < p->contexts.n; i++)
        ok = process_add(
            &x, p,
            (struct sp_process){p->contexts.v[i].pid, p->contexts.v[i].tid, p->contexts.v[i].comm, true});
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
    *out = x;
    return SPAA_OK;
}

void sp_processes_free(struct sp_processes *x)
{
    sp_vec_free(&x->list);
}

struct sp_str sp_process_name(const struct sp_profile *p, const struct sp_processes *x, int64_t pid)
{
    size_t lo = 0, hi = x->list.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->list.v[mid].pid < pid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->list.n && x->list.v[lo].pid == pid ? sp_pstr(p, x->list.v[lo].comm)
                                                      : (struct sp_str){"", 0};
}
