/* The functions at which threads and processes begin. */
#ifndef SP_ENTRIES_H
#define SP_ENTRIES_H

#include "base/strtab.h"

enum sp_side { SP_SIDE_USER, SP_SIDE_KERNEL };

/* Whether a function of this name is one, by entries.def. */
bool sp_is_entry(struct sp_str name, enum sp_side side);
/* The name of the table that makes it one, the longest: all of this one or its beginning; n 0: it is none. */
struct sp_str sp_entry_of(struct sp_str name, enum sp_side side);
/* Whether threads begin in a DSO of this name: libraries that start them, and executables. */
bool sp_starts_threads(struct sp_str dso);

#endif
