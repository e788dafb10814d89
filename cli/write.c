/* Writing a profile to the output that was named. */
#include "cli.h"
#include "output.h"

#include "analysis/names.h"
#include "formats/open.h"

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

spaa_status cli_write(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    spaa_status st = cli_output_open(c, c->v.output, &out);
    if (!st)
        st = sp_write_profile(c->profile, f, w, &c->diags, out);
    if (!st)
        st = sp_output_commit(out);
    cli_output_close(out);
    return st;
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
    c->states_own = (to->caps & SP_CAN_STATE_OWN) != 0;
    st = change(c, &opts);
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
