#include "heap.h"

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
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
    heap.calls++;
    bool now = heap.fail_at && (heap.calls == heap.fail_at || (heap.on_and_on && heap.calls > heap.fail_at));
    heap.failed |= now;
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
