/*
 * Statistics for comparing two profiles: plain numbers in, plain numbers out, no profile in sight.
 *
 * Tests are two-sided and give a p-value in 0..1. What cannot be told (no data, no variation to judge by) is
 * NaN. Nothing here draws random numbers but sp_permutation, whose generator is seeded by its arguments:
 * equal input, equal output.
 */
#ifndef SP_STATS_H
#define SP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_Z95 1.959963984540054  /* two-sided 5 % of the normal distribution */
#define SP_Z80 0.8416212335729143 /* power of 80 % */

double sp_normal_tail(double z); /* P(Z > z) */
double sp_normal_quantile(double p);
double sp_t_tail(double t, double df); /* P(T > t); df may be any positive number */
double sp_t_quantile(double p, double df);
double sp_f_tail(double f, double df1, double df2); /* P(F > f); df2 may be infinite */
double sp_beta_inc(double a, double b, double x);   /* regularised incomplete beta function */

double sp_digamma(double x); /* for x > 0, as the next */
double sp_trigamma(double x);

/* Two shares, k1 of n1 and k2 of n2, of independent samples. */
double sp_share_z(double k1, double n1, double k2, double n2); /* z with the pooled share */
double sp_share_p(double k1, double n1, double k2, double n2); /* its p-value */
double sp_fisher_p(uint64_t k1, uint64_t n1, uint64_t k2, uint64_t n2);
/* Newcombe's interval of p2 - p1 from two Wilson intervals; p in 0..1, n need not be whole. */
void sp_newcombe(double p1, double n1, double p2, double n2, double z, double *lo, double *hi);

/* Two counts in two spans of time: k2 given k1 + k2 is Bin(k1 + k2, t2 / (t1 + t2)). Exact up to 100,000,
 * tails doubled. */
double sp_rate_p(double k1, double t1, double k2, double t2);

/* A mean, the variance of that mean, and the degrees of freedom it was estimated with. */
struct sp_estimate {
    double mean, var, df;
};

/*
 * Of the ratio sum(x) / sum(w) over n blocks of one run that follow each other in time, by linearisation:
 * blocks of unequal weight count as they should. Neighbours that resemble each other (phases longer than a
 * block) are not n independent ones: the variance is taken over blocks, pairs, triples, … of blocks too
 * and the largest wins. *dependent is set where whole blocks are far from independent.
 */
struct sp_estimate sp_block_estimate(const double *x, const double *w, size_t n, bool *dependent);
/* Welch's test of the difference b - a. *se and *df of the difference are set; NaN without variation. */
double sp_welch(struct sp_estimate a, struct sp_estimate b, double *se, double *df);

/*
 * Permutation test of the difference of means: all splits where they are few, else 9,999 seeded random ones.
 * One plan serves many rows. Free it with sp_permutation_free.
 */
struct sp_permutation {
    size_t na, nb, splits;
    uint8_t *in_b; /* splits * (na + nb) */
    bool exact;
};
bool sp_permutation_plan(struct sp_permutation *plan, size_t na, size_t nb);      /* false: out of memory */
double sp_permutation_p(const struct sp_permutation *plan, const double *values); /* a's, then b's */
double sp_permutation_least(const struct sp_permutation *plan); /* the p of the rarest split */
void sp_permutation_free(struct sp_permutation *plan);

/* Benjamini and Hochberg: q[i] from p[i]; NaN stays NaN and does not count. False: out of memory. */
bool sp_adjust(const double *p, double *q, size_t n);

#endif
