/*
 * Reads what sample(1) of macOS prints:
 *
 *     Analysis of sampling rg (pid 64751) every 1 millisecond
 *     Process:         rg [64751]                              fields
 *     Call graph:
 *         825 Thread_15758523   DispatchQueue_1: com.apple.main-thread  (serial)
 *         + 825 start  (in libdyld.dylib) + 1  [0x7fff737cf3d5]
 *         +   825 main  (in rg) + 41  [0x10384b549]
 *     <blank line>
 *     Total number in stack (…):  …                            kept
 *     Binary Images:
 *            0x103746000 -        0x103ab4fff +rg (0) <…> /usr/local/bin/rg
 *
 * The graph's rows are indented by two columns a level, blanks or the characters `+ ! : |`; the column of the
 * count is the level. A row may stand for several places of a function (offsets and addresses in lists): the
 * first is the frame's, the lists are kept under `x_sample`. Where a binary was loaded stands in its image at
 * the end, so the graph is built then. An input may hold several analyses. Each gives a process
 * (model/facts.h); what that has no field for, under `x_sample` beside it.
 */
#include "base/num.h"
#include "formats/common/hang/fences.h"
#include "formats/common/hang/mail.h"
#include "formats/sample/report.h"
#include "model/leaf_state.h"

#include <stdlib.h>
#include <string.h>

/* No state is printed: where threads wait as a rule, the leaf tells. What no rule knows has none: it may run,
 * or not. */
static uint32_t sample_context(void *who, uint32_t text)
{
    struct sample_reader *r = who;
    struct sp_context c = r->context;
    if (r->opts->group_by & SP_BY_STATE)
        c.state = text == SP_NONE ? SP_STR_NONE : r->meanings.v[text].state;
    r->any_state = r->any_state || c.state;
    return sp_context_intern(r->p, &c);
}

static bool sample_new_context(struct sample_reader *r, const struct sp_sample_report_thread *t)
{
    unsigned by = r->opts->group_by;
    r->context =
        (struct sp_context){.pid = by & SP_BY_PID ? r->pid : SP_ABSENT,
                            .tid = by & SP_BY_TID ? t->tid : SP_ABSENT,
                            .cpu = SP_ABSENT,
                            .event = r->event,
                            .comm = by & SP_BY_COMM ? r->comm : SP_STR_NONE,
                            .labels = sp_labels_with_queue(
                                r->p, 0, r->opts->asked, (struct sp_str){t->queue.p, (uint32_t)t->queue.n})};
    return r->context.labels != SP_NONE;
}

static bool sample_prepare(struct sample_reader *r)
{
    struct sp_profile *p = r->p;
    uint32_t metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {
        .name = sp_profile_cstr(p, "sample"), .kind = SP_TIMER, .mode = SP_FREQUENCY, .primary = metric};
    if (metric == SP_NONE || e.name == SP_STR_FAIL)
        return false;
    r->event = sp_event_add(p, &e);
    r->tree = (struct sp_hang_tree){
        .p = p, .d = r->d, .metric = metric, .context = sample_context, .who = r, .excess = SP_W517};
    r->tree.layout = sp_layout_simple(p, metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->event != SP_NONE && r->tree.layout != SP_NONE;
}

/* ---- frames ---- */

static uint64_t sample_first_address(struct sp_span s)
{
    uint64_t v = 0;
    if (s.n > 2)
        sp_parse_hex(s.p + 2, s.p + s.n, &v);
    return v;
}

static bool sample_frame_extra(struct sample_reader *r, const struct sp_sample_report_frame *f, uint32_t *out)
{
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "\"x_sample\":{");
    if (f->addresses.n)
        sp_hang_member(&r->buf, "address", f->addresses);
    if (f->offsets.n && memchr(f->offsets.p, ',', f->offsets.n))
        sp_hang_member(&r->buf, "offsets", f->offsets);
    if (f->base.n)
        sp_hang_member(&r->buf, "load_address", f->base);
    if (!f->image.p)
        sp_hang_number(&r->buf, "bare", 1);
    bool any = r->buf.data[r->buf.len - 1] != '{';
    sp_buf_ch(&r->buf, '}');
    if (any)
        *out = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    return *out != SP_STR_FAIL;
}

/* ip: in the image where that is known, else absolute where no image is named. False: no memory. */
static bool sample_place(struct sample_reader *r, const struct sp_sample_report_frame *f, bool unknown,
                         struct sp_frame *out, struct sp_span *uuid)
{
    uint64_t address = sample_first_address(f->addresses);
    bool ok = true;
    uint32_t i = f->image.p ? sp_hang_find_image(&r->images, f->image, address, r->stamp, &ok) : SP_NONE;
    if (f->offsets.n) {
        out->flags |= SP_FRAME_SYMOFF;
        out->symoff = f->offset;
    }
    if (f->base.n) {
        out->flags |= SP_FRAME_IP;
        out->ip = f->image_off;
    } else if (unknown && f->addresses.n) {
        out->flags |= SP_FRAME_IP;
        out->ip = address;
    }
    if (i == SP_NONE)
        return ok;
    const struct sp_hang_image *m = &r->images.v.v[i];
    r->images.v.v[i].named = true;
    *uuid = m->uuid;
    if (!f->base.n && f->addresses.n && address >= m->start && (!m->end || address <= m->end)) {
        out->flags |= SP_FRAME_IP;
        out->ip = address - m->start;
    }
    return true;
}

/* Its end is missing: in its text, or before the image or the address that practically all rows have. */
static bool sample_is_torn(const struct sample_reader *r, const struct sp_sample_report_frame *f)
{
    enum { RARE = 4, BARE_RARE = 8 };
    uint64_t bare = 0;
    if (f->torn)
        return true;
    if (!f->image.p)
        return (r->bare * BARE_RARE < r->imaged || sp_hang_is_cut(&r->cut)) && !f->addresses.n &&
               !sp_parse_0x(f->symbol.p, f->symbol.n, &bare);
    return !f->addresses.n && !f->srcline.n &&
           (r->unaddressed * RARE < r->addressed || sp_hang_is_cut(&r->cut));
}

/* Of a name that may go on no state is told. */
static bool sample_learn(struct sample_reader *r, uint32_t number, struct sp_sample_report_frame *f)
{
    struct sp_str symbol = {f->symbol.p, (uint32_t)f->symbol.n},
                  image = {f->image.p ? f->image.p : "", (uint32_t)f->image.n};
    bool torn = sample_is_torn(r, f);
    const char *word = torn && !f->image.p ? NULL : sp_leaf_state(symbol, image, false);
    struct sample_meaning none = {.state = SP_STR_NONE};
    while (r->meanings.n <= number)
        if (!sp_vec_push(&r->meanings, none))
            return false;
    r->meanings.v[number] = (struct sample_meaning){word ? sp_profile_cstr(r->p, word) : SP_STR_NONE, torn};
    if (torn && !f->addresses.n)
        f->offsets.n = f->base.n = 0; /* they may go on */
    return r->meanings.v[number].state != SP_STR_FAIL;
}

static uint32_t sample_make_frame(struct sample_reader *r, uint32_t number)
{
    struct sp_sample_report_frame f;
    struct sp_frame out = {.kind = SP_USER};
    struct sp_span uuid = {NULL, 0}, dso = {"[unknown]", 9}, text = r->texts.v.v[number].text;
    sp_sample_report_parse_frame(text, &f);
    if (!sample_learn(r, number, &f))
        return SP_NONE;
    bool unknown = !f.image.p || sp_span_is(f.image, "<unknown binary>");
    bool nameless = sp_span_is(f.symbol, "???");
    uint64_t bare = 0;
    bool hex = !f.image.p && sp_parse_0x(f.symbol.p, f.symbol.n, &bare);
    if (!unknown)
        dso = f.image;
    if (!sample_place(r, &f, unknown, &out, &uuid))
        return SP_NONE;
    if (hex && !f.addresses.n) {
        out.flags |= SP_FRAME_IP;
        out.ip = bare;
    }
    if (nameless || hex)
        out.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name =
        nameless ? sp_hang_hex_str(r->p, out.flags & SP_FRAME_IP ? out.ip : sample_first_address(f.addresses))
                 : sp_hang_str(r->p, f.symbol);
    if (f.srcline.n && r->frames <= SP_FRAMES_LINE)
        out.srcline = sp_hang_str(r->p, f.srcline);
    if (r->frames > SP_FRAMES_ADDRESS) {
        out.ip = out.symoff = 0;
        out.flags &= SP_FRAME_UNRESOLVED;
    } else if (!sample_frame_extra(r, &f, &out.extra_json)) {
        return SP_NONE;
    }
    uint32_t d = sp_hang_dso(r->p, dso, uuid, false);
    if (d == SP_NONE || name == SP_STR_FAIL || out.srcline == SP_STR_FAIL)
        return SP_NONE;
    out.function = sp_function_intern(r->p, name, d);
    return out.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &out);
}

/* ---- stacks ---- */

/* Where the text ends, rows are missing that those above call. */
static void sample_doubt_end(struct sp_hang_row *rows, size_t n)
{
    for (size_t i = n - 1; i != SIZE_MAX; i = sp_hang_caller(rows, i))
        rows[i].tag = SP_NONE;
}

static spaa_status sample_block_stacks(struct sample_reader *r, const struct sample_block *b)
{
    int64_t roots, untold = r->tree.untold;
    struct sp_hang_row *rows = r->rows.v + b->first;
    if (!b->n)
        return SPAA_OK;
    if (!sample_new_context(r, &b->thread))
        return sp_nomem(r->d);
    for (size_t i = 0; i < b->n; i++) {
        struct sp_hang_text *x = &r->texts.v.v[rows[i].frame];
        rows[i].tag = rows[i].frame;
        if (x->stamp != r->stamp) {
            x->frame = sample_make_frame(r, rows[i].tag);
            x->stamp = r->stamp;
        }
        rows[i].frame = x->frame;
        if (rows[i].frame == SP_NONE)
            return sp_nomem(r->d);
        if (r->meanings.v[rows[i].tag].torn)
            sp_emit(r->d, SP_L520, SP_AT_LINE(rows[i].line, SP_NOWHERE), "\"%.*s\"",
                    (int)(x->text.n > 60 ? 60 : x->text.n), x->text.p);
    }
    if (b->cut)
        sample_doubt_end(rows, b->n);
    r->tree.whole = b->known ? b->thread.samples : -1;
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->n, &roots);
    if (!st && b->cut)
        sp_hang_say_end(&r->tree, rows[b->n - 1].line, roots, untold);
    if (!st && b->known && roots != b->thread.samples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->line, SP_NOWHERE),
                "Thread_%.*s has %lld samples, its roots %lld", (int)b->thread.id.n, b->thread.id.p,
                (long long)b->thread.samples, (long long)roots);
    return st;
}

/* ---- records ---- */

/* `alone`: with what a record of a thread has fields for, where there is none. */
static void sample_thread_object(struct sample_reader *r, const struct sample_block *b, bool alone)
{
    const struct sp_sample_report_thread *t = &b->thread;
    sp_buf_ch(&r->buf, '{');
    if (alone) {
        sp_hang_member(&r->buf, "id", t->id);
        if (t->named)
            sp_hang_member(&r->buf, "name", t->name);
        if (t->queue.n)
            sp_hang_member(&r->buf, "queue", t->queue);
    }
    sp_hang_number(&r->buf, "samples", t->samples);
    sp_buf_ch(&r->buf, '}');
}

static bool sample_thread_facts(struct sample_reader *r, const struct sp_sample_report_thread *t,
                                uint32_t thread)
{
    struct sp_profile *p = r->p;
    uint32_t name = t->named ? sp_profile_text(p, t->name.n ? t->name.p : "", t->name.n) : SP_STR_NONE,
             queue = t->queue.n ? sp_profile_text(p, t->queue.p, t->queue.n) : SP_STR_NONE;
    p->threads.v[thread].name = name == SP_STR_FAIL ? SP_STR_NONE : name;
    p->threads.v[thread].queue = queue == SP_STR_FAIL ? SP_STR_NONE : queue;
    return name != SP_STR_FAIL && queue != SP_STR_FAIL;
}

/* Its own record, or an object in the process's list where there is a record of this thread already. */
static bool sample_keep_thread(struct sample_reader *r, const struct sample_block *b)
{
    size_t before = r->p->threads.n;
    uint32_t t = SP_NONE;
    if (!b->known)
        return true;
    if (b->thread.tid != SP_ABSENT) {
        t = sp_thread_intern(r->p, r->pid, b->thread.tid, r->comm);
        if (t == SP_NONE)
            return false;
    }
    sp_hang_comma(&r->list);
    sp_buf_clear(&r->buf);
    if (t == SP_NONE || r->p->threads.n == before) {
        sample_thread_object(r, b, true);
        sp_buf_add(&r->list, r->buf.data, r->buf.len);
        return !r->list.failed && !r->buf.failed;
    }
    sp_buf_i64(&r->list, b->thread.tid);
    if (!sample_thread_facts(r, &b->thread, t))
        return false;
    sp_buf_puts(&r->buf, "\"x_sample\":");
    sample_thread_object(r, b, false);
    uint32_t more_text = r->buf.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->buf.data, r->buf.len);
    r->p->threads.v[t].extra_json = more_text == SP_STR_FAIL ? SP_STR_NONE : more_text;
    return more_text != SP_STR_FAIL && !r->list.failed;
}

static void sample_array(struct sp_buf *to, const char *key, const struct sp_buf *items)
{
    sp_hang_comma(to);
    sp_buf_printf(to, "\"%s\":[", key);
    if (items->len)
        sp_buf_add(to, items->data, items->len);
    sp_buf_ch(to, ']');
    to->failed |= items->failed;
}

static bool sample_process_record(struct sample_reader *r)
{
    struct sp_buf *b = &r->buf;
    struct sp_process_fact x = {0};
    sp_facts_clear(sp_process_facts, &x);
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_sample\":{");
    sp_hang_member(b, "title", r->title);
    sample_array(b, "fields", &r->fields);
    sample_array(b, "threads", &r->list);
    sample_array(b, "tail", &r->tail);
    sp_buf_ch(b, '}');
    x.pid = r->pid;
    x.path = r->path.n ? sp_profile_text(r->p, r->path.p, r->path.n) : SP_STR_NONE;
    x.name = r->name.n ? sp_profile_text(r->p, r->name.p, r->name.n) : SP_STR_NONE;
    x.extra_json = b->failed ? SP_STR_FAIL : sp_profile_str(r->p, b->data, b->len);
    return x.name != SP_STR_FAIL && x.path != SP_STR_FAIL && x.extra_json != SP_STR_FAIL &&
           sp_process_add(r->p, &x, r->process_images.v, r->process_images.n);
}

static bool sample_image_dsos(struct sample_reader *r)
{
    for (size_t i = 0; i < r->process_images.n; i++) {
        struct sp_hang_image *m = &r->images.v.v[r->process_images.v[i]];
        if (!m->named && m->file.n && !sp_span_is(m->file, "???") &&
            sp_hang_dso(r->p, m->file, m->uuid, m->kernel) == SP_NONE)
            return false;
        m->named = true;
    }
    return true;
}

/* Rows that cannot be of the thread above them are a thread's whose line is missing. */
static bool sample_part_blocks(struct sample_reader *r)
{
    for (size_t i = 0; i < r->blocks.n; i++)
        r->blocks.v[i].n =
            (i + 1 < r->blocks.n ? r->blocks.v[i + 1].first : r->rows.n) - r->blocks.v[i].first;
    for (size_t i = 0, all = r->blocks.n; i < all; i++) {
        struct sample_block *b = &r->blocks.v[i], rest = {.thread.tid = SP_ABSENT};
        size_t n =
            !b->known ? b->n : sp_hang_rows_of_one_thread(r->rows.v + b->first, b->n, b->thread.samples);
        if (n == b->n)
            continue;
        rest.first = b->first + n;
        rest.n = b->n - n;
        rest.line = r->rows.v[rest.first].line;
        rest.cut = b->cut;
        b->n = n;
        b->cut = false;
        sp_emit(r->d, SP_L511, SP_AT_LINE(rest.line, SP_NOWHERE),
                "Thread_%.*s above has its samples without them: they are counted for the process alone",
                (int)b->thread.id.n, b->thread.id.p);
        if (!sp_vec_push(&r->blocks, rest))
            return false;
    }
    return true;
}

/* The line of an image that waits is over. */
static bool sample_settle_image(struct sample_reader *r)
{
    struct sp_span text = r->image.text;
    bool ok = true;
    uint32_t i = text.n ? sp_hang_image(&r->images, text, r->stamp, &ok) : SP_NONE;
    r->image.text.n = 0;
    if (text.n && i == SP_NONE)
        sp_hang_item(&r->tail, text);
    return ok && (i == SP_NONE || sp_vec_push(&r->process_images, i));
}

static spaa_status sample_end_analysis(struct sample_reader *r)
{
    spaa_status st = SPAA_OK;
    if (!r->open)
        return st;
    r->open = false;
    if (!sp_sample_settle_row(r) || !sample_settle_image(r) || !sample_part_blocks(r))
        return sp_nomem(r->d);
    sp_buf_clear(&r->list);
    for (size_t i = 0; i < r->blocks.n && !st; i++) {
        const struct sample_block *b = &r->blocks.v[i];
        if (!sample_keep_thread(r, b))
            st = sp_nomem(r->d);
        if (!st)
            st = sample_block_stacks(r, b);
    }
    if (!st && (!sample_image_dsos(r) || !sample_process_record(r)))
        st = sp_nomem(r->d);
    return st;
}

/* "Analysis of sampling NAME (pid N) every M millisecond(s)" */
static spaa_status sample_begin_analysis(struct sample_reader *r, struct sp_span line)
{
    spaa_status st = sample_end_analysis(r);
    struct sp_span s = sp_hang_after(line, strlen("Analysis of sampling "));
    int64_t v;
    r->open = true;
    r->zone = FIELDS;
    r->stamp++;
    r->pid = SP_ABSENT;
    r->title = line;
    r->path = (struct sp_span){NULL, 0};
    r->rows.n = r->blocks.n = r->process_images.n = 0;
    r->cut = (struct sp_hang_cut){0};
    r->imaged = r->bare = r->addressed = r->unaddressed = 0;
    sp_buf_clear(&r->fields);
    sp_buf_clear(&r->tail);
    const char *pid = NULL, *every = NULL;
    for (const char *p = s.p; (p = memmem(p, (size_t)(s.p + s.n - p), " (pid ", 6)); p++)
        pid = p;
    r->name = pid ? (struct sp_span){s.p, (size_t)(pid - s.p)} : (struct sp_span){s.p, 0};
    if (pid && sp_parse_i64(pid + 6, s.p + s.n, &v))
        r->pid = v;
    if (pid)
        every = memmem(pid, (size_t)(s.p + s.n - pid), ") every ", 8);
    if (every) {
        struct sp_span rest = sp_hang_after(s, (size_t)(every + 8 - s.p));
        size_t n = sp_hang_count(rest, &v);
        rest = sp_hang_trim(sp_hang_after(rest, n));
        if (n && v > 0 && v < 1000000000 && !r->interval_ns)
            r->interval_ns = v * (sp_hang_starts(rest, "milli")   ? 1000000
                                  : sp_hang_starts(rest, "micro") ? 1000
                                                                  : 1000000000);
    }
    r->comm = r->name.n ? sp_hang_str(r->p, r->name) : SP_STR_NONE;
    return !st && r->comm == SP_STR_FAIL ? sp_nomem(r->d) : st;
}

/* ---- the rest of the text ---- */

static bool sample_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value)
{
    const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    if (!colon || colon == line.p || (colon + 1 < line.p + line.n && !sp_hang_blank(colon[1])))
        return false;
    *key = (struct sp_span){line.p, (size_t)(colon - line.p)};
    *value = sp_hang_trim(sp_hang_after(line, key->n + 1));
    return sp_hang_trim(*key).n > 0;
}

static bool sample_field(struct sample_reader *r, struct sp_span line)
{
    struct sp_span key = {"", 0}, value = line;
    struct sp_header *h = &r->p->header;
    bool pair = sample_key_value(line, &key, &value);
    if (pair && sp_span_is(sp_hang_trim(key), "Path") && !r->path.n)
        r->path = value;
    sp_hang_comma(&r->fields);
    sp_buf_ch(&r->fields, '[');
    sp_hang_item(&r->fields, pair ? key : (struct sp_span){"", 0});
    sp_hang_item(&r->fields, pair ? value : line);
    sp_buf_ch(&r->fields, ']');
    if (pair && value.n && sp_span_is(key, "OS Version") && !h->host.os)
        h->host.os = sp_hang_str(r->p, value);
    if (pair && value.n && sp_span_is(key, "Code Type") && !h->host.arch)
        h->host.arch = sp_hang_str(r->p, value);
    if (pair && value.n && sp_span_is(key, "Report Version") && !h->tool_version)
        h->tool_version = sp_hang_str(r->p, value);
    return !r->fields.failed && h->host.os != SP_STR_FAIL && h->host.arch != SP_STR_FAIL &&
           h->tool_version != SP_STR_FAIL;
}

static bool sample_image_line(struct sample_reader *r, struct sp_span line, struct sp_span text)
{
    bool taken;
    if (!sp_hang_image_join(&r->image, line, text, &r->buf, &r->joined, r->d, &taken))
        return false;
    if (taken)
        return true;
    if (!sample_settle_image(r))
        return false;
    r->image = (struct sp_hang_image_line){text, r->line};
    return true;
}

static spaa_status sample_read_line(struct sample_reader *r, struct sp_span line)
{
    struct sp_span text = sp_hang_trim(line);
    bool ok = true;
    if (sp_hang_starts(line, "Analysis of sampling "))
        return sample_begin_analysis(r, line);
    switch (r->zone) {
    case BEFORE:
        if (text.n)
            sp_emit(r->d, SP_W515, SP_AT_LINE(r->line, (uint64_t)(line.p - r->start)),
                    "before the first analysis: \"%.*s\"", (int)(line.n > 80 ? 80 : line.n), line.p);
        break;
    case FIELDS:
        if (sp_hang_starts(line, "Call graph:"))
            r->zone = GRAPH;
        else if (text.n)
            ok = sample_field(r, line);
        break;
    case GRAPH:
        if (text.n)
            ok = sp_sample_graph_line(r, line);
        else
            r->zone = TAIL;
        break;
    case IMAGES:
        if (text.n) {
            ok = sample_image_line(r, line, text);
            break;
        }
        r->zone = TAIL;
        ok = sample_settle_image(r);
        sp_hang_item(&r->tail, line);
        break;
    case TAIL:
        if (text.n || r->tail.len)
            sp_hang_item(&r->tail, line);
        if (sp_hang_starts(line, "Binary Images:"))
            r->zone = IMAGES;
        break;
    }
    return ok && !r->tail.failed ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status sample_read_lines(struct sample_reader *r)
{
    const char *p = r->start;
    struct sp_hang_fences fences = sp_hang_fences_of(r->start, (size_t)(r->end - r->start));
    for (r->line = 1; p < r->end; r->line++) {
        const char *nl = memchr(p, '\n', (size_t)(r->end - p)), *eol = nl ? nl : r->end;
        const char *next = nl ? nl + 1 : r->end;
        while (eol > p && (eol[-1] == '\r' || sp_hang_blank(eol[-1])))
            eol--;
        struct sp_span line = {p, (size_t)(eol - p)};
        spaa_status st = sp_hang_fences_skip(&fences, line) ? SPAA_OK : sample_read_line(r, line);
        if (st)
            return st;
        if (r->opts->strict && sp_diags_count(r->d, SP_LOSS))
            return SPAA_ERR_INPUT;
        p = next;
    }
    sp_hang_fences_say(&fences, r->d);
    return SPAA_OK;
}

static spaa_status sample_finish(struct sample_reader *r, struct sp_input *in)
{
    struct sp_header *h = &r->p->header;
    char t[64];
    if (r->open && r->zone == GRAPH && !sp_sample_settle_row(r))
        return sp_nomem(r->d);
    if (r->open && r->zone == GRAPH && r->blocks.n) /* a blank line ends the graph */
        r->blocks.v[r->blocks.n - 1].cut = true;
    spaa_status st = sample_end_analysis(r);
    if (st)
        return st;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "sample");
    h->has_x_spaa = true;
    h->frames = r->frames;
    h->group_by = r->opts->group_by & (SP_BY_DEFAULT | (r->any_state ? SP_BY_STATE : 0u));
    bool ok = h->version != SP_STR_FAIL && h->tool != SP_STR_FAIL;
    if (r->interval_ns) {
        size_t n = sp_scaled_text((__int128)1000000000 * 1000000 / r->interval_ns, 6, t);
        r->p->events.v[r->event].frequency_hz = sp_profile_str(r->p, t, n);
        ok = ok && r->p->events.v[r->event].frequency_hz != SP_STR_FAIL;
    }
    if (!ok || !sp_hang_image_facts(r->p, &r->images, "x_sample"))
        return sp_nomem(r->d);
    if (r->stamp)
        return SPAA_OK;
    st = sp_input_failed(in);
    if (!st)
        sp_emit(r->d, SP_E011, SP_AT_NOTHING, "no line says `Analysis of sampling`");
    return st ? st : SPAA_ERR_INPUT;
}

spaa_status sp_sample_report_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                  struct sp_profile *p)
{
    struct sample_reader r = {.opts = opts, .d = d, .p = p};
    struct sp_buf *bufs[] = {&r.fields, &r.tail, &r.buf, &r.list};
    const unsigned char *bytes;
    size_t n;
    r.frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_init(bufs[i], 0);
    spaa_status st = sp_input_whole(in, &bytes, &n);
    r.start = (const char *)bytes;
    r.end = r.start + n;
    sp_arena_init(&r.joined, 0);
    if (!st)
        r.tab = sp_hang_tab_width(r.start, r.end);
    const char *advice,
        *mail = st ? NULL : sp_hang_mail(r.start, n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES, &advice);
    if (mail) {
        sp_emit_hint(d, SP_E500, SP_AT(0), advice, "%s", mail);
        st = SPAA_ERR_INPUT;
    }
    if (!st && !sample_prepare(&r))
        st = sp_nomem(d);
    if (!st)
        st = sample_read_lines(&r);
    if (!st)
        st = sample_finish(&r, in);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_free(bufs[i]);
    sp_hang_images_free(&r.images);
    sp_hang_tree_free(&r.tree);
    sp_hang_texts_free(&r.texts);
    sp_vec_free(&r.rows);
    sp_vec_free(&r.blocks);
    sp_vec_free(&r.process_images);
    sp_vec_free(&r.meanings);
    sp_arena_free(&r.joined);
    return st;
}
