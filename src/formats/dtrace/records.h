/*
 * What makes records of lines: record.c has the record in work, waiting.c the line whose meaning the next one
 * decides, stack.c frames, empty.c stacks without any, take.c what a line is where it stands. Functions
 * report what is wrong; SPAA_ERR_NOMEM and SPAA_ERR_LIMIT end the reading.
 */
#ifndef SP_DTRACE_RECORDS_H
#define SP_DTRACE_RECORDS_H

#include "formats/dtrace/dtrace.h"

/* ---- record.c ---- */

struct sp_where dt_here_at_record(const struct dt_reader *r);
/* Nothing where one is open. */
void dt_begin_record(struct dt_reader *r);
/* One key; those of a line, by its words. */
spaa_status dt_add_key(struct dt_reader *r, struct dt_text t);
spaa_status dt_add_keys(struct dt_reader *r, struct dt_text t);
/* "-", which programs print between the two stacks of a record. */
bool dt_is_rule(struct dt_text t, size_t indent);
/* A line of keys before a stack, or between two. */
spaa_status dt_keys_of_line(struct dt_reader *r, struct dt_text t, size_t indent, bool distribution);
/*
 * The line of text before, when what follows makes it the keys of a record. An empty stack between keys and a
 * distribution leaves a blank line.
 */
spaa_status dt_keys_before(struct dt_reader *r, bool distribution);
/* A title over records of another aggregation makes an event of its own. */
spaa_status dt_take_title(struct dt_reader *r);
/* A number became the value of the record in work, which ends here. */
void dt_note_run(struct dt_reader *r);
/* The value stood behind the stacks, if there are any. */
spaa_status dt_complete_with(struct dt_reader *r, int64_t v);
/* It stood before the first of them, where it was taken for a key. */
spaa_status dt_complete_by_lead(struct dt_reader *r);
/* What began like a record ends without a value behind it. */
spaa_status dt_abandon(struct dt_reader *r);

/* ---- waiting.c ---- */

/* The number that waited is no key. */
spaa_status dt_held_is_value(struct dt_reader *r);
/* The line of text that waited holds keys and, after them, the value. */
spaa_status dt_tail_is_value(struct dt_reader *r);
/* A blank line: whether what waits goes on waiting, for it may be the keys of a record whose first stack is
 * empty. */
bool dt_waits_behind_blank(struct dt_reader *r);
/* What may be a value follows: whether the number that waits is a key, before an empty stack. */
bool dt_held_is_first_key(const struct dt_reader *r);
/* It holds keys alone: a stack, or a distribution, follows without a blank line. */
spaa_status dt_tail_is_keys(struct dt_reader *r, bool distribution);
/* What waited are keys of the record that goes on here, or begins. */
spaa_status dt_waiting_are_keys(struct dt_reader *r, bool distribution);
/*
 * A stack follows the line that waits, and the record in work, which has its stacks, has no value behind
 * them: if both have a number before them, these are the values.
 */
bool dt_waiting_begins_next(const struct dt_reader *r);

/* ---- empty.c ---- */

/* The record in work has its value, which stood behind its stacks. */
void dt_note_end(struct dt_reader *r, struct dt_group *g);
/* After the last record: stacks that stand behind an empty one are the second of their records. */
void dt_settle_empty(struct dt_reader *r);

/* ---- stack.c ---- */

/* Frames of a line that was met before, with what waits before them. */
spaa_status dt_add_frames(struct dt_reader *r, const struct sp_agg_line *k);
/* A frame of decimal digits alone. */
spaa_status dt_push_address(struct dt_reader *r, int64_t digits, size_t indent);
/*
 * "[ ./func.py:3 (func) ]" under a frame. Frames with notes are known by the frame's number, a newline, and
 * the note.
 */
spaa_status dt_take_note(struct dt_reader *r, struct dt_text t);
/* A frame line: DT_FRAME, or text that can be a frame where it stands. */
spaa_status dt_take_frame(struct dt_reader *r, const struct dt_line *l, const char *p, size_t n);

#endif
