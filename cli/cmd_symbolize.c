/* spaa symbolize: names, inlined functions and lines for a profile that was made where they are not. */
#include "cli.h"

#include "formats/open.h"
#include "symbols/symbolize.h"

static spaa_status symbolize(struct cli *c, const struct sp_read_opts *opts)
{
    struct sp_symbolized done;
    sp_diags_source(&c->diags, c->files.v[0], c->input->name);
    spaa_status st = sp_symbolize(c->profile, &opts->symbols, opts->jobs, &c->diags, &done);
    if (!st && !done.asked)
        sp_emit(&c->diags, SP_I800, SP_AT_NOTHING, "no frame has an address and lacks a name or a line");
    sp_diags_source(&c->diags, NULL, NULL);
    return st;
}

int sp_cmd_symbolize(struct cli *c)
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    const struct spaa_format *to = NULL;
    struct sp_read_opts opts;
    struct sp_write_opts w;
    int order;
    if (c->files.n != 1)
        return cli_usage(c, "for example: spaa symbolize recorded.spaa -o named.spaa",
                         "symbolize takes one input, not %zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa symbolize recorded.spaa -o named.spaa",
                         "symbolize needs an output: -o FILE");
    if (!c->v.output)
        c->v.output = "-";
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
    st = symbolize(c, &opts);
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
