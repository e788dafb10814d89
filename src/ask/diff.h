/*
 * The parts of diff: diff.c reads and compares, diff_headline.c, diff_rest.c, diff_words.c, diff_match.c and
 * diff_memory.c have the sentences, diff_head.c and diff_tables.c what people see, diff_facts.c the facts of
 * JSON, diff_rows.c the rows of JSON and CSV.
 */
#ifndef SP_ASK_DIFF_H
#define SP_ASK_DIFF_H

#include "analysis/diff.h"
#include "analysis/idle_places.h"
#include "analysis/regression_limits.h"
#include "ask/common.h"
#include "ask/where.h"

/* Of the first run of a side. */
struct diff_side_words {
    struct sp_str event, metric, filters;
    const char *view;
};

struct diff_words {
    struct sp_str tool, unit; /* of the first base run */
    struct diff_side_words side[SP_SIDES];
    unsigned scale;
    struct sp_str
        hz[SP_SIDES];  /* of reports of hangs whose weights are samples: how often these were taken */
    bool rates_differ; /* so that their numbers do not compare */
};

/* What was waited for on both sides, or which calls and the like were counted; all runs. */
struct diff_wait {
    uint32_t reason, function; /* strings of sp_diff.strs; function SP_STR_NONE: not known */
    int64_t weight[SP_SIDES];
    bool at_least[SP_SIDES]; /* some waits are longer than what was seen */
    bool unsure;             /* the reason of some is the likely one only */
};

struct diff_answer {
    struct sp_ask *q;
    struct sp_answer *out;
    struct sp_diff d;
    struct sp_limits fail_on;
    struct diff_words words;
    struct sp_side_where where[SP_SIDES];
    size_t limit;
    bool compact;               /* JSON where nobody says how many rows: numbers of each that say most */
    bool has_allocators;        /* some run has what --allocators names, or was not asked */
    bool bounds[SP_SIDES];      /* it was said that totals of this side are bounds */
    bool has_waits;             /* weights are time off the CPU */
    bool at_least[SP_SIDES];    /* of which some is longer than what was seen */
    struct sp_idle_places idle; /* where some run's waits are not for work: of time off the CPU */
    SP_VEC(struct sp_profile *) held; /* runs that were read to know that; those behind them are not yet */
    SP_VEC(struct diff_wait) waits;
    struct sp_map waits_map;
    double missing[SP_SIDES]; /* then: part of its first such run's weight whose callers are missing */
};

/* SPAA_ERR_USAGE, reported: a side has a file twice (diff_files.c). */
spaa_status sp_diff_check_files(const struct sp_ask *q);

/* Run i with the options of its side; sp_diff_close when it is no longer needed (diff_idle.c). */
spaa_status sp_diff_open(struct diff_answer *a, size_t i, const struct sp_options *v,
                         struct sp_profile **out);
void sp_diff_close(struct diff_answer *a, size_t i, struct sp_profile *p);
/* Where the runs measure time off the CPU: what is a wait for work in all of them. */
spaa_status sp_diff_idle_decide(struct diff_answer *a);
void sp_diff_idle_free(struct diff_answer *a);

/* ---- sentences; all append ---- */

/* The verdict in words, without the leading CHANGED and so on. */
void sp_diff_say_summary(const struct diff_answer *a, struct sp_buf *out);
/* The metric is what is live: a level, which two dumps of one process have as well as two runs. */
bool sp_diff_of_live(const struct diff_answer *a);
/* What is said once: both sides have the same event, metric, view and filters. */
bool sp_diff_sides_alike(const struct diff_answer *a);
const char *sp_diff_headline_word(const struct sp_diff *d);
const char *sp_diff_per_words(const struct sp_diff *d); /* "a second" */
/* How rows were compared, in words; what that takes for granted: up to two, NULL ends. */
void sp_diff_say_method(const struct diff_answer *a, struct sp_buf *out);
const char *const *sp_diff_assumptions(enum sp_diff_method m);
/* A limit's verdict in words: which functions, by how much, what would be needed. */
void sp_diff_say_limit(const struct diff_answer *a, const struct sp_limit *l, struct sp_buf *out);
/* A warning for each limit that cannot be told: the answer itself may go to a file that nobody reads. */
void sp_diff_limits_report(const struct diff_answer *a);
/* A function's name for a sentence. */
void sp_diff_say_name(struct sp_buf *out, struct sp_str name);
/* A name that is short already, or its last parts; in fewer characters where it stands elsewhere too. */
void sp_diff_say_within(struct sp_buf *out, struct sp_str name, bool shorter);
/* A row's name, which tells it from others once sp_diff_tell_apart has been there (diff_names.c); `again`: in
 * fewer characters. */
void sp_diff_say_row(const struct sp_diff *d, const struct sp_diff_row *r, bool again, struct sp_buf *out);
bool sp_diff_tell_apart(struct sp_diff *d); /* false: out of memory */
bool sp_diff_names_clash(
    const struct sp_diff *d); /* some rows are told apart by more than their short names */
/* x with so many digits after the point, and a plus where `sign`. "-" for what is not known. */
void sp_diff_number(struct sp_buf *out, double x, unsigned digits, bool sign);
/* As JSON has them: rounded, where it is short to few digits; a part of 1 in percent. */
double sp_diff_rounded(double x, int digits);
double sp_diff_as_number(const struct diff_answer *a, double x);
double sp_diff_as_percent(const struct diff_answer *a, double part);
/* A weight with as few decimals as it needs; false: more than 64 bits. */
bool sp_diff_exact(__int128 *v, unsigned *scale);
/* "significant", as people read it. */
const char *sp_diff_verdict_word(const struct sp_diff_test *t);
/* "now inlined into its callers (whole before, inlined now)": nothing where both sides were compiled alike.
 */
void sp_diff_say_remark(const struct sp_diff_row *r, struct sp_buf *out);
/* Memory: bytes and blocks before shares. */
void sp_diff_say_memory(const struct diff_answer *a, struct sp_buf *out);
/* A number of bytes, with "B" or "MiB", or of blocks; a plus where `sign`. */
void sp_diff_say_amount(struct sp_buf *out, double v, bool bytes, bool sign);
/* An amount of a side, for each run: bytes or blocks, self or total; NaN: not known. r NULL: of the side. */
double sp_diff_memory_amount(const struct diff_answer *a, const struct sp_diff_row *r, unsigned side,
                             unsigned family, bool bytes);
bool sp_diff_memory_known(const struct diff_answer *a, bool bytes);

/* ---- what says more than functions of the kernel (diff_waits.c) ---- */

extern const struct sp_table_decl sp_diff_waits_table, sp_diff_counted_table;
/* Adds what a run waited for, or what its events count. */
spaa_status sp_diff_waits_add(struct diff_answer *a, unsigned side, struct sp_selection *s,
                              struct sp_profile *p);
void sp_diff_waits_sort(struct diff_answer *a); /* what changed most first; the others need it */
void sp_diff_say_waits(const struct diff_answer *a, struct sp_buf *out);
void sp_diff_put_waits(const struct diff_answer *a);

/* ---- the first lines (diff_headline.c) ---- */

enum { DIFF_NAMED = 3, DIFF_BESIDE = 2 }; /* functions that the headline names; that `also` does */
#define DIFF_SMALL 0.01                   /* of the whole: less makes no headline where there is another */
enum diff_kind { DIFF_SLOWER, DIFF_FASTER, DIFF_MOVED, DIFF_EITHER };
extern const char *const sp_diff_kind_words[]; /* "SLOWER" */
/* What the runs of the sides are: what did the same, what lasted the same, or it is not shown. */
enum diff_reading { DIFF_READING_OPEN, DIFF_FIXED_WORK, DIFF_FIXED_TIME, DIFF_WORK_SAID };

/* Instead of functions the first line has words: of what is counted exactly, of memory, where nothing was
 * found. */
bool sp_diff_in_words(const struct diff_answer *a);
/* The rows that the first lines speak of, with those that have their work or had it: up to twice DIFF_NAMED.
 */
size_t sp_diff_in_head(const struct diff_answer *a, const struct sp_diff_row **out);
/* The functions whose self changed that are worth a first line, the program's own first, then those that
 * changed most; returns how many there are. And those that changed and are not (diff_named.c). */
size_t sp_diff_named(const struct diff_answer *a, const struct sp_diff_row **out);
size_t sp_diff_beside(const struct diff_answer *a, const struct sp_diff_row **out);
bool sp_diff_is_small(const struct sp_diff_row *r);      /* less than DIFF_SMALL on both sides */
bool sp_diff_points_unsure(const struct sp_diff_row *r); /* the interval of its points has 0 */
/* As shares, something grew and something shrank: either may be the other's shadow. */
bool sp_diff_either(const struct sp_diff *d);
enum diff_kind sp_diff_kind(const struct sp_diff *d, const struct sp_diff_row *r); /* NULL: of the whole */
/* Worth a row where nobody says how many: it changed, or might have, or weighs something. */
bool sp_diff_matters(const struct diff_answer *a, const struct sp_diff_row *r, unsigned family);
/* A run's self cost of a row, or the whole's. */
double sp_diff_run_cost(const struct sp_diff *d, const struct sp_diff_row *r, unsigned side, size_t run);
/* What functions are measured against cost otherwise itself: then their growth is not that of their cost. */
bool sp_diff_reference_moved(const struct sp_diff *d);
enum diff_reading sp_diff_reading(const struct sp_diff *d);
void sp_diff_say_named(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *out);
void sp_diff_say_reference(const struct diff_answer *a, struct sp_buf *out);
void sp_diff_say_runs(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *out);
void sp_diff_say_whole(const struct diff_answer *a, struct sp_buf *out);
void sp_diff_say_renamed(const struct diff_answer *a, const struct sp_diff_renamed *x, struct sp_buf *out);
/* ---- what is behind them (diff_rest.c) ---- */

/* ": beyond what runs differ by (q 0.0004; quasi-likelihood F-test against sort_rows)" */
void sp_diff_say_chance(const struct diff_answer *a, const struct sp_diff_row *r, bool first,
                        struct sp_buf *out); /* first: with the method */
/* "; would have been found 4 times in 5: …", by the method that was used (diff_words.c). */
void sp_diff_say_detectable(const struct sp_diff *d, struct sp_buf *out);
/* What else moved, what would have been found, what these runs cannot show; nothing where all is said. */
void sp_diff_say_rest(const struct diff_answer *a, struct sp_buf *out);
/* Whose totals are bounds, in short. */
void sp_diff_say_bounds(const struct diff_answer *a, struct sp_buf *out);

/* ---- the answer ---- */

void sp_diff_say_binaries(const struct diff_answer *a); /* a line for each that is compared under two names */
void sp_diff_say_remarks(const struct diff_answer *a);
void sp_diff_binaries(const struct diff_answer *a);
void sp_diff_put_head(const struct diff_answer *a, struct sp_buf *b); /* leaves b empty */
void sp_diff_put_people(struct diff_answer *a);
void sp_diff_put_facts(struct diff_answer *a);             /* of JSON */
void sp_diff_put_rows(struct diff_answer *a);              /* of JSON and CSV */
extern const struct sp_table_decl *const sp_diff_tables[]; /* of these, NULL ends */
extern const struct sp_answer_column sp_diff_facts[];      /* name NULL ends */

#endif
