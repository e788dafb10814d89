#include "analysis/allocators.h"

#include "model/identity.h"

#include <string.h>

static const char *const names[] = {
    /* C */
    "malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc",
    "pvalloc", "cfree", "xmalloc", "xcalloc", "xrealloc", "xmemalign", "mmap", "mmap64", "__mmap", "sbrk",
    /* glibc */
    "__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_memalign", "__GI___libc_malloc",
    "__GI___libc_calloc", "__GI___libc_realloc", "_int_malloc", "_int_realloc", "_int_memalign", "sysmalloc",
    "tcache_init", "ptmalloc_init", "_mid_memalign", "malloc_hook_ini", "__malloc", "__calloc", "__realloc",
    /* GLib */
    "g_malloc", "g_malloc0", "g_realloc", "g_try_malloc", "g_try_malloc0", "g_try_realloc", "g_malloc_n",
    "g_malloc0_n", "g_realloc_n", "g_slice_alloc", "g_slice_alloc0", "g_aligned_alloc",
    /* C++, as symbols of compilers that do not demangle */
    "_Znwm", "_Znam", "_Znwj", "_Znaj", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    /* jemalloc without its prefix */
    "imalloc", "imalloc_body", "imalloc_no_sample", "imalloc_sample", "malloc_default", "prof_backtrace",
    "prof_backtrace_impl", "prof_alloc_prep", "prof_alloc_prep_impl", "mallocx", "rallocx", "xallocx",
    "do_rallocx", "newImpl", "fallback_impl", "ialloc", "arena_malloc", "iallocztm",
    /* tcmalloc */
    "do_malloc", "do_malloc_pages", "do_memalign", "DoSampledAllocation", "SampleObject", "RecordAllocation",
    /* languages */
    "PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc", "PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawRealloc",
    "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc", "_PyMem_RawMalloc", "_PyMem_RawCalloc",
    "_PyMem_RawRealloc", "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "pymalloc_alloc",
    "__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc", "__rg_alloc", "__rg_alloc_zeroed",
    "__rg_realloc", "__rdl_alloc", "__rdl_alloc_zeroed", "__rdl_realloc", "exchange_malloc",
    "runtime.mallocgc", "runtime.newobject", "runtime.newarray", "runtime.makeslice", "runtime.growslice",
    "runtime.makemap", "objc_alloc", "swift_allocObject", "swift_slowAlloc"};

static const char *const beginnings[] = {"operator new",
                                         "je_",
                                         "_rjem_",
                                         "tc_",
                                         "mi_malloc",
                                         "mi_calloc",
                                         "mi_realloc",
                                         "mi_zalloc",
                                         "_mi_",
                                         "mi_heap_malloc",
                                         "tcmalloc::",
                                         "(anonymous namespace)::do_malloc",
                                         "(anonymous namespace)::do_memalign",
                                         "__interceptor_malloc",
                                         "__interceptor_calloc",
                                         "__interceptor_realloc",
                                         "alloc::alloc::",
                                         "<alloc::alloc::Global as ",
                                         "std::allocator<",
                                         "std::__new_allocator<",
                                         "__gnu_cxx::new_allocator<",
                                         "std::allocator_traits<",
                                         "std::__allocate_",
                                         "heaptrack_",
                                         "MallocHook::",
                                         "MallocBlock::"};

/* Of these, only what allocates: construct of std::allocator_traits is the program's own code. */
static const char *const allocating[] = {"std::allocator<", "std::__new_allocator<",
                                         "__gnu_cxx::new_allocator<", "std::allocator_traits<"};

static const char *const libraries[] = {"libjemalloc", "libtcmalloc", "libmimalloc", "libheaptrack",
                                        "libprofiler"};

static bool allocators_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* "malloc@plt" and "malloc@@GLIBC_2.2.5" are malloc. */
static struct sp_str allocators_plain(struct sp_str s)
{
    const char *at = s.n ? memchr(s.p, '@', s.n) : NULL;
    return at && at > s.p ? (struct sp_str){s.p, (uint32_t)(at - s.p)} : s;
}

static bool by_beginning(struct sp_str name)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (!allocators_begins(name, beginnings[i]))
            continue;
        for (size_t k = 0; k < sizeof allocating / sizeof *allocating; k++)
            if (strcmp(beginnings[i], allocating[k]) == 0)
                return memmem(name.p, name.n, "::allocate", 10);
        return true;
    }
    return false;
}

bool sp_is_allocator(const struct sp_profile *p, uint32_t function)
{
    const struct sp_function *f = &p->functions.v[function];
    struct sp_str name = allocators_plain(sp_pstr(p, f->name)),
                  dso = sp_base_name(sp_pstr(p, p->dsos.v[f->dso].name));
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (allocators_begins(dso, libraries[i]))
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_str_is(name, names[i]))
            return true;
    return by_beginning(name);
}
