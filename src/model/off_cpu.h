/*
 * Time off the CPU as weights of stacks: the event `off-cpu`, whose stacks are where threads left the CPU and
 * whose x_state is why. Its metrics are nanoseconds and counts, never samples:
 *
 *     offcpu_ns      from leaving the CPU to being on one again, in two parts: in WAITING, BLOCKED,
 * SUSPENDED, IDLE or UNKNOWN until the thread was woken, in RUN_QUEUE from then on runqueue_ns    of it the
 * part in RUN_QUEUE: the thread waited for a CPU waits          how many intervals these are longest_ns the
 * longest of them unfinished_ns  of offcpu_ns what is of intervals that are longer than what is known of
 * them: they began before the recording, or were not over at its end, or when they were is not recorded. With
 * it the others are lower bounds
 *
 * Where a thread left the CPU was not always seen: before the recording, or only PERF_RECORD_SWITCH tells of
 * it. Then the stack is one frame [unknown], so that the weights of the event are the sum of all intervals.
 *
 * `x_threads` of the event is "all" where all threads of the CPUs were recorded, "some" where it was some,
 * "cpus" where it was all of some CPUs; not there where the recording does not tell.
 *
 * Where the profile keeps raw samples, each interval is one of this event: its time is when the interval
 * ended, its period how long it was; of one of which it is not known until when it was, what is certain.
 */
#ifndef SP_OFF_CPU_H
#define SP_OFF_CPU_H

#include "model/sched_events.h"

#define SP_OFF_CPU_EVENT      "off-cpu"
#define SP_OFF_CPU_NS         "offcpu_ns"
#define SP_RUN_QUEUE_NS       "runqueue_ns"
#define SP_OFF_CPU_WAITS      "waits"
#define SP_OFF_CPU_LONGEST    "longest_ns"
#define SP_OFF_CPU_UNFINISHED "unfinished_ns"

uint32_t sp_off_cpu_own(const struct sp_profile *p); /* the event of this name, made of intervals; SP_NONE */
bool sp_measures_off_cpu(const struct sp_profile *p, uint32_t event); /* its primary metric is offcpu_ns */
/*
 * Readers of files that have stacks by their ids do not look for equal ones: makes those of the event known,
 * so that intervals get these and no copies. False: out of memory.
 */
bool sp_off_cpu_know_stacks(struct sp_profile *p);
enum sp_recorded_whom sp_off_cpu_recorded(const struct sp_profile *p); /* by the event */
/* Some intervals of this stack are longer than what is known of them (unfinished_ns). */
bool sp_off_cpu_at_least(const struct sp_profile *p, uint32_t stack);
/*
 * Adds the event to a profile with raw samples of switches; nothing where it has none, or has the event, or
 * where the recorder took only some of them. What is not sure about them is reported.
 */
spaa_status sp_off_cpu_add(struct sp_profile *p, struct sp_diags *d);
/*
 * The stack of the event for a stack at which a thread left the CPU, in a state; SP_NONE: out of memory.
 * There must be the event.
 */
uint32_t sp_off_cpu_stack(struct sp_profile *p, uint32_t stack, enum sp_task_state state, bool *is_new);
/* The stack of a thread that was not seen to leave the CPU; SP_NONE: out of memory. */
struct sp_interval_thread;
uint32_t sp_off_cpu_unknown(struct sp_profile *p, const struct sp_interval_thread *t,
                            enum sp_task_state state);
/* The number of `off-cpu`, else of the first event whose primary metric is offcpu_ns; SP_NONE: there is none.
 */
uint32_t sp_off_cpu_event(const struct sp_profile *p);

#endif
