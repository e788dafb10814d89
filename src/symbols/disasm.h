/*
 * Instructions of a binary as text, by capstone: a library that is opened when it is wanted, of which the
 * build only takes the headers (meson's option `capstone`).
 */
#ifndef SP_DISASM_H
#define SP_DISASM_H

#include "base/buf.h"
#include "base/vec.h"
#include "symbols/symbols.h"

struct sp_insn {
    uint64_t addr, target; /* target: of a jump or call whose place the instruction says; else 0 */
    uint32_t text;         /* where its text, which ends with a NUL, begins in texts */
    uint32_t size;
    bool jump, call;
    bool unknown; /* bytes of no instruction that is known here, which may be several */
};

struct sp_code_text {
    SP_VEC(struct sp_insn) insns; /* by address */
    SP_VEC(char) texts;
    uint64_t unknown; /* bytes of no instruction that is known here */
    bool lacks_zydis; /* among them those that libZydis may know, which cannot be used here */
};

/* Where instructions are known to begin, ascending: behind bytes that are not known, the next one is there.
 */
struct sp_known_starts {
    const uint64_t *at;
    size_t n;
};

/*
 * The code of a file from one address as linked to another, appended. *why: NULL, or why there is none, in
 * words ("its bytes are not at hand"), and *hint what helps, or NULL. SPAA_ERR_NOMEM.
 */
spaa_status sp_disassemble(struct sp_module *m, uint64_t start, uint64_t end,
                           const struct sp_known_starts *known, struct sp_code_text *out, const char **why,
                           const char **hint);
void sp_code_text_free(struct sp_code_text *t);

#endif
