/*
 * Where the time of threads went: on a CPU, waiting for one, blocked and by what; for each thread or pool,
 * and for each place where they waited.
 *
 * From intervals (model/intervals.h) where there are some, clipped to the range of time of the selection;
 * else from the weights of its stacks, which know nothing of running, and of how often and how long at most
 * only where the event has such metrics.
 *
 * Lengths in nanoseconds; SP_ABSENT: not known. p99 and the median are of nearest rank: the shortest wait
 * that is not shorter than 99 (50) percent of them. An interval that had begun before the recording or was
 * not over at its end counts with what was seen of it, and what it is part of is `at_least`; so does one of
 * which it is not recorded until when it was (model/interval_until.h).
 */
#ifndef SP_OFF_CPU_ACCOUNTS_H
#define SP_OFF_CPU_ACCOUNTS_H

#include "analysis/wait_reason.h"
#include "model/intervals.h"

/* Threads of a pool, threads of one process and one name, or one thread. */
struct sp_off_cpu_who {
    uint32_t name;              /* in names: "http-* (40)", "refresher (tid 15934)" */
    const struct sp_pool *pool; /* lent; NULL: none */
    int64_t pid, tid;           /* tid: of one thread */
    uint32_t comm;              /* a text of the profile; of pools 0 */
    uint32_t threads;           /* how many of them are in the selection */
    int64_t running;            /* SP_ABSENT: not known */
    int64_t unknown;            /* it ran or waited: which is not recorded; in no other sum */
    int64_t runnable;           /* waiting for a CPU */
    int64_t blocked, idle;      /* idle is not in blocked, nor in `by` */
    int64_t maybe_idle;         /* maybe idle, which nothing shows; in neither */
    bool seen; /* of intervals: they were there in the range of time, not only before they were first seen */
    int64_t unseen;                  /* blocked, and where was not recorded: before it, or lost; in neither */
    int64_t by[SP_WAIT_REASONS];     /* of blocked; [SP_WAIT_CPU] is runnable */
    int64_t unsure[SP_WAIT_REASONS]; /* of these, with a reason that is only likely */
    bool at_least[SP_WAIT_REASONS];  /* some of these are longer than what was seen */
    bool idle_at_least, maybe_idle_at_least;
    bool running_at_least; /* of some of `unknown` it may be that they ran */
};

/* The reason is only the likely one of a twentieth of its waits or more: what tells it from others is
 * missing. A futex's name says so. */
static inline bool sp_off_cpu_unsure(const struct sp_off_cpu_who *w, unsigned reason)
{
    return reason != SP_WAIT_FUTEX && w->unsure[reason] > 0 && w->unsure[reason] >= w->by[reason] / 20;
}

/* Waits of these threads in one place for one reason. */
struct sp_off_cpu_place {
    uint32_t who;
    struct sp_wait_why why; /* of its stacks; frame SP_NONE where their lines differ; of SP_WAIT_CPU without
                               all that */
    int64_t ns, count, median, p99, longest;
    int64_t unknown;      /* besides: they waited on, or ran */
    int64_t longest_most; /* with what is unknown of it */
    bool more;            /* there may be others, whose beginning was lost: also longer ones */
    int64_t open;         /* of count, those that began before the recording or were not over at its end */
    int64_t last;         /* when the longest ended, in the profile's clock; SP_ABSENT */
    bool at_least, median_at_least, p99_at_least, longest_at_least;
};

struct sp_off_cpu_accounts {
    struct sp_strtab names;
    SP_VEC(struct sp_off_cpu_who) who;      /* most time waiting and not idle first */
    SP_VEC(struct sp_off_cpu_place) places; /* longest sum first, idle ones last */
    struct sp_off_cpu_who all;              /* sums; threads: how many there are */
    bool has_intervals;
    bool knows_threads; /* some of them have a name or an id */
    bool only_stacks;   /* filters look at stacks: running is not known */
    bool has_runnable;  /* waiting for a CPU is known, at least in part */
    bool has_wakes;     /* when a blocked thread was woken is known, so that waiting for a CPU is all there */
    int64_t begin, end; /* of what was looked at */
    uint32_t cpus;      /* 0: not all of the machine was recorded */
    bool all_threads;   /* of the machine, or of CPUs, are recorded */
    bool some_cpus;     /* of CPUs: of time off them nothing is certain */
    int64_t busy;       /* on all these CPUs, whatever the selection */
    bool busy_at_least;
    int64_t unseen_later;     /* of all.unseen, what did not begin before the recording: events were lost */
    int64_t before;           /* of recordings of some processes: before the first event of threads */
    int64_t unsure;           /* of blocked and idle, with a reason that is only likely */
    uint64_t wakes_missing;   /* where there are wakings: waits whose own one was not recorded, … */
    int64_t wakes_missing_ns; /* … so that the wait for a CPU after them is in them */
    uint64_t contradictions;
    bool lost; /* events were: of `unknown`, threads may have ended meanwhile */
};

/*
 * `s`: what is asked about; `wide`: the same without a range of time, the same as s where it has none. `v`
 * may be empty.
 */
spaa_status sp_off_cpu_accounts_of(const struct sp_selection *s, const struct sp_selection *wide,
                                   const struct sp_select_opts *asked, const struct sp_intervals *v,
                                   const struct sp_wait_reasons *why, struct sp_diags *d,
                                   struct sp_off_cpu_accounts *out);
void sp_off_cpu_accounts_free(struct sp_off_cpu_accounts *x);

#endif
