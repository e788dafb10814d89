/*
 * Reads SPAA 1.0 (docs/spaa.md): NDJSON records into a profile, one line at a time.
 *
 * More is read than the specification allows to be written: keys in any order, missing defaults, CRLF,
 * a byte order mark, ids of any kind, dictionary records after their first use (those lines wait to the
 * end), several records under one id (all are kept). A line that is no JSON costs that line.
 */
#include "formats/spaa/read.h"

#include "base/num.h"
#include "model/originals.h"
#include "model/samples.h"

#include <stdlib.h>

enum { DEFERRED_MAX = 256 << 20, LARGE = 4 << 20 /* views, with which tables are made ahead */ };

struct sp_where sp_here(const struct reader *r, const char *field)
{
    return (struct sp_where){r->offset, r->line, r->record, field};
}

bool sp_keep_member(struct reader *r, struct sp_span key)
{
    bool x = key.n > 1 && key.p[0] == 'x' && key.p[1] == '_';
    struct sp_buf *b = x ? &r->more_x : &r->more;
    struct sp_span raw;
    size_t from = b->len;
    sp_buf_ch(b, ',');
    sp_json_string(b, key.p, key.n);
    sp_buf_ch(b, ':');
    if (!sp_json_skip(&r->j, &raw))
        return false;
    /* A name of ours may be taken: the first is kept. */
    if (key.n > 6 && memcmp(key.p, "x_odd_", 6) == 0 && !b->failed && from &&
        memmem(b->data, from, b->data + from, b->len - from))
        b->len = from;
    else
        sp_json_minify(b, raw);
    return true;
}

uint32_t sp_take_more(struct reader *r)
{
    if (!r->more.len && !r->more_x.len)
        return r->more.failed || r->more_x.failed ? SP_STR_FAIL : SP_STR_NONE;
    sp_buf_add(&r->more, r->more_x.data, r->more_x.len);
    bool failed = r->more.failed || r->more_x.failed;
    uint32_t s = failed ? SP_STR_FAIL : sp_profile_str(r->p, r->more.data + 1, r->more.len - 1);
    sp_buf_clear(&r->more);
    sp_buf_clear(&r->more_x);
    return s;
}

void sp_nest_begin(struct reader *r, struct nest *n)
{
    n->more = r->more;
    n->more_x = r->more_x;
    sp_buf_init(&r->more, 0);
    sp_buf_init(&r->more_x, 0);
}

bool sp_nest_end(struct reader *r, struct nest *n, uint32_t *more)
{
    *more = sp_take_more(r);
    sp_buf_free(&r->more);
    sp_buf_free(&r->more_x);
    r->more = n->more;
    r->more_x = n->more_x;
    return *more != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

bool sp_keep_odd(struct reader *r, struct sp_span key, const char *want)
{
    char name[64];
    size_t n = key.n < sizeof name ? key.n : sizeof name - 1;
    memcpy(name, key.p, n);
    name[n] = '\0';
    sp_emit(r->d, SP_W203, sp_here(r, name), "expected %s; it is kept as `x_odd_%s`", want, name);
    struct sp_buf odd;
    sp_buf_init(&odd, 0);
    sp_buf_puts(&odd, "x_odd_");
    sp_buf_add(&odd, key.p, key.n);
    bool ok = odd.failed ? sp_json_fail(&r->j, "out of memory")
                         : sp_keep_member(r, (struct sp_span){odd.data, odd.len});
    sp_buf_free(&odd);
    return ok;
}

bool sp_read_str(struct reader *r, struct sp_span key, uint32_t *out)
{
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "a string");
    struct sp_span s;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    *out = sp_profile_str(r->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

bool sp_read_number_text(struct reader *r, struct sp_span key, uint32_t *out)
{
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return sp_keep_odd(r, key, "a number");
    struct sp_span s;
    if (!sp_json_number(&r->j, &s))
        return false;
    *out = sp_profile_str(r->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

bool sp_read_raw(struct reader *r, uint32_t *out)
{
    struct sp_span raw;
    if (!sp_json_skip(&r->j, &raw))
        return false;
    sp_buf_clear(&r->text);
    *out = sp_json_minify(&r->text, raw) ? sp_profile_str(r->p, r->text.data, r->text.len) : SP_STR_FAIL;
    return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

/* The bytes of a hex text, when written as a JSON string they are the text the field has. */
static bool unhex(struct reader *r, struct sp_span hex, uint32_t *str)
{
    struct sp_buf bytes, shown, have;
    struct sp_str text = sp_pstr(r->p, *str);
    bool same = hex.n % 2 == 0;
    sp_buf_init(&bytes, 0);
    sp_buf_init(&shown, 0);
    sp_buf_init(&have, 0);
    for (size_t i = 0; same && i < hex.n; i += 2) {
        uint64_t v;
        same = sp_parse_hex(hex.p + i, hex.p + i + 2, &v) == 2 && sp_buf_ch(&bytes, (char)v);
    }
    same = same && sp_json_string(&shown, bytes.data ? bytes.data : "", bytes.len) &&
           sp_json_string(&have, text.p, text.n) && shown.len == have.len &&
           memcmp(shown.data, have.data, have.len) == 0;
    if (same)
        *str = sp_profile_str(r->p, bytes.data, bytes.len);
    sp_buf_free(&bytes);
    sp_buf_free(&shown);
    sp_buf_free(&have);
    return same;
}

bool sp_read_raw_hex(struct reader *r, struct sp_span key, const struct raw_field *fields, size_t n)
{
    struct sp_json before = r->j;
    struct sp_span name, hex;
    bool all = sp_json_type(&r->j) == SP_JSON_OBJECT && sp_json_object(&r->j);
    while (all && sp_json_key(&r->j, &name)) {
        size_t i = 0;
        while (i < n && !sp_span_is(name, fields[i].name))
            i++;
        all = i < n && sp_json_type(&r->j) == SP_JSON_STRING && sp_json_string_value(&r->j, &hex) &&
              unhex(r, hex, fields[i].str);
        if (all && *fields[i].str == SP_STR_FAIL)
            return sp_json_fail(&r->j, "out of memory");
    }
    if (all && !r->j.error)
        return true;
    before.scratch = r->j.scratch;
    r->j = before;
    if (sp_json_type(&r->j) == SP_JSON_OBJECT) /* also of strings that are not among these fields */
        return sp_keep_member(r, key);
    return sp_keep_odd(r, key, "the bytes of this record's strings, in hex");
}

bool sp_read_i64(struct reader *r, struct sp_span key, int64_t *out)
{
    struct sp_json before = r->j;
    struct sp_span s;
    int64_t v;
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return sp_keep_odd(r, key, "a whole number");
    if (!sp_json_number(&r->j, &s))
        return false;
    if (sp_parse_i64(s.p, s.p + s.n, &v) == s.n && v > SP_DECIMAL && !sp_span_is(s, "-0")) {
        *out = v;
        return true;
    }
    before.scratch = r->j.scratch;
    r->j = before;
    sp_emit(r->d, SP_W203, sp_here(r, NULL), "expected a whole number; the member is kept as it is");
    return sp_keep_member(r, key);
}

bool sp_read_id(struct reader *r, struct sp_span *out)
{
    return sp_json_type(&r->j) == SP_JSON_NUMBER ? sp_json_number(&r->j, out)
                                                 : sp_json_string_value(&r->j, out);
}

spaa_status sp_json_status(struct reader *r)
{
    if (!r->j.error && sp_json_end(&r->j))
        return SPAA_OK;
    sp_buf_clear(&r->more);
    sp_buf_clear(&r->more_x);
    if (strcmp(r->j.error, "out of memory") == 0)
        return sp_nomem(r->d);
    struct sp_where at = sp_here(r, NULL);
    at.offset += r->j.error_at;
    bool utf8 = strcmp(r->j.error, "not UTF-8") == 0;
    sp_emit_hint(r->d, utf8 ? SP_E101 : SP_E100, at,
                 "the line was skipped; `spaa validate` checks the whole file", "%s", r->j.error);
    sp_emit(r->d, r->unended ? SP_L301 : SP_L302, sp_here(r, NULL), "%s",
            r->unended ? "the last line is incomplete" : " ");
    return SPAA_ERR_INPUT;
}

/* Records of other types are kept whole. */
static spaa_status read_extension(struct reader *r, struct sp_span type, struct sp_span line)
{
    struct sp_span raw;
    struct sp_extension e = {SP_STR_NONE};
    bool original = sp_span_is(type, SP_ORIGINAL_TYPE);
    if (!(type.n > 1 && type.p[0] == 'x' && type.p[1] == '_'))
        sp_emit(r->d, SP_W201, sp_here(r, "type"), "\"%.*s\"", (int)(type.n < 100 ? type.n : 100), type.p);
    sp_json_reset(&r->j, line.p, line.n);
    sp_json_skip(&r->j, &raw);
    spaa_status st = sp_json_status(r);
    if (st)
        return st;
    sp_buf_clear(&r->text);
    if (original)
        return sp_json_minify(&r->text, raw)
                   ? sp_originals_add(&r->p->originals, r->d, r->text.data, r->text.len)
                   : sp_nomem(r->d);
    e.json = sp_json_minify(&r->text, raw) ? sp_profile_str(r->p, r->text.data, r->text.len) : SP_STR_FAIL;
    return e.json != SP_STR_FAIL && sp_vec_push(&r->p->extensions, e) ? SPAA_OK : sp_nomem(r->d);
}

static const struct {
    const char *type;
    spaa_status (*read)(struct reader *r);
    bool after_header;
} records[] = {
    {"stack", sp_read_stack, true},    {"sample", sp_read_sample, true},  {"frame", sp_read_frame, false},
    {"dso", sp_read_dso, false},       {"thread", sp_read_thread, false}, {"window", sp_read_window, true},
    {"header", sp_read_header, false},
};

/* The value of `type`, which mostly comes first; the cursor is left anywhere. */
static bool find_type(struct reader *r, struct sp_span *type)
{
    struct sp_span key, raw;
    if (!sp_json_object(&r->j))
        return false;
    while (sp_json_key(&r->j, &key)) {
        if (sp_span_is(key, "type") && sp_json_type(&r->j) == SP_JSON_STRING)
            return sp_json_string_value(&r->j, type);
        if (!sp_json_skip(&r->j, &raw))
            return false;
    }
    return r->j.error ? false : sp_json_fail(&r->j, "no `type`");
}

static spaa_status defer(struct reader *r, struct sp_span line)
{
    r->deferred_bytes += line.n;
    if (r->deferred_bytes > DEFERRED_MAX) {
        sp_emit(r->d, SP_E007, sp_here(r, NULL), "more than 256 MiB of lines use what is defined after them");
        return SPAA_ERR_LIMIT;
    }
    char *copy = sp_arena_dup(&r->texts, line.p, line.n);
    struct sp_span s = {copy, line.n};
    return copy && sp_vec_push(&r->deferred, s) && sp_vec_push(&r->deferred_lines, r->line) ? SPAA_OK
                                                                                            : sp_nomem(r->d);
}

static spaa_status read_line(struct reader *r, struct sp_span line)
{
    struct sp_span type;
    sp_json_reset(&r->j, line.p, line.n);
    r->record = NULL;
    sp_buf_clear(&r->more); /* a record that was put off leaves its members */
    sp_buf_clear(&r->more_x);
    if (!find_type(r, &type))
        return sp_json_status(r);
    char name[32];
    struct sp_span known = {name, type.n < sizeof name ? type.n : 0};
    memcpy(name, type.p, known.n); /* the cursor's scratch may go */
    spaa_status st = sp_repair(r, known, &line);
    if (st)
        return st;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        if (!sp_span_is(known, records[i].type))
            continue;
        /* What the order of frames and the events are, the header says. */
        if (!r->header_seen && !r->deferred_pass && records[i].after_header)
            return defer(r, line);
        r->record = records[i].type;
        sp_json_reset(&r->j, line.p, line.n);
        sp_json_object(&r->j);
        st = records[i].read(r);
        return st == SPAA_ERR_NOT_FOUND ? defer(r, line) : st;
    }
    return read_extension(r, type, line);
}

/* A blank line, or a record. */
spaa_status sp_take_line(struct reader *r, const char *p, size_t n)
{
    r->record = NULL;
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' ' || p[n - 1] == '\t'))
        n--;
    if (!n) {
        sp_emit(r->d, SP_W207, sp_here(r, NULL), " ");
        return SPAA_OK;
    }
    spaa_status st = read_line(r, (struct sp_span){p, n});
    return st == SPAA_ERR_INPUT && !r->opts->strict ? SPAA_OK : st;
}

/* From *at on, where that is worth it; *at is moved behind the lines that were read. */
static spaa_status several_threads(struct reader *r, const char **at, const char *end, uint64_t offset)
{
    const struct sp_chunking *how = &r->chunking;
    bool stacks = r->learned >= how->learned, frames = r->learned_frames >= r->next_frames;
    if (how->jobs < 2 || !(stacks || frames) || (size_t)(end - *at) <= how->least)
        return SPAA_OK;
    const char *nl = memrchr(*at, '\n', (size_t)(end - *at));
    if (!nl)
        return SPAA_OK;
    if (!stacks) {
        /* Where they do not stand together, that is not tried often. */
        r->next_frames = 2 * r->learned_frames + 1;
        return sp_read_frames(r, how, at, nl + 1, offset);
    }
    const char *text = *at;
    *at = nl + 1;
    return sp_read_parallel(r, how, text, nl + 1, offset);
}

/* The complete lines of the view, and what stands behind the last newline when nothing follows it. */
static spaa_status view_lines(struct reader *r, const char *p, size_t n, bool last, size_t *used)
{
    const char *at = p, *end = p + n;
    const uint64_t base = r->offset;
    spaa_status st = SPAA_OK;
    for (const char *nl; !st && at < end; at = nl + 1) {
        const char *next = sp_fast_stack(r, at, end);
        r->learned += next != NULL;
        if (!next && (next = sp_fast_frame(r, at, end)))
            r->learned_frames++;
        r->line++;
        nl = next ? next - 1 : memchr(at, '\n', (size_t)(end - at));
        if (!nl) {
            r->line--;
            break;
        }
        r->offset = base + (uint64_t)(at - p);
        if (!next)
            st = sp_take_line(r, at, (size_t)(nl - at));
        if (r->line % 8192 == 0)
            sp_input_note(r->in, (uint64_t)(at - p));
        if (!st && next) {
            const char *to = nl + 1;
            st = several_threads(r, &to, end, base + (uint64_t)(to - p));
            nl = to - 1;
        }
    }
    if (!st && at < end && last) {
        r->line++;
        r->offset = base + (uint64_t)(at - p);
        r->unended = true;
        st = sp_take_line(r, at, (size_t)(end - at));
        r->unended = false;
        at = end;
    }
    *used = (size_t)(at - p);
    return st;
}

/*
 * Room for the stacks of a large input ahead of time: tables that grow in place keep their large pages. What
 * is not used stays untouched.
 */
static bool expect(struct reader *r, size_t bytes)
{
    struct sp_profile *p = r->p;
    return p->stack_frames.n || (sp_vec_reserve(&p->stack_frames, bytes / 12) &&
                                 sp_vec_reserve(&p->stacks, bytes / BYTES_PER_STACK) &&
                                 sp_vec_reserve(&p->ids, bytes / BYTES_PER_STACK));
}

static spaa_status read_lines(struct reader *r, struct sp_input *in)
{
    const unsigned char *view;
    size_t n, used, want = 1;
    uint64_t done, size;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, &view, &n);
        if (st || !n)
            return st;
        r->offset = sp_input_offset(in);
        sp_input_progress(in, &done, &size);
        if (n >= LARGE && !expect(r, size > n && size <= SIZE_MAX ? (size_t)size : n))
            return sp_nomem(r->d);
        st = view_lines(r, (const char *)view, n, n < want, &used);
        if (st)
            return st;
        size_t rest = n - used;
        if (rest >= SP_LINE_MAX) {
            r->record = NULL;
            sp_emit(r->d, SP_E007, sp_here(r, NULL), "a line is longer than %zu bytes", SP_LINE_MAX);
            return SPAA_ERR_LIMIT;
        }
        sp_input_consume(in, used);
        want = rest + 1 < SP_LINE_MAX / 2 ? 2 * rest + 1 : SP_LINE_MAX + 1;
    }
}

static spaa_status read_deferred(struct reader *r)
{
    spaa_status st = SPAA_OK;
    r->deferred_pass = true;
    /* Frames first: stacks that wait may wait for frames that wait for a dso. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; !st && i < r->deferred.n; i++) {
            struct sp_span type;
            sp_json_reset(&r->j, r->deferred.v[i].p, r->deferred.v[i].n);
            bool frame = find_type(r, &type) && sp_span_is(type, "frame");
            r->line = r->deferred_lines.v[i];
            r->offset = SP_NOWHERE;
            if (frame == (pass == 0))
                st = read_line(r, r->deferred.v[i]);
        }
    }
    return st;
}

static void reader_free(struct reader *r)
{
    sp_json_free(&r->j);
    sp_idmap_free(&r->dsos);
    sp_idmap_free(&r->frames);
    sp_buf_free(&r->more);
    sp_buf_free(&r->more_x);
    sp_buf_free(&r->text);
    sp_buf_free(&r->repaired);
    sp_repair_free(r);
    sp_vec_free(&r->values);
    sp_vec_free(&r->fields);
    sp_vec_free(&r->edges);
    sp_arena_free(&r->texts);
    sp_vec_free(&r->contexts);
    sp_map_free(&r->context_map);
    sp_map_free(&r->stack_map);
    sp_map_free(&r->window_map);
    sp_vec_free(&r->pending);
    sp_vec_free(&r->deferred);
    sp_vec_free(&r->deferred_lines);
}

spaa_status sp_spaa_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                         struct sp_profile *p)
{
    return sp_spaa_read_with(in, opts, SP_CHUNKING(opts->jobs), d, p);
}

spaa_status sp_spaa_read_with(struct sp_input *in, const struct sp_read_opts *opts, struct sp_chunking how,
                              struct sp_diags *d, struct sp_profile *p)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return sp_nomem(d);
    *r = (struct reader){.p = p,
                         .opts = opts,
                         .d = d,
                         .in = in,
                         .chunking = how,
                         .last_function = SP_NONE,
                         .next_frames = how.learned};
    sp_json_init(&r->j, "", 0);
    sp_buf_init(&r->more, 0);
    sp_buf_init(&r->more_x, 0);
    sp_buf_init(&r->text, 0);
    sp_buf_init(&r->repaired, 0);
    sp_arena_init(&r->texts, 0);
    spaa_status st = read_lines(r, in);
    if (!st && !r->header_seen) {
        sp_emit(d, SP_E105, SP_AT_LINE(1, 0), " ");
        st = SPAA_ERR_INPUT;
    }
    if (!st && r->deferred.n) {
        sp_emit(d, SP_W311, SP_AT_LINE(r->deferred_lines.v[0], SP_NOWHERE),
                "%zu lines use dictionary records that come after them; they were read last", r->deferred.n);
        st = read_deferred(r);
    }
    if (!st)
        st = sp_settle_references(r);
    for (size_t i = 0; !st && i < p->events.n; i++) /* declared by a stack that could not be read then */
        if (p->events.v[i].primary == SP_NONE &&
            (p->events.v[i].primary = sp_metric_intern(p, "samples", 7)) == SP_NONE)
            st = sp_nomem(d);
    if (!st)
        st = sp_settle_inlines(r);
    if (!st)
        st = sp_finish_ids(r);
    if (!st && opts->strict && sp_input_failed(in))
        st = sp_input_failed(in);
    reader_free(r);
    free(r);
    return st;
}
