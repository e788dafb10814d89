/* What a profile of memory says of itself that casts doubt on who owns what in it. */
#ifndef SP_MEMORY_DOUBTS_H
#define SP_MEMORY_DOUBTS_H

#include "model/profile.h"

/* massif's last snapshot has no stacks: who holds what is live at the end was not recorded. */
bool sp_end_without_stacks(const struct sp_profile *p);
/* Source files stand without folders, so that inlined functions of libraries may look like the program's. */
bool sp_files_without_folders(const struct sp_profile *p);
/* Stacks of LeakSanitizer that end before where threads begin; 0: none, or another profiler's. */
uint64_t sp_leak_stacks_cut(const struct sp_profile *p);

#endif
