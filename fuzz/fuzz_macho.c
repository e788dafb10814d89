/*
 * Mach-O files: each image with its symbols and its debug information, by its UUID. The first byte says how
 * the addresses to ask about are spread. Symbols that are found must hold the address.
 */
#include "dwarf/dwarf.h"
#include "dwarf/macho.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static void ask_symbols(const char *path, const char *uuid, unsigned step, struct sp_diags *d)
{
    struct sp_elf e = {0};
    struct sp_symtab t;
    uint64_t any;
    sp_symtab_init(&t);
    if (sp_macho_read(path, uuid, d, &e, &t) == SPAA_OK && sp_symtab_finish(&t, SP_RULES_MACHO))
        for (uint64_t a = 0; a < 0x4000; a += step) {
            const struct sp_sym *s = sp_symtab_find(&t, a);
            if (s && (a < s->start || a >= s->end))
                abort();
            sp_elf_vaddr(&e, a, &any);
        }
    sp_symtab_free(&t);
    sp_elf_free(&e);
}

static void ask_lines(const char *path, const char *uuid, unsigned step, struct sp_diags *d)
{
    struct sp_dwarf *dwarf;
    struct sp_dwarf_frame f[64];
    struct sp_dwarf_places places = {.uuid = uuid};
    if (sp_dwarf_open(path, &places, d, &dwarf))
        return;
    for (uint64_t a = 0; a < 0x4000; a += step)
        sp_dwarf_find(dwarf, a, SP_DWARF_LINES, f, 64);
    sp_dwarf_free(dwarf);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    static char path[64];
    struct sp_macho_image images[SP_MACHO_IMAGES_MAX];
    struct sp_diags d;
    size_t count = 0;
    if (!n)
        return 0;
    snprintf(path, sizeof path, "/tmp/fuzz-macho-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p + 1, 1, n - 1, f) != n - 1 || fclose(f))
        abort();
    sp_diags_init(&d);
    sp_macho_images(path, &d, images, &count);
    for (size_t i = 0; i < count; i++) {
        ask_symbols(path, images[i].uuid, 1 + p[0], &d);
        ask_lines(path, images[i].uuid, 1 + p[0], &d);
    }
    sp_diags_free(&d);
    unlink(path);
    return 0;
}
