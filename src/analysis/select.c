#include "analysis/select.h"

#include "analysis/at.h"
#include "analysis/broken_chains.h"
#include "analysis/function_lookup.h"
#include "analysis/names.h"
#include "analysis/owners.h"
#include "analysis/select_private.h"
#include "analysis/tally.h"
#include "base/num.h"
#include "base/watch.h"
#include "model/edges.h"
#include "model/events.h"
#include "model/order.h"
#include "model/waiting.h"
#include "model/wall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- event and metric ---- */

/*
 * A metric names the event that has it, if nothing else does. *metric becomes what `--event` names where that
 * is a metric, as pprof's types are.
 */
static spaa_status pick_event(struct sp_selection *s, const struct sp_select_opts *o, const char **metric,
                              struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    const char *name = o->event;
    if (o->event_number) {
        s->event = *o->event_number;
        return SPAA_OK;
    }
    s->event = name ? sp_event_find(p, name, strlen(name)) : *metric ? sp_metric_event(p, *metric) : SP_NONE;
    if (s->event == SP_NONE && name && (s->event = sp_metric_event(p, name)) != SP_NONE && !*metric)
        *metric = name;
    if (s->event == SP_NONE && !name)
        s->event = sp_default_event(p);
    if (s->event != SP_NONE)
        return SPAA_OK;
    if (!name) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, "the profile declares no event");
        return SPAA_ERR_INPUT;
    }
    struct sp_str *names = calloc(p->events.n + 1, sizeof *names);
    if (!names)
        return sp_nomem(d);
    for (size_t i = 0; i < p->events.n; i++)
        names[i] = sp_pstr(p, p->events.v[i].name);
    sp_no_such(d, SP_E030, name, names, p->events.n);
    free(names);
    return SPAA_ERR_USAGE;
}

/* The event has no such metric: those that it has, or the event that has it. */
static void select_no_metric(const struct sp_selection *s, const char *name, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct sp_str names[SP_METRICS_MAX], event = sp_pstr(p, p->events.v[s->event].name);
    uint32_t other = *name ? sp_metric_event(p, name) : SP_NONE;
    size_t n = 0;
    for (size_t i = 0; i < p->metrics.n; i++) {
        struct sp_str metric = sp_pstr(p, p->metrics.v[i].name);
        if (i == p->events.v[s->event].primary || sp_event_metric(p, s->event, metric.p) != SP_NONE)
            names[n++] = metric;
    }
    if (other == SP_NONE) {
        sp_no_such(d, SP_E031, name, names, n);
        return;
    }
    char hint[256];
    struct sp_str has = sp_pstr(p, p->events.v[other].name);
    snprintf(hint, sizeof hint, "--event '%.*s' has it", (int)(has.n < 200 ? has.n : 200), has.p);
    sp_emit_hint(d, SP_E031, SP_AT_NOTHING, hint, "%s of event %.*s", name,
                 (int)(event.n < 200 ? event.n : 200), event.p);
}

static spaa_status pick_metric(struct sp_selection *s, const char *name, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    s->metric = name ? sp_event_metric_among(p, s->by_event, s->event, name) : p->events.v[s->event].primary;
    if (s->metric != SP_NONE) {
        s->cannot_add = p->metrics.v[s->metric].info->op != SP_OP_SUM;
        return SPAA_OK;
    }
    select_no_metric(s, name ? name : "", d);
    return SPAA_ERR_USAGE;
}

/* ---- weights ---- */

/* Decimals decide the scale, as far as the sums still fit; what is finer is rounded and flagged. */
static void find_scale(struct sp_selection *s, const struct sp_sample_times *times)
{
    const struct sp_profile *p = s->profile;
    double sum = 0;
    struct sp_among stacks = sp_stacks_among(p, s->by_event, s->event);
    for (size_t i = 0; i < p->decimals.n && !s->by_event; i++) {
        unsigned digits = p->decimals.v[i].metric == s->metric ? sp_decimal_digits(p, &p->decimals.v[i]) : 0;
        if (digits > s->scale)
            s->scale = digits;
    }
    if (s->by_event)
        s->scale = s->by_event->finest[s->metric];
    if (times)
        sp_tally_scale(s, times, &s->scale, &sum);
    if (s->scale > 9)
        s->scale = 9;
    for (size_t k = 0; s->scale && k < stacks.n; k++) {
        uint32_t i = sp_among_at(stacks, k);
        if (p->contexts.v[p->stacks.v[i].context].event == s->event &&
            sp_weight(p, i, s->metric) != SP_ABSENT)
            sum += fabs(sp_weight_double(p, i, s->metric));
    }
    while (s->scale && sum * pow(10, (double)s->scale) > 9e18)
        s->scale--;
}

/*
 * Takes v from what is left of the range of int64: all rows together, whatever their signs, stay in it, so
 * that no sum of any rows overflows, in any view.
 */
static int64_t within(struct sp_selection *s, uint64_t *left, int64_t v)
{
    uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
    if (magnitude > *left) {
        magnitude = *left;
        s->capped = true;
    }
    *left -= magnitude;
    return v < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

static void select_add_samples(int64_t *sum, int64_t v)
{
    if (v > SP_DECIMAL)
        *sum = (*sum == SP_ABSENT ? 0 : *sum) + v;
}

/* ---- linked records ---- */

/* SP_NONE: not linked; else the linked record when the pair is clean. *skip: the other side counts. */
static uint32_t find_linked(const struct sp_profile *p, uint32_t stack, bool *skip, bool *odd)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    *skip = false;
    if (!s->linked)
        return SP_NONE;
    const struct sp_linked *r = &p->linked.v[s->linked - 1];
    bool any = false;
    uint32_t other = SP_NONE;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t x = p->linked_stacks.v[r->first + i];
        if (x == SP_NONE || p->stacks.v[x].type == s->type)
            continue;
        any = true;
        other = x;
    }
    if (!any)
        return SP_NONE;
    *skip = s->type == SP_KERNEL_STACK;
    uint32_t back = p->stacks.v[other].linked;
    bool clean = r->n == 1 && back && p->linked.v[back - 1].n == 1 &&
                 p->linked_stacks.v[p->linked.v[back - 1].first] == stack;
    *odd = *odd || !clean;
    return clean && !*skip ? other : SP_NONE;
}

/* ---- the selection ---- */

static int64_t record_weight(struct sp_selection *s, uint32_t stack, int64_t v)
{
    struct sp_str none = {"", 0};
    if (v != SP_DECIMAL && !s->scale)
        return v;
    return sp_scale_weight(s, v, v == SP_DECIMAL ? sp_weight_text(s->profile, stack, s->metric) : none);
}

/* The weights of a record: in the range of time where one is asked for, else its own. */
static bool select_weigh(struct sp_selection *s, const struct sp_tally *tally, struct sp_selected *row)
{
    const struct sp_profile *p = s->profile;
    uint32_t samples = s->samples_metric, i = row->stack;
    int64_t v = sp_weight(p, i, s->metric);
    if (tally) {
        if (v != SP_ABSENT && s->timed)
            sp_tally_add(&s->event_whole, record_weight(s, i, v));
        row->weight = tally->weight[i];
        row->samples = tally->samples[i];
        return row->weight != SP_ABSENT;
    }
    if (v == SP_ABSENT)
        return false;
    row->weight = record_weight(s, i, v);
    row->samples = samples == SP_NONE ? SP_ABSENT : sp_weight_whole(p, i, samples);
    return true;
}

/* What keeps all sums within 64 bits, and what was seen on the way. */
struct gathering {
    uint64_t left, samples_left;
    const unsigned char *leave_out; /* sp_select_opts.leave_out */
    int64_t plain, plain_samples;   /* of take_plain */
    bool counted;                   /* there were some */
    bool bare;                      /* some of these had no frames */
    bool other;                     /* there are rows besides */
    bool odd;
};

static spaa_status select_keep(struct sp_selection *s, const struct sp_frame_filters *filters,
                               const struct sp_selected *row, struct sp_diags *d)
{
    size_t n;
    s->whole += row->weight;
    select_add_samples(&s->whole_samples, row->samples);
    if (!sp_vec_push(&s->rows, *row))
        return sp_nomem(d);
    if (filters->any || s->roots) {
        const uint32_t *f = sp_selected_frames(s, s->rows.n - 1, &n);
        if (!f)
            return sp_nomem(d);
        if (!sp_frames_fit(s->profile, filters, f, n) || (s->roots && !n) ||
            !sp_side_fits(s->profile, filters, row)) {
            s->rows.n--;
            return SPAA_OK;
        }
    }
    s->kept += row->weight;
    select_add_samples(&s->samples, row->samples);
    return SPAA_OK;
}

/*
 * Most records are alone, with whole weights: these are taken at once. False, and nothing was done: it is
 * another one, or what it weighs is too much for the sums.
 */
static inline bool take_plain(struct sp_selection *s, uint32_t i, struct gathering *g)
{
    const struct sp_profile *p = s->profile;
    const struct sp_stack *x = &p->stacks.v[i];
    int64_t v = sp_weight(p, i, s->metric), n = sp_weight(p, i, s->samples_metric);
    uint64_t weight = v < 0 ? -(uint64_t)v : (uint64_t)v, samples = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (x->linked || v <= SP_DECIMAL || n <= SP_DECIMAL || weight > g->left || samples > g->samples_left)
        return false;
    g->left -= weight;
    g->samples_left -= samples;
    g->plain += v;
    g->plain_samples += n;
    g->counted = true;
    g->bare = g->bare || !x->n;
    s->rows.v[s->rows.n++] = (struct sp_selected){i, SP_NONE, v, n};
    return true;
}

static void add_plain(struct sp_selection *s, const struct gathering *g)
{
    s->event_whole += g->plain;
    s->whole += g->plain;
    s->kept += g->plain;
    if (g->counted) {
        select_add_samples(&s->whole_samples, g->plain_samples);
        select_add_samples(&s->samples, g->plain_samples);
    }
}

static spaa_status gather_rows(struct sp_selection *s, const unsigned char *fits,
                               const struct sp_frame_filters *filters, const struct sp_tally *tally,
                               struct gathering *g, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    bool whole = !tally && !filters->any && !s->roots && !s->scale && s->samples_metric != SP_NONE;
    struct sp_among stacks = sp_stacks_among(p, s->by_event, s->event);
    spaa_status st = sp_vec_reserve(&s->rows, stacks.n) ? SPAA_OK : sp_nomem(d);
    for (size_t k = 0; !st && k < stacks.n; k++) {
        uint32_t i = sp_among_at(stacks, k);
        bool skip = false;
        if (sp_leaving(d, k))
            return SPAA_ERR_CANCELLED;
        unsigned char fit = fits[p->stacks.v[i].context];
        bool left_out = fit == 2 && g->leave_out && g->leave_out[i];
        fit = left_out ? 1 : fit;
        if (!fit || (whole && fit == 2 && take_plain(s, i, g)))
            continue;
        struct sp_selected row = {i, find_linked(p, i, &skip, &g->odd), 0, SP_ABSENT};
        if (skip || !select_weigh(s, tally, &row))
            continue;
        g->other = true;
        row.weight = within(s, &g->left, row.weight);
        if (row.samples > SP_DECIMAL)
            row.samples = within(s, &g->samples_left, row.samples);
        s->event_whole += s->timed ? 0 : row.weight;
        s->left_out += left_out ? row.weight : 0;
        if (fit == 2)
            st = select_keep(s, filters, &row, d);
    }
    add_plain(s, g);
    s->plain = whole && !g->bare && !g->other && !s->hidden && !s->no_inlined;
    return st;
}

static spaa_status select_states(struct sp_selection *s, const struct sp_select_opts *o,
                                 const unsigned char *who, struct sp_diags *d)
{
    unsigned char *fits = calloc(s->profile->contexts.n + 1, 1);
    for (uint32_t i = 0; fits && i < s->profile->contexts.n; i++)
        fits[i] = sp_context_fits_but_state(s, o, who, i);
    if (fits)
        sp_state_shares_of(s->profile, s->event, s->metric, fits, &s->states);
    free(fits);
    return fits ? SPAA_OK : sp_nomem(d);
}

static spaa_status select_gather(struct sp_selection *s, const struct sp_select_opts *o,
                                 const struct sp_tally *tally, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    const struct sp_filters *found = o->filters;
    bool same = found && sp_filters_frames_are(found, o);
    struct sp_frame_filters filters = same ? found->frames : (struct sp_frame_filters){0};
    struct gathering g = {.left = INT64_MAX, .samples_left = INT64_MAX, .leave_out = o->leave_out};
    unsigned char *fits = calloc(p->contexts.n + 1, 1); /* 1: of the event, 2: all filters fit too */
    unsigned char *who = found ? found->who : NULL;
    spaa_status st = !fits ? sp_nomem(d) : same ? SPAA_OK : sp_frame_filters_of(p, o, d, &filters);
    if (!st && !found)
        st = sp_who_of(p, o, d, &who);
    if (!st)
        st = o->no_thread_names ? SPAA_OK
             : o->pools         ? sp_pools_of(p, who, d, &s->pools)
                                : sp_pools_none(p, d, &s->pools);
    struct sp_among contexts = sp_contexts_among(p, s->by_event, s->event);
    for (size_t k = 0; !st && k < contexts.n; k++) {
        uint32_t i = sp_among_at(contexts, k);
        fits[i] = (unsigned char)((p->contexts.v[i].event == s->event) + sp_context_fits(s, o, who, i));
    }
    s->samples_metric = sp_metric_find(p, "samples", 7);
    if (s->samples_metric == s->metric && s->scale) /* parts of samples: no numbers of them beside */
        s->samples_metric = SP_NONE;
    if (!st && sp_is_of_hangs(p, s->event))
        st = select_states(s, o, who, d);
    if (!st)
        st = gather_rows(s, fits, &filters, tally, &g, d);
    struct sp_str name = sp_pstr(p, p->metrics.v[s->metric].name);
    if (s->capped)
        sp_emit_hint(d, SP_L304, SP_AT_NOTHING, "shares are no longer right: filter for less",
                     "the values of %.*s, alone or added up, are more; what is beyond was left out",
                     (int)name.n, name.p);
    if (s->inexact && !s->capped)
        sp_emit(d, SP_I322, SP_AT_NOTHING, "values of %.*s were rounded to %u decimals", (int)name.n, name.p,
                s->scale);
    if (g.odd)
        sp_emit(d, SP_W311, SP_AT_NOTHING, "stacks linked to several others: the user side was counted");
    if (!same)
        sp_frame_filters_free(&filters);
    if (!found)
        free(who);
    free(fits);
    return st;
}

bool sp_of_one_source(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    for (size_t i = 1; i < s->rows.n; i++)
        if (p->contexts.v[p->stacks.v[s->rows.v[i].stack].context].source !=
            p->contexts.v[p->stacks.v[s->rows.v[0].stack].context].source)
            return false;
    return true;
}

static struct sp_str find_unit(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    for (size_t i = 0; i < s->rows.n; i++) {
        uint32_t layout = p->stacks.v[s->rows.v[i].stack].layout;
        const struct sp_layout *l = layout == SP_NONE ? NULL : &p->layouts.v[layout];
        for (uint32_t k = 0; l && k < l->n; k++) {
            const struct sp_weight_field *f = &p->layout_fields.v[l->first + k];
            if (f->metric == s->metric)
                return sp_pstr(p, f->unit);
        }
    }
    return (struct sp_str){"", 0};
}

/* The weight is all that threads did: no state of it is what the others are not. */
static bool measures_all(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    uint32_t primary = s->event == SP_NONE ? SP_NONE : p->events.v[s->event].primary;
    return primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[primary].name), SP_WALL_NS);
}

/*
 * The default is the first view that has something: of an off-CPU profile `cpu` would be empty, and so it
 * would of a tracepoint that sees threads leave the CPU. What measures waiting is not about the CPU.
 */
static const char *pick_view(const struct sp_selection *s, const struct sp_select_opts *o)
{
    static const char *const views[] = {"cpu", "latency"};
    bool states = false, shown[2] = {false, false};
    bool known = s->event != SP_NONE;
    bool waits = known && sp_waiting_is_about_states(s->profile, s->event);
    struct sp_among contexts = sp_contexts_among(s->profile, s->by_event, s->event);
    for (size_t i = 0; i < contexts.n; i++) {
        const struct sp_context *c = &s->profile->contexts.v[sp_among_at(contexts, i)];
        if (c->event != s->event)
            continue;
        states = states || c->state;
        for (int v = waits ? 1 : 0; v < 2; v++)
            shown[v] = shown[v] || sp_state_in_view(s->profile, views[v], s->event, c->state);
    }
    return o->state          ? "custom"
           : !states         ? NULL
           : o->view         ? o->view
           : o->any_state    ? "all"
           : measures_all(s) ? "all"
           : shown[0]        ? views[0]
           : shown[1]        ? views[1]
                             : "all";
}

/* Event, metric and weights; m: with a range of time, or up to a moment. */
static spaa_status select_choose(struct sp_selection *s, const struct sp_select_opts *o,
                                 const struct sp_sample_times *m, int64_t until, struct sp_diags *d)
{
    struct sp_tally tally = {0};
    const char *metric = o->metric;
    spaa_status st = pick_event(s, o, &metric, d);
    if (!st)
        st = pick_metric(s, metric, d);
    if (!st) {
        find_scale(s, m);
        s->view = pick_view(s, o);
        st = sp_shape_frames(s, o, d);
    }
    s->timed = o->time != NULL;
    if (s->timed) {
        s->seen_lo = m->start;
        s->seen_hi = m->end;
    }
    if (!st && s->timed)
        st = sp_sample_times_range(m, o->time, d, &s->time_lo, &s->time_hi);
    if (!st && m)
        st =
            sp_tally_range(s, m, s->timed ? s->time_lo : INT64_MIN, s->timed ? s->time_hi : until, d, &tally);
    if (!st)
        st = select_gather(s, o, m ? &tally : NULL, d);
    sp_tally_free(&tally);
    return st;
}

/* When: a range of time, or a moment that has windows; *is: there is something to look at. */
static spaa_status select_times(const struct sp_profile *p, const struct sp_at *at, struct sp_select_opts *o,
                                struct sp_diags *d, struct sp_sample_times *times, int64_t *until, bool *is)
{
    *is = o->time != NULL;
    spaa_status st = sp_at_choose(p, at, o, d);
    if (!st && o->time)
        return sp_sample_times_of(p, d, times);
    if (!st && at->kind == SP_AT_TIME) {
        st = sp_at_windows(p, at, o->metric, d, times, until);
        *is = times->windows.n > 0;
    }
    return st;
}

/* Of one profile, an expression for allocators that fits none is a slip. */
static spaa_status select_owners(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    bool any = false;
    spaa_status st = sp_owner_kinds(s->profile, o->allocators, &any, d, &s->owners);
    if (st)
        return st;
    s->allocators = o->allocators;
    s->lacks_allocators = o->allocators && !any;
    return s->lacks_allocators && !o->allocators_elsewhere
               ? sp_select_no_allocators(s->profile, o->allocators, d)
               : SPAA_OK;
}

spaa_status sp_select(const struct sp_profile *p, const struct sp_select_opts *opts, struct sp_diags *d,
                      struct sp_selection *out)
{
    struct sp_select_opts chosen = *opts, *o = &chosen;
    struct sp_at at;
    int64_t until = 0;
    bool timed = false;
    struct sp_selection s = {.profile = p,
                             .whole_samples = SP_ABSENT,
                             .samples = SP_ABSENT,
                             .root = SP_NONE,
                             .by_event = o->by_event,
                             .kernel_only = o->kernel_only};
    struct sp_sample_times times = {0};
    sp_buf_init(&s.filters, 0);
    s.at = o->at;
    spaa_status st = sp_at_parse(o->at, d, &at);
    if (!st)
        st = select_times(p, &at, o, d, &times, &until, &timed);
    if (!st)
        st = select_choose(&s, o, timed ? &times : NULL, until, d);
    if (!st && o->by_owner && sp_is_of_memory(p, s.metric)) /* after the filters, which see whole stacks */
        st = select_owners(&s, o, d);
    if (!st) {
        s.plain = s.plain && !s.owners;
        sp_note_filters(&s, o);
        s.unit = find_unit(&s);
        s.cannot_add = s.cannot_add && !(sp_metric_adds(p, s.event, s.metric) && sp_of_one_source(&s));
        sp_warn_idle_filters(p, o, d);
        if (!s.rows.n && sp_narrows(o) && !o->may_be_empty)
            st = sp_nothing_left(&s, o, d);
        if (!st && s.filters.failed)
            st = sp_nomem(d);
    }
    sp_sample_times_free(&times);
    if (st)
        sp_selection_free(&s);
    else
        *out = s;
    return st;
}

void sp_selection_free(struct sp_selection *s)
{
    sp_vec_free(&s->rows);
    sp_vec_free(&s->scratch);
    sp_buf_free(&s->filters);
    sp_pools_free(&s->pools);
    free(s->hidden);
    free(s->roots);
    free(s->owners);
    s->hidden = s->roots = s->owners = NULL;
    sp_chains_free(s->chains);
    s->chains = NULL;
}

/* An inlined frame at the root end of a record has no physical one to go into: it stays. */
static bool is_visible(const struct sp_selection *s, const uint32_t *frames, size_t n, size_t i)
{
    const struct sp_profile *p = s->profile;
    bool inlined = s->no_inlined && p->frames.v[frames[i]].flags & SP_FRAME_INLINED && i + 1 < n;
    return !inlined && (!s->hidden || !s->hidden[frames[i]]);
}

/*
 * What is visible of a record, with what its edges say, into `out`, which has room for all of it; NULL: it is
 * counted only. A chain is broken above something that is there to see.
 */
static size_t visible_frames(const struct sp_selection *s, uint32_t stack, uint32_t *out)
{
    const struct sp_profile *p = s->profile;
    const uint32_t *frames = sp_stack_frames(p, stack);
    size_t edges, visible = 0, n = p->stacks.v[stack].n;
    const struct sp_edge *e = sp_edges_of(p, p->stacks.v[stack].edges, &edges), *end = e + edges;
    for (size_t i = 0; i < n; i++) {
        if (is_visible(s, frames, n, i)) {
            if (out)
                out[visible] = frames[i];
            visible++;
        }
        for (; e < end && e->at == i; e++) {
            if ((e->kind == SP_EDGE_BROKEN && !visible) || (s->hidden && s->hidden[e->frame]))
                continue;
            if (out)
                out[visible] = e->frame;
            visible++;
        }
    }
    return visible;
}

size_t sp_selected_kernel_frames(const struct sp_selection *s, size_t row)
{
    uint32_t kernel = s->rows.v[row].kernel;
    return kernel == SP_NONE ? 0 : visible_frames(s, kernel, NULL);
}

bool sp_selected_broken(const struct sp_selection *s, size_t row)
{
    const struct sp_profile *p = s->profile;
    const struct sp_selected *r = &s->rows.v[row];
    return sp_edges_broken(p, p->stacks.v[r->stack].edges) ||
           (r->kernel != SP_NONE && sp_edges_broken(p, p->stacks.v[r->kernel].edges));
}

/* All frames of a record, and those of its edges. */
static size_t frames_at_most(const struct sp_profile *p, uint32_t stack)
{
    size_t edges;
    sp_edges_of(p, p->stacks.v[stack].edges, &edges);
    return p->stacks.v[stack].n + edges;
}

/* The visible frames, from the leaf that was recorded on. */
static const uint32_t *frames_to_the_leaf(struct sp_selection *s, size_t row, size_t *n)
{
    const struct sp_profile *p = s->profile;
    const struct sp_selected *r = &s->rows.v[row];
    const struct sp_stack *stack = &p->stacks.v[r->stack];
    if (r->kernel == SP_NONE && !stack->edges && !s->hidden && !s->roots && !s->no_inlined && stack->n) {
        *n = stack->n;
        return p->stack_frames.v + stack->first;
    }
    size_t kernel = r->kernel == SP_NONE ? 0 : frames_at_most(p, r->kernel);
    if (!sp_vec_reserve(&s->scratch, kernel + frames_at_most(p, r->stack) + 1))
        return NULL;
    s->scratch.n = kernel ? visible_frames(s, r->kernel, s->scratch.v) : 0;
    s->scratch.n += visible_frames(s, r->stack, s->scratch.v + s->scratch.n);
    if (s->roots) { /* the outermost one is the new root */
        size_t keep = s->scratch.n;
        while (keep && !s->roots[p->frames.v[s->scratch.v[keep - 1]].function])
            keep--;
        s->scratch.n = keep;
    }
    *n = s->scratch.n;
    return s->scratch.v;
}

const uint32_t *sp_selected_made_frames(struct sp_selection *s, size_t row, size_t *n)
{
    const uint32_t *frames = frames_to_the_leaf(s, row, n);
    size_t skip = frames && s->owners ? sp_owner_skip(s->profile, s->owners, frames, *n) : 0;
    *n -= frames ? skip : 0;
    return frames ? frames + skip : NULL;
}

const uint32_t *sp_selected_whole_frames(struct sp_selection *s, size_t row, size_t *n, size_t *skipped)
{
    const uint32_t *frames = frames_to_the_leaf(s, row, n);
    if (skipped)
        *skipped = frames && s->owners ? sp_owner_skip(s->profile, s->owners, frames, *n) : 0;
    return frames;
}

size_t sp_selected_skipped(struct sp_selection *s, size_t row)
{
    size_t n, skipped = 0;
    if (s->owners)
        sp_selected_whole_frames(s, row, &n, &skipped);
    return skipped;
}
