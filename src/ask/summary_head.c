/* What was recorded, in words: the metric, the program, its threads. The first line of the brief. */
#include "ask/summary.h"

#include "analysis/process.h"
#include "model/identity.h"

enum { HEAD_COLUMNS = 120, COMM_MOST = 15 };

static bool head_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static struct sp_str head_event(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_pstr(p, p->events.v[x->x.s.event].name);
}

static struct sp_str head_metric(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_pstr(p, p->metrics.v[x->x.s.metric].name);
}

/* ---- what the weight is ---- */

/* Weight that is on a CPU by what the event is, or because only running threads are looked at. */
static bool head_is_cpu(const struct sp_summary *x)
{
    static const char *const events[] = {"cpu-clock",       "task-clock", "cycles",
                                         "cpu-cycles",      "ref-cycles", "cpu_core/cycles",
                                         "cpu_atom/cycles", "cpu:",       NULL};
    const struct sp_selection *s = &x->x.s;
    struct sp_str event = head_event(x), unit = s->unit;
    bool known = sp_str_is(event, "cpu");
    for (const char *const *e = events; *e; e++)
        known = known || head_begins(event, *e);
    known = known || (s->view && strcmp(s->view, "cpu") == 0);
    return known && (sp_str_is(unit, "ns") || sp_str_is(unit, "cycles") || !unit.n) && !s->cannot_add;
}

struct head_bytes {
    const char *metric, *word, *noun;
};
static const struct head_bytes head_bytes[] = {
    {"alloc_bytes", "allocated", "allocated bytes"},     {"live_bytes", "live", "live bytes"},
    {"peak_bytes", "at the peak", "bytes at the peak"},  {"leaked_bytes", "leaked", "leaked bytes"},
    {"temporary_bytes", "temporary", "temporary bytes"}, {NULL, "", "bytes"},
};

static const struct head_bytes *head_bytes_of(const struct sp_summary *x)
{
    const struct head_bytes *b = head_bytes;
    while (b->metric && !sp_str_is(head_metric(x), b->metric))
        b++;
    return b;
}

static bool head_is_offcpu(const struct sp_summary *x)
{
    return head_begins(head_event(x), "offcpu") || head_begins(head_event(x), "off-cpu");
}

static const char *head_noun(const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    return x->cpu                                            ? "CPU"
           : head_is_offcpu(x)                               ? "off-CPU time"
           : sp_str_is(s->unit, "bytes")                     ? head_bytes_of(x)->noun
           : sp_str_is(s->unit, "ns")                        ? "time"
           : sp_str_is(head_metric(x), "samples")            ? "samples"
           : s->profile->events.v[s->event].kind == SP_PROBE ? "events"
                                                             : "weight";
}

static void head_add(struct sp_buf *b, struct sp_str s)
{
    sp_buf_add(b, s.p, s.n);
}

/* "1,308 samples": where the samples are the weight. */
static void head_samples(struct sp_buf *b, const struct sp_summary *x)
{
    struct sp_str event = head_event(x);
    sp_text_grouped(b, x->x.s.whole, x->x.s.scale);
    sp_buf_puts(b, x->x.s.whole == 1 ? " sample" : " samples");
    if (!x->cpu && !head_begins(event, "sample") && !sp_str_is(event, "unknown")) {
        sp_buf_puts(b, " of ");
        head_add(b, event);
    }
}

/* "CPU 2.30 s", "16,828 sched:sched_switch events", "allocated 12.00 MiB (malloc)". */
static void head_weight(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    struct sp_str event = head_event(x), metric = head_metric(x);
    bool bytes = sp_str_is(s->unit, "bytes"), ns = sp_str_is(s->unit, "ns");
    bool counts = !s->unit.n && s->profile->events.v[s->event].kind == SP_PROBE;
    sp_buf_puts(b, x->cpu ? "CPU " : head_is_offcpu(x) ? "off-CPU " : "");
    if (sp_str_is(metric, "samples") && !s->unit.n) {
        head_samples(b, x);
        return;
    }
    if (counts) {
        sp_text_grouped(b, s->whole, s->scale);
        sp_buf_ch(b, ' ');
        head_add(b, event);
        sp_buf_puts(b, " events");
        return;
    }
    if (!x->cpu && !head_is_offcpu(x)) {
        if (bytes && head_bytes_of(x)->metric)
            sp_buf_puts(b, head_bytes_of(x)->word);
        else
            head_add(b, metric);
        sp_buf_ch(b, ' ');
    }
    sp_text_weight(b, s->unit, s->scale, s->whole);
    if (s->unit.n && !bytes && !ns) {
        sp_buf_ch(b, ' ');
        head_add(b, s->unit);
    } else if (!s->unit.n && x->cpu) { /* nobody said of what */
        sp_buf_puts(b, " of metric ");
        head_add(b, metric);
    }
    if (!x->cpu && !head_is_offcpu(x) && event.n) {
        sp_buf_puts(b, " (");
        head_add(b, event);
        sp_buf_ch(b, ')');
    }
}

static void head_measure(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    const struct sp_event *e = &s->profile->events.v[s->event];
    struct sp_str hz = sp_pstr(s->profile, e->frequency_hz);
    if (s->cannot_add) {
        head_add(b, head_metric(x));
        sp_buf_puts(b, " (");
        head_add(b, head_event(x));
        sp_buf_puts(b, "), whose values must not be added: there are no shares");
        return;
    }
    head_weight(b, x);
    bool once = sp_str_is(head_metric(x), "samples") || s->whole == s->whole_samples;
    if (s->whole_samples != SP_ABSENT && !once) {
        sp_buf_puts(b, ", ");
        sp_text_count(b, (uint64_t)s->whole_samples, "sample");
    }
    if (hz.n && e->mode == SP_FREQUENCY && s->whole_samples != SP_ABSENT)
        sp_buf_printf(b, " @%.*s Hz", (int)hz.n, hz.p);
}

/* ---- which program ---- */

static struct sp_str head_word(struct sp_str *rest)
{
    while (rest->n && *rest->p == ' ')
        *rest = (struct sp_str){rest->p + 1, rest->n - 1};
    const char *space = rest->n ? memchr(rest->p, ' ', rest->n) : NULL;
    struct sp_str word = {rest->p, space ? (uint32_t)(space - rest->p) : rest->n};
    *rest = (struct sp_str){rest->p + word.n, rest->n - word.n};
    return word;
}

/* The kernel keeps 15 bytes of the name of what it starts. */
static bool head_is_comm(struct sp_str base, struct sp_str comm)
{
    uint32_t n = base.n < COMM_MOST ? base.n : COMM_MOST;
    return n && comm.n == n && memcmp(base.p, comm.p, n) == 0;
}

/* What perf was asked to start: the first word behind its own that a process is called. */
static void head_of_perf(struct sp_summary *x, const struct sp_processes *all, struct sp_str rest)
{
    const struct sp_profile *p = x->x.s.profile;
    while (rest.n && !sp_str_is(head_word(&rest), "record"))
        continue;
    for (struct sp_str word; (word = head_word(&rest)).n;) {
        struct sp_str base = sp_base_name(word);
        for (size_t i = 0; *word.p != '-' && i < all->list.n; i++)
            if (head_is_comm(base, sp_pstr(p, all->list.v[i].comm))) {
                x->program = base;
                x->program_pid = all->list.v[i].pid;
                x->command = (struct sp_str){word.p, (uint32_t)(rest.p + rest.n - word.p)};
                return;
            }
    }
}

/* A name of the list without what tells it from others: "stall (pid 5)". */
static struct sp_str head_bare(struct sp_str name)
{
    for (uint32_t i = name.n; i-- > 1;)
        if (name.p[i] == '(' && name.p[i - 1] == ' ' &&
            (head_begins((struct sp_str){name.p + i, name.n - i}, "(pid ") ||
             head_begins((struct sp_str){name.p + i, name.n - i}, "(tid ")))
            return (struct sp_str){name.p, i - 1};
    return name;
}

static void head_program(struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str command = sp_pstr(p, p->header.command), rest = command;
    struct sp_processes all;
    x->program_pid = SP_ABSENT;
    if (sp_processes_of(p, x->x.q->diags, &all)) {
        x->x.out->failed = true;
        return;
    }
    if (sp_str_is(sp_base_name(head_word(&rest)), "perf") && memmem(command.p, command.n, " record", 7)) {
        head_of_perf(x, &all, command);
    } else if (command.n) {
        rest = command;
        x->program = sp_base_name(head_word(&rest));
        x->command = command;
    }
    sp_processes_free(&all);
    x->of_program = x->processes.rows.n && x->command.n ? 0 : SP_ABSENT;
    for (size_t i = 0; x->of_program != SP_ABSENT && i < x->processes.rows.n; i++) {
        const struct sp_top_row *r = &x->processes.rows.v[i];
        if (head_is_comm(x->program, head_bare(sp_str_at(&x->processes.names, r->name))))
            x->of_program += r->self;
    }
}

void sp_summary_recorded(struct sp_summary *x)
{
    x->cpu = head_is_cpu(x);
    x->noun = head_noun(x);
    head_program(x);
}

/* ---- its threads ---- */

static bool head_is_repeated(const struct sp_top *t, size_t row)
{
    struct sp_str name = head_bare(sp_str_at(&t->names, t->rows.v[row].name));
    for (size_t i = 0; i < t->rows.n; i++)
        if (i != row && t->rows.v[i].self &&
            sp_str_cmp(name, head_bare(sp_str_at(&t->names, t->rows.v[i].name))) == 0)
            return true;
    return false;
}

static size_t head_threads(const struct sp_summary *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->threads.rows.n; i++) {
        const struct sp_pool *pool = sp_top_pool(&x->x.s, SP_TOP_THREAD, &x->threads.rows.v[i]);
        n += pool ? pool->threads : 1;
    }
    return n;
}

/* A thread that is called as one of the processes that were named is that. */
static bool head_is_process(const struct sp_summary *x, struct sp_str name)
{
    for (size_t i = 0; i < x->processes.rows.n; i++)
        if (sp_str_cmp(head_bare(sp_str_at(&x->processes.names, x->processes.rows.v[i].name)), name) == 0)
            return true;
    return false;
}

/* ": sh 90 %, stall 10 %, 3 more", as many as the line has room for; but_processes: without these. */
static void head_shares(struct sp_buf *b, const struct sp_summary *x, const struct sp_top *t,
                        bool but_processes, size_t columns)
{
    enum { MOST = 4, MORE = 10 };
    size_t weighty = 0, named = 0, shown = 0;
    struct sp_buf item;
    sp_buf_init(&item, 0);
    while (weighty < t->rows.n && t->rows.v[weighty].self)
        weighty++;
    for (size_t i = 0; i < weighty && shown < MOST; i++) {
        const struct sp_top_row *r = &t->rows.v[i];
        struct sp_str name = sp_str_at(&t->names, r->name);
        if (but_processes && head_is_process(x, head_bare(name))) {
            named++;
            continue;
        }
        sp_buf_clear(&item);
        sp_buf_puts(&item, shown ? ", " : ": ");
        head_add(&item, head_is_repeated(t, i) ? name : head_bare(name));
        sp_buf_ch(&item, ' ');
        sp_text_about(&item, r->self, x->x.s.whole);
        bool negligible = i && (double)r->self < 0.01 * (double)x->x.s.whole;
        if (negligible || b->len + item.len + (shown + named + 1 < weighty ? MORE : 0) > columns)
            break;
        sp_buf_add(b, item.data, item.len);
        shown++;
    }
    b->failed |= item.failed;
    sp_buf_free(&item);
    if (shown && shown + named < weighty)
        sp_buf_printf(b, ", %zu more", weighty - shown - named);
}

static bool head_several(const struct sp_top *t)
{
    return t->rows.n > 1 && t->rows.v[1].self;
}

void sp_summary_head_text(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    bool processes = head_several(&x->processes), threads = p->threads.n && x->threads.rows.n;
    size_t n = threads ? head_threads(x) : 0;
    struct sp_str name = x->program;
    head_measure(b, x);
    if (!name.n && !processes && x->processes.rows.n && p->threads.n)
        name = head_bare(sp_str_at(&x->processes.names, x->processes.rows.v[0].name));
    if (name.n && !sp_str_is(name, "?")) {
        sp_buf_puts(b, ", ");
        head_add(b, name);
    }
    if (!x->x.s.cannot_add && processes) {
        sp_buf_printf(b, ", %zu processes", x->processes.rows.n);
        head_shares(b, x, &x->processes, false, HEAD_COLUMNS - 20);
    }
    if (n) {
        sp_buf_puts(b, processes ? "; " : ", ");
        sp_text_count(b, n, "thread");
        if (n > 1 && !x->x.s.cannot_add)
            head_shares(b, x, &x->threads, processes, HEAD_COLUMNS);
    }
    if (p->events.n > 1) {
        sp_buf_puts(b, "; ");
        sp_text_count(b, p->events.n - 1, "other event");
        sp_buf_puts(b, " (--event)");
    }
}
