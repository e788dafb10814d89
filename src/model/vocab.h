/*
 * The vocabulary of SPAA: enumerations with their spellings, metrics with how they add, known tools.
 */
#ifndef SP_VOCAB_H
#define SP_VOCAB_H

#include <stdbool.h>
#include <stddef.h>

enum sp_event_kind { SP_HARDWARE, SP_SOFTWARE, SP_ALLOCATION, SP_DEALLOCATION, SP_TIMER, SP_PROBE };
enum sp_mode { SP_PERIOD, SP_FREQUENCY, SP_EVENT };
enum sp_frame_kind { SP_USER, SP_KERNEL, SP_UNKNOWN };
enum sp_stack_type { SP_UNIFIED, SP_USER_STACK, SP_KERNEL_STACK };

/* What the header's x_spaa.id says of ids made as model/identity.h has it; those of another name are foreign.
 */
#define SP_IDENTITY_NAME "xxh3-64/2"

/* What makes two frames one (header x_spaa.frames). */
enum sp_granularity { SP_FRAMES_FOREIGN, SP_FRAMES_ADDRESS, SP_FRAMES_LINE, SP_FRAMES_FUNCTION };

/* What the addresses of callers are (header x_spaa.ip): see model/returns.h. */
enum sp_ips { SP_IPS_BY_PLACE, SP_IPS_RETURN, SP_IPS_CALL };

/* What splits one call stack into records (header x_spaa.group_by), besides the event. */
enum sp_group {
    SP_BY_PID = 1,
    SP_BY_TID = 2,
    SP_BY_COMM = 4,
    SP_BY_CPU = 8,
    SP_BY_STATE = 16,
    SP_BY_DEFAULT = SP_BY_PID | SP_BY_TID | SP_BY_COMM,
};

extern const char *const sp_event_kind_names[]; /* NULL-terminated, in enum order, as all of these */
extern const char *const sp_mode_names[];
extern const char *const sp_frame_kind_names[];
extern const char *const sp_stack_type_names[];
extern const char *const sp_granularity_names[];
extern const char *const sp_ips_names[];         /* "" is not written */
extern const char *const sp_text_symbol_names[]; /* of enum sp_text_symbol; "": untold */
extern const char *const sp_group_names[];       /* in bit order */
extern const char *const sp_known_tools[];

/* The position of a name in such a list, or -1. */
int sp_name_index(const char *const *names, const char *s, size_t n);

/* How weights of two stacks combine; NONE: not at all. */
enum sp_metric_op { SP_OP_SUM, SP_OP_MAX, SP_OP_MIN, SP_OP_NONE };
extern const char *const sp_metric_op_names[];

struct sp_metric_info {
    const char *name; /* "": none of the vocabulary */
    enum sp_metric_op op;
    const char *unit; /* usual unit, or NULL */
};

/* Metrics that are worked out from what was counted, and never stand alone. */
bool sp_metric_is_derived(const char *name, size_t n);
/* Never NULL: a metric that is not in the vocabulary sums. */
const struct sp_metric_info *sp_metric_info(const char *name, size_t n);
/* Of metrics that are not in the vocabulary, and combine so. */
const struct sp_metric_info *sp_metric_info_own(enum sp_metric_op op);
/* Its place in the vocabulary; metrics that are not in it come last, all at one place. */
size_t sp_metric_place(const struct sp_metric_info *info);

#endif
