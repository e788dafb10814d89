/* Is it `perf script` text: samples, best followed by frames, and hardly anything else. */
#include "formats/format.h"
#include "formats/perf_script/perf_script.h"

#include <string.h>

static const char *perf_script_eol_of(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
    return eol > p && eol[-1] == '\r' ? eol - 1 : eol;
}

static bool perf_script_frame_at(const char *p, const char *end)
{
    const char *eol = p < end ? perf_script_eol_of(p, end) : p;
    struct sp_ps_frame f;
    struct sp_ps_sample s;
    if (p == eol || !sp_ps_frame_line(p, eol, &f))
        return false;
    /* perf pads the comm on the left, and one like "a" could be an address. */
    if (*p != '\t' && sp_ps_sample_line(p, eol, SP_PS_TIMELESS, &s) && (s.timed || s.event.p))
        return false;
    return sp_ps_blank(*p) || sp_ps_trimmed_frame(p, eol);
}

/* Whether the line is no more than a frame; what opens a sample, a tid alone, may look like an address. */
static bool perf_script_only_frame(const char *p, const char *eol, const char *next, const char *end)
{
    struct sp_ps_sample s;
    return perf_script_frame_at(p, end) && !sp_ps_sparse_line(p, eol, next, end, 0, &s);
}

/* An address in perf's columns where no comm stands before it: "     55c0e6de48a1 main". */
static bool perf_script_lone_frame(const char *p, const char *eol, const char *next, const char *end)
{
    struct sp_ps_sample s;
    (void)sp_ps_sparse_line(p, eol, next, end, SP_PS_NAMELESS, &s);
    return !s.comm.n && s.rest.p > p && sp_ps_flat_frame(s.rest, p);
}

/* How sure a sample line makes, with what follows it at `next`; 0: it is none. */
static int perf_script_probe_sample_at(const char *p, const char *eol, const char *next, const char *end,
                                       const char **reason)
{
    struct sp_ps_sample s;
    struct sp_ps_frame f;
    bool timed = sp_ps_sample_line(p, eol, 0, &s);
    if (!timed && sp_ps_record_line(p, eol, &s)) {
        *reason = "a record of perf script";
        return 50;
    }
    if (!timed && !sp_ps_sample_line(p, eol, SP_PS_TIMELESS, &s)) {
        *reason = "a line and its frames";
        return sp_ps_sparse_line(p, eol, next, end, 0, &s) ? 50 : 0;
    }
    const char *behind = s.rest.p + (s.rest.n ? sp_ps_before_branches(s.rest.p, s.rest.p + s.rest.n) : 0);
    struct sp_ps_text on_line =
        sp_ps_frame_of_line((struct sp_ps_text){s.rest.p, (size_t)(behind - s.rest.p)});
    bool one_line = on_line.n && sp_ps_frame_line(on_line.p, on_line.p + on_line.n, &f) &&
                    (f.dso.p || sp_ps_flat_frame(on_line, p));
    bool frames = one_line || perf_script_frame_at(next, end);
    *reason = frames ? "a sample line and its frames" : "a sample line";
    if (!timed)
        return !frames || (!s.comm.n && s.cpu == SP_ABSENT && s.tid == SP_ABSENT && !s.has_period) ? 0 : 60;
    if (frames)
        return s.event.p ? 95 : 85;
    if (sp_ps_is_side_band(&s))
        return 75;
    /* Without a tid and frames it may be a log, or text of ftrace. */
    bool comm = !s.rest.n && sp_ps_fills_comm(p, s.comm.p + s.comm.n);
    return s.event.p && (s.tid != SP_ABSENT || comm) ? 75 : 0;
}

/* Lines that stand between samples and below frames: other records, errors of traces, sources. */
static bool perf_script_other_line(const char *p, const char *eol)
{
    static const char trace[] = "instruction trace error";
    struct sp_ps_sample s;
    if (sp_ps_sample_line(p, eol, 0, &s))
        return true;
    while (p < eol && sp_ps_blank(*p))
        p++;
    return sp_ps_trimmed_source(p, eol) || sp_ps_is_more(p, eol) || sp_ps_has_branches(p, eol) ||
           ((size_t)(eol - p) >= sizeof trace - 1 && memcmp(p, trace, sizeof trace - 1) == 0);
}

int sp_ps_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    size_t good = 0, bad = 0, alone = 0;
    int best = 0;
    bool perf_header = false;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    for (const char *next; p < end; p = next) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = perf_script_eol_of(p, end), *why = NULL;
        next = nl ? nl + 1 : end;
        if (!nl && !whole)
            break;
        if (p < eol && *p == '#') {
            perf_header |= memmem(p, (size_t)(eol - p), "perf version", 12) != NULL;
            continue;
        }
        bool frame = perf_script_only_frame(p, eol, next, end);
        int score = frame ? 0 : perf_script_probe_sample_at(p, eol, next, end, &why);
        if (score > best) {
            best = score;
            *reason = why;
        }
        if (p == eol)
            continue;
        alone += !score && perf_script_lone_frame(p, eol, next, end);
        bool known = score || frame || (good && perf_script_other_line(p, eol));
        good += known;
        bad += !known;
    }
    if (!best && perf_header && !good) {
        *reason = "the header of perf script";
        best = 80;
    }
    if (!best && alone > (good + bad) / 10 * 9) {
        *reason = "frames of samples, but nothing where one begins: `perf script -F +comm,+tid,+time` has it";
        return 20;
    }
    if (!best || bad * 10 <= good + bad + 9)
        return best;
    *reason = "samples, but more than one line in ten is none";
    return 30;
}
