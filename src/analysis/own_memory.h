/*
 * What memory the program's own functions hold and ask for: all metrics of memory at once, by the own
 * function nearest to the allocator, however many wrappers, containers and libraries are between them.
 *
 * Rows are those of analysis/leaks.h, where a function's are one however reachable they are; of stacks that
 * have no own function they are of owners (analysis/owners.h).
 */
#ifndef SP_OWN_MEMORY_H
#define SP_OWN_MEMORY_H

#include "analysis/leaks.h"

struct sp_own_memory_row {
    size_t leak; /* its row in leaks.rows, the heaviest by `rank` of several */
    bool own;
    struct sp_leak_sums now;
    double variance; /* of its live bytes, which are an estimate; 0: they are exact */
};

struct sp_own_memory {
    struct sp_leaks leaks;
    enum sp_leak_metric rank; /* what matters most in this file */
    SP_VEC(struct sp_own_memory_row) rows;
    double variance; /* of all live bytes */
    int64_t period;  /* bytes from one sample to the next, on average; 0: each allocation was recorded */
};

/*
 * Of a selection of memory (sp_is_of_memory) that has a row for each stack. rank: the metric that matters;
 * SP_LEAK_METRICS, or one that has nothing: as sp_own_memory_rank says. Free on success.
 */
spaa_status sp_own_memory_of(struct sp_selection *s, const struct sp_own *own, enum sp_leak_metric rank,
                             struct sp_diags *d, struct sp_own_memory *out);
void sp_own_memory_free(struct sp_own_memory *m);
/*
 * Of sums: live bytes where they are a twentieth of the peak at least (or there is no peak), else the peak,
 * else what was allocated. What is left of a program that cleans up is not what its memory went to.
 */
enum sp_leak_metric sp_own_memory_rank(const struct sp_leak_sums *all);

#endif
