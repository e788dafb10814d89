/* A thread of a processed profile: its samples, as weights of stacks and one by one. */
#include "base/num.h"
#include "formats/firefox/read.h"
#include "model/samples.h"

#include <stdlib.h>

struct ff_thread {
    struct sp_ff_tables *t;
    int64_t pid, tid;
    uint32_t comm;
    enum sp_ff_kind kind;
    uint32_t context;
    bool weighed;
    struct sp_ff_column stack, time, weight, cpu;
    struct sp_ff_decimals decimals; /* of weights */
    size_t decimal;                 /* how many of them were taken */
    uint32_t *stacks; /* by stack of the table, 1 + its number in the profile; the last: of no stack */
};

/* ---- what its samples are ---- */

static const struct {
    const char *event, *metric, *unit;
} kinds[] = {[SP_FF_SAMPLES] = {"sample", "samples", ""},
             [SP_FF_COUNTED] = {"sample", "value", ""},
             [SP_FF_TRACING] = {"tracing", "value", "ns"},
             [SP_FF_BYTES] = {"bytes", "value", "bytes"}};

/* The name of the event: what spaa wrote has it as the product. */
static uint32_t ff_event_name(struct sp_ff_reader *r, enum sp_ff_kind kind)
{
    sp_buf_clear(&r->b);
    if (r->ours && r->product.n && *r->product.p == '"')
        sp_json_text_to(&r->b, r->product);
    return r->b.failed ? SP_STR_FAIL
           : r->b.len  ? sp_profile_text(r->p, r->b.data, r->b.len)
                       : sp_profile_cstr(r->p, kinds[kind].event);
}

static bool ff_declare(struct sp_ff_reader *r, enum sp_ff_kind kind)
{
    struct sp_profile *p = r->p;
    struct sp_weight_field f[2] = {{0}};
    size_t n = 1;
    if (r->events[kind] != SP_NONE)
        return true;
    struct sp_event e = {.kind = SP_TIMER, .mode = kind == SP_FF_SAMPLES ? SP_PERIOD : SP_EVENT};
    e.name = ff_event_name(r, kind);
    e.unit = *kinds[kind].unit ? sp_profile_cstr(p, kinds[kind].unit) : SP_STR_NONE;
    e.primary = r->metrics[kind] = sp_metric_intern(p, kinds[kind].metric, strlen(kinds[kind].metric));
    f[0] = (struct sp_weight_field){e.primary, e.unit, 0};
    if (kind == SP_FF_SAMPLES && r->cpu_unit) {
        f[n++] = (struct sp_weight_field){r->cpu = sp_metric_intern(p, "x_cpu_ns", 8),
                                          sp_profile_cstr(p, "ns"), 0};
        if (r->cpu == SP_NONE || f[1].unit == SP_STR_FAIL)
            return sp_ff_fail(r);
    }
    if (e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || e.primary == SP_NONE)
        return sp_ff_fail(r);
    r->events[kind] = sp_event_add_named(p, &e);
    r->layouts[kind] = sp_layout_intern(p, f, n);
    return (r->events[kind] != SP_NONE && r->layouts[kind] != SP_NONE) || sp_ff_fail(r);
}

static bool ff_context(struct sp_ff_reader *r, struct ff_thread *x)
{
    unsigned by = r->opts->group_by;
    struct sp_context c = {.cpu = SP_ABSENT, .event = r->events[x->kind]};
    if (x->tid != SP_ABSENT && (x->pid != SP_ABSENT ? sp_thread_intern(r->p, x->pid, x->tid, x->comm)
                                                    : sp_thread_intern_tid(r->p, x->tid, x->comm)) == SP_NONE)
        return sp_ff_fail(r);
    c.pid = by & SP_BY_PID ? x->pid : SP_ABSENT;
    c.tid = by & SP_BY_TID ? x->tid : SP_ABSENT;
    c.comm = by & SP_BY_COMM ? x->comm : SP_STR_NONE;
    r->p->header.group_by |= (c.pid != SP_ABSENT ? SP_BY_PID : 0u) | (c.tid != SP_ABSENT ? SP_BY_TID : 0u) |
                             (c.comm != SP_STR_NONE ? SP_BY_COMM : 0u);
    x->context = sp_context_intern(r->p, &c);
    return x->context != SP_NONE || sp_ff_fail(r);
}

/* ---- samples ---- */

/* The record of a stack; SP_ABSENT: of a sample that has none. SP_NONE: r->status says why. */
static uint32_t ff_stack(struct sp_ff_reader *r, struct ff_thread *x, int64_t stack)
{
    const struct sp_ff_tables *of = x->t->frame.n ? x->t : &r->shared;
    bool has = stack >= 0 && (uint64_t)stack < of->frame.n, is_new;
    uint32_t *known = &x->stacks[has ? (size_t)stack : of->frame.n];
    if (*known)
        return *known - 1;
    if (!sp_ff_path(r, x->t, stack))
        return SP_NONE;
    uint32_t s = sp_stack_intern(r->p, r->path.v, r->path.n, x->context, SP_UNIFIED, &is_new);
    if (s == SP_NONE) {
        sp_ff_fail(r);
        return SP_NONE;
    }
    if (is_new)
        sp_stack_set_layout(r->p, s, r->layouts[x->kind]);
    *known = s + 1;
    return s;
}

static bool ff_keep(struct sp_ff_reader *r, const struct ff_thread *x, uint32_t stack, int64_t time,
                    int64_t weight, uint32_t text)
{
    bool lasted = x->kind == SP_FF_TRACING && weight > 0;
    struct sp_sample row = {
        .pid = x->pid, .tid = x->tid, .cpu = SP_ABSENT, .stack = stack, .period_text = text};
    if (__builtin_add_overflow(time, r->start, &row.time) ||
        (lasted && __builtin_add_overflow(row.time, weight, &row.time)))
        return true;
    row.event = r->events[x->kind];
    row.period = x->weighed ? weight : SP_ABSENT;
    row.flags = SP_SAMPLE_TIME | (lasted ? SP_SAMPLE_LASTED : 0u);
    int64_t from = lasted ? row.time - weight : row.time;
    r->first = !r->timed || from < r->first ? from : r->first;
    r->last = !r->timed || row.time > r->last ? row.time : r->last;
    r->timed = true;
    if (r->p->samples)
        r->status = sp_samples_add(r->p->samples, &row);
    return !r->status;
}

/* Weights are whole or decimals, times of tracing ns. */
static bool ff_sample(struct sp_ff_reader *r, struct ff_thread *x, size_t i)
{
    int64_t weight = x->weighed ? sp_ff_at(&x->weight, (int64_t)i) : 1, cpu = sp_ff_at(&x->cpu, (int64_t)i);
    char text[64];
    size_t n = weight == SP_DECIMAL ? sp_scaled_text(x->decimals.v[x->decimal++], 9, text) : 0;
    uint32_t period = n ? sp_profile_str(r->p, text, n) : SP_STR_NONE;
    if (period == SP_STR_FAIL)
        return sp_ff_fail(r);
    if (weight == SP_ABSENT) {
        r->bad++;
        return true;
    }
    if (!weight)
        return true;
    uint32_t s = ff_stack(r, x, x->stack.v[i]);
    if (s == SP_NONE)
        return false;
    if (n ? !sp_weight_add_text(r->p, s, r->metrics[x->kind], text, n)
          : !sp_weight_add(r->p, s, r->metrics[x->kind], weight))
        return sp_ff_fail(r);
    if (x->kind == SP_FF_SAMPLES && r->cpu_unit) {
        int64_t ns = i && cpu > 0 && cpu < INT64_MAX / r->cpu_unit ? cpu * r->cpu_unit : 0;
        if (!sp_weight_add(r->p, s, r->cpu, ns))
            return sp_ff_fail(r);
    }
    int64_t time = sp_ff_at(&x->time, (int64_t)i);
    return time == SP_ABSENT || ff_keep(r, x, s, time, weight, period);
}

static bool ff_samples(struct sp_ff_reader *r, struct ff_thread *x)
{
    const struct sp_ff_tables *of = x->t->frame.n ? x->t : &r->shared;
    x->stacks = calloc(of->frame.n + 1, sizeof *x->stacks);
    if (!x->stacks)
        return sp_ff_fail(r);
    for (size_t i = 0; i < x->stack.n; i++)
        if (!ff_sample(r, x, i))
            return false;
    return true;
}

/* Times, or what lies between them, which is added up. */
static bool ff_times(struct sp_ff_reader *r, struct ff_thread *x, struct sp_span times, struct sp_span deltas)
{
    if (!sp_ff_column(r, times.n && *times.p == '[' ? times : deltas, 6, &x->time))
        return false;
    int64_t at = 0;
    for (size_t i = 0; i < x->time.n && !(times.n && *times.p == '['); i++) {
        if (x->time.v[i] != SP_ABSENT && __builtin_add_overflow(at, x->time.v[i], &at))
            at = INT64_MAX;
        x->time.v[i] = at;
    }
    return true;
}

static bool ff_read_samples(struct sp_ff_reader *r, struct ff_thread *x, struct sp_span samples)
{
    struct sp_json_member m[] = {{"stack", {0}},  {"time", {0}},       {"timeDeltas", {0}},
                                 {"weight", {0}}, {"weightType", {0}}, {"threadCPUDelta", {0}}};
    if (!sp_ff_members(r, samples, m, sizeof m / sizeof *m))
        return false;
    x->weighed = m[3].raw.n && *m[3].raw.p == '[';
    bool tracing = sp_span_is(m[4].raw, "\"tracing-ms\"") && x->weighed;
    bool bytes = sp_span_is(m[4].raw, "\"bytes\"") && x->weighed;
    x->kind = tracing                 ? SP_FF_TRACING
              : bytes                 ? SP_FF_BYTES
              : x->weighed && r->ours ? SP_FF_COUNTED
                                      : SP_FF_SAMPLES;
    if (!ff_declare(r, x->kind) || !ff_context(r, x) || !sp_ff_column(r, m[0].raw, 0, &x->stack) ||
        !ff_times(r, x, m[1].raw, m[2].raw) ||
        !(tracing ? sp_ff_column(r, m[3].raw, 6, &x->weight)
                  : sp_ff_numbers(r, m[3].raw, &x->weight, &x->decimals)) ||
        !sp_ff_column(r, r->cpu_unit ? m[5].raw : (struct sp_span){0}, 0, &x->cpu))
        return false;
    return ff_samples(r, x);
}

/* ---- the thread ---- */

/* Numbers are numbers or texts. */
static int64_t ff_id(struct sp_span raw)
{
    int64_t v;
    if (raw.n > 1 && *raw.p == '"') {
        raw.p++;
        raw.n -= 2;
    }
    return raw.n && sp_parse_i64(raw.p, raw.p + raw.n, &v) == raw.n && v > SP_DECIMAL ? v : SP_ABSENT;
}

/* Adds the rows that a table says it has. */
static bool ff_count(struct sp_ff_reader *r, struct sp_span table, uint64_t *sum)
{
    struct sp_json_member length = {"length", {0}};
    if (!sp_ff_members(r, table, &length, 1))
        return false;
    int64_t n = ff_id(length.raw);
    *sum += n > 0 ? (uint64_t)n : 0;
    return true;
}

bool sp_ff_read_thread(struct sp_ff_reader *r, struct sp_span thread)
{
    struct sp_json_member m[] = {{"samples", {0}},
                                 {"name", {0}},
                                 {"pid", {0}},
                                 {"tid", {0}},
                                 {"markers", {0}},
                                 {"jsAllocations", {0}},
                                 {"nativeAllocations", {0}},
                                 {"jsTracer", {0}}};
    struct ff_thread x = {.t = &r->own, .comm = SP_STR_NONE};
    if (!sp_ff_members(r, thread, m, sizeof m / sizeof *m))
        return false;
    x.pid = ff_id(m[2].raw);
    x.tid = ff_id(m[3].raw);
    sp_buf_clear(&r->b);
    if (m[1].raw.n && *m[1].raw.p == '"')
        sp_json_text_to(&r->b, m[1].raw);
    if (r->b.len && !r->b.failed)
        x.comm = sp_profile_text(r->p, r->b.data, r->b.len);
    if (r->b.failed || x.comm == SP_STR_FAIL)
        return sp_ff_fail(r);
    bool ok = ff_count(r, m[4].raw, &r->markers) && ff_count(r, m[5].raw, &r->allocations) &&
              ff_count(r, m[6].raw, &r->allocations) && ff_count(r, m[7].raw, &r->traced) &&
              sp_ff_read_tables(r, thread, &r->own) && ff_read_samples(r, &x, m[0].raw);
    sp_ff_free_tables(&r->own);
    sp_vec_free(&x.stack);
    sp_vec_free(&x.time);
    sp_vec_free(&x.weight);
    sp_vec_free(&x.decimals);
    sp_vec_free(&x.cpu);
    free(x.stacks);
    return ok;
}
