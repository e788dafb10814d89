/* Writing a profile to the output that was named. */
#include "cli.h"

/* --event and --metric, by their numbers; through the selection's own errors. */
spaa_status cli_write_opts(struct cli *c, struct sp_write_opts *w)
{
    struct sp_selection s;
    struct sp_select_opts o = {.event = c->v.event, .metric = c->v.metric, .view = "all"};
    *w = (struct sp_write_opts){
        .event = SP_NONE, .metric = SP_NONE, .jobs = cli_jobs(c), .own = c->own.v, .nown = c->own.n};
    if (!c->v.event && !c->v.metric)
        return SPAA_OK;
    spaa_status st = sp_select(c->profile, &o, &c->diags, &s);
    if (st)
        return st;
    w->event = c->v.event ? s.event : SP_NONE;
    w->metric = c->v.metric ? s.metric : SP_NONE;
    sp_selection_free(&s);
    return SPAA_OK;
}

spaa_status cli_write(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    spaa_status st = sp_output_open(c->v.output, &c->diags, &out);
    if (!st)
        st = f->write(c->profile, w, &c->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_output_close(out);
    return st;
}
