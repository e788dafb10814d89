/* What the memory of a summary is made of: which rows of own functions are shown, and what grows or was lost.
 */
#include "ask/summary.h"

#include "analysis/heap_weights.h"
#include "analysis/names.h"
#include "analysis/owners.h"
#include "analysis/sample_times.h"
#include "analysis/tally.h"
#include "ask/memory_moment.h"
#include "json/find.h"

/* ---- which metric ---- */

static int64_t sum_of(const struct sp_profile *p, uint32_t event, uint32_t metric)
{
    int64_t sum = SP_ABSENT;
    for (uint32_t i = 0; metric != SP_NONE && i < p->stacks.n; i++) {
        int64_t v = sp_weight(p, i, metric);
        if (v != SP_ABSENT && v != SP_DECIMAL && p->contexts.v[p->stacks.v[i].context].event == event)
            sp_tally_add(&sum, v);
    }
    return sum;
}

uint32_t sp_summary_memory_event(const struct sp_profile *p, struct sp_leak_sums *all)
{
    for (uint32_t e = 0; e < p->events.n; e++) {
        bool any = false;
        for (int m = 0; m < SP_LEAK_METRICS; m++) {
            uint32_t metric = sp_metric_find(p, sp_leak_metric_names[m], strlen(sp_leak_metric_names[m]));
            bool adds = metric != SP_NONE && sp_metric_adds(p, e, metric);
            all->v[m] = adds ? sum_of(p, e, metric) : SP_ABSENT;
            any = any || all->v[m] > 0;
        }
        if (any && p->events.v[e].kind == SP_ALLOCATION)
            return e;
    }
    return SP_NONE;
}

void sp_summary_memory_choose(const struct sp_ask *q, struct sp_select_opts *how)
{
    const struct sp_profile *p = q->profiles[0];
    uint32_t event = how->event ? sp_event_find(p, how->event, strlen(how->event)) : sp_default_event(p);
    if (how->metric || how->time || event == SP_NONE)
        return;
    const struct sp_event *e = &p->events.v[event];
    bool sampled = e->mode == SP_PERIOD && e->sample_period != SP_STR_NONE;
    if (e->kind != SP_ALLOCATION || e->primary == SP_NONE || !sp_is_of_memory(p, e->primary) || sampled)
        return;
    struct sp_leak_sums all;
    if (!sp_str_is(sp_pstr(p, p->metrics.v[e->primary].name), "alloc_bytes"))
        return; /* the reader knows better what there is of it */
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        uint32_t metric = sp_metric_find(p, sp_leak_metric_names[m], strlen(sp_leak_metric_names[m]));
        bool adds = metric != SP_NONE && sp_metric_adds(p, event, metric) && p->sources.n < 2;
        all.v[m] = adds || m != SP_LEAK_PEAK_BYTES ? sum_of(p, event, metric) : SP_ABSENT;
    }
    enum sp_leak_metric rank = sp_own_memory_rank(&all);
    if (all.v[rank] > 0)
        how->metric = sp_leak_metric_names[rank];
}

/* ---- what the recording says of itself ---- */

/* When the peak was, of massif and DHAT: in a time or in another measure of how far the program was. */
static void memory_of_valgrind(struct sp_summary_memory *y, struct sp_span header)
{
    static const struct {
        const char *unit, *noun;
        int64_t per_ms;
    } units[] = {{"\"ms\"", NULL, 1},
                 {"\"\xc2\xb5s\"", NULL, 1000},
                 {"\"i\"", "instructions", 0},
                 {"\"instrs\"", "instructions", 0},
                 {"\"B\"", "bytes allocated and freed", 0}};
    struct sp_span unit, peak;
    int64_t at = SP_ABSENT;
    bool dhat = sp_json_find2(header, "x_dhat", "time_unit", &unit);
    if (!dhat && !sp_json_find2(header, "x_massif", "time_unit", &unit))
        return;
    if (dhat && sp_json_find(header, "x_dhat", &peak))
        sp_json_find_i64(peak, "peak", &at);
    else if (sp_json_find2(header, "x_massif", "peak", &peak))
        sp_json_find_i64(peak, "time", &at);
    for (size_t i = 0; at != SP_ABSENT && i < sizeof units / sizeof *units; i++) {
        if (!sp_span_is(unit, units[i].unit))
            continue;
        if (units[i].per_ms) {
            y->peak_ms = at / units[i].per_ms;
        } else {
            y->peak_at = at;
            y->peak_unit = units[i].noun;
        }
    }
}

static void memory_header(struct sp_summary_memory *y, const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span totals, header = {more.p, more.n};
    y->peak_ms = y->rss = y->runtime_ms = y->peak_at = SP_ABSENT;
    y->moment = sp_memory_moment_of(p, x->x.s.event, y->m.leaks.told);
    if (more.n)
        memory_of_valgrind(y, header);
    if (!more.n || !sp_json_find2(header, "x_heaptrack", "totals", &totals))
        return;
    sp_json_find_i64(totals, "peak_time_ms", &y->peak_ms);
    sp_json_find_i64(totals, "peak_rss_bytes", &y->rss);
    sp_json_find_i64(totals, "runtime_ms", &y->runtime_ms);
}

/* ---- the whole ---- */

/* A metric that all records with memory have, so that none is left out; that of the selection where it is. */
static uint32_t whole_metric(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    uint32_t best = x->x.s.metric;
    size_t most = 0;
    for (int m = -1; m < SP_LEAK_METRICS; m++) {
        uint32_t metric =
            m < 0 ? best : sp_metric_find(p, sp_leak_metric_names[m], strlen(sp_leak_metric_names[m]));
        size_t n = 0;
        for (uint32_t i = 0; metric != SP_NONE && i < p->stacks.n; i++)
            n += p->contexts.v[p->stacks.v[i].context].event == x->x.s.event &&
                 sp_weight(p, i, metric) != SP_ABSENT;
        if (n > most) {
            most = n;
            best = metric;
        }
    }
    return best;
}

static enum sp_leak_metric rank_asked(const struct sp_selection *s)
{
    struct sp_str name = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
    int m = s->cannot_add ? -1 : sp_name_index(sp_leak_metric_names, name.p, name.n);
    return m < 0 ? SP_LEAK_METRICS : (enum sp_leak_metric)m;
}

/* Whether windows are of time, not of instructions or of bytes: growth is of these alone. */
static bool windows_have_time(const struct sp_profile *p)
{
    int64_t ns;
    for (size_t i = 0; i < p->windows.n; i++)
        if (sp_time_ns(sp_pstr(p, p->windows.v[i].start), sp_pstr(p, p->windows.v[i].unit), &ns))
            return true;
    return false;
}

static spaa_status memory_of(struct sp_summary *x, struct sp_selection *s)
{
    struct sp_profile *p = x->x.q->profiles[0];
    size_t windows = p->windows.n;
    if (!windows_have_time(p))
        p->windows.n = 0;
    spaa_status st = sp_own_memory_of(s, &x->x.own, rank_asked(&x->x.s), x->x.q->diags, &x->memory.m);
    p->windows.n = windows;
    return st;
}

static spaa_status memory_rows(struct sp_summary *x, struct sp_selection *s)
{
    struct sp_diags *d = x->x.q->diags;
    struct sp_summary_memory *y = &x->memory;
    struct sp_leak_records records;
    spaa_status st = memory_of(x, s);
    if (st)
        return st;
    y->known = true;
    for (size_t i = 0; i < s->rows.n; i++) {
        size_t n = s->profile->stacks.v[s->rows.v[i].stack].n;
        y->deepest = n > y->deepest ? n : y->deepest;
    }
    y->go = sp_heap_is_of_go(s->profile);
    memory_header(y, x);
    sp_summary_memory_choose_rows(y);
    st = sp_leak_records_of(s, &y->m.leaks, d, &records);
    records.gained = NULL; /* owners stand by what they hold */
    for (size_t i = 0; !st && i < y->nowners; i++)
        st = sp_leak_callers_of(s, &records, &x->x.own, &y->m.leaks.rows.v[y->m.rows.v[y->owners[i]].leak], d,
                                &y->callers[i]);
    records.gained = y->m.leaks.gained;
    for (size_t i = 0; !st && i < y->nleaks; i++)
        st = sp_leak_callers_of(s, &records, &x->x.own, &y->m.leaks.rows.v[y->leaks[i]], d,
                                &y->leak_callers[i]);
    sp_leak_records_free(&records);
    sp_summary_memory_choose_wrapper(x);
    return st;
}

spaa_status sp_summary_memory(struct sp_summary *x)
{
    struct sp_select_opts how;
    struct sp_selection whole;
    const struct sp_profile *p = x->x.s.profile;
    if (!x->x.s.rows.n || x->x.s.timed || p->events.v[x->x.s.event].kind != SP_ALLOCATION ||
        !sp_is_of_memory(p, x->x.s.metric))
        return SPAA_OK;
    uint32_t metric = whole_metric(x);
    if (metric == x->x.s.metric)
        return memory_rows(x, &x->x.s);
    if (!sp_ask_select_opts(x->x.q, &how))
        return SPAA_ERR_USAGE;
    how.event = NULL;
    how.event_number = &x->x.s.event;
    how.metric = sp_pstr(p, p->metrics.v[metric].name).p;
    spaa_status st = sp_ask_select(x->x.q, &how, &whole);
    if (st)
        return st;
    st = memory_rows(x, &whole);
    sp_selection_free(&whole);
    return st;
}

void sp_summary_memory_free(struct sp_summary *x)
{
    if (x->memory.known)
        sp_own_memory_free(&x->memory.m);
}
