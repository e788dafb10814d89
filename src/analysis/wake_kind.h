/* What a function of the kernel in the stack of a waking says of who woke: not always the thread that runs.
 */
#ifndef SP_WAKE_KIND_H
#define SP_WAKE_KIND_H

#include "base/strtab.h"

enum sp_wake_kind {
    SP_WAKE_BY_TIMER = 1,
    SP_WAKE_BY_INTERRUPT = 2, /* of a device, or of a timer */
    SP_WAKE_BY_SIGNAL = 4,
    SP_WAKE_BY_EXIT = 8,
    SP_WAKE_BY_REMOTE = 16, /* of another CPU, whose thread is not known: it is done here for it */
};

/* Bits of these, by the name of a function; 0: it says nothing, the running thread wakes. */
unsigned sp_wake_kind(struct sp_str function);

#endif
