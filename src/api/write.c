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

/* Where the bytes go: to memory, a descriptor, or a path. */
struct api_target {
    const char *path; /* NULL: not to a path */
    int fd;           /* -1: none */
    char **data;      /* NULL: not to memory */
    size_t *size;
};

static spaa_status api_target_open(const struct api_target *to, struct sp_diags *d, struct sp_output **out)
{
    return to->data      ? sp_output_memory(d, out)
           : to->fd >= 0 ? sp_output_fd(to->fd, "descriptor", d, out)
                         : sp_output_open(to->path, d, out);
}

static void api_target_give(const struct api_target *to, struct sp_output *out)
{
    size_t n;
    *to->data = sp_output_take(out, &n);
    if (to->size)
        *to->size = n;
}

static spaa_status write_to(struct spaa_profile *s, const struct api_target *to, const struct spaa_format *f,
                            const struct sp_write_opts *w)
{
    struct sp_output *out = NULL;
    if (s->regrouped) {
        sp_api_usage(&s->diags,
                     "a question told the stacks of this profile apart anew: open it again to write it");
        return SPAA_ERR_UNSUPPORTED;
    }
    spaa_status st = api_target_open(to, &s->diags, &out);
    if (!st)
        st = sp_write_profile(s->p, f, w, &s->diags, out);
    if (!st)
        st = sp_output_commit(out);
    s->diags.watch = NULL; /* it is there, or it is left: what follows is to be as before */
    spaa_status again = sp_callees_split(s->p, NULL);
    if (!st && !again && to->data)
        api_target_give(to, out);
    sp_output_close(out);
    return st ? st : again;
}

static spaa_status write_any(struct spaa_profile *profile, const struct api_target *to,
                             const struct spaa_write_options *options, struct spaa_diagnostics **diagnostics)
{
    static const char *const orders[] = {"leaf_to_root", "root_to_leaf", NULL};
    struct spaa_write_options o;
    struct sp_write_opts w;
    struct sp_own_opt *own = NULL;
    struct sp_watch watch;
    const struct spaa_format *f = NULL;
    struct sp_diags *d = &profile->diags;
    struct sp_header *h = &profile->p->header;
    bool was = h->root_first;
    int order;
    spaa_status st = sp_api_options(&o, sizeof o, options, d);
    spaa_status watched = sp_api_watch(&watch, o.watch, d);
    st = st ? st : watched;
    if (!st && !sp_api_choice(d, "frame_order", o.frame_order, orders, was, &order))
        st = SPAA_ERR_USAGE;
    if (!st)
        st = sp_output_format(to->path ? to->path : "x.spaa", o.format, d, &f);
    if (!st)
        st = sp_api_own(d, f, SP_CAN_WRITE, o.own, o.own_count, &own);
    if (!st)
        st = api_write_choose(profile->p, &o, d, &w);
    if (!st) {
        w.own = own;
        w.expand = o.expand != 0;
        w.nown = o.own_count;
        h->root_first = order == 1;
        st = write_to(profile, to, f, &w);
        h->root_first = was;
    }
    free(own);
    st = sp_api_unwatch(&watch, d, st);
    return sp_api_deliver(d, diagnostics, st);
}

spaa_status spaa_profile_write(struct spaa_profile *profile, const char *path,
                               const struct spaa_write_options *options,
                               struct spaa_diagnostics **diagnostics)
{
    const struct api_target to = {.path = path, .fd = -1};
    if (!profile || !path)
        return sp_api_missing("no profile to write, or no path to write to", diagnostics);
    return write_any(profile, &to, options, diagnostics);
}

spaa_status spaa_profile_write_fd(struct spaa_profile *profile, int fd,
                                  const struct spaa_write_options *options,
                                  struct spaa_diagnostics **diagnostics)
{
    const struct api_target to = {.fd = fd};
    if (!profile || fd < 0)
        return sp_api_missing("no profile to write, or no descriptor to write to", diagnostics);
    return write_any(profile, &to, options, diagnostics);
}

spaa_status spaa_profile_write_memory(struct spaa_profile *profile, char **data, size_t *size,
                                      const struct spaa_write_options *options,
                                      struct spaa_diagnostics **diagnostics)
{
    const struct api_target to = {.fd = -1, .data = data, .size = size};
    if (!profile || !data)
        return sp_api_missing("no profile to write, or no place for the bytes", diagnostics);
    return write_any(profile, &to, options, diagnostics);
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
