/*
 * One step from a function to its caller, over a copy of a thread's stack.
 *
 * Registers are numbered as in DWARF. The copy starts at the stack pointer of the moment; what lies
 * behind its end was not recorded. Nothing else of the process's memory is there.
 */
#ifndef SP_UNWIND_H
#define SP_UNWIND_H

#include "dwarf/cfi.h"

/* A processor's registers. */
struct sp_unwind_arch {
    const char *name;
    unsigned machine;     /* ELF's e_machine */
    uint8_t word;         /* bytes of an address */
    uint8_t sp, fp;       /* DWARF numbers */
    uint8_t pc_bit;       /* of the program counter in perf's register masks */
    uint8_t nbits;        /* registers that perf may record */
    const uint8_t *dwarf; /* of each bit of the mask; UINT8_MAX: not followed */
    uint64_t address;     /* bits of a return address that are one (pointer authentication uses the others) */
};

struct sp_unwind_regs {
    uint64_t v[SP_CFI_REGS];
    uint64_t known; /* bit per register */
    uint64_t pc;
};

struct sp_unwind_stack {
    const unsigned char *p;
    size_t n;
    uint64_t base; /* address of p[0] */
    bool swap;     /* its words are of the other byte order */
};

enum sp_step {
    SP_STEP_OK,
    SP_STEP_SIGNAL,    /* stepped out of a signal's frame: the new pc is exact */
    SP_STEP_END,       /* there is no caller */
    SP_STEP_TRUNCATED, /* the caller is beyond the end of the copy */
    SP_STEP_LOST,      /* what is needed is not known, or makes no sense */
};

/* By perf's name of the architecture ("x86_64", "aarch64", ...); 32 bits of the same family with `narrow`. */
const struct sp_unwind_arch *sp_unwind_arch(const char *name, size_t n, bool narrow);
/* Sets registers from perf's: values of the bits of mask, ascending. False when pc or sp is missing. */
bool sp_unwind_regs_set(const struct sp_unwind_arch *a, uint64_t mask, const unsigned char *values, bool swap,
                        struct sp_unwind_regs *out);
enum sp_step sp_unwind_step(const struct sp_unwind_arch *a, const struct sp_cfi *c,
                            const struct sp_cfi_row *row, const struct sp_unwind_stack *stack,
                            struct sp_unwind_regs *regs);
/* The same where nothing says how: by the chain of frame pointers. */
enum sp_step sp_unwind_frame_pointer(const struct sp_unwind_arch *a, const struct sp_unwind_stack *stack,
                                     struct sp_unwind_regs *regs);

#endif
