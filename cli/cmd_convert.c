/* spaa convert: one profile in another format. */
#include "cli.h"

#include "model/absorb.h"

#include <stdio.h>

static const struct spaa_format *output_format(struct cli *c)
{
    const struct spaa_format *f = NULL;
    if (c->v.to) {
        f = sp_format_by_name(c->v.to);
        if (!f) {
            const char *names[64];
            char near[256], hint[320];
            size_t n = 0;
            for (size_t i = 0; spaa_formats[i] && n < 63; i++)
                names[n++] = spaa_formats[i]->name;
            names[n] = NULL;
            cli_nearest(c->v.to, names, near, sizeof near);
            snprintf(hint, sizeof hint, "%s%s`spaa formats` lists them", near, *near ? " " : "");
            cli_usage(c, hint, "there is no format %s", c->v.to);
            return NULL;
        }
    } else if (strcmp(c->v.output, "-") == 0) {
        cli_usage(c, "name it with --to, for example --to folded",
                  "standard output has no extension to tell the format");
        return NULL;
    } else {
        f = sp_format_by_path(c->v.output);
        if (!f) {
            cli_usage(c, "name it with --to, for example --to spaa", "no format has the extension of %s",
                      c->v.output);
            return NULL;
        }
    }
    if (f->caps & SP_CAN_WRITE)
        return f;
    sp_emit_hint(&c->diags, SP_E021, SP_AT_NOTHING, "`spaa formats` shows which can be", "%s", f->name);
    return NULL;
}

/* Coarser frames or groups than the input has: SPAA input is aggregated again. */
static spaa_status regroup(struct cli *c, const struct sp_read_opts *opts)
{
    const struct sp_header *h = &c->profile->header;
    if (strcmp(c->input->name, "spaa") != 0 || (!c->v.frames && !c->v.group_by))
        return SPAA_OK;
    if (h->has_x_spaa &&
        ((c->v.frames && h->frames > opts->frames) || (c->v.group_by && opts->group_by & ~h->group_by))) {
        struct sp_buf hint;
        sp_buf_init(&hint, 4096);
        sp_buf_printf(&hint, "the file has frames by %s, grouped by", sp_granularity_names[h->frames]);
        for (unsigned i = 0; sp_group_names[i]; i++)
            if (h->group_by >> i & 1)
                sp_buf_printf(&hint, " %s", sp_group_names[i]);
        sp_buf_puts(&hint, "; finer ones come from the original recording: "
                           "`spaa convert RECORDING -o FILE.spaa` with the same options");
        sp_emit_hint(&c->diags, SP_E033, SP_AT_NOTHING, sp_buf_cstr(&hint), " ");
        sp_buf_free(&hint);
        return SPAA_ERR_USAGE;
    }
    struct sp_profile *coarse = NULL;
    struct sp_absorb_opts how = {opts->frames, opts->group_by, NULL};
    spaa_status st = sp_profile_new(&c->diags, &coarse);
    if (!st)
        st = sp_profile_absorb(coarse, c->profile, &how, &c->diags);
    if (st) {
        sp_profile_free(coarse);
        return st;
    }
    sp_profile_free(c->profile);
    c->profile = coarse;
    return SPAA_OK;
}

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
    const struct spaa_format *to = output_format(c);
    if (!to)
        return EXIT_USAGE;
    if (!cli_read_opts(c, &opts) || !cli_choice(c, "frame-order", c->v.frame_order, orders, -1, &order))
        return EXIT_USAGE;
    spaa_status st = cli_read(c, c->files.v[0], &opts, &c->profile);
    if (st)
        return cli_exit_of(st);
    int rc = cli_check_own(c, c->input, to);
    if (rc)
        return rc;
    st = regroup(c, &opts);
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
