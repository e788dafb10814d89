#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sp_arena_chunk {
    struct sp_arena_chunk *next;
    size_t size;
};

enum { HEADER = 32, FIRST_CHUNK = 16 << 10, LAST_CHUNK = 4 << 20 };

void sp_arena_init(struct sp_arena *a, size_t limit)
{
    *a = (struct sp_arena){.limit = limit};
}

/* Chunks double up to LAST_CHUNK, so that small profiles stay small and large ones need few. */
static int grow(struct sp_arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_CHUNK;
    if (size > LAST_CHUNK)
        size = LAST_CHUNK;
    if (need > SIZE_MAX - HEADER)
        return 0;
    if (size < need + HEADER)
        size = need + HEADER;
    if (a->limit && (a->total > a->limit || size > a->limit - a->total))
        return 0;
    struct sp_arena_chunk *c = malloc(size);
    if (!c)
        return 0;
    c->size = size > LAST_CHUNK ? LAST_CHUNK : size;
    c->next = a->head;
    a->head = c;
    a->at = (unsigned char *)c + HEADER;
    a->end = (unsigned char *)c + size;
    a->total += size;
    return 1;
}

static void *take(struct sp_arena *a, size_t size, size_t align)
{
    size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
    if (!a->at || pad > (size_t)(a->end - a->at) || size > (size_t)(a->end - a->at) - pad) {
        if (size > SIZE_MAX - 64 || !grow(a, size + 16))
            return NULL;
        pad = (size_t)(-(uintptr_t)a->at & (align - 1));
    }
    void *p = a->at + pad;
    a->at += pad + size;
    return p;
}

void *sp_arena_alloc(struct sp_arena *a, size_t size)
{
    return take(a, size, 16);
}

void *sp_arena_zalloc(struct sp_arena *a, size_t size)
{
    void *p = take(a, size, 16);
    if (p)
        memset(p, 0, size);
    return p;
}

char *sp_arena_dup(struct sp_arena *a, const void *p, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *d = take(a, n + 1, 1);
    if (!d)
        return NULL;
    if (n)
        memcpy(d, p, n);
    d[n] = '\0';
    return d;
}

void sp_arena_free(struct sp_arena *a)
{
    struct sp_arena_chunk *c = a->head;
    while (c) {
        struct sp_arena_chunk *next = c->next;
        free(c);
        c = next;
    }
    sp_arena_init(a, a->limit);
}
