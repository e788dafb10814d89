/* What the format does with a decoded trace: reading into a profile, writing out of one, checking, dumping.
 */
#ifndef SP_SPT_FORMAT_H
#define SP_SPT_FORMAT_H

#include "formats/common/spt/spt.h"

spaa_status sp_spt_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                        struct sp_profile *p);
spaa_status sp_spt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                         struct sp_output *out);
spaa_status sp_spt_validate(struct sp_input *in, struct sp_diags *d);
spaa_status sp_spt_dump(struct sp_input *in, unsigned sections, struct sp_diags *d, struct sp_output *out);
extern const struct sp_dump_section sp_spt_sections[];

#endif
