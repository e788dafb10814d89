/*
 * The line that opens a sample in `perf script` text:
 *
 *     V8 WorkerThread 24636/25607 [000] 4794564.109216:     250000 cpu-clock:uhH:
 *
 * The comm may hold anything, so the first number that is followed by a CPU or a time ends it. With one
 * number, that is the tid. Each of them may be missing, as `-F` says; their order is fixed, so that a number
 * behind the time is a period, never a tid. What follows the event
 * is tracepoint text or, without callchains, the frame.
 */
#include "formats/perf_script/perf_script.h"

#include <string.h>

static const char *perf_script_skip_blank(const char *p, const char *end)
{
    while (p < end && sp_ps_blank(*p))
        p++;
    return p;
}

static const char *perf_script_token_end(const char *p, const char *end)
{
    while (p < end && !sp_ps_blank(*p))
        p++;
    return p;
}

/* Beyond 64 bits: INT64_MAX, which callers report. Returns p when there are no digits. */
static inline __attribute__((always_inline)) const char *perf_script_digits(const char *p, const char *end,
                                                                            int64_t *out)
{
    const char *safe = end - p > 18 ? p + 18 : end;
    unsigned d;
    int64_t v = 0;
    for (; p < safe && (d = (unsigned char)(*p - '0')) < 10; p++)
        v = v * 10 + d;
    for (; p < end && (d = (unsigned char)(*p - '0')) < 10; p++)
        v = v > (INT64_MAX - 9) / 10 ? INT64_MAX : v * 10 + d;
    *out = v;
    return p;
}

static const char *perf_script_signed_digits(const char *p, const char *end, int64_t *out)
{
    bool minus = p < end && *p == '-';
    const char *q = perf_script_digits(p + minus, end, out);
    if (q == p + minus)
        return p;
    if (minus)
        *out = -*out;
    return q;
}

/* "secs.frac:"; returns p if it is none. */
static const char *perf_script_time_of(const char *p, const char *end, struct sp_ps_sample *s)
{
    static const int64_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                    10000,      1000,      100,      10,      1};
    int64_t secs, frac;
    const char *q = perf_script_digits(p, end, &secs);
    if (q == p || q == end || *q != '.' || secs > 9000000000)
        return p;
    const char *f = ++q;
    q = perf_script_digits(f, end - f > 9 ? f + 9 : end, &frac);
    unsigned n = (unsigned)(q - f);
    while (q < end && (unsigned char)(*q - '0') < 10)
        q++;
    if (q == f || q == end || *q != ':')
        return p;
    s->digits = n;
    s->ns = secs * 1000000000 + frac * scale[n];
    s->timed = true;
    return q + 1;
}

/*
 * Whether [p, q), which may be blank at first, is as wide as perf pads addresses, weights and data sources;
 * `before` is the blank that ends the field before.
 */
static bool perf_script_wide_field(const char *before, const char *p, const char *q)
{
    return p - before > 1 && q - before - 1 >= SP_PS_WIDE_COLUMNS;
}

/*
 * Whether the number [p, q) is a period where `-F` has no event behind it: an address of digits only is
 * padded to more columns, and what follows a period is an address or another such number.
 */
static bool perf_script_is_eventless_period(const char *before, const char *p, const char *q, const char *end)
{
    const char *t = perf_script_skip_blank(q, end);
    return !perf_script_wide_field(before, p, q) &&
           (t == end || perf_script_wide_field(q, t, perf_script_token_end(t, end)));
}

/* Period, event, rest. */
static void perf_script_event_name(const char *p, const char *end, struct sp_ps_sample *s)
{
    const char *before = p;
    p = perf_script_skip_blank(p, end);
    s->has_period = false;
    s->event = (struct sp_ps_text){NULL, 0};
    const char *q = perf_script_digits(p, end, &s->period);
    const char *t = p;
    if (q > p && (q == end || sp_ps_blank(*q))) {
        t = perf_script_skip_blank(q, end);
        s->has_period = true;
    }
    const char *u = perf_script_token_end(t, end);
    if (u - t > 1 && u[-1] == ':') {
        s->event = (struct sp_ps_text){t, (size_t)(u - t - 1)};
        t = perf_script_skip_blank(u, end);
    } else if (s->has_period && !perf_script_is_eventless_period(before, p, q, end)) {
        s->has_period = false;
        t = p;
    }
    while (end > t && sp_ps_blank(end[-1]))
        end--;
    s->rest = (struct sp_ps_text){t, (size_t)(end - t)};
}

/* Behind the letters of `-F misc` ("K", "Sp"), which are padded to six columns; p: there are none. */
static const char *perf_script_misc(const char *p, const char *end)
{
    const char *q = p;
    while (q < end && *q && strchr("KUHGgMESp", *q))
        q++;
    return q > p && q < end && sp_ps_blank(*q) ? perf_script_skip_blank(q, end) : p;
}

/* "[000]"; p: there is none. */
static const char *perf_script_cpu(const char *p, const char *end, int64_t *cpu)
{
    *cpu = SP_ABSENT;
    if (p == end || *p != '[')
        return p;
    const char *q = perf_script_digits(p + 1, end, cpu);
    if (q > p + 1 && q < end && *q == ']')
        return q + 1;
    *cpu = SP_ABSENT;
    return p;
}

/*
 * Without a time, a number before the event may be the tid or, where `-F` has no tid, the period. perf pads a
 * tid to five columns and a period to ten.
 */
static bool perf_script_is_period(const char *line, const char *start, const char *t, const char *end)
{
    const char *field = t;
    while (field > line && sp_ps_blank(field[-1]))
        field--;
    return end - t > SP_PS_TID_DIGITS || end - field - (t > start) >= SP_PS_PERIOD_COLUMNS;
}

/*
 * What follows pid/tid. Without a time, a number before another one that is too narrow for a period is of the
 * comm: "worker 1  6961 cpu-clock:".
 */
static bool perf_script_after_event(const char *p, const char *end, bool timed, unsigned how,
                                    struct sp_ps_sample *s)
{
    const char *next = perf_script_skip_blank(p, end), *before = p;
    const char *q = perf_script_cpu(next, end, &s->cpu);
    if (q == next && next < end && *next == '[')
        return false;
    p = perf_script_misc(perf_script_skip_blank(q, end), end);
    q = perf_script_time_of(p, end, s);
    if (q == p && timed)
        return false;
    perf_script_event_name(q, end, s);
    if (q == next && s->has_period &&
        !perf_script_is_period(before, before, next, perf_script_token_end(next, end)))
        return false;
    if (!s->timed && s->has_period && s->cpu != SP_ABSENT && (how & SP_PS_NO_CPU))
        return false; /* a comm and the tid: "cpu 3 [001] 6961 cpu-clock:" */
    return s->timed || s->event.p;
}

static bool perf_script_named(const char *start, const char *who, const char *end, struct sp_ps_sample *s)
{
    const char *c = who;
    while (c > start && sp_ps_blank(c[-1]))
        c--;
    s->comm = (struct sp_ps_text){start, (size_t)(c - start)};
    s->who = (struct sp_ps_text){start, (size_t)(end - start)};
    return true;
}

/* `-F` without tid and pid: "comm [000] K     12.345678: ...". */
static bool perf_script_without_tid(const char *p, const char *end, bool timed, unsigned how,
                                    struct sp_ps_sample *s)
{
    const char *start = perf_script_skip_blank(p, end);
    s->pid = s->tid = s->cpu = SP_ABSENT;
    for (const char *t = start; t < end; t = perf_script_skip_blank(perf_script_token_end(t, end), end)) {
        const char *cpu = how & SP_PS_NO_CPU ? t : perf_script_cpu(t, end, &s->cpu),
                   *misc = perf_script_skip_blank(cpu, end);
        const char *time = perf_script_misc(misc, end);
        if (time > misc && time - misc != 6 && cpu == t) /* the last letters of the comm */
            continue;
        if (cpu == t && (unsigned char)(*time - '0') > 9)
            continue;
        const char *q = perf_script_time_of(time, end, s);
        if (q == time && (timed || cpu == t))
            continue;
        perf_script_event_name(q, end, s);
        if (!s->timed && !s->event.p)
            continue;
        perf_script_named(start, t, t, s);
        s->who = s->comm;
        return true;
    }
    return false;
}

/* `how` has SP_PS_NO_TID: the only number that is looked for is a period before the event. */
static bool perf_script_with_tid(const char *p, const char *end, bool timed, unsigned how,
                                 struct sp_ps_sample *s)
{
    const char *start = perf_script_skip_blank(p, end);
    for (const char *t = start; t < end; t = perf_script_skip_blank(perf_script_token_end(t, end), end)) {
        if (*t != '-' && (unsigned char)(*t - '0') >= 10)
            continue;
        int64_t a, b;
        const char *q = perf_script_signed_digits(t, end, &a);
        if (q == t)
            continue;
        s->pid = SP_ABSENT;
        s->tid = a;
        if (q < end && *q == '/') {
            const char *r = perf_script_signed_digits(q + 1, end, &b);
            if (r == q + 1)
                continue;
            s->pid = a;
            s->tid = b;
            q = r;
        }
        if ((q < end && !sp_ps_blank(*q)) || !perf_script_after_event(q, end, timed, how, s))
            continue;
        if (s->timed || s->pid != SP_ABSENT || s->has_period || s->cpu != SP_ABSENT ||
            !perf_script_is_period(p, start, t, q)) {
            if (how & SP_PS_NO_TID)
                continue;
            return perf_script_named(start, t, q, s);
        }
        if ((how & SP_PS_NO_TID) && t == start && sp_ps_fills_comm(p, q))
            continue;
        if (memchr(start, ']', (size_t)(t - start)) && perf_script_without_tid(p, end, false, how, s))
            return true;
        s->tid = s->cpu = SP_ABSENT;
        s->has_period = true;
        s->period = a;
        perf_script_named(start, t, t, s);
        s->who = s->comm;
        return true;
    }
    return false;
}

/* Whether there is an event, and it is none that looks like a time. */
static bool perf_script_has_event(const struct sp_ps_sample *s)
{
    struct sp_ps_sample other;
    return s->event.p && perf_script_time_of(s->event.p, s->event.p + s->event.n + 1, &other) == s->event.p;
}

/*
 * A thread's name may look like a tid and a time ("abc 77 12.34:"): then there is no event where one is
 * looked for, and further on is all that a line has.
 */
static void perf_script_prefer_later(const char *p, const char *end, struct sp_ps_sample *s)
{
    struct sp_ps_sample later = {0};
    const char *start = perf_script_skip_blank(p, end), *behind = s->who.p + s->who.n;
    if (perf_script_has_event(s) || !perf_script_with_tid(behind, end, true, 0, &later) ||
        !perf_script_has_event(&later))
        return;
    later.comm = (struct sp_ps_text){start, (size_t)(later.comm.p + later.comm.n - start)};
    later.who = (struct sp_ps_text){start, (size_t)(later.who.p + later.who.n - start)};
    *s = later;
}

static bool perf_script_any_line(const char *p, const char *end, unsigned how, struct sp_ps_sample *s)
{
    s->timed = false;
    if (!(how & SP_PS_NO_TID) && perf_script_with_tid(p, end, true, how, s)) {
        perf_script_prefer_later(p, end, s);
        return true;
    }
    return perf_script_without_tid(p, end, true, how, s) ||
           ((how & SP_PS_TIMELESS) &&
            (perf_script_with_tid(p, end, false, how, s) || perf_script_without_tid(p, end, false, how, s)));
}

bool sp_ps_sample_line(const char *p, const char *end, unsigned how, struct sp_ps_sample *s)
{
    if (!perf_script_any_line(p, end, how, s))
        return false;
    /* What a record names is no field: "12 1.5 PERF_RECORD_COMM: 12 1.5:4294/4301". */
    const char *record =
        s->comm.n >= SP_PS_COMM_COLUMNS ? sp_ps_record_at(s->comm.p, s->comm.p + s->comm.n) : NULL;
    if (!record)
        return true;
    if (!perf_script_any_line(p, record, how, s) || s->event.p)
        return false;
    s->rest = (struct sp_ps_text){record, (size_t)(end - record)};
    return true;
}
