/* SPAA 1.0: what the files of this folder share. */
#ifndef SP_FORMATS_SPAA_H
#define SP_FORMATS_SPAA_H

#include "formats/format.h"
#include "formats/spaa/chunks.h"

spaa_status sp_spaa_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                         struct sp_profile *p);
/* The same with other chunks for the threads; opts->jobs does not count. For tests. */
spaa_status sp_spaa_read_with(struct sp_input *in, const struct sp_read_opts *opts, struct sp_chunking how,
                              struct sp_diags *d, struct sp_profile *p);
spaa_status sp_spaa_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                          struct sp_output *out);

#endif
