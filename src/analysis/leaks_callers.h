/*
 * Who an allocating function allocates for: the program's own functions above it, along the way that most of
 * the row goes, or of one that grows, most of what it gained. What holds memory behind wrappers of malloc is
 * seldom the function nearest to the allocator.
 */
#ifndef SP_LEAKS_CALLERS_H
#define SP_LEAKS_CALLERS_H

#include "analysis/leaks.h"
#include "analysis/own.h"

enum { SP_LEAK_CALLERS = 4 };

struct sp_leak_callers {
    uint32_t v[SP_LEAK_CALLERS]; /* functions, the nearest first; recursion once */
    unsigned n;                  /* the first takes most; a further one takes at least half of the row */
    int64_t weight, whole;       /* of the row's, in the selection's metric: what goes this way; all */
    bool grew;                   /* weight and whole are live bytes gained in the last three quarters */
    uint32_t others;             /* own functions that are nearest to it beside the first */
};

/* The records of each row, one after the other. */
struct sp_leak_records {
    uint32_t *rows;        /* of the selection */
    size_t *from;          /* per row by its number, and the end */
    const int64_t *gained; /* of sp_leaks, lent: who a row that grows grew for, not who holds most of it */
};

spaa_status sp_leak_records_of(const struct sp_selection *s, const struct sp_leaks *l, struct sp_diags *d,
                               struct sp_leak_records *out);
void sp_leak_records_free(struct sp_leak_records *r);
spaa_status sp_leak_callers_of(struct sp_selection *s, const struct sp_leak_records *records,
                               const struct sp_own *own, const struct sp_leak_row *row, struct sp_diags *d,
                               struct sp_leak_callers *out);

#endif
