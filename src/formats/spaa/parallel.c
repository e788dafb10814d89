/*
 * Usual stack records by several threads.
 *
 * A run of lines is cut into one part per thread at line ends. Each thread reads the usual records of
 * its part (fast.c) into tables of its own; dictionaries, contexts and weight texts are those known by
 * now, and only read. What a thread does not recognise it leaves as a slow line. Then the parts are put
 * together in their order, slow lines read by the general path in between: the profile is the one that a
 * single thread makes.
 */
#include "formats/spaa/read.h"

#include <pthread.h>
#include <stdlib.h>

struct slow_line {
    struct sp_span text;
    uint64_t line; /* within the part, from 1 */
    size_t stacks; /* read before it */
};

struct part {
    struct reader reader;      /* shares everything with the main one but `recent` and the profile */
    struct sp_profile profile; /* shares the dictionaries; has stacks, frames, ids and columns of its own */
    const char *text, *end;
    uint64_t lines;
    SP_VEC(struct slow_line) slow;
    bool nomem;
    pthread_t thread;
    bool started;
};

static void read_part(struct part *x)
{
    const char *at = x->text;
    for (const char *nl; at < x->end && (nl = memchr(at, '\n', (size_t)(x->end - at))); at = nl + 1) {
        struct sp_span line = {at, (size_t)(nl - at)};
        x->lines++;
        if (sp_fast_stack(&x->reader, line))
            continue;
        struct slow_line s = {line, x->lines, x->profile.stacks.n};
        if (!sp_vec_push(&x->slow, s)) {
            x->nomem = true;
            return;
        }
    }
}

static void *thread_main(void *arg)
{
    read_part(arg);
    return NULL;
}

static void part_init(struct part *x, const struct reader *r, const char *text, const char *end)
{
    *x = (struct part){.reader = *r, .profile = *r->p, .text = text, .end = end};
    x->reader.p = &x->profile;
    memset(&x->profile.stacks, 0, sizeof x->profile.stacks);
    memset(&x->profile.stack_frames, 0, sizeof x->profile.stack_frames);
    memset(&x->profile.ids, 0, sizeof x->profile.ids);
    memset(x->profile.columns, 0, sizeof x->profile.columns);
}

static void part_free(struct part *x)
{
    sp_vec_free(&x->profile.stacks);
    sp_vec_free(&x->profile.stack_frames);
    sp_vec_free(&x->profile.ids);
    for (unsigned m = 0; m < SP_METRICS_MAX; m++)
        free(x->profile.columns[m].v);
    sp_vec_free(&x->slow);
}

/* Weights of the part's stacks from..to, to the end of the profile's columns. */
static bool append_columns(struct sp_profile *p, const struct sp_profile *part, size_t from, size_t to)
{
    size_t base = p->stacks.n;
    for (size_t m = 0; m < p->metrics.n; m++) {
        const struct sp_column *c = &part->columns[m];
        struct sp_column *into = &p->columns[m];
        size_t end = to < c->n ? to : c->n;
        if (from >= end)
            continue;
        size_t need = base + (end - from);
        if (need > into->cap && !sp_vec_grow((void **)&into->v, &into->cap, need, sizeof *into->v))
            return false;
        for (; into->n < base; into->n++)
            into->v[into->n] = SP_ABSENT;
        memcpy(into->v + base, c->v + from, (end - from) * sizeof *c->v);
        into->n = need;
    }
    return true;
}

static bool append_stacks(struct sp_profile *p, const struct sp_profile *part, size_t from, size_t to,
                          uint64_t frames)
{
    size_t n = to - from;
    if (!n)
        return true;
    if (p->stacks.n + n >= SP_NONE - 1 || !sp_vec_reserve(&p->stacks, p->stacks.n + n) ||
        !sp_vec_reserve(&p->ids, p->ids.n + n) || !append_columns(p, part, from, to))
        return false;
    memcpy(p->ids.v + p->ids.n, part->ids.v + from, n * sizeof *p->ids.v);
    struct sp_stack *s = p->stacks.v + p->stacks.n;
    memcpy(s, part->stacks.v + from, n * sizeof *s);
    for (size_t i = 0; i < n; i++)
        s[i].first += frames;
    p->stacks.n += n;
    p->ids.n += n;
    return true;
}

/* The part's stacks and slow lines, in the order of the file. */
static spaa_status append_part(struct reader *r, const struct part *x, const char *base, uint64_t offset)
{
    struct sp_profile *p = r->p;
    uint64_t frames = p->stack_frames.n, line = r->line;
    size_t done = 0;
    spaa_status st = SPAA_OK;
    if (x->nomem || !sp_vec_reserve(&p->stack_frames, frames + x->profile.stack_frames.n))
        return sp_nomem(r->d);
    if (x->profile.stack_frames.n)
        memcpy(p->stack_frames.v + frames, x->profile.stack_frames.v,
               x->profile.stack_frames.n * sizeof *p->stack_frames.v);
    p->stack_frames.n += x->profile.stack_frames.n;
    for (size_t i = 0; !st && i < x->slow.n; i++) {
        const struct slow_line *s = &x->slow.v[i];
        if (!append_stacks(p, &x->profile, done, s->stacks, frames))
            return sp_nomem(r->d);
        done = s->stacks;
        r->line = line + s->line;
        r->offset = offset + (uint64_t)(s->text.p - base);
        st = sp_take_line(r, s->text.p, s->text.n);
    }
    if (!st && !append_stacks(p, &x->profile, done, x->profile.stacks.n, frames))
        return sp_nomem(r->d);
    r->line = line + x->lines;
    return st;
}

spaa_status sp_read_parallel(struct reader *r, const char *text, const char *end, uint64_t offset)
{
    unsigned jobs = r->opts->jobs;
    struct part *parts = calloc(jobs, sizeof *parts);
    spaa_status st = parts ? SPAA_OK : sp_nomem(r->d);
    const char *from = text;
    for (unsigned i = 0; !st && i < jobs; i++) {
        const char *to = i + 1 == jobs ? end : text + (size_t)(end - text) / jobs * (i + 1);
        const char *nl = to < from ? NULL : memchr(to, '\n', (size_t)(end - to));
        to = i + 1 == jobs || !nl ? end : nl + 1;
        part_init(&parts[i], r, from, to);
        from = to;
        /* Where a thread cannot be had, this one does the work. */
        if (i)
            parts[i].started = pthread_create(&parts[i].thread, NULL, thread_main, &parts[i]) == 0;
    }
    for (unsigned i = 0; !st && i < jobs; i++) {
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
        else
            read_part(&parts[i]);
    }
    for (unsigned i = 0; !st && i < jobs; i++)
        st = append_part(r, &parts[i], text, offset);
    for (unsigned i = 0; parts && i < jobs; i++)
        part_free(&parts[i]);
    free(parts);
    return st;
}
