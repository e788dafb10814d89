/* The file: its members, tables as columns. */
#include "base/num.h"
#include "formats/firefox/firefox.h"
#include "model/identity.h"
#include "spaa/version.h"

#include <stdio.h>
#include <stdlib.h>

const char *const sp_ff_categories[] = {"Other", "User", "Kernel", "JIT", NULL};

/* ---- columns ---- */

enum ff_none { FF_NULL, FF_MINUS };

/* A number of a table, which SP_NONE is none of. */
static void ff_index(struct sp_jw *j, uint32_t v, enum ff_none none)
{
    if (v != SP_NONE)
        sp_jw_u64(j, NULL, v);
    else if (none == FF_NULL)
        sp_jw_null(j, NULL);
    else
        sp_jw_i64(j, NULL, -1);
}

#define FF_COLUMN(j, name, table, put)                                                                       \
    do {                                                                                                     \
        sp_jw_open((j), (name), '[');                                                                        \
        for (size_t i = 0; i < (table).n; i++)                                                               \
            put;                                                                                             \
        sp_jw_close((j), ']');                                                                               \
    } while (0)

#define FF_RAW(j, name, text) sp_jw_raw((j), (name), (text), sizeof(text) - 1)

static void ff_line_or_null(struct sp_jw *j, int64_t v)
{
    if (v > 0)
        sp_jw_i64(j, NULL, v);
    else
        sp_jw_null(j, NULL);
}

static void ff_put_frames(const struct sp_ff_writer *w, struct sp_jw *j)
{
    const struct sp_ff_frame *v = w->frames.v;
    sp_jw_open(j, "frameTable", '{');
    FF_COLUMN(j, "address", w->frames, sp_jw_i64(j, NULL, v[i].address));
    FF_COLUMN(j, "inlineDepth", w->frames, sp_jw_u64(j, NULL, v[i].depth));
    FF_COLUMN(j, "category", w->frames, sp_jw_u64(j, NULL, v[i].category));
    FF_COLUMN(j, "subcategory", w->frames, sp_jw_u64(j, NULL, 0));
    FF_COLUMN(j, "func", w->frames, sp_jw_u64(j, NULL, v[i].func));
    FF_COLUMN(j, "nativeSymbol", w->frames, sp_jw_null(j, NULL));
    FF_COLUMN(j, "innerWindowID", w->frames, sp_jw_u64(j, NULL, 0));
    FF_COLUMN(j, "line", w->frames, ff_line_or_null(j, v[i].line));
    FF_COLUMN(j, "column", w->frames, ff_line_or_null(j, v[i].column));
    sp_jw_u64(j, "length", w->frames.n);
    sp_jw_close(j, '}');
}

/* Sources are the strings that functions have as files, in the order of functions. */
static void ff_put_funcs(const struct sp_ff_writer *w, struct sp_jw *j, const uint32_t *source_of)
{
    const struct sp_ff_func *v = w->funcs.v;
    sp_jw_open(j, "funcTable", '{');
    FF_COLUMN(j, "name", w->funcs, sp_jw_u64(j, NULL, v[i].name));
    FF_COLUMN(j, "isJS", w->funcs, sp_jw_bool(j, NULL, v[i].js));
    FF_COLUMN(j, "relevantForJS", w->funcs, sp_jw_bool(j, NULL, false));
    FF_COLUMN(j, "resource", w->funcs, ff_index(j, v[i].lib, FF_MINUS));
    FF_COLUMN(j, "source", w->funcs,
              ff_index(j, v[i].source == SP_NONE ? SP_NONE : source_of[v[i].source], FF_NULL));
    FF_COLUMN(j, "lineNumber", w->funcs, ff_line_or_null(j, v[i].line));
    FF_COLUMN(j, "columnNumber", w->funcs, ff_line_or_null(j, v[i].column));
    sp_jw_u64(j, "length", w->funcs.n);
    sp_jw_close(j, '}');
}

static void ff_put_sources(struct sp_jw *j, const uint32_t *source_of, size_t strings, size_t n)
{
    sp_jw_open(j, "sources", '{');
    sp_jw_u64(j, "length", n);
    sp_jw_open(j, "id", '[');
    for (size_t i = 0; i < n; i++)
        sp_jw_null(j, NULL);
    sp_jw_close(j, ']');
    sp_jw_open(j, "filename", '[');
    for (size_t i = 0; i < strings; i++) /* strings are in the order in which sources came */
        if (source_of[i] != SP_NONE)
            sp_jw_u64(j, NULL, i);
    sp_jw_close(j, ']');
    sp_jw_close(j, '}');
}

static struct sp_str ff_lib_name(const struct sp_ff_writer *w, size_t i)
{
    return sp_base_name(sp_pstr(w->p, w->p->dsos.v[w->libs.v[i].dso].name));
}

static bool ff_put_shared(struct sp_ff_writer *w, struct sp_jw *j)
{
    size_t strings = w->strings.strs.n, sources = 0;
    SP_VEC(uint32_t) names = {0};
    for (size_t i = 0; i < w->libs.n; i++) { /* resources are called as their libraries */
        uint32_t n = sp_intern(&w->strings, ff_lib_name(w, i).p, ff_lib_name(w, i).n);
        if (n == SP_STR_FAIL || !sp_vec_push(&names, n - 1)) {
            sp_vec_free(&names);
            return false;
        }
    }
    uint32_t *source_of = malloc((strings + 1) * sizeof *source_of); /* by string */
    for (size_t i = 0; source_of && i < strings; i++)
        source_of[i] = SP_NONE;
    for (size_t i = 0; source_of && i < w->funcs.n; i++)
        if (w->funcs.v[i].source != SP_NONE)
            source_of[w->funcs.v[i].source] = 0;
    for (size_t i = 0; source_of && i < strings; i++)
        if (!source_of[i])
            source_of[i] = (uint32_t)sources++;
    if (!source_of) {
        sp_vec_free(&names);
        return false;
    }
    const struct sp_ff_node *v = w->nodes.v;
    sp_jw_open(j, "shared", '{');
    sp_jw_open(j, "stringArray", '[');
    for (size_t i = 1; i < w->strings.strs.n; i++)
        sp_jw_str(j, NULL, w->strings.strs.v[i].p, w->strings.strs.v[i].n);
    sp_jw_close(j, ']');
    ff_put_sources(j, source_of, strings, sources);
    sp_jw_open(j, "stackTable", '{');
    FF_COLUMN(j, "frame", w->nodes, sp_jw_u64(j, NULL, v[i].frame));
    FF_COLUMN(j, "prefix", w->nodes, ff_index(j, v[i].prefix, FF_NULL));
    sp_jw_u64(j, "length", w->nodes.n);
    sp_jw_close(j, '}');
    ff_put_frames(w, j);
    ff_put_funcs(w, j, source_of);
    sp_jw_open(j, "resourceTable", '{');
    FF_COLUMN(j, "lib", w->libs, sp_jw_u64(j, NULL, i));
    FF_COLUMN(j, "name", w->libs, sp_jw_u64(j, NULL, names.v[i]));
    FF_COLUMN(j, "host", w->libs, sp_jw_null(j, NULL));
    FF_COLUMN(j, "type", w->libs, sp_jw_u64(j, NULL, 1));
    sp_jw_u64(j, "length", w->libs.n);
    sp_jw_close(j, '}');
    FF_RAW(j, "nativeSymbols",
           "{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}");
    sp_jw_close(j, '}');
    free(source_of);
    sp_vec_free(&names);
    return true;
}

/* ---- what it is of ---- */

static void ff_put_categories(struct sp_jw *j)
{
    static const char *const colors[] = {"grey", "yellow", "orange", "blue"};
    sp_jw_open(j, "categories", '[');
    for (size_t i = 0; i < SP_FF_CATEGORIES; i++) {
        sp_jw_open(j, NULL, '{');
        sp_jw_cstr(j, "name", sp_ff_categories[i]);
        sp_jw_cstr(j, "color", colors[i]);
        FF_RAW(j, "subcategories", "[\"Other\"]");
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

/* Milliseconds between samples, where the event says it. */
static void ff_put_interval(const struct sp_ff_writer *w, struct sp_jw *j)
{
    const struct sp_profile *p = w->p;
    struct sp_str hz = {"", 0}, period = {"", 0};
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span kept;
    uint64_t v;
    if (sp_json_find2((struct sp_span){more.p, more.n}, "x_firefox", "interval", &kept)) {
        sp_jw_raw(j, "interval", kept.p, kept.n);
        return;
    }
    if (w->rows.event != SP_NONE) {
        hz = sp_pstr(p, p->events.v[w->rows.event].frequency_hz);
        period = sp_pstr(p, p->events.v[w->rows.event].sample_period);
    }
    if (hz.n && sp_parse_u64(hz.p, hz.p + hz.n, &v) == hz.n && v && v < 1000000000)
        sp_jw_scaled(j, "interval", (1000000000 + (int64_t)v / 2) / (int64_t)v, 6);
    else if (period.n && w->unit_ns == 1 && sp_parse_u64(period.p, period.p + period.n, &v) == period.n &&
             v && v < INT64_MAX)
        sp_jw_scaled(j, "interval", (int64_t)v, 6);
    else
        sp_jw_u64(j, "interval", 1);
}

static void ff_put_meta(const struct sp_ff_writer *w, struct sp_jw *j)
{
    const struct sp_profile *p = w->p;
    bool epoch = w->timed && sp_str_is(sp_pstr(p, p->header.clock), "CLOCK_REALTIME");
    struct sp_str event =
        w->rows.event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[w->rows.event].name);
    char by[48];
    snprintf(by, sizeof by, "spaa %d.%d.%d", SPAA_VERSION_MAJOR, SPAA_VERSION_MINOR, SPAA_VERSION_PATCH);
    sp_jw_open(j, "meta", '{');
    ff_put_interval(w, j);
    sp_jw_scaled(j, "startTime", epoch ? w->start : 0, 6);
    sp_jw_u64(j, "processType", 0);
    sp_jw_u64(j, "version", 27);
    sp_jw_u64(j, "preprocessedProfileVersion", SP_FF_VERSION);
    ff_put_categories(j);
    sp_jw_str(j, "product", event.p ? event.p : "", event.n);
    sp_jw_cstr(j, "importedFrom", by);
    sp_jw_u64(j, "stackwalk", 1);
    sp_jw_bool(j, "debug", false);
    sp_jw_bool(j, "symbolicated", true);
    sp_jw_bool(j, "usesOnlyOneStackType", true);
    sp_jw_bool(j, "sourceCodeIsNotOnSearchfox", true);
    FF_RAW(j, "markerSchema", "[]");
    FF_RAW(j, "sampleUnits", "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
    sp_jw_close(j, '}');
}

/* Breakpad's id of an ELF file: the first 16 bytes of its build-id as a GUID of this machine's order, and age
 * 0. */
static void ff_put_breakpad(struct sp_jw *j, struct sp_str id)
{
    static const unsigned char order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    char text[33];
    for (size_t i = 0; i < 16; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t at = 2u * order[i] + k;
            char c = at < id.n ? id.p[at] : '0';
            text[2 * i + k] = c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c;
        }
    text[32] = '0';
    sp_jw_str(j, "breakpadId", text, sizeof text);
}

static void ff_put_libs(const struct sp_ff_writer *w, struct sp_jw *j)
{
    const struct sp_profile *p = w->p;
    struct sp_str arch = sp_pstr(p, p->header.host.arch);
    sp_jw_open(j, "libs", '[');
    for (size_t i = 0; i < w->libs.n; i++) {
        const struct sp_dso *dso = &p->dsos.v[w->libs.v[i].dso];
        struct sp_str path = sp_pstr(p, dso->name), id = sp_pstr(p, dso->build_id), name = ff_lib_name(w, i);
        sp_jw_open(j, NULL, '{');
        sp_jw_str(j, "arch", arch.p ? arch.p : "", arch.n);
        sp_jw_str(j, "name", name.p, name.n);
        sp_jw_str(j, "path", path.p, path.n);
        sp_jw_str(j, "debugName", name.p, name.n);
        sp_jw_str(j, "debugPath", path.p, path.n);
        ff_put_breakpad(j, id);
        if (id.n)
            sp_jw_str(j, "codeId", id.p, id.n);
        else
            sp_jw_null(j, "codeId");
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

/* ---- threads ---- */

static void ff_put_id(struct sp_jw *j, const char *key, int64_t id, bool text)
{
    char digits[24];
    if (id == SP_ABSENT)
        sp_jw_cstr(j, key, "?");
    else if (!text)
        sp_jw_i64(j, key, id);
    else
        sp_jw_str(j, key, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)id));
}

/* What the main thread of a process is called; of one that has none among the threads, its first one. The
 * threads of a process stand together, from number `first`. */
static struct sp_str ff_process(const struct sp_ff_writer *w, size_t first)
{
    const struct sp_row_thread *v = w->rows.threads.v;
    struct sp_str name = {"", 0};
    for (size_t i = first; i < w->rows.threads.n && v[i].pid == v[first].pid; i++)
        if (!name.n || v[i].tid == v[i].pid)
            name = sp_pstr(w->p, v[i].comm);
    return name;
}

static void ff_put_samples(const struct sp_ff_writer *w, struct sp_jw *j, size_t first, size_t n)
{
    struct {
        const struct sp_ff_row *v;
        size_t n;
    } rows = {w->samples.v ? w->samples.v + first : NULL, n};
    bool bytes = w->rows.metric != SP_NONE && sp_str_is(w->rows.unit, "bytes");
    sp_jw_open(j, "samples", '{');
    FF_COLUMN(j, "stack", rows, ff_index(j, rows.v[i].node, FF_NULL));
    FF_COLUMN(j, "time", rows, sp_jw_scaled(j, NULL, rows.v[i].time - w->start, 6));
    if (w->unit_ns) /* in milliseconds */
        FF_COLUMN(j, "weight", rows, sp_jw_scaled(j, NULL, rows.v[i].weight * w->unit_ns, 15));
    else
        FF_COLUMN(j, "weight", rows, sp_jw_scaled(j, NULL, rows.v[i].weight, 9));
    sp_jw_cstr(j, "weightType", w->unit_ns ? "tracing-ms" : bytes ? "bytes" : "samples");
    sp_jw_u64(j, "length", n);
    sp_jw_close(j, '}');
}

static void ff_put_thread(const struct sp_ff_writer *w, struct sp_jw *j, const struct sp_row_thread *t,
                          struct sp_str process, size_t first, size_t n)
{
    struct sp_str comm = sp_pstr(w->p, t->comm);
    sp_jw_open(j, NULL, '{');
    sp_jw_cstr(j, "processType", "default");
    sp_jw_str(j, "processName", process.p ? process.p : "", process.n);
    sp_jw_u64(j, "processStartupTime", 0);
    sp_jw_null(j, "processShutdownTime");
    sp_jw_u64(j, "registerTime", 0);
    sp_jw_null(j, "unregisterTime");
    FF_RAW(j, "pausedRanges", "[]");
    sp_jw_str(j, "name", comm.p ? comm.p : "", comm.n);
    sp_jw_bool(j, "isMainThread", t->tid == t->pid);
    ff_put_id(j, "pid", t->pid, true);
    ff_put_id(j, "tid", t->tid, false);
    ff_put_samples(w, j, first, n);
    static const char markers[] = "{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
                                  "\"category\":[],\"length\":0}";
    sp_jw_raw(j, "markers", markers, sizeof markers - 1);
    sp_jw_close(j, '}');
}

bool sp_ff_put(struct sp_ff_writer *w)
{
    struct sp_jw j;
    const struct sp_row_thread *v = w->rows.threads.v;
    struct sp_str process = {"", 0};
    sp_jw_init(&j, w->out);
    sp_jw_open(&j, NULL, '{');
    ff_put_meta(w, &j);
    ff_put_libs(w, &j);
    bool ok = ff_put_shared(w, &j);
    sp_jw_open(&j, "threads", '[');
    for (size_t i = 0, at = 0; i < w->rows.threads.n; i++) {
        size_t first = at;
        while (at < w->samples.n && w->samples.v[at].thread == i)
            at++;
        process = i && v[i].pid == v[i - 1].pid ? process : ff_process(w, i);
        ff_put_thread(w, &j, &v[i], process, first, at - first);
    }
    sp_jw_close(&j, ']');
    sp_jw_close(&j, '}');
    ok = ok && !j.text.failed;
    sp_jw_free(&j);
    sp_puts(w->out, "\n");
    return ok;
}
