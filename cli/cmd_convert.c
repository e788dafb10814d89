/* spaa convert: one profile in another format, or what filters keep of it. */
#include "cli.h"

#include "analysis/filtered.h"
#include "formats/open.h"
#include "model/callees.h"

/* The first filter that was given, or NULL. */
static const struct sp_option *first_filter(const struct cli *c)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (o->groups & G_SELECT && *(const char *const *)(const void *)((const char *)&c->v + o->offset))
            return o;
    return NULL;
}

static spaa_status filter(struct cli *c)
{
    struct sp_select_opts filters;
    struct sp_filtered_opts how = {.group_by = ~0u,
                                   .samples = c->v.samples || strcmp(c->input->name, "spaa") == 0};
    if (!cli_select_opts(c, &filters) ||
        (c->v.group_by && sp_parse_groups(c->v.group_by, &c->diags, &how.group_by)))
        return SPAA_ERR_USAGE;
    spaa_status st = cli_regroup(c);
    if (!st && (!c->states_own || c->v.time)) /* what leaves have of a range of time is not stated anywhere */
        st = sp_callees_split(c->profile, &c->diags);
    return st ? st : sp_filter_profile(&c->profile, &filters, &how, &c->diags);
}

static spaa_status change(struct cli *c, const struct sp_read_opts *opts)
{
    bool filtered = first_filter(c) != NULL;
    struct sp_grain grain = {c->v.frames ? opts->frames : SP_FRAMES_FOREIGN, c->v.group_by && !filtered,
                             opts->group_by};
    spaa_status st = filtered ? filter(c) : SPAA_OK;
    return st ? st : sp_coarsen(&c->profile, c->input, &grain, &c->diags);
}

int sp_cmd_convert(struct cli *c)
{
    const struct sp_option *filter = first_filter(c);
    if (c->files.n != 1)
        return cli_usage(
            c, "several are one with `spaa merge A B -o OUT`; views take them together: `spaa top A B`",
            c->files.n ? "convert takes one input, not %zu" : "convert needs an input%.0zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa convert perf.data -o profile.spaa",
                         "convert needs an output: -o FILE");
    if (c->v.lossless && filter)
        return cli_usage(c, "filter without --lossless, or keep everything",
                         "--lossless keeps all of the input, --%s does not", filter->name);
    return cli_rewrite(c, change);
}
