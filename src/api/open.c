/* Opening: the format by name or by content, its reader, and coarser frames or groups for SPAA. */
#include "api/api.h"

#include "model/absorb.h"

#include <stdlib.h>
#include <string.h>

static spaa_status parse_groups(struct sp_diags *d, const char *list, unsigned *out)
{
    *out = SP_BY_DEFAULT | SP_BY_STATE;
    if (!list)
        return SPAA_OK;
    *out = 0;
    if (strcmp(list, "none") == 0)
        return SPAA_OK;
    while (*list) {
        size_t n = strcspn(list, ",");
        int i = sp_name_index(sp_group_names, list, n);
        if (i < 0)
            return sp_api_usage(d,
                                "group_by has no key \"%.*s\": there are pid, tid, comm, cpu, state; or none",
                                (int)n, list);
        *out |= 1u << i;
        list += n;
        list += *list == ',';
    }
    return SPAA_OK;
}

static spaa_status read_options(const struct spaa_open_options *o, struct sp_diags *d,
                                struct sp_read_opts *out)
{
    int frames;
    if (!sp_api_choice(d, "frames", o->frames, sp_granularity_names + 1, SP_FRAMES_ADDRESS - 1, &frames))
        return SPAA_ERR_USAGE;
    *out = (struct sp_read_opts){
        .frames = (enum sp_granularity)(frames + 1),
        .samples = o->samples != 0,
        .strict = o->strict != 0,
        .jobs = o->jobs < 256 ? o->jobs : 256,
        .symbols = {o->symfs, o->debug_dir, o->kallsyms, o->no_symbols != 0},
    };
    return parse_groups(d, o->group_by, &out->group_by);
}

static spaa_status find_format(struct sp_input *in, const char *name, struct sp_diags *d,
                               const struct spaa_format **out)
{
    const unsigned char *p;
    const char *reason;
    size_t n;
    if (name) {
        *out = sp_format_by_name(name);
        if (!*out)
            return sp_api_usage(d, "there is no format \"%s\"", name);
        if (!((*out)->caps & SP_CAN_READ))
            return sp_api_usage(d, "the format %s cannot be read", name);
        return SPAA_OK;
    }
    spaa_status st = sp_input_peek(in, 1, &p, &n);
    if (!st)
        st = sp_input_failed(in);
    if (st)
        return st;
    if (!n) {
        sp_emit(d, SP_E004, SP_AT(0), " ");
        return SPAA_ERR_INPUT;
    }
    *out = sp_format_probe(in, &reason);
    if (*out)
        return SPAA_OK;
    sp_emit(d, SP_E005, SP_AT(0), "no reader knows its first bytes");
    return SPAA_ERR_INPUT;
}

/* SPAA is read as it is: coarser frames and groups are made of it here, finer ones are not in it. */
static spaa_status regroup(struct spaa_profile *s, const struct spaa_open_options *o,
                           const struct sp_read_opts *r)
{
    const struct sp_header *h = &s->p->header;
    if (strcmp(s->format->name, "spaa") != 0 || (!o->frames && !o->group_by))
        return SPAA_OK;
    if (h->has_x_spaa &&
        ((o->frames && h->frames > r->frames) || (o->group_by && r->group_by & ~h->group_by))) {
        sp_emit(&s->diags, SP_E033, SP_AT_NOTHING, "its frames are by %s", sp_granularity_names[h->frames]);
        return SPAA_ERR_USAGE;
    }
    struct sp_profile *coarse = NULL;
    struct sp_absorb_opts how = {r->frames, o->group_by ? r->group_by : ~0u, NULL};
    spaa_status st = sp_profile_new(&s->diags, &coarse);
    if (!st)
        st = sp_profile_absorb(coarse, s->p, &how, &s->diags);
    if (st) {
        sp_profile_free(coarse);
        return st;
    }
    sp_profile_free(s->p);
    s->p = coarse;
    return SPAA_OK;
}

static spaa_status fill(struct spaa_profile *s, struct sp_input *in, const struct spaa_open_options *o)
{
    struct sp_read_opts r;
    struct sp_own_opt *own = NULL;
    spaa_status st = read_options(o, &s->diags, &r);
    if (!st)
        st = find_format(in, o->format, &s->diags, &s->format);
    if (!st) {
        sp_diags_source(&s->diags, sp_input_name(in), s->format->name);
        st = sp_api_own(&s->diags, s->format, SP_CAN_READ, o->own, o->own_count, &own);
    }
    if (!st)
        st = sp_profile_new(&s->diags, &s->p);
    if (!st) {
        r.own = own;
        r.nown = o->own_count;
        st = s->format->read(in, &r, &s->diags, s->p);
    }
    if (!st && !s->p->stacks.n && !s->p->events.n) {
        sp_emit(&s->diags, SP_E011, SP_AT_NOTHING, " ");
        st = SPAA_ERR_INPUT;
    }
    if (!st && r.strict && sp_diags_count(&s->diags, SP_LOSS))
        st = SPAA_ERR_INPUT;
    free(own);
    return st ? st : regroup(s, o, &r);
}

/* `data` NULL: from the path. */
static spaa_status open_any(const char *path, const void *data, size_t size,
                            const struct spaa_open_options *options, struct spaa_profile **profile,
                            struct spaa_diagnostics **diagnostics)
{
    struct spaa_open_options o;
    struct sp_input *in = NULL;
    struct spaa_profile *s = calloc(1, sizeof *s);
    if (!s)
        return SPAA_ERR_NOMEM;
    sp_diags_init(&s->diags);
    spaa_status st = sp_api_options(&o, sizeof o, options, &s->diags);
    if (!st && (!profile || !path))
        st = sp_api_usage(&s->diags, "no input, or no place for the profile");
    if (!st) {
        sp_diags_source(&s->diags, strcmp(path, "-") == 0 && !data ? "<stdin>" : path, NULL);
        st = data ? sp_input_memory(data, size, path, &s->diags, &in) : sp_input_open(path, &s->diags, &in);
    }
    if (!st)
        st = fill(s, in, &o);
    sp_input_close(in);
    sp_api_deliver(&s->diags, diagnostics, st);
    if (st)
        spaa_profile_free(s);
    else
        *profile = s;
    return st;
}

spaa_status spaa_profile_open(const char *path, const struct spaa_open_options *options,
                              struct spaa_profile **profile, struct spaa_diagnostics **diagnostics)
{
    return open_any(path, NULL, 0, options, profile, diagnostics);
}

spaa_status spaa_profile_open_memory(const void *data, size_t size, const char *name,
                                     const struct spaa_open_options *options, struct spaa_profile **profile,
                                     struct spaa_diagnostics **diagnostics)
{
    return open_any(name ? name : "memory", data ? data : "", data ? size : 0, options, profile, diagnostics);
}

void spaa_profile_free(struct spaa_profile *profile)
{
    if (!profile)
        return;
    sp_profile_free(profile->p);
    sp_diags_free(&profile->diags);
    free(profile);
}
