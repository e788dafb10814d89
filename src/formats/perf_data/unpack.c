/*
 * The records inside COMPRESSED records: one zstd stream over all of them, cut anywhere. It is unpacked
 * once, into an unlinked temporary file that is then mapped, since two passes and the keys of distinct
 * stacks look into it.
 */
#include "formats/perf_data/perf_data.h"

#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define UNPACKED_MAX ((uint64_t)64 << 30)
#define BLOCK        ((size_t)256 << 10)

struct sp_pd_unpack {
    ZSTD_DStream *stream;
    int fd;
    uint64_t n;
    void *map;
    bool damaged; /* what follows damage cannot be unpacked */
    unsigned char block[BLOCK];
};

static spaa_status disk_error(struct sp_pd *pd)
{
    if (errno == ENOMEM)
        return sp_nomem(pd->d);
    sp_emit_hint(pd->d, SP_E020, SP_AT_NOTHING, "set TMPDIR to a folder with enough free space",
                 "a temporary file for compressed records: %s", strerror(errno));
    return SPAA_ERR_IO;
}

static spaa_status begin(struct sp_pd *pd, struct sp_pd_part *part)
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
    return u->fd < 0 ? disk_error(pd) : SPAA_OK;
}

static bool put(struct sp_pd_unpack *u, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t put = write(u->fd, u->block + at, n - at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += (size_t)put;
    }
    u->n += n;
    return true;
}

spaa_status sp_pd_unpack_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t pos)
{
    struct sp_pd_part *part = sp_pd_part_of(pd, pos);
    if (!part->unpack) {
        spaa_status st = begin(pd, part);
        if (st)
            return st;
    }
    struct sp_pd_unpack *u = part->unpack;
    ZSTD_inBuffer in = {p, n, 0};
    bool full = true; /* a filled block may leave output inside the decoder */
    while (!u->damaged && (in.pos < in.size || full)) {
        ZSTD_outBuffer out = {u->block, BLOCK, 0};
        size_t before = in.pos;
        size_t left = ZSTD_decompressStream(u->stream, &out, &in);
        if (ZSTD_isError(left)) {
            sp_emit(pd->d, SP_E006, sp_pd_where(pos), "COMPRESSED record: %s; the records after it are lost",
                    ZSTD_getErrorName(left));
            u->damaged = true;
        }
        if (u->n + out.pos > UNPACKED_MAX) {
            sp_emit(pd->d, SP_E007, sp_pd_where(pos), "more than %llu GiB of compressed records",
                    (unsigned long long)(UNPACKED_MAX >> 30));
            return SPAA_ERR_LIMIT;
        }
        if (!put(u, out.pos))
            return disk_error(pd);
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
        return disk_error(pd);
    }
    void *map = mmap(NULL, (size_t)u->n, PROT_READ, MAP_PRIVATE, u->fd, 0);
    if (map == MAP_FAILED)
        return disk_error(pd);
    u->map = map;
    part->ranges[1].p = map;
    part->ranges[1].n = (size_t)u->n;
    return SPAA_OK;
}

void sp_pd_unpack_free(struct sp_pd_unpack *u)
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
