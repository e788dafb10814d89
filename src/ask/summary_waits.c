/* Where the time off the CPU went, for the brief: by reason, without waits for work, and the heaviest place.
 */
#include "ask/summary.h"

#include "analysis/off_cpu_accounts.h"
#include "ask/waits_parts.h"
#include "model/off_cpu.h"

enum { WAITS_REASONS = 4 };

static const char *waits_kept(struct sp_summary *x, const struct sp_buf *b)
{
    const char *text = b->failed ? NULL : sp_arena_dup(&x->x.out->arena, b->data ? b->data : "", b->len + 1);
    x->x.out->failed |= !text;
    return text;
}

static void waits_sum(struct sp_buf *b, const char *what, bool unsure, int64_t ns, bool at_least)
{
    if (ns <= 0)
        return;
    if (b->len)
        sp_buf_puts(b, ", ");
    sp_buf_printf(b, "%s%s ", what, unsure ? "?" : "");
    sp_waits_duration(b, ns, at_least);
}

/* "waited (all threads): lock 6.00 s, a CPU ≥ 4.55 s, …; idle 50.8 s is out" */
static void waits_by_reason(struct sp_summary *x, const struct sp_off_cpu_accounts *acc)
{
    const struct sp_off_cpu_who *all = &acc->all;
    struct sp_buf b;
    bool said[SP_WAIT_REASONS] = {false};
    sp_buf_init(&b, 0);
    for (size_t k = 0; k < WAITS_REASONS; k++) {
        size_t best = SP_WAIT_REASONS;
        for (size_t i = 0; i < SP_WAIT_REASONS; i++)
            if (!said[i] && all->by[i] > 0 && (best == SP_WAIT_REASONS || all->by[i] > all->by[best]))
                best = i;
        if (best == SP_WAIT_REASONS)
            break;
        said[best] = true;
        waits_sum(&b, best == SP_WAIT_CPU ? "for a CPU" : sp_wait_reason_names[best],
                  sp_off_cpu_unsure(all, (unsigned)best), all->by[best], all->at_least[best]);
    }
    bool much = sp_waits_much_unknown(acc);
    if (!b.len)
        sp_buf_puts(&b, much ? "nothing that is certain" : "nothing");
    if (much) {
        sp_buf_puts(&b, "; another ");
        sp_waits_duration(&b, all->unknown, false);
        sp_buf_printf(&b, " %s%s", sp_waits_unknown_words(acc),
                      acc->lost        ? ""
                      : acc->some_cpus ? " (perf record -a)"
                                       : " (perf record --switch-events)");
    }
    if (all->idle + all->maybe_idle > 0) {
        sp_buf_puts(&b, "; idle ");
        sp_waits_duration(&b, all->idle, all->idle_at_least);
        if (all->maybe_idle > 0) {
            sp_buf_puts(&b, " and maybe idle ");
            sp_waits_duration(&b, all->maybe_idle, all->maybe_idle_at_least);
        }
        /* What is out of the view's stacks, which the line of the view says, is a part of it. */
        sp_buf_puts(&b, x->x.s.left_out > 0 ? " of all views is not counted" : " is not counted");
    }
    sp_buf_ch(&b, '\0');
    x->waits.reasons = waits_kept(x, &b);
    sp_buf_free(&b);
}

/*
 * The heaviest; where a function of a program is known that waited, of these. What waits for a CPU all the
 * time is mostly a thread of the kernel that nobody misses.
 */
static const struct sp_off_cpu_place *waits_place(const struct sp_off_cpu_accounts *acc)
{
    for (size_t i = 0; i < acc->places.n; i++)
        if (!acc->places.v[i].why.idle && acc->places.v[i].why.function != SP_NONE)
            return &acc->places.v[i];
    return acc->places.n ? &acc->places.v[0] : NULL;
}

/* "most: http-* (20), lock in handle_request > pthread_mutex_lock: 6.00 s in 40 waits, longest 152 ms" */
static void waits_most(struct sp_summary *x, const struct sp_off_cpu_accounts *acc)
{
    const struct sp_off_cpu_place *p = waits_place(acc);
    struct sp_buf b;
    if (!p || p->why.idle || p->ns <= 0 || acc->all.unknown > acc->all.blocked + acc->all.runnable)
        return;
    struct sp_str who = sp_str_at(&acc->names, acc->who.v[p->who].name);
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%.*s, %s%s", (int)who.n, who.p,
                  p->why.reason == SP_WAIT_CPU ? "for a CPU" : sp_wait_reason_names[p->why.reason],
                  p->why.unsure && p->why.reason != SP_WAIT_FUTEX ? "?" : "");
    if (p->why.function != SP_NONE) {
        sp_buf_puts(&b, " in ");
        struct sp_str name = sp_pstr(x->x.s.profile, x->x.s.profile->functions.v[p->why.function].name);
        sp_buf_add(&b, name.p, name.n);
    }
    sp_buf_puts(&b, ": ");
    sp_waits_duration(&b, p->ns, p->at_least);
    if (p->count > 0)
        sp_buf_printf(&b, " in %lld wait%s", (long long)p->count, p->count == 1 ? "" : "s");
    if (p->longest > 0) {
        sp_buf_puts(&b, ", longest ");
        sp_waits_duration(&b, p->longest, p->longest_at_least);
    }
    sp_buf_ch(&b, '\0');
    x->waits.most = waits_kept(x, &b);
    sp_buf_free(&b);
}

static spaa_status waits_account(struct sp_summary *x, const struct sp_select_opts *how,
                                 const struct sp_selection *s, const struct sp_selection *wide)
{
    struct sp_intervals v;
    struct sp_wait_reasons why;
    struct sp_off_cpu_accounts acc;
    struct sp_diags *d = x->x.q->diags;
    spaa_status st = sp_intervals_of(x->x.q->profiles[0], d, &v);
    if (st)
        return st;
    st = sp_wait_reasons_with(s, x->x.q->options->own_re, &v, &why, d);
    if (!st) {
        st = sp_off_cpu_accounts_of(s, wide, how, &v, &why, d, &acc);
        if (!st) {
            x->waits.known = true;
            x->waits.runnable = acc.all.runnable;
            x->waits.blocked = acc.all.blocked;
            x->waits.idle = acc.all.idle;
            x->waits.maybe_idle = acc.all.maybe_idle;
            x->waits.unknown = acc.all.unknown;
            x->waits.unseen = acc.all.unseen;
            waits_by_reason(x, &acc);
            waits_most(x, &acc);
            sp_off_cpu_accounts_free(&acc);
        }
        sp_wait_reasons_free(&why);
    }
    sp_intervals_free(&v);
    return st;
}

spaa_status sp_summary_waits(struct sp_summary *x)
{
    struct sp_select_opts how, wide;
    struct sp_selection s, all;
    struct sp_profile *p = x->x.q->profiles[0];
    uint32_t event = sp_off_cpu_event(p);
    if (event == SP_NONE)
        return SPAA_OK;
    if (!sp_ask_select_opts(x->x.q, &how))
        return SPAA_ERR_USAGE;
    how.event = how.metric = NULL;
    how.event_number = &event;
    how.any_state = how.may_be_empty = true;
    spaa_status st = sp_select(p, &how, x->x.q->diags, &s);
    if (st)
        return st;
    wide = how;
    wide.time = NULL;
    st = sp_select(p, &wide, x->x.q->diags, &all);
    if (!st) {
        st = s.rows.n ? waits_account(x, &how, &s, &all) : SPAA_OK;
        sp_selection_free(&all);
    }
    sp_selection_free(&s);
    return st;
}
