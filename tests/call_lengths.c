/* Reads "FILE OFFSET SIZE ADDRESS" (hex) of executable sections and prints what the decoder says of each
 * instruction: its address, length, kind and target. Where it does not know, it goes on by one byte. */
#include "symbols/calls.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    size_t offset = strtoull(argv[2], NULL, 16), size = strtoull(argv[3], NULL, 16);
    uint64_t addr = strtoull(argv[4], NULL, 16);
    unsigned machine = (unsigned)atoi(argv[5]);
    unsigned char *p = malloc(size + 1);
    FILE *f = fopen(argv[1], "rb");
    if (!p || !f || fseek(f, (long)offset, SEEK_SET) || fread(p, 1, size, f) != size)
        return 1;
    fclose(f);
    /* The starts and lengths that objdump says come on standard input. */
    uint64_t at;
    unsigned len, wrong = 0, unknown = 0, known = 0;
    char kind[16];
    uint64_t target;
    while (scanf("%lx %u %15s %lx", &at, &len, kind, &target) == 4) {
        struct sp_insn x;
        if (at < addr || at - addr >= size)
            continue;
        if (!sp_insn_read(machine, p + (at - addr), size - (at - addr), at, &x)) {
            unknown++;
            if (argc > 6)
                printf("unknown %lx %u\n", at, len);
            continue;
        }
        known++;
        static const char *const kinds[] = {"other",  "call",  "icall", "jump",
                                            "branch", "ijump", "ijump", "stop"};
        bool same = kind[0] == '?' || (kinds[x.kind][0] == kind[0] && kinds[x.kind][1] == kind[1]);
        bool aimed = x.kind == SP_INSN_CALL || x.kind == SP_INSN_JUMP || x.kind == SP_INSN_BRANCH;
        if (x.len != len || !same || (aimed && kind[0] != '?' && x.target != target)) {
            printf("wrong %lx: objdump %u %s %lx, here %u %s %lx\n", at, len, kind, target, x.len,
                   kinds[x.kind], x.target);
            wrong++;
        }
    }
    printf("known %u unknown %u wrong %u\n", known, unknown, wrong);
    free(p);
    return wrong != 0;
}
