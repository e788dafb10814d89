/*
 * .gnu_debugdata: the input is packed with xz as an image of symbols into a stripped program, or put there as
 * it is where it is packed already. Where the image has a symbol, the program has a name, and nowhere else.
 */
#include "dwarf/elf.h"
#include "symbols/symbols.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 4096, ROOM = 1 << 20 };

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
/* liblzma's, whose headers are a package of their own: preset, kind of check (1: CRC32), allocator. */
int lzma_easy_buffer_encode(uint32_t preset, int check, const void *allocator, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t *out_pos, size_t out_size);

static bool is_packed(const unsigned char *p, size_t n)
{
    static const unsigned char magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    return n > sizeof magic && memcmp(p, magic, sizeof magic) == 0;
}

/* The program: a header, a segment of code, and the section. Returns its size. */
static size_t make_program(unsigned char *out, const unsigned char *p, size_t n)
{
    static const char names[] = "\0.gnu_debugdata\0.shstrtab";
    const Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_DYN,
                          .e_machine = EM_X86_64,
                          .e_version = EV_CURRENT,
                          .e_phoff = sizeof e,
                          .e_shoff = 256,
                          .e_ehsize = sizeof e,
                          .e_phentsize = sizeof(Elf64_Phdr),
                          .e_phnum = 1,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = 3,
                          .e_shstrndx = 2};
    const Elf64_Phdr ph = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = ROOM, .p_memsz = ROOM};
    const Elf64_Shdr sh[3] = {{0},
                              {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = HEAD, .sh_addralign = 1},
                              {.sh_name = 16,
                               .sh_type = SHT_STRTAB,
                               .sh_offset = 1024,
                               .sh_size = sizeof names,
                               .sh_addralign = 1}};
    size_t size = n < ROOM - HEAD ? n : ROOM - HEAD;
    memset(out, 0, HEAD);
    memcpy(out, &e, sizeof e);
    memcpy(out + sizeof e, &ph, sizeof ph);
    memcpy(out + 256, sh, sizeof sh);
    memcpy(out + 1024, names, sizeof names);
    if (is_packed(p, n))
        memcpy(out + HEAD, p, size);
    else if ((size = 0, lzma_easy_buffer_encode(0, 1, NULL, p, n, out + HEAD, &size, ROOM - HEAD)))
        abort();
    Elf64_Shdr section = sh[1];
    section.sh_size = size;
    memcpy(out + 256 + sizeof section, &section, sizeof section);
    return HEAD + size;
}

static void ask(struct sp_module *m, const unsigned char *p, size_t n, bool packed)
{
    struct sp_resolved r[8];
    struct sp_symtab t;
    unsigned char *image = malloc(n + 1);
    sp_symtab_init(&t);
    if (!image)
        abort();
    memcpy(image, p, n);
    sp_elf_read_image(image, n, NULL, &t);
    if (!sp_symtab_finish(&t, SP_RULES_ELF))
        abort();
    for (uint64_t a = 0xff0; a < 0x1400; a += 7)
        if (!sp_module_resolve(m, a, r, 8) != !sp_symtab_find(&t, a) && !packed) {
            fprintf(stderr, "debugdata: not what the image says\n");
            abort();
        }
    sp_symtab_free(&t);
    free(image);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    static unsigned char program[ROOM];
    char path[64];
    struct sp_symbol_opts opts = {.no_debug = true};
    struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = path};
    struct sp_diags d;
    size_t size = make_program(program, p, n);
    snprintf(path, sizeof path, "/tmp/fuzz-debugdata-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(program, 1, size, f) != size || fclose(f))
        abort();
    sp_diags_init(&d);
    struct sp_symbols *s;
    struct sp_module *m;
    if (sp_symbols_new(&opts, &d, &s) || sp_symbols_module(s, &key, &m))
        abort();
    ask(m, p, n, is_packed(p, n));
    sp_symbols_report(s);
    sp_symbols_free(s);
    sp_diags_free(&d);
    unlink(path);
    return 0;
}
