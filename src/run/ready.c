/* Profiles made ready for what is asked of them: stacks told apart, and profiles of the caller's taken over.
 */
#include "run/run.h"

#include "analysis/regroup.h"
#include "base/watch.h"
#include "model/callees.h"
#include "model/events.h"
#include "model/merge.h"
#include "model/wall.h"

#include <string.h>

/* What filters and groupings of the question need to tell apart. */
unsigned sp_run_needed_groups(const struct sp_run *run)
{
    return run->needs.groups | (run->v.pid ? SP_BY_PID : 0u);
}

/* Of a file that says what it is grouped by, and is not by what is asked: its samples may know. */
static unsigned ready_missing(const struct sp_run *run)
{
    bool grouped = run->profile->header.has_x_spaa && strcmp(run->input->name, "spaa") == 0;
    return grouped ? sp_missing_groups(run->profile, sp_run_needed_groups(run)) : 0;
}

/* ---- all that threads did ---- */

bool sp_run_wants_wall(const struct sp_run *run)
{
    return run->v.event ? strcmp(run->v.event, SP_WALL_EVENT) == 0 : run->v.states != NULL;
}

/* Where an event of its own tells states, --states is about that. */
static bool ready_has_states(const struct sp_profile *p)
{
    uint32_t event = sp_default_event(p);
    for (size_t i = 0; i < p->contexts.n; i++)
        if (p->contexts.v[i].event == event && p->contexts.v[i].state &&
            !sp_str_is(sp_pstr(p, p->contexts.v[i].state), SP_WALL_RUNNING))
            return true;
    return false;
}

spaa_status sp_run_add_wall(struct sp_run *run)
{
    if (!sp_run_wants_wall(run))
        return SPAA_OK;
    bool made = sp_wall_off_event(run->profile) != SP_NONE || run->v.event || !ready_has_states(run->profile);
    return made ? sp_wall_add(run->profile, run->diags) : SPAA_OK;
}

/* ---- stacks told apart ---- */

spaa_status sp_run_regroup(struct sp_run *run)
{
    unsigned missing = ready_missing(run);
    spaa_status st = missing ? sp_regroup(run->profile, missing, run->diags) : SPAA_OK;
    run->regrouped_groups = run->regrouped_groups || (missing && !st);
    if (!st)
        st = sp_run_regroup_labels(run);
    return st ? st : sp_run_add_wall(run);
}

/* ---- profiles that are there already ---- */

spaa_status sp_run_join(const struct sp_run_given *given, size_t n, const struct sp_merge_opts *how,
                        struct sp_diags *d, struct sp_profile **out)
{
    struct sp_merger *m = NULL;
    struct sp_profile *whole = NULL;
    spaa_status st = sp_merger_new(how, d, &m);
    for (size_t i = 0; !st && i < n; i++) {
        st = sp_progress(d, "merging", given[i].name, "profiles", i, n);
        if (!st)
            st = sp_callees_join(given[i].p);
        if (!st)
            st = sp_merger_add(m, given[i].p, given[i].name);
        spaa_status again = sp_callees_split(given[i].p, NULL);
        st = st ? st : again;
    }
    if (!st)
        st = sp_merger_finish(m, &whole);
    sp_merger_free(m);
    if (!st)
        st = sp_callees_split(whole, d);
    if (st)
        sp_profile_free(whole);
    else
        *out = whole;
    return st;
}

/* One profile of those, or a copy where it is going to be changed otherwise than its owner knows. */
static spaa_status given_profile(struct sp_run *run, const struct sp_run_given *g)
{
    const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .samples = true};
    bool changed = run->v.tagroot || run->v.tagleaf || run->v.redact || run->to || sp_run_wants_wall(run);
    run->profile = g->p;
    run->input = g->format;
    if (!changed)
        return SPAA_OK;
    run->profile = NULL;
    spaa_status st = sp_run_join(g, 1, &how, run->diags, &run->profile);
    if (st || sp_vec_push(&run->copies, run->profile))
        return st;
    sp_profile_free(run->profile);
    run->profile = NULL;
    return sp_nomem(run->diags);
}

void sp_run_as_opened(struct sp_run *run)
{
    const struct sp_options *how = run->ngiven ? run->given[0].opened : NULL;
    for (const struct sp_option *o = sp_option_table; how && o->name; o++) {
        const char *was = *(const char *const *)(const void *)((const char *)how + o->offset);
        const char **now = (const char **)(void *)((char *)&run->v + o->offset);
        if (o->groups & G_READ && was && !*now)
            *now = was;
    }
}

/* Divided profiles are whole while they are told apart. */
static spaa_status given_regroup(struct sp_run *run)
{
    if (!ready_missing(run) && !sp_run_needs_labels(run) && !sp_run_wants_wall(run) && !run->needs.fields)
        return SPAA_OK;
    spaa_status st = sp_callees_join(run->profile);
    if (!st)
        st = sp_run_regroup(run);
    spaa_status again = sp_callees_split(run->profile, NULL);
    return st ? st : again;
}

/* Stacks that are told apart only in part would be wrong answers. */
static bool given_spoils(const struct sp_run *run, const struct sp_run_given *g, spaa_status st)
{
    return st == SPAA_ERR_NOMEM && run->profile == g->p;
}

spaa_status sp_run_take(struct sp_run *run, size_t i, struct sp_profile **out)
{
    const struct sp_run_given *g = &run->given[i < run->ngiven ? i : 0];
    spaa_status st = given_profile(run, g);
    run->regrouped = run->regrouped_groups = false;
    if (!st)
        st = given_regroup(run);
    if ((run->regrouped || run->regrouped_groups) && run->profile == g->p)
        *g->regrouped = true;
    *g->spoiled = *g->spoiled || given_spoils(run, g, st);
    if (!st)
        st = sp_run_tag_stacks(run);
    struct sp_profile *ready = run->profile;
    run->profile = NULL;
    *out = ready; /* which may be run->profile */
    return st;
}
