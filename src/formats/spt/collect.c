/*
 * From a profile to what SPT can say.
 *
 * Which binaries can be written and what is their GUID: modules.c. Events become opcodes by their names
 * (perf's and ETW's names of the same counters are known) or, for timers, SPT_OP_ETW_INSTR. Each stack of
 * such an event is a sample of its leaf; those of one event (the one with most samples) are written as call
 * stacks too, unless the profile has stacks of `etw_callstack`. A call stack that crosses binaries becomes
 * runs of one binary; more than 255 frames are split with one frame in both halves, since a record counts its
 * addresses in a byte. Frames that were inlined have no address of their own.
 */
#include "formats/spt/collect.h"

#include "base/num.h"
#include "formats/common/spt/tally.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"
#include "model/events.h"
#include "model/returns.h"

#include <stdlib.h>
#include <string.h>

enum { NO_TRACES = -2 };

bool sp_spt_enter(struct sp_json *j, struct sp_buf *text, struct sp_str more)
{
    struct sp_span key, raw;
    sp_buf_ch(text, '{');
    sp_buf_add(text, more.p, more.n);
    sp_buf_ch(text, '}');
    sp_json_init(j, text->failed ? "" : text->data, text->failed ? 0 : text->len);
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        if (sp_span_is(key, "x_spt") && sp_json_type(j) == SP_JSON_OBJECT)
            return sp_json_object(j);
        sp_json_skip(j, &raw);
    }
    return false;
}

static struct sp_str spt_str_of(const char *s, size_t n)
{
    return (struct sp_str){s, (uint32_t)n};
}

/* The counter's name without perf's modifiers (cycles:u, cpu/cycles/). */
static struct sp_str spt_counter(struct sp_str name)
{
    const char *slash = memchr(name.p, '/', name.n);
    if (slash) {
        const char *begin = slash + 1, *end = memchr(begin, '/', name.n - (size_t)(begin - name.p));
        return spt_str_of(begin, end ? (size_t)(end - begin) : name.n - (size_t)(begin - name.p));
    }
    const char *colon = memchr(name.p, ':', name.n);
    return spt_str_of(name.p, colon ? (size_t)(colon - name.p) : name.n);
}

static int spt_kind_of_event(const struct sp_profile *p, const struct sp_event *e)
{
    static const struct {
        const char *name;
        unsigned char op;
    } known[] = {{"cycles", SP_SPT_UNHALT_CYCLE},
                 {"cpu-cycles", SP_SPT_UNHALT_CYCLE},
                 {"TotalCycles", SP_SPT_UNHALT_CYCLE},
                 {"UnhaltedCoreCycles", SP_SPT_UNHALT_CYCLE},
                 {"instructions", SP_SPT_RETIRE_INSTR},
                 {"InstructionRetired", SP_SPT_RETIRE_INSTR},
                 {"branches", SP_SPT_RETIRE_BR_INSTR},
                 {"branch-instructions", SP_SPT_RETIRE_BR_INSTR},
                 {"BranchInstructions", SP_SPT_RETIRE_BR_INSTR},
                 {"BranchInstructionRetired", SP_SPT_RETIRE_BR_INSTR},
                 {"L1-icache-load-misses", SP_SPT_L1_ICACHE_MISS},
                 {"L1-icache-misses", SP_SPT_L1_ICACHE_MISS},
                 {"IcacheMisses", SP_SPT_L1_ICACHE_MISS},
                 {"L1-dcache-load-misses", SP_SPT_L1_DCACHE_MISS},
                 {"L1-dcache-misses", SP_SPT_L1_DCACHE_MISS},
                 {"DcacheMisses", SP_SPT_L1_DCACHE_MISS},
                 {"cpu-clock", SP_SPT_ETW_INSTR},
                 {"task-clock", SP_SPT_ETW_INSTR}};
    struct sp_str whole = sp_pstr(p, e->name), name = spt_counter(whole);
    for (int k = 0; k < SP_SPT_KINDS; k++)
        if (sp_str_is(whole, sp_spt_kinds[k].event))
            return k;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_str_is(name, known[i].name))
            return sp_spt_kind_of(known[i].op);
    return sp_str_is(whole, SP_LBR_TRACE) ? NO_TRACES
           : e->kind == SP_TIMER          ? sp_spt_kind_of(SP_SPT_ETW_INSTR)
                                          : -1;
}

/* False: there are none, or they are no count. */
static bool spt_hits_of(struct sp_spt_collector *c, uint32_t stack, uint32_t event, struct sp_spt_sum *out)
{
    uint32_t metric = c->metrics[event];
    int64_t v = metric == SP_NONE ? SP_ABSENT : sp_weight(c->p, stack, metric);
    *out = (struct sp_spt_sum){0};
    if (v == SP_ABSENT || v == 0)
        return false;
    if (v > 0) {
        out->low = (uint64_t)v;
        return true;
    }
    struct sp_str t = v == SP_DECIMAL ? sp_weight_text(c->p, stack, metric) : (struct sp_str){"-", 1};
    unsigned __int128 sum = 0;
    for (uint32_t i = 0; i < t.n; i++) {
        unsigned digit = (unsigned char)t.p[i] - (unsigned)'0';
        if (digit > 9 || sum >> 90) {
            c->odd_weight++;
            return false;
        }
        sum = sum * 10 + digit;
    }
    *out = (struct sp_spt_sum){(uint64_t)sum, (uint32_t)(sum >> 64)};
    return sum != 0;
}

static bool spt_take_frames(struct sp_spt_collector *c, uint32_t stack)
{
    const struct sp_stack *s = &c->p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(c->p, stack);
    if (!sp_vec_reserve(&c->frames, c->frames.n + s->n))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!(c->p->frames.v[f[i]].flags & SP_FRAME_INLINED))
            c->frames.v[c->frames.n++] = f[i];
    return true;
}

/* The module of a frame that can be written, and its address; NULL: not, which is counted. */
static struct sp_spt_module *spt_usable(struct sp_spt_collector *c, uint32_t frame, bool sample,
                                        uint64_t hits, uint32_t *rva)
{
    const struct sp_frame *f = &c->p->frames.v[frame];
    uint32_t dso = c->p->functions.v[f->function].dso;
    struct sp_spt_module *m = &c->modules.v[dso];
    if (m->fate == SP_SPT_OUT)
        return NULL;
    if (m->fate == SP_SPT_NO_MODULE)
        *(sample ? &m->lost_hits : &m->lost_frames) += hits;
    else if (!(f->flags & SP_FRAME_IP))
        c->no_address += hits;
    else if (f->ip > UINT32_MAX)
        c->large += hits;
    else {
        *rva = (uint32_t)f->ip;
        return m;
    }
    return NULL;
}

static bool spt_add_thing(struct sp_spt_collector *c, struct sp_spt_module *m, int kind,
                          const uint32_t *addresses, uint32_t n, struct sp_spt_sum sum)
{
    m->used = true;
    c->written++;
    return sp_spt_hits_add(&c->out->hits, (uint32_t)(m - c->modules.v), kind, addresses, n, sum);
}

/* What became of a call stack that has more frames of one binary in a row than a record holds. */
static void spt_count_split(struct sp_spt_collector *c, struct sp_spt_sum sum, uint64_t splits)
{
    if (!splits)
        return;
    c->split++;
    c->pieces += splits;
    sp_spt_add(&c->split_hits, sum.low);
    c->split_hits.high += sum.high;
}

/* Whether a frame called the one before it: not where it entered the kernel. */
static bool spt_is_caller(const struct sp_spt_collector *c, size_t i)
{
    const struct sp_frame *f = c->p->frames.v;
    const struct sp_returns below_leaf = {.callers = true};
    return sp_is_return(below_leaf, &f[c->frames.v[i]], i ? &f[c->frames.v[i - 1]] : NULL);
}

/*
 * c->frames as call stacks of one binary each. A run of one address has no arc, unless it is all there was.
 * Callers of SPT are return addresses: those of profiles that have addresses in the calls are one byte
 * further.
 */
static bool spt_add_call_stack(struct sp_spt_collector *c, struct sp_spt_sum sum, bool alone)
{
    uint32_t addresses[SP_SPT_SPLIT];
    struct sp_spt_module *run = NULL;
    uint32_t n = 0, rva = 0;
    uint64_t splits = 0;
    bool calls = c->p->header.ips == SP_IPS_CALL;
    for (size_t i = 0; i <= c->frames.n; i++) {
        struct sp_spt_module *m = i < c->frames.n ? spt_usable(c, c->frames.v[i], false, 1, &rva) : NULL;
        bool split = m && m == run && n == SP_SPT_SPLIT;
        if (run && (m != run || split) && (n > 1 || (alone && c->frames.n == 1)) &&
            !spt_add_thing(c, run, SP_SPT_KIND_CALLSTACK, addresses, n, sum))
            return false;
        c->crossing_calls += m && run && m != run;
        splits += split;
        if (split) {
            addresses[0] = addresses[n - 1];
            n = 1;
        } else if (m != run) {
            n = 0;
        }
        run = m;
        if (m)
            addresses[n++] = rva + (calls && spt_is_caller(c, i) && rva < UINT32_MAX);
    }
    spt_count_split(c, sum, splits);
    return true;
}

static bool spt_add_branch(struct sp_spt_collector *c, struct sp_spt_sum sum)
{
    uint32_t addresses[2]; /* to, from */
    if (c->frames.n != 2) {
        c->odd_event++;
        return true;
    }
    uint32_t dso[2];
    for (unsigned i = 0; i < 2; i++)
        dso[i] = sp_frame_function(c->p, c->frames.v[i])->dso;
    struct sp_spt_module *a = spt_usable(c, c->frames.v[0], true, sum.low, &addresses[0]),
                         *b = spt_usable(c, c->frames.v[1], true, sum.low, &addresses[1]);
    if (!a || !b)
        return true;
    if (dso[0] != dso[1]) {
        c->crossing_branches += sum.low;
        return true;
    }
    return spt_add_thing(c, a, SP_SPT_KIND_LBR, addresses, 2, sum);
}

/* A call stack of no frames: the context says which binary it is of, or it is of none. */
static bool spt_add_empty(struct sp_spt_collector *c, const struct sp_context *x, struct sp_spt_sum sum)
{
    struct sp_buf text, name, id;
    bool found = false;
    struct sp_span key, value;
    struct sp_json j;
    sp_buf_init(&text, 0);
    sp_buf_init(&name, 0);
    sp_buf_init(&id, 0);
    if (sp_spt_enter(&j, &text, sp_pstr(c->p, x->extra_json)))
        while (sp_json_key(&j, &key)) {
            struct sp_buf *to = sp_span_is(key, "binary") ? &name : sp_span_is(key, "build_id") ? &id : NULL;
            if (!to || sp_json_type(&j) != SP_JSON_STRING)
                sp_json_skip(&j, &value);
            else if (sp_json_string_value(&j, &value))
                sp_buf_add(to, value.p, value.n);
        }
    bool ok = !text.failed && !name.failed && !id.failed;
    for (size_t i = 0; ok && !found && i < c->p->dsos.n; i++) {
        struct sp_str dso = sp_pstr(c->p, c->p->dsos.v[i].name),
                      build = sp_pstr(c->p, c->p->dsos.v[i].build_id);
        if (c->modules.v[i].fate == SP_SPT_NO_MODULE || dso.n != name.len || build.n != id.len ||
            (dso.n && memcmp(dso.p, name.data, dso.n) != 0) ||
            (build.n && memcmp(build.p, id.data, build.n) != 0))
            continue;
        found = true;
        ok = c->modules.v[i].fate != SP_SPT_IN ||
             spt_add_thing(c, &c->modules.v[i], SP_SPT_KIND_CALLSTACK, NULL, 0, sum);
    }
    c->no_frames += found ? 0 : sum.low;
    sp_json_free(&j);
    sp_buf_free(&text);
    sp_buf_free(&name);
    sp_buf_free(&id);
    return ok;
}

static bool spt_add_stack(struct sp_spt_collector *c, uint32_t stack)
{
    const struct sp_stack *s = &c->p->stacks.v[stack];
    const struct sp_context *x = &c->p->contexts.v[s->context];
    struct sp_spt_sum sum;
    uint32_t other = sp_stack_linked(c->p, stack), rva;
    if (x->event == SP_NONE || (c->opts->event != SP_NONE && x->event != c->opts->event) ||
        (s->type == SP_KERNEL_STACK && other != SP_NONE) || !spt_hits_of(c, stack, x->event, &sum))
        return true;
    int kind = c->kinds[x->event];
    if (kind < 0 && c->kinds[x->event] == NO_TRACES) {
        c->traces += sum.low;
        return true;
    }
    if (kind < 0) {
        c->odd_event++;
        c->heaps += c->p->events.v[x->event].kind == SP_ALLOCATION;
        return true;
    }
    c->frames.n = 0;
    if ((other != SP_NONE && !spt_take_frames(c, other)) || !spt_take_frames(c, stack))
        return false;
    if (kind == SP_SPT_KIND_LBR)
        return spt_add_branch(c, sum);
    if (!c->frames.n && kind == SP_SPT_KIND_CALLSTACK && x->extra_json)
        return spt_add_empty(c, x, sum);
    if (!c->frames.n) {
        c->no_frames += sum.low;
        return true;
    }
    if (kind == SP_SPT_KIND_CALLSTACK)
        return spt_add_call_stack(c, sum, true);
    struct sp_spt_module *m = spt_usable(c, c->frames.v[0], true, sum.low, &rva);
    if (m && !spt_add_thing(c, m, kind, &rva, 1, sum))
        return false;
    return x->event != c->stacks_of || c->frames.n < 2 || spt_add_call_stack(c, sum, false);
}

/* Which event's stacks become call stacks; none where the profile has some as such. */
static bool spt_choose_stacks(struct sp_spt_collector *c)
{
    const struct sp_profile *p = c->p;
    double *sums = calloc(p->events.n + 1, sizeof *sums);
    c->stacks_of = SP_NONE;
    for (uint32_t s = 0; sums && s < p->stacks.n; s++) {
        uint32_t e = p->contexts.v[p->stacks.v[s].context].event;
        int64_t v = e == SP_NONE || p->stacks.v[s].n < 2 ? 0 : sp_weight(p, s, c->metrics[e]);
        if (v > 0 && c->kinds[e] >= 0 && (c->opts->event == SP_NONE || c->opts->event == e))
            sums[e] += (double)v;
    }
    for (uint32_t e = 0; sums && e < p->events.n; e++)
        if (sums[e] > 0)
            sp_one_counted(p, c->opts, e, c->d);
    for (uint32_t e = 0; sums && e < p->events.n; e++) {
        if (c->kinds[e] == SP_SPT_KIND_CALLSTACK && sums[e] > 0) {
            c->stacks_of = SP_NONE;
            break;
        }
        if (c->kinds[e] < SP_SPT_KIND_LBR && sums[e] > 0 &&
            (c->stacks_of == SP_NONE || sums[e] > sums[c->stacks_of]))
            c->stacks_of = e;
    }
    free(sums);
    return sums != NULL;
}

static int spt_by_name(const void *a, const void *b)
{
    const struct sp_spt_target *x = a, *y = b;
    char p[SP_RSDS_KEY_ROOM], q[SP_RSDS_KEY_ROOM];
    int c = sp_str_cmp(x->name, y->name);
    if (c)
        return c;
    sp_rsds_key(&x->rsds, true, p);
    sp_rsds_key(&y->rsds, true, q);
    c = strcmp(p, q);
    return c ? c : (x->dso > y->dso) - (x->dso < y->dso);
}

/* The binaries that have something; of a profile that came from SPT all. Things get their numbers. */
static bool spt_number_programs(struct sp_spt_collector *c)
{
    struct sp_spt_collected *o = c->out;
    for (size_t i = 0; i < c->p->dsos.n; i++) {
        struct sp_spt_target target = {c->modules.v[i].rsds, sp_spt_module_name(&c->modules, (uint32_t)i),
                                       (uint32_t)i};
        if (c->modules.v[i].fate == SP_SPT_IN && (c->modules.v[i].used || c->modules.from_spt) &&
            !sp_vec_push(&o->programs, target))
            return false;
    }
    if (o->programs.n)
        qsort(o->programs.v, o->programs.n, sizeof *o->programs.v, spt_by_name);
    for (size_t i = 0; i < o->programs.n; i++)
        c->modules.v[o->programs.v[i].dso].program = (uint32_t)i;
    if (!sp_spt_hits_finish(&o->hits) || !sp_vec_reserve(&o->things, sp_spt_hits_count(&o->hits)))
        return false;
    for (size_t i = 0; i < sp_spt_hits_count(&o->hits); i++) {
        struct sp_spt_thing t = sp_spt_hits_at(&o->hits, i);
        t.program = c->modules.v[t.program].program;
        o->things.v[o->things.n++] = t;
    }
    return true;
}

void sp_spt_collected_free(struct sp_spt_collected *c)
{
    sp_vec_free(&c->programs);
    sp_vec_free(&c->things);
    sp_spt_hits_free(&c->hits);
}

spaa_status sp_spt_collect(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                           struct sp_spt_collected *out)
{
    struct sp_spt_collector c = {.p = p, .d = d, .opts = opts, .out = out};
    *out = (struct sp_spt_collected){0};
    c.kinds = calloc(p->events.n + 1, sizeof *c.kinds);
    c.metrics = calloc(p->events.n + 1, sizeof *c.metrics);
    spaa_status st = c.kinds && c.metrics ? sp_spt_hits_init(&out->hits, d) : sp_nomem(d);
    if (!st)
        st = sp_spt_modules_new(p, opts, d, &c.modules);
    for (uint32_t i = 0; !st && i < p->events.n; i++) {
        c.kinds[i] = spt_kind_of_event(p, &p->events.v[i]);
        c.metrics[i] = sp_one_counted(p, opts, i, NULL);
    }
    if (!st && !spt_choose_stacks(&c))
        st = sp_nomem(d);
    for (uint32_t s = 0; !st && s < p->stacks.n; s++)
        if (!spt_add_stack(&c, s))
            st = sp_nomem(d);
    if (!st)
        st = sp_spt_report(&c);
    if (!st)
        st = sp_say_states_added(p, opts, opts->event, d);
    if (!st && !spt_number_programs(&c))
        st = sp_nomem(d);
    sp_spt_modules_free(&c.modules);
    free(c.kinds);
    free(c.metrics);
    sp_vec_free(&c.frames);
    if (st)
        sp_spt_collected_free(out);
    return st;
}
