/*
 * A table of symbols: filled in any order, finished once, then asked which symbol covers an address.
 *
 * Names are borrowed: they must live as long as the table (sp_symtab_keep, or the table's arena).
 * Lifecycle: sp_symtab_init, sp_symtab_add ..., sp_symtab_finish, sp_symtab_find ..., sp_symtab_free.
 * Functions returning bool: false is out of memory.
 */
#ifndef SP_SYMTAB_H
#define SP_SYMTAB_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum sp_bind { SP_BIND_LOCAL, SP_BIND_GLOBAL, SP_BIND_WEAK };

struct sp_sym {
    uint64_t start, end; /* end is exclusive; until finished, end == start says "size unknown" */
    const char *name;
    union {
        uint32_t module; /* kallsyms: where the module's name stands, counted from name; 0: the kernel */
        uint32_t order;  /* JIT: how many were added before */
        uint32_t file;   /* ELF: of a local one 1 + number in files; 0: of none, or not known */
    };
    uint8_t bind;
};

/* What decides among symbols at one address, and how far one of unknown size reaches. */
enum sp_symtab_rules {
    SP_RULES_ELF,      /* to the next symbol, or the next stop; the best of equals as perf chooses */
    SP_RULES_KALLSYMS, /* the same, but the last of the kernel or of a module ends at its page */
    SP_RULES_JIT,      /* sizes are what they are; the last added wins wherever it lies */
    SP_RULES_MACHO,    /* none has a size: to the next symbol elsewhere, or the next stop */
};

struct sp_symtab {
    SP_VEC(struct sp_sym) syms; /* finished: by start, one per start but for JIT */
    SP_VEC(uint64_t) seg;       /* starts of disjoint stretches of addresses, ascending */
    SP_VEC(uint32_t) seg_sym;   /* the symbol of each stretch, or SP_SYM_NONE */
    SP_VEC(void *) kept;        /* malloced blocks that names point into */
    SP_VEC(const char *) files; /* that local symbols stand under, one for each unit; NULL: says nothing */
    SP_VEC(uint64_t) stops;     /* where sections end; MACHO: and functions begin, named or not */
    bool lacks_some;       /* ELF: and nobody knows where; those without a size name their first byte alone */
    struct sp_map by_name; /* once it is asked for */
    struct sp_arena arena;
    enum sp_symtab_rules rules;
    size_t names_room; /* characters that names in shared strings may still have */
    bool excess;       /* they have more: symbols were left out */
    bool finished, named;
};

#define SP_SYM_NONE UINT32_MAX
#define SP_SYMS_MAX ((size_t)1 << 26) /* symbols in a table; a browser with everything has 2^21 */

void sp_symtab_init(struct sp_symtab *t);
void sp_symtab_free(struct sp_symtab *t);
/* Size 0: unknown. Symbols beyond SP_SYMS_MAX are left out. */
bool sp_symtab_add(struct sp_symtab *t, uint64_t start, uint64_t size, enum sp_bind bind, const char *name);
/*
 * Names in a string table may be ends of one another: those of a table of so many bytes may have some more
 * characters in all. Said before they are added; then whether a symbol may have one of them.
 */
void sp_symtab_strings(struct sp_symtab *t, size_t bytes);
bool sp_symtab_may_name(struct sp_symtab *t, const char *name);
/* Takes a malloced block; it is freed with the table, or at once when this fails. */
bool sp_symtab_keep(struct sp_symtab *t, void *block);
bool sp_symtab_finish(struct sp_symtab *t, enum sp_symtab_rules rules);
/* The symbol that covers addr; of nested ones the innermost. NULL: none. */
const struct sp_sym *sp_symtab_find(const struct sp_symtab *t, uint64_t addr);
/*
 * The function that a symbol is a part or another form of, as foo is of foo.cold and foo.isra.0: that of its
 * file, if it is local, else the one that all see. The symbol itself where there is none, or several may be
 * meant. `least`: the bytes of the name before what says which part it is; other dots are the name's own, as
 * in Go's main.main.func1. NULL: out of memory. Not for SP_RULES_JIT.
 */
const struct sp_sym *sp_symtab_whole(struct sp_symtab *t, const struct sp_sym *part, size_t least);
/*
 * The forms of the function that a symbol is a form of (foo.constprop.0, foo.isra.0 of foo), those of its
 * file, one after the other, itself among them. NULL: no more, or it is no form. After sp_symtab_whole of it.
 *
 *     struct sp_probe at = sp_symtab_forms(t, of);
 *     for (const struct sp_sym *s; (s = sp_symtab_form_next(t, of, &at));)
 */
struct sp_probe sp_symtab_forms(const struct sp_symtab *t, const struct sp_sym *of);
const struct sp_sym *sp_symtab_form_next(const struct sp_symtab *t, const struct sp_sym *of,
                                         struct sp_probe *at);

#endif
