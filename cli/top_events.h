/* spaa top --by event. */
#ifndef SP_TOP_EVENTS_H
#define SP_TOP_EVENTS_H

#include "answer.h"

/* Answers with a row for each event that the filters leave something of; a: of the default event. */
int top_events(struct answer *a, size_t limit);
/* The selection to begin with: of the default event, or of the first that has the metric asked for. */
spaa_status top_events_select(struct cli *c, struct sp_selection *out);

#endif
