/*
 * The profile: a stack for each trace that allocated, with what it allocated.
 *
 * An interpreted file has addresses of one run, and not where its modules were: they would make the same
 * stack another one in the next run, so they are no `ip` but stand in `x_heaptrack`.
 */
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"
#include "symbols/symbolize.h"
#include "json/json.h"

enum {
    ALLOC_BYTES,
    ALLOC_COUNT,
    FREE_BYTES,
    FREE_COUNT,
    LIVE_BYTES,
    LIVE_COUNT,
    PEAK_BYTES,
    PEAK_COUNT,
    TEMPORARY,
    METRICS
};

struct builder {
    struct sp_ht *ht;
    uint32_t context, layout;
    uint32_t metric[METRICS];
    SP_VEC(uint32_t) path;
    SP_VEC(uint32_t) suppressed_texts; /* per suppression: `more` of its stacks, 0: not made */
};

uint32_t sp_ht_unknown_dso(struct sp_ht *ht)
{
    struct sp_dso dso = {.name = sp_profile_cstr(ht->p, "[unknown]")};
    if (ht->unknown_dso == SP_NONE && dso.name != SP_STR_FAIL)
        ht->unknown_dso = sp_dso_intern(ht->p, &dso);
    return ht->unknown_dso;
}

spaa_status sp_ht_add_frame(struct sp_ht *ht, struct sp_frame *f, uint32_t name, uint32_t dso)
{
    enum sp_granularity keep = ht->opts->frames;
    if (keep == SP_FRAMES_LINE || keep == SP_FRAMES_FUNCTION) {
        f->ip = f->symoff = 0;
        f->flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
        if (!ht->raw)
            f->more = SP_STR_NONE;
    }
    if (keep == SP_FRAMES_FUNCTION)
        f->srcline = SP_STR_NONE;
    f->function = dso == SP_NONE ? SP_NONE : sp_function_intern(ht->p, name, dso);
    uint32_t number = f->function == SP_NONE ? SP_NONE : sp_frame_intern(ht->p, f);
    return number == SP_NONE || !sp_vec_push(&ht->numbers, number) ? sp_nomem(ht->d) : SPAA_OK;
}

/* ---- interpreted addresses ---- */

/* "0x7f…" behind `before`; SP_STR_FAIL: out of memory. */
static uint32_t hex_text(struct sp_profile *p, const char *before, uint64_t v, const char *behind)
{
    char t[64], hex[16];
    size_t n = strlen(before), m = strlen(behind), digits = sp_hex_text(v, hex);
    memcpy(t, before, n);
    memcpy(t + n, hex, digits);
    memcpy(t + n + digits, behind, m);
    return sp_profile_str(p, t, n + digits + m);
}

static uint32_t srcline(struct sp_ht *ht, const struct sp_ht_frame *f)
{
    struct sp_buf b;
    struct sp_str file = sp_pstr(ht->p, f->file);
    if (f->file == SP_STR_NONE || !file.n || ht->opts->frames == SP_FRAMES_FUNCTION)
        return SP_STR_NONE;
    sp_buf_init(&b, 0);
    sp_buf_add(&b, file.p, file.n);
    if (f->line) {
        sp_buf_ch(&b, ':');
        sp_buf_u64(&b, f->line);
    }
    uint32_t s = b.failed ? SP_STR_FAIL : sp_profile_str(ht->p, b.data, b.len);
    sp_buf_free(&b);
    return s;
}

static spaa_status interpreted_frames(struct sp_ht *ht, const struct sp_ht_ip *ip)
{
    struct sp_dso row = {.name = ip->module};
    uint32_t dso = ip->module == SP_STR_NONE ? sp_ht_unknown_dso(ht) : sp_dso_intern(ht->p, &row);
    uint32_t more = hex_text(ht->p, "\"x_heaptrack\":{\"ip\":\"0x", ip->addr, "\"}");
    uint32_t hex = hex_text(ht->p, "0x", ip->addr, "");
    if (dso == SP_NONE || more == SP_STR_FAIL || hex == SP_STR_FAIL)
        return sp_nomem(ht->d);
    if (!ip->n) {
        struct sp_frame f = {.kind = SP_USER, .flags = SP_FRAME_UNRESOLVED};
        return sp_ht_add_frame(ht, &f, hex, dso);
    }
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < ip->n; i++) {
        const struct sp_ht_frame *x = &ht->frames.v[ip->first + i];
        struct sp_frame f = {.kind = SP_USER, .more = more, .inline_depth = ip->n - 1 - i};
        bool named = x->function != SP_STR_NONE && sp_pstr(ht->p, x->function).n;
        f.flags = (uint8_t)((f.inline_depth ? SP_FRAME_INLINED : 0) | (named ? 0 : SP_FRAME_UNRESOLVED));
        f.srcline = srcline(ht, x);
        st = f.srcline == SP_STR_FAIL ? sp_nomem(ht->d)
                                      : sp_ht_add_frame(ht, &f, named ? x->function : hex, dso);
    }
    return st;
}

static spaa_status make_ip(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    ip->made = (uint32_t)ht->numbers.n + 1;
    spaa_status st = ht->raw ? sp_ht_raw_frames(ht, ip) : interpreted_frames(ht, ip);
    ip->nmade = (uint32_t)ht->numbers.n + 1 - ip->made;
    return st;
}

/* ---- stacks ---- */

static spaa_status collect(struct builder *b, uint32_t trace)
{
    struct sp_ht *ht = b->ht;
    size_t most = ht->p->stack_frames.n < SP_HT_FRAMES_MAX ? SP_HT_DEPTH : 16;
    b->path.n = 0;
    while (trace) {
        const struct sp_ht_trace *t = &ht->traces.v[trace - 1];
        struct sp_ht_ip *ip = t->ip ? &ht->ips.v[t->ip - 1] : NULL;
        trace = t->parent;
        if (!ip)
            continue;
        spaa_status st = ip->made ? SPAA_OK : make_ip(ht, ip);
        if (st)
            return st;
        if (b->path.n + ip->nmade > most) {
            ht->p->header.truncated++;
            return SPAA_OK;
        }
        if (!sp_vec_reserve(&b->path, b->path.n + ip->nmade))
            return sp_nomem(ht->d);
        memcpy(b->path.v + b->path.n, ht->numbers.v + ip->made - 1, ip->nmade * sizeof *b->path.v);
        b->path.n += ip->nmade;
    }
    return SPAA_OK;
}

static spaa_status note_suppressed(struct builder *b, uint32_t stack, uint32_t cost, uint32_t by)
{
    struct sp_ht *ht = b->ht;
    const struct sp_ht_cost *c = &ht->costs.v[cost];
    struct sp_ht_suppression *s = &ht->suppressions.v[by];
    s->matches++;
    s->leaked += c->live_bytes;
    ht->suppressed_bytes += c->live_bytes;
    ht->suppressed_count += c->live_count;
    ht->suppressed_stacks++;
    while (b->suppressed_texts.n <= by)
        if (!sp_vec_push(&b->suppressed_texts, 0))
            return sp_nomem(ht->d);
    uint32_t *text = &b->suppressed_texts.v[by];
    if (!*text) {
        struct sp_buf t;
        struct sp_str pattern = sp_pstr(ht->p, s->pattern);
        sp_buf_init(&t, 0);
        sp_buf_puts(&t, "\"x_heaptrack\":{\"suppressed\":");
        sp_json_string(&t, pattern.p, pattern.n);
        sp_buf_ch(&t, '}');
        *text = t.failed ? SP_STR_FAIL : sp_profile_str(ht->p, t.data, t.len);
        sp_buf_free(&t);
    }
    if (*text == SP_STR_FAIL)
        return sp_nomem(ht->d);
    ht->p->stacks.v[stack].more = *text;
    return SPAA_OK;
}

static spaa_status weigh(struct builder *b, uint32_t stack, const struct sp_ht_cost *c)
{
    struct sp_ht *ht = b->ht;
    const int64_t v[METRICS] = {c->alloc_bytes,
                                c->alloc_count,
                                c->alloc_bytes - c->live_bytes,
                                c->alloc_count - c->live_count,
                                c->live_bytes,
                                c->live_count,
                                c->peak_bytes,
                                c->peak_count,
                                c->temporary};
    for (int i = 0; i < METRICS; i++)
        if (!sp_weight_add(ht->p, stack, b->metric[i], v[i]))
            return sp_nomem(ht->d);
    return SPAA_OK;
}

static spaa_status add_stack(struct builder *b, uint32_t cost)
{
    struct sp_ht *ht = b->ht;
    uint32_t trace = ht->cost_trace.v[cost];
    bool fresh;
    spaa_status st = collect(b, trace);
    if (st)
        return st;
    uint32_t by = trace ? sp_ht_suppressed_by(ht, trace) : SP_NONE;
    uint32_t stack = sp_stack_intern(ht->p, b->path.v, b->path.n, b->context, SP_UNIFIED, &fresh);
    if (stack == SP_NONE || !sp_vec_push(&ht->stack_of, stack))
        return sp_nomem(ht->d);
    if (fresh)
        sp_stack_set_layout(ht->p, stack, b->layout);
    if (by != SP_NONE)
        st = note_suppressed(b, stack, cost, by);
    return st ? st : weigh(b, stack, &ht->costs.v[cost]);
}

/* The event, as the specification's own example has it. */
static spaa_status declare(struct builder *b)
{
    static const char *const names[METRICS] = {"alloc_bytes", "alloc_count",  "free_bytes",
                                               "free_count",  "live_bytes",   "live_count",
                                               "peak_bytes",  "x_peak_count", "x_temporary_count"};
    struct sp_profile *p = b->ht->p;
    struct sp_weight_field fields[METRICS];
    uint32_t bytes = sp_profile_cstr(p, "bytes"), count = sp_profile_cstr(p, "count");
    struct sp_event e = {.name = sp_profile_cstr(p, "malloc"),
                         .kind = SP_ALLOCATION,
                         .mode = SP_EVENT,
                         .unit = bytes,
                         .allocation_tracking = sp_profile_cstr(
                             p, "{\"tracks_frees\":true,\"has_timestamps\":true,\"x_peak\":\"of_total\"}")};
    for (int i = 0; i < METRICS; i++) {
        b->metric[i] = sp_metric_intern(p, names[i], strlen(names[i]));
        if (b->metric[i] == SP_NONE)
            return sp_nomem(b->ht->d);
        fields[i] = (struct sp_weight_field){b->metric[i], strstr(names[i], "bytes") ? bytes : count, 0};
    }
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    e.primary = b->metric[ALLOC_BYTES];
    bool ok = e.name != SP_STR_FAIL && e.allocation_tracking != SP_STR_FAIL && bytes != SP_STR_FAIL &&
              count != SP_STR_FAIL;
    c.event = ok ? sp_event_add(p, &e) : SP_NONE;
    b->context = c.event == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    b->layout = ok ? sp_layout_intern(p, fields, METRICS) : SP_NONE;
    return b->context == SP_NONE || b->layout == SP_NONE ? sp_nomem(b->ht->d) : SPAA_OK;
}

static spaa_status patch_samples(struct sp_ht *ht)
{
    struct sp_sample *rows;
    size_t n;
    if (!ht->p->samples)
        return SPAA_OK;
    spaa_status st = sp_samples_rows(ht->p->samples, &rows, &n);
    for (size_t i = 0; !st && i < n; i++) {
        rows[i].stack = ht->stack_of.v[rows[i].stack];
        rows[i].event = 0;
    }
    return st;
}

spaa_status sp_ht_finish(struct sp_ht *ht)
{
    struct builder b = {.ht = ht};
    spaa_status st = declare(&b);
    if (!st && ht->raw)
        st = sp_symbols_new(&ht->opts->symbols, ht->d, &ht->symbols);
    sp_ht_add_up(ht);
    for (uint32_t i = 0; !st && i < ht->costs.n; i++)
        st = add_stack(&b, i);
    if (!st && ht->symbols)
        sp_symbols_report(ht->symbols);
    if (!st && ht->symbols)
        st = sp_symbols_note(ht->symbols, ht->p);
    if (!st)
        st = patch_samples(ht);
    if (!st)
        st = sp_ht_summary(ht);
    if (!st)
        st = sp_ht_windows_finish(ht);
    sp_vec_free(&b.path);
    sp_vec_free(&b.suppressed_texts);
    return st;
}
