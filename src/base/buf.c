#include "base/buf.h"

#include "base/num.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

void sp_buf_init(struct sp_buf *b, size_t max)
{
    *b = (struct sp_buf){.max = max ? max : SP_BUF_MAX};
}

void sp_buf_free(struct sp_buf *b)
{
    free(b->data);
    sp_buf_init(b, b->max);
}

void sp_buf_clear(struct sp_buf *b)
{
    b->len = 0;
    b->failed = false;
}

bool sp_buf_reserve(struct sp_buf *b, size_t more)
{
    if (b->failed)
        return false;
    if (more <= b->cap - b->len)
        return true;
    if (more > b->max - b->len) {
        b->failed = b->full = true;
        return false;
    }
    size_t want = b->cap < 128 ? 256 : b->cap * 2;
    if (want < b->len + more)
        want = b->len + more;
    if (want > b->max)
        want = b->max;
    char *p = realloc(b->data, want + 1); /* always room for a NUL */
    if (!p) {
        b->failed = b->nomem = true;
        return false;
    }
    b->data = p;
    b->cap = want;
    return true;
}

bool sp_buf_add_slow(struct sp_buf *b, const void *p, size_t n)
{
    if (!sp_buf_reserve(b, n))
        return false;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    return true;
}

bool sp_buf_vprintf(struct sp_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) {
        b->failed = true;
        return false;
    }
    if (!sp_buf_reserve(b, (size_t)n + 1))
        return false;
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return true;
}

bool sp_buf_printf(struct sp_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool ok = sp_buf_vprintf(b, fmt, ap);
    va_end(ap);
    return ok;
}

bool sp_buf_u64(struct sp_buf *b, uint64_t v)
{
    char t[20];
    if (b->cap - b->len < sizeof t || b->failed)
        return sp_buf_add(b, t, sp_u64_text(v, t));
    b->len += sp_u64_text(v, b->data + b->len);
    return true;
}

bool sp_buf_i64(struct sp_buf *b, int64_t v)
{
    if (v < 0)
        return sp_buf_ch(b, '-') && sp_buf_u64(b, (uint64_t)0 - (uint64_t)v);
    return sp_buf_u64(b, (uint64_t)v);
}

const char *sp_buf_cstr(struct sp_buf *b)
{
    if (b->failed || !b->data)
        return "";
    b->data[b->len] = '\0';
    return b->data;
}

void sp_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = LARGE_PAGE;
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + bytes) & ~(page - 1);
    if (bytes >= 4 * page && to > from)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

void sp_touch_pages(void *p, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096; /* or more: the call refuses, and nothing happens */
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + bytes) & ~(page - 1);
    if (to > from + 4 * page)
        madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
    (void)p, (void)bytes;
#endif
}

/*
 * realloc, with large pages. Memory of two kinds of pages cannot be moved by the system: realloc would copy
 * it, and into small pages.
 */
static void *grow_large(void *old, size_t had, size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        return NULL;
    sp_large_pages(p, bytes);
    memcpy(p, old, had);
    free(old);
    return p;
}

bool sp_vec_grow(void **v, size_t *cap, size_t need, size_t elem)
{
    size_t want = *cap < 4 ? 8 : *cap;
    while (want < need) {
        if (want > SIZE_MAX / 2)
            return false;
        want *= 2;
    }
    if (want > SIZE_MAX / elem)
        return false;
    bool large = want * elem >= 4 * LARGE_PAGE && *cap;
    void *p = large ? grow_large(*v, *cap * elem, want * elem) : realloc(*v, want * elem);
    if (!p)
        return false;
    if (!large)
        sp_large_pages(p, want * elem);
    *v = p;
    *cap = want;
    return true;
}
