/*
 * Merging what is not stacks: extension records, processes, images, samples, windows; and the order of all of
 * it at the end.
 *
 * Extension records of a merge are a sorted multiset, without those that describe one input's bytes. Samples
 * stay in their temporary file, in time order, equal times by content. Windows are sorted by content and
 * numbered anew.
 */
#include "model/merge_private.h"

#include "base/decimal.h"
#include "base/num.h"
#include "model/identity.h"
#include "model/originals.h"
#include "model/samples.h"
#include "model/source_pieces.h"
#include "model/windows.h"

#include <stdio.h>
#include <stdlib.h>

/* "x_FORMAT_line" and "x_FORMAT_text": the text of an input, as --lossless kept it before there was
 * x_original. */
static bool merge_is_text(struct sp_str json)
{
    static const char head[] = "{\"type\":\"x_";
    size_t n = sizeof head - 1;
    if (json.n < n || memcmp(json.p, head, n) != 0)
        return false;
    const char *end = memchr(json.p + n, '"', json.n - n);
    return end && end - json.p > 5 + (ptrdiff_t)n &&
           (memcmp(end - 5, "_line", 5) == 0 || memcmp(end - 5, "_text", 5) == 0);
}

static bool merge_takes_rest(const struct sp_absorber *a)
{
    return a->m->opts.canonical || a->m->opts.rest;
}

static bool extensions(struct sp_absorber *a)
{
    a->m->text_left += sp_originals_count(a->from->originals); /* of one input each */
    for (size_t i = 0; i < a->from->extensions.n; i++) {
        uint32_t json = a->from->extensions.v[i].json;
        struct sp_extension e = {SP_STR_NONE};
        if (!merge_takes_rest(a) || merge_is_text(sp_pstr(a->from, json))) {
            a->m->text_left++;
            continue;
        }
        e.json = sp_absorb_str(a, json);
        if (!sp_vec_push(&a->to->extensions, e))
            return false;
    }
    return true;
}

/* Processes and images; equal images become one when they are sorted. */
static bool merge_facts(struct sp_absorber *a)
{
    const struct sp_profile *from = a->from;
    struct sp_profile *to = a->to;
    uint32_t first = (uint32_t)to->images.n;
    if (!merge_takes_rest(a)) {
        a->m->text_left += from->processes.n + from->images.n;
        return true;
    }
    for (size_t i = 0; i < from->images.n; i++) {
        struct sp_image x = from->images.v[i];
        sp_absorb_facts(a, sp_image_facts, &x);
        x.extra_json = sp_absorb_str(a, x.extra_json);
        if (!sp_image_add(to, &x))
            return false;
    }
    for (size_t i = 0; i < from->processes.n; i++) {
        struct sp_process_fact x = from->processes.v[i];
        size_t at = to->process_images.n;
        sp_absorb_facts(a, sp_process_facts, &x);
        x.extra_json = sp_absorb_str(a, x.extra_json);
        if (!sp_process_add(to, &x, from->process_images.v + x.first, x.images))
            return false;
        for (; at < to->process_images.n; at++)
            to->process_images.v[at] += first;
    }
    return true;
}

/* Whatever is asked of the whole: its lines are those of its inputs. */
static bool merge_sources(struct sp_absorber *a)
{
    for (size_t i = 0; i < a->from->source_pieces.n; i++) {
        struct sp_source_piece x = a->from->source_pieces.v[i];
        sp_absorb_facts(a, sp_source_facts, &x);
        x.extra_json = sp_absorb_str(a, x.extra_json);
        if (!sp_vec_push(&a->to->source_pieces, x))
            return false;
    }
    return true;
}

static spaa_status samples(struct sp_absorber *a, struct sp_samples *from, struct sp_samples **to)
{
    struct sp_sample *rows;
    size_t n;
    spaa_status st = sp_samples_rows(from, &rows, &n);
    if (!st && !*to)
        st = sp_samples_new(a->d, to);
    for (size_t i = 0; !st && i < n; i++) {
        struct sp_sample x = rows[i];
        if (a->m->opts.leave && (x.stack == SP_NONE || a->m->opts.leave[x.stack]))
            continue;
        x.stack = x.stack == SP_NONE ? SP_NONE : a->stacks[x.stack];
        x.event = x.event == SP_NONE ? SP_NONE : a->events[x.event];
        x.time_text = sp_absorb_str(a, x.time_text);
        x.period_text = sp_absorb_str(a, x.period_text);
        x.context = sp_absorb_str(a, x.context);
        x.more = sp_absorb_str(a, x.more);
        st = sp_samples_add(*to, &x);
    }
    return st;
}

static bool window_row(struct sp_absorber *a, const struct sp_window_row *old)
{
    struct sp_profile *p = a->to;
    struct sp_window_row r = {.stack = old->stack == SP_NONE ? SP_NONE : a->stacks[old->stack],
                              .layout = old->layout == SP_NONE ? SP_NONE : a->layouts[old->layout],
                              .first = (uint32_t)p->values.n,
                              .extra_json = sp_absorb_str(a, old->extra_json)};
    uint32_t n = r.layout == SP_NONE ? 0 : p->layouts.v[r.layout].n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t metric = p->layout_fields.v[p->layouts.v[r.layout].first + i].metric;
        struct sp_value v = sp_absorb_value(a, old->layout, old->first, metric);
        v.text = v.v == SP_DECIMAL ? sp_absorb_str(a, v.text) : SP_STR_NONE;
        if (p->values.n >= SP_NONE - 1 || !sp_vec_push(&p->values, v))
            return false;
    }
    return p->window_rows.n < SP_NONE - 1 && sp_vec_push(&p->window_rows, r);
}

static bool windows(struct sp_absorber *a)
{
    for (size_t i = 0; i < a->from->windows.n; i++) {
        struct sp_window w = a->from->windows.v[i];
        uint32_t first = w.first, n = w.n;
        w.id = sp_absorb_str(a, w.id);
        w.start = sp_absorb_str(a, w.start);
        w.end = sp_absorb_str(a, w.end);
        w.unit = sp_absorb_text(a, w.unit);
        w.extra_json = sp_absorb_str(a, w.extra_json);
        w.first = (uint32_t)a->to->window_rows.n;
        for (uint32_t k = 0; k < n; k++) {
            const struct sp_window_row *r = &a->from->window_rows.v[first + k];
            if (r->stack != SP_NONE && a->stacks[r->stack] == SP_NONE)
                continue; /* the side of a link that does not count */
            if (!window_row(a, r))
                return false;
        }
        w.n = (uint32_t)a->to->window_rows.n - w.first;
        if (!sp_vec_push(&a->to->windows, w))
            return false;
    }
    return true;
}

spaa_status sp_absorb_rest(struct sp_absorber *a)
{
    struct sp_merger *m = a->m;
    const struct sp_profile *from = a->from;
    uint64_t count = sp_samples_count(from->samples);
    spaa_status st = extensions(a) && merge_facts(a) && merge_sources(a) ? SPAA_OK : sp_nomem(a->d);
    if (!m->opts.samples) {
        m->samples_left += count;
        m->windows_left += from->windows.n;
    } else {
        if (!st && count)
            st = samples(a, from->samples, &a->to->samples);
        else if (!st && from->switches && !a->to->switches) /* of several recordings they tell nothing */
            st = samples(a, from->switches, &a->to->switches);
        if (!st && !windows(a))
            st = sp_nomem(a->d);
    }
    return st;
}

/* Adds one value of `own` to the profile's values; *same is cleared where it differs from the stack's weight.
 */
static bool own_value(struct sp_merger *m, uint32_t stack, uint32_t metric, bool *same)
{
    struct sp_profile *p = m->p;
    struct sp_value v = {sp_weight(m->own, stack, metric), SP_STR_NONE};
    int64_t weight = sp_weight(p, stack, metric);
    if (v.v == SP_DECIMAL) {
        struct sp_str t = sp_weight_text(m->own, stack, metric);
        v.text = sp_profile_str(p, t.p, t.n);
        if (v.text == SP_STR_FAIL)
            return false;
        struct sp_str w = weight == SP_DECIMAL ? sp_weight_text(p, stack, metric) : (struct sp_str){"", 0};
        *same = *same && sp_str_cmp(t, w) == 0;
    }
    *same = *same && v.v == weight;
    return p->values.n < SP_NONE - 1 && sp_vec_push(&p->values, v);
}

spaa_status sp_merge_exclusives(struct sp_merger *m)
{
    struct sp_profile *p = m->p;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        struct sp_stack *s = &p->stacks.v[i];
        if (s->exclusive != SP_EXCLUSIVE_OWN)
            continue;
        size_t first = p->values.n;
        uint32_t n = s->layout == SP_NONE ? 0 : p->layouts.v[s->layout].n;
        bool same = true;
        for (uint32_t k = 0; k < n; k++)
            if (!own_value(m, i, p->layout_fields.v[p->layouts.v[s->layout].first + k].metric, &same))
                return sp_nomem(m->d);
        s->exclusive = SP_EXCLUSIVE_SAME;
        if (same || !s->n) {
            p->values.n = first;
            continue;
        }
        struct sp_exclusive e = {sp_stack_frames(p, i)[0], s->layout, (uint32_t)first, SP_STR_NONE};
        if (p->exclusives.n >= SP_NONE - 2 || !sp_vec_push(&p->exclusives, e))
            return sp_nomem(m->d);
        s->exclusive = (uint32_t)p->exclusives.n + 1;
    }
    return SPAA_OK;
}

static int cmp_event(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_merge_text_cmp(p, p->events.v[*(const uint32_t *)va].name,
                             p->events.v[*(const uint32_t *)vb].name);
}

static spaa_status sort_events(struct sp_profile *p)
{
    size_t n = p->events.n, rows = 0;
    uint32_t *order = malloc((n + 1) * sizeof *order), *rank = malloc((n + 1) * sizeof *rank);
    struct sp_sample *row = NULL;
    spaa_status st = order && rank ? SPAA_OK : sp_nomem(p->diags);
    for (uint32_t i = 0; !st && i < n; i++)
        order[i] = i;
    if (!st) {
        qsort_r(order, n, sizeof *order, cmp_event, p);
        for (uint32_t i = 0; i < n; i++)
            rank[order[i]] = i;
        if (!sp_events_reorder(p, order))
            st = sp_nomem(p->diags);
        for (size_t i = 0; i < p->contexts.n; i++)
            if (p->contexts.v[i].event != SP_NONE)
                p->contexts.v[i].event = rank[p->contexts.v[i].event];
        struct sp_samples *const lists[] = {p->samples, p->switches};
        for (size_t k = 0; !st && k < 2; k++) {
            rows = 0;
            if (lists[k])
                st = sp_samples_rows(lists[k], &row, &rows);
            for (size_t i = 0; !st && i < rows; i++)
                if (row[i].event != SP_NONE)
                    row[i].event = rank[row[i].event];
        }
    }
    free(order);
    free(rank);
    return st;
}

static int cmp_string(const void *va, const void *vb, void *arg)
{
    return sp_merge_text_cmp(arg, *(const uint32_t *)va, *(const uint32_t *)vb);
}

static int merge_rest_cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int merge_rest_cmp_stack(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b || a == SP_NONE || b == SP_NONE)
        return (a != SP_NONE) - (b != SP_NONE);
    char ta[32], tb[32];
    size_t na = sp_stack_id_text(&p->ids.v[a], ta), nb = sp_stack_id_text(&p->ids.v[b], tb);
    return sp_str_cmp((struct sp_str){ta, (uint32_t)na}, (struct sp_str){tb, (uint32_t)nb});
}

static int cmp_sample(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_sample *a = va, *b = vb;
    int c = merge_rest_cmp_i64(a->flags, b->flags);
    const int64_t numbers[][2] = {
        {a->time, b->time}, {a->pid, b->pid}, {a->tid, b->tid}, {a->cpu, b->cpu}, {a->period, b->period}};
    for (size_t i = 0; !c && i < sizeof numbers / sizeof *numbers; i++)
        c = merge_rest_cmp_i64(numbers[i][0], numbers[i][1]);
    if (!c) /* events are sorted by now */
        c = (a->event > b->event) - (a->event < b->event);
    if (!c)
        c = merge_rest_cmp_stack(p, a->stack, b->stack);
    const uint32_t texts[][2] = {{a->time_text, b->time_text},
                                 {a->period_text, b->period_text},
                                 {a->context, b->context},
                                 {a->more, b->more}};
    for (size_t i = 0; !c && i < sizeof texts / sizeof *texts; i++)
        c = sp_merge_text_cmp(p, texts[i][0], texts[i][1]);
    return c;
}

/* In time order already: equal times by content. */
static spaa_status sort_samples(struct sp_profile *p)
{
    struct sp_sample *v;
    size_t n;
    spaa_status st = sp_samples_sort(p->samples);
    if (!st)
        st = sp_samples_rows(p->samples, &v, &n);
    for (size_t i = 0, end; !st && i < n; i = end) {
        bool timed = v[i].flags & SP_SAMPLE_TIME;
        for (end = i + 1;
             end < n && !(v[end].flags & SP_SAMPLE_TIME) == !timed && (!timed || v[end].time == v[i].time);)
            end++;
        if (end - i > 1)
            qsort_r(v + i, end - i, sizeof *v, cmp_sample, p);
    }
    return st;
}

static int cmp_number(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    struct sp_str x = sp_pstr(p, a), y = sp_pstr(p, b);
    bool ok = x.n && y.n;
    int c = ok ? sp_decimal_cmp(x.p, x.n, y.p, y.n, &ok) : 0;
    return ok && c ? c : sp_merge_text_cmp(p, a, b);
}

static int cmp_layout(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b || a == SP_NONE || b == SP_NONE)
        return (a != SP_NONE) - (b != SP_NONE);
    struct sp_layout x = p->layouts.v[a], y = p->layouts.v[b];
    int c = merge_rest_cmp_i64(x.n, y.n);
    for (uint32_t i = 0; !c && i < x.n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[x.first + i],
                                     *g = &p->layout_fields.v[y.first + i];
        c = sp_merge_text_cmp(p, p->metrics.v[f->metric].name, p->metrics.v[g->metric].name);
        if (!c)
            c = sp_merge_text_cmp(p, f->unit, g->unit);
        if (!c)
            c = sp_merge_text_cmp(p, f->extra_json, g->extra_json);
    }
    return c;
}

static int cmp_row(const struct sp_profile *p, const struct sp_window_row *a, const struct sp_window_row *b)
{
    int c = merge_rest_cmp_stack(p, a->stack, b->stack);
    if (!c)
        c = cmp_layout(p, a->layout, b->layout);
    uint32_t n = a->layout == SP_NONE ? 0 : p->layouts.v[a->layout].n;
    for (uint32_t i = 0; !c && i < n; i++) {
        const struct sp_value *x = &p->values.v[a->first + i], *y = &p->values.v[b->first + i];
        c = merge_rest_cmp_i64(x->v, y->v);
        if (!c)
            c = sp_merge_text_cmp(p, x->text, y->text);
    }
    return c ? c : sp_merge_text_cmp(p, a->extra_json, b->extra_json);
}

static int cmp_window(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_window *a = va, *b = vb;
    int c = cmp_number(p, a->start, b->start);
    if (!c)
        c = cmp_number(p, a->end, b->end);
    if (!c)
        c = sp_merge_text_cmp(p, a->unit, b->unit);
    if (!c)
        c = sp_merge_text_cmp(p, a->extra_json, b->extra_json);
    if (!c)
        c = merge_rest_cmp_i64(a->n, b->n);
    for (uint32_t i = 0; !c && i < a->n; i++)
        c = cmp_row(p, &p->window_rows.v[a->first + i], &p->window_rows.v[b->first + i]);
    return c;
}

static spaa_status sort_windows(struct sp_profile *p)
{
    if (p->windows.n)
        qsort_r(p->windows.v, p->windows.n, sizeof *p->windows.v, cmp_window, p);
    for (size_t i = 0; i < p->windows.n; i++) {
        char id[32];
        int n = snprintf(id, sizeof id, "w%zu", i + 1);
        p->windows.v[i].id = sp_window_id_of(p, id, (size_t)n);
        if (p->windows.v[i].id == SP_STR_FAIL)
            return sp_nomem(p->diags);
    }
    return SPAA_OK;
}

spaa_status sp_merge_sort_rest(struct sp_merger *m)
{
    struct sp_profile *p = m->p;
    struct sp_order order;
    spaa_status st = sort_events(p);
    if (!st)
        st = sp_facts_sort(p);
    if (st)
        return st;
    if (p->sources.n)
        qsort_r(p->sources.v, p->sources.n, sizeof *p->sources.v, cmp_string, p);
    if (p->extensions.n) /* records of one string number each */
        qsort_r(p->extensions.v, p->extensions.n, sizeof *p->extensions.v, cmp_string, p);
    if (!p->samples && !p->windows.n)
        return SPAA_OK;
    st = sp_order_dictionaries(p, &order);
    if (st)
        return st;
    st = sp_profile_identify(p, &order);
    sp_order_free(&order);
    if (!st && p->samples)
        st = sort_samples(p);
    return st ? st : sort_windows(p);
}
