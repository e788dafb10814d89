/* What threads and functions of stalls are called. */
#include "ask/waits_stalls_parts.h"

#include "analysis/own_fold.h"
#include "analysis/short_name.h"
#include "model/edges.h"

const struct sp_stall *stalls_longest(const struct stalls *x, const struct sp_stall_set *set)
{
    const struct sp_stall *best = stalls_member(x, set, 0);
    for (uint32_t k = 1; k < set->members.n; k++) {
        const struct sp_stall *s = stalls_member(x, set, k);
        int64_t held = s->split.to - s->split.from, most = best->split.to - best->split.from;
        if (held != most ? held > most : s->longest > best->longest)
            best = s;
    }
    return best;
}

/* An own function with a name; SP_NONE. */
static uint32_t own_of_frame(const struct stalls *x, uint32_t frame)
{
    const struct sp_profile *p = x->a->s.profile;
    uint32_t f = p->frames.v[frame].function;
    return sp_is_own(&x->a->own, f) && sp_pstr(p, p->functions.v[f].name).n ? f : SP_NONE;
}

uint32_t stalls_own_of(const struct stalls *x, uint32_t stack, bool *gap)
{
    const struct sp_profile *p = x->a->s.profile;
    size_t n, e = 0;
    *gap = false;
    if (stack == SP_NONE || stack >= p->stacks.n || !x->a->has_own || x->a->own.all)
        return SP_NONE;
    const uint32_t *frames = sp_stack_frames(p, stack);
    const struct sp_edge *edges = sp_edges_of(p, p->stacks.v[stack].edges, &n);
    for (uint32_t k = 0; k < p->stacks.v[stack].n; k++) {
        for (; e < n && edges[e].at <= k; e++) { /* what stands between this caller and what it called */
            uint32_t f = edges[e].kind == SP_EDGE_INFERRED ? own_of_frame(x, edges[e].frame) : SP_NONE;
            *gap |= edges[e].kind == SP_EDGE_BROKEN;
            if (f != SP_NONE)
                return f;
        }
        uint32_t f = own_of_frame(x, frames[k]);
        if (f != SP_NONE)
            return f;
        *gap |= sp_own_is_marker(p, p->frames.v[frames[k]].function);
    }
    return SP_NONE;
}

struct sp_str stalls_comm(const struct stalls *x, uint32_t thread)
{
    return sp_pstr(x->a->s.profile, x->v->threads.v[thread].comm);
}

/* "refresher (tid 15934)" */
void stalls_say_thread(const struct stalls *x, struct sp_buf *b, uint32_t thread)
{
    struct sp_str comm = stalls_comm(x, thread);
    sp_buf_add(b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
    sp_buf_printf(b, " (tid %lld)", (long long)x->v->threads.v[thread].tid);
}

struct crowd {
    uint32_t pool, thread, n;
};

static int by_size(const void *va, const void *vb)
{
    const struct crowd *a = va, *b = vb;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static bool crowd_add(const struct stalls *x, struct crowd *v, size_t *n, size_t max, uint32_t thread)
{
    uint32_t pool = x->pool[thread];
    for (size_t i = 0; i < *n; i++)
        if (pool != SP_NONE && v[i].pool == pool) {
            v[i].n++;
            return true;
        }
    if (*n == max)
        return false;
    v[(*n)++] = (struct crowd){pool, thread, 1};
    return true;
}

void stalls_say_threads(struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set)
{
    struct crowd v[64];
    size_t n = 0;
    uint32_t rest = 0;
    unsigned char *seen = calloc(x->v->threads.n + 1, 1);
    if (!seen) {
        x->a->out->failed = true;
        return;
    }
    for (uint32_t m = 0; m < set->members.n; m++) {
        const struct sp_stall *s = stalls_member(x, set, m);
        for (uint32_t k = 0; k < s->waits.n; k++) {
            uint32_t t = x->v->v.v[x->s.waits.v[s->waits.first + k]].thread;
            if (!seen[t])
                rest += !crowd_add(x, v, &n, sizeof v / sizeof *v, t);
            seen[t] = 1;
        }
    }
    free(seen);
    qsort(v, n, sizeof *v, by_size);
    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
        sp_buf_puts(b, i ? ", " : "");
        if (v[i].pool == SP_NONE) {
            stalls_say_thread(x, b, v[i].thread);
            continue;
        }
        const struct sp_pool *pool = &x->pools.pools.v[v[i].pool];
        struct sp_str pattern = sp_str_at(&x->pools.names, pool->pattern);
        sp_buf_printf(b, v[i].n >= pool->threads ? "all %u " : "%u of %u ", v[i].n, pool->threads);
        sp_buf_add(b, pattern.p, pattern.n);
    }
    for (size_t i = NAMES_SHOWN; i < n; i++)
        rest += v[i].n;
    if (rest)
        sp_buf_printf(b, " and %u more", rest);
}

void stalls_say_ns(struct sp_buf *b, int64_t ns)
{
    sp_waits_duration(b, ns, false);
}

void stalls_say_function(const struct stalls *x, struct sp_buf *b, uint32_t function)
{
    const struct sp_profile *p = x->a->s.profile;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    sp_short_name(b, name.p, name.n, x->a->q->brief ? SP_SHORTEST : SP_WHOLE_NAME);
}
