/* Why a Go program was ended by its runtime, as a dump of goroutines says it. */
#ifndef SP_GO_FATAL_H
#define SP_GO_FATAL_H

#include "base/buf.h"
#include "model/profile.h"

/* "fatal error: all goroutines are asleep - deadlock!", appended; false: nothing is said, or out of memory.
 */
bool sp_go_fatal(const struct sp_profile *p, struct sp_buf *out);
/* It says that nobody can go on. */
bool sp_go_is_deadlock(const struct sp_profile *p);

#endif
