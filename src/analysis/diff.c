/*
 * The comparison: rows from the runs' numbers, a test for each, families, verdicts.
 *
 * Sums over runs are exact; shares and what follows from them are doubles, formed the same way whatever the
 * order of the files' records.
 */
#include "analysis/diff.h"

#include "analysis/diff_private.h"
#include "analysis/top.h"

#include <math.h>

const char *const sp_diff_method_names[] = {"none",    "samples",     "blocks", "one-sided",
                                            "repeats", "permutation", NULL};
const char *const sp_diff_verdict_names[] = {"significant", "inconclusive", "below_minimum_detectable_effect",
                                             "unavailable", NULL};

/* Shares of the significance level: own, inclusive and total are three looks at one pair of sides. */
#define HEADLINE_ALPHA (SP_DIFF_ALPHA / 3)
#define LEAST_SHARE    0.001 /* of rows that are tested where samples are not counted */

bool sp_diff_establishes(enum sp_diff_method m)
{
    return m >= SP_DIFF_TIME_BLOCKS;
}

spaa_status sp_diff_init(struct sp_diff *d, struct sp_diags *diags)
{
    *d = (struct sp_diff){.diags = diags};
    return sp_strtab_init(&d->strs) ? SPAA_OK : sp_nomem(diags);
}

void sp_diff_free(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++) {
        for (size_t i = 0; i < d->runs[side].n; i++)
            sp_diff_run_free(d->runs[side].v[i]);
        sp_vec_free(&d->runs[side]);
    }
    sp_vec_free(&d->keys);
    sp_map_free(&d->key_map);
    sp_vec_free(&d->rows);
    sp_vec_free(&d->appeared);
    sp_vec_free(&d->vanished);
    sp_strtab_free(&d->strs);
}

/* ---- matching ---- */

static int64_t value(const struct sp_diff_run *r, uint32_t key, unsigned family)
{
    return r->values[family][key].weight;
}

static void move_key(struct sp_diff_run *r, uint32_t from, uint32_t to)
{
    for (unsigned f = 0; f < SP_FAMILIES; f++) {
        struct sp_diff_value *a = &r->values[f][from], *b = &r->values[f][to];
        b->weight += a->weight;
        b->samples += a->samples;
        *a = (struct sp_diff_value){0};
    }
    for (unsigned i = 0; i < SP_FAMILIES * r->blocks; i++) {
        double *x = r->block_values + (size_t)from * SP_FAMILIES * r->blocks + i;
        r->block_values[(size_t)to * SP_FAMILIES * r->blocks + i] += *x;
        *x = 0;
    }
    r->names[to] = r->names[from];
    r->names[from] = (struct sp_diff_name){0};
}

/*
 * A source that names no binaries (folded stacks, say) is matched by function names alone: to the heaviest
 * function of that name in the other runs.
 */
static bool match_without_binaries(struct sp_diff *d)
{
    bool with = false, without = false;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            *(d->runs[side].v[i]->no_binaries ? &without : &with) = true;
    if (!with || !without)
        return true;
    uint32_t *best = calloc(d->strs.strs.n + 1, sizeof *best); /* per function name: 1 + key */
    double *weight = calloc(d->keys.n + 1, sizeof *weight);
    for (unsigned side = 0; best && weight && side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            for (uint32_t k = 0; !r->no_binaries && r->total > 0 && k < r->keys; k++)
                weight[k] += (double)value(r, k, SP_CUM) / (double)r->total;
        }
    for (uint32_t k = 0; best && weight && k < d->keys.n; k++) {
        uint32_t *b = &best[d->keys.v[k].function];
        if (weight[k] > 0 && (!*b || weight[k] > weight[*b - 1]))
            *b = k + 1;
    }
    bool ok = best && weight;
    for (unsigned side = 0; ok && side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_run *r = d->runs[side].v[i];
            for (uint32_t k = 0; r->no_binaries && k < r->keys; k++) {
                uint32_t to = best[d->keys.v[k].function];
                bool unknown = sp_str_is(sp_str_at(&d->strs, d->keys.v[k].dso), "[unknown]");
                if (!to || --to == k || !unknown || weight[k] > 0 || value(r, to, SP_CUM))
                    continue;
                move_key(r, k, to);
            }
        }
    free(best);
    free(weight);
    return ok;
}

static bool widen(void **array, size_t had, size_t now, size_t elem)
{
    unsigned char *more = calloc(now + 1, elem);
    if (!more)
        return false;
    memcpy(more, *array, had * elem);
    free(*array);
    *array = more;
    return true;
}

/* Every run knows every key. */
static bool widen_runs(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_run *r = d->runs[side].v[i];
            size_t now = d->keys.n, row = sizeof(double) * SP_FAMILIES * r->blocks;
            if (!widen((void **)&r->values[SP_SELF], r->keys, now, sizeof *r->values[0]) ||
                !widen((void **)&r->values[SP_CUM], r->keys, now, sizeof *r->values[0]) ||
                !widen((void **)&r->names, r->keys, now, sizeof *r->names) ||
                (r->blocks && !widen((void **)&r->block_values, r->keys, now, row)))
                return false;
            r->keys = now;
        }
    return true;
}

/* ---- sums ---- */

static __int128 at_scale(const struct sp_diff *d, const struct sp_diff_run *r, int64_t v)
{
    __int128 x = v;
    for (unsigned i = r->scale; i < d->scale; i++)
        x *= 10;
    return x;
}

static spaa_status sum_sides(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            if (d->runs[side].v[i]->scale > d->scale)
                d->scale = d->runs[side].v[i]->scale;
    d->rates = true;
    for (unsigned side = 0; side < SP_SIDES; side++) {
        struct sp_diff_side *x = &d->side[side];
        x->runs = d->runs[side].n;
        for (size_t i = 0; i < x->runs; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            if (r->total <= 0) {
                sp_emit(d->diags, SP_E632, SP_AT_NOTHING, "%s run %zu has a total weight of %lld",
                        side == SP_BASE ? "base" : "new", i + 1, (long long)r->total);
                return SPAA_ERR_INPUT;
            }
            x->total += at_scale(d, r, r->total);
            x->samples =
                x->samples == SP_ABSENT || r->samples == SP_ABSENT ? SP_ABSENT : x->samples + r->samples;
            x->effective += r->effective;
            x->seconds += r->seconds;
        }
        if (x->runs == 1)
            x->blocks = d->runs[side].v[0]->blocks;
        d->rates = d->rates && x->seconds > 0;
    }
    return SPAA_OK;
}

static void name_row(struct sp_diff *d, struct sp_diff_row *row)
{
    const struct sp_diff_name *best = NULL;
    for (unsigned side = 0; side < SP_SIDES; side++) /* the last that has it */
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_name *n = &d->runs[side].v[i]->names[row->key];
            row->tags |= n->tags;
            best = n->function ? n : best;
        }
    row->function = best ? best->function : d->keys.v[row->key].function;
    row->dso = best ? best->dso : d->keys.v[row->key].dso;
    if (best)
        memcpy(row->id, best->id, sizeof best->id);
}

static bool make_rows(struct sp_diff *d)
{
    for (uint32_t key = 0; key < d->keys.n; key++) {
        struct sp_diff_row row = {.key = key};
        bool in[SP_SIDES] = {false, false};
        for (unsigned side = 0; side < SP_SIDES; side++)
            for (size_t i = 0; i < d->runs[side].n; i++) {
                const struct sp_diff_run *r = d->runs[side].v[i];
                struct sp_diff_amount *a = &row.side[side];
                for (unsigned f = 0; f < SP_FAMILIES; f++) {
                    a->weight[f] += at_scale(d, r, value(r, key, f));
                    a->samples[f] = d->side[side].samples == SP_ABSENT
                                        ? SP_ABSENT
                                        : a->samples[f] + r->values[f][key].samples;
                    in[side] = in[side] || value(r, key, f);
                }
            }
        if (!in[SP_BASE] && !in[SP_NEW])
            continue;
        name_row(d, &row);
        bool ok = in[SP_BASE] && in[SP_NEW] ? sp_vec_push(&d->rows, row)
                  : in[SP_NEW]              ? sp_vec_push(&d->appeared, row)
                                            : sp_vec_push(&d->vanished, row);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- one comparison ---- */

/* A quantity of every run: x[side][run]; per: what it is a share or rate of. */
struct quantity {
    struct sp_diff *d;
    const struct sp_diff_row *row; /* NULL: the total */
    unsigned family;
    bool rate;
    double *x[SP_SIDES];
    double *all; /* both, one after the other */
    const struct sp_permutation *plan;
};

static void gather(struct quantity *q)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < q->d->runs[side].n; i++) {
            const struct sp_diff_run *r = q->d->runs[side].v[i];
            double unit = pow(10, -(double)r->scale), total = (double)r->total;
            double w = q->row ? (double)value(r, q->row->key, q->family) : total;
            q->x[side][i] = !q->row     ? w * unit
                            : q->rate   ? w * unit / r->seconds
                            : total > 0 ? w / total
                                        : NAN;
        }
}

/*
 * The variance that sampling alone gives a run's value when the true one is `mean`: binomial for shares,
 * Poisson for rates and totals, with effective samples. 0 where samples are unknown.
 */
static double sampling(const struct quantity *q, const struct sp_diff_run *r, double mean)
{
    double unit = (double)r->total * pow(10, -(double)r->scale) / r->effective; /* weight of a sample */
    double v = !q->row ? mean * unit : q->rate ? mean * unit / r->seconds : mean * (1 - mean) / r->effective;
    return v > 0 ? v : 0;
}

static double mean_sampling(const struct quantity *q, double mean)
{
    double sum = 0;
    size_t n = 0;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < q->d->runs[side].n; i++, n++)
            sum += sampling(q, q->d->runs[side].v[i], mean);
    return sum / (double)n;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

static void interval(struct sp_diff_test *t, double se, double df)
{
    double half = (isinf(df) ? SP_Z95 : sp_t_quantile(0.975, df)) * se;
    t->lo = t->delta - half;
    t->hi = t->delta + half;
    t->mde = half + (isinf(df) ? SP_Z80 : sp_t_quantile(0.8, df)) * se;
}

/* p where neither runs nor sampling show any spread: equal means are equal, others are as rare as a split. */
static double without_spread(struct quantity *q, const struct sp_diff_test *t)
{
    return t->delta == 0 ? 1 : q->plan ? sp_permutation_p(q->plan, q->all) : NAN;
}

static void by_runs(struct quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    size_t na = d->runs[SP_BASE].n, nb = d->runs[SP_NEW].n;
    double se, df, both = (mean_of(q->x[0], na) + mean_of(q->x[1], nb)) / 2, least = mean_sampling(q, both);
    t->side[SP_BASE] = sp_estimate_of(q->x[SP_BASE], na, least);
    t->side[SP_NEW] = sp_estimate_of(q->x[SP_NEW], nb, least);
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    if (d->method == SP_DIFF_ONE_SIDED) {
        t->test = "student";
        t->p = sp_pooled(q->x[SP_BASE], na, q->x[SP_NEW], nb, least, &se, &df);
        double var = se * se / (1 / (double)na + 1 / (double)nb);
        t->side[SP_BASE].var = var / (double)na;
        t->side[SP_NEW].var = var / (double)nb;
        t->side[SP_BASE].df = t->side[SP_NEW].df = df;
    } else {
        t->test = "welch";
        t->p = sp_welch(t->side[SP_BASE], t->side[SP_NEW], &se, &df);
    }
    interval(t, se, df);
    t->deff = se * se / (least * (1 / (double)na + 1 / (double)nb));
    memcpy(q->all, q->x[SP_BASE], na * sizeof *q->all);
    memcpy(q->all + na, q->x[SP_NEW], nb * sizeof *q->all);
    if (d->method == SP_DIFF_PERMUTATION) {
        t->test = "permutation";
        t->p = sp_permutation_p(q->plan, q->all);
    } else if (isnan(t->p) && isfinite(t->delta)) {
        t->p = without_spread(q, t);
    }
}

static void by_blocks(struct quantity *q, struct sp_diff_test *t)
{
    double se, df, alone = 0, both = (q->x[0][0] + q->x[1][0]) / 2;
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_run *r = q->d->runs[side].v[0];
        double span[SP_DIFF_BLOCKS], unit = pow(10, -(double)r->scale), least = sampling(q, r, both);
        const double *x = r->block_values + ((size_t)q->row->key * SP_FAMILIES + q->family) * r->blocks;
        double y[SP_DIFF_BLOCKS];
        bool dependent;
        for (unsigned i = 0; i < r->blocks; i++) {
            y[i] = q->rate ? x[i] * unit : x[i];
            span[i] = q->rate ? r->seconds / r->blocks : r->block_total[i];
        }
        t->side[side] = sp_block_estimate(y, span, r->blocks, &dependent);
        t->side[side].var = t->side[side].var > least ? t->side[side].var : least;
        t->side[side].mean = q->x[side][0];
        t->dependent = t->dependent || dependent;
        alone += least;
    }
    t->test = "welch";
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    t->p = sp_welch(t->side[SP_BASE], t->side[SP_NEW], &se, &df);
    t->deff = se * se / alone;
    interval(t, se, df);
    if (isnan(t->p) && t->delta == 0)
        t->p = 1;
}

/* All runs of a side as one, samples taken to be independent. */
static void by_samples(struct quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    double k[SP_SIDES], n[SP_SIDES], eff[SP_SIDES], pooled = 0, unit = pow(10, -(double)d->scale);
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_side *s = &d->side[side];
        double w = q->row ? (double)q->row->side[side].weight[q->family] : (double)s->total;
        double one = (double)s->total * unit / s->effective;
        struct sp_estimate *e = &t->side[side];
        k[side] = q->row ? (double)q->row->side[side].samples[q->family] : (double)s->samples;
        n[side] = (double)s->samples;
        eff[side] = s->effective;
        e->mean = !q->row ? w * unit : q->rate ? w * unit / s->seconds : w / (double)s->total;
        e->var = !q->row   ? e->mean * one
                 : q->rate ? e->mean * one / s->seconds
                           : e->mean * (1 - e->mean) / eff[side];
        e->df = INFINITY;
        pooled += e->mean * eff[side];
    }
    double se = sqrt(t->side[SP_BASE].var + t->side[SP_NEW].var);
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    interval(t, se, INFINITY);
    if (!q->row || d->method == SP_DIFF_NONE)
        return; /* nothing is known of how totals of runs differ, or of anything */
    if (q->rate) {
        t->test = "binomial";
        t->p = sp_rate_p(k[SP_BASE], d->side[SP_BASE].seconds, k[SP_NEW], d->side[SP_NEW].seconds);
        return;
    }
    pooled /= eff[SP_BASE] + eff[SP_NEW];
    t->mde = (SP_Z95 + SP_Z80) * sqrt(pooled * (1 - pooled) * (1 / eff[SP_BASE] + 1 / eff[SP_NEW]));
    sp_newcombe(t->side[SP_BASE].mean, eff[SP_BASE], t->side[SP_NEW].mean, eff[SP_NEW], SP_Z95, &t->lo,
                &t->hi);
    bool few = k[SP_BASE] < SP_DIFF_LEAST || k[SP_NEW] < SP_DIFF_LEAST;
    t->test = few ? "fisher" : "z";
    t->p = few ? sp_fisher_p((uint64_t)k[SP_BASE], (uint64_t)n[SP_BASE], (uint64_t)k[SP_NEW],
                             (uint64_t)n[SP_NEW])
               : sp_share_p(k[SP_BASE], n[SP_BASE], k[SP_NEW], n[SP_NEW]);
    if (t->delta * sp_share_z(k[SP_BASE], n[SP_BASE], k[SP_NEW], n[SP_NEW]) < 0)
        t->p = 1; /* samples say one thing, weights another */
}

static void compare(struct quantity *q, struct sp_diff_test *t)
{
    *t = (struct sp_diff_test){.verdict = SP_DIFF_UNAVAILABLE};
    t->lo = t->hi = t->p = t->q = t->mde = t->mde_family = t->deff = NAN;
    gather(q);
    if (q->d->method == SP_DIFF_TIME_BLOCKS && q->row)
        by_blocks(q, t);
    else if (q->d->method >= SP_DIFF_ONE_SIDED)
        by_runs(q, t);
    else
        by_samples(q, t);
}

/* Enough of it to be worth a comparison: rows of a few samples would only dull the others. */
static bool eligible(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family)
{
    int64_t a = row->side[SP_BASE].samples[family], b = row->side[SP_NEW].samples[family];
    if (a != SP_ABSENT && b != SP_ABSENT)
        return a + b >= SP_DIFF_LEAST;
    double x = (double)row->side[SP_BASE].weight[family] / (double)d->side[SP_BASE].total;
    double y = (double)row->side[SP_NEW].weight[family] / (double)d->side[SP_NEW].total;
    return (x + y) / 2 >= LEAST_SHARE;
}

/* ---- families ---- */

struct sp_diff_row *sp_diff_row_at(struct sp_diff *d, size_t i)
{
    if (i < d->rows.n)
        return &d->rows.v[i];
    i -= d->rows.n;
    return i < d->appeared.n ? &d->appeared.v[i] : &d->vanished.v[i - d->appeared.n];
}

/* The level at which one row of a family counts, when that many were found. */
static double level(size_t family, size_t found)
{
    return SP_DIFF_ALPHA * (double)(found > 1 ? found : 1) / (double)(family > 1 ? family : 1);
}

static void judge(struct sp_diff_test *t, double alpha, double z)
{
    const struct sp_estimate *a = &t->side[SP_BASE], *b = &t->side[SP_NEW];
    if (isnan(t->p))
        return;
    if (isfinite(a->df)) {
        double var = a->var + b->var;
        double df = strcmp(t->test, "student") == 0 || !(var > 0)
                        ? a->df
                        : var * var / (a->var * a->var / a->df + b->var * b->var / b->df);
        t->mde_family = (sp_t_quantile(1 - alpha / 2, df) + sp_t_quantile(0.8, df)) * sqrt(var);
    } else {
        t->mde_family = t->mde / (SP_Z95 + SP_Z80) * (z + SP_Z80);
    }
    t->verdict = t->q <= SP_DIFF_ALPHA                                      ? SP_DIFF_SIGNIFICANT
                 : (!t->tested && !t->dependent) || fabs(t->delta) < t->mde ? SP_DIFF_BELOW
                                                                            : SP_DIFF_INCONCLUSIVE;
}

static bool adjust(struct sp_diff *d, unsigned family, bool rate)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n, m = 0, found = 0;
    double *p = calloc(2 * n + 1, sizeof *p), *q = p ? p + n : NULL;
    if (!p)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        struct sp_diff_test *t = rate ? &row->rate[family] : &row->share[family];
        t->tested = !t->dependent && !isnan(t->p) && eligible(d, row, family);
        p[i] = t->tested ? t->p : NAN;
        m += t->tested;
        d->dependent += !rate && t->dependent && eligible(d, row, family);
    }
    bool ok = sp_adjust(p, q, n);
    for (size_t i = 0; ok && i < n; i++)
        found += q[i] <= SP_DIFF_ALPHA;
    double alpha = level(m, found), z = sp_normal_quantile(1 - alpha / 2);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        struct sp_diff_test *t = rate ? &row->rate[family] : &row->share[family];
        t->q = q[i];
        judge(t, alpha, z);
        if (!rate && q[i] <= HEADLINE_ALPHA && sp_diff_establishes(d->method))
            d->headline = SP_DIFF_CHANGED;
    }
    if (!rate) {
        d->family[family] = m;
        d->significant[family] = found;
    }
    free(p);
    return ok;
}

/* ---- the whole ---- */

static spaa_status choose(struct sp_diff *d, enum sp_diff_method asked)
{
    size_t na = d->runs[SP_BASE].n, nb = d->runs[SP_NEW].n;
    bool blocks = d->side[SP_BASE].blocks && d->side[SP_NEW].blocks;
    bool samples = d->side[SP_BASE].samples != SP_ABSENT && d->side[SP_NEW].samples != SP_ABSENT &&
                   isfinite(d->side[SP_BASE].effective) && isfinite(d->side[SP_NEW].effective);
    enum sp_diff_method best = na > 1 && nb > 1    ? SP_DIFF_REPEATS
                               : na > 1 || nb > 1  ? SP_DIFF_ONE_SIDED
                               : blocks && samples ? SP_DIFF_TIME_BLOCKS
                               : samples           ? SP_DIFF_SAMPLES
                                                   : SP_DIFF_NONE;
    for (unsigned side = 0; side < SP_SIDES && best <= SP_DIFF_SAMPLES; side++)
        if (d->runs[side].v[0]->no_blocks)
            d->no_blocks = d->runs[side].v[0]->no_blocks;
    d->method = asked ? asked : best;
    bool can = asked == SP_DIFF_NONE || asked == best || (asked == SP_DIFF_PERMUTATION && na > 1 && nb > 1) ||
               (asked == SP_DIFF_SAMPLES && samples);
    if (can)
        return SPAA_OK;
    sp_emit_hint(d->diags, SP_E631, SP_AT_NOTHING,
                 asked == SP_DIFF_TIME_BLOCKS ? "blocks need one run a side, with timestamps"
                 : asked == SP_DIFF_SAMPLES   ? "it needs sample counts on both sides"
                                              : "repeats and permutation need several runs a side",
                 "--method %s does not fit %zu against %zu runs%s%s", sp_diff_method_names[asked], na, nb,
                 asked == SP_DIFF_TIME_BLOCKS && d->no_blocks ? ": " : "",
                 asked == SP_DIFF_TIME_BLOCKS && d->no_blocks ? d->no_blocks : "");
    return SPAA_ERR_USAGE;
}

static bool compare_all(struct sp_diff *d)
{
    size_t na = d->runs[SP_BASE].n, nb = d->runs[SP_NEW].n, n = d->rows.n + d->appeared.n + d->vanished.n;
    double *x = calloc(2 * (na + nb) + 1, sizeof *x);
    struct sp_permutation plan = {0};
    struct quantity q = {.d = d, .x = {x, x + na}, .all = x + na + nb};
    bool ok = x != NULL;
    bool counted = d->side[SP_BASE].samples != SP_ABSENT && d->side[SP_NEW].samples != SP_ABSENT;
    if (ok && (d->method == SP_DIFF_PERMUTATION || (d->method == SP_DIFF_REPEATS && !counted))) {
        ok = sp_permutation_plan(&plan, na, nb);
        q.plan = &plan;
    }
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        q.row = row;
        for (q.family = 0; q.family < SP_FAMILIES; q.family++) {
            q.rate = false;
            compare(&q, &row->share[q.family]);
            q.rate = true;
            if (d->rates)
                compare(&q, &row->rate[q.family]);
        }
    }
    q.row = NULL;
    q.rate = false;
    if (ok)
        compare(&q, &d->total);
    d->total.q = d->total.p;
    judge(&d->total, SP_DIFF_ALPHA, SP_Z95);
    for (unsigned f = 0; ok && f < SP_FAMILIES; f++)
        ok = adjust(d, f, false) && (!d->rates || adjust(d, f, true));
    if (d->total.q <= HEADLINE_ALPHA && d->method >= SP_DIFF_ONE_SIDED)
        d->headline = SP_DIFF_CHANGED;
    sp_permutation_free(&plan);
    free(x);
    return ok;
}

struct order {
    const struct sp_diff *d;
    unsigned family;
};

static int cmp_row(const void *va, const void *vb, void *arg)
{
    const struct order *o = arg;
    const struct sp_diff_row *a = va, *b = vb;
    for (unsigned i = 0; i < SP_FAMILIES; i++) {
        const struct sp_diff_test *x = &a->share[o->family ^ i], *y = &b->share[o->family ^ i];
        bool sx = x->verdict == SP_DIFF_SIGNIFICANT, sy = y->verdict == SP_DIFF_SIGNIFICANT;
        if (sx != sy)
            return sx ? -1 : 1;
        if (fabs(x->delta) != fabs(y->delta))
            return fabs(x->delta) > fabs(y->delta) ? -1 : 1;
    }
    int c = sp_str_cmp(sp_str_at(&o->d->strs, a->function), sp_str_at(&o->d->strs, b->function));
    c = c ? c : sp_str_cmp(sp_str_at(&o->d->strs, a->dso), sp_str_at(&o->d->strs, b->dso));
    return c ? c : (a->key > b->key) - (a->key < b->key);
}

spaa_status sp_diff_finish(struct sp_diff *d, const struct sp_diff_opts *opts)
{
    if (!widen_runs(d) || !sp_diff_settle_addresses(d) || !match_without_binaries(d))
        return sp_nomem(d->diags);
    spaa_status st = sum_sides(d);
    if (!st)
        st = choose(d, opts->method);
    if (st)
        return st;
    bool one = d->method < SP_DIFF_ONE_SIDED;
    d->headline = one ? SP_DIFF_NOT_ESTABLISHED : SP_DIFF_NO_CHANGE;
    if (!make_rows(d) || !compare_all(d))
        return sp_nomem(d->diags);
    if (d->headline == SP_DIFF_NO_CHANGE && d->significant[SP_SELF] + d->significant[SP_CUM])
        d->headline = SP_DIFF_NOT_ESTABLISHED; /* by one of three looks, not by all together */
    struct order o = {d, opts->sort_cum ? SP_CUM : SP_SELF};
    if (d->rows.n)
        qsort_r(d->rows.v, d->rows.n, sizeof *d->rows.v, cmp_row, &o);
    if (d->appeared.n)
        qsort_r(d->appeared.v, d->appeared.n, sizeof *d->appeared.v, cmp_row, &o);
    if (d->vanished.n)
        qsort_r(d->vanished.v, d->vanished.n, sizeof *d->vanished.v, cmp_row, &o);
    return SPAA_OK;
}
