/* What `--by` names: what the rows of a view are, one thing or several at once. */
#ifndef SP_BY_H
#define SP_BY_H

#include "base/diag.h"
#include "base/strtab.h"

#include <stdbool.h>

enum sp_by {
    /* of frames */
    SP_TOP_FUNCTION,
    SP_TOP_SYMBOL, /* what a function was compiled to: its linkage name, with parts like .cold */
    SP_TOP_LINE,
    SP_TOP_ADDRESS,
    SP_TOP_DSO,
    /* of stacks */
    SP_TOP_THREAD,
    SP_TOP_PROCESS,
    SP_TOP_COMM,
    SP_TOP_CPU,
    SP_TOP_STATE,
    SP_TOP_EVENT,
    SP_TOP_SOURCE,
    SP_TOP_LABEL, /* of a key: label:K */
};
extern const char *const sp_by_names[]; /* in enum order; NULL: a label, which has no name without its key */

/* In which words the value of a label is said; by what --by names, as it is. */
enum sp_by_say {
    SP_SAY_TEXT,
    SP_SAY_COMM, /* the name of a thread: of pools, as these are shown */
    SP_SAY_STATE,
    SP_SAY_SYSCALL,
    SP_SAY_RESULT,
    SP_SAY_DEVICE,
    SP_SAY_BLOCK_OP,
    SP_SAY_SOFTIRQ,
    SP_SAY_FAULT,
};

struct sp_by_key {
    enum sp_by kind;
    enum sp_by_say say;
    struct sp_str label; /* the key of SP_TOP_LABEL */
    struct sp_str title; /* as it was written: "comm", "label:K" */
    const char *words;   /* its heading for people; NULL: the title */
};

enum { SP_BY_KEYS = 8 };
/* In the order in which they were written; titles and labels are lent from that text. */
struct sp_by_list {
    struct sp_by_key v[SP_BY_KEYS];
    size_t n;
};

/* "function", "comm,dso,function", …; NULL: by function. Reported, with what there is: SPAA_ERR_USAGE. */
spaa_status sp_by_parse(const char *text, struct sp_diags *d, struct sp_by_list *out);
/* A list of one, which is no label. */
struct sp_by_list sp_by_one(enum sp_by kind);
bool sp_by_has(const struct sp_by_list *by, enum sp_by kind);
/* What stacks have to be grouped by for it (enum sp_group). */
unsigned sp_by_groups(const struct sp_by_list *by);

static inline bool sp_by_is_of_frames(enum sp_by kind)
{
    return kind <= SP_TOP_DSO;
}
/* Of frames, and each row is of one function. */
static inline bool sp_by_is_of_functions(enum sp_by kind)
{
    return kind <= SP_TOP_ADDRESS;
}

#endif
