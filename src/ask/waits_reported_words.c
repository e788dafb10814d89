/* Chains of waits in words: who waits for whom, what tells that it is a deadlock, what holders did. */
#include "ask/waits_reported.h"

#include "analysis/process.h"

enum { HELD_SHOWN = 3 /* functions */ };

const struct sp_wait *sp_reported_step(const struct sp_reported *x, const struct sp_wait_chain *c, uint32_t k)
{
    return &x->w.waits.v[x->w.steps.v[c->first + k]];
}

/* Every wait of its cycle is for something that one named thread holds. */
static bool chain_is_of_locks(const struct sp_reported *x, const struct sp_wait_chain *c)
{
    for (uint32_t k = c->cycle; k < c->n; k++)
        if (!sp_reported_step(x, c, k)->lock || sp_reported_step(x, c, k)->by_process)
            return false;
    return true;
}

const char *sp_reported_kind(const struct sp_reported *x, const struct sp_wait_chain *c)
{
    return c->deadlock                                      ? "deadlock"
           : c->cycle == SP_NONE                            ? "chain"
           : c->n - c->cycle > 1 && chain_is_of_locks(x, c) ? "contention"
                                                            : "cycle";
}

/* "Editor [10] 0xa1", and of the process that was just named the thread alone. */
static void chain_say_holder(struct sp_reported *x, struct sp_buf *b, const struct sp_wait *w)
{
    const struct sp_wait_thread *t = &x->w.threads.v[w->waiter];
    struct sp_str none = {"", 0};
    if (w->self)
        sp_buf_puts(b, "itself");
    else if (w->holder_pid == SP_ABSENT && w->holder_tid == SP_ABSENT)
        sp_buf_ch(b, '?');
    else if (w->holder_pid == t->pid && w->holder_tid != SP_ABSENT && t->pid != SP_ABSENT)
        sp_reported_say_thread(x, b, none, SP_ABSENT, w->holder_tid);
    else
        sp_reported_say_thread(x, b, sp_pstr(x->w.profile, w->holder_name), w->holder_pid, w->holder_tid);
    if (w->among > 1)
        sp_buf_printf(b, " (which of %u%s processes?)", w->among, w->among < SP_AMONG_MOST ? "" : " or more");
    else if (w->by_process && w->holder != SP_NONE)
        sp_buf_puts(b, " (its main thread?)");
}

/* Others for whom the thread of a wait waited as long as for the one that the chain goes on with. */
static void chain_say_equals(struct sp_reported *x, struct sp_buf *b, const struct sp_wait *w)
{
    const struct sp_wait_thread *t = &x->w.threads.v[w->waiter];
    if (!t->equals || w != &x->w.waits.v[t->heaviest] || sp_waits_followed(&x->w, w->waiter) != t->heaviest)
        return;
    const struct sp_wait *other = &x->w.waits.v[t->equal_wait];
    struct sp_str on = sp_pstr(x->w.profile, other->on);
    sp_buf_puts(b, x->w.counts_samples ? " (in as many samples -(" : " (as long -(");
    sp_buf_add(b, on.p, on.n);
    sp_buf_puts(b, ")-> ");
    chain_say_holder(x, b, other);
    if (t->equals > 1)
        sp_buf_printf(b, ", and %u others", t->equals - 1);
    sp_buf_ch(b, ')');
}

void sp_reported_say_chain(struct sp_reported *x, struct sp_buf *b, const struct sp_waiter_chain *from)
{
    const struct sp_wait_chain *c = &x->w.chains.v[from->chain];
    sp_buf_printf(b, "%s: ", sp_reported_kind(x, c));
    for (uint32_t k = 0; k < c->n; k++) {
        const struct sp_wait *w = sp_reported_step(x, c, k);
        struct sp_str on = sp_pstr(x->w.profile, w->on);
        if (!k)
            sp_reported_say_waiter(x, b, w->waiter, from->pool, from->threads);
        sp_buf_puts(b, " -(");
        sp_buf_add(b, on.p, on.n);
        if (w->hops > 0)
            sp_buf_printf(b, ", %lld hop%s", (long long)w->hops, w->hops == 1 ? "" : "s");
        sp_buf_puts(b, ")-> ");
        chain_say_holder(x, b, w);
        chain_say_equals(x, b, w);
    }
}

/* "0xa1 10 of 1,000 samples (1 %)", for each wait of the cycle */
static void chain_say_shares(struct sp_reported *x, struct sp_buf *b, const struct sp_wait_chain *c)
{
    struct sp_str none = {"", 0};
    for (uint32_t k = c->cycle; k < c->n && k < c->cycle + SP_REPORTED_HOLDERS; k++) {
        const struct sp_wait *w = sp_reported_step(x, c, k);
        const struct sp_wait_thread *t = &x->w.threads.v[w->waiter];
        int64_t sum = sp_waits_weight(&x->w, x->w.steps.v[c->first + k]);
        sp_buf_puts(b, k == c->cycle ? "" : ", ");
        sp_reported_say_thread(x, b, none, SP_ABSENT, t->tid);
        sp_buf_puts(b, " waits so in ");
        sp_reported_say_weight(x, b, sum);
        sp_buf_puts(b, " of ");
        sp_reported_say_weight(x, b, t->all);
        sp_buf_puts(b, " (");
        sp_text_about(b, sum, t->all);
        sp_buf_ch(b, ')');
    }
}

void sp_reported_say_steps(struct sp_buf *b, const struct sp_wait_chain *c)
{
    if (c->n - c->cycle < 2) /* one wait alone */
        return;
    if (c->at_once == SP_ABSENT && !c->at_least)
        sp_buf_puts(b, "; at once or not is not known: spindump -i FILE -timeline tells");
    else if (c->at_once == SP_ABSENT)
        sp_buf_printf(b, ", at once in %lld step%s or more: so many of their waits must overlap",
                      (long long)c->at_least, c->at_least == 1 ? "" : "s");
    else if (!c->at_once)
        sp_buf_puts(b, ", never at once");
    else
        sp_buf_printf(b, ", at once in %lld step%s", (long long)c->at_once, c->at_once == 1 ? "" : "s");
    if (c->at_once > 0 && c->from != SP_ABSENT)
        sp_buf_printf(b, c->to - c->from + 1 == c->at_once ? " (%lld-%lld)" : ", the last of them %lld-%lld",
                      (long long)c->from, (long long)c->to);
}

static bool chain_has_steps(const struct sp_waits *w, const struct sp_wait_chain *c)
{
    for (uint32_t k = c->cycle; k < c->n; k++)
        if (!w->threads.v[w->waits.v[w->steps.v[c->first + k]].waiter].nsteps)
            return false;
    return true;
}

/* Why a ring whose waits were there at once is no deadlock, as far as the report tells. */
void sp_reported_say_why_none(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c)
{
    int64_t end = SP_ABSENT, first = INT64_MAX;
    bool locks = true;
    if (c->ended) {
        sp_buf_puts(b,
                    "; no deadlock over all: the stacks of its threads changed, so waits ended in between");
        if ((c->at_once > 0 || c->at_least) && !chain_has_steps(w, c))
            sp_buf_puts(b, "; whether the last of them did, spindump -i FILE -timeline tells");
        return;
    }
    for (uint32_t k = c->cycle; k < c->n; k++) {
        const struct sp_wait *x = &w->waits.v[w->steps.v[c->first + k]];
        int64_t last = w->threads.v[x->waiter].last;
        end = last > end ? last : end;
        first = last < first ? last : first;
        locks = locks && x->lock && !x->by_process;
    }
    if (c->n - c->cycle < 2 || c->at_once <= 0 || c->from == SP_ABSENT || end == SP_ABSENT || !locks)
        return;
    sp_buf_puts(b, "; no deadlock: ");
    if (first <= c->to && first < end)
        sp_buf_printf(b, "one of its threads is gone after step %lld, and others went on", (long long)first);
    else if (c->to < end)
        sp_buf_printf(b, "the threads went on after step %lld", (long long)c->to);
    else
        sp_buf_puts(b, "so few steps at the end may be chance");
}

/* The last step of the report that a chain is of. */
static int64_t words_end(const struct sp_waits *w, const struct sp_wait_chain *c)
{
    return w->threads.v[w->waits.v[w->steps.v[c->first]].waiter].end;
}

void sp_reported_say_doubt(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c)
{
    bool hops = false, one = false;
    for (uint32_t k = c->cycle == SP_NONE ? 0 : c->cycle; k < c->n; k++) {
        const struct sp_wait *x = &w->waits.v[w->steps.v[c->first + k]];
        hops = hops || x->hops > 0;
        one = one || w->threads.v[x->waiter].all < 2;
    }
    sp_buf_puts(b, hops  ? "; threads that lie between are not named"
                   : one ? "; it was seen once: a report of more samples tells"
                         : "");
    if (c->gone != SP_ABSENT)
        sp_buf_printf(b, "; not to the end: its threads are gone after step %lld of %lld", (long long)c->gone,
                      (long long)words_end(w, c));
    if (c->lacks_rows)
        sp_buf_puts(b, "; rows of its threads are missing or damaged");
}

void sp_reported_say_to_end(const struct sp_waits *w, struct sp_buf *b, const struct sp_wait_chain *c)
{
    sp_buf_printf(b,
                  c->gone == SP_ABSENT ? "all waits are there at once from step %lld to the end"
                                       : "all waits are there at once from step %lld to %lld",
                  (long long)c->from, (long long)c->to);
    sp_buf_printf(b, ", in %lld of %lld steps", (long long)(c->to - c->from + 1), (long long)words_end(w, c));
    if (c->at_once == SP_ABSENT)
        sp_buf_puts(b, ", but for those in which not all of its threads were seen");
}

void sp_reported_say_evidence(struct sp_reported *x, struct sp_buf *b, const struct sp_wait_chain *c)
{
    if (c->deadlock == SP_DEADLOCK_NONE && c->cycle == SP_NONE)
        return;
    if (c->deadlock != SP_DEADLOCK_NONE)
        sp_buf_puts(b, c->sure ? "sure: " : "likely: ");
    switch (c->deadlock) {
    case SP_DEADLOCK_REPORTED:
        sp_buf_puts(b, "the report itself calls it a part of a deadlock");
        break;
    case SP_DEADLOCK_ALL:
        sp_buf_puts(b, c->n - c->cycle > 1 ? "each wait is in every sample of its thread; "
                                           : "the wait is in every sample of its thread; ");
        chain_say_shares(x, b, c);
        break;
    case SP_DEADLOCK_TO_END:
        sp_reported_say_to_end(&x->w, b, c);
        break;
    case SP_DEADLOCK_NONE:
        chain_say_shares(x, b, c);
        sp_reported_say_steps(b, c);
        sp_reported_say_why_none(&x->w, b, c);
        break;
    }
    if (c->deadlock != SP_DEADLOCK_NONE && !c->sure)
        sp_reported_say_doubt(&x->w, b, c);
}

const char *const sp_reported_did[SP_HELD_STATES] = {"ran",       "ready",   "waited",
                                                     "suspended", "unknown", "events"};

/* "-[Index rebuild] > -[Document text]": the last own functions, else the last of all */
static void held_say_stack(const struct sp_reported *x, struct sp_buf *b, const struct sp_held *h)
{
    const struct sp_profile *p = x->w.profile;
    uint32_t shown[HELD_SHOWN], n = 0;
    for (uint32_t i = h->own == SP_NONE ? h->n : h->own + 1; i-- > 0 && n < HELD_SHOWN;)
        if (h->own == SP_NONE || sp_is_own(&x->a.own, h->path[i]))
            shown[n++] = h->path[i];
    sp_buf_puts(b, n ? " in " : "");
    while (n-- > 0) {
        struct sp_str name = sp_pstr(p, p->functions.v[shown[n]].name);
        sp_buf_add(b, name.p, name.n);
        sp_buf_puts(b, n ? " > " : "");
    }
}

void sp_reported_say_disk(struct sp_buf *b, const struct sp_profile *p, const struct sp_held *h)
{
    const struct sp_function *f = &p->functions.v[h->disk_call];
    struct sp_str name = sp_pstr(p, f->name);
    if (name.n > 2 && memcmp(name.p, "0x", 2) == 0) /* its image told */
        name = sp_pstr(p, p->dsos.v[f->dso].name);
    sp_buf_printf(b, "it %s for the disk, as the kernel's %.*s tells",
                  h->disk_likely ? "likely waited" : "waited", (int)name.n, name.p);
}

void sp_reported_say_held(struct sp_reported *x, struct sp_buf *b, const struct sp_wait_thread *t,
                          const struct sp_held *h, bool apart)
{
    const struct sp_reported_thread *f = sp_thread_info_thread(&x->w.info, t->tid);
    struct sp_str name = sp_pstr(x->w.profile, f ? f->name : SP_STR_NONE);
    sp_buf_puts(b, "  ");
    sp_reported_say_thread(x, b, sp_reported_comm(x, t), t->pid, t->tid);
    struct sp_str instance = sp_process_instance(x->w.profile, &x->w.profile->contexts.v[t->context]);
    if (instance.n)
        sp_buf_printf(b, " (%.*s)", (int)instance.n, instance.p);
    if (name.n)
        sp_buf_printf(b, " %.*s", (int)name.n, name.p);
    else if (f && f->main)
        sp_buf_puts(b, " main");
    bool disk = h->most == SP_HELD_WAITED && h->disk * 2 > h->by[SP_HELD_WAITED];
    sp_buf_printf(b, " %s%s ", sp_reported_did[h->most],
                  !disk            ? ""
                  : h->disk_likely ? " (likely for the disk)"
                                   : " for the disk");
    sp_reported_say_weight(x, b, h->by[h->most]);
    sp_buf_puts(b, " of ");
    sp_reported_say_weight(x, b, h->weight);
    sp_buf_puts(b, apart         ? " while the one before it waited (these waits were never all at once),"
                   : h->in_steps ? " meanwhile,"
                                 : ",");
    held_say_stack(x, b, h);
}
