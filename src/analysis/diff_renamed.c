/*
 * Functions that were renamed: of those that only one side has, two that are declared in the same place and
 * whose samples are at the same places of their code, with the same callers and callees, and that weigh
 * alike. Probable and no more: it is said with the row. Where two candidates fit, none is taken. A function
 * that was removed and another that is new differ in code, whatever their weight and callers. Two that are
 * the same but for their weight are two rows, of which it is said that they may be one.
 */
#include "analysis/diff_private.h"

#include <math.h>

#define SAMPLES  5    /* of a function on each side */
#define SHARE    5e-3 /* likewise, where samples are not counted */
#define PLACED   8    /* samples whose places tell two functions apart */
#define ALIKE    0.5  /* so much of callers, callees and places is the same */
#define DECLARED 64   /* declarations of one function: more are none */
#define SURE     0.9  /* so much of places, where nothing else tells two functions apart */
#define NEAR     100  /* lines that a declaration may have moved by */
#define SLACK    0.1  /* of the weight, beside what chance gives */

/* A function that one side has. */
struct one_sided {
    uint32_t key;
    unsigned side;
    double samples, share, cost; /* of all runs; of the side's weight; for each run */
    bool taken;                  /* it is one of the other side */
    SP_VEC(struct sp_body) bodies;
};

enum { MOST = 64 }; /* of a side: of more a rename of each is no news */

struct renaming {
    struct sp_diff *d;
    struct one_sided v[SP_SIDES][MOST];
    size_t n[SP_SIDES];
    bool failed; /* out of memory */
};

static bool one_sided_of(const struct sp_diff *d, uint32_t key, struct one_sided *x)
{
    double total[SP_SIDES] = {0, 0};
    bool in[SP_SIDES] = {false, false}, counted = true;
    struct sp_str name = sp_str_at(&d->strs, d->keys.v[key].function);
    *x = (struct one_sided){.key = key};
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            double unit = pow(10, -(double)r->scale), w = (double)r->values[SP_SELF][key].weight * unit;
            in[side] = in[side] || r->values[SP_TOTAL][key].weight;
            x->samples += (double)r->values[SP_SELF][key].samples;
            counted = counted && r->samples != SP_ABSENT;
            x->cost += w / (double)d->runs[side].n;
            x->share += w;
            total[side] += (double)r->total * unit;
        }
    x->side = in[SP_NEW] ? SP_NEW : SP_BASE;
    x->share /= total[x->side] > 0 ? total[x->side] : 1;
    return in[SP_BASE] != in[SP_NEW] && name.n && name.p[0] != '[' && !d->keys.v[key].build &&
           (counted ? x->samples >= SAMPLES : x->share >= SHARE);
}

/* ---- what runs show of them ---- */

/* One value of one kind, of both functions: callers and callees by their names alone. */
struct shown {
    uint64_t value;
    double weight[SP_SIDES];
};

struct facts {
    SP_VEC(struct shown) v;
    double all[SP_SIDES];
};

static uint64_t shown_as(const struct sp_diff *d, const struct sp_body *b)
{
    bool name = b->what == SP_BODY_CALLER || b->what == SP_BODY_CALLEE;
    return name ? d->keys.v[b->value].function : b->value;
}

static int cmp_shown(const void *va, const void *vb)
{
    const struct shown *a = va, *b = vb;
    return (a->value > b->value) - (a->value < b->value);
}

/* Of the two functions, what they have of one kind. */
static void facts_of(struct renaming *m, struct one_sided *const *pair, enum sp_body_fact what,
                     struct facts *f)
{
    *f = (struct facts){0};
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t k = 0; k < pair[side]->bodies.n; k++) {
            const struct sp_body *b = &pair[side]->bodies.v[k];
            struct shown x = {b->what == what ? shown_as(m->d, b) : 0, {0, 0}};
            x.weight[side] = b->weight;
            if (b->what != what)
                continue;
            f->all[side] += b->weight;
            m->failed = m->failed || !sp_vec_push(&f->v, x);
        }
    if (f->v.n)
        qsort(f->v.v, f->v.n, sizeof *f->v.v, cmp_shown);
    size_t n = 0;
    for (size_t i = 0; i < f->v.n; i++)
        if (n && f->v.v[n - 1].value == f->v.v[i].value)
            for (unsigned side = 0; side < SP_SIDES; side++)
                f->v.v[n - 1].weight[side] += f->v.v[i].weight[side];
        else
            f->v.v[n++] = f->v.v[i];
    f->v.n = n;
}

/* How much of both is the same, from 0 to 1. */
static double overlap(const struct facts *f)
{
    double same = 0;
    for (size_t i = 0; i < f->v.n && f->all[SP_BASE] > 0 && f->all[SP_NEW] > 0; i++)
        same += fmin(f->v.v[i].weight[SP_BASE] / f->all[SP_BASE], f->v.v[i].weight[SP_NEW] / f->all[SP_NEW]);
    return same;
}

/* Callers or callees: the same, or neither has any to speak of beside its own samples. */
static bool same_calls(struct renaming *m, struct one_sided *const *pair, enum sp_body_fact what, bool *any)
{
    struct facts f;
    bool has[SP_SIDES];
    facts_of(m, pair, what, &f);
    for (unsigned side = 0; side < SP_SIDES; side++)
        has[side] = f.all[side] > 0.2 * pair[side]->samples;
    *any = has[SP_BASE] && has[SP_NEW];
    bool same = *any ? overlap(&f) >= ALIKE : !has[SP_BASE] && !has[SP_NEW];
    sp_vec_free(&f.v);
    return same;
}

/* Declared in one file, near the same line; nothing known of either: `unknown`. */
static bool same_place(const struct facts *f, bool *unknown, uint32_t *moved)
{
    *unknown = !(f->all[SP_BASE] > 0) || !(f->all[SP_NEW] > 0) || f->v.n > DECLARED;
    *moved = UINT32_MAX;
    for (size_t i = 0; i < f->v.n && !*unknown; i++)
        for (size_t k = 0; k < f->v.n; k++) {
            const struct shown *a = &f->v.v[i], *b = &f->v.v[k];
            uint32_t x = (uint32_t)a->value, y = (uint32_t)b->value, by = x > y ? x - y : y - x;
            if (a->weight[SP_BASE] > 0 && b->weight[SP_NEW] > 0 && a->value >> 32 == b->value >> 32)
                *moved = by < *moved ? by : *moved;
        }
    return *moved <= NEAR;
}

static bool weigh_alike(const struct one_sided *a, const struct one_sided *b)
{
    double chance = a->samples > 0 && b->samples > 0 ? sqrt(1 / a->samples + 1 / b->samples) : 0,
           most = 2 * chance + SLACK;
    return fabs(log(b->cost / a->cost)) <= most || fabs(log(b->share / a->share)) <= most;
}

/* Code decides where it was seen; where it was not, a declaration in the very same line does. */
static bool same_body(struct renaming *m, struct one_sided *const *pair, struct sp_diff_renamed *out)
{
    struct facts places, lines;
    bool unknown;
    facts_of(m, pair, SP_BODY_PLACE, &places);
    facts_of(m, pair, SP_BODY_DECLARED, &lines);
    bool near = same_place(&lines, &unknown, &out->moved);
    bool placed = places.all[SP_BASE] >= PLACED && places.all[SP_NEW] >= PLACED;
    out->places = placed ? overlap(&places) : NAN;
    out->declared = !unknown;
    sp_vec_free(&places.v);
    sp_vec_free(&lines.v);
    return placed ? out->places >= ALIKE && (near || unknown) : !unknown && out->moved == 0;
}

static bool same_function(struct renaming *m, struct one_sided *const *pair, struct sp_diff_renamed *out)
{
    const struct sp_diff_key *keys = m->d->keys.v;
    bool callees;
    return keys[pair[SP_BASE]->key].dso == keys[pair[SP_NEW]->key].dso && same_body(m, pair, out) &&
           same_calls(m, pair, SP_BODY_CALLER, &out->callers) &&
           same_calls(m, pair, SP_BODY_CALLEE, &callees);
}

/* ---- matching ---- */

/* What both are called. */
static void name_both(const struct sp_diff *d, struct sp_diff_renamed *x, uint32_t from, uint32_t to)
{
    x->key = to;
    x->was = from;
    for (size_t i = 0; i < d->runs[SP_NEW].n; i++) {
        const struct sp_diff_name *n = &d->runs[SP_NEW].v[i]->names[to];
        x->now = n->function ? n->function : x->now;
    }
    for (size_t i = 0; i < d->runs[SP_BASE].n; i++) {
        const struct sp_diff_name *n = &d->runs[SP_BASE].v[i]->names[from];
        x->name = n->function ? n->function : x->name;
    }
}

/* The heaviest functions of each side alone. */
static void find_one_sided(struct renaming *m)
{
    for (uint32_t k = 0; k < m->d->keys.n; k++) {
        struct one_sided x;
        if (!one_sided_of(m->d, k, &x))
            continue;
        struct one_sided *v = m->v[x.side];
        size_t at = m->n[x.side] < MOST ? m->n[x.side]++ : MOST;
        for (; at && x.share > v[at - 1].share; at--)
            if (at < MOST)
                v[at] = v[at - 1];
        if (at < MOST)
            v[at] = x;
    }
}

/* What runs show of these. */
static bool find_bodies(struct renaming *m)
{
    const struct sp_diff *d = m->d;
    struct one_sided **of = calloc(d->keys.n + 1, sizeof *of);
    bool ok = of != NULL;
    for (unsigned side = 0; ok && side < SP_SIDES; side++)
        for (size_t i = 0; i < m->n[side]; i++)
            of[m->v[side][i].key] = &m->v[side][i];
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; ok && i < d->runs[side].n; i++)
            for (size_t k = 0; ok && k < d->runs[side].v[i]->bodies.n; k++) {
                const struct sp_body *b = &d->runs[side].v[i]->bodies.v[k];
                if (of[b->key] && of[b->key]->side == side)
                    ok = sp_vec_push(&of[b->key]->bodies, *b);
            }
    free(of);
    return ok;
}

/* Weight that is another takes more: code that was seen, and where no source tells, nearly all of it. */
static bool fits_otherwise(const struct sp_diff_renamed *x)
{
    return x->places >= (x->declared ? ALIKE : SURE);
}

/*
 * The only one of the other side that fits v[side][i]; SIZE_MAX: none, or several. `weight`: it weighs alike,
 * too.
 */
static size_t only_one(struct renaming *m, unsigned side, size_t i, bool weight, struct sp_diff_renamed *out)
{
    size_t found = SIZE_MAX;
    for (size_t k = 0; k < m->n[!side]; k++) {
        struct one_sided *pair[SP_SIDES];
        struct sp_diff_renamed x = {0};
        pair[side] = &m->v[side][i];
        pair[!side] = &m->v[!side][k];
        bool taken = pair[SP_BASE]->taken || pair[SP_NEW]->taken;
        if (taken || (weight && !weigh_alike(pair[SP_BASE], pair[SP_NEW])) || !same_function(m, pair, &x) ||
            (!weight && !fits_otherwise(&x)))
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = k;
        *out = x;
    }
    return found;
}

/* Those that weigh alike become one, the base's numbers under the key of the new name; of others it is noted.
 */
static void find_pairs(struct renaming *m, bool weight)
{
    struct sp_diff *d = m->d;
    for (size_t i = 0; !m->failed && i < m->n[SP_BASE]; i++) {
        struct sp_diff_renamed x = {0}, other;
        size_t k = only_one(m, SP_BASE, i, weight, &x);
        if (k == SIZE_MAX || only_one(m, SP_NEW, k, weight, &other) != i || m->failed)
            continue;
        struct one_sided *from = &m->v[SP_BASE][i], *to = &m->v[SP_NEW][k];
        name_both(d, &x, from->key, to->key);
        for (size_t r = 0; weight && r < d->runs[SP_BASE].n; r++)
            sp_diff_move_key(d->runs[SP_BASE].v[r], from->key, to->key);
        m->failed = weight ? !sp_vec_push(&d->renamed, x) : !sp_vec_push(&d->maybe, x);
        from->taken = to->taken = true;
    }
}

bool sp_diff_match_renamed(struct sp_diff *d)
{
    struct renaming *m = calloc(1, sizeof *m);
    if (!m)
        return false;
    m->d = d;
    find_one_sided(m);
    m->failed = !find_bodies(m);
    find_pairs(m, true);
    find_pairs(m, false);
    bool ok = !m->failed;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < m->n[side]; i++)
            sp_vec_free(&m->v[side][i].bodies);
    free(m);
    return ok;
}

const struct sp_diff_renamed *sp_diff_renamed_of(const struct sp_diff *d, const struct sp_diff_row *row)
{
    for (size_t i = 0; i < d->renamed.n; i++)
        if (d->renamed.v[i].key == row->key)
            return &d->renamed.v[i];
    return NULL;
}

const struct sp_diff_renamed *sp_diff_maybe_of(const struct sp_diff *d, const struct sp_diff_row *row)
{
    for (size_t i = 0; i < d->maybe.n; i++)
        if (d->maybe.v[i].key == row->key || d->maybe.v[i].was == row->key)
            return &d->maybe.v[i];
    return NULL;
}

double sp_diff_maybe_factor(const struct sp_diff *d, const struct sp_diff_renamed *x)
{
    double base = NAN, fresh = NAN;
    for (size_t i = 0; i < d->appeared.n; i++)
        if (d->appeared.v[i].key == x->key)
            fresh = d->appeared.v[i].cost[SP_SELF].side[SP_NEW].mean;
    for (size_t i = 0; i < d->vanished.n; i++)
        if (d->vanished.v[i].key == x->was)
            base = d->vanished.v[i].cost[SP_SELF].side[SP_BASE].mean;
    return fresh / base;
}
