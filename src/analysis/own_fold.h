/*
 * A selection by the program's own functions, with what they call folded beneath them.
 *
 * A stack counts for the own function that is nearest to its leaf, and what that called for it: the function
 * next to it. What stands beyond a broken edge (model/edges.h) has not called what is leafward of it. Rows of
 * stacks without an own function are one, of what their leaves are.
 */
#ifndef SP_OWN_FOLD_H
#define SP_OWN_FOLD_H

#include "analysis/own.h"
#include "analysis/tree.h"

enum { SP_OWN_STEPS = 64 };

/* What an own function calls, by plain names (own_name.h). */
struct sp_own_callee {
    uint32_t name; /* in sp_own_fold.names */
    int64_t weight;
};

struct sp_own_sum {
    int64_t weight;  /* of the stacks where it is nearest to the leaf */
    int64_t beneath; /* of these, those where another function is the leaf */
    size_t first, n; /* slice of callees, heaviest first */
};

struct sp_own_row {
    uint32_t function; /* SP_NONE: no function is own */
    int64_t self, total;
    int64_t at_most; /* of the total, where callers are missing (chains.h); SP_ABSENT */
    struct sp_own_sum sum;
};

/* The heaviest path of own functions, from the root; runs of one function (recursion) are one step. */
struct sp_own_step {
    uint32_t function;
    unsigned times;
    int64_t total;         /* of the stacks through this step */
    struct sp_own_sum sum; /* of those whose path of own functions ends here */
};

struct sp_own_fold {
    SP_VEC(struct sp_own_row) rows; /* heaviest first */
    struct sp_own_step steps[SP_OWN_STEPS];
    size_t nsteps;
    bool breaks;     /* of stacks that have no own function, some are broken: one may stand beyond that */
    bool whole_path; /* no own function has a tenth of the weight: the path is that of all functions */
    SP_VEC(struct sp_own_callee) callees;
    struct sp_strtab names;
};

spaa_status sp_own_fold(struct sp_selection *s, const struct sp_own *o, struct sp_diags *d,
                        struct sp_own_fold *out);
void sp_own_fold_free(struct sp_own_fold *f);
/*
 * The function to ask about first: the own one of most weight, or where no own function has a tenth of the
 * weight, the one of most self weight. Functions that only allow interrupts again (SP_TAG_IRQ) say nothing
 * and are passed over. SP_NONE: there is none.
 */
spaa_status sp_own_hottest(struct sp_selection *s, const struct sp_own_fold *f, struct sp_diags *d,
                           uint32_t *out);
/* Whether it is no function, but says that one is missing or has no name. */
bool sp_own_is_marker(const struct sp_profile *p, uint32_t function);
/* The own function nearest to the leaf from frame `from` on, up to where the chain is broken; SP_NONE. */
uint32_t sp_own_nearest(const struct sp_profile *p, const struct sp_own *o, const uint32_t *frames, size_t n,
                        size_t from, size_t *at);

#endif
