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

/* A number that stands where a comm does on a line that ends with its frame. */
static bool perf_script_is_comm(const char *line, const struct field *f)
{
    return f->columns == SP_PS_COMM_COLUMNS && sp_ps_fills_comm(line, f->end);
}

/* The fields of [line, end), from the last one: each may be missing, their order is fixed. */
static void perf_script_header_fields(const char *line, const char *end, unsigned how, struct sp_ps_sample *s)
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
    if (any && !perf_script_is_comm(line, &f) &&
        (f.columns >= SP_PS_PERIOD_COLUMNS || f.end - f.p > SP_PS_TID_DIGITS) &&
        perf_script_is_number(&f, &s->period)) {
        s->has_period = true;
        any = perf_script_last_field(line, end = f.p, &f);
    }
    if (any && end - f.p >= MISC_COLUMNS && perf_script_is_misc(&f))
        any = perf_script_last_field(line, end = f.p, &f);
    if (any && !(how & SP_PS_NO_CPU) && perf_script_is_cpu(&f, s))
        any = perf_script_last_field(line, end = f.p, &f);
    s->who.p = s->comm.p = line;
    s->who.n = s->comm.n = (size_t)(end - line);
    if (any && !(how & SP_PS_NO_TID) && perf_script_is_thread(&f, s)) {
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
 * A comm is as wide on a line that ends with its frame: one that is no number, or before something narrower,
 * or where lines are known to begin with one.
 */
static const char *perf_script_wide_at(const char *line, const char *end, unsigned how)
{
    const char *first = NULL, *first_end = NULL, *later = NULL;
    bool number = false, narrow = false, others = false;
    int64_t v;
    struct field f;
    for (const char *p = line; perf_script_next_field(line, p, end, &f); p = f.end) {
        if (!perf_script_is_wide(&f)) {
            others = true;
            narrow |= !later;
        } else if (p == line) {
            first = f.p;
            first_end = f.end;
            number = perf_script_is_number(&f, &v);
        } else if (!later) {
            later = f.p;
        }
    }
    if (first && later && (how & SP_PS_NO_TID) && sp_ps_fills_comm(line, first_end))
        return later;
    if (first && (!later || !others || (number && !narrow)))
        return first;
    return later ? later : end;
}

static void perf_script_sparse_fields(const char *p, const char *end, unsigned how, struct sp_ps_sample *s)
{
    const char *wide = perf_script_wide_at(p, end, how);
    perf_script_header_fields(p, wide, how, s);
    while (end > wide && sp_ps_blank(end[-1]))
        end--;
    s->timed = false;
    s->rest = (struct sp_ps_text){wide, (size_t)(end - wide)};
}

bool sp_ps_padded_frame(const char *p, const char *end)
{
    struct field f;
    const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    end = nl ? nl : end;
    return p < end && *p == '\t' && perf_script_next_field(p + 1, p + 1, end, &f) && perf_script_is_wide(&f);
}

bool sp_ps_flat_frame(struct sp_ps_text t, const char *line)
{
    enum { DIGITS = 5 /* of the address of an instruction, at least */ };
    struct field f;
    uint64_t ip;
    const char *before = t.p;
    size_t n = sp_parse_hex(t.p, t.p + t.n, &ip);
    while (before > line && sp_ps_blank(before[-1]))
        before--;
    f = (struct field){t.p, t.p + n, (size_t)(t.p - before) + n - (before > line && before < t.p)};
    return n >= DIGITS && perf_script_is_wide(&f) && (n == t.n || sp_ps_blank(t.p[n]));
}

/* A comm on a line that ends with its frame is justified on the right, which tells the line from other text.
 */
static bool perf_script_is_flat(const char *line, unsigned how, const struct sp_ps_sample *s)
{
    const char *after = line + SP_PS_COMM_COLUMNS;
    if (!sp_ps_flat_frame(s->rest, line))
        return false;
    return s->comm.n
               ? sp_ps_blank(*line) && after < s->rest.p && sp_ps_blank(*after) && !sp_ps_blank(after[-1])
               : how & SP_PS_NAMELESS;
}

bool sp_ps_sparse_line(const char *p, const char *eol, const char *next, const char *end, unsigned how,
                       struct sp_ps_sample *s)
{
    perf_script_sparse_fields(p, eol, how, s);
    if (p < eol && *p == '\t')
        return false;
    if (sp_ps_padded_frame(next, end))
        return true;
    struct sp_ps_frame f;
    struct sp_ps_text frame = sp_ps_frame_of_line(s->rest);
    return frame.n &&
           (s->comm.n || s->tid != SP_ABSENT || s->cpu != SP_ABSENT || s->has_period || s->event.p) &&
           sp_ps_frame_line(frame.p, frame.p + frame.n, &f) && (f.dso.p || perf_script_is_flat(p, how, s));
}

bool sp_ps_bare_line(const char *p, const char *eol, const char *next, const char *end, unsigned how,
                     bool tids, struct sp_ps_sample *s)
{
    if (p == eol || *p == '\t' || (next < end && *next != '\n' && *next != '\r'))
        return false;
    perf_script_sparse_fields(p, eol, how, s);
    if (s->rest.n || s->comm.n >= SP_PS_COMM_COLUMNS || !sp_ps_blank(eol[-1]))
        return false;
    return tids ? s->tid != SP_ABSENT : s->comm.n || s->event.p;
}

const char *sp_ps_record_at(const char *p, const char *end)
{
    static const char record[] = "PERF_RECORD_";
    size_t n = sizeof record - 1;
    const char *at = memmem(p, (size_t)(end - p), record, n);
    return at && at + n < end && (unsigned char)(at[n] - 'A') <= 'Z' - 'A' && (at == p || sp_ps_blank(at[-1]))
               ? at
               : NULL;
}

bool sp_ps_record_line(const char *p, const char *eol, struct sp_ps_sample *s)
{
    const char *at = sp_ps_record_at(p, eol), *before = at;
    if (!at)
        return false;
    while (before > p && sp_ps_blank(before[-1]))
        before--;
    if (before > p && before[-1] == ':') /* "0x1f8 [0x70]: PERF_RECORD_MMAP": of `perf report -D` */
        return false;
    perf_script_header_fields(p, at, 0, s);
    s->timed = false;
    s->rest = (struct sp_ps_text){at, (size_t)(eol - at)};
    return true;
}
