/*
 * What src/pdb knows of addresses, for the tests that compare it with LLVM's tools:
 *
 *     pdb_lines FILE.pdb < RVAs
 *
 * For each address a line with it, then two for each frame, innermost first: "linkage|name", and "file:line"
 * as the compiler wrote the file. On standard error how much of the file was read.
 */
#include "pdb/pdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *shown(const char *s)
{
    return s ? s : "";
}

static void answer(struct sp_pdb *p, uint64_t rva)
{
    struct sp_pdb_frame f[64];
    size_t n = sp_pdb_find(p, rva, true, f, 64);
    printf("0x%" PRIx64 "\n", rva);
    for (size_t i = 0; i < n; i++)
        printf("%s|%s\n%s:%" PRIu32 "\n", shown(f[i].linkage), shown(f[i].name), shown(f[i].file), f[i].line);
}

int main(int argc, char **argv)
{
    struct sp_pdb *p;
    struct sp_diags d;
    const char *why;
    char line[64];
    sp_diags_init(&d);
    if (argc != 2)
        return 2;
    if (sp_pdb_open(argv[1], &d, &p, &why)) {
        fprintf(stderr, "%s is %s\n", argv[1], why);
        return 1;
    }
    while (fgets(line, sizeof line, stdin))
        answer(p, strtoull(line, NULL, 0));
    fprintf(stderr, "%" PRIu64 " bytes read, %zu damaged\n", sp_pdb_bytes_read(p), sp_pdb_damaged(p));
    int rc = sp_pdb_failed(p) != SPAA_OK;
    sp_pdb_free(p);
    sp_diags_free(&d);
    return rc;
}
