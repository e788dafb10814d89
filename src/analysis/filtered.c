#include "analysis/filtered.h"

#include "analysis/chains.h"
#include "analysis/sample_times.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/merge.h"

#include <stdlib.h>

/* A weight within a range of time. */
struct timed {
    uint32_t stack, metric;
    int64_t v;
    unsigned scale;
};

struct filter {
    struct sp_profile *p;
    struct sp_select_opts opts; /* of one event and metric */
    struct sp_diags *d;
    unsigned char *leave; /* per stack */
    unsigned char *used;  /* per event and metric: some stack has such a weight */
    unsigned char *lacks; /* per event: some stack has no weight in the primary metric */
    SP_VEC(struct timed) timed;
    bool any;
    bool kept_only; /* the primary metric decided what is kept */
    int64_t lo, hi;
};

static bool filtered_start(struct filter *x)
{
    const struct sp_profile *p = x->p;
    size_t metrics = p->metrics.n;
    x->leave = malloc(p->stacks.n + 1);
    x->used = calloc(p->events.n * metrics + 1, 1);
    x->lacks = calloc(p->events.n + 1, 1);
    if (!x->leave || !x->used || !x->lacks)
        return false;
    memset(x->leave, 1, p->stacks.n + 1);
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        uint32_t e = p->contexts.v[p->stacks.v[i].context].event;
        for (uint32_t m = 0; e != SP_NONE && m < metrics; m++) {
            bool has = sp_weight(p, i, m) != SP_ABSENT;
            x->used[e * metrics + m] |= has;
            x->lacks[e] |= !has && m == p->events.v[e].primary;
        }
    }
    return true;
}

/* Inlined frames whose physical one is hidden stand for themselves, frames from..to. False: out of memory. */
static bool stand_alone(struct sp_profile *p, size_t from, size_t to)
{
    for (; from < to; from++) {
        struct sp_frame f = p->frames.v[p->stack_frames.v[from]];
        f.flags &= (uint8_t)~SP_FRAME_INLINED;
        f.inline_depth = 0;
        uint32_t own = sp_frame_intern(p, &f);
        if (own == SP_NONE)
            return false;
        p->stack_frames.v[from] = own;
    }
    return true;
}

/* What is said of calls between frames that are left. */
struct kept_edges {
    const struct sp_edge *next, *end; /* of the record as it was */
    SP_VEC(struct sp_edge) list;
};

/* Frame i of the record has been looked at, and so many are left; is the caller after it one of them? */
static bool keep_edges(struct kept_edges *x, size_t i, size_t left, bool caller)
{
    bool ok = true;
    for (; ok && x->next < x->end && x->next->at == i; x->next++)
        if (left && caller)
            ok = sp_vec_push(&x->list, ((struct sp_edge){(uint32_t)left - 1, x->next->kind, x->next->frame}));
    return ok;
}

/* From i on, the next of the frames shown that was recorded. */
static size_t filtered_recorded(const struct sp_profile *p, const uint32_t *shown, size_t n, size_t i)
{
    while (i < n && p->frames.v[shown[i]].flags & SP_FRAME_INFERRED)
        i++;
    return i;
}

/* The frames of a record that are shown, in their order, behind those that there are. */
static bool reframe(struct sp_profile *p, uint32_t stack, const uint32_t *shown, size_t n)
{
    struct sp_stack *s = &p->stacks.v[stack];
    struct kept_edges edges = {0};
    size_t nedges;
    edges.next = sp_edges_of(p, s->edges, &nedges);
    edges.end = edges.next + nedges;
    size_t to = p->stack_frames.n,
           run = to; /* run: the first inlined frame that waits for its physical one */
    bool ok = sp_vec_reserve(&p->stack_frames, to + n + 1), orphans = false;
    for (size_t i = 0, at = filtered_recorded(p, shown, n, 0); ok && i < s->n; i++) {
        uint32_t frame = p->stack_frames.v[s->first + i];
        bool inlined = p->frames.v[frame].flags & SP_FRAME_INLINED, visible = at < n && shown[at] == frame;
        if (visible) {
            p->stack_frames.v[to++] = frame;
            at = filtered_recorded(p, shown, n, at + 1);
        }
        if (!inlined && !visible) {
            ok = stand_alone(p, run, to);
            orphans = orphans || run < to;
        }
        run = inlined ? run : to;
        ok = ok && keep_edges(&edges, i, to - p->stack_frames.n, at < n);
    }
    /* At the root end there was no physical frame: like what has lost it, where some has. */
    ok = ok && (!orphans || stand_alone(p, run, to));
    s->first = p->stack_frames.n;
    s->n = (uint32_t)(to - p->stack_frames.n);
    s->edges = ok && s->edges ? sp_edges_intern(p, edges.list.v, edges.list.n) : 0;
    ok = ok && s->edges != SP_NONE;
    sp_vec_free(&edges.list);
    p->stack_frames.n = to;
    if (!s->n)
        s->exclusive = SP_EXCLUSIVE_NONE;
    return ok;
}

/* The records of a row, with the frames that the row shows. */
static bool filtered_keep_row(struct filter *x, struct sp_selection *s, size_t row)
{
    const struct sp_selected *r = &s->rows.v[row];
    bool whole = !s->hidden && !s->roots && !s->no_inlined, first = x->leave[r->stack];
    x->leave[r->stack] = 0;
    if (r->kernel != SP_NONE)
        x->leave[r->kernel] = 0;
    x->any = true;
    if (whole || !first)
        return true;
    size_t n, kernel = sp_selected_kernel_frames(s, row);
    const uint32_t *f = sp_selected_frames(s, row, &n);
    if (!f)
        return false;
    kernel = kernel < n ? kernel : n;
    return (r->kernel == SP_NONE || reframe(x->p, r->kernel, f, kernel)) &&
           reframe(x->p, r->stack, f + kernel, n - kernel);
}

static void say_kept(const struct filter *x, struct sp_selection *s)
{
    const struct sp_profile *p = x->p;
    char kept[64], all[64], percent[64];
    const char *filters = sp_buf_cstr(&s->filters);
    kept[sp_scaled_text(s->kept, s->scale, kept)] = '\0';
    all[sp_scaled_text(s->event_whole, s->scale, all)] = '\0';
    percent[s->event_whole > 0 ? sp_scaled_text(sp_ratio(s->kept, s->event_whole, 10000), 2, percent) : 0] =
        '\0';
    struct sp_str unit = s->unit.n ? s->unit : sp_pstr(p, p->metrics.v[s->metric].name);
    bool shaped = s->hidden || s->roots || s->no_inlined;
    sp_emit(x->d, SP_I608, SP_AT_NOTHING, "%s keeps %s of %s %.*s (%s%%) of event %s%s", filters, kept, all,
            (int)unit.n, unit.p, percent, sp_pstr(p, p->events.v[s->event].name).p,
            shaped ? ", without the frames that are hidden" : "");
}

static bool note_weight(struct filter *x, uint32_t stack, uint32_t metric, int64_t v, unsigned scale)
{
    return sp_vec_push(&x->timed, ((struct timed){stack, metric, v, scale}));
}

static spaa_status filter_metric(struct filter *x, uint32_t event, uint32_t metric)
{
    struct sp_selection s;
    const struct sp_profile *p = x->p;
    bool primary = metric == p->events.v[event].primary;
    x->opts.event_number = &event;
    x->opts.metric = sp_pstr(p, p->metrics.v[metric].name).p;
    spaa_status st = sp_select(p, &x->opts, x->d, &s);
    if (st)
        return st;
    for (size_t i = 0; !st && i < s.rows.n; i++) {
        const struct sp_selected *r = &s.rows.v[i];
        if (x->kept_only && x->leave[r->stack])
            continue;
        if (!filtered_keep_row(x, &s, i) ||
            (s.timed && !note_weight(x, r->stack, metric, r->weight, s.scale)) ||
            (s.timed && r->kernel != SP_NONE && !note_weight(x, r->kernel, metric, r->weight, s.scale)))
            st = sp_nomem(x->d);
    }
    if (!st && primary && !s.cannot_add)
        say_kept(x, &s);
    x->lo = s.timed ? s.time_lo : x->lo;
    x->hi = s.timed ? s.time_hi : x->hi;
    sp_selection_free(&s);
    return st;
}

static bool used(const struct filter *x, uint32_t event, uint32_t metric)
{
    return x->used[event * x->p->metrics.n + metric];
}

static spaa_status filter_event(struct filter *x, uint32_t event)
{
    const struct sp_profile *p = x->p;
    uint32_t primary = p->events.v[event].primary;
    bool timed = x->opts.time != NULL, has = primary != SP_NONE && used(x, event, primary);
    spaa_status st = has ? filter_metric(x, event, primary) : SPAA_OK;
    x->kept_only = timed && has;
    for (uint32_t m = 0; !st && m < p->metrics.n; m++) {
        if (m == primary || !used(x, event, m) || (!timed && !x->lacks[event]))
            continue;
        if (timed && sp_samples_count(p->samples) && sp_weighing_of(p, event, m) == SP_WEIGH_NOT)
            sp_emit(x->d, SP_I321, SP_AT_NOTHING, "%s of event %s: it is not known for a range of time",
                    sp_pstr(p, p->metrics.v[m].name).p, sp_pstr(p, p->events.v[event].name).p);
        else
            st = filter_metric(x, event, m);
    }
    x->kept_only = false;
    return st;
}

/* ---- a range of time ---- */

/* The metrics that the stack still has. */
static bool narrow_layout(struct sp_profile *p, uint32_t stack)
{
    struct sp_weight_field fields[SP_METRICS_MAX];
    struct sp_stack *s = &p->stacks.v[stack];
    struct sp_layout l = s->layout == SP_NONE ? (struct sp_layout){0, 0} : p->layouts.v[s->layout];
    size_t n = 0;
    for (uint32_t i = 0; i < l.n && n < SP_METRICS_MAX; i++)
        if (sp_weight(p, stack, p->layout_fields.v[l.first + i].metric) != SP_ABSENT)
            fields[n++] = p->layout_fields.v[l.first + i];
    if (n != l.n)
        s->layout = n ? sp_layout_intern(p, fields, n) : SP_NONE;
    return !n || s->layout != SP_NONE;
}

static bool set_weights(struct filter *x)
{
    struct sp_profile *p = x->p;
    char t[64];
    for (uint32_t m = 0; m < p->metrics.n; m++)
        for (size_t i = 0; i < p->columns[m].n; i++)
            p->columns[m].v[i] = SP_ABSENT;
    for (size_t i = 0; i < x->timed.n; i++) {
        const struct timed *v = &x->timed.v[i];
        if (!sp_weight_set_text(p, v->stack, v->metric, t, sp_scaled_text(v->v, v->scale, t)))
            return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->stacks.n; i++) {
        if (p->stacks.v[i].exclusive)
            p->stacks.v[i].exclusive = SP_EXCLUSIVE_SAME;
        ok = x->leave[i] || narrow_layout(p, i);
    }
    return ok;
}

static spaa_status set_samples(struct filter *x, const struct sp_sample_times *m)
{
    struct sp_samples *kept;
    int64_t at;
    spaa_status st = sp_samples_new(x->d, &kept);
    for (size_t i = 0; !st && i < m->n; i++)
        if (sp_sample_time(m, &m->rows[i], &at) && at >= x->lo && at < x->hi)
            st = sp_samples_add(kept, &m->rows[i]);
    if (st) {
        sp_samples_free(kept);
        return st;
    }
    sp_samples_free(x->p->samples);
    x->p->samples = kept;
    return SPAA_OK;
}

static spaa_status set_windows(struct filter *x, const struct sp_sample_times *m)
{
    struct sp_profile *p = x->p;
    size_t first, n, kept = 0;
    spaa_status st = m->rows ? SPAA_OK : sp_sample_times_windows(m, x->lo, x->hi, x->d, &first, &n);
    struct sp_window *list = st || m->rows ? NULL : calloc(n + 1, sizeof *list);
    if (!st && !m->rows && !list)
        return sp_nomem(x->d);
    for (size_t i = 0; list && i < n; i++)
        list[kept++] = p->windows.v[m->windows.v[first + i].window];
    if (kept)
        memcpy(p->windows.v, list, kept * sizeof *list);
    p->windows.n = kept;
    free(list);
    return st;
}

static spaa_status within_time(struct filter *x, const struct sp_filtered_opts *opts)
{
    struct sp_sample_times m;
    spaa_status st = sp_sample_times_of(x->p, x->d, &m);
    if (st)
        return st;
    int64_t lo = x->lo > m.start ? x->lo : m.start, hi = x->hi < m.end ? x->hi : m.end;
    bool rows = m.rows != NULL;
    st = set_weights(x) && sp_sample_times_set_range(x->p, lo, hi < lo ? lo : hi) ? set_windows(x, &m)
                                                                                  : sp_nomem(x->d);
    if (!st && rows && opts->samples)
        st = set_samples(x, &m);
    sp_sample_times_free(&m);
    if (!st && rows && !opts->samples) {
        sp_samples_free(x->p->samples);
        x->p->samples = NULL;
    }
    return st;
}

/* Equal stacks become one, and what no stack needs goes. */
static spaa_status rebuild(struct filter *x, const struct sp_filtered_opts *opts, struct sp_profile **p)
{
    struct sp_merge_opts how = {.frames = SP_FRAMES_FOREIGN,
                                .group_by = opts->group_by,
                                .labels = opts->labels,
                                .samples = true,
                                .leave = x->leave};
    struct sp_profile *kept = NULL;
    struct sp_merger *m = NULL;
    spaa_status st = sp_merger_new(&how, x->d, &m);
    if (!st)
        st = sp_merger_add(m, *p, "");
    if (!st)
        st = sp_merger_finish(m, &kept);
    sp_merger_free(m);
    if (st)
        return st;
    sp_profile_free(*p);
    *p = kept;
    return SPAA_OK;
}

/* Nothing is left: the selection of the event that views would take says why. */
static spaa_status filtered_refuse(const struct filter *x, const struct sp_select_opts *filters)
{
    struct sp_selection s;
    struct sp_select_opts o = *filters;
    o.metric = NULL;
    o.any_state = true;
    spaa_status st = sp_select(x->p, &o, x->d, &s);
    if (st)
        return st;
    sp_selection_free(&s);
    sp_emit(x->d, SP_E032, SP_AT_NOTHING, "the filters keep nothing");
    return SPAA_ERR_NOT_FOUND;
}

spaa_status sp_filter_profile(struct sp_profile **p, const struct sp_select_opts *filters,
                              const struct sp_filtered_opts *opts, struct sp_diags *d)
{
    struct filter x = {.p = *p, .opts = *filters, .d = d};
    uint32_t only = filters->event ? sp_event_find(*p, filters->event, strlen(filters->event)) : SP_NONE;
    x.opts.may_be_empty = true;
    x.opts.any_state = true;
    x.opts.by_owner = false; /* what is written is what was recorded */
    spaa_status st = filtered_start(&x) ? SPAA_OK : sp_nomem(d);
    for (uint32_t e = 0; !st && e < (*p)->events.n; e++)
        if (!filters->event || e == only)
            st = filter_event(&x, e);
    if (!st && !x.any)
        st = filtered_refuse(&x, filters);
    if (!st && filters->time)
        st = within_time(&x, opts);
    if (!st)
        st = rebuild(&x, opts, p);
    if (!st && (filters->hide || filters->root_at || filters->kernel_only))
        (*p)->header.frames_filtered = true;
    free(x.leave);
    free(x.used);
    free(x.lacks);
    sp_vec_free(&x.timed);
    return st;
}
