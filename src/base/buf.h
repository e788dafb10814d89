/*
 * A growable byte buffer with a stated maximum.
 *
 * Invariants: data[0..len) is the content; len <= cap <= max. A failed append leaves the content
 * as it was and sets `failed`, which stays set until sp_buf_clear: append freely, check once.
 * Lifecycle: sp_buf_init, any use, sp_buf_free. sp_buf_clear empties and keeps the memory.
 */
#ifndef SP_BUF_H
#define SP_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sp_buf {
    char *data;
    size_t len, cap, max;
    bool failed;
    bool nomem; /* some append failed for want of memory, not for the maximum; stays set until sp_buf_free */
    bool full;  /* some append failed for the maximum; stays likewise */
};

#define SP_BUF_MAX ((size_t)1 << 30)

void sp_buf_init(struct sp_buf *b, size_t max); /* max 0: SP_BUF_MAX */
void sp_buf_free(struct sp_buf *b);
void sp_buf_clear(struct sp_buf *b);
bool sp_buf_reserve(struct sp_buf *b, size_t more); /* room for `more` further bytes */
bool sp_buf_add_slow(struct sp_buf *b, const void *p, size_t n);
bool sp_buf_printf(struct sp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool sp_buf_vprintf(struct sp_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
bool sp_buf_u64(struct sp_buf *b, uint64_t v);
bool sp_buf_i64(struct sp_buf *b, int64_t v);
/* The content with a NUL after it (not counted); "" where an append failed, so that half a path is none. */
const char *sp_buf_cstr(struct sp_buf *b);
/* The content, `len` bytes, never NULL; whether an append failed or not. */
static inline const char *sp_buf_text(const struct sp_buf *b)
{
    return b->data ? b->data : "";
}

static inline bool sp_buf_add(struct sp_buf *b, const void *p, size_t n)
{
    if (n <= b->cap - b->len && !b->failed) {
        if (n)
            memcpy(b->data + b->len, p, n);
        b->len += n;
        return true;
    }
    return sp_buf_add_slow(b, p, n);
}

static inline bool sp_buf_ch(struct sp_buf *b, char c)
{
    return sp_buf_add(b, &c, 1);
}

static inline bool sp_buf_puts(struct sp_buf *b, const char *s)
{
    return sp_buf_add(b, s, strlen(s));
}

#endif
