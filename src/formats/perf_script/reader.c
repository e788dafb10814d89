/*
 * Reads the text that `perf script` prints (tools/perf/builtin-script.c of Linux):
 *
 *     parser  7957   838.459762:    1003009 cpu-clock:
 *     	            1418 parse_value+0x48 (/tmp/gen/mix)
 *     	           891f5 start_thread+0x305 (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *     <blank line>
 *
 * Dialects differ in what a sample line names (pid, cpu, time, period, event: each may be missing), in
 * frames on the sample line itself (recordings without callchains), and in source lines under frames.
 *
 * What the text does not say and how it is taken: a single number is the tid; such a thread's record
 * has its tid as pid and `x_pid_unknown`, its contexts have no pid, and where no pid was printed at all
 * the profile is not grouped by pid. Addresses are kept as printed. Without an event name the event is
 * the only one of the header, else "unknown". Tracepoint text is kept on raw samples (`x_perf_script`).
 * Where a period is printed it is the primary metric; tracepoints count; otherwise samples.
 * The header's `x_perf_script.comments` holds the `#` lines; that key also tells writers that names which
 * have a linkage name were printed as that.
 *
 * Lines that are none of this are reported and cost only themselves.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"
#include "formats/perf_script/perf_script.h"
#include "formats/perf_script/write.h"
#include "model/samples.h"
#include "json/json.h"

#include <string.h>

#define PEEK_BYTES ((size_t)1 << 20)

struct reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    struct sp_ps_stacks stacks;
    struct sp_ps_comments comments;
    struct sp_ps_counts counts;
    uint64_t skipped; /* lines that were not understood */
    uint64_t side_band;
    uint64_t line;        /* of the next byte */
    uint64_t view_offset; /* of the view's first byte in the input */
    const char *view;
    bool final;   /* the view reaches the end of the input */
    bool trimmed; /* frames stand at the margin */
    bool sparse;  /* samples have no time, and no event that tells their lines */
    struct sp_ps_columns columns;
};

/* How sample lines are told. */
static unsigned perf_script_how(const struct reader *r)
{
    return r->columns.how | (r->counts.any_time ? 0u : (unsigned)SP_PS_TIMELESS);
}

static uint64_t perf_script_offset_of(const struct reader *r, const char *p)
{
    return r->view_offset + (uint64_t)(p - r->view);
}

/* Counts a sample whose frames are `text`. */
static spaa_status perf_script_take_line(struct reader *r, const struct sp_ps_sample *s,
                                         struct sp_ps_text text, const struct sp_ps_place *at,
                                         uint32_t *lines)
{
    uint32_t event, context, stack;
    spaa_status st = sp_ps_context(&r->counts, s, &event, &context);
    if (st == SPAA_OK)
        st = sp_ps_stack(&r->stacks, text, context, at, &stack, lines);
    return st == SPAA_OK ? sp_ps_count(&r->counts, s, event, stack, r->line) : st;
}

/* The first newline in [p, end) that is followed by something else than a tab; NULL if there is none. */
static const char *perf_script_untabbed(const char *p, const char *end)
{
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        if (p + 1 < end && p[1] != '\t')
            return p;
        p++;
    }
    return NULL;
}

static bool perf_script_blank_line(const char *p, const char *end, const char **after)
{
    if (p < end && *p == '\r')
        p++;
    *after = p + 1;
    return p < end && *p == '\n';
}

static bool perf_script_reader_sample_at(const struct reader *r, const char *p, const char *end,
                                         const char **eol)
{
    struct sp_ps_sample s;
    *eol = memchr(p, '\n', (size_t)(end - p));
    return sp_ps_sample_line(p, *eol ? *eol : end, perf_script_how(r), &s) &&
           (s.timed || (s.event.p && (s.comm.n || s.tid != SP_ABSENT)));
}

/* Lines without a time or an event that tells them, of samples and other records. */
static bool perf_script_sparse_at(const struct reader *r, const char *p, const char *eol, const char *next,
                                  const char *end, struct sp_ps_sample *s)
{
    return sp_ps_record_line(p, eol, s) || sp_ps_sparse_line(p, eol, next, end, r->columns.how, s) ||
           sp_ps_bare_line(p, eol, next, end, r->columns.how, r->columns.tids, s);
}

/* Whether a frame begins at p whose blanks were trimmed; a sample line of a comm like `dead`, or of a tid
 * alone, is none. */
static bool perf_script_trimmed_frame_at(struct reader *r, const char *p, const char *end)
{
    struct sp_ps_sample s;
    const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
    if (eol > p && eol[-1] == '\r')
        eol--;
    if (!sp_ps_trimmed_frame(p, eol) || sp_ps_record_line(p, eol, &s) ||
        (r->sparse && perf_script_sparse_at(r, p, eol, nl ? nl + 1 : end, end, &s)) ||
        (sp_ps_sample_line(p, eol, perf_script_how(r), &s) && (s.timed || s.event.p || s.comm.n)))
        return false;
    r->trimmed = true;
    return true;
}

/*
 * Where the stack that starts at p ends: behind its last line. NULL: beyond the view. A blank line ends
 * it, unless a frame follows (source lines whose blanks were trimmed); so does a sample line.
 */
static const char *perf_script_stack_end(struct reader *r, const char *p, const char *end)
{
    for (;;) {
        const char *nl = perf_script_untabbed(p, end), *after, *eol;
        if (!nl)
            return r->final ? end : NULL;
        const char *next = nl + 1;
        if (perf_script_blank_line(next, end, &after)) {
            if (after < end && *after != '\t' && !perf_script_trimmed_frame_at(r, after, end))
                return next;
            if (after >= end)
                return r->final ? next : NULL;
            p = after;
            continue;
        }
        if (perf_script_reader_sample_at(r, next, end, &eol))
            return next;
        if (!eol)
            return r->final ? end : NULL;
        p = eol;
    }
}

/*
 * The text of the frames below a sample line, which starts at p: from *start to the result. NULL: beyond
 * the view.
 */
static const char *perf_script_frames_below(struct reader *r, const char *p, const char *end,
                                            const char **start)
{
    const char *after, *eol;
    *start = p;
    if (p == end)
        return r->final ? p : NULL;
    if (*p == '\t')
        return perf_script_stack_end(r, p, end);
    if (perf_script_blank_line(p, end, &after)) {
        if (after >= end)
            return r->final ? p : NULL;
        if (*after != '\t' && !perf_script_trimmed_frame_at(r, after, end))
            return p;
        sp_emit(r->d, SP_W311, SP_AT_LINE(r->line + 1, perf_script_offset_of(r, p)),
                "a blank line between a sample and its frames");
        return perf_script_stack_end(r, after, end);
    }
    if (perf_script_reader_sample_at(r, p, end, &eol) ||
        (*p != ' ' && !r->trimmed && !perf_script_trimmed_frame_at(r, p, end)))
        return !eol && !r->final ? NULL : p;
    return !eol && !r->final ? NULL : perf_script_stack_end(r, p, end);
}

/* The source line below a frame that stands on the sample line. NULL: beyond the view. */
static const char *perf_script_source_below(struct reader *r, const char *p, const char *end)
{
    const char *eol;
    if (end - p < 3)
        return r->final ? p : NULL;
    bool sample = perf_script_reader_sample_at(r, p, end, &eol);
    if (!eol && !r->final)
        return NULL;
    struct sp_ps_sample s;
    sample =
        sample || (r->sparse && perf_script_sparse_at(r, p, eol ? eol : end, eol ? eol + 1 : end, end, &s));
    bool source = p[0] == ' ' ? p[1] == ' ' && !sp_ps_blank(p[2]) : sp_ps_trimmed_source(p, eol ? eol : end);
    return sample || !source ? p : eol ? eol + 1 : end;
}

/* Whether a call chain stands at p: what is on the sample's line is no frame then, but where `-F addr`
 * points. */
static bool perf_script_chain_at(const char *p, const char *end)
{
    struct sp_ps_frame f;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    return p < end && *p == '\t' && sp_ps_frame_line(p, nl ? nl : end, &f) && f.dso.p;
}

/* Tracepoint text may look like a frame; a frame always names its DSO there. */
static bool perf_script_frame_on_line(struct reader *r, const struct sp_ps_sample *s, bool chain_below)
{
    struct sp_ps_frame f;
    if (!s->rest.n || !sp_ps_frame_line(s->rest.p, s->rest.p + s->rest.n, &f))
        return false;
    return f.dso.p || (!chain_below && !r->stacks.dso_seen && !sp_ps_is_probe(s->event));
}

/* Fields around the frame, branches behind it, are no part of it. Whether there are branches. */
static bool perf_script_cut_frame(struct reader *r, struct sp_ps_sample *s, bool chain_below)
{
    struct sp_ps_text whole = s->rest;
    size_t n = whole.n ? sp_ps_before_branches(whole.p, whole.p + whole.n) : 0;
    bool branches = n < whole.n;
    s->rest.n = n;
    if (n && !sp_ps_is_probe(s->event))
        s->rest = sp_ps_frame_of_line(s->rest);
    if (perf_script_frame_on_line(r, s, chain_below))
        return branches;
    s->rest = whole;
    return false;
}

/* The last sample of the text: perf prints a blank line behind frames, but where other fields follow them. */
static void perf_script_say_end(struct reader *r, struct sp_ps_text text, uint64_t line)
{
    struct sp_ps_frame f;
    const char *end = text.p + text.n, *nl = memrchr(text.p, '\n', text.n ? text.n - 1 : 0);
    const char *last = nl ? nl + 1 : text.p, *eol = end;
    while (eol > last && (eol[-1] == '\n' || eol[-1] == '\r'))
        eol--;
    if (last == eol)
        return;
    if (*last == '\t' && sp_ps_frame_line(last, eol, &f) && f.dso.p)
        sp_emit(
            r->d, SP_I322, SP_AT_LINE(line, perf_script_offset_of(r, last)),
            "the file ends inside a sample, with no blank line behind its frames: callers may be missing");
    else if (end[-1] != '\n')
        sp_lines_say_cut(r->d, line, perf_script_offset_of(r, last));
}

/* One sample from its line [p, eol) on. *next NULL: more of the input is needed. */
static spaa_status perf_script_sample(struct reader *r, struct sp_ps_sample *s, const char *eol,
                                      const char *end, const char **next)
{
    struct sp_ps_place at = {.line = r->line + 1};
    struct sp_ps_text text;
    const char *below = eol < end ? eol + 1 : end, *start = below, *stop;
    uint32_t lines = 0;
    bool chain_below = below < end && (*below == '\t' || (s->rest.n && !r->stacks.dso_seen && *below != ' ' &&
                                                          perf_script_trimmed_frame_at(r, below, end)));
    bool chain = s->rest.n && perf_script_chain_at(below, end);
    bool branches = !chain && perf_script_cut_frame(r, s, chain_below);
    if (branches || (!chain && perf_script_frame_on_line(r, s, chain_below))) {
        stop = perf_script_source_below(r, below, end);
        start = s->rest.p;
        at.one_line = true;
        at.line = r->line;
        text = (struct sp_ps_text){start, s->rest.n};
        if (stop && stop != below && !branches)
            text.n = (size_t)(stop - start);
    } else {
        stop = perf_script_frames_below(r, below, end, &start);
        text = (struct sp_ps_text){start, stop ? (size_t)(stop - start) : 0};
    }
    *next = NULL;
    if (!stop)
        return SPAA_OK;
    at.offset = perf_script_offset_of(r, start);
    at.at_end = r->final && stop == end;
    uint64_t bad = r->stacks.bad;
    spaa_status st = perf_script_take_line(r, s, text, &at, &lines);
    if (!st && at.at_end && !at.one_line && text.n && r->stacks.bad == bad)
        perf_script_say_end(r, text, r->line + lines);
    r->line += lines - at.one_line + (!at.one_line && start != below);
    *next = stop;
    return st;
}

static bool perf_script_is_comment(const char *p, const char *end)
{
    return *p == '#' && (end - p == 1 || sp_ps_blank(p[1]) || p[1] == '#' || p[1] == '=');
}

/* The text behind a word that it begins with; p NULL: it does not. */
static struct sp_ps_text perf_script_behind(struct sp_ps_text t, const char *word)
{
    size_t n = strlen(word);
    if (t.n < n || memcmp(t.p, word, n) != 0)
        return (struct sp_ps_text){0};
    return (struct sp_ps_text){t.p + n, t.n - n};
}

/*
 * Records of switches (`--show-switch-events`), and of losses (`--show-lost-events`) where there are
 * switches, are samples of events of their own, as in perf.data: time off the CPU is made of them.
 */
static spaa_status perf_script_sched_record(struct reader *r, const struct sp_ps_sample *s, const char *event,
                                            struct sp_ps_text rest)
{
    struct sp_ps_sample record = *s;
    struct sp_ps_place at = {.line = r->line, .one_line = true};
    uint32_t lines;
    while (rest.n && sp_ps_blank(*rest.p))
        rest = (struct sp_ps_text){rest.p + 1, rest.n - 1};
    record.event = (struct sp_ps_text){event, strlen(event)};
    record.rest = rest;
    return perf_script_take_line(r, &record, (struct sp_ps_text){rest.p, 0}, &at, &lines);
}

/* `--show-mmap-events` and the like print these as samples without frames. */
static spaa_status perf_script_side_band(struct reader *r, const struct sp_ps_sample *s)
{
    struct sp_ps_text t = s->event.p ? s->event : s->rest, lost = perf_script_behind(t, SP_SCHED_LOST_EVENT),
                      moved = perf_script_behind(t, SP_SCHED_RECORD_EVENT);
    struct sp_ps_text number = perf_script_behind(lost, " lost ");
    uint64_t n;
    if (number.n && sp_parse_u64(number.p, number.p + number.n, &n)) {
        r->p->header.lost += n;
        sp_emit(r->d, SP_L303, SP_AT_LINE(r->line, SP_NOWHERE), "%llu samples", (unsigned long long)n);
        if (s->timed && r->counts.any_switch)
            return perf_script_sched_record(r, s, SP_SCHED_LOST_EVENT, lost);
    }
    struct sp_ps_text wide = perf_script_behind(moved, "_CPU_WIDE"), word = wide.p ? wide : moved;
    if (s->timed && word.n && *word.p == ' ')
        return perf_script_sched_record(r, s, SP_SCHED_RECORD_EVENT, word);
    r->side_band++;
    return SPAA_OK;
}

static void perf_script_unknown_line(struct reader *r, const char *p, const char *eol, bool complete)
{
    static const char trace[] = "instruction trace error";
    const char *text = p + (*p == ' ');
    struct sp_where at = SP_AT_LINE(r->line, perf_script_offset_of(r, p));
    int n = eol - p > 80 ? 80 : (int)(eol - p);
    if (sp_ps_is_more(p, eol) || sp_ps_has_branches(p, eol)) /* of a sample without frames */
        return;
    if ((size_t)(eol - text) >= sizeof trace - 1 && memcmp(text, trace, sizeof trace - 1) == 0)
        sp_emit(r->d, SP_L300, at, "the trace could not be decoded: \"%.*s\"", n, p);
    else if (!complete)
        sp_emit(r->d, SP_L301, at, "the last line is incomplete: \"%.*s\"", n, p);
    else
        sp_emit(r->d, SP_L302, at, "%s: \"%.*s\"",
                *p == '\t' || sp_ps_trimmed_frame(p, eol) ? "a frame without a sample" : "not a sample", n,
                p);
    r->skipped++;
}

/*
 * Lines without a time are sample lines only in an input where none has one, and when an event or a frame
 * bears them out; those without an event where the first sample has none.
 */
static bool perf_script_is_sample(struct reader *r, const char *p, const char *eol, const char *next,
                                  const char *end, struct sp_ps_sample *s)
{
    if (p < eol && sp_ps_sample_line(p, eol, r->columns.how, s))
        return true;
    if (p < eol && sp_ps_record_line(p, eol, s))
        return true;
    if (p < eol && !r->counts.any_time && sp_ps_sample_line(p, eol, perf_script_how(r), s))
        return true;
    if (r->counts.any && !r->sparse)
        return false;
    if (r->sparse && perf_script_sparse_at(r, p, eol, next, end, s))
        return true;
    bool sample = sp_ps_sparse_line(p, eol, next, end, r->columns.how, s) ||
                  (s->comm.n && s->tid != SP_ABSENT && !s->rest.n && next < end &&
                   perf_script_trimmed_frame_at(r, next, end));
    r->sparse |= sample;
    return sample;
}

/* Handles what is complete in [p, end); *used says how far. */
static spaa_status perf_script_records(struct reader *r, const char *p, const char *end, size_t *used)
{
    const char *start = p, *next;
    while (p < end) {
        if (*p == '\n' && r->counts.any && !r->sparse) {
            r->line++;
            p++;
            continue;
        }
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        if (!nl && !r->final)
            break;
        const char *stop = eol;
        while (stop > p && stop[-1] == '\r')
            stop--;
        next = nl ? nl + 1 : end;
        struct sp_ps_sample s;
        if (!r->final && (!r->counts.any || r->sparse) && !memchr(next, '\n', (size_t)(end - next)))
            break; /* what follows tells whether the line is a sample */
        if (stop > p && perf_script_is_comment(p, stop)) {
            if (!sp_ps_comment(&r->comments, r->p, p, (size_t)(stop - p)))
                return sp_nomem(r->d);
        } else if (perf_script_is_sample(r, p, stop, next, end, &s)) {
            if (!nl && r->p->frames.n) /* the others have stacks: it was cut off before its own */
                perf_script_unknown_line(r, p, stop, false);
            else {
                if (!nl)
                    sp_lines_say_cut(r->d, r->line, perf_script_offset_of(r, p));
                spaa_status st = sp_ps_is_side_band(&s) ? perf_script_side_band(r, &s)
                                                        : perf_script_sample(r, &s, eol, end, &next);
                if (st != SPAA_OK)
                    return st;
                if (!next)
                    break;
            }
        } else if (stop > p) {
            perf_script_unknown_line(r, p, stop, nl != NULL);
        }
        if (r->opts->strict && (r->skipped || r->stacks.bad))
            return SPAA_ERR_INPUT;
        r->line++;
        p = next;
    }
    *used = (size_t)(p - start);
    return SPAA_OK;
}

static spaa_status perf_script_read_all(struct reader *r, struct sp_input *in)
{
    const unsigned char *v;
    size_t n, want = PEEK_BYTES, left = 0;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, &v, &n);
        if (st != SPAA_OK || !n)
            return st;
        size_t used = 0;
        r->view = (const char *)v;
        r->view_offset = sp_input_offset(in);
        if (!r->columns.known) {
            r->columns = sp_ps_columns(r->view, r->view + n);
            r->sparse |= r->columns.sparse;
        }
        /* Beyond the cap, a stack that never ends is truncated. */
        r->final = n < want || left > SP_LINE_MAX - PEEK_BYTES;
        st = perf_script_records(r, r->view, r->view + n, &used);
        if (st != SPAA_OK)
            return st;
        sp_input_consume(in, used);
        left = n - used;
        want = left + PEEK_BYTES < SP_LINE_MAX ? left + PEEK_BYTES : SP_LINE_MAX;
    }
}

static spaa_status perf_script_finish(struct reader *r, struct sp_input *in)
{
    spaa_status st = sp_input_failed(in);
    if (!r->counts.any) {
        if (st == SPAA_OK)
            sp_emit_hint(r->d, SP_E011, SP_AT_NOTHING,
                         "perf script -F +comm,+event: frames alone do not tell where a sample begins",
                         r->skipped ? "no line of the text opens a sample" : "the text has no sample");
        return st == SPAA_OK ? SPAA_ERR_INPUT : st;
    }
    if (r->side_band)
        sp_emit(r->d, SP_I321, SP_AT_NOTHING, "%llu records other than samples (PERF_RECORD_...)",
                (unsigned long long)r->side_band);
    return sp_ps_finish(&r->counts, r->stacks.frames);
}

static spaa_status perf_script_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                    struct sp_profile *p)
{
    struct reader r = {.opts = opts, .d = d, .p = p, .line = 1};
    enum sp_granularity frames = opts->frames == SP_FRAMES_FOREIGN ? SP_FRAMES_ADDRESS : opts->frames;
    sp_buf_init(&r.comments.lines, 0);
    sp_ps_counts_init(&r.counts, p, opts->group_by, &r.comments, d);
    spaa_status st = sp_ps_stacks_init(&r.stacks, p, frames, d);
    if (st == SPAA_OK && opts->samples)
        st = sp_samples_new(d, &p->samples);
    if (st == SPAA_OK)
        st = perf_script_read_all(&r, in);
    if (st == SPAA_OK)
        st = perf_script_finish(&r, in);
    p->samples_unasked = p->samples_unasked && !opts->fields;
    sp_ps_stacks_free(&r.stacks);
    sp_ps_comments_free(&r.comments);
    sp_ps_counts_free(&r.counts);
    return st;
}

static const struct sp_format_option options[] = {
    {"per-stack", NULL, "one sample per stack, its period the weight, instead of as many as were taken",
     SP_CAN_WRITE},
    {"srclines", NULL, "source lines below the frames, as `-F +srcline` prints them", SP_CAN_WRITE},
    {NULL, NULL, NULL, 0},
};

const struct spaa_format spaa_format_perf_script = {
    .name = "perf-script",
    .title = "Linux perf script text",
    .extensions = "perf-script perf-script.txt linux-perf.txt",
    .media_type = "text/plain",
    .comes_back = "every sample with --samples; else the sums, one sample for each counted",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS,
    .options = options,
    .probe = sp_ps_probe,
    .read = perf_script_read,
    .write = sp_ps_write,
};
