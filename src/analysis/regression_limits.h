/*
 * Limits on what may grow between two sides: `--fail-on`.
 *
 *     LIMITS  = LIMIT { "," LIMIT }
 *     LIMIT   = SUBJECT ">" NUMBER ("%" | "pp")
 *     SUBJECT = "self" | "total"           any function's self or total share
 *             | "whole"                    the weight of everything; % only
 *             | ["self:" | "total:"] NAME  one function (default total), by name or handle
 *
 * "flat" and "own" mean self, "cum" total. Until 0.1 "total" meant the whole: a warning says so.
 *
 * % is growth relative to the base, pp percentage points of the whole. A name may hold commas and ">": a
 * limit ends where a number and its unit are followed by a comma or the end.
 *
 * A limit is breached when growth beyond it is established: at the 5 % level, one-sided, controlled over all
 * functions looked at, by a method that establishes (several runs, or exact counts). It is kept when every
 * function of `min_share` or more is shown to stay at or below it. Else the data cannot tell; one run a side
 * of samples never can, nor can any about a named function that one side lacks: it may be removed, renamed or
 * inlined. A function that was renamed goes by either name.
 */
#ifndef SP_REGRESSION_LIMITS_H
#define SP_REGRESSION_LIMITS_H

#include "analysis/diff.h"

enum sp_limit_subject { SP_LIMIT_ANY, SP_LIMIT_WHOLE, SP_LIMIT_FUNCTION };
enum sp_limit_verdict { SP_LIMIT_PASSED, SP_LIMIT_BREACH, SP_LIMIT_UNSURE };
extern const char *const sp_limit_verdict_names[];

/* A function against a limit. */
struct sp_limit_case {
    const struct sp_diff_row *row; /* NULL: the whole */
    double growth;                 /* in the limit's unit; INFINITY for % of nothing */
    double need;                   /* how many times the data it would take to tell; NaN where more of the
                                      same does not help */
};

struct sp_limit {
    struct sp_str text, name; /* parts of the expression, which must live on */
    enum sp_limit_subject subject;
    unsigned family;
    bool points;
    double limit; /* 2 for 2 % and for 2 pp */
    enum sp_limit_verdict verdict;
    size_t judged;                      /* functions that the verdict is about */
    const struct sp_diff_row *lacking;  /* of a named function, where one side has none of it: why it cannot
                                           be told; else NULL */
    SP_VEC(struct sp_limit_case) cases; /* breaches, or what cannot be told, the worst first */
};

struct sp_limits {
    SP_VEC(struct sp_limit) limits;
    enum sp_limit_verdict verdict; /* the worst: breach, then unsure */
};

/* SPAA_ERR_USAGE, reported, for a bad expression; free the limits in any case. */
spaa_status sp_limits_parse(struct sp_limits *g, const char *expression, struct sp_diags *diags);
/* SPAA_ERR_USAGE, reported, for a function that neither side has. min_share of 1. */
spaa_status sp_limits_judge(struct sp_limits *g, struct sp_diff *d, double min_share);
void sp_limits_free(struct sp_limits *g);

/* The comparison of a row that a limit is about: of its share, or of the amount itself. */
const struct sp_diff_test *sp_limit_test(const struct sp_diff *d, const struct sp_limit *l,
                                         const struct sp_diff_row *row);

#endif
