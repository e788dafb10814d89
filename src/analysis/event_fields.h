/*
 * What events tell apart that happen in one place of the kernel: every stack of sched_switch ends in
 * __schedule, and what differs is who left and why. One table, event_fields.def, says for each such event
 * which fields of it rows are of where nobody says by what, and in which words their values are said.
 */
#ifndef SP_EVENT_FIELDS_H
#define SP_EVENT_FIELDS_H

#include "analysis/by.h"
#include "model/profile.h"

/* What rows of an event are of; *what: what is counted ("switches"). False: nothing is known of it. */
bool sp_event_fields(struct sp_str event, struct sp_by_list *out, const char **what);
/* The event that options mean (NULL: not given). */
uint32_t sp_event_of_fields(const struct sp_profile *p, const char *event, const char *metric);
/* Appends the value of a field in words; as it is where they are not known. */
void sp_event_field_say(const struct sp_profile *p, enum sp_by_say say, struct sp_str value,
                        struct sp_buf *b);

#endif
