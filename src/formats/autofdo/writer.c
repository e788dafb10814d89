/*
 * Writes AutoFDO's text of samples, which create_llvm_prof and create_gcov take by --profiler=text: counters
 * of ranges, addresses and branches, each as their number and a line for each, by offsets in the file in hex:
 *
 *     1
 *     1000-1010:12
 *     1
 *     1008:40
 *     1
 *     1010->1000:15
 *
 * Both ends of a range count. Addresses are where samples were taken: they are used where there are no
 * ranges.
 */
#include "formats/common/branches/branches.h"

static spaa_status autofdo_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                                 struct sp_output *out)
{
    const struct sp_br_wants wants = {
        .format = "AutoFDO's text", .addresses = SP_BR_OFFSETS, .branches = true, .samples = true};
    struct sp_branches b;
    spaa_status st = sp_branches_take(p, opts, &wants, d, &b);
    if (st)
        return st;
    sp_br_print(&b.ranges, "-", out);
    sp_br_print(&b.samples, NULL, out);
    sp_br_print(&b.branches, "->", out);
    sp_branches_free(&b);
    return out->status;
}

static const struct sp_format_option options[] = {SP_BR_OPTIONS, {0}};

const struct spaa_format spaa_format_autofdo = {
    .name = "autofdo",
    .title = "AutoFDO's text of samples",
    .extensions = "autofdo",
    .media_type = "text/plain",
    .comes_back = "nothing: they are not read",
    .caps = SP_CAN_WRITE | SP_OF_BRANCHES,
    .options = options,
    .write = autofdo_write,
};
