/*
 * Who waits, for what, held by whom.
 *
 * Hang reports name what a thread was blocked by and often who held it: `turnstile waiting for
 * Safari [412] thread 0x3fd5`, `unfair lock owned by …`, `wait4 on make [99]`. Each such wait of a thread
 * (sp_wait_fact) is weighted by what of the metric (samples of a hang report) saw it. A chain follows the
 * heaviest wait of each holder, from a thread that nobody else's chain comes through; a holder that is known
 * by its process alone is taken to be its main thread. A chain that comes back is a cycle; it is a deadlock
 * where each of its waits is for a lock or a turnstile that a named thread held.
 *
 * Order: the frontmost application's main thread first, then the longest chain, then the most weight.
 */
#ifndef SP_WAITS_H
#define SP_WAITS_H

#include "analysis/select.h"
#include "analysis/thread_info.h"

struct sp_wait {
    uint32_t waiter; /* in threads */
    uint32_t on;     /* what it is: "turnstile", "unfair lock", …; strings of the profile */
    uint32_t text;   /* as the profiler says it */
    uint32_t state;  /* x_state */
    int64_t weight;
    int64_t holder_pid, holder_tid; /* SP_ABSENT: not stated */
    uint32_t holder_name;
    uint32_t
        holder; /* in threads: the named one, or its process's main thread; SP_NONE: not in the profile */
    bool by_process; /* the holder's thread is a guess */
    bool lock;       /* of the kinds that make a deadlock */
};

struct sp_wait_thread {
    int64_t pid, tid;
    uint32_t comm;     /* string of the profile */
    uint32_t context;  /* one of its contexts */
    int64_t weight;    /* of the thread, in any state */
    int64_t waiting;   /* of it with a wait that says for what */
    uint32_t first, n; /* slice of waits, heaviest first */
    bool asked;        /* it is in the selection; others are there for the chains through them */
    bool frontmost;    /* the main thread of the application in front */
    uint32_t depth;    /* waits on its chain */
    bool cyclic;       /* its chain ends in a cycle */
};

struct sp_wait_chain {
    uint32_t first, n; /* slice of steps: numbers of waits */
    uint32_t cycle;    /* the step that its end comes back to; SP_NONE: none */
    bool deadlock;
};

struct sp_waits {
    const struct sp_profile *profile;
    struct sp_thread_info info;
    SP_VEC(struct sp_wait_thread) threads;
    SP_VEC(struct sp_wait) waits;
    SP_VEC(uint32_t) order; /* threads with waits, of those asked about */
    SP_VEC(struct sp_wait_chain) chains;
    SP_VEC(uint32_t) steps;
    bool counts_samples; /* weights are numbers of samples, else of the selection's metric and scale */
    unsigned scale;
    int64_t weight, waiting, unexplained; /* of the selection; with a reason; off the CPU without one */
    struct sp_map by_tid;
};

/*
 * The waits of the threads of a selection, and the chains that begin there. `whole`: what chains may go on
 * through, the same event without filters; NULL: the selection is that. SPAA_ERR_USAGE, reported, where the
 * profile does not tell threads and states apart.
 */
spaa_status sp_waits_of(const struct sp_selection *s, const struct sp_selection *whole, struct sp_diags *d,
                        struct sp_waits *out);
void sp_waits_free(struct sp_waits *w);
/* Reports that the names and fields of tracepoints are lost (sp_sched_names_lost). */
void sp_waits_refuse_lost(struct sp_diags *d);
/* Reports what the profile holds instead of waits, and which recording has them. */
void sp_waits_refuse(const struct sp_selection *s, struct sp_diags *d);

#endif
