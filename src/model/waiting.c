#include "model/waiting.h"

#include "base/num.h"
#include "model/off_cpu.h"

#include <string.h>

static bool waiting_metric_is(const struct sp_profile *p, uint32_t metric, const char *name)
{
    return metric != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[metric].name), name);
}

static bool waiting_found(uint32_t e, uint32_t m, uint32_t *event, uint32_t *metric)
{
    *event = e;
    *metric = m;
    return true;
}

bool sp_waiting_of(const struct sp_profile *p, uint32_t *event, uint32_t *metric)
{
    uint32_t off = sp_metric_find(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS)),
             delay = sp_metric_find(p, SP_WAITING_DELAY, strlen(SP_WAITING_DELAY)), e = sp_off_cpu_event(p);
    if (e != SP_NONE && off != SP_NONE)
        return waiting_found(e, off, event, metric);
    for (e = 0; e < p->events.n && delay != SP_NONE; e++)
        if (sp_str_is(sp_pstr(p, p->events.v[e].name), SP_WAITING_DELAY_EVENT) &&
            p->events.v[e].primary == delay)
            return waiting_found(e, delay, event, metric);
    *event = *metric = SP_NONE;
    return false;
}

/* Whether some stack of the event has weight of a metric. */
static bool waiting_has(const struct sp_profile *p, uint32_t event, uint32_t metric)
{
    for (uint32_t s = 0; metric != SP_NONE && s < p->stacks.n; s++)
        if (p->contexts.v[p->stacks.v[s].context].event == event && sp_weight(p, s, metric) != SP_ABSENT)
            return true;
    return false;
}

uint32_t sp_waiting_count(const struct sp_profile *p, uint32_t event)
{
    uint32_t waits = sp_metric_find(p, SP_OFF_CPU_WAITS, strlen(SP_OFF_CPU_WAITS)),
             count = sp_metric_find(p, "count", 5);
    if (waiting_has(p, event, waits))
        return waits;
    return waiting_metric_is(p, p->events.v[event].primary, SP_WAITING_DELAY) && waiting_has(p, event, count)
               ? count
               : SP_NONE;
}

bool sp_waiting_is_about_states(const struct sp_profile *p, uint32_t event)
{
    uint32_t primary = p->events.v[event].primary;
    return waiting_metric_is(p, primary, SP_OFF_CPU_NS) || waiting_metric_is(p, primary, SP_WAITING_DELAY) ||
           waiting_metric_is(p, primary, "goroutine");
}

/* What runtimes call to give up a lock, and to wait for one, or for something else. */
static const char *const releases[] = {"sync.(*Mutex).Unlock",
                                       "sync.(*Mutex).unlockSlow",
                                       "sync.(*RWMutex).Unlock",
                                       "sync.(*RWMutex).RUnlock",
                                       "sync.(*RWMutex).rUnlockSlow",
                                       "internal/sync.(*Mutex).Unlock",
                                       "internal/sync.(*Mutex).unlockSlow",
                                       "runtime.unlock",
                                       "runtime.unlock2",
                                       "runtime.unlockWithRank",
                                       "runtime._LostContendedRuntimeLock",
                                       "runtime._LostContendedLock",
                                       NULL};
static const char *const waits[] = {"sync.(*Mutex).Lock",
                                    "sync.(*Mutex).lockSlow",
                                    "internal/sync.(*Mutex).Lock",
                                    "internal/sync.(*Mutex).lockSlow",
                                    "sync.(*RWMutex).Lock",
                                    "sync.(*RWMutex).RLock",
                                    "sync.(*WaitGroup).Wait",
                                    "sync.(*Cond).Wait",
                                    "runtime.chanrecv1",
                                    "runtime.chanrecv2",
                                    "runtime.chansend1",
                                    "runtime.selectgo",
                                    "runtime.block",
                                    "internal/poll.(*fdMutex).rwlock",
                                    NULL};

/* By the leaf, or the frame after it where the runtime's own way in is kept. */
static enum sp_waiting_whose waiting_stack_whose(const struct sp_profile *p, uint32_t stack)
{
    enum { LOOK = 6 };
    const struct sp_stack *s = &p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(p, stack);
    for (uint32_t i = 0; i < s->n && i < LOOK; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        if (sp_name_index(releases, name.p, name.n) >= 0)
            return SP_WAITING_HOLDER;
        if (sp_name_index(waits, name.p, name.n) >= 0)
            return SP_WAITING_WAITER;
    }
    return SP_WAITING_UNTOLD;
}

enum sp_waiting_whose sp_waiting_whose(const struct sp_profile *p, uint32_t event)
{
    unsigned all = 0;
    if (!waiting_metric_is(p, p->events.v[event].primary, SP_WAITING_DELAY))
        return SP_WAITING_WAITER;
    for (uint32_t s = 0; s < p->stacks.n; s++)
        if (p->contexts.v[p->stacks.v[s].context].event == event)
            all |= waiting_stack_whose(p, s);
    return (enum sp_waiting_whose)all; /* the one and the other are bits of BOTH */
}

const char *sp_waiting_words(enum sp_waiting_whose whose)
{
    switch (whose) {
    case SP_WAITING_HOLDER:
        return "a mutex profile: stacks are of who released the lock; their weight is how long others waited "
               "for it";
    case SP_WAITING_BOTH:
        return "block and mutex profiles at once: stacks that end in Unlock are of who held others up, the "
               "others of who waited; the same waiting can be in both";
    case SP_WAITING_UNTOLD:
        return "whether stacks are of who waited or of who released the lock is not said";
    default:
        return "";
    }
}

int64_t sp_waiting_unit(const char *name)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0)
            return units[i].ns;
    return 0;
}

/* A weight in nanoseconds: exact where it is whole, else rounded; what 64 bits cannot hold is capped. */
static int64_t waiting_ns(const struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t unit,
                          bool *odd)
{
    int64_t v = sp_weight(p, stack, metric), mantissa, out;
    unsigned scale = 0;
    if (v != SP_DECIMAL) {
        mantissa = v;
    } else {
        struct sp_str text = sp_weight_text(p, stack, metric);
        if (!sp_parse_scaled(text.p, text.n, &mantissa, &scale) || scale > 18) {
            double ns = sp_text_double(text.p, text.n) * (double)unit;
            *odd = true;
            return ns >= 9e18 ? INT64_MAX : ns <= -9e18 ? -INT64_MAX : (int64_t)ns;
        }
    }
    __int128 ns = (__int128)mantissa * unit, below = 1;
    for (unsigned i = 0; i < scale; i++)
        below *= 10;
    *odd = *odd || ns % below;
    ns = (ns + (ns < 0 ? -below / 2 : below / 2)) / below;
    out = ns > INT64_MAX ? INT64_MAX : ns < -(__int128)INT64_MAX ? -INT64_MAX : (int64_t)ns;
    *odd = *odd || out != ns;
    return out;
}

/* The layout of a stack with the new metric in the old one's place; SP_NONE: out of memory. */
static uint32_t waiting_layout(struct sp_profile *p, uint32_t layout, uint32_t from, uint32_t to, uint32_t ns)
{
    struct sp_weight_field fields[SP_METRICS_MAX];
    struct sp_layout l = layout == SP_NONE ? (struct sp_layout){0} : p->layouts.v[layout];
    uint32_t n = 0;
    for (uint32_t i = 0; i < l.n && i < SP_METRICS_MAX; i++) {
        struct sp_weight_field f = p->layout_fields.v[l.first + i];
        fields[n++] = f.metric == from ? (struct sp_weight_field){.metric = to, .unit = ns} : f;
    }
    return sp_layout_intern(p, fields, n);
}

/*
 * Contexts that were equal but for their event stay as different as they were: all of an event get the state,
 * so none needs to be looked up anew.
 */
static void waiting_set_state(struct sp_profile *p, uint32_t event, uint32_t state)
{
    for (uint32_t i = 0; i < p->contexts.n; i++)
        if (p->contexts.v[i].event == event && !p->contexts.v[i].state)
            p->contexts.v[i].state = state;
}

spaa_status sp_waiting_declare(struct sp_profile *p, uint32_t event, int64_t unit, struct sp_diags *d)
{
    uint32_t from = p->events.v[event].primary,
             to = sp_metric_intern(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS)), ns = sp_profile_cstr(p, "ns"),
             state = sp_profile_cstr(p, sp_task_state_name(SP_TASK_SLEEPING));
    bool odd = false;
    if (to == SP_NONE || ns == SP_STR_FAIL || state == SP_STR_FAIL)
        return sp_nomem(d);
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        if (p->contexts.v[p->stacks.v[s].context].event != event || sp_weight(p, s, from) == SP_ABSENT)
            continue;
        uint32_t layout = waiting_layout(p, p->stacks.v[s].layout, from, to, ns);
        if (layout == SP_NONE || !sp_weight_set(p, s, to, waiting_ns(p, s, from, unit, &odd)))
            return sp_nomem(d);
        if (from != to)
            p->columns[from].v[s] = SP_ABSENT;
        sp_stack_set_layout(p, s, layout);
    }
    if (odd)
        sp_emit(d, SP_L304, SP_AT_NOTHING, "times that are no whole numbers of nanoseconds were rounded");
    waiting_set_state(p, event, state);
    p->events.v[event].primary = to;
    p->events.v[event].unit = ns;
    p->events.v[event].kind = SP_SOFTWARE;
    p->events.v[event].mode = SP_EVENT;
    p->header.group_by |= SP_BY_STATE;
    return SPAA_OK;
}
