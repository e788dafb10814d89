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

#define CHAIN 4 /* records that must follow on each other to be believed after damage */

struct sp_where sp_pd_where(uint64_t pos)
{
    if (pos < (uint64_t)1 << SP_PD_PART_SHIFT)
        return SP_AT(pos);
    if (pos < SP_PD_UNPACKED)
        return (struct sp_where){.offset = pos & (((uint64_t)1 << SP_PD_PART_SHIFT) - 1),
                                 .record = "in a file of the folder"};
    return (struct sp_where){.offset = pos & (((uint64_t)1 << SP_PD_PART_SHIFT) - 1),
                             .record = "in the unpacked COMPRESSED records"};
}

const unsigned char *sp_pd_at(const struct sp_pd *pd, uint64_t pos)
{
    const struct sp_pd_range *r = &sp_pd_part_of(pd, pos)->ranges[pos >= SP_PD_UNPACKED];
    return r->p + (pos - r->base);
}

static bool known(uint32_t type)
{
    return (type >= 1 && type <= PD_KERNEL_LAST) || (type >= PD_USER_FIRST && type <= PD_USER_LAST);
}

/* Whether what stands at p could be a record: all but what COMPRESSED leaves is aligned to 8. */
static bool plausible(const unsigned char *p, size_t left, bool swap)
{
    if (left < 8)
        return false;
    uint32_t type = sp_pd_u32(p, swap);
    size_t size = sp_pd_u16(p + 6, swap);
    return size >= 8 && type < PD_TYPE_LIMIT && type && (known(type) || size % 8 == 0);
}

static bool chain_from(const struct sp_pd *pd, const struct sp_pd_range *range, size_t at)
{
    for (unsigned i = 0; i < CHAIN; i++) {
        size_t left = range->n - at;
        if (!left)
            return i > 0;
        if (!plausible(range->p + at, left, pd->swap) || !known(sp_pd_u32(range->p + at, pd->swap)))
            return false;
        size_t size = sp_pd_u16(range->p + at + 6, pd->swap);
        if (size % 8 || size > left)
            return false;
        at += size;
    }
    return true;
}

static bool is_text(const unsigned char *p, size_t n)
{
    size_t look = n < 64 ? n : 64, printable = 0;
    for (size_t i = 0; i < look; i++)
        printable += (p[i] >= 32 && p[i] < 127) || p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || p[i] == 27;
    return look >= 8 && printable == look;
}

/* Steps over what is no record; the end of the range when none follows. */
static size_t resync(struct sp_pd *pd, const struct sp_pd_range *range, size_t at, bool report)
{
    size_t next = at + 8 - at % 8;
    while (next < range->n && !chain_from(pd, range, next))
        next += 8;
    if (next > range->n)
        next = range->n;
    if (!report)
        return next;
    const unsigned char *p = range->p + at;
    struct sp_where where = sp_pd_where(range->base + at);
    if (next == range->n && is_text(p, range->n - at)) {
        sp_emit(pd->d, SP_W311, where, "%zu bytes of text follow the last record", range->n - at);
        return next;
    }
    sp_emit(pd->d, SP_E010, where, "a record of type %u and size %u: %zu bytes skipped%s",
            sp_pd_u32(p, pd->swap), sp_pd_u16(p + 6, pd->swap), next - at,
            next == range->n ? ", to the end of the records" : "");
    return next;
}

static void cut_off(struct sp_pd *pd, uint64_t pos, uint64_t needs, size_t left, bool report)
{
    if (report)
        sp_emit(pd->d, SP_L301, sp_pd_where(pos), "the last record needs %llu bytes, %zu are there",
                (unsigned long long)needs, left);
}

/* Bytes of a COMPRESSED2 record, which may be more than its 16-bit size can say. */
static size_t compressed2_span(const unsigned char *p, size_t left, size_t size, bool swap)
{
    if (left < 16)
        return size;
    uint64_t data = sp_pd_u64(p + 8, swap);
    if (data > left - 16 || data + 16 <= size)
        return size;
    return ((data + 16 + 7) & 0xfff8) == size ? (size_t)data + 16 : size;
}

/* The payload behind records that have one. */
static uint64_t payload(const struct sp_pd *pd, uint32_t type, const unsigned char *p, size_t size)
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
            cut_off(pd, range->base + at, 8, left, report);
            return false;
        }
        uint32_t type = sp_pd_u32(p, pd->swap);
        size_t size = sp_pd_u16(p + 6, pd->swap), span = size;
        if (type == PD_COMPRESSED2)
            span = compressed2_span(p, left, size, pd->swap);
        if (span == size && !plausible(p, left, pd->swap)) {
            at = resync(pd, range, at, report);
            continue;
        }
        if (span > left) {
            cut_off(pd, range->base + at, span, left, report);
            return false;
        }
        if (span == size) {
            uint64_t more = payload(pd, type, p, size);
            if (more > left - size) {
                cut_off(pd, range->base + at, more, left - size, report);
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

const struct sp_pd_attr *sp_pd_trailer_attr(const struct sp_pd *pd, const struct sp_pd_record *r)
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
static uint64_t trailer_time(const struct sp_pd *pd, const struct sp_pd_record *r, size_t body)
{
    const struct sp_pd_attr *a = sp_pd_trailer_attr(pd, r);
    const struct sp_pd_plan *plan = a ? &a->plan : NULL;
    if (!plan || !plan->t_time || r->size < body + plan->t_size)
        return 0;
    return sp_pd_u64(r->p + r->size - plan->t_time, pd->swap);
}

/* Bytes up to the end of a padded string at `at`; 0 when it does not end inside the record. */
static size_t text_end(const struct sp_pd_record *r, size_t at)
{
    if (r->size <= at)
        return 0;
    const unsigned char *nul = memchr(r->p + at, 0, r->size - at);
    return nul ? ((size_t)(nul - r->p) + 8) & ~(size_t)7 : 0;
}

static spaa_status add_side(struct sp_pd *pd, const struct sp_pd_record *r, size_t body)
{
    struct sp_pd_side side = {trailer_time(pd, r, body), r->pos};
    if (r->type == PD_FORK && !side.time)
        side.time = sp_pd_u64(r->p + 24, pd->swap);
    return sp_vec_push(&pd->sides, side) ? SPAA_OK : sp_nomem(pd->d);
}

static spaa_status mmap_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    struct sp_pd_mmap m;
    size_t body = text_end(r, r->type == PD_MMAP ? 40 : 72);
    if (!body || !sp_pd_mmap_read(pd, r->p, &m)) {
        sp_emit(pd->d, SP_L300, sp_pd_where(r->pos), "a map record that is too short");
        return SPAA_OK;
    }
    if (m.kernel || m.guest)
        return sp_vec_push(&pd->kernel_maps, r->pos) ? SPAA_OK : sp_nomem(pd->d);
    return add_side(pd, r, body);
}

static spaa_status attr_record(struct sp_pd *pd, const struct sp_pd_record *r)
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

static spaa_status event_update_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->size <= 24 || sp_pd_u64(r->p + 8, pd->swap) != 2) /* not the name */
        return SPAA_OK;
    struct sp_pd_desc desc = {.nids = 1, .first_id = sp_pd_u64(r->p + 16, pd->swap)};
    desc.name.p = (const char *)r->p + 24;
    desc.name.n = strnlen(desc.name.p, r->size - 24);
    return sp_vec_push(&pd->descs, desc) ? SPAA_OK : sp_nomem(pd->d);
}

static spaa_status event_type_record(struct sp_pd *pd, const struct sp_pd_record *r)
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

static spaa_status deferred_record(struct sp_pd *pd, const struct sp_pd_record *r)
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

/* Chunks of the compressed stream; an overflowed COMPRESSED2 holds several records' worth. */
static spaa_status compressed_record(struct sp_pd *pd, const struct sp_pd_record *r)
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

static spaa_status cgroup_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (!text_end(r, 16) || pd->cgroups.n >= SP_PD_CGROUPS)
        return SPAA_OK;
    struct sp_pd_cgroup c = {.id = sp_pd_u64(r->p + 8, pd->swap)};
    c.path.p = (const char *)r->p + 16;
    c.path.n = strlen(c.path.p);
    return sp_vec_push(&pd->cgroups, c) ? SPAA_OK : sp_nomem(pd->d);
}

/* Time, id, and the stream: the event on one processor or thread. */
static spaa_status throttle_record(struct sp_pd *pd, const struct sp_pd_record *r)
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

static spaa_status take_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    switch (r->type) {
    case PD_MMAP:
    case PD_MMAP2:
        return mmap_record(pd, r);
    case PD_COMM:
        return text_end(r, 16) ? add_side(pd, r, text_end(r, 16)) : SPAA_OK;
    case PD_FORK:
        return r->size >= 32 ? add_side(pd, r, 32) : SPAA_OK;
    case PD_KSYMBOL:
        if (r->size > 24 && memchr(r->p + 24, 0, r->size - 24))
            return sp_vec_push(&pd->kernel_maps, r->pos) ? SPAA_OK : sp_nomem(pd->d);
        return SPAA_OK;
    case PD_LOST:
    case PD_LOST_SAMPLES:
        sp_pd_lost_record(pd, r);
        return SPAA_OK;
    case PD_THROTTLE:
    case PD_UNTHROTTLE:
        return throttle_record(pd, r);
    case PD_CGROUP_NAME:
        return cgroup_record(pd, r);
    case PD_TRACING_DATA:
        return r->span > r->size ? sp_pd_trace_read(pd, r->p + r->size, r->span - r->size) : SPAA_OK;
    case PD_CALLCHAIN_DEFERRED:
        return deferred_record(pd, r);
    case PD_HEADER_ATTR:
        return attr_record(pd, r);
    case PD_EVENT_TYPE:
        return event_type_record(pd, r);
    case PD_EVENT_UPDATE:
        return event_update_record(pd, r);
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
        return r->pos < SP_PD_UNPACKED ? compressed_record(pd, r) : SPAA_OK;
    default:
        pd->unknown_records += !known(r->type);
        return SPAA_OK;
    }
}

/* Samples are counted and stepped over without a call: they are nearly all records there are. */
static spaa_status walk(struct sp_pd *pd, const struct sp_pd_range *range)
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
            st = take_record(pd, &r);
        if (!st && pd->opts->strict && sp_diags_count(pd->d, SP_LOSS))
            st = SPAA_ERR_INPUT;
    }
    pd->seen_samples += samples;
    pd->record_counts[PD_SAMPLE] = pd->seen_samples;
    return st;
}

/* Whether order is to be taken from the file: some sample or all sideband has no time. */
static bool lacks_time(const struct sp_pd *pd)
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
        st = walk(pd, &part->ranges[0]);
        if (!st)
            st = sp_pd_unpack_end(pd, part);
        if (!st && part->ranges[1].n)
            st = walk(pd, &part->ranges[1]);
    }
    pd->by_position = lacks_time(pd);
    if (pd->unknown_records)
        sp_emit(pd->d, SP_W311, SP_AT_NOTHING, "%llu records of unknown types were skipped",
                (unsigned long long)pd->unknown_records);
    return st;
}
