/* Bytes to read from memory, packed as tests want them. */
#ifndef SP_TEST_PACKED_H
#define SP_TEST_PACKED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

struct bytes {
    unsigned char *p;
    size_t n;
};

static inline struct bytes bytes_of(const void *p, size_t n)
{
    struct bytes b = {malloc(n + 1), n};
    assert_non_null(b.p);
    if (n)
        memcpy(b.p, p, n);
    return b;
}

static inline struct bytes joined(struct bytes a, struct bytes b)
{
    struct bytes c = {malloc(a.n + b.n + 1), a.n + b.n};
    assert_non_null(c.p);
    memcpy(c.p, a.p, a.n);
    memcpy(c.p + a.n, b.p, b.n);
    free(a.p);
    free(b.p);
    return c;
}

static inline struct bytes zstd_of(const void *p, size_t n)
{
    struct bytes b = {malloc(ZSTD_compressBound(n)), 0};
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    b.n = ZSTD_compress2(c, b.p, ZSTD_compressBound(n), p, n);
    assert_false(ZSTD_isError(b.n));
    ZSTD_freeCCtx(c);
    return b;
}

static inline struct bytes gzip_of(const void *p, size_t n)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, n) + 64;
    struct bytes b = {malloc(room), 0};
    z.next_in = (z_const Bytef *)p;
    z.avail_in = (uInt)n;
    z.next_out = b.p;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.n = room - z.avail_out;
    deflateEnd(&z);
    return b;
}

static inline struct bytes packed(struct bytes b, const char *how)
{
    for (; *how; how++) {
        struct bytes next = *how == 'z' ? zstd_of(b.p, b.n) : gzip_of(b.p, b.n);
        free(b.p);
        b = next;
    }
    return b;
}

/* n zeros (a multiple of 1 MiB), as so many frames. */
static inline struct bytes bomb(uint64_t n)
{
    enum { STEP = 1 << 20 };
    unsigned char *zeros = calloc(1, STEP);
    assert_non_null(zeros);
    struct bytes frame = zstd_of(zeros, STEP);
    size_t times = (size_t)(n / STEP);
    struct bytes b = {malloc(times * frame.n), times * frame.n};
    assert_non_null(b.p);
    for (size_t i = 0; i < times; i++)
        memcpy(b.p + i * frame.n, frame.p, frame.n);
    free(frame.p);
    free(zeros);
    return b;
}

#endif
