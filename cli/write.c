/* Writing a profile to the output that was named. */
#include "cli.h"
#include "output.h"

#include "analysis/names.h"
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

/* --event and --metric, by their numbers; through the selection's own errors. */
spaa_status cli_write_opts(struct cli *c, struct sp_write_opts *w)
{
    struct sp_selection s;
    struct sp_select_opts o = {.event = c->v.event, .metric = c->v.metric, .view = "all"};
    *w = (struct sp_write_opts){
        .event = SP_NONE, .metric = SP_NONE, .jobs = cli_jobs(c), .own = c->own.v, .nown = c->own.n};
    w->add_states = c->v.state || c->v.view;
    if (!c->v.event && !c->v.metric)
        return SPAA_OK;
    spaa_status st = sp_select(c->profile, &o, &c->diags, &s);
    if (st)
        return st;
    bool event = c->v.event || names_event(c->profile, s.event, c->v.metric);
    bool metric = c->v.metric || s.metric != c->profile->events.v[s.event].primary;
    w->event = event ? s.event : SP_NONE;
    w->metric = metric ? s.metric : SP_NONE;
    sp_selection_free(&s);
    return SPAA_OK;
}

/* A recording of several files goes into a folder; *done: it did. */
static spaa_status write_folder(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w,
                                bool *done)
{
    size_t files;
    bool part = w->event != SP_NONE || w->metric != SP_NONE || w->nown;
    *done = false;
    if (!c->profile->originals || w->original == SP_ORIGINAL_UNUSED || part ||
        strcmp(c->v.output, "-") == 0) /* whose writer says that it is none */
        return SPAA_OK;
    spaa_status st = sp_original_files(c->profile, f->name, &files);
    if (!st && files > 1)
        st = sp_original_give_folder(c->profile, f, w, &c->diags, c->v.output, done);
    return st;
}

spaa_status cli_write(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    bool done;
    spaa_status st = write_folder(c, f, w, &done);
    if (st || done)
        return st;
    st = cli_output_open(c, c->v.output, &out);
    if (!st)
        st = sp_write_profile(c->profile, f, w, &c->diags, out);
    if (!st)
        st = sp_output_commit(out);
    cli_output_close(out);
    return st;
}

/* SPAA was read: whether it has the original that --lossless, or a format without a writer, needs. */
static int write_check_original(struct cli *c)
{
    const char *to = c->to->name;
    bool writer = c->to->caps & SP_CAN_WRITE;
    size_t files;
    if (strcmp(c->input->name, "spaa") != 0 || (!c->v.lossless && writer))
        return EXIT_FINE;
    if (strcmp(to, "spaa") == 0)
        return c->v.frames || c->v.group_by ? cli_usage(c, "leave it out, or --lossless",
                                                        "--lossless keeps SPAA as it is, --%s does not",
                                                        c->v.frames ? "frames" : "group-by")
                                            : EXIT_FINE;
    if (c->v.lossless && (c->v.event || c->v.metric || c->own.n))
        return cli_usage(c, "leave it out, or --lossless",
                         "--lossless gives all of the original, --%s asks for a part",
                         c->v.event    ? "event"
                         : c->v.metric ? "metric"
                                       : c->own.v[0].name);
    if (sp_original_files(c->profile, to, &files))
        return EXIT_IO;
    if (files && !c->names_asked)
        return EXIT_FINE;
    if (!writer)
        sp_named_format(to, SP_CAN_WRITE, &c->diags);
    return writer
               ? cli_usage(c, "without --lossless it is rendered", "the profile keeps no original of %s", to)
               : EXIT_USAGE;
}

int cli_rewrite(struct cli *c, spaa_status (*change)(struct cli *c, const struct sp_read_opts *opts))
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    const struct spaa_format *to = NULL;
    struct sp_read_opts opts;
    struct sp_write_opts w;
    int order;
    if (!c->v.output)
        c->v.output = "-";
    if (sp_output_format_named(c->v.output, c->v.to, &c->diags, &to))
        return EXIT_USAGE;
    c->to = to;
    if (!cli_read_opts(c, &opts) || !cli_choice(c, "frame-order", c->v.frame_order, orders, -1, &order))
        return EXIT_USAGE;
    spaa_status st = cli_read(c, c->files.v[0], &opts, &c->profile);
    if (st)
        return cli_exit_of(st);
    int rc = cli_check_own(c, to);
    if (!rc)
        rc = write_check_original(c);
    if (rc)
        return rc;
    c->states_own = (to->caps & SP_CAN_STATE_OWN) != 0;
    st = change(c, &opts);
    if (!st && order >= 0)
        c->profile->header.root_first = order == 1;
    if (!st)
        st = cli_write_opts(c, &w);
    if (c->v.lossless)
        w.original = SP_ORIGINAL_ASKED;
    if (c->names_asked)
        w.original = SP_ORIGINAL_UNUSED;
    if (!st && c->v.strict && sp_diags_count(&c->diags, SP_LOSS))
        return EXIT_IO;
    if (!st)
        st = cli_write(c, to, &w);
    return cli_exit_of(st);
}
