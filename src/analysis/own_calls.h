/*
 * A few own functions as a call tree: those that hold the weight, with what calls them.
 *
 * One stands below another that is above it in nine tenths of its weight, whatever is between them; of
 * several, below the nearest. Stacks that have lost their callers say nothing about that.
 */
#ifndef SP_OWN_CALLS_H
#define SP_OWN_CALLS_H

#include "analysis/dso_weights.h"
#include "analysis/own_fold.h"

enum { SP_OWN_CALLS = 8 };

struct sp_own_calls {
    size_t n;
    size_t row[SP_OWN_CALLS];      /* in sp_own_fold.rows; the heaviest first, callers last */
    size_t parent[SP_OWN_CALLS];   /* place of the function that it stands below; SIZE_MAX: none */
    size_t deepest;                /* frames of the deepest stack, without inlined ones */
    struct sp_dso_weights outside; /* binaries of the leaves of stacks that have no own function */
};

spaa_status sp_own_calls_of(struct sp_selection *s, const struct sp_own *o, const struct sp_own_fold *f,
                            struct sp_diags *d, struct sp_own_calls *out);
void sp_own_calls_free(struct sp_own_calls *x);
/* What one stands below, of the first n; SIZE_MAX: none. */
size_t sp_own_caller(const struct sp_own_calls *x, size_t i, size_t n);

#endif
