/*
 * A mutator of ELF files that keeps what leads to their sections: it changes what is in one, and its size
 * where that becomes smaller. Of files that it cannot read, and now and then of all, any byte.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef DWP
#define DWP 0
#endif

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed);

/* One section of the file at p; false: it has none. */
static bool mutate_section(uint8_t *p, size_t n, unsigned seed)
{
    Elf64_Ehdr e;
    Elf64_Shdr s;
    if (n < sizeof e || memcmp(p,
                               "\x7f"
                               "ELF\2\1",
                               6) != 0)
        return false;
    memcpy(&e, p, sizeof e);
    if (e.e_shoff > n || !e.e_shnum || e.e_shnum > (n - e.e_shoff) / sizeof s)
        return false;
    uint8_t *head = p + e.e_shoff + seed % e.e_shnum * sizeof s;
    memcpy(&s, head, sizeof s);
    if (s.sh_type == SHT_NOBITS || !s.sh_size || s.sh_offset > n || s.sh_size > n - s.sh_offset ||
        s.sh_offset < sizeof e)
        return false;
    s.sh_size = LLVMFuzzerMutate(p + s.sh_offset, s.sh_size, s.sh_size);
    if (p + s.sh_offset + s.sh_size <= head || p + s.sh_offset >= head + sizeof s)
        memcpy(head, &s, sizeof s);
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed)
{
    uint32_t program = (uint32_t)n;
    size_t at = 0, end = n;
    if (DWP && n > 4) { /* the program, or the package behind it */
        memcpy(&program, p, sizeof program);
        program = program < n - 4 ? program : (uint32_t)n - 4;
        at = seed & 64 ? 4 + program : 4;
        end = seed & 64 ? n : 4 + program;
    }
    if (seed % 8 && mutate_section(p + at, end - at, seed / 128))
        return n;
    return LLVMFuzzerMutate(p, n, max);
}
