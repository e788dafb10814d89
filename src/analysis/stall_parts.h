/* The parts of the search for stalls: see stall.h. */
#ifndef SP_STALL_PARTS_H
#define SP_STALL_PARTS_H

#include "analysis/stall.h"

/* A wait that may be part of a stall. */
struct stall_wait {
    uint32_t interval;
    uint32_t group, function;
    uint8_t reason;
    bool maybe; /* what is left unjudged, where there is much of it */
};

/* Why processes of one thread each are one group; bits. */
enum stall_joined { STALL_JOINED_BY_NAME = 1, STALL_JOINED_BY_LOCK = 2 };

struct stall_work {
    const struct sp_stall_input *in;
    const struct sp_intervals *v;
    struct sp_stalls *out;
    uint32_t *group;       /* per thread: the first thread of its program */
    unsigned char *joined; /* per thread: its group is of several processes; enum stall_joined */
    int64_t *over;         /* per group: when the last of it is seen; INT64_MAX: it is of several processes */
    uint32_t *cpu_first;   /* per CPU, and one: slice of on_cpu */
    uint32_t *on_cpu;      /* running intervals by CPU, start */
    int64_t *sum, *sum_own;          /* scratch, per thread: zero between calls */
    SP_VEC(struct stall_wait) waits; /* by group, reason, function, start */
};

static inline int64_t stall_length(const struct sp_interval *i)
{
    return i->end - i->start;
}
/* An episode is partly in the time that is asked about. */
static inline bool stall_in_time(const struct stall_work *w, const struct sp_stall *s)
{
    return !w->in->timed || (s->start < w->in->to && s->end > w->in->from);
}
/* The filters leave its stack. */
static inline bool stall_is_selected(const struct stall_work *w, const struct sp_interval *i)
{
    return !w->in->selected || (i->stack < w->in->stacks && w->in->selected[i->stack]);
}
/* … and it is partly in the time that is asked about. */
static inline bool stall_is_asked(const struct stall_work *w, const struct sp_interval *i)
{
    return stall_is_selected(w, i) && (!w->in->timed || (i->start < w->in->to && i->end > w->in->from));
}
/* A wait of an episode, by when they ended. */
static inline const struct sp_interval *stall_wait_of(const struct stall_work *w, const struct sp_stall *s,
                                                      uint32_t k)
{
    return &w->v->v.v[w->out->waits.v[s->waits.first + k]];
}
/* How much of an interval is in [from, to). */
static inline int64_t stall_overlap(const struct sp_interval *i, int64_t from, int64_t to)
{
    int64_t a = i->start > from ? i->start : from, b = i->end < to ? i->end : to;
    return b > a ? b - a : 0;
}

/* The same of what is certain of it. */
static inline int64_t stall_certain(const struct sp_interval *i, int64_t from, int64_t to)
{
    return stall_overlap(i, from, to < i->until ? to : i->until);
}

/* Of a thread, ns of running in [from, to). */
int64_t stall_ran(const struct sp_intervals *v, uint32_t thread, int64_t from, int64_t to);
/* The thread that woke it; SP_NONE: not known, or *how is not THREAD. */
uint32_t stall_waker(const struct stall_work *w, const struct sp_interval *i, enum sp_stall_wakes *how);
/* The wait did not end, or with its thread alone: at the end of the recording, or of the process. */
bool stall_not_ended(const struct stall_work *w, const struct sp_interval *i);
/* Why a thread waited; never NULL. */
const struct sp_wait_why *stall_why(const struct stall_work *w, const struct sp_interval *i);

/* w->group, w->joined; false: out of memory. */
bool stall_find_groups(struct stall_work *w);
/* Each adds to w->out; false: out of memory. */
bool stall_find(struct stall_work *w);
bool stall_find_open(struct stall_work *w);
bool stall_holders(struct stall_work *w);
/* Of a lock: s->holds, hands, handovers. *unknown: ns of the longest span whose holder is not recorded. */
bool stall_holds_of(struct stall_work *w, struct sp_stall *s, int64_t *unknown);
void stall_split_of(struct stall_work *w, uint32_t thread, int64_t from, int64_t to,
                    struct sp_stall_split *out);
bool stall_takers_of(struct stall_work *w, struct sp_stall *s);
bool stall_links_of(struct stall_work *w, struct sp_stall *s);
bool stall_path_of(struct stall_work *w, struct sp_stall *s);
bool stall_edges(struct stall_work *w);
bool stall_sets(struct stall_work *w);

#endif
