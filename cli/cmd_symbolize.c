/* spaa symbolize: names, inlined functions and lines for a profile that was made where they are not. */
#include "cli.h"

#include "symbols/symbolize.h"
#include "unwind/chains.h"

static spaa_status symbolize(struct cli *c, const struct sp_read_opts *opts)
{
    struct sp_symbolized done;
    sp_diags_source(&c->diags, c->files.v[0], c->input->name);
    spaa_status st = sp_symbolize(c->profile, &opts->symbols, opts->jobs, &c->diags, &done);
    if (!st)
        st = sp_chains_judge(c->profile, &opts->symbols, &c->diags);
    if (!st && !done.asked)
        sp_emit(&c->diags, SP_I800, SP_AT_NOTHING, "no frame has an address and lacks a name or a line");
    sp_diags_source(&c->diags, NULL, NULL);
    return st;
}

int sp_cmd_symbolize(struct cli *c)
{
    if (c->files.n != 1)
        return cli_usage(c, "for example: spaa symbolize recorded.spaa -o named.spaa",
                         "symbolize takes one input, not %zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa symbolize recorded.spaa -o named.spaa",
                         "symbolize needs an output: -o FILE");
    c->names_asked = true;
    return cli_rewrite(c, symbolize);
}
