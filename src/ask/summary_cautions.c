/* What changes what may be concluded from a profile, with its figures; and what cannot be known from it. */
#include "ask/summary_cautions.h"

#include "analysis/cpu_time.h"
#include "base/num.h"

/* ---- whose weight it is ---- */

/* "--pid 7 (app)", as threads may have other names than their process; of several processes "--comm nm". */
static void caution_filter(struct sp_buf *b, const struct sp_recorded *r, const char *between)
{
    if (r->n > 1 && !memchr(r->name.p, ' ', r->name.n))
        sp_buf_printf(b, "%s--comm %.*s", between, (int)r->name.n, r->name.p);
    else if (r->n == 1 && r->pid != SP_ABSENT)
        sp_buf_printf(b, "%s--pid %lld (%.*s)", between, (long long)r->pid, (int)r->name.n, r->name.p);
}

/*
 * Whether the heaviest is something else than what was to be measured, which has weight, too; only where all
 * that weighs has a name. A command without any only started others; so do shells and builds, which are no
 * program to measure (summary_command.c). With -a all others are recorded, whatever the command has.
 */
static void caution_process(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_recorded *r = x->recorded.v, *started = NULL;
    int64_t of_program = 0;
    if (!x->recorded.n || !x->program.n || x->x.s.cannot_add || x->x.s.filters.len ||
        !sp_caution_of_perf(x) || sp_str_is(x->program, "sleep") || !r->name.n ||
        (double)r->weight < 0.5 * (double)x->x.s.whole)
        return;
    for (size_t i = 0; i < x->recorded.n; i++) {
        started = !started && r[i].is_command ? &r[i] : started;
        of_program += r[i].is_command || !r[i].name.n ? r[i].weight : 0;
    }
    if (r->is_command || (!started && !x->all_cpus) || (double)of_program >= 0.5 * (double)x->x.s.whole)
        return;
    sp_caution_share(b, x, r->weight);
    sp_buf_printf(b, " is %.*s, not the command %.*s, which has ", (int)r->name.n, r->name.p,
                  (int)x->program.n, x->program.p);
    sp_text_about(b, started ? started->weight : 0, x->x.s.whole);
    size_t before = b->len;
    caution_filter(b, r, ": ");
    if (started)
        caution_filter(b, started, b->len > before ? ", " : ": ");
    sp_caution_add(x, "other_process", "OTHER PROCESS", b, NULL);
}

static void caution_idle(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *f = sp_caution_finding(x, SP_FIND_IDLE);
    if (!f)
        return;
    sp_caution_share(b, x, f->weight);
    sp_buf_puts(b, " is idle: shares are of that, too.");
    sp_caution_add(x, "idle", "IDLE", b, NULL);
}

/* Of what the artefact took, not of all. */
static void caution_interrupts(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *f = sp_caution_finding(x, SP_FIND_IRQ);
    struct sp_buf settle;
    if (!f)
        return;
    sp_buf_init(&settle, 0);
    sp_caution_share(b, x, f->weight);
    sp_buf_puts(b, " is charged to where interrupts are allowed again (");
    sp_summary_name(b, x, f->function);
    sp_buf_puts(b, "); whoever had them off owns it: called by");
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_buf_puts(b, i ? ", " : " ");
        sp_summary_name(b, x, f->callers[i].function);
        sp_buf_ch(b, ' ');
        sp_text_about(b, f->callers[i].weight, f->weight);
    }
    sp_buf_puts(b, " of it");
    sp_caution_add(x, "interrupts_off", "INTERRUPTS OFF", b, NULL);
    sp_buf_puts(b, "where the ");
    sp_caution_share(b, x, f->weight);
    sp_buf_puts(b, " went that is charged to ");
    sp_summary_name(b, x, f->function);
    sp_buf_puts(b, ", where interrupts are allowed again");
    sp_buf_puts(&settle, "perf record -e cycles … (in a virtual machine: with a virtual PMU)");
    sp_caution_add(x, "interrupts", NULL, b, &settle);
    sp_buf_free(&settle);
}

/* What stands in a recording of CPU time of waiting is what it costs CPUs, not how long it takes. */
static void caution_waits(struct sp_summary *x, struct sp_buf *b)
{
    struct sp_buf settle;
    if (!x->cpu || !sp_caution_finding(x, SP_FIND_LOCK) || (x->x.s.view && strcmp(x->x.s.view, "cpu") != 0))
        return;
    sp_buf_init(&settle, 0);
    sp_buf_puts(b, "how long threads waited for locks (this is CPU time)");
    sp_buf_puts(&settle, "perf record -a -g --switch-events -e sched:sched_switch,sched:sched_waking …");
    sp_caution_add(x, "waits", NULL, b, &settle);
    sp_buf_free(&settle);
}

/* Of what was started: less CPU than half of the time, which one thread would have had alone. */
static bool caution_mostly_off(const struct sp_summary *x, int64_t *cpu, double *seconds)
{
    const struct sp_selection *s = &x->x.s;
    struct sp_str t = sp_pstr(s->profile, s->profile->header.duration);
    int64_t m = 0;
    unsigned scale = 0;
    if (!sp_is_cpu_time(s) || s->scale || s->filters.len || x->waits.known || !x->program.n || !t.n ||
        !sp_parse_scaled(t.p, t.n, &m, &scale) || m <= 0)
        return false;
    *seconds = (double)m;
    for (; scale; scale--)
        *seconds /= 10;
    *cpu = 0;
    for (size_t i = 0; i < x->recorded.n; i++)
        *cpu += x->recorded.v[i].is_command ? x->recorded.v[i].weight : 0;
    return *cpu > 0 && (double)*cpu < 0.5e9 * *seconds;
}

/* What would tell why it was not on a CPU. */
static void caution_off_cpu(struct sp_summary *x, struct sp_buf *b)
{
    struct sp_buf settle;
    int64_t cpu;
    double seconds;
    if (!caution_mostly_off(x, &cpu, &seconds))
        return;
    sp_buf_init(&settle, 0);
    sp_buf_printf(b, "why %.*s waited: it had ", (int)x->program.n, x->program.p);
    sp_text_weight(b, x->x.s.unit, x->x.s.scale, cpu);
    sp_buf_printf(b, " of CPU in %.3g s", seconds);
    sp_buf_puts(&settle, "perf record -a -g --switch-events -e sched:sched_switch,sched:sched_waking …");
    sp_caution_add(x, "off_cpu", NULL, b, &settle);
    sp_buf_free(&settle);
}

static void caution_missing(struct sp_summary *x, struct sp_buf *b)
{
    size_t i = 0;
    for (const struct sp_diag *g; (g = sp_summary_missing(x, &i));) {
        sp_buf_puts(b, g->message);
        if (g->line)
            sp_buf_printf(b, ", line %llu", (unsigned long long)g->line);
        if (*g->hint)
            sp_buf_printf(b, "; %s", g->hint);
        sp_caution_add(x, "incomplete", "INCOMPLETE", b, NULL);
    }
}

spaa_status sp_summary_cautions(struct sp_summary *x)
{
    struct sp_buf b;
    bool rows = !x->hang.known || sp_summary_shows_own(x);
    sp_buf_init(&b, 0);
    caution_missing(x, &b);
    if (!sp_is_off_cpu(&x->x.s)) /* others wait, too: that is nobody's fault */
        caution_process(x, &b);
    sp_caution_callers(x);
    sp_caution_unchecked(x, &b);
    sp_caution_no_callers(x);
    if (rows)
        sp_caution_names(x, &b);
    sp_caution_losses(x, &b);
    if (rows)
        sp_caution_few(x, &b);
    caution_interrupts(x, &b);
    caution_idle(x, &b);
    if (x->hang.known) {
        sp_summary_hang_unknowns(x);
    } else { /* what perf would record */
        caution_waits(x, &b);
        caution_off_cpu(x, &b);
    }
    sp_summary_memory_cautions(x);
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
    return x->x.out->failed ? sp_nomem(x->x.q->diags) : SPAA_OK;
}
