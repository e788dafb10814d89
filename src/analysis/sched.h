/*
 * What threads did with their time: on a CPU, waiting for one, waiting for something else; and what CPUs and
 * the queue in front of them did. The sums of perf sched timehist and latency, over intervals
 * (model/intervals.h); how they differ from perf's stands in docs/sched.md.
 *
 * All times are nanoseconds. Only what lies in the window counts; what the window or the recording cuts is
 * part of the sums, and told apart as cut.
 */
#ifndef SP_SCHED_H
#define SP_SCHED_H

#include "analysis/pool.h"
#include "analysis/sched_cpus.h"

struct sp_sched_sum {
    int64_t ns;      /* in all, within the window */
    int64_t cut_ns;  /* of it in intervals that go on outside of the window, or of the recording */
    int64_t maybe;   /* it may have gone on for so long */
    uint64_t n;      /* intervals that are whole */
    int64_t longest; /* -1: there is none */
    int64_t longest_at;
    int64_t longest_most;    /* with what is not certain of it */
    uint32_t longest_thread; /* in sp_intervals.threads */
    bool longest_cut;        /* it is at least that long */
};

struct sp_sched_row {
    uint32_t thread;  /* in sp_intervals.threads; of a pool one of them */
    uint32_t pool;    /* in the pools; SP_NONE: a thread */
    uint32_t comm;    /* its last name of those that are asked about; a text of the profile */
    uint32_t threads; /* how many it is */
    struct sp_sched_sum run, blocked;
    struct sp_sched_sum delay;     /* waiting for a CPU, woken or preempted */
    struct sp_sched_sum preempted; /* of it, after being put off a CPU */
    int64_t unknown_ns;            /* it ran or was off the CPU: that it came was not recorded */
    uint64_t unknown_runs;         /* how often */
    uint64_t runs;                 /* how often it was on a CPU, unknown ones too */
    uint64_t migrations;           /* on another CPU than the time before */
    uint64_t wakes_missing;        /* waits of which no end but running is known: blocked holds their delay */
};

struct sp_sched_cpu {
    uint32_t cpu;
    int64_t busy_ns, idle_ns; /* the rest of the window is not known */
    uint64_t switches;        /* how often a thread came onto it, or left it unseen to come */
};

/* Threads that wait for a CPU, at once. */
struct sp_sched_queue {
    int64_t ns; /* waited, by all together */
    uint32_t most;
    int64_t most_at;
};

struct sp_sched {
    SP_VEC(struct sp_sched_row) rows; /* by time on CPUs, most first */
    SP_VEC(struct sp_sched_cpu) cpus; /* those that were seen, by number */
    struct sp_sched_row all;          /* the rows together */
    struct sp_sched_queue queue;
    int64_t lo, hi;   /* the window */
    bool idle_unseen; /* switches away from the idle task are not recorded */
    uint32_t ncpus;
};

struct sp_sched_opts {
    int64_t lo, hi;            /* the window, cut to the recording */
    const unsigned char *keep; /* per thread; NULL: all */
    const struct sp_profile *profile;
    const unsigned char *who; /* per context: what threads did under its name is kept; NULL: all */
    const uint32_t *pools;    /* per thread: its pool, SP_NONE; NULL: none */
};

/* False: out of memory. To be freed in any case. */
bool sp_sched_of(const struct sp_intervals *v, const struct sp_cpu_segments *c,
                 const struct sp_sched_opts *how, struct sp_sched *out);
void sp_sched_free(struct sp_sched *x);

/* The pool of each thread; the caller frees it; NULL: out of memory. */
uint32_t *sp_sched_pools(const struct sp_profile *p, const struct sp_intervals *v,
                         const struct sp_pools *pools);

#endif
