/* Names of DSOs that kernels have and nothing else: a DSO of such a name is the kernel's. */
#ifndef SP_KERNEL_NAMES_H
#define SP_KERNEL_NAMES_H

#include "base/strtab.h"

#include <string.h>

static inline bool sp_is_kernel_name(struct sp_str s)
{
    static const char *const starts[] = {"[kernel]", "[kernel.", "[guest.kernel"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (s.n >= strlen(starts[i]) && memcmp(s.p, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

#endif
