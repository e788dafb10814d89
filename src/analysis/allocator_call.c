#include "analysis/allocator_call.h"

#include "analysis/owners.h"
#include "analysis/wait_rule.h"

#include <string.h>

/* As sp_wait_call_name has them; a `*` at the end stands for any rest. */
static const char *const calls[] = {
    /* glibc, musl */
    "malloc", "malloc_*", "calloc", "realloc", "memalign", "free", "cfree", "int_malloc", "int_free*",
    "int_realloc", "int_memalign", "sysmalloc", "systrim*", "arena_get*", "tcache_*", "free_check",
    "operator new*", "operator delete*",
    /* jemalloc, tcmalloc, mimalloc, GLib, Rust */
    "dallocx", "sdallocx", "mallocx", "rallocx", "mi_free*", "g_free", "g_slice_free*", "rust_dealloc",
    "rdl_dealloc", "rg_dealloc",
    /* Windows, macOS */
    "HeapAlloc", "HeapFree", "RtlAllocateHeap", "RtlFreeHeap", "szone_*", "nanov2_*", "tiny_malloc*",
    "small_malloc*", "free_tiny", "free_small", NULL};

static bool call_fits(const char *pattern, struct sp_str s)
{
    size_t n = strlen(pattern);
    bool any = pattern[n - 1] == '*';
    n -= any;
    return (any ? s.n >= n : s.n == n) && memcmp(s.p, pattern, n) == 0;
}

bool sp_is_linked_allocator(struct sp_str name)
{
    return call_fits("_rjem_*", name) || call_fits("tcmalloc::*", name);
}

bool sp_is_allocator_call(const struct sp_profile *p, const unsigned char *owners, uint32_t function,
                          struct sp_buf *scratch)
{
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    if (!name.n)
        return false;
    if (owners[function] == SP_ALLOCATOR)
        return true;
    struct sp_str plain = sp_wait_call_name(name, false, scratch);
    for (size_t i = 0; calls[i]; i++)
        if (call_fits(calls[i], plain))
            return true;
    return false;
}
