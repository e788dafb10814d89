/* What the state of a hang report says of a wait: "turnstile waiting for Safari [412] thread 0x3fd5". */
#ifndef SP_HANG_WAIT_H
#define SP_HANG_WAIT_H

#include "model/facts.h"
#include "json/json.h"

/*
 * The wait (an sp_context.wait) that a state's text means beside its word of x_state; 0 where it is none: of
 * threads that run, and of suspended ones that name nobody. SP_NONE: no memory.
 */
uint32_t sp_hang_wait(struct sp_profile *p, struct sp_str word, struct sp_span text);

#endif
