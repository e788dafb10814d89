/*
 * What one run leaves behind for a comparison (diff_run.c), the comparison of one number (diff_test.c), and
 * that of all of them (diff.c).
 */
#ifndef SP_DIFF_PRIVATE_H
#define SP_DIFF_PRIVATE_H

#include "analysis/diff.h"

struct sp_diff_value {
    int64_t weight, samples;
};

/* What a row is called: a function of its key. */
struct sp_diff_name {
    uint32_t function, dso; /* strings; SP_STR_NONE: this run has none */
    uint32_t build;         /* of the binary: its build-id; SP_STR_NONE: not known */
    unsigned tags;
    bool own; /* the program's */
    char id[20];
};

struct sp_diff_forms {
    double weight[SP_FORMS], samples[SP_FORMS]; /* of frames: once for each place in a stack */
};

/* What a run shows of a function (diff_bodies.c). */
enum sp_body_fact { SP_BODY_PLACE, SP_BODY_CALLER, SP_BODY_CALLEE, SP_BODY_DECLARED };
struct sp_body {
    uint32_t key;
    enum sp_body_fact what;
    uint64_t value; /* offset in the function; key of the other function; string of the file << 32 | line */
    double weight;  /* samples, or weight where those are not counted */
};

struct sp_diff_run {
    unsigned scale;
    int64_t total, samples; /* of the whole; samples SP_ABSENT where a row has none */
    int64_t kept, all;      /* by all filters; of the event before any */
    double effective;       /* NaN where unknown */
    double seconds;         /* of recording, where the event is sampled by frequency; else NaN */
    double per;             /* what its weights are divided by to be costs */
    bool exact;             /* the event is counted, not sampled */
    uint64_t counted_at;    /* of numbers of samples: a hash of the frequency they were taken at; else 0 */
    bool negative;          /* some weight is below 0 */
    bool no_binaries;       /* a source that names no DSO, such as folded stacks */
    size_t keys;            /* that there were; later ones have nothing here, until sp_diff_finish widens */
    struct sp_diff_value *values[SP_FAMILIES];
    struct sp_diff_name *names;
    uint32_t *form_of; /* per key: 1 + its place in forms; 0: it has none, as most keys of other runs */
    SP_VEC(struct sp_diff_forms) forms;
    enum sp_memory memory;
    bool has_other;
    int64_t *other[SP_FAMILIES]; /* per key, with has_other: see sp_diff_amount */
    int64_t other_total;
    unsigned blocks; /* 0: none */
    const char *no_blocks;
    double block_total[SP_DIFF_BLOCKS];
    double *block_values; /* [key][family][block] */
    SP_VEC(struct sp_body) bodies;
};

/* NULL: the run has nothing of the key. */
static inline struct sp_diff_forms *sp_diff_forms_of(const struct sp_diff_run *r, uint32_t key)
{
    return r->form_of[key] ? &r->forms.v[r->form_of[key] - 1] : NULL;
}

/* ---- keys (diff_keys.c) ---- */

#define SP_DIFF_OVERLOADS "(overloads)" /* stands for the build of keys that count overloads together */

/* The key of normalised names, which is new or has been there; SP_NONE: out of memory. */
uint32_t sp_diff_key_at(struct sp_diff *d, uint32_t function, uint32_t dso, uint32_t build, uint32_t all);
uint32_t sp_diff_overloads_key(struct sp_diff *d, uint32_t function, uint32_t dso);
bool sp_diff_is_overloads(const struct sp_diff *d, uint32_t key);
/* A run's numbers under one key are added to those of another. */
void sp_diff_move_key(struct sp_diff_run *r, uint32_t from, uint32_t to);

/* ---- memory (diff_memory.c) ---- */

/* Bytes or blocks beside the metric compared; frame_keys: the key of each frame. False: out of memory. */
bool sp_diff_take_memory(struct sp_diff_run *r, struct sp_selection *s, const struct sp_selection *whole,
                         const uint32_t *frame_keys, uint32_t bare);
/* Whether all runs are of memory, and their totals. */
void sp_diff_memory(struct sp_diff *d);

/* ---- names (diff_names.c) ---- */

/* What a function shown so is matched by: by its linkage name where that tells more. False: out of memory. */
bool sp_diff_full_name(struct sp_buf *out, struct sp_str shown, struct sp_str linkage);
/* The file that tells a function from others of its name, behind that; and the name before it. */
bool sp_diff_add_file(struct sp_buf *out, struct sp_str file);
struct sp_str sp_diff_without_file(struct sp_str name);
unsigned sp_diff_form_of(struct sp_str name, bool inlined);
/* How a row's function was compiled on each side. */
void sp_diff_forms(struct sp_diff *d, struct sp_diff_row *row);

/* ---- renamed functions (diff_bodies.c, diff_renamed.c) ---- */

/* False: out of memory, as the next. */
bool sp_diff_take_bodies(struct sp_diff *d, struct sp_diff_run *r, struct sp_selection *s,
                         const uint32_t *frame_keys);
/* After all other matching: functions of one side that are probably one of the other become one row. */
bool sp_diff_match_renamed(struct sp_diff *d);

/* ---- work that moved (diff_moved.c) ---- */

/* Once all is tested: marks functions that one side lacks and the callers that have their work. False: out of
 * memory. */
bool sp_diff_find_moved(struct sp_diff *d);

/* ---- functions under several names (diff_functions.c) ---- */

/* Inlined functions of which only the last part of the name is known take the keys of those with the whole
 * name. */
bool sp_diff_join_inlined(struct sp_diff *d, const struct sp_profile *p, uint32_t *frame_keys);
/* frame_alls: the key for all overloads together, of frames of such; others stay as they are. */
bool sp_diff_group_overloads(struct sp_diff *d, const struct sp_profile *p, const uint32_t *frame_keys,
                             uint32_t *frame_alls, bool *any);
/* Once binaries are matched: functions of one side whose names tell more than those of the other. */
bool sp_diff_match_functions(struct sp_diff *d);

/* ---- matching (diff_match.c) ---- */

/* What --map has in place of a binary's name. */
struct sp_str sp_diff_mapped(const struct sp_diff *d, unsigned side, struct sp_str dso);
/* Notes which of --map's names a run has; false: out of memory. */
bool sp_diff_note_dsos(struct sp_diff *d, unsigned side, const struct sp_profile *p);
/* Once all runs know all keys: finds renamed binaries, and makes their keys one. */
spaa_status sp_diff_match_binaries(struct sp_diff *d);

void sp_diff_run_free(struct sp_diff_run *r);
/* A quantity of every run: of a row's family, or of the whole. */
struct sp_diff_quantity {
    const struct sp_diff *d;
    const struct sp_diff_row *row; /* NULL: the total */
    unsigned family;
    bool cost;
};

/* The test that the method and the quantity call for, without what many of them together change. */
void sp_diff_compare(const struct sp_diff_quantity *q, struct sp_diff_test *t);

/* Several runs (diff_runs.c): sizes and priors from the rows that `fit` says; false: out of memory. */
bool sp_diff_model_make(struct sp_diff *d,
                        bool (*fit)(const struct sp_diff *d, const struct sp_diff_row *row));
void sp_diff_model_free(struct sp_diff_model *m);
/* Each side has one build of the row's binary, and not the same: what its layout does, no run of it shows. */
bool sp_diff_of_two_builds(const struct sp_diff *d, const struct sp_diff_row *row);
void sp_diff_by_runs(const struct sp_diff_quantity *q, struct sp_diff_test *t);
/* The least change that this test would find 4 times in 5 at such a level; in the unit of its delta. */
double sp_diff_detectable(const struct sp_diff_test *t, double alpha);
/*
 * Once all runs know all keys: decides for each binary whether its addresses are rows of their own (they are
 * of one build in all runs) or one row. False: out of memory.
 */
bool sp_diff_settle_addresses(struct sp_diff *d);

#endif
