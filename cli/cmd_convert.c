/* spaa convert: one profile in another format. */
#include "cli.h"

#include "formats/open.h"

static spaa_status coarsen(struct cli *c, const struct sp_read_opts *opts)
{
    struct sp_grain grain = {c->v.frames ? opts->frames : SP_FRAMES_FOREIGN, c->v.group_by != NULL,
                             opts->group_by};
    return sp_coarsen(&c->profile, c->input, &grain, &c->diags);
}

int sp_cmd_convert(struct cli *c)
{
    if (c->files.n != 1)
        return cli_usage(
            c, "several are one with `spaa merge A B -o OUT`; views take them together: `spaa top A B`",
            c->files.n ? "convert takes one input, not %zu" : "convert needs an input%.0zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa convert perf.data -o profile.spaa",
                         "convert needs an output: -o FILE");
    return cli_rewrite(c, coarsen);
}
