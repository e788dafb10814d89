/* annotate --asm: the instructions of a function, with the weight of each. */
#ifndef SP_ANNOTATE_ASM_H
#define SP_ANNOTATE_ASM_H

#include "analysis/branch_runs.h"
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
    uint32_t cost;    /* of a budget, in characters; 0: there is none */
    uint32_t block;   /* 1 + its number in lbr.blocks; 0: it is in none that is known */
};
/* What a symbol covers, or an entry of .eh_frame. */
struct sp_asm_part {
    struct sp_module *module;
    uint64_t start, end;
    const char *symbol; /* NULL: none does, it is a function that nobody names */
    struct sp_code_text text;
    size_t first, n; /* of insns */
};
/* Instructions that ran together, as branch stacks tell: control enters at the first and leaves at the last.
 */
struct sp_asm_block {
    size_t first, last;            /* in insns */
    int64_t executions;            /* of its first instruction, in branch stacks */
    int64_t taken, judged, missed; /* of the branch at its end: struct sp_branch_taken */
    uint32_t run;                  /* 1 + the run that most of its cycles are known of, which ends there; 0 */
};
struct sp_asm_lbr {
    struct sp_branch_runs r;
    const char *why;                    /* there are no blocks */
    const char *less;                   /* what is not known of them; NULL */
    SP_VEC(struct sp_asm_block) blocks; /* as insns are */
    int64_t odd;                        /* runs that do not fit the instructions */
};
struct sp_asm {
    struct sp_annotate *x;
    SP_VEC(struct sp_asm_part) parts;
    SP_VEC(struct sp_asm_insn) insns;
    const char *why, *hint;
    struct sp_resolved r[SP_ASM_DEEPEST];
    size_t nr;
    size_t known, chosen, around; /* with weight; of them shown; so many around each */
    int64_t lost;                 /* self that no instruction has */
    int64_t inside;               /* self at addresses at which no instruction begins */
    SP_VEC(uint64_t) starts; /* of a part, while it is taken: where its instructions begin, as recorded */
    struct sp_asm_lbr lbr;
};

static inline const struct sp_insn *sp_asm_insn(const struct sp_asm *z, const struct sp_asm_insn *i)
{
    return &z->parts.v[i->part].text.insns.v[i->number];
}

static inline const char *sp_asm_text(const struct sp_asm *z, const struct sp_asm_insn *i)
{
    return z->parts.v[i->part].text.texts.v + sp_asm_insn(z, i)->text;
}

/* Number of the first instruction of a part that begins behind an address; that behind its last: none does.
 */
static inline size_t sp_asm_behind(const struct sp_asm *z, const struct sp_asm_part *part, uint64_t at)
{
    size_t lo = part->first, hi = part->first + part->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (sp_asm_insn(z, &z->insns.v[mid])->addr <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The instruction that an address is in, of those of the function; NULL: it is in none. */
static inline struct sp_asm_insn *sp_asm_insn_at(struct sp_asm *z, const struct sp_asm_part *part,
                                                 uint64_t at)
{
    size_t behind = sp_asm_behind(z, part, at);
    struct sp_asm_insn *i = behind > part->first ? &z->insns.v[behind - 1] : NULL;
    return i && at - sp_asm_insn(z, i)->addr < sp_asm_insn(z, i)->size ? i : NULL;
}

/* Lines for people, and tables, of x->a.code. */
spaa_status sp_annotate_asm(struct sp_annotate *x);

/* annotate_asm_rows.c: tables. False: out of memory. */
extern const struct sp_table_decl sp_annotate_code, sp_annotate_blocks, sp_annotate_insns;
bool sp_annotate_asm_put(struct sp_asm *z);
/* The names of what is inlined at an instruction, as many as it returns; texts are in z->x->asked.b. */
size_t sp_asm_inlined(struct sp_asm *z, const struct sp_asm_insn *i,
                      struct sp_value_text names[SP_ASM_DEEPEST]);

/* annotate_lbr.c: blocks of the instructions, by branch stacks. */
spaa_status sp_annotate_lbr(struct sp_asm *z);
void sp_annotate_lbr_free(struct sp_asm_lbr *x);

/* annotate_lbr_rows.c: what is said of them. */
extern const struct sp_table_decl sp_annotate_basic_blocks, sp_annotate_runs;
void sp_annotate_lbr_put(struct sp_asm *z);
/* "ran 120×", "12.3 cycles (mean of 80)", …: a line each. */
void sp_annotate_lbr_text(const struct sp_asm *z, const struct sp_asm_block *k, struct sp_buf *b);

#endif
