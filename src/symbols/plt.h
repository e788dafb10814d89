/* An ELF file while it is open, and the symbols of its procedure linkage table. */
#ifndef SP_SYMBOLS_PLT_H
#define SP_SYMBOLS_PLT_H

#include "symbols/symtab.h"

#include <gelf.h>

enum {
    SP_SECTION_ALLOC = 1,  /* in memory when the program runs */
    SP_SECTION_LABELS = 2, /* labels in it count as symbols */
};

struct sp_elf_file {
    Elf *elf;
    unsigned machine;
    bool little;
    size_t sections, shstrndx;
    unsigned char *section; /* SP_SECTION_ flags by index */
    Elf_Scn *symtab, *dynsym, *plt, *plt_sec, *plt_relocs;
};

/*
 * A copy of the string table that a symbol table links to, kept by `keep`; every offset below *n is a
 * string. *n is 0 when there is none. False: out of memory.
 */
bool sp_elf_strings(struct sp_elf_file *f, Elf_Scn *table, struct sp_symtab *keep, const char **strings,
                    size_t *n);
/* Adds name@plt for each entry; nothing for machines whose layout is not known. False: out of memory. */
bool sp_plt_symbols(struct sp_elf_file *f, struct sp_symtab *out);

#endif
