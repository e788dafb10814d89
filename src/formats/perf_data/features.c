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

/* Takes pieces off a section; sticky `bad` once it runs out. */
struct cursor {
    const unsigned char *p;
    size_t n;
    bool swap, bad;
};

static const unsigned char *take(struct cursor *c, size_t n)
{
    if (c->bad || n > c->n) {
        c->bad = true;
        return NULL;
    }
    const unsigned char *p = c->p;
    c->p += n;
    c->n -= n;
    return p;
}

static uint32_t take_u32(struct cursor *c)
{
    const unsigned char *p = take(c, 4);
    return p ? sp_pd_u32(p, c->swap) : 0;
}

static uint64_t take_u64(struct cursor *c)
{
    const unsigned char *p = take(c, 8);
    return p ? sp_pd_u64(p, c->swap) : 0;
}

/* A length and that many bytes, padded with NULs. */
static struct sp_pd_text take_text(struct cursor *c)
{
    uint32_t n = take_u32(c);
    const char *p = (const char *)take(c, n);
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
    struct sp_pd_build_id b;
    b.path.p = (const char *)p + 36;
    b.path.n = strlen(b.path.p);
    char hex[2 * 20 + 1];
    sp_pd_hex(p + 12, len, hex);
    b.hex = sp_arena_dup(&pd->arena, hex, 2 * len);
    if (!b.hex)
        return sp_nomem(pd->d);
    if (sp_pd_build_id_of(pd, b.path.p, b.path.n))
        return SPAA_OK;
    if (pd->build_ids.n >= SP_MAP_NONE - 1 || !sp_vec_push(&pd->build_ids, b) ||
        !sp_map_add(&pd->build_id_map, sp_hash64(b.path.p, b.path.n), (uint32_t)pd->build_ids.n - 1))
        return sp_nomem(pd->d);
    return SPAA_OK;
}

const char *sp_pd_build_id_of(const struct sp_pd *pd, const char *path, size_t n)
{
    struct sp_probe at = sp_map_probe(&pd->build_id_map, sp_hash64(path, n));
    for (uint32_t i; (i = sp_map_next(&pd->build_id_map, &at)) != SP_MAP_NONE;) {
        const struct sp_pd_build_id *b = &pd->build_ids.v[i];
        if (b->path.n == n && memcmp(b->path.p, path, n) == 0)
            return b->hex;
    }
    return NULL;
}

static spaa_status build_ids(struct sp_pd *pd, const unsigned char *p, size_t n)
{
    while (n >= 8) {
        size_t size = sp_pd_u16(p + 6, pd->swap);
        if (size < 8 || size > n)
            break;
        spaa_status st = sp_pd_build_id_record(pd, p, size, sp_pd_u16(p + 4, pd->swap));
        if (st)
            return st;
        p += size;
        n -= size;
    }
    return SPAA_OK;
}

/* The arguments, joined by spaces. */
static spaa_status cmdline(struct sp_pd *pd, struct cursor *c)
{
    struct sp_buf line;
    spaa_status st = SPAA_OK;
    sp_buf_init(&line, CMDLINE_MAX);
    uint32_t args = take_u32(c);
    for (uint32_t i = 0; i < args && !c->bad; i++) {
        struct sp_pd_text arg = take_text(c);
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

static spaa_status event_desc(struct sp_pd *pd, struct cursor *c)
{
    uint32_t events = take_u32(c), attr_size = take_u32(c);
    for (uint32_t i = 0; i < events && i < SP_PD_ATTRS && !c->bad; i++) {
        struct sp_pd_desc desc = {0};
        take(c, attr_size);
        desc.nids = take_u32(c);
        desc.name = take_text(c);
        const unsigned char *ids = desc.nids <= SP_PD_IDS ? take(c, (size_t)desc.nids * 8) : NULL;
        if (!ids || c->bad)
            break;
        if (desc.nids)
            desc.first_id = sp_pd_u64(ids, pd->swap);
        if (!sp_vec_push(&pd->descs, desc))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static spaa_status pmu_mappings(struct sp_pd *pd, struct cursor *c)
{
    uint32_t pmus = take_u32(c);
    for (uint32_t i = 0; i < pmus && i < SP_PD_ATTRS; i++) {
        struct sp_pd_pmu pmu = {.type = take_u32(c)};
        pmu.name = take_text(c);
        if (c->bad)
            break;
        if (!sp_vec_push(&pd->pmus, pmu))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

static void clock_data(struct sp_pd *pd, struct cursor *c)
{
    uint32_t version = take_u32(c), id = take_u32(c);
    uint64_t wall = take_u64(c), time = take_u64(c);
    if (c->bad || version != 1)
        return;
    pd->has_clock_data = true;
    pd->clock_data_id = id;
    pd->clock_wall = wall;
    pd->clock_time = time;
}

static void text_feature(struct cursor *c, struct sp_pd_text *out)
{
    struct sp_pd_text t = take_text(c);
    if (!c->bad && t.n)
        *out = t;
}

spaa_status sp_pd_feature(struct sp_pd *pd, unsigned bit, const unsigned char *p, size_t n)
{
    struct cursor c = {p, n, pd->swap, false};
    if (!sp_pd_describe_feature(pd, bit, p, n))
        return sp_nomem(pd->d);
    switch (bit) {
    case FEATURE_TRACING_DATA:
        return sp_pd_trace_read(pd, p, n);
    case FEATURE_BUILD_ID:
        return build_ids(pd, p, n);
    case FEATURE_HOSTNAME:
        text_feature(&c, &pd->hostname);
        break;
    case FEATURE_OSRELEASE:
        text_feature(&c, &pd->osrelease);
        break;
    case FEATURE_VERSION:
        text_feature(&c, &pd->version);
        break;
    case FEATURE_ARCH:
        text_feature(&c, &pd->arch);
        break;
    case FEATURE_NRCPUS:
        pd->cpus_available = take_u32(&c);
        pd->cpus_online = take_u32(&c);
        break;
    case FEATURE_CPUDESC:
        text_feature(&c, &pd->cpudesc);
        break;
    case FEATURE_CPUID:
        text_feature(&c, &pd->cpuid);
        break;
    case FEATURE_TOTAL_MEM:
        pd->total_mem = take_u64(&c);
        break;
    case FEATURE_CMDLINE:
        return cmdline(pd, &c);
    case FEATURE_EVENT_DESC:
        return event_desc(pd, &c);
    case FEATURE_PMU_MAPPINGS:
        return pmu_mappings(pd, &c);
    case FEATURE_CLOCK_DATA:
        clock_data(pd, &c);
        break;
    case FEATURE_DIR_FORMAT:
        pd->directory = true;
        break;
    default:
        break;
    }
    return SPAA_OK;
}
