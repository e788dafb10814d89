/*
 * ELF files with debug information: whatever the bytes, opening and asking end, symbols that are found hold
 * the address, and the answers are the same in whatever order addresses are asked, and when threads prepare
 * them.
 *
 * Split DWARF with -DDWP: four bytes say how long the program is, the package of its split units stands
 * behind.
 */
#include "dwarf/dwarf.h"
#include "dwarf/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DWP
#define DWP 0
#endif

enum { ASKED = 160, FRAMES = 16 };

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static uint64_t sum_text(uint64_t sum, const char *text)
{
    for (; text && *text; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum * 31 + !text;
}

static uint64_t sum_file(uint64_t sum, const struct sp_dwarf_file *f)
{
    sum = sum_text(sum, f->comp_dir);
    sum = sum_text(sum, f->dir);
    sum = sum_text(sum, f->name);
    return sum_text(sum, f->source);
}

static uint64_t sum_of(const struct sp_dwarf_frame *f, size_t n)
{
    uint64_t sum = n;
    for (size_t i = 0; i < n; i++) {
        const char *texts[] = {f[i].func, f[i].scoped, f[i].arguments, f[i].closures};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            sum = sum_text(sum, texts[k]);
        sum = sum_file(sum, &f[i].file);
        sum = sum_file(sum, &f[i].decl);
        sum = sum * 31 + f[i].line + f[i].column + f[i].entry + f[i].decl_line + f[i].copy;
        sum = sum * 31 + f[i].linked + 2u * f[i].local;
    }
    return sum;
}

/* Where code is, a byte of which more than ASKED are not asked; tests' files have it at 0x1000 or 0x401000.
 */
static uint64_t address(int i)
{
    return (i % 2 ? 0x401000 : 0x1000) + (uint64_t)(i / 2) * 3;
}

static void ask(const char *path, uint64_t sums[ASKED], bool backwards, unsigned jobs)
{
    struct sp_diags d;
    struct sp_dwarf *dwarf;
    struct sp_dwarf_frame f[FRAMES];
    uint64_t all[ASKED];
    sp_diags_init(&d);
    memset(sums, 0, ASKED * sizeof *sums);
    if (!sp_dwarf_open(path, NULL, &d, &dwarf)) {
        for (int i = 0; i < ASKED; i++)
            all[i] = address(i);
        if (jobs)
            sp_dwarf_prepare(dwarf, all, ASKED, SP_DWARF_LINES, jobs);
        for (int i = 0; i < ASKED; i++) {
            int k = backwards ? ASKED - 1 - i : i;
            sums[k] = sum_of(f, sp_dwarf_find(dwarf, address(k), SP_DWARF_LINES, f, 1 + (size_t)k % FRAMES));
        }
        if (sp_dwarf_failed(dwarf) ||
            sp_dwarf_excess(dwarf)) /* what took too much depends on the way there */
            memset(sums, 0, ASKED * sizeof *sums);
        sp_dwarf_free(dwarf);
    }
    sp_diags_free(&d);
}

static void ask_symbols(const char *path)
{
    struct sp_diags d;
    struct sp_elf e = {0};
    struct sp_symtab t;
    sp_diags_init(&d);
    sp_symtab_init(&t);
    if (sp_elf_read(path, &d, &e, &t) == SPAA_OK && sp_symtab_finish(&t, SP_RULES_ELF))
        for (int i = 0; i < ASKED; i++) {
            const struct sp_sym *s = sp_symtab_find(&t, address(i));
            if (s && (address(i) < s->start || address(i) >= s->end))
                abort();
        }
    sp_symtab_free(&t);
    sp_elf_free(&e);
    sp_diags_free(&d);
}

static void put(const char *path, const unsigned char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || (n && fwrite(p, 1, n, f) != n) || fclose(f))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    char path[64], package[80];
    uint64_t there[ASKED], back[ASKED], threads[ASKED];
    uint32_t program = (uint32_t)n;
    if (DWP) {
        if (n < 4)
            return -1;
        memcpy(&program, p, 4);
        p += 4;
        n -= 4;
        program = program < n ? program : (uint32_t)n;
    }
    snprintf(path, sizeof path, "/dev/shm/fuzz-dwarf-%ld", (long)getpid());
    snprintf(package, sizeof package, "%s.dwp", path);
    put(path, p, program);
    if (DWP)
        put(package, p + program, n - program);
    ask_symbols(path);
    ask(path, there, false, 0);
    ask(path, back, true, 0);
    ask(path, threads, false, 2);
    if (memcmp(there, back, sizeof there) != 0 || memcmp(there, threads, sizeof there) != 0) {
        fprintf(stderr, "dwarf: the order of questions matters\n");
        abort();
    }
    unlink(path);
    unlink(package);
    return 0;
}
