/*
 * Why a thread waited: by the functions of the kernel and of libraries in the stack at which it left the CPU,
 * and by its state. One table of rules, wait_reasons.def.
 *
 * The kernel's functions decide, but for a futex, which locks and conditions share: there what is above
 * decides, up to the program's own function. Where the kernel is not in the stack, that is all there is.
 */
#ifndef SP_WAIT_REASON_H
#define SP_WAIT_REASON_H

#include "analysis/own.h"
#include "analysis/select.h"
#include "model/intervals.h"

enum sp_wait_reason {
    SP_WAIT_OTHER, /* no rule fits */
    SP_WAIT_LOCK,
    SP_WAIT_CONDITION,
    SP_WAIT_SLEEP,
    SP_WAIT_POLL,
    SP_WAIT_DISK,
    SP_WAIT_NETWORK,
    SP_WAIT_FAULT,
    SP_WAIT_PIPE,
    SP_WAIT_CHILD,
    SP_WAIT_CPU, /* RUN_QUEUE: it was preempted, or woken, and waited for a CPU */
    SP_WAIT_STOPPED,
    SP_WAIT_FUTEX,     /* a lock or a condition: what tells them apart is missing */
    SP_WAIT_ALLOCATOR, /* a lock of malloc and its like, taken to allocate or to free */
    SP_WAIT_REASONS,
};
extern const char *const sp_wait_reason_names[]; /* in enum order: "lock" */
static inline bool sp_wait_is_lock(unsigned reason)
{
    return reason == SP_WAIT_LOCK || reason == SP_WAIT_ALLOCATOR;
}

struct sp_wait_why {
    uint8_t reason;     /* enum sp_wait_reason */
    bool idle;          /* it waited for work: nobody would have been served sooner without this wait */
    bool idle_unsure;   /* with idle: by what else the thread does; nothing shows that nobody worked for it */
    bool idle_unproven; /* with idle_unsure: only as no wakings were recorded, which could have shown it */
    bool idle_judged;   /* with idle: by what else the thread does, not by its stack alone */
    bool gap;           /* between `function` and `call` callers are missing */
    bool unseen;        /* its stack has no frame with a name: where it left the CPU was not recorded */
    bool at_least;      /* some of its waits are longer than what was seen (wait_bounds.h) */
    bool unsure;        /* the reason is the likely one: callers are missing that would tell */
    bool shared;        /* a lock that several may have at once, and that is wanted for itself alone */
    bool timed;         /* it may give up by itself after some time */
    uint32_t function;  /* the program's own one that waited: the leafmost own frame; SP_NONE */
    uint32_t call; /* the function of a library or of the kernel that says why: pthread_mutex_lock; SP_NONE */
    uint32_t frame; /* that of `function` in the stack, which has its line; SP_NONE */
};

struct sp_wait_reasons {
    struct sp_wait_why *of; /* per stack of the profile; of those of other events: reason OTHER */
    size_t n;
    bool has_frames;        /* some stack has frames that say something */
    bool has_callers;       /* … more than the place itself */
    bool has_kernel_frames; /* … of the kernel */
    bool has_user_frames;   /* … of programs */
};

/*
 * Of all stacks of the selection's event, whatever its filters leave: whether a wait is idle is seen by what
 * else the thread does (wait_idle.h), and by what who ended the waits did meanwhile (wait_wakers.h). `p` is
 * the selection's profile, as sp_intervals_of takes it. `own`: what --own says (sp_own_of); NULL: nothing.
 */
spaa_status sp_wait_reasons_of(const struct sp_selection *s, struct sp_profile *p, const char *own,
                               struct sp_wait_reasons *out, struct sp_diags *d);
/* The same where the intervals are known. `v` may be empty. */
spaa_status sp_wait_reasons_with(const struct sp_selection *s, const char *own, const struct sp_intervals *v,
                                 struct sp_wait_reasons *out, struct sp_diags *d);
void sp_wait_reasons_free(struct sp_wait_reasons *w);

#endif
