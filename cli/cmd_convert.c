/* spaa convert: one profile in another format. */
#include "cli.h"

#include "formats/open.h"

int sp_cmd_convert(struct cli *c)
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    struct sp_read_opts opts;
    struct sp_write_opts w;
    int order;
    if (c->files.n != 1)
        return cli_usage(
            c, "several are one with `spaa merge A B -o OUT`; views take them together: `spaa top A B`",
            c->files.n ? "convert takes one input, not %zu" : "convert needs an input%.0zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa convert perf.data -o profile.spaa",
                         "convert needs an output: -o FILE");
    if (!c->v.output)
        c->v.output = "-";
    const struct spaa_format *to = NULL;
    if (sp_output_format(c->v.output, c->v.to, &c->diags, &to))
        return EXIT_USAGE;
    if (!cli_read_opts(c, &opts) || !cli_choice(c, "frame-order", c->v.frame_order, orders, -1, &order))
        return EXIT_USAGE;
    spaa_status st = cli_read(c, c->files.v[0], &opts, &c->profile);
    if (st)
        return cli_exit_of(st);
    int rc = cli_check_own(c, to);
    if (rc)
        return rc;
    struct sp_grain grain = {c->v.frames ? opts.frames : SP_FRAMES_FOREIGN, c->v.group_by != NULL,
                             opts.group_by};
    st = sp_coarsen(&c->profile, c->input, &grain, &c->diags);
    if (!st && order >= 0)
        c->profile->header.root_first = order == 1;
    if (!st)
        st = cli_write_opts(c, &w);
    if (!st && c->v.strict && sp_diags_count(&c->diags, SP_LOSS))
        return EXIT_IO;
    if (!st)
        st = cli_write(c, to, &w);
    return cli_exit_of(st);
}
