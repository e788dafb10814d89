/* whatif, in parts: what it knows, and its lines for people. */
#ifndef SP_WHATIF_WORDS_H
#define SP_WHATIF_WORDS_H

#include "ask/common.h"
#include "ask/said_names.h"
#include "ask/whatif_changes.h"

struct sp_whatif_question {
    struct sp_asked *x;
    struct sp_changes changes;
    struct sp_whatif w;
    struct sp_said_names said;
    size_t limit;
    bool cpu; /* weights are CPU time */
};

enum { SP_SPEEDUP_DIGITS = 4, SP_SPEEDUP_UNIT = 10000 };
/* before / after in such units; a bound is not rounded below what it is. */
int64_t sp_whatif_speedup(double before, double after, bool bound);

/* "CPU 2.30 s → 1.20 s at least (÷ 1.92 at most): validate 2× as fast". */
void sp_whatif_say_head(struct sp_whatif_question *x);
/* How sure that is, of samples; and which end is what where callers are missing. */
void sp_whatif_say_doubt(struct sp_whatif_question *x);
/* Of CPU time: the busiest threads, now and then, and what that has left. */
void sp_whatif_say_wall(struct sp_whatif_question *x, struct sp_str before, struct sp_str after,
                        int64_t least);
void sp_whatif_say_assumptions(struct sp_whatif_question *x);

#endif
