/*
 * Weight by what `--by` names (analysis/by.h): one thing, or several at once, where a row is a distinct
 * combination. Of frames, a combination is of one frame's: `--by comm,dso,function` has a row for each
 * function that a comm's stacks have.
 *
 * self: weight of the rows whose leaf it is. total: weight of the rows that contain it, each counted once
 * however often it recurs (analysis/fold.h); totals of different rows overlap. For groupings of whole stacks
 * self = total.
 */
#ifndef SP_TOP_H
#define SP_TOP_H

#include "analysis/by.h"
#include "analysis/function_tags.h"
#include "analysis/select.h"

struct sp_top_row {
    uint32_t function;   /* SP_NONE where rows are no functions */
    uint32_t dso;        /* SP_NONE likewise */
    uint32_t name;       /* number in sp_top.names; of several keys, their texts with " / " between */
    uint32_t keys;       /* of several keys: where the names of these begin in sp_top.keys */
    unsigned tags;       /* enum sp_top_tag */
    int64_t self, total; /* scaled as the selection */
    int64_t
        at_most; /* what total may be where callers are missing (analysis/chains.h); SP_ABSENT: not known */
    int64_t samples; /* of self; SP_ABSENT where the source has none */
    int64_t total_samples;
    uint32_t context; /* one of these, where rows are of contexts; else SP_NONE */
};

/* A row's weights in another selection. */
struct sp_top_extra {
    int64_t self, total, samples, total_samples;
};
enum { SP_TOP_EXTRAS = 6 };

struct sp_top {
    const struct sp_profile *profile;
    SP_VEC(struct sp_top_row) rows; /* sorted: self (or total) descending, then name */
    struct sp_strtab names;
    size_t nkeys;          /* how many keys a row has */
    SP_VEC(uint32_t) keys; /* of rows with several: in names, nkeys for each row; see sp_top_key_text */
    SP_VEC(struct sp_top_extra) extras[SP_TOP_EXTRAS]; /* per row, of the selections that were joined */
    size_t nextras;
};

spaa_status sp_top_by(struct sp_selection *s, const struct sp_by_list *by, bool sort_total,
                      struct sp_diags *d, struct sp_top *out);
/* By one key. */
spaa_status sp_top_build(struct sp_selection *s, enum sp_by by, bool sort_total, struct sp_diags *d,
                         struct sp_top *out);
/* What a row is of its key k, in the order of the list. */
struct sp_str sp_top_key_text(const struct sp_top *t, const struct sp_top_row *row, size_t k);
void sp_top_free(struct sp_top *t);
/*
 * Puts the rows of another top, of the same profile and grouping, beside those of t (at most SP_TOP_EXTRAS
 * times). Functions are the same when their names and their DSOs' base names are: of two events, one
 * recording may know a build-id and a path that the other does not. Rows that only the other has come last,
 * in its order, with none of t's weights.
 */
spaa_status sp_top_join(struct sp_top *t, const struct sp_top *other, struct sp_diags *d);
/* The exact weight of all rows with a frame whose function matches (PCRE2), each counted once; any: one does.
 */
spaa_status sp_top_sum(struct sp_selection *s, const char *pattern, struct sp_diags *d, int64_t *weight,
                       int64_t *samples, bool *any);
/* The rows of SP_TOP_THREAD: "comm (tid N)", or the pool of the thread. */
void sp_thread_row(struct sp_buf *b, const struct sp_selection *s, uint32_t context);
/* The pool that a row of threads or comms is; NULL: it is none. */
const struct sp_pool *sp_top_pool(const struct sp_selection *s, enum sp_by by, const struct sp_top_row *row);

#endif
