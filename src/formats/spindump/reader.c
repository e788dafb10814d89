/*
 * Reads the text of spindump(8), macOS' hang reporter (`spindump -i FILE.tailspin -stdout`, hang and watchdog
 * reports, `.ips` files):
 *
 *     Date/Time:        2026-02-02 23:22:34.999 -0800              fields of the system
 *     Process:          Safari [412]                               then, for each process, its fields,
 *     Path:             /Applications/Safari.app/…
 *       Thread 0x3fd504    DispatchQueue "com.apple.main-thread"(1)    341 samples (1-341)    priority 31 …
 *       341  start + 7184 (dyld + 36180) [0x19df79d54]             a tree of frames with inclusive counts
 *         258  main + 12 (Safari + 2304) [0x100000900]
 *        *83   ??? (kernel.release.t6041 + 602) [0xfffffe0008d] (blocked by turnstile waiting for …)
 *       Binary Images:
 *     KEY_IO Size Histogram:  …                                        and what else the versions append
 *
 * Quirks: `*` marks kernel frames and takes the column before the count, so only the column of the first
 * digit tells the depth. Counts are padded, or not. Keys come in any order, and unknown ones are kept. Which
 * of several binaries a frame's image is stands below the frames. A report that `Timeline format` names puts
 * siblings in order of time, with the range of samples behind each.
 *
 * What a sample was doing is the state behind the frame where it ended, none meaning that it waited; see
 * sp_spindump_state. Facts of threads, processes and images (their distinct lines) go to the tables of the
 * profile (model/facts.h); what these have no field for, under `x_spindump` beside them.
 */
#include "formats/common/hang/fences.h"
#include "formats/spindump/report.h"

#include <string.h>

#define ADVICE "decode it on a Mac: `spindump -i FILE -stdout > report.txt` (no root needed)"

/* ---- lines ---- */

/* "341  text", "*341  text": a row of a tree. */
static bool spindump_split_row(struct sp_span line, struct sp_hang_row *row, bool *kernel,
                               struct sp_span *frame)
{
    enum { TAB = 8 };
    const char *end = line.p + line.n, *p = line.p;
    uint32_t column = 0;
    for (; p < end && sp_hang_blank(*p) && column < 1 << 20; p++)
        column = *p == '\t' ? (column / TAB + 1) * TAB : column + 1;
    *kernel = p < end && *p == '*';
    p += *kernel;
    row->column = column + *kernel;
    int64_t count = 0;
    const char *digits = p;
    for (; p < end && sp_hang_digit(*p) && p - digits < 18; p++)
        count = count * 10 + (*p - '0');
    if (p == digits || p == end || !sp_hang_blank(*p) || digits - line.p > 1 << 20)
        return false;
    while (p < end && sp_hang_blank(*p))
        p++;
    row->count = count;
    row->from = row->to = 0;
    *frame = (struct sp_span){p, (size_t)(end - p)};
    return p < end;
}

static uint32_t spindump_row_number(const struct spindump_reader *r)
{
    return r->line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->line;
}

/* The range behind a row; one that is cut off, or does not hold the row's samples, is none. */
static void spindump_take_range(struct spindump_reader *r, struct sp_hang_row *row, struct sp_span *frame)
{
    const char *at = frame->p;
    bool whole = sp_spindump_cut_range(frame, &row->from, &row->to);
    bool torn = whole ? row->count > row->to - row->from + 1 : sp_spindump_cut_torn_range(frame);
    if (torn)
        row->from = row->to = 0;
    r->ranged += row->from > 0;
    r->unranged += !row->from;
    if (torn)
        sp_emit(r->d, SP_L520, sp_spindump_here(r, at), "in the range of samples: \"%.*s\"",
                (int)(frame->n > 60 ? 60 : frame->n), frame->p);
}

/* What stood in the line before as well, behind another row: it was copied there. */
static bool spindump_is_copy(struct spindump_reader *r, const struct sp_hang_row *row)
{
    const struct sp_hang_row *last = r->rows.n ? &r->rows.v[r->rows.n - 1] : NULL;
    bool after = last && r->split_line && r->line == r->split_line + 1;
    return after && last->column == row->column && last->count == row->count && last->frame == row->frame;
}

static bool spindump_add_row(struct spindump_reader *r, struct sp_hang_row *row, bool kernel,
                             struct sp_span frame)
{
    bool addressed = memmem(frame.p, frame.n, " [0x", 4);
    spindump_take_range(r, row, &frame);
    r->addressed += addressed;
    r->bare += !addressed && !memchr("<?", *frame.p, 2);
    row->frame = sp_hang_text(&r->frames.texts, frame, kernel);
    row->line = spindump_row_number(r);
    return row->frame != SP_NONE && (spindump_is_copy(r, row) || sp_vec_push(&r->rows, *row));
}

static bool spindump_is_annotation(struct sp_span s)
{
    return s.n > 2 && *s.p == '<' && s.p[s.n - 1] == '>' && !sp_spindump_truncated(s);
}

/* A thread that the text begins with: a part of a report. */
static bool spindump_is_pasted(struct spindump_reader *r, const struct sp_spindump_thread *t)
{
    return r->zone == SPINDUMP_HEADER && !r->processes && !r->fields.len && t->nsamples >= 0;
}

static bool spindump_image_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    bool ok;
    uint32_t i = sp_hang_image(&r->images, text, r->stamp, &ok);
    if (!ok)
        return false;
    if (i == SP_NONE) {
        sp_spindump_not_understood(r, line, &r->not_understood, "no binary image");
        return true;
    }
    return sp_vec_push(&r->process_images, i);
}

/* Lines that begin something, in any zone before the tail. *taken: it was one. */
static spaa_status spindump_section(struct spindump_reader *r, struct sp_span line, struct sp_span text,
                                    bool *taken)
{
    *taken = true;
    if (text.p == line.p) {
        if (sp_hang_starts(line, "Process:"))
            return sp_spindump_begin_process(r, sp_hang_after(line, 8), false);
        if (sp_hang_starts(line, "Powerstats for:"))
            return sp_spindump_begin_process(r, sp_hang_after(line, 15), true);
        if (sp_spindump_tail_begins(line)) {
            spaa_status st = sp_spindump_end_process(r);
            r->zone = SPINDUMP_TAIL;
            return !st && !sp_spindump_tail_line(r, line) ? sp_nomem(r->d) : st;
        }
    }
    if (sp_hang_starts(text, "Heaviest stack for")) {
        r->before_heaviest = r->zone;
        r->zone = SPINDUMP_HEAVIEST;
        sp_buf_clear(&r->heaviest);
        sp_hang_item(&r->heaviest, text);
        return SPAA_OK;
    }
    if (r->in_process && sp_hang_starts(text, "Binary Images")) {
        struct sp_span image = sp_hang_trim(sp_hang_after(text, sizeof "Binary Images:" - 1));
        r->zone = SPINDUMP_IMAGES; /* perhaps with the first one in its line */
        return !image.n || spindump_image_line(r, line, image) ? SPAA_OK : sp_nomem(r->d);
    }
    struct sp_spindump_thread t;
    if (sp_hang_starts(text, "Thread ") && sp_spindump_parse_thread(text, &t) &&
        (r->in_process || spindump_is_pasted(r, &t))) {
        spaa_status st =
            r->in_process ? SPAA_OK : sp_spindump_begin_process(r, (struct sp_span){line.p, 0}, false);
        return st ? st : sp_spindump_begin_thread(r, &t) ? SPAA_OK : sp_nomem(r->d);
    }
    *taken = false;
    return SPAA_OK;
}

/* The flat lists of heaviest stacks are kept, not counted. */
static bool spindump_heaviest_line(struct spindump_reader *r, struct sp_span line)
{
    if (line.n) {
        sp_hang_item(&r->heaviest, line);
        return !r->heaviest.failed;
    }
    r->zone = r->before_heaviest;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_heaviest\",\"lines\":[");
    sp_buf_add(&r->buf, r->heaviest.data, r->heaviest.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->heaviest.failed;
    sp_buf_clear(&r->heaviest);
    return sp_hang_extension(r->p, &r->buf);
}

/* A line below a thread's header that is no row. */
static bool spindump_odd_thread_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    if (spindump_is_annotation(text))
        return sp_vec_push(&r->notes, text);
    sp_emit(r->d, SP_L510, sp_spindump_here(r, line.p), "\"%.*s\"", n, line.p);
    sp_hang_item(&r->not_understood, line);
    /* Where a thread's header would stand, what follows is not the thread's before. */
    return !r->after_blank || sp_spindump_begin_thread(r, NULL);
}

/* Rows in a process; *taken false: it is none. */
static spaa_status spindump_row_line(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    struct sp_hang_row row;
    struct sp_span frame, rest;
    bool kernel;
    *taken = spindump_split_row(line, &row, &kernel, &frame);
    if (!*taken)
        return SPAA_OK;
    if (spindump_is_annotation(frame)) {
        sp_hang_item(&r->annotations, sp_hang_trim(line));
        return r->annotations.failed ? sp_nomem(r->d) : SPAA_OK;
    }
    if (r->zone == SPINDUMP_PROCESS) {
        if (!r->powerstats)
            sp_emit(r->d, SP_L511, sp_spindump_here(r, line.p), "they are counted for the process alone");
        if (!sp_spindump_begin_thread(r, NULL))
            return sp_nomem(r->d);
    }
    for (const char *second; (second = sp_spindump_second_row(frame)); frame = rest) {
        struct sp_span next = {second, (size_t)(frame.p + frame.n - second)};
        sp_emit(r->d, SP_W521, sp_spindump_here(r, second), "\"%.*s\"", (int)(next.n > 60 ? 60 : next.n),
                next.p);
        frame.n -= next.n;
        r->split_line = r->line;
        if (!spindump_add_row(r, &row, kernel, frame))
            return sp_nomem(r->d);
        if (!spindump_split_row(next, &row, &kernel, &rest))
            return SPAA_OK;
    }
    return spindump_add_row(r, &row, kernel, frame) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status spindump_zone_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    struct sp_span key, value;
    bool ok = true;
    switch (r->zone) {
    case SPINDUMP_HEADER:
        ok = sp_spindump_header_line(r, line);
        break;
    case SPINDUMP_HEAVIEST:
        ok = spindump_heaviest_line(r, line);
        break;
    case SPINDUMP_PROCESS:
        if (spindump_is_annotation(text))
            sp_hang_item(&r->annotations, text);
        else
            sp_spindump_process_line(r, line);
        break;
    case SPINDUMP_THREAD:
    case SPINDUMP_IMAGES:
        if (text.p == line.p && sp_spindump_key_value(line, &key, &value)) {
            /* A process whose first line is damaged. */
            spaa_status st = sp_spindump_begin_process(r, (struct sp_span){line.p, 0}, false);
            if (!st)
                sp_spindump_not_understood(r, line, &r->not_understood, "a field without a process");
            return st;
        }
        ok = r->zone == SPINDUMP_THREAD ? spindump_odd_thread_line(r, line, text)
                                        : spindump_image_line(r, line, text);
        break;
    case SPINDUMP_TAIL:
        ok = sp_spindump_tail_line(r, line);
        break;
    }
    return ok ? SPAA_OK : sp_nomem(r->d);
}

/* The header of another report behind the processes of one. */
static bool spindump_is_second(struct spindump_reader *r, struct sp_span line)
{
    if (!r->processes || !r->begin.p || !sp_hang_starts(line, "Date/Time:"))
        return false;
    sp_emit(r->d, SP_L522, sp_spindump_here(r, line.p), "\"%.*s\"", (int)(line.n > 80 ? 80 : line.n), line.p);
    return true;
}

static spaa_status spindump_read_line(struct spindump_reader *r, struct sp_span line)
{
    bool taken = false;
    spaa_status st = SPAA_OK;
    if (r->zone == SPINDUMP_THREAD || r->zone == SPINDUMP_PROCESS) {
        st = spindump_row_line(r, line, &taken);
        if (taken || st) {
            r->after_blank = false;
            return st;
        }
    }
    struct sp_span text = sp_hang_trim(line);
    if (r->zone == SPINDUMP_IMAGES && text.p > line.p && text.n && (*text.p == '0' || *text.p == '*'))
        return spindump_image_line(r, line, text) ? SPAA_OK : sp_nomem(r->d);
    if (r->zone == SPINDUMP_TAIL)
        return spindump_zone_line(r, line, text);
    if (text.n)
        st = spindump_section(r, line, text, &taken);
    if (!st && !taken && (text.n || r->zone == SPINDUMP_HEAVIEST))
        st = spindump_zone_line(r, text.n ? line : text, text);
    r->after_blank = !text.n;
    return st;
}

static spaa_status spindump_read_lines(struct spindump_reader *r, struct sp_input *in)
{
    const char *p = r->start;
    uint64_t noted = 0;
    struct sp_hang_fences fences = sp_hang_fences_of(r->start, (size_t)(r->end - r->start));
    for (r->line = 1; p < r->end; r->line++) {
        const char *nl = memchr(p, '\n', (size_t)(r->end - p)), *eol = nl ? nl : r->end;
        const char *next = nl ? nl + 1 : r->end;
        while (eol > p && (eol[-1] == '\r' || sp_hang_blank(eol[-1])))
            eol--;
        struct sp_span line = {p, (size_t)(eol - p)};
        bool skip = sp_hang_fences_skip(&fences, line);
        if (!skip && spindump_is_second(r, line))
            break;
        spaa_status st = skip ? SPAA_OK : spindump_read_line(r, line);
        if (st)
            return st;
        if (r->opts->strict && sp_diags_count(r->d, SP_LOSS))
            return SPAA_ERR_INPUT;
        p = next;
        if ((uint64_t)(p - r->start) - noted > 64 << 10)
            st = sp_input_note(in, noted = (uint64_t)(p - r->start));
        if (st)
            return st;
    }
    sp_hang_fences_say(&fences, r->d);
    return SPAA_OK;
}

/* A process or a thread alone, as people paste it. */
static void spindump_say_missing(struct spindump_reader *r)
{
    if (!r->processes || r->fields.len)
        return;
    bool nameless = r->first_nameless, images = r->p->images.n || r->p->process_images.n;
    sp_emit(r->d, SP_I514, SP_AT_NOTHING,
            "no header, so when, how often and on which machine samples were taken is not known%s%s",
            nameless ? "; no line of a process" : "", images ? "" : "; no binary images");
}

static spaa_status spindump_finish(struct spindump_reader *r, struct sp_input *in)
{
    spaa_status st = SPAA_OK;
    if (r->zone == SPINDUMP_HEAVIEST && !spindump_heaviest_line(r, (struct sp_span){r->end, 0}))
        return sp_nomem(r->d);
    st = sp_spindump_end_process(r);
    if (!st)
        st = sp_spindump_finish_header(r);
    if (!st)
        st = sp_spindump_weigh_steps(r);
    if (st)
        return st;
    if (!sp_spindump_finish_tail(r) || !sp_hang_image_facts(r->p, &r->images, "x_spindump") ||
        !sp_hang_keep_segments(&r->tree, "x_spindump"))
        return sp_nomem(r->d);
    spindump_say_missing(r);
    if (r->processes)
        return SPAA_OK;
    st = sp_input_failed(in);
    if (st)
        return st;
    if (memmem(r->start, (size_t)(r->end - r->start), "Spindump binary format", 22))
        sp_emit_hint(r->d, SP_E500, SP_AT_NOTHING, ADVICE,
                     "the report holds its processes in binary form only");
    else
        sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the report has no process");
    return SPAA_ERR_INPUT;
}

bool sp_spindump_is_tailspin(const unsigned char *p, size_t n)
{
    /* Trace files of kdebug: their versions' magic numbers, little-endian. */
    static const unsigned char magic[][4] = {{0x00, 0x03, 0xAA, 0x55},
                                             {0x00, 0x02, 0xAA, 0x55},
                                             {0x01, 0x01, 0xAA, 0x55},
                                             {0x00, 0x10, 0x00, 0x00}};
    for (size_t i = 0; i < 4; i++)
        if (n >= 64 && memcmp(p, magic[i], 4) == 0 && (i < 3 || memchr(p + 4, '\0', 12)))
            return true;
    return false;
}

bool sp_spindump_is_crash(const char *p, size_t n)
{
    bool json = n && *p == '{';
    if (json)
        return memmem(p, n, "\"bug_type\":\"309\"", 17) ||
               (memmem(p, n, "\"faultingThread\"", 16) && memmem(p, n, "\"threads\"", 9));
    return memmem(p, n, "\nException Type:", 16) &&
           (memmem(p, n, "\nCrashed Thread:", 16) || memmem(p, n, "\nTriggered by Thread:", 21));
}

/* What must be decoded by spindump itself, and what is no profile. */
static bool spindump_refused(struct spindump_reader *r)
{
    size_t n = (size_t)(r->end - r->start);
    const char *what = NULL;
    n = n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES;
    if (sp_spindump_is_crash(r->start, n)) {
        sp_emit_hint(
            r->d, SP_E011, SP_AT(0),
            "what a program does before it hangs or while it is slow: `sample PID` or `sudo spindump PID`",
            "this is a crash report: the stack of each thread, once, and no samples");
        return true;
    }
    if (sp_spindump_is_tailspin((const unsigned char *)r->start, n))
        what = "this is a binary tailspin";
    else if (memmem(r->start, n, "Use spindump -i to generate textual report", 42) &&
             !memmem(r->start, n, "\nProcess:", 9))
        what = "the report was saved in binary form";
    if (what)
        sp_emit_hint(r->d, SP_E500, SP_AT(0), ADVICE, "%s", what);
    return what;
}

static void spindump_release(struct spindump_reader *r)
{
    struct sp_buf *bufs[] = {&r->fields,      &r->banner,         &r->heaviest, &r->keys,    &r->extra,
                             &r->annotations, &r->not_understood, &r->tail,     &r->threads, &r->buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_free(bufs[i]);
    sp_spindump_frames_free(&r->frames);
    sp_hang_images_free(&r->images);
    sp_hang_tree_free(&r->tree);
    sp_vec_free(&r->process_images);
    sp_vec_free(&r->blocks);
    sp_vec_free(&r->rows);
    sp_vec_free(&r->notes);
    sp_vec_free(&r->histogram);
    sp_vec_free(&r->served);
    sp_vec_free(&r->twins);
    sp_map_free(&r->by_thread);
    sp_map_free(&r->by_pid);
    sp_vec_free(&r->named);
    sp_map_free(&r->by_instance);
}

spaa_status sp_spindump_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_profile *p)
{
    struct spindump_reader r = {.opts = opts, .d = d, .p = p};
    const unsigned char *bytes;
    size_t n;
    struct sp_buf *bufs[] = {&r.fields,         &r.banner, &r.heaviest, &r.keys, &r.extra,     &r.annotations,
                             &r.not_understood, &r.tail,   &r.threads,  &r.buf,  &r.frames.buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_init(bufs[i], 0);
    r.frames.p = p;
    r.frames.frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    r.frames.images = &r.images;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    r.start = (const char *)bytes;
    r.end = r.start + n;
    if (!st && spindump_refused(&r))
        st = SPAA_ERR_INPUT;
    if (!st && (!sp_spindump_prepare(&r) || !sp_spindump_count_processes(&r)))
        st = sp_nomem(d);
    if (!st)
        st = spindump_read_lines(&r, in);
    if (!st)
        st = spindump_finish(&r, in);
    spindump_release(&r);
    return st;
}
