/*
 * The chains of waits that a hang report tells: whom each thread waits for, and that one; whether it is a
 * deadlock, what tells that; and what the holders did meanwhile.
 */
#include "ask/waits_reported.h"

#include "base/num.h"

/* ---- columns ---- */

enum {
    CHAIN_WORDS,
    CHAIN_KIND,
    CHAIN_LENGTH,
    CHAIN_CYCLE,
    CHAIN_MINOR,
    CHAIN_DEADLOCK,
    CHAIN_SURE,
    CHAIN_EVIDENCE,
    CHAIN_AT_ONCE,
    CHAIN_AT_LEAST,
    CHAIN_FROM,
    CHAIN_TO
};
static const struct sp_answer_column waits_chain_columns[] = {
    [CHAIN_WORDS] = {"words", SP_COL_TEXT, .flags = SP_COL_NO_JSON, .doc = "the chain in a line"},
    [CHAIN_KIND] = {"kind", SP_COL_TEXT,
                    .doc = "deadlock; contention: threads that wait for each other at times; cycle: it comes "
                           "back, and not all of its waits are for what a named thread holds; chain"},
    [CHAIN_LENGTH] = {"length", SP_COL_COUNT, .doc = "how many waits it has"},
    [CHAIN_CYCLE] = {"cycle_from", SP_COL_COUNT,
                     .doc = "the number of the step that its end comes back to; null: none"},
    [CHAIN_MINOR] = {"minor", SP_COL_BOOL,
                     .doc = "a ring that chains do not follow: some of its threads waited more for others"},
    [CHAIN_DEADLOCK] = {"deadlock", SP_COL_BOOL,
                        .doc = "the waits of its cycle are there at once and do not end"},
    [CHAIN_SURE] = {"sure", SP_COL_BOOL,
                    .doc = "of a deadlock: nothing is assumed; false: it is the likely one; else null"},
    [CHAIN_EVIDENCE] = {"evidence", SP_COL_TEXT, .doc = "what kind rests on, in words; null: of a chain"},
    [CHAIN_AT_ONCE] = {"at_once", SP_COL_COUNT,
                       .doc = "steps in which all waits of the cycle are there; null: not known"},
    [CHAIN_AT_LEAST] = {"at_once_at_least", SP_COL_COUNT,
                        .doc = "where that is not known: so many, as counts tell; null: none need be"},
    [CHAIN_FROM] = {"at_once_from", SP_COL_COUNT, .doc = "the first of those at the end without a break"},
    [CHAIN_TO] = {"at_once_to", SP_COL_COUNT, .doc = "the last"},
};
const struct sp_table_decl sp_waits_chains = {
    "chains", waits_chain_columns, sizeof waits_chain_columns / sizeof *waits_chain_columns,
    .doc = "from threads that nobody waits for through the heaviest wait of each holder", .noun = "chains"};

enum { STEP_WAIT = WHOS, STEP_BY_PROCESS = STEP_WAIT + WAIT_COLUMNS };
static const struct sp_answer_column waits_step_columns[] = {
    WHO_COLUMNS(0),
    WAIT_COLUMNS_AT(STEP_WAIT),
    [STEP_BY_PROCESS] = {"through_main_thread", SP_COL_BOOL,
                         .doc = "the holder is known by its process alone; it goes on with its main thread"},
};
const struct sp_table_decl sp_waits_steps = {"steps", waits_step_columns,
                                             sizeof waits_step_columns / sizeof *waits_step_columns,
                                             .of = "chains", .doc = "its waits, from where it begins"};

enum {
    HELD_WEIGHT = WHOS,
    HELD_MEANWHILE,
    HELD_WHOLE_CHAIN,
    HELD_RAN,
    HELD_READY,
    HELD_WAITED,
    HELD_SUSPENDED,
    HELD_UNKNOWN,
    HELD_STATE,
    HELD_DISK,
    HELD_STACK,
    HELD_OWN,
    HELD_STACK_WEIGHT
};
static const struct sp_answer_column waits_held_columns[] = {
    WHO_COLUMNS(0),
    [HELD_WEIGHT] = {"weight", SP_COL_WEIGHT, .doc = "of it that was looked at"},
    [HELD_MEANWHILE] = {"meanwhile", SP_COL_BOOL,
                        .doc = "only the steps in which it was waited for; false: all of its samples"},
    [HELD_WHOLE_CHAIN] =
        {"whole_chain", SP_COL_BOOL,
         .doc = "these are the steps in which all waits of the chain were seen; false: they never were "
                "at once, and those of the last wait are shown; null: not meanwhile"},
    [HELD_RAN] = {"ran", SP_COL_WEIGHT, .doc = "on a CPU"},
    [HELD_READY] = {"ready", SP_COL_WEIGHT, .doc = "waiting for a CPU"},
    [HELD_WAITED] = {"waited", SP_COL_WEIGHT, .doc = "for anything else"},
    [HELD_SUSPENDED] = {"suspended", SP_COL_WEIGHT, .doc = "stopped by somebody"},
    [HELD_UNKNOWN] = {"unknown", SP_COL_WEIGHT, .doc = "it ran or waited, which is not stated"},
    [HELD_STATE] = {"did", SP_COL_TEXT, .doc = "ran, ready, waited, suspended, unknown: most of that"},
    [HELD_DISK] = {"disk", SP_COL_WEIGHT, .doc = "of waited: for the disk, by functions of the kernel"},
    [HELD_STACK] = {"stack", SP_COL_TEXTS,
                    .doc = "its heaviest stack while it did that: functions, root first"},
    [HELD_OWN] = {"own", SP_COL_TEXTS, .doc = "the program's own functions of it"},
    [HELD_STACK_WEIGHT] = {"stack_weight", SP_COL_WEIGHT,
                           .doc =
                               "of stacks that begin so, to the last own function; without one, to the leaf"},
};
const struct sp_table_decl sp_waits_held = {
    "holders", waits_held_columns, sizeof waits_held_columns / sizeof *waits_held_columns, .of = "chains",
    .doc = "what those did that it ends at: the last holder, of a cycle all of them; those that the profile "
           "has"};

/* ---- cells ---- */

static void held_put_stack(struct sp_reported *x, struct sp_answer_table *t, const struct sp_held *h)
{
    const struct sp_profile *p = x->w.profile;
    struct sp_value_text all[SP_HELD_FRAMES], own[SP_HELD_FRAMES];
    size_t n = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[h->path[i]].name);
        all[i] = (struct sp_value_text){name.p, name.n};
        if (h->own != SP_NONE && sp_is_own(&x->a.own, h->path[i]))
            own[n++] = all[i];
    }
    sp_put_texts(x->a.out, t, HELD_STACK, all, h->n);
    sp_put_texts(x->a.out, t, HELD_OWN, own, n);
    if (h->n)
        sp_put_int(t, HELD_STACK_WEIGHT, h->at[h->own == SP_NONE ? h->n - 1 : h->own]);
}

static void held_put(struct sp_reported *x, struct sp_answer_table *t, uint32_t thread,
                     const struct sp_held *h, bool apart)
{
    sp_table_row(x->a.out, t);
    sp_reported_put_waiter(x, t, thread, SP_NONE, 1);
    sp_put_int(t, HELD_WEIGHT, h->weight);
    sp_put_int(t, HELD_MEANWHILE, h->in_steps);
    sp_put_int(t, HELD_WHOLE_CHAIN, h->in_steps ? !apart : SP_ABSENT);
    for (unsigned i = 0; i < SP_HELD_STATES; i++)
        sp_put_int(t, HELD_RAN + i, h->by[i]);
    sp_put_text(x->a.out, t, HELD_STATE, sp_reported_did[h->most], strlen(sp_reported_did[h->most]));
    sp_put_int(t, HELD_DISK, h->disk);
    held_put_stack(x, t, h);
}

static void chain_put_steps(struct sp_reported *x, struct sp_answer_table *t,
                            const struct sp_waiter_chain *from)
{
    const struct sp_wait_chain *c = &x->w.chains.v[from->chain];
    for (uint32_t k = 0; k < c->n; k++) {
        const struct sp_wait *w = sp_reported_step(x, c, k);
        sp_table_row(x->a.out, t);
        sp_reported_put_waiter(x, t, w->waiter, from->pool, k ? 1 : from->threads);
        sp_reported_put_wait(x, t, STEP_WAIT, w, k ? w->weight : from->weight);
        sp_put_int(t, STEP_BY_PROCESS, w->by_process && w->holder != SP_NONE);
    }
}

/*
 * What a holder did while it was waited for: of a chain, by all threads up to it (*apart: these never did at
 * once; then by the last); of a ring, by the one before it. A thread that waits for itself waited.
 */
static bool chain_held(struct sp_reported *x, const struct sp_wait_chain *c, uint32_t k, uint32_t holder,
                       struct sp_held *h, bool *apart)
{
    uint32_t wait = x->w.steps.v[c->first + k], waiter = x->w.waits.v[wait].waiter,
             context = x->w.threads.v[holder].context;
    struct sp_wait_steps steps;
    *apart = false;
    if (holder == waiter && !x->w.ranges.v.n)
        return sp_held_waiting(&x->held, &x->a.own, &x->w, wait, false, h);
    if (c->cycle != SP_NONE || !k)
        return sp_held_of(&x->held, &x->a.own, &x->w, context, waiter, h);
    if (!sp_waits_chain_steps(&x->w, c, k + 1, &steps, apart))
        return false;
    bool ok = *apart ? sp_held_of(&x->held, &x->a.own, &x->w, context, waiter, h)
                     : sp_held_in_steps(&x->held, &x->a.own, &x->w, context, &steps, h);
    sp_vec_free(&steps.v);
    return ok;
}

/* The holder of a chain's wait; to people a row below the chain. */
static void chain_put_holder(struct sp_reported *x, struct sp_answer_table *t, struct sp_answer_table *held,
                             uint32_t holder, const struct sp_wait_chain *c, uint32_t k)
{
    struct sp_held h;
    bool apart;
    const struct sp_wait_thread *thread = &x->w.threads.v[holder];
    if (!chain_held(x, c, k, holder, &h, &apart)) {
        x->a.out->failed = true;
        return;
    }
    if (!h.weight)
        return;
    held_put(x, held, holder, &h, apart);
    if (!x->a.q->brief)
        return;
    sp_table_row(x->a.out, t);
    sp_reported_say_held(x, &x->a.b, thread, &h, apart);
    sp_put_buf(x->a.out, t, CHAIN_WORDS, &x->a.b);
}

/* Of the last holder that is known, of a ring all; where a wait is for one of several processes, all of
 * these. */
static void chain_put_holders(struct sp_reported *x, struct sp_answer_table *t, struct sp_answer_table *held,
                              const struct sp_wait_chain *c)
{
    for (uint32_t k = c->cycle == SP_NONE ? c->n - 1 : c->cycle; k < c->n; k++) {
        const struct sp_wait *w = sp_reported_step(x, c, k);
        if (x->a.q->brief && k >= c->cycle + SP_REPORTED_HOLDERS && c->cycle != SP_NONE)
            continue;
        for (uint32_t i = 0, holder; w->among > 1 && i < SP_REPORTED_HOLDERS; i++)
            if ((holder = sp_waits_candidate(&x->w, w, i)) != SP_NONE)
                chain_put_holder(x, t, held, holder, c, k);
        if (w->holder != SP_NONE)
            chain_put_holder(x, t, held, w->holder, c, k);
        else if (w->among < 2 && k)
            chain_put_holder(x, t, held, w->waiter, c, k - 1);
    }
}

static void chain_put(struct sp_reported *x, struct sp_answer_table *t, struct sp_answer_table *steps,
                      struct sp_answer_table *held, const struct sp_waiter_chain *from)
{
    const struct sp_wait_chain *c = &x->w.chains.v[from->chain];
    struct sp_answer *a = x->a.out;
    const char *kind = sp_reported_kind(x, c);
    sp_table_row(a, t);
    sp_reported_say_chain(x, &x->a.b, from);
    sp_put_buf(a, t, CHAIN_WORDS, &x->a.b);
    sp_put_text(a, t, CHAIN_KIND, kind, strlen(kind));
    sp_put_int(t, CHAIN_LENGTH, c->n);
    sp_put_int(t, CHAIN_CYCLE, c->cycle == SP_NONE ? SP_ABSENT : (int64_t)c->cycle);
    sp_put_int(t, CHAIN_MINOR, c->beside);
    sp_put_int(t, CHAIN_DEADLOCK, c->deadlock != SP_DEADLOCK_NONE);
    sp_put_int(t, CHAIN_SURE, c->deadlock == SP_DEADLOCK_NONE ? SP_ABSENT : c->sure);
    sp_put_int(t, CHAIN_AT_ONCE, c->at_once);
    sp_put_int(t, CHAIN_AT_LEAST, c->at_once == SP_ABSENT && c->at_least ? c->at_least : SP_ABSENT);
    sp_put_int(t, CHAIN_FROM, c->from);
    sp_put_int(t, CHAIN_TO, c->to);
    sp_buf_puts(&x->a.b, x->a.q->brief ? "  " : "");
    size_t before = x->a.b.len;
    sp_reported_say_evidence(x, &x->a.b, c);
    bool said = x->a.b.len > before;
    if (said && x->a.q->brief)
        sp_table_row(a, t);
    if (said)
        sp_put_buf(a, t, x->a.q->brief ? CHAIN_WORDS : CHAIN_EVIDENCE, &x->a.b);
    a->failed |= x->a.b.failed;
    sp_buf_clear(&x->a.b);
    chain_put_steps(x, steps, from);
    chain_put_holders(x, t, held, c);
}

/* To people, a chain of one wait says no more than its row, but for what its holder did. */
void sp_reported_put_chains(struct sp_reported *x)
{
    struct sp_answer *a = x->a.out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_waits_chains),
                           *steps = sp_answer_detail(a, &sp_waits_steps, t),
                           *held = sp_answer_detail(a, &sp_waits_held, t);
    size_t shown = 0;
    if (!t || !steps || !held)
        return;
    if (x->a.q->brief)
        sp_table_title(a, t, CHAIN_WORDS, "chains");
    for (size_t i = 0; i < x->ws.chains.n; i++) {
        const struct sp_waiter_chain *from = &x->ws.chains.v[i];
        const struct sp_wait_chain *c = &x->w.chains.v[from->chain];
        const struct sp_wait *first = sp_reported_step(x, c, 0);
        bool plain = c->n < 2 && c->cycle == SP_NONE && first->holder == SP_NONE && first->among < 2;
        if (x->a.q->brief && plain)
            continue;
        if (x->a.q->brief && shown >= x->chains) {
            t->left_out++;
            continue;
        }
        chain_put(x, t, steps, held, from);
        shown++;
    }
    t->limit = x->a.q->brief ? SIZE_MAX : x->limit;
}

/* Some thread of the ring, by which rings are told apart: the lowest. */
static uint32_t chain_ring(const struct sp_reported *x, const struct sp_wait_chain *c)
{
    uint32_t lowest = SP_NONE;
    for (uint32_t k = c->cycle == SP_NONE ? c->n - 1 : c->cycle; k < c->n; k++) {
        uint32_t t = sp_reported_step(x, c, k)->waiter;
        lowest = t < lowest ? t : lowest;
    }
    return lowest;
}

int64_t sp_reported_deadlocks(const struct sp_reported *x)
{
    int64_t n = 0;
    for (size_t i = 0; i < x->ws.chains.n; i++) {
        const struct sp_wait_chain *c = &x->w.chains.v[x->ws.chains.v[i].chain];
        bool fresh = c->deadlock != SP_DEADLOCK_NONE;
        for (size_t k = 0; fresh && k < i; k++) {
            const struct sp_wait_chain *other = &x->w.chains.v[x->ws.chains.v[k].chain];
            fresh = other->deadlock == SP_DEADLOCK_NONE || chain_ring(x, other) != chain_ring(x, c);
        }
        n += fresh;
    }
    return n;
}
