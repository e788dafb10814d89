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
#include "formats/hang_digits.h"

#include <string.h>

#define ADVICE "decode it on a Mac: `spindump -i FILE -stdout > report.txt` (no root needed)"

static inline const char *skip_spaces(const char *p, const char *end)
{
    for (unsigned n; end - p >= 8; p += n)
        if ((n = sp_hang_leading_spaces(sp_load_le64(p))) < 8)
            return p + n;
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* How the count of the row before looked: most rows have the same. */
struct usual_count {
    uint64_t text, mask; /* its digits and the blanks behind them, of eight bytes */
    unsigned n;
    int64_t value;
};

static bool parse_count(const char *p, struct usual_count *c)
{
    uint64_t v = sp_load_le64(p);
    unsigned n = sp_hang_leading_digits(v);
    if (n - 1 > 5 || p[n] != ' ')
        return false;
    c->value = sp_hang_last_digits(v << (64 - 8 * n), n);
    c->n = n + 1 + (p[n + 1] == ' ');
    c->mask = UINT64_MAX >> (64 - 8 * c->n);
    c->text = v & c->mask;
    return true;
}

/*
 * A row as most are: where its text begins, the same as split_row finds, eight bytes at a time; NULL where
 * that does not do. *c is of the row before.
 */
static inline const char *split_usual_row(const char *p, const char *end, struct sp_hang_row *row,
                                          struct usual_count *c, bool *kernel)
{
    const char *start = p;
    unsigned n = 8;
    while (end - p >= 64 && (n = sp_hang_leading_spaces(sp_load_le64(p))) == 8)
        p += 8;
    if (n == 8)
        return NULL;
    p += n;
    *kernel = *p == '*';
    p += *kernel;
    if (p - start > 1 << 20 || ((sp_load_le64(p) & c->mask) != c->text && !parse_count(p, c)))
        return NULL;
    row->column = (uint32_t)(p - start);
    row->count = c->value;
    row->from = row->to = 0;
    p += c->n;
    if (*p == ' ') {
        n = sp_hang_leading_spaces(sp_load_le64(p));
        if (n == 8)
            return NULL;
        p += n;
    }
    return *p == '\t' ? NULL : p;
}

/* "341  text", "*341  text": a row of a tree. `line` may be all of the input that is left. */
static bool split_row(struct sp_span line, struct sp_hang_row *row, bool *kernel, struct sp_span *body)
{
    const char *end = line.p + line.n, *p = skip_spaces(line.p, end);
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
    row->frame = sp_sd_body(&r->bodies, body, kernel);
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
    struct sp_sd_head h;
    if (r->in_process && sp_hang_starts(text, "Thread ") && sp_sd_thread_head(text, &h))
        return sp_sd_begin_thread(r, &h) ? SPAA_OK : sp_nomem(r->d);
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

/* Where the line ends that begins with this text, known before; NULL: it goes on. */
static inline const char *end_of_usual(const struct sp_sd_reader *r, const char *p, const char *text,
                                       size_t n)
{
    return (size_t)(r->end - p) > n && p[n] == '\n' && memcmp(p, text, n) == 0 ? p + n + 1 : NULL;
}

/* Where a row with another text ends, which is looked up; NULL: the line is not so simple. */
static const char *end_of_row(struct sp_sd_reader *r, struct sp_hang_row *row, bool kernel, const char *text,
                              uint32_t *body)
{
    const char *nl = memchr(text, '\n', (size_t)(r->end - text));
    struct sp_span s = {text, nl ? (size_t)(nl - text) : 0};
    if (!s.n || *s.p == '<' || nl[-1] == '\r' || sp_hang_blank(nl[-1]))
        return NULL;
    if (sp_hang_digit(nl[-1]))
        sp_sd_cut_range(&s, &row->from, &row->to);
    *body = sp_sd_body(&r->bodies, s, kernel);
    return nl + 1;
}

/* The text is used as it comes; what the processor fetches by itself ends with each page. */
static inline void fetch_ahead(const char *p)
{
    enum { AHEAD = 1024, LINE = 64 };
    __builtin_prefetch((const void *)((uintptr_t)p + AHEAD)); /* no pointer: it may be beyond the end */
    __builtin_prefetch((const void *)((uintptr_t)p + AHEAD + LINE));
}

/*
 * Most rows and images are those that followed the one before when it last came: such a line is compared
 * with what is expected, which finds its end as well. *at moves over rows that are so simple, or whose text
 * is looked up. False: no memory.
 */
static bool usual_rows(struct sp_sd_reader *r, const char **at)
{
    struct usual_count count = {.mask = 0, .text = 1}; /* equal to nothing */
    const char *p = *at, *text, *next;
    for (bool kernel; p < r->end; p = next, r->line++) {
        if (!sp_vec_reserve(&r->rows, r->rows.n + 1))
            return false;
        struct sp_hang_row *row = &r->rows.v[r->rows.n];
        fetch_ahead(p);
        if (!(text = split_usual_row(p, r->end, row, &count, &kernel)))
            break;
        uint32_t body = sp_sd_expected_body(&r->bodies);
        const struct sp_sd_body *x = body == SP_NONE ? NULL : &r->bodies.v.v[body];
        if (x && x->next != SP_NONE) /* what the row after this one is compared with */
            __builtin_prefetch(r->bodies.v.v[x->next].p);
        next = x && x->kernel == kernel ? end_of_usual(r, text, x->p, x->n) : NULL;
        if (next)
            r->bodies.last = body;
        else if (!(next = end_of_row(r, row, kernel, text, &body)))
            break;
        if (body == SP_NONE)
            return false;
        row->frame = body;
        row->line = row_number(r);
        r->rows.n++;
        r->after_blank = false;
    }
    *at = p;
    return true;
}

/* Where the image line ends whose text begins here, when it is looked up; NULL: the line is not so simple. */
static const char *end_of_image(struct sp_sd_reader *r, const char *text, uint32_t *image, bool *ok)
{
    const char *nl = *text == '0' || *text == '*' ? memchr(text, '\n', (size_t)(r->end - text)) : NULL;
    if (!nl || nl[-1] == '\r' || sp_hang_blank(nl[-1]))
        return NULL;
    *image = sp_hang_image(&r->images, (struct sp_span){text, (size_t)(nl - text)}, r->stamp, ok);
    return *image == SP_NONE ? NULL : nl + 1;
}

/* The same with images. */
static bool usual_images(struct sp_sd_reader *r, const char **at)
{
    bool ok = true;
    for (const char *p = *at, *next; p < r->end; *at = p = next, r->line++) {
        fetch_ahead(p);
        const char *text = skip_spaces(p, r->end);
        if (text == p || text == r->end)
            break;
        uint32_t image = sp_hang_expected_image(&r->images);
        const struct sp_hang_seen *x = image == SP_NONE ? NULL : &r->images.lines_seen.v[image];
        next = x ? end_of_usual(r, text, x->p, x->n) : NULL;
        if (next)
            sp_hang_take_image(&r->images, image, r->stamp);
        else if (!(next = end_of_image(r, text, &image, &ok)))
            break;
        if (!sp_vec_push(&r->process_images, image))
            return false;
    }
    return ok;
}

static void usual_fields(struct sp_sd_reader *r, const char **at)
{
    for (const char *next; (next = sp_sd_usual_field(r, *at)); r->line++) {
        fetch_ahead(*at);
        r->after_blank = false;
        *at = next;
    }
}

/* The line of a thread, where a blank line ended what was before. False: no memory. */
static bool usual_thread(struct sp_sd_reader *r, const char **at)
{
    struct sp_sd_head h;
    const char *next = r->in_process ? sp_sd_usual_thread(r, *at, &h) : NULL;
    if (!next)
        return true;
    fetch_ahead(*at);
    if (!sp_sd_begin_thread(r, &h))
        return false;
    r->after_blank = false;
    r->line++;
    *at = next;
    return true;
}

/* *at moves over lines that are as usual, if there are any. False: no memory. */
static bool usual_lines(struct sp_sd_reader *r, const char **at)
{
    const char *from;
    bool ok = true;
    if (r->zone != SP_SD_THREAD && r->zone != SP_SD_PROCESS && r->zone != SP_SD_IMAGES)
        return true;
    do {
        for (from = *at; *at < r->end && **at == '\n'; r->line++) {
            r->after_blank = true;
            ++*at;
        }
        if (r->zone != SP_SD_IMAGES && *at > from && !usual_thread(r, at))
            return false;
        if (r->zone == SP_SD_THREAD)
            ok = usual_rows(r, at);
        else if (r->zone == SP_SD_IMAGES)
            ok = usual_images(r, at);
        else
            usual_fields(r, at);
    } while (ok && *at > from && *at < r->end && **at == '\n');
    return ok;
}

static spaa_status read_lines(struct sp_sd_reader *r, struct sp_input *in)
{
    const char *p = r->start;
    uint64_t noted = 0;
    for (r->line = 1; p < r->end; r->line++) {
        if (!usual_lines(r, &p))
            return sp_nomem(r->d);
        if (p == r->end)
            break;
        fetch_ahead(p);
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
    if (!sp_hang_tree_finish(&r->tree) || !sp_sd_finish_tail(r) ||
        !sp_hang_image_records(r->p, &r->images, "x_spindump_image") ||
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
    sp_sd_bodies_free(&r->bodies);
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
                             &r.not_understood, &r.tail,   &r.threads,  &r.buf,  &r.bodies.buf};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        sp_buf_init(bufs[i], 0);
    r.bodies.p = p;
    r.bodies.frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    r.bodies.images = &r.images;
    r.bodies.last = SP_NONE;
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
    if (!st && opts->lossless)
        st = sp_hang_keep_verbatim(p, "spindump", in, bytes, n, d);
    release(&r);
    return st;
}

const struct spaa_format spaa_format_spindump = {
    .name = "spindump",
    .title = "macOS spindump report",
    .extensions = "spindump spindump.txt ips hang",
    .media_type = "text/plain",
    .comes_back = "the same bytes with --lossless; else a report that reads back to the same profile",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_CAN_LOSSLESS,
    .probe = sp_sd_probe,
    .read = sp_sd_read,
    .write = sp_sd_write,
};
