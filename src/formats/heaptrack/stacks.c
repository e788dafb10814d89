/* The profile: a stack for each trace that allocated, with what it allocated. */
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

struct stacks_builder {
    struct sp_ht *ht;
    uint32_t context, layout;
    uint32_t metric[METRICS];
    SP_VEC(uint32_t) path;
    SP_VEC(uint32_t) suppressed_texts; /* per suppression: `more` of its stacks, 0: not made */
};

/* ---- stacks ---- */

static spaa_status heaptrack_stacks_path(struct stacks_builder *b, uint32_t trace)
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
        spaa_status st = ip->made ? SPAA_OK : sp_ht_frames(ht, ip);
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

static spaa_status heaptrack_stacks_note_suppressed(struct stacks_builder *b, uint32_t stack, uint32_t cost,
                                                    uint32_t by)
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

static spaa_status heaptrack_stacks_weigh(struct stacks_builder *b, uint32_t stack,
                                          const struct sp_ht_cost *c)
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

static spaa_status heaptrack_stacks_add(struct stacks_builder *b, uint32_t cost)
{
    struct sp_ht *ht = b->ht;
    uint32_t trace = ht->cost_trace.v[cost];
    bool fresh;
    spaa_status st = heaptrack_stacks_path(b, trace);
    if (st)
        return st;
    uint32_t by = trace ? sp_ht_suppressed_by(ht, trace) : SP_NONE;
    uint32_t stack = sp_stack_intern(ht->p, b->path.v, b->path.n, b->context, SP_UNIFIED, &fresh);
    if (stack == SP_NONE || !sp_vec_push(&ht->stack_of, stack))
        return sp_nomem(ht->d);
    if (fresh)
        sp_stack_set_layout(ht->p, stack, b->layout);
    if (by != SP_NONE)
        st = heaptrack_stacks_note_suppressed(b, stack, cost, by);
    return st ? st : heaptrack_stacks_weigh(b, stack, &ht->costs.v[cost]);
}

/* The event, as the specification's own example has it. */
static spaa_status heaptrack_stacks_declare(struct stacks_builder *b)
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

static spaa_status heaptrack_stacks_patch_samples(struct sp_ht *ht)
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
    struct stacks_builder b = {.ht = ht};
    spaa_status st = heaptrack_stacks_declare(&b);
    if (!st && ht->raw)
        st = sp_symbols_new(&ht->opts->symbols, ht->d, &ht->symbols);
    sp_ht_add_up(ht);
    for (uint32_t i = 0; !st && i < ht->costs.n; i++)
        st = heaptrack_stacks_add(&b, i);
    if (!st && ht->symbols)
        sp_symbols_report(ht->symbols);
    if (!st && ht->symbols)
        st = sp_symbols_note(ht->symbols, ht->p);
    if (!st)
        st = heaptrack_stacks_patch_samples(ht);
    if (!st)
        st = sp_ht_summary(ht);
    if (!st)
        st = sp_ht_windows_finish(ht);
    sp_vec_free(&b.path);
    sp_vec_free(&b.suppressed_texts);
    return st;
}
