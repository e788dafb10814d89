/*
 * What threads did, without gaps: intervals of running, of being ready but without a CPU, and of waiting for
 * something, from the events of the scheduler among a profile's raw samples (model/sched_events.h).
 *
 * Per thread, in order:
 *
 *     switched in ──running──> switched out ──blocked──> woken ──runnable──> switched in
 *                              (put off the CPU: ────────────────runnable──> switched in)
 *
 * What is not known is said, never dropped: what began before the recording or is not over at its end has a
 * flag, its length is then a lower bound. Without events of waking, a blocked interval is what perf's "wait
 * time" is: it ends when the thread ran again, and holds the wait for a CPU (SP_INTERVAL_NO_WAKE).
 *
 * Two kinds of recordings: of all threads of the CPUs (`perf record -a`, sp_intervals.all_threads), and of
 * some processes. In these only leaving the CPU is recorded, and coming only where a thread of theirs left
 * for it, or where there are PERF_RECORD_SWITCH records; else a thread had come at the latest when it is next
 * seen to run (SP_INTERVAL_AT_MOST). From when on it may have run is `until` (model/interval_until.h): sums
 * of a state are of [start, until), what is between `until` and `end` is time of which it is not known
 * whether the thread ran.
 *
 * Where the recorder lost events (PERF_RECORD_LOST), a thread may have come, run and left meanwhile, or
 * ended, and waited for something else: time off the CPU is certain until the first loss within it.
 *
 * Where some of the machine's CPUs were recorded (`perf record -C`), threads ran on others unseen: what they
 * did on these CPUs is certain, and nothing of the time between.
 *
 * No two threads run on one CPU at one time: one whose leaving was not recorded had left when another came.
 * What a thread did before it was first seen is SP_TASK_UNKNOWN, but where it was woken, or is new.
 *
 * Recordings that took only some switches (`perf record -F`, a period above 1) have no intervals.
 *
 * Times are nanoseconds in the profile's clock. The idle task of each CPU is a thread with tid 0 and only
 * running intervals.
 */
#ifndef SP_INTERVALS_H
#define SP_INTERVALS_H

#include "model/sched_events.h"

enum sp_run_state {
    SP_RUN_RUNNING,
    SP_RUN_RUNNABLE, /* ready, and waits for a CPU */
    SP_RUN_BLOCKED,  /* waits for something, or stopped, or idle */
    SP_RUN_STATES,
};

enum sp_interval_flag {
    SP_INTERVAL_BEFORE = 1,    /* it began before the recording; start is where that begins */
    SP_INTERVAL_OPEN = 2,      /* it is not over at the end of the recording, which is its end */
    SP_INTERVAL_NO_WAKE = 4,   /* blocked: when it was woken is not known, its end is where it ran again */
    SP_INTERVAL_PREEMPTED = 8, /* runnable: it was put off the CPU; else it was woken, or is new */
    SP_INTERVAL_UNSURE = 16,   /* events contradict each other here: some were lost, or clocks are skewed */
    SP_INTERVAL_AT_MOST =
        32, /* that it ran again was not recorded; it had by `end` at the latest; with OPEN:
               whether it ran again before the end is not known; of running ones: it had left by `end` */
};

struct sp_interval {
    int64_t start, end;
    int64_t until;        /* it did so for certain; from here to `end` it did, or did something else */
    uint32_t thread;      /* number in sp_intervals.threads */
    uint32_t stack;       /* of the profile, of the event off-cpu: where it left the CPU, or one frame
                             [unknown] where that was not seen; of running ones SP_NONE */
    uint32_t waker;       /* blocked: the thread that ended it; SP_NONE: not known */
    uint32_t waker_stack; /* of the profile: where the waker was when it did; SP_NONE: not known */
    int32_t cpu;   /* running: where; runnable: where it ran then; blocked: where it left; -1: not known */
    uint8_t state; /* enum sp_run_state */
    uint8_t flags; /* enum sp_interval_flag */
    uint8_t task;  /* enum sp_task_state: why it left the CPU; of running ones SP_TASK_UNKNOWN */
    uint8_t zero;
};

struct sp_interval_thread {
    int64_t pid, tid;    /* pid SP_ABSENT: not known */
    uint32_t comm;       /* the last one; a text of the profile */
    uint32_t stale;      /* what its last sample has for it, whose record of its name was lost; else none */
    int32_t cpu;         /* of idle tasks: their CPU */
    uint32_t first, n;   /* slice of v */
    uint32_t migrations; /* how often it ran on another CPU than the time before */
    uint32_t switches;   /* how often it came onto a CPU */
    bool exited;
    int64_t start; /* when it began, if that was within the recording; SP_ABSENT: before it, or not known */
    int64_t maybe_ns; /* before its first interval: it may have run for so long, on the CPU that it leaves */
};

/* Events were lost on some CPU. */
struct sp_interval_loss {
    int64_t from, to;
    int64_t before; /* nanoseconds of those before it */
};

struct sp_intervals {
    SP_VEC(struct sp_interval_thread) threads; /* by pid, tid; idle tasks first, by CPU */
    SP_VEC(struct sp_interval) v;              /* by thread, start; in a file, not to be added to */
    int64_t begin, end;                        /* of the recording */
    uint32_t cpus;                             /* the highest number of a CPU, and one */
    bool has_wakes;                            /* events of waking were recorded */
    bool has_waking; /* … in the waker, sched_waking, not only in the woken's CPU */
    bool has_waker_stacks;
    bool sampled;                         /* the recorder took only some switches: those are not used */
    bool all_threads;                     /* the recording is of all threads; else of some processes */
    bool some_cpus;                       /* … of some of the machine's CPUs */
    bool has_stacks;                      /* where threads left the CPU was recorded */
    uint64_t contradictions;              /* places where the order of events cannot be */
    uint64_t losses;                      /* of them, places where the recorder says that it lost events */
    SP_VEC(struct sp_interval_loss) lost; /* when that was: in order, apart (model/interval_losses.h) */
    uint64_t
        never_left; /* places where a thread must have left its CPU, of those that never are recorded to */
    uint32_t never_leave;  /* how many threads these are */
    uint64_t unseen;       /* places where a CPU's idle task must have left it, and never is recorded to */
    SP_VEC(int64_t) marks; /* by CPU: when switches were seen on it, ascending */
    SP_VEC(size_t) marks_first; /* per CPU, and the end */
    void *map;                  /* what v is in: an unlinked file */
    size_t mapped;              /* bytes */
};

/*
 * From the samples of a profile; empty where it has none of the scheduler. The profile is sorted and gets
 * labels; sp_off_cpu_add was done. SPAA_OK, or an error that is reported. Free with sp_intervals_free.
 */
spaa_status sp_intervals_of(struct sp_profile *p, struct sp_diags *d, struct sp_intervals *out);
void sp_intervals_free(struct sp_intervals *v);
/* The profile has what they are made of: raw samples of all switches, of one recording, and the event
 * off-cpu. */
bool sp_intervals_can(const struct sp_profile *p);
/* The first interval of the thread (numbers of threads and v) that ends after t; the end of its slice: none.
 */
uint32_t sp_interval_after(const struct sp_intervals *v, uint32_t thread, int64_t t);

#endif
