/*
 * Counts of samples of several runs on two sides, by quasi-likelihood: which function's count changed,
 * against the others', beyond what runs of one side differ by. Numbers in, numbers out.
 *
 * A count y of row i in run j has the mean m = size_j * rate_i and the variance dispersion_i * m: the Poisson
 * distribution's where samples are independent (dispersion 1), more where runs differ.
 *
 *     sizes       how much was recorded in each run, by the median of the ratios of its counts to the rows'
 * geometric means: one function that grows does not make the others shrink dispersion  the Poisson deviance
 * within the sides over its degrees of freedom; few runs say little of it, so that it is averaged with what
 * the rows have in common (the prior), which counts as up to 6 degrees of freedom test        the drop in
 * deviance between one rate and a rate a side, over the dispersion: F with 1 and prior_df + df degrees of
 * freedom
 *
 * Sources: Lund, Nettleton, McCarthy and Smyth 2012 (edgeR's quasi-likelihood F-test), Smyth 2004 (limma's
 * moderated variances), Lun and Smyth 2017 (degrees of freedom where a side has nothing), Anders and
 * Huber 2010 (median of ratios).
 */
#ifndef SP_QUASI_H
#define SP_QUASI_H

#include <stdbool.h>
#include <stddef.h>

#define SP_QUASI_PRIOR_DF 6  /* at most: what other functions say of this one's spread */
#define SP_QUASI_LEAST    10 /* samples of a row that speaks for a run's size, in the shortest run */
#define SP_QUASI_ROWS     3  /* fewer make no median */

struct sp_quasi {
    size_t base, runs;  /* runs of the first side; of both */
    const double *size; /* per run */
    double floor;       /* the least dispersion: 1 for counts of samples; 0 where the unit is unknown */
    double extra;       /* variance of the log ratio that runs cannot show; see sp_quasi_test */
    double prior;       /* dispersion; 0 with prior_df 0: there is none */
    double prior_df;
    double slope, centre; /* of the log dispersion over the log count; where it is the prior */
};

/* What is known of one row; NaN where nothing is. Logarithms are natural, of new over base. */
struct sp_quasi_test {
    double change, lo, hi; /* log ratio of the rates, infinite where a side has nothing; 95 % interval */
    double p;
    double dispersion, df; /* after the prior */
    double se;             /* of the log ratio where nothing changed */
};

/*
 * Relative sizes of the runs, their geometric mean 1, from counts[row * runs + run]; only ratios count. Not
 * *by_median where too few rows have enough counts: then they are those of the totals. False: out of memory,
 * as the next.
 */
bool sp_quasi_sizes(const double *counts, size_t rows, size_t runs, double *size, bool *by_median);
/* The prior, from the rows that have counts enough: on entry base, runs, size and floor are set. */
bool sp_quasi_fit(struct sp_quasi *q, const double *counts, size_t rows);
/* One row: `counts` per run. */
struct sp_quasi_test sp_quasi_test(const struct sp_quasi *q, const double *counts);
/* Standard errors of a log ratio that would be found 4 times in 5 at this level (two-sided). */
double sp_quasi_reach(double df, double alpha);

#endif
