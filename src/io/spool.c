/* A stream kept whole, for readers that jump about: in memory while small, then on disk, mapped. */
#include "base/vec.h"
#include "base/watch.h"
#include "io/stage.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static spaa_status disk_error(struct sp_stage *from)
{
    return sp_temporary_failed(from->diags, from->name);
}

/* Takes from the stage until its end, or until memory holds the limit. */
static spaa_status fill_memory(struct sp_spool *sp, struct sp_stage *from, size_t in_memory, bool *ended)
{
    const unsigned char *p;
    size_t n;
    for (;;) {
        spaa_status st = sp_stage_peek(from, 1, &p, &n);
        if (st)
            return st;
        if ((st = sp_cancelled(from->diags)) != SPAA_OK)
            return st;
        *ended = !n;
        if (*ended || n > in_memory - sp->len)
            return SPAA_OK;
        if (n > sp->cap - sp->len) {
            size_t cap = sp->cap ? sp->cap : (size_t)64 << 10;
            while (cap < sp->len + n)
                cap *= 2;
            unsigned char *m = realloc(sp->memory, cap);
            if (!m)
                return sp_nomem(from->diags);
            sp->memory = m;
            sp->cap = cap;
        }
        memcpy(sp->memory + sp->len, p, n);
        sp->len += n;
        sp_stage_consume(from, n);
    }
}

static spaa_status fill_disk(struct sp_spool *sp, struct sp_stage *from, uint64_t max, int fd)
{
    const unsigned char *p;
    size_t n;
    if (!sp_temporary_write(fd, sp->memory, sp->len))
        return disk_error(from);
    for (;;) {
        spaa_status st = sp_stage_peek(from, 1, &p, &n);
        if (!st)
            st = sp_cancelled(from->diags);
        if (st)
            return st;
        if (!n)
            break;
        if (n > SIZE_MAX - sp->len || sp->len + n > max) {
            sp_emit(from->diags, SP_E007, SP_AT(sp->len), "%s is larger than %llu MiB unpacked", from->name,
                    (unsigned long long)(max >> 20));
            return SPAA_ERR_LIMIT;
        }
        if (!sp_temporary_write(fd, p, n))
            return disk_error(from);
        sp->len += n;
        sp_stage_consume(from, n);
    }
    void *map = mmap(NULL, sp->len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return disk_error(from);
    sp->map = map;
    free(sp->memory);
    sp->memory = NULL;
    return SPAA_OK;
}

spaa_status sp_spool_fill(struct sp_spool *sp, struct sp_stage *from, size_t in_memory, uint64_t max)
{
    bool ended = false;
    spaa_status st = fill_memory(sp, from, in_memory, &ended);
    if (!st && !ended) {
        int fd = sp_temporary_file();
        st = fd < 0 ? disk_error(from) : fill_disk(sp, from, max, fd);
        if (fd >= 0)
            close(fd);
    }
    if (st)
        sp_spool_free(sp);
    return st;
}

spaa_status sp_spool_read(struct sp_spool *sp, struct sp_stage *from, size_t size)
{
    const unsigned char *p;
    size_t n = from->len - from->pos;
    unsigned char *m = malloc(size > n ? size : n);
    if (!m)
        return sp_nomem(from->diags);
    sp_large_pages(m, size);
    if (n) {
        p = from->data + from->pos;
        memcpy(m, p, n);
        sp_stage_consume(from, n);
    }
    spaa_status st = SPAA_OK;
    size_t piece = from->piece ? from->piece : SP_STAGE_LARGE;
    for (size_t got = 1; !st && got && n < size; n += got) {
        got = from->fill(from, m + n, piece < size - n ? piece : size - n);
        st = sp_cancelled(from->diags);
    }
    if (st) {
        free(m);
        return st;
    }
    from->ended = true;
    sp->memory = m;
    sp->cap = size;
    sp->len = n;
    return SPAA_OK;
}

const unsigned char *sp_spool_data(const struct sp_spool *sp)
{
    return sp->map ? sp->map : sp->memory;
}

void sp_spool_free(struct sp_spool *sp)
{
    if (sp->map)
        munmap(sp->map, sp->len);
    free(sp->memory);
    *sp = (struct sp_spool){0};
}
