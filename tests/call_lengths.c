/*
 * Compares the decoder of unwind/calls.h with another one: FILE OFFSET SIZE ADDRESS of a section of x86-64
 * code, numbers in hex; on standard input its instructions, `ADDRESS LENGTH KIND TARGET` each. Prints those
 * that are not the same, and how many were known.
 */
#include "unwind/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [SP_INSN_OTHER] = "other",       [SP_INSN_CALL] = "call",     [SP_INSN_CALL_INDIRECT] = "call*",
    [SP_INSN_JUMP] = "jump",         [SP_INSN_BRANCH] = "branch", [SP_INSN_JUMP_INDIRECT] = "jump*",
    [SP_INSN_JUMP_WITHIN] = "jump*", [SP_INSN_STOP] = "stop"};

static unsigned char *load(const char *path, size_t offset, size_t size)
{
    unsigned char *p = malloc(size + 1);
    FILE *f = fopen(path, "rb");
    if (!p || !f || fseek(f, (long)offset, SEEK_SET) || fread(p, 1, size, f) != size)
        exit(2);
    fclose(f);
    return p;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    uint64_t size = strtoull(argv[3], NULL, 16), start = strtoull(argv[4], NULL, 16), at, target;
    unsigned char *p = load(argv[1], strtoull(argv[2], NULL, 16), size);
    unsigned long known = 0, unknown = 0, wrong = 0;
    unsigned length;
    char kind[16];
    while (scanf("%" SCNx64 " %u %15s %" SCNx64, &at, &length, kind, &target) == 4) {
        struct sp_insn x;
        if (at - start >= size ||
            !sp_insn_read(SP_MACHINE_X86_64, p + (at - start), size - (at - start), at, &x)) {
            unknown++;
            continue;
        }
        known++;
        bool aimed = x.kind == SP_INSN_CALL || x.kind == SP_INSN_JUMP || x.kind == SP_INSN_BRANCH;
        if (x.len == length && !strcmp(kinds[x.kind], kind) && (!aimed || x.target == target))
            continue;
        wrong++;
        printf("%" PRIx64 ": %u %s %" PRIx64 ", here %u %s %" PRIx64 "\n", at, length, kind, target, x.len,
               kinds[x.kind], x.target);
    }
    printf("%lu known, %lu unknown, %lu wrong\n", known, unknown, wrong);
    free(p);
    return wrong != 0;
}
