/*
 * Records one after another, and pass 1: everything about them except samples.
 *
 * A record is a header of 8 bytes (type, misc, size) and its body. Quirks: AUXTRACE and TRACING_DATA
 * have a payload that the size does not count. perf 6.16 wrote COMPRESSED2 records whose 16-bit size
 * overflowed; their data_size says how far they reach, and then no padding follows. Where no record can
 * be (size below 8, impossible type), the next place is searched from which several records follow on
 * each other; text behind the last record (a terminal's output in the same pipe) ends the recording.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"
#include "base/watch.h"

#define CHAIN 4 /* records that must follow on each other to be believed after damage */

static bool pd_records_known(uint32_t type)
{
    return (type >= 1 && type <= PD_KERNEL_LAST) || (type >= PD_USER_FIRST && type <= PD_USER_LAST);
}

/* Whether what stands at p could be a record: all but what COMPRESSED leaves is aligned to 8. */
static bool pd_records_plausible(const unsigned char *p, size_t left, bool swap)
{
    if (left < 8)
        return false;
    uint32_t type = sp_pd_u32(p, swap);
    size_t size = sp_pd_u16(p + 6, swap);
    return size >= 8 && type < PD_TYPE_LIMIT && type && (pd_records_known(type) || size % 8 == 0);
}

static bool pd_records_chain_from(const struct sp_pd *pd, const struct sp_pd_range *range, size_t at)
{
    for (unsigned i = 0; i < CHAIN; i++) {
        size_t left = range->n - at;
        if (!left)
            return i > 0;
        if (!pd_records_plausible(range->p + at, left, pd->swap) ||
            !pd_records_known(sp_pd_u32(range->p + at, pd->swap)))
            return false;
        size_t size = sp_pd_u16(range->p + at + 6, pd->swap);
        if (size % 8 || size > left)
            return false;
        at += size;
    }
    return true;
}

static bool pd_records_is_text(const unsigned char *p, size_t n)
{
    size_t look = n < 64 ? n : 64, printable = 0;
    for (size_t i = 0; i < look; i++)
        printable += (p[i] >= 32 && p[i] < 127) || p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || p[i] == 27;
    return look >= 8 && printable == look;
}

/* Steps over what is no record; the end of the range when none follows. */
static size_t pd_records_resync(struct sp_pd *pd, const struct sp_pd_range *range, size_t at, bool report)
{
    size_t next = at + 8 - at % 8;
    while (next < range->n && !pd_records_chain_from(pd, range, next))
        next += 8;
    if (next > range->n)
        next = range->n;
    if (!report)
        return next;
    const unsigned char *p = range->p + at;
    struct sp_where where = sp_pd_where(range->base + at);
    if (next == range->n && pd_records_is_text(p, range->n - at)) {
        sp_emit(pd->d, SP_W311, where, "%zu bytes of text follow the last record", range->n - at);
        return next;
    }
    sp_emit(pd->d, SP_E010, where, "a record of type %u and size %u: %zu bytes skipped%s",
            sp_pd_u32(p, pd->swap), sp_pd_u16(p + 6, pd->swap), next - at,
            next == range->n ? ", to the end of the records" : "");
    return next;
}

static void pd_records_cut_off(struct sp_pd *pd, uint64_t pos, uint64_t needs, size_t left, bool report)
{
    if (report)
        sp_emit(pd->d, SP_L301, sp_pd_where(pos), "the last record needs %llu bytes, %zu are there",
                (unsigned long long)needs, left);
}

/* Bytes of a COMPRESSED2 record, which may be more than its 16-bit size can say. */
static size_t pd_records_compressed2_span(const unsigned char *p, size_t left, size_t size, bool swap)
{
    if (left < 16)
        return size;
    uint64_t data = sp_pd_u64(p + 8, swap);
    if (data > left - 16 || data + 16 <= size)
        return size;
    return ((data + 16 + 7) & 0xfff8) == size ? (size_t)data + 16 : size;
}

/* The payload behind records that have one. */
static uint64_t pd_records_payload(const struct sp_pd *pd, uint32_t type, const unsigned char *p, size_t size)
{
    if (type == PD_AUXTRACE && size >= 16)
        return sp_pd_u64(p + 8, pd->swap);
    if (type == PD_TRACING_DATA && size >= 12)
        return ((uint64_t)sp_pd_u32(p + 8, pd->swap) + 7) & ~(uint64_t)7;
    return 0;
}

bool sp_pd_next(struct sp_pd *pd, const struct sp_pd_range *range, struct sp_pd_record *r, bool report)
{
    size_t at = r->at + r->span;
    while (at < range->n) {
        const unsigned char *p = range->p + at;
        size_t left = range->n - at;
        if (left < 8) {
            pd_records_cut_off(pd, range->base + at, 8, left, report);
            return false;
        }
        uint32_t type = sp_pd_u32(p, pd->swap);
        size_t size = sp_pd_u16(p + 6, pd->swap), span = size;
        if (type == PD_COMPRESSED2)
            span = pd_records_compressed2_span(p, left, size, pd->swap);
        if (span == size && !pd_records_plausible(p, left, pd->swap)) {
            at = pd_records_resync(pd, range, at, report);
            continue;
        }
        if (span > left) {
            pd_records_cut_off(pd, range->base + at, span, left, report);
            return false;
        }
        if (span == size) {
            uint64_t more = pd_records_payload(pd, type, p, size);
            if (more > left - size) {
                pd_records_cut_off(pd, range->base + at, more, left - size, report);
                more = left - size;
            }
            span += (size_t)more;
        }
        *r = (struct sp_pd_record){
            .p = p,
            .pos = range->base + at,
            .at = at,
            .size = type == PD_COMPRESSED2 ? span : size,
            .span = span,
            .type = type,
            .misc = sp_pd_u16(p + 4, pd->swap),
        };
        return true;
    }
    return false;
}

static const struct sp_pd_attr *pd_records_trailer_attr(const struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (!pd->attrs.n)
        return NULL;
    const struct sp_pd_attr *first = &pd->attrs.v[0];
    uint32_t id = SP_NONE;
    if (first->plan.t_identifier && r->size >= 16)
        id = sp_pd_find_id(pd, sp_pd_u64(r->p + r->size - 8, pd->swap));
    return id == SP_NONE ? first : &pd->attrs.v[pd->ids.v[id].attr];
}

/* The time in a record's sample_id trailer; body: bytes that the record's own fields take. 0: none. */
static uint64_t pd_records_trailer_time(const struct sp_pd *pd, const struct sp_pd_record *r, size_t body)
{
    const struct sp_pd_attr *a = pd_records_trailer_attr(pd, r);
    const struct sp_pd_plan *plan = a ? &a->plan : NULL;
    if (!plan || !plan->t_time || r->size < body + plan->t_size)
        return 0;
    return sp_pd_u64(r->p + r->size - plan->t_time, pd->swap);
}

void sp_pd_trailer_read(const struct sp_pd *pd, const struct sp_pd_record *r, size_t body,
                        struct sp_pd_trailer *out)
{
    const struct sp_pd_attr *a = pd_records_trailer_attr(pd, r);
    const struct sp_pd_plan *plan = a ? &a->plan : NULL;
    const unsigned char *end = r->p + r->size;
    *out = (struct sp_pd_trailer){.cpu = -1};
    if (!plan || r->size < body + plan->t_size)
        return;
    out->has_time = plan->t_time;
    out->has_tid = plan->t_tid;
    out->time = plan->t_time ? sp_pd_u64(end - plan->t_time, pd->swap) : 0;
    out->pid = plan->t_tid ? sp_pd_i32(end - plan->t_tid, pd->swap) : -1;
    out->tid = plan->t_tid ? sp_pd_i32(end - plan->t_tid + 4, pd->swap) : -1;
    out->cpu = plan->t_cpu ? sp_pd_i32(end - plan->t_cpu, pd->swap) : -1;
}

/* Bytes up to the end of a padded string at `at`; 0 when it does not end inside the record. */
static size_t pd_records_text_end(const struct sp_pd_record *r, size_t at)
{
    if (r->size <= at)
        return 0;
    const unsigned char *nul = memchr(r->p + at, 0, r->size - at);
    return nul ? ((size_t)(nul - r->p) + 8) & ~(size_t)7 : 0;
}

static spaa_status pd_records_add_side(struct sp_pd *pd, const struct sp_pd_record *r, size_t body)
{
    struct sp_pd_side side = {pd_records_trailer_time(pd, r, body), r->pos};
    if ((r->type == PD_FORK || r->type == PD_EXIT) && !side.time)
        side.time = sp_pd_u64(r->p + 24, pd->swap);
    return sp_vec_push(&pd->sides, side) ? SPAA_OK : sp_nomem(pd->d);
}

bool sp_pd_mmap_read(const struct sp_pd *pd, const unsigned char *rec, struct sp_pd_mmap *out)
{
    bool swap = pd->swap;
    uint32_t type = sp_pd_u32(rec, swap);
    unsigned misc = sp_pd_u16(rec + 4, swap), mode = misc & PD_MISC_MODE;
    size_t size = sp_pd_u16(rec + 6, swap), text = type == PD_MMAP ? 40 : 72;
    if (size <= text)
        return false;
    struct sp_pd_mmap m = {
        .pid = sp_pd_i32(rec + 8, swap),
        .start = sp_pd_u64(rec + 16, swap),
        .len = sp_pd_u64(rec + 24, swap),
        .pgoff = sp_pd_u64(rec + 32, swap),
        .path = {(const char *)rec + text, 0},
    };
    m.path.n = strnlen(m.path.p, size - text);
    if (m.path.n == size - text)
        return false;
    if (type == PD_MMAP2 && misc & PD_MISC_BUILD_ID && rec[40] > 0 && rec[40] <= 20) {
        m.build_id = rec + 44;
        m.build_id_size = rec[40];
    } else if (type == PD_MMAP2 && !(misc & PD_MISC_BUILD_ID)) {
        m.major = sp_pd_u32(rec + 40, swap);
        m.minor = sp_pd_u32(rec + 44, swap);
        m.inode = sp_pd_u64(rec + 48, swap);
        m.generation = sp_pd_u64(rec + 56, swap);
    }
    const struct sp_pd_record r = {.p = rec, .size = size, .type = type, .misc = (uint16_t)misc};
    size_t body = pd_records_text_end(&r, text);
    m.time = body ? pd_records_trailer_time(pd, &r, body) : 0;
    m.data = misc & PD_MISC_DATA;
    m.guest = mode == PD_MODE_GUEST_KERNEL || mode == PD_MODE_GUEST_USER;
    m.kernel = !m.guest && (mode == PD_MODE_KERNEL || m.pid == -1);
    *out = m;
    return true;
}

bool sp_pd_is_fork(const struct sp_pd *pd, const unsigned char *rec, uint64_t time, int32_t *pid,
                   int32_t *ppid)
{
    *pid = sp_pd_i32(rec + 8, pd->swap);
    *ppid = sp_pd_i32(rec + 12, pd->swap);
    return time && *pid != *ppid && !(sp_pd_u16(rec + 4, pd->swap) & PD_MISC_EXEC);
}

static spaa_status pd_records_mmap_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    struct sp_pd_mmap m;
    size_t body = pd_records_text_end(r, r->type == PD_MMAP ? 40 : 72);
    if (!body || !sp_pd_mmap_read(pd, r->p, &m)) {
        sp_emit(pd->d, SP_L300, sp_pd_where(r->pos), "a map record that is too short");
        return SPAA_OK;
    }
    if (m.kernel || m.guest)
        return sp_vec_push(&pd->kernel_maps, r->pos) ? SPAA_OK : sp_nomem(pd->d);
    return pd_records_add_side(pd, r, body);
}

static spaa_status pd_records_attr_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    struct sp_pd_attr attr;
    size_t n = r->size - 8, stated = n >= 8 ? sp_pd_u32(r->p + 12, pd->swap) : 0;
    size_t attr_size = stated ? stated : 64;
    if (attr_size > n || !sp_pd_attr_read(r->p + 8, attr_size, pd->swap, pd->big_endian, &attr)) {
        sp_emit(pd->d, SP_E010, sp_pd_where(r->pos), "an attribute record of %zu bytes", r->size);
        return SPAA_OK;
    }
    if (pd->attrs.n >= SP_PD_ATTRS) {
        sp_emit(pd->d, SP_E007, sp_pd_where(r->pos), "more than %u events", SP_PD_ATTRS);
        return SPAA_ERR_LIMIT;
    }
    /* `perf inject` repeats what it reads. */
    size_t first = 8 + attr_size;
    if (first + 8 <= r->size && sp_pd_find_id(pd, sp_pd_u64(r->p + first, pd->swap)) != SP_NONE)
        return SPAA_OK;
    if (!sp_vec_push(&pd->attrs, attr))
        return sp_nomem(pd->d);
    for (size_t at = first; at + 8 <= r->size && pd->ids.n < SP_PD_IDS; at += 8)
        if (!sp_pd_add_id(pd, sp_pd_u64(r->p + at, pd->swap), (uint32_t)pd->attrs.n - 1))
            return sp_nomem(pd->d);
    return SPAA_OK;
}

static spaa_status pd_records_event_update_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size <= 24 || sp_pd_u64(r->p + 8, pd->swap) != 2) /* not the name */
        return SPAA_OK;
    struct sp_pd_desc desc = {.nids = 1, .first_id = sp_pd_u64(r->p + 16, pd->swap)};
    desc.name.p = (const char *)r->p + 24;
    desc.name.n = strnlen(desc.name.p, r->size - 24);
    return sp_vec_push(&pd->descs, desc) ? SPAA_OK : sp_nomem(pd->d);
}

static spaa_status pd_records_event_type_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size <= 16 || pd->event_types.n >= SP_PD_ATTRS)
        return SPAA_OK;
    struct sp_pd_event_type t = {.config = sp_pd_u64(r->p + 8, pd->swap)};
    t.name.p = (const char *)r->p + 16;
    t.name.n = strnlen(t.name.p, r->size - 16);
    return sp_vec_push(&pd->event_types, t) ? SPAA_OK : sp_nomem(pd->d);
}

const struct sp_pd_deferred *sp_pd_find_deferred(const struct sp_pd *pd, uint64_t cookie, int32_t tid)
{
    struct sp_probe at = sp_map_probe(&pd->deferred_map, sp_hash_mix(cookie, (uint32_t)tid));
    for (uint32_t i; (i = sp_map_next(&pd->deferred_map, &at)) != SP_MAP_NONE;)
        if (pd->deferred.v[i].cookie == cookie && pd->deferred.v[i].tid == tid)
            return &pd->deferred.v[i];
    return NULL;
}

static spaa_status pd_records_deferred_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size < 24 || sp_pd_u64(r->p + 16, pd->swap) > (r->size - 24) / 8) {
        pd->bad_samples++;
        return SPAA_OK;
    }
    struct sp_pd_deferred c = {
        .cookie = sp_pd_u64(r->p + 8, pd->swap),
        .n = (uint32_t)sp_pd_u64(r->p + 16, pd->swap),
        .chain = r->p + 24,
    };
    const struct sp_pd_plan *plan = pd->attrs.n ? &pd->attrs.v[0].plan : NULL;
    if (plan && plan->t_tid && r->size >= 24 + (size_t)c.n * 8 + plan->t_size)
        c.tid = sp_pd_i32(r->p + r->size - plan->t_tid + 4, pd->swap);
    uint64_t hash = sp_hash_mix(c.cookie, (uint32_t)c.tid);
    if (sp_pd_find_deferred(pd, c.cookie, c.tid))
        return SPAA_OK;
    if (pd->deferred.n >= SP_MAP_NONE - 1 || !sp_vec_push(&pd->deferred, c) ||
        !sp_map_add(&pd->deferred_map, hash, (uint32_t)pd->deferred.n - 1))
        return sp_nomem(pd->d);
    return SPAA_OK;
}

/*
 * What the recording lost, counted once.
 *
 * Where the ring buffer is full, the kernel counts a record that finds no place twice: in the buffer, which
 * says so with a LOST record as soon as there is room again, and in the event. perf 6.0 and later read the
 * event's number when they end (PERF_FORMAT_LOST, Linux 6.0) and write it as a LOST_SAMPLES record for each
 * event and processor: the same losses, and those at the very end that no LOST record told. So the larger sum
 * counts.
 *
 * The kernel writes LOST_SAMPLES, too, for samples that the processor took and nobody could read (PEBS, ARM
 * SPE): those are in no other number. It stamps them with time and thread, which are zero in perf's.
 *
 * With --switch-output perf reads the numbers once, for all the files that it wrote: there LOST records
 * count.
 */

/* Numbers of SPAA have 63 bits. */
static void pd_records_add_capped(uint64_t *sum, uint64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum) || *sum > INT64_MAX)
        *sum = INT64_MAX;
}

/* Whether perf made this LOST_SAMPLES record, from what read() said of an event. */
static bool pd_records_is_read(const struct sp_pd *pd, const struct sp_pd_record *r)
{
    const struct sp_pd_attr *a = pd_records_trailer_attr(pd, r);
    const struct sp_pd_plan *plan = a ? &a->plan : NULL;
    if (!a || !(a->read_format & PD_READ_LOST))
        return false;
    if (r->size < 16 + plan->t_size)
        return true;
    const unsigned char *end = r->p + r->size;
    if (plan->t_time)
        return !sp_pd_u64(end - plan->t_time, pd->swap);
    return !plan->t_tid || !sp_pd_u64(end - plan->t_tid, pd->swap);
}

static void pd_records_lost_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->type == PD_LOST && r->size >= 24)
        pd_records_add_capped(&pd->lost_told, sp_pd_u64(r->p + 16, pd->swap));
    if (r->type != PD_LOST_SAMPLES || r->size < 16)
        return;
    uint64_t n = sp_pd_u64(r->p + 8, pd->swap);
    if (r->misc & PD_MISC_LOST_BPF)
        pd_records_add_capped(&pd->lost_filtered, n);
    else
        pd_records_add_capped(pd_records_is_read(pd, r) ? &pd->lost_read : &pd->lost_unread, n);
}

uint64_t sp_pd_lost(const struct sp_pd *pd)
{
    static const char option[] = " --switch-output";
    bool split = pd->cmdline.n && memmem(pd->cmdline.p, pd->cmdline.n, option, sizeof option - 1);
    uint64_t lost = pd->lost_read > pd->lost_told && !split ? pd->lost_read : pd->lost_told;
    pd_records_add_capped(&lost, pd->lost_unread);
    return lost;
}

/* Chunks of the compressed stream; an overflowed COMPRESSED2 holds several records' worth. */
static spaa_status pd_records_compressed_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->type == PD_COMPRESSED)
        return sp_pd_unpack_add(pd, r->p + 8, r->size - 8, r->pos);
    if (r->size < 16)
        return SPAA_OK;
    uint64_t data = sp_pd_u64(r->p + 8, pd->swap);
    size_t n = data < r->size - 16 ? (size_t)data : r->size - 16;
    const unsigned char *p = r->p + 16;
    const size_t most = 65535 - 16; /* perf starts a record of its own after this much */
    spaa_status st = SPAA_OK;
    while (!st && n > most) {
        st = sp_pd_unpack_add(pd, p, most, r->pos);
        size_t skip = most + 16 < n ? most + 16 : n;
        p += skip;
        n -= skip;
    }
    return st ? st : sp_pd_unpack_add(pd, p, n, r->pos);
}

static spaa_status pd_records_cgroup_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (!pd_records_text_end(r, 16) || pd->cgroups.n >= SP_PD_CGROUPS)
        return SPAA_OK;
    struct sp_pd_cgroup c = {.id = sp_pd_u64(r->p + 8, pd->swap)};
    c.path.p = (const char *)r->p + 16;
    c.path.n = strlen(c.path.p);
    return sp_vec_push(&pd->cgroups, c) ? SPAA_OK : sp_nomem(pd->d);
}

/* Time, id, and the stream: the event on one processor or thread. */
static spaa_status pd_records_throttle_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size < 32)
        return SPAA_OK;
    uint64_t time = sp_pd_u64(r->p + 8, pd->swap), stream = sp_pd_u64(r->p + 24, pd->swap);
    size_t i = 0;
    while (i < pd->throttles.n && pd->throttles.v[i].stream != stream)
        i++;
    if (i == pd->throttles.n) {
        struct sp_pd_throttle row = {.stream = stream};
        if (i >= SP_PD_STREAMS)
            return SPAA_OK;
        if (!sp_vec_push(&pd->throttles, row))
            return sp_nomem(pd->d);
    }
    struct sp_pd_throttle *t = &pd->throttles.v[i];
    pd->throttled += r->type == PD_THROTTLE;
    if (r->type == PD_UNTHROTTLE && t->since && time > t->since)
        pd->throttled_ns += time - t->since;
    t->since = r->type == PD_THROTTLE ? time : 0;
    return SPAA_OK;
}

/* An event is opened on each CPU that is recorded: on fewer than there are, `-C` chose some. */
static bool pd_records_some_cpus(const struct sp_pd *pd)
{
    uint32_t most = 0;
    for (size_t i = 0; i < pd->attrs.n; i++)
        most = pd->attrs.v[i].nids > most ? pd->attrs.v[i].nids : most;
    return most && most < pd->cpus_online;
}

/* Whom was recorded: all threads of the CPUs, which is a single pid -1, or those that are listed. */
static void pd_records_thread_map(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size < 24)
        return;
    bool all = sp_pd_u64(r->p + 8, pd->swap) == 1 && (int32_t)sp_pd_u64(r->p + 16, pd->swap) == -1;
    pd->p->recorded = !all ? SP_RECORDED_SOME : pd_records_some_cpus(pd) ? SP_RECORDED_CPUS : SP_RECORDED_ALL;
}

static spaa_status pd_records_take_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    switch (r->type) {
    case PD_MMAP:
    case PD_MMAP2:
        return pd_records_mmap_record(pd, r);
    case PD_COMM:
        return pd_records_text_end(r, 16) ? pd_records_add_side(pd, r, pd_records_text_end(r, 16)) : SPAA_OK;
    case PD_FORK:
    case PD_EXIT:
        return r->size >= 32 ? pd_records_add_side(pd, r, 32) : SPAA_OK;
    case PD_KSYMBOL:
        if (r->size > 24 && memchr(r->p + 24, 0, r->size - 24))
            return sp_vec_push(&pd->kernel_maps, r->pos) ? SPAA_OK : sp_nomem(pd->d);
        return SPAA_OK;
    case PD_THREAD_MAP:
        pd_records_thread_map(pd, r);
        return SPAA_OK;
    case PD_LOST:
    case PD_LOST_SAMPLES:
        pd_records_lost_record(pd, r);
        return SPAA_OK;
    case PD_THROTTLE:
    case PD_UNTHROTTLE:
        return pd_records_throttle_record(pd, r);
    case PD_CGROUP_NAME:
        return pd_records_cgroup_record(pd, r);
    case PD_TRACING_DATA:
        return r->span > r->size ? sp_pd_trace_read(pd, r->p + r->size, r->span - r->size) : SPAA_OK;
    case PD_CALLCHAIN_DEFERRED:
        return pd_records_deferred_record(pd, r);
    case PD_HEADER_ATTR:
        return pd_records_attr_record(pd, r);
    case PD_EVENT_TYPE:
        return pd_records_event_type_record(pd, r);
    case PD_EVENT_UPDATE:
        return pd_records_event_update_record(pd, r);
    case PD_TIME_CONV:
        if (r->size >= 32)
            pd->cycles = (struct sp_recording_clock){.cycles = true,
                                                     .shift = sp_pd_u64(r->p + 8, pd->swap),
                                                     .mult = sp_pd_u64(r->p + 16, pd->swap),
                                                     .zero = sp_pd_u64(r->p + 24, pd->swap)};
        return SPAA_OK;
    case PD_BUILD_ID:
        return sp_pd_build_id_record(pd, r->p, r->size, r->misc);
    case PD_FEATURE:
        if (r->size < 16 || sp_pd_u64(r->p + 8, pd->swap) > 255)
            return SPAA_OK;
        return sp_pd_feature(pd, (unsigned)sp_pd_u64(r->p + 8, pd->swap), r->p + 16, r->size - 16);
    case PD_COMPRESSED:
    case PD_COMPRESSED2:
        return r->pos < SP_PD_UNPACKED ? pd_records_compressed_record(pd, r) : SPAA_OK;
    default:
        pd->unknown_records += !pd_records_known(r->type);
        return SPAA_OK;
    }
}

/* Samples are counted and stepped over without a call: they are nearly all records there are. */
static spaa_status pd_records_walk(struct sp_pd *pd, const struct sp_pd_range *range)
{
    struct sp_pd_record r = {0};
    uint64_t samples = 0;
    spaa_status st = SPAA_OK;
    size_t at = 0;
    while (!st) {
        while (range->n - at >= 8) {
            const unsigned char *p = range->p + at;
            size_t size = sp_pd_u16(p + 6, pd->swap);
            if (sp_pd_u32(p, pd->swap) != PD_SAMPLE || size < 8 || size > range->n - at)
                break;
            sp_pd_prefetch(p, size, range->n - at);
            if (sp_leaving(pd->d, samples))
                return SPAA_ERR_CANCELLED;
            samples++;
            at += size;
        }
        r.at = at;
        r.span = 0;
        if (!sp_pd_next(pd, range, &r, true))
            break;
        at = r.at + r.span;
        if (r.type <= PD_USER_LAST)
            pd->record_counts[r.type]++;
        if (r.type == PD_SAMPLE)
            samples++;
        else
            st = pd_records_take_record(pd, &r);
        if (!st && pd->opts->strict && sp_diags_count(pd->d, SP_LOSS))
            st = SPAA_ERR_INPUT;
    }
    pd->seen_samples += samples;
    pd->record_counts[PD_SAMPLE] = pd->seen_samples;
    return st;
}

/* Whether order is to be taken from the file: some sample or all sideband has no time. */
static bool pd_records_lacks_time(const struct sp_pd *pd)
{
    bool trailer = false;
    for (size_t i = 0; i < pd->attrs.n; i++) {
        const struct sp_pd_attr *a = &pd->attrs.v[i];
        trailer |= a->plan.t_time != 0;
        if (!a->plan.time && !(a->type == PD_SOFTWARE && a->config == 9))
            return true;
    }
    return !trailer;
}

spaa_status sp_pd_pass1(struct sp_pd *pd)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < pd->parts.n && !st; i++) {
        struct sp_pd_part *part = &pd->parts.v[i];
        st = pd_records_walk(pd, &part->ranges[0]);
        if (!st)
            st = sp_pd_unpack_end(pd, part);
        if (!st && part->ranges[1].n)
            st = pd_records_walk(pd, &part->ranges[1]);
    }
    pd->by_position = pd_records_lacks_time(pd);
    if (pd->unknown_records)
        sp_emit(pd->d, SP_W311, SP_AT_NOTHING, "%llu records of unknown types were skipped",
                (unsigned long long)pd->unknown_records);
    return st;
}
