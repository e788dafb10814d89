/*
 * The formats of tracepoints, as recorded (TRACING_DATA), and the fields of a sample's raw data by them.
 *
 * Source: tools/perf/util/trace-event-info.c for the container, the kernel's Documentation/trace/events.rst
 * for the text of a format. Numbers of the container are in the recording's byte order, and so are the
 * fields. The fields that all tracepoints have (common_…) are left out: samples have them already. Quirks:
 * __data_loc is an offset and a length in 32 bits, __rel_loc the same counted from behind itself; character
 * arrays are text up to a NUL.
 */
#include "formats/perf_data/perf_data.h"

#include "base/num.h"
#include "io/file.h"
#include "json/json.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>

#define FORMATS_MAX 65536u
#define FIELDS_MAX  1024u
#define ALL         UINT64_MAX

static void pd_tracepoints_take_name(struct sp_pd_cursor *c)
{
    const unsigned char *nul = c->bad ? NULL : memchr(c->p, 0, c->n);
    if (nul)
        sp_pd_take(c, (uint64_t)(nul - c->p) + 1);
    else
        c->bad = true;
}

/* The number behind "name:" in a line; false when it is not there. */
static bool pd_tracepoints_number_after(struct sp_pd_text line, const char *name, uint32_t *out)
{
    const char *at = memmem(line.p, line.n, name, strlen(name)), *end = line.p + line.n;
    if (!at)
        return false;
    uint64_t v = 0;
    at += strlen(name);
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at == end || *at < '0' || *at > '9')
        return false;
    for (; at < end && *at >= '0' && *at <= '9' && v <= UINT32_MAX; at++)
        v = v * 10 + (uint64_t)(*at - '0');
    *out = (uint32_t)v;
    return v <= UINT32_MAX;
}

static bool pd_tracepoints_contains(struct sp_pd_text t, const char *s)
{
    return memmem(t.p, t.n, s, strlen(s)) != NULL;
}

/* "field:__data_loc char[] name;  offset:8;  size:4;  signed:0;" */
static bool pd_tracepoints_read_field(struct sp_pd_text line, struct sp_pd_trace_field *out)
{
    static const char start[] = "field:";
    const char *at = memmem(line.p, line.n, start, sizeof start - 1);
    if (!at)
        return false;
    at += sizeof start - 1;
    const char *end = memchr(at, ';', (size_t)(line.p + line.n - at));
    if (!end)
        return false;
    struct sp_pd_text decl = {at, (size_t)(end - at)};
    struct sp_pd_text rest = {end, (size_t)(line.p + line.n - end)};
    uint32_t is_signed = 0;
    if (!pd_tracepoints_number_after(rest, "offset:", &out->offset) ||
        !pd_tracepoints_number_after(rest, "size:", &out->size))
        return false;
    pd_tracepoints_number_after(rest, "signed:", &is_signed);
    const char *stop = end;
    const char *bracket = memrchr(at, '[', decl.n);
    if (bracket && end[-1] == ']') /* "char comm[16]", but not "char[] name" */
        stop = bracket;
    while (stop > at && stop[-1] == ' ')
        stop--;
    const char *name = stop;
    while (name > at && ((name[-1] | 32) >= 'a' && (name[-1] | 32) <= 'z'
                             ? true
                             : name[-1] == '_' || (name[-1] >= '0' && name[-1] <= '9')))
        name--;
    if (name == stop)
        return false;
    struct sp_pd_text type = {at, (size_t)(name - at)};
    out->name = (struct sp_pd_text){name, (size_t)(stop - name)};
    bool chars = pd_tracepoints_contains(type, "char") && !pd_tracepoints_contains(type, "unsigned char");
    bool array = stop != end;
    out->is_signed = is_signed != 0;
    out->each = 0;
    if (pd_tracepoints_contains(type, "__data_loc"))
        out->kind = chars ? SP_PD_LOC_TEXT : SP_PD_LOC_BYTES;
    else if (pd_tracepoints_contains(type, "__rel_loc"))
        out->kind = chars ? SP_PD_REL_TEXT : SP_PD_REL_BYTES;
    else if (array && chars)
        out->kind = SP_PD_TEXT;
    else if (array) {
        uint32_t elements = 0;
        out->kind = SP_PD_BYTES;
        struct sp_pd_text in = {bracket, (size_t)(end - bracket)};
        if (pd_tracepoints_number_after(in, "[", &elements) && elements && out->size % elements == 0 &&
            strchr("\1\2\4\10", (char)(out->size / elements)) && out->size / elements <= 8) {
            out->kind = SP_PD_NUMBERS;
            out->each = (uint8_t)(out->size / elements);
        }
    } else if (out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8) {
        out->kind = memchr(type.p, '*', type.n) ? SP_PD_POINTER : SP_PD_NUMBERS;
        out->each = (uint8_t)out->size;
    } else {
        out->kind = SP_PD_BYTES;
    }
    return true;
}

/* The text of one event's format, if it is `only` or all are wanted; false: out of memory. */
static bool pd_tracepoints_read_format(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t only)
{
    struct sp_pd_trace_format f = {.first = (uint32_t)pd->trace_fields.n};
    bool has_id = false;
    for (size_t at = 0; at < n;) {
        const unsigned char *nl = memchr(p + at, '\n', n - at);
        size_t len = nl ? (size_t)(nl - p) - at : n - at;
        struct sp_pd_text line = {(const char *)p + at, len};
        struct sp_pd_trace_field field;
        if (len > 3 && memcmp(line.p, "ID:", 3) == 0)
            has_id = pd_tracepoints_number_after(line, "ID:", &f.id);
        else if (len > 9 && memcmp(line.p, "print fmt", 9) == 0)
            break;
        else if (f.n < FIELDS_MAX && pd_tracepoints_read_field(line, &field) &&
                 !(field.name.n > 7 && memcmp(field.name.p, "common_", 7) == 0)) {
            if (!sp_vec_push(&pd->trace_fields, field))
                return false;
            f.n++;
        }
        at += len + 1;
    }
    if (!has_id || pd->trace_formats.n >= FORMATS_MAX || (only != ALL && f.id != only)) {
        pd->trace_fields.n = f.first;
        return true;
    }
    return sp_vec_push(&pd->trace_formats, f);
}

static bool pd_tracepoints_read_formats(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    uint32_t n = sp_pd_take_u32(c);
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        uint64_t size = sp_pd_take_u64(c);
        const unsigned char *p = sp_pd_take(c, size);
        if (p && !pd_tracepoints_read_format(pd, p, (size_t)size, ALL))
            return false;
    }
    return true;
}

spaa_status sp_pd_trace_format(struct sp_pd *pd, uint64_t id, const char *text, size_t n)
{
    return pd_tracepoints_read_format(pd, (const unsigned char *)text, n, id) ? SPAA_OK : sp_nomem(pd->d);
}

const struct sp_pd_trace_format *sp_pd_trace_find(const struct sp_pd *pd, uint64_t id)
{
    for (size_t i = 0; i < pd->trace_formats.n; i++)
        if (pd->trace_formats.v[i].id == id)
            return &pd->trace_formats.v[i];
    return NULL;
}

const struct sp_pd_trace_field *sp_pd_trace_field(const struct sp_pd *pd, uint64_t id, const char *name)
{
    const struct sp_pd_trace_format *f = sp_pd_trace_find(pd, id);
    for (uint32_t i = 0; f && i < f->n; i++) {
        const struct sp_pd_trace_field *field = &pd->trace_fields.v[f->first + i];
        if (field->name.n == strlen(name) && memcmp(field->name.p, name, field->name.n) == 0)
            return field;
    }
    return NULL;
}

spaa_status sp_pd_trace_read(struct sp_pd *pd, const unsigned char *p, size_t n)
{
    static const unsigned char magic[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    struct sp_pd_cursor c = {p, n, false, false};
    const unsigned char *start = sp_pd_take(&c, sizeof magic);
    if (!start || memcmp(start, magic, sizeof magic) != 0 || pd->trace_formats.n)
        return SPAA_OK;
    pd_tracepoints_take_name(&c);
    const unsigned char *order = sp_pd_take(&c, 1);
    c.swap = order && (*order == 1) != (pd->big_endian != pd->swap);
    sp_pd_take(&c, 5); /* bytes of a long, of a page */
    for (unsigned i = 0; i < 2; i++) {
        pd_tracepoints_take_name(&c);
        sp_pd_take(&c, sp_pd_take_u64(&c));
    }
    bool ok = pd_tracepoints_read_formats(pd, &c);
    for (uint32_t i = 0, systems = sp_pd_take_u32(&c); ok && i < systems && !c.bad; i++) {
        pd_tracepoints_take_name(&c);
        ok = pd_tracepoints_read_formats(pd, &c);
    }
    return ok ? SPAA_OK : sp_nomem(pd->d);
}

static void pd_tracepoints_scalar(const struct sp_pd_trace_field *f, const unsigned char *p, bool swap,
                                  struct sp_buf *b)
{
    uint64_t v = f->each == 1   ? *p
                 : f->each == 2 ? sp_pd_u16(p, swap)
                 : f->each == 4 ? sp_pd_u32(p, swap)
                                : sp_pd_u64(p, swap);
    unsigned shift = 64 - 8u * f->each;
    if (f->kind == SP_PD_POINTER)
        sp_buf_printf(b, "\"0x%llx\"", (unsigned long long)v);
    else if (f->is_signed)
        sp_buf_i64(b, (int64_t)(v << shift) >> shift);
    else
        sp_buf_u64(b, v);
}

static void pd_tracepoints_bytes(const unsigned char *p, size_t n, struct sp_buf *b)
{
    sp_buf_ch(b, '"');
    for (size_t i = 0; i < n; i++)
        sp_buf_printf(b, "%02x", p[i]);
    sp_buf_ch(b, '"');
}

static void pd_tracepoints_value(const struct sp_pd_trace_field *f, const unsigned char *raw, size_t n,
                                 bool swap, struct sp_buf *b)
{
    const unsigned char *p = raw + f->offset;
    size_t size = f->size;
    bool loc = f->kind >= SP_PD_LOC_TEXT;
    if (loc) {
        uint32_t v = f->size >= 4 ? sp_pd_u32(p, swap) : 0;
        size_t at = v & 0xffff;
        size = v >> 16;
        if (f->kind == SP_PD_REL_TEXT || f->kind == SP_PD_REL_BYTES)
            at += f->offset + 4;
        if (at > n || size > n - at)
            at = size = 0;
        p = raw + at;
    }
    switch (f->kind) {
    case SP_PD_TEXT:
    case SP_PD_LOC_TEXT:
    case SP_PD_REL_TEXT:
        sp_json_string(b, (const char *)p, strnlen((const char *)p, size));
        break;
    case SP_PD_NUMBERS:
    case SP_PD_POINTER:
        if (size == f->each) {
            pd_tracepoints_scalar(f, p, swap, b);
            break;
        }
        sp_buf_ch(b, '[');
        for (size_t at = 0; at + f->each <= size; at += f->each) {
            if (at)
                sp_buf_ch(b, ',');
            pd_tracepoints_scalar(f, p + at, swap, b);
        }
        sp_buf_ch(b, ']');
        break;
    default:
        pd_tracepoints_bytes(p, size, b);
    }
}

bool sp_pd_trace_fields(const struct sp_pd *pd, uint64_t id, const unsigned char *raw, size_t n,
                        struct sp_buf *b)
{
    const struct sp_pd_trace_format *f = sp_pd_trace_find(pd, id);
    if (!f)
        return false;
    sp_buf_puts(b, "\"trace_fields\":{");
    bool first = true;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct sp_pd_trace_field *field = &pd->trace_fields.v[f->first + i];
        if (field->offset > n || field->size > n - field->offset)
            continue;
        if (!first)
            sp_buf_ch(b, ',');
        first = false;
        sp_json_string(b, field->name.p, field->name.n);
        sp_buf_ch(b, ':');
        pd_tracepoints_value(field, raw, n, pd->swap, b);
    }
    sp_buf_ch(b, '}');
    return true;
}

/*
 * Formats of tracepoints that the recording does not hold: from a folder that was named, else from this
 * machine's tracefs, if its kernel has the recorded release. A format is believed only if its ID is the
 * event's.
 *
 * Source: the kernel's Documentation/trace/events.rst; events/SYSTEM/NAME/format.
 */
#define FORMAT_BYTES ((size_t)1 << 20)

static bool pd_tracepoints_is_word(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '_' ||
              p[i] == '-'))
            return false;
    return n > 0 && n <= NAME_MAX;
}

/* "sched:sched_switch:u" -> "ROOT/events/sched/sched_switch/format"; false: it is no name of a tracepoint. */
static bool pd_tracepoints_path_of(const char *root, struct sp_pd_text name, char path[static PATH_MAX])
{
    const char *colon = memchr(name.p, ':', name.n);
    if (!colon)
        return false;
    size_t system = (size_t)(colon - name.p), rest = name.n - system - 1;
    const char *more = memchr(colon + 1, ':', rest);
    size_t event = more ? (size_t)(more - colon - 1) : rest;
    if (!pd_tracepoints_is_word(name.p, system) || !pd_tracepoints_is_word(colon + 1, event))
        return false;
    int n = snprintf(path, PATH_MAX, "%s/events/%.*s/%.*s/format", root, (int)system, name.p, (int)event,
                     colon + 1);
    return n > 0 && n < PATH_MAX;
}

/* The format below a root, if its ID is the event's. */
static spaa_status pd_tracepoints_try_root(struct sp_pd *pd, const char *root, const struct sp_pd_attr *a)
{
    char path[PATH_MAX], *text = NULL;
    size_t n = 0;
    spaa_status st = SPAA_ERR_NOT_FOUND;
    if (pd_tracepoints_path_of(root, a->name, path))
        st = sp_file_slurp(path, FORMAT_BYTES, pd->d, &text, &n);
    if (st)
        return st == SPAA_ERR_NOMEM ? sp_nomem(pd->d) : st == SPAA_ERR_IO ? st : SPAA_OK;
    const char *copy = sp_arena_dup(&pd->arena, text, n); /* fields are named by it */
    free(text);
    return copy ? sp_pd_trace_format(pd, a->config, copy, n) : sp_nomem(pd->d);
}

static bool pd_tracepoints_same_kernel(const struct sp_pd *pd)
{
    struct utsname u;
    return pd->osrelease.n && !uname(&u) && strlen(u.release) == pd->osrelease.n &&
           memcmp(u.release, pd->osrelease.p, pd->osrelease.n) == 0;
}

spaa_status sp_pd_tracefs(struct sp_pd *pd)
{
    const char *named = sp_own_opt(pd->opts->own, pd->opts->nown, "tracefs");
    const char *const roots[] = {named, "/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    unsigned found = 0, missing = 0;
    bool here = !named && pd_tracepoints_same_kernel(pd);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < pd->attrs.n && !st; i++) {
        const struct sp_pd_attr *a = &pd->attrs.v[i];
        if (a->type != PD_TRACEPOINT || !(a->sample_type & PD_RAW) || sp_pd_trace_find(pd, a->config))
            continue;
        for (size_t k = named ? 0 : 1; k < (here ? 3u : 1u) && !st; k++)
            if (!sp_pd_trace_find(pd, a->config))
                st = pd_tracepoints_try_root(pd, roots[k], a);
        bool is_there = sp_pd_trace_find(pd, a->config);
        found += is_there;
        missing += !is_there;
    }
    if (found)
        sp_emit(pd->d, SP_I832, SP_AT_NOTHING, "%u event%s, from %s", found, found == 1 ? "" : "s",
                named ? named : "this machine");
    if (missing && pd->opts->samples)
        sp_emit(pd->d, SP_I833, SP_AT_NOTHING, "%u of %zu events", missing, pd->attrs.n);
    return st;
}
