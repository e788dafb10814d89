/* jitdump (jit-PID.dump): functions that a just-in-time compiler wrote, with times and lines. */
#ifndef SP_SYMBOLS_JITDUMP_H
#define SP_SYMBOLS_JITDUMP_H

#include "dwarf/symtab.h"

#define SP_JITDUMP_MAX ((size_t)2 << 30)

/* A piece of code has a size below 4 GiB, as a record of a jitdump has, and ends where addresses do. */
static inline bool sp_jit_is_code(uint64_t start, uint64_t size)
{
    return size < UINT32_MAX && (!size || start + (size - 1) >= start);
}
/* How much of a name of n bytes is kept: SP_NAME_TEXT_MAX at most, and no part of a character. */
size_t sp_jit_name_length(const char *name, size_t n);

struct sp_jit_line {
    uint64_t addr;
    const char *file;
    uint32_t line;
};
/* What was loaded, or moved, once: its lines are a slice of `lines`, by address. */
struct sp_jit_code {
    uint64_t start, end, time; /* time: as the dump has it */
    const char *name;
    size_t first, n;
    uint64_t moved; /* how far it is from where its lines are */
    bool shared;    /* other code stood on some of its addresses before or after */
};
/* A node of the tree of what is shared. */
struct sp_jit_node {
    uint64_t most;  /* the largest end among the nodes below and this one */
    uint32_t order; /* number in `codes` */
};
/* Records, or the header, that could not be used, or not all of them. */
struct sp_jit_damage {
    size_t n;
    uint64_t first;  /* where in the file */
    const char *why; /* of the first; a literal */
};
struct sp_jitdump {
    SP_VEC(struct sp_jit_line) lines;
    SP_VEC(struct sp_jit_code) codes; /* by time: the symbols' order (struct sp_sym) */
    SP_VEC(struct sp_jit_node) nodes; /* what is shared, by start; the root is in the middle of its range */
    bool arch_times;                  /* times count the processor's cycles */
    struct sp_jit_damage damage;
};

/*
 * Reads data[0..n), which must live as long as both. The table is finished: of functions at one address
 * the latest by time. *is_one says whether it is a jitdump at all. What is damaged is left out and counted.
 * False: out of memory.
 */
bool sp_jitdump_parse(const unsigned char *data, size_t n, struct sp_symtab *out, struct sp_jitdump *jit,
                      bool *is_one);
void sp_jitdump_free(struct sp_jitdump *jit);
/* The line of an address in a function of the table; NULL: not known. */
const struct sp_jit_line *sp_jitdump_line(const struct sp_jitdump *jit, const struct sp_sym *sym,
                                          uint64_t addr);

/*
 * The code that stood at an address at a time, as its number in `codes`; SP_JIT_ONE where the symbol table
 * knows the only one there ever was, if any. What was loaded later only, stood there: clocks are read a
 * little late.
 */
#define SP_JIT_ONE UINT32_MAX
uint32_t sp_jitdump_code(const struct sp_jitdump *jit, uint64_t addr, uint64_t time);

#endif
