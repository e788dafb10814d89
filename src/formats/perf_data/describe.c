/*
 * What SPAA's header has no field for, as members of its `x_perf`: features of the machine and of the
 * recording, attributes of the events, and how many records of which type there are.
 *
 * Source of the sections: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c. A
 * section that ends early or says what cannot be is left out as a whole.
 */
#include "formats/perf_data/perf_data.h"

#include "json/json.h"

#define LIST_MAX 65536u /* entries of one list */

struct section {
    const unsigned char *p;
    size_t n;
    bool swap, bad;
    struct sp_buf *b;
};

static const unsigned char *take(struct section *s, uint64_t n)
{
    if (s->bad || n > s->n) {
        s->bad = true;
        return NULL;
    }
    const unsigned char *p = s->p;
    s->p += n;
    s->n -= (size_t)n;
    return p;
}

static uint32_t u32(struct section *s)
{
    const unsigned char *p = take(s, 4);
    return p ? sp_pd_u32(p, s->swap) : 0;
}

static uint64_t u64(struct section *s)
{
    const unsigned char *p = take(s, 8);
    return p ? sp_pd_u64(p, s->swap) : 0;
}

static uint32_t count(struct section *s)
{
    uint32_t n = u32(s);
    s->bad |= n > LIST_MAX;
    return s->bad ? 0 : n;
}

/* A comma unless something was just opened. */
static void comma(struct sp_buf *b)
{
    if (b->len && !strchr("[{:,", b->data[b->len - 1]))
        sp_buf_ch(b, ',');
}

static void key(struct sp_buf *b, const char *name)
{
    comma(b);
    sp_buf_printf(b, "\"%s\":", name);
}

static void number(struct sp_buf *b, const char *name, uint64_t v)
{
    key(b, name);
    sp_buf_u64(b, v);
}

static void hexadecimal(struct sp_buf *b, const char *name, uint64_t v)
{
    key(b, name);
    sp_buf_printf(b, "\"0x%llx\"", (unsigned long long)v);
}

/* A string of the section as a value. */
static void string(struct section *s)
{
    uint32_t n = u32(s);
    const char *p = (const char *)take(s, n);
    if (!p)
        return;
    comma(s->b);
    sp_json_string(s->b, p, strnlen(p, n));
}

static void named_string(struct section *s, const char *name)
{
    key(s->b, name);
    string(s);
}

static void strings(struct section *s, const char *name)
{
    key(s->b, name);
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++)
        string(s);
    sp_buf_ch(s->b, ']');
}

/* The pairs of core and socket, and perhaps dies, of each processor: as many as were available. */
static void cpu_topology(struct section *s, uint32_t cpus)
{
    struct sp_buf *b = s->b;
    sp_buf_ch(b, '{');
    strings(s, "sockets");
    strings(s, "threads");
    if (!s->bad && cpus && cpus <= LIST_MAX && s->n >= (size_t)cpus * 8) {
        key(b, "cpus");
        sp_buf_ch(b, '[');
        for (uint32_t i = 0; i < cpus; i++) {
            uint32_t core = u32(s);
            sp_buf_printf(b, "%s{\"core\":%u,\"socket\":%u}", i ? "," : "", core, u32(s));
        }
        sp_buf_ch(b, ']');
    }
    sp_buf_ch(b, '}');
}

static void numa(struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        comma(s->b);
        sp_buf_ch(s->b, '{');
        number(s->b, "node", u32(s));
        number(s->b, "mem_total_kb", u64(s));
        number(s->b, "mem_free_kb", u64(s));
        named_string(s, "cpus");
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void groups(struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        comma(s->b);
        sp_buf_ch(s->b, '{');
        named_string(s, "name");
        number(s->b, "leader", u32(s));
        number(s->b, "members", u32(s));
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void caches(struct section *s)
{
    static const char *const numbers[] = {"level", "line_size", "sets", "ways"};
    static const char *const texts[] = {"type", "size", "cpus"};
    s->bad |= u32(s) != 1;
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        comma(s->b);
        sp_buf_ch(s->b, '{');
        for (size_t k = 0; k < 4; k++)
            number(s->b, numbers[k], u32(s));
        for (size_t k = 0; k < 3; k++)
            named_string(s, texts[k]);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void memory(struct section *s)
{
    s->bad |= u64(s) != 1;
    sp_buf_ch(s->b, '{');
    number(s->b, "block_size", u64(s));
    uint64_t nodes = u64(s);
    s->bad |= nodes > LIST_MAX;
    key(s->b, "nodes");
    sp_buf_ch(s->b, '[');
    for (uint64_t i = 0; i < nodes && !s->bad; i++) {
        comma(s->b);
        sp_buf_ch(s->b, '{');
        number(s->b, "node", u64(s));
        uint64_t bits = u64(s), set = 0;
        for (uint64_t words = bits / 64 + (bits % 64 != 0); words && !s->bad; words--)
            set += (uint64_t)__builtin_popcountll(u64(s));
        number(s->b, "blocks", set);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_puts(s->b, "]}");
}

static void capabilities(struct section *s)
{
    sp_buf_ch(s->b, '{');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        string(s);
        sp_buf_ch(s->b, ':');
        string(s);
    }
    sp_buf_ch(s->b, '}');
}

static void pmu_capabilities(struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        comma(s->b);
        sp_buf_puts(s->b, "{\"caps\":");
        capabilities(s);
        named_string(s, "pmu");
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pairs(struct section *s, const char *first, const char *second)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        comma(s->b);
        sp_buf_ch(s->b, '{');
        named_string(s, first);
        named_string(s, second);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void compressed(struct section *s)
{
    static const char *const names[] = {"version", "type", "level", "ratio", "mmap_len"};
    sp_buf_ch(s->b, '{');
    for (size_t i = 0; i < 5; i++)
        number(s->b, names[i], u32(s));
    sp_buf_ch(s->b, '}');
}

static void pmus(struct section *s)
{
    sp_buf_ch(s->b, '{');
    for (uint32_t i = 0, n = count(s); i < n && !s->bad; i++) {
        uint32_t type = u32(s);
        string(s);
        sp_buf_ch(s->b, ':');
        sp_buf_u64(s->b, type);
    }
    sp_buf_ch(s->b, '}');
}

static void sample_time(struct section *s)
{
    sp_buf_ch(s->b, '{');
    number(s->b, "first_ns", u64(s));
    number(s->b, "last_ns", u64(s));
    sp_buf_ch(s->b, '}');
}

bool sp_pd_describe_feature(struct sp_pd *pd, unsigned bit, const unsigned char *p, size_t n)
{
    static const char *const names[32] = {
        [13] = "cpu_topology", [14] = "numa",         [16] = "pmus",   [17] = "groups",
        [20] = "caches",       [21] = "sample_time",  [22] = "memory", [23] = "clock_resolution_ns",
        [27] = "compressed",   [28] = "cpu_pmu_caps", [30] = "hybrid", [31] = "pmu_caps"};
    if (bit >= 32 || !names[bit] || pd->described >> bit & 1)
        return true;
    struct sp_buf *b = &pd->about;
    struct section s = {p, n, pd->swap, false, b};
    size_t before = b->len;
    key(b, names[bit]);
    if (bit == 13)
        cpu_topology(&s, pd->cpus_available);
    else if (bit == 14)
        numa(&s);
    else if (bit == 16)
        pmus(&s);
    else if (bit == 17)
        groups(&s);
    else if (bit == 20)
        caches(&s);
    else if (bit == 21)
        sample_time(&s);
    else if (bit == 22)
        memory(&s);
    else if (bit == 23)
        sp_buf_u64(b, u64(&s));
    else if (bit == 27)
        compressed(&s);
    else if (bit == 28)
        capabilities(&s);
    else if (bit == 30)
        pairs(&s, "pmu", "cpus");
    else
        pmu_capabilities(&s);
    if (s.bad)
        b->len = before;
    else
        pd->described |= (uint32_t)1 << bit;
    return !b->failed;
}

static void attribute(const struct sp_pd_attr *a, struct sp_buf *b)
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
    comma(b);
    sp_buf_ch(b, '{');
    key(b, "name");
    sp_json_string(b, a->name.p, a->name.n);
    number(b, "type", a->type);
    hexadecimal(b, "config", a->config);
    if (a->config1)
        hexadecimal(b, "config1", a->config1);
    if (a->config2)
        hexadecimal(b, "config2", a->config2);
    number(b, a->freq ? "frequency" : "period", a->period);
    number(b, "size", a->size);
    hexadecimal(b, "sample_type", a->sample_type);
    hexadecimal(b, "read_format", a->read_format);
    if (a->precise)
        number(b, "precise_ip", a->precise);
    if (a->branch_type)
        hexadecimal(b, "branch_sample_type", a->branch_type);
    if (a->regs_user)
        hexadecimal(b, "sample_regs_user", a->regs_user);
    if (a->stack_user)
        number(b, "sample_stack_user", a->stack_user);
    if (a->regs_intr)
        hexadecimal(b, "sample_regs_intr", a->regs_intr);
    key(b, "flags");
    sp_buf_ch(b, '[');
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(a->flags >> flags[i].bit & 1))
            continue;
        comma(b);
        sp_buf_printf(b, "\"%s\"", flags[i].name);
    }
    sp_buf_printf(b, "],\"ids\":%u}", a->nids);
}

static void records(const struct sp_pd *pd, struct sp_buf *b)
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
    key(b, "records");
    sp_buf_ch(b, '{');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && pd->record_counts[i])
            number(b, names[i], pd->record_counts[i]);
    if (pd->unknown_records)
        number(b, "unknown", pd->unknown_records);
    sp_buf_ch(b, '}');
}

bool sp_pd_describe_rest(struct sp_pd *pd)
{
    struct sp_buf *b = &pd->about;
    key(b, "events");
    sp_buf_ch(b, '[');
    for (size_t i = 0; i < pd->attrs.n; i++)
        attribute(&pd->attrs.v[i], b);
    sp_buf_ch(b, ']');
    records(pd, b);
    if (pd->lost_filtered)
        number(b, "filtered_by_bpf", pd->lost_filtered);
    return !b->failed;
}
