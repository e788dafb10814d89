/*
 * What of a profile measures waiting, whatever it was read from:
 *
 *     off-cpu               made of intervals of threads (model/off_cpu.h)
 *     any, by offcpu_ns     what others measured off the CPU: offcputime of bcc, maps of bpftrace
 *     contention, by delay  block and mutex profiles of Go, contention of tcmalloc
 *
 * Their weight is time in nanoseconds, summed over all who waited; never a count of samples.
 */
#ifndef SP_WAITING_H
#define SP_WAITING_H

#include "model/profile.h"

#define SP_WAITING_DELAY_EVENT "contention"
#define SP_WAITING_DELAY       "delay"

/* The first of these that there is; false: nothing of the profile measures waiting, and both are SP_NONE. */
bool sp_waiting_of(const struct sp_profile *p, uint32_t *event, uint32_t *metric);
/* The metric of that event which says how often it was waited: `waits`, or contentions. SP_NONE: none does.
 */
uint32_t sp_waiting_count(const struct sp_profile *p, uint32_t event);

/*
 * Whether states are what an event is about: it measures waiting, or has goroutines, each where it stood.
 * Other events of threads that do not run are taken by the way.
 */
bool sp_waiting_is_about_states(const struct sp_profile *p, uint32_t event);

/*
 * Whose stacks they are. Mutex profiles of Go have the stack that released the lock, which is who held
 * others up; the file does not say which of the two kinds it is, the functions that stacks end in do.
 */
enum sp_waiting_whose {
    SP_WAITING_UNTOLD, /* no stack ends in a function that tells */
    SP_WAITING_WAITER, /* who waited; of off-cpu and offcpu_ns always */
    SP_WAITING_HOLDER, /* who held the lock: the weight is how long others waited for it */
    SP_WAITING_BOTH,   /* some the one, some the other: profiles of both kinds were merged */
};
enum sp_waiting_whose sp_waiting_whose(const struct sp_profile *p, uint32_t event);
/* A sentence for people; "" where there is nothing to say that weights do not. */
const char *sp_waiting_words(enum sp_waiting_whose whose);

/* A unit of time by its name, "ns", "us", "ms" or "s": its nanoseconds; 0: it is none. */
int64_t sp_waiting_unit(const char *name);
/*
 * For readers whose input does not say that it is time off the CPU: makes the values of an event, whose
 * primary metric they are, offcpu_ns, and its contexts those of threads that waited. `unit`: nanoseconds in
 * one of what the values are. Once, when all stacks have their weights. SPAA_ERR_NOMEM.
 */
spaa_status sp_waiting_declare(struct sp_profile *p, uint32_t event, int64_t unit, struct sp_diags *d);

#endif
