/*
 * For each class of state that is there, the tree of its rows alone is built: its nodes are nodes of the
 * whole tree, in the same order, so that one walk of both finds them.
 */
#include "analysis/tree_states.h"

#include "model/off_cpu.h"

#include <stdlib.h>
#include <string.h>

const char *const sp_state_class_names[] = {
    "running",      "waiting for a CPU",    "blocked: lock, condition",
    "blocked: I/O", "blocked: sleep, poll", "blocked",
    "idle",         "state not known",      NULL};

/* ---- classes ---- */

static bool tree_states_begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* The one place where it is asked why a thread waited. */
static enum sp_state_class tree_states_of_wait(const struct sp_wait_why *why)
{
    const char *reason = sp_wait_reason_names[why->reason];
    static const char *const classes[][2] = {
        {"lock or condition", "l"}, {"condition", "l"}, {"disk", "i"}, {"network", "i"}, {"pipe", "i"},
        {"page fault", "i"},        {"sleep", "s"},     {"poll", "s"},
    };
    if (why->idle)
        return SP_STATE_IDLE;
    if (sp_wait_is_lock(why->reason))
        return SP_STATE_LOCK;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (tree_states_begins(reason, classes[i][0]))
            return *classes[i][1] == 'l'   ? SP_STATE_LOCK
                   : *classes[i][1] == 'i' ? SP_STATE_INPUT
                                           : SP_STATE_SLEEP;
    return SP_STATE_BLOCKED;
}

/* off: the event measures time off the CPU, so that threads waited where nothing else is stated. */
static enum sp_state_class tree_states_class(struct sp_str state, bool off, const struct sp_wait_why *why)
{
    static const char *const waits[] = {"WAITING", "TIMED_WAITING", "BLOCKED", NULL};
    if (sp_str_is(state, "RUNNABLE"))
        return SP_STATE_RUNNING;
    if (sp_str_is(state, "RUN_QUEUE"))
        return SP_STATE_READY;
    if (sp_str_is(state, "IDLE"))
        return SP_STATE_IDLE;
    if (sp_str_is(state, "SUSPENDED"))
        return SP_STATE_BLOCKED;
    if (!state.n && off)
        return tree_states_of_wait(why);
    return sp_name_index(waits, state.p, state.n) < 0 ? SP_STATE_UNKNOWN : tree_states_of_wait(why);
}

uint8_t *sp_state_classes(const struct sp_selection *s, const struct sp_wait_reasons *reasons)
{
    const struct sp_profile *p = s->profile;
    uint32_t primary = p->events.v[s->event].primary;
    bool off = primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[primary].name), SP_OFF_CPU_NS);
    uint8_t *classes = malloc(s->rows.n + 1);
    for (size_t i = 0; classes && i < s->rows.n; i++) {
        uint32_t stack = s->rows.v[i].stack;
        struct sp_str state = sp_pstr(p, p->contexts.v[p->stacks.v[stack].context].state);
        classes[i] = (uint8_t)tree_states_class(state, off, &reasons->of[stack]);
    }
    return classes;
}

int64_t sp_state_drop_idle(struct sp_selection *s, uint8_t *classes)
{
    int64_t left_out = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        if (classes[i] == SP_STATE_IDLE) {
            left_out += s->rows.v[i].weight;
            continue;
        }
        s->rows.v[n] = s->rows.v[i];
        classes[n++] = classes[i];
    }
    s->rows.n = n;
    s->kept -= left_out;
    return left_out;
}

/* ---- nodes ---- */

static bool tree_states_same(const struct sp_tree *a, uint32_t x, const struct sp_tree *b, uint32_t y)
{
    return a->nodes.v[x].function == b->nodes.v[y].function &&
           (!a->comms.n || !b->comms.n || a->comms.v[x] == b->comms.v[y]);
}

/* The node of the whole tree that is a child of `parent`, from `from` on; SP_NONE: it was left out. */
static uint32_t tree_states_child(const struct sp_tree *t, uint32_t parent, uint32_t from,
                                  const struct sp_tree *part, uint32_t node)
{
    for (uint32_t k = from; k < t->nodes.v[parent].end; k = t->nodes.v[k].end)
        if (tree_states_same(part, node, t, k))
            return k;
    return SP_NONE;
}

/* Puts the totals of a part of the tree to their nodes in the whole one. False: out of memory. */
static bool tree_states_add(const struct sp_tree *part, const struct sp_tree *t, enum sp_state_class class,
                            int64_t *of)
{
    size_t n = part->nodes.n;
    uint32_t *at = malloc((n + 1) * sizeof *at); /* of a node of the part: that of the whole, or SP_NONE */
    uint32_t *next = malloc((n + 1) * sizeof *next); /* where its next child is looked for */
    bool ok = at && next;
    for (uint32_t i = 0; ok && i < n && t->nodes.n; i++) {
        const struct sp_tree_node *node = &part->nodes.v[i];
        uint32_t above = node->depth ? at[node->parent] : SP_NONE;
        at[i] = !node->depth       ? 0
                : above == SP_NONE ? SP_NONE
                                   : tree_states_child(t, above, next[node->parent], part, i);
        next[i] = at[i] + 1;
        if (at[i] == SP_NONE)
            continue;
        of[(size_t)at[i] * SP_STATE_CLASSES + class] = node->total;
        if (node->depth)
            next[node->parent] = t->nodes.v[at[i]].end;
    }
    free(at);
    free(next);
    return ok;
}

static spaa_status tree_states_build(struct sp_selection *s, const uint8_t *classes, const int64_t *weights,
                                     enum sp_state_class class, const struct sp_tree_opts *opts,
                                     const struct sp_tree *t, struct sp_diags *d, struct sp_tree_states *out)
{
    struct sp_tree part;
    struct sp_tree_opts how = *opts;
    bool any = false;
    how.min_total = 1;
    how.positive = true;
    for (size_t i = 0; i < s->rows.n; i++) {
        s->rows.v[i].weight = classes[i] == class && weights[i] > 0 ? weights[i] : 0;
        any = any || s->rows.v[i].weight;
    }
    if (!any)
        return SPAA_OK;
    spaa_status st = sp_tree_build(s, &how, d, &part);
    if (st)
        return st;
    out->total[class] = part.nodes.n ? part.nodes.v[0].total : 0;
    out->some = out->some || (class != SP_STATE_RUNNING && class != SP_STATE_UNKNOWN);
    if (!tree_states_add(&part, t, class, out->of))
        st = sp_nomem(d);
    sp_tree_free(&part);
    return st;
}

spaa_status sp_tree_states_of(struct sp_selection *s, const uint8_t *classes, const struct sp_tree_opts *opts,
                              const struct sp_tree *t, struct sp_diags *d, struct sp_tree_states *out)
{
    int64_t *weights = malloc((s->rows.n + 1) * sizeof *weights);
    *out = (struct sp_tree_states){.of = calloc(t->nodes.n + 1, SP_STATE_CLASSES * sizeof *out->of)};
    spaa_status st = weights && out->of ? SPAA_OK : sp_nomem(d);
    for (size_t i = 0; !st && i < s->rows.n; i++)
        weights[i] = s->rows.v[i].weight;
    for (unsigned c = 0; !st && c < SP_STATE_CLASSES; c++)
        st = tree_states_build(s, classes, weights, (enum sp_state_class)c, opts, t, d, out);
    for (size_t i = 0; weights && i < s->rows.n; i++)
        s->rows.v[i].weight = weights[i];
    free(weights);
    if (st)
        sp_tree_states_free(out);
    return st;
}

void sp_tree_states_free(struct sp_tree_states *x)
{
    free(x->of);
    x->of = NULL;
}
