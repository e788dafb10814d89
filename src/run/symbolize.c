/* spaa symbolize: names, inlined functions and lines for a profile that was made where they are not. */
#include "run/run.h"

#include "symbols/symbolize.h"
#include "unwind/chains.h"

static spaa_status symbolize(struct sp_run *run, const struct sp_read_opts *opts)
{
    struct sp_symbolized done;
    sp_diags_source(run->diags, run->files.v[0], run->input->name);
    spaa_status st = sp_symbolize(run->profile, &opts->symbols, opts->jobs, run->diags, &done);
    if (!st)
        st = sp_chains_judge(run->profile, &opts->symbols, run->diags);
    if (!st && !done.asked)
        sp_emit(run->diags, SP_I800, SP_AT_NOTHING, "no frame has an address and lacks a name or a line");
    sp_diags_source(run->diags, NULL, NULL);
    return st;
}

int sp_cmd_symbolize(struct sp_run *run)
{
    if (run->files.n != 1)
        return sp_run_usage(run, "for example: spaa symbolize recorded.spaa -o named.spaa",
                            "symbolize takes one input, not %zu", run->files.n);
    if (!run->v.output && !run->v.to)
        return sp_run_usage(run, "for example: spaa symbolize recorded.spaa -o named.spaa",
                            "symbolize needs an output: -o FILE");
    run->names_asked = true;
    return sp_run_rewrite(run, symbolize);
}
