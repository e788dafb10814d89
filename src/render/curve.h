/*
 * Memory over time as one self-contained SVG: what was live, stacked by those that held most, the most within
 * each window as a line with the peak marked, RSS, and beneath how much was allocated a second.
 */
#ifndef SP_CURVE_H
#define SP_CURVE_H

#include "analysis/levels.h"
#include "io/output.h"

enum { SP_CURVE_OWNERS = 8 };

/* Foreign texts are made safe here. */
struct sp_curve {
    const struct sp_levels *l; /* of buckets that are a window each */
    const struct sp_level_owners *owners;
    const char *const *names; /* of owners->functions */
    const char *subtitle;
    bool bytes; /* levels are bytes, else blocks */
};

/* Errors of writing are the output's. */
spaa_status sp_curve_svg(const struct sp_curve *x, struct sp_diags *d, struct sp_output *out);

#endif
