#include "model/originals.h"

#include "base/buf.h"
#include "io/input.h"
#include "io/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { ORIGINALS_BLOCK = 256 << 10 };

struct sp_originals {
    struct sp_diags *diags;
    int fd;
    uint64_t count, size; /* records, and bytes of them with their newlines */
};

static spaa_status originals_error(struct sp_diags *d)
{
    return sp_temporary_failed(d, "the original");
}

static spaa_status originals_new(struct sp_diags *d, struct sp_originals **out)
{
    struct sp_originals *o = calloc(1, sizeof *o);
    if (!o)
        return sp_nomem(d);
    o->diags = d;
    o->fd = sp_temporary_file();
    if (o->fd < 0) {
        spaa_status st = originals_error(d);
        free(o);
        return st;
    }
    *out = o;
    return SPAA_OK;
}

void sp_originals_free(struct sp_originals *o)
{
    if (!o)
        return;
    close(o->fd);
    free(o);
}

uint64_t sp_originals_count(const struct sp_originals *o)
{
    return o ? o->count : 0;
}

static spaa_status originals_append(struct sp_originals *o, const char *p, size_t n)
{
    if (!sp_temporary_write(o->fd, p, n))
        return originals_error(o->diags);
    o->size += n;
    return SPAA_OK;
}

spaa_status sp_originals_add(struct sp_originals **o, struct sp_diags *d, const char *json, size_t n)
{
    spaa_status st = *o ? SPAA_OK : originals_new(d, o);
    if (!st)
        st = originals_append(*o, json, n);
    if (!st)
        st = originals_append(*o, "\n", 1);
    if (!st)
        (*o)->count++;
    return st;
}

/* Up to n bytes from `at` on; 0 with *st set where they cannot be read. */
static size_t originals_read(const struct sp_originals *o, uint64_t at, char *to, size_t n, spaa_status *st)
{
    n = n < o->size - at ? n : (size_t)(o->size - at);
    for (;;) {
        ssize_t got = pread(o->fd, to, n, (off_t)at);
        if (got > 0 || !n)
            return n ? (size_t)got : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (!got)
            errno = EIO; /* nobody else can make it shorter */
        *st = originals_error(o->diags);
        return 0;
    }
}

spaa_status sp_originals_each(const struct sp_originals *o,
                              spaa_status (*take)(void *arg, const char *json, size_t n), void *arg)
{
    struct sp_buf b; /* of the file, from where no record was taken yet */
    size_t seen = 0; /* of it, without a newline */
    spaa_status st = SPAA_OK;
    sp_buf_init(&b, SP_LINE_MAX + 2 * ORIGINALS_BLOCK);
    for (uint64_t at = 0; o && !st && at < o->size;) {
        if (!sp_buf_reserve(&b, ORIGINALS_BLOCK)) {
            st = sp_nomem(o->diags);
            break;
        }
        size_t got = originals_read(o, at, b.data + b.len, ORIGINALS_BLOCK, &st), from = 0;
        b.len += got;
        at += got;
        for (const char *nl; !st && (nl = memchr(b.data + seen, '\n', b.len - seen)); from = seen) {
            seen = (size_t)(nl - b.data) + 1;
            st = take(arg, b.data + from, seen - 1 - from);
        }
        if (from)
            memmove(b.data, b.data + from, b.len - from);
        b.len -= from;
        seen = b.len;
    }
    sp_buf_free(&b);
    return st;
}

spaa_status sp_originals_write(const struct sp_originals *o, struct sp_output *out)
{
    spaa_status st = SPAA_OK;
    if (!o)
        return out->status;
    for (uint64_t at = 0; !st && !out->status && at < o->size;) {
        char *room = sp_output_room(out, 64 << 10);
        size_t got = originals_read(o, at, room, 64 << 10, &st);
        sp_output_took(out, got);
        at += got;
    }
    return st ? st : out->status;
}
