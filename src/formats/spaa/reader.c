/*
 * Reads SPAA 1.0 (docs/spaa.md): NDJSON records into a profile.
 *
 * Lines are decoded in chunks (decode.h), by several threads where there are; what they say is entered in the
 * order of the file, so that the profile is the same for any number of threads.
 *
 * More is read than the specification allows to be written: keys in any order, missing defaults, CRLF,
 * a byte order mark, ids of any kind, dictionary records after their first use (those lines wait to the
 * end), several records under one id (all are kept). A line that is no JSON costs that line.
 */
#include "formats/spaa/facts.h"

#include "base/num.h"
#include "model/originals.h"
#include "model/samples.h"
#include "model/source_pieces.h"

#include <stdlib.h>

enum {
    DEFERRED_MAX = 256 << 20,
    LARGE = 4 << 20,       /* views, with which tables are made ahead */
    BYTES_PER_STACK = 512, /* of a file, roughly */
};

/* ---- a line ---- */

/* The line at hand costs itself. */
static spaa_status reader_skip_line(struct reader *r, const char *why, size_t at)
{
    struct sp_where where = sp_here(r, NULL);
    where.offset += at;
    bool utf8 = strcmp(why, "not UTF-8") == 0;
    sp_emit_hint(r->d, utf8 ? SP_E101 : SP_E100, where,
                 "the line was skipped; `spaa validate` checks the whole file", "%s", why);
    sp_emit(r->d, r->unended ? SP_L301 : SP_L302, sp_here(r, NULL), "%s",
            r->unended ? "the last line is incomplete" : " ");
    return r->opts->strict || r->deferred_pass ? SPAA_ERR_INPUT : SPAA_OK;
}

/* What is wrong with a line that is no record. */
static spaa_status reader_no_record(struct reader *r)
{
    struct sp_json *j = &r->j;
    struct sp_span key, raw;
    size_t n = r->l->n;
    bool typed = false;
    while (n && (r->l->p[n - 1] == '\r' || r->l->p[n - 1] == ' ' || r->l->p[n - 1] == '\t'))
        n--;
    sp_json_reset(j, r->l->p, n);
    sp_json_object(j);
    while (!j->error && sp_json_key(j, &key)) {
        typed |= sp_span_is(key, "type") && sp_json_type(j) == SP_JSON_STRING;
        sp_json_skip(j, &raw);
    }
    if (!j->error && !typed)
        sp_json_fail(j, "no `type`");
    if (sp_json_end(j))
        sp_json_fail(j, "not a record");
    return strcmp(j->error, "out of memory") == 0 ? sp_nomem(r->d)
                                                  : reader_skip_line(r, j->error, j->error_at);
}

/* Records of other types are kept whole. */
static spaa_status reader_extension(struct reader *r)
{
    const struct sp_rec *rec = sp_rec_any(r->dec, SP_T_ANYTHING, r->l->rec);
    struct sp_span type = sp_token_text(&r->l->type, &r->text);
    struct sp_extension e = {SP_STR_NONE};
    if (!type.p)
        return sp_nomem(r->d);
    bool original = sp_span_is(type, SP_ORIGINAL_TYPE);
    if (!(type.n > 1 && type.p[0] == 'x' && type.p[1] == '_'))
        sp_emit(r->d, SP_W201, sp_here(r, "type"), "\"%.*s\"", (int)(type.n < 100 ? type.n : 100), type.p);
    struct sp_token whole = {rec->p, (uint32_t)(r->l->p + r->l->n - rec->p), SP_JSON_OBJECT, false};
    if (original) { /* large: none of the profile's strings */
        struct sp_span json = sp_object_text(r, rec, SP_T_ANYTHING, &whole);
        return json.p ? sp_originals_add(&r->p->originals, r->d, json.p, json.n) : r->st;
    }
    enum sp_fact_record fact = sp_fact_record(type);
    struct sp_span json = sp_object_text(r, rec, SP_T_ANYTHING, &whole);
    if (!json.p)
        return r->st;
    if (fact == SP_SOURCE_FACT) {
        bool taken;
        if (!sp_take_source(r, rec, json, &taken))
            return r->st;
        if (taken)
            return SPAA_OK;
        json = sp_object_text(r, rec, SP_T_ANYTHING, &whole);
        if (!json.p)
            return r->st;
    } else if (fact) {
        return sp_take_fact(r, fact, json) ? SPAA_OK : r->st;
    }
    e.json = sp_profile_str(r->p, json.p, json.n);
    if (e.json == SP_STR_FAIL)
        return sp_nomem(r->d);
    return sp_vec_push(&r->p->extensions, e) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status reader_defer(struct reader *r)
{
    r->deferred_bytes += r->l->n;
    if (r->deferred_bytes > DEFERRED_MAX) {
        sp_emit(r->d, SP_E007, sp_here(r, NULL), "more than 256 MiB of lines use what is defined after them");
        return SPAA_ERR_LIMIT;
    }
    char *copy = sp_arena_dup(&r->texts, r->l->p, r->l->n);
    struct deferred x = {{copy, r->l->n}, r->line, r->l->table == SP_T_FRAME};
    return copy && sp_vec_push(&r->deferred, x) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status reader_take_record(struct reader *r)
{
    const struct sp_line *l = r->l;
    switch (l->table) {
    case SP_T_STACK:
        return sp_take_stack(r, sp_rec_STACK(r->dec, l->rec));
    case SP_T_SAMPLE:
        return sp_take_sample(r, sp_rec_SAMPLE(r->dec, l->rec));
    case SP_T_FRAME:
        return sp_take_frame(r, sp_rec_FRAME(r->dec, l->rec));
    case SP_T_DSO:
        return sp_take_dso(r, sp_rec_DSO(r->dec, l->rec));
    case SP_T_THREAD:
        return sp_take_thread(r, sp_rec_THREAD(r->dec, l->rec));
    case SP_T_WINDOW:
        return sp_take_window(r, sp_rec_WINDOW(r->dec, l->rec));
    default:
        return sp_take_header(r, sp_rec_HEADER(r->dec, l->rec));
    }
}

static spaa_status reader_take_decoded(struct reader *r)
{
    static const char *const names[SP_TABLES] = {
        [SP_T_STACK] = "stack",   [SP_T_SAMPLE] = "sample", [SP_T_FRAME] = "frame",   [SP_T_DSO] = "dso",
        [SP_T_THREAD] = "thread", [SP_T_WINDOW] = "window", [SP_T_HEADER] = "header",
    };
    enum sp_table t = r->l->table;
    r->kept.n = 0; /* a record that was put off leaves its members */
    if (!r->l->plain && !r->deferred_pass && !sp_report_odd(r))
        return r->st;
    if (t == SP_T_ANYTHING)
        return reader_extension(r);
    /* What the order of frames and the events are, the header says. */
    if (!r->header_seen && !r->deferred_pass && (t == SP_T_STACK || t == SP_T_SAMPLE || t == SP_T_WINDOW))
        return reader_defer(r);
    r->record = names[t];
    r->fault = NULL;
    r->fault_limit = false;
    spaa_status st = reader_take_record(r);
    if (!st && r->fault_limit) {
        sp_emit(r->d, SP_L300, sp_here(r, NULL), "%s", r->fault);
        return r->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
    }
    if (!st && r->fault)
        return reader_skip_line(r, r->fault, (size_t)(r->fault_at - r->l->p));
    return st == SPAA_ERR_NOT_FOUND ? reader_defer(r) : st;
}

static spaa_status reader_take_line(struct reader *r, const struct sp_line *l)
{
    r->l = l;
    r->record = NULL;
    switch (l->status) {
    case SP_DECODED:
        return reader_take_decoded(r);
    case SP_BLANK:
        sp_emit(r->d, SP_W207, sp_here(r, NULL), " ");
        return SPAA_OK;
    default:
        return reader_no_record(r);
    }
}

/* ---- chunks of lines ---- */

/* The view of the input that is being read. */
struct view {
    struct reader *r;
    const char *text;
    uint64_t offset; /* of text in the input */
    spaa_status st;
};

/* A chunk's decoder. */
struct part {
    struct sp_decoder dec;
    bool ready, nomem;
};

static void reader_decode_chunk(void *arg, struct sp_chunk *c)
{
    (void)arg;
    struct part *x = c->result;
    if (!x->ready)
        sp_decoder_init(&x->dec);
    x->ready = true;
    sp_decoder_clear(&x->dec);
    x->nomem = !sp_decode_lines(&x->dec, c->text, c->end);
}

static enum sp_settled reader_take_chunk(void *arg, struct sp_chunk *c, bool alone)
{
    (void)alone; /* decoding looks at nothing that is changed here */
    struct view *v = arg;
    struct part *x = c->result;
    struct reader *r = v->r;
    r->dec = &x->dec;
    if (x->nomem)
        v->st = sp_nomem(r->d);
    for (size_t i = 0; !v->st && i < x->dec.lines.n; i++) {
        const struct sp_line *l = &x->dec.lines.v[i];
        r->line++;
        r->offset = v->offset + (uint64_t)(l->p - v->text);
        v->st = reader_take_line(r, l);
    }
    if (!v->st)
        v->st = sp_input_note(r->in, (size_t)(c->end - v->text));
    return v->st ? SP_STOP : SP_SETTLED;
}

static void reader_drop_part(void *result)
{
    struct part *x = result;
    if (x->ready)
        sp_decoder_free(&x->dec);
}

/* One line that stands for itself: the last one without a newline, or one that waited. */
static spaa_status reader_take_single(struct reader *r, const char *p, size_t n)
{
    struct sp_buf copy;
    struct sp_decoder d;
    sp_decoder_init(&d);
    sp_buf_init(&copy, 0);
    spaa_status st = SPAA_OK;
    if (!sp_buf_reserve(&copy, n + 1) || !sp_buf_add(&copy, p, n) || !sp_buf_ch(&copy, '\0') ||
        !sp_decode_lines(&d, copy.data, copy.data + n)) {
        st = sp_nomem(r->d);
    } else {
        r->dec = &d;
        for (size_t i = 0; !st && i < d.lines.n; i++)
            st = reader_take_line(r, &d.lines.v[i]);
    }
    r->dec = NULL;
    sp_decoder_free(&d);
    sp_buf_free(&copy);
    return st;
}

/* The complete lines of the view, and what stands behind the last newline when nothing follows it. */
static spaa_status reader_take_view(struct reader *r, const char *p, size_t n, bool last, size_t *used)
{
    const char *nl = memrchr(p, '\n', n), *end = nl ? nl + 1 : p;
    struct view v = {r, p, r->offset, SPAA_OK};
    const struct sp_chunk_work work = {&v, sizeof(struct part), reader_decode_chunk, reader_take_chunk,
                                       reader_drop_part};
    struct sp_chunking how = r->chunking;
    *used = (size_t)(end - p);
    if ((size_t)(end - p) <= how.least || !how.jobs)
        how.jobs = 1;
    if (end > p && !sp_chunks_run(&work, &how, p, end))
        return sp_nomem(r->d);
    if (!v.st && *used < n && last) {
        r->line++;
        r->offset = v.offset + *used;
        r->unended = true;
        v.st = reader_take_single(r, end, n - *used);
        r->unended = false;
        *used = n;
    }
    return v.st;
}

/*
 * Room for the stacks of a large input ahead of time: tables that grow in place keep their large pages. What
 * is not used stays untouched.
 */
static bool reader_expect(struct reader *r, size_t bytes)
{
    struct sp_profile *p = r->p;
    return p->stack_frames.n || (sp_vec_reserve(&p->stack_frames, bytes / 12) &&
                                 sp_vec_reserve(&p->stacks, bytes / BYTES_PER_STACK) &&
                                 sp_vec_reserve(&p->ids, bytes / BYTES_PER_STACK));
}

static spaa_status reader_lines(struct reader *r, struct sp_input *in)
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
        if (n >= LARGE && !reader_expect(r, size > n && size <= SIZE_MAX ? (size_t)size : n))
            return sp_nomem(r->d);
        st = reader_take_view(r, (const char *)view, n, n < want, &used);
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

static spaa_status reader_deferred(struct reader *r)
{
    spaa_status st = SPAA_OK;
    r->deferred_pass = true;
    /* Frames first: stacks that wait may wait for frames that wait for a dso. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; !st && i < r->deferred.n; i++) {
            const struct deferred *x = &r->deferred.v[i];
            r->line = x->line;
            r->offset = SP_NOWHERE;
            if (x->frame == (pass == 0))
                st = reader_take_single(r, x->text.p, x->text.n);
        }
    }
    return st;
}

static void reader_free(struct reader *r)
{
    sp_json_free(&r->j);
    sp_idmap_free(&r->dsos);
    sp_idmap_free(&r->frames);
    for (size_t i = 0; i < 3; i++)
        sp_idmap_free(&r->images[i]);
    sp_vec_free(&r->image_numbers);
    sp_vec_free(&r->kept);
    sp_buf_free(&r->more);
    sp_buf_free(&r->more_x);
    sp_buf_free(&r->text);
    sp_buf_free(&r->clean);
    sp_unique_free(&r->unique);
    sp_vec_free(&r->stack_frames);
    sp_vec_free(&r->values);
    sp_vec_free(&r->own);
    sp_vec_free(&r->fields);
    sp_vec_free(&r->edges);
    sp_arena_free(&r->texts);
    sp_vec_free(&r->contexts);
    sp_map_free(&r->context_map);
    sp_map_free(&r->stack_map);
    sp_map_free(&r->window_map);
    sp_vec_free(&r->pending);
    sp_vec_free(&r->deferred);
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
    *r = (struct reader){.p = p, .opts = opts, .d = d, .in = in, .chunking = how, .last_function = SP_NONE};
    sp_json_init(&r->j, "", 0);
    sp_buf_init(&r->more, 0);
    sp_buf_init(&r->more_x, 0);
    sp_buf_init(&r->text, 0);
    sp_buf_init(&r->clean, 0);
    sp_unique_init(&r->unique, NULL, NULL);
    sp_arena_init(&r->texts, 0);
    spaa_status st = reader_lines(r, in);
    if (!st && !r->header_seen) {
        sp_emit(d, SP_E105, SP_AT_LINE(1, 0), " ");
        st = SPAA_ERR_INPUT;
    }
    if (!st && r->deferred.n) {
        sp_emit(d, SP_W311, SP_AT_LINE(r->deferred.v[0].line, SP_NOWHERE),
                "%zu lines use dictionary records that come after them; they were read last", r->deferred.n);
        st = reader_deferred(r);
    }
    if (!st)
        st = sp_settle_references(r);
    if (!st)
        st = sp_settle_images(r);
    if (!st)
        st = sp_source_pieces_settle(p, d);
    for (size_t i = 0; !st && i < p->events.n; i++) /* declared by a stack that could not be read then */
        if (p->events.v[i].primary == SP_NONE &&
            (p->events.v[i].primary = sp_metric_intern(p, "samples", 7)) == SP_NONE)
            st = sp_nomem(d);
    if (!st)
        st = sp_settle_inlines(r);
    if (!st)
        st = sp_finish_ids(r);
    if (!st && !sp_say_doubtful(r))
        st = r->st;
    if (!st && opts->strict && sp_input_failed(in))
        st = sp_input_failed(in);
    reader_free(r);
    free(r);
    return st;
}
