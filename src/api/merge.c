/* Several profiles as one, of those that are there and of files. */
#include "api/api.h"

#include "base/watch.h"
#include "formats/files.h"
#include "model/callees.h"
#include "run/run.h"
#include "spaa/merge.h"

#include <stdlib.h>
#include <string.h>

spaa_status sp_api_give(struct spaa_profile *const *profiles, size_t n, struct sp_diags *d,
                        struct sp_run_given **out)
{
    *out = calloc(n, sizeof **out);
    for (size_t i = 0; *out && i < n; i++) {
        struct spaa_profile *p = profiles[i];
        (*out)[i] = (struct sp_run_given){p->p, p->format, p->name, &p->regrouped, &p->opened, &p->spoiled};
        if (p->spoiled)
            return sp_api_usage(d, "memory ran out while the stacks of %s were told apart: open it again",
                                p->name);
    }
    return *out ? SPAA_OK : sp_nomem(d);
}

static spaa_status api_merge_options(const struct spaa_merge_options *o, struct sp_diags *d,
                                     struct sp_merge_opts *out)
{
    int frames;
    *out = (struct sp_merge_opts){.group_by = ~0u, .canonical = true, .samples = o->samples != 0};
    if (!sp_api_choice(d, "frames", o->frames, sp_granularity_names + 1, SP_FRAMES_ADDRESS - 1, &frames))
        return SPAA_ERR_USAGE;
    out->frames = o->frames ? (enum sp_granularity)(frames + 1) : SP_FRAMES_FOREIGN;
    return o->group_by ? sp_parse_groups(o->group_by, d, &out->group_by) : SPAA_OK;
}

/* A profile that is handed out, with nothing in it yet; NULL: out of memory. */
static struct spaa_profile *api_merged_new(void)
{
    struct spaa_profile *s = calloc(1, sizeof *s);
    if (!s || !(s->name = sp_api_copy("merged"))) {
        free(s);
        return NULL;
    }
    s->format = sp_format_by_name("spaa");
    sp_diags_init(&s->diags);
    return s;
}

static spaa_status api_merged_end(struct spaa_profile *s, spaa_status st, struct spaa_profile **merged,
                                  struct spaa_diagnostics **diagnostics)
{
    if (!st)
        st = sp_api_list_windows(s);
    sp_api_deliver(&s->diags, diagnostics, st);
    if (st)
        spaa_profile_free(s);
    else
        *merged = s;
    return st;
}

spaa_status spaa_merge(struct spaa_profile *const *profiles, size_t count,
                       const struct spaa_merge_options *options, struct spaa_profile **merged,
                       struct spaa_diagnostics **diagnostics)
{
    struct spaa_merge_options o;
    struct sp_merge_opts how;
    struct sp_run_given *given = NULL;
    struct sp_watch watch;
    bool all = profiles && count && merged;
    for (size_t i = 0; all && i < count; i++)
        all = profiles[i] != NULL;
    if (!all)
        return sp_api_missing("no profiles to merge, or no place for what they are together", diagnostics);
    struct spaa_profile *s = api_merged_new();
    if (!s)
        return SPAA_ERR_NOMEM;
    spaa_status st = sp_api_options(&o, sizeof o, options, &s->diags);
    spaa_status watched = sp_api_watch(&watch, o.watch, &s->diags);
    st = st ? st : watched;
    for (size_t i = 0; i < count; i++)
        sp_api_watch_profile(&watch, profiles[i]);
    if (!st)
        st = api_merge_options(&o, &s->diags, &how);
    if (!st)
        st = sp_api_give(profiles, count, &s->diags, &given);
    if (!st)
        st = sp_run_join(given, count, &how, &s->diags, &s->p);
    free(given);
    st = sp_api_unwatch(&watch, &s->diags, st);
    for (size_t i = 0; i < count; i++) /* what was said where the profile reports */
        sp_api_deliver(&profiles[i]->diags, diagnostics, st);
    return api_merged_end(s, st, merged, diagnostics);
}

static spaa_status api_merge_files(struct spaa_profile *s, const char *const *paths, size_t n,
                                   const struct spaa_open_options *open, const struct spaa_merge_options *o)
{
    struct sp_files_opts how = {.from = open->format, .skip_bad = o->skip_bad != 0};
    struct sp_formats seen = {0};
    if (open->own_count)
        return sp_api_usage(&s->diags, "options of one format do not fit several files");
    spaa_status st = sp_api_read_options(open, &s->diags, &how.read);
    if (!st)
        st = api_merge_options(o, &s->diags, &how.merge);
    if (st)
        return st;
    how.jobs = how.read.jobs;
    how.read.samples = how.read.samples || o->samples;
    st = sp_read_files(paths, n, &how, &s->diags, &s->p, &seen);
    return st ? st : sp_callees_split(s->p, &s->diags);
}

spaa_status spaa_merge_files(const char *const *paths, size_t count, const struct spaa_open_options *open,
                             const struct spaa_merge_options *options, struct spaa_profile **merged,
                             struct spaa_diagnostics **diagnostics)
{
    struct spaa_merge_options o;
    struct spaa_open_options how;
    struct sp_watch watch;
    bool all = paths && count && merged;
    for (size_t i = 0; all && i < count; i++)
        all = paths[i] != NULL;
    if (!all)
        return sp_api_missing("no files to merge, or no place for what they are together", diagnostics);
    struct spaa_profile *s = api_merged_new();
    if (!s)
        return SPAA_ERR_NOMEM;
    spaa_status st = sp_api_options(&o, sizeof o, options, &s->diags);
    spaa_status watched = sp_api_watch(&watch, o.watch, &s->diags);
    st = st ? st : watched;
    if (!st)
        st = sp_api_options(&how, sizeof how, open, &s->diags);
    if (!st)
        st = api_merge_files(s, paths, count, &how, &o);
    st = sp_api_unwatch(&watch, &s->diags, st);
    return api_merged_end(s, st, merged, diagnostics);
}
