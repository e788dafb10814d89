/* spaa convert: one profile in another format, or what filters keep of it. */
#include "run/run.h"

#include "analysis/embed_sources.h"
#include "analysis/filtered.h"
#include "analysis/redact.h"
#include "analysis/regroup.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/merge.h"
#include "model/samples.h"

#include "ask/symbol_options.h"

#include <stddef.h>
#include <stdlib.h>

#define EMBED_MAX ((uint64_t)64 << 20)

/* Is it a filter of stacks, and not what adds labels to them? */
static bool narrows(const struct sp_option *o)
{
    return o->groups & (G_SELECT | G_TIME) && o->offset != offsetof(struct sp_options, tagroot) &&
           o->offset != offsetof(struct sp_options, tagleaf);
}

/* The first filter that was given, or NULL. */
static const struct sp_option *first_filter(const struct sp_run *run)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (narrows(o) && *(const char *const *)(const void *)((const char *)&run->v + o->offset))
            return o;
    return NULL;
}

/* What is kept of labels where --group-by says so: those it names. */
static const struct sp_label_keys *grouping(struct sp_run *run, struct sp_label_keys *keys)
{
    *keys = (struct sp_label_keys){run->grouping.list.v, run->grouping.list.n};
    return run->v.group_by ? keys : NULL;
}

static spaa_status filter(struct sp_run *run)
{
    struct sp_select_opts filters;
    struct sp_label_keys labels;
    struct sp_filtered_opts how = {.group_by = ~0u,
                                   .samples = run->v.samples || strcmp(run->input->name, "spaa") == 0};
    how.labels = grouping(run, &labels);
    if (!sp_run_select_opts(run, &filters) ||
        (run->v.group_by && sp_parse_groups(run->v.group_by, run->diags, &how.group_by)))
        return SPAA_ERR_USAGE;
    filters.at = NULL; /* which says what is written of what they leave */
    return sp_filter_profile(&run->profile, &filters, &how, run->diags);
}

/* Stacks by labels that only samples had; samples that nobody asked for go again. */
static spaa_status by_labels(struct sp_run *run)
{
    spaa_status st = sp_run_regroup(run);
    bool asked = run->v.samples || run->v.lossless || run->v.time || strcmp(run->input->name, "spaa") == 0;
    if (!st && !asked && sp_run_needs_labels(run)) {
        sp_samples_free(run->profile->samples);
        run->profile->samples = NULL;
    }
    return st || !run->regrouped ? st : sp_regroup_settle(&run->profile, run->diags);
}

/* Made anew, so that nothing is left of what was there, nor two records of what is one now. */
static spaa_status redacted(struct sp_run *run)
{
    const struct sp_merge_opts how = {
        .frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .canonical = true, .samples = true};
    struct sp_merger *m = NULL;
    struct sp_profile *fresh = NULL;
    spaa_status st = sp_redact_profile(run->profile, run->v.redacts.v, run->v.redacts.n,
                                       getenv("SPAA_REDACT_KEY"), run->diags);
    if (!st)
        st = sp_merger_new(&how, run->diags, &m);
    if (!st)
        st = sp_merger_add(m, run->profile, "");
    if (!st)
        st = sp_merger_finish(m, &fresh);
    sp_merger_free(m);
    if (st)
        return st;
    if (!run->profile->sources.n) /* what was made anew is no merged profile */
        fresh->sources.n = 0;
    sp_profile_free(run->profile);
    run->profile = fresh;
    return SPAA_OK;
}

/* ---- source text ---- */

static void say_embedded(struct sp_run *run, const struct sp_embedded *e)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%llu line%s of %llu file%s", (unsigned long long)e->lines, e->lines == 1 ? "" : "s",
                  (unsigned long long)e->files, e->files == 1 ? "" : "s");
    if (e->missing)
        sp_buf_printf(
            &b, "; %llu source%s not found%s%.200s (--source-path DIR or FROM=TO says where sources are)",
            (unsigned long long)e->missing, e->missing == 1 ? " was" : "s were",
            e->missing == 1 ? ": " : ", as ", e->first_missing);
    sp_emit(run->diags, SP_I666, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    if (e->left_out)
        sp_emit(run->diags, SP_W667, SP_AT_NOTHING, "%llu lines beyond 64 MiB, or longer than 1 MiB",
                (unsigned long long)e->left_out);
    sp_buf_free(&b);
}

/* The text of lines that have weight goes with the profile. */
static spaa_status embed(struct sp_run *run, bool only)
{
    const struct sp_symbol_opts symbols = sp_symbol_options(&run->v);
    struct sp_embed_opts how = {
        .sources = {run->v.source_paths.v, run->v.source_paths.n, run->v.symfs, run->v.source_gate},
        .max_bytes = EMBED_MAX,
        .only = only};
    struct sp_embedded e;
    long context;
    if (!sp_option_number(run->diags, "embed-source", run->v.embed_source, 0, 1000000, 0, &context))
        return SPAA_ERR_USAGE;
    how.context = (uint32_t)context;
    spaa_status st = sp_embed_sources(run->profile, &symbols, &how, run->diags, &e);
    if (!st)
        say_embedded(run, &e);
    sp_embedded_free(&e);
    return st;
}

/* What does not go with --embed-source; SP_EXIT_FINE: nothing. */
static int check_embed(struct sp_run *run)
{
    long context;
    if (!run->v.embed_source)
        return run->v.source_paths.n ? sp_run_usage(run, "with it: --embed-source N",
                                                    "--source-path is for the text that --embed-source keeps")
                                     : SP_EXIT_FINE;
    if (!sp_option_number(run->diags, "embed-source", run->v.embed_source, 0, 1000000, 0, &context))
        return SP_EXIT_USAGE;
    if (run->v.redact)
        return sp_run_usage(run, "leave one of them out",
                            "--redact hides names, --embed-source N would show the source they are in");
    if (sp_own_opt(run->own.v, run->own.n, "plain"))
        return sp_run_usage(
            run, "leave one of them out",
            "--plain writes no records but the specification's, source text has one of our own");
    return SP_EXIT_FINE;
}

static spaa_status change(struct sp_run *run, const struct sp_read_opts *opts)
{
    bool filtered = first_filter(run) != NULL;
    struct sp_label_keys labels;
    struct sp_grain grain = {run->v.frames ? opts->frames : SP_FRAMES_FOREIGN, run->v.group_by && !filtered,
                             opts->group_by, NULL};
    bool split =
        !run->states_own || run->v.time; /* what leaves have of a range of time is not stated anywhere */
    spaa_status st = filtered || sp_run_needs_labels(run) ? by_labels(run) : SPAA_OK;
    if (!st && split && (filtered || run->v.tagroot || run->v.tagleaf))
        st = sp_callees_split(run->profile, run->diags);
    if (!st)
        st = sp_run_tag_stacks(run);
    if (!st && filtered)
        st = filter(run);
    grain.labels = grouping(run, &labels); /* lent of what telling labels apart made anew */
    if (!st)
        st = sp_coarsen(&run->profile, run->input, &grain, run->diags);
    /* Source around lines that were left out would be seen where nobody expects it. */
    bool less = filtered || (run->v.frames && opts->frames == SP_FRAMES_FUNCTION);
    if (!st && run->v.embed_source)
        st = embed(run, less);
    else if (!st && less && run->profile->source_pieces.n) {
        run->profile->source_pieces.n = 0;
        sp_emit(run->diags, SP_I321, SP_AT_NOTHING,
                "source text (--embed-source N takes that of what is kept)");
    }
    return st || !run->v.redact ? st : redacted(run);
}

int sp_cmd_convert(struct sp_run *run)
{
    const struct sp_option *filter = first_filter(run);
    if (run->files.n != 1)
        return sp_run_usage(
            run, "several are one with `spaa merge A B -o OUT`; views take them together: `spaa top A B`",
            run->files.n ? "convert takes one input, not %zu" : "convert needs an input%.0zu", run->files.n);
    if (!run->v.output && !run->v.to)
        return sp_run_usage(run, "for example: spaa convert perf.data -o profile.spaa",
                            "convert needs an output: -o FILE");
    if (run->v.lossless && (run->v.tagroot || run->v.tagleaf))
        return sp_run_usage(run, "add frames without --lossless", "--lossless keeps the stacks as they are");
    if (run->v.lossless && filter)
        return sp_run_usage(run, "filter without --lossless, or keep everything",
                            "--lossless keeps all of the input, --%s does not", filter->name);
    if (run->v.redact && (run->v.lossless || run->v.samples))
        return sp_run_usage(run, "stacks and windows can be shared; leave it out",
                            "--redact cannot know what is in %s",
                            run->v.lossless ? "the original that --lossless keeps" : "raw samples");
    int rc = check_embed(run);
    return rc ? rc : sp_run_rewrite(run, change);
}
