/* What a writer says of what its format has no place for. */
#ifndef SP_LEFT_OUT_H
#define SP_LEFT_OUT_H

#include "formats/format.h"

/*
 * How many thread states the stacks of an event have, and their names in words: "BLOCKED, IDLE". None is one,
 * too. SIZE_MAX: out of memory.
 */
size_t sp_states_of(const struct sp_profile *p, uint32_t event, struct sp_buf *names);
/*
 * For formats without thread states: says which ones of an event (SP_NONE: of each) are added up, unless that
 * was asked for. SPAA_ERR_NOMEM is reported.
 */
spaa_status sp_say_states_added(const struct sp_profile *p, const struct sp_write_opts *opts, uint32_t event,
                                struct sp_diags *d);
/*
 * For formats of one event: says which others have stacks, branches (`lbr`) among them, unless one was asked
 * for. what: "a folded file".
 */
spaa_status sp_say_events_left(const struct sp_profile *p, const struct sp_write_opts *opts, uint32_t written,
                               const char *what, struct sp_diags *d);

#endif
