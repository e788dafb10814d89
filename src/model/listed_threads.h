/*
 * The threads that a process of a hang report lists. There is one record for a thread; where several programs
 * had it, one after the other (a program that executed another one), the others' headers of it stand in the
 * lists of their processes, `threads` of `x_spindump`.
 */
#ifndef SP_LISTED_THREADS_H
#define SP_LISTED_THREADS_H

#include "model/profile.h"

struct sp_listed_thread {
    int64_t tid;
    bool own;                                  /* the process has the record of it */
    int64_t cpu_time_ns, cycles, instructions; /* else; SP_ABSENT: not stated */
    uint32_t name, queue; /* strings of the profile: those of the record, where they are the same */
};

struct sp_listed_threads {
    const struct sp_profile *p;
    const char *rest; /* of the list */
    size_t left;
    struct sp_map records; /* of the profile's threads, by tid */
};

bool sp_listed_threads_open(struct sp_listed_threads *x, const struct sp_profile *p); /* false: no memory */
/* Begins with those of a process of the table. */
void sp_listed_threads_of(struct sp_listed_threads *x, const struct sp_process_fact *process);
/* The next one, each once; *record: its number in the profile's threads, SP_NONE: it has none. */
bool sp_listed_threads_next(struct sp_listed_threads *x, const struct sp_process_fact *process,
                            struct sp_listed_thread *out, uint32_t *record);
void sp_listed_threads_close(struct sp_listed_threads *x);

#endif
