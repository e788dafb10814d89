/* Reads processed profiles (firefox.h): each thread's samples, of whatever version its tables are. */
#include "base/num.h"
#include "formats/firefox/read.h"
#include "model/samples.h"

/* ---- meta ---- */

/* What categories say of frames: those of the kernel, of programs; of others nothing. */
static bool ff_categories(struct sp_ff_reader *r, struct sp_span raw)
{
    static const char *const programs[] = {"\"User\"", "\"JIT\"", "\"Native\"", "\"DEX\"", "\"OAT\""};
    struct sp_json j;
    sp_json_init(&j, raw.p, raw.n);
    if (raw.n && *raw.p == '[' && sp_json_array(&j))
        while (sp_json_item(&j)) {
            struct sp_json_member name = {"name", {0}};
            struct sp_span skipped;
            int64_t kind = SP_ABSENT;
            if (sp_json_type(&j) != SP_JSON_OBJECT ? !sp_json_skip(&j, &skipped)
                                                   : !sp_json_members(&j, &name, 1))
                break;
            if (sp_span_is(name.raw, "\"Kernel\""))
                kind = SP_KERNEL;
            for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
                kind = sp_span_is(name.raw, programs[i]) ? SP_USER : kind;
            if (!sp_vec_push(&r->kinds, kind)) {
                sp_ff_fail(r);
                break;
            }
        }
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

static bool ff_meta(struct sp_ff_reader *r, struct sp_span meta)
{
    struct sp_json_member m[] = {{"interval", {0}},   {"startTime", {0}},    {"product", {0}},
                                 {"categories", {0}}, {"importedFrom", {0}}, {"sampleUnits", {0}}};
    struct sp_json_member cpu = {"threadCPUDelta", {0}};
    __int128 start;
    bool exact = true;
    if (!sp_ff_members(r, meta, m, sizeof m / sizeof *m))
        return false;
    if (m[0].raw.n && (*m[0].raw.p == '-' || (unsigned char)(*m[0].raw.p - '0') < 10))
        r->interval = m[0].raw;
    r->product = m[2].raw;
    r->ours = m[4].raw.n > 6 && memcmp(m[4].raw.p, "\"spaa ", 6) == 0;
    if (m[1].raw.n && sp_parse_fixed(m[1].raw.p, m[1].raw.n, 6, &start, &exact) && start > 0 &&
        start < INT64_MAX / 2)
        r->start = (int64_t)start;
    if (!sp_ff_members(r, m[5].raw, &cpu, 1))
        return false;
    sp_buf_clear(&r->b);
    if (cpu.raw.n && *cpu.raw.p == '"')
        sp_json_text_to(&r->b, cpu.raw);
    struct sp_str unit = {r->b.len ? r->b.data : "", (uint32_t)r->b.len};
    if (r->b.failed)
        return sp_ff_fail(r);
    r->cpu_unit = r->ours ? 0 : sp_str_is(unit, "ns") ? 1 : sp_str_is(unit, "µs") ? 1000 : 0;
    return ff_categories(r, m[3].raw);
}

/* The first item of a list; n 0: there is none. */
static bool ff_first(struct sp_ff_reader *r, struct sp_span list, struct sp_span *first)
{
    struct sp_json j;
    *first = (struct sp_span){0};
    sp_json_init(&j, list.p, list.n);
    if (list.n && *list.p == '[' && sp_json_array(&j) && sp_json_item(&j))
        sp_json_skip(&j, first);
    bool ok = !j.scratch.failed || sp_ff_fail(r);
    sp_json_free(&j);
    return ok;
}

/* The processor, which each library names. */
static bool ff_arch(struct sp_ff_reader *r, struct sp_span libs)
{
    struct sp_json_member arch = {"arch", {0}};
    struct sp_span lib;
    if (!ff_first(r, libs, &lib) || !sp_ff_members(r, lib, &arch, 1))
        return false;
    sp_buf_clear(&r->b);
    if (arch.raw.n && *arch.raw.p == '"')
        sp_json_text_to(&r->b, arch.raw);
    if (r->b.len && !r->b.failed)
        r->p->header.host.arch = sp_profile_text(r->p, r->b.data, r->b.len);
    return (!r->b.failed && r->p->header.host.arch != SP_STR_FAIL) || sp_ff_fail(r);
}

/* ---- the header, and what is said ---- */

static bool ff_header(struct sp_ff_reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_buf b;
    char text[32];
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "firefox");
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    if (r->timed) {
        h->time_start = sp_profile_str(r->p, text, sp_ns_seconds(r->first, text));
        h->time_end = sp_profile_str(r->p, text, sp_ns_seconds(r->last, text));
        h->time_unit = sp_profile_cstr(r->p, "seconds");
        h->clock = r->start ? sp_profile_cstr(r->p, "CLOCK_REALTIME") : SP_STR_NONE;
    }
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_firefox\":{");
    if (r->product.n) {
        sp_buf_puts(&b, "\"product\":");
        sp_json_minify(&b, r->product);
    }
    if (r->interval.n) {
        sp_buf_puts(&b, r->product.n ? ",\"interval\":" : "\"interval\":");
        sp_buf_add(&b, r->interval.p, r->interval.n);
    }
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return (h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->time_start != SP_STR_FAIL &&
            h->time_end != SP_STR_FAIL && h->time_unit != SP_STR_FAIL && h->clock != SP_STR_FAIL &&
            h->extra_json != SP_STR_FAIL) ||
           sp_ff_fail(r);
}

static void ff_say(const struct sp_ff_reader *r)
{
    static const char *const words[] = {"markers", "allocations", "events of the JavaScript tracer",
                                        "counters"};
    const uint64_t counts[] = {r->markers, r->allocations, r->traced, r->counters};
    if (r->bad)
        sp_emit(r->d, SP_L300, SP_AT_NOTHING, "%llu numbers that are none, or no rows of their table",
                (unsigned long long)r->bad);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i])
            sp_emit(r->d, SP_I321, SP_AT_NOTHING, "%llu %s", (unsigned long long)counts[i], words[i]);
    if (r->rounded)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING, "%llu numbers were rounded, times to whole nanoseconds",
                (unsigned long long)r->rounded);
}

/* ---- the file ---- */

/* Memory, power and the like over time: no samples of stacks. */
static bool ff_counters(struct sp_ff_reader *r, struct sp_span list)
{
    struct sp_json j;
    struct sp_span raw;
    sp_json_init(&j, list.p, list.n);
    if (list.n && sp_json_type(&j) == SP_JSON_ARRAY && sp_json_array(&j))
        while (sp_json_item(&j) && sp_json_skip(&j, &raw))
            r->counters++;
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

static bool ff_threads(struct sp_ff_reader *r, struct sp_span threads)
{
    struct sp_json j;
    sp_json_init(&j, threads.p, threads.n);
    if (sp_json_array(&j))
        while (sp_json_item(&j)) {
            struct sp_span raw;
            enum sp_json_type type = sp_json_type(&j);
            const char *start = j.p;
            bool whole = sp_json_skip(&j, &raw);
            if (!whole) /* what is cut off is used as far as it goes */
                raw = (struct sp_span){start, (size_t)(j.end - start)};
            r->bad += whole && type != SP_JSON_OBJECT;
            if ((type == SP_JSON_OBJECT && !sp_ff_read_thread(r, raw)) || !whole)
                break;
        }
    bool ok = sp_ff_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

/* Gecko's own has rows, with a schema for their cells; the developer tools saved it below `profile`. */
static bool ff_is_gecko(struct sp_ff_reader *r, const struct sp_json_member *root, bool *gecko)
{
    struct sp_json_member samples = {"samples", {0}}, schema = {"schema", {0}};
    struct sp_span first;
    if (!ff_first(r, root[3].raw, &first) || !sp_ff_members(r, first, &samples, 1) ||
        !sp_ff_members(r, samples.raw, &schema, 1))
        return false;
    *gecko = schema.raw.n || (!root[3].raw.n && root[4].raw.n);
    return true;
}

static bool ff_refuse(struct sp_ff_reader *r, bool gecko)
{
    if (gecko)
        sp_emit_hint(
            r->d, SP_E009, SP_AT_NOTHING,
            "load it at https://profiler.firefox.com, and save it there: Upload Local Profile, Download",
            "a profile of Gecko as the browser writes it, not as the Firefox Profiler processes it");
    else
        sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the file has no list of threads");
    r->status = gecko ? SPAA_ERR_UNSUPPORTED : SPAA_ERR_INPUT;
    return false;
}

static bool ff_read_all(struct sp_ff_reader *r)
{
    struct sp_json_member m[] = {{"meta", {0}},    {"libs", {0}},    {"shared", {0}},
                                 {"threads", {0}}, {"profile", {0}}, {"counters", {0}}};
    bool gecko;
    if (!sp_ff_members(r, r->file.text, m, sizeof m / sizeof *m) || !ff_is_gecko(r, m, &gecko))
        return false;
    if (gecko || !m[3].raw.n || *m[3].raw.p != '[')
        return ff_refuse(r, gecko);
    if (!ff_meta(r, m[0].raw) || !sp_ff_read_tables(r, m[2].raw, &r->shared) ||
        !sp_ff_read_libs(r, m[1].raw, &r->shared) || !ff_arch(r, m[1].raw) || !ff_threads(r, m[3].raw) ||
        !ff_counters(r, m[5].raw) || !ff_header(r))
        return false;
    ff_say(r);
    return true;
}

/* What is wrong with the text as a whole, where no part of it said so. */
static void ff_check(struct sp_ff_reader *r)
{
    struct sp_json j;
    struct sp_span raw;
    sp_json_init(&j, r->file.text.p, r->file.text.n);
    if (sp_diags_count(r->d, SP_LOSS) == 0 && (!sp_json_skip(&j, &raw) || !sp_json_end(&j)))
        sp_ff_ended(r, &j);
    sp_json_free(&j);
}

spaa_status sp_ff_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p)
{
    struct sp_ff_reader r = {.p = p, .d = d, .opts = opts};
    spaa_status st = sp_json_file_open(&r.file, in, d);
    if (!st && opts->samples)
        st = sp_samples_new(d, &p->samples);
    if (st)
        return st;
    r.frames_max = sp_json_frames_max(r.file.text.n);
    for (size_t i = 0; i < SP_FF_KINDS; i++)
        r.events[i] = SP_NONE;
    sp_buf_init(&r.b, 0);
    if (ff_read_all(&r))
        ff_check(&r);
    sp_ff_free_tables(&r.own);
    sp_ff_free_tables(&r.shared);
    sp_vec_free(&r.kinds);
    sp_vec_free(&r.path);
    sp_buf_free(&r.b);
    return r.status;
}
