/* The hold of an episode in words: what the holder did meanwhile, whom it waited for, and what follows. */
#include "ask/waits_stalls_parts.h"

/*
 * In the unit of another length, without it: parts of a sum, which add up to it as they are printed, with as
 * many decimals as it has.
 */
static void say_part(struct sp_buf *b, int64_t ns, int64_t of)
{
    int64_t unit = of >= 1000000000 ? 1000000000 : of >= 1000000 ? 1000000 : of >= 1000 ? 1000 : 1;
    int64_t whole = of / unit;
    int digits = unit == 1 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
    if (unit > 1 && whole >= 100)
        digits = 1; /* of a small part there is more to say than of the whole */
    sp_buf_printf(b, "%.*f", ns % unit ? digits : 0, (double)ns / (double)unit);
}

struct taker {
    uint32_t comm;
    bool idle;
    int64_t ns;
};

static int by_ns(const void *va, const void *vb)
{
    const struct taker *a = va, *b = vb;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->comm > b->comm) - (a->comm < b->comm);
}

/* Who had the CPU of the holder, threads of one name as one: "python3 96 ms, clang 33 ms". */
static void say_takers(const struct stalls *x, struct sp_buf *b, const struct sp_stall *s)
{
    struct taker v[64];
    size_t n = 0;
    for (uint32_t k = 0; k < s->takers.n; k++) {
        const struct sp_stall_taker *t = &x->s.takers.v[s->takers.first + k];
        const struct sp_interval_thread *thread = &x->v->threads.v[t->thread];
        size_t m = 0;
        while (m < n && (v[m].comm != thread->comm || v[m].idle != !thread->tid))
            m++;
        if (m == n && n < sizeof v / sizeof *v)
            v[n++] = (struct taker){thread->comm, !thread->tid, 0};
        if (m < n)
            v[m].ns += t->its_cpu;
    }
    qsort(v, n, sizeof *v, by_ns);
    for (size_t m = 0; m < n && m < NAMES_SHOWN && v[m].ns && (!m || v[m].ns >= 1000000); m++) {
        struct sp_str comm = v[m].idle ? (struct sp_str){"nobody", 6} : sp_pstr(x->a->s.profile, v[m].comm);
        sp_buf_puts(b, m ? ", " : "; its CPU went to ");
        sp_buf_add(b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
        sp_buf_ch(b, ' ');
        stalls_say_ns(b, v[m].ns);
    }
}

/* What else it was blocked by for a fifth of the hold or more: ", sleep 350 ms". */
static void say_other_waits(struct stalls *x, const struct sp_stall_split *p)
{
    struct sp_buf *b = &x->a->b;
    uint8_t most = stalls_blocked_by(p);
    for (unsigned i = 0; i < SP_WAIT_REASONS; i++) {
        if (i == most || p->reason[i] * 5 < p->to - p->from)
            continue;
        sp_buf_printf(b, ", %s ", sp_wait_reason_names[i]);
        stalls_say_ns(b, p->reason[i]);
    }
}

/* Locks have no names: one that it waited for itself may be the one that it let go of afterwards. */
static bool may_be_same_lock(const struct sp_stall *s)
{
    const struct sp_stall_split *p = &s->split;
    return sp_wait_is_lock(s->reason) && p->blocked * 5 >= p->to - p->from &&
           sp_wait_is_lock(stalls_blocked_by(p));
}

static void say_split(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s)
{
    struct sp_buf *b = &x->a->b;
    const struct sp_stall_split *p = &s->split;
    int64_t held = p->to - p->from;
    sp_buf_clear(b);
    sp_buf_puts(b, set->members.n > 1 ? "  the longest: " : "  ");
    /* Without wakings the lock may have gone through several hands before. */
    bool one_hold = sp_wait_is_lock(s->reason) && s->by != SP_STALL_BY_INFERRED;
    if (s->holder_waited) { /* it was in nobody's way meanwhile */
        sp_buf_puts(b, "it waited there itself for ");
        stalls_say_ns(b, s->holder_waited);
        sp_buf_puts(b, ", so did not have it; after that ");
    } else {
        sp_buf_puts(b, one_hold ? x->v->losses ? "held " : "held ≥ " : "until then ");
    }
    stalls_say_ns(b, held);
    if (one_hold && x->v->losses) /* one of them may have been the end of a hold */
        sp_buf_puts(b, ", unless a waking was among the events that were lost,");
    sp_buf_puts(b, " = running ");
    say_part(b, p->running, held);
    sp_buf_puts(b, " + waiting for a CPU ");
    say_part(b, p->runnable, held);
    sp_buf_puts(b, " + blocked ");
    say_part(b, p->blocked, held);
    if (p->unknown > held / 100) {
        sp_buf_puts(b, " + not recorded ");
        say_part(b, p->unknown, held);
    }
    if (p->runnable * 10 > held)
        say_takers(x, b, s);
    if (p->blocked * 10 > held && p->longest != SP_NONE) {
        const struct sp_interval *i = &x->v->v.v[p->longest];
        const struct sp_wait_why *why = i->stack < x->why->n ? &x->why->of[i->stack] : NULL;
        sp_buf_printf(b, "; blocked by %s", sp_wait_reason_names[stalls_blocked_by(p)]);
        if (why && why->function != SP_NONE) {
            sp_buf_puts(b, " in ");
            stalls_say_function(x, b, why->function);
        }
        if (p->reason[stalls_blocked_by(p)] < p->blocked) {
            sp_buf_ch(b, ' ');
            stalls_say_ns(b, p->reason[stalls_blocked_by(p)]);
            say_other_waits(x, p);
        }
        if (may_be_same_lock(s))
            sp_buf_puts(b, " (if that is the same lock, it did not have it meanwhile)");
    }
    sp_answer_line_of(x->a->out, SP_LINE_ITEM, b);
}

/* "  which waited for b (tid 2) 120 ms: disk in load > …" */
static void say_links(struct stalls *x, const struct sp_stall *s)
{
    struct sp_buf *b = &x->a->b;
    if (s->links.n < 2)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, "  chain: ");
    for (uint32_t k = 0; k < s->links.n; k++) {
        const struct sp_stall_link *l = &x->s.links.v[s->links.first + k];
        sp_buf_puts(b, k ? " ended by " : "");
        stalls_say_thread(x, b, l->thread);
        if (l->interval == SP_NONE) {
            const struct sp_stall_split *p = &l->split;
            sp_buf_puts(b, p->running >= p->runnable ? ", running " : ", waiting for a CPU ");
            stalls_say_ns(b, p->running >= p->runnable ? p->running : p->runnable);
            continue;
        }
        uint32_t stack = x->v->v.v[l->interval].stack;
        uint8_t reason = stack < x->why->n ? x->why->of[stack].reason : SP_WAIT_OTHER;
        sp_buf_printf(b, ", blocked (%s) ", sp_wait_reason_names[reason]);
        stalls_say_ns(b, l->split.reason[reason]);
    }
    sp_answer_line_of(x->a->out, SP_LINE_ITEM, b);
}

/* CPUs stood idle while the holder waited for one: of the time of its waiting. */
static bool others_idle(const struct stalls *x, const struct sp_stall *s)
{
    for (uint32_t k = 0; k < s->takers.n; k++) {
        const struct sp_stall_taker *t = &x->s.takers.v[s->takers.first + k];
        if (!x->v->threads.v[t->thread].tid)
            return (t->all_cpus - t->its_cpu) * 2 > s->split.runnable;
    }
    return false;
}

/* Of one hold that was all of it, and that no lost event can have cut; or of the same again and again. */
static bool split_supports(const struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s)
{
    return sp_wait_is_lock(s->reason) && !s->convoy && (!x->v->losses || set->members.n > 2);
}

/* It had it for a part of an episode at most: who had it before is not known. */
static bool holder_waited(const struct stalls *x, const struct sp_stall_set *set)
{
    bool waited = false;
    for (uint32_t k = 0; k < set->members.n; k++)
        waited |= stalls_member(x, set, k)->holder_waited > 0;
    return waited;
}

static void say_so(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s)
{
    struct sp_buf *b = &x->a->b;
    const struct sp_stall_split *p = &s->split;
    int64_t held = p->to - p->from;
    unsigned n = 0;
    if (!split_supports(x, set, s) || holder_waited(x, set))
        return;
    sp_buf_clear(b);
    bool inferred = s->by == SP_STALL_BY_INFERRED, other = may_be_same_lock(s);
    sp_buf_puts(b, inferred && other ? "If it held it, and waited for another one: "
                   : inferred        ? "If it held it: " /* another process may share the lock */
                   : other           ? "If it is another lock: "
                                     : "So: ");
    if (p->running * 5 >= held)
        sp_buf_puts(b, n++ ? ", " : "less work under the lock");
    if (p->runnable * 5 >= held) {
        sp_buf_puts(b, n++ ? ", " : "");
        sp_buf_puts(b, others_idle(x, s) ? "its CPU was taken while others were idle: is it pinned to one?"
                                         : "room on the machine, or a higher priority for the holder");
    }
    if (p->blocked * 5 >= held) {
        sp_buf_printf(b, "%sno waiting (%s", n++ ? ", " : "", sp_wait_reason_names[stalls_blocked_by(p)]);
        for (unsigned i = 0; i < SP_WAIT_REASONS; i++)
            if (i != stalls_blocked_by(p) && p->reason[i] * 5 >= held)
                sp_buf_printf(b, ", %s", sp_wait_reason_names[i]);
        sp_buf_puts(b, ") under the lock");
    }
    sp_buf_puts(b, n > 1 ? "; each counts" : "");
    if (n)
        sp_answer_line_buf(x->a->out, b);
}

void stalls_say_hold(struct stalls *x, const struct sp_stall_set *set, const struct sp_stall *s)
{
    say_split(x, set, s);
    say_links(x, s);
    say_so(x, set, s);
}
