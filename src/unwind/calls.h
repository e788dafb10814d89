/*
 * Calls and jumps in machine code: x86-64 and AArch64. A decoder of lengths and targets, and nothing more.
 *
 * Sources: Intel's and AMD's manuals (opcode maps, ModRM, VEX and EVEX prefixes), Arm's for AArch64. What is
 * not known for certain is refused: a length is right, or there is none.
 */
#ifndef SP_CALLS_H
#define SP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sp_insn_kind {
    SP_INSN_OTHER,
    SP_INSN_CALL,          /* to `target` */
    SP_INSN_CALL_INDIRECT, /* to what a register or memory says: that at `slot`, if slotted */
    SP_INSN_JUMP,          /* to `target` */
    SP_INSN_BRANCH,        /* to `target` or on */
    SP_INSN_JUMP_INDIRECT, /* as the call */
    SP_INSN_JUMP_WITHIN,   /* indirect, through a table of the function's own places (notrack) */
    SP_INSN_STOP,          /* returns or traps: what follows is not reached from here */
};

struct sp_insn {
    uint8_t len; /* bytes */
    uint8_t kind;
    bool slotted;
    uint64_t target, slot; /* addresses, as those of the code are */
};

/* ELF's e_machine. */
enum { SP_MACHINE_X86_64 = 62, SP_MACHINE_AARCH64 = 183, SP_INSN_MAX = 15 };

/* The instruction at p, of which n bytes can be read; it stands at `addr`. False: not known. */
bool sp_insn_read(unsigned machine, const unsigned char *p, size_t n, uint64_t addr, struct sp_insn *out);

/*
 * The call that ends at a return address: `before` are the n bytes before it. Bytes may be read as a direct
 * and as an indirect call: SP_CALL_EITHER, with the direct one's target; where instructions begin decides.
 */
enum sp_call { SP_CALL_NONE, SP_CALL_DIRECT, SP_CALL_INDIRECT, SP_CALL_EITHER };
enum sp_call sp_call_before(unsigned machine, const unsigned char *before, size_t n, uint64_t returns,
                            struct sp_insn *out);

#endif
