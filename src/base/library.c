#include "base/library.h"

#ifndef SP_STATIC_PROGRAM

#include <dlfcn.h>
#include <stddef.h>

/* A closed library's memory is lost to the checker of leaks, and so is whose it was. */
#if defined(__SANITIZE_ADDRESS__)
#define LIBRARY_STAYS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIBRARY_STAYS 1
#endif
#endif

void *sp_library_open(const char *soname)
{
    return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

void *sp_library_find(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

void sp_library_close(void *library)
{
#ifdef LIBRARY_STAYS
    (void)library;
#else
    if (library)
        dlclose(library);
#endif
}

const char *sp_library_hint(const char *install)
{
    return install;
}

#else

#include <stddef.h>

void *sp_library_open(const char *soname)
{
    (void)soname;
    return NULL;
}

void *sp_library_find(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

void sp_library_close(void *library)
{
    (void)library;
}

const char *sp_library_hint(const char *install)
{
    (void)install;
    return "this spaa is linked statically and opens no libraries: use one that is not";
}

#endif
