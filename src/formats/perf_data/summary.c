/* The header of the profile: where, when and how the recording was made. */
#include "formats/perf_data/perf_data.h"
#include "json/unique.h"

#include "base/num.h"
#include "json/json.h"

static uint32_t text(struct sp_profile *p, struct sp_pd_text t)
{
    return t.n ? sp_profile_str(p, t.p, t.n) : SP_STR_NONE;
}

static const char *clock_name(int64_t id)
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

static uint32_t clock_of(const struct sp_pd *pd)
{
    const char *name = "perf_clock"; /* the scheduler's, in nanoseconds from about the boot */
    if (pd->attrs.n && pd->attrs.v[0].use_clockid)
        name = clock_name(pd->attrs.v[0].clockid);
    return sp_profile_cstr(pd->p, name);
}

static void member(struct sp_buf *b, const char *key, struct sp_pd_text t)
{
    if (!t.n)
        return;
    sp_buf_printf(b, "%s\"%s\":", b->data[b->len - 1] == '{' ? "" : ",", key);
    sp_json_string(b, t.p, t.n);
}

/* The members of an object, whose last braces are missing; features of a damaged file may name one thing
 * twice. */
static uint32_t without_braces(struct sp_pd *pd, struct sp_buf *b)
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

/* What the header has no field for: `"x_perf":{…}`, or nothing. */
static uint32_t more(struct sp_pd *pd)
{
    static const char open[] = "{\"x_perf\":{";
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, open);
    if (!b.failed) {
        member(&b, "cpu", pd->cpudesc);
        member(&b, "cpuid", pd->cpuid);
        const char *comma = b.data[b.len - 1] == '{' ? "" : ",";
        if (pd->total_mem) {
            sp_buf_printf(&b, "%s\"total_mem_kb\":%llu", comma, (unsigned long long)pd->total_mem);
            comma = ",";
        }
        if (pd->has_clock_data)
            sp_buf_printf(&b, "%s\"clock_data\":{\"clock\":\"%s\",\"wall_ns\":%llu,\"clock_ns\":%llu}", comma,
                          clock_name(pd->clock_data_id), (unsigned long long)pd->clock_wall,
                          (unsigned long long)pd->clock_time);
        if (pd->about.len)
            sp_buf_printf(&b, "%s%s", b.data[b.len - 1] == '{' ? "" : ",", sp_buf_cstr(&pd->about));
    }
    uint32_t out = SP_STR_NONE;
    if (b.failed)
        out = SP_STR_FAIL;
    else if (b.len > sizeof open - 1)
        out = without_braces(pd, &b);
    sp_buf_free(&b);
    return out;
}

static uint32_t os_name(struct sp_pd *pd)
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

static void times(struct sp_pd *pd, struct sp_header *h)
{
    char t[32];
    int64_t first = (int64_t)pd->time_first, last = (int64_t)pd->time_last;
    if (!pd->time_last)
        return;
    h->time_start = sp_profile_str(pd->p, t, sp_ns_seconds(first, t));
    h->time_end = sp_profile_str(pd->p, t, sp_ns_seconds(last, t));
    h->time_unit = sp_profile_cstr(pd->p, "seconds");
    h->duration = sp_profile_str(pd->p, t, sp_ns_seconds(last - first, t));
    h->clock = clock_of(pd);
}

spaa_status sp_pd_summary(struct sp_pd *pd)
{
    struct sp_profile *p = pd->p;
    struct sp_header *h = &p->header;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "perf");
    h->command = text(p, pd->cmdline);
    h->tool_version = text(p, pd->version);
    times(pd, h);
    h->has_x_spaa = true;
    h->frames = pd->opts->frames ? pd->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = pd->group_by;
    h->host.name = text(p, pd->hostname);
    h->host.os = os_name(pd);
    h->host.arch = text(p, pd->arch);
    if (pd->cpus_online) {
        char t[20];
        h->host.cpus = sp_profile_str(p, t, sp_u64_text(pd->cpus_online, t));
    }
    h->lost = sp_pd_lost(pd);
    h->truncated = pd->truncated;
    h->unfinished = pd->unfinished;
    h->throttled_ns = pd->throttled_ns;
    if (!sp_pd_describe_rest(pd))
        return sp_nomem(pd->d);
    h->more = more(pd);
    const uint32_t all[] = {h->version,  h->source_tool, h->command,   h->tool_version, h->time_start,
                            h->time_end, h->time_unit,   h->duration,  h->clock,        h->host.name,
                            h->host.os,  h->host.arch,   h->host.cpus, h->more};
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
