/* The parts of the accounts of time off the CPU: see off_cpu_accounts.h. */
#ifndef SP_OFF_CPU_ACCOUNTS_PARTS_H
#define SP_OFF_CPU_ACCOUNTS_PARTS_H

#include "analysis/off_cpu_accounts.h"

struct wait {
    uint32_t place;
    int64_t ns;
    bool at_least;
};

/* A thread of the selection's contexts. */
struct known {
    int64_t tid, pid;
    uint32_t context;
};

struct accounts {
    struct sp_off_cpu_accounts out;
    const struct sp_profile *p;
    const struct sp_selection *s, *wide;
    const struct sp_wait_reasons *why;
    SP_VEC(struct wait) waits;
    SP_VEC(struct known) known; /* by tid, pid */
    struct sp_map who_map, place_map;
    uint32_t *of_pool; /* 1 + number in who */
    bool pooled;
    unsigned char *asked;     /* per stack of the profile: the selection has it */
    unsigned char *in;        /* per context: the selection has one of its stacks */
    SP_VEC(uint32_t) counted; /* per row of who: 1 + the thread that was counted last */
    struct sp_buf b;
};

/* Rows of who they are of; SP_NONE: out of memory. Threads of one process and one name are one, but with
 * --no-pool. */
uint32_t accounts_who_of_thread(struct accounts *x, int64_t pid, int64_t tid, uint32_t comm);
uint32_t accounts_who_of_context(struct accounts *x, uint32_t context);
/* Finds x->known and x->in, the threads of the selection; false: out of memory. */
bool accounts_know_threads(struct accounts *x);
/* A context of the thread; NULL: the selection has none. */
const struct known *accounts_known_of(const struct accounts *x, const struct sp_interval_thread *t);
/* Its row of places; SP_NONE: out of memory. */
uint32_t accounts_place_of(struct accounts *x, uint32_t who, const struct sp_wait_why *why);
/* Counts ns of waiting; false: out of memory. */
bool accounts_add_wait(struct accounts *x, uint32_t who, const struct sp_wait_why *why, int64_t ns,
                       bool at_least);
/* Of recordings with stacks: for what it waited is not known. Without any it is not known of all. */
bool accounts_is_unseen(const struct accounts *x, const struct sp_wait_why *why);

/* Each fills x->out from what the profile has; false: out of memory. */
bool accounts_from_intervals(struct accounts *x, const struct sp_select_opts *o,
                             const struct sp_intervals *v);
bool accounts_from_weights(struct accounts *x);
/* What the rows are called, and the order of them; false: out of memory. */
bool accounts_name_and_order(struct accounts *x);

#endif
