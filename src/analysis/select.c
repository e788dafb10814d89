#include "analysis/select.h"

#include "analysis/match.h"
#include "base/nearest.h"
#include "base/num.h"
#include "model/order.h"

#include <math.h>
#include <stdlib.h>

/* ---- event and metric ---- */

int64_t sp_event_samples(const struct sp_profile *p, uint32_t event)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    int64_t sum = SP_ABSENT;
    if (samples == SP_NONE)
        return sum;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        int64_t v = sp_weight(p, i, samples);
        if (p->contexts.v[p->stacks.v[i].context].event != event || v <= SP_DECIMAL)
            continue;
        if (sum == SP_ABSENT)
            sum = 0;
        if (__builtin_add_overflow(sum, v, &sum))
            return INT64_MAX;
    }
    return sum;
}

uint32_t sp_default_event(const struct sp_profile *p)
{
    uint32_t best = SP_NONE;
    int64_t best_samples = 0;
    for (uint32_t e = 0; e < p->events.n; e++) {
        if (sp_str_is(sp_pstr(p, p->events.v[e].name), "lbr") && p->events.n > 1)
            continue;
        int64_t samples = sp_event_samples(p, e);
        if (best == SP_NONE || samples > best_samples) {
            best = e;
            best_samples = samples;
        }
    }
    return best;
}

static spaa_status not_found(struct sp_diags *d, enum sp_code code, const char *asked,
                             const struct sp_str *names, size_t n)
{
    struct sp_buf hint;
    sp_buf_init(&hint, 64 << 10);
    sp_nearest_words(&hint, asked, names, n);
    sp_emit_hint(d, code, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", asked);
    sp_buf_free(&hint);
    return code == SP_E032 ? SPAA_ERR_NOT_FOUND : SPAA_ERR_USAGE;
}

static spaa_status pick_event(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    const char *name = o->event;
    s->event = o->event_number ? *o->event_number
               : name          ? sp_event_find(p, name, strlen(name))
                               : sp_default_event(p);
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
    spaa_status st = not_found(d, SP_E030, name, names, p->events.n);
    free(names);
    return st;
}

static spaa_status pick_metric(struct sp_selection *s, const char *name, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    s->metric = name ? sp_metric_find(p, name, strlen(name)) : p->events.v[s->event].primary;
    bool used = false;
    for (uint32_t i = 0; s->metric != SP_NONE && i < p->stacks.n && !used; i++)
        used = p->contexts.v[p->stacks.v[i].context].event == s->event &&
               sp_weight(p, i, s->metric) != SP_ABSENT;
    if (s->metric != SP_NONE && (used || !name)) {
        s->cannot_add = p->metrics.v[s->metric].info->op != SP_OP_SUM;
        return SPAA_OK;
    }
    struct sp_str names[SP_METRICS_MAX];
    for (size_t i = 0; i < p->metrics.n; i++)
        names[i] = sp_pstr(p, p->metrics.v[i].name);
    return not_found(d, SP_E031, name ? name : "", names, p->metrics.n);
}

/* ---- weights ---- */

/* Decimals decide the scale, as far as the sums still fit; what is finer is rounded and flagged. */
static void find_scale(struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    double sum = 0;
    for (size_t i = 0; i < p->decimals.n; i++) {
        int64_t m;
        unsigned scale;
        struct sp_str t = sp_pstr(p, p->decimals.v[i].text);
        if (p->decimals.v[i].metric == s->metric && sp_parse_scaled(t.p, t.n, &m, &scale) && scale > s->scale)
            s->scale = scale;
    }
    if (s->scale > 9)
        s->scale = 9;
    for (uint32_t i = 0; s->scale && i < p->stacks.n; i++)
        if (p->contexts.v[p->stacks.v[i].context].event == s->event &&
            sp_weight(p, i, s->metric) != SP_ABSENT)
            sum += fabs(sp_weight_double(p, i, s->metric));
    while (s->scale && sum * pow(10, (double)s->scale) > 9e18)
        s->scale--;
}

static int64_t scaled(struct sp_selection *s, int64_t v, struct sp_str text)
{
    int64_t m = v;
    unsigned scale = 0;
    if (v == SP_DECIMAL && (!sp_parse_scaled(text.p, text.n, &m, &scale) || scale > s->scale)) {
        double x = sp_text_double(text.p, text.n) * pow(10, (double)s->scale);
        s->inexact = true;
        return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? -INT64_MAX : llround(x);
    }
    for (; scale < s->scale; scale++) {
        if (__builtin_mul_overflow(m, 10, &m)) {
            s->inexact = true;
            return v > 0 ? INT64_MAX : -INT64_MAX;
        }
    }
    return m;
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

static void add_samples(int64_t *sum, int64_t v)
{
    if (v > SP_DECIMAL)
        *sum = (*sum == SP_ABSENT ? 0 : *sum) + v;
}

/* ---- filters ---- */

static void note(struct sp_selection *s, const char *name, const char *value)
{
    if (value)
        sp_buf_printf(&s->filters, "%s--%s%s%s", s->filters.len ? " " : "", name, *value ? " " : "", value);
}

static bool in_list(const char *list, struct sp_str s)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n == s.n && memcmp(list, s.p, n) == 0)
            return true;
        list += n;
        list += *list == ',';
    }
    return false;
}

/* The words of the CodeGuru views, which hold for every format with states. */
static const char *view_states(const char *view)
{
    return strcmp(view, "cpu") == 0 ? "RUNNABLE,BLOCKED,NATIVE,WALL_TIME" : NULL;
}

/* Stacks without a state are in every view; states that the views do not name are in `latency` and lists. */
static bool state_fits(const struct sp_selection *s, const struct sp_select_opts *o, uint32_t number)
{
    struct sp_str state = sp_pstr(s->profile, number);
    if (o->state)
        return number != SP_STR_NONE && in_list(o->state, state);
    if (!s->view || strcmp(s->view, "all") == 0 || number == SP_STR_NONE)
        return true;
    const char *list = view_states(s->view);
    return list ? in_list(list, state) : !sp_str_is(state, "IDLE");
}

static bool context_fits(const struct sp_selection *s, const struct sp_select_opts *o,
                         const struct sp_context *c)
{
    const struct sp_profile *p = s->profile;
    char t[64];
    if (c->event != s->event || !state_fits(s, o, c->state))
        return false;
    if (o->comm && !(c->comm && sp_str_is(sp_pstr(p, c->comm), o->comm)))
        return false;
    if (o->pid && (c->pid == SP_ABSENT || (sp_scaled_text(c->pid, 0, t), strcmp(t, o->pid) != 0)))
        return false;
    if (o->thread) {
        bool tid = c->tid != SP_ABSENT && (sp_scaled_text(c->tid, 0, t), strcmp(t, o->thread) == 0);
        if (!tid && !(c->comm && sp_str_is(sp_pstr(p, c->comm), o->thread)))
            return false;
    }
    return true;
}

static spaa_status hide_frames(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    if (!o->hide && !o->user_only && !o->kernel_only)
        return SPAA_OK;
    unsigned char *functions = NULL;
    spaa_status st = o->hide ? sp_match_functions(p, o->hide, d, &functions) : SPAA_OK;
    if (st)
        return st;
    s->hidden = calloc(p->frames.n + 1, 1);
    for (size_t i = 0; s->hidden && i < p->frames.n; i++) {
        uint8_t kind = p->frames.v[i].kind;
        s->hidden[i] = (functions && functions[p->frames.v[i].function]) ||
                       (o->user_only && kind == SP_KERNEL) || (o->kernel_only && kind != SP_KERNEL);
    }
    free(functions);
    return s->hidden ? SPAA_OK : sp_nomem(d);
}

static spaa_status find_roots(struct sp_selection *s, const char *name, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    bool any = false;
    s->roots = calloc(p->functions.n + 1, 1);
    struct sp_str *names = malloc((p->functions.n + 1) * sizeof *names);
    spaa_status st = s->roots && names ? SPAA_OK : sp_nomem(d);
    for (size_t i = 0; !st && i < p->functions.n; i++) {
        names[i] = sp_pstr(p, p->functions.v[i].name);
        s->roots[i] = sp_str_is(names[i], name);
        any = any || s->roots[i];
    }
    if (!st && !any)
        st = not_found(d, SP_E032, name, names, p->functions.n);
    free(names);
    return st;
}

struct frame_filters {
    unsigned char *dso, *focus, *ignore; /* per DSO, per function; NULL: no such filter */
};

static void frame_filters_free(struct frame_filters *f)
{
    free(f->dso);
    free(f->focus);
    free(f->ignore);
}

static spaa_status frame_filters(const struct sp_profile *p, const struct sp_select_opts *o,
                                 struct sp_diags *d, struct frame_filters *f)
{
    spaa_status st = o->dso ? sp_match_dsos(p, o->dso, d, &f->dso) : SPAA_OK;
    if (!st && o->focus)
        st = sp_match_functions(p, o->focus, d, &f->focus);
    if (!st && o->ignore)
        st = sp_match_functions(p, o->ignore, d, &f->ignore);
    return st;
}

static bool frames_fit(const struct sp_profile *p, const struct frame_filters *f, const uint32_t *frames,
                       size_t n)
{
    bool dso = !f->dso, focus = !f->focus;
    if (dso && focus && !f->ignore)
        return true;
    for (size_t i = 0; i < n; i++) {
        uint32_t function = p->frames.v[frames[i]].function;
        if (f->ignore && f->ignore[function])
            return false;
        dso = dso || f->dso[p->functions.v[function].dso];
        focus = focus || f->focus[function];
    }
    return dso && focus;
}

/* ---- linked records ---- */

/* SP_NONE: not linked; else the partner when the pair is clean. *skip: the other side counts. */
static uint32_t partner(const struct sp_profile *p, uint32_t stack, bool *skip, bool *odd)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    *skip = false;
    if (!s->related)
        return SP_NONE;
    const struct sp_related *r = &p->related.v[s->related - 1];
    bool any = false;
    uint32_t other = SP_NONE;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t x = p->related_stacks.v[r->first + i];
        if (x == SP_NONE || p->stacks.v[x].type == s->type)
            continue;
        any = true;
        other = x;
    }
    if (!any)
        return SP_NONE;
    *skip = s->type == SP_KERNEL_STACK;
    uint32_t back = p->stacks.v[other].related;
    bool clean = r->n == 1 && back && p->related.v[back - 1].n == 1 &&
                 p->related_stacks.v[p->related.v[back - 1].first] == stack;
    *odd = *odd || !clean;
    return clean && !*skip ? other : SP_NONE;
}

/* ---- the selection ---- */

/* The leaf's own weight where the record states one for this metric; else the whole weight. */
static int64_t own_weight(struct sp_selection *s, const struct sp_selected *row)
{
    const struct sp_profile *p = s->profile;
    uint32_t x = p->stacks.v[row->stack].exclusive;
    if (x < 2 || row->kernel != SP_NONE || p->exclusives.v[x - 2].layout == SP_NONE)
        return row->weight;
    const struct sp_exclusive *e = &p->exclusives.v[x - 2];
    const struct sp_layout *l = &p->layouts.v[e->layout];
    for (uint32_t i = 0; i < l->n; i++) {
        const struct sp_value *v = &p->values.v[e->first + i];
        if (p->layout_fields.v[l->first + i].metric == s->metric && v->v != SP_ABSENT)
            return scaled(s, v->v, sp_pstr(p, v->text));
    }
    return row->weight;
}

static spaa_status gather(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct frame_filters filters = {0};
    uint32_t samples = sp_metric_find(p, "samples", 7);
    uint64_t left = INT64_MAX, own_left = INT64_MAX, samples_left = INT64_MAX;
    unsigned char *fits = calloc(p->contexts.n + 1, 1);
    spaa_status st = fits ? frame_filters(p, o, d, &filters) : sp_nomem(d);
    bool odd = false;
    for (size_t i = 0; fits && i < p->contexts.n; i++)
        fits[i] =
            (unsigned char)((p->contexts.v[i].event == s->event) + context_fits(s, o, &p->contexts.v[i]));
    for (uint32_t i = 0; !st && i < p->stacks.n; i++) {
        bool skip;
        const struct sp_stack *stack = &p->stacks.v[i];
        int64_t v = sp_weight(p, i, s->metric);
        if (!fits[stack->context] || v == SP_ABSENT)
            continue;
        struct sp_selected row = {i, partner(p, i, &skip, &odd), 0, 0, SP_ABSENT};
        if (skip)
            continue;
        row.weight = scaled(s, v, v == SP_DECIMAL ? sp_weight_text(p, i, s->metric) : (struct sp_str){"", 0});
        row.weight = within(s, &left, row.weight);
        row.own = within(s, &own_left, own_weight(s, &row));
        row.samples = samples == SP_NONE ? SP_ABSENT : sp_weight(p, i, samples);
        if (row.samples > SP_DECIMAL)
            row.samples = within(s, &samples_left, row.samples);
        s->all += row.weight;
        if (fits[stack->context] < 2)
            continue;
        s->base += row.weight;
        add_samples(&s->base_samples, row.samples);
        if (!sp_vec_push(&s->rows, row)) {
            st = sp_nomem(d);
            break;
        }
        size_t n;
        const uint32_t *f = sp_selected_frames(s, s->rows.n - 1, &n);
        if (!f)
            st = sp_nomem(d);
        else if (!frames_fit(p, &filters, f, n) || (s->roots && !n)) {
            s->rows.n--;
        } else {
            s->total += row.weight;
            add_samples(&s->samples, row.samples);
        }
    }
    struct sp_str name = sp_pstr(p, p->metrics.v[s->metric].name);
    if (s->capped)
        sp_emit_hint(d, SP_L304, SP_AT_NOTHING, "shares are no longer right: filter for less",
                     "the values of %.*s add up to more; what is beyond was left out", (int)name.n, name.p);
    if (s->inexact && !s->capped)
        sp_emit(d, SP_I322, SP_AT_NOTHING, "values of %.*s were rounded to %u decimals", (int)name.n, name.p,
                s->scale);
    if (odd)
        sp_emit(d, SP_W311, SP_AT_NOTHING, "stacks linked to several others: the user side was counted");
    frame_filters_free(&filters);
    free(fits);
    return st;
}

static void notes(struct sp_selection *s, const struct sp_select_opts *o)
{
    note(s, "thread", o->thread);
    note(s, "pid", o->pid);
    note(s, "comm", o->comm);
    note(s, "state", o->state);
    note(s, "view", o->state ? NULL : o->view);
    note(s, "dso", o->dso);
    note(s, "focus", o->focus);
    note(s, "ignore", o->ignore);
    note(s, "hide", o->hide);
    note(s, "root-at", o->root_at);
    note(s, "user", o->user_only ? "" : NULL);
    note(s, "kernel", o->kernel_only ? "" : NULL);
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

static const char *pick_view(const struct sp_selection *s, const struct sp_select_opts *o)
{
    bool states = false;
    for (size_t i = 0; i < s->profile->contexts.n; i++)
        states = states || (s->profile->contexts.v[i].event == s->event && s->profile->contexts.v[i].state);
    return o->state ? "custom" : !states ? NULL : o->view ? o->view : "cpu";
}

/* Nothing left: says which threads there are, the most common slip. */
static spaa_status nothing(const struct sp_selection *s, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct sp_buf hint;
    sp_buf_init(&hint, 64 << 10);
    sp_buf_puts(&hint, "the profile has the threads");
    size_t shown = 0;
    for (size_t i = 0; i < p->threads.n && shown < 8; i++, shown++) {
        const struct sp_thread *t = &p->threads.v[i];
        sp_buf_printf(&hint, "%s %s (pid %lld, tid %lld)", shown ? "," : "", sp_str_cstr(&p->strs, t->comm),
                      (long long)t->pid, (long long)t->tid);
    }
    if (p->threads.n > shown)
        sp_buf_printf(&hint, " and %zu more", p->threads.n - shown);
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name);
    sp_emit_hint(d, SP_E032, SP_AT_NOTHING, p->threads.n ? sp_buf_cstr(&hint) : NULL, "%.*s of event %.*s",
                 (int)s->filters.len, s->filters.data ? s->filters.data : "", (int)event.n, event.p);
    sp_buf_free(&hint);
    return SPAA_ERR_NOT_FOUND;
}

/* More than a view is asked for: an event without weight in a view is an answer, not a slip. */
static bool narrows(const struct sp_select_opts *o)
{
    return o->thread || o->pid || o->comm || o->state || o->dso || o->focus || o->ignore || o->hide ||
           o->root_at || o->user_only || o->kernel_only;
}

spaa_status sp_select(const struct sp_profile *p, const struct sp_select_opts *o, struct sp_diags *d,
                      struct sp_selection *out)
{
    struct sp_selection s = {.profile = p, .base_samples = SP_ABSENT, .samples = SP_ABSENT};
    sp_buf_init(&s.filters, 0);
    spaa_status st = pick_event(&s, o, d);
    if (!st)
        st = pick_metric(&s, o->metric, d);
    if (!st) {
        find_scale(&s);
        s.view = pick_view(&s, o);
        st = hide_frames(&s, o, d);
    }
    if (!st && o->root_at)
        st = find_roots(&s, o->root_at, d);
    if (!st)
        st = gather(&s, o, d);
    if (!st) {
        notes(&s, o);
        s.unit = find_unit(&s);
        if (!s.rows.n && narrows(o))
            st = nothing(&s, d);
    }
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
    free(s->hidden);
    free(s->roots);
    s->hidden = s->roots = NULL;
}

const uint32_t *sp_selected_frames(struct sp_selection *s, size_t row, size_t *n)
{
    const struct sp_profile *p = s->profile;
    const struct sp_selected *r = &s->rows.v[row];
    const struct sp_stack *stack = &p->stacks.v[r->stack];
    static const uint32_t none;
    *n = stack->n;
    if (r->kernel == SP_NONE && !s->hidden && !s->roots)
        return stack->n ? sp_stack_frames(p, r->stack) : &none;
    size_t kernel_n = r->kernel == SP_NONE ? 0 : p->stacks.v[r->kernel].n;
    if (!sp_vec_reserve(&s->scratch, kernel_n + stack->n + 1))
        return NULL;
    s->scratch.n = 0;
    for (size_t i = 0; i < kernel_n + stack->n; i++) {
        uint32_t f =
            i < kernel_n ? sp_stack_frames(p, r->kernel)[i] : sp_stack_frames(p, r->stack)[i - kernel_n];
        if (!s->hidden || !s->hidden[f])
            s->scratch.v[s->scratch.n++] = f;
    }
    if (s->roots) { /* the outermost one is the new root */
        size_t keep = s->scratch.n;
        while (keep && !s->roots[p->frames.v[s->scratch.v[keep - 1]].function])
            keep--;
        s->scratch.n = keep;
    }
    *n = s->scratch.n;
    return s->scratch.v;
}

uint32_t sp_selected_leaf(const struct sp_selection *s, size_t row, const uint32_t *frames, size_t n)
{
    const struct sp_profile *p = s->profile;
    uint32_t x = p->stacks.v[s->rows.v[row].stack].exclusive;
    uint32_t stated = x >= 2 && s->rows.v[row].kernel == SP_NONE ? p->exclusives.v[x - 2].frame : SP_NONE;
    for (size_t i = 0; stated != SP_NONE && i < n; i++)
        if (frames[i] == stated)
            return stated;
    return n ? frames[0] : SP_NONE;
}
