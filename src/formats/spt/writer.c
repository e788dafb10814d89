/*
 * Writes SPT.
 *
 * The file is rendered: what was added up, each binary in one segment (more where it grows large), per
 * opcode by descending hits, then by address. Addresses of equal hits share a record; hits above 1 are a
 * REPEAT before it. Tables have the usual capacities, or those of the file that the profile came from.
 *
 * Which binaries can be written and what is their GUID: modules.c. Events become opcodes by their names
 * (perf's and ETW's names of the same counters are known) or, for timers, SPT_OP_ETW_INSTR. Each stack of
 * such an event is a sample of its leaf; those of one event (the one with most samples) are written as call
 * stacks too, unless the profile has stacks of `etw_callstack`. A call stack that crosses binaries becomes
 * runs of one binary; more than 255 frames are split with one frame in both halves, since a record counts its
 * addresses in a byte. Frames that were inlined have no address of their own.
 */
#include "formats/spt/hits.h"
#include "formats/spt/modules.h"
#include "formats/spt/spt_format.h"

#include "base/num.h"
#include "formats/common/spt/tally.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"
#include "model/events.h"
#include "model/returns.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a profile to what SPT can say ---- */

enum { SPLIT = 255, NO_TRACES = -2 };

struct target {
    struct sp_rsds rsds;
    struct sp_str name; /* as it is written */
    uint32_t dso;
};

/* What goes into the file. */
struct collected {
    SP_VEC(struct target) programs;     /* by name, then key */
    SP_VEC(struct sp_spt_thing) things; /* with the numbers of these programs */
    struct sp_spt_hits hits;
};

struct collector {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_write_opts *opts;
    struct collected *out;
    struct sp_spt_modules modules;
    uint32_t *metrics;       /* by event: what is its hits; SP_NONE: nothing */
    int *kinds;              /* by event; below 0: none */
    uint32_t stacks_of;      /* the event whose stacks are written as call stacks */
    SP_VEC(uint32_t) frames; /* of the stack at hand: physical ones, leaf first */
    uint64_t no_frames;      /* hits of samples without a stack */
    uint64_t no_address, large, crossing_branches, crossing_calls, odd_weight, odd_event, written;
    struct sp_spt_sum split_hits; /* of stacks with more than SPLIT frames of one binary in a row */
    uint64_t split, pieces;       /* how many these are, and records more than if they were whole */
    uint64_t traces;              /* of branches */
    uint64_t heaps;               /* of odd_event: of what was allocated */
};

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
static bool spt_hits_of(struct collector *c, uint32_t stack, uint32_t event, struct sp_spt_sum *out)
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

static bool spt_take_frames(struct collector *c, uint32_t stack)
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
static struct sp_spt_module *spt_usable(struct collector *c, uint32_t frame, bool sample, uint64_t hits,
                                        uint32_t *rva)
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

static bool spt_add_thing(struct collector *c, struct sp_spt_module *m, int kind, const uint32_t *addresses,
                          uint32_t n, struct sp_spt_sum sum)
{
    m->used = true;
    c->written++;
    return sp_spt_hits_add(&c->out->hits, (uint32_t)(m - c->modules.v), kind, addresses, n, sum);
}

/* What became of a call stack that has more frames of one binary in a row than a record holds. */
static void spt_count_split(struct collector *c, struct sp_spt_sum sum, uint64_t splits)
{
    if (!splits)
        return;
    c->split++;
    c->pieces += splits;
    sp_spt_add(&c->split_hits, sum.low);
    c->split_hits.high += sum.high;
}

/* Whether a frame called the one before it: not where it entered the kernel. */
static bool spt_is_caller(const struct collector *c, size_t i)
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
static bool spt_add_call_stack(struct collector *c, struct sp_spt_sum sum, bool alone)
{
    uint32_t addresses[SPLIT];
    struct sp_spt_module *run = NULL;
    uint32_t n = 0, rva = 0;
    uint64_t splits = 0;
    bool calls = c->p->header.ips == SP_IPS_CALL;
    for (size_t i = 0; i <= c->frames.n; i++) {
        struct sp_spt_module *m = i < c->frames.n ? spt_usable(c, c->frames.v[i], false, 1, &rva) : NULL;
        bool split = m && m == run && n == SPLIT;
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

static bool spt_add_branch(struct collector *c, struct sp_spt_sum sum)
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

/*
 * Enters the object `x_spt` of raw members (a header's, a context's): the cursor, which is initialised either
 * way, then walks its keys. `text` is what it walks over.
 */
static bool spt_enter(struct sp_json *j, struct sp_buf *text, struct sp_str more)
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

/* A call stack of no frames: the context says which binary it is of, or it is of none. */
static bool spt_add_empty(struct collector *c, const struct sp_context *x, struct sp_spt_sum sum)
{
    struct sp_buf text, name, id;
    bool found = false;
    struct sp_span key, value;
    struct sp_json j;
    sp_buf_init(&text, 0);
    sp_buf_init(&name, 0);
    sp_buf_init(&id, 0);
    if (spt_enter(&j, &text, sp_pstr(c->p, x->extra_json)))
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

static bool writer_spt_add_stack(struct collector *c, uint32_t stack)
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
static bool spt_choose_stacks(struct collector *c)
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

static void spt_say(struct collector *c, uint64_t n, enum sp_code code, const char *what)
{
    if (n)
        sp_emit(c->d, code, SP_AT_NOTHING, "%llu %s", (unsigned long long)n, what);
}

static void spt_say_split(struct collector *c)
{
    struct sp_buf hits;
    if (!c->split)
        return;
    sp_buf_init(&hits, 64);
    sp_spt_sum_text(&hits, c->split_hits);
    sp_emit(c->d, SP_I453, SP_AT_NOTHING,
            "%llu call stacks (%s hits) of more than %d frames of one binary in a row make %llu more records",
            (unsigned long long)c->split, sp_buf_cstr(&hits), (int)SPLIT, (unsigned long long)c->pieces);
    sp_buf_free(&hits);
}

/* Why nothing can be written, and what would help. */
static void spt_refuse(const struct collector *c)
{
    const char *why = "no frame of a sample is in a module", *hint = "SPT holds addresses in binaries";
    if (c->odd_event)
        why = c->heaps ? "its events are allocations"
                       : "its events are no samples of the CPU's time or counters",
        hint =
            c->heaps
                ? "SPT holds samples of the CPU: record those, as `perf record` does"
                : "SPT has cycles, instructions, branches, misses of L1 caches, timers: record one of them";
    else if (c->no_address)
        why = "its frames have names, no addresses",
        hint = "take the recording itself, or convert it with `--frames address`";
    else if (c->large)
        why = "its addresses are not those of modules, but of where they were loaded",
        hint = "take the recording itself; of perf script text, print the offsets: `perf script -F +dsoff`";
    else if (c->no_frames)
        why = "its samples have no stacks";
    else if (c->crossing_branches)
        why = "all branches are between binaries";
    sp_emit_hint(c->d, SP_E420, SP_AT_NOTHING, hint, "%s", why);
}

static spaa_status spt_report(struct collector *c)
{
    bool nothing = c->p->stacks.n && !c->written;
    if (!sp_spt_modules_report(&c->modules, c->d))
        return sp_nomem(c->d);
    spt_say(c, c->no_address, SP_L432,
            "hits on frames without an address (a profile by function cannot be written as SPT)");
    spt_say(c, c->large, SP_L432, "hits on addresses beyond 32 bits, which are no RVAs");
    spt_say(c, c->crossing_branches, SP_L432, "branches between binaries: a branch of SPT stays in one");
    spt_say(c, c->no_frames, SP_L432, "hits without a stack, which are in no binary");
    spt_say(c, c->odd_weight, SP_L432, "stacks whose weight is no count");
    spt_say(c, c->odd_event, SP_L432, "stacks of events that SPT has no opcode for (--event NAME picks one)");
    spt_say(c, c->crossing_calls, SP_I321, "calls between binaries: an arc of SPT stays in one");
    spt_say(c, c->traces, SP_I321, "traces between branches: SPT has the branches alone");
    spt_say_split(c);
    if (nothing)
        spt_refuse(c);
    return nothing ? SPAA_ERR_UNSUPPORTED : SPAA_OK;
}

static int spt_by_name(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
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
static bool spt_number_programs(struct collector *c)
{
    struct collected *o = c->out;
    for (size_t i = 0; i < c->p->dsos.n; i++) {
        struct target target = {c->modules.v[i].rsds, sp_spt_module_name(&c->modules, (uint32_t)i),
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

static void spt_collected_free(struct collected *c)
{
    sp_vec_free(&c->programs);
    sp_vec_free(&c->things);
    sp_spt_hits_free(&c->hits);
}

/*
 * What cannot be written is reported; SPAA_ERR_UNSUPPORTED (or USAGE: a NAME of --binary that is not there),
 * reported, when nothing can be. Free it on success only.
 */
static spaa_status spt_collect(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                               struct collected *out)
{
    struct collector c = {.p = p, .d = d, .opts = opts, .out = out};
    *out = (struct collected){0};
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
        if (!writer_spt_add_stack(&c, s))
            st = sp_nomem(d);
    if (!st)
        st = spt_report(&c);
    if (!st)
        st = sp_say_states_added(p, opts, opts->event, d);
    if (!st && !spt_number_programs(&c))
        st = sp_nomem(d);
    sp_spt_modules_free(&c.modules);
    free(c.kinds);
    free(c.metrics);
    sp_vec_free(&c.frames);
    if (st)
        spt_collected_free(out);
    return st;
}

/* ---- the file ---- */

enum { SEGMENT_BYTES = 16 << 20 /* after which a segment is closed */ };

struct writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_output *out;
    struct collected *c;
    struct sp_buf segment;
    uint32_t program;
    uint64_t raw_data_id, target_arch, strings_capacity, programs_capacity;
};

static void spt_put(struct sp_buf *b, uint64_t v, unsigned bytes)
{
    char t[8];
    for (unsigned i = 0; i < bytes; i++)
        t[i] = (char)(v >> (8 * i));
    sp_buf_add(b, t, bytes);
}

static bool spt_flush_segment(struct writer *w)
{
    struct sp_buf head;
    char room[16];
    if (!w->segment.len)
        return !w->segment.failed;
    head = (struct sp_buf){.data = room, .cap = sizeof room, .max = sizeof room};
    spt_put(&head, SP_SPT_BINARY_ID, 1);
    spt_put(&head, 0, 1);
    spt_put(&head, w->program, 2);
    spt_put(&head, w->segment.len + 4, 4);
    sp_write(w->out, head.data, head.len);
    sp_write(w->out, w->segment.data, w->segment.len);
    bool ok = !w->segment.failed;
    sp_buf_clear(&w->segment);
    return ok;
}

/* n things of one kind and equal hits as one record; a sum beyond 64 bits takes several. */
static bool spt_put_record(struct writer *w, const struct sp_spt_thing *t, unsigned n)
{
    struct sp_spt_sum sum = t->sum;
    while (sum.low || sum.high) {
        uint64_t hits = sum.high ? UINT64_MAX : sum.low;
        sum.high -= sum.high && sum.low < hits;
        sum.low -= hits;
        if (hits > 1) {
            spt_put(&w->segment, SP_SPT_REPEAT, 1);
            spt_put(&w->segment, 0, 1);
            spt_put(&w->segment, hits - 1, 8);
        }
        spt_put(&w->segment, sp_spt_kinds[t->kind].op, 1);
        spt_put(&w->segment, t->kind == SP_SPT_KIND_CALLSTACK ? t->n : n, 1);
        for (unsigned i = 0; i < n; i++)
            for (uint32_t k = 0; k < t[i].n; k++)
                spt_put(&w->segment, t[i].addresses[k], 4);
        if (w->segment.len > SEGMENT_BYTES && !spt_flush_segment(w))
            return false;
    }
    return !w->segment.failed;
}

static int spt_by_sum(const struct sp_spt_sum *x, const struct sp_spt_sum *y)
{
    if (x->high != y->high)
        return x->high < y->high ? 1 : -1;
    return (x->low < y->low) - (x->low > y->low);
}

/* By program and kind, then by descending hits, then by addresses. */
static int spt_by_place(const void *a, const void *b)
{
    const struct sp_spt_thing *x = a, *y = b;
    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int c = spt_by_sum(&x->sum, &y->sum);
    for (uint32_t i = 0; !c && i < x->n && i < y->n; i++)
        c = (x->addresses[i] > y->addresses[i]) - (x->addresses[i] < y->addresses[i]);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* How many of the things from t on share a record. */
static unsigned spt_share(const struct sp_spt_thing *t, size_t left)
{
    unsigned n = 1;
    while (t->kind != SP_SPT_KIND_CALLSTACK && n < 255 && n < left && t[n].program == t->program &&
           t[n].kind == t->kind && !spt_by_sum(&t[n].sum, &t->sum))
        n++;
    return n;
}

static bool spt_write_segments(struct writer *w)
{
    const struct sp_spt_thing *t = w->c->things.v;
    size_t n = w->c->things.n;
    bool ok = true;
    if (n)
        qsort(w->c->things.v, n, sizeof *t, spt_by_place);
    for (size_t i = 0, k; ok && i < n; i += k) {
        k = spt_share(t + i, n - i);
        if (t[i].program != w->program)
            ok = spt_flush_segment(w);
        w->program = t[i].program;
        ok = ok && spt_put_record(w, t + i, (unsigned)k);
    }
    return ok && spt_flush_segment(w);
}

/* Fields of the file that the profile came from, in the header's x_spt. */
static void spt_read_origin(struct writer *w)
{
    struct sp_span key, raw;
    struct sp_json j;
    struct sp_buf text;
    sp_buf_init(&text, 0);
    if (spt_enter(&j, &text, sp_pstr(w->p, w->p->header.extra_json)))
        while (sp_json_key(&j, &key)) {
            uint64_t *to = sp_span_is(key, "raw_data_id")             ? &w->raw_data_id
                           : sp_span_is(key, "target_arch")           ? &w->target_arch
                           : sp_span_is(key, "string_table_capacity") ? &w->strings_capacity
                           : sp_span_is(key, "program_id_capacity")   ? &w->programs_capacity
                                                                      : NULL;
            if (!to || sp_json_type(&j) != SP_JSON_NUMBER)
                sp_json_skip(&j, &raw);
            else
                sp_json_u64(&j, to);
        }
    sp_json_free(&j);
    sp_buf_free(&text);
}

static spaa_status spt_no_room(struct writer *w, const char *what, size_t n)
{
    sp_emit_hint(w->d, SP_E420, SP_AT_NOTHING, "`--binary NAME` writes only some of them",
                 "%zu %s, SPT has room for 65535", n, what);
    return SPAA_ERR_UNSUPPORTED;
}

static uint64_t spt_capacity(uint64_t origin, uint64_t usual, size_t need)
{
    uint64_t v = origin && origin <= UINT16_MAX ? origin : usual;
    return v >= need ? v : need;
}

/* The names one behind the other; index[i] is where that of program i stands. */
static bool spt_lay_out_names(const struct collected *c, struct sp_buf *strings, uint32_t *index)
{
    for (size_t i = 0; i < c->programs.n; i++) {
        struct sp_str name = c->programs.v[i].name;
        if (i && sp_str_cmp(c->programs.v[i - 1].name, name) == 0) {
            index[i] = index[i - 1];
            continue;
        }
        index[i] = (uint32_t)strings->len;
        sp_buf_add(strings, name.p, name.n);
        sp_buf_ch(strings, '\0');
    }
    return !strings->failed;
}

static void spt_fill_to(struct sp_buf *b, uint64_t size)
{
    while (!b->failed && b->len < size)
        sp_buf_ch(b, '\0');
}

static void spt_lay_out_tables(const struct writer *w, const struct sp_buf *strings, const uint32_t *index,
                               struct sp_buf *out)
{
    size_t n = w->c->programs.n;
    uint64_t room = spt_capacity(w->strings_capacity, SP_SPT_STRINGS_USUAL, strings->len),
             programs = spt_capacity(w->programs_capacity, SP_SPT_PROGRAMS_USUAL, n);
    spt_put(out, SP_SPT_SIGNATURE, 4);
    spt_put(out, 1, 4);
    spt_put(out, w->raw_data_id, 4);
    spt_put(out, w->target_arch, 4);
    spt_put(out, SP_SPT_HEADER_BYTES, 4);
    spt_put(out, SP_SPT_HEADER_BYTES + room, 4);
    spt_put(out, strings->len, 2);
    spt_put(out, room, 2);
    spt_put(out, n, 2);
    spt_put(out, programs, 2);
    sp_buf_add(out, strings->data, strings->len);
    spt_fill_to(out, SP_SPT_HEADER_BYTES + room);
    for (size_t i = 0; i < n; i++) {
        sp_buf_add(out, w->c->programs.v[i].rsds.guid, 16);
        spt_put(out, w->c->programs.v[i].rsds.age, 4);
        spt_put(out, index[i], 4);
    }
    spt_fill_to(out, SP_SPT_HEADER_BYTES + room + programs * SP_SPT_PROGRAM_BYTES);
}

/* Header, string table, program ID table. */
static spaa_status spt_write_tables(struct writer *w)
{
    struct sp_buf strings, head;
    spaa_status st = SPAA_OK;
    sp_buf_init(&strings, 0);
    sp_buf_init(&head, 0);
    uint32_t *index = calloc(w->c->programs.n + 1, sizeof *index);
    if (!index || !spt_lay_out_names(w->c, &strings, index))
        st = sp_nomem(w->d);
    else if (strings.len > UINT16_MAX)
        st = spt_no_room(w, "bytes of names", strings.len);
    else if (w->c->programs.n > UINT16_MAX)
        st = spt_no_room(w, "binaries", w->c->programs.n);
    if (!st) {
        spt_lay_out_tables(w, &strings, index, &head);
        if (head.failed)
            st = sp_nomem(w->d);
        else
            sp_write(w->out, head.data, head.len);
    }
    free(index);
    sp_buf_free(&strings);
    sp_buf_free(&head);
    return st;
}

spaa_status sp_spt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                         struct sp_output *out)
{
    struct collected c = {0};
    struct writer w = {.p = p, .d = d, .out = out, .c = &c};
    sp_buf_init(&w.segment, 0);
    spaa_status st = spt_collect(p, opts, d, &c);
    if (!st) {
        spt_read_origin(&w);
        st = spt_write_tables(&w);
    }
    if (!st)
        st = spt_write_segments(&w) ? out->status : sp_nomem(d);
    sp_buf_free(&w.segment);
    spt_collected_free(&c);
    return st;
}
