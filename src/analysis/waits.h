/*
 * Who waits, for what, held by whom.
 *
 * Hang reports name what a thread was blocked by and often who held it: `turnstile waiting for
 * Safari [412] thread 0x3fd5`, `unfair lock owned by …`, `wait4 on make [99]`. Each such wait of a thread
 * (sp_wait_fact) is weighted by what of the metric (samples of a hang report) saw it. A chain follows the
 * heaviest wait of each holder, from a thread that nobody else's chain comes through; a holder that is known
 * by its process alone is taken to be its main thread. Rings of other waits are chains of their own. A chain
 * that comes back is a cycle: a deadlock where its waits are there at once and do not end (waits_deadlock.c),
 * else threads that contend.
 *
 * Order: of chains deadlocks first; then the frontmost application's main thread, the longest chain, the most
 * weight.
 */
#ifndef SP_WAITS_H
#define SP_WAITS_H

#include "analysis/select.h"
#include "analysis/thread_info.h"
#include "model/step_ranges.h"

enum { SP_AMONG_MOST = 16 };

struct sp_wait {
    uint32_t waiter; /* in threads */
    uint32_t on;     /* what it is: "turnstile", "unfair lock", …; strings of the profile */
    uint32_t text;   /* as the profiler says it */
    uint32_t state;  /* x_state */
    int64_t weight;
    int64_t holder_pid, holder_tid; /* SP_ABSENT: not stated */
    uint32_t holder_name;
    uint32_t
        holder;    /* in threads: the named one, or its process's main thread; SP_NONE: not in the profile */
    int64_t all;   /* the weight without filters */
    int64_t hops;  /* so many waits of others lie between it and the holder; SP_ABSENT: not stated */
    uint32_t fact; /* in profile->waits */
    bool by_process;     /* the holder's thread is a guess */
    bool lock;           /* of the kinds that make a deadlock */
    bool self;           /* the holder is the waiter */
    bool receive;        /* of a server, for messages */
    bool reported;       /* the profiler itself calls it a part of a deadlock */
    uint32_t context;    /* that it is of */
    uint64_t way;        /* what stands for its stacks (waits_ended.c) */
    bool several_ways;   /* they differ */
    int64_t begin, last; /* the first and the last step that may have seen it; SP_ABSENT: not known */
    bool by_time;        /* of the holders that it may have, only those are meant that were there then */
    uint32_t among; /* so many processes of its number may be the holder's, SP_AMONG_MOST: or more; then it is
                       not known which */
};

struct sp_wait_thread {
    int64_t pid, tid;
    uint32_t comm;               /* string of the profile */
    uint32_t context;            /* one of its contexts */
    int64_t weight;              /* of the thread, in any state */
    int64_t waiting;             /* of it with a wait that says for what */
    uint32_t first, n;           /* slice of waits, heaviest first */
    uint32_t heaviest;           /* in waits: for whom it waited most, in whatever words */
    uint32_t equals, equal_wait; /* so many others as long; the first of these */
    bool asked;                  /* it is in the selection; others are there for the chains through them */
    bool frontmost;              /* the main thread of the application in front */
    uint32_t depth;              /* waits on its chain */
    bool cyclic;                 /* its chain ends in a cycle */

    int64_t all;            /* its weight without filters */
    int64_t stated;         /* how often it was seen, as its lines say; not positive: they do not */
    bool counted;           /* that is its weight, and between which steps it was is stated, too */
    bool lacks_rows;        /* it is another: rows are missing, or damaged */
    int64_t begin, last;    /* the first and the last step that saw it; SP_ABSENT: not known */
    int64_t end;            /* the last step of its report that saw any thread; SP_ABSENT: not known */
    uint32_t steps, nsteps; /* slice of ranges.v, by their beginning */
    uint32_t stuck; /* in waits: one that does not end, which a chain follows; SP_NONE: the heaviest */
    bool stuck_all; /* it is in all samples of the thread, with others for the same holder */
    int64_t since;  /* the step from which on it holds; SP_ABSENT: not known */
};

/* What a deadlock is told by: see waits_deadlock.c. */
enum sp_deadlock {
    SP_DEADLOCK_NONE,
    SP_DEADLOCK_REPORTED, /* the profiler says so */
    SP_DEADLOCK_ALL,      /* each wait is in all samples of its thread */
    SP_DEADLOCK_TO_END,   /* the waits begin, and from then on are there at once until the end */
};

struct sp_wait_chain {
    uint32_t first, n; /* slice of steps: numbers of waits */
    uint32_t cycle;    /* the step that its end comes back to; SP_NONE: none */
    bool beside;       /* a ring that chains do not lead into: its threads waited more for others */
    enum sp_deadlock deadlock;
    bool sure; /* of a deadlock: each wait names its holder, none lies between, and it is there from the
                  first sample on */
    /* Steps in which all waits of the cycle are there at once, and the first and the last of these;
     * SP_ABSENT: it is not known when samples were taken. */
    int64_t at_once, from, to;
    int64_t at_least; /* where at_once is not known: so many steps, as the counts and first and last steps of
                         threads tell; 0: none need be */
    /* Of a deadlock, what speaks against its being sure. */
    int64_t
        gone; /* the step after which its threads were not seen, others were; SP_ABSENT: they were there */
    bool lacks_rows; /* of one of them */
    bool ended;      /* a wait of the cycle ended and came again, as the stacks of its thread tell */
};

struct sp_waits {
    const struct sp_profile *profile;
    struct sp_thread_info info;
    SP_VEC(struct sp_wait_thread) threads; /* of each program that was in it, in hang reports */
    SP_VEC(struct sp_wait) waits;
    SP_VEC(uint32_t) order; /* threads with waits, of those asked about */
    SP_VEC(struct sp_wait_chain) chains;
    SP_VEC(uint32_t) steps;
    bool counts_samples; /* weights are numbers of samples, else of the selection's metric and scale */
    unsigned scale;
    /* Of the selection: all; with a reason; off the CPU without one; servers that waited for messages; what
     * was suspended, for nobody that is named; of threads for when there is nothing to do. */
    int64_t weight, waiting, unexplained, receiving, suspended, idle;
    struct sp_map by_tid;
    SP_VEC(uint64_t) ways;        /* by stack, of those that wait */
    struct sp_step_ranges ranges; /* of the threads, in their order; none where steps are not known */
    uint32_t reports;             /* that the threads are of, where one profile has several */
};

/*
 * The waits of the threads of a selection, and the chains that begin there. `whole`: what chains may go on
 * through, the same event without filters; NULL: the selection is that. SPAA_ERR_USAGE, reported, where the
 * profile does not tell threads and states apart.
 */
spaa_status sp_waits_of(const struct sp_selection *s, const struct sp_selection *whole, struct sp_diags *d,
                        struct sp_waits *out);
void sp_waits_free(struct sp_waits *w);
/* In threads; SP_NONE: it is not there. By its number, the first; of several programs, that of a context. */
uint32_t sp_waits_thread(const struct sp_waits *w, int64_t tid);
uint32_t sp_waits_thread_of(const struct sp_waits *w, const struct sp_context *c);
/* The threads that the holder of a wait may be, from 0 on; SP_NONE: no more. */
uint32_t sp_waits_candidate(const struct sp_waits *w, const struct sp_wait *x, uint32_t nth);

/* Whether two waits of a thread are for the same holder, in whatever words; for nobody: the same wait. */
bool sp_waits_alike(const struct sp_waits *w, uint32_t a, uint32_t b);
/* The weight, without filters, of such waits as this. */
int64_t sp_waits_weight(const struct sp_waits *w, uint32_t wait);

/* waits_steps.c: ranges, and where each thread was seen; SPAA_ERR_NOMEM. */
/* Whether a thread was there while a wait was seen, as far as is known. */
bool sp_waits_was_there(const struct sp_wait *x, const struct sp_wait_thread *t);
/* Whether a thread was seen no more when others still were. */
bool sp_waits_is_gone(const struct sp_wait_thread *t);
spaa_status sp_waits_learn_steps(struct sp_waits *w, struct sp_diags *d);
/* The steps in which a thread was seen to wait for a holder, in order, joined where they touch; false: no
 * memory. `count`: of them at least. */
struct sp_wait_steps {
    SP_VEC(struct sp_step_range) v;
};
/* It is known which steps are its own; of those that are missing in it, that its thread was not seen. */
bool sp_waits_is_placed(const struct sp_step_range *r);
/* A stack of the thread waits for the holder. */
bool sp_waits_stack_waits_for(const struct sp_waits *w, uint32_t thread, uint32_t stack, uint32_t holder);
bool sp_wait_steps_of(const struct sp_waits *w, uint32_t thread, uint32_t holder, struct sp_wait_steps *out);
/* Keeps of a what both have; false: no memory, and a is freed. */
bool sp_wait_steps_cut(struct sp_wait_steps *a, const struct sp_wait_steps *b);

/* waits_ended.c: what tells that a wait ended, though its thread waited for the same holder before and after.
 * False: no memory. */
bool sp_waits_learn_ways(struct sp_waits *w);
/* All of a thread's waits for the holder of this one may be one. */
bool sp_waits_may_be_one(const struct sp_waits *w, uint32_t wait);
/* The last steps in which a thread waited for a holder that may be of one wait; count 0: none are known. */
struct sp_step_range sp_waits_last_of(const struct sp_waits *w, uint32_t thread, uint32_t holder);

/* waits_chains.c: from each thread that was asked about, once waits are known that do not end; then, with
 * rings, in the order that they are shown in. False: no memory. */
bool sp_waits_find_chains(struct sp_waits *w);
void sp_waits_sort_chains(struct sp_waits *w);

/* waits_ways.c: for whom each thread waited most; then, when chains are there, rings that none goes around;
 * false: no memory. */
bool sp_waits_find_heaviest(struct sp_waits *w);
bool sp_waits_find_rings(struct sp_waits *w);
/* The wait that a chain follows from a thread, in waits; SP_NONE: it waits for nothing that is named. */
uint32_t sp_waits_followed(const struct sp_waits *w, uint32_t thread);
/* The steps in which all of the first n waits of a chain were seen, as far as steps of each are known; none:
 * they are not. *apart: they are, and never at once. False: no memory. */
bool sp_waits_chain_steps(const struct sp_waits *w, const struct sp_wait_chain *c, uint32_t n,
                          struct sp_wait_steps *out, bool *apart);

/* waits_deadlock.c: which waits do not end, before chains are walked; false: no memory. */
bool sp_waits_find_stuck(struct sp_waits *w);
/* Whether a thread waits until its end, for so long that it is no chance. */
bool sp_waits_stays(const struct sp_waits *w, uint32_t thread);
/* Of a chain with its steps: whether it is a deadlock, what tells it, and when its waits are there at once.
 */
bool sp_waits_judge(struct sp_waits *w, struct sp_wait_chain *c);

/* Reports that the names and fields of tracepoints are lost (sp_sched_names_lost). */
void sp_waits_refuse_lost(struct sp_diags *d);
/* Reports what the profile holds instead of waits, and which recording has them. */
void sp_waits_refuse(const struct sp_selection *s, struct sp_diags *d);

#endif
