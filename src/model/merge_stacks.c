/*
 * Merging stacks: records with equal frames, context and type add up, and so do linked pairs of them.
 *
 * The table of stacks is larger than the caches, so that finding each is a few misses; they are asked for
 * ahead.
 */
#include "base/watch.h"
#include "model/labels.h"
#include "model/merge_private.h"

#include "base/decimal.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/callees.h"
#include "model/edges.h"
#include "model/order.h"

#include <stdlib.h>

/* How many records earlier each thing is asked for; SOON is a power of two above them. */
enum { ASK_SLOT = 24, ASK_STACK = 16, ASK_FRAMES = 8, SOON = 32 };

/* Samples, then as the vocabulary has them, then by name: no input's own order. */
static int cmp_fields(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_metric *a = &p->metrics.v[((const struct sp_weight_field *)va)->metric];
    const struct sp_metric *b = &p->metrics.v[((const struct sp_weight_field *)vb)->metric];
    size_t x = sp_metric_place(a->info), y = sp_metric_place(b->info);
    return x != y ? (x < y ? -1 : 1) : sp_merge_text_cmp(p, a->name, b->name);
}

/* Sorts, makes fields of one metric one, and interns; SP_NONE for none of them. False: no memory. */
static bool settle(struct sp_merger *m, struct sp_weight_field *f, uint32_t n, uint32_t *layout)
{
    uint32_t kept = 0;
    qsort_r(f, n, sizeof *f, cmp_fields, m->p);
    for (uint32_t i = 0; i < n; i++) {
        if (!kept || f[kept - 1].metric != f[i].metric) {
            f[kept++] = f[i];
            continue;
        }
        if (f[kept - 1].unit != f[i].unit && f[kept - 1].unit && f[i].unit)
            m->units_differ = true;
        sp_meet(&f[kept - 1].unit, f[i].unit);
        sp_meet(&f[kept - 1].extra_json, f[i].extra_json);
    }
    *layout = kept ? sp_layout_intern(m->p, f, kept) : SP_NONE;
    return !kept || *layout != SP_NONE;
}

spaa_status sp_absorb_layouts(struct sp_absorber *a)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->from->layouts.n; i++) {
        const struct sp_layout *l = &a->from->layouts.v[i];
        struct sp_weight_field *f = malloc((l->n + 1) * sizeof *f);
        for (uint32_t k = 0; f && k < l->n; k++) {
            const struct sp_weight_field *old = &a->from->layout_fields.v[l->first + k];
            f[k] = (struct sp_weight_field){a->metrics[old->metric], sp_absorb_text(a, old->unit),
                                            sp_absorb_str(a, old->extra_json)};
        }
        ok = f && settle(a->m, f, l->n, &a->layouts[i]);
        free(f);
    }
    return ok ? SPAA_OK : sp_nomem(a->d);
}

/* The layout of a record that was added to another one: the metrics of both. */
static bool unite(struct sp_merger *m, uint32_t stack, uint32_t layout)
{
    uint32_t *have = &m->p->stacks.v[stack].layout;
    if (layout == SP_NONE || *have == layout)
        return true;
    if (*have == SP_NONE) {
        *have = layout;
        return true;
    }
    size_t place = (*have * 31 + layout) % (sizeof m->united / sizeof *m->united);
    if (m->united[place].a == *have + 1 && m->united[place].b == layout + 1) {
        *have = m->united[place].both;
        return true;
    }
    m->united[place].a = *have + 1; /* 0: unused */
    m->united[place].b = layout + 1;
    struct sp_layout x = m->p->layouts.v[*have], y = m->p->layouts.v[layout];
    struct sp_weight_field *f = malloc(((size_t)x.n + y.n) * sizeof *f);
    if (!f)
        return false;
    memcpy(f, m->p->layout_fields.v + x.first, x.n * sizeof *f);
    memcpy(f + x.n, m->p->layout_fields.v + y.first, y.n * sizeof *f);
    bool ok = settle(m, f, x.n + y.n, have);
    m->united[place].both = *have;
    free(f);
    return ok;
}

static struct sp_str number_text(const struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v,
                                 char t[64])
{
    return v == SP_DECIMAL ? sp_weight_text(p, stack, metric)
                           : (struct sp_str){t, (uint32_t)sp_scaled_text(v, 0, t)};
}

static bool merge_stacks_set(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v,
                             struct sp_str text)
{
    return v == SP_DECIMAL ? sp_weight_set_text(p, stack, metric, text.p, text.n)
                           : sp_weight_set(p, stack, metric, v);
}

/* The cases in which one of the numbers is a text, or the sum is none of 64 bits. */
static spaa_status combine_texts(struct sp_merger *m, struct sp_profile *p, uint32_t stack, uint32_t metric,
                                 enum sp_metric_op op, struct sp_str y)
{
    char t[64], sum[SP_DECIMAL_DIGITS + 4];
    struct sp_str x = number_text(p, stack, metric, sp_weight(p, stack, metric), t);
    m->stale += x.p == t ? 0 : x.n + sizeof x; /* when that is the last use of it */
    if (op == SP_OP_SUM) {
        size_t n = sp_decimal_add(x.p, x.n, y.p, y.n, sum);
        if (!n) {
            sp_emit(m->d, SP_E620, SP_AT_NOTHING, "%.*s and %.*s", (int)(x.n < 40 ? x.n : 40), x.p,
                    (int)(y.n < 40 ? y.n : 40), y.p);
            return SPAA_ERR_LIMIT;
        }
        if (!sp_weight_set_text(p, stack, metric, sum, n))
            return sp_nomem(m->d);
        m->beyond =
            m->beyond || (n > 18 && sp_weight(p, stack, metric) == SP_DECIMAL && !memchr(sum, '.', n));
        return SPAA_OK;
    }
    bool ok = true;
    int c = sp_decimal_cmp(y.p, y.n, x.p, x.n, &ok);
    if (op == SP_OP_MAX)
        c = -c;
    if (!ok || !c) /* equal values: the smaller text */
        c = sp_str_cmp(y, x);
    return c >= 0 || sp_weight_set_text(p, stack, metric, y.p, y.n) ? SPAA_OK : sp_nomem(m->d);
}

spaa_status sp_merge_weight(struct sp_merger *m, struct sp_profile *p, uint32_t stack, uint32_t metric,
                            int64_t v, struct sp_str text)
{
    if (v == SP_ABSENT)
        return SPAA_OK;
    int64_t have = sp_weight(p, stack, metric), sum;
    if (have == SP_ABSENT)
        return merge_stacks_set(p, stack, metric, v, text) ? SPAA_OK : sp_nomem(m->d);
    enum sp_metric_op op = m->p->metrics.v[metric].info->op;
    if (op == SP_OP_NONE)
        return SPAA_OK;
    if (have != SP_DECIMAL && v != SP_DECIMAL) {
        if (op == SP_OP_MAX || op == SP_OP_MIN) {
            if (op == SP_OP_MAX ? v > have : v < have)
                p->columns[metric].v[stack] = v;
            return SPAA_OK;
        }
        if (!__builtin_add_overflow(have, v, &sum) && sum > SP_DECIMAL) {
            p->columns[metric].v[stack] = sum;
            return SPAA_OK;
        }
    }
    char t[64];
    if (v != SP_DECIMAL)
        text = (struct sp_str){t, (uint32_t)sp_scaled_text(v, 0, t)};
    return combine_texts(m, p, stack, metric, op, text);
}

struct sp_value sp_absorb_value(struct sp_absorber *a, uint32_t layout, uint32_t first, uint32_t metric)
{
    struct sp_value found = {SP_ABSENT, SP_STR_NONE};
    const struct sp_layout *l = layout == SP_NONE ? NULL : &a->from->layouts.v[layout];
    for (uint32_t i = 0; l && i < l->n; i++)
        if (a->metrics[a->from->layout_fields.v[l->first + i].metric] == metric)
            found = a->from->values.v[first + i];
    return found;
}

/* What a record of `from` says its leaf has of a metric; a text may be in *own. */
static int64_t own_weight(const struct sp_absorber *a, uint32_t stack, uint32_t metric, struct sp_str *text,
                          struct sp_leaf_weight *own)
{
    const struct sp_profile *from = a->from;
    uint32_t x = from->stacks.v[stack].exclusive;
    const struct sp_profile *p = x == SP_EXCLUSIVE_OWN && a->from_own ? a->from_own : from;
    if (p == from && x > SP_EXCLUSIVE_SAME) {
        struct sp_value e = sp_exclusive_value(from, x, metric);
        *text = sp_pstr(from, e.text);
        if (e.v != SP_ABSENT)
            return e.v;
        sp_exclusive_unstated(from, stack, metric, own);
        *text = own->text;
        return own->v;
    }
    int64_t v = sp_weight(p, stack, metric);
    if (v == SP_ABSENT) {
        p = from;
        v = sp_weight(p, stack, metric);
    }
    if (v == SP_DECIMAL)
        *text = sp_weight_text(p, stack, metric);
    return v;
}

/* `own` starts as what the stack has so far. */
static spaa_status start_own(struct sp_merger *m, uint32_t to)
{
    struct sp_stack *s = &m->p->stacks.v[to];
    spaa_status st = m->own ? SPAA_OK : sp_profile_new(m->d, &m->own);
    for (uint32_t k = 0; !st && k < m->p->metrics.n; k++) {
        int64_t v = sp_weight(m->p, to, k);
        struct sp_str text = v == SP_DECIMAL ? sp_weight_text(m->p, to, k) : (struct sp_str){"", 0};
        if (v != SP_ABSENT && !merge_stacks_set(m->own, to, k, v, text))
            st = sp_nomem(m->d);
    }
    s->exclusive = SP_EXCLUSIVE_OWN;
    return st;
}

/* The usual case: a whole number that adds to one without leaving 64 bits. */
static inline bool add_quickly(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    struct sp_column *c = &p->columns[metric];
    int64_t sum;
    if (stack >= c->n || p->metrics.v[metric].info->op != SP_OP_SUM || v <= SP_DECIMAL ||
        c->v[stack] <= SP_DECIMAL || __builtin_add_overflow(c->v[stack], v, &sum) || sum <= SP_DECIMAL)
        return false;
    c->v[stack] = sum;
    return true;
}

/* The weights of record i into `to`, where it may be the first. */
static spaa_status add_weights(struct sp_absorber *a, uint32_t i, uint32_t to)
{
    struct sp_merger *m = a->m;
    const struct sp_profile *from = a->from;
    const struct sp_stack *s = &from->stacks.v[i];
    const struct sp_layout *l = s->layout == SP_NONE ? NULL : &from->layouts.v[s->layout];
    const struct sp_weight_field *f = l ? from->layout_fields.v + l->first : NULL;
    uint32_t n = l ? l->n : 0;
    spaa_status st = SPAA_OK;
    bool differs = s->exclusive > SP_EXCLUSIVE_SAME;
    if (differs && m->p->stacks.v[to].exclusive != SP_EXCLUSIVE_OWN)
        st = start_own(m, to);
    bool own = m->p->stacks.v[to].exclusive == SP_EXCLUSIVE_OWN;
    for (uint32_t k = 0; !st && k < n; k++) {
        struct sp_str text = {"", 0};
        bool again = false;
        for (uint32_t j = 0; j < k && !again; j++)
            again = f[j].metric == f[k].metric;
        if (again) /* a metric stated twice has one value */
            continue;
        int64_t v = sp_weight(from, i, f[k].metric);
        if (!own && add_quickly(m->p, to, a->metrics[f[k].metric], v))
            continue;
        if (own) {
            struct sp_leaf_weight made;
            int64_t mine = own_weight(a, i, f[k].metric, &text, &made);
            st = sp_merge_weight(m, m->own, to, a->metrics[f[k].metric], mine, text);
        }
        if (v == SP_DECIMAL)
            text = sp_weight_text(from, i, f[k].metric);
        if (!st)
            st = sp_merge_weight(m, m->p, to, a->metrics[f[k].metric], v, text);
    }
    return st;
}

/* A metric whose values cannot be combined keeps the record apart. */
static bool stands_apart(const struct sp_profile *p, uint32_t stack)
{
    uint32_t layout = p->stacks.v[stack].layout;
    const struct sp_layout *l = layout == SP_NONE ? NULL : &p->layouts.v[layout];
    for (uint32_t i = 0; l && i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        if (p->metrics.v[metric].info->op == SP_OP_NONE && sp_weight(p, stack, metric) != SP_ABSENT)
            return true;
    }
    return false;
}

/* The labels that are kept, as a set of the whole. */
static uint32_t merge_labels(struct sp_absorber *a, uint32_t set)
{
    struct sp_label_list list = {0};
    size_t n;
    const struct sp_label *l = sp_labels_of(a->from, set, &n);
    const struct sp_label_keys *keep = a->m->opts.labels;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_label x = l[i];
        if (keep && !(x.flags & SP_LABEL_FIELD) && !sp_label_keys_have(keep, sp_pstr(a->from, x.key)))
            continue;
        x.key = sp_absorb_text(a, x.key);
        x.value = sp_absorb_str(a, x.value);
        x.unit = sp_absorb_str(a, x.unit);
        ok = sp_vec_push(&list.list, x);
    }
    uint32_t out = ok ? sp_labels_intern(a->to, list.list.v, list.list.n) : SP_NONE;
    sp_vec_free(&list.list);
    a->nomem = a->nomem || out == SP_NONE;
    return out == SP_NONE ? 0 : out;
}

/* What the whole calls a wait of the input; SP_NONE: no memory. */
static uint32_t merge_wait(struct sp_absorber *a, uint32_t wait)
{
    if (!wait)
        return 0;
    struct sp_wait_fact x = a->from->waits.v[wait - 1];
    sp_absorb_facts(a, sp_wait_facts, &x);
    x.extra_json = sp_absorb_str(a, x.extra_json);
    return sp_wait_intern(a->to, &x);
}

/* Steps of hang reports, and waits that were there at once, are of one report each. */
static bool is_of_hangs(const struct sp_profile *p, const struct sp_context *c)
{
    return c->event != SP_NONE && sp_str_is(sp_pstr(p, p->events.v[c->event].name), "stackshot");
}

static uint32_t context(struct sp_absorber *a, uint32_t number, bool apart)
{
    struct sp_context c = a->from->contexts.v[number];
    apart = apart || (a->m->opts.canonical && is_of_hangs(a->from, &c));
    unsigned keep = a->m->opts.canonical ? a->to->header.group_by : a->m->opts.group_by;
    c.event = c.event == SP_NONE ? SP_NONE : a->events[c.event];
    c.comm = keep & SP_BY_COMM ? sp_absorb_text(a, c.comm) : SP_STR_NONE;
    c.state = keep & SP_BY_STATE ? sp_absorb_text(a, c.state) : SP_STR_NONE;
    c.source = sp_absorb_text(a, c.source);
    if (a->m->opts.by_source || (apart && !c.source))
        c.source = a->source;
    c.extra_json = sp_absorb_str(a, c.extra_json);
    c.labels = merge_labels(a, c.labels);
    c.wait = keep & SP_BY_STATE ? merge_wait(a, c.wait) : 0;
    if (c.wait == SP_NONE)
        return SP_NONE;
    c.pid = keep & SP_BY_PID ? c.pid : SP_ABSENT;
    c.tid = keep & SP_BY_TID ? c.tid : SP_ABSENT;
    c.cpu = keep & SP_BY_CPU ? c.cpu : SP_ABSENT;
    return sp_context_intern(a->to, &c);
}

/* The other half of a pair whose halves name each other and nobody else; SP_NONE where it is none. */
static uint32_t merge_linked_of(const struct sp_profile *p, uint32_t stack)
{
    uint32_t at = stack;
    for (int side = 0; side < 2; side++) {
        uint32_t r = p->stacks.v[at].linked;
        if (!r || p->linked.v[r - 1].n != 1)
            return SP_NONE;
        at = p->linked_stacks.v[p->linked.v[r - 1].first];
        if (at == SP_NONE)
            return SP_NONE;
    }
    uint32_t other = p->linked_stacks.v[p->linked.v[p->stacks.v[stack].linked - 1].first];
    return at == stack && other != stack ? other : SP_NONE;
}

/* Of a link that makes no pair: is this the side that does not count? */
static bool side_left_out(const struct sp_profile *p, uint32_t stack)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    const struct sp_linked *r = &p->linked.v[s->linked - 1];
    bool any = false;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t x = p->linked_stacks.v[r->first + i];
        any = any || (x != SP_NONE && p->stacks.v[x].type != s->type);
    }
    return any && s->type == SP_KERNEL_STACK;
}

static uint32_t merge_append(struct sp_absorber *a, const struct sp_stack_key *k)
{
    uint32_t stack = sp_stack_append(a->to, k->frames, k->n, k->context, k->type);
    if (stack != SP_NONE)
        a->to->stacks.v[stack].edges = k->edges;
    return stack;
}

/* Both halves at once; out[1] is SP_NONE when out of memory. */
static void find_or_append_pair(struct sp_absorber *a, const struct sp_stack_key w[2], bool apart,
                                uint32_t out[2], bool *is_new)
{
    struct sp_map *map = &a->m->pairs;
    uint64_t hash = w[0].hash + w[1].hash; /* whichever comes first */
    struct sp_probe at = sp_map_probe(map, hash);
    *is_new = false;
    for (uint32_t i; !apart && (i = sp_map_next(map, &at)) != SP_MAP_NONE;) {
        uint32_t other = merge_linked_of(a->to, i);
        if (other == SP_NONE)
            continue;
        int first = sp_stack_equals(a->to, i, &w[0]) && sp_stack_equals(a->to, other, &w[1])   ? 0
                    : sp_stack_equals(a->to, i, &w[1]) && sp_stack_equals(a->to, other, &w[0]) ? 1
                                                                                               : -1;
        if (first < 0)
            continue;
        out[first] = i;
        out[!first] = other;
        return;
    }
    *is_new = true;
    out[0] = merge_append(a, &w[0]);
    out[1] = out[0] == SP_NONE ? SP_NONE : merge_append(a, &w[1]);
    if (out[1] != SP_NONE &&
        (!sp_stack_link(a->to, out[0], out[1]) || !sp_stack_link(a->to, out[1], out[0]) ||
         (!apart && !sp_map_add(map, hash, out[0]))))
        out[1] = SP_NONE;
}

/* The lists of edges of `from`, in frames of the whole; without those of stacks that are left out. */
static bool edge_lists(struct sp_absorber *a)
{
    const struct sp_profile *from = a->from;
    SP_VEC(struct sp_edge) list = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < from->stacks.n; i++) {
        size_t n;
        ok = !sp_leaving(a->d, i);
        uint32_t edges = from->stacks.v[i].edges;
        const struct sp_edge *e = sp_edges_of(from, edges, &n);
        if (!n || a->edges[edges - 1] || (a->m->opts.leave && a->m->opts.leave[i]))
            continue;
        list.n = 0;
        for (size_t k = 0; ok && k < n; k++)
            ok = sp_vec_push(&list, ((struct sp_edge){e[k].at, e[k].kind, a->frames[e[k].frame]}));
        a->edges[edges - 1] = ok ? sp_edges_intern(a->to, list.v, n) : SP_NONE;
        ok = a->edges[edges - 1] != SP_NONE;
    }
    sp_vec_free(&list);
    return ok;
}

/* Record i is now part of record `to`. */
static spaa_status enter(struct sp_absorber *a, uint32_t i, uint32_t to, bool is_new)
{
    const struct sp_stack *s = &a->from->stacks.v[i];
    struct sp_stack *whole = &a->to->stacks.v[to];
    uint32_t more = sp_absorb_str(a, s->extra_json);
    a->stacks[i] = to;
    if (is_new)
        whole->extra_json = more;
    else
        sp_meet(&whole->extra_json, more);
    if (s->layout != SP_NONE && !unite(a->m, to, a->layouts[s->layout]))
        return sp_nomem(a->d);
    return add_weights(a, i, to);
}

struct batch {
    uint32_t *frames; /* stack_frames of `from`, in numbers of the whole */
    uint64_t *hashes;
    uint32_t likely[SOON]; /* of the records to come, by their number modulo SOON */
};

/* The edges of a record of `from`, in the whole. */
static uint32_t edges_of(const struct sp_absorber *a, const struct sp_stack *s)
{
    return s->edges ? a->edges[s->edges - 1] : 0;
}

/* A record of `from` as it is looked for in the whole. */
static struct sp_stack_key merge_stacks_key_of(struct sp_absorber *a, struct batch *b, uint32_t i)
{
    const struct sp_stack *s = &a->from->stacks.v[i];
    return (struct sp_stack_key){.frames = b->frames + s->first,
                                 .hash = b->hashes[i],
                                 .n = s->n,
                                 .context = a->contexts[s->context],
                                 .edges = edges_of(a, s),
                                 .type = (enum sp_stack_type)s->type};
}

static spaa_status enter_pair(struct sp_absorber *a, struct batch *b, uint32_t i, uint32_t other)
{
    bool apart = stands_apart(a->from, i) || stands_apart(a->from, other), is_new;
    struct sp_stack_key w[2] = {merge_stacks_key_of(a, b, i), merge_stacks_key_of(a, b, other)};
    uint32_t to[2];
    if (apart) {
        w[0].context = context(a, a->from->stacks.v[i].context, true);
        w[1].context = context(a, a->from->stacks.v[other].context, true);
        if (w[0].context == SP_NONE || w[1].context == SP_NONE)
            return sp_nomem(a->d);
    }
    find_or_append_pair(a, w, apart, to, &is_new);
    if (to[1] == SP_NONE)
        return sp_nomem(a->d);
    spaa_status st = enter(a, i, to[0], is_new);
    return st ? st : enter(a, other, to[1], is_new);
}

static spaa_status enter_one(struct sp_absorber *a, struct batch *b, uint32_t i)
{
    const struct sp_stack *s = &a->from->stacks.v[i];
    struct sp_stack_key w = merge_stacks_key_of(a, b, i);
    bool is_new = true;
    uint32_t to;
    if (a->m->opts.leave && a->m->opts.leave[i]) {
        a->stacks[i] = SP_NONE;
        return SPAA_OK;
    }
    if (s->linked) {
        uint32_t other = merge_linked_of(a->from, i);
        if (other != SP_NONE)
            return other > i ? enter_pair(a, b, i, other) : SPAA_OK;
        a->m->links_left++;
        if (side_left_out(a->from, i)) {
            a->m->kernel_left++;
            a->stacks[i] = SP_NONE;
            return SPAA_OK;
        }
    }
    if (stands_apart(a->from, i)) {
        w.context = context(a, s->context, true);
        to = w.context == SP_NONE ? SP_NONE : merge_append(a, &w);
    } else {
        to = sp_stack_intern_key(a->to, &w, &is_new);
    }
    return to == SP_NONE ? sp_nomem(a->d) : enter(a, i, to, is_new);
}

/*
 * Asks for what entering the records after i will touch: first their places in the map, then the stacks that
 * are found there, then frames and weights of these.
 */
static void ask_ahead(const struct sp_absorber *a, struct batch *b, uint32_t i)
{
    const struct sp_profile *p = a->to;
    size_t n = a->from->stacks.n;
    if (i + ASK_SLOT < n)
        sp_stack_expect_hash(p, b->hashes[i + ASK_SLOT]);
    if (i + ASK_STACK < n) {
        uint32_t likely = sp_stack_likely(p, b->hashes[i + ASK_STACK]);
        b->likely[(i + ASK_STACK) % SOON] = likely;
        if (likely != SP_NONE)
            __builtin_prefetch(&p->stacks.v[likely]);
    }
    if (i + ASK_FRAMES < n && b->likely[(i + ASK_FRAMES) % SOON] != SP_NONE) {
        uint32_t likely = b->likely[(i + ASK_FRAMES) % SOON];
        const struct sp_stack *s = &p->stacks.v[likely];
        const char *f = (const char *)(p->stack_frames.v + s->first);
        for (size_t k = 0; k < 256 && k < s->n * sizeof(uint32_t); k += 64)
            __builtin_prefetch(f + k);
        for (uint32_t k = 0; k < p->metrics.n && k < 4; k++)
            if (likely < p->columns[k].n)
                __builtin_prefetch(&p->columns[k].v[likely], 1);
    }
}

spaa_status sp_absorb_stacks(struct sp_absorber *a)
{
    const struct sp_profile *from = a->from;
    for (uint32_t i = 0; i < from->contexts.n; i++)
        if ((a->contexts[i] = context(a, i, false)) == SP_NONE)
            return sp_nomem(a->d);
    if (!edge_lists(a))
        return sp_nomem(a->d);
    struct batch b = {.frames = malloc((from->stack_frames.n + 1) * sizeof *b.frames),
                      .hashes = malloc((from->stacks.n + 1) * sizeof *b.hashes)};
    memset(b.likely, 0xff, sizeof b.likely); /* SP_NONE */
    spaa_status st = b.frames && b.hashes ? SPAA_OK : sp_nomem(a->d);
    for (size_t i = 0; !st && i < from->stack_frames.n; i++)
        b.frames[i] = a->frames[from->stack_frames.v[i]];
    for (uint32_t i = 0; !st && i < from->stacks.n; i++) {
        const struct sp_stack *s = &from->stacks.v[i];
        if (sp_leaving(a->d, i))
            st = SPAA_ERR_CANCELLED;
        b.hashes[i] = sp_stack_key(b.frames + s->first, s->n, a->contexts[s->context],
                                   (enum sp_stack_type)s->type, edges_of(a, s))
                          .hash;
    }
    for (uint32_t i = 0; !st && i < from->stacks.n; i++) {
        ask_ahead(a, &b, i);
        st = sp_leaving(a->d, i) ? SPAA_ERR_CANCELLED : enter_one(a, &b, i);
    }
    free(b.frames);
    free(b.hashes);
    return st;
}
