/*
 * From the rows of a graph to stacks: their frames, and what the innermost function tells of what was done.
 */
#include "base/num.h"
#include "formats/sample/report.h"
#include "model/leaf_state.h"

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

bool sp_sample_prepare(struct sample_reader *r)
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

spaa_status sp_sample_block_stacks(struct sample_reader *r, const struct sample_block *b)
{
    int64_t roots, untold = r->tree.untold;
    struct sp_hang_row *rows = r->rows.v + b->rows.first;
    if (!b->rows.n)
        return SPAA_OK;
    if (!sample_new_context(r, &b->thread))
        return sp_nomem(r->d);
    for (size_t i = 0; i < b->rows.n; i++) {
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
    if (b->rows.cut || b->rows.torn)
        sample_doubt_end(rows, b->rows.n);
    r->tree.whole = b->known ? b->thread.samples : -1;
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->rows.n, &roots);
    if (!st && b->rows.cut)
        sp_hang_say_end(&r->tree, rows[b->rows.n - 1].line, roots, untold);
    if (!st && b->known && roots != b->thread.samples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->rows.line, SP_NOWHERE),
                "Thread_%.*s has %lld samples, its roots %lld", (int)b->thread.id.n, b->thread.id.p,
                (long long)b->thread.samples, (long long)roots);
    return st;
}
