/* Time windows (struct sp_window): their ids as text, and the order of their rows. */
#ifndef SP_WINDOWS_H
#define SP_WINDOWS_H

#include "base/buf.h"
#include "model/profile.h"

/* The id as text: a string decoded, a number as it is written. False: out of memory. */
bool sp_window_id(const struct sp_profile *p, const struct sp_window *w, struct sp_buf *out);
/* A string as such an id; SP_STR_FAIL: out of memory. */
uint32_t sp_window_id_of(struct sp_profile *p, const char *text, size_t n);
/* Rows of windows, each of a stack, into the order that stacks are written in, which get ids for it. */
spaa_status sp_windows_order(struct sp_profile *p);

#endif
