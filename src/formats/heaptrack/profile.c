/* The profile of what was read: the frames of addresses, the header, the stacks of traces. */
#include "base/num.h"
#include "base/watch.h"
#include "formats/heaptrack/heaptrack.h"
#include "model/samples.h"
#include "symbols/bind.h"
#include "symbols/demangle.h"
#include "json/json.h"

/*
 * ---- the frames at an address, made once ----
 *
 * An interpreted file has addresses of one run, and not where its modules were: they would make the same
 * stack another one in the next run, so they are no `ip` but stand in `x_heaptrack`.
 */

/* A frame that the file names, behind `numbers`. */
static spaa_status heaptrack_frames_add(struct sp_ht *ht, const struct sp_frame *f, uint32_t name,
                                        uint32_t dso)
{
    uint32_t number = sp_binder_frame(ht->binder, f, name, dso);
    return number == SP_NONE || !sp_vec_push(&ht->numbers, number) ? sp_nomem(ht->d) : SPAA_OK;
}

/* ---- interpreted addresses ---- */

/* "0x7f…" behind `before`; SP_STR_FAIL: out of memory. */
static uint32_t heaptrack_frames_hex_text(struct sp_profile *p, const char *before, uint64_t v,
                                          const char *behind)
{
    char t[64], hex[16];
    size_t n = strlen(before), m = strlen(behind), digits = sp_hex_text(v, hex);
    memcpy(t, before, n);
    memcpy(t + n, hex, digits);
    memcpy(t + n + digits, behind, m);
    return sp_profile_str(p, t, n + digits + m);
}

static uint32_t heaptrack_frames_srcline(struct sp_ht *ht, const struct sp_ht_frame *f)
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

/* heaptrack reads names of C++ alone: those of Rust stay as the linker has them, or half so. */
static uint32_t heaptrack_frames_name(struct sp_ht *ht, uint32_t function)
{
    struct sp_buf plain;
    struct sp_str name = sp_pstr(ht->p, function);
    sp_buf_init(&plain, UINT32_MAX);
    bool other = sp_demangle(sp_str_cstr(&ht->p->strs, function), &plain) ||
                 sp_demangle_escaped(name.p, name.n, &plain);
    uint32_t s = plain.failed ? SP_STR_FAIL : other ? sp_profile_str(ht->p, plain.data, plain.len) : function;
    sp_buf_free(&plain);
    return s;
}

static spaa_status heaptrack_frames_interpreted(struct sp_ht *ht, const struct sp_ht_ip *ip)
{
    struct sp_dso row = {.name = ip->module};
    bool exact = ht->opts->frames != SP_FRAMES_LINE && ht->opts->frames != SP_FRAMES_FUNCTION;
    uint32_t dso = ip->module == SP_STR_NONE ? sp_unknown_dso(ht->p) : sp_dso_intern(ht->p, &row);
    uint32_t more = exact ? heaptrack_frames_hex_text(ht->p, "\"x_heaptrack\":{\"ip\":\"0x", ip->addr, "\"}")
                          : SP_STR_NONE;
    uint32_t hex = heaptrack_frames_hex_text(ht->p, "0x", ip->addr, "");
    if (dso == SP_NONE || more == SP_STR_FAIL || hex == SP_STR_FAIL)
        return sp_nomem(ht->d);
    if (!ip->n) {
        struct sp_frame f = {.kind = SP_USER, .flags = SP_FRAME_UNRESOLVED};
        return heaptrack_frames_add(ht, &f, hex, dso);
    }
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < ip->n; i++) {
        const struct sp_ht_frame *x = &ht->frames.v[ip->first + i];
        struct sp_frame f = {.kind = SP_USER, .extra_json = more, .inline_depth = ip->n - 1 - i};
        bool named = x->function != SP_STR_NONE && sp_pstr(ht->p, x->function).n;
        f.flags = (uint8_t)((f.inline_depth ? SP_FRAME_INLINED : 0) | (named ? 0 : SP_FRAME_UNRESOLVED));
        f.srcline = heaptrack_frames_srcline(ht, x);
        uint32_t name = named ? heaptrack_frames_name(ht, x->function) : hex;
        st = f.srcline == SP_STR_FAIL || name == SP_STR_FAIL ? sp_nomem(ht->d)
                                                             : heaptrack_frames_add(ht, &f, name, dso);
    }
    return st;
}

/* ---- raw addresses ---- */

/* The binder's object of a module; SP_NONE: out of memory. */
static uint32_t heaptrack_frames_object(struct sp_ht *ht, uint32_t module)
{
    struct sp_object o = {.kind = SP_OBJECT_UNMAPPED};
    if (module != SP_NONE) {
        o.path = sp_pstr(ht->p, ht->modules.v[module].name);
        o.kind = o.path.n && *o.path.p == '/' ? SP_OBJECT_FILE
                                              : SP_OBJECT_SPECIAL; /* linux-vdso.so.1 is no file */
    }
    return sp_binder_object(ht->binder, &o);
}

static spaa_status heaptrack_frames_raw(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    uint64_t base = ip->module == SP_NONE ? 0 : ht->modules.v[ip->module].base;
    struct sp_place at = {.addr = ip->addr - base,
                          .object = heaptrack_frames_object(ht, ip->module),
                          .code = SP_MODULE_LATEST,
                          .kind = SP_USER};
    uint32_t place;
    size_t n;
    spaa_status st = at.object == SP_NONE ? sp_nomem(ht->d) : sp_bind(ht->binder, &at, &place);
    if (st)
        return st;
    const uint32_t *frames = sp_binder_frames(ht->binder, place, &n);
    if (!sp_vec_reserve(&ht->numbers, ht->numbers.n + n))
        return sp_nomem(ht->d);
    memcpy(ht->numbers.v + ht->numbers.n, frames, n * sizeof *frames);
    ht->numbers.n += n;
    return SPAA_OK;
}

static spaa_status heaptrack_frames(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    ip->made = (uint32_t)ht->numbers.n + 1;
    spaa_status st = ht->raw ? heaptrack_frames_raw(ht, ip) : heaptrack_frames_interpreted(ht, ip);
    ip->nmade = (uint32_t)ht->numbers.n + 1 - ip->made;
    return st;
}

/* ---- the header: what was recorded, when, and the totals as heaptrack_print gives them, in bytes ---- */

static void heaptrack_summary_totals(struct sp_ht *ht, struct sp_buf *b)
{
    const struct {
        const char *name;
        int64_t v;
    } all[] = {{"alloc_count", ht->alloc_count},
               {"alloc_bytes", ht->alloc_bytes},
               {"temporary_count", ht->temporary},
               {"peak_bytes", ht->peak_bytes},
               {"peak_time_ms", ht->peak_time},
               {"live_bytes", ht->live_bytes},
               {"live_count", ht->live_count},
               {"suppressed_bytes", ht->suppressed_bytes},
               {"leaked_bytes", ht->live_bytes - ht->suppressed_bytes}};
    sp_buf_puts(b, ",\"totals\":{");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_buf_printf(b, "%s\"%s\":%lld", i ? "," : "", all[i].name, (long long)all[i].v);
    uint64_t rss;
    if (ht->peak_rss >= 0 && !__builtin_mul_overflow((uint64_t)ht->peak_rss, ht->page_size, &rss)) {
        sp_buf_puts(b, ",\"peak_rss_bytes\":");
        sp_buf_u64(b, rss);
    }
    sp_buf_puts(b, ",\"runtime_ms\":");
    sp_buf_i64(b, ht->now + 1);
    sp_buf_ch(b, '}');
}

static void heaptrack_summary_suppressions(struct sp_ht *ht, struct sp_buf *b)
{
    bool any = false;
    for (size_t i = 0; i < ht->suppressions.n; i++) {
        const struct sp_ht_suppression *s = &ht->suppressions.v[i];
        struct sp_str pattern = sp_pstr(ht->p, s->pattern);
        if (s->built_in && !s->matches)
            continue;
        sp_buf_puts(b, any ? "," : ",\"suppressions\":[");
        any = true;
        sp_buf_puts(b, "{\"pattern\":");
        sp_json_string(b, pattern.p, pattern.n);
        sp_buf_printf(b, ",\"built_in\":%s,\"matches\":%llu,\"leaked_bytes\":%lld}",
                      s->built_in ? "true" : "false", (unsigned long long)s->matches, (long long)s->leaked);
    }
    if (any)
        sp_buf_ch(b, ']');
}

/* "1.4.0" of 0x010400. */
static void heaptrack_summary_version(const struct sp_ht *ht, struct sp_buf *b)
{
    uint64_t v = ht->heaptrack_version;
    sp_buf_printf(b, "%llu.%llu.%llu", (unsigned long long)(v >> 16), (unsigned long long)(v >> 8 & 255),
                  (unsigned long long)(v & 255));
}

static uint32_t heaptrack_summary_text(struct sp_ht *ht, struct sp_buf *b)
{
    uint32_t s = b->failed ? SP_STR_FAIL : sp_profile_str(ht->p, b->data, b->len);
    sp_buf_clear(b);
    return s;
}

/* An answer without it would be taken for one of the whole recording. */
static spaa_status heaptrack_summary_say_stop(struct sp_ht *ht)
{
    char t[64];
    uint64_t lost = ht->d->lost;
    sp_scaled_text(ht->opts->stop, 9, t);
    sp_emit(ht->d, SP_I619, SP_AT_NOTHING, "--at %s: what came later is left out", t);
    return ht->d->lost > lost ? sp_nomem(ht->d) : SPAA_OK;
}

static void heaptrack_summary_say(struct sp_ht *ht)
{
    if (ht->suppressed_stacks)
        sp_emit(ht->d, SP_I756, SP_AT_NOTHING, "%lld bytes of %llu stacks", (long long)ht->suppressed_bytes,
                (unsigned long long)ht->suppressed_stacks);
    if (ht->unknown_frees)
        sp_emit(ht->d, SP_I757, SP_AT_NOTHING, "%llu%s", (unsigned long long)ht->unknown_frees,
                ht->attached ? ": it was attached to a running process" : "");
}

static spaa_status heaptrack_summary(struct sp_ht *ht)
{
    struct sp_profile *p = ht->p;
    struct sp_header *h = &p->header;
    struct sp_buf b;
    char t[32];
    sp_buf_init(&b, 0);
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "heaptrack");
    h->command = ht->command;
    heaptrack_summary_version(ht, &b);
    h->tool_version = heaptrack_summary_text(ht, &b);
    h->time_start = sp_profile_cstr(p, "0");
    h->time_end = h->duration = sp_profile_str(p, t, sp_ns_seconds((ht->now + 1) * 1000000, t));
    h->time_unit = sp_profile_cstr(p, "seconds");
    h->has_x_spaa = true;
    h->frames = ht->opts->frames > SP_FRAMES_ADDRESS ? ht->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = 0;
    sp_buf_printf(&b, "\"x_heaptrack\":{\"file_version\":%u,\"raw\":%s,\"attached\":%s", ht->version,
                  ht->raw ? "true" : "false", ht->attached ? "true" : "false");
    if (ht->page_size)
        sp_buf_printf(&b, ",\"page_size\":%llu,\"pages\":%llu", (unsigned long long)ht->page_size,
                      (unsigned long long)ht->pages);
    heaptrack_summary_totals(ht, &b);
    heaptrack_summary_suppressions(ht, &b);
    sp_buf_ch(&b, '}');
    h->extra_json = heaptrack_summary_text(ht, &b);
    sp_buf_free(&b);
    const uint32_t all[] = {h->version,  h->source_tool, h->tool_version, h->time_start,
                            h->time_end, h->time_unit,   h->extra_json};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == SP_STR_FAIL)
            return sp_nomem(ht->d);
    h->stopped = ht->opts->stops;
    h->stop = ht->opts->stop;
    h->ended = !ht->stopped;
    heaptrack_summary_say(ht);
    return ht->stopped ? heaptrack_summary_say_stop(ht) : SPAA_OK;
}

/* ---- a stack for each trace that allocated, with what it allocated ---- */

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
    SP_VEC(uint32_t) suppressed_texts; /* per suppression: `extra_json` of its stacks, 0: not made */
};

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
        spaa_status st = ip->made ? SPAA_OK : heaptrack_frames(ht, ip);
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
    ht->p->stacks.v[stack].extra_json = *text;
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
    uint32_t by = trace ? ht->trace_by.v[trace - 1] : SP_NONE;
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
        if (sp_leaving(ht->d, i))
            return SPAA_ERR_CANCELLED;
        rows[i].stack = ht->stack_of.v[rows[i].stack];
        rows[i].event = 0;
    }
    return st;
}

spaa_status sp_ht_finish(struct sp_ht *ht)
{
    struct stacks_builder b = {.ht = ht};
    spaa_status st = heaptrack_stacks_declare(&b);
    if (!st)
        st = sp_binder_new(ht->p, &ht->opts->symbols, ht->opts->frames, ht->d, &ht->binder);
    if (!st && !sp_ht_suppress_traces(ht))
        st = sp_nomem(ht->d);
    sp_ht_add_up(ht);
    for (uint32_t i = 0; !st && i < ht->costs.n; i++)
        st = sp_leaving(ht->d, i) ? SPAA_ERR_CANCELLED : heaptrack_stacks_add(&b, i);
    if (!st && ht->raw)
        st = sp_binder_report(ht->binder);
    if (!st)
        st = heaptrack_stacks_patch_samples(ht);
    if (!st)
        st = heaptrack_summary(ht);
    if (!st)
        st = sp_ht_windows_finish(ht);
    sp_vec_free(&b.path);
    sp_vec_free(&b.suppressed_texts);
    return st;
}
