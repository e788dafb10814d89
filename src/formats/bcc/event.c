/* What the records of a title count: events and their metrics. */
#include "base/num.h"
#include "formats/bcc/bcc.h"

enum { EVENTS_MAX = 256 };

int64_t bcc_unit(const struct bcc_stacks *s, const struct bcc_title *t)
{
    bool times = t->tool == BCC_OFF_CPU || t->tool == BCC_WAKEUP || t->tool == BCC_OFF_WAKE;
    return !times ? 0 : s->unit ? s->unit : t->said ? 1000 : 0;
}

/* The number texts of how often samples were taken. */
static bool bcc_rate(struct bcc_stacks *s, const struct bcc_title *t, struct sp_event *e)
{
    char text[20];
    if (t->hertz)
        e->frequency_hz = sp_profile_str(s->p, text, sp_u64_text((uint64_t)t->hertz, text));
    if (t->every)
        e->sample_period = sp_profile_str(s->p, text, sp_u64_text((uint64_t)t->every, text));
    return e->frequency_hz != SP_STR_FAIL && e->sample_period != SP_STR_FAIL;
}

static uint32_t bcc_add_event(struct bcc_stacks *s, struct sp_event *e, uint32_t name, const char *metric)
{
    e->name = name;
    e->primary = sp_metric_intern(s->p, metric, strlen(metric));
    return e->name == SP_STR_FAIL || e->primary == SP_NONE ? SP_NONE : sp_event_add(s->p, e);
}

static bool bcc_declare_heap(struct bcc_stacks *s, struct bcc_event *e)
{
    struct sp_event x = {.kind = SP_ALLOCATION, .mode = SP_EVENT};
    uint32_t bytes = sp_profile_cstr(s->p, "bytes"), count = sp_profile_cstr(s->p, "count");
    x.unit = bytes;
    x.allocation_tracking = sp_profile_cstr(s->p, "{\"tracks_frees\":true,\"has_timestamps\":false}");
    e->event = bcc_add_event(s, &x, sp_profile_cstr(s->p, "heap"), "live_bytes");
    e->metric = x.primary;
    e->second = sp_metric_intern(s->p, "live_count", 10);
    if (bytes == SP_STR_FAIL || count == SP_STR_FAIL || x.allocation_tracking == SP_STR_FAIL ||
        e->event == SP_NONE || e->second == SP_NONE)
        return false;
    e->layout = sp_layout_simple(s->p, e->metric, bytes, e->second, count);
    return e->layout != SP_NONE;
}

static bool bcc_declare_plain(struct bcc_stacks *s, struct bcc_event *e)
{
    static const char *const names[] = {"bcc", "offcputime", "profile", "stackcount"};
    static const char *const metrics[] = {"value", "value", "samples", "count"};
    enum bcc_tool tool = e->title.tool;
    struct sp_event x = {.kind = tool == BCC_UNTOLD   ? SP_SOFTWARE
                                 : tool == BCC_COUNTS ? SP_PROBE
                                                      : SP_TIMER,
                         .mode = tool == BCC_COUNTS                      ? SP_EVENT
                                 : tool == BCC_SAMPLES && e->title.hertz ? SP_FREQUENCY
                                                                         : SP_PERIOD};
    if (e->title.every) /* cycles, or the clock where those are not to be had: which is not said */
        x.kind = SP_SOFTWARE;
    if (!bcc_rate(s, &e->title, &x))
        return false;
    e->event = bcc_add_event(s, &x, e->probe ? e->probe : sp_profile_cstr(s->p, names[tool]), metrics[tool]);
    e->metric = x.primary;
    if (tool == BCC_COUNTS && (e->second = sp_metric_intern(s->p, "samples", 7)) == SP_NONE)
        return false;
    e->layout = sp_layout_simple(s->p, e->metric, SP_STR_NONE, e->second, SP_STR_NONE);
    return e->event != SP_NONE && e->layout != SP_NONE;
}

/* What others waited, by the stack that woke them: no time that this stack took, or waited. */
static bool bcc_declare_wakers(struct bcc_stacks *s, struct bcc_event *e)
{
    bool times = bcc_unit(s, &e->title), both = e->title.tool == BCC_OFF_WAKE;
    uint32_t ns = times ? sp_profile_cstr(s->p, "ns") : SP_STR_NONE;
    struct sp_event x = {.kind = SP_SOFTWARE, .mode = SP_EVENT, .unit = ns};
    uint32_t name = sp_profile_cstr(s->p, both ? "offwaketime wakers" : "wakeuptime");
    e->wakers = ns == SP_STR_FAIL ? SP_NONE : bcc_add_event(s, &x, name, times ? "blocked_ns" : "value");
    e->wakers_metric = x.primary;
    if (e->wakers == SP_NONE)
        return false;
    e->wakers_layout = sp_layout_simple(s->p, e->wakers_metric, ns, SP_NONE, SP_STR_NONE);
    return e->wakers_layout != SP_NONE;
}

static bool bcc_declare_waiters(struct bcc_stacks *s, struct bcc_event *e)
{
    struct sp_event x = {.kind = SP_SOFTWARE, .mode = SP_EVENT};
    e->event = bcc_add_event(s, &x, sp_profile_cstr(s->p, "offwaketime"), "value");
    e->metric = x.primary;
    if (e->event == SP_NONE)
        return false;
    e->layout = sp_layout_simple(s->p, e->metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    s->p->header.default_event = s->p->events.v[e->event].name;
    return e->layout != SP_NONE;
}

static bool bcc_declare(struct bcc_stacks *s, struct bcc_event *e)
{
    switch (e->title.tool) {
    case BCC_HEAP:
        return bcc_declare_heap(s, e);
    case BCC_WAKEUP:
        return bcc_declare_wakers(s, e);
    case BCC_OFF_WAKE:
        return bcc_declare_waiters(s, e) && bcc_declare_wakers(s, e);
    default:
        return bcc_declare_plain(s, e);
    }
}

static struct bcc_event *bcc_known_event(struct bcc_stacks *s, const struct bcc_event *e)
{
    for (size_t i = 0; i < s->events.n; i++) {
        struct bcc_event *x = &s->events.v[i];
        if (x->title.tool == e->title.tool && x->title.said == e->title.said &&
            x->title.hertz == e->title.hertz && x->title.every == e->title.every && x->probe == e->probe)
            return x;
    }
    return NULL;
}

spaa_status bcc_event_of(struct bcc_stacks *s, const struct bcc_title *t, const struct bcc_event **out)
{
    struct bcc_event e = {.title = *t, .event = SP_NONE, .second = SP_NONE, .wakers = SP_NONE};
    if (t->tool == BCC_UNTOLD && s->unit)
        e.title.tool = BCC_OFF_CPU;
    if (t->probe.n && (e.probe = sp_profile_text(s->p, t->probe.p, t->probe.n)) == SP_STR_FAIL)
        return sp_nomem(s->d);
    if ((*out = bcc_known_event(s, &e)))
        return SPAA_OK;
    if (s->events.n == EVENTS_MAX) {
        sp_emit(s->d, SP_E007, SP_AT_NOTHING, "more than %d kinds of events", EVENTS_MAX);
        return SPAA_ERR_LIMIT;
    }
    e.title.probe = (struct sp_str){"", 0}; /* it pointed into a line */
    if (!bcc_declare(s, &e) || !sp_vec_push(&s->events, e))
        return sp_nomem(s->d);
    *out = &s->events.v[s->events.n - 1];
    return SPAA_OK;
}
