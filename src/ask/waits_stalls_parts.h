/* Stalls as words and as tables: see waits_stalls.c. */
#ifndef SP_WAITS_STALLS_PARTS_H
#define SP_WAITS_STALLS_PARTS_H

#include "analysis/stall.h"
#include "ask/waits_parts.h"
#include "model/interval_losses.h"

#define NAMES_SHOWN 4

struct stalls {
    struct sp_asked *a;
    const struct sp_intervals *v;
    const struct sp_wait_reasons *why;
    struct sp_stalls s;
    struct sp_pools pools;
    int64_t zero;      /* what times are relative to */
    bool stacks;       /* some wait has callers */
    bool waker_stacks; /* some waking has one */
    uint32_t *pool;    /* per thread of v: number in pools.pools; SP_NONE */
};

static inline const struct sp_stall *stalls_member(const struct stalls *x, const struct sp_stall_set *set,
                                                   uint32_t k)
{
    return &x->s.v.v[x->s.order.v[set->members.first + k]];
}
/* What it was blocked by longest: enum sp_wait_reason. */
static inline uint8_t stalls_blocked_by(const struct sp_stall_split *p)
{
    uint8_t most = 0;
    for (uint8_t r = 1; r < SP_WAIT_REASONS; r++)
        most = p->reason[r] > p->reason[most] ? r : most;
    return most;
}
/* ns of an episode in which events were lost. */
static inline int64_t stalls_events_lost(const struct stalls *x, const struct sp_stall *s)
{
    return sp_interval_lost_within(x->v, s->start, s->end);
}
/* In how many episodes of a set events were lost; *most: ns of the one that lost most. */
static inline uint32_t stalls_set_events_lost(const struct stalls *x, const struct sp_stall_set *set,
                                              int64_t *most)
{
    uint32_t n = 0;
    *most = 0;
    for (uint32_t k = 0; k < set->members.n; k++) {
        int64_t lost = stalls_events_lost(x, stalls_member(x, set, k));
        n += lost > 0;
        *most = lost > *most ? lost : *most;
    }
    return n;
}
/* Of a set the episode that is shown in full: with the longest hold, else the longest wait. */
const struct sp_stall *stalls_longest(const struct stalls *x, const struct sp_stall_set *set);
/* Own function of the stack at which a waker let go; SP_NONE. *gap: callers below it are missing. */
uint32_t stalls_own_of(const struct stalls *x, uint32_t stack, bool *gap);
/* The command of a thread. */
struct sp_str stalls_comm(const struct stalls *x, uint32_t thread);
/* "refresher (tid 15934)" */
void stalls_say_thread(const struct stalls *x, struct sp_buf *b, uint32_t thread);
/* "all 20 http-*", "12 of 20 http-*, refresher": the threads of a set. */
void stalls_say_threads(struct stalls *x, struct sp_buf *b, const struct sp_stall_set *set);

void stalls_say_ns(struct sp_buf *b, int64_t ns); /* "160 ms" */
void stalls_say_function(const struct stalls *x, struct sp_buf *b, uint32_t function);

/* Of a set, by its longest episode: a line. */
void stalls_say_by(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s);
/* Of a set, by its longest episode that names a holder: lines. */
void stalls_say_hold(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s);
/* A line, where more threads waited for CPUs than there are. */
void stalls_say_load(struct stalls *x);
void stalls_say(struct stalls *x);
void stalls_put(struct stalls *x);

#endif
