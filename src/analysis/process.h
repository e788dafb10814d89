/* The names of processes: the command of the main thread, else of the first thread that has a name. */
#ifndef SP_PROCESS_H
#define SP_PROCESS_H

#include "base/buf.h"
#include "model/profile.h"

struct sp_process {
    int64_t pid, tid; /* of the thread that names it */
    uint32_t comm;
    uint32_t lives; /* processes that had the number one after the other, as far as is told; at least 1 */
    bool told;      /* a name is told of the process, which need not be that of a thread */
    bool shared;    /* of other names, which are told of the processes, not of their threads */
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
/* The same of a context: where a number was of several of different names, the one that it is of. */
struct sp_str sp_process_name_of(const struct sp_profile *p, const struct sp_processes *x,
                                 const struct sp_context *c);
/* Which of the processes of its number a context is of, in words behind the name: "started 2026-…"; "": there
 * is one, or it is not told. */
struct sp_str sp_process_instance(const struct sp_profile *p, const struct sp_context *c);
/* "Server (pid 77, started 2026-…)": several of one number are told apart as far as the profile does it. */
void sp_process_text(const struct sp_profile *p, const struct sp_processes *x, const struct sp_context *c,
                     struct sp_buf *b);

#endif
