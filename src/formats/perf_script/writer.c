/*
 * Writes the text that `perf script` prints, for the scripts that read it:
 *
 *     comm  pid/tid [cpu] seconds:     period event: tracepoint text
 *     \t            1418 parse_value+0x48 (/tmp/gen/mix)
 *     <blank line>
 *
 * Where the profile has raw samples they are written, in time order, as they were. Else each stack is written
 * as often as it was sampled, the weight divided among these samples so that both sums come out exactly,
 * heavy stacks first; times are then made up (evenly over the recording, or a millisecond apart) and a
 * comment says so. Absent threads are 0, an absent comm is ":TID", as perf has it. The kernel's and the
 * user's record of one observation are one sample.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/common/text/left_out.h"
#include "formats/perf_script/perf_script.h"
#include "formats/perf_script/write.h"
#include "model/extent.h"
#include "model/identity.h"
#include "model/samples.h"
#include "model/thread_names.h"
#include "json/find.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    struct sp_profile *p;
    const struct sp_write_opts *opts;
    struct sp_diags *d;
    struct sp_output *out;
    struct sp_ps_printer frames;
    struct sp_map threads; /* by tid: a context names no pid or comm where it was not grouped by */
    uint32_t samples;      /* the metric, or SP_NONE */
    bool per_stack;
    uint64_t count, done;  /* samples to write without rows, and written */
    uint64_t all;          /* bytes of that */
    int64_t start, length; /* ns; length < 0: not known */
    uint64_t left_out;     /* stacks that no sample can stand for */
    struct sp_buf line, text;
};

/* What stands on a sample line. */
struct line {
    int64_t pid, tid, cpu, time;
    uint32_t comm, event, time_text;
    bool has_period;
    int64_t period;
    struct sp_span text;
};

static const struct sp_thread *perf_script_thread_of(const struct writer *w, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&w->threads, sp_hash_mix((uint64_t)tid, 1));
    for (uint32_t i; (i = sp_map_next(&w->threads, &at)) != SP_MAP_NONE;)
        if (w->p->threads.v[i].tid == tid)
            return &w->p->threads.v[i];
    return NULL;
}

static bool perf_script_index_threads(struct writer *w)
{
    for (uint32_t i = 0; i < w->p->threads.n; i++)
        if (!sp_map_add(&w->threads, sp_hash_mix((uint64_t)w->p->threads.v[i].tid, 1), i))
            return false;
    return true;
}

/* What the context does not say of the thread, the thread's record may. */
static void perf_script_fill_thread(const struct writer *w, const struct sp_context *c, struct line *l)
{
    if (l->pid == SP_ABSENT)
        l->pid = c->pid;
    if (l->tid == SP_ABSENT)
        l->tid = c->tid;
    if (l->cpu == SP_ABSENT)
        l->cpu = c->cpu;
    const struct sp_thread *t = l->tid == SP_ABSENT ? NULL : perf_script_thread_of(w, l->tid);
    l->comm = c->comm != SP_STR_NONE || !t ? c->comm : t->comm;
    if (t && l->pid == SP_ABSENT && !strstr(sp_pstr(w->p, t->extra_json).p, "\"x_pid_unknown\":true"))
        l->pid = t->pid;
    if (l->tid == SP_ABSENT)
        l->tid = l->pid == SP_ABSENT ? 0 : l->pid;
}

static void perf_script_put_comm(struct writer *w, const struct line *l)
{
    struct sp_str comm = sp_pstr(w->p, l->comm);
    if (!comm.n)
        sp_buf_printf(&w->line, ":%lld ", (long long)l->tid);
    else
        sp_ps_put_text(&w->line, comm.p, comm.n);
    sp_buf_ch(&w->line, ' ');
}

/* Seconds, with microseconds as perf prints them, or nanoseconds where there are any. */
static void perf_script_put_time(struct writer *w, const struct line *l)
{
    struct sp_str text = sp_pstr(w->p, l->time_text);
    uint64_t ns = l->time < 0 ? 0 - (uint64_t)l->time : (uint64_t)l->time;
    if (text.n)
        sp_buf_add(&w->line, text.p, text.n);
    else if (ns % 1000)
        sp_buf_printf(&w->line, "%s%llu.%09llu", l->time < 0 ? "-" : "",
                      (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000));
    else
        sp_buf_printf(&w->line, "%s%llu.%06llu", l->time < 0 ? "-" : "",
                      (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000 / 1000));
    sp_buf_puts(&w->line, ": ");
}

/* Names of events have no blanks in perf. */
static void perf_script_put_event(struct writer *w, uint32_t event)
{
    struct sp_str name =
        event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(w->p, w->p->events.v[event].name);
    for (uint32_t i = 0; i < name.n; i++)
        sp_buf_ch(&w->line, strchr(" \t\r\n", name.p[i]) && name.p[i] ? '_' : name.p[i]);
    sp_buf_puts(&w->line, name.n ? ":" : "unknown:");
}

/* One sample, in w->line; `stack` SP_NONE: without frames. False: out of memory. */
static bool perf_script_sample_text(struct writer *w, const struct line *l, uint32_t stack)
{
    sp_buf_clear(&w->line);
    perf_script_put_comm(w, l);
    if (l->pid == SP_ABSENT)
        sp_buf_printf(&w->line, "%5lld ", (long long)l->tid);
    else
        sp_buf_printf(&w->line, "%5lld/%-5lld ", (long long)l->pid, (long long)l->tid);
    if (l->cpu != SP_ABSENT)
        sp_buf_printf(&w->line, "[%03lld] ", (long long)l->cpu);
    perf_script_put_time(w, l);
    if (l->has_period)
        sp_buf_printf(&w->line, "%10lld ", (long long)l->period);
    perf_script_put_event(w, l->event);
    sp_buf_ch(&w->line, ' ');
    sp_ps_put_text(&w->line, l->text.p, l->text.n);
    sp_buf_ch(&w->line, '\n');
    if (stack != SP_NONE) {
        uint32_t linked = sp_stack_linked(w->p, stack);
        bool user = w->p->stacks.v[stack].type != SP_KERNEL_STACK;
        if (linked != SP_NONE && user && !sp_ps_put_frames(&w->frames, linked, &w->line))
            return false;
        if (!sp_ps_put_frames(&w->frames, stack, &w->line))
            return false;
    }
    sp_buf_ch(&w->line, '\n');
    return !w->line.failed;
}

static bool perf_script_put_sample(struct writer *w, const struct line *l, uint32_t stack)
{
    bool ok = perf_script_sample_text(w, l, stack);
    if (ok)
        sp_write(w->out, w->line.data, w->line.len);
    return ok;
}

static const struct sp_context *perf_script_context_of(const struct writer *w, uint32_t stack)
{
    return &w->p->contexts.v[w->p->stacks.v[stack].context];
}

static bool perf_script_wanted(const struct writer *w, uint32_t event)
{
    return w->opts->event == SP_NONE || w->opts->event == event;
}

/* The number of a weight, rounded where it is a fraction. */
static int64_t perf_script_whole(const struct writer *w, uint32_t stack, uint32_t metric)
{
    int64_t v = metric == SP_NONE ? SP_ABSENT : sp_weight(w->p, stack, metric);
    if (v != SP_DECIMAL)
        return v;
    struct sp_str t = sp_weight_text(w->p, stack, metric);
    double x = sp_text_double(t.p, t.n);
    sp_emit(w->d, SP_I321, SP_AT_NOTHING, "fractions: this text has whole periods only");
    return x >= 9e18 ? INT64_MAX : x <= -9e18 ? -INT64_MAX : (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* Whether a weight is the number of samples: perf prints no period then. */
static bool perf_script_counts(const struct writer *w, uint32_t metric, int64_t v, int64_t samples)
{
    struct sp_str name = sp_pstr(w->p, w->p->metrics.v[metric].name);
    return metric == w->samples || (v == samples && sp_str_is(name, "count"));
}

/* How a stack is written: so many samples that share a weight. False: not at all. */
static bool perf_script_shares(struct writer *w, uint32_t stack, uint64_t *n, bool *has_period,
                               int64_t *period)
{
    uint32_t event = perf_script_context_of(w, stack)->event;
    uint32_t metric = w->opts->metric;
    if (metric == SP_NONE && event != SP_NONE)
        metric = w->p->events.v[event].primary;
    int64_t v = perf_script_whole(w, stack, metric), samples = perf_script_whole(w, stack, w->samples);
    if (v == SP_ABSENT)
        v = samples;
    *has_period =
        metric != SP_NONE && v != SP_ABSENT && (w->per_stack || !perf_script_counts(w, metric, v, samples));
    *n = samples > 0 && !w->per_stack ? (uint64_t)samples : 1;
    *period = v;
    return v > 0 || (samples > 0 && v == 0);
}

/* Records of the kernel's side are written with the user's. */
static bool perf_script_is_second(const struct writer *w, uint32_t stack)
{
    return w->p->stacks.v[stack].type == SP_KERNEL_STACK && sp_stack_linked(w->p, stack) != SP_NONE;
}

static int64_t perf_script_made_up_time(const struct writer *w)
{
    if (w->length < 0 || w->count < 2)
        return w->start + (w->length < 0 ? (int64_t)w->done * 1000000 : 0);
    return w->start + (int64_t)((__int128)w->length * w->done / (w->count - 1)) / 1000 * 1000;
}

static bool perf_script_put_stack(struct writer *w, uint32_t stack)
{
    uint64_t n;
    bool has_period;
    int64_t period;
    if (!perf_script_shares(w, stack, &n, &has_period, &period)) {
        w->left_out++;
        return true;
    }
    const struct sp_context *c = perf_script_context_of(w, stack);
    struct line l = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = c->event, .has_period = has_period};
    perf_script_fill_thread(w, c, &l);
    if (c->comm != SP_STR_NONE) /* times are made up: readers would take an earlier name for a later one */
        l.comm = sp_context_name(w->p, c);
    for (uint64_t i = 0; i < n && !w->out->status; i++, w->done++) {
        l.period = period / (int64_t)n + (i < (uint64_t)(period % (int64_t)n));
        l.time = perf_script_made_up_time(w);
        if (!perf_script_put_sample(w, &l, stack))
            return false;
    }
    return true;
}

static uint64_t perf_script_times(uint64_t a, uint64_t b)
{
    return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t perf_script_plus(uint64_t a, uint64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* How many samples a stack's weight becomes, and how long their text; false: out of memory. */
static bool perf_script_measure(struct writer *w, uint32_t stack)
{
    uint64_t n;
    struct line l = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    const struct sp_context *c = perf_script_context_of(w, stack);
    if (!perf_script_shares(w, stack, &n, &l.has_period, &l.period))
        return true;
    l.event = c->event;
    l.period /= (int64_t)n;
    w->count = perf_script_plus(w->count, n);
    if (w->opts->expand || n == 1)
        return true;
    perf_script_fill_thread(w, c, &l);
    if (!perf_script_sample_text(w, &l, stack))
        return false;
    w->all = perf_script_plus(w->all, perf_script_times(n, w->line.len));
    return true;
}

/* Refuses text that gets out of proportion: a few bytes with a large count would fill the disk. */
static spaa_status perf_script_count_samples(struct writer *w)
{
    for (uint32_t s = 0; s < w->p->stacks.n; s++)
        if (!perf_script_is_second(w, s) && perf_script_wanted(w, perf_script_context_of(w, s)->event) &&
            !perf_script_measure(w, s))
            return sp_nomem(w->d);
    if (w->opts->expand || w->all <= sp_profile_most(w->p, NULL))
        return SPAA_OK;
    sp_emit_hint(w->d, SP_E036, SP_AT_NOTHING,
                 "--per-stack writes one sample per stack, with its weight; --expand all of it",
                 "the text would have %llu samples, about %llu MB", (unsigned long long)w->count,
                 (unsigned long long)(w->all / 1000000));
    return SPAA_ERR_INPUT;
}

/* Nanoseconds of a header's time. */
static bool perf_script_header_ns(const struct sp_profile *p, uint32_t text, int64_t *ns)
{
    struct sp_str t = sp_pstr(p, text), unit = sp_pstr(p, p->header.time_unit);
    return t.n && sp_str_is(unit, "seconds") && sp_seconds_ns(t.p, t.n, ns);
}

static spaa_status perf_script_put_stacks(struct writer *w)
{
    struct sp_profile *p = w->p;
    struct sp_order order;
    spaa_status st = perf_script_count_samples(w);
    int64_t end;
    if (st != SPAA_OK)
        return st;
    w->length = -1;
    if (perf_script_header_ns(p, p->header.time_start, &w->start) && w->start >= 0 &&
        perf_script_header_ns(p, p->header.time_end, &end) && end > w->start)
        w->length = end - w->start;
    st = sp_order_dictionaries(p, &order);
    if (st == SPAA_OK)
        st = sp_profile_identify(p, &order);
    if (st == SPAA_OK)
        st = sp_order_stacks(p, &order);
    for (uint32_t i = 0; st == SPAA_OK && !w->out->status && i < p->stacks.n; i++) {
        uint32_t s = order.stacks[i];
        if (!perf_script_is_second(w, s) && perf_script_wanted(w, perf_script_context_of(w, s)->event) &&
            !perf_script_put_stack(w, s))
            st = sp_nomem(w->d);
    }
    sp_order_free(&order);
    return st;
}

/* The text of a tracepoint, decoded. */
static struct sp_span perf_script_probe_text(struct writer *w, uint32_t more)
{
    struct sp_str t = sp_pstr(w->p, more);
    struct sp_span raw;
    sp_buf_clear(&w->text);
    if (!t.n || !sp_json_find2((struct sp_span){t.p, t.n}, "x_perf_script", "text", &raw) ||
        !sp_json_text_to(&w->text, raw))
        return (struct sp_span){"", 0};
    return (struct sp_span){w->text.data, w->text.len};
}

static uint32_t perf_script_event_of_row(const struct writer *w, const struct sp_sample *row)
{
    if (row->event != SP_NONE || row->stack == SP_NONE)
        return row->event;
    return perf_script_context_of(w, row->stack)->event;
}

static bool perf_script_put_row(struct writer *w, const struct sp_sample *row)
{
    static const struct sp_context nothing = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    struct line l = {.pid = row->pid,
                     .tid = row->tid,
                     .cpu = row->cpu,
                     .time = row->flags & SP_SAMPLE_TIME ? row->time : perf_script_made_up_time(w),
                     .time_text = row->time_text,
                     .event = perf_script_event_of_row(w, row),
                     .has_period = row->period != SP_ABSENT,
                     .period = row->period,
                     .text = perf_script_probe_text(w, row->more)};
    if (row->period == SP_DECIMAL) {
        struct sp_str t = sp_pstr(w->p, row->period_text);
        double x = sp_text_double(t.p, t.n);
        l.period = x > 0 && x < 9e18 ? (int64_t)(x + 0.5) : 0;
        sp_emit(w->d, SP_I321, SP_AT_NOTHING, "fractions: this text has whole periods only");
    }
    perf_script_fill_thread(w, row->stack == SP_NONE ? &nothing : perf_script_context_of(w, row->stack), &l);
    w->done++;
    return perf_script_put_sample(w, &l, row->stack);
}

static spaa_status perf_script_put_rows(struct writer *w, const struct sp_sample *rows, size_t n)
{
    w->length = -1;
    for (size_t i = 0; i < n && !w->out->status; i++)
        if (perf_script_wanted(w, perf_script_event_of_row(w, &rows[i])) && !perf_script_put_row(w, &rows[i]))
            return sp_nomem(w->d);
    return SPAA_OK;
}

/*
 * Rows are written in place of the stacks only where they are all that the stacks count. *rows NULL: they are
 * not, or there are none.
 */
static spaa_status perf_script_usable_rows(struct writer *w, struct sp_sample **rows, size_t *n)
{
    struct sp_profile *p = w->p;
    __int128 counted = 0;
    size_t used = 0;
    *rows = NULL;
    *n = 0;
    if (!p->samples || w->per_stack || w->opts->metric != SP_NONE)
        return SPAA_OK;
    spaa_status st = sp_samples_sort(p->samples);
    if (st == SPAA_OK)
        st = sp_samples_rows(p->samples, rows, n);
    if (st != SPAA_OK || w->samples == SP_NONE)
        return st;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        int64_t v = perf_script_whole(w, s, w->samples);
        if (!perf_script_is_second(w, s) && perf_script_wanted(w, perf_script_context_of(w, s)->event) &&
            v > 0)
            counted += v;
    }
    for (size_t i = 0; i < *n; i++)
        used += perf_script_wanted(w, perf_script_event_of_row(w, *rows + i));
    if (*n && used != counted) {
        sp_emit(w->d, SP_I321, SP_AT_NOTHING,
                "the %zu raw samples are not what the stacks count: the stacks were written", used);
        *rows = NULL;
    }
    return SPAA_OK;
}

static void perf_script_put_comment(struct writer *w, const char *p, size_t n)
{
    sp_buf_clear(&w->line);
    sp_buf_puts(&w->line, "# ");
    sp_ps_put_text(&w->line, p, n);
    sp_buf_ch(&w->line, '\n');
    sp_write(w->out, w->line.data, w->line.len);
}

/* In the frame of `perf script --header`: some readers know such text by its first line. */
static void perf_script_put_comments(struct writer *w, bool made_up)
{
    static const char frame[] = "========", note[] = "times are made up: the profile has sums, no samples";
    static const char offsets[] =
        "addresses of the kernel are offsets: the profile does not say where it stood";
    struct sp_str more = sp_pstr(w->p, w->p->header.extra_json);
    struct sp_span list = {"", 0}, item;
    bool any = more.n &&
               sp_json_find2((struct sp_span){more.p, more.n}, "x_perf_script", "comments", &list) &&
               list.n > 2;
    if (!any && !made_up && !w->frames.relative)
        return;
    perf_script_put_comment(w, frame, sizeof frame - 1);
    while (any && sp_json_next(&list, &item)) {
        sp_buf_clear(&w->text);
        if (sp_json_text_to(&w->text, item))
            perf_script_put_comment(w, w->text.data, w->text.len);
    }
    if (made_up)
        perf_script_put_comment(w, note, sizeof note - 1);
    if (w->frames.relative)
        perf_script_put_comment(w, offsets, sizeof offsets - 1);
    perf_script_put_comment(w, frame, sizeof frame - 1);
    sp_puts(w->out, "#\n");
}

static spaa_status perf_script_render(struct writer *w)
{
    struct sp_sample *rows;
    size_t n;
    spaa_status st = perf_script_usable_rows(w, &rows, &n);
    if (st != SPAA_OK)
        return st;
    perf_script_put_comments(w, rows == NULL);
    st = rows ? perf_script_put_rows(w, rows, n) : perf_script_put_stacks(w);
    if (w->left_out)
        sp_emit(w->d, SP_I321, SP_AT_NOTHING, "%llu stacks without a positive weight",
                (unsigned long long)w->left_out);
    return st;
}

spaa_status sp_ps_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct writer w = {.p = p, .opts = opts, .d = d, .out = out, .samples = sp_metric_find(p, "samples", 7)};
    w.per_stack = sp_own_opt(opts->own, opts->nown, "per-stack") != NULL;
    sp_buf_init(&w.line, 0);
    sp_buf_init(&w.text, 0);
    bool srclines = sp_own_opt(opts->own, opts->nown, "srclines") != NULL;
    bool ok = sp_ps_printer_init(&w.frames, p, srclines) && perf_script_index_threads(&w);
    spaa_status st = ok ? perf_script_render(&w) : sp_nomem(d);
    if (st == SPAA_OK)
        st = sp_say_states_added(p, opts, opts->event, d);
    sp_ps_printer_free(&w.frames);
    sp_map_free(&w.threads);
    sp_buf_free(&w.line);
    sp_buf_free(&w.text);
    return st != SPAA_OK ? st : out->status;
}
