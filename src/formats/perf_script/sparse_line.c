/*
 * The line that opens a sample where `-F` has no time, and no event behind a number:
 *
 *     worker 24636     250000             7f12
 *
 * Nothing in it says what a number is but its place and the columns that perf pads it to: five for a tid, ten
 * for a period, sixteen for an address, a weight, or the frame of a recording without callchains. Any text
 * may be a comm, and `-F ip` leaves an empty line: it is the frames that bear a sample out.
 */
#include "base/num.h"
#include "formats/perf_script/perf_script.h"

#include <string.h>

enum { MISC_COLUMNS = 6 };

/* A token, and how many columns it has to its own: with the blanks before it but the one that ends the field
 * before. */
struct field {
    const char *p, *end;
    size_t columns;
};

/* The last token of [line, end); false: there is none. */
static bool perf_script_last_field(const char *line, const char *end, struct field *f)
{
    while (end > line && sp_ps_blank(end[-1]))
        end--;
    f->p = f->end = end;
    while (f->p > line && !sp_ps_blank(f->p[-1]))
        f->p--;
    const char *before = f->p;
    while (before > line && sp_ps_blank(before[-1]))
        before--;
    f->columns = (size_t)(end - before) - (before > line && before < f->p);
    return f->p < f->end;
}

static bool perf_script_is_number(const struct field *f, int64_t *out)
{
    uint64_t v;
    if (f->p == f->end || sp_parse_u64(f->p, f->end, &v) != (size_t)(f->end - f->p))
        return false;
    *out = v > INT64_MAX ? INT64_MAX : (int64_t)v;
    return true;
}

/* "32468", or "32468/32469" as pid and tid. */
static bool perf_script_is_thread(const struct field *f, struct sp_ps_sample *s)
{
    struct field pid = *f, tid = *f;
    const char *slash = memchr(f->p, '/', (size_t)(f->end - f->p));
    if (slash) {
        pid.end = slash;
        tid.p = slash + 1;
    }
    if (tid.end - tid.p > SP_PS_TID_DIGITS || pid.end - pid.p > SP_PS_TID_DIGITS ||
        f->columns < SP_PS_TID_COLUMNS)
        return false;
    int64_t t, process = SP_ABSENT;
    if (!perf_script_is_number(&tid, &t) || (slash && !perf_script_is_number(&pid, &process)))
        return false;
    s->tid = t;
    s->pid = process;
    return true;
}

static bool perf_script_is_cpu(const struct field *f, struct sp_ps_sample *s)
{
    struct field number = {f->p + 1, f->end - 1, 0};
    return f->end - f->p > 2 && f->p[0] == '[' && f->end[-1] == ']' &&
           perf_script_is_number(&number, &s->cpu);
}

static bool perf_script_is_misc(const struct field *f)
{
    for (const char *p = f->p; p < f->end; p++)
        if (!memchr("KUHGgMESp", *p, 9))
            return false;
    return true;
}

/* The fields of [line, end), from the last one: each may be missing, their order is fixed. */
static void perf_script_header_fields(const char *line, const char *end, struct sp_ps_sample *s)
{
    struct field f;
    s->pid = s->tid = s->cpu = SP_ABSENT;
    s->has_period = false;
    s->event = (struct sp_ps_text){NULL, 0};
    bool any = perf_script_last_field(line, end, &f);
    if (any && f.end - f.p > 1 && f.end[-1] == ':') {
        s->event = (struct sp_ps_text){f.p, (size_t)(f.end - f.p - 1)};
        any = perf_script_last_field(line, end = f.p, &f);
    }
    if (any && (f.columns >= SP_PS_PERIOD_COLUMNS || f.end - f.p > SP_PS_TID_DIGITS) &&
        perf_script_is_number(&f, &s->period)) {
        s->has_period = true;
        any = perf_script_last_field(line, end = f.p, &f);
    }
    if (any && end - f.p >= MISC_COLUMNS && perf_script_is_misc(&f))
        any = perf_script_last_field(line, end = f.p, &f);
    if (any && perf_script_is_cpu(&f, s))
        any = perf_script_last_field(line, end = f.p, &f);
    s->who.p = s->comm.p = line;
    s->who.n = s->comm.n = (size_t)(end - line);
    if (any && perf_script_is_thread(&f, s)) {
        s->who.n = (size_t)(f.end - line);
        s->comm.n = (size_t)(f.p - line);
    }
    while (s->comm.n && sp_ps_blank(s->comm.p[s->comm.n - 1]))
        s->comm.n--;
    for (; s->comm.n && sp_ps_blank(*s->comm.p); s->comm.n--)
        s->comm.p++;
    if (s->tid == SP_ABSENT)
        s->who = s->comm;
}

static bool perf_script_is_wide(const struct field *f)
{
    uint64_t v;
    return f->columns >= SP_PS_WIDE_COLUMNS && sp_parse_hex(f->p, f->end, &v) == (size_t)(f->end - f->p);
}

/* The token at p or behind the blanks there; false: there is none. */
static bool perf_script_next_field(const char *line, const char *p, const char *end, struct field *f)
{
    f->p = p;
    while (f->p < end && sp_ps_blank(*f->p))
        f->p++;
    f->end = f->p;
    while (f->end < end && !sp_ps_blank(*f->end))
        f->end++;
    f->columns = (size_t)(f->end - p) - (p > line && f->p > p);
    return f->p < f->end;
}

/*
 * Where addresses, weights and a frame begin: at the first number in hex that is as wide; end: there is none.
 * A comm is as wide on a line that ends with its frame: one that is no number, or before something narrower.
 */
static const char *perf_script_wide_at(const char *line, const char *end)
{
    const char *first = NULL, *later = NULL;
    bool number = false, narrow = false, others = false;
    int64_t v;
    struct field f;
    for (const char *p = line; perf_script_next_field(line, p, end, &f); p = f.end) {
        if (!perf_script_is_wide(&f)) {
            others = true;
            narrow |= !later;
        } else if (p == line) {
            first = f.p;
            number = perf_script_is_number(&f, &v);
        } else if (!later) {
            later = f.p;
        }
    }
    if (first && (!later || !others || (number && !narrow)))
        return first;
    return later ? later : end;
}

static void perf_script_sparse_fields(const char *p, const char *end, struct sp_ps_sample *s)
{
    const char *wide = perf_script_wide_at(p, end);
    perf_script_header_fields(p, wide, s);
    while (end > wide && sp_ps_blank(end[-1]))
        end--;
    s->timed = false;
    s->rest = (struct sp_ps_text){wide, (size_t)(end - wide)};
}

/* Whether perf printed a call chain at p: its frames have a tab and an address of as many columns. */
static bool perf_script_padded_frame(const char *p, const char *end)
{
    struct field f;
    const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    end = nl ? nl : end;
    return p < end && *p == '\t' && perf_script_next_field(p + 1, p + 1, end, &f) && perf_script_is_wide(&f);
}

bool sp_ps_sparse_line(const char *p, const char *eol, const char *next, const char *end,
                       struct sp_ps_sample *s)
{
    perf_script_sparse_fields(p, eol, s);
    if (p < eol && *p == '\t')
        return false;
    if (perf_script_padded_frame(next, end))
        return true;
    struct sp_ps_frame f;
    struct sp_ps_text frame = sp_ps_frame_of_line(s->rest);
    return frame.n &&
           (s->comm.n || s->tid != SP_ABSENT || s->cpu != SP_ABSENT || s->has_period || s->event.p) &&
           sp_ps_frame_line(frame.p, frame.p + frame.n, &f) && f.dso.p;
}
