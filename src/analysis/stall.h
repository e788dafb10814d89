/*
 * Stalls: moments at which several threads of a program stood still at one thing, who held it, and what the
 * holder did meanwhile. From intervals of threads (model/intervals.h) and the reasons of their waits
 * (analysis/wait_reason.h) alone.
 *
 * An episode is a set of waits at one place (process, reason, own function) that overlap at one point, each
 * longer than a threshold that the waits of that place give: where their lengths have a gap, else a floor.
 * One thread's waits for a lock are episodes of their own where events of waking say who ended them, no
 * several threads stood still there, and they are a tenth of the recording. Waits for work, sleeps and polls
 * make none; waits for conditions, networks and pipes only where such waits are usually a tenth as long and
 * nearly all threads of the place stand still at once.
 *
 * Who held it is shown by the event that woke the first waiter, or inferred by elimination: to let go of a
 * lock a thread has to run. Where neither leaves exactly one thread, none is named. When the holder took the
 * lock is not recorded: it had it when the first waiter came, so the time of a hold is a lower bound.
 *
 * Processes of one thread each that have one name, or hand a lock to each other, are looked at as one program
 * (stall_groups.c).
 */
#ifndef SP_STALL_H
#define SP_STALL_H

#include "analysis/wait_reason.h"
#include "model/intervals.h"

#define SP_STALL_FLOOR 20000000 /* ns: shorter waits are no stall */

enum sp_stall_kind {
    SP_STALL_PLACE,   /* blocked at one place */
    SP_STALL_STOPPED, /* a process was stopped, by a signal or a debugger */
    SP_STALL_CPU,     /* all that would run in a process waited for a CPU, and none of it ran */
    SP_STALL_OPEN,    /* waits for locks that were not over when the recording was */
};

enum sp_stall_by {
    SP_STALL_BY_UNKNOWN,   /* events of waking are there, but not of this wait */
    SP_STALL_BY_WOKEN,     /* the holder woke the first waiter */
    SP_STALL_BY_INFERRED,  /* by elimination */
    SP_STALL_BY_SEVERAL,   /* elimination leaves several: candidates */
    SP_STALL_BY_NONE,      /* no thread of the process ran meanwhile: another process, the kernel, I/O */
    SP_STALL_BY_UNSEEN,    /* none is seen to have run, but not all switches are recorded */
    SP_STALL_BY_SIGNAL,    /* a signal ended the first wait: nobody let go */
    SP_STALL_BY_INTERRUPT, /* a timer or a device woke the first waiter */
    SP_STALL_BY_OTHER,     /* no lock of one process: elimination says nothing */
    SP_STALL_BY_DEVICE,    /* waits for a disk */
    SP_STALL_BY_NOT_ENDED, /* nobody was released */
    SP_STALL_BY_LAST,      /* several may have had it at once; the candidate let go last */
    SP_STALL_BY_TIMED,     /* the first wait may have given up by itself */
    SP_STALL_BY_NO_HOLDER, /* stopped, or no CPU: nothing is held */
    SP_STALL_BYS,
};
extern const char *const sp_stall_by_names[]; /* in enum order: "woken" */

/* What a thread did in a window of time; the parts add up to it. */
struct sp_stall_split {
    int64_t from, to;
    int64_t running, runnable, blocked;
    int64_t unknown;                 /* the recording does not say */
    int64_t reason[SP_WAIT_REASONS]; /* of blocked */
    uint32_t longest;                /* the interval of the longest wait; SP_NONE */
    uint32_t function;               /* own function in which it most left the CPU meanwhile; SP_NONE */
};

/* Who had the CPUs while a thread waited for one. */
struct sp_stall_taker {
    uint32_t thread;  /* tid 0: the CPU was idle; then the sum of all CPUs */
    int64_t its_cpu;  /* ns on the CPU where the thread that waited ran next */
    int64_t all_cpus; /* ns on any */
};

/* A thread that had it for a part of an episode. */
struct sp_stall_hold {
    uint32_t thread, stack; /* stack: where it let go (of the event of waking); SP_NONE: not known */
    int64_t from, to;
};

/* What the holder waited for itself, step by step: a thread in a blocked interval, ended by the next one. */
struct sp_stall_link {
    uint32_t thread, interval;
    struct sp_stall_split split; /* of the window in which the thread before it waited */
};

struct sp_stall_candidate {
    uint32_t thread;
    int64_t running; /* ns, between the first waiter's coming and the first one's going on */
};

/* A part of the critical path of an episode: what its length was made of. */
struct sp_stall_part {
    uint32_t thread;
    uint8_t state;  /* enum sp_run_state; SP_RUN_STATES: the recording does not say */
    uint8_t reason; /* of blocked */
    int64_t ns;
};

struct sp_stall_slice {
    uint32_t first, n;
};

struct sp_stall {
    enum sp_stall_kind kind;
    enum sp_stall_by by;
    uint8_t reason;               /* enum sp_wait_reason */
    uint32_t function, call;      /* of the first wait; SP_NONE */
    uint32_t group;               /* the first thread of its process, or of its processes */
    bool processes;               /* several processes of one thread each */
    int64_t start, released, end; /* the first wait's start, the first and the last end */
    int64_t lost, longest;        /* sum of its waits, and the longest of them */
    int64_t threshold, next;      /* ns; next: the longest wait of the place below it */
    struct sp_stall_slice waits;  /* of sp_stalls.waits, by end */
    uint32_t holder;              /* a thread; SP_NONE: not named */
    uint32_t waker_stack;         /* where it let go; SP_NONE */
    bool convoy;                  /* it was handed on so often that nobody had it for half of the episode */
    uint32_t hands;               /* different threads that had it; of WOKEN */
    bool at_resume;               /* inferred: others ran meanwhile, it alone when the first waiter went on */
    int64_t holder_waited;        /* INFERRED: ns that it waited there itself before: it had it after that */
    uint32_t places;              /* OPEN: so many own functions in which they wait, at most 64 */
    bool ring;          /* OPEN: by the history of wakings each waits for what another let go before */
    bool at_most;       /* some may have been over before `end`: that they were is not recorded */
    uint32_t unsure;    /* threads that waited there, too; just until when is not recorded */
    uint32_t handovers; /* waiters that handed it on to the next one */
    int64_t idle;       /* CPU: ns in which CPUs were idle, of all CPUs, while all waited */
    struct sp_stall_split split; /* of the holder, until it let go */
    struct sp_stall_slice holds; /* in time; of WOKEN */
    struct sp_stall_slice links, takers, candidates, path;
    uint32_t set; /* number in sp_stalls.sets */
};

/* Episodes of one place and one holder. */
struct sp_stall_set {
    struct sp_stall_slice members; /* of sp_stalls.order */
    int64_t lost;
    uint32_t threads; /* different ones that waited */
};

/* Who woke whom. */
struct sp_stall_edge {
    uint32_t from, to; /* threads: the waker, the woken */
    uint32_t count;
    int64_t waited, longest;
};

/*
 * Long waits of several threads at a place that may be for a lock, or idle: nothing tells. They are of no
 * episode. Only where they are half as long as the recording, in sum.
 */
struct sp_stall_unjudged {
    uint32_t thread, interval; /* who waited most of them, and one of its waits */
    uint32_t threads, waits;
    int64_t waited; /* ns, their sum */
};

struct sp_stalls {
    SP_VEC(struct sp_stall) v;
    SP_VEC(uint32_t) waits; /* numbers of intervals */
    SP_VEC(struct sp_stall_hold) holds;
    SP_VEC(struct sp_stall_link) links;
    SP_VEC(struct sp_stall_taker) takers;
    SP_VEC(struct sp_stall_candidate) candidates;
    SP_VEC(struct sp_stall_part) path;
    SP_VEC(struct sp_stall_set) sets;          /* most lost first */
    SP_VEC(uint32_t) order;                    /* of v, by set, start */
    SP_VEC(struct sp_stall_edge) edges;        /* longest waited first */
    SP_VEC(struct sp_stall_unjudged) unjudged; /* most waited first */
    uint64_t cut,    /* waits for locks that a signal ended, and that began again: none is whole */
        last_waits,  /* of some processes: waits for locks at their last event, when no thread ran */
        not_judged;  /* long waits of several threads that may be for a lock or idle, in `unjudged` or not */
    uint64_t unsure; /* waits that are not looked at, as when they ended is not recorded */
};

/* What woke, by the stack of the thread that was on the CPU. */
enum sp_stall_wakes {
    SP_STALL_WAKES_THREAD,    /* what the thread did */
    SP_STALL_WAKES_INTERRUPT, /* an interrupt at its expense: a timer, a device */
    SP_STALL_WAKES_SIGNAL,    /* it sent a signal, or ended the process */
    SP_STALL_WAKES_REMOTE,    /* an interrupt at its expense: another CPU's thread did, which is not known */
};

struct sp_stall_input {
    const struct sp_intervals *v;
    const struct sp_wait_why *why; /* per stack of the profile */
    const unsigned char *selected; /* per stack: waits there are asked about; NULL: all are */
    const unsigned char *wakers;   /* per stack, as a waker's: enum sp_stall_wakes; NULL: all are THREAD */
    size_t stacks;
    bool waker_stacks; /* wakers' stacks say whether an interrupt woke */
    bool timed;        /* only episodes that are partly in [from, to), in the profile's clock */
    int64_t from, to;
};

/* SPAA_OK, or SPAA_ERR_NOMEM, reported. Free on success only. */
spaa_status sp_stalls_of(const struct sp_stall_input *in, struct sp_diags *d, struct sp_stalls *out);
void sp_stalls_free(struct sp_stalls *x);

#endif
