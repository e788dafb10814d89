/*
 * What profilers say of threads and processes beside their samples: names, CPU time, which application was in
 * front. Taken from the objects of hang reports (`x_spindump`, `x_sample`) on thread records and from
 * `x_spindump_process` records; a profile without any has no facts.
 */
#ifndef SP_THREAD_INFO_H
#define SP_THREAD_INFO_H

#include "model/profile.h"

/* CPU time of a thread or process; -1: not stated. */
struct sp_reported_cpu {
    int64_t cpu_ns, cycles, instructions;
};

struct sp_reported_thread {
    int64_t pid, tid;
    uint32_t comm;        /* string of the profile */
    uint32_t name, queue; /* strings of `strs` */
    struct sp_reported_cpu cpu;
    bool main; /* of its process: by its queue, else the first that is named */
};

struct sp_reported_process {
    int64_t pid;
    uint32_t name;              /* string of `strs` */
    struct sp_reported_cpu cpu; /* where it is not stated, the sum of its threads' */
    bool frontmost, suspended;
    int64_t main; /* tid of its main thread; SP_ABSENT */
};

struct sp_thread_info {
    bool any_cpu;
    struct sp_strtab strs;
    SP_VEC(struct sp_reported_thread) threads;
    SP_VEC(struct sp_reported_process) processes;
    struct sp_map by_tid, by_pid;
};

spaa_status sp_thread_info_of(const struct sp_profile *p, struct sp_diags *d, struct sp_thread_info *out);
void sp_thread_info_free(struct sp_thread_info *f);
const struct sp_reported_thread *sp_thread_info_thread(const struct sp_thread_info *f,
                                                       int64_t tid); /* NULL: none */
const struct sp_reported_process *sp_thread_info_process(const struct sp_thread_info *f, int64_t pid);

#endif
