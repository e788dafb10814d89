/* The parts of waits_reported.c: what hang reports say of waits, as rows and as chains. */
#ifndef SP_WAITS_REPORTED_H
#define SP_WAITS_REPORTED_H

#include "analysis/waiters.h"
#include "analysis/waits_held.h"
#include "ask/waits_parts.h"

struct sp_reported {
    struct sp_asked a;
    struct sp_selection whole; /* the event, where filters narrow it */
    bool narrowed;
    struct sp_waits w;
    struct sp_waiters ws;
    struct sp_held_rows held;
    int64_t disk;         /* of what waited for nothing named: for the disk */
    size_t limit, chains; /* rows to show */
};

/* Columns of a waiter, and of a wait with its holder. */
enum { WHO_PROCESS, WHO_PID, WHO_TID, WHO_THREAD_NAME, WHO_QUEUE, WHO_POOL, WHO_THREADS, WHOS };
#define WHO_COLUMNS(at)                                                                                      \
    [(at) + WHO_PROCESS] = {"process", SP_COL_TEXT, .doc = "the waiter's process"},                          \
            [(at) + WHO_PID] = {"pid", SP_COL_COUNT, .doc = "its number"},                                   \
            [(at) + WHO_TID] = {"tid", SP_COL_COUNT, .doc = "the thread; null: several of a pool"},          \
            [(at) + WHO_THREAD_NAME] = {"thread_name", SP_COL_TEXT, .doc = "the thread's name"},             \
            [(at) + WHO_QUEUE] = {"queue", SP_COL_TEXT, .doc = "the queue that it served"},                  \
            SP_POOL_COLUMNS((at) + WHO_POOL)

enum {
    WAIT_ON,
    WAIT_STATE,
    WAIT_WEIGHT,
    WAIT_SAMPLES,
    WAIT_TEXT,
    WAIT_HOLDER,
    WAIT_HOLDER_PID,
    WAIT_HOLDER_TID,
    WAIT_HOLDER_KNOWN,
    WAIT_HOLDER_PROCESSES,
    WAIT_HOPS,
    WAIT_PERCENT,
    WAIT_COLUMNS
};
#define WAIT_COLUMNS_AT(at)                                                                                  \
    [(at) +                                                                                                  \
        WAIT_ON] = {"on", SP_COL_TEXT, .doc = "what is waited for: turnstile, unfair lock, …"},              \
        [(at) + WAIT_STATE] = {"state", SP_COL_TEXT, .doc = "the thread's state"},                           \
        [(at) + WAIT_WEIGHT] = {"weight", SP_COL_WEIGHT, .doc = "weight that waited so"},                    \
        [(at) + WAIT_SAMPLES] = {"samples", SP_COL_WEIGHT,                                                   \
                                 .doc = "the same where the metric counts samples; else null"},              \
        [(at) + WAIT_TEXT] = {"text", SP_COL_TEXT, .doc = "as the profiler says it"},                        \
        [(at) + WAIT_HOLDER] = {"holder.process", SP_COL_TEXT,                                               \
                                .doc = "who held it; members are null where that is not stated"},            \
        [(at) + WAIT_HOLDER_PID] = {"holder.pid", SP_COL_COUNT, .doc = "its process's number"},              \
        [(at) + WAIT_HOLDER_TID] = {"holder.tid", SP_COL_COUNT, .doc = "its thread"},                        \
        [(at) +                                                                                              \
            WAIT_HOLDER_KNOWN] = {"holder.in_profile", SP_COL_BOOL, .doc = "the profile has samples of it"}, \
        [(at) + WAIT_HOLDER_PROCESSES] = {"holder.processes", SP_COL_COUNT,                                  \
                                          .doc = "so many processes of that number, one after the other, "   \
                                                 "may be it, 16: or more; null: it is known"},               \
        [(at) + WAIT_HOPS] = {"hops", SP_COL_COUNT,                                                          \
                              .doc = "so many waits of threads that are not named lie between it and "       \
                                     "the holder; null: not stated"},                                        \
        [(at) + WAIT_PERCENT] = {"percent_of_thread", SP_COL_NUMBER, .doc = "share of its threads' weight"}

/* A thread, or so many threads of a pool; `of`: one of them. */
void sp_reported_put_waiter(struct sp_reported *x, struct sp_answer_table *t, uint32_t of, uint32_t pool,
                            uint32_t threads);
void sp_reported_put_wait(struct sp_reported *x, struct sp_answer_table *t, size_t at,
                          const struct sp_wait *w, int64_t weight);
/* "Safari [412] 0x3fd504", "main.main 1": in the digits that the profiler prints. */
void sp_reported_say_thread(const struct sp_reported *x, struct sp_buf *b, struct sp_str name, int64_t pid,
                            int64_t tid);
void sp_reported_say_waiter(struct sp_reported *x, struct sp_buf *b, uint32_t of, uint32_t pool,
                            uint32_t threads);
void sp_reported_say_weight(struct sp_reported *x, struct sp_buf *b, int64_t v);
struct sp_str sp_reported_comm(const struct sp_reported *x, const struct sp_wait_thread *t);

/* waits_reported_words.c: chains in words. */
const struct sp_wait *sp_reported_step(const struct sp_reported *x, const struct sp_wait_chain *c,
                                       uint32_t k);
const char *sp_reported_kind(const struct sp_reported *x, const struct sp_wait_chain *c);
/* "deadlock: Editor [10] 0xa1 -(turnstile)-> Helper [20] 0xb2" */
void sp_reported_say_chain(struct sp_reported *x, struct sp_buf *b, const struct sp_waiter_chain *from);
/* At how many steps the waits of a ring were there at once, as far as it is known. */
void sp_reported_say_steps(struct sp_buf *b, const struct sp_wait_chain *c);
/* Behind that: why this is no deadlock. */
void sp_reported_say_why_none(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c);
/* Of a deadlock that is likely only: what speaks against it. */
void sp_reported_say_doubt(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c);
/* "all waits are there at once from step 31 to the end, in 70 of 100 steps" */
void sp_reported_say_to_end(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c);
/* What the kind of a chain rests on; nothing of one that comes to an end. */
void sp_reported_say_evidence(struct sp_reported *x, struct sp_buf *b, const struct sp_wait_chain *c);
/* "  Editor [10] 0xb2 worker ran 8 of 10 meanwhile, in parse > lex"; apart: not all waits of its chain were
 * then. */
void sp_reported_say_held(struct sp_reported *x, struct sp_buf *b, const struct sp_wait_thread *t,
                          const struct sp_held *h, bool apart);
/* "it waited for the disk (buf_biowait)", by what functions of the kernel tell */
void sp_reported_say_disk(struct sp_buf *b, const struct sp_profile *p, const struct sp_held *h);
extern const char *const sp_reported_did[SP_HELD_STATES];
enum { SP_REPORTED_HOLDERS = 4 /* that people are shown of one chain */ };

/* waits_reported_chains.c */
void sp_reported_put_chains(struct sp_reported *x);
int64_t sp_reported_deadlocks(const struct sp_reported *x); /* rings; several chains may lead into one */

#endif
