/* spaa convert: one profile in another format, or what filters keep of it. */
#include "cli.h"

#include "analysis/filtered.h"
#include "analysis/regroup.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/samples.h"

#include <stddef.h>

/* Is it a filter of stacks, and not what adds labels to them? */
static bool narrows(const struct sp_option *o)
{
    return o->groups & G_SELECT && o->offset != offsetof(struct sp_options, tagroot) &&
           o->offset != offsetof(struct sp_options, tagleaf);
}

/* The first filter that was given, or NULL. */
static const struct sp_option *first_filter(const struct cli *c)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (narrows(o) && *(const char *const *)(const void *)((const char *)&c->v + o->offset))
            return o;
    return NULL;
}

/* What is kept of labels where --group-by says so: those it names. */
static const struct sp_label_keys *grouping(struct cli *c, struct sp_label_keys *keys)
{
    *keys = (struct sp_label_keys){c->grouping.list.v, c->grouping.list.n};
    return c->v.group_by ? keys : NULL;
}

static spaa_status filter(struct cli *c)
{
    struct sp_select_opts filters;
    struct sp_label_keys labels;
    struct sp_filtered_opts how = {.group_by = ~0u,
                                   .samples = c->v.samples || strcmp(c->input->name, "spaa") == 0};
    how.labels = grouping(c, &labels);
    if (!cli_select_opts(c, &filters) ||
        (c->v.group_by && sp_parse_groups(c->v.group_by, &c->diags, &how.group_by)))
        return SPAA_ERR_USAGE;
    return sp_filter_profile(&c->profile, &filters, &how, &c->diags);
}

/* Stacks by labels that only samples had; samples that nobody asked for go again. */
static spaa_status by_labels(struct cli *c)
{
    spaa_status st = cli_regroup(c);
    bool asked = c->v.samples || c->v.lossless || c->v.time || strcmp(c->input->name, "spaa") == 0;
    if (!st && !asked && cli_needs_labels(c)) {
        sp_samples_free(c->profile->samples);
        c->profile->samples = NULL;
    }
    return st || !c->regrouped ? st : sp_regroup_settle(&c->profile, &c->diags);
}

static spaa_status change(struct cli *c, const struct sp_read_opts *opts)
{
    bool filtered = first_filter(c) != NULL;
    struct sp_label_keys labels;
    struct sp_grain grain = {c->v.frames ? opts->frames : SP_FRAMES_FOREIGN, c->v.group_by && !filtered,
                             opts->group_by, NULL};
    bool split = !c->states_own || c->v.time; /* what leaves have of a range of time is not stated anywhere */
    spaa_status st = filtered || cli_needs_labels(c) ? by_labels(c) : SPAA_OK;
    if (!st && split && (filtered || c->v.tagroot || c->v.tagleaf))
        st = sp_callees_split(c->profile, &c->diags);
    if (!st)
        st = cli_tag_stacks(c);
    if (!st && filtered)
        st = filter(c);
    grain.labels = grouping(c, &labels); /* lent of what telling labels apart made anew */
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
    if (c->v.lossless && (c->v.tagroot || c->v.tagleaf))
        return cli_usage(c, "add frames without --lossless", "--lossless keeps the stacks as they are");
    if (c->v.lossless && filter)
        return cli_usage(c, "filter without --lossless, or keep everything",
                         "--lossless keeps all of the input, --%s does not", filter->name);
    return cli_rewrite(c, change);
}
