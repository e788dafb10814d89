/* annotate --asm: the instructions of a function, with the weight of each. */
#ifndef SP_ANNOTATE_ASM_H
#define SP_ANNOTATE_ASM_H

#include "ask/annotate.h"
#include "symbols/disasm.h"

enum { SP_ASM_DEEPEST = 64 };

/* An instruction that is of the function. */
struct sp_asm_insn {
    uint32_t part, number; /* in parts, in its text */
    int64_t self, total, samples;
    bool target, shown;
    const char *srcline;
    uint32_t inlined; /* how many functions are inlined there */
};
/* What a symbol covers. */
struct sp_asm_part {
    struct sp_module *module;
    uint64_t start, end;
    const char *symbol;
    struct sp_code_text text;
    size_t first, n; /* of insns */
};
struct sp_asm {
    struct sp_annotate *x;
    SP_VEC(struct sp_asm_part) parts;
    SP_VEC(struct sp_asm_insn) insns;
    const char *why, *hint;
    struct sp_resolved r[SP_ASM_DEEPEST];
    size_t nr;
    size_t known, chosen;
    int64_t lost; /* self that no instruction has */
};

static inline const struct sp_insn *sp_asm_insn(const struct sp_asm *z, const struct sp_asm_insn *i)
{
    return &z->parts.v[i->part].text.insns.v[i->number];
}

static inline const char *sp_asm_text(const struct sp_asm *z, const struct sp_asm_insn *i)
{
    return z->parts.v[i->part].text.texts.v + sp_asm_insn(z, i)->text;
}

/* Lines for people, and tables, of x->a.code. */
spaa_status sp_annotate_asm(struct sp_annotate *x);

/* annotate_asm_rows.c: tables. False: out of memory. */
extern const struct sp_table_decl sp_annotate_code, sp_annotate_blocks, sp_annotate_insns;
bool sp_annotate_asm_put(struct sp_asm *z);

#endif
