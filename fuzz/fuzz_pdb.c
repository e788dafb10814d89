/*
 * PDBs: whatever the bytes, opening and asking end, within memory, and the answers are the same twice, in
 * whatever order addresses are asked.
 */
#include "pdb/pdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ASKED = 96, FRAMES = 16 };

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static uint64_t sum_of(const struct sp_pdb_frame *f, size_t n)
{
    uint64_t sum = n;
    for (size_t i = 0; i < n; i++) {
        const char *texts[] = {f[i].linkage, f[i].name, f[i].file, f[i].dir, f[i].decl_file};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            for (const char *c = texts[k]; c && *c; c++)
                sum = sum * 31 + (unsigned char)*c;
        sum = sum * 31 + f[i].line + f[i].decl_line + f[i].entry + f[i].local;
    }
    return sum;
}

static void ask(const char *path, uint64_t sums[ASKED], bool backwards)
{
    struct sp_diags d;
    struct sp_pdb *pdb;
    struct sp_pdb_frame f[FRAMES];
    const char *why;
    sp_diags_init(&d);
    memset(sums, 0, ASKED * sizeof *sums);
    if (!sp_pdb_open(path, &d, &pdb, &why)) {
        for (int i = 0; i < ASKED; i++) {
            int k = backwards ? ASKED - 1 - i : i;
            sums[k] =
                sum_of(f, sp_pdb_find(pdb, 0x1000 + (uint64_t)k * 23, k % 4 != 0, f, 1 + (size_t)k % FRAMES));
        }
        sp_pdb_free(pdb);
    }
    sp_diags_free(&d);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    static int fd = -1;
    static char path[32];
    uint64_t there[ASKED], back[ASKED];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, p, n, 0) != (ssize_t)n)
        abort();
    ask(path, there, false);
    ask(path, back, true);
    if (memcmp(there, back, sizeof there) != 0) {
        fprintf(stderr, "pdb: the order of questions matters\n");
        abort();
    }
    return 0;
}
