/*
 * The start of a perf.data: magic, attributes and their ids, where the records are, and the feature
 * sections behind them.
 *
 * Quirks: a pipe has a header of 16 bytes and everything else in records. A recorder that was killed
 * left data.size 0: the records go on to the end and there are no sections, whatever the bitmap says.
 * The stride of the attribute table is header.attr_size; an attribute's own size may be smaller.
 */
#include "formats/perf_data/perf_data.h"

#include "base/hash.h"

#define HEADER_SIZE  104u
#define PIPE_HEADER  16u
#define FEATURE_BITS 256u

uint32_t sp_pd_find_id(const struct sp_pd *pd, uint64_t id)
{
    struct sp_probe at = sp_map_probe(&pd->id_map, sp_hash_mix(id, 0));
    for (uint32_t i; (i = sp_map_next(&pd->id_map, &at)) != SP_MAP_NONE;)
        if (pd->ids.v[i].id == id)
            return i;
    return SP_NONE;
}

bool sp_pd_add_id(struct sp_pd *pd, uint64_t id, uint32_t attr)
{
    if (sp_pd_find_id(pd, id) != SP_NONE)
        return true;
    struct sp_pd_id row = {.id = id, .attr = attr};
    struct sp_pd_attr *a = &pd->attrs.v[attr];
    if (!a->nids++)
        a->first_id = id;
    return sp_vec_push(&pd->ids, row) && sp_map_add(&pd->id_map, sp_hash_mix(id, 0), (uint32_t)pd->ids.n - 1);
}

/* Whether [offset, offset + size) lies in the input. */
static bool pd_header_inside(const struct sp_pd *pd, uint64_t offset, uint64_t size)
{
    return offset <= pd->size && size <= pd->size - offset;
}

static spaa_status pd_header_bad_section(struct sp_pd *pd, uint64_t where, const char *what, uint64_t offset,
                                         uint64_t size)
{
    sp_emit(pd->d, SP_E010, SP_AT(where), "the %s (%llu bytes at %llu) lie outside the file of %zu bytes",
            what, (unsigned long long)size, (unsigned long long)offset, pd->size);
    return SPAA_ERR_INPUT;
}

/* One entry of the attribute table: the attribute, then the section of its ids. */
static spaa_status pd_header_read_attr_entry(struct sp_pd *pd, uint64_t at, uint64_t entry)
{
    const unsigned char *p = pd->file + at;
    struct sp_pd_attr attr;
    if (!sp_pd_attr_read(p, entry - 16, pd->swap, pd->big_endian, &attr)) {
        sp_emit(pd->d, SP_E010, SP_AT(at), "an attribute of %llu bytes, at least 64 are needed",
                (unsigned long long)entry - 16);
        return SPAA_ERR_INPUT;
    }
    if (!sp_vec_push(&pd->attrs, attr))
        return sp_nomem(pd->d);
    uint64_t ids_at = sp_pd_u64(p + entry - 16, pd->swap), ids_size = sp_pd_u64(p + entry - 8, pd->swap);
    if (!pd_header_inside(pd, ids_at, ids_size)) {
        sp_emit(pd->d, SP_L300, SP_AT(at + entry - 16), "the ids of event %zu lie outside the file",
                pd->attrs.n - 1);
        return SPAA_OK;
    }
    for (uint64_t i = 0; i + 8 <= ids_size && pd->ids.n < SP_PD_IDS; i += 8)
        if (!sp_pd_add_id(pd, sp_pd_u64(pd->file + ids_at + i, pd->swap), (uint32_t)pd->attrs.n - 1))
            return sp_nomem(pd->d);
    return SPAA_OK;
}

static spaa_status pd_header_read_attrs(struct sp_pd *pd, uint64_t entry, uint64_t at, uint64_t size)
{
    if (!pd_header_inside(pd, at, size))
        return pd_header_bad_section(pd, 24, "attributes", at, size);
    if (entry < 16 || entry > 65536 || (size && size < entry)) {
        sp_emit(pd->d, SP_E010, SP_AT(16), "attributes of %llu bytes each", (unsigned long long)entry);
        return SPAA_ERR_INPUT;
    }
    for (uint64_t i = 0; size - i >= entry; i += entry) {
        if (pd->attrs.n >= SP_PD_ATTRS) {
            sp_emit(pd->d, SP_E007, SP_AT(at + i), "more than %u events", SP_PD_ATTRS);
            return SPAA_ERR_LIMIT;
        }
        spaa_status st = pd_header_read_attr_entry(pd, at + i, entry);
        if (st)
            return st;
    }
    return SPAA_OK;
}

/* The names of tracepoints in recordings of old perfs: pairs of config and name. */
static spaa_status pd_header_read_event_types(struct sp_pd *pd, uint64_t at, uint64_t size)
{
    if (!pd_header_inside(pd, at, size))
        return SPAA_OK;
    for (uint64_t i = 0; size - i >= 72 && pd->event_types.n < SP_PD_ATTRS; i += 72) {
        const unsigned char *p = pd->file + at + i;
        struct sp_pd_event_type t = {.config = sp_pd_u64(p, pd->swap)};
        t.name.p = (const char *)p + 8;
        t.name.n = strnlen(t.name.p, 64);
        if (!sp_vec_push(&pd->event_types, t))
            return sp_nomem(pd->d);
    }
    return SPAA_OK;
}

/* The section table stands right behind the data, an entry for each bit that is set. */
static spaa_status pd_header_read_features(struct sp_pd *pd, uint64_t table)
{
    size_t entry = 0;
    for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
        if (!(sp_pd_u64(pd->file + 72 + bit / 64 * 8, pd->swap) >> bit % 64 & 1))
            continue;
        uint64_t at = table + entry++ * 16;
        if (!pd_header_inside(pd, at, 16)) {
            sp_emit(pd->d, SP_L300, SP_AT(at),
                    "the feature sections are cut off: names and build-ids may be missing");
            return SPAA_OK;
        }
        uint64_t offset = sp_pd_u64(pd->file + at, pd->swap), size = sp_pd_u64(pd->file + at + 8, pd->swap);
        if (!pd_header_inside(pd, offset, size)) {
            sp_emit(pd->d, SP_L300, SP_AT(at), "feature section %u lies outside the file", bit);
            continue;
        }
        spaa_status st = sp_pd_feature(pd, bit, pd->file + offset, (size_t)size);
        if (st)
            return st;
    }
    return SPAA_OK;
}

static spaa_status pd_header_open_file(struct sp_pd *pd)
{
    const unsigned char *p = pd->file;
    if (pd->size < HEADER_SIZE) {
        sp_emit(pd->d, SP_E010, SP_AT(pd->size), "the header is cut off");
        return SPAA_ERR_INPUT;
    }
    uint64_t entry = sp_pd_u64(p + 16, pd->swap), data = sp_pd_u64(p + 40, pd->swap),
             size = sp_pd_u64(p + 48, pd->swap);
    spaa_status st =
        pd_header_read_attrs(pd, entry, sp_pd_u64(p + 24, pd->swap), sp_pd_u64(p + 32, pd->swap));
    if (!st)
        st = pd_header_read_event_types(pd, sp_pd_u64(p + 56, pd->swap), sp_pd_u64(p + 64, pd->swap));
    if (st)
        return st;
    if (data > pd->size)
        return pd_header_bad_section(pd, 40, "records", data, size);
    pd->closed = size != 0;
    if (!size) {
        sp_emit(pd->d, SP_W310, SP_AT(48), "the header gives no size of the data: the recorder was killed");
        size = pd->size - data;
    } else if (size > pd->size - data) {
        sp_emit(pd->d, SP_L301, SP_AT(pd->size), "%llu bytes of records were announced, %llu are there",
                (unsigned long long)size, (unsigned long long)(pd->size - data));
        size = pd->size - data;
        pd->closed = false;
    }
    if (!sp_pd_part_add(pd, p + data, (size_t)size, data))
        return sp_nomem(pd->d);
    st = pd->closed ? pd_header_read_features(pd, data + size) : SPAA_OK;
    return st ? st : sp_pd_parts_beside(pd);
}

spaa_status sp_pd_open(struct sp_pd *pd)
{
    const unsigned char *p = pd->file;
    if (pd->size >= 8 && memcmp(p, "PERFFILE", 8) == 0) {
        sp_emit_hint(pd->d, SP_E009, SP_AT(0),
                     "convert it with the perf that wrote it: `perf script > out.txt`",
                     "a perf.data of version 1 (before Linux 2.6.37, 2011)");
        return SPAA_ERR_UNSUPPORTED;
    }
    if (pd->size < PIPE_HEADER) {
        sp_emit(pd->d, SP_E010, SP_AT(pd->size), "the header is cut off");
        return SPAA_ERR_INPUT;
    }
    static const uint16_t one = 1;
    bool host_big = *(const unsigned char *)&one == 0;
    if (memcmp(p, "PERFILE2", 8) == 0) {
        pd->big_endian = false;
    } else if (memcmp(p, "2ELIFREP", 8) == 0) {
        pd->big_endian = true;
    } else {
        sp_emit(pd->d, SP_E010, SP_AT(0), "no perf.data: it does not start with PERFILE2");
        return SPAA_ERR_INPUT;
    }
    pd->swap = pd->big_endian != host_big;
    uint64_t header = sp_pd_u64(p + 8, pd->swap);
    if (header == PIPE_HEADER) {
        pd->pipe = true;
        pd->closed = true;
        return sp_pd_part_add(pd, p + PIPE_HEADER, pd->size - PIPE_HEADER, PIPE_HEADER) ? SPAA_OK
                                                                                        : sp_nomem(pd->d);
    }
    if (header < HEADER_SIZE) {
        sp_emit(pd->d, SP_E010, SP_AT(8), "a header of %llu bytes", (unsigned long long)header);
        return SPAA_ERR_INPUT;
    }
    return pd_header_open_file(pd);
}
