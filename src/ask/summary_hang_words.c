/* The brief of a hang report in words: what happened, what the main thread did, what cannot be known. */
#include "ask/summary.h"

#include "answer/text.h"
#include "ask/summary_cautions.h"

#include <stdio.h>

enum { HANG_SHOWN = 3, HANG_NAME_COLUMNS = 60 };

static const char *const hang_did[SP_HELD_STATES] = {"ran", "was ready without a CPU", "waited",
                                                     "was suspended"};

static struct sp_str hang_str(const struct sp_summary *x, uint32_t s)
{
    return sp_pstr(x->x.q->profiles[0], s);
}

static void hang_count(struct sp_buf *b, const struct sp_summary *x, int64_t v)
{
    sp_text_grouped(b, v, x->hang.s.scale);
}

/* "in 170 of 200 samples (85 %)" */
static void hang_share(struct sp_buf *b, const struct sp_summary *x, int64_t v, int64_t of)
{
    sp_buf_puts(b, "in ");
    hang_count(b, x, v);
    sp_buf_puts(b, " of ");
    hang_count(b, x, of);
    sp_buf_puts(b, of == 1 ? " sample (" : " samples (");
    sp_text_about(b, v, of);
    sp_buf_ch(b, ')');
}

static void hang_thread(struct sp_buf *b, const struct sp_summary *x, int64_t tid)
{
    bool hex = sp_str_is(hang_str(x, x->x.q->profiles[0]->header.source_tool), "spindump");
    sp_buf_printf(b, hex ? "0x%llx" : "%lld", (long long)tid);
}

/* The last own functions of a stack, callers first; without any, the last of all. */
static void hang_stack(struct sp_buf *b, const struct sp_summary *x, const struct sp_held *h)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    uint32_t shown[HANG_SHOWN], n = 0;
    for (uint32_t i = h->own == SP_NONE ? h->n : h->own + 1; i-- > 0 && n < HANG_SHOWN;)
        if (h->own == SP_NONE || sp_is_own(&x->hang.own, h->path[i]))
            shown[n++] = h->path[i];
    while (n-- > 0) {
        struct sp_str name = sp_pstr(p, p->functions.v[shown[n]].name);
        sp_text_fit(b, name.p, name.n, HANG_NAME_COLUMNS);
        sp_buf_puts(b, n ? " > " : "");
    }
}

/* ---- what happened ---- */

void sp_summary_hang_head(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_hang_event *e = &h->e;
    size_t processes = x->x.q->profiles[0]->processes.n;
    sp_buf_puts(b, e->event ? e->event : h->states ? "report" : "sampled");
    sp_buf_puts(b, e->event || h->states ? " of " : " ");
    if (h->process.n)
        sp_buf_add(b, h->process.p, h->process.n);
    else
        sp_buf_printf(b, "%zu processes", processes); /* one alone is meant */
    if (h->pid != SP_ABSENT)
        sp_buf_printf(b, " [%lld]", (long long)h->pid);
    if (e->measured)
        sp_buf_printf(b, ": %s, limit %s", e->measured, e->allowed ? e->allowed : "?");
    if (e->times > 1)
        sp_buf_printf(b, " (%.1f times that)", e->times);
    const char *between = e->measured ? "; " : ": ";
    if (e->unresponsive) {
        sp_buf_printf(b, "%sunresponsive for %s before sampling", between, e->unresponsive);
        between = ", ";
    }
    const char *took = e->sampled ? e->sampled : e->duration;
    if (took) {
        sp_buf_printf(b, "%ssampled for %s", between, took);
        between = ", ";
    }
    if (e->steps)
        sp_buf_printf(b, "%ssteps: %s", between, e->steps);
}

/* "footprint 512.30 MiB -> 610.00 MiB (+97.70 MiB); action taken: Process killed" */
static void hang_facts(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->footprint != SP_ABSENT) {
        sp_buf_puts(b, "footprint ");
        if (h->footprint_before != SP_ABSENT) {
            sp_text_bytes(b, h->footprint_before, 0);
            sp_buf_puts(b, " -> ");
        }
        sp_text_bytes(b, h->footprint, 0);
        if (h->footprint_before != SP_ABSENT) {
            sp_buf_puts(b, h->footprint >= h->footprint_before ? " (+" : " (");
            sp_text_bytes(b, h->footprint - h->footprint_before, 0);
            sp_buf_ch(b, ')');
        }
    }
    if (h->e.action)
        sp_buf_printf(b, "%saction taken: %s", b->len ? "; " : "", h->e.action);
}

/* ---- what its main thread did ---- */

static void hang_verdict(struct sp_buf *b, const struct sp_summary *x)
{
    static const char *const words[] = {[SP_HANG_UNKNOWN] = "was seen",
                                        [SP_HANG_RAN] = "ran",
                                        [SP_HANG_STARVED] = "was starved: ready to run, without a CPU,",
                                        [SP_HANG_WAITED] = "waited",
                                        [SP_HANG_SUSPENDED] = "was suspended",
                                        [SP_HANG_IDLE] = "waited for events in its run loop"};
    const struct sp_summary_hang *h = &x->hang;
    sp_buf_puts(b, "main thread ");
    hang_thread(b, x, h->tid);
    sp_buf_printf(b, " %s ", words[h->verdict]);
    hang_share(b, x, h->verdict == SP_HANG_UNKNOWN ? h->main.weight : h->weight, h->main.weight);
    if (h->deadlock)
        sp_buf_printf(b, ", %s %s", h->in_ring ? "in" : "held up by",
                      h->deadlock->sure ? "a deadlock" : "what is likely a deadlock");
}

static void hang_in(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_held *m = &x->hang.main;
    if (!m->n)
        return;
    sp_buf_puts(b, x->hang.verdict == SP_HANG_RAN ? "it ran in " : "heaviest stack: ");
    hang_stack(b, x, m);
    sp_buf_puts(b, ", ");
    hang_share(b, x, m->at[m->own == SP_NONE ? m->n - 1 : m->own], m->weight);
}

static void hang_rest(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_held *m = &x->hang.main;
    for (unsigned i = 0; x->hang.states && i < SP_HELD_STATES; i++) {
        if (i == m->most || !m->by[i])
            continue;
        sp_buf_puts(b, b->len ? ", it " : "otherwise it ");
        sp_buf_puts(b, hang_did[i]);
        sp_buf_ch(b, ' ');
        hang_share(b, x, m->by[i], m->weight);
    }
}

/* "Editor [412] 0x1a02" */
static void hang_holder(struct sp_buf *b, const struct sp_summary *x, const struct sp_wait *w)
{
    struct sp_str name = hang_str(x, w->holder_name);
    if (w->self) {
        sp_buf_puts(b, "itself");
        return;
    }
    sp_buf_add(b, name.p, name.n);
    if (w->holder_pid != SP_ABSENT)
        sp_buf_printf(b, "%s[%lld]", name.n ? " " : "", (long long)w->holder_pid);
    if (w->holder_tid != SP_ABSENT) {
        sp_buf_ch(b, ' ');
        hang_thread(b, x, w->holder_tid);
    }
    if (w->hops > 0)
        sp_buf_printf(b, " (after %lld hop%s)", (long long)w->hops, w->hops == 1 ? "" : "s");
}

static bool hang_has_holder(const struct sp_wait *w)
{
    return w->self || w->holder_pid != SP_ABSENT || w->holder_tid != SP_ABSENT;
}

/* For a process to end, whatever its threads do. */
static bool hang_is_child(const struct sp_summary *x, const struct sp_wait *w)
{
    struct sp_str on = hang_str(x, w->on);
    return on.n >= 5 && memcmp(on.p, "wait4", 5) == 0;
}

/* "it waited for turnstile, held by accountd [88] (after 2 hops), in 95 of 100 samples (95 %)" */
static void hang_for(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->wait == SP_NONE)
        return;
    const struct sp_wait *w = &h->w.waits.v[h->wait], *last = &h->w.waits.v[h->last];
    struct sp_str on = hang_str(x, w->on);
    int64_t sum = 0;
    const struct sp_wait_thread *t = &h->w.threads.v[w->waiter];
    for (uint32_t i = t->first; i < t->first + t->n; i++)
        if (w->holder == SP_NONE ? i == h->wait : h->w.waits.v[i].holder == w->holder)
            sum += h->w.waits.v[i].all;
    sp_buf_puts(b, "it waited for ");
    sp_buf_add(b, on.p, on.n);
    if (hang_has_holder(w)) {
        sp_buf_puts(b, hang_is_child(x, w) ? ", the end of " : ", held by ");
        hang_holder(b, x, w);
    }
    sp_buf_puts(b, ", ");
    hang_share(b, x, sum, t->all);
    if (last != w && hang_has_holder(last)) {
        sp_buf_puts(b, "; in the end for ");
        hang_holder(b, x, last);
        sp_buf_printf(b, " (%u waits on)", h->steps);
    }
}

static void hang_deadlock_words(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_wait_chain *c = x->hang.deadlock;
    if (!c)
        return;
    sp_buf_puts(b, c->sure ? "sure: " : "likely: ");
    if (c->deadlock == SP_DEADLOCK_REPORTED)
        sp_buf_puts(b, "the report itself calls it a part of a deadlock");
    else if (c->deadlock == SP_DEADLOCK_TO_END)
        sp_buf_printf(b, "all its waits are there at once from step %lld to the end (%lld)",
                      (long long)c->from, (long long)c->to);
    else
        sp_buf_printf(b, "%s in every sample of its thread",
                      c->n - c->cycle > 1 ? "each of its waits is" : "the wait is");
}

/* "0x1a02 waited in 100 of 100 samples (100 %) meanwhile: -[Store write] > -[Store notify]" */
static void hang_holder_did(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->holder_tid == SP_ABSENT || h->holder_tid == h->tid || !h->holder.weight)
        return;
    const struct sp_wait *last = &h->w.waits.v[h->last];
    if (last->by_process)
        sp_buf_printf(b, "the main thread of %.*s, ", (int)hang_str(x, last->holder_name).n,
                      hang_str(x, last->holder_name).p);
    hang_thread(b, x, h->holder_tid);
    sp_buf_printf(b, "%s %s ", last->by_process ? "," : "", hang_did[h->holder.most]);
    hang_share(b, x, h->holder.by[h->holder.most], h->holder.weight);
    sp_buf_puts(b, h->holder.in_steps ? " meanwhile: " : ": ");
    hang_stack(b, x, &h->holder);
}

static void hang_others_ran(struct sp_buf *b, const struct sp_summary *x)
{
    if (x->hang.others)
        sp_buf_printf(b, "samples of other processes that ran: %s", x->hang.others);
}

/* Where there is no main thread to judge. */
static void hang_no_main(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->e.microstackshots)
        sp_buf_puts(b,
                    "microstackshots: samples are of threads that ran, and of no others; what took the CPU:");
    else if (h->pid == SP_ABSENT)
        sp_buf_puts(b, "which process is meant is not said, and none is in front: --pid PID looks at one");
    else
        sp_buf_puts(b, "of its main thread the report has no samples");
}

void sp_summary_hang_lines(struct sp_summary *x,
                           void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line),
                           void *arg)
{
    static const struct {
        void (*say)(struct sp_buf *, const struct sp_summary *);
        enum sp_line_style style;
        bool of_main;
    } parts[] = {{sp_summary_hang_head, SP_LINE_HEAD, false},
                 {hang_facts, SP_LINE_PLAIN, false},
                 {hang_verdict, SP_LINE_STRONG, true},
                 {hang_deadlock_words, SP_LINE_ITEM, true},
                 {hang_for, SP_LINE_ITEM, true},
                 {hang_in, SP_LINE_ITEM, true},
                 {hang_holder_did, SP_LINE_ITEM, true},
                 {hang_others_ran, SP_LINE_ITEM, true},
                 {hang_rest, SP_LINE_ITEM, true}};
    struct sp_buf line;
    bool main = x->hang.main.weight > 0;
    sp_buf_init(&line, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sp_buf_clear(&line);
        if (!parts[i].of_main || main)
            parts[i].say(&line, x);
        else if (parts[i].say == hang_verdict)
            hang_no_main(&line, x);
        if (line.len || line.failed)
            take(arg, parts[i].style, &line);
    }
    x->x.out->failed |= line.failed;
    sp_buf_free(&line);
}

/* ---- what cannot be known ---- */

static void hang_unknown(struct sp_summary *x, const char *id, struct sp_buf *b, const char *settle)
{
    struct sp_buf s;
    sp_buf_init(&s, 0);
    sp_buf_puts(&s, settle);
    sp_caution_add(x, id, NULL, b, &s);
    sp_buf_free(&s);
}

/* Of its samples that waited, those whose states name nobody. */
static int64_t hang_unnamed(const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    int64_t all = h->main.by[SP_HELD_WAITED] + h->main.by[SP_HELD_SUSPENDED];
    uint32_t thread = sp_waits_thread(&h->w, h->tid);
    const struct sp_wait_thread *t = thread == SP_NONE ? NULL : &h->w.threads.v[thread];
    for (uint32_t i = 0; t && i < t->n; i++)
        if (hang_has_holder(&h->w.waits.v[t->first + i]))
            all -= h->w.waits.v[t->first + i].all;
    return all > 0 ? all : 0;
}

/* Of a wait: who held it, which thread of its process, what that did. */
static void hang_unknown_holder(struct sp_summary *x, struct sp_buf *b)
{
    static const char trace[] = "xctrace record --template 'System Trace' --all-processes, while it hangs";
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_wait *w = h->last == SP_NONE ? NULL : &h->w.waits.v[h->last];
    int64_t unnamed = hang_unnamed(x);
    if (h->deadlock)
        return;
    if (unnamed * 2 > h->main.by[SP_HELD_WAITED] + h->main.by[SP_HELD_SUSPENDED]) {
        sp_buf_puts(b, "for whom it waited ");
        hang_share(b, x, unnamed, h->main.weight);
        sp_buf_puts(b, ": the states name nobody");
        hang_unknown(x, "holder", b, trace);
    }
    if (!w || !hang_has_holder(w) || (hang_is_child(x, w) && w->holder != SP_NONE))
        return;
    if (w->holder == SP_NONE) {
        sp_buf_puts(b, "what ");
        hang_holder(b, x, w);
        sp_buf_puts(b, " did meanwhile: the report has no samples of it");
        hang_unknown(x, "holder_did", b, "sudo spindump -notarget, of all processes");
    } else if (w->by_process || w->hops > 0) {
        sp_buf_puts(b, w->by_process ? "which thread of " : "who lies between it and ");
        hang_holder(b, x, w);
        sp_buf_puts(b, w->by_process ? " it waited for: the report names the process alone" : "");
        hang_unknown(x, "holder_thread", b, trace);
    }
}

void sp_summary_hang_unknowns(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (!h->states) {
        sp_buf_puts(&b, "whether its threads ran or waited: sample tells no states");
        hang_unknown(x, "states", &b, "sudo spindump NAME");
    } else if (h->e.microstackshots) {
        sp_buf_puts(
            &b, "what its threads waited for, and whether one was held up: samples are of threads that ran");
        hang_unknown(x, "waits", &b, "sudo spindump NAME, while it happens");
    } else if (!h->has_waits) {
        sp_buf_puts(&b, "what threads did: their states were left out when the profile was written");
        hang_unknown(x, "states", &b,
                     "convert the report again with --group-by pid,tid,comm,state, the default");
    }
    if (h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED)
        hang_unknown_holder(x, &b);
    if (h->verdict == SP_HANG_STARVED && !h->others) {
        sp_buf_puts(&b, "who had the CPUs: the report has no other process that ran");
        hang_unknown(x, "cpus", &b, "sudo spindump -notarget, of all processes");
    }
    if (h->e.unresponsive) {
        sp_buf_printf(&b, "what it did in the %s before sampling began", h->e.unresponsive);
        hang_unknown(x, "before", &b,
                     "sudo tailspin enable; after a hang sudo tailspin save FILE, spindump -i FILE");
    }
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
}

void sp_summary_hang_next(struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    struct sp_answer *a = x->x.out;
    char handle[32];
    if (h->has_waits && (h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED)) {
        sp_answer_next(a, "waits", NULL, NULL);
    } else if (h->verdict == SP_HANG_STARVED) {
        sp_answer_next(a, "top", NULL, "--by process");
    } else if (h->verdict == SP_HANG_RAN && !h->own_rows) {
        char tail[40];
        snprintf(tail, sizeof tail, "--pid %lld", (long long)h->pid);
        sp_answer_next(a, "top", NULL, tail);
    } else if (h->own_rows && x->hottest != SP_NONE) {
        sp_handle_text(&x->x.handles, x->hottest, handle);
        sp_answer_next(a, "function", handle, NULL);
    } else {
        sp_answer_next(a, "top", NULL, "--by thread --view all");
    }
}
