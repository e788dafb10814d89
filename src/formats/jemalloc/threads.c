/*
 * A stack's rows: what jeprof would say of t*, distributed to threads.
 *
 * An estimate is not linear in the samples, so those of threads do not add up to that of t* on their own.
 * Each is made as if the thread were all there is and then scaled, so that the sum is the estimate for t*.
 */
#include "base/hash.h"
#include "formats/jemalloc/jemalloc.h"

#include <math.h>

struct sp_je_thread *sp_je_thread(struct sp_je *je, int64_t tid)
{
    uint64_t hash = sp_hash_mix((uint64_t)tid, 5);
    struct sp_probe at = sp_map_probe(&je->thread_map, hash);
    for (uint32_t i; (i = sp_map_next(&je->thread_map, &at)) != SP_MAP_NONE;)
        if (je->threads.v[i].tid == tid)
            return &je->threads.v[i];
    struct sp_je_thread fresh = {.tid = tid, .context = SP_NONE};
    if (je->threads.n >= SP_NONE - 1 || !sp_vec_push(&je->threads, fresh) ||
        !sp_map_add(&je->thread_map, hash, (uint32_t)je->threads.n - 1))
        return NULL;
    return &je->threads.v[je->threads.n - 1];
}

/* SP_NONE: out of memory. */
static uint32_t jemalloc_context_of(struct sp_je *je, int64_t tid)
{
    if (tid == SP_ABSENT)
        return je->context;
    struct sp_je_thread *t = sp_je_thread(je, tid);
    if (t && t->context == SP_NONE) {
        struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = je->event};
        if (je->opts->group_by & SP_BY_TID) {
            c.tid = tid;
            if (sp_thread_intern_tid(je->p, tid, t->comm) == SP_NONE)
                return SP_NONE;
        }
        if (je->opts->group_by & SP_BY_COMM)
            c.comm = t->comm;
        t->context = sp_context_intern(je->p, &c);
    }
    return t ? t->context : SP_NONE;
}

static void jemalloc_estimate(const struct sp_je *je, struct sp_je_row *r)
{
    for (int i = 0; i < JE_PAIRS; i += 2)
        sp_mapped_unbias(r->v[i], r->v[i + 1], je->rate, &r->all[i], &r->all[i + 1]);
}

enum fit { FITS, LESS, MORE };

/*
 * What t* has and no thread says. jemalloc rounds what it writes, of each row by itself, so that a sample for
 * each thread or an eighth of all is no difference.
 */
static enum fit jemalloc_rest_of(const struct sp_je *je, struct sp_je_row *rest)
{
    enum fit fit = FITS;
    *rest = je->all;
    for (size_t i = 0; i < je->rows.n; i++)
        for (int k = 0; k < JE_PAIRS; k++)
            if (__builtin_sub_overflow(rest->v[k], je->rows.v[i].v[k], &rest->v[k]))
                return MORE;
    for (int k = 0; k < JE_PAIRS; k++) {
        double all = (double)je->all.v[k], count = (double)je->all.v[k & ~1], left = (double)rest->v[k];
        double one = count != 0 ? all / count : 1, slack = all / 8 + (double)je->rows.n * one;
        if (left < -slack)
            return MORE;
        if (left > slack)
            fit = LESS;
    }
    return fit;
}

static bool jemalloc_put_thread(struct sp_je *je, const struct sp_je_row *r, const int64_t *estimated,
                                bool first)
{
    int64_t v[JE_VALUES];
    uint32_t context = jemalloc_context_of(je, r->tid);
    memcpy(v, estimated, JE_PAIRS * sizeof *v);
    memcpy(v + JE_PAIRS, r->v, JE_PAIRS * sizeof *v);
    if (context == SP_NONE)
        return false;
    return first ? sp_mapped_row(&je->m, context, v) : sp_mapped_again(&je->m, context, v);
}

/* Shares of the total by running sums, so that rounding loses nothing. */
static bool jemalloc_put_threads(struct sp_je *je)
{
    double sum[JE_PAIRS] = {0}, so_far[JE_PAIRS] = {0};
    int64_t before[JE_PAIRS] = {0}, v[JE_PAIRS];
    for (size_t i = 0; i < je->rows.n; i++) {
        jemalloc_estimate(je, &je->rows.v[i]);
        for (int k = 0; k < JE_PAIRS; k++)
            sum[k] += je->rows.v[i].all[k];
    }
    for (size_t i = 0; i < je->rows.n; i++) {
        for (int k = 0; k < JE_PAIRS; k++) {
            so_far[k] = i + 1 < je->rows.n ? so_far[k] + je->rows.v[i].all[k] : sum[k];
            int64_t now = sum[k] != 0 ? sp_mapped_cut(round(je->all.all[k] * (so_far[k] / sum[k]))) : 0;
            if (__builtin_sub_overflow(now, before[k], &v[k]))
                v[k] = 0;
            before[k] = now;
        }
        if (!jemalloc_put_thread(je, &je->rows.v[i], v, i == 0))
            return false;
    }
    return true;
}

spaa_status sp_je_flush(struct sp_je *je)
{
    struct sp_je_row rest;
    int64_t v[JE_PAIRS];
    if (!je->open)
        return SPAA_OK;
    je->open = false;
    if (!je->has_all && !je->rows.n) {
        sp_mapped_drop(&je->m);
        sp_emit(je->d, SP_L766, SP_AT_LINE(je->line, je->offset), "a stack without numbers");
        return SPAA_OK;
    }
    for (size_t i = 0; i < je->rows.n && !je->has_all; i++)
        for (int k = 0; k < JE_PAIRS; k++)
            if (__builtin_add_overflow(je->all.v[k], je->rows.v[i].v[k], &je->all.v[k]))
                je->all.v[k] = INT64_MAX;
    sp_mapped_sum(&je->sums, je->all.v);
    enum fit fit = je->rows.n ? jemalloc_rest_of(je, &rest) : FITS;
    if (fit == MORE)
        sp_emit(je->d, SP_W772, SP_AT_LINE(je->line, je->offset), "threads have more than t*, which counts");
    if (fit == LESS) {
        rest.tid = SP_ABSENT;
        for (int k = 0; k < JE_PAIRS; k++)
            rest.v[k] = rest.v[k] > 0 ? rest.v[k] : 0;
        if (!sp_vec_push(&je->rows, rest))
            return sp_nomem(je->d);
    }
    jemalloc_estimate(je, &je->all);
    if (je->by_thread && je->rows.n)
        return jemalloc_put_threads(je) ? SPAA_OK : sp_nomem(je->d);
    for (int k = 0; k < JE_PAIRS; k++)
        v[k] = sp_mapped_cut(round(je->all.all[k]));
    je->all.tid = SP_ABSENT;
    return jemalloc_put_thread(je, &je->all, v, true) ? SPAA_OK : sp_nomem(je->d);
}
