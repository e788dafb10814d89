/* The memory of a summary: what is live, who holds and asks for it, what grows. In parts, as summary.h. */
#ifndef SP_SUMMARY_MEMORY_H
#define SP_SUMMARY_MEMORY_H

#include "analysis/leaks_callers.h"
#include "analysis/own_memory.h"
#include "ask/memory_moment.h"
#include "ask/question.h"

enum { SP_SUMMARY_OWNERS = 9, SP_SUMMARY_LEAKS = 6 };

struct sp_summary_memory {
    bool known; /* what is asked about is memory, of all the time: rows have no other sums */
    struct sp_own_memory m;
    size_t owners[SP_SUMMARY_OWNERS];                  /* rows of m, in the order in which room is given */
    struct sp_leak_callers callers[SP_SUMMARY_OWNERS]; /* of these */
    size_t nowners;
    size_t leaks[SP_SUMMARY_LEAKS]; /* rows of m.leaks: lost; or what grows, then what holds most */
    struct sp_leak_callers leak_callers[SP_SUMMARY_LEAKS]; /* of these */
    size_t nleaks, more_leaks;                             /* more: that have no room */
    int64_t more_live;                                     /* live bytes of these */
    uint32_t wrapper;             /* an own function that may only allocate for several others; SP_NONE */
    struct sp_leak_sums none;     /* of stacks without an own function */
    bool live_by_none;            /* nothing that is live is known to be of an own function */
    size_t most_live_none;        /* of the rows without an own function; SIZE_MAX: there is none */
    size_t heaviest_none;         /* of their rows; SIZE_MAX: there is none */
    size_t deepest;               /* frames of the deepest stack, with its allocators */
    enum sp_memory_moment moment; /* what is live was so then */
    bool go;
    int64_t peak_ms, rss, runtime_ms; /* of the whole recording; SP_ABSENT: not known */
    int64_t peak_at; /* SP_ABSENT, or when the peak was in peak_unit, which is no time: "instructions" */
    const char *peak_unit;
};

struct sp_summary;

/*
 * The metric that a summary is of where none is named and the event is of memory: how->metric. What a
 * sampled heap profile says of itself counts; of other files sp_own_memory_rank decides.
 */
void sp_summary_memory_choose(const struct sp_ask *q, struct sp_select_opts *how);
/* The first event of memory, and what it has of each metric; SP_NONE: there is none. */
uint32_t sp_summary_memory_event(const struct sp_profile *p, struct sp_leak_sums *all);
/* summary_memory.c: x->memory, of the selection and its own functions. */
spaa_status sp_summary_memory(struct sp_summary *x);
void sp_summary_memory_free(struct sp_summary *x);
/* summary_memory_choose.c: which rows are shown; with the callers of these, which of them may be a wrapper.
 */
void sp_summary_memory_choose_rows(struct sp_summary_memory *y);
void sp_summary_memory_choose_wrapper(struct sp_summary *x);
/* The function of a row of m. */
uint32_t sp_memory_function(const struct sp_summary *x, size_t row);
/* The line of a row of m.leaks that most of it is allocated from; SP_STR_NONE: not known. */
uint32_t sp_memory_line(const struct sp_summary *x, size_t leak);

/*
 * summary_memory_words.c. The answer in one line, and what else is known of the whole; of an answer about
 * something else what another event knows of memory. Nothing where there is none.
 */
void sp_summary_memory_head(struct sp_buf *b, const struct sp_summary *x);
void sp_summary_memory_rest(struct sp_buf *b, const struct sp_summary *x);
typedef void sp_take_line_fn(void *arg, enum sp_line_style style, const struct sp_buf *line);
/* summary_memory_own.c: own functions with all that is known of each, and what grows or was lost. */
void sp_summary_memory_own(const struct sp_summary *x, size_t rows, sp_take_line_fn *take, void *arg);
void sp_summary_memory_leaks(const struct sp_summary *x, size_t rows, sp_take_line_fn *take, void *arg);
/*
 * summary_memory_level.c: what was live at the end of each quarter of the time, of all rows together. False:
 * windows do not tell it, or not all of it.
 */
bool sp_summary_memory_levels(const struct sp_leaks *l, int64_t level[4]);
/* Where no function grows: whether all together do, or in how far that is known. */
void sp_summary_memory_level_text(struct sp_buf *b, const struct sp_leaks *l);
/* summary_memory_cautions.c: the process had far more memory than the recording saw asked for. */
bool sp_summary_memory_unseen(const struct sp_summary *x);
/* What only memory needs said. */
void sp_summary_memory_cautions(struct sp_summary *x);
/* summary_memory_words.c: the commands to ask next; and those behind the first in one line. */
void sp_summary_memory_next(struct sp_summary *x);
void sp_summary_memory_also(struct sp_buf *b, const struct sp_summary *x);
/* summary_memory_tables.c */
void sp_summary_memory_put(struct sp_summary *x);
extern const struct sp_table_decl sp_summary_memory_owners, sp_summary_memory_leaks_rows;

/* "4.91 MiB", "2,002"; what is not known is "?". */
void sp_memory_amount(struct sp_buf *b, enum sp_leak_metric m, int64_t v);
/* The name if a command can have it as it is, "pool::alloc"; else nothing. */
struct sp_str sp_memory_plain_name(struct sp_str name);
/* Half of the interval that holds an estimate with 95 %; 0: it is exact. */
int64_t sp_memory_doubt(double variance);

#endif
