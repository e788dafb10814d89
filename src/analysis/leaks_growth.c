/*
 * Growth, read from windows: the time is cut in quarters, and a row grows when what is live of it gained in
 * each of the last three. Where windows do not say what was freed, that is known only of rows that free
 * nothing.
 *
 * Windows are walked backwards, so that what was live before each of them follows from what is live at the
 * end, and nothing is kept of them.
 */
#include "analysis/leaks_private.h"
#include "analysis/sample_times.h"
#include "analysis/tally.h"

#include <math.h>

enum { QUARTERS = 4, SURE_WINDOWS = 6 };

/* Of a row or a line, while windows are walked. */
struct grower {
    struct sp_leak_course *growth;
    int64_t end;        /* live bytes at the end; SP_ABSENT: not known */
    int64_t since;      /* gained since the window began that is added to */
    int64_t gain;       /* in that window */
    size_t window;      /* 1 + its number; 0: none */
    long double gg, gs; /* sums over windows of the last three quarters: gain * gain, gain * seconds */
    bool never_freed, unknown;
};

struct leak_grow {
    struct sp_leak_builder *b;
    struct sp_sample_times m;
    struct grower *rows, *lines;
    size_t windows; /* of the last three quarters; of these, sums of seconds and their squares */
    long double s, ss;
};

/* ---- a window ---- */

static unsigned grow_quarter(const struct leak_grow *x, const struct sp_timed_window *w)
{
    __int128 middle = ((__int128)w->lo + w->hi) / 2 - x->m.start, span = (__int128)x->m.end - x->m.start;
    unsigned quarter = span > 0 ? (unsigned)(middle * QUARTERS / span) : 0;
    return quarter < QUARTERS ? quarter : QUARTERS - 1;
}

static long double grow_seconds(const struct sp_timed_window *w)
{
    return ((long double)w->hi - (long double)w->lo) / 1e9L;
}

static int64_t grow_value(const struct sp_leak_builder *b, const struct sp_window_row *w,
                          enum sp_leak_metric m)
{
    int64_t v = b->metric[m] == SP_NONE ? SP_ABSENT : sp_window_value(b->s->profile, w, b->metric[m]).v;
    return v == SP_DECIMAL ? SP_ABSENT : v;
}

/* What a window's row gained of live bytes; SP_ABSENT: it does not say. */
static int64_t gained(const struct sp_leak_builder *b, const struct sp_window_row *w, bool never_freed)
{
    int64_t live = grow_value(b, w, SP_LEAK_LIVE_BYTES);
    if (live != SP_ABSENT)
        return live;
    int64_t allocated = grow_value(b, w, SP_LEAK_ALLOC_BYTES), freed = grow_value(b, w, SP_LEAK_FREE_BYTES);
    if (allocated != SP_ABSENT && freed != SP_ABSENT)
        return allocated - freed;
    return never_freed ? allocated : SP_ABSENT;
}

/* Longer than a quarter and more, so that which of them its gains are of is not known. */
static bool grow_is_long(const struct leak_grow *x, const struct sp_timed_window *w)
{
    return (__int128)(w->hi - w->lo) * (QUARTERS - 1) > (__int128)x->m.end - x->m.start;
}

/* All of the window was added: what was live before it tells whether it is flat only from its end on. */
static void grow_close(const struct leak_grow *x, struct grower *g)
{
    if (!g->window)
        return;
    const struct sp_timed_window *w = &x->m.windows.v[g->window - 1];
    if (g->growth->flat_ns == SP_ABSENT && g->end != SP_ABSENT &&
        fabs((double)g->since) > fabs((double)g->end) / 20)
        g->growth->flat_ns = w->hi - x->m.start;
    bool much = fabs((double)g->gain) > fabs((double)sp_leak_zero(g->end)) / QUARTERS;
    g->unknown = g->unknown || (much && grow_is_long(x, w));
    if (grow_quarter(x, w)) {
        g->gg += (long double)g->gain * g->gain;
        g->gs += g->gain * grow_seconds(w);
    }
    g->window = 0;
    g->gain = 0;
}

static void grow_add(const struct leak_grow *x, struct grower *g, size_t window, int64_t v)
{
    if (v == SP_ABSENT) {
        g->unknown = true;
        return;
    }
    if (g->window != window + 1)
        grow_close(x, g);
    g->window = window + 1;
    sp_tally_add(&g->gain, v);
    sp_tally_add(&g->since, v);
    sp_tally_add(&g->growth->quarters[grow_quarter(x, &x->m.windows.v[window])], v);
}

static void grow_window(struct leak_grow *x, size_t window)
{
    const struct sp_timed_window *timed = &x->m.windows.v[window];
    const struct sp_window *w = &x->b->s->profile->windows.v[timed->window];
    const long double seconds = grow_seconds(timed);
    if (grow_quarter(x, timed)) {
        x->windows++;
        x->s += seconds;
        x->ss += seconds * seconds;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const struct sp_window_row *r = &x->b->s->profile->window_rows.v[w->first + i];
        uint32_t row = r->stack == SP_NONE ? 0 : x->b->l.of[r->stack].row;
        uint32_t line = row ? x->b->line[r->stack] : 0;
        int64_t v = row ? gained(x->b, r, x->rows[row - 1].never_freed) : SP_ABSENT;
        if (row)
            grow_add(x, &x->rows[row - 1], window, v);
        if (v != SP_ABSENT && grow_quarter(x, timed))
            sp_tally_add(&x->b->l.gained[r->stack], v);
        if (line)
            grow_add(x, &x->lines[line - 1], window, gained(x->b, r, x->lines[line - 1].never_freed));
    }
}

/* ---- what follows ---- */

/* The mean of windows that differ: two of its standard errors, as a ratio of gains and seconds has them. */
static double grow_doubt(const struct leak_grow *x, const struct grower *g, long double rate)
{
    if (x->windows < SURE_WINDOWS || x->s <= 0)
        return -1;
    long double off = g->gg - 2 * rate * g->gs + rate * rate * x->ss, k = (long double)x->windows;
    return off > 0 ? (double)(2 * sqrtl(off * k / (k - 1)) / x->s) : 0;
}

static void grow_end(const struct leak_grow *x, struct grower *g)
{
    struct sp_leak_course *out = g->growth;
    long double rate = 0;
    grow_close(x, g);
    out->known = !g->unknown;
    for (int q = 1; q < QUARTERS; q++)
        rate += out->quarters[q];
    rate = x->s > 0 ? rate / x->s : 0;
    out->per_second = (double)rate;
    out->doubt = grow_doubt(x, g, rate);
    if (g->unknown || g->since != g->end) /* windows do not tell all of it */
        out->flat_ns = SP_ABSENT;
}

static struct grower grower_of(struct sp_leak_course *growth, const struct sp_leak_sums *now,
                               bool never_freed)
{
    int64_t end = now->v[SP_LEAK_LIVE_BYTES]; /* what is suppressed has no window, either */
    growth->flat_ns = SP_ABSENT;
    growth->doubt = -1;
    return (struct grower){.growth = growth, .end = end, .never_freed = never_freed};
}

static void grow_walk(struct leak_grow *x)
{
    struct sp_leaks *l = &x->b->l;
    for (size_t i = 0; i < l->rows.n; i++)
        x->rows[i] = grower_of(&l->rows.v[i].growth, &l->rows.v[i].now, l->rows.v[i].never_freed);
    for (size_t i = 0; i < l->parts[SP_LEAK_LINES].n; i++) {
        struct sp_leak_part *part = &l->parts[SP_LEAK_LINES].v[i];
        x->lines[i] = grower_of(&part->growth, &part->now, part->never_freed);
    }
    for (size_t i = x->m.windows.n; i-- > 0;)
        grow_window(x, i);
    for (size_t i = 0; i < l->rows.n; i++) {
        grow_end(x, &x->rows[i]);
        l->growth = l->growth || l->rows.v[i].growth.known;
    }
    for (size_t i = 0; i < l->parts[SP_LEAK_LINES].n; i++)
        grow_end(x, &x->lines[i]);
    l->grown_ns = (int64_t)(x->s * 1e9L);
}

/* Windows are in time; massif's may be in instructions. */
static bool grow_is_timed(const struct sp_profile *p)
{
    int64_t ns;
    for (size_t i = 0; i < p->windows.n; i++)
        if (sp_time_ns(sp_pstr(p, p->windows.v[i].start), sp_pstr(p, p->windows.v[i].unit), &ns))
            return true;
    return false;
}

/* Only where there are enough windows, and the last one says who holds what is live. */
spaa_status sp_leak_grow(struct sp_leak_builder *b)
{
    struct leak_grow x = {.b = b, .m = {.p = b->s->profile}};
    if (b->end_untold || b->s->profile->windows.n < QUARTERS || !grow_is_timed(x.m.p))
        return SPAA_OK;
    x.rows = calloc(b->l.rows.n + 1, sizeof *x.rows);
    x.lines = calloc(b->l.parts[SP_LEAK_LINES].n + 1, sizeof *x.lines);
    b->l.gained = calloc(b->s->profile->stacks.n + 1, sizeof *b->l.gained);
    spaa_status st =
        x.rows && x.lines && b->l.gained ? sp_window_times_of(x.m.p, b->d, &x.m) : sp_nomem(b->d);
    if (!st) {
        grow_walk(&x);
        sp_sample_times_free(&x.m);
    }
    free(x.rows);
    free(x.lines);
    return st;
}

bool sp_leak_rises(const struct sp_leak_course *g, bool never_freed)
{
    if (!g->known || g->quarters[1] <= 0 || g->quarters[2] <= 0 || g->quarters[3] <= 0)
        return false;
    return never_freed || g->doubt < 0 || g->per_second > g->doubt;
}
