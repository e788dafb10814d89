/* spaa convert: one profile in another format. */
#include "cli.h"

#include "formats/open.h"

/* --event and --metric, by their numbers; through the selection's own errors. */
static spaa_status choose(struct cli *c, struct sp_write_opts *w)
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

static spaa_status write_to(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w)
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

int sp_cmd_convert(struct cli *c)
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    struct sp_read_opts opts;
    struct sp_write_opts w;
    int order;
    if (c->files.n != 1)
        return cli_usage(
            c, "several recordings of one program: give them to a view together, as in `spaa top A B`",
            c->files.n ? "convert takes one input, not %zu" : "convert needs an input%.0zu", c->files.n);
    if (!c->v.output && !c->v.to)
        return cli_usage(c, "for example: spaa convert perf.data -o profile.spaa",
                         "convert needs an output: -o FILE");
    if (!c->v.output)
        c->v.output = "-";
    const struct spaa_format *to = NULL;
    if (sp_output_format(c->v.output, c->v.to, &c->diags, &to))
        return EXIT_USAGE;
    if (!cli_read_opts(c, &opts) || !cli_choice(c, "frame-order", c->v.frame_order, orders, -1, &order))
        return EXIT_USAGE;
    spaa_status st = cli_read(c, c->files.v[0], &opts, &c->profile);
    if (st)
        return cli_exit_of(st);
    int rc = cli_check_own(c, c->input, to);
    if (rc)
        return rc;
    struct sp_grain grain = {c->v.frames ? opts.frames : SP_FRAMES_FOREIGN, c->v.group_by != NULL,
                             opts.group_by};
    st = sp_coarsen(&c->profile, c->input, &grain, &c->diags);
    if (!st && order >= 0)
        c->profile->header.root_first = order == 1;
    if (!st)
        st = choose(c, &w);
    if (!st && c->v.strict && sp_diags_count(&c->diags, SP_LOSS))
        return EXIT_IO;
    if (!st)
        st = write_to(c, to, &w);
    return cli_exit_of(st);
}
