#include "analysis/regroup.h"

#include "analysis/sample_times.h"
#include "analysis/thread_info.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/watch.h"
#include "model/labels.h"
#include "model/merge.h"

#include <stdlib.h>

unsigned sp_missing_groups(const struct sp_profile *p, unsigned keys)
{
    unsigned have = 0;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        have |= (c->pid != SP_ABSENT ? SP_BY_PID : 0u) | (c->tid != SP_ABSENT ? SP_BY_TID : 0u) |
                (c->cpu != SP_ABSENT ? SP_BY_CPU : 0u) | (c->comm ? SP_BY_COMM : 0u) |
                (c->state ? SP_BY_STATE : 0u);
    }
    return keys & ~have;
}

static spaa_status regroup_refuse(const struct sp_profile *p, unsigned keys, struct sp_diags *d)
{
    struct sp_buf what, hint;
    sp_buf_init(&what, 4096);
    sp_buf_init(&hint, 4096);
    sp_buf_puts(&hint, "ask the recording itself, or convert it again: `spaa convert RECORDING --group-by ");
    for (unsigned i = 0; sp_group_names[i]; i++) {
        bool wanted = keys >> i & 1, has = p->header.has_x_spaa && p->header.group_by >> i & 1;
        if (wanted)
            sp_buf_printf(&what, "%s%s", what.len ? ", " : "", sp_group_names[i]);
        if (wanted || has)
            sp_buf_printf(&hint, "%s%s", hint.data[hint.len - 1] == ' ' ? "" : ",", sp_group_names[i]);
    }
    sp_buf_puts(&hint, " -o FILE.spaa`");
    sp_emit_hint(d, SP_E033, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", sp_buf_cstr(&what));
    sp_buf_free(&what);
    sp_buf_free(&hint);
    return SPAA_ERR_USAGE;
}

struct moved {
    uint32_t from, context, to;
};

struct mover {
    struct sp_profile *p;
    unsigned keys;
    const struct sp_label_keys *labels;
    SP_VEC(struct moved) list;
    struct sp_map map; /* of list, by from and context */
    SP_VEC(uint32_t) frames;
};

static bool stays(const struct sp_profile *p, const struct sp_sample *x)
{
    if (x->stack == SP_NONE || p->stacks.v[x->stack].linked || x->period == SP_DECIMAL ||
        p->contexts.v[p->stacks.v[x->stack].context].event == SP_NONE)
        return true;
    for (uint32_t m = 0; m < p->metrics.n; m++)
        if (sp_weight(p, x->stack, m) == SP_DECIMAL)
            return true;
    return false;
}

static uint32_t regroup_context_of(struct mover *w, const struct sp_sample *x)
{
    struct sp_context c = w->p->contexts.v[w->p->stacks.v[x->stack].context];
    if (w->keys & SP_BY_PID && x->pid != SP_ABSENT)
        c.pid = x->pid;
    if (w->keys & SP_BY_TID && x->tid != SP_ABSENT)
        c.tid = x->tid;
    if (w->keys & SP_BY_CPU && x->cpu != SP_ABSENT)
        c.cpu = x->cpu;
    if (w->labels->n) {
        uint32_t set = sp_labels_of_sample(w->p, x);
        c.labels = set == SP_NONE ? SP_NONE : sp_labels_with(w->p, c.labels, set, w->labels);
    }
    return c.labels == SP_NONE ? SP_NONE : sp_context_intern(w->p, &c);
}

/* The stack like x's in another context, made when it is not there. */
static uint32_t stack_in(struct mover *w, uint32_t from, uint32_t context)
{
    struct sp_profile *p = w->p;
    uint64_t hash = sp_hash_mix(from, context);
    struct sp_probe at = sp_map_probe(&w->map, hash);
    for (uint32_t i; (i = sp_map_next(&w->map, &at)) != SP_MAP_NONE;)
        if (w->list.v[i].from == from && w->list.v[i].context == context)
            return w->list.v[i].to;
    uint32_t n = p->stacks.v[from].n;
    if (!sp_vec_reserve(&w->frames, n + 1))
        return SP_NONE;
    if (n)
        memcpy(w->frames.v, sp_stack_frames(p, from), n * sizeof *w->frames.v);
    uint32_t to = sp_stack_append(p, w->frames.v, n, context, (enum sp_stack_type)p->stacks.v[from].type);
    if (to == SP_NONE || !sp_map_add(&w->map, hash, (uint32_t)w->list.n) ||
        !sp_vec_push(&w->list, ((struct moved){from, context, to})))
        return SP_NONE;
    sp_stack_set_layout(p, to, p->stacks.v[from].layout);
    p->stacks.v[to].edges = p->stacks.v[from].edges;
    p->stacks.v[to].exclusive = p->stacks.v[from].exclusive < 2 ? p->stacks.v[from].exclusive : 0;
    return to;
}

static bool regroup_move(struct mover *w, struct sp_sample *x)
{
    struct sp_profile *p = w->p;
    uint32_t from = x->stack, event = p->contexts.v[p->stacks.v[from].context].event;
    uint32_t context = regroup_context_of(w, x);
    if (context == p->stacks.v[from].context)
        return true;
    uint32_t to = context == SP_NONE ? SP_NONE : stack_in(w, from, context);
    if (to == SP_NONE)
        return false;
    for (uint32_t m = 0; m < p->metrics.n; m++) {
        int64_t have = sp_weight(p, from, m);
        enum sp_weighing how = have == SP_ABSENT ? SP_WEIGH_NOT : sp_weighing_of(p, event, m);
        int64_t v = how == SP_WEIGH_NOT ? SP_ABSENT : sp_sample_value(x, how).v;
        if (v == SP_ABSENT)
            continue;
        if (!sp_weight_add(p, to, m, v))
            return false;
        p->columns[m].v[from] = have == v ? SP_ABSENT : have - v;
    }
    x->stack = to;
    return true;
}

/* Each sample to its stack. Once it has begun it is not left: stacks told apart in part would be wrong
 * answers. */
static spaa_status regroup_all(struct sp_profile *p, unsigned keys, const struct sp_label_keys *labels,
                               struct sp_diags *d)
{
    struct mover w = {.p = p, .keys = keys, .labels = labels};
    struct sp_sample *rows = NULL;
    size_t n = 0;
    spaa_status st = p->samples ? sp_samples_rows(p->samples, &rows, &n) : SPAA_OK;
    if (!st)
        st = sp_cancelled(d);
    for (size_t i = 0; !st && i < n; i++)
        if (!stays(p, &rows[i]) && !regroup_move(&w, &rows[i]))
            st = sp_nomem(d);
    sp_vec_free(&w.list);
    sp_vec_free(&w.frames);
    sp_map_free(&w.map);
    return st;
}

spaa_status sp_regroup(struct sp_profile *p, unsigned keys, struct sp_diags *d)
{
    struct sp_label_keys none = {NULL, 0};
    struct sp_sample *rows = NULL;
    size_t n = 0;
    bool any = false;
    spaa_status st = p->samples ? sp_samples_rows(p->samples, &rows, &n) : SPAA_OK;
    for (size_t i = 0; i < n && !any; i++)
        any = (!(keys & SP_BY_PID) || rows[i].pid != SP_ABSENT) &&
              (!(keys & SP_BY_TID) || rows[i].tid != SP_ABSENT) &&
              (!(keys & SP_BY_CPU) || rows[i].cpu != SP_ABSENT);
    if (!st && (!any || keys & ~(unsigned)(SP_BY_PID | SP_BY_TID | SP_BY_CPU)))
        return regroup_refuse(p, keys, d);
    return st ? st : regroup_all(p, keys, &none, d);
}

/* Threads with a context that says its queue: they served several, and their record names one of them. */
static void regroup_say_own(const struct sp_profile *p, const struct sp_thread_info *info, unsigned char *own)
{
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        const struct sp_reported_thread *t = c->tid != SP_ABSENT ? sp_thread_info_thread(info, c->tid) : NULL;
        if (t && sp_labels_find(p, c->labels, (struct sp_str){"queue", 5}))
            own[t - info->threads.v] = 1;
    }
}

/* Contexts of threads whose queue is known get it as a label: no stack is divided by that. */
static spaa_status regroup_by_queue(struct sp_profile *p, const struct sp_label_keys *labels,
                                    struct sp_diags *d)
{
    struct sp_thread_info info = {0};
    if (!sp_label_keys_have(labels, (struct sp_str){"queue", 5}))
        return SPAA_OK;
    size_t n = p->contexts.n;
    uint32_t *to = malloc((n + 1) * sizeof *to);
    spaa_status st = to ? sp_thread_info_of(p, d, &info) : sp_nomem(d);
    unsigned char *own = st ? NULL : calloc(info.threads.n + 1, 1);
    if (own)
        regroup_say_own(p, &info, own);
    else
        st = st ? st : sp_nomem(d);
    for (uint32_t i = 0; !st && i < n; i++) {
        struct sp_context c = p->contexts.v[i];
        const struct sp_reported_thread *t = c.tid != SP_ABSENT ? sp_thread_info_thread(&info, c.tid) : NULL;
        to[i] = i;
        if (!t || !t->queue || own[t - info.threads.v])
            continue;
        c.labels = sp_labels_with_queue(p, c.labels, labels, sp_pstr(p, t->queue));
        to[i] = c.labels == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
        if (to[i] == SP_NONE)
            st = sp_nomem(d);
    }
    for (size_t i = 0; !st && i < p->stacks.n; i++)
        p->stacks.v[i].context = to[p->stacks.v[i].context];
    sp_thread_info_free(&info);
    free(own);
    free(to);
    return st;
}

spaa_status sp_regroup_labels(struct sp_profile *p, const struct sp_label_keys *labels, struct sp_diags *d)
{
    spaa_status st = regroup_by_queue(p, labels, d);
    return st ? st : regroup_all(p, 0, labels, d);
}

/* Both records of a pair are left out, or neither. */
static bool regroup_emptied(const struct sp_profile *p, uint32_t stack)
{
    bool some = p->stacks.v[stack].linked != 0;
    for (uint32_t m = 0; m < p->metrics.n && !some; m++)
        some = sp_weight(p, stack, m) != SP_ABSENT;
    return !some;
}

spaa_status sp_regroup_settle(struct sp_profile **p, struct sp_diags *d)
{
    unsigned char *leave = malloc((*p)->stacks.n + 1);
    struct sp_merge_opts how = {.group_by = ~0u, .samples = true, .rest = true, .leave = leave};
    struct sp_profile *kept = NULL;
    struct sp_merger *m = NULL;
    spaa_status st = leave ? sp_merger_new(&how, d, &m) : sp_nomem(d);
    for (uint32_t i = 0; !st && i < (*p)->stacks.n; i++)
        leave[i] = regroup_emptied(*p, i);
    if (!st)
        st = sp_merger_add(m, *p, "");
    if (!st)
        st = sp_merger_finish(m, &kept);
    sp_merger_free(m);
    free(leave);
    if (st)
        return st;
    sp_profile_free(*p);
    *p = kept;
    return SPAA_OK;
}
