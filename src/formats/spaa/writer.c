/*
 * Writes SPAA 1.0 in canonical form: `type` first, then the specification's field order, `x_` keys
 * last, no spaces; header, dso, frame, thread, stack, sample, window, extensions; dictionaries sorted by
 * content and numbered from 1, stacks by descending primary weight, ties by id. Equal profiles give
 * equal bytes. Members at their default (func_resolved true, inlined false, inline_depth 0) are left out.
 *
 * Stacks are most of a file, so their texts are assembled from prepared pieces: one per frame number,
 * per context, per field of a layout.
 */
#include "formats/spaa/facts.h"
#include "formats/spaa/spaa.h"

#include "base/num.h"
#include "model/edges.h"
#include "model/identity.h"
#include "model/labels.h"
#include "model/originals.h"
#include "model/samples.h"
#include "json/find.h"
#include "json/json.h"

#include <stdlib.h>

#define VALUE_KEY ",\"value\":"

/* Ends the record: what the tables have no field for, raw_hex, the brace, the newline. */
static spaa_status end_record(struct writer *w, uint32_t more)
{
    sp_write_raw(w, ",", more);
    sp_write_raw_hex(w);
    sp_buf_add(&w->b, "}\n", 2);
    if (w->b.failed || (w->plain && !sp_plain_record(w->plain, &w->b)))
        return sp_nomem(w->p->diags);
    sp_write(w->out, w->b.data, w->b.len);
    sp_buf_clear(&w->b);
    return w->out->status;
}

static void hex_member(struct writer *w, const char *key, uint64_t v)
{
    char t[16];
    sp_buf_puts(&w->b, key);
    sp_buf_add(&w->b, t, sp_hex_text(v, t));
    sp_buf_ch(&w->b, '"');
}

/* Behind another member of an object. */
static void separate(struct sp_buf *b)
{
    if (b->len && b->data[b->len - 1] != '{')
        sp_buf_ch(b, ',');
}

static void place_member(struct writer *w, const char *key, uint64_t v)
{
    if (!v)
        return;
    separate(&w->b);
    hex_member(w, key, v);
}

/* What is known of where it stood: formats/spaa/place.c reads it. */
static void write_place(struct writer *w, const struct sp_dso *d)
{
    const struct sp_dso_place *at = &d->place;
    static const struct sp_dso_place nothing;
    struct sp_buf *b = &w->b;
    if (!d->doubtful && memcmp(at, &nothing, sizeof nothing) == 0)
        return;
    sp_buf_puts(b, ",\"x_spaa\":{");
    if (at->ips == SP_DSO_FILE_OFFSET)
        sp_buf_puts(b, "\"ip\":\"file_offset\"");
    place_member(w, "\"base\":\"0x", at->base);
    place_member(w, "\"text\":\"0x", at->text);
    if (at->symbol) {
        separate(b);
        sp_buf_printf(b, "\"symbol\":\"%s\"", sp_text_symbol_names[at->symbol]);
    }
    if (at->map_size) {
        separate(b);
        hex_member(w, "\"map\":{\"offset\":\"0x", at->map_offset);
        hex_member(w, ",\"size\":\"0x", at->map_size);
        sp_buf_ch(b, '}');
    }
    if (d->doubtful) {
        separate(b);
        sp_buf_puts(b, "\"doubtful\":true");
    }
    sp_buf_ch(b, '}');
}

static spaa_status write_dso(struct writer *w, uint32_t n)
{
    const struct sp_dso *d = &w->p->dsos.v[n];
    sp_buf_printf(&w->b, "{\"type\":\"dso\",\"id\":%u", w->order.dso_rank[n]);
    sp_write_str(w, ",\"name\":", "name", d->name);
    sp_write_opt_str(w, ",\"build_id\":", "build_id", d->build_id);
    sp_buf_puts(&w->b, d->is_kernel ? ",\"is_kernel\":true" : ",\"is_kernel\":false");
    write_place(w, d);
    return end_record(w, d->extra_json);
}

/* What is known of the function: of the frame itself, or where functions make frames, of that. */
static void write_func(struct writer *w, const struct sp_frame *f)
{
    const struct sp_profile *p = w->p;
    bool by_function = p->header.frames >= SP_FRAMES_FUNCTION;
    uint32_t info = f->info || !by_function ? f->info : p->functions.v[f->function].info;
    struct sp_buf *b = &w->b;
    if (!info)
        return;
    const struct sp_func_info *x = &p->func_infos.v[info - 1];
    sp_buf_puts(b, ",\"x_func\":{");
    size_t from = b->len;
    sp_write_opt_str(w, ",\"linkage\":", "x_func.linkage", x->linkage);
    sp_write_opt_str(w, ",\"file\":", "x_func.file", x->file);
    if (x->line) {
        sp_buf_puts(b, ",\"line\":");
        sp_buf_u64(b, x->line);
    }
    if (x->flags & SP_FUNC_START)
        hex_member(w, ",\"start\":\"0x", x->start);
    if (x->flags & SP_FUNC_LOCAL)
        sp_buf_puts(b, ",\"local\":true");
    if (x->flags & SP_FUNC_PATH)
        sp_buf_puts(b, ",\"by_path\":true");
    if (b->len > from && !b->failed) {
        memmove(b->data + from, b->data + from + 1, b->len - from - 1);
        b->len--;
    }
    sp_buf_ch(b, '}');
}

static spaa_status write_frame(struct writer *w, uint32_t n)
{
    const struct sp_frame *f = &w->p->frames.v[n];
    const struct sp_function *fn = &w->p->functions.v[f->function];
    struct sp_buf *b = &w->b;
    sp_buf_puts(b, "{\"type\":\"frame\",\"id\":");
    sp_buf_u64(b, w->order.frame_rank[n]);
    sp_write_str(w, ",\"func\":", "func", fn->name);
    if (f->flags & SP_FRAME_UNRESOLVED)
        sp_buf_puts(b, ",\"func_resolved\":false");
    sp_buf_puts(b, ",\"dso\":");
    sp_buf_u64(b, w->order.dso_rank[fn->dso]);
    if (f->flags & SP_FRAME_IP)
        hex_member(w, ",\"ip\":\"0x", f->ip);
    if (f->flags & SP_FRAME_SYMOFF)
        hex_member(w, ",\"symoff\":\"0x", f->symoff);
    sp_write_opt_str(w, ",\"srcline\":", "srcline", f->srcline);
    if (f->flags & SP_FRAME_NO_SRCLINE)
        sp_buf_puts(b, ",\"srcline_resolved\":false");
    if (f->flags & SP_FRAME_INLINED)
        sp_buf_puts(b, ",\"inlined\":true");
    if (f->inline_depth) {
        sp_buf_puts(b, ",\"inline_depth\":");
        sp_buf_u64(b, f->inline_depth);
    }
    sp_buf_puts(b, ",\"kind\":\"");
    sp_buf_puts(b, sp_frame_kind_names[f->kind]);
    sp_buf_ch(b, '"');
    write_func(w, f);
    if (!(f->flags & SP_FRAME_INFERRED))
        return end_record(w, f->extra_json);
    sp_write_raw(w, ",", f->extra_json);
    sp_write_raw_hex(w);
    sp_buf_puts(b, ",\"x_inferred\":true");
    return end_record(w, SP_STR_NONE);
}

static void i64_member(struct writer *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        return;
    sp_buf_puts(&w->b, key);
    sp_buf_i64(&w->b, v);
}

/* A number that a thread must have. Where a damaged input does not tell, it is -1, which is nobody's. */
static int64_t thread_number(const struct writer *w, const struct sp_thread *t, const char *key, int64_t v)
{
    struct sp_str more = sp_pstr(w->p, t->extra_json);
    struct sp_span raw;
    bool kept = t->extra_json && sp_json_find((struct sp_span){more.p, more.n}, key, &raw); /* as it was */
    return v == SP_ABSENT && !kept ? -1 : v;
}

static spaa_status write_thread(struct writer *w, uint32_t n)
{
    const struct sp_thread *t = &w->p->threads.v[n];
    sp_buf_puts(&w->b, "{\"type\":\"thread\"");
    i64_member(w, ",\"pid\":", thread_number(w, t, "pid", t->pid));
    i64_member(w, ",\"tid\":", thread_number(w, t, "tid", t->tid));
    sp_write_opt_str(w, ",\"comm\":", "comm", t->comm);
    sp_write_thread_facts(w, t);
    return end_record(w, SP_STR_NONE);
}

/* {"pid":…} of a context. */
static void context_object(struct writer *w, const struct sp_context *c)
{
    struct sp_buf *b = &w->b;
    sp_buf_ch(b, '{');
    size_t from = b->len;
    i64_member(w, ",\"pid\":", c->pid);
    i64_member(w, ",\"tid\":", c->tid);
    i64_member(w, ",\"cpu\":", c->cpu);
    if (c->event != SP_NONE)
        sp_write_str(w, ",\"event\":", "event", w->p->events.v[c->event].name);
    sp_write_opt_str(w, ",\"comm\":", "comm", c->comm);
    sp_write_raw(w, ",", c->extra_json);
    sp_write_raw_hex(w);
    if (sp_labels_any(w->p, c->labels)) {
        sp_buf_puts(b, ",\"x_labels\":");
        sp_labels_json(w->p, c->labels, b);
    }
    sp_write_opt_str(w, ",\"x_source\":", "x_source", c->source);
    sp_write_opt_str(w, ",\"x_state\":", "x_state", c->state);
    if (c->wait)
        sp_write_wait(w, sp_context_wait(w->p, c));
    if (b->len > from && !b->failed) {
        memmove(b->data + from, b->data + from + 1, b->len - from - 1);
        b->len--;
    }
    sp_buf_ch(b, '}');
}

/* Moves what stands in w->b to the arena of pieces. */
static bool keep_piece(struct writer *w, struct sp_str *out)
{
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->pieces, w->b.data ? w->b.data : "", w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    sp_buf_clear(&w->b);
    sp_buf_clear(&w->raw_hex);
    return t != NULL;
}

static bool prepare_frames(struct writer *w)
{
    size_t n = w->p->frames.n;
    w->frames = malloc((n + 1) * sizeof *w->frames);
    for (size_t i = 0; w->frames && i < n; i++) {
        struct frame_text *t = &w->frames[i];
        char digits[20];
        t->n = (uint8_t)sp_u64_text(w->order.frame_rank[i], digits);
        memcpy(t->t, digits, t->n);
        t->t[t->n++] = ',';
    }
    return w->frames != NULL;
}

static bool prepare_fields(struct writer *w)
{
    const struct sp_profile *p = w->p;
    w->fields = calloc(p->layout_fields.n + 1, sizeof *w->fields);
    if (!w->fields)
        return false;
    for (size_t i = 0; i < p->layout_fields.n; i++) {
        sp_write_str(w, "{\"metric\":", "metric", p->metrics.v[p->layout_fields.v[i].metric].name);
        sp_buf_puts(&w->b, VALUE_KEY);
        if (!keep_piece(w, &w->fields[i]))
            return false;
    }
    return true;
}

static bool writer_prepare(struct writer *w)
{
    w->contexts = calloc(w->p->contexts.n + 1, sizeof *w->contexts);
    return w->contexts && prepare_frames(w) && prepare_fields(w);
}

static struct sp_str context_piece(struct writer *w, uint32_t context)
{
    struct sp_str *s = &w->contexts[context];
    if (!s->p) {
        struct sp_buf keep = w->b;
        sp_buf_init(&w->b, 0);
        sp_buf_puts(&w->b, ",\"context\":");
        context_object(w, &w->p->contexts.v[context]);
        sp_buf_puts(&w->b, ",\"weights\":[");
        if (!keep_piece(w, s))
            keep.failed = true;
        sp_buf_free(&w->b);
        w->b = keep;
    }
    return *s;
}

static void write_value(struct writer *w, int64_t v, struct sp_str text)
{
    if (v == SP_DECIMAL)
        sp_buf_add(&w->b, text.p, text.n);
    else if (v != SP_ABSENT)
        sp_buf_i64(&w->b, v);
}

/* One list of weights without its brackets; values from `v`, or from the stack's columns. */
static void write_weights(struct writer *w, uint32_t layout, uint32_t stack, const struct sp_value *v)
{
    const struct sp_profile *p = w->p;
    if (layout == SP_NONE)
        return;
    const struct sp_layout *l = &p->layouts.v[layout];
    for (uint32_t i = 0; i < l->n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[l->first + i];
        if (i)
            sp_buf_ch(&w->b, ',');
        int64_t value = v ? v[i].v : sp_weight(p, stack, f->metric);
        /* A weight without a value (a damaged record) has no such member. */
        uint32_t lead = w->fields[l->first + i].n - (value == SP_ABSENT ? (uint32_t)strlen(VALUE_KEY) : 0);
        sp_buf_add(&w->b, w->fields[l->first + i].p, lead);
        struct sp_str text = {"", 0};
        if (value == SP_DECIMAL)
            text = v ? sp_pstr(p, v[i].text) : sp_weight_text(p, stack, f->metric);
        write_value(w, value, text);
        sp_write_opt_str(w, ",\"unit\":", "unit", f->unit);
        sp_write_raw(w, ",", f->extra_json);
        sp_buf_ch(&w->b, '}');
    }
}

static void write_this_id(struct writer *w, const struct sp_stack_id *id)
{
    char t[34];
    bool quoted = w->plain && id->flags & SP_ID_NUMBER; /* some readers know no numbers here */
    if (quoted) {
        sp_write_raw(w, "\"", id->text);
        sp_buf_ch(&w->b, '"');
    } else if (id->text == SP_STR_NONE) {
        t[0] = '"';
        size_t n = sp_stack_id_text(id, t + 1);
        t[n + 1] = '"';
        sp_buf_add(&w->b, t, n + 2);
    } else if (id->flags & SP_ID_NUMBER) {
        sp_write_raw(w, "", id->text);
    } else {
        struct sp_str s = sp_pstr(w->p, id->text);
        sp_json_string(&w->b, s.p, s.n);
    }
}

static void write_id(struct writer *w, uint32_t stack)
{
    const char *quote = w->plain ? "\"" : "";
    if (w->local)
        sp_buf_printf(&w->b, "%s%u%s", quote, w->local[stack], quote);
    else
        write_this_id(w, &w->p->ids.v[stack]);
}

static void write_frame_list(struct writer *w, uint32_t stack)
{
    const struct sp_stack *s = &w->p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(w->p, stack);
    sp_buf_puts(&w->b, ",\"frames\":[");
    if (!sp_buf_reserve(&w->b, (size_t)s->n * 11 + 16))
        return;
    char *at = w->b.data + w->b.len;
    bool reverse = w->p->header.root_first;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct frame_text *t = &w->frames[f[reverse ? s->n - 1 - i : i]];
        memcpy(at, t->t, 15);
        at += t->n;
    }
    w->b.len = (size_t)(at - w->b.data) - (s->n ? 1 : 0);
    sp_buf_ch(&w->b, ']');
}

static void write_exclusive(struct writer *w, uint32_t stack)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    if (s->exclusive == SP_EXCLUSIVE_NONE || (s->exclusive == SP_EXCLUSIVE_SAME && !s->n))
        return;
    const struct sp_exclusive *e =
        s->exclusive == SP_EXCLUSIVE_SAME ? NULL : &p->exclusives.v[s->exclusive - 2];
    uint32_t frame = e ? e->frame : sp_stack_frames(p, stack)[0];
    sp_buf_puts(&w->b, ",\"exclusive\":{");
    if (frame != SP_NONE) {
        sp_buf_puts(&w->b, "\"frame\":");
        sp_buf_u64(&w->b, w->order.frame_rank[frame]);
        sp_buf_ch(&w->b, ',');
    }
    sp_buf_puts(&w->b, "\"weights\":[");
    write_weights(w, e ? e->layout : s->layout, stack, e ? p->values.v + e->first : NULL);
    sp_buf_ch(&w->b, ']');
    if (e)
        sp_write_raw(w, ",", e->extra_json);
    sp_buf_ch(&w->b, '}');
}

/* Those that are in the file. */
static void write_related(struct writer *w, const struct sp_linked *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t other = w->p->linked_stacks.v[r->first + i];
        if (other == SP_NONE)
            continue;
        sp_buf_puts(&w->b, any ? "," : ",\"related_stacks\":[");
        write_id(w, other);
        any = true;
    }
    if (any)
        sp_buf_ch(&w->b, ']');
}

/* Places count from the leaf, in both orders of frames. */
static void write_edges(struct writer *w, uint32_t edges)
{
    size_t n;
    const struct sp_edge *e = sp_edges_of(w->p, edges, &n);
    for (size_t i = 0; i < n; i++) {
        sp_buf_printf(&w->b, "%s{\"at\":%u", i ? "," : ",\"x_edges\":[", e[i].at);
        if (e[i].kind == SP_EDGE_INFERRED)
            sp_buf_printf(&w->b, ",\"inferred\":%u}", w->order.frame_rank[e[i].frame]);
        else
            sp_buf_puts(&w->b, ",\"broken\":true}");
    }
    if (n)
        sp_buf_ch(&w->b, ']');
}

static spaa_status write_stack(struct writer *w, uint32_t n)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[n];
    sp_buf_puts(&w->b, "{\"type\":\"stack\",\"id\":");
    write_id(w, n);
    write_frame_list(w, n);
    sp_buf_puts(&w->b, ",\"stack_type\":\"");
    sp_buf_puts(&w->b, sp_stack_type_names[s->type]);
    sp_buf_ch(&w->b, '"');
    if (s->linked)
        write_related(w, &p->linked.v[s->linked - 1]);
    struct sp_str context = context_piece(w, s->context);
    sp_buf_add(&w->b, context.p, context.n);
    write_weights(w, s->layout, n, NULL);
    sp_buf_ch(&w->b, ']');
    write_exclusive(w, n);
    if (!s->edges)
        return end_record(w, s->extra_json);
    sp_write_raw(w, ",", s->extra_json);
    sp_write_raw_hex(w);
    write_edges(w, s->edges);
    return end_record(w, SP_STR_NONE);
}

static spaa_status write_sample(struct writer *w, const struct sp_sample *s)
{
    char t[32];
    sp_buf_puts(&w->b, "{\"type\":\"sample\"");
    if (s->time_text) {
        sp_write_raw(w, ",\"timestamp\":", s->time_text);
    } else if (s->flags & SP_SAMPLE_TIME) {
        sp_buf_puts(&w->b, ",\"timestamp\":");
        sp_buf_add(&w->b, t, sp_ns_seconds(s->time, t));
    }
    i64_member(w, ",\"pid\":", s->pid);
    i64_member(w, ",\"tid\":", s->tid);
    i64_member(w, ",\"cpu\":", s->cpu);
    if (s->event != SP_NONE)
        sp_write_str(w, ",\"event\":", "event", w->p->events.v[s->event].name);
    if (s->period == SP_DECIMAL)
        sp_write_raw(w, ",\"period\":", s->period_text);
    else
        i64_member(w, ",\"period\":", s->period);
    sp_buf_puts(&w->b, ",\"stack_id\":");
    write_id(w, s->stack);
    if (s->flags & SP_SAMPLE_CONTEXT) {
        sp_buf_puts(&w->b, ",\"context\":{");
        sp_write_raw(w, "", s->context);
        sp_buf_ch(&w->b, '}');
    }
    return end_record(w, s->more);
}

static spaa_status write_window(struct writer *w, const struct sp_window *x)
{
    const struct sp_profile *p = w->p;
    sp_buf_puts(&w->b, "{\"type\":\"window\"");
    bool quoted = w->plain && *sp_pstr(p, x->id).p != '"';
    sp_write_raw(w, quoted ? ",\"id\":\"" : ",\"id\":", x->id);
    if (quoted)
        sp_buf_ch(&w->b, '"');
    sp_write_raw(w, ",\"start\":", x->start);
    sp_write_raw(w, ",\"end\":", x->end);
    sp_write_opt_str(w, ",\"unit\":", "unit", x->unit);
    sp_buf_puts(&w->b, ",\"by_stack\":[");
    for (uint32_t i = 0, rows = 0; i < x->n; i++) {
        const struct sp_window_row *r = &p->window_rows.v[x->first + i];
        if (r->stack == SP_NONE)
            continue;
        sp_buf_puts(&w->b, rows++ ? ",{\"stack_id\":" : "{\"stack_id\":");
        write_id(w, r->stack);
        sp_buf_puts(&w->b, ",\"weights\":[");
        write_weights(w, r->layout, SP_NONE, p->values.v + r->first);
        sp_buf_ch(&w->b, ']');
        sp_write_raw(w, ",", r->extra_json);
        sp_buf_ch(&w->b, '}');
    }
    sp_buf_ch(&w->b, ']');
    return end_record(w, x->extra_json);
}

static spaa_status write_dictionaries(struct writer *w)
{
    sp_write_header(w);
    spaa_status st = end_record(w, SP_STR_NONE);
    for (size_t i = 0; !st && i < w->p->dsos.n; i++)
        st = write_dso(w, w->order.dsos[i]);
    for (size_t i = 0; !st && i < w->p->frames.n; i++)
        st = write_frame(w, w->order.frames[i]);
    for (size_t i = 0; !st && i < w->p->threads.n; i++)
        st = write_thread(w, w->order.threads[i]);
    return st;
}

static spaa_status write_rest(struct writer *w)
{
    struct sp_sample *rows = NULL;
    size_t n = 0;
    spaa_status st = w->p->samples ? sp_samples_rows(w->p->samples, &rows, &n) : SPAA_OK;
    for (size_t i = 0; !st && i < n; i++)
        if (rows[i].stack != SP_NONE) /* a damaged file referred to none */
            st = write_sample(w, &rows[i]);
    for (size_t i = 0; !st && i < w->p->windows.n; i++)
        st = write_window(w, &w->p->windows.v[i]);
    for (uint32_t i = 0; !st && i < w->p->images.n; i++) {
        sp_write_image(w, i);
        st = end_record(w, SP_STR_NONE);
    }
    for (size_t i = 0; !st && i < w->p->processes.n; i++) {
        sp_write_process(w, &w->p->processes.v[i]);
        st = end_record(w, SP_STR_NONE);
    }
    for (size_t i = 0; !st && i < w->p->source_pieces.n; i++) {
        sp_write_source(w, &w->p->source_pieces.v[i]);
        st = end_record(w, SP_STR_NONE);
    }
    for (size_t i = 0; !st && i < w->p->extensions.n; i++) {
        sp_write_raw(w, "", w->p->extensions.v[i].json);
        w->b.len -= w->b.len > 0; /* end_record closes the object */
        st = end_record(w, SP_STR_NONE);
    }
    return st || w->plain ? st : sp_originals_write(w->p->originals, w->out);
}

/*
 * --stack-ids: `content` gives every stack an id of ours, `local` the number of its place in the file;
 * without it, ids that were read are kept.
 */
static spaa_status choose_ids(struct writer *w, const struct sp_write_opts *opts, bool *local)
{
    const char *mode = sp_own_opt(opts->own, opts->nown, "stack-ids");
    struct sp_profile *p = w->p;
    *local = mode && strcmp(mode, "local") == 0;
    if (mode && !*local && strcmp(mode, "content") != 0) {
        sp_emit_hint(p->diags, SP_E037, SP_AT_NOTHING, "one of: content, local",
                     "--stack-ids has no value \"%s\"", mode);
        return SPAA_ERR_USAGE;
    }
    if (mode)
        p->header.ids_local = *local;
    if (!mode && p->ids.n != p->stacks.n)
        p->header.ids_local = false; /* they get ids of ours */
    return mode || p->ids.n != p->stacks.n ? sp_profile_identify(p, &w->order) : SPAA_OK;
}

static spaa_status number_stacks(struct writer *w)
{
    w->local = malloc((w->p->stacks.n + 1) * sizeof *w->local);
    for (size_t i = 0; w->local && i < w->p->stacks.n; i++)
        w->local[w->order.stacks[i]] = (uint32_t)i + 1;
    return w->local ? SPAA_OK : sp_nomem(w->p->diags);
}

spaa_status sp_spaa_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                          struct sp_output *out)
{
    bool local = false;
    struct writer w = {.p = p, .out = out};
    struct sp_plain plain;
    bool is_plain = sp_own_opt(opts->own, opts->nown, "plain") != NULL;
    sp_buf_init(&w.b, 0);
    sp_buf_init(&w.raw_hex, 0);
    sp_arena_init(&w.pieces, 0);
    spaa_status st = is_plain && !sp_plain_init(&plain) ? sp_nomem(d) : SPAA_OK;
    is_plain = is_plain && !st;
    w.plain = is_plain ? &plain : NULL;
    if (!st)
        st = sp_order_dictionaries(p, &w.order);
    if (!st)
        st = choose_ids(&w, opts, &local);
    if (!st)
        st = sp_order_stacks(p, &w.order);
    if (!st && local)
        st = number_stacks(&w);
    if (!st && !writer_prepare(&w))
        st = sp_nomem(d);
    if (!st)
        st = write_dictionaries(&w);
    for (size_t i = 0; !st && i < p->stacks.n; i++)
        st = write_stack(&w, w.order.stacks[i]);
    if (!st)
        st = write_rest(&w);
    if (!st && is_plain)
        sp_plain_report(&plain, d);
    if (is_plain)
        sp_plain_free(&plain);
    sp_order_free(&w.order);
    sp_buf_free(&w.b);
    sp_buf_free(&w.raw_hex);
    sp_arena_free(&w.pieces);
    free(w.frames);
    free(w.local);
    free(w.contexts);
    free(w.fields);
    return st;
}
