/*
 * Writes BOLT's pre-aggregated profile, which perf2bolt takes by -pa: a line for each branch and each range,
 * by addresses as linked in hex:
 *
 *     B 401010 401000 15 2       from, to, how often, how often predicted wrongly
 *     F 401000 401010 12         what ran from a branch's target to the next branch
 *     f 401000 401010 3          the same, entered from another function: by a call or a return
 *
 * 0 is an address in another binary. Samples without branches have no line: fdata.
 */
#include "formats/common/branches/branches.h"

#include <inttypes.h>

static uint64_t address(uint64_t a)
{
    return a == SP_BR_OUTSIDE ? 0 : a;
}

static spaa_status bolt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                              struct sp_output *out)
{
    const struct sp_br_wants wants = {
        .format = "BOLT's profile", .addresses = SP_BR_LINKED, .branches = true, .outside = true};
    struct sp_branches b;
    spaa_status st = sp_branches_take(p, opts, &wants, d, &b);
    if (st)
        return st;
    for (size_t i = 0; i < b.branches.n; i++) {
        const struct sp_br_row *r = &b.branches.v[i];
        sp_printf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", address(r->a), address(r->b),
                  r->count, r->missed);
    }
    for (size_t i = 0; i < b.ranges.n; i++) {
        const struct sp_br_row *r = &b.ranges.v[i];
        sp_printf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", r->entered ? 'f' : 'F', r->a, r->b,
                  r->count);
    }
    sp_branches_free(&b);
    return out->status;
}

static const struct sp_format_option options[] = {SP_BR_OPTIONS, {0}};

const struct spaa_format spaa_format_bolt = {
    .name = "bolt",
    .title = "BOLT's pre-aggregated branches",
    .extensions = "bolt",
    .media_type = "text/plain",
    .comes_back = "nothing: they are not read",
    .caps = SP_CAN_WRITE | SP_OF_BRANCHES,
    .options = options,
    .write = bolt_write,
};
