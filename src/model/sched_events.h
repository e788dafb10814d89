/*
 * The events of the Linux scheduler among the raw samples of a profile, whatever reader they came from: by
 * the name of their event and the fields of the tracepoint, which are labels of samples (model/labels.h).
 *
 * Source: the kernel's include/trace/events/sched.h. sched_switch is taken on the CPU that switches, before
 * the next thread runs; sched_waking where the waker runs; sched_wakeup later, where the woken thread is put
 * on a run queue.
 */
#ifndef SP_SCHED_EVENTS_H
#define SP_SCHED_EVENTS_H

#include "model/profile.h"
#include "model/samples.h"

enum sp_sched_kind {
    SP_SCHED_OTHER, /* no event of the scheduler, or one without its fields */
    SP_SCHED_SWITCH,
    SP_SCHED_WAKING,
    SP_SCHED_WAKEUP,
    SP_SCHED_WAKEUP_NEW,
    SP_SCHED_MIGRATE,
    SP_SCHED_FORK,
    SP_SCHED_EXIT,
    SP_SCHED_EXEC,
    SP_SCHED_RECORD, /* PERF_RECORD_SWITCH and SWITCH_CPU_WIDE: a thread comes onto a CPU, or leaves it */
    SP_SCHED_LOST,   /* PERF_RECORD_LOST: events of a CPU are missing before this */
    SP_SCHED_KINDS,
};

/*
 * What a reader of perf's recordings calls the events whose samples stand for such records. A sample has the
 * label `switch`: "in", "out" or "preempted", no stack, and no weight.
 */
#define SP_SCHED_RECORD_EVENT "PERF_RECORD_SWITCH"
#define SP_SCHED_LOST_EVENT   "PERF_RECORD_LOST"

/* Why a thread left the CPU: the prev_state of sched_switch. */
enum sp_task_state {
    SP_TASK_RUNNABLE, /* it was put off the CPU, and would go on */
    SP_TASK_SLEEPING,
    SP_TASK_UNINTERRUPTIBLE,
    SP_TASK_STOPPED,
    SP_TASK_IDLE, /* a thread of the kernel without work */
    SP_TASK_DEAD, /* it exits */
    SP_TASK_UNKNOWN,
};

/* The bits, since Linux 4.14 (0x100: put off the CPU) and before (0x402: idle threads of the kernel). */
enum sp_task_state sp_task_state_of_bits(uint64_t prev_state);
/* As perf script and trace-cmd print them: "S", "D", "R+", "X|K", "I". */
enum sp_task_state sp_task_state_of_text(const char *s, size_t n);
/* The word of x_state: RUN_QUEUE, WAITING, BLOCKED, SUSPENDED, IDLE, UNKNOWN. */
const char *sp_task_state_name(enum sp_task_state s);

struct sp_sched_event {
    enum sp_sched_kind kind;
    enum sp_task_state state;      /* of SWITCH: prev's */
    int64_t prev, next;            /* of SWITCH: tids; 0: the idle task of the CPU */
    int64_t target;                /* of the others: the tid that is woken, moved, made, that exits; of EXEC
                                      prev is the tid that it had until then */
    bool in;                       /* of RECORD: it comes; else it leaves for `state` */
    int64_t from_cpu, to_cpu;      /* of MIGRATE; to_cpu of WAKING and the like: target_cpu; else SP_ABSENT */
    uint32_t prev_comm, next_comm; /* texts of the profile; of the others next_comm is the target's */
};

/* The kind of an event by its name: "sched:sched_switch", also with modifiers behind it, ":u". */
enum sp_sched_kind sp_sched_kind_of(struct sp_str event);
/* Some event of the profile is a switch, of threads that leave and come. */
bool sp_sched_has(const struct sp_profile *p, enum sp_sched_kind kind);
/* Some event is a tracepoint with a number and no name ("tracepoint:372"): the end of the recording is lost.
 */
bool sp_sched_names_lost(const struct sp_profile *p);
/*
 * Reads samples of a profile. What they say is decoded once for each distinct text. Not thread-safe, since
 * labels are made. Zeroed: nothing to free.
 */
struct sp_sched_reader {
    struct sp_profile *p;
    enum sp_sched_kind *kinds;       /* by event */
    size_t events, texts;            /* how long kinds is, and each of `known` */
    uint32_t *known[SP_SCHED_KINDS]; /* by kind and text of a context: 1 + number in list */
    SP_VEC(struct sp_sched_event) list;
    bool has[SP_SCHED_KINDS]; /* kinds of which there are events */
};
bool sp_sched_reader_init(struct sp_sched_reader *r, struct sp_profile *p); /* false: out of memory */
void sp_sched_reader_free(struct sp_sched_reader *r);
static inline enum sp_sched_kind sp_sched_kind(const struct sp_sched_reader *r, const struct sp_sample *x)
{
    return x->event < r->events ? r->kinds[x->event] : SP_SCHED_OTHER;
}
/* What a sample says, lent until the next; kind SP_SCHED_OTHER: nothing. NULL: out of memory. */
const struct sp_sched_event *sp_sched_read(struct sp_sched_reader *r, const struct sp_sample *x);

#endif
