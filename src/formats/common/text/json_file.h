/* For readers of JSON that take the whole text and go through parts of it: how far they are, and what is
 * damaged. */
#ifndef SP_JSON_FILE_H
#define SP_JSON_FILE_H

#include "formats/format.h"
#include "json/json.h"

struct sp_json_file {
    struct sp_input *in;
    struct sp_diags *d;
    struct sp_span text; /* all of it, lent */
    size_t noted;
};

/* SPAA_OK, or why the text cannot be had, reported. */
spaa_status sp_json_file_open(struct sp_json_file *f, struct sp_input *in, struct sp_diags *d);
/* Where `j`, a walk through a part of the text, is: progress now and then. Other than SPAA_OK: the reading
 * ends. */
spaa_status sp_json_file_note(struct sp_json_file *f, const struct sp_json *j);
/* Reports what ended a walk before the end of its part, with its place in the file. SPAA_OK, or
 * SPAA_ERR_NOMEM. */
spaa_status sp_json_file_ended(const struct sp_json_file *f, const struct sp_json *j);
/*
 * So many frames may the call stacks of a text of n bytes add up to: 64 million, and one for each byte. A
 * tree is short where its stacks are long: one with a number at each of its levels has the square of its size
 * in frames.
 */
size_t sp_json_frames_max(size_t n);
/* Reports that there are more; SPAA_ERR_LIMIT. `hint`: what the text is instead of a profile. */
spaa_status sp_json_too_many_frames(struct sp_diags *d, struct sp_where at, size_t max, const char *hint);
/* For probes: the first character that is no blank begins an object. */
bool sp_begins_json_object(const unsigned char *p, size_t n);

#endif
