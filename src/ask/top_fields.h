/* top of tracepoints that are always taken in one place: rows of their fields (analysis/event_fields.h). */
#ifndef SP_TOP_FIELDS_H
#define SP_TOP_FIELDS_H

#include "ask/top.h"

#include "analysis/event_fields.h"
#include "analysis/top.h"

/* counted NULL: somebody said by what, or nothing is known of the event, and rows are of something else. */
struct sp_top_fields {
    struct sp_by_list list;
    const char *counted; /* "switches" */
    uint32_t event;
};

/* What rows are of where no option says it; sets how's event. */
struct sp_top_fields sp_top_fields_of(const struct sp_ask *q, struct sp_select_opts *how);
/* Selects, and says what is counted, in place of sp_asked_begin. */
spaa_status sp_top_fields_begin(struct sp_asked *a, const struct sp_top_fields *f, struct sp_ask *q,
                                const struct sp_select_opts *how, struct sp_answer *out);
void sp_top_fields_shape(struct sp_asked *a, const struct sp_top_fields *f, struct sp_answer_table *t);
void sp_top_fields_next(struct sp_asked *a);

/*
 * Where an event is always taken in the same function, self says only that: switches in __schedule, calls in
 * what is probed. Rows of functions are then sorted by total, which is said.
 */
void sp_top_all_in_one(struct sp_asked *a, struct sp_top *t);

#endif
