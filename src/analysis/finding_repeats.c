/*
 * Whether something begins again and again, rather than once: on one thread, a sample that cannot be within
 * it stands between two that are. Many things that are built once each look the same: so it has to begin
 * again and again for one and the same own function, all through the recording. A constructor or main that
 * builds it proves nothing: what they build may live as long as its object or the program.
 */
#include "analysis/finding_private.h"
#include "analysis/own_name.h"
#include "model/samples.h"

#include <stdlib.h>

enum { UNKNOWN, WITHIN, OUTSIDE }; /* what a sample of a stack shows */
enum { PARTS_OF_TIME = 10, LEAST_TIMES = 5, LEAST_PARTS = 5 };

/* Of a stack: what it shows, and of one that is within, the own function that wants it. */
struct shown {
    unsigned char is;
    uint32_t caller;
};
/* Of such a function. */
struct caller {
    int64_t weight;
    uint32_t begins, parts; /* bits: in which parts of the time */
};
struct moment {
    int64_t pid, tid, time;
    struct shown shown;
};
struct moments {
    SP_VEC(struct moment) list;
    int64_t first, last;
};

static bool holds(struct sp_str s, const char *text)
{
    return s.n && memmem(s.p, s.n, text, strlen(text));
}

/* "Rule::Rule", "Rule::new", "rules.NewRule", "__init__": what it builds may live as long as its object. */
static bool constructs(struct sp_str plain, struct sp_str whole)
{
    const char *last = plain.p + plain.n;
    while (last > plain.p && last[-1] != ':' && last[-1] != '.')
        last--;
    size_t before = (size_t)(last - plain.p), n = plain.n - before;
    bool twice = n && before >= n + 2 && memcmp(last - 2, "::", 2) == 0 &&
                 memcmp(last - 2 - n, last, n) == 0 && (before == n + 2 || last[-3 - (ptrdiff_t)n] == ':');
    bool go = before && last[-1] == '.' && n >= 3 && memcmp(last, "New", 3) == 0;
    return twice || go || (before && n == 3 && memcmp(last, "new", 3) == 0) || holds(whole, "__init__") ||
           holds(whole, "<init>");
}

/* Whether a function may be one that keeps what it builds: main, or a constructor. False in *ok: out of
 * memory. */
static bool builds_to_keep(const struct finder *x, uint32_t function, bool *ok)
{
    struct sp_str whole = sp_pstr(x->p, x->p->functions.v[function].name);
    struct sp_buf b;
    sp_buf_init(&b, UINT32_MAX);
    sp_own_plain_name(&b, whole);
    *ok = *ok && !b.failed;
    struct sp_str plain = {sp_buf_text(&b), b.failed ? 0 : (uint32_t)b.len};
    bool is_main = sp_str_is(plain, "main") || sp_str_is(plain, "main.main") ||
                   (plain.n > 6 && memcmp(plain.p + plain.n - 6, "::main", 6) == 0) ||
                   (plain.n > 5 && memcmp(plain.p + plain.n - 5, ".init", 5) == 0);
    bool keeps = is_main || constructs(plain, whole) || x->classes[function] >> FC_STARTUP & 1;
    sp_buf_free(&b);
    return keeps;
}

/* The own function that wants what a hit builds; SP_NONE: it is not known, or proves nothing. */
static uint32_t wanted_by(struct finder *x, const struct finding_hit *h, bool *ok)
{
    size_t n, at, from = h->top + 1;
    const uint32_t *frames = sp_selected_frames(x->s, h->row, &n);
    *ok = *ok && frames;
    uint32_t caller = frames ? finding_nearest(x, frames, n, from, &at) : SP_NONE;
    return caller != SP_NONE && !builds_to_keep(x, caller, ok) ? caller : SP_NONE;
}

/* Per stack. Callers may be missing from a stack: then only its leaf shows anything. */
static struct shown *what_stacks_show(struct finder *x, const struct finding_hit *hits, size_t nhits,
                                      uint32_t group, struct caller *callers)
{
    struct shown *shown = calloc(x->p->stacks.n + 1, sizeof *shown);
    const struct sp_chains *c = x->s->chains;
    bool ok = shown;
    for (size_t i = 0; ok && i < x->s->rows.n; i++) {
        size_t n;
        const uint32_t *frames = sp_selected_frames(x->s, i, &n);
        bool whole = x->callers_seen && (!c || !c->rows || c->rows[i] == SP_CHAIN_WHOLE);
        ok = frames;
        if (ok && n && (whole || (!x->own->all && sp_is_own(x->own, x->p->frames.v[frames[0]].function))))
            shown[x->s->rows.v[i].stack].is = OUTSIDE;
    }
    for (size_t i = 0; ok && i < nhits; i++) {
        const struct sp_selected *row = &x->s->rows.v[hits[i].row];
        if (group != UINT32_MAX && hits[i].group != group)
            continue;
        uint32_t caller = wanted_by(x, &hits[i], &ok);
        shown[row->stack] = (struct shown){WITHIN, caller};
        if (caller != SP_NONE)
            callers[caller].weight += row->weight;
    }
    if (!ok) {
        free(shown);
        return NULL;
    }
    return shown;
}

static bool take_moments(const struct finder *x, const struct sp_sample *rows, size_t n,
                         const struct shown *shown, struct moments *to)
{
    for (size_t i = 0; i < n; i++) {
        const struct sp_sample *s = &rows[i];
        struct moment at = {.time = s->time};
        if (s->stack == SP_NONE || s->stack >= x->p->stacks.n || !shown[s->stack].is ||
            !(s->flags & SP_SAMPLE_TIME) ||
            (x->s->timed && (at.time < x->s->time_lo || at.time >= x->s->time_hi)))
            continue;
        const struct sp_context *c = &x->p->contexts.v[x->p->stacks.v[s->stack].context];
        at.pid = s->pid != SP_ABSENT ? s->pid : c->pid;
        at.tid = s->tid != SP_ABSENT ? s->tid : c->tid;
        at.shown = shown[s->stack];
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
    c = c ? c : a->shown.is - b->shown.is;
    return c ? c : a->shown.caller < b->shown.caller ? -1 : a->shown.caller > b->shown.caller;
}

static void count_beginnings(const struct moments *m, struct caller *callers, struct sp_finding *f)
{
    double span = (double)m->last - (double)m->first + 1;
    for (size_t i = 0; i < m->list.n; i++) {
        const struct moment *a = i ? &m->list.v[i - 1] : NULL, *b = &m->list.v[i];
        bool same = a && a->pid == b->pid && a->tid == b->tid;
        if (b->shown.is != WITHIN || (same && a->shown.is == WITHIN))
            continue;
        f->apart++;
        if (b->shown.caller == SP_NONE)
            continue;
        struct caller *c = &callers[b->shown.caller];
        c->begins++;
        c->parts |= 1u << (unsigned)(((double)b->time - (double)m->first) * PARTS_OF_TIME / span);
    }
}

/* Most of it is of functions for which it begins again and again. */
static bool most_repeats(const struct caller *callers, size_t n, const struct sp_finding *f)
{
    int64_t repeated = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned seen = 0;
        for (uint32_t parts = callers[i].parts; parts; parts &= parts - 1)
            seen++;
        if (callers[i].begins >= LEAST_TIMES && seen >= LEAST_PARTS)
            repeated += callers[i].weight;
    }
    return (__int128)repeated * 2 > f->weight && (__int128)f->parts[SP_PART_START] * 2 < f->weight;
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
    struct caller *callers = calloc(x->p->functions.n + 1, sizeof *callers);
    struct shown *shown = callers ? what_stacks_show(x, hits, n, f->group, callers) : NULL;
    bool ok = shown && take_moments(x, rows, nrows, shown, &moments);
    if (ok && moments.list.n) {
        qsort(moments.list.v, moments.list.n, sizeof *moments.list.v, by_thread);
        count_beginnings(&moments, callers, f);
        f->repeats = most_repeats(callers, x->p->functions.n, f);
    }
    sp_vec_free(&moments.list);
    free(callers);
    free(shown);
    return ok;
}
