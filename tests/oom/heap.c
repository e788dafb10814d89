#include "heap.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#ifdef HEAP_OF_LIBRARIES
/* glibc's own, behind the names that this program takes from it for everybody (at the end of this file). */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);
#define __real_malloc  __libc_malloc
#define __real_calloc  __libc_calloc
#define __real_realloc __libc_realloc
#define __real_free    __libc_free
#else
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
#endif
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

struct heap heap;

void heap_arm(unsigned long fail_at, bool on_and_on)
{
    heap.calls = 0;
    heap.failed = false;
    heap.fail_at = fail_at;
    heap.on_and_on = on_and_on;
}

static bool fails(void)
{
    unsigned long call = ++heap.calls, at = heap.fail_at;
    bool now = at && (call == at || (heap.on_and_on && call > at));
    if (now) {
        heap.failed = true;
        errno = ENOMEM;
    }
    return now;
}

void *__wrap_malloc(size_t n)
{
    void *p = fails() ? NULL : __real_malloc(n);
    heap.live += p != NULL;
    return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = fails() ? NULL : __real_calloc(n, size);
    heap.live += p != NULL;
    return p;
}

void *__wrap_realloc(void *p, size_t n)
{
    void *q = fails() ? NULL : __real_realloc(p, n);
    heap.live += q != NULL && !p;
    return q;
}

void __wrap_free(void *p)
{
    heap.live -= p != NULL;
    __real_free(p);
}

#ifdef HEAP_OF_LIBRARIES
/* Those of libraries fail likewise; what they keep is theirs. Without the pragma they would not find them. */
#pragma GCC visibility push(default)
void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

void free(void *p)
{
    __libc_free(p);
}
#pragma GCC visibility pop
#endif
