/*
 * Which columns perf printed, tid and CPU among them. A line does not tell: a number before the time may be
 * a tid, or the end of a thread's name.
 *
 *     fp 38801.410835: cpu-clock:ppp:
 *     work er 7 38801.412881: cpu-clock:ppp:
 *
 * All sample lines of a text have the same columns, so that one without a number tells of the others. So does
 * what perf pads: a tid to five columns, which a number that ends a name rarely is. A text whose threads all
 * end with five digits and more does not tell; they are taken for tids, which is what perf prints unless it
 * is told otherwise.
 */
#include "formats/perf_script/perf_script.h"

#include <string.h>

struct tally {
    size_t absent, narrow; /* lines without a number, or one too narrow for a tid */
    size_t padded;         /* lines with what is padded as a tid is */
    size_t tids;           /* lines with a number */
    size_t told, sparse;   /* of those without a time: by what is on them, by what is below */
    size_t cpu_absent, cpus;
};

/* How many columns the blanks before p and [p, end) take, but for the blank that ends the field before. */
static size_t columns_of(const char *line, const char *p, const char *end)
{
    const char *before = p;
    while (before > line && sp_ps_blank(before[-1]))
        before--;
    return (size_t)(end - before) - (before > line && before < p);
}

/* Whether seconds are as wide as perf pads them, which other tools do not. */
static bool columns_pad_time(const char *line, const struct sp_ps_sample *s)
{
    const char *p = s->who.p + s->who.n, *eol = s->rest.p + s->rest.n;
    const char *dot = memchr(p, '.', (size_t)(eol - p)), *secs = dot;
    while (secs && secs > p && (unsigned char)(secs[-1] - '0') < 10)
        secs--;
    return !s->timed || (dot && columns_of(line, secs, dot) >= SP_PS_TID_COLUMNS);
}

static bool columns_pad_period(const char *line, const struct sp_ps_sample *s)
{
    const char *q = s->event.p ? s->event.p : s->rest.p, *period;
    while (q > line && sp_ps_blank(q[-1]))
        q--;
    for (period = q; period > line && (unsigned char)(period[-1] - '0') < 10;)
        period--;
    return !s->has_period || columns_of(line, period, q) >= SP_PS_PERIOD_COLUMNS;
}

/* Whether the comm is justified on the right, or an address is. */
static bool columns_pad_rest(const char *line, const struct sp_ps_sample *s, const char *next,
                             const char *end)
{
    return sp_ps_fills_comm(line, s->comm.p + s->comm.n) || sp_ps_fills_comm(line, s->who.p + s->who.n) ||
           sp_ps_padded_frame(next, end) || sp_ps_flat_frame(sp_ps_frame_of_line(s->rest), line);
}

/* A frame with its DSO, whose blanks at the margin may be missing. */
static bool columns_frame_below(const char *next, const char *end)
{
    struct sp_ps_frame f;
    const char *nl = next < end ? memchr(next, '\n', (size_t)(end - next)) : NULL;
    return nl && sp_ps_frame_line(next, nl, &f) && f.dso.p;
}

/* What a line with a number where a tid would be tells. */
static void columns_of_number(struct tally *t, const char *line, const struct sp_ps_sample *s,
                              const char *next, const char *end)
{
    const char *q = s->who.p + s->who.n, *p = q, *slash, *name;
    while (p > s->who.p && !sp_ps_blank(p[-1]))
        p--;
    slash = memchr(p, '/', (size_t)(q - p));
    name = s->comm.p + s->comm.n;
    size_t wide = columns_of(line, p, slash ? slash : q);
    t->tids++;
    if (!s->comm.n)
        return;
    bool flat = sp_ps_fills_comm(line, q) && sp_ps_flat_frame(sp_ps_frame_of_line(s->rest), line);
    bool perfs =
        columns_pad_time(line, s) && columns_pad_period(line, s) && columns_pad_rest(line, s, next, end);
    if (flat || (perfs && !slash && wide < SP_PS_TID_COLUMNS))
        t->narrow++;
    else if (wide >= SP_PS_TID_COLUMNS && (slash || p - name > 1))
        t->padded++;
}

static bool columns_of_line(struct tally *t, const char *p, const char *eol, const char *next,
                            const char *end, bool timed, struct sp_ps_sample *s)
{
    if (timed)
        return sp_ps_sample_line(p, eol, 0, s) && s->timed;
    if (sp_ps_record_line(p, eol, s) || sp_ps_trimmed_frame(p, eol))
        return false;
    if (sp_ps_sample_line(p, eol, SP_PS_TIMELESS, s)) {
        t->told++;
        return true;
    }
    bool sparse = sp_ps_sparse_line(p, eol, next, end, SP_PS_NAMELESS, s);
    t->sparse += sparse;
    return sparse;
}

/* False: no line is a sample's. */
static bool columns_tally(const char *p, const char *end, bool timed, struct tally *t)
{
    bool any = false;
    for (const char *nl; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
        const char *eol = nl > p && nl[-1] == '\r' ? nl - 1 : nl;
        struct sp_ps_sample s;
        if (p == eol || *p == '\t' || *p == '#' || !columns_of_line(t, p, eol, nl + 1, end, timed, &s) ||
            sp_ps_is_side_band(&s))
            continue;
        any = true;
        *(s.cpu == SP_ABSENT ? &t->cpu_absent : &t->cpus) += 1;
        if (s.tid != SP_ABSENT)
            columns_of_number(t, p, &s, nl + 1, end);
        else if (s.comm.n && s.comm.n < SP_PS_COMM_COLUMNS && columns_pad_time(p, &s) &&
                 (columns_pad_rest(p, &s, nl + 1, end) || columns_frame_below(nl + 1, end)))
            t->absent++;
    }
    return any;
}

struct sp_ps_columns sp_ps_columns(const char *p, const char *end)
{
    struct tally t = {0};
    struct sp_ps_columns c = {.how = SP_PS_NAMELESS};
    c.known = columns_tally(p, end, true, &t) || columns_tally(p, end, false, &t);
    /* Some text that perf did not print has narrow ones here and there. */
    if (t.absent ? t.absent + t.narrow > t.padded : t.narrow > t.tids / 2)
        c.how |= SP_PS_NO_TID;
    if (t.cpu_absent > t.cpus)
        c.how |= SP_PS_NO_CPU;
    c.sparse = t.sparse && (!t.told || (c.how & SP_PS_NO_TID));
    c.tids = t.tids && !(c.how & SP_PS_NO_TID);
    return c;
}
