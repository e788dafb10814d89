#include "analysis/time_order.h"

#include "analysis/sample_times.h"
#include "analysis/tally.h"
#include "model/callees.h"
#include "model/thread_names.h"

#include <stdlib.h>
#include <string.h>

/* What one sample adds to one row of the selection. */
struct time_part {
    int64_t time, weight;
    uint32_t lane, row, number; /* number: of the sample */
    uint32_t samples;           /* 0: another part of it counts it */
};

struct time_lane {
    uint32_t name;
    int64_t total;
    uint32_t rank;
};

/* Of the last sample of a context. */
struct time_context {
    int64_t tid;
    uint32_t lane; /* 1 + its number; 0: there was none yet */
};

struct time_builder {
    struct sp_selection *s;
    const struct sp_profile *p;
    struct sp_time_order *out;
    int64_t min_total;
    uint32_t *row;                /* per stack: 1 + its row; 0: not selected */
    struct time_context *context; /* per context */
    uint32_t *rest;               /* per stack: 1 + its number in the profile's rests; 0: none */
    SP_VEC(struct time_part) parts;
    SP_VEC(struct time_lane) lanes;
    SP_VEC(uint32_t) open; /* nodes, from the root to the last sample's leaf */
    struct sp_buf b;
};

/* ---- samples ---- */

/* "worker (tid 12)": each thread for itself, whatever else has its name. */
static uint32_t time_order_name(struct time_builder *x, const struct sp_sample *y)
{
    const struct sp_context *c = &x->p->contexts.v[x->p->stacks.v[y->stack].context];
    struct sp_str comm = sp_pstr(x->p, sp_context_name(x->p, c));
    int64_t tid = y->tid != SP_ABSENT ? y->tid : c->tid;
    sp_buf_clear(&x->b);
    sp_buf_add(&x->b, comm.n ? comm.p : "[unknown]", comm.n ? comm.n : 9);
    if (tid != SP_ABSENT)
        sp_buf_printf(&x->b, " (tid %lld)", (long long)tid);
    return x->b.failed ? SP_STR_FAIL : sp_intern(&x->out->names, x->b.data, x->b.len);
}

/* Samples of a context are mostly of one thread, whose lane is kept. */
static bool time_order_lane(struct time_builder *x, const struct sp_sample *y, uint32_t *out)
{
    struct time_context *c = &x->context[x->p->stacks.v[y->stack].context];
    if (!c->lane || c->tid != y->tid) {
        uint32_t name = time_order_name(x, y);
        if (name == SP_STR_FAIL)
            return false;
        /* Nothing else is named there, and numbers of names are dense. */
        uint32_t lane = x->lanes.n ? name - x->lanes.v[0].name : 0;
        if (lane == x->lanes.n && !sp_vec_push(&x->lanes, ((struct time_lane){.name = name})))
            return false;
        *c = (struct time_context){y->tid, lane + 1};
    }
    *out = c->lane - 1;
    return true;
}

static bool time_order_part(struct time_builder *x, struct time_part *part, uint32_t stack, int64_t weight)
{
    if (!x->row[stack] || weight <= 0)
        return true;
    part->row = x->row[stack] - 1;
    part->weight = weight;
    sp_tally_add(&x->lanes.v[part->lane].total, weight);
    bool ok = sp_vec_push(&x->parts, *part);
    part->samples = 0;
    return ok;
}

/* A record that was divided (model/callees.h) is two rows, of which its samples are parts. */
static bool time_order_sample(struct time_builder *x, const struct sp_sample_times *m, uint32_t number,
                              enum sp_weighing how)
{
    const struct sp_sample *y = &m->rows[number];
    if (y->stack == SP_NONE)
        return true;
    uint32_t rest = x->rest[y->stack];
    uint32_t other = rest ? x->p->rests.list.v[rest - 1].rest : y->stack;
    struct time_part part = {.number = number, .samples = 1};
    if (!x->row[y->stack] && !x->row[other])
        return true;
    if (!sp_sample_time(m, y, &part.time))
        return true;
    int64_t lo = x->s->timed ? x->s->time_lo : INT64_MIN, hi = x->s->timed ? x->s->time_hi : INT64_MAX;
    struct sp_value v = sp_sample_part(m, y, how, lo, hi);
    if (v.v == SP_ABSENT)
        return true;
    int64_t all = sp_scale_weight(x->s, v.v, sp_pstr(x->p, v.text)), below = 0;
    if (rest)
        below = sp_callees_part(x->p, rest - 1, x->s->metric, all);
    return time_order_lane(x, y, &part.lane) && time_order_part(x, &part, y->stack, all - below) &&
           (!rest || time_order_part(x, &part, other, below));
}

static bool time_order_samples(struct time_builder *x, const struct sp_sample_times *m, enum sp_weighing how)
{
    x->row = calloc(x->p->stacks.n + 1, sizeof *x->row);
    x->rest = calloc(x->p->stacks.n + 1, sizeof *x->rest);
    x->context = calloc(x->p->contexts.n + 1, sizeof *x->context);
    bool ok = x->row && x->rest && x->context && m->n < SP_NONE;
    for (size_t i = 0; ok && i < x->s->rows.n; i++)
        x->row[x->s->rows.v[i].stack] = (uint32_t)i + 1;
    for (size_t i = 0; ok && i < x->p->rests.list.n; i++)
        x->rest[x->p->rests.list.v[i].stack] = (uint32_t)i + 1;
    for (size_t i = 0; ok && i < m->n; i++)
        ok = !sp_leaving(x->p->diags, i) && time_order_sample(x, m, (uint32_t)i, how);
    return ok;
}

/* ---- in order ---- */

static int time_order_cmp_lane(const void *va, const void *vb, void *arg)
{
    const struct time_builder *x = arg;
    const struct time_lane *a = &x->lanes.v[*(const uint32_t *)va], *b = &x->lanes.v[*(const uint32_t *)vb];
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return sp_str_cmp(sp_str_at(&x->out->names, a->name), sp_str_at(&x->out->names, b->name));
}

static int time_order_cmp_part(const void *va, const void *vb, void *arg)
{
    const struct time_builder *x = arg;
    const struct time_part *a = va, *b = vb;
    uint32_t la = x->lanes.v[a->lane].rank, lb = x->lanes.v[b->lane].rank;
    if (la != lb)
        return la < lb ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool time_order_sort(struct time_builder *x)
{
    uint32_t *order = malloc((x->lanes.n + 1) * sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < x->lanes.n; i++)
        order[i] = i;
    if (x->lanes.n)
        qsort_r(order, x->lanes.n, sizeof *order, time_order_cmp_lane, x);
    for (uint32_t i = 0; i < x->lanes.n; i++)
        x->lanes.v[order[i]].rank = i;
    free(order);
    if (x->parts.n)
        qsort_r(x->parts.v, x->parts.n, sizeof *x->parts.v, time_order_cmp_part, x);
    return true;
}

/* ---- nodes ---- */

/* Ends the nodes below the first `depth` open ones; what is too small is gone with all below it. */
static void time_order_close(struct time_builder *x, size_t depth)
{
    struct sp_tree *t = &x->out->tree;
    while (x->open.n > depth) {
        uint32_t number = x->open.v[--x->open.n];
        struct sp_tree_node *n = &t->nodes.v[number], *up = number ? &t->nodes.v[n->parent] : NULL;
        n->end = (uint32_t)t->nodes.n;
        if (up) {
            sp_tally_add(&up->total, n->total);
            sp_tally_add(&up->samples, n->samples);
        }
        if (!up || n->total >= x->min_total)
            continue;
        up->elided += n->total;
        up->elided_children++;
        t->pruned++;
        t->pruned_total += n->total;
        t->nodes.n = t->comms.n = x->out->starts.n = number;
    }
}

/* frame SP_NONE: of a thread, by its name, or the root. */
static bool time_order_open(struct time_builder *x, uint32_t frame, uint32_t name, int64_t start)
{
    struct sp_tree *t = &x->out->tree;
    const struct sp_frame *f = frame == SP_NONE ? NULL : &x->p->frames.v[frame];
    uint32_t number = (uint32_t)t->nodes.n;
    struct sp_tree_node node = {.parent = x->open.n ? x->open.v[x->open.n - 1] : SP_NONE,
                                .function = f ? f->function : SP_NONE,
                                .frame = frame,
                                .depth = (uint32_t)x->open.n,
                                .inlined = f && f->flags & SP_FRAME_INLINED,
                                .inferred = f && f->flags & SP_FRAME_INFERRED ? SP_INFERRED : SP_RECORDED,
                                .kind = f ? f->kind : SP_UNKNOWN,
                                .samples = x->s->samples == SP_ABSENT ? SP_ABSENT : 0,
                                .order = number};
    return number < SP_NONE - 1 && sp_vec_push(&t->nodes, node) && sp_vec_push(&t->comms, name) &&
           sp_vec_push(&x->out->starts, start) && sp_vec_push(&x->open, number);
}

/* As a tree joins them: by function, and what is inlined apart from what is not. */
static bool time_order_same(const struct time_builder *x, uint32_t node, uint32_t frame)
{
    const struct sp_tree_node *n = &x->out->tree.nodes.v[node];
    const struct sp_frame *f = &x->p->frames.v[frame];
    return n->function == f->function;
}

static bool time_order_add(struct time_builder *x, const struct time_part *part, int64_t at)
{
    size_t n, depth = 2;
    const uint32_t *frames = sp_selected_frames(x->s, part->row, &n);
    struct sp_tree *t = &x->out->tree;
    uint32_t name = x->lanes.v[part->lane].name;
    if (!frames)
        return false;
    bool there = x->open.n > 1 && t->comms.v[x->open.v[1]] == name;
    if (!there) {
        time_order_close(x, 1);
        if (!time_order_open(x, SP_NONE, name, at))
            return false;
    }
    while (depth < x->open.n && depth - 2 < n && time_order_same(x, x->open.v[depth], frames[n + 1 - depth]))
        depth++;
    time_order_close(x, depth);
    for (; depth - 2 < n; depth++)
        if (!time_order_open(x, frames[n + 1 - depth], SP_STR_NONE, at))
            return false;
    struct sp_tree_node *leaf = &t->nodes.v[x->open.v[x->open.n - 1]];
    sp_tally_add(&leaf->self, part->weight);
    sp_tally_add(&leaf->total, part->weight);
    sp_tally_add(&leaf->samples, leaf->samples == SP_ABSENT ? SP_ABSENT : part->samples);
    return true;
}

static bool time_order_grow(struct time_builder *x)
{
    int64_t at = 0;
    bool ok = time_order_open(x, SP_NONE, SP_STR_NONE, 0);
    for (size_t i = 0; ok && i < x->parts.n; i++) {
        ok = time_order_add(x, &x->parts.v[i], at);
        sp_tally_add(&at, x->parts.v[i].weight);
    }
    time_order_close(x, 0);
    return ok;
}

spaa_status sp_time_order_of(struct sp_selection *s, int64_t min_total, struct sp_diags *d,
                             struct sp_time_order *out)
{
    struct time_builder x = {.s = s, .p = s->profile, .out = out, .min_total = min_total};
    struct sp_sample_times m;
    enum sp_weighing how;
    *out = (struct sp_time_order){.tree = {.profile = s->profile}};
    spaa_status st = sp_weighing_or_say(s->profile, s->event, s->metric, d, &how);
    if (!st)
        st = sp_sample_times_of(s->profile, d, &m);
    if (st)
        return st;
    if (!m.rows) {
        sp_emit_hint(d, SP_E600, SP_AT_NOTHING, "an input with samples one by one, as perf.data is",
                     "the order in time is not in it: windows of time alone");
        sp_sample_times_free(&m);
        return SPAA_ERR_USAGE;
    }
    sp_buf_init(&x.b, 0);
    out->tree.comm_names = &out->names;
    bool ok = sp_strtab_init(&out->names) && time_order_samples(&x, &m, how) && time_order_sort(&x) &&
              time_order_grow(&x);
    sp_sample_times_free(&m);
    free(x.row);
    free(x.rest);
    sp_vec_free(&x.parts);
    sp_vec_free(&x.lanes);
    free(x.context);
    sp_vec_free(&x.open);
    sp_buf_free(&x.b);
    if (!ok)
        sp_time_order_free(out);
    return ok ? SPAA_OK : sp_nomem(d);
}

void sp_time_order_free(struct sp_time_order *x)
{
    sp_tree_free(&x->tree);
    sp_vec_free(&x->starts);
    sp_strtab_free(&x->names);
}
