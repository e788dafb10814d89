/*
 * The events of a recording: what they are called, what they count, and their place in the profile.
 *
 * Names come from EVENT_DESC, else from EVENT_UPDATE, else from the attribute: type and config, with
 * PMU_MAPPINGS for types of the machine. On hybrid processors the upper half of config is a PMU's type.
 */
#include "formats/perf_data/perf_data.h"

#include "model/off_cpu.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"

#include <stdlib.h>

#define SW_DUMMY 9

static const char *const hardware_names[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
static const char *const software_names[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct sp_pd_pmu *pd_events_find_pmu(const struct sp_pd *pd, uint32_t type)
{
    for (size_t i = 0; i < pd->pmus.n; i++)
        if (pd->pmus.v[i].type == type && pd->pmus.v[i].name.n)
            return &pd->pmus.v[i];
    return NULL;
}

static bool pd_events_pmu_is(const struct sp_pd *pd, uint32_t type, const char *name)
{
    const struct sp_pd_pmu *pmu = pd_events_find_pmu(pd, type);
    return pmu && pmu->name.n == strlen(name) && memcmp(pmu->name.p, name, pmu->name.n) == 0;
}

/* The attribute's modifiers as perf writes them: the modes that are left, and the precision. */
static void pd_events_add_modifiers(const struct sp_pd_attr *a, struct sp_buf *b)
{
    bool some = a->exclude_user || a->exclude_kernel || a->exclude_hv;
    if (!some && !a->precise)
        return;
    sp_buf_ch(b, ':');
    if (some && !a->exclude_user)
        sp_buf_ch(b, 'u');
    if (some && !a->exclude_kernel)
        sp_buf_ch(b, 'k');
    if (some && !a->exclude_hv)
        sp_buf_ch(b, 'h');
    for (unsigned i = 0; i < a->precise; i++)
        sp_buf_ch(b, 'p');
}

static bool pd_events_cache_name(uint64_t config, struct sp_buf *b)
{
    unsigned cache = config & 255, op = config >> 8 & 255, miss = config >> 16 & 255;
    if (cache >= COUNT(cache_names) || op >= COUNT(cache_ops) || miss > 1)
        return false;
    static const char *const plain[] = {"loads", "stores", "prefetches"};
    if (miss)
        return sp_buf_printf(b, "%s-%s-misses", cache_names[cache], cache_ops[op]);
    return sp_buf_printf(b, "%s-%s", cache_names[cache], plain[op]);
}

/* A name made of type and config. */
static void pd_events_generic_name(const struct sp_pd *pd, const struct sp_pd_attr *a, struct sp_buf *b)
{
    uint64_t config = a->config;
    const struct sp_pd_pmu *hybrid = NULL;
    if ((a->type == PD_HARDWARE || a->type == PD_HW_CACHE) && config >> 32) {
        hybrid = pd_events_find_pmu(pd, (uint32_t)(config >> 32));
        config &= UINT32_MAX;
    }
    if (hybrid)
        sp_buf_printf(b, "%.*s/", (int)hybrid->name.n, hybrid->name.p);
    const struct sp_pd_pmu *pmu = pd_events_find_pmu(pd, a->type);
    if (a->type == PD_HARDWARE && config < COUNT(hardware_names))
        sp_buf_puts(b, hardware_names[config]);
    else if (a->type == PD_SOFTWARE && config < COUNT(software_names))
        sp_buf_puts(b, software_names[config]);
    else if (a->type == PD_HW_CACHE && pd_events_cache_name(config, b))
        ;
    else if (a->type == PD_TRACEPOINT)
        sp_buf_printf(b, "tracepoint:%llu", (unsigned long long)config);
    else if (a->type == PD_TYPE_RAW)
        sp_buf_printf(b, "r%llx", (unsigned long long)config);
    else if (pmu)
        sp_buf_printf(b, "%.*s/config=0x%llx/", (int)pmu->name.n, pmu->name.p, (unsigned long long)config);
    else
        sp_buf_printf(b, "type%u/config=0x%llx/", a->type, (unsigned long long)config);
    if (hybrid)
        sp_buf_ch(b, '/');
    pd_events_add_modifiers(a, b);
}

/* What names are made with; there may be thousands of events. */
struct pd_names {
    struct sp_map taken; /* attributes by name */
    uint32_t *desc;      /* per attribute: the description that has its name; SP_NONE */
    uint32_t *copies;    /* per attribute: the last number behind its name that is taken, less one */
};

/* The first description of each attribute that has a name: by its ids, or its place where it has none. */
static void pd_events_find_descs(const struct sp_pd *pd, uint32_t *desc)
{
    for (size_t i = 0; i < pd->attrs.n; i++)
        desc[i] = SP_NONE;
    for (uint32_t i = 0; i < pd->descs.n; i++) {
        const struct sp_pd_desc *d = &pd->descs.v[i];
        uint32_t id = d->nids ? sp_pd_find_id(pd, d->first_id) : SP_NONE;
        bool here = !d->nids && i < pd->attrs.n && !pd->attrs.v[i].nids;
        uint32_t attr = id != SP_NONE ? pd->ids.v[id].attr : here ? i : SP_NONE;
        if (attr != SP_NONE && d->name.n && desc[attr] == SP_NONE)
            desc[attr] = i;
    }
}

static struct sp_pd_text pd_events_recorded_name(const struct sp_pd *pd, const struct pd_names *names,
                                                 size_t attr)
{
    const struct sp_pd_attr *a = &pd->attrs.v[attr];
    if (names->desc[attr] != SP_NONE)
        return pd->descs.v[names->desc[attr]].name;
    for (size_t i = 0; a->type == PD_TRACEPOINT && i < pd->event_types.n; i++)
        if (pd->event_types.v[i].config == a->config && pd->event_types.v[i].name.n)
            return pd->event_types.v[i].name;
    return (struct sp_pd_text){0};
}

/* The attribute that has the name; SP_NONE: it is free. */
static uint32_t pd_events_taken(const struct sp_pd *pd, const struct pd_names *names,
                                const struct sp_buf *name)
{
    struct sp_probe at = sp_map_probe(&names->taken, sp_hash_key(name->data, name->len));
    uint32_t i;
    while ((i = sp_map_next(&names->taken, &at)) != SP_MAP_NONE) {
        struct sp_pd_text n = pd->attrs.v[i].name;
        if (n.n == name->len && memcmp(n.p, name->data, n.n) == 0)
            return i;
    }
    return SP_NONE;
}

/* The name of an attribute, made unique: by its PMU, else by a number. */
static void pd_events_make_name(const struct sp_pd *pd, const struct pd_names *names, size_t attr,
                                struct sp_buf *b)
{
    const struct sp_pd_attr *a = &pd->attrs.v[attr];
    struct sp_pd_text given = pd_events_recorded_name(pd, names, attr);
    if (given.n)
        sp_buf_add(b, given.p, given.n);
    else
        pd_events_generic_name(pd, a, b);
    if (b->failed || pd_events_taken(pd, names, b) == SP_NONE)
        return;
    uint32_t type = a->type <= PD_HW_CACHE && a->config >> 32 ? (uint32_t)(a->config >> 32) : a->type;
    const struct sp_pd_pmu *pmu = type > PD_BREAKPOINT ? pd_events_find_pmu(pd, type) : NULL;
    size_t plain = b->len;
    if (pmu && given.n) {
        sp_buf_clear(b);
        sp_buf_printf(b, "%.*s/%.*s/", (int)pmu->name.n, pmu->name.p, (int)given.n, given.p);
        plain = b->len;
    }
    uint32_t first = b->failed ? SP_NONE : pd_events_taken(pd, names, b);
    while (!b->failed && pd_events_taken(pd, names, b) != SP_NONE) {
        b->len = plain;
        sp_buf_printf(b, "#%u", ++names->copies[first] + 1);
    }
}

static spaa_status pd_events_name(struct sp_pd *pd, struct pd_names *names, size_t attr, struct sp_buf *b)
{
    sp_buf_clear(b);
    pd_events_make_name(pd, names, attr, b);
    const char *copy = b->failed ? NULL : sp_arena_dup(&pd->arena, b->data, b->len);
    if (!copy || !sp_map_add(&names->taken, sp_hash_key(copy, b->len), (uint32_t)attr))
        return sp_nomem(pd->d);
    pd->attrs.v[attr].name = (struct sp_pd_text){copy, b->len};
    return SPAA_OK;
}

spaa_status sp_pd_name_events(struct sp_pd *pd)
{
    size_t n = pd->attrs.n + 1;
    struct pd_names names = {.desc = calloc(n, sizeof *names.desc),
                             .copies = calloc(n, sizeof *names.copies)};
    struct sp_buf b;
    spaa_status st = names.desc && names.copies ? SPAA_OK : sp_nomem(pd->d);
    sp_buf_init(&b, 0);
    if (!st)
        pd_events_find_descs(pd, names.desc);
    for (size_t i = 0; i < pd->attrs.n && !st; i++)
        st = pd_events_name(pd, &names, i, &b);
    sp_buf_free(&b);
    sp_map_free(&names.taken);
    free(names.desc);
    free(names.copies);
    return st;
}

/* "cpu_core/cycles:P/" counts cycles, and so do "cycles:u" and "cpu-cycles". */
static bool pd_events_counts_cycles(const struct sp_pd_attr *a)
{
    if (a->type == PD_HARDWARE)
        return (a->config & UINT32_MAX) == 0;
    const char *p = a->name.p, *end = p + a->name.n, *slash = memchr(p, '/', a->name.n);
    p = slash ? slash + 1 : p;
    size_t n = 0;
    while (p + n < end && p[n] != ':' && p[n] != '/')
        n++;
    return (n == 6 && memcmp(p, "cycles", 6) == 0) || (n == 10 && memcmp(p, "cpu-cycles", 10) == 0);
}

static bool pd_events_is_probe(const struct sp_pd *pd, const struct sp_pd_attr *a)
{
    return a->type == PD_TRACEPOINT || pd_events_pmu_is(pd, a->type, "kprobe") ||
           pd_events_pmu_is(pd, a->type, "uprobe");
}

/* The scheduler's accounts: the period of such an event is nanoseconds that a thread ran or waited. */
static bool pd_events_is_account(const struct sp_pd_attr *a)
{
    static const char prefix[] = "sched:sched_stat_";
    return a->type == PD_TRACEPOINT && a->name.n >= sizeof prefix &&
           memcmp(a->name.p, prefix, sizeof prefix - 1) == 0;
}

/* Its periods are time off the CPU, which views know by the name of the metric. */
static bool pd_events_off_cpu(struct sp_pd *pd, struct sp_pd_attr *a, uint32_t samples, struct sp_event *e)
{
    a->off_metric = sp_metric_intern(pd->p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    if (a->off_metric == SP_NONE)
        return false;
    const struct sp_weight_field fields[] = {{.metric = samples},
                                             {.metric = a->metric, .unit = e->unit},
                                             {.metric = a->off_metric, .unit = e->unit}};
    e->primary = a->off_metric;
    a->layout = sp_layout_intern(pd->p, fields, 3);
    return a->layout != SP_NONE;
}

static spaa_status pd_events_add_event(struct sp_pd *pd, struct sp_pd_attr *a)
{
    struct sp_profile *p = pd->p;
    /* What `perf record --off-cpu` adds: its periods are the time that threads waited. */
    bool probe = pd_events_is_probe(pd, a),
         clock = (a->type == PD_SOFTWARE && a->config <= 1) || sp_pd_is_offcpu(a);
    bool account = pd_events_is_account(a);
    const char *unit = clock || account             ? "ns"
                       : probe                      ? NULL
                       : pd_events_counts_cycles(a) ? "cycles"
                                                    : "events";
    struct sp_event e = {
        .name = sp_profile_str(p, a->name.p, a->name.n),
        .kind = probe                    ? SP_PROBE
                : a->type == PD_SOFTWARE ? SP_SOFTWARE
                                         : SP_HARDWARE,
        .mode = probe     ? SP_EVENT
                : a->freq ? SP_FREQUENCY
                          : SP_PERIOD,
        .unit = unit ? sp_profile_cstr(p, unit) : SP_STR_NONE,
    };
    char digits[20];
    /* Members of a group that only their leader samples have none. */
    uint32_t rate = a->period ? sp_profile_str(p, digits, sp_u64_text(a->period, digits)) : SP_STR_NONE;
    if (e.mode == SP_FREQUENCY)
        e.frequency_hz = rate;
    else if (e.mode == SP_PERIOD)
        e.sample_period = rate;
    uint32_t samples = sp_metric_intern(p, "samples", 7);
    a->metric = e.primary =
        sp_metric_intern(p, probe && !account ? "count" : "period", probe && !account ? 5 : 6);
    if (e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || rate == SP_STR_FAIL || samples == SP_NONE ||
        a->metric == SP_NONE)
        return sp_nomem(pd->d);
    a->layout = sp_layout_simple(p, samples, SP_STR_NONE, a->metric, e.unit);
    if (sp_pd_is_offcpu(a) && !pd_events_off_cpu(pd, a, samples, &e))
        return sp_nomem(pd->d);
    a->event = sp_event_add_named(p, &e);
    return a->layout == SP_NONE || a->event == SP_NONE ? sp_nomem(pd->d) : SPAA_OK;
}

spaa_status sp_pd_add_events(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->groups.n; i++)
        pd->attrs.v[pd->groups.v[i].attr].samples += pd->groups.v[i].count;
    for (size_t i = 0; i < pd->attrs.n; i++) {
        struct sp_pd_attr *a = &pd->attrs.v[i];
        /* perf adds a dummy event for sideband records; some other recorders name it differently. */
        if (!a->samples && a->type == PD_SOFTWARE && a->config == SW_DUMMY)
            continue;
        spaa_status st = pd_events_add_event(pd, a);
        if (st)
            return st;
    }
    return SPAA_OK;
}
