/*
 * Feature sections: facts about the recording beside the records.
 *
 * In a file each bit of the header's bitmap has a section behind the data; in a pipe each is a FEATURE
 * record. Damaged or unknown ones are left out: nothing of the samples depends on them, but names and
 * build-ids. Quirk: NRCPUS holds the available processors first, against the documentation.
 */
#include "formats/perf_data/perf_data.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "json/json.h"

enum {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_CPUID = 9,
    FEATURE_TOTAL_MEM = 10,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_PMU_MAPPINGS = 16,
    FEATURE_DIR_FORMAT = 24,
    FEATURE_CLOCK_DATA = 29,
};

#define CMDLINE_MAX ((size_t)1 << 20)

/* A length and that many bytes, padded with NULs. */
static struct sp_pd_text pd_features_take_text(struct sp_pd_cursor *c)
{
    uint32_t n = sp_pd_take_u32(c);
    const char *p = (const char *)sp_pd_take(c, n);
    return p ? (struct sp_pd_text){p, strnlen(p, n)} : (struct sp_pd_text){0};
}

const char *sp_pd_hex(const unsigned char *p, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * n] = 0;
    return out;
}

/*
 * One build-id entry: header, pid, 20 bytes and perhaps their number, path. Before perf 5.11 the number
 * was not written: ids are 20 bytes, or 16 and padding.
 */
spaa_status sp_pd_build_id_record(struct sp_pd *pd, const unsigned char *p, size_t n, unsigned misc)
{
    if (n < 36 || !memchr(p + 36, 0, n - 36))
        return SPAA_OK;
    static const unsigned char none[20];
    size_t len = memcmp(p + 28, none, 4) == 0 ? 16 : 20;
    if (misc & PD_MISC_BUILD_ID_SIZE && p[32] > 0 && p[32] <= 20)
        len = p[32];
    if (memcmp(p + 12, none, len) == 0)
        return SPAA_OK;
    struct sp_pd_build_id b = {0}, *had;
    b.path.p = (const char *)p + 36;
    b.path.n = strlen(b.path.p);
    char hex[2 * 20 + 1];
    sp_pd_hex(p + 12, len, hex);
    b.hex = sp_arena_dup(&pd->arena, hex, 2 * len);
    if (!b.hex)
        return sp_nomem(pd->d);
    if ((had = sp_pd_build_id_entry(pd, b.path.p, b.path.n))) {
        had->several |= strcmp(had->hex, hex) != 0;
        return SPAA_OK;
    }
    if (pd->build_ids.n >= SP_MAP_NONE - 1 || !sp_vec_push(&pd->build_ids, b) ||
        !sp_map_add(&pd->build_id_map, sp_hash_key(b.path.p, b.path.n), (uint32_t)pd->build_ids.n - 1))
        return sp_nomem(pd->d);
    return SPAA_OK;
}

struct sp_pd_build_id *sp_pd_build_id_entry(const struct sp_pd *pd, const char *path, size_t n)
{
    struct sp_probe at = sp_map_probe(&pd->build_id_map, sp_hash_key(path, n));
    for (uint32_t i; (i = sp_map_next(&pd->build_id_map, &at)) != SP_MAP_NONE;) {
        struct sp_pd_build_id *b = &pd->build_ids.v[i];
        if (b->path.n == n && memcmp(b->path.p, path, n) == 0)
            return b;
    }
    return NULL;
}

const char *sp_pd_build_id_of(const struct sp_pd *pd, const char *path, size_t n)
{
    const struct sp_pd_build_id *b = sp_pd_build_id_entry(pd, path, n);
    return b ? b->hex : NULL;
}

/* Such as a length beyond the section: the header points elsewhere, or bytes before it were lost. */
static void pd_features_unusable(struct sp_pd *pd, const char *what)
{
    sp_emit(pd->d, SP_L300, SP_AT_NOTHING, "the header's section of %s", what);
}

static spaa_status pd_features_build_ids(struct sp_pd *pd, const unsigned char *p, size_t n)
{
    while (n >= 8) {
        size_t size = sp_pd_u16(p + 6, pd->swap);
        if (size < 8 || size > n) {
            pd_features_unusable(pd, "build-ids");
            break;
        }
        spaa_status st = sp_pd_build_id_record(pd, p, size, sp_pd_u16(p + 4, pd->swap));
        if (st)
            return st;
        p += size;
        n -= size;
    }
    return SPAA_OK;
}

/* The arguments, joined by spaces. */
static spaa_status pd_features_cmdline(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    struct sp_buf line;
    spaa_status st = SPAA_OK;
    sp_buf_init(&line, CMDLINE_MAX);
    uint32_t args = sp_pd_take_u32(c);
    for (uint32_t i = 0; i < args && !c->bad; i++) {
        struct sp_pd_text arg = pd_features_take_text(c);
        if (c->bad || line.len + arg.n + 1 > CMDLINE_MAX)
            break;
        if (i)
            sp_buf_ch(&line, ' ');
        sp_buf_add(&line, arg.p, arg.n);
    }
    const char *copy = line.failed ? NULL : sp_arena_dup(&pd->arena, line.data ? line.data : "", line.len);
    if (copy)
        pd->cmdline = (struct sp_pd_text){copy, line.len};
    else
        st = sp_nomem(pd->d);
    sp_buf_free(&line);
    return st;
}

static spaa_status pd_features_event_desc(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    uint32_t events = sp_pd_take_u32(c), attr_size = sp_pd_take_u32(c);
    for (uint32_t i = 0; i < events && i < SP_PD_ATTRS && !c->bad; i++) {
        struct sp_pd_desc desc = {0};
        sp_pd_take(c, attr_size);
        desc.nids = sp_pd_take_u32(c);
        desc.name = pd_features_take_text(c);
        const unsigned char *ids = desc.nids <= SP_PD_IDS ? sp_pd_take(c, (size_t)desc.nids * 8) : NULL;
        if (!ids || c->bad)
            break;
        if (desc.nids)
            desc.first_id = sp_pd_u64(ids, pd->swap);
        if (!sp_vec_push(&pd->descs, desc))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static spaa_status pd_features_pmu_mappings(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    uint32_t pmus = sp_pd_take_u32(c);
    for (uint32_t i = 0; i < pmus && i < SP_PD_ATTRS; i++) {
        struct sp_pd_pmu pmu = {.type = sp_pd_take_u32(c)};
        pmu.name = pd_features_take_text(c);
        if (c->bad)
            break;
        if (!sp_vec_push(&pd->pmus, pmu))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static void pd_features_clock_data(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    uint32_t version = sp_pd_take_u32(c), id = sp_pd_take_u32(c);
    uint64_t wall = sp_pd_take_u64(c), time = sp_pd_take_u64(c);
    if (c->bad || version != 1)
        return;
    pd->has_clock_data = true;
    pd->clock_data_id = id;
    pd->clock_wall = wall;
    pd->clock_time = time;
}

static void pd_features_text_feature(struct sp_pd *pd, struct sp_pd_cursor *c, const char *what,
                                     struct sp_pd_text *out)
{
    bool empty = !c->n; /* of a perf that found nothing to say */
    struct sp_pd_text t = pd_features_take_text(c);
    if (c->bad && !empty)
        pd_features_unusable(pd, what);
    else if (t.n)
        *out = t;
}

static void pd_features_cpus(struct sp_pd *pd, struct sp_pd_cursor *c)
{
    enum { CPUS_MAX = 1 << 20 };
    uint32_t available = sp_pd_take_u32(c), online = sp_pd_take_u32(c);
    if (c->bad || online > available || available > CPUS_MAX) {
        pd_features_unusable(pd, "the number of CPUs");
        return;
    }
    pd->cpus_available = available;
    pd->cpus_online = online;
}

/*
 * What SPAA's header has no field for goes to its `x_perf`.
 *
 * Source of the sections: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c. A
 * section that ends early or says what cannot be is left out as a whole.
 */

#define LIST_MAX 65536u /* entries of one list */

struct section {
    struct sp_pd_cursor c;
    struct sp_buf *b;
};

static uint32_t pd_features_count(struct section *s)
{
    uint32_t n = sp_pd_take_u32(&s->c);
    s->c.bad |= n > LIST_MAX;
    return s->c.bad ? 0 : n;
}

/* A string of the section as a value. */
static void pd_features_string(struct section *s)
{
    uint32_t n = sp_pd_take_u32(&s->c);
    const char *p = (const char *)sp_pd_take(&s->c, n);
    if (!p)
        return;
    sp_pd_comma(s->b);
    sp_json_string(s->b, p, strnlen(p, n));
}

static void pd_features_named_string(struct section *s, const char *name)
{
    sp_pd_member(s->b, name);
    pd_features_string(s);
}

static void pd_features_strings(struct section *s, const char *name)
{
    sp_pd_member(s->b, name);
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++)
        pd_features_string(s);
    sp_buf_ch(s->b, ']');
}

/* The pairs of core and socket, and perhaps dies, of each processor: as many as were available. */
static void pd_features_cpu_topology(struct section *s, uint32_t cpus)
{
    struct sp_buf *b = s->b;
    sp_buf_ch(b, '{');
    pd_features_strings(s, "sockets");
    pd_features_strings(s, "threads");
    if (!s->c.bad && cpus && cpus <= LIST_MAX && s->c.n >= (size_t)cpus * 8) {
        sp_pd_member(b, "cpus");
        sp_buf_ch(b, '[');
        for (uint32_t i = 0; i < cpus; i++) {
            uint32_t core = sp_pd_take_u32(&s->c);
            sp_buf_printf(b, "%s{\"core\":%u,\"socket\":%u}", i ? "," : "", core, sp_pd_take_u32(&s->c));
        }
        sp_buf_ch(b, ']');
    }
    sp_buf_ch(b, '}');
}

static void pd_features_numa(struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_ch(s->b, '{');
        sp_pd_member_u64(s->b, "node", sp_pd_take_u32(&s->c));
        sp_pd_member_u64(s->b, "mem_total_kb", sp_pd_take_u64(&s->c));
        sp_pd_member_u64(s->b, "mem_free_kb", sp_pd_take_u64(&s->c));
        pd_features_named_string(s, "cpus");
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pd_features_groups(struct sp_pd *pd, struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_ch(s->b, '{');
        pd_features_named_string(s, "name");
        uint32_t leader = sp_pd_take_u32(&s->c), members = sp_pd_take_u32(&s->c);
        sp_pd_member_u64(s->b, "leader", leader);
        sp_pd_member_u64(s->b, "members", members);
        for (size_t k = leader; k < pd->attrs.n && k - leader < members; k++)
            pd->attrs.v[k].together = i + 1;
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pd_features_caches(struct section *s)
{
    static const char *const numbers[] = {"level", "line_size", "sets", "ways"};
    static const char *const texts[] = {"type", "size", "cpus"};
    s->c.bad |= sp_pd_take_u32(&s->c) != 1;
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_ch(s->b, '{');
        for (size_t k = 0; k < 4; k++)
            sp_pd_member_u64(s->b, numbers[k], sp_pd_take_u32(&s->c));
        for (size_t k = 0; k < 3; k++)
            pd_features_named_string(s, texts[k]);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pd_features_memory(struct section *s)
{
    s->c.bad |= sp_pd_take_u64(&s->c) != 1;
    sp_buf_ch(s->b, '{');
    sp_pd_member_u64(s->b, "block_size", sp_pd_take_u64(&s->c));
    uint64_t nodes = sp_pd_take_u64(&s->c);
    s->c.bad |= nodes > LIST_MAX;
    sp_pd_member(s->b, "nodes");
    sp_buf_ch(s->b, '[');
    for (uint64_t i = 0; i < nodes && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_ch(s->b, '{');
        sp_pd_member_u64(s->b, "node", sp_pd_take_u64(&s->c));
        uint64_t bits = sp_pd_take_u64(&s->c), set = 0;
        for (uint64_t words = bits / 64 + (bits % 64 != 0); words && !s->c.bad; words--)
            set += (uint64_t)__builtin_popcountll(sp_pd_take_u64(&s->c));
        sp_pd_member_u64(s->b, "blocks", set);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_puts(s->b, "]}");
}

static void pd_features_capabilities(struct section *s)
{
    sp_buf_ch(s->b, '{');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        pd_features_string(s);
        sp_buf_ch(s->b, ':');
        pd_features_string(s);
    }
    sp_buf_ch(s->b, '}');
}

static void pd_features_pmu_capabilities(struct section *s)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_puts(s->b, "{\"caps\":");
        pd_features_capabilities(s);
        pd_features_named_string(s, "pmu");
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pd_features_pairs(struct section *s, const char *first, const char *second)
{
    sp_buf_ch(s->b, '[');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        sp_pd_comma(s->b);
        sp_buf_ch(s->b, '{');
        pd_features_named_string(s, first);
        pd_features_named_string(s, second);
        sp_buf_ch(s->b, '}');
    }
    sp_buf_ch(s->b, ']');
}

static void pd_features_compressed(struct section *s)
{
    static const char *const names[] = {"version", "type", "level", "ratio", "mmap_len"};
    sp_buf_ch(s->b, '{');
    for (size_t i = 0; i < 5; i++)
        sp_pd_member_u64(s->b, names[i], sp_pd_take_u32(&s->c));
    sp_buf_ch(s->b, '}');
}

static void pd_features_pmus(struct section *s)
{
    sp_buf_ch(s->b, '{');
    for (uint32_t i = 0, n = pd_features_count(s); i < n && !s->c.bad; i++) {
        uint32_t type = sp_pd_take_u32(&s->c);
        pd_features_string(s);
        sp_buf_ch(s->b, ':');
        sp_buf_u64(s->b, type);
    }
    sp_buf_ch(s->b, '}');
}

static void pd_features_sample_time(struct sp_pd *pd, struct section *s)
{
    pd->told_first = sp_pd_take_u64(&s->c);
    pd->told_last = sp_pd_take_u64(&s->c);
    sp_buf_ch(s->b, '{');
    sp_pd_member_u64(s->b, "first_ns", pd->told_first);
    sp_pd_member_u64(s->b, "last_ns", pd->told_last);
    sp_buf_ch(s->b, '}');
}

static bool pd_features_describe(struct sp_pd *pd, unsigned bit, const unsigned char *p, size_t n)
{
    static const char *const names[32] = {
        [13] = "cpu_topology", [14] = "numa",         [16] = "pmus",   [17] = "groups",
        [20] = "caches",       [21] = "sample_time",  [22] = "memory", [23] = "clock_resolution_ns",
        [27] = "compressed",   [28] = "cpu_pmu_caps", [30] = "hybrid", [31] = "pmu_caps"};
    if (bit >= 32 || !names[bit] || pd->described >> bit & 1)
        return true;
    struct sp_buf *b = &pd->about;
    struct section s = {{p, n, pd->swap, false}, b};
    size_t before = b->len;
    sp_pd_member(b, names[bit]);
    if (bit == 13)
        pd_features_cpu_topology(&s, pd->cpus_available);
    else if (bit == 14)
        pd_features_numa(&s);
    else if (bit == 16)
        pd_features_pmus(&s);
    else if (bit == 17)
        pd_features_groups(pd, &s);
    else if (bit == 20)
        pd_features_caches(&s);
    else if (bit == 21)
        pd_features_sample_time(pd, &s);
    else if (bit == 22)
        pd_features_memory(&s);
    else if (bit == 23)
        sp_buf_u64(b, sp_pd_take_u64(&s.c));
    else if (bit == 27)
        pd_features_compressed(&s);
    else if (bit == 28)
        pd_features_capabilities(&s);
    else if (bit == 30)
        pd_features_pairs(&s, "pmu", "cpus");
    else
        pd_features_pmu_capabilities(&s);
    if (s.c.bad)
        b->len = before;
    else
        pd->described |= (uint32_t)1 << bit;
    return !b->failed;
}

spaa_status sp_pd_feature(struct sp_pd *pd, unsigned bit, const unsigned char *p, size_t n)
{
    struct sp_pd_cursor c = {p, n, pd->swap, false};
    if (!pd_features_describe(pd, bit, p, n))
        return sp_nomem(pd->d);
    switch (bit) {
    case FEATURE_TRACING_DATA:
        return sp_pd_trace_read(pd, p, n);
    case FEATURE_BUILD_ID:
        return pd_features_build_ids(pd, p, n);
    case FEATURE_HOSTNAME:
        pd_features_text_feature(pd, &c, "the host", &pd->hostname);
        break;
    case FEATURE_OSRELEASE:
        pd_features_text_feature(pd, &c, "the system's release", &pd->osrelease);
        break;
    case FEATURE_VERSION:
        pd_features_text_feature(pd, &c, "the version of perf", &pd->version);
        break;
    case FEATURE_ARCH:
        pd_features_text_feature(pd, &c, "the architecture", &pd->arch);
        break;
    case FEATURE_NRCPUS:
        pd_features_cpus(pd, &c);
        break;
    case FEATURE_CPUDESC:
        pd_features_text_feature(pd, &c, "the CPU's name", &pd->cpudesc);
        break;
    case FEATURE_CPUID:
        pd_features_text_feature(pd, &c, "the CPU's identity", &pd->cpuid);
        break;
    case FEATURE_TOTAL_MEM:
        pd->total_mem = sp_pd_take_u64(&c);
        break;
    case FEATURE_CMDLINE:
        return pd_features_cmdline(pd, &c);
    case FEATURE_EVENT_DESC:
        return pd_features_event_desc(pd, &c);
    case FEATURE_PMU_MAPPINGS:
        return pd_features_pmu_mappings(pd, &c);
    case FEATURE_CLOCK_DATA:
        pd_features_clock_data(pd, &c);
        break;
    case FEATURE_DIR_FORMAT:
        pd->directory = true;
        break;
    default:
        break;
    }
    return SPAA_OK;
}
