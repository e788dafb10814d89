/* What a profiler says of threads and processes beside their samples, in the rows of top by these. */
#ifndef SP_TOP_WHO_H
#define SP_TOP_WHO_H

#include "analysis/thread_info.h"
#include "analysis/top.h"

/* A row's thread or process: both SP_ABSENT where it is neither. */
struct sp_top_who {
    int64_t pid, tid;                          /* tid SP_ABSENT: a process, or a pool */
    struct sp_str name;                        /* of the process, where the row says it */
    const struct sp_reported_thread *thread;   /* NULL: nothing is known */
    const struct sp_reported_process *process; /* likewise */
    struct sp_reported_cpu cpu;                /* of a pool, of all its threads */
};
struct sp_top_who sp_top_who(const struct sp_top *t, enum sp_by by, const struct sp_top_row *r,
                             const struct sp_pools *pools, const struct sp_thread_info *f);
/* The name of the thread, its queue, or the process, where the row does not say it; empty: none is known. */
struct sp_str sp_top_who_name(const struct sp_top_who *who, const struct sp_thread_info *f);

#endif
