/* The header of the profile: where, when and how the recording was made. */
#include "formats/perf_data/perf_data.h"
#include "json/unique.h"

#include "base/num.h"
#include "json/json.h"

static uint32_t pd_summary_text(struct sp_profile *p, struct sp_pd_text t)
{
    return t.n ? sp_profile_str(p, t.p, t.n) : SP_STR_NONE;
}

static const char *pd_summary_clock_name(int64_t id)
{
    switch (id) {
    case 0:
        return "CLOCK_REALTIME";
    case 1:
        return "CLOCK_MONOTONIC";
    case 4:
        return "CLOCK_MONOTONIC_RAW";
    case 7:
        return "CLOCK_BOOTTIME";
    case 11:
        return "CLOCK_TAI";
    default:
        return "unknown";
    }
}

static uint32_t pd_summary_clock_of(const struct sp_pd *pd)
{
    const char *name = "perf_clock"; /* the scheduler's, in nanoseconds from about the boot */
    if (pd->attrs.n && pd->attrs.v[0].use_clockid)
        name = pd_summary_clock_name(pd->attrs.v[0].clockid);
    return sp_profile_cstr(pd->p, name);
}

static void pd_summary_member(struct sp_buf *b, const char *key, struct sp_pd_text t)
{
    if (!t.n)
        return;
    sp_buf_printf(b, "%s\"%s\":", b->data[b->len - 1] == '{' ? "" : ",", key);
    sp_json_string(b, t.p, t.n);
}

/* ---- members of its x_perf: attributes of the events, and how many records of which type there are ---- */

static void pd_summary_attribute(const struct sp_pd_attr *a, struct sp_buf *b)
{
    static const struct {
        const char *name;
        unsigned bit;
    } flags[] = {{"inherit", 1},
                 {"pinned", 2},
                 {"exclude_user", 4},
                 {"exclude_kernel", 5},
                 {"exclude_hv", 6},
                 {"exclude_idle", 7},
                 {"mmap", 8},
                 {"comm", 9},
                 {"freq", 10},
                 {"enable_on_exec", 12},
                 {"task", 13},
                 {"sample_id_all", 18},
                 {"exclude_host", 19},
                 {"exclude_guest", 20},
                 {"mmap2", 23},
                 {"use_clockid", 25},
                 {"context_switch", 26},
                 {"write_backward", 27},
                 {"namespaces", 28},
                 {"ksymbol", 29},
                 {"bpf_event", 30},
                 {"aux_output", 31},
                 {"cgroup", 32},
                 {"text_poke", 33},
                 {"build_id", 34},
                 {"inherit_thread", 35},
                 {"remove_on_exec", 36},
                 {"sigtrap", 37},
                 {"defer_callchain", 38}};
    sp_pd_comma(b);
    sp_buf_ch(b, '{');
    sp_pd_member(b, "name");
    sp_json_string(b, a->name.p, a->name.n);
    sp_pd_member_u64(b, "type", a->type);
    sp_pd_member_hex(b, "config", a->config);
    if (a->config1)
        sp_pd_member_hex(b, "config1", a->config1);
    if (a->config2)
        sp_pd_member_hex(b, "config2", a->config2);
    sp_pd_member_u64(b, a->freq ? "frequency" : "period", a->period);
    sp_pd_member_u64(b, "size", a->size);
    sp_pd_member_hex(b, "sample_type", a->sample_type);
    sp_pd_member_hex(b, "read_format", a->read_format);
    if (a->precise)
        sp_pd_member_u64(b, "precise_ip", a->precise);
    if (a->branch_type)
        sp_pd_member_hex(b, "branch_sample_type", a->branch_type);
    if (a->regs_user)
        sp_pd_member_hex(b, "sample_regs_user", a->regs_user);
    if (a->stack_user)
        sp_pd_member_u64(b, "sample_stack_user", a->stack_user);
    if (a->regs_intr)
        sp_pd_member_hex(b, "sample_regs_intr", a->regs_intr);
    sp_pd_member(b, "flags");
    sp_buf_ch(b, '[');
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(a->flags >> flags[i].bit & 1))
            continue;
        sp_pd_comma(b);
        sp_buf_printf(b, "\"%s\"", flags[i].name);
    }
    sp_buf_printf(b, "],\"ids\":%u}", a->nids);
}

static void pd_summary_records(const struct sp_pd *pd, struct sp_buf *b)
{
    static const char *const names[] = {[PD_MMAP] = "MMAP",
                                        [PD_LOST] = "LOST",
                                        [PD_COMM] = "COMM",
                                        [PD_EXIT] = "EXIT",
                                        [PD_THROTTLE] = "THROTTLE",
                                        [PD_UNTHROTTLE] = "UNTHROTTLE",
                                        [PD_FORK] = "FORK",
                                        [8] = "READ",
                                        [PD_SAMPLE] = "SAMPLE",
                                        [PD_MMAP2] = "MMAP2",
                                        [11] = "AUX",
                                        [12] = "ITRACE_START",
                                        [PD_LOST_SAMPLES] = "LOST_SAMPLES",
                                        [14] = "SWITCH",
                                        [15] = "SWITCH_CPU_WIDE",
                                        [16] = "NAMESPACES",
                                        [PD_KSYMBOL] = "KSYMBOL",
                                        [18] = "BPF_EVENT",
                                        [19] = "CGROUP",
                                        [20] = "TEXT_POKE",
                                        [21] = "AUX_OUTPUT_HW_ID",
                                        [PD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
                                        [64] = "HEADER_ATTR",
                                        [65] = "HEADER_EVENT_TYPE",
                                        [66] = "HEADER_TRACING_DATA",
                                        [67] = "HEADER_BUILD_ID",
                                        [68] = "FINISHED_ROUND",
                                        [69] = "ID_INDEX",
                                        [70] = "AUXTRACE_INFO",
                                        [71] = "AUXTRACE",
                                        [72] = "AUXTRACE_ERROR",
                                        [73] = "THREAD_MAP",
                                        [74] = "CPU_MAP",
                                        [75] = "STAT_CONFIG",
                                        [76] = "STAT",
                                        [77] = "STAT_ROUND",
                                        [78] = "EVENT_UPDATE",
                                        [79] = "TIME_CONV",
                                        [80] = "HEADER_FEATURE",
                                        [81] = "COMPRESSED",
                                        [82] = "FINISHED_INIT",
                                        [83] = "COMPRESSED2",
                                        [84] = "BPF_METADATA",
                                        [85] = "SCHEDSTAT_CPU",
                                        [86] = "SCHEDSTAT_DOMAIN"};
    sp_pd_member(b, "records");
    sp_buf_ch(b, '{');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && pd->record_counts[i])
            sp_pd_member_u64(b, names[i], pd->record_counts[i]);
    if (pd->unknown_records)
        sp_pd_member_u64(b, "unknown", pd->unknown_records);
    sp_buf_ch(b, '}');
}

static bool pd_summary_describe_recording(struct sp_pd *pd)
{
    struct sp_buf *b = &pd->about;
    sp_pd_member(b, "events");
    sp_buf_ch(b, '[');
    for (size_t i = 0; i < pd->attrs.n; i++)
        pd_summary_attribute(&pd->attrs.v[i], b);
    sp_buf_ch(b, ']');
    pd_summary_records(pd, b);
    if (pd->lost_filtered)
        sp_pd_member_u64(b, "filtered_by_bpf", pd->lost_filtered);
    return !b->failed;
}

/* The members of an object, whose last braces are missing; features of a damaged file may name one thing
 * twice. */
static uint32_t pd_summary_without_braces(struct sp_pd *pd, struct sp_buf *b)
{
    if (!sp_buf_puts(b, "}}"))
        return SP_STR_FAIL;
    uint32_t whole = sp_unique_text(&pd->p->strs, (struct sp_span){b->data, b->len}, pd->d);
    if (whole == SP_STR_FAIL)
        return whole;
    struct sp_str s = sp_pstr(pd->p, whole);
    sp_buf_clear(b);
    return sp_buf_add(b, s.p + 1, s.n - 2) ? sp_profile_str(pd->p, b->data, b->len) : SP_STR_FAIL;
}

/* How long counters were wanted and ran, of events whose samples tell it: "counters":[{…}]. */
static void pd_summary_counters(struct sp_pd *pd, struct sp_buf *b)
{
    const char *before = b->data[b->len - 1] == '{' ? "\"counters\":[" : ",\"counters\":[";
    bool any = false;
    for (size_t i = 0; i < pd->ids.n; i++) {
        struct sp_pd_attr *a = &pd->attrs.v[pd->ids.v[i].attr];
        if (__builtin_add_overflow(a->enabled, pd->ids.v[i].enabled, &a->enabled) ||
            __builtin_add_overflow(a->running, pd->ids.v[i].running, &a->running))
            a->enabled = a->running = UINT64_MAX; /* nonsense, which is not told */
    }
    for (size_t i = 0; i < pd->attrs.n && !b->failed; i++) {
        const struct sp_pd_attr *a = &pd->attrs.v[i];
        if (!a->enabled || a->enabled > INT64_MAX || a->running > a->enabled || a->event == SP_NONE)
            continue;
        struct sp_str name = sp_pstr(pd->p, pd->p->events.v[a->event].name);
        sp_buf_puts(b, any ? "," : before);
        sp_buf_puts(b, "{\"event\":");
        sp_json_string(b, name.p, name.n);
        sp_buf_printf(b, ",\"enabled_ns\":%llu,\"running_ns\":%llu}", (unsigned long long)a->enabled,
                      (unsigned long long)a->running);
        any = true;
    }
    if (any)
        sp_buf_puts(b, "]");
}

/* Events whose counters ran at the same times, group by group: "counted_together":[[…]]. */
static void pd_summary_together(struct sp_pd *pd, struct sp_buf *b)
{
    const char *before = b->data[b->len - 1] == '{' ? "\"counted_together\":[" : ",\"counted_together\":[";
    uint32_t group = 0;
    for (size_t i = 0; i < pd->attrs.n && !b->failed; i++) {
        const struct sp_pd_attr *a = &pd->attrs.v[i];
        if (!a->together || a->event == SP_NONE)
            continue;
        struct sp_str name = sp_pstr(pd->p, pd->p->events.v[a->event].name);
        sp_buf_puts(b, !group ? before : a->together != group ? "]," : ",");
        sp_buf_puts(b, a->together != group ? "[" : "");
        sp_json_string(b, name.p, name.n);
        group = a->together;
    }
    sp_buf_puts(b, group ? "]]" : "");
}

/* What the header has no field for: `"x_perf":{…}`, or nothing. */
static uint32_t pd_summary_more(struct sp_pd *pd)
{
    static const char open[] = "{\"x_perf\":{";
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, open);
    if (!b.failed) {
        pd_summary_member(&b, "cpu", pd->cpudesc);
        pd_summary_member(&b, "cpuid", pd->cpuid);
        const char *comma = b.data[b.len - 1] == '{' ? "" : ",";
        if (pd->total_mem) {
            sp_buf_printf(&b, "%s\"total_mem_kb\":%llu", comma, (unsigned long long)pd->total_mem);
            comma = ",";
        }
        if (pd->has_clock_data)
            sp_buf_printf(&b, "%s\"clock_data\":{\"clock\":\"%s\",\"wall_ns\":%llu,\"clock_ns\":%llu}", comma,
                          pd_summary_clock_name(pd->clock_data_id), (unsigned long long)pd->clock_wall,
                          (unsigned long long)pd->clock_time);
        if (pd->about.len)
            sp_buf_printf(&b, "%s%s", b.data[b.len - 1] == '{' ? "" : ",", sp_buf_cstr(&pd->about));
        pd_summary_counters(pd, &b);
        if (!b.failed)
            pd_summary_together(pd, &b);
    }
    uint32_t out = SP_STR_NONE;
    if (b.failed)
        out = SP_STR_FAIL;
    else if (b.len > sizeof open - 1)
        out = pd_summary_without_braces(pd, &b);
    sp_buf_free(&b);
    return out;
}

static uint32_t pd_summary_os_name(struct sp_pd *pd)
{
    char name[256];
    static const char linux_[] = "Linux ";
    size_t n = sizeof linux_ - 1, room = sizeof name - n;
    if (!pd->osrelease.n)
        return SP_STR_NONE;
    memcpy(name, linux_, n);
    size_t take = pd->osrelease.n < room ? pd->osrelease.n : room;
    memcpy(name + n, pd->osrelease.p, take);
    return sp_profile_str(pd->p, name, n + take);
}

static void pd_summary_times(struct sp_pd *pd, struct sp_header *h)
{
    char t[32];
    int64_t first = (int64_t)pd->time_first, last = (int64_t)pd->time_last;
    if (!pd->time_last)
        return;
    h->time_start = sp_profile_str(pd->p, t, sp_ns_seconds(first, t));
    h->time_end = sp_profile_str(pd->p, t, sp_ns_seconds(last, t));
    h->time_unit = sp_profile_cstr(pd->p, "seconds");
    h->duration = sp_profile_str(pd->p, t, sp_ns_seconds(last - first, t));
    h->clock = pd_summary_clock_of(pd);
}

spaa_status sp_pd_summary(struct sp_pd *pd)
{
    struct sp_profile *p = pd->p;
    struct sp_header *h = &p->header;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "perf");
    h->command = pd_summary_text(p, pd->cmdline);
    h->tool_version = pd_summary_text(p, pd->version);
    pd_summary_times(pd, h);
    h->has_x_spaa = true;
    h->frames = pd->opts->frames ? pd->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = pd->group_by;
    h->host.name = pd_summary_text(p, pd->hostname);
    h->host.os = pd_summary_os_name(pd);
    h->host.arch = pd_summary_text(p, pd->arch);
    if (pd->cpus_online) {
        char t[20];
        h->host.cpus = sp_profile_str(p, t, sp_u64_text(pd->cpus_online, t));
    }
    h->lost = sp_pd_lost(pd);
    h->truncated = pd->truncated;
    h->unfinished = pd->unfinished;
    h->throttled_ns = pd->throttled_ns;
    if (!pd_summary_describe_recording(pd))
        return sp_nomem(pd->d);
    h->extra_json = pd_summary_more(pd);
    const uint32_t all[] = {h->version,  h->source_tool, h->command,   h->tool_version, h->time_start,
                            h->time_end, h->time_unit,   h->duration,  h->clock,        h->host.name,
                            h->host.os,  h->host.arch,   h->host.cpus, h->extra_json};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == SP_STR_FAIL)
            return sp_nomem(pd->d);
    if (pd->throttled)
        sp_emit(pd->d, SP_W789, SP_AT_NOTHING,
                "the kernel stopped events %llu times, for %llu.%03llu s in all",
                (unsigned long long)pd->throttled, (unsigned long long)(pd->throttled_ns / 1000000000),
                (unsigned long long)(pd->throttled_ns / 1000000 % 1000));
    if (h->lost)
        sp_emit(pd->d, SP_L303, SP_AT_NOTHING, "perf lost %llu records", (unsigned long long)h->lost);
    return SPAA_OK;
}
