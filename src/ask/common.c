#include "ask/common.h"

#include "ask/cpu_claims.h"

#include "analysis/at.h"
#include "analysis/chains.h"
#include "analysis/idle_places.h"
#include "analysis/match.h"
#include "analysis/places.h"
#include "analysis/wait_reason.h"
#include "model/builds.h"
#include "model/extent.h"
#include "model/off_cpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the selection ---- */

/* At a moment: its metric; and where the answer is of all metrics, the profile is as of then. */
static bool common_moment(const struct sp_ask *q, struct sp_select_opts *o)
{
    struct sp_at at;
    if (sp_at_parse(o->at, q->diags, &at))
        return false;
    bool as_of_then = q->nprofiles == 1 && q->profiles[0]->header.stopped;
    if (at.kind == SP_AT_TIME && q->question->all_metrics && q->nprofiles && !as_of_then) {
        sp_usage(q->diags, "ask heaptrack's own file; of windows, spaa top FILE --at SECONDS",
                 "%s is of all that happened up to then, which this file does not say", q->question->name);
        return false;
    }
    if (at.kind != SP_AT_NONE && !o->metric)
        o->metric = at.kind == SP_AT_PEAK ? "peak_bytes" : "live_bytes";
    return true;
}

bool sp_ask_select_opts(const struct sp_ask *q, struct sp_select_opts *out)
{
    static const char *const views[] = {"cpu", "latency", "all", NULL};
    const struct sp_options *v = q->options;
    int view;
    const char *const *labels;
    size_t nlabels = sp_option_labels(v, &labels);
    if (v->keep_allocators && v->allocators) {
        sp_usage(q->diags, "drop one of them", "--keep-allocators and --allocators exclude each other");
        return false;
    }
    if (v->allocators && sp_match_check(v->allocators, q->diags)) /* also where nothing is of memory */
        return false;
    if (!sp_option_choice(q->diags, "view", v->view, views, 0, &view))
        return false;
    if (v->view && v->state) {
        sp_usage(q->diags, "a view is states by name: drop --view, or name in --state all that are meant",
                 "--view and --state exclude each other");
        return false;
    }
    *out = (struct sp_select_opts){.event = v->event,
                                   .metric = v->metric,
                                   .thread = v->thread,
                                   .pid = v->pid,
                                   .comm = v->comm,
                                   .labels = labels,
                                   .nlabels = nlabels,
                                   .state = v->state,
                                   .view = v->view,
                                   .dso = v->dso,
                                   .focus = v->focus,
                                   .ignore = v->ignore,
                                   .hide = v->hide,
                                   .root_at = v->root_at,
                                   .time = v->time,
                                   .at = v->at,
                                   .pools = q->question->groups & G_THREADS && !v->no_pool,
                                   .merge_inlined = v->merge_inlined != NULL,
                                   .by_owner = !v->keep_allocators,
                                   .allocators = v->keep_allocators ? NULL : v->allocators,
                                   .user_only = v->user != NULL,
                                   .kernel_only = v->kernel != NULL};
    return common_moment(q, out);
}

/* The same without waits for work, which are most of the time off the CPU, and nobody's loss. */
static spaa_status ask_without_idle(const struct sp_ask *q, const struct sp_select_opts *how,
                                    struct sp_selection *s)
{
    struct sp_wait_reasons why;
    struct sp_select_opts less = *how;
    spaa_status st = sp_wait_reasons_of(s, q->profiles[0], q->options->own_re, &why, q->diags);
    sp_selection_free(s);
    if (st)
        return st;
    unsigned char *idle = calloc(why.n + 1, 1);
    bool ok = idle && (!q->waits || sp_idle_places_apply(q->waits, q->profiles[0], &why));
    for (uint32_t i = 0; ok && i < why.n; i++)
        idle[i] = why.of[i].idle;
    sp_wait_reasons_free(&why);
    less.leave_out = idle;
    st = ok ? sp_select(q->profiles[0], &less, q->diags, s) : sp_nomem(q->diags);
    free(idle);
    return st;
}

/* Elsewhere BLOCKED is a wait for a lock; of switches it is the state in which the kernel left the thread. */
static void say_blocked(const struct sp_ask *q, const struct sp_select_opts *how)
{
    const char *at = how->state ? strstr(how->state, "BLOCKED") : NULL;
    bool whole = at && (at == how->state || at[-1] == ',') && (at[7] == '\0' || at[7] == ',');
    if (whole && !strstr(how->state, "WAITING"))
        sp_emit(q->diags, SP_I663, SP_AT_NOTHING,
                "programs wait for their locks in WAITING; `spaa waits` has reasons");
}

bool sp_ask_leaves_idle_out(const struct sp_ask *q, const struct sp_select_opts *how)
{
    bool all = how->view && strcmp(how->view, "all") == 0;
    return !(how->state || all || how->any_state || q->options->view || q->options->idle);
}

spaa_status sp_ask_select(const struct sp_ask *q, const struct sp_select_opts *how, struct sp_selection *out)
{
    spaa_status st = sp_select(q->profiles[0], how, q->diags, out);
    if (!st && sp_off_cpu_own(q->profiles[0]) == out->event)
        say_blocked(q, how);
    if (!st && sp_ask_leaves_idle_out(q, how) && sp_is_off_cpu(out))
        st = ask_without_idle(q, how, out);
    if (st)
        return st;
    st = sp_chains_before(out, how, q->diags);
    if (st)
        sp_selection_free(out);
    return st;
}

struct sp_measure sp_measure_of(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    return (struct sp_measure){.event = sp_pstr(p, p->events.v[s->event].name),
                               .metric = sp_pstr(p, p->metrics.v[s->metric].name),
                               .unit = s->unit,
                               .scale = s->scale,
                               .cannot_add = s->cannot_add,
                               .whole = s->whole};
}

/*
 * What stands in a row may be said several times in it, short and whole, and for the function and its DSO:
 * more than a format has of it.
 */
static void bound_answer(struct sp_asked *x)
{
    enum { ANSWER = 4, LONG_NAME = 2048 };
    uint64_t name, most = ANSWER * sp_profile_most(x->s.profile, &name);
    sp_answer_at_most(x->out, most, name > LONG_NAME);
    x->b.max = most < x->b.max ? (size_t)most : x->b.max;
}

spaa_status sp_asked_select(struct sp_ask *q, const struct sp_select_opts *how, struct sp_answer *out,
                            struct sp_asked *x)
{
    struct sp_select_opts by_options;
    *x = (struct sp_asked){.q = q, .out = out};
    sp_buf_init(&x->b, 0);
    if (!how && !sp_ask_select_opts(q, &by_options))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_ask_select(q, how ? how : &by_options, &x->s);
    if (st)
        return st;
    x->selected = true;
    bound_answer(x);
    out->failed |= x->s.filters.failed;
    struct sp_measure m = sp_measure_of(&x->s);
    x->measure = sp_answer_measure(out, &m);
    if (x->s.states.known)
        st = sp_say_cpu_claims(&x->s, q->diags);
    if (st)
        return st;
    st = sp_handles_of(x->s.profile, q->diags, &x->handles);
    x->has_handles = !st;
    if (!st)
        st = sp_full_names_of(x->s.profile, &x->names);
    x->has_names = !st;
    return st ? sp_nomem(q->diags) : SPAA_OK;
}

spaa_status sp_asked_begin_with(struct sp_ask *q, const struct sp_select_opts *how, struct sp_answer *out,
                                struct sp_asked *x)
{
    spaa_status st = sp_asked_select(q, how, out, x);
    return st ? st : sp_asked_begin_selected(x);
}

spaa_status sp_asked_begin_selected(struct sp_asked *x)
{
    struct sp_ask *q = x->q;
    spaa_status st = SPAA_OK;
    if ((!q->brief || q->options->own_re)) /* which has to be right where nobody is shown it, too */
        st = sp_asked_own(x);
    if (st)
        return st;
    sp_asked_facts(x);
    sp_asked_heading(x);
    return SPAA_OK;
}

spaa_status sp_asked_begin(struct sp_ask *q, struct sp_answer *out, struct sp_asked *x)
{
    return sp_asked_begin_with(q, NULL, out, x);
}

spaa_status sp_asked_own(struct sp_asked *x)
{
    if (x->has_own)
        return SPAA_OK;
    spaa_status st = sp_own_of(&x->s, x->q->options->own_re, x->q->diags, &x->own);
    x->has_own = !st;
    return st;
}

void sp_asked_free(struct sp_asked *x)
{
    if (x->has_own)
        sp_own_free(&x->own);
    if (x->has_names)
        sp_full_names_free(&x->names);
    if (x->has_handles)
        sp_handles_free(&x->handles);
    if (x->selected)
        sp_selection_free(&x->s);
    sp_buf_free(&x->b);
}

bool sp_is_scheduler(const struct sp_selection *s)
{
    return sp_sched_kind_of(sp_pstr(s->profile, s->profile->events.v[s->event].name)) != SP_SCHED_OTHER;
}

bool sp_is_off_cpu(const struct sp_selection *s)
{
    return sp_measures_off_cpu(s->profile, s->event);
}

bool sp_ask_limit(const struct sp_ask *q, size_t otherwise, size_t *out)
{
    long n;
    if (!sp_option_number(q->diags, "limit", q->options->limit, 0, LONG_MAX,
                          otherwise > LONG_MAX ? 0 : (long)otherwise, &n))
        return false;
    *out = n ? (size_t)n : SIZE_MAX;
    return true;
}

size_t sp_asked_limit(const struct sp_asked *x, size_t limit)
{
    return x->q->brief && !x->q->options->limit && sp_selection_none_certain(&x->s) ? 0 : limit;
}

bool sp_samples_follow(const struct sp_selection *s, int64_t weight, int64_t samples)
{
    if (s->cannot_add || s->whole_samples == SP_ABSENT || s->whole <= 0 || s->whole_samples <= 0)
        return false;
    double expected = (double)weight / (double)s->whole * (double)s->whole_samples;
    double is = samples == SP_ABSENT ? 0 : (double)samples;
    return is <= expected * 1.02 && is >= expected * 0.98;
}

/* ---- facts ---- */

void sp_fact_str(struct sp_answer *a, const char *name, struct sp_str s)
{
    sp_fact_text(a, name, s.n ? s.p : NULL, s.n);
}

static void put_owner_facts(struct sp_asked *x)
{
    int64_t shortened = 0;
    if (!x->s.owners || x->q->brief) /* which shows no facts */
        return;
    for (size_t i = 0; i < x->s.rows.n; i++)
        shortened += sp_selected_skipped(&x->s, i) > 0;
    sp_fact_bool(x->out, "profile.by_owner", true);
    sp_fact_count(x->out, "profile.shortened", shortened);
    if (x->s.allocators)
        sp_fact_cstr(x->out, "profile.allocators", x->s.allocators);
}

/* Of hang reports: how many samples were in which state. */
static void put_states(struct sp_asked *x)
{
    const struct sp_state_shares *states = &x->s.states;
    char name[64];
    for (int k = 0; states->known && k < SP_SHARES; k++) {
        snprintf(name, sizeof name, "profile.states.%s", sp_share_names[k]);
        sp_fact_count(x->out, name, states->of[k]);
    }
}

void sp_asked_facts(struct sp_asked *x)
{
    struct sp_answer *a = x->out;
    const struct sp_selection *s = &x->s;
    const struct sp_profile *p = s->profile;
    struct sp_measure m = sp_measure_of(s);
    sp_fact_str(a, "profile.source_tool", sp_pstr(p, p->header.source_tool));
    sp_fact_text(a, "profile.event", m.event.p, m.event.n);
    sp_fact_text(a, "profile.metric", m.metric.p, m.metric.n);
    sp_fact_str(a, "profile.unit", s->unit);
    sp_fact_count(a, "profile.samples", s->whole_samples);
    sp_fact_cstr(a, "profile.view", s->view);
    put_states(x);
    if (s->at)
        sp_fact_cstr(a, "profile.at", s->at);
    sp_fact_text(a, "profile.filters", s->filters.data ? s->filters.data : "", s->filters.len);
    put_owner_facts(x);
    sp_fact_weight(a, "profile.event_whole", x->measure, s->event_whole);
    if (s->left_out)
        sp_fact_weight(a, "profile.idle", x->measure, s->left_out);
    sp_fact_weight(a, "whole", x->measure, s->whole);
    if (sp_selection_at_least(s))
        sp_fact_bool(a, "whole_at_least", true);
    sp_fact_weight(a, "kept", x->measure, s->kept);
    sp_fact_share(a, "kept_percent", s->kept, s->cannot_add ? 0 : s->event_whole);
    sp_fact_count(a, "kept_samples", s->samples);
}

void sp_text_share_of(struct sp_buf *b, const struct sp_selection *s, int64_t v)
{
    if (s->cannot_add)
        sp_buf_ch(b, '-');
    else
        sp_text_percent(b, v, s->whole);
}

void sp_text_weight_of(struct sp_buf *b, const struct sp_selection *s, int64_t v)
{
    if (s->cannot_add)
        sp_buf_ch(b, '-');
    else
        sp_text_weight(b, s->unit, s->scale, v);
    sp_buf_puts(b, " (");
    sp_text_share_of(b, s, v);
    sp_buf_puts(b, "%)");
}

/*
 * Where totals are bounds: a line for people, which for --verbose says why; a diagnostic
 * for answers without lines.
 */
static void common_bounds(struct sp_asked *x)
{
    struct sp_buf words;
    if (!x->q->brief)
        sp_bounds_report(&x->s, x->q->diags);
    if (!x->q->brief || !sp_chains_tell(&x->s))
        return;
    sp_buf_init(&words, 0);
    if (x->q->options->verbose)
        sp_bounds_text(&words, &x->s);
    else
        sp_bounds_brief(&words, &x->s);
    sp_answer_line_of(x->out, SP_LINE_PLAIN, &words);
    sp_buf_free(&words);
}

void sp_asked_heading(struct sp_asked *x)
{
    struct sp_buf *b = &x->b;
    sp_buf_clear(b);
    sp_heading_text(b, &x->s);
    sp_answer_line_of(x->out, SP_LINE_PLAIN, b);
    sp_buf_clear(b);
    sp_states_text(b, &x->s);
    if (b->len)
        sp_answer_line_of(x->out, SP_LINE_PLAIN, b);
    sp_buf_clear(b);
    common_bounds(x);
}

/* ---- cells ---- */

void sp_put_source(struct sp_asked *x, struct sp_answer_table *t, size_t at,
                   const struct sp_source_place *place)
{
    if (place->path)
        sp_put_text(x->out, t, at, place->path, strlen(place->path));
    if (place->comp_dir)
        sp_put_text(x->out, t, at + 1, place->comp_dir, strlen(place->comp_dir));
}

void sp_put_str(struct sp_answer *a, struct sp_answer_table *t, size_t column, struct sp_str s)
{
    sp_put_text(a, t, column, s.n ? s.p : NULL, s.n);
}

void sp_put_buf(struct sp_answer *a, struct sp_answer_table *t, size_t column, struct sp_buf *b)
{
    a->failed |= b->failed;
    a->arena.full |= b->full; /* it has the same limit */
    sp_put_text(a, t, column, b->len ? b->data : NULL, b->len);
    sp_buf_clear(b);
}

struct sp_str sp_dso_name(const struct sp_profile *p, uint32_t dso)
{
    return dso == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->dsos.v[dso].name);
}

void sp_put_dso(struct sp_asked *x, struct sp_answer_table *t, size_t dso, size_t build, size_t build_id,
                uint32_t number)
{
    const struct sp_profile *p = x->s.profile;
    if (number == SP_NONE)
        return;
    struct sp_str name = sp_dso_name(p, number), which = sp_dso_build(p, number);
    sp_put_text(x->out, t, dso, name.p, name.n);
    if (which.n) {
        char text[64];
        int n = snprintf(text, sizeof text, " (%.*s)", (int)(which.n < 50 ? which.n : 50), which.p);
        sp_put_text(x->out, t, build, text, (size_t)n);
    }
    if (sp_dso_is_one_of_several(p, number))
        sp_put_str(x->out, t, build_id, sp_pstr(p, p->dsos.v[number].build_id));
}

/* Where other functions of the binary have its name, with what tells it from them. */
static void put_name_of(struct sp_asked *x, uint32_t function, struct sp_buf *b)
{
    if (!sp_full_name_put(b, &x->names, function) || b->failed)
        x->out->failed = true;
}

void sp_put_function(struct sp_asked *x, struct sp_answer_table *t, size_t at, uint32_t function)
{
    const struct sp_profile *p = x->s.profile;
    char handle[32];
    if (function == SP_NONE)
        return;
    sp_put_text(x->out, t, at + SP_FUNCTION_ID, handle, sp_handle_text(&x->handles, function, handle));
    struct sp_buf name;
    sp_buf_init(&name, 0);
    put_name_of(x, function, &name);
    sp_put_text(x->out, t, at + SP_FUNCTION_NAME, name.len ? name.data : "", name.len);
    sp_buf_free(&name);
    sp_put_dso(x, t, at + SP_FUNCTION_DSO, at + SP_FUNCTION_BUILD, at + SP_FUNCTION_BUILD_ID,
               p->functions.v[function].dso);
    if (!x->has_own)
        return;
    const char *by = sp_own_by_names[x->own.by[function]];
    sp_put_int(t, at + SP_FUNCTION_OWN, sp_is_own(&x->own, function));
    sp_put_text(x->out, t, at + SP_FUNCTION_OWN_BY, by, by ? strlen(by) : 0);
}

void sp_fact_function(struct sp_asked *x, const char *name, uint32_t function)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_answer *a = x->out;
    char handle[32], member[64];
    uint32_t dso = p->functions.v[function].dso;
#define MEMBER(word) (snprintf(member, sizeof member, "%s." word, name), member)
    sp_fact_text(a, MEMBER("id"), handle, sp_handle_text(&x->handles, function, handle));
    struct sp_str file = sp_dso_name(p, dso);
    struct sp_buf full;
    sp_buf_init(&full, 0);
    put_name_of(x, function, &full);
    sp_fact_name(a, MEMBER("function"), full.len ? full.data : "", full.len);
    sp_buf_free(&full);
    sp_fact_text(a, MEMBER("dso"), file.p, file.n);
    if (sp_dso_is_one_of_several(p, dso))
        sp_fact_str(a, MEMBER("build_id"), sp_pstr(p, p->dsos.v[dso].build_id));
    if (x->has_own) {
        sp_fact_bool(a, MEMBER("own"), sp_is_own(&x->own, function));
        sp_fact_cstr(a, MEMBER("own_by"), sp_own_by_names[x->own.by[function]]);
    }
#undef MEMBER
}

void sp_put_pool(struct sp_asked *x, struct sp_answer_table *t, size_t at, const struct sp_pool *pool)
{
    if (!pool)
        return;
    sp_put_str(x->out, t, at, sp_str_at(&x->s.pools.names, pool->pattern));
    sp_put_int(t, at + 1, pool->named ? SP_ABSENT : (int64_t)pool->threads);
}
