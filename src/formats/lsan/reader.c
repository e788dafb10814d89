/*
 * Reads reports of LeakSanitizer (lsan.h) as one event, `leak`: live_bytes and live_count of each stack, and
 * as label leak_kind how it was lost: `definite` (direct) or `indirect`. Sums are those of SUMMARY.
 *
 * A program may check for leaks while it runs: each report lists all that is lost then, so the last one of a
 * process counts. What a summary has beyond the leaks that are listed is a row of its own.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/lsan/lsan.h"
#include "model/labels.h"
#include "symbols/bind.h"
#include "json/json.h"

struct lsan_record {
    struct sp_lsan_leak leak;
    uint32_t report;
    size_t first, n; /* slice of frames, leaf first */
    bool astray;     /* the unwinder lost its way behind them */
};

struct lsan_report {
    int64_t pid; /* 0: not said */
    int64_t bytes, objects, all_bytes, all_objects;
    bool summed, later; /* its summary was seen; a later one of its process counts */
};

struct lsan_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    struct sp_binder *binder;
    uint32_t event, bytes, count, layout, unknown;
    SP_VEC(struct lsan_report) reports;
    SP_VEC(struct lsan_record) records;
    SP_VEC(uint32_t) frames;
    struct sp_buf plain, suppressions; /* the line without colours; of all reports, as JSON */
    bool open, suppressed, too_many;   /* within a leak; within the list of suppressions */
    /* The frame before, of which the next one's address tells whether it is inlined. */
    struct sp_lsan_frame last;
    uint32_t last_name, last_where;
    uint64_t stacks, cut, other_lines;
    int64_t suppressed_bytes, suppressed_count;
};

#define LSAN_REPORTS ((size_t)1 << 16)
#define LSAN_FRAMES  4096u /* of a stack; sanitizers record 256 at most */

static void lsan_add(int64_t *sum, int64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = INT64_MAX;
}

/* ---- frames ---- */

static uint32_t lsan_object(struct lsan_reader *r, const struct sp_lsan_frame *f)
{
    struct sp_object o = {.kind = SP_OBJECT_FILE, .path = f->module, .build_id = f->build_id};
    bool special = f->module.n && *f->module.p == '[', unknown = !f->module.n || *f->module.p == '<';
    if (unknown) /* "<unknown module>": of no binary, so nobody's own */
        o = (struct sp_object){.kind = SP_OBJECT_UNMAPPED, .path = {"", 0}};
    else if (special)
        o = (struct sp_object){.kind = SP_OBJECT_SPECIAL, .path = f->module};
    return sp_binder_object(r->binder, &o);
}

/* A place that the report has no name for: its file may. */
static spaa_status lsan_unnamed(struct lsan_reader *r, const struct sp_lsan_frame *f)
{
    struct sp_place at = {.addr = f->module.n ? f->offset : f->address,
                          .object = lsan_object(r, f),
                          .code = SP_MODULE_LATEST,
                          .kind = f->module.n ? SP_USER : SP_UNKNOWN};
    uint32_t place;
    size_t n;
    spaa_status st = at.object == SP_NONE ? sp_nomem(r->d) : sp_bind(r->binder, &at, &place);
    if (st)
        return st;
    const uint32_t *frames = sp_binder_frames(r->binder, place, &n);
    for (size_t i = 0; i < n; i++)
        if (!sp_vec_push(&r->frames, frames[i]))
            return sp_nomem(r->d);
    return SPAA_OK;
}

static spaa_status lsan_named(struct lsan_reader *r, const struct sp_lsan_frame *f)
{
    struct sp_frame frame = {.kind = SP_USER};
    uint32_t name = sp_profile_text(r->p, f->name.p, f->name.n), dso = r->unknown;
    if (f->file.n)
        frame.srcline = sp_profile_text(r->p, f->file.p, f->file.n);
    if (f->module.n) {
        uint32_t object = lsan_object(r, f);
        dso = object == SP_NONE ? SP_NONE : sp_binder_dso(r->binder, object);
        frame.ip = f->offset;
        frame.flags = SP_FRAME_IP;
    }
    if (name == SP_STR_FAIL || frame.srcline == SP_STR_FAIL || dso == SP_NONE)
        return sp_nomem(r->d);
    uint32_t number = sp_binder_frame(r->binder, &frame, name, dso);
    return number != SP_NONE && sp_vec_push(&r->frames, number) ? SPAA_OK : sp_nomem(r->d);
}

/*
 * Frames of one address that say different things are one place: each but the last is inlined into the next.
 * Those that say the same are a recursion.
 */
static bool lsan_inline(struct lsan_reader *r, const struct lsan_record *rec)
{
    for (size_t i = r->frames.n; i-- > rec->first;) {
        struct sp_frame f = r->p->frames.v[r->frames.v[i]];
        if (i + 1 < r->frames.n && !(f.flags & SP_FRAME_INLINED))
            break;
        f.flags |= SP_FRAME_INLINED;
        f.inline_depth++;
        if ((r->frames.v[i] = sp_frame_intern(r->p, &f)) == SP_NONE)
            return false;
    }
    return true;
}

/*
 * Where frame pointers are followed through code without them, addresses of callers are whatever lay on the
 * stack: those of the stack, of the heap, of a binary's data, small numbers. A JIT's code is in no module
 * either: that is kept.
 */
static spaa_status lsan_is_no_code(struct lsan_reader *r, const struct sp_lsan_frame *f, bool *out)
{
    enum { FIRST_PAGE = 4096 };
    struct sp_module *module;
    bool special = f->module.n && *f->module.p == '[';
    *out = !f->name.n && ((f->module.n >= 6 && memcmp(f->module.p, "[stack", 6) == 0) ||
                          sp_str_is(f->module, "[heap]") || (!f->module.n && f->address < FIRST_PAGE));
    if (f->name.n || !f->module.n || special || *f->module.p == '<')
        return SPAA_OK;
    uint32_t object = lsan_object(r, f);
    spaa_status st =
        object == SP_NONE ? sp_nomem(r->d) : sp_binder_module(r->binder, object, f->offset, &module);
    *out = !st && module && sp_module_is_data(module, f->offset);
    return st;
}

static spaa_status lsan_frame(struct lsan_reader *r, const struct sp_lsan_frame *f)
{
    struct lsan_record *rec = &r->records.v[r->records.n - 1];
    spaa_status st = rec->astray ? SPAA_OK : lsan_is_no_code(r, f, &rec->astray);
    if (st)
        return st;
    if (r->frames.n - rec->first >= LSAN_FRAMES || rec->astray)
        return SPAA_OK; /* callers of what is none are none either */
    uint32_t name = sp_profile_text(r->p, f->name.p, f->name.n);
    uint32_t where = sp_profile_text(r->p, f->where.p, f->where.n);
    if (name == SP_STR_FAIL || where == SP_STR_FAIL)
        return sp_nomem(r->d);
    bool same_place = f->name.n && f->address == r->last.address;
    bool inlined = same_place && (name != r->last_name || where != r->last_where);
    if (inlined && r->opts->frames != SP_FRAMES_FUNCTION && !lsan_inline(r, rec))
        return sp_nomem(r->d);
    r->last.address = f->address;
    r->last_name = name;
    r->last_where = where;
    st = f->name.n ? lsan_named(r, f) : lsan_unnamed(r, f);
    r->records.v[r->records.n - 1].n = r->frames.n - rec->first;
    return st;
}

/* Whether a stack reaches where threads begin; one that ends in the middle was not unwound further. */
static bool lsan_ends(const struct lsan_reader *r, const struct lsan_record *rec)
{
    static const char *const starts[] = {"main",     "_start",       "start_thread", "clone",
                                         "__clone",  "__clone3",     "clone3",       "call_init",
                                         "_dl_init", "thread_start", "start",        NULL};
    if (!rec->n || rec->astray)
        return false;
    uint32_t outer = r->frames.v[rec->first + rec->n - 1];
    struct sp_str name = sp_pstr(r->p, sp_frame_function(r->p, outer)->name);
    return sp_name_index(starts, name.p, name.n) >= 0 ||
           (name.n > 12 && !memcmp(name.p, "__libc_start", 12)) ||
           (name.n > 4 && !memcmp(name.p, "_dl_", 4)) || memmem(name.p, name.n, "thread_start", 12) ||
           r->p->frames.v[outer].flags & SP_FRAME_UNRESOLVED;
}

/* ---- lines ---- */

static spaa_status lsan_begin_report(struct lsan_reader *r, int64_t pid)
{
    struct lsan_report report = {.pid = pid};
    r->open = r->suppressed = false;
    if (r->reports.n >= LSAN_REPORTS) {
        sp_emit(r->d, SP_E007, SP_AT_LINE(r->lines.line, r->lines.offset), "more than %zu reports",
                LSAN_REPORTS);
        return SPAA_ERR_LIMIT;
    }
    for (size_t i = r->reports.n; pid && i-- > 0;)
        if (r->reports.v[i].pid == pid) {
            r->reports.v[i].later = true;
            break;
        }
    return sp_vec_push(&r->reports, report) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status lsan_begin_leak(struct lsan_reader *r, const struct sp_lsan_leak *leak)
{
    spaa_status st = r->reports.n ? SPAA_OK : lsan_begin_report(r, 0);
    if (st)
        return st;
    struct lsan_record rec = {.leak = *leak, .report = (uint32_t)r->reports.n - 1, .first = r->frames.n};
    struct lsan_report *report = &r->reports.v[rec.report];
    lsan_add(&report->bytes, leak->bytes);
    lsan_add(&report->objects, leak->objects);
    r->open = true;
    r->suppressed = false;
    r->last.address = 0;
    r->last_name = r->last_where = SP_STR_NONE;
    return sp_vec_push(&r->records, rec) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status lsan_suppression(struct lsan_reader *r, int64_t count, int64_t bytes, struct sp_str name)
{
    lsan_add(&r->suppressed_count, count);
    lsan_add(&r->suppressed_bytes, bytes);
    sp_buf_printf(&r->suppressions,
                  "%s{\"count\":%lld,\"bytes\":%lld,\"template\":", r->suppressions.len ? "," : "",
                  (long long)count, (long long)bytes);
    sp_json_string(&r->suppressions, name.p, name.n);
    sp_buf_ch(&r->suppressions, '}');
    return r->suppressions.failed ? sp_nomem(r->d) : SPAA_OK;
}

static void lsan_sum_up(struct lsan_reader *r, int64_t bytes, int64_t objects)
{
    r->open = r->suppressed = false;
    if (!r->reports.n || r->reports.v[r->reports.n - 1].summed)
        return;
    struct lsan_report *report = &r->reports.v[r->reports.n - 1];
    report->summed = true;
    report->all_bytes = bytes;
    report->all_objects = objects;
}

/* What a report says beside its leaks and belongs to it. */
static bool lsan_is_known(const char *p, size_t n)
{
    static const char *const begins[] = {"=====", "-----", "0x", "Objects leaked above:", "Omitting ", NULL};
    if (n > 4 && memcmp(p, "The ", 4) == 0)
        return memmem(p, n, " top leak(s):", 13);
    for (size_t i = 0; begins[i]; i++)
        if (n >= strlen(begins[i]) && memcmp(p, begins[i], strlen(begins[i])) == 0)
            return true;
    return !n || (n > 10 && memmem(p, n, "count      bytes template", 25));
}

static spaa_status lsan_plain_line(struct lsan_reader *r, const char *p, size_t n)
{
    struct sp_lsan_leak leak;
    struct sp_lsan_frame frame;
    struct sp_str name;
    int64_t a, b;
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' '))
        n--;
    if (sp_lsan_head(p, n, &a))
        return lsan_begin_report(r, a);
    if (sp_lsan_leak(p, n, &leak))
        return lsan_begin_leak(r, &leak);
    if (r->open && sp_lsan_frame(p, n, &frame))
        return lsan_frame(r, &frame);
    r->open = false;
    if (sp_lsan_summary(p, n, &a, &b))
        lsan_sum_up(r, a, b);
    else if (memmem(p, n, "Suppressions used:", 18))
        r->suppressed = r->reports.n > 0;
    else if (r->suppressed && sp_lsan_suppression(p, n, &a, &b, &name))
        return lsan_suppression(r, a, b, name);
    else
        r->other_lines += !lsan_is_known(p, n);
    return SPAA_OK;
}

/* Without colours: ESC [ … letter. */
static spaa_status lsan_line(void *reader, const char *p, size_t n)
{
    struct lsan_reader *r = reader;
    if (!n || !memchr(p, '\033', n))
        return lsan_plain_line(r, p, n);
    sp_buf_clear(&r->plain);
    for (size_t i = 0; i < n; i++) {
        if (p[i] != '\033' || i + 1 >= n || p[i + 1] != '[') {
            sp_buf_ch(&r->plain, p[i]);
            continue;
        }
        for (i += 2; i < n && !((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z'); i++)
            ;
    }
    return r->plain.failed ? sp_nomem(r->d)
                           : lsan_plain_line(r, r->plain.data ? r->plain.data : "", r->plain.len);
}

/* ---- the profile ---- */

static bool lsan_declare(struct lsan_reader *r)
{
    struct sp_event e = {.kind = SP_ALLOCATION, .mode = SP_EVENT};
    uint32_t unit = sp_profile_cstr(r->p, "bytes"), one = sp_profile_cstr(r->p, "count");
    e.name = sp_profile_cstr(r->p, "leak");
    e.unit = unit;
    e.allocation_tracking = sp_profile_cstr(r->p, "{\"tracks_frees\":true,\"has_timestamps\":false}");
    e.primary = r->bytes = sp_metric_intern(r->p, "live_bytes", 10);
    r->count = sp_metric_intern(r->p, "live_count", 10);
    if (unit == SP_STR_FAIL || one == SP_STR_FAIL || e.name == SP_STR_FAIL ||
        e.allocation_tracking == SP_STR_FAIL || r->bytes == SP_NONE || r->count == SP_NONE)
        return false;
    r->event = sp_event_add(r->p, &e);
    r->layout = sp_layout_simple(r->p, r->bytes, unit, r->count, one);
    r->unknown = sp_unknown_dso(r->p);
    return r->event != SP_NONE && r->layout != SP_NONE && r->unknown != SP_NONE;
}

/* 1 + number of the set {leak_kind}, 0: it is not asked for; SP_NONE: out of memory. */
static uint32_t lsan_labels(struct lsan_reader *r, enum sp_lsan_kind kind)
{
    static const char key[] = "leak_kind";
    struct sp_label label = {.key = sp_profile_cstr(r->p, key)};
    if (r->opts->labels && !sp_label_keys_have(r->opts->labels, (struct sp_str){key, sizeof key - 1}))
        return 0;
    label.value = sp_profile_cstr(r->p, kind == SP_LSAN_DIRECT ? "definite" : "indirect");
    return label.key == SP_STR_FAIL || label.value == SP_STR_FAIL ? SP_NONE
                                                                  : sp_labels_intern(r->p, &label, 1);
}

static bool lsan_stack(struct lsan_reader *r, const uint32_t *frames, size_t n, uint32_t report,
                       uint32_t labels, int64_t bytes, int64_t objects)
{
    int64_t pid = r->reports.v[report].pid;
    struct sp_context c = {.pid = r->opts->group_by & SP_BY_PID && pid ? pid : SP_ABSENT,
                           .tid = SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = r->event,
                           .labels = labels};
    bool is_new;
    uint32_t context = labels == SP_NONE ? SP_NONE : sp_context_intern(r->p, &c);
    uint32_t s =
        context == SP_NONE ? SP_NONE : sp_stack_intern(r->p, frames, n, context, SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return false;
    sp_stack_set_layout(r->p, s, r->layout);
    return sp_weight_add(r->p, s, r->bytes, bytes) && sp_weight_add(r->p, s, r->count, objects);
}

static bool lsan_record(struct lsan_reader *r, const struct lsan_record *rec)
{
    if (r->reports.v[rec->report].later)
        return true;
    r->stacks++;
    r->cut += !lsan_ends(r, rec);
    return lsan_stack(r, r->frames.v + rec->first, rec->n, rec->report, lsan_labels(r, rec->leak.kind),
                      rec->leak.bytes, rec->leak.objects);
}

/* What the summary has more, as with max_leaks=N; less cannot be. */
static bool lsan_hidden(struct lsan_reader *r, uint32_t number)
{
    const struct lsan_report *x = &r->reports.v[number];
    int64_t bytes = x->all_bytes - x->bytes, objects = x->all_objects - x->objects;
    struct sp_frame f = {.kind = SP_UNKNOWN};
    if (x->later || !x->summed || (!bytes && !objects))
        return true;
    if (bytes < 0 || objects < 0) {
        sp_emit(r->d, SP_W772, SP_AT_NOTHING,
                "SUMMARY has %lld bytes in %lld allocations, the leaks above it %lld in %lld",
                (long long)x->all_bytes, (long long)x->all_objects, (long long)x->bytes,
                (long long)x->objects);
        return true;
    }
    sp_emit_hint(r->d, SP_I322, SP_AT_NOTHING, "record with LSAN_OPTIONS=max_leaks=0",
                 "of %lld bytes in %lld allocations the report does not show the stacks", (long long)bytes,
                 (long long)objects);
    uint32_t name = sp_profile_cstr(r->p, "[not shown]");
    f.function = name == SP_STR_FAIL ? SP_NONE : sp_function_intern(r->p, name, r->unknown);
    uint32_t frame = f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
    return frame != SP_NONE && lsan_stack(r, &frame, 1, number, 0, bytes, objects);
}

/* ---- what is said ---- */

static void lsan_say(struct lsan_reader *r)
{
    size_t later = 0, unsummed = 0;
    for (size_t i = 0; i < r->reports.n; i++) {
        later += r->reports.v[i].later;
        unsummed += !r->reports.v[i].later && !r->reports.v[i].summed;
    }
    if (unsummed)
        sp_emit(r->d, SP_L301, SP_AT_LINE(r->lines.line, r->lines.offset),
                "%zu reports without their SUMMARY", unsummed);
    if (later)
        sp_emit(r->d, SP_I321, SP_AT_NOTHING,
                "%zu reports before the last one of their process, which lists all", later);
    if (r->suppressed_count)
        sp_emit(r->d, SP_I321, SP_AT_NOTHING, "%lld suppressed bytes in %lld allocations, as in SUMMARY",
                (long long)r->suppressed_bytes, (long long)r->suppressed_count);
    if (r->cut)
        sp_emit_hint(r->d, SP_I322, SP_AT_NOTHING,
                     "record with LSAN_OPTIONS=fast_unwind_on_malloc=0, or -fno-omit-frame-pointer",
                     "%llu of %llu stacks end before main: who called is not known",
                     (unsigned long long)r->cut, (unsigned long long)r->stacks);
    if (r->other_lines && !r->opts->keeper)
        sp_emit_hint(r->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them", "%llu lines of other text",
                     (unsigned long long)r->other_lines);
}

static spaa_status lsan_header(struct lsan_reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_buf b;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "lsan");
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = r->opts->group_by & SP_BY_PID;
    h->unfinished = r->cut;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_lsan\":{\"reports\":%zu", r->reports.n);
    if (r->suppressions.len) {
        sp_buf_puts(&b, ",\"suppressions\":[");
        sp_buf_add(&b, r->suppressions.data, r->suppressions.len);
        sp_buf_ch(&b, ']');
    }
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->extra_json == SP_STR_FAIL
               ? sp_nomem(r->d)
               : SPAA_OK;
}

static spaa_status lsan_finish(struct lsan_reader *r, struct sp_input *in)
{
    bool ok = true;
    if (!r->records.n) {
        spaa_status st = sp_input_failed(in);
        if (!st)
            sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the text has no leak");
        return st ? st : SPAA_ERR_INPUT;
    }
    for (size_t i = 0; ok && i < r->records.n; i++)
        ok = lsan_record(r, &r->records.v[i]);
    for (uint32_t i = 0; ok && i < r->reports.n; i++)
        ok = lsan_hidden(r, i);
    if (!ok)
        return sp_nomem(r->d);
    spaa_status st = lsan_header(r);
    if (!st)
        lsan_say(r);
    return st ? st : sp_binder_report(r->binder);
}

static spaa_status lsan_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_profile *p)
{
    struct lsan_reader r = {.p = p, .d = d, .opts = opts};
    r.lines = (struct sp_lines){.reader = &r, .take = lsan_line};
    sp_buf_init(&r.plain, UINT32_MAX);
    sp_buf_init(&r.suppressions, 0);
    spaa_status st = sp_binder_new(p, &opts->symbols, opts->frames, d, &r.binder);
    if (!st)
        st = lsan_declare(&r) ? sp_lines_read(&r.lines, in) : sp_nomem(d);
    if (!st)
        st = lsan_finish(&r, in);
    sp_binder_free(r.binder);
    sp_vec_free(&r.reports);
    sp_vec_free(&r.records);
    sp_vec_free(&r.frames);
    sp_buf_free(&r.plain);
    sp_buf_free(&r.suppressions);
    return st;
}

const struct spaa_format spaa_format_lsan = {
    .name = "lsan",
    .title = "LeakSanitizer's report, also of AddressSanitizer",
    .extensions = "lsan lsan.txt",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ | SP_NAMES_FROM_SYMBOLS,
    .probe = sp_lsan_probe,
    .read = lsan_read,
};
