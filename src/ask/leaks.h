/* leaks, in parts: the question and its facts (leaks.c), its table (leaks_table.c), its words
 * (leaks_words.c). */
#ifndef SP_LEAKS_ASK_H
#define SP_LEAKS_ASK_H

#include "ask/common.h"

#include "analysis/leaks_callers.h"

enum sp_leaks_by { SP_LEAKS_BY_FUNCTION, SP_LEAKS_BY_OWNER, SP_LEAKS_BY_STACK };

struct sp_leaks_asked {
    struct sp_asked *x;
    struct sp_leaks l;
    enum sp_leaks_by by;
    uint32_t bytes, count, rank; /* measures */
    struct sp_leak_records records;
    struct sp_diags *diags;
    size_t limit;
    bool declared;   /* some lines that people are shown are where functions begin, for want of others */
    size_t nothing;  /* rows that people are not shown, as there is nothing of them */
    bool end_untold; /* sp_end_without_stacks */
    int64_t ns;      /* how long it was watched; 0: not known */
};

extern const struct sp_table_decl *const sp_leaks_tables[];

static inline bool sp_leak_is_bytes(int m)
{
    return m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_ALLOC_BYTES || m == SP_LEAK_FREE_BYTES ||
           m == SP_LEAK_PEAK_BYTES;
}
/* What ranks the rows is what is live, in bytes or blocks. */
static inline bool sp_leaks_of_live(const struct sp_leaks *l)
{
    return l->rank == SP_LEAK_LIVE_BYTES || l->rank == SP_LEAK_LIVE_COUNT;
}
/* "live_bytes", …: what JSON calls it. */
const char *sp_leak_member(int m);

/* The rows, with their details. */
spaa_status sp_leaks_put_rows(struct sp_leaks_asked *x);

#endif
