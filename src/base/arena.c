#include "base/arena.h"

#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sp_arena_chunk {
    struct sp_arena_chunk *next;
    size_t size;
};

enum { HEADER = 32, FIRST_CHUNK = 16 << 10, LAST_CHUNK = 4 << 20, WINDOW = 128 << 10, PAGE = 4096 };

void sp_arena_init(struct sp_arena *a, size_t limit)
{
    *a = (struct sp_arena){.limit = limit};
}

/*
 * Moves the end of what is ready on, by at least `need` bytes that the chunk has. An arena is filled from one
 * end to the other: to have the pages of a large chunk made many at a time costs less than a fault for each.
 */
static void make_ready(struct sp_arena *a, size_t need)
{
    size_t left = (size_t)(a->beyond - a->end);
    size_t size = need > WINDOW ? need : WINDOW;
    unsigned char *from = a->end;
    if (left < size + PAGE) {
        a->end = a->beyond;
    } else {
        a->end += size;
        a->end += -(uintptr_t)a->end & (PAGE - 1); /* no page is half in one window and half in the next */
    }
    if (need <= WINDOW) /* else it is up to the owner of what is so large */
        sp_touch_pages(from, (size_t)(a->end - from));
}

/* Chunks double up to LAST_CHUNK, so that small profiles stay small and large ones need few. */
static bool arena_grow(struct sp_arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_CHUNK;
    if (size > LAST_CHUNK)
        size = LAST_CHUNK;
    if (need > SIZE_MAX - HEADER)
        return false;
    if (size < need + HEADER)
        size = need + HEADER;
    if (a->limit && (a->total > a->limit || size > a->limit - a->total)) {
        a->full = true;
        return false;
    }
    struct sp_arena_chunk *c = malloc(size);
    if (!c)
        return false;
    c->size = size > LAST_CHUNK ? LAST_CHUNK : size;
    c->next = a->head;
    a->head = c;
    a->at = (unsigned char *)c + HEADER;
    a->end = size > WINDOW ? a->at : (unsigned char *)c + size;
    a->beyond = (unsigned char *)c + size;
    a->total += size;
    return true;
}

/* Room for `need` bytes at a->at. */
static bool arena_make_room(struct sp_arena *a, size_t need)
{
    if (need > (size_t)(a->beyond - a->at) && !arena_grow(a, need))
        return false;
    if (need > (size_t)(a->end - a->at))
        make_ready(a, need - (size_t)(a->end - a->at));
    return true;
}

static void *arena_take(struct sp_arena *a, size_t size, size_t align)
{
    size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
    size_t ready = (size_t)(a->end - a->at);
    if (!a->at || pad > ready || size > ready - pad) {
        if (size > SIZE_MAX - 64 || !arena_make_room(a, size + 16))
            return NULL;
        pad = (size_t)(-(uintptr_t)a->at & (align - 1));
    }
    void *p = a->at + pad;
    a->at += pad + size;
    return p;
}

void *sp_arena_alloc(struct sp_arena *a, size_t size)
{
    return arena_take(a, size, 16);
}

void *sp_arena_zalloc(struct sp_arena *a, size_t size)
{
    void *p = arena_take(a, size, 16);
    if (p)
        memset(p, 0, size);
    return p;
}

char *sp_arena_dup(struct sp_arena *a, const void *p, size_t n)
{
    char *d = (char *)a->at;
    if (n < (size_t)(a->end - a->at)) /* as nearly always */
        a->at += n + 1;
    else if (n == SIZE_MAX || !(d = arena_take(a, n + 1, 1)))
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
