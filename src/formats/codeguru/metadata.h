/* metadata.c: what stands around the call graph. */
#ifndef SP_CODEGURU_METADATA_H
#define SP_CODEGURU_METADATA_H

#include "formats/codeguru/codeguru.h"

struct sp_cg_total {
    struct sp_str counter; /* as a JSON string */
    int64_t sum;
};

struct sp_cg_meta_opts {
    const char *fleet_instance_id, *host_type, *agent_type, *start; /* NULL: not given */
};

struct sp_cg_meta {
    const struct sp_profile *p;
    struct sp_span kept; /* the header's x_codeguru; n 0: the profile comes from elsewhere */
    int64_t samples;     /* of what is written; SP_ABSENT: not counted, the totals are */
    const struct sp_cg_total *totals;
    size_t ntotals;
    int64_t duration_ms; /* found by begin */
};

/* Appends everything up to the value of `callgraph`. SPAA_ERR_USAGE: a bad option, reported. */
spaa_status sp_cg_meta_begin(struct sp_cg_meta *m, const struct sp_cg_meta_opts *o, struct sp_buf *out,
                             struct sp_diags *d);
/* Appends what follows it. */
void sp_cg_meta_end(const struct sp_cg_meta *m, struct sp_buf *out);

#endif
