/* Opening: the format by name or by content, its reader, and coarser frames or groups for SPAA. */
#include "api/api.h"

#include "formats/open.h"
#include "model/callees.h"

#include <stdlib.h>
#include <string.h>

spaa_status sp_api_read_options(const struct spaa_open_options *o, struct sp_diags *d,
                                struct sp_read_opts *out)
{
    int frames;
    if (!sp_api_choice(d, "frames", o->frames, sp_granularity_names + 1, SP_FRAMES_ADDRESS - 1, &frames))
        return SPAA_ERR_USAGE;
    *out = (struct sp_read_opts){
        .frames = (enum sp_granularity)(frames + 1),
        .samples = o->samples != 0,
        .strict = o->strict != 0,
        .windows = o->windows,
        .jobs = o->jobs < 256 ? o->jobs : 256,
        .symbols = {.symfs = o->symfs,
                    .debug_dir = o->debug_dir,
                    .dsym = o->dsym,
                    .kallsyms = o->kallsyms,
                    .store = o->symbol_store,
                    .trust_maps = o->trust_maps != 0,
                    .no_symbols = o->no_symbols != 0,
                    .no_inline = o->no_inline != 0,
                    .no_debug = o->no_inline && o->no_lines,
                    .no_lines = o->no_lines != 0},
    };
    return sp_parse_groups(o->group_by, d, &out->group_by);
}

static const char *api_word(struct spaa_profile *s, const char *word, bool *ok)
{
    const char *copy = word ? sp_arena_dup(&s->words, word, strlen(word)) : NULL;
    *ok = *ok && (copy || !word);
    return copy;
}

/* The options as the command line has them: "" is a flag that was given. */
static bool api_keep_options(struct spaa_profile *s, const struct spaa_open_options *o)
{
    bool ok = true;
    s->opened = (struct sp_options){.from = api_word(s, o->format, &ok),
                                    .symfs = api_word(s, o->symfs, &ok),
                                    .debug_dir = api_word(s, o->debug_dir, &ok),
                                    .dsym = api_word(s, o->dsym, &ok),
                                    .kallsyms = api_word(s, o->kallsyms, &ok),
                                    .symbol_store = api_word(s, o->symbol_store, &ok),
                                    .trust_maps = o->trust_maps ? "" : NULL,
                                    .no_symbols = o->no_symbols ? "" : NULL,
                                    .no_inline = o->no_inline ? "" : NULL,
                                    .no_lines = o->no_lines ? "" : NULL};
    return ok;
}

static spaa_status api_open_fill(struct spaa_profile *s, struct sp_input *in,
                                 const struct spaa_open_options *o)
{
    struct sp_read_opts r;
    struct sp_own_opt *own = NULL;
    spaa_status st = sp_api_read_options(o, &s->diags, &r);
    if (!st) {
        sp_input_set_jobs(in, r.jobs);
        st = sp_input_format(in, o->format, &s->diags, &s->format);
    }
    if (!st) {
        sp_diags_source(&s->diags, sp_input_name(in), s->format->name);
        st = sp_api_own(&s->diags, s->format, SP_CAN_READ, o->own, o->own_count, &own);
    }
    if (!st) {
        r.own = own;
        r.nown = o->own_count;
        st = sp_read_profile(in, s->format, &r, &s->diags, &s->p);
    }
    free(own);
    struct sp_grain grain = {o->frames ? r.frames : SP_FRAMES_FOREIGN, o->group_by != NULL, r.group_by, NULL};
    if (!st)
        st = sp_coarsen(&s->p, s->format, &grain, &s->diags);
    if (!st)
        st = sp_callees_split(s->p, &s->diags);
    return st ? st : sp_api_list_windows(s);
}

/* Where the bytes come from: memory, a descriptor, or a path. */
struct api_source {
    const char *name;
    const void *data; /* NULL: not from memory */
    size_t size;
    int fd; /* -1: none */
};

static spaa_status api_source_open(const struct api_source *from, struct sp_diags *d, struct sp_input **in)
{
    bool standard = !from->data && from->fd < 0 && strcmp(from->name, "-") == 0;
    sp_diags_source(d, standard ? "<stdin>" : from->name, NULL);
    return from->data      ? sp_input_memory(from->data, from->size, from->name, d, in)
           : from->fd >= 0 ? sp_input_open_fd(from->fd, from->name, d, in)
                           : sp_input_open(from->name, d, in);
}

static spaa_status open_any(const struct api_source *from, const struct spaa_open_options *options,
                            struct spaa_profile **profile, struct spaa_diagnostics **diagnostics)
{
    struct spaa_open_options o;
    struct sp_watch watch;
    struct sp_input *in = NULL;
    struct spaa_profile *s = calloc(1, sizeof *s);
    if (!s)
        return SPAA_ERR_NOMEM;
    sp_diags_init(&s->diags);
    spaa_status st = sp_api_options(&o, sizeof o, options, &s->diags);
    spaa_status watched = sp_api_watch(&watch, o.watch, &s->diags);
    st = st ? st : watched;
    if (!st && (!profile || !from->name))
        st = sp_api_usage(&s->diags, "no input, or no place for the profile");
    if (!st)
        st = api_source_open(from, &s->diags, &in);
    if (!st && (!(s->name = sp_api_copy(from->name)) || !api_keep_options(s, &o)))
        st = sp_nomem(&s->diags);
    if (!st)
        st = api_open_fill(s, in, &o);
    sp_input_close(in);
    st = sp_api_unwatch(&watch, &s->diags, st);
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
    const struct api_source from = {.name = path, .fd = -1};
    return open_any(&from, options, profile, diagnostics);
}

spaa_status spaa_profile_open_fd(int fd, const char *name, const struct spaa_open_options *options,
                                 struct spaa_profile **profile, struct spaa_diagnostics **diagnostics)
{
    const struct api_source from = {.name = name ? name : "descriptor", .fd = fd};
    if (fd < 0)
        return sp_api_missing("no descriptor", diagnostics);
    return open_any(&from, options, profile, diagnostics);
}

spaa_status spaa_profile_open_memory(const void *data, size_t size, const char *name,
                                     const struct spaa_open_options *options, struct spaa_profile **profile,
                                     struct spaa_diagnostics **diagnostics)
{
    const struct api_source from = {name ? name : "memory", data ? data : "", size, -1};
    if (!data && size)
        return sp_api_missing("no data, but a size", diagnostics);
    return open_any(&from, options, profile, diagnostics);
}

void spaa_profile_free(struct spaa_profile *profile)
{
    if (!profile)
        return;
    sp_profile_free(profile->p);
    sp_diags_free(&profile->diags);
    sp_vec_free(&profile->window_ids);
    free(profile->name);
    sp_arena_free(&profile->words);
    free(profile);
}
