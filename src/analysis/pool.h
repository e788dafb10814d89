/*
 * Thread pools: three or more threads of one process whose names differ in digits only. Views show a pool as
 * one row, `http-* (40)`: what stays the same in all names stands as it is, digits that vary are a `*`.
 *
 * Of goroutines, which are called by the function they began with, digits number functions, not threads: a
 * pool has one name.
 *
 * A thread is a tid; where tids are not known, each name counts, and is said to be a name. Threads that all
 * have one name are a pool as well, as the kernel cuts names at 15 bytes and the digits go first; not so when
 * it is the name of the process, which threads have that nobody named. Names that were cut belong to the one
 * pool that they begin. Processes are never joined: where they are not known, threads are taken for those of
 * one.
 *
 * Two questions are asked of a context. By thread: the pool of its thread, by the name that the profiler
 * knows of the thread, else its comm; a thread's time before it was named counts as the pool's. By comm: what
 * the comm is shown as. A comm is one row whatever the process: one that is in a pool of some process is in
 * the row of that pattern, with the threads of all processes that have such a comm. Comms that are equal are
 * one row anyway, and stay as they are.
 */
#ifndef SP_POOL_H
#define SP_POOL_H

#include "base/buf.h"
#include "model/profile.h"

struct sp_pool {
    uint32_t pattern; /* in names: "http-*" */
    uint32_t name;    /* in names: "http-* (40)"; with the process where several have such a pool */
    int64_t pid;      /* SP_ABSENT: not known, or several */
    uint32_t source;  /* string of the profile, as in contexts */
    uint32_t threads; /* how many; where `named`, how many names */
    bool named;       /* threads are not known, only names */
    bool varies;      /* the names do differ */
    uint32_t over;    /* in comms: that of all processes */
};

struct sp_pools {
    struct sp_strtab names;
    SP_VEC(struct sp_pool) pools; /* of one process each */
    SP_VEC(struct sp_pool) comms; /* of all processes, by pattern */
    uint32_t *by_thread;          /* per context: number in pools; SP_NONE */
    uint32_t *by_comm;            /* per context: number in comms; SP_NONE */
    uint32_t *thread;             /* per context: in names, what its thread is called; SP_STR_NONE */
    uint32_t *comm;      /* per context: in names, what its comm is shown as; SP_STR_NONE: it has none */
    uint32_t *of_record; /* per thread record of the profile: number in pools; SP_NONE */
};

/*
 * among: a byte for each context, whether it is asked about: threads of other contexts are in no pool. NULL:
 * all are. Free on success only.
 */
spaa_status sp_pools_of(const struct sp_profile *p, const unsigned char *among, struct sp_diags *d,
                        struct sp_pools *out);
/* No pools, each thread for itself. */
spaa_status sp_pools_none(const struct sp_profile *p, struct sp_diags *d, struct sp_pools *out);
void sp_pools_free(struct sp_pools *x);

/* NULL: the thread is in none. */
static inline const struct sp_pool *sp_pool_of_thread(const struct sp_pools *x, uint32_t context)
{
    return x->by_thread[context] == SP_NONE ? NULL : &x->pools.v[x->by_thread[context]];
}

static inline const struct sp_pool *sp_pool_of_comm(const struct sp_pools *x, uint32_t context)
{
    return x->by_comm[context] == SP_NONE ? NULL : &x->comms.v[x->by_comm[context]];
}

#endif
