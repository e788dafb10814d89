#include "model/order.h"
#include "model/labels.h"

#include "base/num.h"
#include "model/edges.h"
#include "model/facts.h"
#include "model/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* qsort_r with the profile as the argument is what every table here needs. */
struct ctx {
    const struct sp_profile *p;
    const struct sp_order *o;
};

static int order_cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int cmp_str(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    return a == b ? 0 : sp_str_cmp(sp_pstr(p, a), sp_pstr(p, b));
}

static int cmp_place(const struct sp_dso_place *a, const struct sp_dso_place *b)
{
    const uint64_t x[] = {a->ips, a->base, a->text, a->symbol, a->map_offset, a->map_size},
                   y[] = {b->ips, b->base, b->text, b->symbol, b->map_offset, b->map_size};
    int c = 0;
    for (size_t i = 0; !c && i < sizeof x / sizeof *x; i++)
        c = order_cmp_u64(x[i], y[i]);
    return c;
}

static int cmp_dso(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = ((struct ctx *)arg)->p;
    uint32_t na = *(const uint32_t *)va, nb = *(const uint32_t *)vb;
    const struct sp_dso *a = &p->dsos.v[na], *b = &p->dsos.v[nb];
    int c = (int)a->is_kernel - (int)b->is_kernel;
    if (!c)
        c = cmp_str(p, a->name, b->name);
    if (!c)
        c = cmp_str(p, a->build_id, b->build_id);
    if (!c)
        c = cmp_str(p, a->extra_json, b->extra_json);
    if (!c)
        c = cmp_place(&a->place, &b->place);
    if (!c)
        c = (int)a->doubtful - (int)b->doubtful;
    return c ? c : order_cmp_u64(na, nb);
}

static int cmp_function(const void *va, const void *vb, void *arg)
{
    const struct ctx *x = arg;
    uint32_t na = *(const uint32_t *)va, nb = *(const uint32_t *)vb;
    const struct sp_function *a = &x->p->functions.v[na], *b = &x->p->functions.v[nb];
    int c = cmp_str(x->p, a->name, b->name);
    if (!c)
        c = order_cmp_u64(x->o->dso_rank[a->dso], x->o->dso_rank[b->dso]);
    if (!c)
        c = cmp_str(x->p, a->tells, b->tells);
    return c ? c : sp_func_info_cmp(x->p, a->info, b->info);
}

static int cmp_frame(const void *va, const void *vb, void *arg)
{
    const struct ctx *x = arg;
    const struct sp_profile *p = x->p;
    uint32_t na = *(const uint32_t *)va, nb = *(const uint32_t *)vb;
    const struct sp_frame *a = &p->frames.v[na], *b = &p->frames.v[nb];
    int c = order_cmp_u64(x->o->function_rank[a->function], x->o->function_rank[b->function]);
    if (!c)
        c = cmp_str(p, a->srcline, b->srcline);
    if (!c)
        c = order_cmp_u64(a->flags & SP_FRAME_SYMOFF ? a->symoff + 1 : 0,
                          b->flags & SP_FRAME_SYMOFF ? b->symoff + 1 : 0);
    if (!c)
        c = order_cmp_u64(a->ip, b->ip);
    if (!c)
        c = order_cmp_u64(a->inline_depth, b->inline_depth);
    if (!c)
        c = order_cmp_u64(a->kind, b->kind);
    if (!c)
        c = order_cmp_u64(a->flags, b->flags);
    if (!c)
        c = cmp_str(p, a->extra_json, b->extra_json);
    if (!c)
        c = sp_func_info_cmp(p, a->info, b->info);
    return c ? c : order_cmp_u64(na, nb);
}

static int cmp_thread(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = ((struct ctx *)arg)->p;
    uint32_t na = *(const uint32_t *)va, nb = *(const uint32_t *)vb;
    const struct sp_thread *a = &p->threads.v[na], *b = &p->threads.v[nb];
    int c = order_cmp_i64(a->pid, b->pid);
    if (!c)
        c = order_cmp_i64(a->tid, b->tid);
    return c ? c : order_cmp_u64(na, nb);
}

/* 0..n-1, and whether they are in order already, as in a file of ours. */
static uint32_t *numbers(size_t n, int (*cmp)(const void *, const void *, void *), struct ctx *x,
                         bool *ordered)
{
    uint32_t *v = malloc((n + 1) * sizeof *v);
    if (!v)
        return NULL;
    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)i;
    *ordered = true;
    for (size_t i = 1; i < n && *ordered; i++)
        *ordered = cmp(&v[i - 1], &v[i], x) <= 0;
    return v;
}

static uint32_t *sorted(size_t n, int (*cmp)(const void *, const void *, void *), struct ctx *x)
{
    bool ordered;
    uint32_t *v = numbers(n, cmp, x, &ordered);
    if (v && !ordered)
        qsort_r(v, n, sizeof *v, cmp, x);
    return v;
}

/* By function first, which needs no comparisons: there are few frames of one function among very many. */
static uint32_t *sorted_frames(struct ctx *x)
{
    const struct sp_profile *p = x->p;
    bool ordered;
    uint32_t *v = numbers(p->frames.n, cmp_frame, x, &ordered);
    if (!v || ordered)
        return v;
    uint32_t *at = calloc(p->functions.n + 2, sizeof *at); /* by function_rank, which begins at 1 */
    if (!at) {
        free(v);
        return NULL;
    }
    for (size_t i = 0; i < p->frames.n; i++)
        at[x->o->function_rank[p->frames.v[i].function] + 1]++;
    for (size_t r = 1; r < p->functions.n + 2; r++)
        at[r] += at[r - 1];
    for (size_t i = 0; i < p->frames.n; i++)
        v[at[x->o->function_rank[p->frames.v[i].function]]++] = (uint32_t)i;
    for (size_t r = 1; r <= p->functions.n; r++) /* at[r] is where they end now */
        if (at[r] - at[r - 1] > 1)
            qsort_r(v + at[r - 1], at[r] - at[r - 1], sizeof *v, cmp_frame, x);
    free(at);
    return v;
}

static uint32_t *ranks(const uint32_t *order, size_t n)
{
    uint32_t *r = order ? malloc((n + 1) * sizeof *r) : NULL;
    for (size_t i = 0; r && i < n; i++)
        r[order[i]] = (uint32_t)i + 1;
    return r;
}

spaa_status sp_order_dictionaries(const struct sp_profile *p, struct sp_order *o)
{
    *o = (struct sp_order){0};
    struct ctx x = {p, o};
    uint32_t *functions = NULL;
    o->dsos = sorted(p->dsos.n, cmp_dso, &x);
    o->dso_rank = ranks(o->dsos, p->dsos.n);
    if (o->dso_rank)
        functions = sorted(p->functions.n, cmp_function, &x);
    o->function_rank = ranks(functions, p->functions.n);
    free(functions);
    if (o->function_rank)
        o->frames = sorted_frames(&x);
    o->frame_rank = ranks(o->frames, p->frames.n);
    o->threads = sorted(p->threads.n, cmp_thread, &x);
    if (o->frame_rank && o->threads)
        return SPAA_OK;
    sp_order_free(o);
    return sp_nomem(p->diags);
}

void sp_order_free(struct sp_order *o)
{
    free(o->dsos);
    free(o->frames);
    free(o->threads);
    free(o->stacks);
    free(o->dso_rank);
    free(o->function_rank);
    free(o->frame_rank);
    *o = (struct sp_order){0};
}

static int order_cmp_labels(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    size_t na, nb;
    const struct sp_label *x = sp_labels_of(p, a, &na), *y = sp_labels_of(p, b, &nb);
    int c = 0;
    for (size_t i = 0; !c && i < na && i < nb; i++) {
        c = cmp_str(p, x[i].key, y[i].key);
        if (!c)
            c = (int)x[i].flags - (int)y[i].flags;
        if (!c)
            c = cmp_str(p, x[i].value, y[i].value);
        if (!c)
            c = cmp_str(p, x[i].unit, y[i].unit);
    }
    return c ? c : (na > nb) - (na < nb);
}

static int order_cmp_waits(const struct sp_profile *p, const struct sp_context *a, const struct sp_context *b)
{
    if (a->wait == b->wait || !a->wait || !b->wait)
        return (a->wait != 0) - (b->wait != 0);
    const struct sp_wait_fact *x = sp_context_wait(p, a), *y = sp_context_wait(p, b);
    int c = sp_facts_cmp(p, sp_wait_facts, x, y);
    return c ? c : cmp_str(p, x->extra_json, y->extra_json);
}

static int cmp_context(const struct sp_profile *p, const struct sp_context *a, const struct sp_context *b)
{
    struct sp_str none = {"", 0};
    struct sp_str ea = a->event == SP_NONE ? none : sp_pstr(p, p->events.v[a->event].name);
    struct sp_str eb = b->event == SP_NONE ? none : sp_pstr(p, p->events.v[b->event].name);
    int c = sp_str_cmp(ea, eb);
    if (!c)
        c = cmp_str(p, a->comm, b->comm);
    if (!c)
        c = cmp_str(p, a->state, b->state);
    if (!c)
        c = order_cmp_i64(a->pid, b->pid);
    if (!c)
        c = order_cmp_i64(a->tid, b->tid);
    if (!c)
        c = order_cmp_i64(a->cpu, b->cpu);
    if (!c)
        c = cmp_str(p, a->source, b->source);
    if (!c)
        c = cmp_str(p, a->extra_json, b->extra_json);
    if (!c)
        c = order_cmp_labels(p, a->labels, b->labels);
    return c ? c : order_cmp_waits(p, a, b);
}

/* Weights by name of the metric's place in the record, which says the same of both in canonical profiles. */
static int cmp_weights(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    uint32_t la = p->stacks.v[a].layout, lb = p->stacks.v[b].layout;
    if (la == SP_NONE || lb == SP_NONE)
        return (la != SP_NONE) - (lb != SP_NONE);
    struct sp_layout x = p->layouts.v[la], y = p->layouts.v[lb];
    int c = order_cmp_u64(x.n, y.n);
    for (uint32_t i = 0; !c && i < x.n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[x.first + i],
                                     *g = &p->layout_fields.v[y.first + i];
        int64_t v = sp_weight(p, a, f->metric), w = sp_weight(p, b, g->metric);
        c = cmp_str(p, p->metrics.v[f->metric].name, p->metrics.v[g->metric].name);
        if (!c)
            c = order_cmp_i64(v, w);
        if (!c && v == SP_DECIMAL)
            c = sp_str_cmp(sp_weight_text(p, a, f->metric), sp_weight_text(p, b, g->metric));
        if (!c)
            c = cmp_str(p, f->unit, g->unit);
        if (!c)
            c = cmp_str(p, f->extra_json, g->extra_json);
    }
    return c;
}

static int cmp_edges(const struct sp_profile *p, const struct sp_order *o, uint32_t a, uint32_t b)
{
    size_t na, nb;
    const struct sp_edge *x = sp_edges_of(p, a, &na), *y = sp_edges_of(p, b, &nb);
    int c = 0;
    for (size_t i = 0; a != b && !c && i < na && i < nb; i++) {
        c = order_cmp_u64(x[i].at, y[i].at);
        if (!c)
            c = order_cmp_u64(o->frame_rank[x[i].frame], o->frame_rank[y[i].frame]);
        if (!c)
            c = order_cmp_u64(x[i].kind, y[i].kind);
    }
    return c ? c : order_cmp_u64(na, nb);
}

int sp_stack_content_cmp(const struct sp_profile *p, const struct sp_order *o, uint32_t a, uint32_t b)
{
    const struct sp_stack *sa = &p->stacks.v[a], *sb = &p->stacks.v[b];
    int c = sa->context == sb->context
                ? 0
                : cmp_context(p, &p->contexts.v[sa->context], &p->contexts.v[sb->context]);
    if (!c)
        c = (int)sa->type - (int)sb->type;
    const uint32_t *fa = sp_stack_frames(p, a), *fb = sp_stack_frames(p, b);
    for (uint32_t i = 0; !c && i < sa->n && i < sb->n; i++)
        c = order_cmp_u64(o->frame_rank[fa[sa->n - 1 - i]], o->frame_rank[fb[sb->n - 1 - i]]);
    if (!c)
        c = order_cmp_u64(sa->n, sb->n);
    if (!c)
        c = cmp_edges(p, o, sa->edges, sb->edges);
    if (!c)
        c = cmp_str(p, sa->extra_json, sb->extra_json);
    return c ? c : cmp_weights(p, a, b);
}

double sp_weight_double(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    int64_t v = sp_weight(p, stack, metric);
    if (v == SP_ABSENT)
        return -INFINITY;
    if (v != SP_DECIMAL)
        return (double)v;
    struct sp_str t = sp_weight_text(p, stack, metric);
    return sp_text_double(t.p, t.n);
}

struct stack_key {
    int64_t weight; /* exact for integers; decimals by their whole part */
    double fraction;
    struct sp_stack_id id;
    uint32_t stack;
};

static int cmp_id(const struct sp_profile *p, const struct sp_stack_id *a, const struct sp_stack_id *b)
{
    if (a->text == SP_STR_NONE && b->text == SP_STR_NONE) {
        int c = order_cmp_u64(a->hash, b->hash);
        if (!c)
            c = (a->flags & SP_ID_SUFFIX) - (b->flags & SP_ID_SUFFIX);
        return c ? c : order_cmp_u64(a->suffix, b->suffix);
    }
    if (a->flags & b->flags & SP_ID_NUMBER) { /* 9 before 10 */
        struct sp_str na = sp_pstr(p, a->text), nb = sp_pstr(p, b->text);
        return na.n != nb.n ? (na.n < nb.n ? -1 : 1) : sp_str_cmp(na, nb);
    }
    char ta[32], tb[32];
    struct sp_str sa = a->text ? sp_pstr(p, a->text) : (struct sp_str){ta, (uint32_t)sp_stack_id_text(a, ta)};
    struct sp_str sb = b->text ? sp_pstr(p, b->text) : (struct sp_str){tb, (uint32_t)sp_stack_id_text(b, tb)};
    return sp_str_cmp(sa, sb);
}

static int order_cmp_stack(const void *va, const void *vb, void *arg)
{
    const struct ctx *x = arg;
    const struct stack_key *a = va, *b = vb;
    int c = order_cmp_i64(b->weight, a->weight);
    if (!c)
        c = (a->fraction < b->fraction) - (a->fraction > b->fraction);
    if (!c)
        c = cmp_id(x->p, &a->id, &b->id);
    return c ? c : order_cmp_u64(a->stack, b->stack);
}

static struct stack_key order_key_of(const struct sp_profile *p, uint32_t stack)
{
    struct stack_key k = {.weight = INT64_MIN, .id = p->ids.v[stack], .stack = stack};
    uint32_t event = p->contexts.v[p->stacks.v[stack].context].event;
    if (event == SP_NONE)
        return k;
    k.weight = sp_weight(p, stack, p->events.v[event].primary);
    if (k.weight == SP_DECIMAL) {
        double v = sp_weight_double(p, stack, p->events.v[event].primary);
        double whole = floor(v);
        k.weight = whole >= 9e18 ? INT64_MAX : whole <= -9e18 ? INT64_MIN + 2 : (int64_t)whole;
        k.fraction = v - whole;
    }
    return k;
}

spaa_status sp_order_stacks(const struct sp_profile *p, struct sp_order *o)
{
    struct ctx x = {p, o};
    size_t n = p->stacks.n;
    struct stack_key *keys = malloc((n + 1) * sizeof *keys);
    o->stacks = malloc((n + 1) * sizeof *o->stacks);
    if (!keys || !o->stacks) {
        free(keys);
        free(o->stacks);
        o->stacks = NULL;
        return sp_nomem(p->diags);
    }
    bool in_order = true;
    for (size_t i = 0; i < n; i++) {
        keys[i] = order_key_of(p, (uint32_t)i);
        in_order = in_order && (!i || order_cmp_stack(&keys[i - 1], &keys[i], &x) <= 0);
    }
    if (!in_order)
        qsort_r(keys, n, sizeof *keys, order_cmp_stack, &x);
    for (size_t i = 0; i < n; i++)
        o->stacks[i] = keys[i].stack;
    free(keys);
    return SPAA_OK;
}
