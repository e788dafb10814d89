/*
 * The walk over the events of the scheduler in order of time: what is known of each thread at the moment that
 * it has come to, and the intervals that end there. Private to model/interval*.c.
 */
#ifndef SP_INTERVAL_WALK_H
#define SP_INTERVAL_WALK_H

#include "base/map.h"
#include "model/interval_list.h"

enum sp_walk_where {
    SP_WALK_NOT_SEEN, /* nothing was recorded of it yet */
    SP_WALK_ON,       /* it runs, since `since` */
    SP_WALK_OFF,      /* it left the CPU at `since` */
};

/* What is known of a thread now. Times: SP_ABSENT: there is none. */
struct sp_walk_now {
    int64_t since;
    int64_t woken; /* since `since`, or ever, of one that was not seen */
    int64_t
        not_before; /* one that had its number before it was not over until then; SP_ABSENT: there was none */
    int64_t early;  /* woken while it still seemed to run */
    int64_t seen;   /* of recordings of some processes: it ran here at the latest */
    uint32_t stack, waker, waker_stack, early_waker, early_stack;
    int32_t cpu;      /* where it runs or left; -1: not known */
    int32_t last_cpu; /* 1 + where it ran last that is known; 0 */
    enum sp_walk_where where;
    bool ready;      /* off the CPU, it waits for nothing else: it was put off, or is new */
    bool is_new;     /* it never ran */
    bool unsure;     /* how it came into this state was not recorded */
    bool mine;       /* its leaving is recorded: it is of a process that was recorded */
    bool maybe_over; /* that it left for good follows from the record of its exit alone */
    bool left;       /* some time it was recorded that it left a CPU */
    bool told;       /* sched_switch told that it left, and the record that says the same did not come yet */
    uint32_t missed; /* how often it must have left one, and that was not recorded */
    uint8_t task;
};

struct sp_walk_cpu {
    int64_t last;      /* its last switch; SP_ABSENT */
    int64_t heard;     /* its last event of any kind; SP_ABSENT */
    int64_t lost_from; /* where `lost`: after this */
    uint32_t current;  /* the thread that came then */
    bool lost;         /* events were lost since */
    bool idle_leaves;  /* the idle task is seen to leave it */
    bool told; /* sched_switch told of the last switch, and the record that says the same did not come yet */
};

struct sp_walk {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_intervals *out;
    struct sp_interval_list list;
    SP_VEC(struct sp_walk_now) now; /* beside out->threads */
    SP_VEC(int64_t) exits;          /* the same: when it exited, where the recorder says so */
    SP_VEC(struct sp_walk_cpu) cpus;
    struct sp_map by_tid;   /* the last thread of a tid */
    struct sp_map declared; /* the profile's threads by tid */
    struct sp_map begun;    /* the profile's processes whose start is known, by pid */
    /* By state and stack of a switch: 1 + the stack of off-cpu; 0: not asked yet. */
    SP_VEC(uint32_t) off[SP_TASK_UNKNOWN + 1];
    uint32_t off_metric; /* offcpu_ns */
    int64_t all_begun;   /* from here on the switches of every CPU are recorded */
    bool idle_gaps; /* an idle task is never seen to leave its CPU, and so wakings on idle CPUs neither */
    bool wakings;   /* sched_waking is there: sched_wakeup says the same later */
    bool switches;  /* sched_switch is there: PERF_RECORD_SWITCH says the same later */
    bool records;   /* PERF_RECORD_SWITCH is there: of the threads that are recorded each coming is, too */
    spaa_status failed;
};

enum { SP_WALK_CPUS_MAX = 65536 };
static inline bool sp_walk_has_cpu(const struct sp_sample *x)
{
    return x->cpu >= 0 && x->cpu < SP_WALK_CPUS_MAX;
}

uint64_t sp_walk_key(int64_t tid, int32_t cpu); /* of by_tid and declared */
/* The thread of a tid at this time; of tid 0 the idle task of the CPU. SP_NONE: w->failed. */
uint32_t sp_walk_thread(struct sp_walk *w, int64_t tid, int32_t cpu, int64_t t);
bool sp_walk_is_over(const struct sp_walk *w, int64_t tid); /* all threads that had this tid exited */
/* Changes of a thread; false: w->failed. stack: where it left, SP_NONE: not known. */
bool sp_walk_on(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu);
bool sp_walk_off(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu, enum sp_task_state task,
                 uint32_t stack);
void sp_walk_woken(struct sp_walk *w, uint32_t thread, int64_t t, uint32_t waker, uint32_t stack);
void sp_walk_born(struct sp_walk *w, uint32_t thread, int64_t t);
/* It left its CPU after `t`, before `until`, and that was not recorded. */
bool sp_walk_gone(struct sp_walk *w, uint32_t thread, int64_t t, int64_t until);
/* Where it leaves `cpu` at `t` and was not seen to come: from when on it was there at the latest. */
int64_t sp_walk_ran_at(const struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu);
/* Something was sampled while it ran. */
void sp_walk_seen(struct sp_walk *w, uint32_t thread, int64_t t);
/* What is not over at the end of the recording. */
bool sp_walk_end(struct sp_walk *w);

#endif
