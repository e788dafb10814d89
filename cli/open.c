/* Opening inputs: format by content, symbols, several files as one profile. */
#include "cli.h"

#include "analysis/chains.h"
#include "analysis/regroup.h"
#include "ask/common.h"
#include "formats/original.h"
#include "io/input.h"
#include "model/callees.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned cli_jobs(const struct cli *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = c->v.jobs ? strtol(c->v.jobs, NULL, 10) : cores;
    return jobs < 1 ? 1 : jobs > 256 ? 256 : (unsigned)jobs;
}

/* What filters and groupings of the question need to tell apart. */
static unsigned needed_groups(const struct cli *c)
{
    return c->needs_groups | (c->v.pid ? SP_BY_PID : 0u);
}

/* A grouping that was asked for is made once the filters are done. */
static unsigned filtered_groups(const struct cli *c)
{
    return (c->v.thread ? SP_BY_TID | SP_BY_COMM : 0u) | (c->v.comm ? SP_BY_COMM : 0u) |
           (c->v.state || c->v.view ? SP_BY_STATE : 0u);
}

spaa_status cli_regroup(struct cli *c)
{
    /* A file that says what it is grouped by, and is not by what is asked: its samples may know. */
    bool grouped = c->profile->header.has_x_spaa && strcmp(c->input->name, "spaa") == 0;
    unsigned missing = grouped ? sp_missing_groups(c->profile, needed_groups(c)) : 0;
    spaa_status st = missing ? sp_regroup(c->profile, missing, &c->diags) : SPAA_OK;
    return st ? st : cli_regroup_labels(c);
}

bool cli_read_opts(struct cli *c, struct sp_read_opts *out)
{
    int frames = SP_FRAMES_ADDRESS;
    long jobs;
    *out = (struct sp_read_opts){0};
    if (!cli_choice(c, "frames", c->v.frames, sp_granularity_names + 1, SP_FRAMES_ADDRESS - 1, &frames) ||
        !cli_number(c, "jobs", c->v.jobs, 1, 256, 1, &jobs) ||
        sp_parse_groups(c->v.group_by, &c->diags, &out->group_by) || !cli_label_keys(c))
        return false;
    out->labels = c->v.group_by ? &c->kept : NULL;
    out->group_by |= needed_groups(c) | filtered_groups(c);
    out->frames = c->v.frames ? (enum sp_granularity)(frames + 1) : SP_FRAMES_ADDRESS;
    out->samples = c->v.samples || c->v.lossless || c->v.time || c->needs_samples ||
                   (c->files.n == 1 && cli_needs_labels(c)) ||
                   (c->command->groups & G_DIFF && cli_needs_labels(c));
    out->windows = c->needs_windows;
    out->strict = c->v.strict != NULL;
    out->no_ids = c->no_ids && c->files.n == 1;
    out->jobs = cli_jobs(c);
    out->event = c->v.event;
    out->symbols = (struct sp_symbol_opts){.symfs = c->v.symfs,
                                           .debug_dir = c->v.debug_dir,
                                           .kallsyms = c->v.kallsyms,
                                           .no_symbols = c->v.no_symbols != NULL,
                                           .debuginfod = c->v.debuginfod != NULL,
                                           .no_inline = c->v.no_inline != NULL,
                                           .no_lines = c->v.no_lines || c->no_lines};
    if (c->v.debuginfod) { /* seconds for a file to begin, and to be there; asked for otherwise, it is so */
        setenv("DEBUGINFOD_TIMEOUT", "10", 0);
        setenv("DEBUGINFOD_MAXTIME", "120", 0);
    }
    out->own = c->own.v;
    out->nown = c->own.n;
    return true;
}

/*
 * What can be told before a long read: only SPAA keeps an original, and only of SPAA can one be given back as
 * it was, --lossless or not.
 */
static spaa_status open_check_original(struct cli *c, const struct spaa_format *from)
{
    const struct spaa_format *to = c->to;
    bool spaa = strcmp(from->name, "spaa") == 0;
    if (!to || spaa)
        return SPAA_OK;
    sp_diags_source(&c->diags, NULL, NULL); /* not of the input */
    if (!sp_named_format(to->name, SP_CAN_WRITE, &c->diags))
        return SPAA_ERR_USAGE;
    if (!c->v.lossless || strcmp(to->name, "spaa") == 0)
        return SPAA_OK;
    cli_usage(c, "keep it as SPAA: --lossless -o FILE.spaa; without --lossless it is converted",
              "--lossless keeps the bytes of %s in SPAA, not in %s", from->name, to->name);
    return SPAA_ERR_USAGE;
}

spaa_status cli_read(struct cli *c, const char *path, const struct sp_read_opts *given,
                     struct sp_profile **out)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    const struct spaa_format *f = NULL;
    struct sp_input *in = NULL;
    struct sp_read_opts how = *given, *opts = &how;
    sp_diags_source(&c->diags, name, NULL);
    spaa_status st = sp_input_open(path, &c->diags, &in);
    if (!st)
        sp_input_set_jobs(in, opts->jobs);
    if (!st && c->v.lossless)
        st = sp_original_keep(in, &c->diags, &opts->keeper);
    if (!st)
        st = sp_input_format(in, c->v.from, &c->diags, &f);
    if (!st)
        st = open_check_original(c, f);
    if (!st) {
        c->input = c->input ? c->input : f;
        sp_diags_source(&c->diags, name, f->name);
        struct progress *bar = progress_start(c, in);
        st = sp_read_profile(in, f, opts, &c->diags, out);
        progress_stop(bar);
    }
    sp_input_close(in);
    sp_keeper_free(how.keeper);
    sp_diags_source(&c->diags, NULL, NULL);
    return st;
}

spaa_status cli_read_all(struct cli *c, const struct sp_files_opts *how)
{
    struct sp_files_opts opts = *how;
    size_t done = 0;
    opts.from = c->v.from;
    opts.jobs = cli_jobs(c);
    opts.done = &done;
    struct progress *bar = progress_start_files(c, &done, c->files.n);
    spaa_status st = sp_read_files(c->files.v, c->files.n, &opts, &c->diags, &c->profile, &c->formats);
    progress_stop(bar);
    c->input = c->formats.n ? c->formats.v[0] : NULL;
    return st;
}

int cli_open(struct cli *c)
{
    struct sp_files_opts how = {0};
    if (!cli_read_opts(c, &how.read))
        return EXIT_USAGE;
    if (!c->files.n)
        return cli_usage(c, "`spaa help` shows how", "%s needs a file", c->command->name);
    if (c->files.n > 1 && (c->v.time || c->needs_samples))
        return cli_usage(c, "ask each file alone", "several files as one have no common time");
    how.merge = (struct sp_merge_opts){
        .frames = SP_FRAMES_ADDRESS, .group_by = how.read.group_by | SP_BY_CPU, .by_source = true};
    spaa_status st =
        c->files.n == 1 ? cli_read(c, c->files.v[0], &how.read, &c->profile) : cli_read_all(c, &how);
    if (st)
        return cli_exit_of(st);
    st = cli_regroup(c);
    if (!st)
        st = sp_callees_split(c->profile, &c->diags);
    if (!st)
        st = cli_tag_stacks(c);
    return st ? cli_exit_of(st) : cli_check_own(c, NULL);
}

int cli_open_default(struct cli *c)
{
    if (!c->files.n && access("perf.data", R_OK) == 0 && !sp_vec_push(&c->files, "perf.data"))
        return EXIT_IO;
    return cli_open(c);
}

static bool has_own(const struct spaa_format *f, const char *name, unsigned when)
{
    for (const struct sp_format_option *o = f ? f->options : NULL; o && o->name; o++)
        if (strcmp(o->name, name) == 0 && o->when & when)
            return true;
    return false;
}

int cli_check_own(struct cli *c, const struct spaa_format *out)
{
    for (size_t i = 0; i < c->own.n; i++) {
        const char *name = c->own.v[i].name;
        bool fits = has_own(c->input, name, SP_CAN_READ) || has_own(out, name, SP_CAN_WRITE);
        for (size_t k = 0; k < c->formats.n && !fits; k++)
            fits = has_own(c->formats.v[k], name, SP_CAN_READ);
        if (!fits)
            return cli_usage(c, "`spaa formats` lists each format's own options", "--%s does not fit %s%s%s",
                             name, c->input ? c->input->name : "this input", out ? " or " : "",
                             out ? out->name : "");
    }
    return EXIT_FINE;
}

bool cli_select_opts(struct cli *c, struct sp_select_opts *out)
{
    const struct sp_question takes = {.groups = c->command->groups};
    const struct sp_ask q = {.question = &takes, .options = &c->v, .diags = &c->diags};
    return sp_ask_select_opts(&q, out);
}

spaa_status cli_select(struct cli *c, struct sp_selection *out)
{
    struct sp_select_opts o;
    spaa_status st = cli_select_opts(c, &o) ? sp_select(c->profile, &o, &c->diags, out) : SPAA_ERR_USAGE;
    if (st)
        return st;
    st = sp_chains_before(out, &o, &c->diags);
    if (st)
        sp_selection_free(out);
    return st;
}
