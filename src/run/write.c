/* Writing a profile to the output that was named. */
#include "run/run.h"

#include "analysis/at.h"
#include "analysis/names.h"
#include "ask/usage.h"
#include "formats/open.h"
#include "formats/original.h"

#include <string.h>

/* A metric that no other event has names its event. */
static bool names_event(const struct sp_profile *p, uint32_t event, const char *metric)
{
    for (uint32_t e = 0; e < p->events.n; e++)
        if (e != event && sp_event_metric(p, e, metric) != SP_NONE)
            return false;
    return p->events.n > 1;
}

/* A moment: what is written is as of then only where the profile was read up to it. */
static spaa_status write_moment(struct sp_run *run, bool *all)
{
    struct sp_at at;
    spaa_status st = sp_at_parse(run->v.at, run->diags, &at);
    *all = at.kind == SP_AT_TIME && run->to && strcmp(run->to->name, "spaa") == 0;
    if (!st && at.kind == SP_AT_TIME && !run->profile->header.stopped)
        st = sp_usage(run->diags, "convert heaptrack's own file; of windows, spaa top FILE --at SECONDS",
                      "the profile was not read up to --at %s", run->v.at);
    return st;
}

/* --event, --metric and --at, by their numbers; through the selection's own errors. */
spaa_status sp_run_write_opts(struct sp_run *run, struct sp_write_opts *w)
{
    struct sp_selection s;
    struct sp_select_opts o = {
        .event = run->v.event, .metric = run->v.metric, .at = run->v.at, .view = "all"};
    bool all;
    *w = (struct sp_write_opts){
        .event = SP_NONE, .metric = SP_NONE, .jobs = sp_run_jobs(run), .own = run->own.v, .nown = run->own.n};
    w->expand = run->v.expand;
    w->add_states = run->v.state || run->v.view;
    spaa_status st = write_moment(run, &all);
    if (st || (!run->v.event && !run->v.metric && (!run->v.at || all)))
        return st;
    st = sp_select(run->profile, &o, run->diags, &s);
    if (st)
        return st;
    const char *name = sp_pstr(run->profile, run->profile->metrics.v[s.metric].name).p;
    bool event = run->v.event || names_event(run->profile, s.event, name);
    bool metric = run->v.metric || s.metric != run->profile->events.v[s.event].primary;
    w->event = event ? s.event : SP_NONE;
    w->metric = metric ? s.metric : SP_NONE;
    sp_selection_free(&s);
    return SPAA_OK;
}

/* A recording of several files goes into a folder; *done: it did. */
static spaa_status write_folder(struct sp_run *run, const struct spaa_format *f,
                                const struct sp_write_opts *w, bool *done)
{
    size_t files;
    bool part = w->event != SP_NONE || w->metric != SP_NONE || w->nown;
    *done = false;
    if (!run->profile->originals || w->original == SP_ORIGINAL_UNUSED || part ||
        strcmp(run->v.output, "-") == 0) /* whose writer says that it is none */
        return SPAA_OK;
    spaa_status st = sp_original_files(run->profile, f->name, &files);
    if (!st && files > 1)
        st = sp_original_give_folder(run->profile, f, w, run->diags, run->v.output, done);
    return st;
}

spaa_status sp_run_write(struct sp_run *run, const struct spaa_format *f, const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    bool done;
    spaa_status st = write_folder(run, f, w, &done);
    if (st || done)
        return st;
    st = sp_run_output_open(run, run->v.output, &out);
    if (!st)
        st = sp_write_profile(run->profile, f, w, run->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    return st;
}

/* SPAA was read: whether it has the original that --lossless, or a format without a writer, needs. */
static int write_check_original(struct sp_run *run)
{
    const char *to = run->to->name;
    bool writer = run->to->caps & SP_CAN_WRITE;
    size_t files;
    if (strcmp(run->input->name, "spaa") != 0 || (!run->v.lossless && writer))
        return SP_EXIT_FINE;
    if (strcmp(to, "spaa") == 0)
        return run->v.frames || run->v.group_by
                   ? sp_run_usage(run, "leave it out, or --lossless",
                                  "--lossless keeps SPAA as it is, --%s does not",
                                  run->v.frames ? "frames" : "group-by")
                   : SP_EXIT_FINE;
    if (run->v.lossless && (run->v.event || run->v.metric || run->own.n))
        return sp_run_usage(run, "leave it out, or --lossless",
                            "--lossless gives all of the original, --%s asks for a part",
                            run->v.event    ? "event"
                            : run->v.metric ? "metric"
                                            : run->own.v[0].name);
    if (sp_original_files(run->profile, to, &files))
        return SP_EXIT_IO;
    if (files && !run->names_asked)
        return SP_EXIT_FINE;
    if (!writer)
        sp_named_format(to, SP_CAN_WRITE, run->diags);
    return writer ? sp_run_usage(run, "without --lossless it is rendered",
                                 "the profile keeps no original of %s", to)
                  : SP_EXIT_USAGE;
}

int sp_run_rewrite(struct sp_run *run,
                   spaa_status (*change)(struct sp_run *run, const struct sp_read_opts *opts))
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    const struct spaa_format *to = NULL;
    struct sp_read_opts opts;
    struct sp_write_opts w;
    int order;
    if (!run->v.output)
        run->v.output = "-";
    if (sp_output_format_named(run->v.output, run->v.to, run->diags, &to))
        return SP_EXIT_USAGE;
    run->to = to;
    if (run->v.embed_source && strcmp(to->name, "spaa") != 0)
        return sp_run_usage(run, "write SPAA: -o FILE.spaa, or --to spaa", "%s has no place for source text",
                            to->name);
    spaa_status st = sp_run_read_opts(run, &opts);
    if (st)
        return sp_run_exit(run, st);
    if (!sp_option_choice(run->diags, "frame-order", run->v.frame_order, orders, -1, &order))
        return SP_EXIT_USAGE;
    st = sp_run_read(run, run->files.v[0], &opts, &run->profile);
    if (st)
        return sp_run_exit(run, st);
    int rc = sp_run_check_own(run, to);
    if (!rc)
        rc = write_check_original(run);
    if (rc)
        return rc;
    run->states_own = (to->caps & SP_CAN_STATE_OWN) != 0;
    st = change(run, &opts);
    if (!st && order >= 0)
        run->profile->header.root_first = order == 1;
    if (!st)
        st = sp_run_write_opts(run, &w);
    if (run->v.lossless)
        w.original = SP_ORIGINAL_ASKED;
    if (run->names_asked)
        w.original = SP_ORIGINAL_UNUSED;
    if (!st && run->v.strict && sp_diags_count(run->diags, SP_LOSS))
        return SP_EXIT_IO;
    if (!st)
        st = sp_run_write(run, to, &w);
    return sp_run_exit(run, st);
}
