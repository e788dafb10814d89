/* Opening inputs: format by content, symbols, several files as one profile. */
#include "run/run.h"

#include "analysis/at.h"
#include "analysis/chains.h"
#include "ask/common.h"
#include "ask/symbol_options.h"
#include "base/num.h"
#include "formats/original.h"
#include "io/input.h"
#include "model/callees.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned sp_run_jobs(const struct sp_run *run)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = run->v.jobs ? strtol(run->v.jobs, NULL, 10) : cores;
    return jobs < 1 ? 1 : jobs > 256 ? 256 : (unsigned)jobs;
}

/* A grouping that was asked for is made once the filters are done. */
static unsigned filtered_groups(const struct sp_run *run)
{
    return (run->v.thread ? SP_BY_TID | SP_BY_COMM : 0u) | (run->v.comm ? SP_BY_COMM : 0u) |
           (run->v.state || run->v.view ? SP_BY_STATE : 0u);
}

/* Windows that begin at the ends of a range of time; what is no range is said later. */
static void read_cuts(const char *time, int64_t cuts[SP_READ_CUTS])
{
    const char *dots = strstr(time, "..");
    size_t n = 0;
    int64_t ns;
    time += *time == '@'; /* the clocks of what has windows begin at 0 */
    if (dots && sp_seconds_ns(time, (size_t)(dots - time), &ns) && ns > 0)
        cuts[n++] = ns;
    if (dots && sp_seconds_ns(dots + 2, strlen(dots + 2), &ns) && ns > 0)
        cuts[n] = ns;
}

spaa_status sp_run_read_opts(struct sp_run *run, struct sp_read_opts *out)
{
    int frames = SP_FRAMES_ADDRESS;
    long jobs;
    struct sp_at at;
    *out = (struct sp_read_opts){0};
    if (sp_at_parse(run->v.at, run->diags, &at) ||
        !sp_option_choice(run->diags, "frames", run->v.frames, sp_granularity_names + 1,
                          SP_FRAMES_ADDRESS - 1, &frames) ||
        !sp_option_number(run->diags, "jobs", run->v.jobs, 1, 256, 1, &jobs) ||
        sp_parse_groups(run->v.group_by, run->diags, &out->group_by))
        return SPAA_ERR_USAGE;
    if (!sp_run_label_keys(run))
        return SPAA_ERR_NOMEM;
    out->labels = run->v.group_by ? &run->kept : NULL;
    out->asked = &run->kept;
    out->group_by |=
        sp_run_needed_groups(run) | filtered_groups(run) | (sp_run_wants_wall(run) ? SP_BY_TID : 0u);
    out->frames = run->v.frames ? (enum sp_granularity)(frames + 1) : SP_FRAMES_ADDRESS;
    out->samples = run->v.samples || run->v.lossless || run->v.time || run->needs.samples ||
                   sp_run_wants_wall(run) ||
                   (run->files.n == 1 && (run->needs.times || sp_run_needs_labels(run))) ||
                   (run->command.groups & G_DIFF && sp_run_needs_labels(run));
    out->fields = run->needs.fields && run->files.n == 1;
    out->windows = run->needs.windows;
    out->windows_do = run->needs.windows_do;
    out->stops = at.kind == SP_AT_TIME;
    out->stop = at.ns;
    if (out->windows && run->v.time)
        read_cuts(run->v.time, out->cuts);
    out->strict = run->v.strict != NULL;
    out->no_ids = run->needs.no_ids && run->files.n == 1;
    out->jobs = sp_run_jobs(run);
    out->event = run->v.event;
    out->symbols = sp_symbol_options(&run->v);
    out->symbols.no_lines = out->symbols.no_lines || run->needs.no_lines;
    if (run->v.debuginfod) { /* seconds for a file to begin, and to be there; asked for otherwise, it is so */
        setenv("DEBUGINFOD_TIMEOUT", "10", 0);
        setenv("DEBUGINFOD_MAXTIME", "120", 0);
    }
    out->names_later = run->names_asked;
    out->own = run->own.v;
    out->nown = run->own.n;
    return SPAA_OK;
}

/*
 * What can be told before a long read: only SPAA keeps an original, and only of SPAA can one be given back as
 * it was, --lossless or not.
 */
static spaa_status open_check_original(struct sp_run *run, const struct spaa_format *from)
{
    const struct spaa_format *to = run->to;
    bool spaa = strcmp(from->name, "spaa") == 0;
    if (!to || spaa)
        return SPAA_OK;
    sp_diags_source(run->diags, NULL, NULL); /* not of the input */
    if (!sp_named_format(to->name, SP_CAN_WRITE, run->diags))
        return SPAA_ERR_USAGE;
    if (!run->v.lossless || strcmp(to->name, "spaa") == 0)
        return SPAA_OK;
    sp_run_usage(run, "keep it as SPAA: --lossless -o FILE.spaa; without --lossless it is converted",
                 "--lossless keeps the bytes of %s in SPAA, not in %s", from->name, to->name);
    return SPAA_ERR_USAGE;
}

spaa_status sp_run_read(struct sp_run *run, const char *path, const struct sp_read_opts *given,
                        struct sp_profile **out)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    const struct spaa_format *f = NULL;
    struct sp_input *in = NULL;
    struct sp_read_opts how = *given, *opts = &how;
    sp_diags_source(run->diags, name, NULL);
    spaa_status st = sp_input_open(path, run->diags, &in);
    if (!st)
        sp_input_set_jobs(in, opts->jobs);
    if (!st && run->v.lossless)
        st = sp_original_keep(in, run->diags, &opts->keeper);
    if (!st)
        st = sp_input_format(in, run->v.from, run->diags, &f);
    if (!st)
        st = open_check_original(run, f);
    if (!st) {
        run->input = run->input ? run->input : f;
        sp_diags_source(run->diags, name, f->name);
        st = sp_read_profile(in, f, opts, run->diags, out);
    }
    sp_input_close(in);
    sp_keeper_free(how.keeper);
    sp_diags_source(run->diags, NULL, NULL);
    return st;
}

spaa_status sp_run_read_all(struct sp_run *run, const struct sp_files_opts *how)
{
    struct sp_files_opts opts = *how;
    opts.from = run->v.from;
    opts.jobs = sp_run_jobs(run);
    spaa_status st =
        sp_read_files(run->files.v, run->files.n, &opts, run->diags, &run->profile, &run->formats);
    run->input = run->formats.n ? run->formats.v[0] : NULL;
    return st;
}

/* The profiles that are there as one. */
static spaa_status open_given(struct sp_run *run)
{
    const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .by_source = true};
    if (run->ngiven == 1) {
        run->lent = true;
        return sp_run_take(run, 0, &run->profile);
    }
    run->input = run->given[0].format;
    spaa_status st = sp_run_join(run->given, run->ngiven, &how, run->diags, &run->profile);
    if (!st)
        st = sp_run_regroup_labels(run);
    return st ? st : sp_run_tag_stacks(run);
}

/* The files as one. */
static spaa_status open_files(struct sp_run *run, struct sp_files_opts *how)
{
    how->merge = (struct sp_merge_opts){
        .frames = SP_FRAMES_ADDRESS, .group_by = how->read.group_by | SP_BY_CPU, .by_source = true};
    spaa_status st = run->files.n == 1 ? sp_run_read(run, run->files.v[0], &how->read, &run->profile)
                                       : sp_run_read_all(run, how);
    if (!st)
        st = sp_run_regroup(run);
    if (!st)
        st = sp_callees_split(run->profile, run->diags);
    return st ? st : sp_run_tag_stacks(run);
}

/* Of a question with an argument the only word is taken for that; where it is a file, the argument is
 * missing. */
static int open_nothing(struct sp_run *run)
{
    const struct sp_question *q = run->command.question;
    const char *word = q && q->argument ? run->argument : NULL;
    char how[160];
    if (!word || access(word, F_OK) != 0)
        return sp_run_usage(run, "`spaa help` shows how", "%s needs a file", run->command.name);
    const char *last = strrchr(q->args, ' ');
    snprintf(how, sizeof how, "spaa %s %s", q->name, q->args);
    return sp_run_usage(run, how, "%s needs %s; %s is a file", q->name, last ? last + 1 : q->args, word);
}

/* Of several files that are no answer together, one that is not there is what is wrong: a word too many. */
static int open_no_common_time(struct sp_run *run)
{
    for (size_t i = 0; i < run->files.n; i++) {
        const char *path = run->files.v[i];
        if (strcmp(path, "-") == 0 || access(path, F_OK) == 0)
            continue;
        sp_emit(run->diags, SP_E001, SP_AT_NOTHING, "%s: %s", path, strerror(errno));
        return sp_run_exit(run, SPAA_ERR_IO);
    }
    return sp_run_usage(run, "ask each file alone", "several files as one have no common time");
}

static int open_all(struct sp_run *run)
{
    struct sp_files_opts how = {0};
    spaa_status st = sp_run_read_opts(run, &how.read);
    if (st)
        return sp_run_exit(run, st);
    if (!run->files.n)
        return open_nothing(run);
    if (run->files.n > 1 && (run->v.time || run->needs.samples || sp_run_wants_wall(run)))
        return open_no_common_time(run);
    st = run->ngiven ? open_given(run) : open_files(run, &how);
    return st ? sp_run_exit(run, st) : sp_run_check_own(run, NULL);
}

int sp_run_open(struct sp_run *run)
{
    if (!run->files.n && access("perf.data", R_OK) == 0 && !sp_vec_push(&run->files, "perf.data"))
        return SP_EXIT_IO;
    return open_all(run);
}

static bool has_own(const struct spaa_format *f, const char *name, unsigned when)
{
    for (const struct sp_format_option *o = f ? f->options : NULL; o && o->name; o++)
        if (strcmp(o->name, name) == 0 && o->when & when)
            return true;
    return false;
}

int sp_run_check_own(struct sp_run *run, const struct spaa_format *out)
{
    for (size_t i = 0; i < run->own.n; i++) {
        const char *name = run->own.v[i].name;
        bool fits = has_own(run->input, name, SP_CAN_READ) || has_own(out, name, SP_CAN_WRITE);
        for (size_t k = 0; k < run->formats.n && !fits; k++)
            fits = has_own(run->formats.v[k], name, SP_CAN_READ);
        if (!fits)
            return sp_run_usage(
                run, "`spaa formats` lists each format's own options", "--%s does not fit %s%s%s", name,
                run->input ? run->input->name : "this input", out ? " or " : "", out ? out->name : "");
    }
    return SP_EXIT_FINE;
}

bool sp_run_select_opts(struct sp_run *run, struct sp_select_opts *out)
{
    const struct sp_question takes = {.groups = run->command.groups};
    const struct sp_ask q = {.question = &takes, .options = &run->v, .diags = run->diags};
    return sp_ask_select_opts(&q, out);
}

spaa_status sp_run_select(struct sp_run *run, struct sp_selection *out)
{
    struct sp_select_opts o;
    if (!sp_run_select_opts(run, &o))
        return SPAA_ERR_USAGE;
    o.allocators_elsewhere = run->v.diff != NULL; /* as the base, or what is compared with it */
    spaa_status st = sp_select(run->profile, &o, run->diags, out);
    if (st)
        return st;
    st = sp_chains_before(out, &o, run->diags);
    if (st)
        sp_selection_free(out);
    return st;
}
