#include "base/library.h"

#ifndef SP_STATIC_PROGRAM

#include <dlfcn.h>
#include <stddef.h>

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
    if (library)
        dlclose(library);
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
