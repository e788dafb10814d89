/* The names of processes: the command of the main thread, else of the first thread that has a name. */
#ifndef SP_PROCESS_H
#define SP_PROCESS_H

#include "model/profile.h"

struct sp_process {
    int64_t pid, tid; /* of the thread that names it */
    uint32_t comm;
    bool of_stack; /* a stack says so, not a record of the thread, which knows the name in the end */
};

struct sp_processes {
    SP_VEC(struct sp_process) list; /* by pid */
};

spaa_status sp_processes_of(const struct sp_profile *p, struct sp_diags *d, struct sp_processes *out);
void sp_processes_free(struct sp_processes *x);
/* The name of a process; empty where it is not known. */
struct sp_str sp_process_name(const struct sp_profile *p, const struct sp_processes *x, int64_t pid);

#endif
