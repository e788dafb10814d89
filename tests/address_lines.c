/*
 * What `addr2line -a -i -f` prints, by the index of src/dwarf, for the tests that compare the two:
 *
 *     address_lines [-n] [-j JOBS] FILE < addresses
 *
 * -n: nothing is printed (for measurements). Files are printed as addr2line does: with the directory.
 */
#include "dwarf/dwarf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_file(const struct sp_dwarf_frame *f)
{
    const char *dir = f->file.dir ? f->file.dir : "", *comp = f->file.comp_dir ? f->file.comp_dir : "";
    const char *name = f->file.name;
    if (!name) {
        printf("??:%s\n", "0");
        return;
    }
    if (name[0] == '/')
        comp = dir = "";
    else if (dir[0] == '/')
        comp = "";
    printf("%s%s%s%s%s:", comp, *comp ? "/" : "", dir, *dir ? "/" : "", name);
    printf(f->line ? "%" PRIu32 "\n" : "?\n", f->line);
}

static void answer(struct sp_dwarf *d, uint64_t addr)
{
    struct sp_dwarf_frame f[256];
    size_t n = sp_dwarf_find(d, addr, SP_DWARF_LINES, f, 256);
    printf("0x%016" PRIx64 "\n", addr);
    if (!n)
        printf("??\n??:0\n");
    for (size_t i = 0; i < n; i++) {
        printf("%s\n", f[i].func ? f[i].func : "??");
        print_file(&f[i]);
    }
}

int main(int argc, char **argv)
{
    struct sp_dwarf *d;
    struct sp_diags diags;
    unsigned jobs = 1;
    bool quiet = false;
    uint64_t *addrs = NULL;
    size_t n = 0, cap = 0;
    char line[64];
    int arg = 1;
    sp_diags_init(&diags);
    for (; arg < argc && argv[arg][0] == '-'; arg++) {
        if (!strcmp(argv[arg], "-n"))
            quiet = true;
        else if (!strcmp(argv[arg], "-j") && arg + 1 < argc)
            jobs = (unsigned)strtoul(argv[++arg], NULL, 10);
    }
    if (arg + 1 != argc || sp_dwarf_open(argv[arg], NULL, &diags, &d) != SPAA_OK) {
        fprintf(stderr, "address_lines: no DWARF to be had\n");
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (n == cap) {
            cap = cap ? 2 * cap : 1024;
            uint64_t *more = realloc(addrs, cap * sizeof *more);
            if (!more)
                return 1;
            addrs = more;
        }
        addrs[n++] = strtoull(line, NULL, 16);
    }
    if (jobs > 1)
        sp_dwarf_prepare(d, addrs, n, SP_DWARF_LINES, jobs);
    for (size_t i = 0; i < n; i++) {
        struct sp_dwarf_frame f[256];
        if (quiet)
            sp_dwarf_find(d, addrs[i], SP_DWARF_LINES, f, 256);
        else
            answer(d, addrs[i]);
    }
    if (sp_dwarf_excess(d))
        fprintf(stderr, "address_lines: more than its size allows\n");
    struct sp_dwarf_damage damage;
    size_t at = 0;
    sp_buf_init(&damage.sections, 4096);
    while (sp_dwarf_damaged(d, &at, &damage))
        fprintf(stderr, "address_lines: %s: %zu units, %s\n", damage.file, damage.units,
                sp_buf_cstr(&damage.sections));
    sp_buf_free(&damage.sections);
    free(addrs);
    sp_dwarf_free(d);
    sp_diags_free(&diags);
    return 0;
}
