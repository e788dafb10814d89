/* What a profiler says of threads and processes beside their samples, in the rows of `top --by
 * thread|process`. */
#ifndef SP_TOP_THREADS_H
#define SP_TOP_THREADS_H

#include "analysis/thread_info.h"
#include "analysis/top.h"
#include "json/json.h"

/* A row's thread or process: both SP_ABSENT where it is neither. */
struct top_who {
    int64_t pid, tid;   /* tid SP_ABSENT: a process */
    struct sp_str name; /* of the process, where the row says it */
    const struct sp_pools *pools;
    uint32_t pool; /* of threads, instead of a tid: number in pools; SP_NONE */
};
struct top_who top_who(const struct sp_top *t, enum sp_by by, const struct sp_top_row *r,
                       const struct sp_pools *pools);
/* "pid": …, "tid": …, "thread_name": …, "cpu_time_ns": …: the same members in every row, null where not
 * known. */
void top_threads_json(struct sp_jw *w, const struct sp_thread_info *f, enum sp_by by, struct top_who who);
/* CPU time in ns, -1: not stated. */
int64_t top_threads_cpu(const struct sp_thread_info *f, struct top_who who);
/* The name of the thread, its queue, or the process; empty where none is known. */
struct sp_str top_threads_name(const struct sp_thread_info *f, struct top_who who);

#endif
