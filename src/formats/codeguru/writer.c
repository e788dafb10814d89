/*
 * Writes the JSON that PostAgentProfile takes, in canonical form: no blanks; start, end, agentMetadata,
 * callgraph, then other members; in a node counts by name, file, line, other members, and last the children
 * by the bytes of their names. A CodeGuru profile that was read comes back with every key and number;
 * profiles of other sources get their metadata from the header.
 *
 * The stacks are sorted first (writer_order.c), so that the tree can be written as it comes (writer_tree.c).
 */
#include "formats/codeguru/writer.h"
#include "formats/codeguru/metadata.h"

#include <stdlib.h>

/* Every stack of the events, of pairs the user's side. */
static bool codeguru_gather(struct sp_cg_writer *w)
{
    const struct sp_profile *p = w->p;
    if (!sp_vec_reserve(&w->order, p->stacks.n + 1))
        return false;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        if (w->counters_of[p->stacks.v[s].context] == SP_NONE)
            continue;
        if (p->stacks.v[s].type == SP_KERNEL_STACK && sp_stack_linked(p, s) != SP_NONE)
            continue;
        w->order.v[w->order.n++] = s;
    }
    return true;
}

/* Of a pair both sides say how often it was observed, which is once each. */
static void codeguru_count_samples(struct sp_cg_writer *w)
{
    uint32_t metric = sp_metric_find(w->p, "samples", 7);
    w->samples = SP_ABSENT;
    for (size_t i = 0; metric != SP_NONE && i < w->order.n; i++) {
        int64_t v = sp_weight(w->p, w->order.v[i], metric);
        if (v > SP_DECIMAL &&
            __builtin_add_overflow(w->samples == SP_ABSENT ? 0 : w->samples, v, &w->samples))
            w->samples = INT64_MAX;
    }
}

static spaa_status codeguru_prepare(struct sp_cg_writer *w)
{
    struct sp_profile *p = w->p;
    const char *style = sp_own_opt(w->opts->own, w->opts->nown, "codeguru-names");
    bool module = style && strcmp(style, "module") == 0;
    if (style && !module && strcmp(style, "plain") != 0) {
        sp_emit_hint(w->d, SP_E037, SP_AT_NOTHING, "plain: function; module: object:function",
                     "--codeguru-names has no value \"%s\"", style);
        return SPAA_ERR_USAGE;
    }
    spaa_status st = sp_cg_extras_read(&w->extras, p, w->d);
    if (st)
        return st;
    bool *taken = calloc(p->events.n + 1, sizeof *taken);
    uint32_t *names = malloc((p->frames.n + 1) * sizeof *names);
    w->places = calloc(p->frames.n + 1, sizeof *w->places);
    bool ok = taken && names && w->places && sp_cg_choose_events(w, taken);
    if (ok)
        sp_cg_choose_metric(w, taken);
    ok = ok && sp_cg_make_counters(w, taken) && sp_cg_make_keys(w, names, module) && codeguru_gather(w) &&
         sp_cg_make_places(w);
    if (ok)
        codeguru_count_samples(w);
    free(taken);
    free(names);
    return ok ? SPAA_OK : sp_nomem(w->d);
}

static spaa_status codeguru_put_metadata(struct sp_cg_writer *w, struct sp_cg_meta *m)
{
    const struct sp_write_opts *o = w->opts;
    struct sp_cg_meta_opts names = {.fleet_instance_id = sp_own_opt(o->own, o->nown, "fleet-instance-id"),
                                    .host_type = sp_own_opt(o->own, o->nown, "host-type"),
                                    .agent_type = sp_own_opt(o->own, o->nown, "agent-type"),
                                    .start = sp_own_opt(o->own, o->nown, "start")};
    struct sp_cg_total *totals = calloc(w->counters.n + 1, sizeof *totals);
    if (!totals)
        return sp_nomem(w->d);
    for (size_t i = 0; i < w->counters.n; i++) {
        const struct sp_cg_counter *c = &w->counters.v[i];
        if (c->sum) /* `"NAME":` without the colon */
            totals[m->ntotals++] = (struct sp_cg_total){{c->text.p, c->text.n - 1}, c->sum};
    }
    m->totals = totals;
    m->samples = w->metric == w->opts->metric ? SP_ABSENT : w->samples;
    sp_buf_clear(&w->b);
    spaa_status st = sp_cg_meta_begin(m, &names, &w->b, w->d);
    free(totals);
    m->totals = NULL;
    if (!st)
        sp_write(w->out, w->b.data, w->b.len);
    return st;
}

/* What each counter sums up to, and the stacks that have anything to write. */
static void codeguru_add_up(struct sp_cg_writer *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->order.n; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        int64_t v = w->kept.n ? 0 : sp_cg_count_of(w, stack, &text);
        if (!w->kept.n && !v)
            continue;
        int64_t *sum = &w->counters.v[w->counters_of[w->p->stacks.v[stack].context]].sum;
        if (__builtin_add_overflow(*sum, v, sum))
            *sum = INT64_MAX;
        w->order.v[n++] = stack;
    }
    w->order.n = n;
}

spaa_status sp_cg_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct sp_cg_writer w = {.p = p, .d = d, .out = out, .opts = opts};
    sp_arena_init(&w.text, 0);
    sp_buf_init(&w.b, 0);
    if (p->sources.n < 2) /* what several say alike, weights and durations, is not true of all together */
        w.kept = sp_cg_member(sp_cg_span(sp_pstr(p, p->header.extra_json)), SP_CG_KEY);
    struct sp_cg_meta meta = {.p = p, .kept = w.kept};
    spaa_status st = codeguru_prepare(&w);
    if (!st) {
        codeguru_add_up(&w);
        st = sp_cg_sort(&w);
    }
    if (!st && !w.order.n)
        sp_emit(d, SP_W492, SP_AT_NOTHING, "its call graph is empty");
    if (!st)
        st = codeguru_put_metadata(&w, &meta);
    if (!st) {
        bool ok = sp_cg_put_tree(&w);
        sp_buf_clear(&w.b);
        sp_cg_meta_end(&meta, &w.b);
        sp_write(out, w.b.data, w.b.len);
        st = !ok || w.b.failed ? sp_nomem(d) : out->status;
    }
    free(w.counters_of);
    free(w.commands);
    free(w.ranks);
    free(w.places);
    free(w.key_ranks);
    sp_vec_free(&w.keys);
    sp_vec_free(&w.counters);
    sp_vec_free(&w.order);
    sp_cg_extras_free(&w.extras);
    sp_arena_free(&w.text);
    sp_buf_free(&w.b);
    return st;
}
