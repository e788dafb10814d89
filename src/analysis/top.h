/*
 * Weight by function, line, address, DSO, thread, process, comm, cpu, state, event or source.
 *
 * self: weight of the rows whose leaf it is. total: weight of the rows that contain it,
 * each counted once however often it recurs; totals of different rows overlap. For groupings of whole stacks
 * self = total.
 */
#ifndef SP_TOP_H
#define SP_TOP_H

#include "analysis/select.h"

enum sp_by {
    SP_TOP_FUNCTION,
    SP_TOP_LINE,
    SP_TOP_ADDRESS,
    SP_TOP_DSO,
    SP_TOP_THREAD,
    SP_TOP_PROCESS,
    SP_TOP_COMM,
    SP_TOP_CPU,
    SP_TOP_STATE,
    SP_TOP_EVENT,
    SP_TOP_SOURCE,
};
extern const char *const sp_by_names[]; /* NULL-terminated, in enum order */

enum sp_top_tag {
    SP_TAG_UNRESOLVED = 1,
    SP_TAG_IDLE = 2,
    SP_TAG_WAIT = 4,
    SP_TAG_KERNEL = 8,
    SP_TAG_INLINED = 16,
    SP_TAG_IRQ = 32 /* its self weight is that of code before it, which had interrupts off */
};
extern const char *const sp_tag_words[]; /* NULL-terminated, by bit */

struct sp_top_row {
    uint32_t function;   /* SP_NONE where rows are no functions */
    uint32_t dso;        /* SP_NONE likewise */
    uint32_t name;       /* number in sp_top.names */
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
    SP_VEC(struct sp_top_extra) extras[SP_TOP_EXTRAS]; /* per row, of the selections that were joined */
    size_t nextras;
};

spaa_status sp_top_build(struct sp_selection *s, enum sp_by by, bool sort_total, struct sp_diags *d,
                         struct sp_top *out);
/*
 * The same for when only the first `limit` rows will be looked at (0: all). They are the same rows; those
 * after them come in any order, with their self weights alone.
 */
spaa_status sp_top_build_some(struct sp_selection *s, enum sp_by by, bool sort_total, size_t limit,
                              struct sp_diags *d, struct sp_top *out);
void sp_top_free(struct sp_top *t);
/*
 * Puts the rows of another top, of the same profile and grouping, beside those of t (at most SP_TOP_EXTRAS
 * times). Functions are the same when their names and their DSOs' base names are: of two events, one
 * recording may know a build-id and a path that the other does not. Rows that only the other has come last,
 * in its order, with none of t's weights.
 */
spaa_status sp_top_join(struct sp_top *t, const struct sp_top *other, struct sp_diags *d);
/* The exact weight of all rows with a frame whose function matches (PCRE2), each counted once. */
spaa_status sp_top_sum(struct sp_selection *s, const char *pattern, struct sp_diags *d, int64_t *weight,
                       int64_t *samples);
/* The rows of SP_TOP_THREAD: "comm (tid N)", or the pool of the thread. */
void sp_thread_row(struct sp_buf *b, const struct sp_selection *s, uint32_t context);
/* The pool that a row of threads or comms is; NULL: it is none. */
const struct sp_pool *sp_top_pool(const struct sp_selection *s, enum sp_by by, const struct sp_top_row *row);
/* Tags of a function by its name and DSO, in samples of an event. */
unsigned sp_function_tags(const struct sp_profile *p, uint32_t event, uint32_t function);
/* cpu-clock and task-clock: a timer that cannot interrupt code which has interrupts off. */
bool sp_is_software_clock(const struct sp_profile *p, uint32_t event);

#endif
