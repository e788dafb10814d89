/* The brief of a hang report in words: what the main thread did, and the order of all lines. */
#include "ask/summary.h"

#include "answer/text.h"
#include "ask/waits_reported.h"

enum { HANG_SHOWN = 3, HANG_NAME_COLUMNS = 60 };

static const char *const hang_did[SP_HELD_STATES] = {"ran",
                                                     "was ready without a CPU",
                                                     "waited",
                                                     "was suspended",
                                                     "ran or waited, which is not stated,",
                                                     "waited for events in its run loop"};

static struct sp_str hang_str(const struct sp_summary *x, uint32_t s)
{
    return sp_pstr(x->x.q->profiles[0], s);
}

static void hang_count(struct sp_buf *b, const struct sp_summary *x, int64_t v)
{
    sp_text_grouped(b, v, x->hang.s.scale);
}

void sp_hang_share(struct sp_buf *b, const struct sp_summary *x, int64_t v, int64_t of)
{
    sp_buf_puts(b, "in ");
    hang_count(b, x, v);
    sp_buf_puts(b, " of ");
    hang_count(b, x, of);
    sp_buf_puts(b, of == 1 ? " sample (" : " samples (");
    sp_text_about(b, v, of);
    sp_buf_ch(b, ')');
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

/* Others were seen later than it was. */
static void hang_say_gone(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    uint32_t thread =
        h->has_waits ? sp_waits_thread_of(&h->w, &x->x.q->profiles[0]->contexts.v[h->context]) : SP_NONE;
    const struct sp_wait_thread *t = thread == SP_NONE ? NULL : &h->w.threads.v[thread];
    if (t && sp_waits_is_gone(t) && !(h->deadlock && h->deadlock->gone != SP_ABSENT))
        sp_buf_printf(b, "; it is gone after step %lld of %lld", (long long)t->last, (long long)t->end);
}

static void hang_verdict(struct sp_buf *b, const struct sp_summary *x)
{
    static const char *const words[] = {[SP_HANG_UNKNOWN] = "ran or waited, which is not stated,",
                                        [SP_HANG_RAN] = "ran",
                                        [SP_HANG_STARVED] = "was starved: ready to run, without a CPU,",
                                        [SP_HANG_WAITED] = "waited",
                                        [SP_HANG_SUSPENDED] = "was suspended",
                                        [SP_HANG_IDLE] = "waited for events in its run loop"};
    const struct sp_summary_hang *h = &x->hang;
    bool tie = false;
    sp_buf_puts(b, "main thread ");
    sp_hang_thread(b, x, h->tid);
    bool parked = h->verdict == SP_HANG_IDLE && sp_held_gave_up(x->x.q->profiles[0], h->main.path, h->main.n);
    sp_buf_printf(b, " %s", parked ? "waited for events in dispatch_main" : words[h->verdict]);
    for (unsigned i = 0; i < SP_HELD_STATES; i++)
        if (i != h->main.most && h->main.by[i] == h->weight && !h->deadlock) {
            sp_buf_printf(b, " and %s", hang_did[i]);
            tie = true;
        }
    if (h->nested != SP_NONE && h->verdict == SP_HANG_WAITED) {
        struct sp_str name = hang_str(x, x->x.q->profiles[0]->functions.v[h->main.path[h->nested]].name);
        sp_buf_puts(b, " in a run loop within ");
        sp_text_fit(b, name.p, name.n, HANG_NAME_COLUMNS);
        sp_buf_puts(b, tie ? "" : ",");
    }
    sp_buf_puts(b, tie ? ", each " : " ");
    sp_hang_share(b, x, h->weight, h->main.weight);
    if (!h->states && h->verdict != SP_HANG_UNKNOWN)
        sp_buf_puts(b, ", by its innermost functions");
    if (h->deadlock)
        sp_buf_printf(b, ", %s %s", h->in_ring ? "in" : "held up by",
                      h->deadlock->sure ? "a deadlock" : "what is likely a deadlock");
    hang_say_gone(b, x);
}

/* Of its waits for nothing that is named, those that functions of the kernel tell to be for the disk. */
static void hang_disk(struct sp_buf *b, const struct sp_summary *x)
{
    enum { PART = 10 };
    const struct sp_held *m = &x->hang.main;
    if (!m->disk || m->disk < m->weight / PART)
        return;
    sp_reported_say_disk(b, x->x.q->profiles[0], m);
    sp_buf_puts(b, ", ");
    sp_hang_share(b, x, m->disk, m->weight);
}

static void hang_in(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_held *m = &x->hang.main;
    if (!m->n)
        return;
    sp_buf_puts(b, x->hang.verdict == SP_HANG_RAN ? "it ran in " : "heaviest stack: ");
    hang_stack(b, x, m);
    sp_buf_puts(b, ", ");
    sp_hang_share(b, x, m->at[m->own == SP_NONE ? m->n - 1 : m->own], m->weight);
}

void sp_hang_holder(struct sp_buf *b, const struct sp_summary *x, const struct sp_wait *w)
{
    struct sp_str name = hang_str(x, w->holder_name);
    if (w->self || w->holder == w->waiter) {
        sp_buf_puts(b, "itself");
        return;
    }
    sp_buf_add(b, name.p, name.n);
    if (w->holder_pid != SP_ABSENT)
        sp_buf_printf(b, "%s[%lld]", name.n ? " " : "", (long long)w->holder_pid);
    if (w->holder_tid != SP_ABSENT) {
        sp_buf_ch(b, ' ');
        sp_hang_thread(b, x, w->holder_tid);
    }
    if (w->hops > 0)
        sp_buf_printf(b, " (after %lld hop%s)", (long long)w->hops, w->hops == 1 ? "" : "s");
}

bool sp_hang_has_holder(const struct sp_wait *w)
{
    return w->self || w->holder_pid != SP_ABSENT || w->holder_tid != SP_ABSENT;
}

bool sp_hang_is_child(const struct sp_summary *x, const struct sp_wait *w)
{
    struct sp_str on = hang_str(x, w->on);
    return on.n >= 5 && memcmp(on.p, "wait4", 5) == 0;
}

/* "for unfair lock, held by Editor [412] 0x1a02"; equals: with another for which it waited as long */
static void hang_what_for(struct sp_buf *b, const struct sp_summary *x, const struct sp_wait *w, bool equals)
{
    struct sp_str on = hang_str(x, w->on);
    sp_buf_puts(b, "for ");
    sp_buf_add(b, on.p, on.n);
    if (sp_hang_has_holder(w)) {
        sp_buf_puts(b, sp_hang_is_child(x, w) ? ", the end of " : ", held by ");
        sp_hang_holder(b, x, w);
    }
    const struct sp_wait_thread *t = &x->hang.w.threads.v[w->waiter];
    if (!equals || !t->equals || w != &x->hang.w.waits.v[t->heaviest])
        return;
    sp_buf_puts(b, ", and as long ");
    hang_what_for(b, x, &x->hang.w.waits.v[t->equal_wait], false);
    if (t->equals > 1)
        sp_buf_printf(b, " and %u others", t->equals - 1);
}

/* The verdict is of a wait, which has a line of its own. */
static bool hang_is_of_wait(const struct sp_summary_hang *h)
{
    return h->wait != SP_NONE && (h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED);
}

/* Beside what it did most, it waited for somebody long enough to say more of. */
static bool hang_waited_at_times(const struct sp_summary_hang *h)
{
    enum { PART = 10 };
    return h->wait != SP_NONE && sp_waits_weight(&h->w, h->wait) >= h->main.weight / PART;
}

static void hang_rest(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_held *m = &h->main;
    bool before = h->deadlock && h->deadlock->deadlock == SP_DEADLOCK_TO_END;
    for (unsigned i = 0; i < SP_HELD_STATES; i++) {
        int64_t left = m->by[i] - (i == m->most ? h->weight : 0);
        if (left <= 0)
            continue;
        sp_buf_puts(b, b->len ? ", it " : before ? "before that it " : "otherwise it ");
        sp_buf_puts(b, hang_did[i]);
        sp_buf_ch(b, ' ');
        sp_hang_share(b, x, left, m->weight);
        if (i != SP_HELD_WAITED || h->wait == SP_NONE || hang_is_of_wait(h))
            continue;
        int64_t sum = sp_waits_weight(&h->w, h->wait);
        sp_buf_ch(b, ' ');
        hang_what_for(b, x, &h->w.waits.v[h->wait], true);
        if (sum < left) {
            sp_buf_ch(b, ' ');
            sp_hang_share(b, x, sum, m->weight);
        }
    }
}

/* "it waited for turnstile, held by accountd [88] (after 2 hops), in 95 of 100 samples (95 %)" */
static void hang_for(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (!hang_is_of_wait(h))
        return;
    const struct sp_wait *w = &h->w.waits.v[h->wait], *last = &h->w.waits.v[h->last];
    sp_buf_puts(b, "it waited ");
    hang_what_for(b, x, w, true);
    sp_buf_puts(b, ", ");
    sp_hang_share(b, x, sp_waits_weight(&h->w, h->wait), h->w.threads.v[w->waiter].all);
    if (last != w && sp_hang_has_holder(last)) {
        sp_buf_puts(b, "; in the end for ");
        sp_hang_holder(b, x, last);
        sp_buf_printf(b, " (%u waits on)", h->steps);
    }
}

/* "0x1a02 waited in 100 of 100 samples (100 %) meanwhile: -[Store write] > -[Store notify]" */
static void hang_say_holder_did(struct sp_buf *b, const struct sp_summary *x, bool of_wait)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->holder_tid == SP_ABSENT || h->holder_tid == h->tid || !h->holder.weight ||
        hang_is_of_wait(h) != of_wait || !(of_wait || hang_waited_at_times(h)))
        return;
    const struct sp_wait *last = &h->w.waits.v[h->last];
    if (last->by_process)
        sp_buf_printf(b, "the main thread of %.*s, ", (int)hang_str(x, last->holder_name).n,
                      hang_str(x, last->holder_name).p);
    sp_hang_thread(b, x, h->holder_tid);
    bool receives = h->holder.fact && h->w.profile->waits.v[h->holder.fact - 1].flags & SP_FACT_RECEIVE;
    sp_buf_printf(b, "%s %s%s ", last->by_process ? "," : "", hang_did[h->holder.most],
                  h->holder.most != SP_HELD_WAITED                     ? ""
                  : receives                                           ? " for messages"
                  : h->holder.disk * 2 <= h->holder.by[SP_HELD_WAITED] ? ""
                  : h->holder.disk_likely                              ? " (likely for the disk)"
                                                                       : " for the disk");
    sp_hang_share(b, x, h->holder.by[h->holder.most], h->holder.weight);
    sp_buf_puts(b, h->holder.in_steps ? " meanwhile: " : ": ");
    hang_stack(b, x, &h->holder);
}

static void hang_holder_did(struct sp_buf *b, const struct sp_summary *x)
{
    hang_say_holder_did(b, x, true);
}

/* Behind what it did otherwise. */
static void hang_rest_holder_did(struct sp_buf *b, const struct sp_summary *x)
{
    hang_say_holder_did(b, x, false);
}

static void hang_others_ran(struct sp_buf *b, const struct sp_summary *x)
{
    if (x->hang.others && !x->hang.e.microstackshots)
        sp_buf_printf(b, "samples of other threads that ran%s: %s",
                      x->hang.others_meanwhile ? " meanwhile" : "", x->hang.others);
}

/* The number is of several processes, which are told apart by their names or by a label. */
static void hang_several(struct sp_buf *b, const struct sp_summary *x)
{
    sp_buf_printf(b, "the number %lld was of several processes, and which one is meant is not known: ",
                  (long long)x->hang.pid);
    sp_summary_hang_names(b, x);
    sp_buf_puts(b, "; --comm NAME or --label instance=… looks at one");
}

/* What a sample stands for is in the event: time, or so much that was written or woken up. */
static void hang_micro(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_str event = sp_pstr(p, p->events.v[x->hang.s.event].name);
    const char *said = x->hang.e.event ? x->hang.e.event : "";
    bool writes = sp_str_is(event, "disk-writes") || strcmp(said, "disk writes") == 0,
         wakes = sp_str_is(event, "wakeups") || strcmp(said, "wakeups") == 0;
    sp_buf_printf(b, "microstackshots: samples are of threads that ran, and of no others; what %s: %s",
                  writes  ? "wrote to disk"
                  : wakes ? "woke up"
                          : "took the CPU",
                  x->hang.others ? x->hang.others : "nothing");
}

/* Where there is no main thread to judge. */
static void hang_no_main(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_hang *h = &x->hang;
    if (h->e.microstackshots)
        hang_micro(b, x);
    else if (x->x.q->profiles[0]->sources.n > 1)
        sp_buf_printf(
            b, "these are %zu reports in one profile: `summary` of each file says what its main thread did",
            x->x.q->profiles[0]->sources.n);
    else if (h->among)
        hang_several(b, x);
    else if (h->pid == SP_ABSENT && x->x.q->profiles[0]->processes.n == 1)
        sp_buf_puts(b, "none of its threads is known to be the main one: this is a part of a report");
    else if (h->pid == SP_ABSENT)
        sp_buf_puts(b, "which process is meant is not said, and none is in front: --pid PID looks at one");
    else
        sp_buf_puts(b, "no thread of it that has samples is known to be the main one");
}

/* Line i of all, in the order that they stand in; false: there are no more. */
static bool hang_line(const struct sp_summary *x, size_t i, struct sp_buf *line, enum sp_line_style *style,
                      bool *detail)
{
    static const struct {
        void (*say)(struct sp_buf *, const struct sp_summary *);
        enum sp_line_style style;
        bool detail;
    } parts[] = {{sp_summary_hang_head, SP_LINE_HEAD, false},
                 {sp_summary_hang_also_in_front, SP_LINE_PLAIN, false},
                 {sp_summary_hang_memory, SP_LINE_PLAIN, true},
                 {hang_verdict, SP_LINE_STRONG, false},
                 {sp_summary_hang_deadlock, SP_LINE_ITEM, true},
                 {sp_summary_hang_ring, SP_LINE_ITEM, true},
                 {hang_for, SP_LINE_ITEM, true},
                 {hang_disk, SP_LINE_ITEM, true},
                 {hang_in, SP_LINE_ITEM, true},
                 {hang_holder_did, SP_LINE_ITEM, true},
                 {sp_summary_hang_execed, SP_LINE_ITEM, true},
                 {hang_others_ran, SP_LINE_ITEM, true},
                 {hang_rest, SP_LINE_ITEM, true},
                 {hang_rest_holder_did, SP_LINE_ITEM, true},
                 {sp_summary_hang_beside, SP_LINE_ITEM, true}};
    if (i >= sizeof parts / sizeof *parts)
        return false;
    *style = parts[i].style;
    *detail = parts[i].detail;
    if (x->hang.main.weight || i < 3)
        parts[i].say(line, x);
    else if (parts[i].say == hang_verdict)
        hang_no_main(line, x);
    return true;
}

size_t sp_summary_hang_details(struct sp_summary *x)
{
    struct sp_buf line;
    enum sp_line_style style;
    bool detail;
    size_t n = 0;
    sp_buf_init(&line, 0);
    for (size_t i = 0; hang_line(x, i, &line, &style, &detail); i++) {
        n += detail && (line.len || line.failed);
        x->x.out->failed |= line.failed;
        sp_buf_clear(&line);
    }
    sp_buf_free(&line);
    return n;
}

void sp_summary_hang_lines(struct sp_summary *x, size_t details,
                           void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line),
                           void *arg)
{
    struct sp_buf line;
    enum sp_line_style style;
    bool detail;
    sp_buf_init(&line, 0);
    for (size_t i = 0; hang_line(x, i, &line, &style, &detail); i++) {
        if ((line.len || line.failed) && (!detail || details)) {
            take(arg, style, &line);
            details -= detail;
        }
        sp_buf_clear(&line);
    }
    sp_buf_free(&line);
}
