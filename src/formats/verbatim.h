/*
 * The verbatim layer of text formats: what `--lossless` keeps so that the input's bytes come back.
 *
 * A reader of text feeds every byte of its input through sp_verbatim_add and calls sp_verbatim_finish when
 * all its stacks are in the profile. That appends extension records to it:
 *
 *     {"type":"x_FORMAT_line","text":"libc`malloc+0x10"}       a distinct line body, numbered 0, 1, … as they
 * come
 *     {"type":"x_FORMAT_line","hex":"ff41"}                    one that is no UTF-8
 *     {"type":"x_FORMAT_text","rows":[0,[14,"",0,"12",1,1]]}   rows in order, at most 4096 a record
 *     {"type":"x_FORMAT_text","rows":[…],"final_newline":false,"digest":"0x…"}   the last one
 *
 * with FORMAT the format's name, `-` as `_`. A row is the number of a line that is all of the text up to its
 * newline, or a row of a tree [indent, mark, gap, count, gap, line]: so many blanks, the mark ("" or "*"), so
 * many blanks, the digits as they stand, so many blanks, and the line for the rest. A CR before the newline
 * belongs to the body. The digest is XXH3-64 over the stacks' identities (model/identity.h) and weights,
 * whatever their order: a writer replays the layer while it holds, and renders from the stacks otherwise.
 *
 * Merging and coarsening a profile drop the layer with its other extension records.
 */
#ifndef SP_VERBATIM_H
#define SP_VERBATIM_H

#include "formats/format.h"
#include "io/output.h"
#include "model/profile.h"

struct sp_verbatim;

/*
 * The profile and `format` (a literal) are borrowed. Of what stands around the text of `in`, a byte order
 * mark is kept; for the rest it is said that it is not.
 */
spaa_status sp_verbatim_new(struct sp_profile *p, const char *format, struct sp_input *in, struct sp_diags *d,
                            struct sp_verbatim **out);
void sp_verbatim_free(struct sp_verbatim *v); /* NULL is fine */
/* The next bytes of the input as they stand, newlines included; pieces may end anywhere. */
spaa_status sp_verbatim_add(struct sp_verbatim *v, const void *bytes, size_t n);
/* Appends the records to the profile, whose stacks are complete. Once. */
spaa_status sp_verbatim_finish(struct sp_verbatim *v);

/*
 * Writes the bytes back. *done is false, with nothing written, where the profile has no layer of this format,
 * where the options ask for one event or metric, and where the stacks are not those that it was made with any
 * more: that is said as a note (SP_I321).
 */
spaa_status sp_verbatim_replay(struct sp_profile *p, const char *format, const struct sp_write_opts *opts,
                               struct sp_diags *d, struct sp_output *out, bool *done);

#endif
