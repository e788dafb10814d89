/*
 * Totals that a profile begins with, against the sum of its rows: rows that are missing, because the file was
 * cut between two or the profiler had no room for more, are seen by nothing else.
 */
#include "formats/common/mapped/mapped.h"

const char *const sp_mapped_heap_totals[SP_MAPPED_TOTALS] = {"objects in use", "bytes in use",
                                                             "objects allocated", "bytes allocated"};

void sp_mapped_sum(struct sp_mapped_totals *t, const int64_t v[static SP_MAPPED_TOTALS])
{
    for (unsigned i = 0; i < SP_MAPPED_TOTALS && t->said; i++)
        t->said = !__builtin_add_overflow(t->sum[i], v[i], &t->sum[i]);
}

void sp_mapped_check(const struct sp_mapped_totals *t, const char *const what[static SP_MAPPED_TOTALS],
                     struct sp_diags *d)
{
    const char *less = NULL, *more = NULL;
    unsigned i;
    for (i = 0; i < SP_MAPPED_TOTALS && t->said && !less; i++) {
        less = t->sum[i] < t->all[i] ? what[i] : NULL;
        more = !more && t->sum[i] > t->all[i] ? what[i] : more;
    }
    if (less)
        sp_emit(d, SP_L774, SP_AT_NOTHING, "they have %lld of %lld %s", (long long)t->sum[i - 1],
                (long long)t->all[i - 1], less);
    else if (more && t->exact)
        sp_emit(d, SP_W772, SP_AT_NOTHING, "the lines have more %s than the first line says", more);
}
