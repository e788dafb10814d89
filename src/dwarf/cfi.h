/*
 * Call frame information (CFI): what an ELF file says about finding a function's caller.
 *
 * Source: DWARF 5 chapter 6.4, the Linux Standard Base's .eh_frame, and the AArch64 and x86-64 processor
 * supplements. A file's FDEs are indexed once; a row is computed for one address when it is asked for. A
 * loaded table is not changed any more: threads may share it. The file is read and closed again.
 */
#ifndef SP_CFI_H
#define SP_CFI_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_CFI_REGS 34u /* registers that are followed, by DWARF number */

enum sp_cfi_how {
    SP_CFI_SAME, /* not changed: never in a row's list */
    SP_CFI_UNDEFINED,
    SP_CFI_AT_CFA,  /* stands at CFA + off */
    SP_CFI_IS_CFA,  /* is CFA + off */
    SP_CFI_REG,     /* is in register `off`; of the CFA: register `reg` + off */
    SP_CFI_AT_EXPR, /* stands where the expression says */
    SP_CFI_IS_EXPR, /* is what the expression gives */
};

struct sp_cfi_rule {
    uint8_t reg, how;
    uint16_t len; /* of an expression, which stands at `off` of the table's bytes */
    int32_t off;
};

struct sp_cfi_row {
    struct sp_cfi_rule cfa; /* SP_CFI_REG or SP_CFI_IS_EXPR */
    uint8_t ra;             /* the register that holds the return address */
    bool signal;            /* a signal's frame: its caller was interrupted, it did not call */
    uint8_t n;
    struct sp_cfi_rule rules[SP_CFI_REGS];
};

struct sp_cfi;

/*
 * The tables of a file (.eh_frame, .debug_frame) and of its separate debug file; either path may be NULL.
 * SPAA_OK also when there are none; SPAA_ERR_NOMEM; SPAA_ERR_IO when one changed meanwhile (reported).
 */
spaa_status sp_cfi_load(const char *file, const char *debug, struct sp_diags *d, struct sp_cfi **out);
void sp_cfi_free(struct sp_cfi *c);              /* NULL is fine */
size_t sp_cfi_count(const struct sp_cfi *c);     /* FDEs */
unsigned sp_cfi_machine(const struct sp_cfi *c); /* ELF's e_machine; 0: no file */
/* By the load segments; false when the offset lies in none. */
bool sp_cfi_vaddr(const struct sp_cfi *c, uint64_t file_offset, uint64_t *vaddr);
/* The row that holds at an address as linked; false when the file does not say. */
bool sp_cfi_row(const struct sp_cfi *c, uint64_t vaddr, struct sp_cfi_row *out);
/* Where the function part begins and ends that holds at an address as linked; false: the file does not say.
 */
bool sp_cfi_extent(const struct sp_cfi *c, uint64_t vaddr, uint64_t *start, uint64_t *end);
/* The bytes of a rule's expression. */
const unsigned char *sp_cfi_expression(const struct sp_cfi *c, const struct sp_cfi_rule *r);
bool sp_cfi_big_endian(const struct sp_cfi *c);

#endif
