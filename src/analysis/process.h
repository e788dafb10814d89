/* The names of processes: the command of the main thread, else of the first thread that has a name. */
#ifndef SP_PROCESS_H
#define SP_PROCESS_H

#include "model/profile.h"

struct sp_process {
    int64_t pid, tid; /* of the thread that names it */
    uint32_t comm;
    uint32_t lives; /* processes that had the number one after the other, as far as is told; at least 1 */
    bool of_stack;  /* a stack says so, not a record of the thread, which knows the name in the end */
};

struct sp_processes {
    SP_VEC(struct sp_process) list; /* by pid */
};

spaa_status sp_processes_of(const struct sp_profile *p, struct sp_diags *d, struct sp_processes *out);
void sp_processes_free(struct sp_processes *x);
/* The entry of a number; NULL: nothing is known. */
const struct sp_process *sp_process_find(const struct sp_processes *x, int64_t pid);
/* The name of a process; empty where it is not known. */
struct sp_str sp_process_name(const struct sp_profile *p, const struct sp_processes *x, int64_t pid);

#endif
