/*
 * Two sides of a comparison: what changed, and is it real.
 *
 * Runs are taken in one by one (sp_diff_add), each reduced to numbers per function, so that no more than one
 * profile is in memory at a time. Functions of all runs are matched by their normalised name and DSO
 * (normalise.h); functions that become one row are counted once per stack together.
 *
 * A row has four comparisons: self and total weight, each as a share and as a cost: weight per run, per
 * second of recording or per unit of work. How they are made:
 *
 *     SP_DIFF_REPEATS      several runs on a side or both: quasi-likelihood on the runs' counts (quasi.h),
 * shares against the median function SP_DIFF_PERMUTATION  the same by permutation of the runs SP_DIFF_EXACT
 * one run a side of what is counted and not sampled: different or not SP_DIFF_TIME_BLOCKS  one run a side
 * with timestamps: Welch's test on 20 or 30 time blocks of each SP_DIFF_SAMPLES      one run a side without:
 * z, or Fisher's exact test below 10 samples; assumes that samples are independent, which they seldom are
 *     SP_DIFF_NONE         no samples: significance is unavailable
 *
 * One run a side tells at most what differs within these runs. q is p after Benjamini and Hochberg over the
 * rows of the family (self and total are two) that have SP_DIFF_LEAST samples on both sides together; the
 * headline follows from self weights. docs/diff.md has the formulas.
 */
#ifndef SP_DIFF_H
#define SP_DIFF_H

#include "analysis/binaries.h"
#include "analysis/select.h"
#include "analysis/stats.h"
#include "base/strtab.h"

#define SP_DIFF_ALPHA  0.05
#define SP_DIFF_LEAST  10
#define SP_DIFF_BLOCKS 30
#define SP_DIFF_LAYOUT 0.025 /* of a function's cost: what builds of one source are allowed to differ by */

enum { SP_BASE, SP_NEW, SP_SIDES };
enum { SP_SELF, SP_TOTAL, SP_FAMILIES };

enum sp_diff_method {
    SP_DIFF_NONE,
    SP_DIFF_SAMPLES,
    SP_DIFF_TIME_BLOCKS,
    SP_DIFF_EXACT,
    SP_DIFF_REPEATS,
    SP_DIFF_PERMUTATION,
};

enum sp_diff_verdict {
    SP_DIFF_SIGNIFICANT,
    SP_DIFF_INCONCLUSIVE,
    SP_DIFF_BELOW, /* the minimum detectable effect */
    SP_DIFF_UNAVAILABLE,
    SP_DIFF_DIFFERS, /* significant, within one run a side */
    SP_DIFF_EQUAL,   /* exact counts */
};

/* What weights are divided by to be a cost. */
enum sp_diff_per { SP_PER_RUN, SP_PER_SECOND, SP_PER_WORK };

/* What a function's change is measured against. */
enum sp_diff_reference {
    SP_AGAINST_MEDIAN,   /* function */
    SP_AGAINST_COST,     /* the whole: too few functions have a median */
    SP_AGAINST_WHOLE,    /* likewise, and nothing says how long a run was */
    SP_AGAINST_AGREEING, /* too few for a median, but most of them moved alike: those (reference.h) */
};

/* One comparison of one quantity; what is not known is NaN. Shares are of 1. */
struct sp_diff_test {
    struct sp_estimate side[SP_SIDES]; /* df is INFINITY where nothing was estimated */
    double delta, lo, hi;              /* new - base with its 95 % interval */
    double p, q;
    double mde;        /* change that would be found with a power of 80 %, looked at alone */
    double mde_family; /* the same with the control for all rows of its family */
    double deff;       /* design effect: variance by blocks or runs over that of independent samples */
    /* With runs: growth of 1 against the reference (share) or by itself (cost); infinite from nothing. */
    double change, change_lo, change_hi;
    double se, df;  /* of its logarithm */
    double least_p; /* that the method can reach at all: of few runs there are few splits; else 0 */
    enum sp_diff_verdict verdict;
    const char *
        test; /* "quasi-likelihood", "permutation", "exact", "welch", "z", "fisher", "binomial"; NULL: none */
    bool tested;    /* part of the family */
    bool layout;    /* the sides are of two builds of its binary: SP_DIFF_LAYOUT is allowed for */
    bool dependent; /* time blocks resemble their neighbours: they do not carry a verdict */
};

/* Memory is compared in bytes and blocks: which of them the metric counts. */
enum sp_memory { SP_MEMORY_NONE, SP_MEMORY_BYTES, SP_MEMORY_BLOCKS };

/* How a function was compiled, by the suffix of its symbol. */
enum sp_diff_form {
    SP_FORM_WHOLE,
    SP_FORM_ISRA,
    SP_FORM_PART,
    SP_FORM_CONSTPROP,
    SP_FORM_COLD,
    SP_FORM_LTO,
    SP_FORM_LLVM,
    SP_FORM_INLINED,
    SP_FORMS
};
extern const char *const sp_diff_form_names[]; /* NULL-terminated */

struct sp_diff_amount {
    __int128 weight[SP_FAMILIES]; /* self, total: of all runs, at sp_diff.scale */
    int64_t samples[SP_FAMILIES]; /* SP_ABSENT where some run has none */
    __int128 other[SP_FAMILIES];  /* with has_other: blocks of bytes, bytes of blocks; whole numbers */
};

struct sp_diff_row {
    uint32_t function, dso; /* strings of sp_diff.strs: of one of those that became this row */
    uint32_t key;
    unsigned tags;            /* enum sp_top_tag */
    char id[32];              /* its handle in the last run that has it */
    unsigned forms[SP_SIDES]; /* bits 1 << enum sp_diff_form: what was seen of it */
    bool recompiled;          /* the sides differ in that beyond chance */
    uint32_t moved;           /* 1 + key of the row that has its work now, or had it; 0: none */
    bool reference;           /* SP_AGAINST_AGREEING: it is one of those */
    bool own;                 /* it is the program's (own.h) in some run */
    unsigned char said;       /* for an answer: how much of its name tells it from the others */
    struct sp_diff_amount side[SP_SIDES];
    struct sp_diff_test share[SP_FAMILIES], cost[SP_FAMILIES];
};

struct sp_diff_side {
    size_t runs;
    __int128 whole;       /* all runs, at sp_diff.scale */
    __int128 kept;        /* of it, by all filters */
    __int128 event_whole; /* of the event before any filter */
    __int128 other;       /* with has_other: the whole of that metric */
    int64_t samples;      /* SP_ABSENT where some run has none */
    double effective;     /* samples, NaN where unknown */
    double seconds;       /* NaN where unknown */
    double per;           /* runs, seconds or work: what costs are divided by */
    double spread;        /* of the runs' whole costs: largest less smallest, of the mean; NaN: of one run */
    unsigned blocks;      /* 0: none */
};

enum sp_diff_headline { SP_DIFF_CHANGED, SP_DIFF_NO_CHANGE, SP_DIFF_NOT_ESTABLISHED, SP_DIFF_UNCHANGED };

struct sp_diff_key {
    uint32_t function, dso; /* strings: normalised */
    uint32_t build;         /* of an address of a trace by addresses: the build-id; else SP_STR_NONE */
    uint32_t all;           /* then: the key of all addresses of its binary */
    bool plain;             /* of all addresses: some have no key of their own */
};

/* --map: a binary of the base that is to be compared with one of the new side. */
struct sp_diff_map {
    struct sp_str name[SP_SIDES]; /* as asked for; lent */
    bool seen[SP_SIDES];
};

/* A function that probably has another name on the new side, and why. */
struct sp_diff_renamed {
    uint32_t key, was;  /* of the row; the one that its name in the base has */
    uint32_t name, now; /* strings: in the base, on the new side */
    double places;      /* part of its samples that are at the same places of its code; NaN: not known */
    uint32_t moved;     /* lines that its declaration moved by, in a file of the same name */
    bool declared;      /* that is known */
    bool callers;       /* it has the same ones, not none */
};

struct sp_diff_run;
struct sp_diff_model;
struct sp_diff {
    struct sp_diags *diags;
    struct sp_strtab strs; /* names, and the normalised ones that rows are matched by */
    SP_VEC(struct sp_diff_key) keys;
    struct sp_map key_map;
    SP_VEC(struct sp_diff_run *) runs[SP_SIDES];
    struct sp_diff_model *model; /* with several runs */
    SP_VEC(struct sp_diff_map) maps;
    SP_VEC(uint32_t) dsos[SP_SIDES]; /* with maps: the names of binaries that there are */

    /* from sp_diff_finish on */
    struct sp_binary_pairs binaries; /* compared under two names, or not for want of certainty */
    SP_VEC(struct sp_diff_renamed) renamed;
    SP_VEC(struct sp_diff_renamed) maybe; /* but for what they weigh: two rows */
    unsigned scale;
    enum sp_diff_method method;
    enum sp_diff_headline headline;
    struct sp_diff_side side[SP_SIDES];
    struct sp_diff_test whole; /* of the weights; tested with repeats only */
    enum sp_diff_per per;
    enum sp_diff_reference reference;
    double reference_change; /* of the cost of the median function, or of those that agree; else NaN */
    double reference_se;     /* of its logarithm, beside what runs differ by */
    double prior, prior_df;  /* what functions have in common of how runs vary; NaN with one run a side */
    enum sp_memory
        memory; /* what is compared is memory: rows are ranked by the change of the metric itself */
    bool has_other;
    size_t family[SP_FAMILIES], significant[SP_FAMILIES];
    size_t layout;                   /* rows of two builds */
    size_t dependent;                /* rows whose time blocks do not carry a verdict */
    const char *no_blocks;           /* why there are no time blocks; NULL: not asked, or there are */
    SP_VEC(struct sp_diff_row) rows; /* in both sides */
    SP_VEC(struct sp_diff_row) appeared, vanished; /* in one side only, heaviest first */
    uint32_t *row_of;                              /* per key: 1 + its row, for sp_diff_row_at; 0: none */
};

spaa_status sp_diff_init(struct sp_diff *d, struct sp_diags *diags);
void sp_diff_free(struct sp_diff *d);
/*
 * "OLD=NEW", before the first run: a binary of the base that is the same as one of the new side, each by its
 * path, the last part of it, or that without a version. SPAA_ERR_USAGE, reported. The text must live on. One
 * that is not there is SPAA_ERR_NOT_FOUND, of sp_diff_finish.
 */
spaa_status sp_diff_map(struct sp_diff *d, const char *text);
/*
 * Takes a run in. `whole` is the same selection without the filters that look at frames: what shares are
 * of; NULL: the selection itself. With `blocks` the profile's samples, if it has any, are put into time
 * blocks. The profile is not needed afterwards. SPAA_ERR_USAGE, reported, when the metric does not add.
 */
spaa_status sp_diff_add(struct sp_diff *d, unsigned side, struct sp_selection *s,
                        const struct sp_selection *whole, bool blocks);

struct sp_diff_opts {
    enum sp_diff_method method; /* SP_DIFF_NONE: the best that the data allow */
    bool sort_total;            /* rows by the change of their total */
    double work[SP_SIDES];      /* units done in each run of the side; 0: not said */
    bool windows;               /* the sides are stretches of time that were asked for: seconds compare */
};
/* Compares. SPAA_ERR_USAGE, reported, when the data do not allow the method asked for. */
spaa_status sp_diff_finish(struct sp_diff *d, const struct sp_diff_opts *opts);

/* A weight of all runs of a side in its unit, for each run. */
double sp_diff_per_run(const struct sp_diff *d, unsigned side, __int128 v);
/* What a run cost of a row, or of all (NULL), divided as costs are. */
double sp_diff_cost_at(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family, unsigned side,
                       size_t run);
/* By how much a row's weight changed, from run to run. */
double sp_diff_change(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family);

/* The words of enums in JSON and options. */
extern const char *const sp_diff_method_names[]; /* NULL-terminated, as the next */
extern const char *const sp_diff_verdict_names[];
/* NULL: it has the same name on both sides, or is on one. */
const struct sp_diff_renamed *sp_diff_renamed_of(const struct sp_diff *d, const struct sp_diff_row *row);
/* Of one that may be renamed and weighs otherwise: either of its rows; NULL: it is none. */
const struct sp_diff_renamed *sp_diff_maybe_of(const struct sp_diff *d, const struct sp_diff_row *row);
/* What it costs on the new side of what it cost in the base; NaN: not known. */
double sp_diff_maybe_factor(const struct sp_diff *d, const struct sp_diff_renamed *x);
/* The row that r's work moved to or from; NULL: none. */
const struct sp_diff_row *sp_diff_moved_with(const struct sp_diff *d, const struct sp_diff_row *r);
/* Row i of rows, appeared and vanished together. */
struct sp_diff_row *sp_diff_row_at(struct sp_diff *d, size_t i);
/* Runs of the two sides last differently, and nobody said what work they did: of the whole, nothing can be
 * told. */
bool sp_diff_lengths_differ(const struct sp_diff *d);
/* The whole changed beyond noise and no function did against the others, nor is it known what was done. */
bool sp_diff_whole_is_open(const struct sp_diff *d);
/* The weights are numbers of samples, and those were taken at different frequencies. */
bool sp_diff_sampled_unlike(const struct sp_diff *d);
/* Whether the method tells a change of the program from what runs of it differ by. */
bool sp_diff_establishes(enum sp_diff_method m);

#endif
