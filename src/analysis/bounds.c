/* What totals may be where chains are broken, and the words for it. */
#include "analysis/chains.h"
#include "analysis/fold.h"
#include "analysis/pool.h"
#include "base/num.h"
#include "model/identity.h"

#include <stdlib.h>

/* ---- at most ---- */

struct bounds {
    struct sp_selection *s;
    const uint32_t *keys;
    uint32_t *pool;        /* per row: what its thread's comm is shown as */
    uint32_t *order;       /* rows by pool */
    uint32_t *row;         /* per key: 1 + the last row that has it */
    uint32_t *seen;        /* per key: 1 + the last pool that has it */
    unsigned char *kernel; /* per key: it is of the kernel, which broken chains of programs do not hide */
    int64_t *inside;       /* per key: weight of the broken stacks of this pool that have it */
    SP_VEC(uint32_t) met;  /* the keys of this pool */
};

static int by_pool(const void *va, const void *vb, void *arg)
{
    const uint32_t *pool = arg, *a = va, *b = vb;
    if (pool[*a] != pool[*b])
        return pool[*a] < pool[*b] ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static bool see_row(struct bounds *b, uint32_t i, uint32_t stamp)
{
    size_t n;
    const uint32_t *f = sp_selected_frames(b->s, i, &n);
    int64_t broken = b->s->chains->rows[i] != SP_CHAIN_WHOLE ? b->s->rows.v[i].weight : 0;
    bool in_kernel = broken && sp_chain_is_kernels(b->s, i);
    if (!f)
        return false;
    for (size_t k = 0; k < n; k++) {
        uint32_t key = b->keys[f[k]];
        if (key == SP_NONE || !sp_fold_first(&b->row[key], i + 1))
            continue;
        if (sp_fold_first(&b->seen[key], stamp)) {
            b->inside[key] = 0;
            if (!sp_vec_push(&b->met, key))
                return false;
        }
        b->kernel[key] = b->s->profile->frames.v[f[k]].kind == SP_KERNEL;
        b->inside[key] += b->kernel[key] && !in_kernel ? 0 : broken;
    }
    return true;
}

static bool bounds_add_pools(struct bounds *b, int64_t *more)
{
    size_t rows = b->s->rows.n;
    for (size_t first = 0, end; first < rows; first = end) {
        int64_t broken = 0, in_kernel = 0;
        b->met.n = 0;
        for (end = first; end < rows && b->pool[b->order[end]] == b->pool[b->order[first]]; end++) {
            if (b->s->chains->rows[b->order[end]] == SP_CHAIN_WHOLE)
                continue;
            broken += b->s->rows.v[b->order[end]].weight;
            in_kernel += sp_chain_is_kernels(b->s, b->order[end]) ? b->s->rows.v[b->order[end]].weight : 0;
        }
        for (size_t i = first; broken && i < end; i++)
            if (!see_row(b, b->order[i], (uint32_t)first + 1))
                return false;
        for (size_t k = 0; k < b->met.n; k++)
            more[b->met.v[k]] += (b->kernel[b->met.v[k]] ? in_kernel : broken) - b->inside[b->met.v[k]];
    }
    return true;
}

static spaa_status order_rows(struct bounds *b, struct sp_diags *d)
{
    const struct sp_profile *p = b->s->profile;
    struct sp_pools pools;
    spaa_status st = sp_pools_of(p, NULL, d, &pools);
    if (st)
        return st;
    for (uint32_t i = 0; i < b->s->rows.n; i++) {
        b->order[i] = i;
        b->pool[i] = pools.comm[p->stacks.v[b->s->rows.v[i].stack].context];
    }
    sp_pools_free(&pools);
    if (b->s->rows.n)
        qsort_r(b->order, b->s->rows.n, sizeof *b->order, by_pool, b->pool);
    return SPAA_OK;
}

spaa_status sp_chains_at_most(struct sp_selection *s, const uint32_t *keys, size_t nkeys, struct sp_diags *d,
                              int64_t *more, bool *known)
{
    struct bounds b = {.s = s, .keys = keys};
    memset(more, 0, nkeys * sizeof *more);
    *known = sp_chains_tell(s) && s->kept == s->whole && !s->chains->filtered;
    if (!*known)
        return SPAA_OK;
    b.pool = malloc((s->rows.n + 1) * sizeof *b.pool);
    b.order = malloc((s->rows.n + 1) * sizeof *b.order);
    b.row = calloc(nkeys + 1, sizeof *b.row);
    b.seen = calloc(nkeys + 1, sizeof *b.seen);
    b.kernel = calloc(nkeys + 1, 1);
    b.inside = calloc(nkeys + 1, sizeof *b.inside);
    spaa_status st =
        b.pool && b.order && b.row && b.seen && b.kernel && b.inside ? order_rows(&b, d) : sp_nomem(d);
    if (!st && !bounds_add_pools(&b, more))
        st = sp_nomem(d);
    free(b.pool);
    free(b.order);
    free(b.row);
    free(b.seen);
    free(b.kernel);
    free(b.inside);
    sp_vec_free(&b.met);
    return st;
}

/* ---- words ---- */

static void bounds_percent(struct sp_buf *b, int64_t part, int64_t whole)
{
    char t[64];
    sp_buf_add(b, t, sp_scaled_text(sp_ratio(part, whole, 1000), 1, t));
    sp_buf_ch(b, '%');
}

void sp_chains_words(const struct sp_selection *s, struct sp_buf *line)
{
    enum { NAMED = 3 };
    static const char *const how[SP_CHAINS] = {[SP_CHAIN_NO_ENTRY] = "begin at no thread's entry",
                                               [SP_CHAIN_UNMAPPED] = "begin at no mapped place",
                                               [SP_CHAIN_CUT] = "were cut off",
                                               [SP_CHAIN_EDGE] = "hold a call that cannot be"};
    const struct sp_profile *p = s->profile;
    const struct sp_chains *c = s->chains;
    unsigned most = SP_CHAIN_NO_ENTRY;
    for (unsigned i = most + 1; i < SP_CHAINS; i++)
        most = c->by[i] > c->by[most] ? i : most;
    sp_buf_puts(line, "callers are missing in ");
    bounds_percent(line, c->broken, c->of);
    sp_buf_puts(line, " of the weight, whose stacks ");
    if (c->by[most] < c->broken)
        sp_buf_puts(line, "mostly ");
    sp_buf_puts(line, how[most]);
    for (size_t i = 0; i < c->dsos.list.n && i < NAMED; i++) {
        const struct sp_dso_weight *w = &c->dsos.list.v[i];
        struct sp_str name = sp_base_name(sp_pstr(p, p->dsos.v[w->dso].name));
        sp_buf_puts(line, i ? ", " : " (in ");
        sp_buf_add(line, name.p, name.n);
        sp_buf_ch(line, ' ');
        bounds_percent(line, w->weight, c->of);
    }
    sp_buf_puts(line, c->dsos.list.n > NAMED ? ", …)" : c->dsos.list.n ? ")" : "");
    sp_buf_puts(line, c->filtered ? ", before filters of frames: they miss stacks whose frames are missing"
                                  : ": totals are at least what they say, self is exact");
}

void sp_chains_hint(const struct sp_selection *s, struct sp_buf *line)
{
    const struct sp_profile *p = s->profile;
    const struct sp_chains *c = s->chains;
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    bool perf = sp_str_is(tool, "perf");
    if (perf && c->by[SP_CHAIN_CUT] * 2 > c->broken)
        sp_buf_puts(line, "record larger copies of stacks: --call-graph dwarf,65528");
    else if (perf && c->copies)
        sp_buf_puts(
            line,
            "unwinding needs these binaries as they ran (--symfs, debug packages); where they have frame "
            "pointers, as Go has, record with --call-graph fp");
    else if (c->limit && perf)
        sp_buf_printf(line,
                      "stacks end at %u frames: record with a larger --max-stack "
                      "(kernel.perf_event_max_stack), or --call-graph dwarf",
                      c->limit);
    else if (c->limit)
        sp_buf_printf(line, "stacks end at %u frames: record more of them", c->limit);
    else if (c->by[SP_CHAIN_CUT] * 2 > c->broken)
        sp_buf_puts(line, "record deeper stacks");
    else
        sp_buf_printf(line,
                      "record with %s--call-graph dwarf or lbr, or build these with "
                      "-fno-omit-frame-pointer",
                      perf ? "" : "perf and ");
}
