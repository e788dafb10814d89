/*
 * Writes what llvm-profgen takes by --unsymbolized-profile: counters of ranges and of branches, each as their
 * number and a line for each, in hex without 0x, in this order:
 *
 *     2
 *     0-10:12
 *     20-38:3
 *     1
 *     10->20:15
 *
 * It is what llvm-profgen itself writes of perf script text with --skip-symbolization. Addresses count from
 * the page where the first executable segment is linked, as of version 14, which knows no other way, and of
 * later ones by default (--use-offset). Both ends of a range count: the last one is the branch. It has no
 * place for branches from and to other binaries, for mispredictions, or for samples without branches.
 */
#include "formats/common/branches/branches.h"

static spaa_status profgen_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                                 struct sp_output *out)
{
    const struct sp_br_wants wants = {
        .format = "llvm-profgen's profile", .addresses = SP_BR_TEXT, .branches = true};
    struct sp_branches b;
    spaa_status st = sp_branches_take(p, opts, &wants, d, &b);
    if (st)
        return st;
    sp_br_print(&b.ranges, "-", out);
    sp_br_print(&b.branches, "->", out);
    sp_branches_free(&b);
    return out->status;
}

static const struct sp_format_option options[] = {SP_BR_OPTIONS, {0}};

const struct spaa_format spaa_format_profgen = {
    .name = "profgen",
    .title = "llvm-profgen's unsymbolized profile",
    .extensions = "profgen",
    .media_type = "text/plain",
    .comes_back = "nothing: they are not read",
    .caps = SP_CAN_WRITE | SP_OF_BRANCHES,
    .options = options,
    .write = profgen_write,
};
