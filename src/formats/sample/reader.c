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

#include <string.h>

/* "Analysis of sampling NAME (pid N) every M millisecond(s)" */
static spaa_status sample_begin_analysis(struct sample_reader *r, struct sp_span line)
{
    spaa_status st = sp_sample_end_analysis(r);
    struct sp_span s = sp_hang_after(line, strlen("Analysis of sampling "));
    int64_t v;
    r->open = true;
    r->zone = FIELDS;
    r->after_blank = false;
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
    if (!sp_sample_settle_image(r))
        return false;
    r->image = (struct sp_hang_image_line){text, SP_AT_LINE(r->line, SP_NOWHERE)};
    return true;
}

/* The first line of an analysis is damaged, so that all of it stands in the tail of the one before. */
static spaa_status sample_begin_nameless(struct sample_reader *r, struct sp_span line)
{
    static const char title[] = "Analysis of sampling ?";
    spaa_status st = sample_begin_analysis(r, (struct sp_span){title, sizeof title - 1});
    sp_emit(r->d, SP_L525, SP_AT_LINE(r->line, (uint64_t)(line.p - r->start)),
            "a call graph whose `Analysis of sampling` is not there");
    r->zone = GRAPH;
    return st;
}

/* In the tail: what is no part of it. */
static void sample_say_stray(struct sample_reader *r, struct sp_span line, bool last)
{
    static const char begins[] = "Analysis of sampling";
    struct sp_where at = SP_AT_LINE(r->line, (uint64_t)(line.p - r->start));
    if (last && line.n && line.n < sizeof begins && memcmp(line.p, begins, line.n) == 0)
        sp_emit(r->d, SP_L301, at, "in the first line of another analysis: \"%.*s\"", (int)line.n, line.p);
    else if (sp_sample_is_thread_row(line))
        sp_emit(r->d, SP_L302, at, "a thread outside of all call graphs: \"%.*s\"",
                (int)(line.n > 80 ? 80 : line.n), line.p);
}

/* What stands behind the graph; a row of the graph, or its end, may stand behind a blank line, too. */
static bool sample_is_heading(struct sp_span line)
{
    char c = line.n ? (char)(*line.p | 0x20) : 0;
    return c >= 'a' && c <= 'z' && line.p[line.n - 1] != ']' && !memmem(line.p, line.n, "  (in ", 6);
}

static bool sample_tail_line(struct sample_reader *r, struct sp_span line, struct sp_span text)
{
    if (text.n || r->tail.len)
        sp_hang_item(&r->tail, line);
    if (sp_hang_starts(line, "Binary Images:"))
        r->zone = IMAGES;
    return !r->tail.failed;
}

static spaa_status sample_read_line(struct sample_reader *r, struct sp_span line)
{
    struct sp_span text = sp_hang_trim(line);
    bool ok = true;
    if (sp_hang_starts(line, "Analysis of sampling "))
        return sample_begin_analysis(r, line);
    if ((r->zone == TAIL || r->zone == IMAGES || (r->zone == GRAPH && r->after_blank)) &&
        sp_hang_starts(line, "Call graph:"))
        return sample_begin_nameless(r, line);
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
        if (text.n && (!r->after_blank || !sample_is_heading(line))) {
            ok = sp_sample_graph_line(r, line);
            r->after_blank = false;
            break;
        }
        r->after_blank = true;
        if (!text.n)
            break;
        r->zone = TAIL;
        ok = sample_tail_line(r, line, text);
        break;
    case IMAGES:
        if (text.n) {
            ok = sample_image_line(r, line, text);
            break;
        }
        r->zone = TAIL;
        ok = sp_sample_settle_image(r);
        sp_hang_item(&r->tail, line);
        break;
    case TAIL:
        ok = sample_tail_line(r, line, text);
        break;
    }
    return ok && !r->tail.failed ? SPAA_OK : sp_nomem(r->d);
}

/* Before all: which analyses stand there again. */
static bool sample_find_repeats(struct sample_reader *r)
{
    const char *first = NULL, *next;
    bool again, ok = true;
    for (const char *p = r->start; ok && p < r->end; p = next) {
        const char *nl = memchr(p, '\n', (size_t)(r->end - p));
        bool begins = sp_hang_starts((struct sp_span){p, (size_t)(r->end - p)}, "Analysis of sampling ");
        next = nl ? nl + 1 : r->end;
        if (begins && first)
            ok = sp_hang_repeats_add(&r->repeats, first, p, 0, &again);
        first = begins ? p : first;
    }
    return ok && (!first || sp_hang_repeats_add(&r->repeats, first, r->end, 0, &again));
}

static bool sample_is_again(struct sample_reader *r, struct sp_span line)
{
    bool begins, again = sp_hang_repeats_skip(&r->repeats, line.p, &begins);
    if (begins)
        sp_emit(r->d, SP_W528, SP_AT_LINE(r->line, (uint64_t)(line.p - r->start)), "\"%.*s\"",
                (int)(line.n > 80 ? 80 : line.n), line.p);
    return again;
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
        if (!nl && eol == p) { /* the text is cut within the blanks before a row: no blank line */
            if (r->zone == IMAGES)
                sp_hang_say_cut_indent(r->start, p, r->line, r->d);
            break;
        }
        struct sp_span line = {p, (size_t)(eol - p)};
        bool skip = sp_hang_fences_skip(&fences, line) || sample_is_again(r, line);
        spaa_status st = skip ? SPAA_OK : sample_read_line(r, line);
        if (st)
            return st;
        if (!skip && r->zone == TAIL)
            sample_say_stray(r, line, !nl);
        if (!nl && !skip && r->zone == IMAGES)
            sp_hang_say_cut_image(&r->image, r->d);
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
    if (r->open && r->zone == GRAPH && !r->after_blank && r->blocks.n) /* a blank line ends the graph */
        r->blocks.v[r->blocks.n - 1].rows.cut = true;
    spaa_status st = sp_sample_end_analysis(r);
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
    if (!st && (!sp_sample_prepare(&r) || !sample_find_repeats(&r)))
        st = sp_nomem(d);
    if (!st)
        st = sample_read_lines(&r);
    if (!st)
        st = sample_finish(&r, in);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_free(bufs[i]);
    sp_hang_images_free(&r.images);
    sp_hang_tree_free(&r.tree);
    sp_hang_repeats_free(&r.repeats);
    sp_hang_texts_free(&r.texts);
    sp_vec_free(&r.rows);
    sp_vec_free(&r.blocks);
    sp_vec_free(&r.process_images);
    sp_vec_free(&r.meanings);
    sp_arena_free(&r.joined);
    return st;
}
