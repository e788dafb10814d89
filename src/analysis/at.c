#include "analysis/at.h"

#include "analysis/names.h"
#include "base/num.h"
#include "model/events.h"

#include <stdio.h>

spaa_status sp_at_parse(const char *text, struct sp_diags *d, struct sp_at *out)
{
    *out = (struct sp_at){.kind = SP_AT_NONE};
    if (!text)
        return SPAA_OK;
    if (strcmp(text, "peak") == 0)
        out->kind = SP_AT_PEAK;
    else if (strcmp(text, "end") == 0)
        out->kind = SP_AT_END;
    else if (sp_seconds_ns(text, strlen(text), &out->ns) && out->ns >= 0)
        out->kind = SP_AT_TIME;
    if (out->kind != SP_AT_NONE)
        return SPAA_OK;
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "peak, end, or seconds from the start, like 2.5",
                 "--at takes a moment, not \"%s\"", text);
    return SPAA_ERR_USAGE;
}

/* ---- the metric ---- */

static spaa_status at_conflict(const struct sp_select_opts *o, const char *bytes, const char *count,
                               struct sp_diags *d)
{
    char hint[96];
    snprintf(hint, sizeof hint, "leave --metric away, or name %s or %s", bytes, count);
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, hint, "--at %s is of %s, not of %s", o->at, bytes, o->metric);
    return SPAA_ERR_USAGE;
}

static spaa_status at_unknown(struct sp_diags *d, const char *hint, const char *why)
{
    sp_emit_hint(d, SP_E607, SP_AT_NOTHING, hint, "%s", why);
    return SPAA_ERR_USAGE;
}

/* The event asked about, or any where none is named. */
static bool at_some_event(const struct sp_profile *p, const struct sp_select_opts *o, const char *metric,
                          bool adds)
{
    for (uint32_t e = 0; e < p->events.n; e++) {
        bool meant = o->event_number ? e == *o->event_number
                                     : !o->event || sp_str_is(sp_pstr(p, p->events.v[e].name), o->event);
        if (meant && sp_event_metric(p, e, metric) != SP_NONE && (!adds || sp_peaks_add(p, e)))
            return true;
    }
    return false;
}

static spaa_status at_check_peak(const struct sp_profile *p, const struct sp_select_opts *o,
                                 struct sp_diags *d)
{
    if (at_some_event(p, o, o->metric, true))
        return SPAA_OK;
    if (at_some_event(p, o, o->metric, false))
        return at_unknown(
            d, "--metric peak_bytes shows them one by one",
            "whether the peaks of this file's stacks are of one moment is not known: they may be "
            "no parts of one peak");
    if (sp_event_find(p, "peak_space", strlen("peak_space")) != SP_NONE) /* what pprof calls it */
        return at_unknown(d, "ask the recording that it was made of; --event peak_space shows what is there",
                          "whether the peak_space of this file's stacks is of one moment it does not say");
    return at_unknown(
        d,
        "record with heaptrack, or valgrind --tool=massif or dhat, which know the peak; or take "
        "dumps in between, and spaa leaks FIRST LATER…",
        "this file is of one moment: what was live at the peak is not in it (--at end is what it "
        "has)");
}

spaa_status sp_at_choose(const struct sp_profile *p, const struct sp_at *at, struct sp_select_opts *o,
                         struct sp_diags *d)
{
    const char *bytes = at->kind == SP_AT_PEAK ? "peak_bytes" : "live_bytes",
               *count = at->kind == SP_AT_PEAK ? "x_peak_count" : "live_count";
    if (at->kind == SP_AT_NONE)
        return SPAA_OK;
    if (o->metric && strcmp(o->metric, bytes) != 0 && strcmp(o->metric, count) != 0)
        return at_conflict(o, bytes, count, d);
    if (o->time) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "spaa timeline FILE --time A..B shows what changed",
                     "--at is of a moment, --time of a range");
        return SPAA_ERR_USAGE;
    }
    o->metric = o->metric ? o->metric : bytes;
    if (at->kind == SP_AT_PEAK)
        return at_check_peak(p, o, d);
    if (at_some_event(p, o, o->metric, false))
        return SPAA_OK;
    return at_unknown(d, "`spaa info` shows which metrics there are",
                      "what is live is not known of this file");
}

/* ---- the windows up to a time ---- */

/* The windows do not end there: when they do. */
static spaa_status at_between(const struct sp_sample_times *m, int64_t ns, struct sp_diags *d)
{
    int64_t before = m->zero, after = INT64_MAX;
    char a[64], b[64], hint[256];
    for (size_t i = 0; i < m->windows.n; i++) {
        int64_t end = m->windows.v[i].hi;
        before = end <= m->zero + ns && end > before ? end : before;
        after = end >= m->zero + ns && end < after ? end : after;
    }
    sp_scaled_text((__int128)before - m->zero, 9, a);
    sp_scaled_text((__int128)after - m->zero, 9, b);
    snprintf(hint, sizeof hint, "--at %s or --at %s; the recording itself knows every moment", a, b);
    return at_unknown(d, hint, "the windows of this file do not end at that time");
}

static spaa_status at_after_end(int64_t zero, int64_t end, struct sp_diags *d)
{
    char t[64], why[128];
    sp_scaled_text((__int128)end - zero, 9, t);
    snprintf(why, sizeof why, "the recording ends at %s s", t);
    return at_unknown(d, "--at end", why);
}

/* The header's own end; false: it says none. */
static bool at_header_end(const struct sp_profile *p, int64_t *zero, int64_t *end)
{
    struct sp_str unit = sp_pstr(p, p->header.time_unit);
    return sp_time_ns(sp_pstr(p, p->header.time_start), unit, zero) &&
           sp_time_ns(sp_pstr(p, p->header.time_end), unit, end);
}

bool sp_windows_lack_stacks(const struct sp_profile *p, const struct sp_sample_times *m, uint32_t metric,
                            int64_t end)
{
    for (size_t i = 0; i < m->windows.n && m->windows.v[i].hi <= end; i++) {
        const struct sp_window *w = &p->windows.v[m->windows.v[i].window];
        for (uint32_t k = 0; k < w->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[w->first + k];
            int64_t v = r->stack == SP_NONE ? 0 : SP_ABSENT;
            v = v == SP_ABSENT ? v : sp_window_value(p, r, metric).v;
            if (v != SP_ABSENT && v)
                return true;
        }
    }
    return false;
}

/* Whether the windows tell which stacks were live then. */
static spaa_status at_check_windows(const struct sp_profile *p, const struct sp_at *at, uint32_t metric,
                                    struct sp_diags *d, const struct sp_sample_times *m, int64_t end)
{
    bool fits = !at->ns;
    for (size_t i = 0; i < m->windows.n; i++)
        fits = fits || m->windows.v[i].hi == end;
    if (end > m->end)
        return at_after_end(m->zero, m->end, d);
    if (!fits)
        return at_between(m, at->ns, d);
    if (sp_windows_lack_stacks(p, m, metric, end))
        return at_unknown(d, "--at peak or --at end, where the file has stacks",
                          "up to then the file has totals without stacks");
    return SPAA_OK;
}

spaa_status sp_at_windows(const struct sp_profile *p, const struct sp_at *at, const char *metric,
                          struct sp_diags *d, struct sp_sample_times *out, int64_t *end)
{
    int64_t zero, last;
    *out = (struct sp_sample_times){.p = p};
    bool ends = at_header_end(p, &zero, &last);
    if (p->header.stopped && p->header.stop == at->ns)
        return ends && p->header.ended && at->ns > last - zero ? at_after_end(zero, last, d) : SPAA_OK;
    if (!p->windows.n)
        return at_unknown(d, "ask the recording itself (heaptrack's own file), or dumps taken at that time",
                          "this file does not say what was live at other times than its end");
    spaa_status st = sp_window_times_of(p, d, out);
    if (st)
        return st;
    *end = out->zero + at->ns;
    st = at_check_windows(p, at, sp_metric_find(p, metric, strlen(metric)), d, out, *end);
    if (st) {
        sp_sample_times_free(out);
        *out = (struct sp_sample_times){.p = p};
    }
    return st;
}
