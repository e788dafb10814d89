/* What of a profile goes into an SPT file: the binaries, and the hits of each thing in them. */
#ifndef SP_SPT_COLLECT_H
#define SP_SPT_COLLECT_H

#include "base/buf.h"
#include "formats/spt/tables.h"
#include "json/json.h"

struct sp_spt_target {
    struct sp_rsds rsds;
    struct sp_str name; /* as it is written */
    uint32_t dso;
};

struct sp_spt_collected {
    SP_VEC(struct sp_spt_target) programs; /* by name, then key; numbers of `tables` */
    struct sp_spt_tables tables;
};

/*
 * Own options: --binary NAME (repeated, or names between commas), --no-kernel. What cannot be written is
 * reported by module; SPAA_ERR_UNSUPPORTED (or USAGE: a NAME that is not there), reported, when nothing can
 * be, or a NAME that was asked for. Free it on success only.
 */
spaa_status sp_spt_collect(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                           struct sp_spt_collected *out);
void sp_spt_collected_free(struct sp_spt_collected *c);

/*
 * Enters the object `x_spt` of raw members (a header's, a context's): the cursor, which is initialised either
 * way, then walks its keys. `text` is what it walks over.
 */
bool sp_spt_enter(struct sp_json *j, struct sp_buf *text, struct sp_str more);

#endif
