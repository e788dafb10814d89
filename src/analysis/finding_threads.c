/* Threads that were busy all the time, or have nearly all of the weight. */
#include "analysis/finding_private.h"
#include "analysis/top.h"
#include "base/num.h"

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

bool finding_tell_threads(struct finder *x)
{
    struct sp_top t;
    if (!top_of_threads(x, x->d, &t))
        return false;
    bool ok = true;
    const struct sp_top_row *r = t.rows.n ? &t.rows.v[0] : NULL;
    if (r && x->p->contexts.v[r->context].tid != SP_ABSENT) {
        struct sp_finding f = finding_about(SP_FIND_SATURATED, r->self, r->self,
                                            is_cpu_time(x->s) && !x->s->timed ? duration(x->p) : 0);
        f.context = r->context;
        ok = finding_add(x, &f);
        f = finding_about(SP_FIND_DOMINANT, r->self, r->self, t.rows.n > 1 ? x->s->whole : 0);
        f.context = r->context;
        f.count = t.rows.n;
        ok = ok && finding_add(x, &f);
    }
    sp_top_free(&t);
    return ok;
}
