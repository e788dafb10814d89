/*
 * What a thread of macOS does by where it was seen, for reports that do not state it: leaf_states.def, the
 * one table of functions in which threads wait, and of what processors do without work.
 */
#ifndef SP_LEAF_STATE_H
#define SP_LEAF_STATE_H

#include "base/strtab.h"

#include <stdbool.h>

/*
 * The word of x_state of a thread whose innermost function this is; NULL: the name does not tell, it may run
 * or not. dso: the image it is in, a name or a path, empty where that is not known.
 */
const char *sp_leaf_state(struct sp_str function, struct sp_str dso, bool kernel);
/* Whether a thread is, by its name, one that a processor runs when there is nothing to do: "idle #3". */
bool sp_is_idle_thread(struct sp_str name);

#endif
