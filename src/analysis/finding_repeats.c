/*
 * Whether something begins again and again, rather than once: on one thread, a sample that cannot be within
 * it stands between two that are.
 */
#include "analysis/finding_private.h"
#include "model/samples.h"

#include <stdlib.h>

enum { UNKNOWN, WITHIN, OUTSIDE }; /* what a sample of a stack shows */
enum { PARTS_OF_TIME = 10, LEAST_TIMES = 5, LEAST_PARTS = 3 };

struct moment {
    int64_t pid, tid, time;
    unsigned char is;
};
struct moments {
    SP_VEC(struct moment) list;
    int64_t first, last;
};

/* Per stack. Callers may be missing from a stack: then only its leaf shows anything. */
static unsigned char *what_stacks_show(struct finder *x, const struct finding_hit *hits, size_t nhits)
{
    unsigned char *is = calloc(x->p->stacks.n + 1, 1);
    const struct sp_chains *c = x->s->chains;
    for (size_t i = 0; is && i < x->s->rows.n; i++) {
        size_t n;
        const uint32_t *frames = sp_selected_frames(x->s, i, &n);
        if (!frames) {
            free(is);
            return NULL;
        }
        bool whole = !c || !c->rows || c->rows[i] == SP_CHAIN_WHOLE;
        if (n && (whole || (!x->own->all && sp_is_own(x->own, x->p->frames.v[frames[0]].function))))
            is[x->s->rows.v[i].stack] = OUTSIDE;
    }
    for (size_t i = 0; is && i < nhits; i++)
        is[x->s->rows.v[hits[i].row].stack] = WITHIN;
    return is;
}

static bool take_moments(const struct finder *x, const struct sp_sample *rows, size_t n,
                         const unsigned char *is, struct moments *to)
{
    for (size_t i = 0; i < n; i++) {
        const struct sp_sample *s = &rows[i];
        struct moment at = {.time = s->time};
        if (s->stack == SP_NONE || s->stack >= x->p->stacks.n || !is[s->stack] ||
            !(s->flags & SP_SAMPLE_TIME) ||
            (x->s->timed && (at.time < x->s->time_lo || at.time >= x->s->time_hi)))
            continue;
        const struct sp_context *c = &x->p->contexts.v[x->p->stacks.v[s->stack].context];
        at.pid = s->pid != SP_ABSENT ? s->pid : c->pid;
        at.tid = s->tid != SP_ABSENT ? s->tid : c->tid;
        at.is = is[s->stack];
        if (at.tid == SP_ABSENT)
            continue;
        to->first = !to->list.n || at.time < to->first ? at.time : to->first;
        to->last = !to->list.n || at.time > to->last ? at.time : to->last;
        if (!sp_vec_push(&to->list, at))
            return false;
    }
    return true;
}

static int by_thread(const void *va, const void *vb)
{
    const struct moment *a = va, *b = vb;
    int c = a->pid < b->pid ? -1 : a->pid > b->pid;
    c = c ? c : a->tid < b->tid ? -1 : a->tid > b->tid;
    c = c ? c : a->time < b->time ? -1 : a->time > b->time;
    return c ? c : a->is - b->is;
}

static void count_beginnings(struct moments *m, struct sp_finding *f)
{
    unsigned parts = 0, seen = 0;
    double span = (double)m->last - (double)m->first + 1;
    for (size_t i = 0; i < m->list.n; i++) {
        const struct moment *a = i ? &m->list.v[i - 1] : NULL, *b = &m->list.v[i];
        bool same = a && a->pid == b->pid && a->tid == b->tid;
        if (b->is != WITHIN || (same && a->is == WITHIN))
            continue;
        f->apart++;
        parts |= 1u << (unsigned)(((double)b->time - (double)m->first) * PARTS_OF_TIME / span);
    }
    for (; parts; parts &= parts - 1)
        seen++;
    f->repeats = f->apart >= LEAST_TIMES && seen >= LEAST_PARTS && f->parts[SP_PART_START] * 2 < f->weight;
}

bool finding_repeats(struct finder *x, const struct finding_hit *hits, size_t n, struct sp_finding *f)
{
    struct sp_sample *rows = NULL;
    size_t nrows = 0;
    struct moments moments = {0};
    if (!x->p->samples || !f->weight)
        return true;
    if (sp_samples_rows(x->p->samples, &rows, &nrows))
        return false;
    unsigned char *is = what_stacks_show(x, hits, n);
    bool ok = is && take_moments(x, rows, nrows, is, &moments);
    if (ok && moments.list.n) {
        qsort(moments.list.v, moments.list.n, sizeof *moments.list.v, by_thread);
        count_beginnings(&moments, f);
    }
    sp_vec_free(&moments.list);
    free(is);
    return ok;
}
