/*
 * The files of a recording, and what is unpacked of them; a position names a record in either.
 *
 * Usually it is one file; the directory form (`perf record --threads`) has the header in `data` and the
 * records of each thread in `data.0`, `data.1`, ... beside it, which are nothing but records.
 *
 * The records inside COMPRESSED records are one zstd stream over all those of a file, cut anywhere. It is
 * unpacked once, into an unlinked temporary file that is then mapped, since two passes and the groups of
 * samples look into it.
 */
#include "formats/perf_data/perf_data.h"

#include "base/watch.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define UNPACKED_MAX   ((uint64_t)64 << 30)
#define UNPACKED_TIMES 1024u /* of what is packed; perf's: 3 to 30 */
#define UNPACKED_FREE  ((uint64_t)64 << 20)
#define BLOCK          ((size_t)256 << 10)

struct sp_pd_unpack {
    ZSTD_DStream *stream;
    int fd;
    uint64_t n;
    void *map;
    uint64_t packed;       /* bytes of the stream that were taken */
    unsigned char head[8]; /* of the record that begins, as far as it is there */
    size_t headed, skip;   /* bytes of it; and from the next block to the record after */
    bool damaged;          /* what follows damage cannot be unpacked */
    unsigned char block[BLOCK];
};

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

bool sp_pd_part_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t offset)
{
    struct sp_pd_part part = {0};
    uint64_t base = (uint64_t)pd->parts.n << SP_PD_PART_SHIFT;
    part.ranges[0] = (struct sp_pd_range){p, n, base + offset};
    part.ranges[1].base = base + SP_PD_UNPACKED;
    return pd->parts.n < SP_PD_PARTS && sp_vec_push(&pd->parts, part);
}

/* Adds `NAME.number`; *found says whether it is there. */
static spaa_status pd_parts_add_file(struct sp_pd *pd, const char *name, unsigned number, bool *found)
{
    struct sp_buf path;
    struct stat sb;
    struct sp_input *in = NULL;
    const unsigned char *p;
    size_t n;
    sp_buf_init(&path, 0);
    bool ok = sp_buf_printf(&path, "%s.%u", name, number);
    const char *text = ok ? sp_buf_cstr(&path) : "";
    *found = ok && stat(text, &sb) == 0 && S_ISREG(sb.st_mode);
    spaa_status st = ok ? SPAA_OK : sp_nomem(pd->d);
    if (*found) {
        st = sp_input_open_beside(pd->in, text, pd->d, &in);
        if (!st)
            st = sp_input_whole(in, &p, &n);
        if (!st && n && !sp_pd_part_add(pd, p, n, 0))
            st = sp_nomem(pd->d);
        if (st || !n)
            sp_input_close(in);
        else
            pd->parts.v[pd->parts.n - 1].in = in;
    }
    sp_buf_free(&path);
    return st;
}

spaa_status sp_pd_parts_beside(struct sp_pd *pd)
{
    bool found = true;
    unsigned files = 0;
    spaa_status st = SPAA_OK;
    if (!pd->directory)
        return SPAA_OK;
    for (; found && !st && files + 2 < SP_PD_PARTS; files++)
        st = pd_parts_add_file(pd, sp_input_name(pd->in), files, &found);
    if (st || files > 1)
        return st;
    sp_emit_hint(pd->d, SP_E009, SP_AT_NOTHING,
                 "name the folder, with all its files in it: `spaa convert perf.data/ ...`; or record "
                 "without --threads",
                 "this is the main file of a recording in directory form, the samples are in files beside "
                 "it, which are "
                 "not there");
    return SPAA_ERR_UNSUPPORTED;
}

static spaa_status pd_parts_disk_error(struct sp_pd *pd)
{
    return sp_temporary_failed(pd->d, "compressed records");
}

static spaa_status pd_parts_begin(struct sp_pd *pd, struct sp_pd_part *part)
{
    struct sp_pd_unpack *u = calloc(1, sizeof *u);
    if (!u)
        return sp_nomem(pd->d);
    u->fd = -1;
    part->unpack = u;
    u->stream = ZSTD_createDStream();
    if (!u->stream)
        return sp_nomem(pd->d);
    ZSTD_DCtx_setParameter(u->stream, ZSTD_d_windowLogMax, 27);
    u->fd = sp_temporary_file();
    return u->fd < 0 ? pd_parts_disk_error(pd) : SPAA_OK;
}

/*
 * How many bytes of a block are records, which follow one another by their sizes: what is none is not worth
 * the disk.
 */
static size_t pd_parts_records(const struct sp_pd *pd, struct sp_pd_unpack *u, size_t n)
{
    size_t at = u->skip;
    while (at < n) {
        while (at < n && u->headed < sizeof u->head)
            u->head[u->headed++] = u->block[at++];
        if (u->headed < sizeof u->head)
            break;
        size_t size = sp_pd_u16(u->head + 6, pd->swap);
        if (size < sizeof u->head)
            return at < sizeof u->head ? 0 : at - sizeof u->head;
        u->headed = 0;
        at += size - sizeof u->head;
    }
    u->skip = at > n ? at - n : 0;
    return n;
}

/* Takes a block that was unpacked. */
static spaa_status pd_parts_put(struct sp_pd *pd, struct sp_pd_unpack *u, size_t n, uint64_t pos)
{
    if (u->n + n > UNPACKED_MAX || u->n + n > UNPACKED_FREE + UNPACKED_TIMES * u->packed) {
        sp_emit(pd->d, SP_E007, sp_pd_where(pos),
                "%llu bytes of COMPRESSED records stand for more than %llu MiB",
                (unsigned long long)u->packed, (unsigned long long)(u->n >> 20));
        return SPAA_ERR_LIMIT;
    }
    size_t records = pd_parts_records(pd, u, n);
    if (records < n) {
        sp_emit(pd->d, SP_E006, sp_pd_where(pos),
                "COMPRESSED record: what is in it is no record; the records after it are lost");
        u->damaged = true;
    }
    if (!sp_temporary_write(u->fd, u->block, records))
        return pd_parts_disk_error(pd);
    u->n += records;
    return SPAA_OK;
}

spaa_status sp_pd_unpack_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t pos)
{
    struct sp_pd_part *part = sp_pd_part_of(pd, pos);
    if (!part->unpack) {
        spaa_status st = pd_parts_begin(pd, part);
        if (st)
            return st;
    }
    struct sp_pd_unpack *u = part->unpack;
    ZSTD_inBuffer in = {p, n, 0};
    bool full = true; /* a filled block may leave output inside the decoder */
    u->packed += n;
    while (!u->damaged && (in.pos < in.size || full)) {
        ZSTD_outBuffer out = {u->block, BLOCK, 0};
        size_t before = in.pos;
        size_t left = ZSTD_decompressStream(u->stream, &out, &in);
        if (ZSTD_isError(left)) {
            sp_emit(pd->d, SP_E006, sp_pd_where(pos), "COMPRESSED record: %s; the records after it are lost",
                    ZSTD_getErrorName(left));
            u->damaged = true;
        }
        spaa_status st = pd_parts_put(pd, u, out.pos, pos);
        if (!st)
            st = sp_cancelled(pd->d);
        if (st)
            return st;
        full = out.pos == BLOCK;
        if (in.pos == before && !out.pos)
            break;
    }
    return SPAA_OK;
}

spaa_status sp_pd_unpack_end(struct sp_pd *pd, struct sp_pd_part *part)
{
    struct sp_pd_unpack *u = part->unpack;
    if (!u || !u->n)
        return SPAA_OK;
    if (u->n > SIZE_MAX) {
        errno = EFBIG;
        return pd_parts_disk_error(pd);
    }
    void *map = mmap(NULL, (size_t)u->n, PROT_READ, MAP_PRIVATE, u->fd, 0);
    if (map == MAP_FAILED)
        return pd_parts_disk_error(pd);
    u->map = map;
    part->ranges[1].p = map;
    part->ranges[1].n = (size_t)u->n;
    return SPAA_OK;
}

static void pd_parts_unpack_free(struct sp_pd_unpack *u)
{
    if (!u)
        return;
    if (u->map)
        munmap(u->map, (size_t)u->n);
    if (u->fd >= 0)
        close(u->fd);
    ZSTD_freeDStream(u->stream);
    free(u);
}

void sp_pd_parts_free(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->parts.n; i++) {
        pd_parts_unpack_free(pd->parts.v[i].unpack);
        sp_input_close(pd->parts.v[i].in);
    }
    sp_vec_free(&pd->parts);
}
