/*
 * The brief of a hang report (spindump, sample): what happened to whom, and what its main thread did
 * meanwhile.
 */
#ifndef SP_SUMMARY_HANG_H
#define SP_SUMMARY_HANG_H

#include "analysis/waits_held.h"
#include "answer/answer.h"
#include "json/json.h"

struct sp_summary;
struct sp_summary_hang;

/* What the header of a report says; texts are the answer's, NULL: not said. Numbers SP_ABSENT likewise. */
struct sp_hang_event {
    const char *event;              /* "hang", "cpu usage" */
    const char *action;             /* "Process killed"; NULL: none was taken */
    const char *measured, *allowed; /* what was exceeded: "90 seconds cpu time over 130 seconds (69% …)" */
    double times;             /* the rate that was measured, in parts of the one allowed; 0: not known */
    const char *unresponsive; /* "3 seconds": before sampling began */
    const char *duration, *sampled; /* "7.23s" */
    const char *steps;              /* "200 (10ms sampling interval)" */
    int64_t lost;                   /* steps */
    const char *command;
    int64_t pid;
    bool microstackshots; /* samples are of threads that ran, and of no others */
};

enum sp_hang_verdict {
    SP_HANG_UNKNOWN, /* it ran or waited, which is not stated */
    SP_HANG_RAN,
    SP_HANG_STARVED,
    SP_HANG_WAITED,
    SP_HANG_SUSPENDED,
    SP_HANG_IDLE, /* it waited for events: it could have answered */
};

struct sp_summary_hang {
    bool known;  /* it is a report */
    bool states; /* that tells what threads did; else their innermost functions may */
    struct sp_hang_event e;
    struct sp_str process;  /* n 0: which one is meant is not known */
    struct sp_str instance; /* which of several of its number and name; n 0: there is one */
    int64_t pid, tid;       /* of it and its main thread */
    uint32_t among;   /* so many processes had its number, and which one is meant is not known; 0: it is */
    uint32_t context; /* one of its main thread's; SP_NONE: it has no samples */
    const char
        *also; /* "B [100], C [7]": others in front, where it is the first of these; NULL. The answer's */
    int64_t footprint, footprint_before;
    bool own_rows; /* the table of own functions is of what ran */

    enum sp_hang_verdict verdict;
    struct sp_held main; /* weight 0: nothing is known of it */
    int64_t weight;      /* of the verdict */
    uint32_t nested;     /* in main.path: its own function that runs a run loop, and waits in it; SP_NONE */

    /* What it waited for. */
    uint32_t wait, steps; /* in w.waits, SP_NONE: nothing is stated; how many waits lead to the last holder */
    uint32_t last;        /* the wait of that, in w.waits */
    const struct sp_wait_chain *deadlock; /* that it ends in, or that it mostly waits for; NULL: none */
    const struct sp_wait_chain *ring;     /* of threads that wait for each other, it among them; NULL: none */
    bool in_ring;                         /* it is a part of the deadlock */
    const struct sp_wait_chain *beside;   /* a deadlock of other threads of the process; NULL: none */
    int64_t holder_tid;                   /* the last holder; SP_ABSENT: the report does not have it */
    struct sp_held holder;

    /* Who ran most, beside it; of microstackshots, all. */
    const char *others;
    bool others_meanwhile; /* of the steps in which it was ready; else of all */

    struct sp_selection s; /* all of the event, in any state */
    struct sp_waits w;
    struct sp_held_rows rows;
    struct sp_own own;
    bool selected, has_waits, has_own;
};

/* summary_hang.c: x->hang; nothing of other profiles. */
spaa_status sp_summary_hang(struct sp_summary *x);
void sp_summary_hang_free(struct sp_summary *x);

/* summary_hang_process.c: the metric is what a microstackshot stands for; a process of a report that did
 * nothing but wait has a brief, too. */
spaa_status sp_summary_hang_choose(struct sp_ask *q, struct sp_select_opts *how);
/* process, pid, among, and what is told of its memory; which context is of its main
 * thread. */
spaa_status sp_summary_hang_process(struct sp_summary *x);
spaa_status sp_summary_hang_main(struct sp_summary *x);
/* "sh, cc": the processes of the number that is meant. */
void sp_summary_hang_names(struct sp_buf *b, const struct sp_summary *x);
/* "sh [99] executed cc [99], …": of the process that is meant, or of the one that it waited for. */
void sp_summary_hang_execed(struct sp_buf *b, const struct sp_summary *x);

/* summary_hang_ran.c: "cc [500] 200, mds [77] 150": of what ran, by process, without that of a number
 * (SP_ABSENT: all); NULL: nothing. The answer's. */
const char *sp_summary_hang_ran(struct sp_summary *x, int64_t but);

/* summary_hang_event.c: e of the header's fields, a list of [key, value]. */
void sp_hang_event_of(struct sp_summary *x, struct sp_span fields, struct sp_hang_event *e);

/* summary_hang_head.c: lines; nothing where there is nothing to say. */
void sp_summary_hang_head(struct sp_buf *b, const struct sp_summary *x);
void sp_summary_hang_memory(struct sp_buf *b, const struct sp_summary *x);
void sp_summary_hang_also_in_front(struct sp_buf *b, const struct sp_summary *x);
/* summary_hang_words.c */
size_t sp_summary_hang_details(struct sp_summary *x); /* lines beside what happened, and the verdict */
/* At most so many details: the first are the weightiest. */
void sp_summary_hang_lines(struct sp_summary *x, size_t details,
                           void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line),
                           void *arg);
/* "in 170 of 200 samples (85 %)" */
void sp_hang_share(struct sp_buf *b, const struct sp_summary *x, int64_t v, int64_t of);
void sp_hang_thread(struct sp_buf *b, const struct sp_summary *x, int64_t tid); /* as reports print it */
/* summary_hang_deadlock.c */
void sp_summary_hang_deadlock(struct sp_buf *b, const struct sp_summary *x);
void sp_summary_hang_ring(struct sp_buf *b, const struct sp_summary *x);
void sp_summary_hang_beside(struct sp_buf *b, const struct sp_summary *x);
/* "Editor [412] 0x1a02" */
void sp_hang_holder(struct sp_buf *b, const struct sp_summary *x, const struct sp_wait *w);
bool sp_hang_has_holder(const struct sp_wait *w);
/* It is for a process to end, whatever its threads do. */
bool sp_hang_is_child(const struct sp_summary *x, const struct sp_wait *w);
/* summary_hang_unknowns.c */
void sp_summary_hang_unknowns(struct sp_summary *x); /* cautions */
void sp_summary_hang_next(struct sp_summary *x);
/* summary_hang_facts.c */
void sp_summary_hang_put(struct sp_summary *x);

#endif
