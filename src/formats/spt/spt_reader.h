/*
 * Reading into a profile and writing out of one, and what `--lossless` keeps between the two.
 */
#ifndef SP_SPT_READER_H
#define SP_SPT_READER_H

#include "formats/spt.h"

spaa_status sp_spt_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                        struct sp_profile *p);
spaa_status sp_spt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                         struct sp_output *out);
spaa_status sp_spt_validate(struct sp_input *in, struct sp_diags *d);
spaa_status sp_spt_dump(struct sp_input *in, unsigned sections, struct sp_diags *d, struct sp_output *out);
extern const struct sp_dump_section sp_spt_sections[];

/*
 * native.c: the native records, as extension records of the profile:
 *
 *     {"type":"x_spt_header","size":22560,"parts":[[0,"3a545053…"],[16416,"0f8f…"]]}
 *         the bytes before the data stream: each part an offset and bytes in hex, 0 between them
 *     {"type":"x_spt_records","rows":[[129,0,0,1234],[66,3,4096,4112,4128],[130,0,2],"00ff"],"digest":"0x…"}
 *         the data stream, row by row: [op, padding or N, numbers…], or bytes in hex that are no record; as
 *         many such records as it takes, the digest in the last one
 *
 * The digest is of the stacks (binary, address, event, weight), whatever their order and names: while it
 * holds, the writer gives the bytes back; when stacks were changed, it renders them instead.
 */
struct sp_spt_keeper;
spaa_status sp_spt_keeper_new(struct sp_profile *p, const struct sp_spt *file, struct sp_diags *d,
                              struct sp_spt_keeper **out);
void sp_spt_keeper_free(struct sp_spt_keeper *k); /* NULL is fine */
spaa_status sp_spt_keep(struct sp_spt_keeper *k, const struct sp_spt_record *r);
spaa_status sp_spt_keeper_finish(struct sp_spt_keeper *k); /* when all stacks are in the profile */
/* *done false: nothing was written, since there is nothing kept, or not of these stacks (said). */
spaa_status sp_spt_replay(struct sp_profile *p, struct sp_diags *d, struct sp_output *out, bool *done);

#endif
