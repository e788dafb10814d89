/*
 * From the rows of a call tree, whose counts are inclusive, to stacks with their own counts.
 */
#ifndef SP_HANG_TREE_H
#define SP_HANG_TREE_H

#include "base/vec.h"
#include "model/profile.h"
#include "json/json.h"

#include <stdbool.h>
#include <stdint.h>

#define SP_HANG_NO_COLUMN UINT32_MAX /* the line end and the blanks before the row are lost */

struct sp_hang_row {
    uint32_t column, frame; /* column may be SP_HANG_NO_COLUMN */
    uint32_t tag;           /* what decides the context: the state's text */
    uint32_t line;
    int64_t count;
    int64_t from, to; /* range of samples; from 0: none */
};

struct sp_hang_open {
    uint32_t column, row;
    int64_t children; /* their counts */
    int64_t covered;  /* samples of the range up to here belong to children, or have a segment */
    uint32_t stack, segment;
    bool lacks_row; /* of its own samples some are of a row that found no place */
};

/* Samples from..to of a stack; count is another number where not all of them are its own. */
struct sp_hang_segment {
    uint32_t stack, before; /* before: the one of the same node, 1 + number */
    int64_t from, to, count;
};

struct sp_hang_tree {
    struct sp_profile *p;
    struct sp_diags *d;
    uint32_t metric, layout;
    uint32_t (*context)(void *who, uint32_t tag); /* SP_NONE: what was done is not known */
    void *who;
    enum sp_code excess; /* reported where callees have more than their caller */
    int64_t whole;       /* the thread's samples, as its line has them; negative: not stated */
    int64_t untold;      /* samples of which it is not known what was done, so far */
    uint32_t *path;      /* frames of the open rows, leaf first at the end of the room */
    size_t room;
    SP_VEC(struct sp_hang_open) open;
    SP_VEC(struct sp_hang_segment) segments;
};

void sp_hang_tree_free(struct sp_hang_tree *t);
/*
 * Rows in the order of the text: a row's parent is the nearest one before it that stands further left. Adds a
 * stack for each row with a count of its own. *roots is the sum of the roots' counts. A row without a column
 * is put where its samples fit, if that is one place alone, and else left out and reported.
 */
spaa_status sp_hang_tree_build(struct sp_hang_tree *t, struct sp_hang_row *rows, size_t n, int64_t *roots);
/* Of all rows of a process, those of one thread. */
struct sp_hang_slice {
    size_t first, n;
    uint64_t line; /* the thread's, or its first row's */
    bool cut;      /* the text ends in the middle of them */
    bool torn;     /* lines are missing behind them, rows maybe */
};
/* one_thread.c: rows that cannot be of a thread of so many samples (negative: not stated), since all of these
 * stand above, are a thread's whose line is missing: *rest, n 0: there are none. `prefix` and `thread`:
 * how the report names it. False: no memory. */
bool sp_hang_part_slice(struct sp_hang_tree *t, const struct sp_hang_row *rows, struct sp_hang_slice *of,
                        int64_t whole, const char *prefix, struct sp_span thread, struct sp_hang_slice *rest);
/* Whether a row may have been seen when another one was, as far as steps are known. */
static inline bool sp_hang_covers(const struct sp_hang_row *of, const struct sp_hang_row *row)
{
    return !of->from || !row->from || (row->from >= of->from && row->to <= of->to);
}
/* one_thread.c: what calls a row, by its column; SIZE_MAX: nothing does. Of the last row of a text that is
 * cut off there, that and what calls it may have had more rows. */
size_t sp_hang_caller(const struct sp_hang_row *rows, size_t i);
/* Reports that the text ends in the middle of a thread, after its tree was built, where anything tells:
 * samples that its roots lack, or that rows have which may call more. `untold`: as it was before. */
void sp_hang_say_end(const struct sp_hang_tree *t, uint64_t line, int64_t roots, int64_t untold);
/* Keeps the segments as "x_…":{"ranges":[[1,37],[44,44]]} of their stacks. */
bool sp_hang_keep_segments(struct sp_hang_tree *t, const char *key);

/*
 * Rows that lack what most have, where lines are cut off at a width: of those several are as long as the
 * longest line.
 */
struct sp_hang_cut {
    size_t longest;          /* line of a row, in bytes */
    uint64_t all, longest_n; /* rows that lack it, and those that are as long */
};
static inline void sp_hang_cut_note(struct sp_hang_cut *x, size_t length, bool lacks)
{
    if (length > x->longest) {
        x->longest = length;
        x->longest_n = 0;
    }
    x->all += lacks;
    x->longest_n += lacks && length == x->longest;
}
static inline bool sp_hang_is_cut(const struct sp_hang_cut *x)
{
    return x->longest_n > 1 && x->longest_n >= x->all / 2;
}

#endif
