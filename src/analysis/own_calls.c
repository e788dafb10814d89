#include "analysis/own_calls.h"

#include "analysis/chains.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_HOT = 6, OWN_NAMELESS = 3, OWN_CALLER_PERCENT = 10 };

struct calls {
    struct sp_selection *s;
    const struct sp_own *o;
    struct sp_own_calls *out;
    unsigned char *place;                      /* per function: 1 + its place in out */
    int64_t *outside;                          /* per DSO */
    int64_t all[SP_OWN_CALLS];                 /* per function: weight whose callers are known */
    int64_t above[SP_OWN_CALLS][SP_OWN_CALLS]; /* per function: of that, where another is above it */
};

/* ---- which ---- */

static bool is_chosen(const struct sp_own_calls *x, size_t row)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->row[i] == row)
            return true;
    return false;
}

/* Code that nobody knows the name of tells nothing by what it may be. */
static bool has_name(const struct calls *c, uint32_t function)
{
    const struct sp_profile *p = c->s->profile;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    return name.n < 2 || memcmp(name.p, "0x", 2) != 0;
}

/* The least of the totals from `least` on: the nearest that may have called what has so much. */
static size_t nearest_caller(const struct calls *c, const struct sp_own_fold *f, int64_t least)
{
    const struct sp_own_calls *x = c->out;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < f->rows.n; i++) {
        const struct sp_own_row *r = &f->rows.v[i];
        if (r->function == SP_NONE || r->total < least || !has_name(c, r->function) || is_chosen(x, i) ||
            sp_own_is_marker(c->s->profile, r->function))
            continue;
        if (best == SIZE_MAX || r->total < f->rows.v[best].total)
            best = i;
    }
    return best;
}

static void choose(struct calls *c, const struct sp_own_fold *f)
{
    struct sp_own_calls *x = c->out;
    double percent = (double)c->s->whole / 100;
    size_t nameless = 0;
    for (size_t i = 0; i < f->rows.n && x->n < OWN_HOT; i++) {
        const struct sp_own_row *r = &f->rows.v[i];
        if (r->function == SP_NONE || sp_own_is_marker(c->s->profile, r->function))
            continue;
        bool may_be = r->at_most != SP_ABSENT && (double)r->at_most >= OWN_CALLER_PERCENT * percent &&
                      has_name(c, r->function);
        if (!has_name(c, r->function) && nameless++ >= OWN_NAMELESS)
            continue;
        if ((!x->n || (double)r->sum.weight >= percent || may_be))
            x->row[x->n++] = i;
    }
    int64_t floor = (int64_t)(percent * OWN_CALLER_PERCENT);
    for (size_t hot = x->n, before = 0; x->n < SP_OWN_CALLS && x->n > before;) {
        before = x->n;
        for (size_t i = 0; i < hot && x->n < SP_OWN_CALLS; i++) {
            int64_t total = f->rows.v[x->row[i]].total;
            size_t caller = nearest_caller(c, f, total > floor ? total : floor);
            if (caller != SIZE_MAX)
                x->row[x->n++] = caller;
        }
    }
    for (size_t i = 0; i < x->n; i++)
        c->place[f->rows.v[x->row[i]].function] = (unsigned char)(i + 1);
}

/* ---- who stands below whom ---- */

/* Frames that were recorded: one address may stand for several, inlined ones. */
static size_t physical_frames(const struct sp_profile *p, const uint32_t *frames, size_t n)
{
    size_t physical = 0;
    for (size_t i = 0; i < n; i++)
        physical += !(p->frames.v[frames[i]].flags & SP_FRAME_INLINED);
    return physical;
}

static bool calls_add_row(struct calls *c, size_t i)
{
    const struct sp_profile *p = c->s->profile;
    const struct sp_chains *chains = c->s->chains;
    int64_t weight = c->s->rows.v[i].weight;
    size_t n, at_own;
    unsigned seen = 0;
    bool broken = chains && chains->rows && chains->rows[i] != SP_CHAIN_WHOLE;
    const uint32_t *frames = sp_selected_frames(c->s, i, &n);
    if (!frames)
        return false;
    size_t depth = physical_frames(p, frames, n);
    c->out->deepest = depth > c->out->deepest ? depth : c->out->deepest;
    for (size_t k = n; k-- > 0;) {
        uint32_t function = p->frames.v[frames[k]].function;
        size_t at = c->place[function];
        if (!at-- || seen & 1u << at)
            continue;
        c->all[at] += broken && !seen ? 0 : weight;
        for (size_t above = 0; above < c->out->n; above++)
            c->above[at][above] += seen & 1u << above ? weight : 0;
        seen |= 1u << at;
    }
    if (n && sp_own_nearest(p, c->o, frames, n, 0, &at_own) == SP_NONE) {
        uint32_t dso = p->functions.v[p->frames.v[frames[0]].function].dso;
        if (dso != SP_NONE)
            c->outside[dso] += weight;
    }
    return true;
}

static bool is_above(const struct calls *c, size_t above, size_t i)
{
    return above != i && c->above[i][above] > 0 && (double)c->above[i][above] >= 0.9 * (double)c->all[i];
}

/* How many are above one: the nearest caller has most. */
static size_t depth_of(const struct calls *c, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < c->out->n; k++)
        n += is_above(c, k, i);
    return n;
}

static void find_parents(struct calls *c)
{
    for (size_t i = 0; i < c->out->n; i++) {
        size_t best = SIZE_MAX, deepest = 0;
        for (size_t k = 0; k < c->out->n; k++) {
            size_t depth = depth_of(c, k) + 1;
            if (!is_above(c, k, i) || is_above(c, i, k) || depth <= deepest)
                continue;
            best = k;
            deepest = depth;
        }
        c->out->parent[i] = best;
    }
}

size_t sp_own_caller(const struct sp_own_calls *x, size_t i, size_t n)
{
    size_t at = x->parent[i];
    for (size_t steps = 0; at != SIZE_MAX && at >= n; at = x->parent[at])
        if (++steps > x->n)
            return SIZE_MAX;
    return at;
}

spaa_status sp_own_calls_of(struct sp_selection *s, const struct sp_own *o, const struct sp_own_fold *f,
                            struct sp_diags *d, struct sp_own_calls *out)
{
    struct calls c = {.s = s, .o = o, .out = out};
    *out = (struct sp_own_calls){0};
    c.place = calloc(s->profile->functions.n + 1, 1);
    c.outside = calloc(s->profile->dsos.n + 1, sizeof *c.outside);
    bool ok = c.place && c.outside;
    if (ok)
        choose(&c, f);
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = calls_add_row(&c, i);
    if (ok)
        find_parents(&c);
    ok = ok && sp_dso_weights_of(s->profile, c.outside, &out->outside);
    free(c.place);
    free(c.outside);
    if (!ok)
        sp_own_calls_free(out);
    return ok ? SPAA_OK : sp_nomem(d);
}

void sp_own_calls_free(struct sp_own_calls *x)
{
    sp_dso_weights_free(&x->outside);
}
