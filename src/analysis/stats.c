#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- distributions ---- */

double sp_normal_tail(double z)
{
    return 0.5 * erfc(z / M_SQRT2);
}

static double log_t_density(double x, double df)
{
    int sign;
    if (df > 1e7)
        return -x * x / 2 - 0.9189385332046727;
    return lgamma_r((df + 1) / 2, &sign) - lgamma_r(df / 2, &sign) - 0.5 * log(df * M_PI) -
           (df + 1) / 2 * log1p(x * x / df);
}

/*
 * The x > 0 with a tail of `p` < 0.5 by Newton's method: right of 0 the tail is convex, so that the steps
 * from the left never leap over the root. df above 1e7: the normal distribution.
 */
static double tail_quantile(double p, double df)
{
    double x = 0;
    for (int i = 0; i < 1000; i++) {
        double step = (sp_t_tail(x, df) - p) / exp(log_t_density(x, df));
        if (!(step > 1e-14 * x))
            break;
        x += step;
    }
    return x;
}

static double quantile(double p, double df)
{
    if (!(p > 0 && p < 1))
        return p <= 0 ? -INFINITY : p >= 1 ? INFINITY : NAN;
    return p < 0.5 ? -tail_quantile(p, df) : p > 0.5 ? tail_quantile(1 - p, df) : 0;
}

double sp_normal_quantile(double p)
{
    return quantile(p, INFINITY);
}

/* Continued fraction of the incomplete beta function (modified Lentz). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m <= 20000; m++) {
        for (int odd = 0; odd < 2; odd++) {
            double k = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                           : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + k * d;
            c = 1 + k / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= d * c;
        }
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return f;
}

double sp_beta_inc(double a, double b, double x)
{
    int sign;
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front =
        exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double sp_t_tail(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (df > 1e7)
        return sp_normal_tail(t);
    double half = 0.5 * sp_beta_inc(df / 2, 0.5, df / (df + t * t));
    return t >= 0 ? half : 1 - half;
}

/* By the incomplete beta function; with endless df2 that of so many that no digit differs. */
double sp_f_tail(double f, double df1, double df2)
{
    if (isnan(f) || !(df1 > 0) || !(df2 > 0))
        return NAN;
    df2 = df2 > 1e9 ? 1e9 : df2;
    return f > 0 ? sp_beta_inc(df2 / 2, df1 / 2, df2 / (df2 + df1 * f)) : 1;
}

double sp_t_quantile(double p, double df)
{
    return df > 0 ? quantile(p, df) : NAN;
}

/* Up to where the asymptotic series are exact, by recurrence. */
double sp_digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    double r = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           r * (1.0 / 12 -
                r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691.0 / 32760)))));
}

double sp_trigamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum += 1 / (x * x);
    double r = 1 / (x * x);
    return sum + 1 / x + r / 2 +
           r / x *
               (1.0 / 6 -
                r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * (5.0 / 66 - r * 691.0 / 2730)))));
}

static double two_sided(double tail)
{
    return tail > 0.5 ? 1 : 2 * tail;
}

/* ---- shares and rates of independent samples ---- */

double sp_share_z(double k1, double n1, double k2, double n2)
{
    if (!(n1 > 0 && n2 > 0))
        return NAN;
    double p = (k1 + k2) / (n1 + n2), var = p * (1 - p) * (1 / n1 + 1 / n2);
    return var > 0 ? (k2 / n2 - k1 / n1) / sqrt(var) : 0;
}

double sp_share_p(double k1, double n1, double k2, double n2)
{
    return two_sided(sp_normal_tail(fabs(sp_share_z(k1, n1, k2, n2))));
}

static double log_choose(double n, double k)
{
    int sign;
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* A two by two table with fixed margins, by its first cell. */
struct margins {
    double n1, n2, k, all; /* all: what does not depend on the cell */
    double least, most;
};

static double log_table(const struct margins *m, double x)
{
    int sign;
    return m->all - lgamma_r(x + 1, &sign) - lgamma_r(m->n1 - x + 1, &sign) - lgamma_r(m->k - x + 1, &sign) -
           lgamma_r(m->n2 - m->k + x + 1, &sign);
}

/* Sum of the tables from x outward, away from the most likely one, relative to that of x. */
static double outward(const struct margins *m, double x, bool up)
{
    double sum = 0, term = 1;
    while (x >= m->least && x <= m->most && term > 1e-17 * sum) {
        sum += term;
        term *= up ? (m->n1 - x) * (m->k - x) / ((x + 1) * (m->n2 - m->k + x + 1))
                   : x * (m->n2 - m->k + x) / ((m->n1 - x + 1) * (m->k - x + 1));
        x += up ? 1 : -1;
    }
    return sum;
}

/*
 * The probability of all tables with these margins that are no more likely than this one: its own tail, and
 * the other one from where tables are as unlikely.
 */
double sp_fisher_p(uint64_t k1, uint64_t n1, uint64_t k2, uint64_t n2)
{
    if (k1 > n1 || k2 > n2)
        return NAN;
    struct margins m = {(double)n1, (double)n2, (double)(k1 + k2), 0, 0, 0};
    int sign;
    m.all = lgamma_r(m.n1 + 1, &sign) + lgamma_r(m.n2 + 1, &sign) - log_choose(m.n1 + m.n2, m.k);
    m.least = m.k > m.n2 ? m.k - m.n2 : 0;
    m.most = m.k < m.n1 ? m.k : m.n1;
    double mode = floor((m.k + 1) * (m.n1 + 1) / (m.n1 + m.n2 + 2)), x = (double)k1, own = log_table(&m, x);
    if (own >= log_table(&m, mode) - 1e-7)
        return 1;
    if (own < -745) /* below the least double, and the other tail with it */
        return 0;
    bool up = x > mode; /* the way outward */
    double p = exp(own) * outward(&m, x, up);
    double in = mode, out = up ? m.least : m.most; /* likelier, and not, unless all are */
    if (log_table(&m, out) > own + 1e-7)
        return p < 1 ? p : 1;
    while (fabs(out - in) > 1) {
        double mid = floor((in + out) / 2);
        if (log_table(&m, mid) > own + 1e-7)
            in = mid;
        else
            out = mid;
    }
    p += exp(log_table(&m, out)) * outward(&m, out, !up);
    return p < 1 ? p : 1;
}

static void wilson(double p, double n, double z, double *lo, double *hi)
{
    double z2 = z * z, mid = p + z2 / (2 * n);
    double half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    *lo = (mid - half) / (1 + z2 / n);
    *hi = (mid + half) / (1 + z2 / n);
}

void sp_newcombe(double p1, double n1, double p2, double n2, double z, double *lo, double *hi)
{
    double l1, u1, l2, u2, d = p2 - p1;
    if (!(n1 > 0 && n2 > 0)) {
        *lo = *hi = NAN;
        return;
    }
    wilson(p1, n1, z, &l1, &u1);
    wilson(p2, n2, z, &l2, &u2);
    *lo = d - sqrt((p2 - l2) * (p2 - l2) + (u1 - p1) * (u1 - p1));
    *hi = d + sqrt((u2 - p2) * (u2 - p2) + (p1 - l1) * (p1 - l1));
}

double sp_rate_p(double k1, double t1, double k2, double t2)
{
    double n = k1 + k2, p = t2 / (t1 + t2);
    if (!(t1 > 0 && t2 > 0))
        return NAN;
    if (n <= 0)
        return 1;
    if (n > 1e5) { /* as good, and much faster */
        double away = fabs(k2 - n * p) - 0.5;
        return away > 0 ? two_sided(sp_normal_tail(away / sqrt(n * p * (1 - p)))) : 1;
    }
    double at_least = k2 > 0 ? sp_beta_inc(k2, n - k2 + 1, p) : 1;
    double at_most = k2 < n ? sp_beta_inc(n - k2, k2 + 1, 1 - p) : 1;
    return two_sided(at_least < at_most ? at_least : at_most);
}

/* ---- blocks ---- */

enum { BLOCK_LEAST = 10 }; /* groups of blocks that a variance is still estimated from */

struct sp_estimate sp_block_estimate(const double *x, const double *w, size_t n, bool *dependent)
{
    struct sp_estimate e = {NAN, NAN, NAN};
    double sx = 0, sw = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        sx += x[i];
        sw += w[i];
    }
    *dependent = false;
    if (n < BLOCK_LEAST || !(sw > 0))
        return e;
    e.mean = sx / sw;
    e.df = (double)BLOCK_LEAST - 1;
    for (size_t size = 1; n / size >= BLOCK_LEAST; size++) {
        size_t groups = n / size;
        double sum = 0;
        for (size_t g = 0; g < groups; g++) { /* groups of nearly equal size, so that all blocks are in one */
            double d = 0;
            for (size_t i = g * n / groups; i < (g + 1) * n / groups; i++)
                d += x[i] - e.mean * w[i];
            sum += d * d;
        }
        double var = sum / (sw * sw) * (double)groups / (double)(groups - 1);
        if (size == 1)
            first = var;
        if (size == 1 || var > e.var)
            e.var = var;
    }
    *dependent = e.var > 2 * first;
    return e;
}

double sp_welch(struct sp_estimate a, struct sp_estimate b, double *se, double *df)
{
    double var = a.var + b.var;
    *se = sqrt(var);
    *df = var * var / (a.var * a.var / a.df + b.var * b.var / b.df);
    if (!(var > 0)) {
        *df = a.df + b.df;
        return NAN;
    }
    return two_sided(sp_t_tail(fabs(b.mean - a.mean) / *se, *df));
}

/* ---- permutations ---- */

enum { SPLITS = 9999 };

/* Marks the next combination of `nb` of `n` in place, in lexical order; false after the last. */
static bool next_split(uint8_t *in_b, size_t n)
{
    size_t ones = 0, i = n;
    while (i && in_b[i - 1]) { /* the run of ones at the end */
        i--;
        ones++;
    }
    while (i && !in_b[i - 1])
        i--;
    if (!i)
        return false;
    in_b[i - 1] = 0;
    memset(in_b + i, 1, ones + 1);
    memset(in_b + i + ones + 1, 0, n - i - ones - 1);
    return true;
}

static uint64_t random_next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double splits_of(size_t n, size_t k)
{
    double all = 1;
    for (size_t i = 1; i <= k; i++)
        all = all * (double)(n - k + i) / (double)i;
    return all;
}

bool sp_permutation_plan(struct sp_permutation *plan, size_t na, size_t nb)
{
    size_t n = na + nb;
    double all = splits_of(n, nb);
    *plan = (struct sp_permutation){.na = na, .nb = nb, .exact = all <= SPLITS};
    plan->splits = plan->exact ? (size_t)(all + 0.5) : SPLITS;
    plan->in_b = calloc(plan->splits, n);
    if (!plan->in_b)
        return false;
    uint8_t *at = plan->in_b;
    if (plan->exact) {
        memset(at, 1, nb);
        for (size_t i = 1; i < plan->splits; i++) {
            memcpy(at + n, at, n);
            at += n;
            next_split(at, n);
        }
        return true;
    }
    uint64_t state = na * 1000003u + nb;
    for (size_t i = 0; i < plan->splits; i++, at += n) {
        memset(at, 1, nb);
        for (size_t k = n - 1; k > 0; k--) {
            size_t other = (size_t)(random_next(&state) % (k + 1));
            uint8_t t = at[k];
            at[k] = at[other];
            at[other] = t;
        }
    }
    return true;
}

double sp_permutation_p(const struct sp_permutation *plan, const double *values)
{
    size_t n = plan->na + plan->nb, extreme = 0;
    double sum = 0, observed = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        observed += i >= plan->na ? values[i] : 0;
    }
    /* The difference of means grows with b's sum; equal ones must compare equal despite rounding. */
    double expected = sum * (double)plan->nb / (double)n, bound = fabs(observed - expected) * (1 - 1e-12);
    const uint8_t *at = plan->in_b;
    for (size_t s = 0; s < plan->splits; s++, at += n) {
        double b = 0;
        for (size_t i = 0; i < n; i++)
            b += at[i] ? values[i] : 0;
        extreme += fabs(b - expected) >= bound;
    }
    return plan->exact ? (double)extreme / (double)plan->splits
                       : ((double)extreme + 1) / ((double)plan->splits + 1);
}

/* With as many runs on either side, a split and its mirror image are as far apart. */
double sp_permutation_least(const struct sp_permutation *plan)
{
    double splits = (double)plan->splits;
    return plan->exact ? (plan->na == plan->nb ? 2 : 1) / splits : 1 / (splits + 1);
}

void sp_permutation_free(struct sp_permutation *plan)
{
    free(plan->in_b);
    plan->in_b = NULL;
}

/* ---- many comparisons ---- */

struct ranked {
    double p;
    size_t i;
};

static int stats_cmp_ranked(const void *va, const void *vb)
{
    const struct ranked *a = va, *b = vb;
    if (a->p != b->p)
        return a->p < b->p ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

bool sp_adjust(const double *p, double *q, size_t n)
{
    struct ranked *r = calloc(n + 1, sizeof *r);
    size_t m = 0;
    if (!r)
        return false;
    for (size_t i = 0; i < n; i++) {
        q[i] = NAN;
        if (!isnan(p[i]))
            r[m++] = (struct ranked){p[i], i};
    }
    if (m)
        qsort(r, m, sizeof *r, stats_cmp_ranked);
    double least = 1;
    for (size_t k = m; k-- > 0;) {
        double v = r[k].p * (double)m / (double)(k + 1);
        least = v < least ? v : least;
        q[r[k].i] = least;
    }
    free(r);
    return true;
}
