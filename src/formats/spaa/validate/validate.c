/* The road of a line through the validator, and the report. internal.h has the map. */
#include "formats/spaa/validate/validate.h"

#include "formats/spaa/validate/fields.h"

#include <stdarg.h>
#include <stdlib.h>

/* At least this much of the input is asked for, and at most that much taken, at a time. */
#define BLOCK_MIN      ((size_t)256 << 10)
#define BLOCK_MAX      ((size_t)4 << 20)
#define PATH_MAX_BYTES 4096

static const struct {
    const char *name;
    enum sp_table table;
    void (*finish)(struct sp_validator *v);
} records[] = {
    {"header", SP_T_HEADER, sp_finish_header}, {"dso", SP_T_DSO, sp_finish_dso},
    {"frame", SP_T_FRAME, sp_finish_frame},    {"thread", SP_T_THREAD, NULL},
    {"stack", SP_T_STACK, sp_finish_stack},    {"sample", SP_T_SAMPLE, sp_finish_sample},
    {"window", SP_T_WINDOW, sp_finish_window},
};

static void emit(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *text)
{
    v->findings++;
    if (*text)
        sp_emit(v->d, code, where, "%s", text);
    else
        sp_emit(v->d, code, where, " "); /* the title says it all */
}

/* Findings beyond those that are kept are counted, without the cost of their words. */
static bool counted_only(const struct sp_validator *v, enum sp_code code)
{
    return v->d->per_code && v->d->count[code] >= v->d->per_code;
}

static void report(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt,
                   va_list ap)
{
    struct sp_buf text;
    sp_buf_init(&text, 4096);
    if (!counted_only(v, code))
        sp_buf_vprintf(&text, fmt, ap);
    emit(v, code, where, sp_buf_cstr(&text));
    sp_buf_free(&text);
}

static struct sp_where here(struct sp_validator *v, const char *at)
{
    const char *path = v->path.len ? sp_buf_cstr(&v->path) : "";
    return (struct sp_where){.offset = v->offset + (at ? (uint64_t)(at - v->text) : 0),
                             .line = v->line,
                             .record = v->record,
                             .field = *path ? path : NULL};
}

void sp_report_at(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(v, code, where, fmt, ap);
    va_end(ap);
}

void sp_report(struct sp_validator *v, enum sp_code code, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(v, code, here(v, at), fmt, ap);
    va_end(ap);
}

void sp_report_title(struct sp_validator *v, enum sp_code code, const char *at)
{
    emit(v, code, here(v, at), "");
}

void sp_limited(struct sp_validator *v, const char *what)
{
    if (!v->limited)
        sp_emit_hint(v->d, SP_E007, SP_AT_LINE(v->line, v->offset), "the answer covers the rest of the file",
                     "%s", what);
    v->findings++;
    v->limited = true;
}

size_t sp_path_push(struct sp_validator *v, const char *name, size_t n)
{
    size_t len = v->path.len;
    if (len)
        sp_buf_ch(&v->path, '.');
    sp_buf_add(&v->path, name, n);
    return len;
}

size_t sp_path_item(struct sp_validator *v, size_t index)
{
    size_t len = v->path.len;
    sp_buf_ch(&v->path, '[');
    sp_buf_u64(&v->path, index);
    sp_buf_ch(&v->path, ']');
    return len;
}

void sp_path_cut(struct sp_validator *v, size_t len)
{
    v->path.failed = false;
    v->path.len = len < v->path.len ? len : v->path.len;
}

int sp_clip(struct sp_span s)
{
    return (int)sp_utf8_prefix(s.p, s.n < 80 ? s.n : 80);
}

static bool all_ascii(const char *p, size_t n)
{
    uint64_t bits = 0, w;
    for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
        memcpy(&w, p, sizeof w);
        bits |= w;
    }
    for (; n; p++, n--)
        bits |= (unsigned char)*p;
    return !(bits & 0x8080808080808080u);
}

/*
 * Bytes that are not UTF-8 are reported, and replaced in a copy, so that the rest of the line is checked
 * like any other.
 */
static bool check_utf8(struct sp_validator *v)
{
    size_t ok = all_ascii(v->text, v->n) ? v->n : sp_utf8_prefix(v->text, v->n);
    if (ok == v->n)
        return true;
    sp_report(v, SP_E101, v->text + ok, "byte 0x%02x at column %zu", (unsigned char)v->text[ok], ok + 1);
    sp_buf_clear(&v->patched);
    if (!sp_buf_add(&v->patched, v->text, v->n)) {
        v->status = sp_nomem(v->d);
        return false;
    }
    v->text = v->patched.data;
    for (char *p = v->patched.data + ok, *end = v->patched.data + v->n; p < end;) {
        size_t used = sp_utf8_prefix(p, (size_t)(end - p));
        p += used;
        if (p < end)
            *p++ = '?';
    }
    return true;
}

static void check_record(struct sp_validator *v, struct sp_span type)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        if (!sp_span_is(type, records[i].name))
            continue;
        v->record = records[i].name;
        if (i == 0) {
            size_t cut = sp_path_push(v, "type", 4);
            if (v->header.seen++)
                sp_report_title(v, SP_E106, NULL);
            else if (v->records_before)
                sp_report_title(v, SP_E104, NULL);
            sp_path_cut(v, cut);
        }
        sp_check_table(v, records[i].table, v->text, 0, v->members.n);
        if (records[i].finish && v->status == SPAA_OK)
            records[i].finish(v);
        return;
    }
    if (type.n < 2 || memcmp(type.p, "x_", 2) != 0) {
        sp_path_push(v, "type", 4);
        sp_report(v, SP_W201, NULL, "\"%.*s\"", SP_CLIP(type));
    }
}

static void check_general(struct sp_validator *v)
{
    bool object;
    sp_path_cut(v, 0);
    v->record = NULL;
    if (!check_utf8(v))
        return;
    v->line_findings = v->findings;
    v->whole = sp_walk(v, &object);
    v->clean = v->whole && v->findings == v->line_findings;
    if (v->status != SPAA_OK)
        return;
    if (!object) {
        if (v->whole)
            sp_report_title(v, SP_E102, NULL);
        return;
    }
    size_t m = 0;
    while (m < v->members.n && !sp_fp_equal(v->members.v[m].key, v->type_key))
        m++;
    struct sp_span type = {NULL, 0};
    if (m < v->members.n) {
        struct sp_span raw = v->members.v[m].raw;
        sp_json_reset(&v->reader, raw.p, raw.n);
        if (sp_json_type(&v->reader) == SP_JSON_STRING && !sp_json_string_value(&v->reader, &type))
            v->status = sp_nomem(v->d);
    }
    if (v->status != SPAA_OK)
        return;
    if (type.p) {
        check_record(v, type);
    } else if (v->whole || m < v->members.n) {
        sp_path_push(v, "type", 4);
        sp_report_title(v, SP_E103, m < v->members.n ? v->members.v[m].raw.p : NULL);
    }
    v->records_before = true;
}

void sp_check_line(struct sp_validator *v, const char *p, size_t n, const char *limit)
{
    v->line++;
    if (limit && sp_fast_line(v, p, limit))
        return;
    if (n && p[n - 1] == '\r')
        n--;
    v->text = p;
    v->n = n;
    while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
        n--;
    if (n) {
        check_general(v);
        return;
    }
    v->record = NULL;
    sp_path_cut(v, 0);
    sp_report_title(v, SP_W207, NULL);
}

/*
 * Takes whole lines of a view, and its last one without a newline if the input ends there. Once usual lines
 * were seen, threads take the rest of a large view.
 */
static size_t take_lines(struct sp_validator *v, const char *p, size_t n, bool last, uint64_t at)
{
    const char *newline = memrchr(p, '\n', n), *limit = newline ? newline + 1 : p;
    size_t used = 0;
    while (used < n && used < BLOCK_MAX && v->status == SPAA_OK) {
        const char *from = p + used, *next = NULL;
        v->offset = at + used;
        if (v->fast && v->chunking.jobs > 1 && v->usual >= v->chunking.learned && limit > from &&
            (size_t)(limit - from) > v->chunking.least) {
            sp_validate_parallel(v, from, limit, v->offset);
            return (size_t)(limit - p);
        }
        if (from < limit) {
            v->line++;
            next = sp_fast_line(v, from, limit);
            v->line -= !next;
        }
        if (!next) {
            const char *eol = from < limit ? memchr(from, '\n', (size_t)(limit - from)) : NULL;
            if (!eol && !last)
                break;
            size_t len = eol ? (size_t)(eol - from) : n - used;
            sp_check_line(v, from, len, NULL);
            next = from + len + (eol != NULL);
        }
        used = (size_t)(next - p);
    }
    return used;
}

/* Consumes a line that is longer than any view. */
static spaa_status skip_line(struct sp_validator *v, struct sp_input *in)
{
    v->line++;
    v->offset = sp_input_offset(in);
    sp_limited(v, "a line is longer than 256 MiB and was not checked");
    for (;;) {
        const unsigned char *p;
        size_t n;
        spaa_status s = sp_input_peek(in, BLOCK_MIN, &p, &n);
        if (s != SPAA_OK || !n)
            return s;
        size_t chunk = n < BLOCK_MAX ? n : BLOCK_MAX;
        const unsigned char *eol = memchr(p, '\n', chunk);
        sp_input_consume(in, eol ? (size_t)(eol - p) + 1 : chunk);
        if (eol)
            return SPAA_OK;
    }
}

static spaa_status read_lines(struct sp_validator *v, struct sp_input *in)
{
    size_t want = BLOCK_MIN;
    while (v->status == SPAA_OK) {
        const unsigned char *p;
        size_t n;
        spaa_status s = sp_input_peek(in, want, &p, &n);
        if (s != SPAA_OK || !n)
            return s;
        size_t used = take_lines(v, (const char *)p, n, n < want, sp_input_offset(in));
        if (used) {
            sp_input_consume(in, used);
            want = BLOCK_MIN;
        } else if (n > SP_LINE_MAX) {
            if ((s = skip_line(v, in)) != SPAA_OK)
                return s;
            want = BLOCK_MIN;
        } else {
            want = n >= SP_LINE_MAX / 2 ? SP_LINE_MAX + 1 : n * 2;
        }
    }
    return v->status;
}

struct order {
    struct sp_diag diag;
    size_t i;
};

static int by_line(const void *x, const void *y)
{
    const struct order *a = x, *b = y;
    if (a->diag.line != b->diag.line)
        return !a->diag.line || (b->diag.line && a->diag.line > b->diag.line) ? 1 : -1;
    if (a->diag.offset != b->diag.offset)
        return a->diag.offset > b->diag.offset ? 1 : -1;
    return a->i > b->i ? 1 : -1;
}

/* What was found at the end belongs to earlier lines. Without memory the order stays as it is. */
static void sort_findings(struct sp_diags *d, size_t from)
{
    size_t n = d->list.n - from;
    struct order *all = n ? calloc(n, sizeof *all) : NULL;
    if (!all)
        return;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct order){d->list.v[from + i], i};
    qsort(all, n, sizeof *all, by_line);
    for (size_t i = 0; i < n; i++)
        d->list.v[from + i] = all[i].diag;
    free(all);
}

static bool validator_init(struct sp_validator *v, struct sp_diags *d, bool shortcuts)
{
    *v = (struct sp_validator){.d = d};
    sp_json_init(&v->walker, "", 0);
    sp_json_init(&v->reader, "", 0);
    sp_buf_init(&v->path, PATH_MAX_BYTES);
    sp_buf_init(&v->patched, SP_LINE_MAX + 1);
    sp_buf_init(&v->header.range, 0);
    v->frames.direct = true;
    v->type_key = sp_fingerprint("type", 4);
    sp_fields_init(v);
    return !shortcuts || sp_fast_init(v);
}

static void validator_free(struct sp_validator *v)
{
    sp_fast_free(v);
    sp_walk_free(v);
    sp_json_free(&v->walker);
    sp_json_free(&v->reader);
    sp_buf_free(&v->path);
    sp_buf_free(&v->patched);
    sp_buf_free(&v->header.range);
    sp_vec_free(&v->header.events);
    sp_vec_free(&v->members);
    sp_vec_free(&v->odd_metrics);
    sp_vec_free(&v->stack.list);
    sp_vec_free(&v->stack.weights);
    sp_vec_free(&v->stack.exclusive);
    struct sp_ids *ids[] = {&v->header.event_ids, &v->header.other_ids, &v->dsos,    &v->frames,
                            &v->threads,          &v->stacks,           &v->windows, &v->links};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        sp_ids_free(ids[i]);
}

spaa_status sp_spaa_validate_chunked(struct sp_input *in, struct sp_diags *d, bool shortcuts,
                                     struct sp_chunking how)
{
    struct sp_validator v;
    size_t from = d->list.n;
    bool ok = validator_init(&v, d, shortcuts);
    v.in = in;
    v.chunking = how;
    spaa_status status = ok ? read_lines(&v, in) : sp_nomem(d);
    if (status == SPAA_OK)
        status = sp_input_failed(in);
    if (v.status == SPAA_OK && status != SPAA_ERR_NOMEM) {
        v.line = v.offset = 0;
        v.record = NULL;
        if (!v.header.seen)
            emit(&v, SP_E105, SP_AT_LINE(1, 0), "");
        sp_judge_references(&v, status == SPAA_OK);
    }
    sort_findings(d, from);
    if (status == SPAA_OK)
        status = v.status != SPAA_OK ? v.status : v.limited ? SPAA_ERR_LIMIT : SPAA_OK;
    validator_free(&v);
    return status;
}

spaa_status sp_spaa_validate_with(struct sp_input *in, struct sp_diags *d, bool shortcuts)
{
    return sp_spaa_validate_chunked(in, d, shortcuts, SP_CHUNKING(sp_input_jobs(in)));
}

spaa_status sp_spaa_validate(struct sp_input *in, struct sp_diags *d)
{
    return sp_spaa_validate_with(in, d, true);
}
