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
 *     IO Size Histogram:  …                                        and what else the versions append
 *
 * Quirks: `*` marks kernel frames and takes the column before the count, so only the column of the first
 * digit tells the depth. Counts are padded, or not. Keys come in any order, and unknown ones are kept. Which
 * of several binaries a frame's image is stands below the frames. A report that `Timeline format` names puts
 * siblings in order of time, with the range of samples behind each.
 *
 * What a sample was doing is the state behind the frame where it ended, none meaning that it waited; see
 * sp_sd_state. Facts of threads go to their records, facts of processes to `x_spindump_process` records, the
 * distinct lines of images to `x_spindump_image` records, which the processes name by number.
 */
#include "formats/spindump/spindump.h"

#include "base/num.h"

#include <string.h>

#define ADVICE "decode it on a Mac: `spindump -i FILE -stdout > report.txt` (no root needed)"

/* "341  text", "*341  text": a row of a tree. */
static bool split_row(struct sp_span line, struct sp_hang_row *row, bool *kernel, struct sp_span *body)
{
    const char *end = line.p + line.n, *p = line.p;
    while (p < end && *p == ' ')
        p++;
    *kernel = p < end && *p == '*';
    p += *kernel;
    row->column = (uint32_t)(p - line.p);
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
    *body = (struct sp_span){p, (size_t)(end - p)};
    return p < end;
}

static inline uint32_t row_number(const struct sp_sd_reader *r)
{
    return r->line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->line;
}

static bool add_row(struct sp_sd_reader *r, struct sp_hang_row *row, bool kernel, struct sp_span body)
{
    sp_sd_cut_range(&body, &row->from, &row->to);
    row->frame = sp_hang_text(&r->frames.texts, body, kernel);
    row->line = row_number(r);
    return row->frame != SP_NONE && sp_vec_push(&r->rows, *row);
}

static bool annotation(struct sp_span s)
{
    return s.n > 2 && *s.p == '<' && s.p[s.n - 1] == '>' && !sp_sd_truncated(s);
}

static spaa_status begin_process(struct sp_sd_reader *r, struct sp_span rest, bool powerstats)
{
    spaa_status st = sp_sd_end_process(r);
    if (!st && !sp_sd_begin_process(r, rest, powerstats))
        st = sp_nomem(r->d);
    return st;
}

/* Lines that begin something, in any zone before the tail. *taken: it was one. */
static spaa_status section(struct sp_sd_reader *r, struct sp_span line, struct sp_span text, bool *taken)
{
    *taken = true;
    if (text.p == line.p) {
        if (sp_hang_starts(line, "Process:"))
            return begin_process(r, sp_hang_after(line, 8), false);
        if (sp_hang_starts(line, "Powerstats for:"))
            return begin_process(r, sp_hang_after(line, 15), true);
        if (sp_sd_tail_begins(line)) {
            spaa_status st = sp_sd_end_process(r);
            r->zone = SP_SD_TAIL;
            return !st && !sp_sd_tail_line(r, line) ? sp_nomem(r->d) : st;
        }
    }
    if (sp_hang_starts(text, "Heaviest stack for")) {
        r->before_heaviest = r->zone;
        r->zone = SP_SD_HEAVIEST;
        sp_buf_clear(&r->heaviest);
        sp_hang_item(&r->heaviest, text);
        return SPAA_OK;
    }
    if (r->in_process && sp_hang_starts(text, "Binary Images")) {
        r->zone = SP_SD_IMAGES;
        return SPAA_OK;
    }
    struct sp_sd_thread t;
    if (r->in_process && sp_hang_starts(text, "Thread ") && sp_sd_parse_thread(text, &t))
        return sp_sd_begin_thread(r, &t) ? SPAA_OK : sp_nomem(r->d);
    *taken = false;
    return SPAA_OK;
}

/* The flat lists of heaviest stacks are kept, not counted. */
static bool heaviest_line(struct sp_sd_reader *r, struct sp_span line)
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

static bool image_line(struct sp_sd_reader *r, struct sp_span line, struct sp_span text)
{
    bool ok;
    uint32_t i = sp_hang_image(&r->images, text, r->stamp, &ok);
    if (!ok)
        return false;
    if (i == SP_NONE) {
        sp_sd_not_understood(r, line, &r->not_understood, "no binary image");
        return true;
    }
    return sp_vec_push(&r->process_images, i);
}

/* A line below a thread's header that is no row. */
static bool odd_thread_line(struct sp_sd_reader *r, struct sp_span line, struct sp_span text)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    if (annotation(text))
        return sp_vec_push(&r->notes, text);
    sp_emit(r->d, SP_L510, sp_sd_here(r, line.p), "\"%.*s\"", n, line.p);
    sp_hang_item(&r->not_understood, line);
    /* Where a thread's header would stand, what follows is not the thread's before. */
    return !r->after_blank || sp_sd_begin_thread(r, NULL);
}

/* Rows in a process; *taken false: it is none. */
static spaa_status row_line(struct sp_sd_reader *r, struct sp_span line, bool *taken)
{
    struct sp_hang_row row;
    struct sp_span body;
    bool kernel;
    *taken = split_row(line, &row, &kernel, &body);
    if (!*taken)
        return SPAA_OK;
    if (annotation(body)) {
        sp_hang_item(&r->annotations, sp_hang_trim(line));
        return r->annotations.failed ? sp_nomem(r->d) : SPAA_OK;
    }
    if (r->zone == SP_SD_PROCESS) {
        if (!r->powerstats)
            sp_emit(r->d, SP_L511, sp_sd_here(r, line.p), "they are counted for the process alone");
        if (!sp_sd_begin_thread(r, NULL))
            return sp_nomem(r->d);
    }
    return add_row(r, &row, kernel, body) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status zone_line(struct sp_sd_reader *r, struct sp_span line, struct sp_span text)
{
    struct sp_span key, value;
    bool ok = true;
    switch (r->zone) {
    case SP_SD_HEADER:
        ok = sp_sd_header_line(r, line);
        break;
    case SP_SD_HEAVIEST:
        ok = heaviest_line(r, line);
        break;
    case SP_SD_PROCESS:
        if (annotation(text))
            sp_hang_item(&r->annotations, text);
        else
            sp_sd_process_line(r, line);
        break;
    case SP_SD_THREAD:
    case SP_SD_IMAGES:
        if (text.p == line.p && sp_sd_key_value(line, &key, &value)) {
            /* A process whose first line is damaged. */
            spaa_status st = begin_process(r, (struct sp_span){line.p, 0}, false);
            if (!st)
                sp_sd_not_understood(r, line, &r->not_understood, "a field without a process");
            return st;
        }
        ok = r->zone == SP_SD_THREAD ? odd_thread_line(r, line, text) : image_line(r, line, text);
        break;
    case SP_SD_TAIL:
        ok = sp_sd_tail_line(r, line);
        break;
    }
    return ok ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status one_line(struct sp_sd_reader *r, struct sp_span line)
{
    bool taken = false;
    spaa_status st = SPAA_OK;
    if (r->zone == SP_SD_THREAD || r->zone == SP_SD_PROCESS) {
        st = row_line(r, line, &taken);
        if (taken || st) {
            r->after_blank = false;
            return st;
        }
    }
    struct sp_span text = sp_hang_trim(line);
    if (r->zone == SP_SD_IMAGES && text.p > line.p && text.n && (*text.p == '0' || *text.p == '*'))
        return image_line(r, line, text) ? SPAA_OK : sp_nomem(r->d);
    if (r->zone == SP_SD_TAIL)
        return zone_line(r, line, text);
    if (text.n)
        st = section(r, line, text, &taken);
    if (!st && !taken && (text.n || r->zone == SP_SD_HEAVIEST))
        st = zone_line(r, text.n ? line : text, text);
    r->after_blank = !text.n;
    return st;
}

static spaa_status read_lines(struct sp_sd_reader *r, struct sp_input *in)
{
    const char *p = r->start;
    uint64_t noted = 0;
    for (r->line = 1; p < r->end; r->line++) {
        const char *nl = memchr(p, '\n', (size_t)(r->end - p)), *eol = nl ? nl : r->end;
        const char *next = nl ? nl + 1 : r->end;
        while (eol > p && (eol[-1] == '\r' || sp_hang_blank(eol[-1])))
            eol--;
        spaa_status st = one_line(r, (struct sp_span){p, (size_t)(eol - p)});
        if (st)
            return st;
        if (r->opts->strict && sp_diags_count(r->d, SP_LOSS))
            return SPAA_ERR_INPUT;
        p = next;
        if ((uint64_t)(p - r->start) - noted > 1 << 20)
            sp_input_note(in, noted = (uint64_t)(p - r->start));
    }
    return SPAA_OK;
}

static spaa_status finish(struct sp_sd_reader *r, struct sp_input *in)
{
    spaa_status st = SPAA_OK;
    if (r->zone == SP_SD_HEAVIEST && !heaviest_line(r, (struct sp_span){r->end, 0}))
        return sp_nomem(r->d);
    st = sp_sd_end_process(r);
    if (!st)
        st = sp_sd_finish_header(r);
    if (st)
        return st;
    if (!sp_sd_finish_tail(r) || !sp_hang_image_records(r->p, &r->images, "x_spindump_image") ||
        !sp_hang_keep_segments(&r->tree, "x_spindump"))
        return sp_nomem(r->d);
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

/* What must be decoded by spindump itself. */
static bool refused(struct sp_sd_reader *r)
{
    size_t n = (size_t)(r->end - r->start);
    const char *what = NULL;
    n = n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES;
    if (sp_sd_is_tailspin((const unsigned char *)r->start, n))
        what = "this is a binary tailspin";
    else if (memmem(r->start, n, "Use spindump -i to generate textual report", 42) &&
             !memmem(r->start, n, "\nProcess:", 9))
        what = "the report was saved in binary form";
    if (what)
        sp_emit_hint(r->d, SP_E500, SP_AT(0), ADVICE, "%s", what);
    return what;
}

static void release(struct sp_sd_reader *r)
{
    struct sp_buf *bufs[] = {&r->fields,      &r->banner,         &r->heaviest, &r->keys,    &r->extra,
                             &r->annotations, &r->not_understood, &r->tail,     &r->threads, &r->buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_free(bufs[i]);
    sp_sd_frames_free(&r->frames);
    sp_hang_images_free(&r->images);
    sp_hang_tree_free(&r->tree);
    sp_vec_free(&r->process_images);
    sp_vec_free(&r->blocks);
    sp_vec_free(&r->rows);
    sp_vec_free(&r->notes);
    sp_vec_free(&r->histogram);
}

spaa_status sp_sd_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p)
{
    struct sp_sd_reader r = {.opts = opts, .d = d, .p = p};
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
    if (!st && refused(&r))
        st = SPAA_ERR_INPUT;
    if (!st && !sp_sd_prepare(&r))
        st = sp_nomem(d);
    if (!st)
        st = read_lines(&r, in);
    if (!st)
        st = finish(&r, in);
    release(&r);
    return st;
}

const struct spaa_format spaa_format_spindump = {
    .name = "spindump",
    .title = "macOS spindump report",
    .extensions = "spindump spindump.txt ips hang",
    .media_type = "text/plain",
    .comes_back = "the same bytes with --lossless; else a report that reads back to the same profile",
    .caps = SP_CAN_READ | SP_CAN_WRITE,
    .probe = sp_sd_probe,
    .read = sp_sd_read,
    .write = sp_sd_write,
};
