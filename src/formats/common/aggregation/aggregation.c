/* Gathers the records of an aggregation; at the end, when all have been seen, they become stacks. */
#include "formats/common/aggregation/aggregation.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/kernel_names.h"
#include "symbols/demangle.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

void sp_agg_init(struct sp_agg *a, struct sp_profile *p, struct sp_diags *d)
{
    *a = (struct sp_agg){.p = p, .d = d, .granularity = SP_FRAMES_ADDRESS, .samples = SP_NONE};
}

void sp_agg_free(struct sp_agg *a)
{
    sp_vec_free(&a->frames);
    sp_vec_free(&a->block_frames);
    sp_vec_free(&a->blocks);
    sp_vec_free(&a->values);
    sp_vec_free(&a->records);
}

uint32_t sp_agg_frame_add(struct sp_agg *a, const struct sp_agg_frame *f)
{
    return a->frames.n < SP_NONE - 1 && sp_vec_push(&a->frames, *f) ? (uint32_t)a->frames.n - 1 : SP_NONE;
}

bool sp_agg_name(struct sp_agg *a, const char *symbol, size_t n, const char *namespace, uint32_t *name,
                 uint32_t *more)
{
    struct sp_buf plain, member;
    bool ok = true;
    *name = sp_profile_str(a->p, symbol, n);
    *more = SP_STR_NONE;
    if (*name == SP_STR_FAIL)
        return false;
    sp_buf_init(&plain, 0);
    sp_buf_init(&member, 0);
    if (sp_demangle(sp_pstr(a->p, *name).p, &plain) || sp_demangle_escaped(symbol, n, &plain)) {
        sp_buf_printf(&member, "\"%s\":{\"raw\":", namespace);
        sp_json_string(&member, symbol, n);
        sp_buf_ch(&member, '}');
        ok = !member.failed && !plain.failed;
        *name = ok ? sp_profile_str(a->p, plain.data, plain.len) : SP_STR_FAIL;
        *more = ok ? sp_profile_str(a->p, member.data, member.len) : SP_STR_FAIL;
        ok = *name != SP_STR_FAIL && *more != SP_STR_FAIL;
    }
    ok = ok && !plain.failed;
    sp_buf_free(&plain);
    sp_buf_free(&member);
    return ok;
}

bool sp_agg_block_begin(struct sp_agg *a, enum sp_agg_side side, uint32_t place)
{
    struct sp_agg_block b = {a->block_frames.n, 0, (uint16_t)place, (uint8_t)side, 0};
    return sp_vec_push(&a->blocks, b);
}

bool sp_agg_value_add(struct sp_agg *a, uint32_t metric, int64_t v)
{
    struct sp_agg_value x = {metric, SP_STR_NONE, v};
    return sp_vec_push(&a->values, x);
}

bool sp_agg_value_text(struct sp_agg *a, uint32_t metric, const char *s, size_t n)
{
    struct sp_agg_value x = {metric, SP_STR_NONE, 0};
    if (sp_parse_i64(s, s + n, &x.v) != n || x.v <= SP_DECIMAL)
        x.text = sp_profile_str(a->p, s, n);
    return x.text != SP_STR_FAIL && sp_vec_push(&a->values, x);
}

spaa_status sp_agg_bucket_add(struct sp_agg *a, const char *mark, const char *label, size_t n, int64_t count,
                              int64_t *total, struct sp_where at)
{
    struct sp_buf b;
    if (!count) /* rows between those that count */
        return SPAA_OK;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "bucket:%s%.*s", mark, (int)n, label);
    uint32_t metric = b.failed ? SP_NONE : sp_metric_intern(a->p, b.data, b.len);
    bool failed = b.failed;
    sp_buf_free(&b);
    if (metric == SP_NONE) {
        if (failed || a->p->metrics.n < SP_METRICS_MAX)
            return sp_nomem(a->d);
        sp_emit(a->d, SP_E007, at, "more kinds of buckets than %u metrics can hold", SP_METRICS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (__builtin_add_overflow(*total, count, total)) {
        *total = INT64_MAX;
        sp_emit(a->d, SP_L304, at, " ");
    }
    return sp_agg_value_add(a, metric, count) ? SPAA_OK : sp_nomem(a->d);
}

bool sp_agg_record_add(struct sp_agg *a, size_t first_block, size_t first_value, uint32_t context)
{
    struct sp_agg_record r = {first_block, first_value, (uint32_t)(a->blocks.n - first_block),
                              (uint32_t)(a->values.n - first_value), context};
    return sp_vec_push(&a->records, r);
}

void sp_agg_drop(struct sp_agg *a, size_t first_block, size_t first_value)
{
    if (a->blocks.n > first_block)
        a->block_frames.n = a->blocks.v[first_block].first;
    a->blocks.n = first_block;
    a->values.n = first_value;
}

/* "997", "997hz", "10ms": how often a second, as number text; NULL unit of no known name: 0. */
static bool aggregation_rate_text(struct sp_buf *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},
                 {"nsec", 1},
                 {"us", 1000},
                 {"usec", 1000},
                 {"ms", 1000000},
                 {"msec", 1000000},
                 {"s", 1000000000},
                 {"sec", 1000000000},
                 {"m", 60000000000},
                 {"min", 60000000000},
                 {"h", 3600000000000},
                 {"hour", 3600000000000},
                 {"d", 86400000000000},
                 {"day", 86400000000000}};
    uint64_t v;
    size_t digits = sp_parse_u64(s, s + n, &v);
    if (!digits || !v)
        return false;
    s += digits;
    n -= digits;
    if (!n || (n == 2 && memcmp(s, "hz", 2) == 0))
        return sp_buf_u64(out, v);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != n || memcmp(units[i].name, s, n) != 0)
            continue;
        if (v > UINT64_MAX / units[i].ns)
            return false;
        uint64_t ns = v * units[i].ns;
        char t[32];
        if (1000000000 % ns == 0)
            return sp_buf_u64(out, 1000000000 / ns);
        return sp_buf_add(out, t, sp_double_text(1e9 / (double)ns, t));
    }
    return false;
}

/* The last part of "provider:module:function:name". */
static const char *aggregation_probe_name(const char *s, size_t *n)
{
    const char *colon = memrchr(s, ':', *n);
    if (!colon)
        return s;
    *n -= (size_t)(colon + 1 - s);
    return colon + 1;
}

/* "profile-997", "tick-10ms", bpftrace's "profile:hz:99" and "interval:s:1": the part that says how often. */
static bool aggregation_timer_rate(struct sp_buf *out, const char *s, size_t n)
{
    static const char *const dtrace[] = {"profile-", "tick-"};
    static const char *const bpftrace[] = {"profile:", "interval:"};
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(bpftrace[i]);
        const char *unit = s + k, *colon = n > k ? memchr(unit, ':', n - k) : NULL;
        if (colon && colon > unit && memcmp(s, bpftrace[i], k) == 0) {
            char t[64];
            size_t digits = (size_t)(s + n - colon - 1), u = (size_t)(colon - unit);
            if (!digits || digits + u >= sizeof t)
                return false;
            memcpy(t, colon + 1, digits);
            memcpy(t + digits, unit, u);
            return aggregation_rate_text(out, t, digits + u);
        }
    }
    const char *name = aggregation_probe_name(s, &n);
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(dtrace[i]);
        if (n > k && memcmp(name, dtrace[i], k) == 0)
            return aggregation_rate_text(out, name + k, n - k);
    }
    return false;
}

bool sp_agg_event_named(struct sp_profile *p, const char *name, size_t n, const char *metric,
                        struct sp_event *out)
{
    struct sp_buf rate;
    sp_buf_init(&rate, 0);
    *out = (struct sp_event){.name = sp_profile_str(p, name, n), .kind = SP_PROBE, .mode = SP_EVENT};
    if (aggregation_timer_rate(&rate, name, n)) {
        out->kind = SP_TIMER;
        out->mode = SP_FREQUENCY;
        out->frequency_hz = sp_profile_str(p, rate.data, rate.len);
        metric = strcmp(metric, "count") == 0 ? "samples" : metric;
    }
    out->primary = sp_metric_intern(p, metric, strlen(metric));
    bool ok = !rate.failed && out->name != SP_STR_FAIL && out->frequency_hz != SP_STR_FAIL &&
              out->primary != SP_NONE;
    sp_buf_free(&rate);
    return ok;
}

/* ---- from records to stacks ---- */

/* The blocks of a record that are used; what is more than a kernel and a user stack is joined to the first.
 */
enum { PLACES = 8, MODULE_USER = 1, MODULE_KERNEL = 2 };

/* Blocks that are known, at one place of the records of one event. */
struct place {
    uint64_t kernel, user;
};

struct pair {
    uint32_t kernel, user;
};

struct finish {
    struct sp_agg *a;
    struct sp_profile *p;
    struct sp_diags *d;
    uint8_t *modules;              /* MODULE_ bits by string number */
    uint8_t *met;                  /* the same by frame */
    uint32_t *made[3];             /* a frame's number in the profile by side, + 1; 0: not yet */
    struct place *places;          /* by event and place */
    SP_VEC(uint32_t) kernel, user; /* frames of the record in work, as numbers of the profile */
    SP_VEC(struct pair) pairs;
    struct sp_map pair_map;
    struct {
        uint32_t from, metric, to;
    } widened[16];    /* layouts, by hash: see widen; `to` 0: an empty place */
    uint32_t unknown; /* the frame of stacks that have none */
    bool joined;
};

static uint8_t aggregation_told_by_frames(const struct sp_agg_block *b)
{
    return b->told & SP_AGG_KERNEL ? SP_AGG_KERNEL : b->told;
}

static struct place *aggregation_place_of(const struct finish *f, const struct sp_agg_record *r,
                                          const struct sp_agg_block *b)
{
    uint32_t at = b->place < PLACES ? b->place : PLACES - 1;
    return &f->places[(size_t)f->p->contexts.v[r->context].event * PLACES + at];
}

/* The frames and places of blocks that are known. */
static void aggregation_note_known(struct finish *f, const struct sp_agg_record *r,
                                   const struct sp_agg_block *b, bool frames)
{
    const uint32_t *list = f->a->block_frames.v + b->first;
    struct place *at = aggregation_place_of(f, r, b);
    bool kernel = b->side == SP_AGG_KERNEL;
    uint8_t bit = kernel ? MODULE_KERNEL : MODULE_USER;
    for (uint32_t i = 0; frames && i < b->n; i++)
        f->met[list[i]] |= bit;
    at->kernel += kernel;
    at->user += !kernel;
}

static void aggregation_note_modules(struct finish *f)
{
    for (size_t i = 0; i < f->a->frames.n; i++)
        f->modules[f->a->frames.v[i].module] |= f->met[i];
}

/* Kernel where all modules are the kernel's, user where one is a program's, and none both. */
static uint8_t aggregation_told_by_modules(const struct finish *f, const struct sp_agg_block *b)
{
    bool kernel = false, user = false, other = false;
    for (uint64_t i = 0; i < b->n; i++) {
        uint32_t m = f->a->frames.v[f->a->block_frames.v[b->first + i]].module;
        if (m == SP_STR_NONE)
            continue;
        kernel |= f->modules[m] == MODULE_KERNEL;
        user |= f->modules[m] == MODULE_USER;
        other |= f->modules[m] != MODULE_KERNEL && f->modules[m] != MODULE_USER;
    }
    return user && !kernel ? SP_AGG_USER : kernel && !user && !other ? SP_AGG_KERNEL : SP_AGG_ANY;
}

/*
 * Two blocks of a record are one of each where the other block, or their places in other records, tell; else
 * the first is the kernel's.
 */
static void aggregation_settle_two(const struct finish *f, const struct sp_agg_record *r,
                                   struct sp_agg_block *x, struct sp_agg_block *y)
{
    struct sp_agg_block *both[] = {x, y};
    for (int i = 0; i < 2; i++) {
        struct sp_agg_block *b = both[i], *o = both[1 - i];
        const struct place *at = aggregation_place_of(f, r, b);
        if (b->side)
            continue;
        if (o->side)
            b->side = o->side == SP_AGG_KERNEL ? SP_AGG_USER : SP_AGG_KERNEL;
        else
            b->side = at->kernel >= at->user ? SP_AGG_KERNEL : SP_AGG_USER;
    }
}

/* The records of two, whose modules may tell what those of one are. */
static void aggregation_settle_pairs(struct finish *f)
{
    for (size_t i = 0; i < f->a->records.n; i++) {
        const struct sp_agg_record *r = &f->a->records.v[i];
        struct sp_agg_block *b = f->a->blocks.v + r->first_block;
        if (r->blocks != 2 || !b[0].n || !b[1].n)
            continue;
        const bool open[] = {!b[0].side, !b[1].side};
        aggregation_settle_two(f, r, &b[0], &b[1]);
        for (int k = 0; k < 2; k++)
            if (open[k])
                aggregation_note_known(f, r, &b[k], true);
    }
}

static void aggregation_settle_by_modules(struct finish *f)
{
    aggregation_note_modules(f);
    for (size_t i = 0; i < f->a->blocks.n; i++)
        if (!f->a->blocks.v[i].side && f->a->blocks.v[i].n)
            f->a->blocks.v[i].side = aggregation_told_by_modules(f, &f->a->blocks.v[i]);
}

static void aggregation_settle_by_place(const struct finish *f, const struct sp_agg_record *r)
{
    struct sp_agg_block *b = f->a->blocks.v + r->first_block;
    for (uint32_t k = 0; k < r->blocks; k++) {
        const struct place *at = aggregation_place_of(f, r, &b[k]);
        if (!b[k].side)
            b[k].side = at->kernel && !at->user ? SP_AGG_KERNEL : SP_AGG_USER;
    }
}

/* All of Linux's kernel stands in brackets, as perf prints it: what does not is the user's. */
static bool aggregation_has_linux_kernel(const struct finish *f)
{
    static const char name[] = "[kernel";
    for (size_t i = 0; i < f->a->frames.n; i++) {
        struct sp_str m = sp_pstr(f->p, f->a->frames.v[i].module);
        if (m.n >= sizeof name - 1 && memcmp(m.p, name, sizeof name - 1) == 0)
            return true;
    }
    return false;
}

static void aggregation_settle_sides(struct finish *f)
{
    struct sp_agg *a = f->a;
    bool linux_kernel = aggregation_has_linux_kernel(f);
    bool unknown = false; /* a block whose frames do not tell: what modules are is asked for */
    for (size_t i = 0; i < a->blocks.n; i++) {
        struct sp_agg_block *b = &a->blocks.v[i];
        if (!b->side && b->n)
            b->side = aggregation_told_by_frames(b);
        if (!b->side && b->n && linux_kernel)
            b->side = SP_AGG_USER;
        unknown = unknown || (!b->side && b->n);
    }
    for (size_t i = 0; i < a->records.n; i++) {
        const struct sp_agg_record *r = &a->records.v[i];
        for (uint32_t k = 0; k < r->blocks; k++) {
            const struct sp_agg_block *b = &a->blocks.v[r->first_block + k];
            if (b->side && b->n)
                aggregation_note_known(f, r, b, unknown);
        }
    }
    if (unknown) {
        aggregation_settle_by_modules(f);
        aggregation_settle_pairs(f);
        aggregation_settle_by_modules(f);
    }
    for (size_t i = 0; i < a->records.n; i++)
        aggregation_settle_by_place(f, &a->records.v[i]);
}

/* A frame's number in the profile. */
static uint32_t aggregation_frame_number(struct finish *f, uint32_t number, uint8_t side)
{
    const struct sp_agg_frame *x = &f->a->frames.v[number];
    bool kernel = side == SP_AGG_KERNEL;
    uint32_t name = x->module;
    if (name == SP_STR_NONE || (!kernel && sp_is_kernel_name(sp_pstr(f->p, name))))
        name = sp_profile_cstr(f->p, kernel ? "[kernel]" : "[unknown]");
    if (name == SP_STR_FAIL)
        return SP_NONE;
    struct sp_dso dso = {.name = name, .build_id = x->build_id, .is_kernel = kernel};
    uint32_t d = sp_dso_intern(f->p, &dso);
    struct sp_frame frame = {.function = d == SP_NONE ? SP_NONE : sp_function_intern(f->p, x->name, d),
                             .srcline = x->srcline,
                             .ip = x->ip,
                             .symoff = x->symoff,
                             .inline_depth = x->inline_depth,
                             .extra_json = x->more,
                             .kind = kernel ? SP_KERNEL : SP_USER,
                             .flags = x->flags};
    if (f->a->granularity > SP_FRAMES_LINE)
        frame.srcline = SP_STR_NONE;
    if (f->a->granularity > SP_FRAMES_ADDRESS) { /* few tracers print lines: line falls back to function */
        frame.ip = frame.symoff = 0;
        frame.flags &= SP_FRAME_UNRESOLVED | SP_FRAME_INLINED;
    }
    uint32_t n = frame.function == SP_NONE ? SP_NONE : sp_frame_intern(f->p, &frame);
    f->made[side][number] = n + 1; /* SP_NONE + 1 is 0 */
    return n;
}

/* The frames of a block go behind those that `to` has, of which there is room. */
static bool aggregation_gather_block(struct finish *f, const struct sp_agg_block *b, uint32_t *to)
{
    const uint32_t *from = f->a->block_frames.v + b->first, *made = f->made[b->side];
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t n = made[from[i]] - 1;
        if (n == SP_NONE && (n = aggregation_frame_number(f, from[i], b->side)) == SP_NONE)
            return false;
        to[i] = n;
    }
    return true;
}

static bool aggregation_gather(struct finish *f, const struct sp_agg_record *r)
{
    f->kernel.n = f->user.n = 0;
    for (uint32_t i = 0; i < r->blocks; i++) {
        const struct sp_agg_block *b = &f->a->blocks.v[r->first_block + i];
        bool kernel = b->side == SP_AGG_KERNEL;
        size_t *n = kernel ? &f->kernel.n : &f->user.n;
        if (!b->n)
            continue;
        if (!(kernel ? sp_vec_reserve(&f->kernel, *n + b->n) : sp_vec_reserve(&f->user, *n + b->n)) ||
            !aggregation_gather_block(f, b, (kernel ? f->kernel.v : f->user.v) + *n))
            return false;
        f->joined = f->joined || *n;
        *n += b->n;
    }
    return true;
}

static uint32_t aggregation_primary_of(const struct sp_profile *p, uint32_t context)
{
    return p->events.v[p->contexts.v[context].event].primary;
}

/* Is there a value that does not combine with another of its metric? */
static bool aggregation_keeps_apart(const struct finish *f, const struct sp_agg_record *r)
{
    for (uint32_t i = 0; i < r->values; i++) {
        uint32_t m = f->a->values.v[r->first_value + i].metric;
        m = m == SP_NONE ? aggregation_primary_of(f->p, r->context) : m;
        if (f->p->metrics.v[m].info->op == SP_OP_NONE)
            return true;
    }
    return false;
}

static bool aggregation_has_metric(const struct sp_profile *p, uint32_t layout, uint32_t metric)
{
    const struct sp_layout *l = &p->layouts.v[layout];
    for (uint32_t i = 0; i < l->n; i++)
        if (p->layout_fields.v[l->first + i].metric == metric)
            return true;
    return false;
}

/* A layout with one metric more. */
static uint32_t aggregation_wider(struct sp_profile *p, uint32_t layout, uint32_t metric)
{
    struct sp_weight_field fields[SP_METRICS_MAX];
    size_t n = 0;
    if (layout != SP_NONE) {
        const struct sp_layout *l = &p->layouts.v[layout];
        for (; n < l->n && n < SP_METRICS_MAX - 1; n++)
            fields[n] = p->layout_fields.v[l->first + n];
    }
    fields[n++] = (struct sp_weight_field){.metric = metric};
    return sp_layout_intern(p, fields, n);
}

static bool aggregation_widen(struct finish *f, uint32_t stack, uint32_t metric)
{
    uint32_t from = f->p->stacks.v[stack].layout, i = (from + 3 * metric) % 16;
    if (f->widened[i].from != from || f->widened[i].metric != metric || !f->widened[i].to) {
        f->widened[i].from = from;
        f->widened[i].metric = metric;
        f->widened[i].to = aggregation_wider(f->p, from, metric) + 1; /* SP_NONE + 1 is 0 */
    }
    sp_stack_set_layout(f->p, stack, f->widened[i].to - 1);
    return f->widened[i].to;
}

static bool aggregation_weigh(struct finish *f, uint32_t stack, uint32_t metric, const struct sp_agg_value *v)
{
    struct sp_profile *p = f->p;
    uint32_t layout = p->stacks.v[stack].layout;
    struct sp_str text = sp_pstr(p, v->text);
    if (layout == SP_NONE || !aggregation_has_metric(p, layout, metric)) {
        if (!aggregation_widen(f, stack, metric))
            return false;
        return v->text ? sp_weight_set_text(p, stack, metric, text.p, text.n)
                       : sp_weight_set(p, stack, metric, v->v);
    }
    int64_t have = sp_weight(p, stack, metric);
    enum sp_metric_op op = p->metrics.v[metric].info->op;
    if ((op == SP_OP_MAX || op == SP_OP_MIN) && !v->text && have > SP_DECIMAL) {
        bool better = op == SP_OP_MAX ? v->v > have : v->v < have;
        return !better || sp_weight_set(p, stack, metric, v->v);
    }
    return v->text ? sp_weight_add_text(p, stack, metric, text.p, text.n)
                   : sp_weight_add(p, stack, metric, v->v);
}

static bool aggregation_weigh_all(struct finish *f, uint32_t stack, const struct sp_agg_record *r)
{
    uint32_t primary = aggregation_primary_of(f->p, r->context);
    bool counts = f->a->samples != SP_NONE &&
                  sp_str_is(sp_pstr(f->p, f->p->metrics.v[primary].name), "count") &&
                  !aggregation_keeps_apart(f, r);
    for (uint32_t i = 0; i < r->values; i++) {
        const struct sp_agg_value *v = &f->a->values.v[r->first_value + i];
        bool is_primary = v->metric == SP_NONE;
        if ((is_primary && counts && !aggregation_weigh(f, stack, f->a->samples, v)) ||
            !aggregation_weigh(f, stack, is_primary ? primary : v->metric, v))
            return false;
    }
    return true;
}

static bool aggregation_same_frames(const struct sp_profile *p, uint32_t stack, const uint32_t *frames,
                                    size_t n)
{
    return p->stacks.v[stack].n == n && memcmp(sp_stack_frames(p, stack), frames, n * sizeof *frames) == 0;
}

/* The linked stacks of this kernel block, user block and context. */
static bool aggregation_pair_of(struct finish *f, uint32_t context, bool apart, struct pair *out)
{
    struct sp_profile *p = f->p;
    uint64_t hash = sp_hash_key(f->kernel.v, f->kernel.n * sizeof *f->kernel.v);
    hash = sp_hash_key_seed(f->user.v, f->user.n * sizeof *f->user.v, hash + context);
    struct sp_probe at = sp_map_probe(&f->pair_map, hash);
    for (uint32_t i; !apart && (i = sp_map_next(&f->pair_map, &at)) != SP_MAP_NONE;) {
        *out = f->pairs.v[i];
        if (p->stacks.v[out->kernel].context == context &&
            aggregation_same_frames(p, out->kernel, f->kernel.v, f->kernel.n) &&
            aggregation_same_frames(p, out->user, f->user.v, f->user.n))
            return true;
    }
    out->kernel = sp_stack_append(p, f->kernel.v, f->kernel.n, context, SP_KERNEL_STACK);
    out->user = sp_stack_append(p, f->user.v, f->user.n, context, SP_USER_STACK);
    return out->kernel != SP_NONE && out->user != SP_NONE && sp_stack_link(p, out->kernel, out->user) &&
           sp_stack_link(p, out->user, out->kernel) && sp_map_add(&f->pair_map, hash, (uint32_t)f->pairs.n) &&
           sp_vec_push(&f->pairs, *out);
}

static bool aggregation_unknown_frame(struct finish *f)
{
    uint32_t name = sp_profile_cstr(f->p, "[unknown]");
    struct sp_dso dso = {.name = name};
    uint32_t d = name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(f->p, &dso);
    struct sp_frame x = {.function = d == SP_NONE ? SP_NONE : sp_function_intern(f->p, name, d),
                         .kind = SP_UNKNOWN};
    f->unknown = x.function == SP_NONE ? SP_NONE : sp_frame_intern(f->p, &x);
    return f->unknown != SP_NONE;
}

static bool aggregation_enter_record(struct finish *f, const struct sp_agg_record *r)
{
    bool apart = aggregation_keeps_apart(f, r), is_new;
    struct pair both;
    if (!aggregation_gather(f, r))
        return false;
    if (f->kernel.n && f->user.n)
        return aggregation_pair_of(f, r->context, apart, &both) && aggregation_weigh_all(f, both.kernel, r) &&
               aggregation_weigh_all(f, both.user, r);
    bool kernel = f->kernel.n > 0, none = !kernel && !f->user.n;
    if (none &&
        ((f->unknown == SP_NONE && !aggregation_unknown_frame(f)) || !sp_vec_push(&f->user, f->unknown)))
        return false;
    enum sp_stack_type type = none ? SP_UNIFIED : kernel ? SP_KERNEL_STACK : SP_USER_STACK;
    const uint32_t *frames = kernel ? f->kernel.v : f->user.v;
    size_t n = kernel ? f->kernel.n : f->user.n;
    uint32_t s = apart ? sp_stack_append(f->p, frames, n, r->context, type)
                       : sp_stack_intern(f->p, frames, n, r->context, type, &is_new);
    return s != SP_NONE && aggregation_weigh_all(f, s, r);
}

spaa_status sp_agg_finish(struct sp_agg *a)
{
    struct finish f = {.a = a, .p = a->p, .d = a->d, .unknown = SP_NONE};
    f.modules = calloc(a->p->strs.strs.n + 1, 1);
    f.met = calloc(a->frames.n + 1, 1);
    f.made[SP_AGG_USER] = calloc(a->frames.n + 1, sizeof *f.made[0]);
    f.made[SP_AGG_KERNEL] = calloc(a->frames.n + 1, sizeof *f.made[0]);
    f.places = calloc((a->p->events.n + 1) * PLACES, sizeof *f.places);
    bool ok = f.modules && f.met && f.made[SP_AGG_USER] && f.made[SP_AGG_KERNEL] && f.places;
    if (ok)
        aggregation_settle_sides(&f);
    for (size_t i = 0; ok && i < a->records.n; i++)
        ok = aggregation_enter_record(&f, &a->records.v[i]);
    if (ok && f.joined)
        sp_emit(
            a->d, SP_W311, SP_AT_NOTHING,
            "records with several kernel or several user stacks: these were joined, the first at the leaf");
    free(f.modules);
    free(f.met);
    free(f.made[SP_AGG_USER]);
    free(f.made[SP_AGG_KERNEL]);
    free(f.places);
    sp_vec_free(&f.kernel);
    sp_vec_free(&f.user);
    sp_vec_free(&f.pairs);
    sp_map_free(&f.pair_map);
    return ok ? SPAA_OK : sp_nomem(a->d);
}
