#include "model/callees.h"

#include "base/buf.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sp_value sp_exclusive_value(const struct sp_profile *p, uint32_t x, uint32_t metric)
{
    struct sp_value found = {SP_ABSENT, SP_STR_NONE};
    if (x < 2 || p->exclusives.v[x - 2].layout == SP_NONE)
        return found;
    const struct sp_exclusive *e = &p->exclusives.v[x - 2];
    const struct sp_layout *l = &p->layouts.v[e->layout];
    for (uint32_t i = 0; i < l->n && found.v == SP_ABSENT; i++)
        if (p->layout_fields.v[l->first + i].metric == metric)
            found = p->values.v[e->first + i];
    return found;
}

/* ---- what a leaf has ---- */

struct ratio {
    __int128 part, whole; /* whole is not 0 */
};

static struct sp_leaf_weight weight_of(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    struct sp_leaf_weight w = {.v = sp_weight(p, stack, metric)};
    if (w.v == SP_DECIMAL)
        w.text = sp_weight_text(p, stack, metric);
    return w;
}

static double as_double(int64_t v, struct sp_str text)
{
    return v == SP_DECIMAL ? sp_text_double(text.p, text.n) : (double)v;
}

/* Says something: between 0 and the weight. */
static bool callees_is_part(struct sp_value e, struct sp_str text, const struct sp_leaf_weight *w)
{
    if (e.v == SP_ABSENT || w->v == SP_ABSENT)
        return false;
    if (e.v != SP_DECIMAL && w->v != SP_DECIMAL)
        return w->v < 0 ? e.v <= 0 && e.v >= w->v : e.v >= 0 && e.v <= w->v;
    double x = as_double(e.v, text), all = as_double(w->v, w->text);
    return all < 0 ? x <= 0 && x >= all : x >= 0 && x <= all;
}

static bool mantissa_of(int64_t v, struct sp_str text, int64_t *m, unsigned *scale)
{
    *m = v;
    *scale = 0;
    return v != SP_DECIMAL || sp_parse_scaled(text.p, text.n, m, scale);
}

/* The leaf's share in the stated values of one metric; false: they give none. */
static bool share_in(const struct sp_profile *p, uint32_t stack, uint32_t metric, struct ratio *out)
{
    struct sp_value e = sp_exclusive_value(p, p->stacks.v[stack].exclusive, metric);
    struct sp_leaf_weight w = weight_of(p, stack, metric);
    struct sp_str text = e.v == SP_DECIMAL ? sp_pstr(p, e.text) : (struct sp_str){"", 0};
    int64_t part, whole;
    unsigned a, b;
    if (!callees_is_part(e, text, &w) || p->metrics.v[metric].info->op != SP_OP_SUM ||
        !mantissa_of(e.v, text, &part, &a) || !mantissa_of(w.v, w.text, &whole, &b) || !whole)
        return false;
    for (; a < b; a++)
        if (__builtin_mul_overflow(part, 10, &part))
            return false;
    for (; b < a; b++)
        if (__builtin_mul_overflow(whole, 10, &whole))
            return false;
    *out = (struct ratio){part, whole};
    return true;
}

/* Of the event's primary metric, else of the first that is stated. */
static bool share_of(const struct sp_profile *p, uint32_t stack, struct ratio *out)
{
    uint32_t x = p->stacks.v[stack].exclusive, event = p->contexts.v[p->stacks.v[stack].context].event;
    if (x < 2 || p->exclusives.v[x - 2].layout == SP_NONE)
        return false;
    if (event != SP_NONE && p->events.v[event].primary != SP_NONE &&
        share_in(p, stack, p->events.v[event].primary, out))
        return true;
    const struct sp_layout *l = &p->layouts.v[p->exclusives.v[x - 2].layout];
    for (uint32_t i = 0; i < l->n; i++)
        if (share_in(p, stack, p->layout_fields.v[l->first + i].metric, out))
            return true;
    return false;
}

/* v * part / whole, to the nearest; a part of it, whatever rounding does. */
static int64_t times(int64_t v, const struct ratio *r)
{
    if (r->part == r->whole)
        return v;
    if (v > -(1LL << 60) && v < 1LL << 60 && r->part > -(1LL << 60) && r->part < 1LL << 60)
        return (int64_t)sp_ratio(r->part, r->whole, v);
    long double x = (long double)v * ((long double)r->part / (long double)r->whole);
    return v > 0 && x >= (long double)v ? v : v < 0 && x <= (long double)v ? v : llroundl(x);
}

static void set_scaled(struct sp_leaf_weight *o, int64_t v, unsigned scale)
{
    size_t n = sp_scaled_text(v, scale, o->digits);
    o->text = (struct sp_str){o->digits, (uint32_t)n};
    if (!memchr(o->digits, '.', n))
        sp_parse_i64(o->digits, o->digits + n, &o->v);
}

/* `lead` divides the weight of `stack`: the same record, or the kernel's of the same observation. */
static void divide(const struct sp_profile *p, uint32_t lead, uint32_t stack, uint32_t metric,
                   struct sp_leaf_weight *out)
{
    struct ratio r;
    int64_t m;
    unsigned scale;
    *out = weight_of(p, stack, metric);
    if (out->v == SP_ABSENT || p->metrics.v[metric].info->op != SP_OP_SUM ||
        !(share_in(p, lead, metric, &r) || share_of(p, lead, &r)) ||
        !mantissa_of(out->v, out->text, &m, &scale) || r.part == r.whole)
        return;
    set_scaled(out, times(m, &r), scale);
}

void sp_exclusive_unstated(const struct sp_profile *p, uint32_t stack, uint32_t metric,
                           struct sp_leaf_weight *out)
{
    divide(p, stack, stack, metric, out);
}

/* What the leaf has: of its own record as it is stated, where that says something. */
static void own_of(const struct sp_profile *p, uint32_t lead, uint32_t stack, uint32_t metric,
                   struct sp_leaf_weight *out)
{
    struct sp_value e = sp_exclusive_value(p, p->stacks.v[lead].exclusive, metric);
    struct sp_str text = e.v == SP_DECIMAL ? sp_pstr(p, e.text) : (struct sp_str){"", 0};
    *out = weight_of(p, stack, metric);
    if (lead != stack || e.v == SP_ABSENT)
        divide(p, lead, stack, metric, out);
    else if (callees_is_part(e, text, out) && p->metrics.v[metric].info->op == SP_OP_SUM)
        *out = (struct sp_leaf_weight){.v = e.v, .text = text};
}

static bool same(const struct sp_leaf_weight *a, const struct sp_leaf_weight *b)
{
    return a->v == b->v && (a->v != SP_DECIMAL || sp_str_cmp(a->text, b->text) == 0);
}

/* ---- which records ---- */

static bool has_another_type(const struct sp_profile *p, uint32_t stack)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    const struct sp_linked *r = s->linked ? &p->linked.v[s->linked - 1] : NULL;
    for (uint32_t i = 0; r && i < r->n; i++) {
        uint32_t other = p->linked_stacks.v[r->first + i];
        if (other != SP_NONE && p->stacks.v[other].type != s->type)
            return true;
    }
    return false;
}

/* The record whose leaf is that of what this one was observed with; SP_NONE: another record counts for it. */
static uint32_t lead_of(const struct sp_profile *p, uint32_t stack)
{
    uint32_t other = sp_stack_linked(p, stack);
    if (p->stacks.v[stack].type == SP_KERNEL_STACK && has_another_type(p, stack))
        return SP_NONE;
    return other != SP_NONE && sp_stack_linked(p, other) == stack ? other : stack;
}

/* Whether some of the weights are not the leaf's; *assumed: in proportion to others. */
static bool has_rest(const struct sp_profile *p, uint32_t lead, uint32_t stack, bool *assumed)
{
    uint32_t layout = p->stacks.v[stack].layout;
    bool any = false, unstated = false;
    if (layout == SP_NONE || p->stacks.v[lead].exclusive < 2 || !p->stacks.v[lead].n)
        return false;
    for (uint32_t i = 0; i < p->layouts.v[layout].n; i++) {
        uint32_t metric = p->layout_fields.v[p->layouts.v[layout].first + i].metric;
        struct sp_leaf_weight own, all = weight_of(p, stack, metric);
        own_of(p, lead, stack, metric, &own);
        bool differs = !same(&own, &all);
        any = any || differs;
        unstated = unstated ||
                   (differs && sp_exclusive_value(p, p->stacks.v[lead].exclusive, metric).v == SP_ABSENT);
    }
    *assumed = *assumed || (any && unstated);
    return any;
}

/* ---- two for one ---- */

/*
 * Of the kind of the leaf that called them, in a DSO that is not known. Not in the maps of the dictionaries:
 * it can be taken back.
 */
static uint32_t callees_frame(struct sp_profile *p, uint32_t leaf)
{
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    struct sp_function function = {.name = sp_profile_cstr(p, SP_CALLEES_NAME)};
    struct sp_frame frame = {.function = (uint32_t)p->rests.before.functions, .kind = p->frames.v[leaf].kind};
    for (size_t i = p->rests.before.frames; i < p->frames.n; i++)
        if (p->frames.v[i].kind == frame.kind)
            return (uint32_t)i;
    while (function.dso < p->dsos.n && memcmp(&p->dsos.v[function.dso], &dso, sizeof dso) != 0)
        function.dso++;
    if (dso.name == SP_STR_FAIL || function.name == SP_STR_FAIL || p->frames.n >= SP_NONE - 1 ||
        (function.dso == p->dsos.n && !sp_vec_push(&p->dsos, dso)) ||
        (frame.function == p->functions.n && !sp_vec_push(&p->functions, function)) ||
        !sp_vec_push(&p->frames, frame))
        return SP_NONE;
    return (uint32_t)p->frames.n - 1;
}

/* An id for the rest, where stacks have ids already. */
static bool name_rest(struct sp_profile *p, uint32_t stack)
{
    static const char suffix[] = "+callees";
    struct sp_stack_id id = p->ids.v[stack];
    struct sp_str text = sp_pstr(p, id.text);
    struct sp_buf b;
    char ours[32];
    sp_buf_init(&b, 0);
    if (id.text)
        sp_buf_add(&b, text.p, text.n);
    else
        sp_buf_add(&b, ours, sp_stack_id_text(&id, ours));
    sp_buf_puts(&b, suffix);
    id = (struct sp_stack_id){.text = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len),
                              .flags = SP_ID_SET};
    sp_buf_free(&b);
    return id.text != SP_STR_FAIL && sp_vec_push(&p->ids, id);
}

/* The edges of a record, one frame farther from the leaf. SP_NONE: out of memory. */
static uint32_t moved_edges(struct sp_profile *p, uint32_t edges)
{
    size_t n;
    const struct sp_edge *e = sp_edges_of(p, edges, &n);
    struct sp_edge *moved = n ? malloc(n * sizeof *moved) : NULL;
    if (!n || !moved)
        return n ? SP_NONE : 0;
    memcpy(moved, e, n * sizeof *moved);
    for (size_t i = 0; i < n; i++)
        moved[i].at++;
    uint32_t list = sp_edges_intern(p, moved, n);
    free(moved);
    return list;
}

/* The record of the rest, yet without weights: its frames below what was not recorded. */
static uint32_t append_rest(struct sp_profile *p, uint32_t stack, bool leads)
{
    const struct sp_stack s = p->stacks.v[stack];
    size_t at = p->stack_frames.n;
    bool ids = p->ids.n == p->stacks.n;
    uint32_t callees = leads ? callees_frame(p, sp_stack_frames(p, stack)[0]) : SP_NONE;
    if ((leads && callees == SP_NONE) || !sp_vec_reserve(&p->stack_frames, at + s.n + 1))
        return SP_NONE;
    if (leads)
        p->stack_frames.v[at] = callees;
    if (s.n)
        memcpy(p->stack_frames.v + at + leads, sp_stack_frames(p, stack), s.n * sizeof *p->stack_frames.v);
    uint32_t rest =
        sp_stack_append(p, p->stack_frames.v + at, s.n + leads, s.context, (enum sp_stack_type)s.type);
    uint32_t edges = leads ? moved_edges(p, s.edges) : s.edges;
    if (rest == SP_NONE || edges == SP_NONE || (ids && !name_rest(p, stack)))
        return SP_NONE;
    p->stacks.v[rest].edges = edges;
    p->stacks.v[rest].layout = s.layout;
    p->stacks.v[rest].extra_json = s.extra_json;
    return rest;
}

static bool set_weight(struct sp_profile *p, uint32_t stack, uint32_t metric, const struct sp_leaf_weight *w)
{
    return w->v == SP_DECIMAL ? sp_weight_set_text(p, stack, metric, w->text.p, w->text.n)
                              : sp_weight_set(p, stack, metric, w->v);
}

/* rest = weight - own, exactly where decimals allow it. */
static bool set_rest(struct sp_profile *p, uint32_t rest, uint32_t metric, const struct sp_leaf_weight *all,
                     const struct sp_leaf_weight *own)
{
    struct sp_buf b;
    char t[64];
    struct sp_str text = own->text;
    if (own->v != SP_DECIMAL)
        text = (struct sp_str){t, (uint32_t)sp_scaled_text(own->v, 0, t)};
    bool minus = text.n && text.p[0] == '-';
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, minus ? "" : "-");
    sp_buf_add(&b, text.p + minus, text.n - minus);
    bool ok = !b.failed && set_weight(p, rest, metric, all) &&
              (own->v == 0 || sp_weight_add_text(p, rest, metric, b.data, b.len));
    sp_buf_free(&b);
    return ok;
}

static bool push_value(struct sp_profile *p, const struct sp_leaf_weight *w)
{
    struct sp_value v = {w->v, w->v == SP_DECIMAL ? sp_profile_str(p, w->text.p, w->text.n) : SP_STR_NONE};
    return v.text != SP_STR_FAIL && p->values.n < SP_NONE - 1 && sp_vec_push(&p->values, v);
}

/* The weights of the record of the rest; those that there were and those of the leaf wait in `values`. */
static bool divide_weights(struct sp_profile *p, uint32_t lead, uint32_t stack, uint32_t rest)
{
    const struct sp_layout l = p->layouts.v[p->stacks.v[stack].layout];
    struct sp_rest r = {stack, rest, p->stacks.v[stack].exclusive, (uint32_t)p->values.n};
    bool ok = true;
    for (uint32_t i = 0; ok && i < l.n; i++) {
        struct sp_leaf_weight all = weight_of(p, stack, p->layout_fields.v[l.first + i].metric);
        ok = push_value(p, &all);
    }
    for (uint32_t i = 0; ok && i < l.n; i++) {
        uint32_t metric = p->layout_fields.v[l.first + i].metric;
        struct sp_leaf_weight own, all = weight_of(p, stack, metric);
        own_of(p, lead, stack, metric, &own);
        ok = push_value(p, &own) && (all.v == SP_ABSENT || p->metrics.v[metric].info->op != SP_OP_SUM ||
                                     set_rest(p, rest, metric, &all, &own));
    }
    return ok && sp_vec_push(&p->rests.list, r);
}

/* The weights of the divided records: `own` or as they were. */
static bool set_divided(struct sp_profile *p, bool own)
{
    for (size_t i = 0; i < p->rests.list.n; i++) {
        const struct sp_rest *r = &p->rests.list.v[i];
        const struct sp_layout l = p->layouts.v[p->stacks.v[r->stack].layout];
        for (uint32_t k = 0; k < l.n; k++) {
            const struct sp_value *v = &p->values.v[r->first + (own ? l.n : 0) + k];
            struct sp_leaf_weight w = {.v = v->v, .text = sp_pstr(p, v->text)};
            if (v->v != SP_ABSENT && !set_weight(p, r->stack, p->layout_fields.v[l.first + k].metric, &w))
                return false;
        }
        p->stacks.v[r->stack].exclusive = own ? SP_EXCLUSIVE_SAME : r->exclusive;
    }
    return true;
}

static bool split_one(struct sp_profile *p, uint32_t lead, uint32_t stack)
{
    uint32_t rest = append_rest(p, stack, lead == stack), other;
    if (rest == SP_NONE || !divide_weights(p, lead, stack, rest))
        return false;
    if (lead == stack)
        return true;
    other = append_rest(p, lead, true);
    return other != SP_NONE && divide_weights(p, lead, lead, other) && sp_stack_link(p, rest, other) &&
           sp_stack_link(p, other, rest);
}

spaa_status sp_callees_split(struct sp_profile *p, struct sp_diags *d)
{
    bool ok = true, assumed = false;
    if (!p->exclusives.n || p->rests.list.n)
        return SPAA_OK;
    p->rests.before.stacks = p->stacks.n;
    p->rests.before.stack_frames = p->stack_frames.n;
    p->rests.before.linked = p->linked.n;
    p->rests.before.linked_stacks = p->linked_stacks.n;
    p->rests.before.values = p->values.n;
    p->rests.before.dsos = p->dsos.n;
    p->rests.before.functions = p->functions.n;
    p->rests.before.frames = p->frames.n;
    for (uint32_t i = 0; ok && i < p->rests.before.stacks; i++) {
        uint32_t lead = p->stacks.v[i].exclusive < 2 && !p->stacks.v[i].linked ? SP_NONE : lead_of(p, i);
        if (lead != SP_NONE && has_rest(p, lead, i, &assumed))
            ok = split_one(p, lead, i);
    }
    if (!ok || !set_divided(p, true))
        return sp_nomem(p->diags);
    if (assumed && d)
        sp_emit(
            d, SP_I322, SP_AT_NOTHING,
            "metrics that `exclusive` does not state were divided between leaf and %s as those that it does",
            SP_CALLEES_NAME);
    return SPAA_OK;
}

spaa_status sp_callees_join(struct sp_profile *p)
{
    uint32_t *numbers;
    size_t n = p->rests.before.stacks;
    if (!p->rests.list.n)
        return SPAA_OK;
    numbers = malloc((p->stacks.n + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < p->stacks.n; i++)
        numbers[i] = i < n ? i : SP_NONE;
    if (!numbers || !set_divided(p, false) || !sp_weights_renumber(p, numbers)) {
        free(numbers);
        return sp_nomem(p->diags);
    }
    free(numbers);
    for (size_t m = 0; m < SP_METRICS_MAX; m++)
        if (p->columns[m].n > n)
            p->columns[m].n = n;
    p->stacks.n = n;
    p->stack_frames.n = p->rests.before.stack_frames;
    p->ids.n = p->ids.n < n ? p->ids.n : n;
    p->linked.n = p->rests.before.linked;
    p->linked_stacks.n = p->rests.before.linked_stacks;
    p->values.n = p->rests.before.values;
    p->dsos.n = p->rests.before.dsos;
    p->functions.n = p->rests.before.functions;
    p->frames.n = p->rests.before.frames;
    p->rests.list.n = 0;
    return SPAA_OK;
}

int64_t sp_callees_part(const struct sp_profile *p, size_t i, uint32_t metric, int64_t part)
{
    const struct sp_rest *r = &p->rests.list.v[i];
    struct sp_leaf_weight own = weight_of(p, r->stack, metric), rest = weight_of(p, r->rest, metric);
    int64_t a, b;
    unsigned x, y;
    if (rest.v == SP_ABSENT || part == SP_ABSENT || !mantissa_of(own.v, own.text, &a, &x) ||
        !mantissa_of(rest.v, rest.text, &b, &y))
        return 0;
    __int128 left = own.v == SP_ABSENT ? 0 : a, right = b;
    for (; x < y; x++)
        left *= 10;
    for (; y < x; y++)
        right *= 10;
    struct ratio share = {left, left + right};
    return share.whole ? part - times(part, &share) : 0;
}
