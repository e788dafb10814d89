/*
 * What profilers say of threads and processes beside their samples (model/facts.h), ready to be asked by
 * number: names, CPU time, which application was in front. A profile without any has no facts.
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
    uint32_t comm, name, queue; /* strings of the profile */
    struct sp_reported_cpu cpu;
    uint32_t process; /* in processes */
    bool worker;      /* its stacks begin where the system begins threads of a program */
    bool begins;      /* they begin where the program does */
    bool main;        /* of its process: by its queue, else the first that is named */
};

struct sp_reported_process {
    int64_t pid;
    uint32_t name, instance;    /* strings of the profile */
    struct sp_reported_cpu cpu; /* where it is not stated, the sum of its threads' */
    bool frontmost, suspended;
    bool met;            /* a thread of it was looked at */
    int64_t main;        /* tid of its main thread; SP_ABSENT */
    uint32_t next, last; /* others of its number: the one after it; of the first, the last. SP_NONE: none */
};

struct sp_thread_info {
    const struct sp_profile *profile; /* whose strings names and queues are; NULL as long as it is empty */
    bool any_cpu;
    SP_VEC(struct sp_reported_thread) threads;
    SP_VEC(struct sp_reported_process) processes;
    struct sp_map by_tid, by_pid, by_name; /* by_pid: the first of each number; by_name: by instance, too */
};

spaa_status sp_thread_info_of(const struct sp_profile *p, struct sp_diags *d, struct sp_thread_info *out);
void sp_thread_info_free(struct sp_thread_info *f);
const struct sp_reported_thread *sp_thread_info_thread(const struct sp_thread_info *f,
                                                       int64_t tid); /* NULL: none */
/* The same of a context: of several programs that had the thread, one after the other, the one that it is of.
 */
const struct sp_reported_thread *sp_thread_info_thread_of(const struct sp_thread_info *f,
                                                          const struct sp_context *c);
/* Its CPU time, that of all processes of that number and name together: rows of threads do not tell these
 * apart.
 */
struct sp_reported_cpu sp_thread_info_cpu(const struct sp_thread_info *f, const struct sp_context *c);
/* Processes of a number, one after the other, from 0 on; of several, the one of a name and an instance, where
 * it is told. NULL: none. */
const struct sp_reported_process *sp_thread_info_process(const struct sp_thread_info *f, int64_t pid,
                                                         uint32_t nth);
const struct sp_reported_process *sp_thread_info_process_of(const struct sp_thread_info *f,
                                                            const struct sp_context *c);

/*
 * Whether contexts of one thread are of one process: in hang reports a process that executes another program
 * keeps its number and its thread, and a number comes again; a context says whose it is there.
 */
bool sp_is_same_program(const struct sp_profile *p, const struct sp_context *a, const struct sp_context *b);

#endif
