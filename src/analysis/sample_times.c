#include "analysis/sample_times.h"

#include "base/buf.h"
#include "base/num.h"
#include "model/off_cpu.h"
#include "model/step_ranges.h"

#include <stdlib.h>

/* Digits between a unit and the nanosecond; -1: not known. */
static int sample_times_digits_of(struct sp_str unit)
{
    static const struct {
        const char *name;
        int digits;
    } units[] = {{"seconds", 9},      {"s", 9},  {"milliseconds", 6}, {"ms", 6},
                 {"microseconds", 3}, {"us", 3}, {"nanoseconds", 0},  {"ns", 0}};
    if (!unit.n)
        return 9;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (sp_str_is(unit, units[i].name))
            return units[i].digits;
    return -1;
}

bool sp_time_ns(struct sp_str text, struct sp_str unit, int64_t *ns)
{
    int64_t m;
    unsigned scale;
    int digits = sample_times_digits_of(unit);
    if (!text.n || digits < 0 || !sp_parse_scaled(text.p, text.n, &m, &scale))
        return false;
    for (; (int)scale < digits; digits--)
        if (__builtin_mul_overflow(m, 10, &m))
            return false;
    for (; (int)scale > digits; digits++)
        m = m / 10 - (m % 10 < 0);
    *ns = m;
    return true;
}

bool sp_sample_times_set_range(struct sp_profile *p, int64_t lo, int64_t hi)
{
    struct sp_header *h = &p->header;
    char t[64];
    int digits = sample_times_digits_of(sp_pstr(p, h->time_unit));
    if (h->time_start && digits >= 0) {
        h->time_start = sp_profile_str(p, t, sp_scaled_text(lo, (unsigned)digits, t));
        h->time_end = sp_profile_str(p, t, sp_scaled_text(hi, (unsigned)digits, t));
    }
    if (h->duration)
        h->duration = sp_profile_str(p, t, sp_scaled_text(hi - lo, 9, t));
    return h->time_start != SP_STR_FAIL && h->time_end != SP_STR_FAIL && h->duration != SP_STR_FAIL;
}

bool sp_sample_time(const struct sp_sample_times *m, const struct sp_sample *x, int64_t *ns)
{
    if (x->flags & SP_SAMPLE_TIME) {
        *ns = x->time;
        return true;
    }
    return x->time_text && sp_time_ns(sp_pstr(m->p, x->time_text), sp_pstr(m->p, m->p->header.time_unit), ns);
}

bool sp_sample_is_interval(const struct sp_sample_times *m, const struct sp_sample *x)
{
    bool lasts =
        m->lengths != SP_NONE && x->event < m->p->events.n && m->p->events.v[x->event].primary == m->lengths;
    return (lasts || x->flags & SP_SAMPLE_LASTED) && x->period > 0;
}

bool sp_sample_span(const struct sp_sample_times *m, const struct sp_sample *x, int64_t *from, int64_t *to)
{
    int64_t t;
    if (!sp_sample_time(m, x, &t) || t == INT64_MAX)
        return false;
    bool interval = sp_sample_is_interval(m, x);
    *to = interval ? t : t + 1;
    *from = !interval ? t : t < INT64_MIN + x->period ? INT64_MIN : t - x->period;
    return true;
}

static int sample_times_cmp_window(const void *va, const void *vb)
{
    const struct sp_timed_window *a = va, *b = vb;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    if (a->hi != b->hi)
        return a->hi < b->hi ? -1 : 1;
    return (a->window > b->window) - (a->window < b->window);
}

static spaa_status find_windows(struct sp_sample_times *m, struct sp_diags *d)
{
    const struct sp_profile *p = m->p;
    for (uint32_t i = 0; i < p->windows.n; i++) {
        const struct sp_window *w = &p->windows.v[i];
        struct sp_str unit = sp_pstr(p, w->unit ? w->unit : p->header.time_unit);
        struct sp_timed_window x = {.window = i};
        if (!sp_time_ns(sp_pstr(p, w->start), unit, &x.lo) || !sp_time_ns(sp_pstr(p, w->end), unit, &x.hi) ||
            x.hi < x.lo) {
            m->untimed += w->n;
            continue;
        }
        if (!sp_vec_push(&m->windows, x))
            return sp_nomem(d);
        m->start = m->windows.n == 1 || x.lo < m->start ? x.lo : m->start;
        m->end = m->windows.n == 1 || x.hi > m->end ? x.hi : m->end;
    }
    if (m->windows.n)
        qsort(m->windows.v, m->windows.n, sizeof *m->windows.v, sample_times_cmp_window);
    return SPAA_OK;
}

static void find_samples(struct sp_sample_times *m)
{
    int64_t t;
    bool any = false;
    for (size_t i = 0; i < m->n; i++) {
        if (!sp_sample_time(m, &m->rows[i], &t) || t == INT64_MAX) {
            m->untimed++;
            continue;
        }
        int64_t from = t, to;
        sp_sample_span(m, &m->rows[i], &from, &to);
        m->start = !any || from < m->start ? from : m->start;
        m->end = !any || t >= m->end ? t + 1 : m->end;
        any = true;
    }
    if (!any) {
        m->rows = NULL;
        m->n = 0;
    }
}

bool sp_say_no_steps(const struct sp_profile *p, struct sp_diags *d)
{
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    bool sample = sp_str_is(tool, "sample");
    if (!(sample || sp_str_is(tool, "spindump")) || sp_step_ranges_any(p))
        return false;
    sp_emit_hint(d, SP_E600, SP_AT_NOTHING,
                 sample ? "record with `spindump PID -timeline`: `spaa timeline` shows when it was"
                        : "of the same tailspin: `spindump -i FILE.tailspin -timeline -stdout`; anew: "
                          "`spindump -timeline`: `spaa timeline` shows when it was",
                 sample ? "a report of sample(1) is in order of counts, not of time"
                        : "the report is in order of counts (heavy format), not of time");
    return true;
}

/* Windows may be counted in what is no time: massif's in instructions. */
static void say_no_times(const struct sp_profile *p, struct sp_diags *d)
{
    if (!p->windows.n && sp_step_ranges_any(p)) {
        sp_emit(d, SP_E609, SP_AT_NOTHING,
                "rows say between which steps they were seen, not in which of them");
        return;
    }
    if (!p->windows.n && sp_say_no_steps(p, d))
        return;
    struct sp_str unit = p->windows.n ? sp_pstr(p, p->windows.v[0].unit) : (struct sp_str){"", 0};
    if (sample_times_digits_of(unit) >= 0) {
        if (p->events.n && p->events.v[0].kind == SP_ALLOCATION)
            sp_emit_hint(
                d, SP_E600, SP_AT_NOTHING,
                "`spaa timeline FIRST LATER…` of several dumps; or record with heaptrack, or valgrind "
                "--tool=massif --time-unit=ms",
                "it is of one moment");
        else
            sp_emit(d, SP_E600, SP_AT_NOTHING, " ");
        return;
    }
    sp_emit_hint(d, SP_E600, SP_AT_NOTHING, "record in time: valgrind --tool=massif --time-unit=ms",
                 "the windows of this profile are in %.*s, which are no time",
                 (int)(unit.n < 40 ? unit.n : 40), unit.p);
}

static spaa_status times_of(const struct sp_profile *p, bool samples, struct sp_diags *d,
                            struct sp_sample_times *out)
{
    struct sp_sample_times m = {.p = p, .lengths = sp_metric_find(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS))};
    spaa_status st = samples && p->samples ? sp_samples_rows(p->samples, &m.rows, &m.n) : SPAA_OK;
    if (!st && m.n)
        find_samples(&m);
    if (!st && !m.rows)
        st = find_windows(&m, d);
    if (!st && !m.rows && !m.windows.n) {
        say_no_times(p, d);
        st = SPAA_ERR_USAGE;
    }
    if (st) {
        sp_sample_times_free(&m);
        return st;
    }
    if (m.untimed)
        sp_emit(d, SP_W610, SP_AT_NOTHING, "%llu%s", (unsigned long long)m.untimed,
                m.rows ? "" : " stacks of windows");
    if (!sp_time_ns(sp_pstr(p, p->header.time_start), sp_pstr(p, p->header.time_unit), &m.zero))
        m.zero = m.start;
    *out = m;
    return SPAA_OK;
}

spaa_status sp_sample_times_of(const struct sp_profile *p, struct sp_diags *d, struct sp_sample_times *out)
{
    return times_of(p, true, d, out);
}

spaa_status sp_window_times_of(const struct sp_profile *p, struct sp_diags *d, struct sp_sample_times *out)
{
    return times_of(p, false, d, out);
}

void sp_sample_times_free(struct sp_sample_times *m)
{
    sp_vec_free(&m->windows);
}

spaa_status sp_sample_times_zero(const struct sp_profile *p, struct sp_diags *d, int64_t *zero)
{
    struct sp_sample_times times;
    spaa_status st = sp_sample_times_of(p, d, &times);
    if (st)
        return st;
    *zero = times.zero;
    sp_sample_times_free(&times);
    return SPAA_OK;
}

/* ---- ranges ---- */

static bool parse_end(const struct sp_sample_times *m, const char *p, size_t n, bool absolute, int64_t *out)
{
    if (n && *p == '@') {
        absolute = true;
        p++;
        n--;
    }
    if (!n)
        return true; /* open */
    return sp_seconds_ns(p, n, out) && (absolute || !__builtin_add_overflow(*out, m->zero, out));
}

spaa_status sp_sample_times_range(const struct sp_sample_times *m, const char *text, struct sp_diags *d,
                                  int64_t *lo, int64_t *hi)
{
    const char *dots = strstr(text, "..");
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (dots && parse_end(m, text, (size_t)(dots - text), false, lo) &&
        parse_end(m, dots + 2, strlen(dots + 2), *text == '@', hi) && *lo < *hi)
        return SPAA_OK;
    sp_emit(d, SP_E601, SP_AT_NOTHING, "\"%s\"", text);
    return SPAA_ERR_USAGE;
}

static void add_range(struct sp_buf *b, const struct sp_sample_times *m, int64_t lo, int64_t hi)
{
    char t[64];
    sp_buf_add(b, t, sp_scaled_text((__int128)lo - m->zero, 9, t));
    sp_buf_puts(b, "..");
    sp_buf_add(b, t, sp_scaled_text((__int128)hi - m->zero, 9, t));
}

spaa_status sp_sample_times_windows(const struct sp_sample_times *m, int64_t lo, int64_t hi,
                                    struct sp_diags *d, size_t *first, size_t *n)
{
    int64_t least = hi, most = lo;
    bool cut = false, overlap = false;
    *first = *n = 0;
    for (size_t i = 0; i < m->windows.n; i++) {
        const struct sp_timed_window *w = &m->windows.v[i];
        if (w->lo >= hi || w->hi < lo || (w->hi == lo && w->lo != lo))
            continue;
        *first = *n ? *first : i;
        overlap = overlap || (*n && w->lo < most);
        *n = i - *first + 1; /* windows sorted by lo: those between that end early were cut anyhow */
        cut = cut || w->lo < lo || w->hi > hi;
        least = w->lo < least ? w->lo : least;
        most = w->hi > most ? w->hi : most;
    }
    if (!cut && !overlap)
        return SPAA_OK;
    struct sp_buf hint;
    sp_buf_init(&hint, 4096);
    if (cut) {
        sp_buf_puts(&hint, "the windows that touch it reach over ");
        add_range(&hint, m, least, most);
        sp_buf_puts(&hint, " s");
    } else {
        sp_buf_puts(&hint, "ask for one of them, as `spaa timeline` lists them");
    }
    sp_emit_hint(d, SP_E602, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s",
                 cut ? "it cuts through windows, and there are no samples"
                     : "windows in it overlap, and there are no samples");
    sp_buf_free(&hint);
    return SPAA_ERR_USAGE;
}

/* ---- weights ---- */

enum sp_weighing sp_weighing_of(const struct sp_profile *p, uint32_t event, uint32_t metric)
{
    struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
    uint32_t period = sp_metric_find(p, "period", 6);
    bool counts = sp_str_is(name, "count"), periods = false;
    if (sp_str_is(name, "samples") || (sp_str_is(name, SP_OFF_CPU_WAITS) && event == sp_off_cpu_event(p)))
        return SP_WEIGH_ONE;
    if (metric == period)
        return SP_WEIGH_PERIOD;
    /* Where an event has periods beside its counts, the number of a sample is the period. */
    for (uint32_t i = 0; counts && period != SP_NONE && i < p->stacks.n && !periods; i++)
        periods =
            p->contexts.v[p->stacks.v[i].context].event == event && sp_weight(p, i, period) != SP_ABSENT;
    if (periods)
        return SP_WEIGH_ONE;
    /* Of allocations that all were recorded each sample is one. */
    if (sp_str_is(name, "alloc_count") && p->events.v[event].kind == SP_ALLOCATION &&
        p->events.v[event].mode == SP_EVENT)
        return SP_WEIGH_ONE;
    if (metric != p->events.v[event].primary)
        return SP_WEIGH_NOT;
    return counts ? SP_WEIGH_PERIOD_OR_ONE : SP_WEIGH_PERIOD;
}

spaa_status sp_weighing_or_say(const struct sp_profile *p, uint32_t event, uint32_t metric,
                               struct sp_diags *d, enum sp_weighing *out)
{
    *out = sp_weighing_of(p, event, metric);
    if (*out != SP_WEIGH_NOT)
        return SPAA_OK;
    struct sp_buf hint;
    struct sp_str primary = sp_pstr(p, p->metrics.v[p->events.v[event].primary].name),
                  name = sp_pstr(p, p->metrics.v[metric].name);
    sp_buf_init(&hint, 4096);
    sp_buf_printf(&hint, "--metric %.*s or --metric samples", (int)primary.n, primary.p);
    sp_emit_hint(d, SP_E604, SP_AT_NOTHING, sp_buf_cstr(&hint), "%.*s", (int)name.n, name.p);
    sp_buf_free(&hint);
    return SPAA_ERR_USAGE;
}

struct sp_value sp_sample_value(const struct sp_sample *x, enum sp_weighing how)
{
    if (how == SP_WEIGH_ONE || (how == SP_WEIGH_PERIOD_OR_ONE && x->period == SP_ABSENT))
        return (struct sp_value){1, 0};
    return (struct sp_value){x->period, x->period_text};
}

struct sp_value sp_sample_part(const struct sp_sample_times *m, const struct sp_sample *x,
                               enum sp_weighing how, int64_t lo, int64_t hi)
{
    const struct sp_value none = {SP_ABSENT, 0};
    int64_t from, to;
    if (!sp_sample_span(m, x, &from, &to) || to <= lo || from >= hi)
        return none;
    if (!sp_sample_is_interval(m, x) || how != SP_WEIGH_PERIOD) {
        to -= !sp_sample_is_interval(m, x);
        return to >= lo && to < hi ? sp_sample_value(x, how) : none;
    }
    return (struct sp_value){(to < hi ? to : hi) - (from > lo ? from : lo), 0};
}

struct sp_value sp_window_value(const struct sp_profile *p, const struct sp_window_row *r, uint32_t metric)
{
    const struct sp_layout *l = r->layout == SP_NONE ? NULL : &p->layouts.v[r->layout];
    for (uint32_t i = 0; l && i < l->n; i++)
        if (p->layout_fields.v[l->first + i].metric == metric)
            return p->values.v[r->first + i];
    return (struct sp_value){SP_ABSENT, 0};
}
