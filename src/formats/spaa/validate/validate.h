/*
 * Is this a valid SPAA file? Every rule of the specification and of this project's reading of it, in one
 * pass over the input, with memory per id and none per sample. Errors among the findings mean "invalid".
 * What is checked of the fields stands in fields.def; what each finding means, in docs/validation.md.
 */
#ifndef SP_SPAA_VALIDATE_H
#define SP_SPAA_VALIDATE_H

#include "formats/spaa/chunks.h"
#include "io/input.h"

/*
 * Adds the findings to d, by line. SPAA_OK: the input was read to its end, valid or not. SPAA_ERR_LIMIT:
 * so it was, but some checks are incomplete (the findings say which).
 */
spaa_status sp_spaa_validate(struct sp_input *in, struct sp_diags *d);

/* The same, with other chunks for threads than the input's jobs make. For tests: the findings are equal. */
spaa_status sp_spaa_validate_chunked(struct sp_input *in, struct sp_diags *d, struct sp_chunking how);

#endif
