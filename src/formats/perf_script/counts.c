/*
 * What samples are counted as: events, threads, contexts, weights, times; and the header they make.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/perf_script/perf_script.h"
#include "model/samples.h"
#include "model/thread_names.h"
#include "json/json.h"

#include <string.h>

static bool perf_script_text_is(struct sp_ps_text a, struct sp_ps_text b)
{
    return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

static bool perf_script_one_of(struct sp_ps_text t, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == t.n && memcmp(*names, t.p, t.n) == 0)
            return true;
    return false;
}

/* "cycles:uppp" -> "cycles"; "sched:sched_switch" stays, being a tracepoint. */
static struct sp_ps_text perf_script_without_modifiers(struct sp_ps_text t)
{
    const char *colon = t.n ? memchr(t.p, ':', t.n) : NULL;
    if (!colon)
        return t;
    for (const char *p = colon + 1; p < t.p + t.n; p++)
        if (!memchr("ukhGHIpPSDWebR", *p, 14))
            return t;
    return (struct sp_ps_text){t.p, (size_t)(colon - t.p)};
}

static enum sp_event_kind perf_script_kind_of(struct sp_ps_text raw, struct sp_ps_text base)
{
    static const char *const software[] = {"cpu-clock",
                                           "task-clock",
                                           "page-faults",
                                           "faults",
                                           "minor-faults",
                                           "major-faults",
                                           "context-switches",
                                           "cs",
                                           "cpu-migrations",
                                           "migrations",
                                           "alignment-faults",
                                           "emulation-faults",
                                           "bpf-output",
                                           "cgroup-switches",
                                           "dummy",
                                           "offcpu-time",
                                           SP_SCHED_RECORD_EVENT,
                                           SP_SCHED_LOST_EVENT,
                                           NULL};
    if (!raw.n)
        return SP_TIMER;
    if (perf_script_one_of(base, software))
        return SP_SOFTWARE;
    if (memchr(base.p, ':', base.n) && !memchr(base.p, '/', base.n) &&
        !(base.n > 4 && memcmp(base.p, "mem:", 4) == 0))
        return SP_PROBE;
    return SP_HARDWARE;
}

bool sp_ps_is_probe(struct sp_ps_text event)
{
    return perf_script_kind_of(event, perf_script_without_modifiers(event)) == SP_PROBE;
}

bool sp_ps_is_side_band(const struct sp_ps_sample *s)
{
    static const char record[] = "PERF_RECORD_";
    struct sp_ps_text t = s->event.p ? s->event : s->rest;
    return t.n >= sizeof record - 1 && memcmp(t.p, record, sizeof record - 1) == 0;
}

/* Records of switches and of losses are samples of events of their own. */
static bool perf_script_is_record(enum sp_sched_kind kind)
{
    return kind == SP_SCHED_RECORD || kind == SP_SCHED_LOST;
}

static const char *perf_script_unit_of(struct sp_ps_text base)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", "offcpu-time", NULL};
    static const char *const cycles[] = {"cycles",      "cpu-cycles",           "ref-cycles",
                                         "cpu/cycles/", "cpu_core/cycles/",     "cpu_atom/cycles/",
                                         "bus-cycles",  "cpu_core/cpu-cycles/", NULL};
    return perf_script_one_of(base, clocks) ? "ns" : perf_script_one_of(base, cycles) ? "cycles" : "events";
}

/* What the header says of an event: frequency or period. */
static bool perf_script_sampling(struct sp_ps_counts *c, struct sp_event *e)
{
    for (size_t i = 0; i < c->comments->events.n; i++) {
        const struct sp_ps_event_note *note = &c->comments->events.v[i];
        if (note->name != e->name)
            continue;
        if (note->freq)
            e->mode = SP_FREQUENCY;
        if (!note->value || e->mode == SP_EVENT)
            return true;
        char digits[20];
        uint32_t text = sp_profile_str(c->p, digits, sp_u64_text(note->value, digits));
        *(note->freq ? &e->frequency_hz : &e->sample_period) = text;
        return text != SP_STR_FAIL;
    }
    return true;
}

static uint32_t perf_script_new_event(struct sp_ps_counts *c, struct sp_ps_text raw)
{
    struct sp_ps_text base = perf_script_without_modifiers(raw);
    struct sp_event e = {.kind = perf_script_kind_of(raw, base)};
    struct sp_ps_event seen = {.probe = e.kind == SP_PROBE};
    bool record = perf_script_is_record(sp_sched_kind_of((struct sp_str){raw.p, (uint32_t)raw.n}));
    e.mode = seen.probe || record ? SP_EVENT : SP_PERIOD;
    if (raw.n)
        e.name = sp_profile_str(c->p, raw.p, raw.n);
    else if (c->comments->events.n == 1)
        e.name = c->comments->events.v[0].name;
    else
        e.name = sp_profile_cstr(c->p, "unknown");
    e.unit = sp_profile_cstr(c->p, perf_script_unit_of(base));
    seen.raw = (struct sp_ps_text){sp_arena_dup(&c->text, raw.p ? raw.p : "", raw.n), raw.n};
    if (!seen.raw.p || e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || !perf_script_sampling(c, &e))
        return SP_NONE;
    seen.sched = sp_sched_kind_of(sp_pstr(c->p, e.name));
    seen.off_cpu = perf_script_one_of(base, (const char *const[]){"offcpu-time", NULL});
    c->any_off_cpu |= seen.off_cpu;
    c->any_switch |= seen.sched == SP_SCHED_SWITCH || seen.sched == SP_SCHED_RECORD;
    /* Time off the CPU is made of them one by one, whether anybody else wants samples or not. */
    if (seen.sched != SP_SCHED_OTHER && !c->p->samples) {
        if (sp_samples_new(c->d, &c->p->samples))
            return SP_NONE;
        c->p->samples_unasked = true;
    }
    seen.number = sp_event_add_named(c->p, &e);
    if (seen.number == SP_NONE || !sp_vec_push(&c->events, seen) ||
        !sp_map_add(&c->event_map, sp_hash_key(raw.p, raw.n), (uint32_t)c->events.n - 1))
        return SP_NONE;
    return (uint32_t)c->events.n - 1;
}

static uint32_t perf_script_event_of(struct sp_ps_counts *c, struct sp_ps_text raw)
{
    if (c->last_event != SP_NONE && perf_script_text_is(c->events.v[c->last_event].raw, raw))
        return c->last_event;
    struct sp_probe at = sp_map_probe(&c->event_map, sp_hash_key(raw.p, raw.n));
    for (uint32_t i; (i = sp_map_next(&c->event_map, &at)) != SP_MAP_NONE;)
        if (perf_script_text_is(c->events.v[i].raw, raw))
            return i;
    return perf_script_new_event(c, raw);
}

/*
 * A thread that is not the first of its process runs one program, whatever it is called. Of the first, and
 * where processes are not printed, another name may be another program's.
 */
static void perf_script_rename(struct sp_ps_counts *c, const struct sp_ps_who *w)
{
    struct sp_thread *t =
        w->pid == SP_ABSENT || w->pid == w->tid ? NULL : sp_thread_find(c->p, w->pid, w->tid);
    if (t && w->comm && t->comm != w->comm)
        sp_thread_rename(t, t->comm, w->comm);
}

/* The thread's record; a pid that was printed replaces one that was not. */
static bool perf_script_note_thread(struct sp_ps_counts *c, const struct sp_ps_who *w)
{
    if (w->tid == SP_ABSENT)
        return true;
    uint32_t t = sp_thread_intern_tid(c->p, w->tid, w->comm);
    if (t != SP_NONE && w->pid != SP_ABSENT && c->p->threads.v[t].extra_json) {
        c->p->threads.v[t].pid = w->pid;
        c->p->threads.v[t].extra_json = SP_STR_NONE;
    }
    return t != SP_NONE;
}

static uint32_t perf_script_who_of(struct sp_ps_counts *c, const struct sp_ps_sample *s)
{
    if (c->last_who != SP_NONE && perf_script_text_is(c->whos.v[c->last_who].raw, s->who))
        return c->last_who;
    uint64_t hash = sp_hash_key(s->who.p, s->who.n);
    struct sp_probe at = sp_map_probe(&c->who_map, hash);
    for (uint32_t i; (i = sp_map_next(&c->who_map, &at)) != SP_MAP_NONE;)
        if (perf_script_text_is(c->whos.v[i].raw, s->who)) {
            perf_script_rename(c, &c->whos.v[i]);
            return i;
        }
    struct sp_ps_who w = {
        {sp_arena_dup(&c->text, s->who.p, s->who.n), s->who.n}, s->pid, s->tid, SP_STR_NONE};
    if (s->comm.n)
        w.comm = sp_profile_str(c->p, s->comm.p, s->comm.n);
    c->any_pid |= s->pid != SP_ABSENT;
    c->any_tid |= s->tid != SP_ABSENT;
    if (!w.raw.p || w.comm == SP_STR_FAIL || c->whos.n >= SP_NONE - 1 || !perf_script_note_thread(c, &w) ||
        !sp_vec_push(&c->whos, w) || !sp_map_add(&c->who_map, hash, (uint32_t)c->whos.n - 1))
        return SP_NONE;
    perf_script_rename(c, &w);
    return (uint32_t)c->whos.n - 1;
}

void sp_ps_counts_init(struct sp_ps_counts *c, struct sp_profile *p, unsigned group_by,
                       struct sp_ps_comments *comments, struct sp_diags *d)
{
    *c = (struct sp_ps_counts){.p = p, .group_by = group_by, .comments = comments, .d = d};
    c->samples = c->period = c->count = SP_NONE;
    c->last_event = c->last_who = c->context_number = SP_NONE;
    sp_arena_init(&c->text, 0);
}

void sp_ps_counts_free(struct sp_ps_counts *c)
{
    sp_arena_free(&c->text);
    sp_vec_free(&c->events);
    sp_vec_free(&c->whos);
    sp_map_free(&c->who_map);
    sp_map_free(&c->event_map);
}

/* The state that a sample of sched_switch says its thread is in from then on, or that of offcpu-time was in;
 * SP_STR_NONE: it is of another event, or states are not asked for. */
static uint32_t perf_script_state_of(struct sp_ps_counts *c, const struct sp_ps_event *e,
                                     const struct sp_ps_sample *s)
{
    if ((e->sched != SP_SCHED_SWITCH && !e->off_cpu) || !(c->group_by & SP_BY_STATE))
        return SP_STR_NONE;
    c->any_state = true;
    if (e->off_cpu)
        return sp_profile_cstr(c->p, sp_task_state_name(SP_TASK_SLEEPING));
    enum sp_task_state state = s->tid ? sp_ps_switch_state(s->rest) : SP_TASK_IDLE; /* 0: a CPU's idle task */
    return sp_profile_cstr(c->p, sp_task_state_name(state));
}

spaa_status sp_ps_context(struct sp_ps_counts *c, const struct sp_ps_sample *s, uint32_t *event,
                          uint32_t *context)
{
    uint32_t e = perf_script_event_of(c, s->event), who = perf_script_who_of(c, s);
    if (e == SP_NONE || who == SP_NONE)
        return sp_nomem(c->d);
    const struct sp_ps_who *w = &c->whos.v[who];
    unsigned by = c->group_by;
    int64_t cpu = by & SP_BY_CPU ? s->cpu : SP_ABSENT;
    uint32_t state = perf_script_state_of(c, &c->events.v[e], s);
    if (state == SP_STR_FAIL)
        return sp_nomem(c->d);
    if (c->context_number == SP_NONE || who != c->last_who || e != c->last_event || cpu != c->last.cpu ||
        state != c->last.state) {
        c->last = (struct sp_context){.pid = by & SP_BY_PID ? w->pid : SP_ABSENT,
                                      .tid = by & SP_BY_TID ? w->tid : SP_ABSENT,
                                      .cpu = cpu,
                                      .event = c->events.v[e].number,
                                      .state = state,
                                      .comm = by & SP_BY_COMM ? w->comm : SP_STR_NONE};
        c->context_number = sp_context_intern(c->p, &c->last);
        c->last_who = who;
        c->last_event = e;
        if (c->context_number == SP_NONE)
            return sp_nomem(c->d);
    }
    *event = e;
    *context = c->context_number;
    return SPAA_OK;
}

static inline bool perf_script_add_weight(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    const struct sp_column *c = &p->columns[metric];
    int64_t sum;
    if (stack < c->n && c->v[stack] >= 0 && !__builtin_add_overflow(c->v[stack], v, &sum)) {
        c->v[stack] = sum;
        return true;
    }
    return sp_weight_add(p, stack, metric, v);
}

static void perf_script_note_time(struct sp_ps_counts *c, const struct sp_ps_sample *s)
{
    if (!c->any_time || s->ns < c->first_ns) {
        c->first_ns = s->ns;
        c->first_digits = s->digits;
    }
    if (!c->any_time || s->ns > c->last_ns) {
        c->last_ns = s->ns;
        c->last_digits = s->digits;
    }
    c->any_time = true;
}

/* The text of a tracepoint as it stands, and its fields, where it is known what they are. */
static bool perf_script_keep_text(struct sp_ps_counts *c, const struct sp_ps_sample *s,
                                  const struct sp_ps_event *e, struct sp_sample *row)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_perf_script\":{\"text\":");
    sp_json_string(&b, s->rest.p, s->rest.n);
    sp_buf_ch(&b, '}');
    row->more = b.failed ? SP_STR_FAIL : sp_profile_str(c->p, b.data, b.len);
    bool failed = b.failed || row->more == SP_STR_FAIL;
    sp_buf_clear(&b);
    if (!failed && sp_ps_trace_fields(e->sched, s->rest, &b)) {
        row->context = b.failed ? SP_STR_FAIL : sp_profile_str(c->p, b.data, b.len);
        row->flags |= SP_SAMPLE_CONTEXT;
        failed = b.failed || row->context == SP_STR_FAIL;
    }
    sp_buf_free(&b);
    return !failed;
}

static spaa_status perf_script_keep_row(struct sp_ps_counts *c, const struct sp_ps_sample *s,
                                        const struct sp_ps_event *e, uint32_t stack)
{
    struct sp_sample row = {.time = s->ns,
                            .pid = s->pid,
                            .tid = s->tid,
                            .cpu = s->cpu,
                            .period = s->has_period ? s->period : SP_ABSENT,
                            .stack = stack,
                            .event = e->number,
                            .flags = s->timed ? SP_SAMPLE_TIME : 0};
    if ((e->probe || perf_script_is_record(e->sched)) && s->rest.n && !perf_script_keep_text(c, s, e, &row))
        return sp_nomem(c->d);
    return sp_samples_add(c->p->samples, &row);
}

/* Metrics come to be when something is counted in them. */
static bool perf_script_metric(struct sp_ps_counts *c, uint32_t *number, const char *name)
{
    if (*number == SP_NONE)
        *number = sp_metric_intern(c->p, name, strlen(name));
    return *number != SP_NONE;
}

static bool perf_script_add_weights(struct sp_ps_counts *c, const struct sp_ps_sample *s,
                                    struct sp_ps_event *e, uint32_t stack, uint64_t line)
{
    if (!perf_script_metric(c, &c->samples, "samples") || !perf_script_add_weight(c->p, stack, c->samples, 1))
        return false;
    if (e->probe &&
        !(perf_script_metric(c, &c->count, "count") && perf_script_add_weight(c->p, stack, c->count, 1)))
        return false;
    *(s->has_period ? &e->with_period : &e->without_period) = true;
    if (!s->has_period)
        return true;
    if (s->period == INT64_MAX)
        sp_emit(c->d, SP_L304, SP_AT_LINE(line, SP_NOWHERE), "a period");
    return perf_script_metric(c, &c->period, "period") &&
           perf_script_add_weight(c->p, stack, c->period, s->period);
}

spaa_status sp_ps_count(struct sp_ps_counts *c, const struct sp_ps_sample *s, uint32_t event, uint32_t stack,
                        uint64_t line)
{
    struct sp_ps_event *e = &c->events.v[event];
    if (!perf_script_add_weights(c, s, e, stack, line))
        return sp_nomem(c->d);
    if (s->timed)
        perf_script_note_time(c, s);
    c->any = true;
    c->any_cpu |= s->cpu != SP_ABSENT;
    return c->p->samples ? perf_script_keep_row(c, s, e, stack) : SPAA_OK;
}

/* What an event's weights are is known when all its samples were seen. */
static bool perf_script_finish_event(struct sp_ps_counts *c, const struct sp_ps_event *e, uint32_t *layout)
{
    struct sp_event *out = &c->p->events.v[e->number];
    struct sp_weight_field f[3] = {{c->samples, SP_STR_NONE, 0}};
    size_t n = 1;
    out->primary = c->samples;
    if (e->probe) {
        out->primary = c->count;
        f[n++] = (struct sp_weight_field){c->count, SP_STR_NONE, 0};
    } else if (e->with_period) {
        out->primary = c->period;
    }
    if (e->with_period)
        f[n++] = (struct sp_weight_field){c->period, out->unit, 0};
    if (e->probe || !e->with_period)
        out->unit = SP_STR_NONE;
    if (e->with_period && e->without_period)
        sp_emit(c->d, SP_W311, SP_AT_NOTHING, "some samples of %s have no period; they add none",
                sp_pstr(c->p, out->name).p);
    *layout = sp_layout_intern(c->p, f, n);
    return *layout != SP_NONE;
}

static bool perf_script_finish_stacks(struct sp_ps_counts *c)
{
    SP_VEC(uint32_t) layouts = {0}; /* by event number */
    bool ok = sp_vec_reserve(&layouts, c->p->events.n + 1);
    for (size_t i = 0; ok && i < c->events.n; i++)
        ok = perf_script_finish_event(c, &c->events.v[i], &layouts.v[c->events.v[i].number]);
    for (uint32_t s = 0; ok && s < c->p->stacks.n; s++) {
        uint32_t layout = layouts.v[c->p->contexts.v[c->p->stacks.v[s].context].event];
        sp_stack_set_layout(c->p, s, layout);
        const struct sp_layout *l = &c->p->layouts.v[layout];
        for (uint32_t i = 0; ok && i < l->n; i++) {
            uint32_t metric = c->p->layout_fields.v[l->first + i].metric;
            if (sp_weight(c->p, s, metric) == SP_ABSENT)
                ok = sp_weight_set(c->p, s, metric, 0);
        }
    }
    sp_vec_free(&layouts);
    return ok;
}

/* Seconds with as many digits as were printed. */
static uint32_t perf_script_time_text(struct sp_ps_counts *c, int64_t ns, unsigned digits)
{
    char t[48], frac[20];
    size_t n = sp_u64_text((uint64_t)(ns / 1000000000), t);
    size_t have = sp_u64_text((uint64_t)(ns % 1000000000), frac);
    t[n++] = '.';
    for (unsigned i = 0; i < digits; i++)
        t[n++] = i < 9 - have ? '0' : frac[i - (9 - have)];
    return sp_profile_str(c->p, t, n);
}

static bool perf_script_finish_header(struct sp_ps_counts *c, enum sp_granularity frames)
{
    struct sp_header *h = &c->p->header;
    h->version = sp_profile_cstr(c->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(c->p, "perf");
    bool ok = h->version != SP_STR_FAIL && h->tool != SP_STR_FAIL;
    if (c->any_time) {
        h->time_start = perf_script_time_text(c, c->first_ns, c->first_digits);
        h->time_end = perf_script_time_text(c, c->last_ns, c->last_digits);
        h->time_unit = sp_profile_cstr(c->p, "seconds");
        ok = ok && h->time_start != SP_STR_FAIL && h->time_end != SP_STR_FAIL && h->time_unit != SP_STR_FAIL;
    }
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_perf_script\":{\"comments\":[");
    if (c->comments->lines.len)
        sp_buf_add(&b, c->comments->lines.data, c->comments->lines.len);
    sp_buf_puts(&b, "]}");
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(c->p, b.data, b.len);
    sp_buf_free(&b);
    h->has_x_spaa = true;
    h->frames = frames;
    h->group_by =
        c->group_by & (SP_BY_COMM | (c->any_tid ? SP_BY_TID : 0u) | (c->any_pid ? SP_BY_PID : 0u) |
                       (c->any_cpu ? SP_BY_CPU : 0u) | (c->any_switch || c->any_off_cpu ? SP_BY_STATE : 0u));
    return ok && h->extra_json != SP_STR_FAIL;
}

/* As far as the grouping keeps who it was. */
static bool perf_script_is_idle_task(const struct sp_profile *p, const struct sp_context *c)
{
    if (c->tid != SP_ABSENT)
        return !c->tid;
    return !c->pid || (c->pid == SP_ABSENT && sp_str_is(sp_pstr(p, c->comm), "swapper"));
}

/* Where some samples say how threads left the CPU, all others were taken on one, of the idle task where it
 * had nothing to do, as in the reader of perf.data; which of the two it is shows when all were seen. */
static bool perf_script_finish_states(struct sp_ps_counts *c)
{
    if (!c->any_state)
        return true;
    uint32_t on = sp_profile_cstr(c->p, "RUNNABLE"),
             idle = sp_profile_cstr(c->p, sp_task_state_name(SP_TASK_IDLE));
    for (size_t i = 0; i < c->p->contexts.n; i++) {
        struct sp_context *x = &c->p->contexts.v[i];
        if (x->state == SP_STR_NONE)
            x->state = perf_script_is_idle_task(c->p, x) ? idle : on;
    }
    return on != SP_STR_FAIL && idle != SP_STR_FAIL;
}

spaa_status sp_ps_finish(struct sp_ps_counts *c, enum sp_granularity frames)
{
    return perf_script_finish_states(c) && perf_script_finish_stacks(c) &&
                   perf_script_finish_header(c, frames)
               ? SPAA_OK
               : sp_nomem(c->d);
}
