/*
 * Lines of the input, one by one or in chunks by several threads; what is said of them, and in which order.
 * internal.h has the map.
 */
#include "formats/spaa/validate/validate.h"

#include "formats/original.h"
#include "formats/spaa/validate/fields.h"

#include <stdarg.h>
#include <stdlib.h>

/* So much of the input is asked for, and taken at a time by one thread. */
#define BLOCK          ((size_t)256 << 10)
#define PATH_MAX_BYTES 4096
/* Rows are kept for so many bytes of the text. */
#define DECODED ((size_t)64 << 10)
/* A line that is shorter has no million keys. */
#define LINE_MANY_KEYS ((size_t)4 << 20)

static const struct {
    const char *name;
    void (*finish)(struct sp_validator *v, const struct sp_rec *rec);
} records[SP_TABLES] = {
    [SP_T_HEADER] = {"header", sp_finish_header}, [SP_T_DSO] = {"dso", sp_finish_dso},
    [SP_T_FRAME] = {"frame", sp_finish_frame},    [SP_T_THREAD] = {"thread", NULL},
    [SP_T_STACK] = {"stack", sp_finish_stack},    [SP_T_SAMPLE] = {"sample", sp_finish_sample},
    [SP_T_WINDOW] = {"window", sp_finish_window},
};

/* ---- reports ---- */

/* ---- a line ---- */

static bool line_is_ascii(const char *p, size_t n)
{
    uint64_t bits = 0, w[4];
    for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
        memcpy(w, p, sizeof w);
        bits |= w[0] | w[1] | w[2] | w[3];
    }
    for (; n; p++, n--)
        bits |= (unsigned char)*p;
    return !(bits & 0x8080808080808080u);
}

static bool line_is_utf8(const char *p, size_t n)
{
    return line_is_ascii(p, n) || sp_utf8_prefix(p, n) == n;
}

/* The line goes on as a copy that can be changed and ends in a zero. */
static bool line_copy(struct sp_validator *v)
{
    if (v->text == v->patched.data)
        return true;
    sp_buf_clear(&v->patched);
    if (!sp_buf_add(&v->patched, v->text, v->n) || !sp_buf_ch(&v->patched, 0)) {
        sp_out_of_memory(v);
        return false;
    }
    v->text = v->patched.data;
    return true;
}

/*
 * Bytes that are not UTF-8 are reported, and replaced in a copy, so that the rest of the line is checked
 * like any other.
 */
static bool line_patch(struct sp_validator *v)
{
    size_t ok = sp_utf8_prefix(v->text, v->n);
    if (ok == v->n)
        return true;
    sp_report(v, SP_E101, v->text + ok, "byte 0x%02x at column %zu", (unsigned char)v->text[ok], ok + 1);
    if (!line_copy(v))
        return false;
    for (char *p = v->patched.data + ok, *end = v->patched.data + v->n; p < end;) {
        p += sp_utf8_prefix(p, (size_t)(end - p));
        if (p < end)
            *p++ = '?';
    }
    return true;
}

static void line_judge_record(struct sp_validator *v, const struct sp_line *l)
{
    struct sp_known *k = v->known;
    const struct sp_rec *rec = sp_rec_any(&v->decoder, l->table, l->rec);
    v->record = records[l->table].name;
    v->records++;
    if (l->table == SP_T_HEADER) {
        size_t cut = sp_path_push(v, "type", 4);
        if (k->header.seen++)
            sp_report_title(v, SP_E106, NULL);
        else if (k->records_before)
            sp_report_title(v, SP_E104, NULL);
        sp_path_cut(v, cut);
    }
    sp_check_table(v, l->table, rec, v->text);
    if (records[l->table].finish && v->status == SPAA_OK)
        records[l->table].finish(v, rec);
}

/* The first `type` is no string. */
static const struct sp_odd *line_wrong_type(const struct sp_validator *v, const struct sp_line *l)
{
    const struct sp_odd *odd = v->decoder.odd.v;
    for (uint32_t i = l->odd_first; i < l->odd_end; i++)
        if (odd[i].position == SP_POSITION_TYPE && odd[i].what & SP_ODD_WRONG &&
            !(odd[i].what & SP_ODD_AGAIN))
            return &odd[i];
    return NULL;
}

/* Kept aside: whether an original is whole can be told at the end. */
static void line_keep_original(struct sp_validator *v)
{
    struct sp_known *k = v->known;
    if (v->notes) { /* their order matters */
        v->notes->unsure = true;
        return;
    }
    if (!k->originals) {
        k->originals_line = v->line;
        k->originals_offset = v->offset;
    }
    v->status = sp_originals_add(&k->originals, k->d, v->text, v->n);
}

static void line_judge_object(struct sp_validator *v, const struct sp_line *l)
{
    const struct sp_odd *wrong = line_wrong_type(v, l);
    if (wrong || !l->type.p) {
        sp_path_push(v, "type", 4);
        if (wrong || v->whole)
            sp_report_title(v, SP_E103, wrong ? sp_token_raw(&wrong->value).p : NULL);
    } else if (l->table != SP_T_ANYTHING) {
        line_judge_record(v, l);
    } else {
        struct sp_span type = sp_token_text(&l->type, &v->scratch);
        if (!type.p)
            sp_out_of_memory(v);
        else if (sp_span_is(type, SP_ORIGINAL_TYPE))
            line_keep_original(v);
        else if (type.n < 2 || memcmp(type.p, "x_", 2) != 0) {
            sp_path_push(v, "type", 4);
            sp_report(v, SP_W201, NULL, "\"%.*s\"", SP_CLIP(type));
        } else {
            sp_judge_fact_record(v, type);
            sp_judge_source_record(v, type);
        }
    }
    if (!v->notes)
        v->known->records_before = true;
}

/* Whether one of several threads can judge it: it changes nothing that others look at, and can be read. */
static bool line_is_for_threads(const struct sp_validator *v, const struct sp_line *l)
{
    return l->plain && l->status != SP_BROKEN && l->n < LINE_MANY_KEYS && v->known->records_before &&
           v->known->header.seen &&
           (l->table == SP_T_STACK || l->table == SP_T_SAMPLE || l->table >= SP_T_ANYTHING);
}

/* `ended`: the byte behind it can be read. */
static void line_judge(struct sp_validator *v, const char *p, size_t n, bool utf8, bool ended)
{
    struct sp_line l;
    v->text = p;
    v->n = n && p[n - 1] == '\r' ? n - 1 : n;
    v->record = NULL;
    v->nsteps = 0;
    if (!utf8 && v->notes)
        v->notes->unsure = true;
    if ((!ended && !line_copy(v)) || (!utf8 && !line_patch(v)))
        return;
    /* Texts that stand again are known within a few pages. A line that was copied is no lasting text. */
    if (v->text != p || !v->decoded || (size_t)(p - v->decoded) > DECODED) {
        sp_decoder_clear(&v->decoder);
        v->decoded = v->text == p ? p : NULL;
    }
    if (!sp_decode_line(&v->decoder, v->text, v->n, &l)) {
        v->decoder.nomem = false;
        sp_out_of_memory(v);
        return;
    }
    v->whole = l.status != SP_BROKEN;
    if (v->notes && !line_is_for_threads(v, &l)) {
        v->notes->unsure = true;
        return;
    }
    if (l.status == SP_BLANK) {
        sp_report_title(v, SP_W207, NULL);
        return;
    }
    if (!v->whole || (l.status != SP_NO_OBJECT && !l.plain) || v->n >= LINE_MANY_KEYS)
        sp_report_syntax(v);
    if (v->status != SPAA_OK)
        return;
    if (l.status == SP_NO_OBJECT)
        sp_report_title(v, SP_E102, NULL);
    else if (v->text[strspn(v->text, " \t\r")] == '{')
        line_judge_object(v, &l);
}

/* ---- chunks of lines ---- */

/* Complete lines, which begin at `offset` of the input. */
static void chunk_judge(struct sp_validator *v, const char *p, const char *end, uint64_t offset)
{
    const char *from = p;
    bool utf8 = line_is_utf8(p, (size_t)(end - p));
    for (const char *nl; p < end && v->status == SPAA_OK; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(end - p));
        v->line++;
        v->offset = offset + (uint64_t)(p - from);
        line_judge(v, p, (size_t)(nl - p), utf8 || line_is_utf8(p, (size_t)(nl - p)), true);
    }
}

/* A line that one of several threads read. */
struct noted_line {
    const char *text;
    size_t n;    /* without its newline */
    size_t last; /* of its notes, which begin where those of the line before end */
    bool unsure;
};

struct part {
    struct sp_validator reader;
    struct sp_notes notes;
    SP_VEC(struct noted_line) lines;
    size_t entered; /* lines */
    bool made, utf8, nomem;
};

struct work {
    struct sp_validator *v;
    struct sp_input *in;
    const char *text;
    uint64_t offset;
};

static bool validator_init(struct sp_validator *v, struct sp_known *known);
static void validator_free(struct sp_validator *v);

static void part_read(void *arg, struct sp_chunk *c)
{
    const struct work *w = arg;
    struct part *x = c->result;
    if (!x->made && !(x->made = validator_init(&x->reader, w->v->known)))
        x->nomem = true;
    x->reader.notes = &x->notes;
    x->reader.status = SPAA_OK;
    x->reader.decoded = NULL;
    x->lines.n = x->entered = x->notes.list.n = 0;
    bool utf8 = x->utf8 = line_is_utf8(c->text, (size_t)(c->end - c->text));
    for (const char *at = c->text, *nl; at < c->end && !x->nomem; at = nl + 1) {
        nl = memchr(at, '\n', (size_t)(c->end - at));
        size_t n = (size_t)(nl - at);
        x->notes.unsure = false;
        line_judge(&x->reader, at, n, utf8 || line_is_utf8(at, n), true);
        struct noted_line line = {at, n, x->notes.list.n, x->notes.unsure};
        x->nomem = !sp_vec_push(&x->lines, line);
    }
}

static enum sp_settled part_settle(void *arg, struct sp_chunk *c, bool alone)
{
    const struct work *w = arg;
    struct sp_validator *v = w->v;
    struct part *x = c->result;
    if (x->nomem)
        sp_out_of_memory(v);
    for (; x->entered < x->lines.n && v->status == SPAA_OK; x->entered++) {
        const struct noted_line *line = &x->lines.v[x->entered];
        size_t first = x->entered ? line[-1].last : 0;
        v->offset = w->offset + (uint64_t)(line->text - w->text);
        v->text = line->text;
        v->line++;
        if (!line->unsure && sp_enter_notes(v, x->notes.list.v + first, line->last - first))
            continue;
        if (!alone) {
            v->line--;
            return SP_NOT_ALONE;
        }
        line_judge(v, line->text, line->n, x->utf8 || line_is_utf8(line->text, line->n), true);
    }
    if (v->status != SPAA_OK)
        return SP_STOP;
    v->status =
        sp_input_note(w->in, (size_t)(w->offset + (uint64_t)(c->end - w->text) - sp_input_offset(w->in)));
    return v->status ? SP_STOP : SP_SETTLED;
}

static void part_drop(void *result)
{
    struct part *x = result;
    if (x->made)
        validator_free(&x->reader);
    sp_vec_free(&x->lines);
    sp_vec_free(&x->notes.list);
}

/* ---- the input ---- */

/*
 * Takes whole lines of a view, and its last one without a newline if the input ends there. Once there were
 * stacks or samples to judge, threads take the rest of a large view.
 */
static size_t validate_take(struct sp_validator *v, struct sp_input *in, const struct sp_chunking *how,
                            const char *p, size_t n, bool last)
{
    const char *nl = memrchr(p, '\n', n), *end = nl ? nl + 1 : p;
    v->offset = sp_input_offset(in);
    v->decoded = NULL;
    if (end == p && last) {
        v->line++;
        line_judge(v, p, n, line_is_utf8(p, n), false);
        return n;
    }
    if (how->jobs > 1 && v->records >= how->learned && (size_t)(end - p) > how->least) {
        struct work w = {v, in, p, v->offset};
        const struct sp_chunk_work work = {&w, sizeof(struct part), part_read, part_settle, part_drop};
        if (!sp_chunks_run(&work, how, p, end))
            sp_out_of_memory(v);
    } else {
        if ((size_t)(end - p) > BLOCK)
            end = (char *)memchr(p + BLOCK, '\n', (size_t)(end - p) - BLOCK) + 1;
        chunk_judge(v, p, end, v->offset);
    }
    return (size_t)(end - p);
}

/* Consumes a line that is longer than any view. */
static spaa_status validate_skip_line(struct sp_validator *v, struct sp_input *in)
{
    v->line++;
    v->offset = sp_input_offset(in);
    sp_limited(v, "a line is longer than 256 MiB and was not checked");
    for (;;) {
        const unsigned char *p;
        size_t n;
        spaa_status s = sp_input_peek(in, BLOCK, &p, &n);
        if (s != SPAA_OK || !n)
            return s;
        size_t chunk = n < BLOCK ? n : BLOCK;
        const unsigned char *eol = memchr(p, '\n', chunk);
        sp_input_consume(in, eol ? (size_t)(eol - p) + 1 : chunk);
        if (eol)
            return SPAA_OK;
    }
}

static spaa_status validate_read(struct sp_validator *v, struct sp_input *in, const struct sp_chunking *how)
{
    size_t want = BLOCK;
    while (v->status == SPAA_OK) {
        const unsigned char *p;
        size_t n;
        spaa_status s = sp_input_peek(in, want, &p, &n);
        if (s != SPAA_OK || !n)
            return s;
        size_t used = validate_take(v, in, how, (const char *)p, n, n < want);
        if (used) {
            sp_input_consume(in, used);
            want = BLOCK;
        } else if (n > SP_LINE_MAX) {
            if ((s = validate_skip_line(v, in)) != SPAA_OK)
                return s;
            want = BLOCK;
        } else {
            want = n >= SP_LINE_MAX / 2 ? SP_LINE_MAX + 1 : n * 2;
        }
    }
    return v->status;
}

struct by_place {
    struct sp_diag diag;
    size_t i;
};

static int validate_by_line(const void *x, const void *y)
{
    const struct by_place *a = x, *b = y;
    if (a->diag.line != b->diag.line)
        return !a->diag.line || (b->diag.line && a->diag.line > b->diag.line) ? 1 : -1;
    if (a->diag.offset != b->diag.offset)
        return a->diag.offset > b->diag.offset ? 1 : -1;
    return a->i > b->i ? 1 : -1;
}

/* What was found at the end belongs to earlier lines. Without memory the order stays as it is. */
static void validate_sort(struct sp_diags *d, size_t from)
{
    size_t n = d->list.n - from;
    struct by_place *all = n ? calloc(n, sizeof *all) : NULL;
    if (!all)
        return;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct by_place){d->list.v[from + i], i};
    qsort(all, n, sizeof *all, validate_by_line);
    for (size_t i = 0; i < n; i++)
        d->list.v[from + i] = all[i].diag;
    free(all);
}

static bool validator_init(struct sp_validator *v, struct sp_known *known)
{
    *v = (struct sp_validator){.known = known};
    sp_decoder_init(&v->decoder);
    sp_fields_init(v);
    memset(v->contexts, 0xFF, sizeof v->contexts); /* SP_ID_NONE */
    sp_buf_init(&v->scratch, 0);
    sp_buf_init(&v->path, PATH_MAX_BYTES);
    sp_buf_init(&v->patched, SP_LINE_MAX + 1);
    return sp_syntax_init(v);
}

static void validator_free(struct sp_validator *v)
{
    sp_decoder_free(&v->decoder);
    sp_syntax_free(v);
    sp_buf_free(&v->scratch);
    sp_buf_free(&v->path);
    sp_buf_free(&v->patched);
    sp_vec_free(&v->stack.list);
    sp_vec_free(&v->stack.weights);
    sp_vec_free(&v->stack.exclusive);
}

static void known_free(struct sp_known *k)
{
    struct sp_ids *ids[] = {&k->header.event_ids, &k->header.other_ids, &k->dsos,  &k->frames, &k->threads,
                            &k->stacks,           &k->windows,          &k->links, &k->metrics};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        sp_ids_free(ids[i]);
    sp_buf_free(&k->header.range);
    sp_vec_free(&k->header.events);
    sp_vec_free(&k->odd_metrics);
    sp_originals_free(k->originals);
}

static spaa_status report_original(void *arg, const struct sp_original_about *about)
{
    struct sp_validator *v = arg;
    if (about->damage)
        sp_report_at(v, SP_W224, SP_AT_LINE(v->known->originals_line, v->known->originals_offset),
                     "%s%s%s%s%s", about->format ? about->format : "", about->file ? ", " : "",
                     about->file ? about->file : "", about->format ? ": " : "", about->damage);
    return SPAA_OK;
}

spaa_status sp_spaa_validate_chunked(struct sp_input *in, struct sp_diags *d, struct sp_chunking how)
{
    struct sp_known known = {.d = d, .frames = {.direct = true}};
    struct sp_validator v;
    size_t from = d->list.n;
    sp_buf_init(&known.header.range, 0);
    spaa_status status = validator_init(&v, &known) ? validate_read(&v, in, &how) : sp_nomem(d);
    if (status == SPAA_OK)
        status = sp_input_failed(in);
    if (v.status == SPAA_OK && status != SPAA_ERR_NOMEM) {
        v.line = v.offset = 0;
        v.record = NULL;
        if (!known.header.seen)
            sp_emit(d, SP_E105, SP_AT_LINE(1, 0), " ");
        sp_judge_references(&v, status == SPAA_OK);
        if (status == SPAA_OK)
            v.status = sp_original_each(known.originals, true, d, report_original, &v);
    }
    validate_sort(d, from);
    if (status == SPAA_OK)
        status = v.status != SPAA_OK ? v.status : known.limited ? SPAA_ERR_LIMIT : SPAA_OK;
    validator_free(&v);
    known_free(&known);
    return status;
}

spaa_status sp_spaa_validate(struct sp_input *in, struct sp_diags *d)
{
    return sp_spaa_validate_chunked(in, d, SP_CHUNKING(sp_input_jobs(in)));
}
