/*
 * What stacks count for where their leaf function says nothing: time off the CPU all ends in __schedule, and
 * events of a tracepoint at its one place in the kernel. Each row of a selection is of one kind.
 */
#ifndef SP_STACK_KINDS_H
#define SP_STACK_KINDS_H

#include "analysis/by.h"
#include "analysis/select.h"

#define SP_KIND_UNSEEN "[unknown]" /* where a thread left the CPU was not recorded */

struct sp_stack_kind {
    uint32_t text; /* in texts: "lock", or fields of an event; empty: it ran, and its function says what */
    uint32_t function; /* the own one that waited, or that ran; SP_NONE */
    bool unsure;       /* the reason of some of these waits is the likely one only */
};

struct sp_stack_kinds {
    SP_VEC(struct sp_stack_kind) list;
    SP_VEC(uint32_t) of;   /* per row of the selection: number in list */
    SP_VEC(bool) at_least; /* likewise, of waits: some of the row's are longer than what was seen */
    struct sp_strtab texts;
};

/* Of time off the CPU, and of `wall`: why, and in which own function. `p`, `own`: as of sp_wait_reasons_of.
 */
spaa_status sp_stack_kinds_of_waits(struct sp_selection *s, struct sp_profile *p, const char *own,
                                    struct sp_diags *d, struct sp_stack_kinds *out);
/* Keys of contexts, as those of sp_event_fields, in words. */
spaa_status sp_stack_kinds_of_fields(struct sp_selection *s, const struct sp_by_list *by, struct sp_diags *d,
                                     struct sp_stack_kinds *out);
/* Of time off the CPU and of `wall` those of waits, of events whose fields are known those; of others none.
 */
spaa_status sp_stack_kinds_of(struct sp_selection *s, struct sp_profile *p, const char *own,
                              struct sp_diags *d, struct sp_stack_kinds *out);
void sp_stack_kinds_free(struct sp_stack_kinds *x);

#endif
