/*
 * What threads did all the while, on the CPU and off it, as weights of stacks: the event `wall`, with the one
 * metric wall_ns. It is made on demand, of what else the profile has:
 *
 *     x_state RUNNABLE      the stacks of a sampled event of the CPU (cpu-clock, task-clock, cycles). Where
 *                           the scheduler's events say how long a thread ran, its stacks are scaled to just
 *                           that, so that their sum is exact to the nanosecond: samples say where, switches
 *                           say how long. Time of threads that ran but were never sampled, all of it where
 *                           no such event was recorded, has one frame, SP_WALL_UNSAMPLED.
 *     the others            the stacks of the event that measures time off the CPU (model/off_cpu.h), as
 *                           they are: WAITING, BLOCKED, RUN_QUEUE, …; WAITING where none is stated
 *     x_state UNKNOWN       where the recording does not say whether a thread ran or waited
 *                           (model/interval_until.h), the one frame SP_WALL_UNKNOWN
 *
 * The idle tasks of the CPUs are no threads, and not in it. Where the profile keeps raw samples, wall has
 * them too, each with its part of the time; of time off the CPU, and of running that was not sampled, one
 * for each interval, which lasted until its time.
 */
#ifndef SP_WALL_H
#define SP_WALL_H

#include "model/profile.h"

#define SP_WALL_EVENT     "wall"
#define SP_WALL_NS        "wall_ns"
#define SP_WALL_RUNNING   "RUNNABLE" /* its x_state */
#define SP_WALL_WAITING   "WAITING"
#define SP_WALL_UNSAMPLED "[running, not sampled]"
#define SP_WALL_UNKNOWN   "[ran or waited, not recorded]" /* its x_state is UNKNOWN */

/* The event's number; SP_NONE: it was not made, and no event of that name was read either. */
uint32_t sp_wall_event(const struct sp_profile *p);
/*
 * Adds the event; nothing where one of that name is there. SP_E036, SPAA_ERR_USAGE where the profile lacks
 * what it is made of, with what to record. Stacks are to be told apart by thread; before sp_callees_split.
 */
spaa_status sp_wall_add(struct sp_profile *p, struct sp_diags *d);
/* The event of time off the CPU that wall would take; SP_NONE: there is none. */
uint32_t sp_wall_off_event(const struct sp_profile *p);
/* The sampled event of the CPU: nanoseconds of a clock before cycles; SP_NONE. */
uint32_t sp_wall_cpu_event(const struct sp_profile *p);
bool sp_wall_has_stacks(const struct sp_profile *p, uint32_t event);
/* The weights of its primary metric are nanoseconds; false where it has none. */
bool sp_wall_in_ns(const struct sp_profile *p, uint32_t event);

#endif
