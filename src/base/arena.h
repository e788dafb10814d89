/*
 * Arena: memory that is handed out piece by piece and given back all at once.
 *
 * Invariants: a piece never moves; pieces are aligned to 16 bytes (or 1 for sp_arena_dup); nothing
 * is freed before sp_arena_free. Not thread-safe. Functions that hand out memory return NULL when
 * memory or the arena's limit is exhausted.
 */
#ifndef SP_ARENA_H
#define SP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct sp_arena_chunk;

struct sp_arena {
    struct sp_arena_chunk *head;
    unsigned char *at, *end; /* the free part of the head chunk whose pages are there, if it is large */
    unsigned char *beyond;   /* and the end of the chunk */
    size_t total;            /* bytes obtained from the system */
    size_t limit;            /* 0: none */
    bool full;               /* something was refused because of it */
};

void sp_arena_init(struct sp_arena *a, size_t limit);
void *sp_arena_alloc(struct sp_arena *a, size_t size);  /* uninitialised */
void *sp_arena_zalloc(struct sp_arena *a, size_t size); /* zeroed */
/* A copy of n bytes, followed by a NUL that is not counted. */
char *sp_arena_dup(struct sp_arena *a, const void *p, size_t n);
void sp_arena_free(struct sp_arena *a); /* everything; the arena may be used again */

#endif
