/*
 * Decompression by content: zstd (RFC 8878) and gzip (RFC 1952).
 *
 * Both are streams of any number of parts: zstd frames, among them skippable ones, and gzip members.
 * Damage ends the stream where it is found; what was decompressed before it has been delivered.
 * Quirks: zero bytes after the last gzip member are padding (tapes, and gzip ignores them); zstd is fed
 * block by block, because a failing call delivers nothing of the blocks it decoded before, and whole blocks,
 * because of a part of one it may deliver a part: what comes before damage must not depend on the pieces.
 */
#include "io/stage.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    WINDOW_LOG_MAX = 27,
    FRAME_START = 5, /* the least that a frame header takes */
    BLOCK_HEADER = 3
};

struct zstd_stage {
    struct sp_stage s;
    ZSTD_DStream *z;
    size_t hint; /* bytes that complete the next block, and the header behind it; 0: between frames */
    bool full;   /* the decoder may have more of the last block than there was room for */
};

struct gzip_stage {
    struct sp_stage s;
    z_stream z;
    bool inside; /* a member */
};

/* Ends the stream; says so unless what is below failed and has already been reported. */
static size_t damaged(struct sp_stage *s, const char *kind, const char *what)
{
    s->failed = SPAA_ERR_INPUT;
    if (s->up->failed)
        s->failed = s->up->failed;
    else
        sp_emit(s->diags, SP_E006, SP_AT(s->offset + (s->len - s->pos)), "%s: %s at byte %llu of the %s data",
                s->name, what, (unsigned long long)s->up->offset, kind);
    return 0;
}

static size_t out_of_memory(struct sp_stage *s)
{
    s->failed = sp_nomem(s->diags);
    return 0;
}

static size_t zstd_error(struct sp_stage *s, size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return out_of_memory(s);
    case ZSTD_error_frameParameter_windowTooLarge:
        s->failed = SPAA_ERR_LIMIT;
        sp_emit(s->diags, SP_E007, SP_AT(s->offset + (s->len - s->pos)),
                "%s: the zstd frame at byte %llu needs a window of more than %u MiB", s->name,
                (unsigned long long)s->up->offset, 1u << (WINDOW_LOG_MAX - 20));
        return 0;
    case ZSTD_error_prefix_unknown:
        return damaged(s, "zstd", "no frame begins");
    default:
        return damaged(s, "zstd", ZSTD_getErrorName(code));
    }
}

/*
 * What a call loses where it fails is all that it made: a block is taken without the header behind it, and
 * nothing more before all of it was given out.
 */
static size_t zstd_feed(const struct zstd_stage *f)
{
    if (f->full)
        return 0;
    return !f->hint ? FRAME_START : f->hint > BLOCK_HEADER ? f->hint - BLOCK_HEADER : f->hint;
}

static size_t fill_zstd(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct zstd_stage *f = (struct zstd_stage *)s;
    for (;;) {
        const unsigned char *p = (const unsigned char *)"";
        size_t n = 0, feed = zstd_feed(f);
        if (feed && sp_stage_peek(s->up, feed, &p, &n))
            return out_of_memory(s);
        if (!n && !f->hint) {
            s->failed = s->up->failed;
            return 0;
        }
        ZSTD_inBuffer in = {p, feed < n ? feed : n, 0};
        ZSTD_outBuffer o = {out, cap, 0};
        size_t hint = ZSTD_decompressStream(f->z, &o, &in);
        if (ZSTD_isError(hint))
            return zstd_error(s, hint);
        f->hint = hint;
        f->full = hint && o.pos == o.size;
        sp_stage_consume(s->up, in.pos);
        if (o.pos)
            return o.pos;
        if (feed && !n)
            return damaged(s, "zstd", "cut off");
    }
}

static void destroy_zstd(struct sp_stage *s)
{
    ZSTD_freeDStream(((struct zstd_stage *)s)->z);
    free(s);
}

static struct sp_stage *push_zstd(void)
{
    struct zstd_stage *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->z = ZSTD_createDStream();
    if (!f->z || ZSTD_isError(ZSTD_DCtx_setParameter(f->z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        destroy_zstd(&f->s);
        return NULL;
    }
    f->s.fill = fill_zstd;
    f->s.destroy = destroy_zstd;
    return &f->s;
}

/* After a member: another one, padding, or the end. Returns whether a member begins. */
static bool next_member(struct gzip_stage *f)
{
    struct sp_stage *s = &f->s;
    const unsigned char *p;
    size_t n;
    bool padding = false;
    for (;;) {
        if (sp_stage_peek(s->up, 2, &p, &n)) {
            out_of_memory(s);
            return false;
        }
        if (!n) {
            s->failed = s->up->failed;
            return false;
        }
        size_t zeros = 0;
        while (zeros < n && !p[zeros])
            zeros++;
        if (!zeros)
            break;
        sp_stage_consume(s->up, zeros);
        padding = true;
    }
    if (padding || n < 2 || p[0] != 0x1f || p[1] != 0x8b) {
        damaged(s, "gzip", "something else follows");
        return false;
    }
    return inflateReset(&f->z) == Z_OK;
}

static size_t fill_gzip(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct gzip_stage *f = (struct gzip_stage *)s;
    const size_t most = (size_t)1 << 30; /* zlib counts in unsigned int */
    for (;;) {
        if (!f->inside && !next_member(f))
            return 0;
        f->inside = true;
        const unsigned char *p;
        size_t n;
        if (sp_stage_peek(s->up, 1, &p, &n))
            return out_of_memory(s);
        f->z.next_in = (z_const Bytef *)p;
        f->z.avail_in = (uInt)(n < most ? n : most);
        f->z.next_out = out;
        f->z.avail_out = (uInt)(cap < most ? cap : most);
        size_t fed = f->z.avail_in, room = f->z.avail_out;
        int rc = inflate(&f->z, Z_NO_FLUSH);
        sp_stage_consume(s->up, fed - f->z.avail_in);
        f->inside = rc != Z_STREAM_END;
        if (room > f->z.avail_out)
            return room - f->z.avail_out; /* an error comes again */
        if (rc == Z_MEM_ERROR)
            return out_of_memory(s);
        if (rc == Z_NEED_DICT || (rc < 0 && rc != Z_BUF_ERROR))
            return damaged(s, "gzip", f->z.msg ? f->z.msg : "bad data");
        if (!n && f->inside)
            return damaged(s, "gzip", "cut off");
    }
}

static void destroy_gzip(struct sp_stage *s)
{
    inflateEnd(&((struct gzip_stage *)s)->z);
    free(s);
}

static struct sp_stage *push_gzip(void)
{
    struct gzip_stage *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    if (inflateInit2(&f->z, 15 + 16) != Z_OK) {
        free(f);
        return NULL;
    }
    f->inside = true;
    f->s.fill = fill_gzip;
    f->s.destroy = destroy_gzip;
    return &f->s;
}

/*
 * Whether these are the first bytes of a stream of the kind. Of a beginning that damage below has cut
 * off, as many as there are.
 */
static bool is_zstd(const unsigned char *p, size_t n, bool cut)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x50, 0x2a, 0x4d, 0x18};
    if (!n || (n < 4 && !cut))
        return false;
    n = n < 4 ? n : 4;
    return !memcmp(p, frame, n) || ((p[0] & 0xf0) == skippable[0] && !memcmp(p + 1, skippable + 1, n - 1));
}

static bool is_gzip(const unsigned char *p, size_t n, bool cut)
{
    static const unsigned char deflated[] = {0x1f, 0x8b, 8};
    if (!n || (n < 3 && !cut))
        return false;
    return !memcmp(p, deflated, n < 3 ? n : 3);
}

spaa_status sp_filter_detect(struct sp_stage **top, bool *found)
{
    struct sp_stage *up = *top, *s;
    const unsigned char *p;
    size_t n;
    *found = false;
    if (sp_stage_peek(up, 4, &p, &n))
        return SPAA_ERR_NOMEM;
    if (is_zstd(p, n, up->failed))
        s = push_zstd();
    else if (is_gzip(p, n, up->failed))
        s = push_gzip();
    else
        return SPAA_OK;
    if (!s)
        return sp_nomem(up->diags);
    s->up = up;
    s->diags = up->diags;
    s->name = up->name;
    s->piece = up->piece;
    *top = s;
    *found = true;
    return SPAA_OK;
}
