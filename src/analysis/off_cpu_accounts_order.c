/* What the rows of the accounts of time off the CPU are called, and their order. */
#include "analysis/off_cpu_accounts_parts.h"

#include "analysis/names.h"

#include <stdlib.h>

/* "worker (tid 12)", "worker (6, pid 10)", as pools are named. */
static bool name_all(struct accounts *x)
{
    for (size_t i = 0; i < x->out.who.n; i++) {
        struct sp_off_cpu_who *w = &x->out.who.v[i];
        struct sp_context c = {.pid = w->pid, .tid = w->tid, .comm = w->comm};
        struct sp_str comm = sp_pstr(x->p, w->comm);
        sp_buf_clear(&x->b);
        if (w->pool) {
            struct sp_str name = sp_str_at(&x->wide->pools.names, w->pool->name);
            sp_buf_add(&x->b, name.p, name.n);
        } else if (w->threads > 1) {
            sp_buf_add(&x->b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
            sp_buf_printf(&x->b, " (%u, pid %lld)", w->threads, (long long)w->pid);
            w->tid = SP_ABSENT;
        } else if (w->tid == SP_ABSENT) {
            sp_buf_add(&x->b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
        } else {
            sp_thread_name(&x->b, x->p, &c);
        }
        w->name = x->b.failed ? SP_STR_FAIL : sp_intern(&x->out.names, x->b.data, x->b.len);
        if (w->name == SP_STR_FAIL)
            return false;
    }
    return true;
}

static int compare_names(const struct sp_strtab *names, uint32_t a, uint32_t b)
{
    struct sp_str x = sp_str_at(names, a), y = sp_str_at(names, b);
    int r = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return r ? r : (x.n > y.n) - (x.n < y.n);
}

static int by_waiting(const void *va, const void *vb, void *arg)
{
    const struct sp_off_cpu_accounts *x = arg;
    const struct sp_off_cpu_who *a = &x->who.v[*(const uint32_t *)va], *b = &x->who.v[*(const uint32_t *)vb];
    int64_t wa = a->blocked + a->runnable + a->unknown, wb = b->blocked + b->runnable + b->unknown;
    if (wa != wb)
        return wa < wb ? 1 : -1;
    int r = compare_names(&x->names, a->name, b->name);
    return r ? r : (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_ns(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_off_cpu_place *a = va, *b = vb;
    if (a->why.idle != b->why.idle)
        return a->why.idle ? 1 : -1;
    int64_t most_a = a->ns + a->unknown, most_b = b->ns + b->unknown;
    if (most_a != most_b)
        return most_a < most_b ? 1 : -1;
    if (a->who != b->who)
        return a->who < b->who ? -1 : 1;
    if (a->why.reason != b->why.reason)
        return a->why.reason < b->why.reason ? -1 : 1;
    (void)p;
    if (a->why.function != b->why.function)
        return a->why.function < b->why.function ? -1 : 1;
    return (a->why.call > b->why.call) - (a->why.call < b->why.call);
}

static bool order(struct accounts *x)
{
    size_t n = x->out.who.n;
    uint32_t *by = calloc(n + 1, sizeof *by), *place = calloc(n + 1, sizeof *place);
    struct sp_off_cpu_who *v = malloc((n + 1) * sizeof *v);
    bool ok = by && place && v;
    if (ok && n) {
        for (uint32_t i = 0; i < n; i++)
            by[i] = i;
        qsort_r(by, n, sizeof *by, by_waiting, &x->out);
        for (uint32_t i = 0; i < n; i++) {
            place[by[i]] = i;
            v[i] = x->out.who.v[by[i]];
        }
        memcpy(x->out.who.v, v, n * sizeof *v);
        for (size_t i = 0; i < x->out.places.n; i++)
            x->out.places.v[i].who = place[x->out.places.v[i].who];
        if (x->out.places.n)
            qsort_r(x->out.places.v, x->out.places.n, sizeof *x->out.places.v, by_ns,
                    (void *)(uintptr_t)x->p);
    }
    free(by);
    free(place);
    free(v);
    return ok;
}

bool accounts_name_and_order(struct accounts *x)
{
    return name_all(x) && order(x);
}
