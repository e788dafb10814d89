/*
 * A selection in words, as every answer that has one says it. Foreign text in them is as it is: whoever shows
 * them makes it safe (answer/text.h).
 */
#ifndef SP_SELECTION_WORDS_H
#define SP_SELECTION_WORDS_H

#include "analysis/select.h"

/* "event cycles, metric period (ns), whole 2.30 s, 2,300 samples; view cpu keeps …": one line without its
 * end. */
void sp_heading_text(struct sp_buf *b, const struct sp_selection *s);
/* Of time off the CPU: some of its waits are longer than what was seen. */
bool sp_selection_at_least(const struct sp_selection *s);
/* Likewise: all of it is longer than what was seen, which is nothing: no row has a weight. */
bool sp_selection_none_certain(const struct sp_selection *s);
/*
 * Of hang reports: "running 77 of 559 samples; runnable 6 (1.07%), …: --by state, --state WAITING", and how
 * it is known where it is not stated; nothing where all was taken running.
 */
void sp_states_text(struct sp_buf *b, const struct sp_selection *s);
/* `before`, then that stacks are by owner, and what shows them as recorded: nothing where they are. */
void sp_owner_text(struct sp_buf *b, const struct sp_selection *s, const char *before);
/* `before`, then "--pid 5 keeps 2.00 ms, 4.00% of the event's 50.00 ms": nothing without views and filters.
 */
void sp_kept_text(struct sp_buf *b, const struct sp_selection *s, const char *before);
/* Where chains are broken: that totals are bounds, why, and what settles it, in one line; else nothing. */
void sp_bounds_text(struct sp_buf *b, const struct sp_selection *s);
/* That they are bounds, in few words. */
void sp_bounds_brief(struct sp_buf *b, const struct sp_selection *s);
/* The same as a diagnostic, for answers without lines. */
void sp_bounds_report(const struct sp_selection *s, struct sp_diags *d);

#endif
