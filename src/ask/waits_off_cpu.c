/* waits of what was measured off the CPU: selects, and puts the parts of the answer in order. */
#include "ask/waits_parts.h"

#include "model/waiting.h"

/* The selection without its range of time: intervals are cut to that, whenever they ended. */
static spaa_status select_wide(struct sp_ask *q, const struct sp_select_opts *o, struct sp_selection *wide)
{
    struct sp_select_opts all = *o;
    all.time = NULL;
    return sp_select(q->profiles[0], &all, q->diags, wide);
}

/* A process that stood still is what is asked about, before others that waited as long for nothing special.
 */
static bool of_stall(const struct sp_waits_asked *x, const struct sp_waits_stalled *stalled,
                     const struct sp_off_cpu_who *w)
{
    const struct sp_profile *p = x->a->s.profile;
    struct sp_str comm = sp_pstr(p, w->comm);
    for (size_t i = 0; i < stalled->v.n; i++) {
        const struct sp_waits_stalled_process *s = &stalled->v.v[i];
        struct sp_str name = sp_pstr(p, s->comm);
        if ((s->pid != SP_ABSENT && s->pid == w->pid) ||
            (s->by_name && name.n == comm.n && !memcmp(name.p, comm.p, comm.n)))
            return true;
    }
    return false;
}

static bool mark_stalled(struct sp_waits_asked *x, const struct sp_waits_stalled *stalled)
{
    x->stalled = calloc(x->acc->who.n + 1, 1);
    x->stalls = stalled->v.n > 0;
    for (size_t i = 0; x->stalled && x->stalls && x->a->q->brief && i < x->acc->who.n; i++)
        x->stalled[i] = of_stall(x, stalled, &x->acc->who.v[i]);
    return x->stalled != NULL;
}

/*
 * A budget cuts rows, and of lines nothing: where it is small, those of stalls are cut here, whose facts are
 * in JSON. `from`: the first item of theirs.
 */
static void cut_lines(struct sp_answer *a, size_t from, size_t room)
{
    size_t to = from, left_out = 0;
    for (size_t i = from; i < a->items.n; i++) {
        const struct sp_item *item = &a->items.v[i];
        bool line = item->kind == SP_ITEM_LINE;
        if (line && (left_out || item->value.n > room)) {
            left_out++;
            continue;
        }
        room -= line ? item->value.n : 0;
        a->items.v[to++] = *item;
    }
    a->items.n = to;
    if (left_out)
        sp_answer_line(a, "%zu more lines on stalls; a larger --budget shows them", left_out);
}

static bool know_budget(struct sp_waits_asked *x)
{
    long budget = 0;
    x->bytes = SIZE_MAX;
    if (!sp_option_number(x->a->q->diags, "budget", x->a->q->options->budget, 1, LONG_MAX / 4, 0, &budget))
        return false;
    if (budget && x->a->q->brief)
        x->bytes = (size_t)budget * 3;
    return true;
}

static spaa_status off_cpu_put(struct sp_waits_asked *x, const struct sp_intervals *v)
{
    if (!know_budget(x))
        return SPAA_ERR_USAGE;
    sp_waits_facts(x);
    sp_waits_head(x);
    size_t from = x->a->out->items.n;
    struct sp_waits_stalled stalled = {0};
    spaa_status st = sp_waits_stalls(x->a, v, x->why, &stalled);
    if (!st && x->bytes != SIZE_MAX)
        cut_lines(x->a->out, from, x->bytes > 500 ? (x->bytes - 500) * 3 / 4 : 0);
    if (!st)
        st = mark_stalled(x, &stalled) ? sp_waits_put_tables(x) : sp_nomem(x->a->q->diags);
    if (!st)
        sp_waits_unknown(x);
    free(x->stalled);
    sp_vec_free(&stalled.v);
    return st;
}

static spaa_status off_cpu_account(struct sp_asked *x, const struct sp_select_opts *o,
                                   const struct sp_selection *wide, const struct sp_intervals *v,
                                   const struct sp_wait_reasons *why)
{
    struct sp_off_cpu_accounts acc;
    struct sp_waits_asked w = {.a = x, .acc = &acc, .why = why, .idle = x->q->options->idle != NULL};
    w.holders = sp_waiting_whose(x->q->profiles[0], x->s.event) == SP_WAITING_HOLDER;
    if (!sp_ask_limit(x->q, x->q->brief ? 7 : 100, &w.limit))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_off_cpu_accounts_of(&x->s, wide, o, v, why, x->q->diags, &acc);
    if (st)
        return st;
    st = off_cpu_put(&w, v);
    sp_off_cpu_accounts_free(&acc);
    return st;
}

static spaa_status off_cpu_answer(struct sp_ask *q, struct sp_asked *x, const struct sp_select_opts *o)
{
    struct sp_intervals v;
    struct sp_wait_reasons why;
    struct sp_selection wide;
    spaa_status st = sp_intervals_of(q->profiles[0], q->diags, &v);
    if (st)
        return st;
    st = select_wide(q, o, &wide);
    if (!st) {
        st = sp_wait_reasons_with(&x->s, q->options->own_re, &v, &why, q->diags);
        if (!st) {
            st = off_cpu_account(x, o, &wide, &v, &why);
            sp_wait_reasons_free(&why);
        }
        sp_selection_free(&wide);
    }
    sp_intervals_free(&v);
    return st ? st : sp_asked_end(x);
}

spaa_status sp_waits_off_cpu(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_asked x = {0};
    struct sp_select_opts o;
    const struct sp_profile *p = q->profiles[0];
    uint32_t event, metric;
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    if (!o.event && sp_waiting_of(p, &event, &metric)) {
        o.event_number = &event;
        o.metric = o.metric ? o.metric : sp_pstr(p, p->metrics.v[metric].name).p;
    }
    o.any_state = true;
    spaa_status st = sp_asked_select(q, &o, out, &x);
    if (!st)
        st = sp_asked_own(&x);
    if (!st) {
        sp_asked_facts(&x);
        st = off_cpu_answer(q, &x, &o);
    }
    sp_asked_free(&x);
    return st;
}
