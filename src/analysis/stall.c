#include "analysis/stall_parts.h"

const char *const sp_stall_by_names[] = {"unknown",   "woken",  "inferred",  "candidates", "nobody ran",
                                         "unknown",   "signal", "interrupt", "any",        "device",
                                         "not ended", "last",   "timed",     "none",       NULL};

void sp_stalls_free(struct sp_stalls *x)
{
    sp_vec_free(&x->v);
    sp_vec_free(&x->waits);
    sp_vec_free(&x->holds);
    sp_vec_free(&x->links);
    sp_vec_free(&x->takers);
    sp_vec_free(&x->candidates);
    sp_vec_free(&x->path);
    sp_vec_free(&x->sets);
    sp_vec_free(&x->order);
    sp_vec_free(&x->edges);
    sp_vec_free(&x->unjudged);
}

static void find_ends(struct stall_work *w)
{
    for (uint32_t i = 0; i < w->v->threads.n; i++) {
        const struct sp_interval_thread *t = &w->v->threads.v[i];
        int64_t end = t->n ? w->v->v.v[t->first + t->n - 1].end : INT64_MIN, *over = &w->over[w->group[i]];
        end = w->joined[i] ? INT64_MAX : end;
        *over = w->group[i] == i || end > *over ? end : *over;
    }
}

static int by_start(const void *va, const void *vb, void *arg)
{
    const struct sp_interval *v = arg, *a = &v[*(const uint32_t *)va], *b = &v[*(const uint32_t *)vb];
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (*(const uint32_t *)va > *(const uint32_t *)vb) - (*(const uint32_t *)va < *(const uint32_t *)vb);
}

static bool find_cpus(struct stall_work *w)
{
    const struct sp_intervals *v = w->v;
    size_t cpus = v->cpus, n = 0;
    w->cpu_first = calloc(cpus + 2, sizeof *w->cpu_first);
    for (size_t i = 0; w->cpu_first && i < v->v.n; i++) {
        const struct sp_interval *x = &v->v.v[i];
        if (x->state == SP_RUN_RUNNING && x->cpu >= 0 && (size_t)x->cpu < cpus)
            w->cpu_first[x->cpu + 1]++, n++;
    }
    w->on_cpu = malloc((n + 1) * sizeof *w->on_cpu);
    if (!w->cpu_first || !w->on_cpu)
        return false;
    for (size_t c = 0; c < cpus; c++)
        w->cpu_first[c + 1] += w->cpu_first[c];
    for (size_t i = 0; i < v->v.n; i++) {
        const struct sp_interval *x = &v->v.v[i];
        if (x->state == SP_RUN_RUNNING && x->cpu >= 0 && (size_t)x->cpu < cpus)
            w->on_cpu[w->cpu_first[x->cpu]++] = (uint32_t)i;
    }
    for (size_t c = cpus; c > 0; c--)
        w->cpu_first[c] = w->cpu_first[c - 1];
    w->cpu_first[0] = 0;
    for (size_t c = 0; c < cpus; c++)
        qsort_r(w->on_cpu + w->cpu_first[c], w->cpu_first[c + 1] - w->cpu_first[c], sizeof *w->on_cpu,
                by_start, v->v.v);
    return true;
}

static bool prepare(struct stall_work *w)
{
    size_t n = w->v->threads.n + 1;
    w->group = calloc(n, sizeof *w->group);
    w->joined = calloc(n, sizeof *w->joined);
    w->over = calloc(n, sizeof *w->over);
    w->sum = calloc(n, sizeof *w->sum);
    w->sum_own = calloc(n, sizeof *w->sum_own);
    if (!w->group || !w->joined || !w->over || !w->sum || !w->sum_own || !stall_find_groups(w))
        return false;
    find_ends(w);
    return find_cpus(w);
}

spaa_status sp_stalls_of(const struct sp_stall_input *in, struct sp_diags *d, struct sp_stalls *out)
{
    *out = (struct sp_stalls){0};
    if (!in->v->v.n)
        return SPAA_OK;
    struct stall_work w = {.in = in, .v = in->v, .out = out};
    bool ok = prepare(&w) && stall_find(&w) && stall_find_open(&w) && stall_holders(&w) && stall_sets(&w) &&
              stall_edges(&w);
    free(w.group);
    free(w.joined);
    free(w.over);
    free(w.cpu_first);
    free(w.on_cpu);
    free(w.sum);
    free(w.sum_own);
    sp_vec_free(&w.waits);
    if (ok)
        return SPAA_OK;
    sp_stalls_free(out);
    return sp_nomem(d);
}
