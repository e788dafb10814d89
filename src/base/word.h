/* Eight bytes at a time. */
#ifndef SP_WORD_H
#define SP_WORD_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Eight bytes of any alignment, the first one lowest on every machine. */
static inline uint64_t sp_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

#endif
