/*
 * What threads of a hang report did, as shares of all samples: most of them wait, so that what runs is a
 * small part of what was counted, and the rest is to be said beside it.
 */
#ifndef SP_STATE_SHARES_H
#define SP_STATE_SHARES_H

#include "model/profile.h"

enum sp_state_share {
    SP_SHARE_RUNNING,
    SP_SHARE_RUNNABLE, /* ready, waiting for a CPU */
    SP_SHARE_BLOCKED,
    SP_SHARE_WAITING,
    SP_SHARE_SUSPENDED,
    SP_SHARE_IDLE,
    SP_SHARE_UNKNOWN,  /* the state's text is not understood */
    SP_SHARE_UNSTATED, /* none is stated, and the leaf does not tell */
    SP_SHARES
};
/* "running", …, in that order; the words of x_state that are meant, by commas; "" for none. */
extern const char *const sp_share_names[];
extern const char *const sp_share_states[];

/* What a word of x_state is: the one place that says which words mean that a thread ran. */
enum sp_state_share sp_state_share_of(struct sp_str state);

struct sp_state_shares {
    int64_t of[SP_SHARES], whole; /* weight */
    bool known;                   /* the event is a hang report's, and has states */
};

/* Events of spindump and sample(1), which see threads whether they run or not. */
bool sp_is_of_hangs(const struct sp_profile *p, uint32_t event);
/* Of these, what holds microstackshots alone: they are taken of threads that run, in whatever function. */
bool sp_is_of_microstackshots(const struct sp_profile *p, uint32_t event);
/* Of contexts that `fits` has a byte for, all but their states being asked for. */
void sp_state_shares_of(const struct sp_profile *p, uint32_t event, uint32_t metric,
                        const unsigned char *fits, struct sp_state_shares *out);

#endif
