/*
 * Stacks by thread, as writers for viewers take them: of one event and metric, those of a thread together, in
 * an order that content alone makes, equal ones added up.
 *
 *     struct sp_rows rows;
 *     if (sp_rows_init(&rows, p, opts, d, "a speedscope file"))  what is left out is said
 *         …
 *     sp_rows_collect(&rows, entry_of);                          entry_of[frame]: what stands for it
 *     for (i …) for (k = rows.threads.v[i].first; …) rows.rows.v[k]
 *
 * Entries are numbers that the writer gives its frames: two frames may have one. Kernel and user records of
 * one observation are one row.
 */
#ifndef SP_THREADS_H
#define SP_THREADS_H

#include "formats/format.h"

#define SP_ROWS_MOST                                                                                         \
    (INT64_MAX / 2 - 1) /* what rows may add up to; of time, in nanoseconds: readers take more for damage */

struct sp_row_thread {
    int64_t pid, tid;
    uint32_t comm; /* SP_STR_NONE: not known */
    size_t first, n;
    double sum; /* of its rows, to find the heaviest */
};

struct sp_row {
    uint32_t thread;
    uint32_t n;
    size_t first;       /* slice of entries, root first */
    int64_t v;          /* SP_DECIMAL: text is it */
    struct sp_str text; /* in the profile's strings */
};

struct sp_rows {
    struct sp_profile *p;
    uint32_t *thread_of; /* by context, of those that have rows */
    struct sp_diags *d;
    uint32_t event, metric; /* SP_NONE: the profile has none, and there are no rows */
    struct sp_str unit;     /* of the metric; n 0: it has none */
    SP_VEC(struct sp_row_thread) threads;
    SP_VEC(struct sp_row) rows;
    SP_VEC(uint32_t) entries;
};

/* Chooses event and metric, refuses what does not fit, and says what is left out. what: "a speedscope file".
 * Free it in any case. */
spaa_status sp_rows_init(struct sp_rows *r, struct sp_profile *p, const struct sp_write_opts *opts,
                         struct sp_diags *d, const char *what);
/* Whether a record is a row of its own: of the event, with a weight, and not the kernel's part of another. */
bool sp_rows_has(const struct sp_rows *r, uint32_t stack);
spaa_status sp_rows_collect(struct sp_rows *r, const uint32_t *entry_of);
/* The path of a record as a row has it, root first. */
bool sp_rows_path(struct sp_rows *r, uint32_t stack, const uint32_t *entry_of, size_t *first, uint32_t *n);
void sp_rows_free(struct sp_rows *r);

/*
 * entries.c: what stands for frames. `put` writes all that is to be told of a frame into a text; frames of
 * equal texts are one entry, and entries are in the order of the texts, so that they come back in it.
 */
struct sp_entries {
    SP_VEC(uint32_t) frames; /* a frame of each entry */
    uint32_t *entry_of;      /* by frame */
};
/* The frames that rows have: a byte for each of the profile, the caller's to free; NULL: out of memory. */
unsigned char *sp_rows_used(const struct sp_rows *r);
bool sp_entries_make(struct sp_entries *e, const struct sp_rows *r, const unsigned char *used,
                     bool (*put)(void *arg, struct sp_buf *b, uint32_t frame), void *arg);
void sp_entries_free(struct sp_entries *e);

/* unit.c: a unit of time in nanoseconds, by its name in any spelling that is used; 0: it is none. */
int64_t sp_rows_unit_ns(struct sp_str unit);
/* What sp_rows_init has as the unit of the rows' metric. */
struct sp_str sp_rows_find_unit(const struct sp_rows *r);

#endif
