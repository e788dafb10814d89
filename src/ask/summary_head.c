/* What was recorded, in words: the metric, the program, its threads. The first line of the brief. */
#include "ask/summary.h"

#include "analysis/cpu_time.h"
#include "base/hash.h"
#include "base/map.h"

enum { HEAD_COLUMNS = 120, HEAD_MOST = 4, HEAD_MORE = 10 };

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
    return sp_is_off_cpu(&x->x.s) || head_begins(head_event(x), "offcpu") ||
           head_begins(head_event(x), "off-cpu");
}

/* Time of threads that the scheduler adds up at its own events: their stacks are where it does. */
static bool head_is_account(const struct sp_summary *x)
{
    return head_begins(head_event(x), "sched:sched_stat_") && sp_str_is(x->x.s.unit, "ns");
}

static const char *head_noun(const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    return x->cpu                                                               ? "CPU"
           : head_is_offcpu(x)                                                  ? "off-CPU time"
           : sp_str_is(s->unit, "bytes")                                        ? head_bytes_of(x)->noun
           : sp_str_is(s->unit, "ns")                                           ? "time"
           : sp_str_is(head_metric(x), "samples")                               ? "samples"
           : sp_str_is(head_metric(x), "count") || sp_str_is(s->unit, "events") ? "events"
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

/* "live 12.00 MiB (heap)" */
static void head_of_bytes(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    sp_buf_puts(b, head_bytes_of(x)->word);
    sp_buf_ch(b, ' ');
    sp_text_weight(b, s->unit, s->scale, s->whole);
    sp_buf_puts(b, " (");
    head_add(b, head_event(x));
    sp_buf_ch(b, ')');
}

/* "contention delay 1.2 s", "cache-references 165,909", "folded 80 (no unit)" */
static void head_of_event(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    struct sp_str event = head_event(x), metric = head_metric(x);
    bool plain = sp_str_is(metric, "period") || sp_str_is(metric, "value") || sp_str_cmp(metric, event) == 0;
    bool counted = sp_str_is(s->unit, "events") || sp_str_is(s->unit, "count");
    head_add(b, event);
    if (!plain) {
        sp_buf_ch(b, ' ');
        head_add(b, metric);
    }
    sp_buf_ch(b, ' ');
    sp_text_weight(b, s->unit, s->scale, s->whole);
    if (!s->unit.n)
        sp_buf_puts(b, " (no unit)");
    else if (!counted && !sp_str_is(s->unit, "bytes") && !sp_str_is(s->unit, "ns"))
        sp_buf_printf(b, " %.*s", (int)s->unit.n, s->unit.p);
}

/* "CPU 2.30 s", "off-CPU 12 s"; of what nobody said the unit of, the name of the metric */
static void head_of_time(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    struct sp_str unit = s->unit.n ? s->unit : head_metric(x);
    if (x->waits.unknown * 20 > s->whole && head_is_offcpu(x))
        sp_buf_puts(b, "≥ ");
    sp_text_weight(b, s->unit, s->scale, s->whole);
    if (!sp_str_is(unit, "ns"))
        sp_buf_printf(b, "%s%.*s", s->unit.n ? " " : " of metric ", (int)unit.n, unit.p);
}

static void head_weight(struct sp_buf *b, const struct sp_summary *x)
{
    if (x->memory.known) {
        sp_summary_memory_head(b, x);
        return;
    }
    const struct sp_selection *s = &x->x.s;
    bool samples = sp_str_is(head_metric(x), "samples") && !s->unit.n;
    bool time = x->cpu || head_is_offcpu(x);
    sp_buf_puts(b, x->cpu ? "CPU " : time ? "off-CPU " : "");
    if (samples) {
        head_samples(b, x);
    } else if (time) {
        head_of_time(b, x);
    } else if (!s->unit.n && sp_str_is(head_metric(x), "count")) {
        sp_text_grouped(b, s->whole, s->scale);
        sp_buf_ch(b, ' ');
        head_add(b, head_event(x));
        sp_buf_puts(b, s->whole == 1 ? " event" : " events");
    } else if (sp_str_is(s->unit, "bytes") && head_bytes_of(x)->metric) {
        head_of_bytes(b, x);
    } else {
        head_of_event(b, x);
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
    if (head_is_account(x))
        sp_buf_puts(b, " (stacks: where the scheduler books it)");
    bool once = sp_str_is(head_metric(x), "samples") || s->whole == s->whole_samples;
    if (s->whole_samples != SP_ABSENT && !once) {
        sp_buf_puts(b, ", ");
        sp_text_count(b, (uint64_t)s->whole_samples, "sample");
    }
    if (hz.n && e->mode == SP_FREQUENCY && s->whole_samples != SP_ABSENT)
        sp_buf_printf(b, " @%.*s Hz", (int)hz.n, hz.p);
}

void sp_summary_measure(struct sp_summary *x)
{
    x->cpu = sp_is_cpu(&x->x.s);
    x->noun = head_noun(x);
}

/* ---- whose it is ---- */

static bool head_is_weighty(const struct sp_summary *x, int64_t weight)
{
    return (double)weight >= 0.01 * (double)x->x.s.whole;
}

/* Adds the item where the line has room for it, and for how many there are more. */
static bool head_add_item(struct sp_buf *b, const struct sp_buf *item, bool last, size_t columns)
{
    b->failed |= item->failed;
    return b->len + item->len + (last ? 0 : HEAD_MORE) <= columns && sp_buf_add(b, item->data, item->len);
}

static void head_share(struct sp_buf *b, const struct sp_summary *x, int64_t weight)
{
    sp_buf_ch(b, ' ');
    sp_text_about(b, weight, x->x.s.whole);
}

/* ": sh 90 %, stall (3) 10 %, 3 more" */
static void head_processes(struct sp_buf *b, const struct sp_summary *x, size_t columns)
{
    size_t n = x->recorded.n, i = 0;
    struct sp_buf item;
    sp_buf_init(&item, 0);
    for (; i < n && i < HEAD_MOST && (!i || head_is_weighty(x, x->recorded.v[i].weight)); i++) {
        const struct sp_recorded *r = &x->recorded.v[i];
        sp_buf_clear(&item);
        sp_buf_puts(&item, i ? ", " : ": ");
        if (r->name.n)
            head_add(&item, r->name);
        else if (r->pid != SP_ABSENT)
            sp_buf_printf(&item, "pid %lld", (long long)r->pid);
        else
            sp_buf_puts(&item, "pid ?");
        if (r->n > 1)
            sp_buf_printf(&item, " (%zu)", r->n);
        head_share(&item, x, r->weight);
        if (!head_add_item(b, &item, i + 1 == n, columns))
            break;
    }
    sp_buf_free(&item);
    if (i && i < n)
        sp_buf_printf(b, ", %zu more", n - i);
}

/* "stall" of "stall (tid 5)" */
static struct sp_str head_bare(struct sp_str name)
{
    for (uint32_t i = name.n; i-- > 1;)
        if (name.p[i] == '(' && name.p[i - 1] == ' ' &&
            head_begins((struct sp_str){name.p + i, name.n - i}, "(tid "))
            return (struct sp_str){name.p, i - 1};
    return name;
}

static bool head_is_repeated(const struct sp_top *t, size_t row)
{
    struct sp_str name = head_bare(sp_str_at(&t->names, t->rows.v[row].name));
    for (size_t i = 0; i < t->rows.n; i++)
        if (i != row && t->rows.v[i].self &&
            sp_str_cmp(name, head_bare(sp_str_at(&t->names, t->rows.v[i].name))) == 0)
            return true;
    return false;
}

struct head_thread {
    uint32_t source;
    int64_t tid;
};

static int head_by_tid(const void *va, const void *vb)
{
    const struct head_thread *a = va, *b = vb;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Tids, as a thread may have had several names; where these are not known, names. */
static size_t head_threads(struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    const struct sp_profile *p = s->profile;
    SP_VEC(struct head_thread) all = {0};
    bool ok = true, tids = true;
    size_t n = 0;
    for (size_t i = 0; ok && tids && i < s->rows.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[s->rows.v[i].stack].context];
        struct head_thread t = {c->source, c->tid};
        tids = c->tid != SP_ABSENT;
        ok = (all.n && !head_by_tid(&all.v[all.n - 1], &t)) || sp_vec_push(&all, t);
    }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, head_by_tid);
    for (size_t i = 0; tids && i < all.n; i++)
        n += !i || head_by_tid(&all.v[i - 1], &all.v[i]);
    sp_vec_free(&all);
    x->x.out->failed |= !ok;
    for (size_t i = 0; !tids && i < x->threads.rows.n; i++) {
        const struct sp_pool *pool = sp_top_pool(s, SP_TOP_THREAD, &x->threads.rows.v[i]);
        n += pool ? pool->threads : 1;
    }
    return n;
}

/* The names of several processes, of which those without one count once; of one process there are none. */
static bool head_name_processes(const struct sp_summary *x, struct sp_map *names)
{
    bool ok = true, unnamed = false;
    for (uint32_t i = 0; ok && x->processes.rows.n > 1 && i < x->recorded.n; i++) {
        struct sp_str name = x->recorded.v[i].name;
        if (name.n || !unnamed)
            ok = sp_map_add(names, sp_hash64(name.n ? name.p : "", name.n), i);
        unnamed = unnamed || !name.n;
    }
    return ok;
}

/* A thread that is called as one of several processes is that, which was said. */
static bool head_is_process(const struct sp_summary *x, const struct sp_map *names, struct sp_str name)
{
    struct sp_probe at = sp_map_probe(names, sp_hash64(name.n ? name.p : "", name.n));
    for (uint32_t i; (i = sp_map_next(names, &at)) != SP_MAP_NONE;)
        if (sp_str_cmp(x->recorded.v[i].name, name) == 0)
            return true;
    return false;
}

/* ": http-* (40) 90 %, refresher 10 %" */
static void head_add_threads(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_top *t = &x->threads;
    size_t weighty = 0, said = 0, shown = 0;
    struct sp_map names = {0};
    struct sp_buf item;
    sp_buf_init(&item, 0);
    x->x.out->failed |= !head_name_processes(x, &names);
    while (weighty < t->rows.n && t->rows.v[weighty].self)
        weighty++;
    for (size_t i = 0; i < weighty && shown < HEAD_MOST; i++) {
        struct sp_str name = sp_str_at(&t->names, t->rows.v[i].name);
        if (head_is_process(x, &names, head_bare(name))) {
            said++;
            continue;
        }
        sp_buf_clear(&item);
        sp_buf_puts(&item, shown ? ", " : ": ");
        head_add(&item, head_is_repeated(t, i) ? name : head_bare(name));
        head_share(&item, x, t->rows.v[i].self);
        if ((shown && !head_is_weighty(x, t->rows.v[i].self)) ||
            !head_add_item(b, &item, shown + said + 1 == weighty, HEAD_COLUMNS))
            break;
        shown++;
    }
    sp_buf_free(&item);
    sp_map_free(&names);
    if (shown && shown + said < weighty)
        sp_buf_printf(b, ", %zu more", weighty - shown - said);
}

void sp_summary_head_text(struct sp_buf *b, struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    bool shares = !x->x.s.cannot_add, processes = x->processes.rows.n > 1;
    size_t n = p->threads.n ? head_threads(x) : 0;
    struct sp_str name = x->program;
    if (x->hang.known) {
        sp_summary_hang_head(b, x);
        return;
    }
    head_measure(b, x);
    if (!name.n && x->recorded.n == 1 && p->threads.n)
        name = x->recorded.v[0].name;
    bool waits = sp_str_is(name, "sleep") && processes; /* which says how long all else was recorded */
    if (x->x.q->nnames > 1)
        sp_buf_printf(b, ", sum of %zu inputs", x->x.q->nnames);
    if (name.n && *name.p != '?' && !waits) {
        sp_buf_puts(b, ", ");
        head_add(b, name);
    }
    if (processes)
        sp_buf_printf(b, ", %zu processes", x->processes.rows.n);
    if (shares && x->recorded.n > 1)
        head_processes(b, x, HEAD_COLUMNS - 12);
    if (n) {
        sp_buf_puts(b, processes ? "; " : ", ");
        sp_text_count(b, n, "thread");
        if (n > 1 && shares)
            head_add_threads(b, x);
    }
    if (p->events.n > 1) {
        sp_buf_puts(b, "; ");
        sp_text_count(b, p->events.n - 1, "other event");
        sp_buf_puts(b, " (--event)");
    }
}
