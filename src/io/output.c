/*
 * Output: a buffer, then a compressor or none, then a descriptor or memory.
 *
 * After a failure everything written is dropped, and the buffer only serves so that there is somewhere
 * to write to. Compressed bytes depend on the content and on nothing else (no time, no name).
 */
#include "io/output.h"

#include "base/utf8.h"
#include "base/watch.h"
#include "io/target.h"
#include "io/temporary.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM_MAX = 64 << 10, BLOCK = 256 << 10, PACKED = 128 << 10, ZSTD_LEVEL = 3, GZIP_LEVEL = 6 };
static const size_t memory_max = (size_t)2 << 30;

enum kind { PLAIN, ZSTD, GZIP, MEMORY };

struct writer {
    struct sp_output o; /* first: an output is a writer */
    struct sp_diags *diags;
    char *path;
    enum kind kind;
    bool done; /* committed: nothing more is written */
    struct sp_target target;
    ZSTD_CStream *zstd;
    z_stream gzip;
    unsigned char *packed;
    size_t room;      /* of a memory output: what buf can hold, of which it lends less at a time */
    uint64_t written; /* what the buffer held before */
    uint64_t most;    /* of all that is written: sp_output_at_most */
    bool beyond;      /* it was more */
    bool screen;      /* sp_output_for_screen */
    char begun[4];    /* of these: a character that is not yet complete */
    size_t begun_n;
};

static void output_fail(struct writer *w, int error)
{
    w->o.len = 0;
    if (error == EPIPE) {
        w->o.status = SPAA_ERR_CLOSED;
        return;
    }
    w->o.status = SPAA_ERR_IO;
    sp_emit(w->diags, SP_E020, SP_AT_NOTHING, "%s: %s", w->path, strerror(error));
}

static void fail_memory(struct writer *w)
{
    w->o.len = 0;
    w->o.status = sp_nomem(w->diags);
}

/* Takes what is complete off w->begun; true: it is a character that the screen would obey or not show. A byte
 * that is no UTF-8 counts as the character of its number: some terminals take it so. */
static bool output_begun_is_hidden(struct writer *w)
{
    while (w->begun_n) {
        uint32_t c = 0;
        size_t len = sp_utf8_decode(w->begun, w->begun_n, &c);
        bool goes_on = w->begun_n == 1 || ((unsigned char)w->begun[w->begun_n - 1] & 0xc0) == 0x80;
        if (!len && goes_on && w->begun_n < sp_utf8_bytes((unsigned char)w->begun[0]))
            return false;
        if (!len) {
            c = (unsigned char)w->begun[0];
            len = 1;
        }
        if (c != '\t' && c != '\n' && sp_utf8_hidden(c))
            return true;
        w->begun_n -= len;
        memmove(w->begun, w->begun + len, w->begun_n);
    }
    return false;
}

static bool output_has_hidden(struct writer *w, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!w->begun_n && p[i] >= 0x20 && p[i] < 0x7f)
            continue;
        w->begun[w->begun_n++] = p[i];
        if (output_begun_is_hidden(w))
            return true;
    }
    return false;
}

static void output_put(struct writer *w, const void *data, size_t n)
{
    const char *p = data;
    if (w->screen && !w->o.status && output_has_hidden(w, data, n)) {
        w->o.len = 0;
        w->o.status = SPAA_ERR_IO;
        sp_emit_hint(w->diags, SP_E020, SP_AT_NOTHING,
                     "-o FILE, or a pipe (`| cat -v` shows them), gets all of it as it is",
                     "%s is a terminal, which would obey or hide control and format characters in this",
                     w->path);
    }
    while (n && !w->o.status) {
        ssize_t sent = sp_write_fd(w->target.fd, p, n);
        if (sent >= 0) {
            p += sent;
            n -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd wait = {.fd = w->target.fd, .events = POLLOUT};
            if (poll(&wait, 1, -1) < 0 && errno != EINTR)
                output_fail(w, errno);
        } else if (errno != EINTR) {
            output_fail(w, errno);
        }
    }
}

static void put_zstd(struct writer *w, const void *p, size_t n, bool last)
{
    ZSTD_inBuffer in = {p, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {w->packed, PACKED, 0};
        left = ZSTD_compressStream2(w->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) {
            fail_memory(w); /* nothing else can go wrong here */
            return;
        }
        output_put(w, w->packed, out.pos);
    } while (!w->o.status && (last ? left != 0 : in.pos < in.size));
}

static void put_gzip(struct writer *w, const void *p, size_t n, bool last)
{
    assert(n <= UINT_MAX);
    w->gzip.next_in = (z_const Bytef *)p;
    w->gzip.avail_in = (uInt)n;
    int rc;
    do {
        w->gzip.next_out = w->packed;
        w->gzip.avail_out = PACKED;
        rc = deflate(&w->gzip, last ? Z_FINISH : Z_NO_FLUSH);
        output_put(w, w->packed, PACKED - w->gzip.avail_out);
    } while (!w->o.status && (last ? rc != Z_STREAM_END : w->gzip.avail_out == 0));
}

static void put_through(struct writer *w, const void *p, size_t n, bool last)
{
    if (w->kind == ZSTD)
        put_zstd(w, p, n, last);
    else if (w->kind == GZIP)
        put_gzip(w, p, n, last);
    else
        output_put(w, p, n);
}

/* Makes room for n bytes in a memory output and a NUL. */
static void output_grow(struct writer *w, size_t n)
{
    if (n > memory_max - w->o.len) {
        w->o.len = 0;
        w->o.status = SPAA_ERR_LIMIT;
        sp_emit(w->diags, SP_E007, SP_AT_NOTHING, "%s: more than %zu MiB in memory", w->path,
                memory_max >> 20);
        return;
    }
    size_t cap = w->o.len + n > w->o.cap + BLOCK ? w->o.len + n : w->o.cap + BLOCK, room = w->room;
    while (room < cap)
        room *= 2;
    char *p = room > w->room ? realloc(w->o.buf, room + 1) : w->o.buf;
    if (!p) {
        fail_memory(w);
        return;
    }
    w->o.buf = p;
    w->o.cap = cap;
    w->room = room;
}

static void output_beyond(struct writer *w)
{
    w->o.len = 0;
    w->o.status = SPAA_ERR_LIMIT;
    w->beyond = true;
}

/* Tells that n more bytes are written; false: there are too many, or the call is to be left. */
static bool output_tell(struct writer *w, size_t n)
{
    w->written += n;
    if (w->written > w->most) {
        output_beyond(w);
        return false;
    }
    if (sp_progress(w->diags, "writing", w->path, "bytes", w->written, 0) == SPAA_OK)
        return true;
    w->o.len = 0;
    w->o.status = SPAA_ERR_CANCELLED;
    return false;
}

/* Empties the buffer, or makes it larger by n in a memory output. */
static void output_flush(struct writer *w, size_t n)
{
    bool memory = w->kind == MEMORY; /* all that was written lies in its buffer */
    if (memory)
        w->written = 0;
    if (w->done || w->o.status || !output_tell(w, w->o.len)) {
        w->o.len = 0;
    } else if (memory) {
        output_grow(w, n);
    } else {
        put_through(w, w->o.buf, w->o.len, false);
        w->o.len = 0;
    }
}

void sp_write_slow(struct sp_output *o, const void *p, size_t n)
{
    struct writer *w = (struct writer *)o;
    if (n <= o->cap - o->len) {
        sp_write(o, p, n);
        return;
    }
    output_flush(w, n);
    if (o->status || w->done)
        return;
    const char *at = p;
    while (n > o->cap - o->len && !o->status) { /* never in a memory output: it has grown */
        size_t part = n < BLOCK ? n : BLOCK;
        put_through(w, at, part, false);
        if (!o->status)
            output_tell(w, part);
        at += part;
        n -= part;
    }
    if (!o->status)
        sp_write(o, at, n);
}

/* With what the buffer holds, which in memory is all of it. */
static uint64_t output_so_far(const struct writer *w)
{
    return (w->kind == MEMORY ? 0 : w->written) + w->o.len;
}

void sp_output_at_most(struct sp_output *o, uint64_t bytes)
{
    struct writer *w = (struct writer *)o;
    if (__builtin_add_overflow(output_so_far(w), bytes, &w->most))
        w->most = UINT64_MAX;
}

bool sp_output_within(struct sp_output *o)
{
    struct writer *w = (struct writer *)o;
    if (!o->status && output_so_far(w) > w->most)
        output_beyond(w);
    return !w->beyond;
}

char *sp_output_room(struct sp_output *o, size_t n)
{
    assert(n <= ROOM_MAX);
    if (n > o->cap - o->len)
        output_flush((struct writer *)o, n);
    return o->buf + o->len;
}

void sp_printf(struct sp_output *o, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0 || o->status)
        return;
    if ((size_t)n < sizeof text) {
        sp_write(o, text, (size_t)n);
        return;
    }
    char *longer = malloc((size_t)n + 1);
    if (!longer) {
        fail_memory((struct writer *)o);
        return;
    }
    va_start(ap, fmt);
    vsnprintf(longer, (size_t)n + 1, fmt, ap);
    va_end(ap);
    sp_write(o, longer, (size_t)n);
    free(longer);
}

static struct writer *new_writer(const char *path, enum kind kind, struct sp_diags *d)
{
    struct writer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t n = strlen(path) + 1;
    w->kind = kind;
    w->diags = d;
    w->target.fd = -1;
    w->path = malloc(n);
    w->o.buf = malloc(BLOCK + 1);
    if (!w->path || !w->o.buf) {
        sp_output_close(&w->o);
        return NULL;
    }
    memcpy(w->path, path, n);
    w->o.cap = w->room = BLOCK;
    w->most = UINT64_MAX;
    return w;
}

static enum kind kind_of(const char *path)
{
    size_t n = strlen(path);
    if (n > 4 && !memcmp(path + n - 4, ".zst", 4))
        return ZSTD;
    if (n > 3 && !memcmp(path + n - 3, ".gz", 3))
        return GZIP;
    return PLAIN;
}

static bool open_packer(struct writer *w)
{
    if (w->kind == PLAIN)
        return true;
    w->packed = malloc(PACKED);
    if (!w->packed)
        return false;
    if (w->kind == GZIP) /* no name, no time */
        return deflateInit2(&w->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    w->zstd = ZSTD_createCStream();
    return w->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1));
}

spaa_status sp_output_open(const char *path, struct sp_diags *d, struct sp_output **out)
{
    *out = NULL;
    bool standard = !strcmp(path, "-");
    struct writer *w = new_writer(standard ? "standard output" : path, kind_of(path), d);
    if (!w)
        return sp_nomem(d);
    spaa_status st = open_packer(w) ? sp_target_open(&w->target, path, d) : sp_nomem(d);
    if (st) {
        sp_output_close(&w->o);
        return st;
    }
    w->screen = isatty(w->target.fd);
    *out = &w->o;
    return SPAA_OK;
}

spaa_status sp_output_fd(int fd, const char *name, struct sp_diags *d, struct sp_output **out)
{
    struct writer *w = new_writer(name, PLAIN, d);
    *out = w ? &w->o : NULL;
    if (!w)
        return sp_nomem(d);
    w->target.fd = fd;
    return SPAA_OK;
}

spaa_status sp_output_memory(struct sp_diags *d, struct sp_output **out)
{
    struct writer *w = new_writer("memory", MEMORY, d);
    *out = w ? &w->o : NULL;
    return w ? SPAA_OK : sp_nomem(d);
}

void sp_output_for_screen(struct sp_output *o)
{
    ((struct writer *)o)->screen = true;
}

const char *sp_output_data(struct sp_output *o, size_t *n)
{
    size_t len = o->status ? 0 : o->len;
    o->buf[len] = '\0'; /* there is a byte more than cap */
    *n = len;
    return o->buf;
}

char *sp_output_take(struct sp_output *o, size_t *n)
{
    char *data = (char *)(uintptr_t)sp_output_data(o, n);
    char *fit = realloc(data, *n + 1); /* what is left of it is given back */
    o->buf = NULL;
    o->len = o->cap = 0;
    ((struct writer *)o)->done = true;
    return fit ? fit : data;
}

const char *sp_output_temporary(const struct sp_output *o)
{
    return ((const struct writer *)o)->target.temp;
}

spaa_status sp_output_commit(struct sp_output *o)
{
    struct writer *w = (struct writer *)o;
    if (w->done)
        return o->status;
    if (w->kind == MEMORY) {
        w->written = 0;
        if (!o->status)
            output_tell(w, o->len);
        return o->status;
    }
    if (!o->status && output_tell(w, o->len))
        put_through(w, o->buf, o->len, true);
    if (!o->status && sp_cancelled(w->diags))
        o->status = SPAA_ERR_CANCELLED;
    o->len = 0;
    w->done = true;
    if (o->status) {
        sp_target_discard(&w->target);
        return o->status;
    }
    int error = sp_target_finish(&w->target);
    if (error)
        output_fail(w, error);
    return o->status;
}

void sp_output_close(struct sp_output *o)
{
    struct writer *w = (struct writer *)o;
    if (!w)
        return;
    if (w->kind != MEMORY)
        sp_target_discard(&w->target);
    if (w->kind == GZIP)
        deflateEnd(&w->gzip);
    ZSTD_freeCStream(w->zstd);
    free(w->packed);
    free(w->path);
    free(o->buf);
    free(w);
}
