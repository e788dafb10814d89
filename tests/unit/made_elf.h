/* A small ELF file with the symbol tables, build-id and debug link that a test asks for. After cmocka.h. */
#ifndef MADE_ELF_H
#define MADE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_ADDR = 0x401000, PLT_ADDR = 0x401800 };

struct made_elf {
    bool symtab, dynsym;
    const char *id;   /* 20 bytes, or NULL */
    const char *link; /* .gnu_debuglink, or NULL */
    uint32_t crc;
};

struct maker {
    unsigned char bytes[4096];
    size_t at;
    Elf64_Shdr sh[16];
    unsigned n;
    char names[256];
    size_t names_n;
};

static Elf64_Shdr *add_section(struct maker *k, const char *name, unsigned type, const void *data, size_t n)
{
    k->at = (k->at + 7) & ~(size_t)7;
    assert_true(k->at + n < sizeof k->bytes && k->n < 16);
    memcpy(k->bytes + k->at, data, n);
    Elf64_Shdr *s = &k->sh[k->n++];
    *s = (Elf64_Shdr){.sh_name = (Elf64_Word)k->names_n,
                      .sh_type = type,
                      .sh_offset = k->at,
                      .sh_size = n,
                      .sh_addralign = 8};
    memcpy(k->names + k->names_n, name, strlen(name) + 1);
    k->names_n += strlen(name) + 1;
    k->at += n;
    return s;
}

static Elf64_Sym symbol(uint32_t name, unsigned bind, unsigned type, uint16_t section, uint64_t at,
                        uint64_t size)
{
    return (Elf64_Sym){.st_name = name,
                       .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
                       .st_shndx = section,
                       .st_value = at,
                       .st_size = size};
}

enum { TEXT_SECTION = 1 };

static void add_tables(struct maker *k, const struct made_elf *e)
{
    static const char strings[] = "\0alpha\0_ZN3foo3barEv\0label\0gone\0imported\0_text";
    if (e->symtab) {
        Elf64_Sym syms[] = {
            {0},
            symbol(1, STB_GLOBAL, STT_FUNC, TEXT_SECTION, TEXT_ADDR, 0x40),
            symbol(7, STB_LOCAL, STT_FUNC, TEXT_SECTION, TEXT_ADDR + 0x40, 0),
            symbol(21, STB_LOCAL, STT_NOTYPE, TEXT_SECTION, TEXT_ADDR + 0x80, 0x10),
            symbol(41, STB_LOCAL, STT_NOTYPE, TEXT_SECTION, TEXT_ADDR, 0),
            symbol(27, STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0),
            symbol(27, STB_GLOBAL, STT_FUNC, SHN_ABS, TEXT_ADDR + 0x90, 8),
            symbol(0xffff, STB_GLOBAL, STT_FUNC, TEXT_SECTION, TEXT_ADDR + 0x90, 8),
            symbol(27, STB_GLOBAL, STT_FUNC, 200, TEXT_ADDR + 0x90, 8),
            symbol(27, STB_LOCAL, STT_SECTION, TEXT_SECTION, TEXT_ADDR, 0),
        };
        Elf64_Shdr *s = add_section(k, ".symtab", SHT_SYMTAB, syms, sizeof syms);
        s->sh_entsize = sizeof *syms;
        s->sh_link = k->n;
        add_section(k, ".strtab", SHT_STRTAB, strings, sizeof strings);
    }
    if (e->dynsym) {
        Elf64_Sym syms[] = {
            {0},
            symbol(1, STB_GLOBAL, STT_FUNC, TEXT_SECTION, TEXT_ADDR, 0x40),
            symbol(32, STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0),
        };
        Elf64_Rela relocs[] = {{.r_info = ELF64_R_INFO(2, 7)},
                               {.r_info = ELF64_R_INFO(0, 37), .r_addend = 0x4242}};
        static const char plt[48];
        unsigned dynsym = k->n;
        Elf64_Shdr *s = add_section(k, ".dynsym", SHT_DYNSYM, syms, sizeof syms);
        s->sh_entsize = sizeof *syms;
        s->sh_link = k->n;
        s->sh_flags = SHF_ALLOC;
        add_section(k, ".dynstr", SHT_STRTAB, strings, sizeof strings);
        s = add_section(k, ".rela.plt", SHT_RELA, relocs, sizeof relocs);
        s->sh_flags = SHF_ALLOC;
        s->sh_link = dynsym;
        s->sh_entsize = sizeof *relocs;
        s = add_section(k, ".plt", SHT_PROGBITS, plt, sizeof plt);
        s->sh_addr = PLT_ADDR;
        s->sh_flags = SHF_ALLOC;
    }
}

static size_t make_elf(struct maker *k, const struct made_elf *e)
{
    *k = (struct maker){.n = 1, .at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), .names_n = 1};
    static const char text[0xa0];
    Elf64_Shdr *s = add_section(k, ".text", SHT_PROGBITS, text, sizeof text);
    s->sh_addr = TEXT_ADDR;
    s->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    if (e->id) {
        unsigned char note[36] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
        memcpy(note + 16, e->id, 20);
        s = add_section(k, ".note.gnu.build-id", SHT_NOTE, note, sizeof note);
        s->sh_addralign = 4;
        s->sh_flags = SHF_ALLOC;
    }
    add_tables(k, e);
    if (e->link) {
        unsigned char data[64] = {0};
        size_t n = (strlen(e->link) + 4) & ~(size_t)3;
        memcpy(data, e->link, strlen(e->link));
        memcpy(data + n, &e->crc, 4);
        add_section(k, ".gnu_debuglink", SHT_PROGBITS, data, n + 4);
    }
    add_section(k, ".shstrtab", SHT_STRTAB, k->names, sizeof k->names);
    /* The names of the last section came after the copy. */
    memcpy(k->bytes + k->sh[k->n - 1].sh_offset, k->names, sizeof k->names);
    k->at = (k->at + 7) & ~(size_t)7;
    Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                     .e_type = ET_EXEC,
                     .e_machine = EM_X86_64,
                     .e_version = EV_CURRENT,
                     .e_phoff = sizeof eh,
                     .e_shoff = k->at,
                     .e_ehsize = sizeof eh,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 2,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = (Elf64_Half)k->n,
                     .e_shstrndx = (Elf64_Half)(k->n - 1)};
    Elf64_Phdr ph[2] = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = k->at, .p_vaddr = 0x400000},
                        {.p_type = PT_LOAD,
                         .p_flags = PF_R | PF_X,
                         .p_offset = k->sh[1].sh_offset,
                         .p_filesz = sizeof text,
                         .p_vaddr = TEXT_ADDR}};
    memcpy(k->bytes, &eh, sizeof eh);
    memcpy(k->bytes + sizeof eh, ph, sizeof ph);
    assert_true(k->at + k->n * sizeof *k->sh <= sizeof k->bytes);
    memcpy(k->bytes + k->at, k->sh, k->n * sizeof *k->sh);
    return k->at + k->n * sizeof *k->sh;
}

#endif
