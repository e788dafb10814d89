/* Writing a profile, and reading and writing in one go. */
#include "api/api.h"

#include "analysis/select.h"
#include "formats/open.h"
#include "model/callees.h"

#include <stdlib.h>
#include <string.h>

/* Event and metric by name: a selection knows how to find them and what to say when they are not there. */
static spaa_status api_write_choose(const struct sp_profile *p, const struct spaa_write_options *o,
                                    struct sp_diags *d, struct sp_write_opts *w)
{
    struct sp_selection s;
    struct sp_select_opts asked = {.event = o->event, .metric = o->metric, .view = "all"};
    *w = (struct sp_write_opts){.event = SP_NONE, .metric = SP_NONE};
    if (!o->event && !o->metric)
        return SPAA_OK;
    spaa_status st = sp_select(p, &asked, d, &s);
    if (st)
        return st;
    if (o->event)
        w->event = s.event;
    if (o->metric)
        w->metric = s.metric;
    sp_selection_free(&s);
    return SPAA_OK;
}

static spaa_status write_file(struct spaa_profile *s, const char *path, const struct spaa_format *f,
                              const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    spaa_status st = sp_output_open(path, &s->diags, &out);
    if (!st)
        st = sp_write_profile(s->p, f, w, &s->diags, out);
    spaa_status again = sp_callees_split(s->p, NULL);
    if (!st)
        st = sp_output_commit(out);
    sp_output_close(out);
    return st ? st : again;
}

spaa_status spaa_profile_write(struct spaa_profile *profile, const char *path,
                               const struct spaa_write_options *options,
                               struct spaa_diagnostics **diagnostics)
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    struct spaa_write_options o;
    struct sp_write_opts w;
    struct sp_own_opt *own = NULL;
    const struct spaa_format *f = NULL;
    if (!profile)
        return sp_api_missing("no profile to write", diagnostics);
    struct sp_diags *d = &profile->diags;
    struct sp_header *h = &profile->p->header;
    bool was = h->root_first;
    int order;
    spaa_status st = sp_api_options(&o, sizeof o, options, d);
    if (!st && !path)
        st = sp_api_usage(d, "no path to write to");
    if (!st && !sp_api_choice(d, "frame_order", o.frame_order, orders, was, &order))
        st = SPAA_ERR_USAGE;
    if (!st)
        st = sp_output_format(path, o.format, d, &f);
    if (!st)
        st = sp_api_own(d, f, SP_CAN_WRITE, o.own, o.own_count, &own);
    if (!st)
        st = api_write_choose(profile->p, &o, d, &w);
    if (!st) {
        w.own = own;
        w.nown = o.own_count;
        h->root_first = order == 1;
        st = write_file(profile, path, f, &w);
        h->root_first = was;
    }
    free(own);
    return sp_api_deliver(d, diagnostics, st);
}

/* What can be told from the options alone is told before a long read. */
static spaa_status api_write_check_output(const char *path, const struct spaa_write_options *options,
                                          struct spaa_diagnostics **diagnostics)
{
    struct spaa_write_options o;
    const struct spaa_format *f;
    struct sp_diags d;
    sp_diags_init(&d);
    spaa_status st = sp_api_options(&o, sizeof o, options, &d);
    if (!st && !path)
        st = sp_api_usage(&d, "no path to write to");
    if (!st)
        st = sp_output_format(path, o.format, &d, &f);
    return sp_api_deliver(&d, diagnostics, st);
}

spaa_status spaa_convert(const char *in, const char *out, const struct spaa_open_options *open,
                         const struct spaa_write_options *write, struct spaa_diagnostics **diagnostics)
{
    struct spaa_profile *p = NULL;
    if (!in)
        return sp_api_missing("no input to convert", diagnostics);
    spaa_status st = api_write_check_output(out, write, diagnostics);
    if (!st)
        st = spaa_profile_open(in, open, &p, diagnostics);
    if (!st)
        st = spaa_profile_write(p, out, write, diagnostics);
    spaa_profile_free(p);
    return st;
}
