#include "run/flamegraph_base.h"

#include "run/flamegraph_states.h"

#include "analysis/redact.h"
#include "answer/words.h"
#include "ask/selection_words.h"
#include "model/callees.h"
#include "model/merge.h"

#include <stdlib.h>

/* Before names are put together to what is drawn. */
spaa_status sp_flame_redacted(struct sp_run *run)
{
    return run->v.redact ? sp_redact_profile(run->profile, run->v.redacts.v, run->v.redacts.n,
                                             getenv("SPAA_REDACT_KEY"), run->diags)
                         : SPAA_OK;
}

spaa_status sp_flame_cannot_add(struct sp_run *run)
{
    sp_emit_hint(run->diags, SP_E036, SP_AT_NOTHING, "choose another with --metric",
                 "values of this metric must not be added, so they have no flame graph");
    return SPAA_ERR_USAGE;
}

/* The profile that is compared with, by its own options: of a file, or a copy of one that is there. */
static spaa_status base_profile(struct sp_run *run, const struct sp_run_given *given,
                                struct sp_profile **profile)
{
    const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .samples = true};
    struct sp_read_opts opts;
    spaa_status st = sp_run_read_opts(run, &opts);
    if (!st && given)
        st = sp_run_join(given, 1, &how, run->diags, profile);
    else if (!st)
        st = sp_run_read(run, run->v.diff, &opts, profile);
    if (!st && given)
        st = sp_callees_join(*profile);
    run->profile = *profile;
    if (!st)
        st = given ? sp_run_regroup(run) : sp_run_regroup_labels(run);
    if (!st)
        st = sp_run_add_wall(run);
    if (!st)
        st = sp_callees_split(*profile, run->diags);
    if (!st)
        st = sp_run_tag_stacks(run);
    return st ? st : sp_flame_redacted(run);
}

/* run has its options, and its profile is x's. */
static spaa_status base_select(struct sp_run *run, struct sp_flame_base *x, const struct sp_selection *drawn)
{
    const struct sp_profile *shown = drawn->profile;
    struct sp_str event = sp_pstr(shown, shown->events.v[drawn->event].name);
    if (!run->v.event && x->event && sp_event_find(x->profile, event.p, event.n) != SP_NONE)
        run->v.event = event.p;
    if (!run->v.view && !run->v.state && x->view)
        run->v.view = drawn->view;
    sp_diags_source(run->diags, run->v.diff, NULL);
    spaa_status st = sp_run_select(run, &x->s);
    x->selected = !st;
    if (!st && x->s.lacks_allocators && drawn->lacks_allocators)
        st = sp_select_no_allocators(x->profile, x->s.allocators, run->diags);
    if (!st && x->s.cannot_add)
        st = sp_flame_cannot_add(run);
    if (!st)
        sp_bounds_report(&x->s, run->diags);
    sp_diags_source(run->diags, NULL, NULL);
    return st;
}

spaa_status sp_flame_base_open(struct sp_run *run, struct sp_flame_base *x, struct sp_selection *drawn)
{
    struct sp_profile *shown = run->profile;
    struct sp_options asked = run->v;
    run->v = x->v;
    spaa_status st = base_profile(run, x->given, &x->profile);
    if (!st)
        st = base_select(run, x, drawn);
    x->v = run->v;
    run->profile = shown;
    run->v = asked;
    struct sp_flame_side sides[] = {{&x->s, x->profile, &x->v}, {drawn, shown, &run->v}};
    return st ? st : sp_flame_drop_idle(sides, x->other_threads, run->diags);
}

spaa_status sp_flame_base_join(struct sp_run *run, struct sp_flame_base *x, const struct sp_selection *drawn,
                               const struct sp_tree_opts *how, const struct sp_tree *t,
                               struct sp_diff_tree *out)
{
    struct sp_tree base;
    spaa_status st = sp_tree_build(&x->s, how, run->diags, &base);
    if (st)
        return st;
    st = sp_diff_tree_build(&base, x->s.scale, t, drawn->scale, run->diags, out);
    sp_tree_free(&base);
    return st;
}

void sp_flame_base_free(struct sp_flame_base *x)
{
    if (x->selected)
        sp_selection_free(&x->s);
    sp_profile_free(x->profile);
}
