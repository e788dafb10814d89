/*
 * Usual stack records by several threads (chunks.h).
 *
 * A chunk's usual records (fast.c) are read into tables of its own, which are small and stay in the caches;
 * dictionaries, contexts and weight texts are those known when it is read, and only looked at. What is not
 * recognised is left as a slow line. Settling appends the tables to the profile's, slow lines being read by
 * the general path in between: the profile is the one that a single thread makes.
 */
#include "formats/spaa/chunks.h"
#include "formats/spaa/read.h"

#include <stdlib.h>

struct slow_line {
    struct sp_span text;
    uint64_t line; /* within the chunk, from 1 */
    size_t stacks; /* read before it */
};

/* What came of a chunk. */
struct part {
    struct reader reader; /* shares everything with the main one but the profile and what was last seen */
    struct sp_profile profile; /* shares the dictionaries; has stacks, frames, ids and columns of its own */
    unsigned looked;           /* what was known then is shared */
    uint64_t lines;
    SP_VEC(struct slow_line) slow;
    bool nomem;
};

struct work {
    struct reader *r;
    /* As it was when nothing was read: what threads look at while the reader goes on. */
    struct reader known;
    struct sp_profile profile;
    unsigned looks; /* how often; never 0 */
    const char *text;
    uint64_t offset; /* of text in the input */
    size_t stacks;   /* that may come of it: their map is made at once, while others read */
    spaa_status st;
};

/* Under what is known now, the tables that are its own. */
static void share(struct part *x, const struct work *w)
{
    struct sp_profile own = x->profile;
    x->reader = w->known;
    x->reader.p = &x->profile;
    x->profile = w->profile;
#define OWN(table) x->profile.table.v = own.table.v, x->profile.table.cap = own.table.cap
    OWN(stacks);
    OWN(stack_frames);
    OWN(ids);
    for (unsigned m = 0; m < SP_METRICS_MAX; m++)
        OWN(columns[m]);
#undef OWN
    x->looked = w->looks;
}

static void part_begin(struct part *x, const struct work *w)
{
    if (x->looked != w->looks)
        share(x, w);
    struct sp_profile *p = &x->profile;
    p->stacks.n = p->stack_frames.n = p->ids.n = 0;
    for (unsigned m = 0; m < p->metrics.n; m++)
        p->columns[m].n = 0;
    x->slow.n = 0;
    x->lines = 0;
}

static void read_part(void *arg, struct sp_chunk *c)
{
    struct part *x = c->result;
    part_begin(x, arg);
    for (const char *at = c->text, *nl; at < c->end; at = nl + 1) {
        const char *next = sp_fast_stack(&x->reader, at, c->end);
        nl = next ? next - 1 : memchr(at, '\n', (size_t)(c->end - at));
        x->lines++;
        if (next)
            continue;
        struct slow_line s = {{at, (size_t)(nl - at)}, x->lines, x->profile.stacks.n};
        if (!sp_vec_push(&x->slow, s)) {
            x->nomem = true;
            return;
        }
    }
}

static void part_drop(void *result)
{
    struct part *x = result;
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
        if (need > into->cap && !sp_vec_grow((void **)&into->v, &into->cap, p->stacks.cap, sizeof *into->v))
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
static spaa_status append_part(struct work *w, const struct part *x)
{
    struct reader *r = w->r;
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
        r->offset = w->offset + (uint64_t)(s->text.p - w->text);
        st = sp_take_line(r, s->text.p, s->text.n);
    }
    if (!st && (!append_stacks(p, &x->profile, done, x->profile.stacks.n, frames) ||
                (!r->opts->no_ids && !(sp_map_grow(&r->stack_map, w->stacks) && sp_map_stacks(r)))))
        return sp_nomem(r->d);
    r->line = line + x->lines;
    return st;
}

static void look(struct work *w)
{
    w->known = *w->r;
    w->profile = *w->r->p;
    w->looks++;
}

/* Slow lines add to what threads look at. */
static enum sp_settled settle(void *arg, struct sp_chunk *c, bool alone)
{
    struct work *w = arg;
    const struct part *x = c->result;
    if (x->slow.n && !alone)
        return SP_NOT_ALONE;
    w->st = append_part(w, x);
    if (w->st)
        return SP_STOP;
    sp_input_note(w->r->in, (size_t)(w->offset + (uint64_t)(c->end - w->text) - sp_input_offset(w->r->in)));
    if (x->slow.n)
        look(w);
    return SP_SETTLED;
}

spaa_status sp_read_parallel(struct reader *r, const struct sp_chunking *how, const char *text,
                             const char *end, uint64_t offset)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w)
        return sp_nomem(r->d);
    *w = (struct work){.r = r, .text = text, .offset = offset};
    look(w);
    w->stacks = r->p->ids.n + (size_t)(end - text) / BYTES_PER_STACK;
    const struct sp_chunk_work work = {w, sizeof(struct part), read_part, settle, part_drop};
    spaa_status st = sp_chunks_run(&work, how, text, end) ? w->st : sp_nomem(r->d);
    free(w);
    return st;
}
