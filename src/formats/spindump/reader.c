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
#include "formats/common/hang/mail.h"
#include "formats/spindump/report.h"

#include <string.h>

#define ADVICE "decode it on a Mac: `spindump -i FILE -stdout > report.txt` (no root needed)"

/* ---- lines ---- */

/* The line below was read with this one. */
static void spindump_say_joined(struct spindump_reader *r, struct sp_span line)
{
    r->ended = r->line + 1;
    sp_emit(r->d, SP_W523, SP_AT_LINE(r->line, SP_NOWHERE), "\"%.*s\"", (int)(line.n > 60 ? 60 : line.n),
            line.p);
}

static spaa_status spindump_process_begins(struct spindump_reader *r, struct sp_span line)
{
    bool joined, power = sp_hang_starts(line, "Powerstats for:");
    if (!sp_spindump_whole_process(r, &line, &joined))
        return sp_nomem(r->d);
    if (joined)
        spindump_say_joined(r, line);
    return sp_spindump_begin_process(r, sp_hang_after(line, power ? 15 : 8), power);
}

/* Lines that begin something, in any zone before the tail. *taken: it was one. */
static spaa_status spindump_section(struct spindump_reader *r, struct sp_span line, struct sp_span text,
                                    bool *taken)
{
    *taken = true;
    if (text.p == line.p) {
        if (sp_hang_starts(line, "Process:") || sp_hang_starts(line, "Powerstats for:"))
            return spindump_process_begins(r, line);
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
        return !image.n || sp_spindump_image_line(r, image) ? SPAA_OK : sp_nomem(r->d);
    }
    return sp_spindump_thread_line(r, line, text, taken);
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
    bool joined;
    if (!sp_spindump_whole_annotation(r, &text, &joined))
        return false;
    if (joined)
        spindump_say_joined(r, text);
    if (sp_spindump_is_annotation(text))
        return sp_vec_push(&r->notes, text);
    sp_emit(r->d, SP_L510, sp_spindump_here(r, line.p), "\"%.*s\"", n, line.p);
    sp_hang_item(&r->not_understood, line);
    /* Where a thread's header would stand, what follows is not the thread's before. */
    return !r->after_blank || sp_spindump_begin_thread(r, NULL);
}

/* The first line that is left of a process: its own, which is damaged, or a field below that. */
static void spindump_field_alone(struct spindump_reader *r, struct sp_span line)
{
    sp_emit(r->d, SP_L525, sp_spindump_here(r, line.p), "\"%.*s\"", (int)(line.n > 80 ? 80 : line.n), line.p);
    if (sp_spindump_is_field(line))
        sp_spindump_process_line(r, line);
    else
        sp_hang_item(&r->not_understood, line);
}

static spaa_status spindump_zone_line(struct spindump_reader *r, struct sp_span line, struct sp_span text)
{
    struct sp_span key, value;
    bool ok = true;
    switch (r->zone) {
    case SPINDUMP_HEADER:
        sp_spindump_note_group(r, line);
        ok = sp_spindump_header_line(r, line);
        break;
    case SPINDUMP_HEAVIEST:
        ok = spindump_heaviest_line(r, line);
        break;
    case SPINDUMP_PROCESS:
        if (sp_spindump_is_annotation(text))
            sp_hang_item(&r->annotations, text);
        else
            sp_spindump_process_line(r, line);
        break;
    case SPINDUMP_THREAD:
    case SPINDUMP_IMAGES:
        if (text.p == line.p && sp_spindump_key_value(line, &key, &value) && sp_spindump_is_key(line)) {
            /* A process whose first line is damaged. */
            spaa_status st = sp_spindump_begin_process(r, (struct sp_span){line.p, 0}, false);
            if (!st)
                spindump_field_alone(r, line);
            return st;
        }
        ok = r->zone == SPINDUMP_THREAD ? spindump_odd_thread_line(r, line, text)
                                        : sp_spindump_image_line(r, text);
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
    bool taken = r->ended && r->line == r->ended;
    spaa_status st = SPAA_OK;
    if (!taken && r->zone == SPINDUMP_IMAGES)
        st = sp_spindump_image_end(r, line, &taken);
    if (st || taken)
        return st;
    if (r->zone == SPINDUMP_THREAD || r->zone == SPINDUMP_PROCESS) {
        st = sp_spindump_row_end(r, line, &taken);
        if (!st && !taken)
            st = sp_spindump_thread_end(r, line, &taken);
        if (!st && !taken)
            st = sp_spindump_row(r, line, &taken);
        if (taken || st) {
            r->after_blank = false;
            return st;
        }
    }
    struct sp_span text = sp_hang_trim(line);
    st = sp_spindump_row_without_process(r, line);
    if (!st && r->zone == SPINDUMP_PROCESS && sp_spindump_is_row(line))
        return sp_spindump_row(r, line, &taken);
    if (st)
        return st;
    if (r->zone == SPINDUMP_IMAGES && text.p > line.p && text.n && (*text.p == '0' || *text.p == '*'))
        return sp_spindump_image_line(r, text) ? SPAA_OK : sp_nomem(r->d);
    if (r->zone == SPINDUMP_TAIL)
        return spindump_zone_line(r, line, text);
    if (text.n)
        st = spindump_section(r, line, text, &taken);
    if (!st && !taken && (text.n || r->zone == SPINDUMP_HEAVIEST))
        st = spindump_zone_line(r, text.n ? line : text, text);
    r->after_blank = !text.n;
    return st;
}

/* What was read before, in the same bytes. */
static bool spindump_is_again(struct spindump_reader *r, struct sp_span line)
{
    bool begins, again = sp_hang_repeats_skip(&r->repeats, line.p, &begins);
    if (begins)
        sp_emit(r->d, SP_W528, sp_spindump_here(r, line.p), "\"%.*s\"", (int)(line.n > 80 ? 80 : line.n),
                line.p);
    return again;
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
        if (!nl && eol == p) { /* the text is cut within the blanks before a row: no blank line */
            if (r->zone == SPINDUMP_IMAGES)
                sp_hang_say_cut_indent(r->start, p, r->line, r->d);
            break;
        }
        struct sp_span line = {p, (size_t)(eol - p)};
        bool skip = sp_hang_fences_skip(&fences, line) || spindump_is_again(r, line);
        if (!skip && spindump_is_second(r, line))
            break;
        spaa_status st = skip ? SPAA_OK : spindump_read_line(r, line);
        if (st)
            return st;
        if (!nl && !skip && r->zone == SPINDUMP_IMAGES)
            sp_hang_say_cut_image(&r->image, r->d);
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

/* At the end of a line: rows that are cut inside are seen as such (stacks.c). */
static void spindump_say_end(const struct spindump_reader *r)
{
    const char *before = NULL;
    if (r->in_process && r->zone == SPINDUMP_PROCESS && !r->blocks.n)
        before = "any thread of its last process";
    else if (r->in_process && r->zone == SPINDUMP_THREAD && !r->after_blank &&
             r->blocks.v[r->blocks.n - 1].rows.first == r->rows.n)
        before = "any row of its last thread";
    if (before)
        sp_emit(r->d, SP_L520, SP_AT_LINE(r->line, SP_NOWHERE), "the text ends here, before %s", before);
}

static spaa_status spindump_finish(struct spindump_reader *r, struct sp_input *in)
{
    spaa_status st = SPAA_OK;
    if (r->zone == SPINDUMP_HEAVIEST && !spindump_heaviest_line(r, (struct sp_span){r->end, 0}))
        return sp_nomem(r->d);
    st = sp_spindump_settle_row(r);
    /* A blank line ends the rows of a thread. A part may be pasted without it, or be cut: of its last rows,
     * what states nothing stays in doubt. */
    if (!st && r->in_process && r->zone == SPINDUMP_THREAD && !r->after_blank)
        r->blocks.v[r->blocks.n - 1].rows.cut = true;
    if (!st)
        spindump_say_end(r);
    if (!st)
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
    const char *advice = ADVICE;
    if (!what)
        what = sp_hang_mail(r->start, n, &advice);
    if (what)
        sp_emit_hint(r->d, SP_E500, SP_AT(0), advice, "%s", what);
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
    sp_hang_repeats_free(&r->repeats);
    sp_hang_repeats_free(&r->thread_lines);
    sp_arena_free(&r->joined);
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
    sp_arena_init(&r.joined, 0);
    r.frames.p = p;
    r.frames.d = d;
    r.frames.frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    r.frames.images = &r.images;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    r.start = (const char *)bytes;
    r.end = r.start + n;
    r.root_offset = 2;
    r.tab = st ? 0 : sp_hang_tab_width(r.start, r.end);
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
