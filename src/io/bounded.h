/*
 * Writing what may turn out to be too long.
 *
 * `write` gets `out`, or with `aside` a temporary file, which is copied to `out` once it is known to be short
 * enough: what went to a pipe cannot be taken back. Returns what `write` does; where that was more than
 * `most` bytes SPAA_ERR_LIMIT with `beyond`, which the caller reports.
 */
#ifndef SP_BOUNDED_H
#define SP_BOUNDED_H

#include "io/output.h"

struct sp_bounds {
    uint64_t most;
    bool aside;  /* where `out` is no file that appears only when it is complete */
    bool beyond; /* set */
};

spaa_status sp_write_bounded(struct sp_output *out, struct sp_bounds *bounds, struct sp_diags *d,
                             spaa_status (*write)(void *arg, struct sp_output *out), void *arg);

#endif
